// TableIndices -> templates/cuda/frames/cuda_indices.cu.in. Entry point: cuda_indices().
#include "compiler/emit/cuda/frames/cuda_indices.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/cuda/frames/cuda_particles.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

KernelVariant cuda_indices(const KernelSource& source, const TableIndices& indices, const Pipeline& pipeline,
                           const Plan& plan, const Options& options, const CudaPairBody& body) {
  const IndexText text = index_text(indices, source.index_checks, plan, cuda_scalar_spelling(), {"i", "j", "p"});
  const auto& [of_i, of_j, of_pair] = source.index_checks.ranges;
  std::string checks;
  for (std::size_t k = 0; k < source.index_checks.checks.size(); ++k) {
    const IndexCheck& check = source.index_checks.checks[k];
    checks += fmt::format("check(a, s, of_warp[0], {}, {}, {}, {}, {}, {});\n", k + 1, check.parts[0].range,
                          check.parts[1].range, check.parts[2].range, check.count, check.uses_params);
  }
  const LaunchConfig launch{128, 1, 128, 8, 1};
  const std::string text_of_frame =
      fill_template("cuda_indices.cu", {{"title", cuda_title(pipeline, options)},
                                        {"types", cuda_types(launch, "0", options.precision, plan)},
                                        {"particles", cuda_particles(pipeline, plan, body)},
                                        {"argument", declarations_of("cuda_index_data.h", "index checks")},
                                        {"ranges", std::to_string(of_i + of_j + of_pair)},
                                        {"first_i", "0"},
                                        {"first_j", std::to_string(of_i)},
                                        {"first_pair", std::to_string(of_i + of_j)},
                                        {"i", text[0]},
                                        {"j", text[1]},
                                        {"pair", text[2]},
                                        {"checks", checks}});
  return {Frame::IndexChecks, text_of_frame, {launch}};
}

}  // namespace nbcc
