// Pipeline -> templates/cuda/frames/cuda_totals.cu.in. Entry point: cuda_totals(). The kernel is the same for all
// pipelines.
#include "compiler/emit/cuda/frames/cuda_totals.h"

#include "compiler/emit/cuda/frames/cuda_particles.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

KernelVariant cuda_totals(const Pipeline& pipeline, const Plan& plan, const Options& options) {
  const LaunchConfig launch{256, 1, 256, 8, 1};
  return {Frame::Totals,
          fill_template("cuda_totals.cu", {{"title", cuda_title(pipeline, options)},
                                           {"types", cuda_types(launch, "0", options.precision, plan)},
                                           {"argument", declarations_of("cuda_total_data.h", "totals")},
                                           {"weights", fill_template("cuda_weights.cuh", {})}}),
          {launch}};
}

}  // namespace nbcc
