// Table 2 of T. Hamada & T. Iitaka (2007) on this CPU: errors of one sequential sum over all j in single precision, by
// the loop in portable C, and of nbcc's blocked sums. Entry point: measure_sequential().
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/portable_gravity.h"
#include "bench/sections.h"

namespace nbcc::bench {
namespace {

// The largest error of an acceleration, relative to its length.
template <typename Component>
double largest_error(std::int64_t n, const Component& component, const std::vector<double>& exact) {
  double largest = 0;
  for (std::size_t k = 0; k < std::size_t(n); ++k) {
    double difference = 0, size = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double e = exact[3 * k + c], d = component(k, c) - e;
      difference += d * d;
      size += e * e;
    }
    largest = std::max(largest, std::sqrt(difference / size));
  }
  return largest;
}

}  // namespace

void measure_sequential(const Setup& setup, Report& report) {
  const Device device = open_device(setup, 0);
  const std::string text = pipeline_text(setup.folder, "gravity_acc");
  std::vector<Row> rows;
  for (std::int64_t n = 2048; n <= (setup.quick ? 2048 : 131072); n *= 2) {
    Particles particles = plummer(n);
    particles.params["eps2"] = {0.01};
    const std::vector<double>&x = particles.fields.at("x"), &m = particles.fields.at("m");
    std::vector<std::array<float, 4>> bodies;
    for (std::size_t k = 0; k < std::size_t(n); ++k)
      bodies.push_back({float(x[3 * k]), float(x[3 * k + 1]), float(x[3 * k + 2]), float(m[k])});
    std::vector<std::array<float, 3>> sequential(bodies.size());
    nbcc_bench_portable_gravity(long(n), reinterpret_cast<const float(*)[4]>(bodies.data()), 0.01F,
                                reinterpret_cast<float(*)[3]>(sequential.data()));
    Generated exact(device, text, "gravity_acc", {NBCC_DOUBLE, NBCC_PRECISE}, particles),
        blocked(device, text, "gravity_acc", {NBCC_SINGLE}, particles);
    exact.run();
    blocked.run();
    const std::vector<double>&e = exact.output("acc"), &b = blocked.output("acc");
    rows.push_back(
        {{"N", n},
         {"sequential_max", largest_error(
                                n, [&](std::size_t k, std::size_t c) { return double(sequential[k][c]); }, e)},
         {"blocked_max", largest_error(n, [&](std::size_t k, std::size_t c) { return b[3 * k + c]; }, e)}});
  }
  report.table(
      "sequential",
      fmt::format("Largest relative error of an acceleration, Plummer sphere, eps2 = 0.01, single precision, {}: one "
                  "sum over all j in portable C, and nbcc's blocked sums",
                  setup.isa),
      rows);
}

}  // namespace nbcc::bench
