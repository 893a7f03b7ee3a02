// Optimized pipeline -> CPU kernel source. Entry point: emit_cpu(). The source is templates/cpu/cpu_kernel.cpp.in with
// a frame that loops over pairs; CpuPairBody writes the statements of pairs, finish_statements() those after the sums.
#include "compiler/emit/cpu/emit_cpu.h"

#include <fmt/core.h>

#include "compiler/emit/accumulators.h"
#include "compiler/emit/cpu/cpu_all_pairs.h"
#include "compiler/emit/cpu/cpu_element_loops.h"
#include "compiler/emit/cpu/cpu_expression.h"
#include "compiler/emit/cpu/cpu_locate.h"
#include "compiler/emit/cpu/cpu_pair_body.h"
#include "compiler/emit/cpu/cpu_symmetric.h"
#include "compiler/emit/cpu/cpu_table.h"
#include "compiler/emit/describe.h"
#include "compiler/emit/finish.h"
#include "compiler/emit/indices.h"
#include "compiler/emit/loop_operands.h"
#include "compiler/emit/plan.h"
#include "compiler/emit/spelling.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

// 128 terms per lane: their rounding error in working precision stays near one ulp, and adding the tile in double costs
// 1 to 2% of the operations.
constexpr int kTermsPerTile = 128;

// The types, and the functions that statements call.
std::string types(const CpuVectors& vectors, const Plan& plan) {
  std::string numbers;
  for (int k = 0; k < vectors.lanes(); ++k) numbers += fmt::format("{}{}", k ? ", " : "", k);
  std::string isa;
  for (const std::string_view one : facts(vectors.isa).templates)
    if (!one.empty()) isa += fill_template(one, {});
  const std::string cells =
      plan.has_cells ? fill_template("cpu_cell.h", {}) + fill_template("cell.h", {{"inline", "NBCC_INLINE"}}) : "";
  const std::string choices = plan.choices.empty() ? "" : fill_template("cpu_choices.h", {});
  return fill_template("cpu_types.h", {{"real", vectors.real()},
                                       {"mask", vectors.precision == Precision::Double ? "vindex" : "vint"},
                                       {"lanes", std::to_string(vectors.lanes())},
                                       {"lane_numbers", numbers},
                                       {"isa", isa}}) +
         cells + choices + (plan.has_philox ? fill_template("philox.h", {{"inline", "NBCC_INLINE"}}) : "") +
         (plan.tables.empty() ? "" : cpu_tables(vectors));
}

// The value of an input of a particle, as a double or an integer.
std::string input(const Plan& plan, const Node& n) {
  const SidePlan& side = n.op == Op::InputI ? plan.i : n.op == Op::InputJ ? plan.j : plan.listed;
  const char* const columns = n.op == Op::InputI ? "i" : n.op == Op::InputJ ? "j" : "pair";
  const auto read = [&](int column) {
    return fmt::format("(({}*)a->{}[{}])[{}]", c_name(side.columns[std::size_t(column)].element), columns, column,
                       columns);
  };
  const std::string value = read(side.whole.at(int(n.payload)));
  const auto low = side.low.find(int(n.payload));
  return low == side.low.end() ? value : fmt::format("(double){} + {}", value, read(low->second));
}

ScalarSpelling scalar_spelling(const Plan& plan, CpuExpressions& expressions) {
  const auto result = [&plan](std::size_t k) {
    const OutputPlan& output = plan.outputs[k];
    if (keeps_index(output.reduction)) return fmt::format("a->arg[{}][i]", k);
    return output.is_whole() ? fmt::format("((index*)a->acc[{}])[i]", k) : fmt::format("a->acc[{}][i]", k);
  };
  const auto literal = [](double value, Type type) {
    return type == Type::Bool ? (value != 0 ? "true" : "false") : cpu_literal(value, type);
  };
  const auto operation = [&expressions](const Graph& graph, const Node& node, const auto& args) {
    return expressions.operation(graph, node, args, false);
  };
  return {"a->",
          "a->",
          "(a->i_number ? a->i_number[i] : i) + a->i_offset",
          "(a->j_number ? a->j_number[j] : j) + a->j_offset",
          [&plan](const Node& n) { return input(plan, n); },
          result,
          literal,
          operation};
}

}  // namespace

