// Plan and pair body -> the beginning of a CUDA source. Entry points: see the header.
#include "compiler/emit/cuda/frames/cuda_particles.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/cuda/pair/cuda_choice.h"
#include "compiler/emit/cuda/pair/cuda_weights.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

std::string cuda_title(const Pipeline& pipeline, const Options& options) {
  return fmt::format("{}: cuda, {} precision, {} math", pipeline.name, name(options.precision), name(options.math));
}

std::string cuda_types(const LaunchConfig& own, const std::string& resident, Precision precision, const Plan& plan) {
  const bool single = precision == Precision::Single;
  const std::string cells =
      plan.has_cells ? fill_template("cuda_cell.cuh", {}) + fill_template("cell.h", {{"inline", "NBCC_DEVICE"}}) : "";
  const std::string bessel =
      plan.has_bessel ? fill_template("cuda_bessel.cuh", {}) + fill_template("bessel.h", {{"inline", "NBCC_DEVICE"}})
                      : "";
  const std::string philox = plan.has_philox ? fill_template("philox.h", {{"inline", "NBCC_DEVICE"}}) : "";
  return fill_template("cuda_types.cuh", {{"threads", std::to_string(own.threads)},
                                          {"i_per_thread", std::to_string(own.i_per_thread)},
                                          {"j_tile", std::to_string(own.j_tile)},
                                          {"unroll", std::to_string(own.unroll)},
                                          {"j_slices", std::to_string(std::max(own.j_slices, 1))},
                                          {"resident", resident},
                                          {"arrays", declarations_of("cuda_array_data.h", "arrays")},
                                          {"plain", single ? "float" : "double"},
                                          {"plain_element", single ? "kFloat" : "kDouble"}}) +
         cells + bessel + philox + (plan.has_exp2 ? fill_template("cuda_exp2.cuh", {}) : "") +
         (plan.has_powers ? fill_template("cuda_powers.cuh", {}) : "");
}

std::string cuda_exclusions() {
  return fill_template("cuda_exclusions.cuh", {{"exclusions", declarations_of("cuda_list_data.h", "exclusions")},
                                               {"table", declarations_of("cuda_list_data.h", "exclusion table")}});
}

std::string cuda_particles(const Pipeline& pipeline, const Plan& plan, const CudaPairBody& body) {
  TemplateHoles holes = body.structs;
  // C++ has no arrays of length 0.
  const auto length = [&](Role role) { return std::to_string(std::max(pipeline.components(role), 1)); };
  holes["i_components"] = length(Role::InputI);
  holes["j_components"] = length(Role::InputJ);
  holes["outputs"] = length(Role::Output);
  holes["params"] = std::to_string(std::max(pipeline.params_by_value(), 1));
  holes["and_param"] = body.pairs == CudaPairs::Listed ? ", const double* param" : "";
  holes["more_views"] =
      pipeline.components(Role::InputPair) > 0 ? fmt::format("View p[{}];\n", length(Role::InputPair)) : "";
  if (!pipeline.tables.empty()) holes["more_views"] += "const void* tables;\n";
  int histograms = 0;
  for (const OutputPlan& output : plan.outputs) histograms = std::max(histograms, output.histogram + 1);
  if (histograms > 0)
    holes["more_views"] +=
        fmt::format("index* histograms[{}];\nindex histogram_stride, histogram_mask, histogram_row;\n", histograms);
  cuda_partial(pipeline, plan, body.pairs, holes);
  const std::string of_histograms =
      histograms == 0 ? ""
                      : fill_template("cuda_histograms.cuh", {{"float_digit", std::to_string(kFloatDigit)},
                                                              {"float_words", std::to_string(kFloatWords)},
                                                              {"double_digit", std::to_string(kDoubleDigit)},
                                                              {"double_words", std::to_string(kDoubleWords)}});
  return (uses_cuda_weights(plan) ? fill_template("cuda_weights.cuh", {}) : "") + cuda_choice_functions(plan) +
         fill_template("cuda_particles.cuh", holes) + of_histograms;
}

}  // namespace nbcc
