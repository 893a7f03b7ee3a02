// Sums of one set over all pairs: each pair once against each pair from both ends, one thread and all, and against the
// fastest hand-written kernel that computes each pair once. Entry point: measure_symmetric().
#include <fmt/core.h>

#include "bench/hand_side.h"
#include "bench/measure.h"
#include "bench/sections.h"

namespace nbcc::bench {
namespace {

struct Formula {
  const char* pipeline;
  nbcc_precision precision;
};
constexpr Formula kFormulas[] = {{"gravity_acc", NBCC_SINGLE},
                                 {"gravity_jerk", NBCC_SINGLE},
                                 {"lennard_jones", NBCC_SINGLE},
                                 {"gravity_acc", NBCC_DOUBLE},
                                 {"gravity_jerk", NBCC_DOUBLE}};

// A cutoff beyond all distances, in an open system.
Particles without_cutoff(std::int64_t n) {
  Particles particles = plummer(n);
  particles.params["rc"] = {1e3};
  particles.params["sigma"] = {0.01};
  return particles;
}

Row measure(const Setup& setup, const Formula& formula, std::int64_t n, int threads) {
  const Device one = open_device(setup, threads), other = open_device(setup, threads);
  const std::string text = pipeline_text(setup.folder, formula.pipeline);
  Generated twice(one, text, formula.pipeline, {formula.precision}, without_cutoff(n));
  Generated once(other, text, formula.pipeline, {formula.precision}, without_cutoff(n));
  twice.set_symmetric(NBCC_SYMMETRIC_OFF);
  once.set_symmetric(NBCC_SYMMETRIC_ALWAYS);
  std::vector<Work> works{[&] { twice.run(); }, [&] { once.run(); }};
  std::optional<HandSide> hand;
  if (threads == 1) {
    std::vector<hand_written::Kernel> kernels;
    for (const auto& kernel : hand_written_kernels(setup.isa, formula.pipeline, formula.precision))
      if (kernel.symmetric) kernels.push_back(kernel);
    if (!kernels.empty()) {
      hand.emplace(fastest(kernels, once), once);
      works.push_back([&] { hand->run(); });
    }
  }
  const Comparison times = compare(works, setup.rounds);
  const auto rate = [&](std::size_t work) { return double(n) * double(n) / times.times[work].best * 1e-9; };
  Row row{{"kernel", fmt::format("{}{}", formula.pipeline, formula.precision == NBCC_DOUBLE ? ", double" : "")},
          {"N", n},
          {"threads", threads},
          {"both_ends_G/s", rate(0)},
          {"once_G/s", rate(1)},
          {"once/both_ends", times.ratios[1]},
          {"rms_difference", once.rms_difference(twice)}};
  if (hand) {
    row["by_hand_G/s"] = rate(2);
    row["once/by_hand"] = times.ratios[1] / times.ratios[2];
    row["by_hand_rms_difference"] = hand->rms_difference(once);
  }
  return row;
}

}  // namespace

void measure_symmetric(const Setup& setup, Report& report) {
  std::vector<Row> rows;
  for (const std::int64_t n : {4096, 16384, 65536}) {
    if (setup.size(n) != n) continue;
    for (const Formula& formula : kFormulas)
      for (const int threads : {1, 0}) rows.push_back(measure(setup, formula, n, threads));
  }
  report.table("symmetric",
               fmt::format("Each pair once against both ends, {}, best and ratios of {} rounds; threads 0: all",
                           setup.isa, setup.rounds),
               rows);
}

}  // namespace nbcc::bench
