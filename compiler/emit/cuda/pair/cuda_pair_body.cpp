// Plan -> the statements of one pair. Entry point: cuda_pair_body().
#include "compiler/emit/cuda/pair/cuda_pair_body.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "compiler/emit/cuda/pair/cuda_choice.h"
#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/cuda/pair/cuda_pair_loop.h"
#include "compiler/emit/cuda/pair/cuda_spelling.h"
#include "compiler/emit/cuda/pair/cuda_statement.h"
#include "compiler/emit/cuda/pair/cuda_struct.h"
#include "compiler/emit/cuda/pair/cuda_tables.h"
#include "compiler/emit/cuda/pair/cuda_weights.h"
#include "compiler/emit/loop_operands.h"
#include "compiler/emit/spelling.h"

namespace nbcc {
namespace {

class PairText {
 public:
  PairText(const Pipeline& pipeline, const Plan& plan, const Options& options, CudaPairs pairs,
           const std::map<NodeId, NodeId>& images, const std::map<int, int>& positions)
      : pipeline_(pipeline),
        plan_(plan),
        options_(options),
        pairs_(pairs),
        images_(images),
        positions_(positions),
        // Square root and division are exact if the user requests it; otherwise they are estimates.
        scalars_{options.precision == Precision::Double,
                 options.math == Math::Precise || options.root == RootMode::Exact} {}

  CudaPairBody run() const {
    CudaPairBody body;
    body.pairs = pairs_;
    body.uniform = uniform();
    body.load_i = load_i();
    body.stage_j = stage_j();
    body.pair_j = pair_j(loop_.needed);
    body.pair = pair();
    body.flush = flush();
    body.sentinel = sentinel();
    if (loop_.has_prepass) {
      body.prepass_j = pair_j(loop_.prepass);
      body.prepass = prepass();
    }
    body.j_columns = loop_.j_members;
    body.tests_self = loop_.tests_self;
    body.two_loops = loop_.two_loops;
    body.has_cold_data = !loop_.i_cold.empty();
    body.needs = needs();
    body.pair_statements = pair_statements(false);
    body.pair_doubles = pair_statements(true);
    declare(body.structs);
    return body;
  }

 private:
  // The i-particles or the j-particles.
  struct Side {
    const SidePlan& plan;
    Op leaf;
    Role role;
    const char* letter;
  };

  // ---- structs ---------------------------------------------------------------------------------------------------

  // Members that the prepass reads are adjacent.
  std::vector<int> j_order() const {
    return struct_order(loop_.j_members, columns_of(graph_, plan_.j, j_.leaf, loop_.prepass), plan_.j.columns);
  }
  std::vector<int> cold_order() const { return struct_order(loop_.i_cold, {}, plan_.i.columns); }

  std::string members(const std::vector<int>& columns, const Side& side, bool bank_padded) const {
    const std::vector<const Field*> fields = pipeline_.fields_of(side.role);
    std::map<int, std::string> comments;
    for (const auto& [node, column] : side.plan.derived) comments[column] = fmt::format("t{}", node);
    std::string text;
    for (int column : columns) {
      const Column& c = side.plan.columns[std::size_t(column)];
      if (c.part != Column::Part::Derived)
        comments[column] = component_name(*fields[std::size_t(c.component)], c.component) +
                           (c.part == Column::Part::High  ? ", upper part"
                            : c.part == Column::Part::Low ? ", lower part"
                                                          : "");
      text += fmt::format("{} c{};  // {}\n", c_name(c.element), column, comments[column]);
    }
    if (bank_padded && needs_bank_padding(struct_bytes(columns, side.plan.columns)))
      text += "__align__(16) int padding[4];  // against bank conflicts\n";
    return text;
  }

  // Reals are NaN, which passes no guard; integers stay 0, since they may be indices of tables.
  std::string sentinel() const {
    std::string text;
    for (const int column : loop_.j_members) {
      const Element element = plan_.j.columns[std::size_t(column)].element;
      if (element == Element::Float) text += fmt::format("other.c{} = __uint_as_float(~0u);\n", column);
      if (element == Element::Double) text += fmt::format("other.c{} = __longlong_as_double(-1);\n", column);
    }
    return text + number_of_j("other.number = ~0u;\n");
  }