KernelSource emit_cpu(const Pipeline& given, const Options& options, Isa isa, const Neighbourhood* neighbourhood,
                      const TableIndices& indices) {
  Pipeline pipeline = with_accumulators(given);
  // A search and listed pairs come with few j for each i, so that blocks would be nearly empty.
  const bool few_pairs = neighbourhood != nullptr || pipeline.components(Role::InputPair) > 0 ||
                         pipeline.has_pair_values() || pipeline.first_reaction > 0;
  const Plan plan = plan_loops(pipeline, options,
                               {.fused = facts(isa).target.fused,
                                .tiles = [&](const Plan& tiled) { return !few_pairs && has_blocks(tiled); },
                                .arrays_of_pairs = pipeline.first_reaction == 0});
  const CpuVectors vectors{isa, options.precision};
  CpuExpressions expressions(vectors);
  CpuPairBody body =
      plan.tiles_loops ? CpuPairBody(plan, vectors, expressions, 1) : CpuPairBody(plan, vectors, expressions);
  const ScalarSpelling scalars = scalar_spelling(plan, expressions);
  KernelSource source = describe_kernel(pipeline, plan, options.precision);
  source.target = cpu_target_name(isa);
  source.lanes = vectors.lanes();
  source.tile = (plan.tiles_loops ? kBlockVectors : kTermsPerTile) * vectors.lanes();
  source.i_block = plan.tiles_loops ? cpu_block(plan).rows : body.i_block();
  std::map<std::string, std::string> holes;
  holes["title"] = fmt::format("{}: {}, {} precision, {} math", pipeline.name, name(isa), name(options.precision),
                               name(options.math));
  holes["tables"] = plan.tables.empty() ? "" : "\nconst void* tables;";
  holes["lanes"] = std::to_string(source.lanes);
  holes["i_block"] = std::to_string(source.i_block);
  holes["types"] = types(vectors, plan);
  holes["prepare_uniform_i"] = body.prepare_uniform(plan.i);
  holes["prepare_i"] = body.prepare(plan.i, 'i');
  holes["prepare_uniform_j"] = body.prepare_uniform(plan.j);
  holes["prepare_j"] = body.prepare(plan.j, 'j');
  const std::string frame =
      fill_template("cpu_exclusions.h", {}) +
      (plan.tiles_loops ? cpu_element_loops(body, plan, vectors) : cpu_all_pairs(body, source.lanes, source.tile));
  std::string locate;
  // A text of so many operations that compiling it twice more takes long has no half lists.
  const bool can_search = pipeline.first_reaction == 0 || plan.pair.size() <= kMaxOperationsToBlock;
  if (neighbourhood && can_search && can_locate(*neighbourhood, plan)) {
    source.search = search_layout(*neighbourhood, pipeline.tables);
    locate = cpu_locate(*neighbourhood, plan, scalars, vectors, expressions);
  }
  source.index_checks = readable_checks(indices, plan);
  std::string check;
  if (!source.index_checks.checks.empty()) {
    const IndexText text = index_text(indices, source.index_checks, plan, scalars, {"i", "j", "pair"});
    check = fill_template("cpu_indices.cpp", {{"i", text[0]}, {"j", text[1]}, {"pair", text[2]}});
  }
  std::string symmetric;
  if (pipeline.first_reaction > 0) {
    CpuPairBody both(plan, vectors, expressions, CpuTerms::OfBoth);
    symmetric = cpu_symmetric(both, source.lanes, kTermsPerTile);
    CpuPairBody listed(plan, vectors, expressions, kHalfListBlock, CpuTerms::OfBoth);
    if (!locate.empty()) symmetric += cpu_half_lists(listed, plan, source.lanes, kHalfListVectors);
  }
  const std::string more = body.functions();
  holes["finish"] = nan_or_zero_statements(pipeline, plan, scalars) + finish_statements(pipeline, plan, scalars);
  holes["functions"] = expressions.functions() + more;  // last, when all used functions are known
  holes["interact"] = frame + fill_template("cpu_interact.cpp", {}) + symmetric;
  if (!locate.empty()) holes["interact"] += fill_template("cpu_numbered.cpp", {}) + locate;
  holes["interact"] += check;
  source.variants.push_back({Frame::AllPairs, fill_template("cpu_kernel.cpp", holes)});
  if (pipeline.first_reaction > 0) {
    CpuPairBody once(plan, vectors, expressions, 1, CpuTerms::OfBoth);
    holes["interact"] = cpu_listed_once(once, plan, source.lanes);
    source.variants.push_back({Frame::ListedPairs, fill_template("cpu_kernel.cpp", holes)});
  }
  holes["interact"] = frame + fill_template("cpu_lists.cpp", {});
  source.variants.push_back({Frame::Lists, fill_template("cpu_kernel.cpp", holes)});
  return source;
}

}  // namespace nbcc
