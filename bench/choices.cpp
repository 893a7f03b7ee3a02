// What the options cost, and that the spelling of a formula costs nothing: gravity, accelerations only, one thread.
// Entry points: measure_precisions(), measure_roots(), measure_spellings().
#include <fmt/core.h>

#include <memory>

#include "bench/measure.h"
#include "bench/sections.h"

namespace nbcc::bench {
namespace {

struct Choice {
  std::string name, text;
  PipelineOptions options;
};

std::vector<Row> measure(const Setup& setup, const std::vector<Choice>& choices) {
  const Device device = open_device(setup, 1);
  const std::int64_t n = setup.size(8192);
  std::vector<std::unique_ptr<Generated>> sums;
  std::vector<Work> works;
  for (const Choice& choice : choices) {
    sums.push_back(std::make_unique<Generated>(device, choice.text, choice.name, choice.options, plummer(n)));
    works.push_back([sum = sums.back().get()] { sum->run(); });
  }
  const Comparison times = compare(works, setup.rounds);
  double best = times.times[0].median;
  for (const Time& time : times.times) best = std::min(best, time.median);
  std::vector<Row> rows;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    rows.push_back({{"choice", choices[k].name},
                    {"G/s", double(n) * double(n) / times.times[k].median * 1e-9},
                    {"of_first", times.ratios[k]},
                    {"of_fastest", best / times.times[k].median}});
  }
  return rows;
}

constexpr const char* kDeclarations = R"(input_i vec3 xi;
input_j vec3 xj;
input_j real mj;
param   real eps2 = 1e-4;
output(sum) vec3 acc;
vec3 dx = xj - xi;
real r2 = dot(dx, dx) + eps2;
)";

}  // namespace

void measure_precisions(const Setup& setup, Report& report) {
  const std::string text = pipeline_text(setup.folder, "gravity_acc");
  report.table("precisions", "Precision and math: gravity_acc",
               measure(setup, {{"single, fast", text, {NBCC_SINGLE, NBCC_FAST}},
                               {"mixed, fast", text, {NBCC_MIXED, NBCC_FAST}},
                               {"double, fast", text, {NBCC_DOUBLE, NBCC_FAST}},
                               {"single, precise", text, {NBCC_SINGLE, NBCC_PRECISE}},
                               {"double, precise", text, {NBCC_DOUBLE, NBCC_PRECISE}}}));
}

void measure_roots(const Setup& setup, Report& report) {
  const std::string text = pipeline_text(setup.folder, "gravity_acc");
  report.table("roots", "Reciprocal square roots: gravity_acc, single precision",
               measure(setup, {{"refined", text, {NBCC_SINGLE, NBCC_FAST, NBCC_ROOT_REFINED}},
                               {"estimate", text, {NBCC_SINGLE, NBCC_FAST, NBCC_ROOT_ESTIMATE}},
                               {"exact", text, {NBCC_SINGLE, NBCC_FAST, NBCC_ROOT_EXACT}}}));
}

void measure_spellings(const Setup& setup, Report& report) {
  std::vector<Choice> choices;
  for (const char* sum : {"real ri = rsqrt(r2); acc += mj * ri * ri * ri * dx;", "acc += mj * pow(r2, -1.5) * dx;",
                          "real r = sqrt(r2); acc += mj / (r * r * r) * dx;", "acc += mj * (1.0 / sqrt(r2) / r2) * dx;",
                          "acc += mj * dx / (r2 * sqrt(r2));", "acc += mj * pow(rsqrt(r2), 3.0) * dx;",
                          "real ri = 1.0 / sqrt(r2); acc += mj * (ri * ri * ri) * dx;"}) {
    choices.push_back({sum, std::string(kDeclarations) + sum + "\n", {}});
  }
  report.table("spellings", "One formula, spelled differently", measure(setup, choices));
}

}  // namespace nbcc::bench