  void declare(TemplateHoles& holes) const {
    holes["i_members"] = members({loop_.i_members.begin(), loop_.i_members.end()}, i_, false) +
                         (loop_.i_index ? "index i;  // i_index\n" : "");
    holes["j_members"] =
        members(j_order(), j_, loop_.has_prepass) + number_of_j("unsigned number;  // index in the caller's array\n");
    holes["i_cold"] =
        loop_.i_cold.empty()
            ? ""
            : "// Values of an i-particle that only hits of the cutoff read.\nstruct __align__(16) ICold {\n" +
                  members(cold_order(), i_, true) + "};\n";
    // Alignment for 16-byte loads from shared memory; 8 bytes and less need none.
    const std::size_t j_size = loop_.j_members.size() + (loop_.j_number ? 1 : 0);
    const bool small = j_size < 2 || (j_size == 2 && !scalars_.wide);
    holes["j_alignment"] = small ? "" : "__align__(16) ";
    std::string &tile = holes["tile_members"], &sum = holes["sum_members"];
    // Lanes beyond the last i repeat the last i, which counts once.
    const bool counts = std::ranges::any_of(plan_.outputs, [](const OutputPlan& o) { return o.histogram >= 0; });
    if (counts) sum += "bool counts = true;\n";
    holes["mark"] = counts ? "sum.counts = counts;" : "";
    for (std::size_t k = 0; k < plan_.outputs.size(); ++k) {
      const OutputPlan& output = plan_.outputs[k];
      if (!output.is_alone() || output.histogram >= 0 || output.of_j) continue;
      const std::string type = cuda_type(output.type, scalars_);
      if (is_summed(output)) {
        tile += fmt::format("{} s{} = 0;\n", type, k);
        sum += fmt::format("{} s{} = {{}};\n", type_of(output) == Type::Float ? "TwoFloat" : "double", k);
        continue;
      }
      sum += fmt::format("{} s{} = {};\n", type, k, cuda_initial(output, scalars_));
      if (!keeps_index(output.reduction)) continue;
      tile += fmt::format("int k{} = -1;  // position in the tile, -1: none\n", k);
      sum += fmt::format("index j{} = -1;  // -1: none\n", k);
    }
    sum += cuda_choice_sums(plan_, scalars_);
  }

  // ---- load ------------------------------------------------------------------------------------------------------

  // Nodes of constants and params for the loop and for derived values of particles.
  std::string uniform() const {
    std::set<NodeId> nodes(plan_.uniform.begin(), plan_.uniform.end());
    for (const SidePlan* side : {&plan_.i, &plan_.j})
      for (NodeId id : side->prepare)
        if (is_uniform(graph_[id].binding)) nodes.insert(id);
    std::string text;
    for (NodeId id : nodes) text += statements_.computed(id);
    return text;
  }

