// Gravity by a loop in portable C against the generated kernel, by one thread and by all. Entry point:
// measure_portable().
#include <fmt/core.h>

#include <array>
#include <thread>

#include "bench/measure.h"
#include "bench/portable_gravity.h"
#include "bench/sections.h"

namespace nbcc::bench {

void measure_portable(const Setup& setup, Report& report) {
  const std::int64_t n = setup.size(8192);
  const Particles particles = plummer(n);
  const std::vector<double>&x = particles.fields.at("x"), &m = particles.fields.at("m");
  std::vector<std::array<float, 4>> bodies;
  for (std::size_t k = 0; k < std::size_t(n); ++k)
    bodies.push_back({float(x[3 * k]), float(x[3 * k + 1]), float(x[3 * k + 2]), float(m[k])});
  std::vector<std::array<float, 3>> acc(bodies.size());
  const Work loop = [&] {
    nbcc_bench_portable_gravity(long(n), reinterpret_cast<const float(*)[4]>(bodies.data()),
                                float(particles.params.at("eps2")[0]), reinterpret_cast<float(*)[3]>(acc.data()));
  };
  const int threads = int(std::max(1u, std::thread::hardware_concurrency()));
  const std::string text = pipeline_text(setup.folder, "gravity_acc");
  Generated one(open_device(setup, 1), text, "gravity_acc", {}, particles),
      all(open_device(setup, threads), text, "gravity_acc", {}, particles);
  const Comparison times = compare({loop, [&] { one.run(); }, [&] { all.run(); }}, setup.rounds);
  const double pairs = double(n) * double(n) * 1e-9;
  const double difference =
      one.rms_difference([&](int c, std::int64_t k) { return acc[std::size_t(k)][std::size_t(c)]; });
  const auto row = [&](const std::string& what, std::size_t k) {
    return Row{{"gravity_acc by", what},
               {"G/s", pairs / times.times[k].median},
               {"GFLOP/s_at_20", 20 * pairs / times.times[k].median},
               {"times_portable", times.ratios[k]}};
  };
  report.table(
      "portable",
      fmt::format("Portable C against the generated kernel, N = {}, {}; the sums differ by {:.1e} (rms)", n, setup.isa,
                  difference),
      {row("portable C, one thread", 0), row("nbcc, one thread", 1), row(fmt::format("nbcc, {} threads", threads), 2)});
}

}  // namespace nbcc::bench
