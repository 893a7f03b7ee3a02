// Generated kernels against the fastest of the hand-written ones, and these among themselves, one thread. Entry points:
// measure_side_by_side(), measure_shapes().
#include <fmt/core.h>

#include "bench/hand_side.h"
#include "bench/measure.h"
#include "bench/sections.h"

namespace nbcc::bench {
namespace {

struct Match {
  const char* pipeline;
  nbcc_precision precision;
  Particles particles;
};

double interactions(const Generated& sum) { return double(sum.ni()) * double(sum.nj()); }

int lanes(const Setup& setup, nbcc_precision precision) {
  const int bytes = setup.isa == "avx512" ? 64 : setup.isa == "avx2" ? 32 : 16;
  return bytes / (precision == NBCC_DOUBLE ? 8 : 4);
}

std::string title(const Match& match) {
  return fmt::format("{}{}", match.pipeline, match.precision == NBCC_DOUBLE ? ", double" : "");
}

Generated generate(const Setup& setup, const Match& match, nbcc_precision precision) {
  const Device device = open_device(setup, 1);
  return Generated(device, pipeline_text(setup.folder, match.pipeline), match.pipeline, {precision}, match.particles);
}

std::vector<Match> matches(const Setup& setup, std::int64_t gravity) {
  const std::int64_t side = setup.quick ? 8 : 16, heavy = setup.size(4096);
  return {{"gravity_acc", NBCC_SINGLE, plummer(setup.size(gravity))},
          {"gravity_jerk", NBCC_SINGLE, plummer(heavy)},
          {"lennard_jones", NBCC_SINGLE, liquid(side)},
          {"sph_force", NBCC_SINGLE, gas(side)},
          {"gravity_acc", NBCC_DOUBLE, plummer(heavy)}};
}

Row measure(const Setup& setup, const Match& match) {
  Generated generated = generate(setup, match, match.precision);
  Row row{{"kernel", title(match)}, {"N", match.particles.n}};
  std::vector<Work> works{[&] { generated.run(); }};
  std::optional<HandSide> hand;
  const auto kernels = hand_written_kernels(setup.isa, match.pipeline, match.precision);
  if (!kernels.empty()) {
    hand.emplace(fastest(kernels, generated), generated);
    works.push_back([&] { hand->run(); });
  }
  const Comparison times = compare(works, setup.rounds);
  const double vectors = interactions(generated) / lanes(setup, match.precision);
  const auto rate = [&](double seconds) { return interactions(generated) / seconds * 1e-9; };
  const auto cycles = [&](double seconds) { return seconds * times.gigahertz * 1e9 / vectors; };
  row["generated_G/s"] = rate(times.times[0].median);
  row["best_G/s"] = rate(times.times[0].best);
  if (hand) {
    row["by_hand_G/s"] = rate(times.times[1].median);
    row["best_by_hand_G/s"] = rate(times.times[1].best);
    row["generated/by_hand"] = 1 / times.ratios[1];
  }
  row["cycles/vector"] = cycles(times.times[0].median);
  if (hand) row["by_hand_cycles/vector"] = cycles(times.times[1].median);
  row["GHz"] = times.gigahertz;
  if (!hand) return row;
  row["rms_difference"] = hand->rms_difference(generated);
  if (match.precision != NBCC_DOUBLE) {
    Generated exact = generate(setup, match, NBCC_DOUBLE);
    exact.run();
    row["rms_error"] = generated.rms_difference(exact);
    row["by_hand_rms_error"] = hand->rms_difference(exact);
  } else {
    row["rms_error"] = row["by_hand_rms_error"] = nullptr;
  }
  row["shape_by_hand"] = hand->shape();
  return row;
}

}  // namespace

void measure_side_by_side(const Setup& setup, Report& report) {
  std::vector<Row> rows;
  for (const Match& match : matches(setup, 16384)) rows.push_back(measure(setup, match));
  report.table(
      "speed",
      fmt::format("Generated and hand-written, one thread, {}, medians of {} rounds; {} interactions of single "
                  "precision a vector, half of double; errors against double",
                  setup.isa, setup.rounds, lanes(setup, NBCC_SINGLE)),
      rows);
}

void measure_shapes(const Setup& setup, Report& report) {
  std::vector<Row> rows;
  for (const Match& match : matches(setup, 4096)) {
    const Generated like = generate(setup, match, match.precision);
    const auto kernels = hand_written_kernels(setup.isa, match.pipeline, match.precision);
    if (kernels.empty()) continue;
    const Comparison times = compare_by_hand(kernels, like, setup.rounds);
    const double vectors = interactions(like) / lanes(setup, match.precision);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const Time& time = times.times[k];
      rows.push_back({{"kernel", title(match)},
                      {"shape", kernels[k].shape},
                      {"G/s", interactions(like) / time.median * 1e-9},
                      {"best_G/s", interactions(like) / time.best * 1e-9},
                      {"cycles/vector", time.median * times.gigahertz * 1e9 / vectors},
                      {"best_cycles/vector", time.best * times.gigahertz * 1e9 / vectors}});
    }
  }
  report.table("shapes", fmt::format("The hand-written kernels among themselves, {}", setup.isa), rows);
}

}  // namespace nbcc::bench
