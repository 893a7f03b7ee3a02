// Plan -> statements on vectors of j-particles. Entry point: CpuPairBody.
#include "compiler/emit/cpu/cpu_pair_body.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/cpu/cpu_table.h"
#include "compiler/emit/spelling.h"

namespace nbcc {
namespace {

std::string vector_type(Element element) { return fmt::format("v{}", c_name(element)); }

// The address of one element of a column.
std::string address(const SidePlan& side, int column, std::string_view columns, std::string_view at) {
  const char* const element = c_name(side.columns[std::size_t(column)].element);
  return fmt::format("({}*)a->{}[{}] + {}", element, columns, column, at);
}
std::string address(const SidePlan& side, int column, char letter) {
  const std::string_view name(&letter, 1);
  return address(side, column, name, name);
}

std::set<NodeId> find_exclusions(const Plan& plan) {
  std::set<NodeId> exclusions;
  if (plan.any_guard != kNone) return exclusions;
  const std::vector<bool> apart = excludes_single_pairs(plan.graph);
  for (const OutputPlan& output : plan.outputs)
    if (output.guard != kNone && apart[std::size_t(output.guard)]) exclusions.insert(output.guard);
  return exclusions;
}

}  // namespace

std::string cpu_accumulator(std::size_t k, int r) { return fmt::format("sum{}_{}", k, r); }
// The vector of j that accumulates output component k, a reaction.
static std::string reaction(std::size_t k) { return fmt::format("reaction{}", k); }

CpuPairBody::CpuPairBody(const Plan& plan, const CpuVectors& vectors, CpuExpressions& expressions)
    : CpuPairBody(plan, vectors, expressions, CpuTerms::OfI) {}

CpuPairBody::CpuPairBody(const Plan& plan, const CpuVectors& vectors, CpuExpressions& expressions, CpuTerms terms)
    : CpuPairBody(plan, vectors, expressions, choose_block(plan, vectors, terms), terms) {}

CpuPairBody::CpuPairBody(const Plan& plan, const CpuVectors& vectors, CpuExpressions& expressions, int i_block,
                         CpuTerms terms)
    : plan_(plan),
      vectors_(vectors),
      expressions_(expressions),
      i_block_(i_block),
      terms_(terms),
      exclusions_(find_exclusions(plan)) {}

// The number of i-particles that share the loads of j, as many as registers can hold. Sixteen registers do not suffice
// even for gravity; there one i at a time, whose iterations overlap anyway, is faster by 20%.
int CpuPairBody::choose_block(const Plan& plan, const CpuVectors& vectors, CpuTerms terms) {
  // A run over listed pairs has one i at a time, and stores the results of its pairs once.
  if (!plan.listed.columns.empty() || std::ranges::any_of(plan.outputs, &OutputPlan::of_pair)) return 1;
  // The values of so many operations are spilled anyway, and Clang's time grows with the square of their number.
  if (plan.pair.size() > kMaxOperationsToBlock) return 1;
  // Code after a cutoff test is seldom reached and needs no registers. With four i, too few vectors would fail the
  // cutoff for all i.
  if (plan.any_guard != kNone) return 2;
  if (facts(vectors.isa).registers < 32) return 1;
  if (terms == CpuTerms::OfBoth) {
    // Values of i are read from memory. Sums of j need registers only while a block adds to them.
    const std::size_t sums = plan.outputs.size() / 2, registers = 22;
    return sums * 5 <= registers ? 4 : sums * 3 <= registers ? 2 : 1;
  }
  std::size_t per_i = plan.i.low.size() + plan.choices.size();
  for (const OutputPlan& output : plan.outputs) per_i += !output.of_choice;
  for (NodeId id : plan.pair) per_i += plan.graph[id].op == Op::InputI || plan.i.derived.count(id);
  // Without memory operands, constants and values of j take registers too.
  if (!facts(vectors.isa).memory_operands) return per_i * 2 <= 16 ? 2 : 1;
  return per_i * 4 <= 24 ? 4 : per_i * 2 <= 28 ? 2 : 1;
}

std::string CpuPairBody::i_name(int r) { return r == 0 ? "i" : fmt::format("i_{}", r); }
std::string CpuPairBody::i_index(int r) {
  return fmt::format("((numbered ? a->i_number[{0}] : {0}) + a->i_offset)", i_name(r));
}

// ---- nodes ---------------------------------------------------------------------------------------------------------

std::string CpuPairBody::node_name(NodeId id, int r) const {
  return per_i(id) ? fmt::format("t{}_{}", id, r) : fmt::format("t{}", id);
}

std::string CpuPairBody::expression(NodeId id, int r) {
  const auto image = optional_images_.find(id);
  if (image == optional_images_.end()) return always_expression(id, r);
  // The image of a difference -0 is +0. So is a sum whose terms are not both -0.
  const Node& difference = graph_[image->second];
  const std::string a = node_name(difference.args[0], r), b = node_name(difference.args[1], r),
                    zero = fmt::format("({})(0)", cpu_type(difference.type, true));
  const bool i_first = graph_[difference.args[0]].op == Op::InputI;
  return fmt::format("images ? {} : {}", always_expression(id, r),
                     i_first ? fmt::format("({} + {}) - {}", a, zero, b) : fmt::format("{} + ({} - {})", a, zero, b));
}

std::string CpuPairBody::always_expression(NodeId id, int r) {
  const Node& n = graph_[id];
  const std::string type = cpu_type(n.type, true);
  if (n.op == Op::Const) return fmt::format("({})({})", type, cpu_literal(graph_.constant_value(id), n.type));
  if (n.op == Op::Param && n.type == Type::Bool) return fmt::format("(vmask)(a->param[{}] != 0 ? -1 : 0)", n.payload);
  if (n.op == Op::Param) return fmt::format("({})(a->param[{}])", type, n.payload);
  if (is_loop(n.op)) return loop(id, r);
  if (n.op == Op::Lookup)
    return cpu_lookup(graph_, n, plan_.table(n, false), vectors_, node_name(n.args[0], r), node_name(n.args[1], r));
  if (is_self_test(graph_, n) && terms_ == CpuTerms::OfBoth)
    return fmt::format("may_be_i ? lane_of(i + {} - i_begin - j) : (vmask)(0)", r);
  if (is_self_test(graph_, n))
    return fmt::format(
        "numbered ? number_is(*(vnumbers*)(a->j_number + j), a->i_number[{0}] + a->i_offset - a->j_offset) "
        ": lane_of({0} + a->i_offset - (j + a->j_offset))",
        i_name(r));
  if (plan_.shifted.count(id)) return fmt::format("{0}s + {0}e", node_name(id, r));
  if (const auto shift = plan_.image_shifts.find(id); shift != plan_.image_shifts.end()) {
    const auto& [difference, whole, length, added] = shift->second;
    const std::string d = node_name(difference, r), times = (added ? "" : "-") + node_name(whole, r);
    return fmt::format("fused({0}, {1}, {2}s) + fused({0}, {1}l, {2}e)", times, node_name(length, r), d);
  }
  if (const auto copy = plan_.copy_shifts.find(id); copy != plan_.copy_shifts.end())
    return copy_with_parts(node_name(copy->second.difference, r), node_name(copy->second.shift, r));
  if (plan_.keeps_parts(n)) return vectors_with_parts(plan_, n, [&](NodeId arg) { return node_name(arg, r); });
  std::array<std::string, 3> args;
  for (std::size_t k = 0; k < std::size_t(arity(n.op)); ++k) args[k] = node_name(n.args[k], r);
  if (plan_.two_float.count(id)) return fmt::format("({0} - {1}) + ({0}l - {1}l)", args[0], args[1]);
  return expressions_.operation(graph_, n, args, true);
}

std::string CpuPairBody::computed(NodeId id, int r) {
  const Node& n = graph_[id];
  const std::string name = node_name(id, r);
  std::string text;
  if (plan_.shifted.count(id))
    text = fmt::format("const vreal {0}s = {1} - {2}, {0}e = lost({1}, {2}, {0}s) + ({1}l - {2}l);\n", name,
                       node_name(n.args[0], r), node_name(n.args[1], r));
  return text + fmt::format("const {} {} = {};\n", cpu_type(n.type, true), name, expression(id, r));
}

std::string CpuPairBody::uniform(const std::vector<NodeId>& nodes) {
  std::string text;
  for (NodeId id : nodes) {
    if (!is_uniform(graph_[id].binding)) continue;
    text += computed(id, 0);
    if (plan_.shift_lengths.count(id))
      text += fmt::format("const vreal t{}l = (vreal)({});\n", id, lower_part_of_length(graph_, id, "a->"));
  }
  return text;
}

std::string CpuPairBody::loaded_once(NodeId id) const {
  return graph_[id].binding == Binding::I ? load_i({id}) : vector_load(plan_.j, 'j', id, "numbered");
}

// ---- load ----------------------------------------------------------------------------------------------------------

// Loads an index, an input or a derived value; empty for other nodes. `read`: expression for an element of a column.
std::string CpuPairBody::loaded(const SidePlan& side, NodeId id, int r,
                                const std::function<std::string(int column)>& read, const std::string& index) const {
  const Node& n = graph_[id];
  const auto named = [&](const char* suffix, const std::string& value) {
    return fmt::format("const {} {}{} = {};\n", cpu_type(n.type, true), node_name(id, r), suffix, value);
  };
  if (n.op == Op::IIndex || n.op == Op::JIndex) return named("", index);
  const auto derived = side.derived.find(id);
  if (derived != side.derived.end()) return named("", read(derived->second));
  if (n.op != Op::InputI && n.op != Op::InputJ && n.op != Op::InputPair) return "";
  const std::string value = read(side.whole.at(int(n.payload)));
  const auto low = side.low.find(int(n.payload));
  return named("", n.type == Type::Bool ? fmt::format("to_mask({} != 0)", value) : value) +
         (low == side.low.end() ? "" : named("l", read(low->second)));
}

// Loads a node for a vector of particles. `numbered`: the condition under which a->i_number or a->j_number exists.
std::string CpuPairBody::vector_load(const SidePlan& side, char letter, NodeId id, const std::string& numbered) const {
  const auto read = [&](int column) {
    return fmt::format("*({}*)({})", vector_type(side.columns[std::size_t(column)].element),
                       address(side, column, letter));
  };
  const std::string index = fmt::format(
      "{1} ? indices(*(vnumbers*)(a->{0}_number + {0}), a->{0}_offset) : indices(lane_numbers, {0} + a->{0}_offset)",
      letter, numbered);
  return loaded(side, id, 0, read, index);
}

// Loads an input of listed pairs.
std::string CpuPairBody::listed_load(NodeId id) const {
  std::string text;
  for (int r = 0; r < i_block_; ++r)
    text += loaded(
        plan_.listed, id, r,
        [&](int column) {
          return fmt::format("*({}*)({})", vector_type(plan_.listed.columns[std::size_t(column)].element),
                             address(plan_.listed, column, "pair", "j"));
        },
        "");
  return text;
}

// Loads nodes of the i-particles, broadcast to all lanes.
std::string CpuPairBody::load_i(const std::vector<NodeId>& nodes) const {
  std::string text;
  for (NodeId id : nodes) {
    if (graph_[id].binding != Binding::I) continue;
    for (int r = 0; r < i_block_; ++r) {
      const auto read = [&](int column) {
        const Element element = plan_.i.columns[std::size_t(column)].element;
        return fmt::format("({})((({}*)a->i[{}])[{}])", vector_type(element), c_name(element), column, i_name(r));
      };
      text += loaded(plan_.i, id, r, read, fmt::format("(vindex)({})", i_index(r)));
    }
  }
  return text;
}

std::string CpuPairBody::prepare_uniform(const SidePlan& side) { return uniform(side.prepare); }

std::string CpuPairBody::prepare(const SidePlan& side, char letter) {
  std::string text;
  for (NodeId id : side.prepare)
    if (!is_uniform(graph_[id].binding))
      text += arity(graph_[id].op) == 0 ? vector_load(side, letter, id, fmt::format("a->{}_number", letter))
                                        : computed(id, 0);
  for (const auto& [id, column] : side.derived)
    text += fmt::format("*({}*)({}) = {};\n", vector_type(side.columns[std::size_t(column)].element),
                        address(side, column, letter), node_name(id, 0));
  return text;
}

// ---- compute and guard ---------------------------------------------------------------------------------------------

std::string CpuPairBody::pair() {
  std::string test, rest;
  for (NodeId id : plan_.pair)
    (plan_.any_guard == kNone || plan_.before_guard.count(id) ? test : rest) += pair_statement(id);
  if (plan_.any_guard != kNone) {
    // If no pair passes the cutoff, the remaining statements are skipped.
    std::string any;
    for (int r = 0; r < i_block_; ++r) any += fmt::format("{}{}", r ? " | " : "", node_name(plan_.any_guard, r));
    const std::string zeros = clear_pair_results();
    const std::string leave = zeros.empty() ? "return;" : fmt::format("{{\n{}return;\n}}", zeros);
    test += fmt::format("if (!any({})) {}\n", any, leave);
  }
  return test + rest + counted_pairs() + load_reactions() + accumulate_all() + store_reactions();
}

std::string CpuPairBody::within() {
  std::string text;
  for (const NodeId id : plan_.for_within)
    if (!is_uniform(graph_[id].binding)) text += pair_statement(id);
  return text + fmt::format("const vmask within_cutoff = {};\n", node_name(plan_.within, 0));
}

// For each i, the mask of the vector's pairs that exist and are not excluded. With reactions, also the mask of those
// whose reaction counts: not the pair of a particle with itself.
std::string CpuPairBody::counted_pairs() const {
  std::string text;
  for (int r = 0; r < i_block_; ++r)
    text += terms_ == CpuTerms::OfBoth
                ? fmt::format(
                      "const vmask from_i_{0} = may_be_i ? live & ~lanes_below(i + {0} - i_begin - j) : live;\n"
                      "const vmask live_{0} = all_i || i + {0} < chunk_end ? from_i_{0} : (vmask)(0);\n"
                      "const vmask later_{0} = may_be_i ? live_{0} & ~lane_of(i + {0} - i_begin - j) : live_{0};\n",
                      r)
                : fmt::format(
                      "const vmask live_{0} = exclusions ? without_excluded(a->exclusions[{1}], "
                      "*(vnumbers*)(a->j_number + j), live) : live;\n",
                      r, i_name(r));
  return text;
}

std::string CpuPairBody::pair_statement(NodeId id) {
  const Binding binding = graph_[id].binding;
  if (binding == Binding::J)
    if (const std::string load = vector_load(plan_.j, 'j', id, "numbered"); !load.empty()) return load;
  if (binding == Binding::I && (arity(graph_[id].op) == 0 || plan_.i.derived.count(id)))
    return "";  // loaded by load_i()
  if (graph_[id].op == Op::InputPair) return listed_load(id);
  std::string text;
  for (int r = 0; r < copies(id); ++r) text += computed(id, r);
  return text;
}

// ---- accumulate and reduce -----------------------------------------------------------------------------------------

std::string CpuPairBody::clear() const {
  std::string text;
  for (std::size_t k = 0; k < plan_.outputs.size(); ++k)
    for (int r = 0; r < i_block_; ++r) {
      const OutputPlan& output = plan_.outputs[k];
      if (!output.has_vector()) continue;
      const bool continues = output.reduction == Reduction::Reference;
      text +=
          fmt::format("{0} {1} = ({0})({2});\n", cpu_type(output.type, true), cpu_accumulator(k, r),
                      continues ? fmt::format("finite<{}>(a->acc[{}][{}])", cpu_type(output.type, false), k, i_name(r))
                                : cpu_literal(output.identity(), output.type));
      if (keeps_index(output.reduction)) text += fmt::format("vint arg{}_{} = (vint)(-1);\n", k, r);
    }
  for (const Choice& choice : plan_.choices) text += clear_choice(choice);
  for (const OutputArray& array : plan_.arrays)
    for (int r = 0; r < i_block_ && adds_to_arrays() && !is_of_pair(array); ++r)
      text += fmt::format("{} {}[{}] = {{}};\n", cpu_type(graph_[array.value].type, true), array_name(array, r),
                          array.elements.count);
  return text;
}

// Exclusion guards fail for few vectors; a branch for all other vectors adds the terms unconditionally.
std::string CpuPairBody::accumulate_all() {
  const auto all = [this](bool every_pair_counts) {
    std::string text;
    for (std::size_t k = 0; k < plan_.outputs.size(); ++k)
      for (int r = 0; r < i_block_ && plan_.outputs[k].is_alone() && is_accumulated(plan_.outputs[k]); ++r)
        text += accumulate(k, r, every_pair_counts);
    for (const Choice& choice : plan_.choices)
      for (int r = 0; r < i_block_; ++r) text += choose(choice, r, every_pair_counts);
    for (const OutputArray& array : plan_.arrays)
      for (int r = 0; r < i_block_ && adds_to_arrays(); ++r) text += accumulate_array(array, r, every_pair_counts);
    return text;
  };
  if (exclusions_.empty()) return all(false);
  const char* const counts = terms_ == CpuTerms::OfBoth ? "later" : "live";
  std::string counted = fmt::format("{}_0", counts);
  for (int r = 1; r < i_block_; ++r) counted += fmt::format(" & {}_{}", counts, r);
  for (const NodeId guard : exclusions_)
    for (int r = 0; r < copies(guard); ++r) counted += " & " + node_name(guard, r);
  return fmt::format("if (__builtin_expect(all({}), true)) {{\n{}}} else {{\n{}}}\n", counted, all(true), all(false));
}

// The mask of the vector's pairs that pass an output's guard.
std::string CpuPairBody::counted(const OutputPlan& output, int r, bool every_pair_counts) const {
  return mask_of(every_pair_counts, output.guard, output.of_j ? "later" : "live", r);
}
std::string CpuPairBody::mask_of(bool every_pair_counts, NodeId guard, const std::string& live, int r) const {
  std::string counted = every_pair_counts ? "all_lanes" : fmt::format("{}_{}", live, r);
  if (guard != kNone && !(every_pair_counts && exclusions_.count(guard))) counted += " & " + node_name(guard, r);
  return counted;
}

// A fused product is also a node with a statement, which the compiler drops if nothing else reads it.
std::string CpuPairBody::accumulate(std::size_t k, int r, bool every_pair_counts) const {
  const OutputPlan& output = plan_.outputs[k];
  const std::string sum = output.of_j ? reaction(k) : cpu_accumulator(k, r), value = node_name(output.value, r);
  const std::string counts = counted(output, r, every_pair_counts);
  if (output.histogram >= 0) return add_to_histogram(output, r, counts);
  if (output.of_pair) return store_pair_result(fmt::format("{}", k), output.type, counts, value);
  if (output.reduction == Reduction::Weighted) return "";  // accumulated with its reference
  if (output.reduction == Reduction::Reference) return accumulate_weighted(k, r, every_pair_counts);
  if (output.reduction == Reduction::Product)
    return fmt::format("{0} = choose({1}, {0} * {2}, {0});\n", sum, counts, value);
  if (output.reduction == Reduction::Sum) {
    const auto& factors = graph_[output.value].args;
    const std::string next =
        output.fused ? fmt::format("fused({}, {}, {})", node_name(factors[0], r), node_name(factors[1], r), sum)
                     : fmt::format("{} + {}", sum, value);
    return fmt::format("{0} = choose({1}, {2}, {0});\n", sum, counts, next);
  }
  const bool least = is_minimum(output.reduction);
  if (!keeps_index(output.reduction)) return fmt::format("accumulate({}, {}, {}, {});\n", sum, value, counts, least);
  return fmt::format(
      "accumulate({}, arg{}_{}, {}, numbered ? (vint) * (vnumbers*)(a->j_number + j) : lane_numbers + (vint)((int)(j - "
      "first_j)), {}, {}, numbered);\n",
      sum, k, r, value, counts, least);
}

// `component`: an expression. The result of a pair that a guard excludes is 0.
std::string CpuPairBody::store_pair_result(const std::string& component, Type type, const std::string& counts,
                                           const std::string& value) const {
  return fmt::format("store_pair_results(a->acc[{}] + j, choose({}, {}, ({})(0)));\n", component, counts, value,
                     cpu_type(type, true));
}

std::string CpuPairBody::clear_pair_results() const {
  std::string text;
  for (std::size_t k = 0; k < plan_.outputs.size(); ++k)
    if (plan_.outputs[k].of_pair) text += fmt::format("store_pair_results(a->acc[{}] + j, (vdouble)(0));\n", k);
  return text;
}

// The last block of a range repeats its last i, which counts once.
std::string CpuPairBody::add_to_histogram(const OutputPlan& output, int r, const std::string& counts) const {
  const std::string element = node_name(output.logit, r);
  std::string words = fmt::format("a->histograms[{}]", output.histogram);
  if (output.row_words > 0)
    words += fmt::format(" + ({} - a->histogram_row) * (index){}", i_index(r), output.row_words);
  const std::string add =
      graph_.is_constant(output.value, 1) && output.is_whole()
          ? fmt::format("count_elements({}, {}, {});\n", words, element, counts)
          : fmt::format("add_to_elements({}, {}, {}, {});\n", words, element, node_name(output.value, r), counts);
  return r == 0 ? add : fmt::format("if (i + {} < i_end) {}", r, add);
}

std::string CpuPairBody::reduce(int r) const {
  std::string text;
  for (std::size_t k = 0; k < plan_.outputs.size(); ++k) {
    const OutputPlan& output = plan_.outputs[k];
    if (!output.has_vector()) continue;  // already up to date
    const std::string sum = cpu_accumulator(k, r), i = i_name(r);
    const char* const whole = output.is_whole() ? "(index*)" : "";
    const bool least = is_minimum(output.reduction);
    if (output.reduction == Reduction::Sum)
      text += fmt::format("a->acc[{}][{}] += total({});\n", k, i, sum);
    else if (output.reduction == Reduction::Product)
      text += fmt::format("a->acc[{}][{}] *= product({});\n", k, i, sum);
    else if (output.reduction == Reduction::Weighted || output.reduction == Reduction::Reference)
      text += output.reduction == Reduction::Reference ? reduce_weighted(k, r) : "";
    else if (!keeps_index(output.reduction))
      text += fmt::format("combine({}a->acc[{}] + {}, {}, {});\n", whole, k, i, sum, least);
    else
      text += fmt::format(
          "combine({4}a->acc[{0}] + {1}, a->arg[{0}] + {1}, {2}, arg{0}_{3}, (numbered ? 0 : first_j) + a->j_offset, "
          "{5});\n",
          k, i, sum, r, whole, least);
  }
  for (const OutputArray& array : plan_.arrays)
    if (adds_to_arrays() && !is_of_pair(array))
      text += fmt::format("for (index k = 0; k < {}; ++k) a->acc[{} + k][{}] += total({}[k]);\n", array.elements.count,
                          array.first + array.elements.first, i_name(r), array_name(array, r));
  for (const Choice& choice : plan_.choices) text += store_choice(choice, r);
  return text;
}

// ---- reactions -----------------------------------------------------------------------------------------------------

std::string CpuPairBody::declare_reactions(int vectors) const {
  std::string text;
  for (std::size_t k = 0; k < plan_.outputs.size(); ++k)
    if (const OutputPlan& output = plan_.outputs[k]; output.of_j)
      text += fmt::format("{} reactions{}[{}];\n", cpu_type(output.type, true), k, vectors);
  return text;
}

std::string CpuPairBody::clear_reactions() const {
  std::string text;
  for (std::size_t k = 0; k < plan_.outputs.size(); ++k)
    if (const OutputPlan& output = plan_.outputs[k]; output.of_j)
      text += fmt::format("reactions{}[k] = ({})({});\n", k, cpu_type(output.type, true),
                          cpu_literal(output.identity(), output.type));
  return fmt::format("for (index k = 0; k < j_vectors; ++k) {{\n{}}}\n", text);
}

std::string CpuPairBody::load_reactions() const {
  std::string text;
  for (std::size_t k = 0; k < plan_.outputs.size() && terms_ == CpuTerms::OfBoth; ++k)
    if (const OutputPlan& output = plan_.outputs[k]; output.of_j)
      text += fmt::format("{} {} = reactions{}[j_vector];\n", cpu_type(output.type, true), reaction(k), k);
  return text;
}

std::string CpuPairBody::store_reactions() const {
  std::string text;
  for (std::size_t k = 0; k < plan_.outputs.size() && terms_ == CpuTerms::OfBoth; ++k)
    if (plan_.outputs[k].of_j) text += fmt::format("reactions{}[j_vector] = {};\n", k, reaction(k));
  return text;
}

// The rows have whole vectors.
std::string CpuPairBody::add_reactions() const {
  std::string text;
  for (std::size_t k = 0; k < plan_.outputs.size(); ++k) {
    const OutputPlan& output = plan_.outputs[k];
    if (!output.of_j) continue;
    const std::string type = output.is_whole() ? "vindex" : "vdouble";
    const std::string row = fmt::format("*({}*)(a->acc[{}] + j)", type, k);
    const std::string next = fmt::format("__builtin_convertvector(reactions{}[j_vector], {})", k, type);
    const std::string combined =
        output.reduction == Reduction::Sum
            ? fmt::format("{} + {}", row, next)
            : fmt::format("{}({}, {})", is_minimum(output.reduction) ? "minimum" : "maximum", row, next);
    text += fmt::format("{} = numbered ? {} : {};\n", row, next, combined);
  }
  return text;
}

}  // namespace nbcc
