// Optimized pipeline -> CUDA source. Entry points: emit_cuda(), cuda_target(). cuda_pair_body() writes the statements
// of a pair; this file fills them into a frame, a template that loops over pairs. The code of a thread is scalar: the
// source has a loop over its i-particles, which NVRTC unrolls. The runtime chooses the launch configuration for a
// device.
#include "compiler/emit/cuda/emit_cuda.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/accumulators.h"
#include "compiler/emit/cuda/frames/cuda_element_loops.h"
#include "compiler/emit/cuda/frames/cuda_indices.h"
#include "compiler/emit/cuda/frames/cuda_lists.h"
#include "compiler/emit/cuda/frames/cuda_neighbours.h"
#include "compiler/emit/cuda/frames/cuda_particles.h"
#include "compiler/emit/cuda/frames/cuda_products.h"
#include "compiler/emit/cuda/frames/cuda_symmetric.h"
#include "compiler/emit/cuda/frames/cuda_totals.h"
#include "compiler/emit/cuda/launch/gpu_facts.h"
#include "compiler/emit/cuda/launch/launch_configs.h"
#include "compiler/emit/cuda/pair/cuda_pair_body.h"
#include "compiler/emit/cuda/pair/cuda_tables.h"
#include "compiler/emit/describe.h"
#include "compiler/emit/loop_operands.h"
#include "compiler/emit/plan.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

// ---- the frame of all pairs ----------------------------------------------------------------------------------------

// The loop over the pairs of a tile.
std::string pair_loop(const CudaPairBody& body) {
  const std::string loop = fill_template("cuda_pair_loop.cuh", {{"pair_j", body.pair_j}, {"pair", body.pair}});
  if (!body.two_loops) return loop;
  // Both loops compute the same sums.
  return fill_text("two loops", R"(// With one i per thread a second loop costs more than the test.
if (NBCC_I_PER_THREAD == 1 || tile_holds_self) {
  constexpr bool may_be_self = true;
  @{loop}
} else {
  constexpr bool may_be_self = false;
  @{loop}
}
)",
                   {{"loop", loop}});
}

// The same loop; if the source is compiled with exclusions, tiles that may hold an excluded pair test each pair.
std::string pair_loop_with_exclusions(const CudaPairBody& body) {
  return fill_template("cuda_pair_loop_exclusions.cuh",
                       {{"may_be_self", body.two_loops ? "constexpr bool may_be_self = true;" : ""},
                        {"pair_j", body.pair_j},
                        {"pair", body.pair},
                        {"loop", pair_loop(body)}});
}

std::string cutoff_prepass(const CudaPairBody& body) {
  return fill_template(
      "cuda_cutoff_prepass.cuh",
      {{"prepass_j", body.prepass_j}, {"prepass", body.prepass}, {"pair_j", body.pair_j}, {"pair", body.pair}});
}

// Copies the tables of pair lookups into shared memory, if they fit.
std::string stage_tables(const CudaPairBody& body, const Plan& plan) {
  if (body.needs.table_bytes == 0) return "";
  return fill_text("tables",
                   R"(__shared__ __align__(16) char tables[@{bytes}];  // read behind the barrier of the first tile
for (int k = threadIdx.x; k < @{loads}; k += NBCC_THREADS)
  ((float4*)tables)[k] = __ldg((const float4*)((const char*)a.tables + @{begin}) + k);
)",
                   {{"bytes", std::to_string(body.needs.table_bytes)},
                    {"loads", std::to_string(body.needs.table_bytes / 16)},
                    {"begin", std::to_string(range_of_pairs(plan).begin)}});
}

std::string all_pairs(const CudaPairBody& body, const Plan& plan, bool cutoff) {
  std::string barrier = "__syncthreads();";
  if (body.tests_self)
    barrier = "int self[NBCC_I_PER_THREAD];\n" +
              (body.two_loops ? "const bool tile_holds_self = __syncthreads_or(find_self(a, first_i, first_j, self));"
                              : "find_self(a, first_i, first_j, self);\n" + barrier);
  const std::string loop = cutoff ? cutoff_prepass(body) : pair_loop_with_exclusions(body);
  const char* const cold = "__shared__ ICold cold[kBlockI];  // read behind the barrier of the first tile";
  // The cutoff test reads full groups of a tile. Stale positions behind the last j do no harm, but stale table indices
  // would: then the tile is filled up with the last j.
  const bool fills_groups = cutoff && !plan.tables_of_pairs.empty();
  return fill_template("cuda_all_pairs.cu",
                       {{"declare_cold", body.has_cold_data ? cold : ""},
                        {"stage_tables", stage_tables(body, plan)},
                        {"uniform", body.uniform},
                        {"load_i", body.load_i},
                        {"filled", fills_groups ? "(count + kGroup - 1) / kGroup * kGroup" : "count"},
                        {"number_in_tile", fills_groups ? "lesser(k, count - 1)" : "k"},
                        {"stage_j", body.stage_j},
                        {"barrier", barrier},
                        {"pair_loop", loop},
                        {"flush", body.flush}});
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

std::string kernel(const Pipeline& pipeline, const Plan& plan, const Options& options, const CudaPairBody& body,
                   const LaunchConfig& own) {
  const bool cutoff = plan.any_guard != kNone && !plan.tiles_loops;
  const std::string exclusions = cuda_exclusions() + fill_template("cuda_exclusions_of_tile.cuh", {});
  return fill_template("cuda_kernel.cu",
                       {{"title", cuda_title(pipeline, options)},
                        {"types", cuda_types(own, resident_threads_text(body.needs), options.precision, plan)},
                        {"cutoff", cutoff ? "true" : "false"},
                        {"registers", std::to_string(kGpuRegisters)},
                        {"particles", cuda_particles(pipeline, plan, body)},
                        {"exclusions", exclusions}}) +
         (!plan.tiles_loops                          ? all_pairs(body, plan, cutoff)
          : options.matrix_units != MatrixUnits::Off ? cuda_products(pipeline, plan, options, body)
                                                     : cuda_element_loops(plan, options, body, own));
}

// The columns that are copied to the GPU. The kernel itself computes upper and lower parts and derived values.
std::vector<Column> transferred(const std::vector<Column>& columns) {
  std::vector<Column> wanted;
  for (const Column& c : columns) {
    if (c.part == Column::Part::Whole) wanted.push_back(c);
    if (c.part == Column::Part::High) wanted.push_back({c.component, Element::Double, Column::Part::Whole});
  }
  return wanted;
}

}  // namespace