  // Loads a particle. `into`: column -> the struct that it is stored in; columns that only derived values need are
  // local variables. All loads come before the first store.
  std::string load(const Side& side, const std::map<int, std::string>& into) const {
    const auto name = [&](int column) {
      const auto record = into.find(column);
      return fmt::format("{}c{}", record == into.end() ? "" : record->second + ".", column);
    };
    const auto set = [&](int column, const std::string& value) {
      const char* const type = c_name(side.plan.columns[std::size_t(column)].element);
      return fmt::format("{}{} = {};\n", into.count(column) ? "" : fmt::format("const {} ", type), name(column), value);
    };
    std::set<int> wanted;
    for (const auto& [column, record] : into) wanted.insert(column);
    for (NodeId id : side.plan.prepare)
      if (graph_[id].op == side.leaf) wanted.insert(side.plan.whole.at(int(graph_[id].payload)));
    std::string text;
    for (int column : wanted) {
      const Column& c = side.plan.columns[std::size_t(column)];
      if (c.part == Column::Part::Whole) text += set(column, component(side, c_name(c.element), c.component));
      if (c.part != Column::Part::High) continue;
      text += fmt::format("const double w{} = {};\n", column, component(side, "double", c.component));
      text += set(column, fmt::format("(float)w{}", column));
      text += set(side.plan.low.at(c.component), fmt::format("lower_part(w{})", column));
    }
    for (NodeId id : side.plan.prepare) {
      const Node& n = graph_[id];
      if (is_uniform(n.binding)) continue;
      if (n.op == side.leaf)
        text += statements_.statement(id, cuda_from_loaded(name(side.plan.whole.at(int(n.payload))), n.type));
      else if (n.op == Op::IIndex || n.op == Op::JIndex)
        text += statements_.statement(id, fmt::format("{0} + a.{0}_offset", side.letter));
      else
        text += statements_.computed(id);
    }
    for (const auto& [id, column] : side.plan.derived)
      if (into.count(column)) text += set(column, fmt::format("t{}", id));
    // all_zero() compares bits, so -0 is turned into 0. With a lower part (mixed precision) this is not necessary: the
    // sum with the lower part, 0, is never -0.
    for (NodeId id : loop_.minuends) {
      if (graph_[id].op != side.leaf) continue;
      const int column = side.plan.whole.at(int(graph_[id].payload));
      if (side.plan.columns[std::size_t(column)].part == Column::Part::Whole) text += name(column) + " += 0;\n";
    }
    return text;
  }

  std::string component(const Side& side, const char* type, int component) const {
    const std::string value = cuda_component(type, side.letter, component);
    return side.leaf == Op::InputJ ? shifted(value, component, type) : value;
  }

  std::string load_i() const {
    std::map<int, std::string> into;
    for (int column : loop_.i_members) into[column] = "own[r]";
    for (int column : loop_.i_cold) into[column] = "mine";
    std::string text = loop_.i_cold.empty() ? "" : "ICold mine;\n";
    text += load(i_, into);
    if (loop_.i_index) text += "own[r].i = i + a.i_offset;\n";
    if (!loop_.i_cold.empty()) text += "if (slice == 0) cold[row + r * kSliceThreads] = mine;\n";
    return text;
  }

  std::string stage_j() const {
    std::map<int, std::string> into;
    for (int column : loop_.j_members) into[column] = "other";
    if (any_order()) return load(j_, into) + number_of_j("other.number = (unsigned)j;\n");
    return into.empty() ? "" : "JParticle other;\n" + load(j_, into) + "staged[k] = other;\n";
  }

  // ---- compute ---------------------------------------------------------------------------------------------------

  // Reads an input or a derived value of the particle `from`; empty for other nodes.
  std::string read(NodeId id, const Side& side, const char* from) const {
    const Node& n = graph_[id];
    if (const auto derived = side.plan.derived.find(id); derived != side.plan.derived.end())
      return statements_.statement(id, fmt::format("{}.c{}", from, derived->second));
    if (n.op != side.leaf) return "";
    const std::string whole = fmt::format("{}.c{}", from, side.plan.whole.at(int(n.payload)));
    std::string text = statements_.statement(id, cuda_from_loaded(whole, n.type));
    if (const auto low = side.plan.low.find(int(n.payload)); low != side.plan.low.end())
      text += fmt::format("const {} t{}l = {}.c{};\n", cuda_type(n.type, scalars_), id, from, low->second);
    return text;
  }

  std::string pair_j(const std::set<NodeId>& nodes) const {
    std::string text = loop_.j_members.empty() || any_order() ? "" : "const JParticle other = staged[k];\n";
    for (NodeId id : plan_.pair) {
      if (graph_[id].binding != Binding::J || !nodes.count(id)) continue;
      if (const std::string member = read(id, j_, "other"); !member.empty())
        text += member;
      else if (graph_[id].op == Op::JIndex)
        text += statements_.statement(id, j_number("k") + " + a.j_offset");
      else
        text += statements_.computed(id);
    }
    return text;
  }

