// Pair body -> templates/cuda/frames/cuda_symmetric.cu.in. Entry point: add_cuda_symmetric().
#include "compiler/emit/cuda/frames/cuda_symmetric.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/cuda/frames/cuda_particles.h"
#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/cuda/pair/cuda_pair_body.h"
#include "compiler/emit/cuda/pair/cuda_statement.h"
#include "compiler/emit/cuda/pair/cuda_weights.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

// Registers of a thread for its i-particles; the rest is for the j-particle, its reactions and the pair.
constexpr int kRegistersOfI = 160;
// Statements of the unrolled loop.
constexpr int longest_loop(Precision precision) {
  return precision == Precision::Single ? 1600 : precision == Precision::Mixed ? 1000 : 500;
}

// The first configuration is for many particles, the second, with smaller tiles, for few.
std::vector<LaunchConfig> launches_of(const CudaNeeds& needs) {
  const int words = needs.precision == Precision::Double ? 2 : 1;
  const int of_i = needs.i_words + words * needs.accumulators / 2;
  LaunchConfig many{128, 8, 128, 4, 1};
  while (many.i_per_thread > 1 && (many.i_per_thread * of_i > kRegistersOfI ||
                                   many.i_per_thread * needs.instructions > longest_loop(needs.precision)))
    many.i_per_thread /= 2;
  while (many.unroll > 1 && many.unroll * many.i_per_thread * needs.instructions > longest_loop(needs.precision))
    many.unroll /= 2;
  LaunchConfig few = many;
  few.i_per_thread = std::min(few.i_per_thread, 4);
  return {many, few};
}

}  // namespace

void add_cuda_symmetric(KernelSource& source, const Pipeline& pipeline, Plan plan, const Options& options) {
  plan.any_guard = kNone;  // there is no test that skips pairs
  plan.before_guard.clear();
  const CudaPairBody body = cuda_pair_body(pipeline, plan, options, CudaPairs::Symmetric);
  const CudaScalars scalars{options.precision == Precision::Double, options.math == Math::Precise};
  const bool all_floats = std::ranges::all_of(
      plan.outputs, [&](const OutputPlan& output) { return scalars.resolved(output.type) == Type::Float; });
  TemplateHoles holes;
  int number = 0;
  for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
    const OutputPlan& output = plan.outputs[k];
    const char* const side = output.of_j ? "reactions" : "sums";
    if (k == std::size_t(source.first_reaction)) number = 0;
    holes[fmt::format("store_{}", side)] += fmt::format("put(at[{} * stride], all.acc{});\n", number, k);
    holes[fmt::format("load_{}", side)] += fmt::format("set_bits(all.acc{}, at[{} * stride]);\n", k, number);
    ++number;
    if (!output.of_j) continue;
    holes["reaction_members"] += fmt::format("{} s{} = {};\n", cuda_type(output.type, scalars), k,
                                             output.reduction == Reduction::Sum ? "0" : cuda_initial(output, scalars));
    holes["move_reactions"] += fmt::format("back.s{0} = __shfl_sync(~0u, back.s{0}, from);\n", k);
    holes["partial_of_reactions"] += fmt::format("part.acc{0} = back.s{0};\n", k);
  }
  const std::vector<LaunchConfig> launches = launches_of(body.needs);
  holes["title"] = cuda_title(pipeline, options);
  holes["types"] = cuda_types(launches.front(), "0", options.precision, plan);
  holes["particles"] = cuda_particles(pipeline, plan, body);
  holes["argument"] = declarations_of("cuda_symmetric_data.h", "symmetric");
  holes["sums"] = std::to_string(number);
  holes["slot"] = all_floats ? "float" : "double";
  holes["uniform"] = body.uniform;
  holes["load_i"] = body.load_i;
  holes["stage_j"] = body.stage_j;
  holes["pair_j"] = body.pair_j;
  holes["pair"] = body.pair;
  holes["flush"] = body.flush;
  const int bytes = number * int(all_floats ? sizeof(float) : sizeof(double));
  source.variants.push_back({Frame::Symmetric, fill_template("cuda_symmetric.cu", holes), launches, bytes});
  source.tile = launches.front().j_tile;
  source.on_gpu.statements = body.pair_statements;
  source.on_gpu.doubles = body.pair_doubles;
}

}  // namespace nbcc
