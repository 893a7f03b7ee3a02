// How the rate depends on the number of particles and of threads: gravity, accelerations only. Entry points:
// measure_small_sets(), measure_threads().
#include <fmt/core.h>

#include "bench/measure.h"
#include "bench/sections.h"

namespace nbcc::bench {
namespace {

Generated gravity(const Setup& setup, int threads, std::int64_t n) {
  const Device device = open_device(setup, threads);
  return Generated(device, pipeline_text(setup.folder, "gravity_acc"), "gravity_acc", {}, plummer(n));
}

}  // namespace

void measure_small_sets(const Setup& setup, Report& report) {
  const std::int64_t n = setup.size(16384), nj = setup.size(2048);
  Generated large = gravity(setup, 1, n);
  std::vector<Row> rows;
  for (std::int64_t ni : {61, 15, 1, 256}) {
    Generated small = gravity(setup, 1, nj);
    small.bind(ni, nj);
    const Comparison times = compare({[&] { large.run(); }, [&] { small.run(); }}, setup.rounds);
    const double rate = double(ni) * double(nj) / times.times[1].median * 1e-9;
    const double large_rate = double(n) * double(n) / times.times[0].median * 1e-9;
    rows.push_back({{"ni", ni},
                    {"nj", nj},
                    {"microseconds", times.times[1].median * 1e6},
                    {"G/s", rate},
                    {"of_large", rate / large_rate}});
  }
  report.table("small", fmt::format("Small sets of i: gravity_acc, one thread, j resident; large is {0} x {0}", n),
               rows);
}

void measure_threads(const Setup& setup, Report& report) {
  std::vector<Row> rows;
  for (std::int64_t n :
       {setup.size(16384), setup.size(4096), std::int64_t(1024), std::int64_t(256), std::int64_t(64)}) {
    Generated one = gravity(setup, 1, n), two = gravity(setup, 2, n);
    const Comparison times = compare({[&] { one.run(); }, [&] { two.run(); }}, setup.rounds);
    rows.push_back({{"N", n},
                    {"one_microseconds", times.times[0].median * 1e6},
                    {"two_microseconds", times.times[1].median * 1e6},
                    {"two/one", times.ratios[1]}});
  }
  report.table("threads", "Two threads against one: gravity_acc", rows);
}

}  // namespace nbcc::bench