  // Loads an input of a listed pair.
  std::string listed(NodeId id) const {
    const Node& n = graph_[id];
    const Element element = plan_.listed.columns[std::size_t(plan_.listed.whole.at(int(n.payload)))].element;
    const std::string value = fmt::format("component<{}>(a.p[{}], p)", c_name(element), n.payload);
    return statements_.statement(id, cuda_from_loaded(value, n.type));
  }

  std::string pair_statement(NodeId id) const {
    if (!per_i(id) || !loop_.needed.count(id)) return "";
    if (graph_[id].op == Op::IIndex) return statements_.statement(id, "own[r].i");
    if (graph_[id].op == Op::InputPair) return listed(id);
    if (is_self_test(graph_, graph_[id]))
      return statements_.statement(id, any_order()       ? "other.number == self[r]"
                                       : loop_.two_loops ? "may_be_self && k == self[r]"
                                                         : "k == self[r]");
    const std::set<int> columns = columns_of(graph_, plan_.i, i_.leaf, {id});
    const bool is_cold = !columns.empty() && loop_.i_cold.count(*columns.begin());
    const std::string member = read(id, i_, is_cold ? "mine" : "own[r]");
    if (!member.empty()) return member;
    if (const auto image = images_.find(id); image != images_.end())
      return statements_.statement(id,
                                   fmt::format("kMinimumImage ? {} : t{}", statements_.expression(id), image->second));
    return statements_.computed(id);
  }

  std::string prepass() const {
    std::string text;
    for (NodeId id : plan_.pair)
      if (loop_.prepass.count(id))
        text += statements_.is_larger(id) ? statements_.computed_larger(id) : pair_statement(id);
    return text + fmt::format("reject_mask[r] = __funnelshift_l({}, reject_mask[r], 1);\n", loop_.reject.text);
  }

  std::string pair() const {
    std::string text = loop_.i_cold.empty() ? "" : "const ICold mine = cold[row + r * kSliceThreads];\n";
    for (NodeId id : plan_.pair) text += pair_statement(id);
    for (std::size_t k = 0; k < plan_.outputs.size(); ++k) text += plan_.outputs[k].is_alone() ? accumulate(k) : "";
    return text + cuda_choose(plan_, scalars_, j_number("k") + " + a.j_offset");
  }

  // ---- accumulate ------------------------------------------------------------------------------------------------

  // Hits of the prepass are tested again, since its bit is a hit at equality, too. The test is predicated: a branch
  // would cost more.
  std::string accumulate(std::size_t k) const {
    const OutputPlan& output = plan_.outputs[k];
    if (output.histogram >= 0) return add_to_histogram(output);
    if (output.reduction >= Reduction::Product) return cuda_accumulate_weighted(plan_, k, scalars_);
    const std::string guard = output.guard == kNone ? "" : fmt::format("t{}", output.guard);
    const std::string value = fmt::format("t{}", output.value);
    if (output.reduction == Reduction::Sum) {
      const Node& n = graph_[output.value];
      const std::string sum = fmt::format("{}.s{}", output.of_j ? "back" : "part[r]", k);
      const std::string factors = output.fused ? fmt::format("t{}, t{}", n.args[0], n.args[1]) : "";
      if (!guard.empty())
        return output.fused ? fmt::format("add_product_if({}, {}, {});\n", guard, factors, sum)
                            : fmt::format("add_if({}, {}, {});\n", guard, value, sum);
      if (!output.fused) return fmt::format("{} += {};\n", sum, value);
      return fmt::format("{0} = {1}({2}, {0});\n", sum, type_of(output) == Type::Float ? "fmaf" : "fma", factors);
    }
    const std::string best = fmt::format("{}.s{}", output.of_j ? "back" : "sum[r]", k);
    const bool least = is_minimum(output.reduction);
    if (!keeps_index(output.reduction))
      return fmt::format("{0}{1} = {2}({1}, ({3}){4});\n", guard.empty() ? "" : fmt::format("if ({}) ", guard), best,
                         least ? "minimum" : "maximum", cuda_type(output.type, scalars_), value);
    // Only a strictly better value replaces the best, so that a tie keeps the first. Integers have no worst value like
    // infinity, so that an empty best is tested by its index.
    std::string better = fmt::format("{} {} {}", value, least ? "<" : ">", best);
    if (any_order()) return keep_best_neighbour(k, guard, better, value, best);
    if (output.is_whole()) better = fmt::format("({0} | (part[r].k{1} & sum[r].j{1}) < 0)", better, k);
    return fmt::format("if ({}{}) {} = {}, part[r].k{} = k;\n", guard.empty() ? "" : guard + " && ", better, best,
                       value, k);
  }

