// An experiment's name -> its table, and a picture. Its entry points are run_experiment() and measure().
#include "examples/hermite/experiments.h"

#include <cmath>
#include <cstdio>
#include <optional>

#include "chart/chart.h"
#include "examples/hermite/model.h"
#include "examples/support/chart_file.h"
#include "examples/support/energy.h"
#include "examples/support/failure.h"
#include "examples/support/plummer.h"
#include "examples/support/program.h"

namespace examples {
namespace {

constexpr double kEnd = 0.25;
constexpr std::int64_t kFirst = 256;

using Precisions = std::array<nbcc_precision, 3>;
constexpr Precisions kPrecisions{NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE};

long long whole(std::int64_t number) { return static_cast<long long>(number); }

void print_head(const nbcc::Device& device, const HermiteSettings& settings, double begin = 0) {
  std::printf("# Plummer spheres");
  if (begin > 0) std::printf(" from t = %g", begin);
  std::printf(" to t = %g on %s, order %d, eps = %g\n", begin + kEnd, device.name().c_str(), settings.order,
              settings.eps);
}

void table2(const nbcc::Device& device, const HermiteSettings& settings, const ExperimentSettings& experiment) {
  print_head(device, settings, experiment.begin);
  if (experiment.runs > 1)
    std::printf("# means over %d runs, of the seeds 1 to %d; dE/|E|: of the magnitudes\n", experiment.runs,
                experiment.runs);
  std::printf("# %s precision, eta = %g\n#%9s %10s %10s %10s %10s %10s %12s %10s\n", name_of(settings.precision),
              settings.eta, "bodies", "seconds", "blocks", "mean block", "steps each", "G pairs/s", "Gflop/s",
              "dE/|E|");
  for (std::int64_t count = kFirst; count <= experiment.largest; count *= 2) {
    double seconds = 0, blocks = 0, steps = 0, error = 0;
    for (int k = 0; k < experiment.runs; ++k) {
      const Measured run = measure(device, count, settings, std::uint64_t(k) + 1, experiment.begin);
      seconds += run.statistics.seconds().sum() / experiment.runs;
      blocks += double(run.statistics.blocks()) / experiment.runs;
      steps += double(run.statistics.steps()) / experiment.runs;
      error += (experiment.runs > 1 ? std::fabs(run.error) : run.error) / experiment.runs;
    }
    const double rate = 1e-9 * steps * double(count) / seconds;
    // 60 or 97 an interaction: the convention of Nitadori & Makino (2008).
    std::printf("%10lld %10.4f %10.0f %10.2f %10.2f %10.4f %12.3f %10.2e\n", whole(count), seconds, blocks,
                steps / blocks, steps / double(count), rate, rate * (settings.order == 6 ? 97 : 60), error);
    std::fflush(stdout);
  }
}

void print_phases(const Seconds& seconds) {
  std::printf(" %9.4f %9.4f %10.4f %9.4f %10.4f %9.4f", seconds.host, seconds.list, seconds.prediction, seconds.force,
              seconds.correction, seconds.steps);
}

double rate_of_force(const BlockBin& bin, std::int64_t count) {
  return 1e-9 * double(bin.particles) * double(count) / bin.seconds.force;
}

// Where the time goes. Each part is waited for by itself, which costs more than the run that is not watched.
void phases(const nbcc::Device& device, HermiteSettings settings, const ExperimentSettings& experiment) {
  print_head(device, settings);
  std::printf("# %s precision, eta = %g; seconds of each part, waited for one by one; G pairs/s of the force\n",
              name_of(settings.precision), settings.eta);
  const char* const parts = "      host      list prediction     force correction     steps";
  std::printf("#%9s %9s %9s%s %9s %9s\n", "bodies", "seconds", "watched", parts, "blocks", "G pairs/s");
  std::optional<Statistics> last;
  for (std::int64_t count = kFirst; count <= experiment.largest; count *= 2) {
    settings.apart = false;
    const double seconds = measure(device, count, settings).statistics.seconds().sum();
    settings.apart = true;
    last.emplace(measure(device, count, settings).statistics);
    std::printf("%10lld %9.4f %9.4f", whole(count), seconds, last->seconds().sum());
    print_phases(last->seconds());
    std::printf(" %9lld %9.3g\n", whole(last->blocks()), rate_of_force(last->total(), count));
    std::fflush(stdout);
  }
  std::printf("# the blocks of %lld bodies\n#%19s %9s%s %12s %9s\n", whole(last->count()), "bodies in a block",
              "blocks", parts, "steps taken", "G pairs/s");
  for (std::size_t k = 0; k < last->bins().size(); ++k) {
    const BlockBin& bin = last->bins()[k];
    if (bin.blocks == 0) continue;
    std::printf("%9llu -%9llu %9lld", 1ULL << k, (2ULL << k) - 1, whole(bin.blocks));
    print_phases(bin.seconds);
    std::printf(" %12lld %9.3g\n", whole(bin.particles), rate_of_force(bin, last->count()));
  }
}

void figure2(const nbcc::Device& device, HermiteSettings settings, const ExperimentSettings& experiment) {
  print_head(device, settings);
  std::printf("#%9s %10s %12s %12s %12s\n", "bodies", "eta", "single", "mixed", "double");
  nbcc::Chart chart{"error of the energy", {"eta", true}, {"relative error of the energy at t = 1/4", true}, {}};
  for (const std::int64_t count : experiment.sizes) {
    const std::size_t first = chart.series.size();
    for (const nbcc_precision precision : kPrecisions)
      chart.series.push_back({std::to_string(count) + ", " + name_of(precision), {}});
    for (const double eta : experiment.etas) {
      settings.eta = eta;
      std::printf("%10lld %10g", whole(count), eta);
      for (std::size_t k = 0; k < kPrecisions.size(); ++k) {
        settings.precision = kPrecisions[k];
        const double error = std::fabs(measure(device, count, settings).error);
        std::printf(" %12.3e", error);
        std::fflush(stdout);
        chart.series[first + k].points.push_back({eta, error});
      }
      std::printf("\n");
    }
  }
  if (!experiment.picture.empty()) write_chart(experiment.picture, nbcc::svg_of(chart));
}

void print_cost(const char* name, const Cost& cost) {
  std::printf("%-14s %12.3e %12.3e %12.3e %12.3e\n", name, cost.each, cost.per_i, cost.per_j, cost.per_pair);
}

void print_law(const char* name, const PowerLaw& law) {
  std::printf("%-28s %.4g N^%.3f, within %.0f%%\n", name, law.factor, law.exponent, 100 * law.farthest);
}

// The paper's equations 14 and 17, as power laws.
void print_laws(const std::vector<Statistics>& runs) {
  std::vector<Point> bodies, blocks;
  for (const Statistics& run : runs) {
    bodies.push_back({double(run.count()), run.mean_block()});
    blocks.push_back({double(run.count()), double(run.blocks()) / kEnd});
  }
  if (runs.size() < 2) return;
  print_law("bodies in a block:", fit_power_law(bodies));
  print_law("blocks in a unit of time:", fit_power_law(blocks));
}

void model(const nbcc::Device& device, const HermiteSettings& settings, const ExperimentSettings& experiment) {
  std::vector<Statistics> runs;
  for (std::int64_t count = kFirst; count <= experiment.largest; count *= 2)
    runs.push_back(measure(device, count, settings).statistics);
  const Model fitted = fit_model(runs);
  print_head(device, settings);
  std::printf("# %s precision, eta = %g; seconds of a block of n of N bodies\n", name_of(settings.precision),
              settings.eta);
  std::printf("#%13s %12s %12s %12s %12s\n", "", "each", "n", "N", "n N");
  print_cost("host", fitted.host);
  print_cost("communication", fitted.communication);
  print_cost("calculation", fitted.calculation);
  std::printf("#%9s %12s %12s %12s %14s %12s\n", "bodies", "measured", "model", "host", "communication", "calculation");
  using Style = nbcc::ChartSeries::Style;
  nbcc::Chart chart{"time to t = 1/4", {"bodies", true}, {"seconds", true}, {}};
  chart.series = {{"measured", {}, Style::Markers},
                  {"model", {}, Style::Line},
                  {"calculation", {}, Style::Line},
                  {"communication", {}, Style::Line},
                  {"host", {}, Style::Line}};
  for (const Statistics& run : runs) {
    const Seconds modelled = fitted.of(run);
    std::printf("%10lld %12.5f %12.5f %12.5f %14.5f %12.5f\n", whole(run.count()), run.seconds().sum(), modelled.sum(),
                modelled.host, modelled.communication(), modelled.calculation());
    const double seconds[] = {run.seconds().sum(), modelled.sum(), modelled.calculation(), modelled.communication(),
                              modelled.host};
    for (std::size_t k = 0; k < chart.series.size(); ++k)
      chart.series[k].points.push_back({double(run.count()), seconds[k]});
  }
  print_laws(runs);
  if (!experiment.picture.empty()) write_chart(experiment.picture, nbcc::svg_of(chart));
}

}  // namespace

Measured measure(const nbcc::Device& device, std::int64_t count, HermiteSettings settings, std::uint64_t seed,
                 double begin) {
  settings.largest = step_that_divides(kEnd, settings.largest);
  if (std::fmod(begin, settings.largest) != 0)
    throw UsageError("--begin " + std::to_string(begin) + " is no multiple of the largest step, " +
                     std::to_string(settings.largest) + ", at which all bodies meet");
  Hermite system(device, plummer(count, seed), settings);
  if (begin > 0) system.go_to(begin);
  const double before = system.energies().sum();
  const Statistics earlier = system.statistics();
  system.go_to(begin + kEnd);
  return {energy_error(system.energies().sum(), before, begin + kEnd), system.statistics().since(earlier)};
}

void run_experiment(const std::string& name, const nbcc::Device& device, const HermiteSettings& settings,
                    const ExperimentSettings& experiment) {
  if (name == "table2") table2(device, settings, experiment);
  if (name == "figure2") figure2(device, settings, experiment);
  if (name == "phases") phases(device, settings, experiment);
  if (name == "model") model(device, settings, experiment);
}

}  // namespace examples
