// Plan -> cuda_products.cu. Entry points: cuda_product_launch(), cuda_products(), cuda_packed_vectors(). The numbers
// below were the fastest of those tried on an H200 (bench/RESULTS.md, "Wide pairs by matrix instructions").
#include "compiler/emit/cuda/frames/cuda_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/cuda/frames/cuda_element_loops.h"
#include "compiler/emit/cuda/launch/gpu_facts.h"
#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/cuda/pair/cuda_loop_operands.h"
#include "compiler/emit/cuda/pair/cuda_statement.h"
#include "compiler/emit/finish.h"
#include "compiler/emit/spelling.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/outputs/one_choice.h"
#include "compiler/text/fill_template.h"
#include "templates/cuda/frames/cuda_product_data.h"

namespace nbcc {
namespace {

constexpr int kChunk = 32;          // elements of a row in shared memory
constexpr int kPitch = kChunk + 8;  // halves between rows, as in the template
constexpr int kLeastArchitecture = 80;
// Shared memory of a block that every GPU from compute capability 8.0 on has; dynamic shared memory.
constexpr int kMostBytesOfBlock = 99 << 10, kMostSharedBytes = 96 << 10;
// Pair bodies of so many statements leave registers for two blocks of a multiprocessor.
constexpr int kMostStatementsForTwo = 64;
// Columns of an output array whose sums are in registers.
constexpr int kMostArrayColumns = 128;
constexpr int kMostColumnsOfLongTiles = 64, kRoomOfParticles = 8 << 10;  // staged particles
// Passes over all pairs for an output array: with more, two halves take longer than loops in single precision.
constexpr int kMostPassesOfTwoHalves = 4;
constexpr LaunchConfig kProductLaunch{.threads = 256, .i_per_thread = 4, .j_tile = 128, .unroll = 1, .j_slices = 8};
// For i with many accumulators, which take registers and shared memory.
constexpr LaunchConfig kFewILaunches[] = {
    {.threads = 256, .i_per_thread = 2, .j_tile = 128, .unroll = 1, .j_slices = 4},
    {.threads = 128, .i_per_thread = 2, .j_tile = 128, .unroll = 1, .j_slices = 4},
    {.threads = 64, .i_per_thread = 2, .j_tile = 128, .unroll = 1, .j_slices = 4},
};

// The sum over elements of x[k] y[k], or of (y[k] - x[k])^2; x is a value of i, y of j.
struct ProductLoop {
  NodeId loop = kNone, of_i = kNone, of_j = kNone;
  bool is_difference = false;
  Elements elements;
};

// The terms of an output array: of_pair of_j[k], or of_pair (of_j[k] - of_i[k]); times -1 if is_negative.
struct ProductArray {
  NodeId of_pair = kNone, of_j = kNone, of_i = kNone;
  bool is_negative = false;
};

std::optional<ProductArray> product_array(const Plan& plan) {
  if (plan.arrays.size() != 1) return {};
  const Graph& graph = plan.graph;
  const Node& term = graph[plan.arrays.front().value];
  if (term.op != Op::Mul) return {};
  const auto is_outside = [&](NodeId id) { return !plan.in_loop[std::size_t(id)]; };
  auto [a, b, none] = term.args;
  if (!is_outside(a)) std::swap(a, b);
  if (!is_outside(a) || is_outside(b) || graph[a].type != Type::Real || graph[b].type != Type::Real) return {};
  ProductArray found{.of_pair = a};
  if (graph[b].binding == Binding::J) {
    found.of_j = b;
    return found;
  }
  if (graph[b].op != Op::Sub) return {};
  const NodeId left = graph[b].args[0], right = graph[b].args[1];
  found.is_negative = graph[right].binding == Binding::J;
  found.of_j = found.is_negative ? right : left;
  found.of_i = found.is_negative ? left : right;
  if (graph[found.of_j].binding != Binding::J || graph[found.of_i].binding != Binding::I) return {};
  return found;
}

std::optional<ProductLoop> product_loop(const Plan& plan) {
  if (plan.tiled_loops.size() != 1 || (!plan.arrays.empty() && !product_array(plan))) return {};
  const Graph& graph = plan.graph;
  const Node& loop = graph[plan.tiled_loops.front()];
  if (loop.op != Op::SumOfElements || loop.type != Type::Real) return {};
  const Node& term = graph[loop.args[0]];
  if (term.op != Op::Mul) return {};
  ProductLoop found{.loop = plan.tiled_loops.front(), .elements = elements_of(loop.payload)};
  auto [a, b, none] = term.args;
  found.is_difference = a == b && graph[a].op == Op::Sub;
  if (found.is_difference) b = graph[a].args[1], a = graph[a].args[0];
  for (const NodeId operand : {a, b}) {
    const Node& n = graph[operand];
    if (n.type != Type::Real) return {};
    if (n.binding == Binding::I) found.of_i = operand;
    if (n.binding == Binding::J) found.of_j = operand;
  }
  if (found.of_i == kNone || found.of_j == kNone) return {};
  return found;
}

// Particles whose elements are in the shared memory of a block of nbcc_pack at a time; 0: not even one fits.
int packed_per_block(const ProductLoop& loop) {
  constexpr std::int64_t kMost = 32, kBytes = 32 << 10;
  return int(std::min(kMost, kBytes / (loop.elements.count * std::int64_t(sizeof(float)))));
}

struct Sizes {
  LaunchConfig launch;
  int parts, stages, chunks;
  int components, passes, array_columns;  // of an output array; 0, 1, 0 without one
  bool keeps_i;
  std::int64_t shared_bytes;
};
// Shared memory of the sums of a block, in double precision.
std::int64_t accumulator_bytes(const Plan& plan, const LaunchConfig& launch) {
  std::int64_t accumulators = 0;
  for (const OutputPlan& output : plan.outputs)
    accumulators += output.of_array ? 0 : keeps_index(output.reduction) ? 2 : 1;
  return 8 * accumulators * launch.j_slices * launch.i_per_block();
}
Sizes sizes_of(const Plan& plan, const ProductLoop& loop, const Options& options, const LaunchConfig& launch) {
  Sizes sizes{.launch = launch, .passes = 1};
  const bool is_two = options.matrix_units == MatrixUnits::TwoHalves;
  sizes.parts = is_two ? 2 : 1;
  sizes.stages = is_two ? 2 : 3;
  sizes.chunks = int((loop.elements.count + kChunk - 1) / kChunk);
  if (!plan.arrays.empty()) {
    sizes.components = int(plan.arrays.front().elements.count);
    sizes.passes = (sizes.components + kMostArrayColumns - 1) / kMostArrayColumns;
    sizes.array_columns = ((sizes.components + sizes.passes - 1) / sizes.passes + 31) / 32 * 32;
  }
  const std::int64_t of_i = std::int64_t(sizes.parts) * sizes.launch.i_per_block() * kPitch * 2,
                     of_j = std::int64_t(sizes.parts) * sizes.launch.j_tile * kPitch * 2;
  const std::int64_t values = sizes.components > 0 ? sizes.launch.j_tile * (sizes.array_columns + 8) * 4 : 0;
  const std::int64_t kept = sizes.chunks * of_i + sizes.stages * of_j + values;
  sizes.keeps_i = kept <= kMostSharedBytes;
  sizes.shared_bytes =
      std::max(sizes.keeps_i ? kept : sizes.stages * (of_i + of_j) + values, accumulator_bytes(plan, launch));
  return sizes;
}

Sizes sizes_of(const Plan& plan, const ProductLoop& loop, const Options& options) {
  const Sizes sizes = sizes_of(plan, loop, options, kProductLaunch);
  if (plan.arrays.empty()) {
    const auto fits = [&](const LaunchConfig& launch) {
      return accumulator_bytes(plan, launch) <= kMostSharedBytes - kRoomOfParticles;
    };
    if (fits(kProductLaunch)) return sizes;
    const auto* const last = std::end(kFewILaunches) - 1;
    return sizes_of(plan, loop, options, *std::find_if(std::begin(kFewILaunches), last, fits));
  }
  // Kernels with an output array have registers for fewer products, and long tiles must leave room for staged
  // particles.
  const bool is_long = sizes.components <= kMostColumnsOfLongTiles && options.matrix_units == MatrixUnits::Half &&
                       sizes.shared_bytes <= kMostSharedBytes - kRoomOfParticles;
  LaunchConfig half = kProductLaunch;
  half.j_tile /= 2;
  return is_long ? sizes : sizes_of(plan, loop, options, half);
}

}  // namespace

LaunchConfig cuda_product_launch(const Pipeline& pipeline, const Plan& plan, const Options& options) {
  const std::optional<ProductLoop> loop = product_loop(plan);
  if (!loop || options.precision != Precision::Single || options.math != Math::Fast) return {};
  if (pipeline.first_reaction > 0 || packed_per_block(*loop) == 0) return {};
  if ((finishes_sums(pipeline, plan) && !plan.arrays.empty()) ||
      std::ranges::any_of(plan.outputs, [](const OutputPlan& output) { return output.histogram >= 0; }))
    return {};
  const Sizes sizes = sizes_of(plan, *loop, options);
  const std::int64_t staged = cuda_pair_body(pipeline, plan, options, CudaPairs::All).needs.staged_bytes;
  const std::int64_t static_bytes =
      2 * sizes.launch.j_tile * (staged + std::int64_t(sizeof(product_data::RowFacts))) + 64;
  if (static_bytes > kGpuSharedBytesPerBlock || sizes.shared_bytes > kMostSharedBytes ||
      sizes.shared_bytes + static_bytes > kMostBytesOfBlock)
    return {};
  if (options.matrix_units == MatrixUnits::TwoHalves && sizes.passes > kMostPassesOfTwoHalves) return {};
  const CudaScalars scalars{};
  const CudaStatements statements(plan.graph, plan, options, scalars, "a.", false);
  const CudaLoopOperands operands(plan, statements);
  const auto reads_loops = [&](NodeId operand) {
    return std::ranges::any_of(operands.closure(operand), [&](NodeId id) { return is_loop(plan.graph[id].op); });
  };
  return reads_loops(loop->of_i) || reads_loops(loop->of_j) ? LaunchConfig{} : sizes.launch;
}

KernelSource::PackedVectors cuda_packed_vectors(const Plan& plan, const Options& options) {
  const ProductLoop loop = *product_loop(plan);
  const Sizes sizes = sizes_of(plan, loop, options);
  return {.per_block = packed_per_block(loop),
          .value_bytes = sizes.passes * sizes.array_columns * 4,
          .row_bytes = sizes.parts * sizes.chunks * kChunk * 2,
          .facts_bytes = int(sizeof(product_data::RowFacts)),
          .shared_bytes = int(sizes.shared_bytes),
          .least_architecture = kLeastArchitecture};
}

std::string cuda_products(const Pipeline& pipeline, const Plan& plan, const Options& options,
                          const CudaPairBody& body) {
  const ProductLoop loop = *product_loop(plan);
  const Sizes sizes = sizes_of(plan, loop, options);
  const CudaScalars scalars{false, options.root == RootMode::Exact};
  const CudaStatements statements(plan.graph, plan, options, scalars, "a.", false);
  const CudaLoopOperands operands(plan, statements);
  // The views of the elements that an operand reads, and its value for particle `side`.
  const auto elements_of_operand = [&](NodeId operand) {
    std::vector<NodeId> found = operands.closure(operand);
    std::erase_if(found,
                  [&](NodeId id) { return !is_element(plan.graph[id].op) || plan.graph[id].op == Op::ElementOfParam; });
    return found;
  };
  const auto views = [&](NodeId operand, char side) {
    std::string text;
    if (operand == kNone) return text;
    for (const NodeId id : elements_of_operand(operand))
      text += fmt::format("const View view{} = a.{}[{} + k];\n", id, side, plan.graph[id].payload);
    return text;
  };
  const auto element = [&](NodeId operand, char side) {
    std::string text;
    if (operand == kNone) return std::string("return 0.0f;");
    for (const NodeId id : elements_of_operand(operand))
      text +=
          fmt::format("const {0} loaded{1} = component<{0}>(view{1}, {2});\n", statements.loaded_type(id), id, side);
    return fmt::format("{}{}return t{};", text, operands.computed(operand, "loaded{}"), operand);
  };
  std::map<std::string, std::string> of_array{
      {"pack_values", ""},     {"begin_passes", ""},
      {"and_first_pass", ""},  {"copy_values", ""},
      {"declare_factors", ""}, {"if_first_pass", ""},
      {"add_array", ""},       {"end_passes", ""},
      {"place", ""},           {"reduce", "reduce(a, sum, (SlicePartials*)chunks, slice, row, split);"}};
  std::string pair = body.pair;
  bool is_difference = false;
  if (const std::optional<ProductArray> array = product_array(plan)) {
    const OutputArray& output = plan.arrays.front();
    is_difference = array->of_i != kNone;
    int place = 0;
    for (int k = 0; k < output.first; ++k) place += keeps_index(plan.outputs[std::size_t(k)].reduction) ? 2 : 1;
    const NodeId scale = plan.outputs[std::size_t(output.first + output.elements.first)].scale;
    of_array = {
        {"pack_values", fill_template("cuda_product_values.cuh", {{"first", std::to_string(output.elements.first)},
                                                                  {"views_of_i", views(array->of_i, 'i')},
                                                                  {"views_of_j", views(array->of_j, 'j')},
                                                                  {"value_of_i", element(array->of_i, 'i')},
                                                                  {"value_of_j", element(array->of_j, 'j')}})},
        {"begin_passes", R"(#pragma unroll 1
for (int pass = 0; pass < kPasses; ++pass) {
float array_sum[NBCC_I_PER_THREAD / 2][kArrayColumns / 8][4] = {};
float factor_sum[NBCC_I_PER_THREAD] = {};)"},
        {"and_first_pass", " && pass == 0"},
        {"copy_values", fill_template("cuda_product_copy.cuh", {})},
        {"declare_factors", "float factor[NBCC_I_PER_THREAD][kJ] = {};"},
        {"if_first_pass", "if (pass == 0)"},
        {"add_array", fill_template("cuda_product_array.cuh", {})},
        {"end_passes",
         fill_template("cuda_product_store.cuh", {{"place", std::to_string(place + output.elements.first)},
                                                  {"sign", array->is_negative ? "-" : "+"}}) +
             "}"},
        {"place", fill_template("cuda_array_place.cuh", {})},
        {"reduce", fmt::format(R"(if (!reduce(a, sum, (SlicePartials*)chunks, slice, row, split)) return;
for (index number = threadIdx.x; number < kBlockI; number += NBCC_THREADS) {{
const index at = (index)blockIdx.x * kBlockI + number;
if (at >= a.ni) break;
const index i = i_particle(a, at);
{}for (int k = 0; k < kComponents; ++k) store_element(a, at, i, {} + k, {} + k, {});
}})",
                               scalar_statements(plan, plan.graph, plan.scales, 's', cuda_scalar_spelling()),
                               place + output.elements.first, output.first + output.elements.first,
                               scale == kNone ? "1.0" : fmt::format("s{}", scale))}};
    pair += output.guard == kNone ? fmt::format("factor[r][u] = t{};\n", array->of_pair)
                                  : fmt::format("factor[r][u] = t{} ? t{} : 0.0f;\n", output.guard, array->of_pair);
  }
  // Of the loop over tiles and of the pairs that a choice computes again.
  const TemplateHoles of_both{{"first", std::to_string(loop.elements.first)},
                              {"views_of_i", views(loop.of_i, 'i')},
                              {"views_of_j", views(loop.of_j, 'j')},
                              {"element_of_i", element(loop.of_i, 'i')},
                              {"element_of_j", element(loop.of_j, 'j')},
                              {"load_i", body.load_i},
                              {"stage_j", body.stage_j},
                              {"loop", fmt::format("loop{}", loop.loop)},
                              {"pair_j", body.pair_j},
                              {"flush", body.flush}};
  const std::optional<OneChoice> choice = one_choice(pipeline);
  const bool keeps_lists = choice && choice->indices > 1;
  if (choice && choice->indices > 0) {
    std::string found, has_nan = "false", set_nan;
    for (int m = 0; m < choice->indices; ++m)
      found += fmt::format("{}to_index({})", m > 0 ? ", " : "", cuda_result(plan, choice->first + m));
    for (int k = 0; k < int(plan.outputs.size()); ++k) {
      const Reduction reduction = plan.outputs[std::size_t(k)].reduction;
      if (reduction != Reduction::Min && reduction != Reduction::Max) continue;
      has_nan += fmt::format(" || {0} != {0}", cuda_result(plan, k));
      set_nan += cuda_result(plan, k) + " = __longlong_as_double(0x7ff8000000000000LL);\n";
    }
    TemplateHoles of_choice{{"chosen", std::to_string(choice->indices)},
                            {"found", found},
                            {"has_nan", has_nan},
                            {"set_nan", set_nan},
                            {"self", body.tests_self ? "const int self[1] = {i + a.i_offset == chosen.j ? 0 : -1};\n"
                                                       "constexpr bool may_be_self = true;\n"
                                                     : ""},
                            {"pair", body.pair}};
    of_choice.insert(of_both.begin(), of_both.end());
    of_array["reduce"] = fill_template("cuda_product_choice.cuh", of_choice);
  }
  std::string self;
  if (body.tests_self) self = "int self[NBCC_I_PER_THREAD];\nfind_self(a, first_i, first_j, self);\n";
  if (body.two_loops) self += "constexpr bool may_be_self = true;\n";
  const std::map<std::string, std::string> of_pairs{
      {"parts", std::to_string(sizes.parts)},
      {"elements", std::to_string(loop.elements.count)},
      {"chunk", std::to_string(kChunk)},
      {"stages", std::to_string(sizes.stages)},
      {"keeps_i", sizes.keeps_i ? "true" : "false"},
      {"difference", loop.is_difference ? "true" : "false"},
      {"components", std::to_string(sizes.components)},
      {"passes", std::to_string(sizes.passes)},
      {"array_columns", std::to_string(sizes.array_columns)},
      {"array_difference", is_difference ? "true" : "false"},
      {"bytes", std::to_string(sizes.shared_bytes)},
      {"resident_blocks",
       body.pair_statements <= kMostStatementsForTwo && plan.arrays.empty() && !keeps_lists ? "2" : "1"},
      {"uniform", body.uniform},
      {"packed", std::to_string(packed_per_block(loop))},
      {"value", loop.is_difference ? "larger(0.0f, fmaf(-2.0f * x_y, y.scale, x.norm + y.norm))" : "x_y * y.scale"},
      {"self", self},
      {"pair", pair}};
  of_array.insert(of_both.begin(), of_both.end());
  of_array.insert(of_pairs.begin(), of_pairs.end());
  return declarations_of("cuda_product_data.h", "products") + fill_template("cuda_products.cu", of_array);
}

}  // namespace nbcc