  std::string add_to_histogram(const OutputPlan& output) const {
    std::string words = fmt::format("words_of(a, {})", output.histogram);
    if (output.row_words > 0) words += fmt::format(" + (own[r].i - a.histogram_row) * (index){}", output.row_words);
    return fmt::format("if (sum[r].counts{}) add_to_element({}, t{}, {}t{});\n",
                       output.guard == kNone ? "" : fmt::format(" & t{}", output.guard), words, output.logit,
                       graph_[output.value].type == Type::Index ? "(index)" : "", output.value);
  }

  // Neighbours come in any order, so that a tie must keep the lowest index.
  std::string keep_best_neighbour(std::size_t k, const std::string& guard, std::string better, const std::string& value,
                                  const std::string& best) const {
    const std::string chosen = fmt::format("sum[r].j{}", k);
    better = fmt::format("({0}) | ({1} == {2} & j < {3})", better, value, best, chosen);
    if (plan_.outputs[k].is_whole()) better += fmt::format(" | {} < 0", chosen);
    return fmt::format("if (const index j = {}; {}({})) {} = {}, {} = j;\n", j_number("k") + " + a.j_offset",
                       guard.empty() ? "" : guard + " && ", better, best, value, chosen);
  }

  // The index in the caller's array of the j-particle at index k of the tile.
  std::string j_number(const std::string& k) const { return any_order() ? "(index)other.number" : "first_j + " + k; }

  std::string flush() const {
    std::string text;
    for (std::size_t k = 0; k < plan_.outputs.size(); ++k) {
      if (!plan_.outputs[k].is_alone() || plan_.outputs[k].of_j) continue;
      if (is_summed(plan_.outputs[k])) text += fmt::format("add(sum[r].s{0}, part[r].s{0});\n", k);
      if (keeps_index(plan_.outputs[k].reduction) && pairs_ == CudaPairs::All)
        text += fmt::format("if (part[r].k{0} >= 0) sum[r].j{0} = first_j + part[r].k{0} + a.j_offset;\n", k);
    }
    return text;
  }

  // ---- resources -------------------------------------------------------------------------------------------------

  CudaNeeds needs() const {
    const int i_bytes = struct_bytes({loop_.i_members.begin(), loop_.i_members.end()}, plan_.i.columns);
    const int j_bytes = struct_bytes(j_order(), plan_.j.columns), cold = struct_bytes(cold_order(), plan_.i.columns);
    CudaNeeds needs{
        .precision = options_.precision,
        .cutoff = loop_.has_prepass,
        .accumulators = 0,
        .i_words = i_bytes / 4,
        .instructions = 1,
        .staged_bytes = loop_.has_prepass ? bank_padded(j_bytes) : rounded_up_to_16(j_bytes + (loop_.j_number ? 4 : 0)),
        .cold_bytes = bank_padded(cold),
        .table_bytes = has_shared_tables() ? int(range_of_pairs(plan_).bytes) : 0,
        .pair_words = (j_bytes + cold) / 4};
    for (const OutputPlan& output : plan_.outputs) {
      if (output.of_array) continue;
      needs.accumulators += keeps_index(output.reduction) ? 2 : 1;
      needs.plain = needs.plain && output.reduction == Reduction::Sum;
      needs.keeps_index = needs.keeps_index || keeps_index(output.reduction);
      needs.guarded = needs.guarded || output.guard != kNone;
    }
    for (NodeId id : plan_.pair) {
      if (!per_i(id) || !loop_.needed.count(id)) continue;
      needs.plain = needs.plain && !facts(graph_[id].op).is_function;
      if (!loop_.has_prepass || loop_.prepass.count(id))
        needs.instructions += options_.precision == Precision::Single ? cuda_spelling(graph_[id].op).instructions : 1;
      // So long that the loop over pairs is not unrolled.
      if (is_loop(graph_[id].op) && !plan_.tiles_loops && !loop_.has_prepass)
        needs.instructions += 16 * int(elements_of(graph_[id].payload).count);
    }
    return needs;
  }

