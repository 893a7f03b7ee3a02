// Optimized pipeline -> CPU kernel text. Doors: emit_cpu(), cpu_target(). The text is templates/cpu_kernel.cpp.in
// around a frame of pairs; what its holes hold is written by CpuPairBody and, behind the sums, by finish_statements().
#include "compiler/emit/cpu/emit_cpu.h"

#include <fmt/core.h>

#include "compiler/emit/cpu/cpu_all_pairs.h"
#include "compiler/emit/cpu/cpu_expression.h"
#include "compiler/emit/cpu/cpu_pair_body.h"
#include "compiler/emit/describe.h"
#include "compiler/emit/finish.h"
#include "compiler/emit/plan.h"
#include "compiler/emit/spelling.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

// 128 terms per lane: their rounding errors in working precision stay near one unit, and the step to double costs
// one or two operations in a hundred.
constexpr int kTermsPerTile = 128;

// Types, and the functions that statements call.
std::string types(const CpuVectors& vectors) {
  std::string numbers;
  for (int k = 0; k < vectors.lanes(); ++k) numbers += fmt::format("{}{}", k ? ", " : "", k);
  // SSE2 has no instructions to round with, and on Neon kernels take no estimate of roots.
  std::string isa = vectors.isa == Isa::Sse2 ? "" : fill_template("cpu_rounding.h", {});
  if (vectors.isa != Isa::Neon) isa += fill_template(fmt::format("cpu_{}.h", name(vectors.isa)), {});
  return fill_template("cpu_types.h", {{"real", vectors.real()},
                                       {"mask", vectors.precision == Precision::Double ? "vindex" : "vint"},
                                       {"lanes", std::to_string(vectors.lanes())},
                                       {"lane_numbers", numbers},
                                       {"isa", isa}});
}

std::string finish(const Pipeline& pipeline, const Plan& plan, CpuExpressions& expressions) {
  const auto read = [&](int column) {
    return fmt::format("(({}*)a->i[{}])[i]", c_name(plan.i.columns[std::size_t(column)].element), column);
  };
  const auto input_i = [&](int component, Type) {
    const std::string value = read(plan.i.whole.at(component));
    const auto low = plan.i.low.find(component);
    return low == plan.i.low.end() ? value : fmt::format("(double){} + {}", value, read(low->second));
  };
  const auto result = [&](std::size_t k) {
    const OutputPlan& output = plan.outputs[k];
    if (keeps_index(output.reduction)) return fmt::format("a->arg[{}][i]", k);
    return output.is_whole() ? fmt::format("((index*)a->acc[{}])[i]", k) : fmt::format("a->acc[{}][i]", k);
  };
  const auto literal = [](double value, Type type) {
    return type == Type::Bool ? (value != 0 ? "true" : "false") : cpu_literal(value, type);
  };
  const auto operation = [&](const Graph& graph, const Node& node, const auto& args) {
    return expressions.operation(graph, node, args, false);
  };
  return finish_statements(pipeline, plan, {"a->", input_i, result, literal, operation});
}

}  // namespace

Target cpu_target(Isa isa) {
  constexpr double kTwelveBits = 1.5 * 0x1p-12, kFourteenBits = 0x1p-14;
  if (isa == Isa::Avx512) return {kFourteenBits, kFourteenBits, true};
  if (isa == Isa::Neon) return {0, 0, true};
  return {kTwelveBits, 0, isa == Isa::Avx2};
}

KernelSource emit_cpu(const Pipeline& pipeline, const Options& options, Isa isa) {
  const Plan plan = make_plan(pipeline, options);
  const CpuVectors vectors{isa, options.precision};
  CpuExpressions expressions(vectors);
  CpuPairBody body(plan, vectors, expressions);
  KernelSource source = describe_kernel(pipeline, plan);
  source.target = fmt::format("cpu-{}", name(isa));
  source.lanes = vectors.lanes();
  source.tile = kTermsPerTile * vectors.lanes();
  source.i_block = body.i_block();
  std::map<std::string, std::string> holes;
  holes["title"] = fmt::format("{}: {}, {} precision, {} math", pipeline.name, name(isa), name(options.precision),
                               name(options.math));
  holes["lanes"] = std::to_string(source.lanes);
  holes["i_block"] = std::to_string(source.i_block);
  holes["types"] = types(vectors);
  holes["prepare_i"] = body.prepare(plan.i, 'i');
  holes["prepare_j"] = body.prepare(plan.j, 'j');
  holes["interact"] = cpu_all_pairs(body, source.lanes, source.tile);
  holes["finish"] = finish(pipeline, plan, expressions);
  holes["functions"] = expressions.functions();  // last: it knows by now which are used
  source.text = fill_template("cpu_kernel.cpp", holes);
  return source;
}

}  // namespace nbcc
