// Errors of gravity on a Plummer sphere against sums in double precision with exact roots. Entry point:
// measure_accuracy().
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "bench/sections.h"

namespace nbcc::bench {
namespace {

constexpr std::int64_t kSampled = 1024;  // i-particles, spread over the set

struct Reference {
  std::vector<double> acc, pot;
};

Reference reference(const Particles& p, const std::vector<std::int64_t>& chosen) {
  const std::vector<double>&x = p.fields.at("x"), &m = p.fields.at("m");
  const double eps2 = p.params.at("eps2")[0];
  Reference result;
  for (const std::int64_t i : chosen) {
    long double a[3] = {}, potential = 0;  // or the reference would have the rounding of 10^5 sums
    for (std::int64_t j = 0; j < p.n; ++j) {
      double d[3], r2 = eps2;
      for (int c = 0; c < 3; ++c) d[c] = x[std::size_t(3 * j + c)] - x[std::size_t(3 * i + c)], r2 += d[c] * d[c];
      const double w = m[std::size_t(j)] / std::sqrt(r2);
      for (int c = 0; c < 3; ++c) a[c] += w / r2 * d[c];
      potential -= w;
    }
    for (const long double c : a) result.acc.push_back(double(c));
    result.pot.push_back(double(potential));
  }
  return result;
}

struct Errors {
  double rms = 0, max = 0;
};

// Relative to the length of each particle's own vector.
Errors errors(const std::vector<double>& sums, const std::vector<double>& exact,
              const std::vector<std::int64_t>& chosen, int components) {
  Errors result;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    double difference = 0, size = 0;
    for (int c = 0; c < components; ++c) {
      const double e = exact[k * std::size_t(components) + std::size_t(c)];
      const double d = sums[std::size_t(chosen[k] * components + c)] - e;
      difference += d * d;
      size += e * e;
    }
    const double error = std::sqrt(difference / size);
    result.max = std::max(result.max, error);
    result.rms += error * error;
  }
  result.rms = std::sqrt(result.rms / double(chosen.size()));
  return result;
}

}  // namespace

void measure_accuracy(const Setup& setup, Report& report) {
  struct Mode {
    const char* name;
    PipelineOptions options;
  };
  const Device device = open_device(setup, 0);
  std::vector<Row> rows;
  for (const std::int64_t n :
       setup.quick ? std::vector<std::int64_t>{1024} : std::vector<std::int64_t>{1024, 16384, 131072}) {
    const Particles particles = plummer(n);
    std::vector<std::int64_t> chosen;
    for (std::int64_t k = 0; k < n; k += std::max<std::int64_t>(1, n / kSampled)) chosen.push_back(k);
    const Reference exact = reference(particles, chosen);
    for (const Mode& mode : {Mode{"single", {NBCC_SINGLE}}, Mode{"single, precise", {NBCC_SINGLE, NBCC_PRECISE}},
                             Mode{"single, estimate", {NBCC_SINGLE, NBCC_FAST, NBCC_ROOT_ESTIMATE}},
                             Mode{"mixed", {NBCC_MIXED}}, Mode{"double", {NBCC_DOUBLE}}}) {
      Generated sum(device, pipeline_text(setup.folder, "gravity"), "gravity", mode.options, particles);
      sum.run_list(chosen);
      const Errors acc = errors(sum.output("acc"), exact.acc, chosen, 3),
                   pot = errors(sum.output("pot"), exact.pot, chosen, 1);
      rows.push_back({{"N", n},
                      {"precision", mode.name},
                      {"acc_rms", acc.rms},
                      {"acc_max", acc.max},
                      {"pot_rms", pot.rms},
                      {"pot_max", pot.max}});
    }
  }
  report.table("accuracy", "Relative errors of gravity.pipe on a Plummer sphere, eps2 = 1e-4", rows);
}

}  // namespace nbcc::bench
