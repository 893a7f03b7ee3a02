// Gravitating bodies under the Hermite scheme with individual block time steps, as in S. Portegies Zwart, R. Belleman &
// P. Geldof, New Astronomy 12 (2007) 641. Here a run is put together; the scheme is in hermite.cpp, the paper's
// experiments are in experiments.cpp and model.cpp.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "examples/hermite/options.h"
#include "examples/hermite/report.h"
#include "examples/support/failure.h"
#include "examples/support/program.h"
#include "examples/support/ranks.h"
#include "examples/support/replace_file.h"

namespace {

void print_forces(const examples::Hermite& system, bool is_told) {
  const std::vector<double> a = system.accelerations(), j = system.jerks(), s = system.snaps();
  if (!is_told) return;
  std::printf("# a[3] jerk[3] snap[3]\n");
  for (std::size_t k = 0; k < a.size(); k += 3) {
    std::printf("%.16g %.16g %.16g %.16g %.16g %.16g %.16g %.16g %.16g\n", a[k], a[k + 1], a[k + 2], j[k], j[k + 1],
                j[k + 2], s[k], s[k + 1], s[k + 2]);
  }
}

double farthest(const examples::Bodies& from, const examples::Bodies& to) {
  double most = 0;
  for (std::size_t k = 0; k < from.x.size(); k += 3) {
    const double far = std::hypot(to.x[k] - from.x[k], to.x[k + 1] - from.x[k + 1], to.x[k + 2] - from.x[k + 2]);
    if (std::isnan(far)) return far;
    most = std::fmax(most, far);
  }
  return most;
}

void simulate(examples::Options& options) {
  examples::HermiteSettings& settings = options.settings;
  examples::Bodies bodies = examples::read_bodies(options.bodies);
  settings.G = examples::gravitational_constant(bodies, options.G);
  if (options.at_rest) examples::rest_in_the_origin(bodies);
  // All bodies meet for every report, since the largest step divides the time between two of them.
  const double reports = options.every > 0 ? std::fmax(1, std::round(options.end / options.every)) : 1;
  const double every = options.end / reports;
  const bool is_fixed = options.fixed_step > 0;
  settings.largest = examples::step_that_divides(every, is_fixed ? options.fixed_step : settings.largest);
  if (options.smallest_step > 0)
    settings.finest = int(std::clamp(std::ceil(std::log2(settings.largest / options.smallest_step)), 0.0, 40.0));
  if (is_fixed) settings.finest = 0;
  // Times are whole numbers of smallest steps, as a double counts them.
  const double finest = std::floor(53 - std::log2(options.end / settings.largest));
  if (!(finest >= 1)) throw examples::UsageError("there are too many steps up to --end");
  settings.finest = std::min(settings.finest, int(std::min(finest, 52.0)));

  const nbcc::Device device(options.device);
  const std::unique_ptr<examples::Ranks> ranks = options.mpi ? examples::ranks_of_mpi(device) : nullptr;
  const bool is_first = !ranks || ranks->is_first();
  const std::string where = ranks ? std::to_string(ranks->count()) + " ranks of " + device.name() : device.name();
  examples::Hermite system(device, ranks ? ranks->share(bodies) : bodies, settings, ranks.get());
  if (options.tells_forces) return print_forces(system, is_first);
  examples::Report report(where, bodies.count(), settings, options.is_json, options.is_long, !is_first);
  report.add(0, system.energies());
  for (double k = 1; k <= reports; ++k) {
    system.go_to(k * every);
    report.add(system.time(), system.energies());
  }
  examples::Bodies last = system.bodies();
  if (bodies.G || options.G) last.G = settings.G;
  report.end(system.statistics(), options.tells_return ? farthest(bodies, last) : -1);
  if (!options.output.empty() && is_first) examples::write_bodies(options.output, last);
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Direct N-body simulation with the Hermite scheme and block time steps", "hermite");
  examples::Options options;
  examples::add_options(app, options);
  return examples::run_program(app, count, words, [&] {
    examples::require_sense(options);
    if (!options.output.empty()) examples::require_place_for(options.output);
    if (options.experiment.empty())
      simulate(options);
    else
      examples::run_experiment(options.experiment, nbcc::Device(options.device), options.settings,
                               options.of_experiment);
  });
}
