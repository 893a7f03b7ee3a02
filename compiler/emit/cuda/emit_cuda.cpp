// Optimized pipeline -> CUDA kernel text. Doors: emit_cuda(), cuda_target(). The text's frame is
// templates/cuda_kernel.cu.in; here its holes are filled. A thread is scalar code: the loop over its i-particles is in
// the text, and NVRTC writes it out. Does not choose the shape of the work for a device; it gives the macros' defaults.
#include "compiler/emit/cuda/emit_cuda.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/cuda/cuda_cutoff.h"
#include "compiler/emit/cuda/cuda_expression.h"
#include "compiler/emit/cuda/cuda_load.h"
#include "compiler/emit/cuda/cuda_rare_pairs.h"
#include "compiler/emit/cuda/cuda_reduction.h"
#include "compiler/emit/cuda/cuda_shape.h"
#include "compiler/emit/cuda/cuda_statement.h"
#include "compiler/emit/cuda/cuda_struct.h"
#include "compiler/emit/describe.h"
#include "compiler/emit/plan.h"
#include "compiler/emit/spelling.h"
#include "compiler/passes/same_place.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

class CudaEmitter {
 public:
  CudaEmitter(const Pipeline& pipeline, const Options& options)
      : pipeline_(pipeline),
        options_(options),
        plan_(make_plan(pipeline, options)),
        // Square root and division are exact where the user asks for them in place of estimates.
        scalars_{options.precision == Precision::Double,
                 options.math == Math::Precise || options.root == RootMode::Exact},
        statements_(graph_, plan_, options_, scalars_),
        rare_(find_rare_pairs(pipeline, plan_)) {
    needed_ = find_needed(true);
    needed_mostly_ = find_needed(false);
    look_at_cutoff();
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) slots_ += keeps_index(reduction(k)) ? 2 : 1;
    collect_members();
    choose_shape();
  }

  KernelSource run() {
    std::map<std::string, std::string> holes;
    holes["title"] =
        fmt::format("{}: cuda, {} precision, {} math", pipeline_.name, name(options_.precision), name(options_.math));
    holes["types"] = fill_template("cuda_types.cuh", {{"threads", std::to_string(shape_.threads)},
                                                      {"i_per_thread", std::to_string(shape_.i_per_thread)},
                                                      {"j_tile", std::to_string(shape_.j_tile)},
                                                      {"unroll", std::to_string(shape_.unroll)},
                                                      {"resident", resident_threads_text(needs_)}});
    // An array of nothing is no C++.
    const auto length = [](std::size_t n) { return std::to_string(std::max<std::size_t>(n, 1)); };
    holes["i_components"] = length(std::size_t(pipeline_.components(Role::InputI)));
    holes["j_components"] = length(std::size_t(pipeline_.components(Role::InputJ)));
    holes["outputs"] = length(pipeline_.contributions.size());
    holes["slots"] = std::to_string(slots_);
    holes["params"] = length(std::size_t(pipeline_.components(Role::Param)));
    declare(holes);
    const bool wide = options_.precision != Precision::Single;
    holes["plain"] = wide ? "double" : "float";
    holes["plain_element"] = wide ? "kDouble" : "kFloat";
    holes["uniform"] = uniform();
    holes["whole_numbers"] = "";
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k)
      if (is_whole(k)) holes["whole_numbers"] = fill_template("cuda_whole_numbers.cuh", {});
    holes["in_groups"] = plan_.any_guard == kNone ? "false" : "true";
    holes["order"] = plan_.any_guard == kNone ? "" : fill_template("cuda_order.cuh", {});
    holes["part_of_block"] = plan_.any_guard == kNone ? "blockIdx.y" : "part_of_block()";
    holes["group"] = plan_.any_guard == kNone
                         ? "1"
                         : "NBCC_J_TILE >= 32 * NBCC_J_SLICES ? 32 : (NBCC_J_TILE + NBCC_J_SLICES - 1) / NBCC_J_SLICES";
    holes["load_i"] = load_i();
    holes["stage_j"] = stage_j();
    look_for_rare(holes);
    holes["pair_loop"] = pair_loop();
    sums(holes);
    fill_reduction(pipeline_, plan_, holes);
    return describe(fill_template("cuda_kernel.cu", holes));
  }

 private:
  // ---- what the loop reads -------------------------------------------------------------------------------------

  // Columns that the pair loop reads: others serve prepare, common factors and finish() only.
  void collect_members() {
    for (NodeId id : plan_.pair) {
      const Node& n = graph_[id];
      if (!needed_.count(id)) continue;
      add_member(i_members_, plan_.i, id, n, Op::InputI);
      add_member(j_members_, plan_.j, id, n, Op::InputJ);
    }
    if (plan_.any_guard == kNone) return;
    const std::set<int> looked_at = members_looked_at(plan_.i, Op::InputI);
    std::erase_if(i_members_, [&](int column) {
      if (!looked_at.count(column)) i_rest_.insert(column);
      return i_rest_.count(column) != 0;
    });
  }
  // What of one particle tells whether a pair is within the cutoff.
  std::set<int> members_looked_at(const SidePlan& side, Op leaf) const {
    std::set<int> members;
    for (NodeId id : looked_at_) add_member(members, side, id, graph_[id], leaf);
    return members;
  }
  static void add_member(std::set<int>& members, const SidePlan& side, NodeId id, const Node& node, Op leaf) {
    if (const auto derived = side.derived.find(id); derived != side.derived.end()) members.insert(derived->second);
    if (node.op != leaf) return;
    members.insert(side.whole.at(int(node.payload)));
    if (const auto low = side.low.find(int(node.payload)); low != side.low.end()) members.insert(low->second);
  }

  void choose_shape() {
    needs_ = {.precision = options_.precision,
              .cutoff = plan_.any_guard != kNone,
              .slots = int(slots_),
              .i_words = i_bytes() / 4,
              .written = 1,
              .staged_bytes = staged_bytes(),
              .rest_bytes = block_bytes_of_i(),
              .pair_words = (j_bytes() + rest_bytes()) / 4};
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) {
      needs_.plain = needs_.plain && reduction(k) == Reduction::Sum;
      needs_.guarded = needs_.guarded || pipeline_.contributions[k].guard != kNone;
    }
    pair_statements_ = needs_.cutoff ? 2 : 1 + int(slots_);
    for (NodeId id : plan_.pair) {
      if (!per_i(id) || !needed_.count(id)) continue;
      const Op op = graph_[id].op;
      needs_.plain = needs_.plain && !facts(op).is_function;
      if (needs_.cutoff && !looked_at_.count(id)) continue;
      ++needs_.written;
      pair_statements_ += op != Op::InputI && op != Op::IIndex && op != Op::Neg && needed_mostly_.count(id);
    }
    shape_ = default_shape(needs_);
  }

  // What the looking reads stands together.
  std::vector<int> j_order() const {
    return struct_order(j_members_, members_looked_at(plan_.j, Op::InputJ), plan_.j.columns);
  }
  std::vector<int> rest_order() const { return struct_order(i_rest_, {}, plan_.i.columns); }
  int i_bytes() const { return struct_bytes({i_members_.begin(), i_members_.end()}, plan_.i.columns); }
  int j_bytes() const { return struct_bytes(j_order(), plan_.j.columns); }
  int staged_bytes() const { return plan_.any_guard == kNone ? in_sixteens(j_bytes()) : spread(j_bytes()); }
  int rest_bytes() const { return struct_bytes(rest_order(), plan_.i.columns); }
  // Of shared memory, beside the tile: templates/cuda_places.cuh.in takes four words.
  int block_bytes_of_i() const { return spread(rest_bytes()) + (rare_.differences.empty() ? 0 : 16); }

  static std::string column_comment(const Column& c, const Field& field) {
    const char* const part = c.part == Column::Part::High ? ", upper part" : ", lower part";
    return component_name(field, c.component) + (c.part == Column::Part::Whole ? "" : part);
  }

  template <typename Columns>
  std::string members(const Columns& columns, const SidePlan& side, Role role) const {
    const std::vector<const Field*> fields = pipeline_.fields_of(role);
    std::map<int, NodeId> derived;
    for (const auto& [node, column] : side.derived) derived[column] = node;
    std::string text;
    for (int column : columns) {
      const Column& c = side.columns[std::size_t(column)];
      text += fmt::format("{} c{};  // {}\n", c_name(c.element), column,
                          c.part == Column::Part::Derived ? fmt::format("t{}", derived.at(column))
                                                          : column_comment(c, *fields[std::size_t(c.component)]));
    }
    return text;
  }

  void declare(std::map<std::string, std::string>& holes) const {
    holes["i_members"] = members(i_members_, plan_.i, Role::InputI) + (i_index_ ? "index i;  // i_index\n" : "");
    holes["j_members"] = members(j_order(), plan_.j, Role::InputJ);
    const char* const unread =
        "__align__(16) int unread[4];  // so that particles read at the same time lie in different banks\n";
    if (plan_.any_guard != kNone && needs_spreading(j_bytes())) holes["j_members"] += unread;
    holes["i_rest"] = holes["declare_rest"] = "";
    if (!i_rest_.empty()) {
      std::string rest = members(rest_order(), plan_.i, Role::InputI);
      if (needs_spreading(rest_bytes())) rest += unread;
      holes["i_rest"] = fill_template("cuda_rest.cuh", {{"members", rest}});
      holes["declare_rest"] = "__shared__ IRest rest[kWidth];  // read behind the barrier of the first tile";
    }
    // So that shared memory is read 16 bytes at a time; eight and less need no help.
    const bool small = j_members_.size() < 2 || (j_members_.size() == 2 && !scalars_.wide);
    holes["j_alignment"] = small ? "" : "__align__(16) ";
    std::string &tile = holes["tile_members"], &sum = holes["sum_members"];
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) {
      const bool summed = reduction(k) == Reduction::Sum;
      if (summed) tile += fmt::format("{} s{};\n", value_type_text(k), k);
      if (keeps_index(reduction(k))) tile += fmt::format("int k{};  // place in the tile, -1: none\n", k);
      const std::string kept = !summed ? value_type_text(k) : value_type(k) == Type::Float ? "TwoFloat" : "double";
      sum += fmt::format("{} s{};\n", kept, k);
      if (keeps_index(reduction(k))) sum += fmt::format("index j{};  // -1: none\n", k);
    }
  }

  // ---- nodes ---------------------------------------------------------------------------------------------------

  Reduction reduction(std::size_t output) const { return plan_.outputs[output].reduction; }
  Type value_type(std::size_t k) const { return scalars_.resolved(plan_.outputs[k].type); }
  bool is_whole(std::size_t k) const { return plan_.outputs[k].is_whole(); }
  std::string value_type_text(std::size_t k) const { return cuda_type(value_type(k), scalars_); }

  bool per_i(NodeId id) const { return graph_[id].binding == Binding::I || graph_[id].binding == Binding::Pair; }
  bool derived(NodeId id) const { return plan_.i.derived.count(id) || plan_.j.derived.count(id); }
  bool is_tested(const Contribution& c, bool with_rare) const {
    return c.guard != kNone && (with_rare || !rare_.guards.count(c.guard));
  }
  bool fuses(std::size_t k) const { return plan_.outputs[k].fused; }

  // Nodes of the pair loop whose statements are written: a product that only a fused sum takes needs none, nor does an
  // index that is only compared with the other. Without what only tells rare pairs, if they are not there.
  std::set<NodeId> find_needed(bool with_rare) {
    std::set<NodeId> needed;
    if (plan_.any_guard != kNone) needed.insert(plan_.any_guard);
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) {
      const Contribution& c = pipeline_.contributions[k];
      if (is_tested(c, with_rare)) needed.insert(c.guard);
      if (!fuses(k))
        needed.insert(c.value);
      else
        needed.insert({graph_[c.value].args[0], graph_[c.value].args[1]});
    }
    for (auto id = plan_.pair.rbegin(); id != plan_.pair.rend(); ++id) {
      if (!needed.count(*id) || derived(*id)) continue;
      const Node& n = graph_[*id];
      self_test_ = self_test_ || is_self_test(graph_, n);
      i_index_ = i_index_ || n.op == Op::IIndex;
      const std::vector<NodeId> read = statements_.reads(*id);
      needed.insert(read.begin(), read.end());
      if (const std::vector<NodeId> tested = differences_tested(graph_, *id); tested.size() > 1)
        for (NodeId d : tested)
          minuends_.insert({graph_[graph_[d].args[0]].op, int(graph_[graph_[d].args[0]].payload)});
    }
    return needed;
  }

  void look_at_cutoff() {
    if (plan_.any_guard == kNone) return;
    word_ = cutoff_word(graph_, plan_, plan_.any_guard, scalars_);
    for (std::vector<NodeId> open(word_.reads.begin(), word_.reads.end()); !open.empty();) {
      const NodeId id = open.back();
      open.pop_back();
      if (!looked_at_.insert(id).second || derived(id)) continue;
      std::vector<NodeId> read = statements_.reads(id);
      if (statements_.is_larger(id)) read = {graph_[id].args[1], graph_[id].args[2]};
      open.insert(open.end(), read.begin(), read.end());
    }
  }

  // Of constants and params: for the loop, and for what each particle's own values are derived from.
  std::string uniform() const {
    std::set<NodeId> nodes(plan_.uniform.begin(), plan_.uniform.end());
    for (const SidePlan* side : {&plan_.i, &plan_.j})
      for (NodeId id : side->prepare)
        if (is_uniform(graph_[id].binding)) nodes.insert(id);
    std::string text;
    for (NodeId id : nodes) text += statements_.computed(id);
    return text;
  }

  // ---- rare pairs ----------------------------------------------------------------------------------------------

  void look_for_rare(std::map<std::string, std::string>& holes) const {
    const bool two_loops = !rare_.guards.empty(), places = !rare_.differences.empty();
    const auto hash = [&](const SidePlan& side, Op leaf, const char* particle) {
      return hash_of_place(graph_, rare_, side, leaf, particle);
    };
    holes["rare"] = two_loops ? fill_template("cuda_rare.cuh", {}) : "";
    holes["places"] = places ? fill_template("cuda_places.cuh", {{"own", hash(plan_.i, Op::InputI, "own[r]")},
                                                                 {"other", hash(plan_.j, Op::InputJ, "other")}})
                             : "";
    holes["note_places"] = places ? fill_template("cuda_note_places.cuh", {}) : "";
    holes["may_be_rare"] = places ? "bool may_be_rare = !looks;" : two_loops ? "bool may_be_rare = false;" : "";
    const char* const look = two_loops && rare_.self ? "may_be_rare |= self[r] >= 0;" : "";
    holes["find_self"] = self_test_ ? fill_template("cuda_self.cuh", {{"look", look}}) : "";
    holes["staged"] = two_loops ? "const bool has_rare = any_thread(may_be_rare);" : "__syncthreads();";
  }

  // ---- the pair loop -------------------------------------------------------------------------------------------

  std::string load_i() const {
    std::set<int> all = i_members_;
    all.insert(i_rest_.begin(), i_rest_.end());
    std::string text = load_.particle(plan_.i, "i", all) + load_.fill(plan_.i, i_members_, "own[r]");
    if (i_index_) text += "own[r].i = i + a.i_offset;\n";
    if (!i_rest_.empty())
      text += "IRest mine;\n" + load_.fill(plan_.i, i_rest_, "mine") +
              "if (lane == 0) rest[column + r * kColumns] = mine;\n";
    return text;
  }

  // All loads before the first store, and the store in one piece.
  std::string stage_j() const {
    if (j_members_.empty()) return "";
    return "JParticle other;\n" + load_.particle(plan_.j, "j", j_members_) + load_.fill(plan_.j, j_members_, "other") +
           "staged[k] = other;\n" +
           (rare_.differences.empty() ? "" : "if (looks) may_be_rare |= may_be_noted(noted, other);\n");
  }

  // A leaf or derived value of the particle `from`; empty for other nodes.
  std::string member_statement(NodeId id, const SidePlan& side, Op leaf, const char* from) const {
    const Node& n = graph_[id];
    if (const auto derived = side.derived.find(id); derived != side.derived.end())
      return statements_.statement(id, fmt::format("{}.c{}", from, derived->second));
    if (n.op != leaf) return "";
    std::string text =
        statements_.statement(id, cuda_from_loaded(fmt::format("{}.c{}", from, side.whole.at(int(n.payload))), n.type));
    if (const auto low = side.low.find(int(n.payload)); low != side.low.end())
      text += fmt::format("const {} t{}l = {}.c{};\n", cuda_type(n.type, scalars_), id, from, low->second);
    return text;
  }

  std::string pair_loop() const {
    const auto all_pairs = [this](bool with_rare) {
      return fill_template("cuda_pair_loop.cuh", {{"pair_j", pair_j(false, with_rare)}, {"pair", pair(with_rare)}});
    };
    if (plan_.any_guard == kNone && rare_.guards.empty()) return all_pairs(true);
    if (plan_.any_guard == kNone)
      return fill_template("cuda_two_loops.cuh", {{"with_test", all_pairs(true)}, {"without_test", all_pairs(false)}});
    std::string test;
    for (NodeId id : plan_.pair)
      if (looked_at_.count(id))
        test += statements_.is_larger(id) ? statements_.computed_larger(id) : pair_statement(id);
    test += fmt::format("misses[r] = __funnelshift_l({}, misses[r], 1);\n", word_.text);
    return fill_template("cuda_pair_loop_cutoff.cuh",
                         {{"test_j", pair_j(true)}, {"test", test}, {"pair_j", pair_j(false)}, {"pair", pair(true)}});
  }

  std::string pair_j(bool for_test, bool with_rare = true) const {
    std::string text = j_members_.empty() ? "" : "const JParticle other = staged[k];\n";
    for (NodeId id : plan_.pair) {
      const Node& n = graph_[id];
      if (n.binding != Binding::J || !needed(with_rare).count(id) || (for_test && !looked_at_.count(id))) continue;
      if (const std::string member = member_statement(id, plan_.j, Op::InputJ, "other"); !member.empty())
        text += member;
      else
        text += n.op == Op::JIndex ? statements_.statement(id, "first_j + k + a.j_offset") : statements_.computed(id);
    }
    return text;
  }

  const std::set<NodeId>& needed(bool with_rare) const { return with_rare ? needed_ : needed_mostly_; }
  std::string pair_statement(NodeId id, bool with_rare = true) const {
    const Node& n = graph_[id];
    if (!per_i(id) || !needed(with_rare).count(id)) return "";
    if (n.op == Op::IIndex) return statements_.statement(id, "own[r].i");
    if (is_self_test(graph_, n)) return statements_.statement(id, "k == self[r]");
    if (const std::string member = member_statement(id, plan_.i, Op::InputI, of_i(id)); !member.empty()) return member;
    return statements_.computed(id);
  }

  // Where a value of the i-particle is kept.
  const char* of_i(NodeId id) const {
    std::set<int> columns;
    add_member(columns, plan_.i, id, graph_[id], Op::InputI);
    return !columns.empty() && i_rest_.count(*columns.begin()) ? "mine" : "own[r]";
  }

  std::string pair(bool with_rare) const {
    std::string text = i_rest_.empty() ? "" : "const IRest mine = rest[column + r * kColumns];\n";
    for (NodeId id : plan_.pair) text += pair_statement(id, with_rare);
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) text += accumulate(k, with_rare);
    return text;
  }

  std::string accumulate(std::size_t k, bool with_rare) const {
    const Contribution& c = pipeline_.contributions[k];
    // A hit is tested once more, since its bit does not tell a pair on the cutoff from one within. No branch is worth
    // that.
    const std::string condition = is_tested(c, with_rare) ? fmt::format("t{}", c.guard) : "";
    const std::string value = fmt::format("t{}", c.value);
    const std::string guarded = condition.empty() ? "" : fmt::format("if ({}) ", condition);
    if (reduction(k) == Reduction::Sum) {
      const Node& n = graph_[c.value];
      const std::string sum = fmt::format("part[r].s{}", k);
      if (!condition.empty())
        return fuses(k) ? fmt::format("add_product_if({}, t{}, t{}, {});\n", condition, n.args[0], n.args[1], sum)
                        : fmt::format("add_if({}, {}, {});\n", condition, value, sum);
      if (!fuses(k)) return fmt::format("{} += {};\n", sum, value);
      return fmt::format("{0} = {1}(t{2}, t{3}, {0});\n", sum, value_type(k) == Type::Float ? "fmaf" : "fma", n.args[0],
                         n.args[1]);
    }
    const std::string best = fmt::format("sum[r].s{}", k);
    if (!keeps_index(reduction(k)))
      return fmt::format("{0}{1} = {2}({1}, ({3}){4});\n", guarded, best,
                         is_minimum(reduction(k)) ? "minimum" : "maximum", value_type_text(k), value);
    // Strictly better only: of equal values the first stays. No whole number is worse than all, as infinity is.
    std::string better = fmt::format("{} {} {}", value, is_minimum(reduction(k)) ? "<" : ">", best);
    if (is_whole(k)) better = fmt::format("({0} | (part[r].k{1} & sum[r].j{1}) < 0)", better, k);
    return fmt::format("if ({}{}) {} = {}, part[r].k{} = k;\n", condition.empty() ? "" : condition + " && ", better,
                       best, value, k);
  }

  // ---- sums ----------------------------------------------------------------------------------------------------

  void sums(std::map<std::string, std::string>& holes) const {
    std::string &clear_sums = holes["clear_sums"], &clear_part = holes["clear_part"], &flush = holes["flush"];
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) {
      if (reduction(k) == Reduction::Sum) {
        clear_sums +=
            fmt::format("sum[r].s{} = {};\n", k, value_type(k) == Type::Float ? "TwoFloat{0.0f, 0.0f}" : "0.0");
        clear_part += fmt::format("part[r].s{} = 0;\n", k);
        flush += fmt::format("add(sum[r].s{0}, part[r].s{0});\n", k);
        continue;
      }
      const OutputPlan& output = plan_.outputs[k];
      clear_sums += fmt::format("sum[r].s{} = {};\n", k, cuda_literal(output.identity(), output.type, scalars_));
      if (!keeps_index(reduction(k))) continue;
      clear_sums += fmt::format("sum[r].j{} = -1;\n", k);
      clear_part += fmt::format("part[r].k{} = -1;\n", k);
      flush += fmt::format("if (part[r].k{0} >= 0) sum[r].j{0} = first_j + part[r].k{0} + a.j_offset;\n", k);
    }
  }

  KernelSource describe(std::string text) const {
    KernelSource source = describe_kernel(pipeline_, plan_);
    source.text = std::move(text);
    source.target = "cuda";
    source.i_columns = transferred(source.i_columns);
    source.j_columns = transferred(source.j_columns);
    source.tile = shape_.j_tile;
    source.i_block = shape_.i_per_thread;
    source.threads = shape_.threads;
    source.staged_bytes = staged_bytes();
    source.rest_bytes = block_bytes_of_i();
    source.cutoff = plan_.any_guard != kNone;
    source.pair_statements = pair_statements_;
    return source;
  }

  // The kernel makes the two parts of a value, and what is derived from it, by itself.
  static std::vector<Column> transferred(const std::vector<Column>& columns) {
    std::vector<Column> wanted;
    for (const Column& c : columns) {
      if (c.part == Column::Part::Whole) wanted.push_back(c);
      if (c.part == Column::Part::High) wanted.push_back({c.component, Element::Double, Column::Part::Whole});
    }
    return wanted;
  }

  const Pipeline& pipeline_;
  const Options& options_;
  Plan plan_;
  const Graph& graph_ = plan_.graph;
  CudaScalars scalars_;
  CudaStatements statements_;
  RarePairs rare_;
  std::set<int> i_members_, j_members_;  // columns that the pair loop reads
  std::set<int> i_rest_;                 // those of i that it reads for hits only
  std::set<NodeId> needed_;              // nodes of the pair loop that have a statement
  std::set<NodeId> needed_mostly_;       // ... where no pair is rare
  CutoffWord word_;
  std::set<NodeId> looked_at_;             // ... and of what looks who is within the cutoff
  std::set<std::pair<Op, int>> minuends_;  // components from which all_zero()'s numbers are subtracted
  bool self_test_ = false, i_index_ = false;
  CudaLoad load_{graph_, plan_, statements_, minuends_};
  std::size_t slots_ = 0;  // doubles that a part of the j-particles hands over for one i
  int pair_statements_ = 0;
  CudaNeeds needs_;
  CudaDefaults shape_;
};

}  // namespace

// 2^-22.9, which needs no refinement, and 2^-20.03 rounded up: see rsqrt_estimate in templates/cuda_types.cuh.in.
Target cuda_target() { return {0x1.13p-23, 0x1.8p-20, true, true}; }

KernelSource emit_cuda(const Pipeline& pipeline, const Options& options) {
  return CudaEmitter(pipeline, options).run();
}

}  // namespace nbcc