// Errors of rsqrt_estimate() in templates/cuda/frames/cuda_types.cuh.in: 2^-22.9, which needs no refinement, and
// 2^-20.03, rounded up.
Target cuda_target() {
  return {.rsqrt_error_float = 0x1.13p-23, .rsqrt_error_double = 0x1.8p-20, .fast_exp2 = true, .predicated = true};
}

KernelSource emit_cuda(const Pipeline& given, const Options& options, const Neighbourhood* neighbourhood,
                       const TableIndices& indices) {
  const Pipeline accumulating = with_accumulators(given);
  const std::map<int, PlacedTable> tables = tables_of_pairs(accumulating, options.precision);
  Pipeline pipeline = with_byte_offsets(accumulating, tables);
  LaunchConfig of_loops;
  // After a cutoff, and in the kernels of listed pairs and of one set, a thread computes the loops of its own pairs.
  const bool may_tile = neighbourhood == nullptr && tables.empty() && pipeline.first_reaction == 0 &&
                        pipeline.components(Role::InputPair) == 0;
  Plan plan = plan_loops(pipeline, options, {.fused = cuda_target().fused, .tiles = [&](const Plan& tiled) {
                                               const bool by_matrices = options.matrix_units != MatrixUnits::Off;
                                               const auto launch = by_matrices ? cuda_product_launch : cuda_loop_launch;
                                               if (may_tile) of_loops = launch(pipeline, tiled, options);
                                               return of_loops.threads > 0;
                                             }});
  add_tables_of_pairs(plan, tables);
  KernelSource source = describe_kernel(pipeline, plan, options.precision);
  source.target = "cuda";
  source.columns.i = transferred(source.columns.i);
  source.columns.j = transferred(source.columns.j);
  source.index_checks = readable_checks(indices, plan);
  const auto add_index_checks = [&](const CudaPairBody& body) {
    if (!source.index_checks.checks.empty())
      source.variants.push_back(cuda_indices(source, indices, pipeline, plan, options, body));
  };
  const auto add_totals = [&] {
    if (std::ranges::any_of(source.fields, &FieldLayout::is_total))
      source.variants.push_back(cuda_totals(pipeline, plan, options));
  };
  if (pipeline.first_reaction > 0) {
    add_cuda_symmetric(source, pipeline, plan, options);
    add_index_checks(cuda_pair_body(pipeline, plan, options, CudaPairs::Symmetric));
    return source;
  }
  if (source.sums_listed_pairs_only()) {
    add_cuda_lists(source, pipeline, plan, options);
    add_index_checks(cuda_pair_body(pipeline, plan, options, CudaPairs::Listed));
    add_totals();
    source.tile = source.first().launches.front().j_tile;
    return source;
  }
  const CudaPairBody body = cuda_pair_body(pipeline, plan, options, CudaPairs::All);
  const CudaNeeds& needs = body.needs;
  const std::vector<LaunchConfig> launches = plan.tiles_loops ? std::vector{of_loops} : launch_configs(needs);
  source.variants.push_back({Frame::AllPairs, kernel(pipeline, plan, options, body, launches.front()), launches});
  source.tile = launches.front().j_tile;
  source.on_gpu.cutoff = needs.cutoff;
  source.on_gpu.statements = body.pair_statements;
  source.on_gpu.doubles = body.pair_doubles;
  if (plan.tiles_loops) {
    source.on_gpu.argument_in_memory = true;
    if (options.matrix_units != MatrixUnits::Off) {
      source.packed_vectors = cuda_packed_vectors(plan, options);
      return source;
    }
    (options.precision == Precision::Double ? source.on_gpu.doubles : source.on_gpu.statements) +=
        cuda_loop_statements(plan);
    if (options.precision == Precision::Double)
      source.on_gpu.statements = std::max(source.on_gpu.statements, source.on_gpu.doubles);
    Pipeline listed = pipeline;
    const Plan of_pairs =
        plan_loops(listed, options, {.fused = cuda_target().fused, .tiles = [](const Plan&) { return false; }});
    add_cuda_lists(source, listed, of_pairs, options);
    add_totals();
    return source;
  }
  if (neighbourhood && can_locate(*neighbourhood, plan))
    add_cuda_search(source, pipeline, plan, options, *neighbourhood);
  add_cuda_lists(source, pipeline, plan, options);
  add_index_checks(body);
  add_totals();
  return source;
}

}  // namespace nbcc