  // All statements of the pair loop, or those in double precision.
  int pair_statements(bool doubles) const {
    const auto counts = [&](Type type) {
      return !doubles || type == Type::Double || (type == Type::Real && options_.precision == Precision::Double);
    };
    int statements = doubles ? 0 : loop_.has_prepass ? 2 : 1;
    if (!loop_.has_prepass && counts(Type::Real)) statements += needs().accumulators;
    for (NodeId id : plan_.pair) {
      if (!per_i(id) || !loop_.needed.count(id) || (loop_.has_prepass && !loop_.prepass.count(id))) continue;
      const Node& n = graph_[id];
      // In a loop over tiles without i itself, the compiler removes the conditions.
      const bool is_removed = loop_.two_loops && n.type == Type::Bool;
      if (is_loop(n.op) && counts(n.type) && !plan_.tiles_loops)
        statements += int(elements_of(n.payload).count * std::ssize(inner_nodes(plan_, n.args[0])));
      statements += counts(n.type) && n.op != Op::InputI && n.op != Op::IIndex && n.op != Op::Neg && !is_removed;
    }
    return statements;
  }

  // True if a tile is summed in TileSums, in working precision.
  static bool is_summed(const OutputPlan& output) {
    return output.reduction == Reduction::Sum || output.reduction == Reduction::Weighted;
  }
  bool any_order() const { return pairs_ == CudaPairs::Neighbours || pairs_ == CudaPairs::Listed; }
  // `text` about JParticle::number, if the index is needed; with exclusions it always is.
  std::string number_of_j(const std::string& text) const {
    if (loop_.j_number || !any_order()) return loop_.j_number ? text : "";
    return "#ifdef NBCC_EXCLUSIONS\n" + text + "#endif\n";
  }
  // Adds the shift of a listed range to a component that is a position.
  std::string shifted(const std::string& value, int component, const char* type) const {
    const auto axis = positions_.find(component);
    if (axis == positions_.end()) return value;
    return fmt::format("NBCC_SHIFTED({}, ({})shift[{}])", value, type, axis->second);
  }
  bool per_i(NodeId id) const { return graph_[id].binding == Binding::I || graph_[id].binding == Binding::Pair; }
  bool has_shared_tables() const { return pairs_ == CudaPairs::All && range_of_pairs(plan_).fits_shared(); }
  Type type_of(const OutputPlan& output) const { return scalars_.resolved(output.type); }

  const Pipeline& pipeline_;
  const Plan& plan_;
  const Graph& graph_ = plan_.graph;
  const Options& options_;
  const CudaPairs pairs_;
  const std::map<NodeId, NodeId>& images_;
  const std::map<int, int>& positions_;
  const CudaScalars scalars_;
  const CudaStatements statements_{graph_, plan_, options_, scalars_, pairs_ == CudaPairs::Listed ? "" : "a.",
                                   has_shared_tables(),
                                   // The sentinel of a search has no index.
                                   any_order() ? "other.number == ~0u ? 0 : (index)other.number" : "first_j + k"};
  const Side i_{plan_.i, Op::InputI, Role::InputI, "i"}, j_{plan_.j, Op::InputJ, Role::InputJ, "j"};
  const PairLoop loop_ = analyse(plan_, statements_, scalars_, !any_order());
};

}  // namespace

CudaPairBody cuda_pair_body(const Pipeline& pipeline, const Plan& plan, const Options& options, CudaPairs pairs,
                            const std::map<NodeId, NodeId>& images, const std::map<int, int>& positions) {
  return PairText(pipeline, plan, options, pairs, images, positions).run();
}

}  // namespace nbcc
