// Lookups -> ranges of values of single particles. Entry point: find_table_indices().
// runtime/sum/request/index_check.cpp checks these ranges in a run.
#include "compiler/passes/prove/table_indices.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/ir/text/expression_text.h"
#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

// Bits that say which inputs a node depends on.
enum Dependence : unsigned { kOnI = 1, kOnJ = 2, kOnListed = 4, kOnOutputs = 8, kOnParams = 16 };
constexpr unsigned kOnParticles = kOnI | kOnJ | kOnListed;

unsigned dependence_of_leaf(Op op) {
  switch (op) {
    case Op::InputI:
    case Op::IIndex:
      return kOnI;
    case Op::InputJ:
    case Op::JIndex:
      return kOnJ;
    case Op::InputPair:
      return kOnListed;
    case Op::Output:
      return kOnOutputs;
    case Op::Param:
      return kOnParams;
    default:
      return 0;
  }
}

bool is_one_side(unsigned sides) { return (sides & (sides - 1)) == 0; }

// One dimension of a lookup: an index before lowering clamps it to the table.
struct Index {
  NodeId raw = kNone;
  std::int64_t count = 0;
  int dimension = 0;  // 1 or 2 for a table of two dimensions, else 0
};

class Finder {
 public:
  explicit Finder(const Pipeline& pipeline) : pipeline_(pipeline) {}

  TableIndices run() {
    const std::vector<NodeId> of_pair = copy(pipeline_.pair), of_finish = copy(pipeline_.finish);
    describe_nodes();
    for (const Contribution& c : pipeline_.contributions) {
      const NodeId guard = c.guard == kNone ? always() : of_pair[std::size_t(c.guard)];
      if (c.guard != kNone) demand(guard, always());
      for (const NodeId root : {c.value, c.scale, c.logit})
        if (root != kNone) demand(of_pair[std::size_t(root)], guard);
    }
    for (const NodeId root : pipeline_.finished) demand(of_finish[std::size_t(root)], always());
    // Arguments precede their users. Nodes that are added for conditions contain no further lookups.
    for (NodeId id = copied_; id-- > 0;)
      if (reads_table_[std::size_t(id)] && demanded_[std::size_t(id)] != kNone) demand_arguments(id);
    for (NodeId id = 0; id < copied_; ++id)
      if (graph()[id].op == Op::Lookup && demanded_[std::size_t(id)] != kNone) note_lookup(id);
    for (const auto& [key, wanted] : wanted_) add_check(key, wanted.condition, wanted.where);
    for (std::size_t side = 0; side < kIndexSides; ++side) found_.ranges[side] = int(found_.of_side[side].size());
    return std::move(found_);
  }

 private:
  Graph& graph() { return found_.graph; }

  // ---- one graph for pairs and finish() ----

  std::vector<NodeId> copy(const Graph& from) {
    std::vector<NodeId> ids;
    for (NodeId id = 0; id < from.size(); ++id) ids.push_back(copy_node(graph(), from[id], ids));
    return ids;
  }

  void describe_nodes() {
    always_ = graph().constant(1, Type::Bool);
    copied_ = graph().size();
    demanded_.assign(std::size_t(copied_), kNone);
    for (NodeId id = 0; id < copied_; ++id) {
      const Node& n = graph()[id];
      bool reads = n.op == Op::Lookup;
      for (const NodeId arg : n.args) reads = reads || (arg != kNone && reads_table_[std::size_t(arg)]);
      reads_table_.push_back(reads);
    }
  }

  unsigned dependence(NodeId id) {
    while (NodeId(dependence_.size()) < graph().size()) {
      const Node& n = graph()[NodeId(dependence_.size())];
      unsigned bits = dependence_of_leaf(n.op);
      for (const NodeId arg : n.args) bits |= arg == kNone ? 0 : dependence_[std::size_t(arg)];
      dependence_.push_back(bits);
    }
    return dependence_[std::size_t(id)];
  }

  // ---- conditions ----

  NodeId always() const { return always_; }
  NodeId both(NodeId a, NodeId b) {
    return a == always() ? b : b == always() || a == b ? a : graph().binary(Op::And, a, b);
  }
  NodeId either(NodeId a, NodeId b) {
    return a == always() || b == always() ? always() : a == b ? a : graph().binary(Op::Or, a, b);
  }

  void demand(NodeId id, NodeId when) {
    NodeId& known = demanded_[std::size_t(id)];
    known = known == kNone ? when : either(known, when);
  }

  void demand_arguments(NodeId id) {
    const Node n = graph()[id];
    const NodeId when = demanded_[std::size_t(id)];
    const auto refuted = [&](NodeId condition) { return graph().unary(Op::Not, condition); };
    for (const NodeId arg : n.args)
      if (arg != kNone && arg == n.args[0]) demand(arg, when);
    if (n.op == Op::Select) {
      demand(n.args[1], both(when, n.args[0]));
      demand(n.args[2], both(when, refuted(n.args[0])));
    } else if (n.op == Op::And || n.op == Op::Or) {
      // C evaluates the second operand only where the first does not decide.
      demand(n.args[1], both(when, n.op == Op::And ? n.args[0] : refuted(n.args[0])));
    } else {
      for (const NodeId arg : {n.args[1], n.args[2]})
        if (arg != kNone) demand(arg, when);
    }
  }

  // A weaker condition on one side's particles: it holds for a particle if the condition (or its negation) holds for
  // any pair of that particle. `coupling` collects the nodes that were weakened.
  NodeId projected(NodeId id, unsigned side, bool negated, std::set<NodeId>& coupling) {
    // Conditions have subexpressions in common.
    if (const auto known = projections_.find({id, side, negated}); known != projections_.end()) return known->second;
    const NodeId found = project(id, side, negated, coupling);
    return projections_[{id, side, negated}] = found;
  }
  NodeId project(NodeId id, unsigned side, bool negated, std::set<NodeId>& coupling) {
    const Node n = graph()[id];
    if (n.op == Op::Not) return projected(n.args[0], side, !negated, coupling);
    if ((dependence(id) & kOnParticles & ~side) == 0 && (dependence(id) & kOnOutputs) == 0)
      return negated ? graph().unary(Op::Not, id) : id;
    if (n.op == Op::And || n.op == Op::Or) {
      const bool need_both = (n.op == Op::And) != negated;
      const NodeId a = projected(n.args[0], side, negated, coupling), b = projected(n.args[1], side, negated, coupling);
      if (need_both) return both(a, b);
      coupling.insert(id);
      return either(a, b);
    }
    if (!is_one_side(dependence(id) & kOnParticles) || (dependence(id) & kOnOutputs) != 0) coupling.insert(id);
    return always();
  }

  // ---- lookups ----

  struct Key {
    NodeId raw;
    std::int64_t count;
    const Field* table;
    int dimension;
    auto operator<=>(const Key&) const = default;
  };
  struct Wanted {
    NodeId condition;
    Location where;  // where the table is first read
  };

  // An index that lowering has clamped to 0 .. count - 1.
  std::optional<Index> kept_within(NodeId id) {
    const auto whole = [&](NodeId node) {
      return graph()[node].type >= Type::Bool && graph()[node].type <= Type::Index;
    };
    if (graph()[id].op == Op::Cast && whole(graph()[id].args[0])) id = graph()[id].args[0];
    const Node& least = graph()[id];
    if (least.op != Op::Min || !whole(id) || !graph().is_constant(least.args[1])) return {};
    const Node& most = graph()[least.args[0]];
    if (most.op != Op::Max || !graph().is_constant(most.args[1], 0)) return {};
    return Index{most.args[0], std::int64_t(graph().constant_value(least.args[1])) + 1, 0};
  }

  // Collects the indices in an argument of a lookup; a row index has been multiplied by the number of columns.
  void collect(NodeId id, std::vector<Index>& indices) {
    if (const std::optional<Index> index = kept_within(id)) return indices.push_back(*index);
    const Node n = graph()[id];
    if (n.op != Op::Mul && n.op != Op::Add && n.op != Op::Cast) return;
    for (const NodeId arg : n.args)
      if (arg != kNone) collect(arg, indices);
  }

  void note_lookup(NodeId id) {
    const Node n = graph()[id];
    const Table& table = pipeline_.tables[std::size_t(n.payload)];
    const Field& field = pipeline_.field_of(Role::Param, table.first);
    if (note_sorted(id, field)) return;
    for (const std::size_t dimension : {0u, 1u}) {
      std::vector<Index> indices;
      collect(n.args[dimension], indices);
      for (const Index& index : indices) {
        want({index.raw, index.count, &field, table.columns > 0 ? int(dimension) + 1 : 0}, id);
      }
    }
  }

  // table[min(a, b)][max(a, b)], of as many columns as rows: both indices are in the table if and only if a and b are.
  // So a and b are checked; usually a is a value of i, and b a value of j.
  bool note_sorted(NodeId id, const Field& field) {
    std::vector<Index> rows, columns;
    collect(graph()[id].args[0], rows);
    collect(graph()[id].args[1], columns);
    if (rows.size() != 1 || columns.size() != 1 || rows[0].count != columns[0].count) return false;
    const Node a = graph()[rows[0].raw], b = graph()[columns[0].raw];
    const bool are_sorted = (a.op == Op::Min && b.op == Op::Max) || (a.op == Op::Max && b.op == Op::Min);
    const bool are_equal =
        (a.args[0] == b.args[0] && a.args[1] == b.args[1]) || (a.args[0] == b.args[1] && a.args[1] == b.args[0]);
    if (!are_sorted || !are_equal) return false;
    want({a.args[0], rows[0].count, &field, 1}, id);
    want({a.args[1], rows[0].count, &field, 2}, id);
    return true;
  }

  void want(const Key& key, NodeId lookup) {
    const NodeId when = demanded_[std::size_t(lookup)];
    const auto [known, is_new] = wanted_.emplace(key, Wanted{when, graph()[lookup].where});
    if (!is_new) known->second.condition = either(known->second.condition, when);
  }

  // ---- checks ----

  // Splits an index into a sum of one value per side; empty if the index is no such sum.
  using SideTerms = std::array<NodeId, kIndexSides>;
  std::optional<SideTerms> split_by_side(NodeId id) {
    const unsigned sides = dependence(id) & kOnParticles;
    if (is_one_side(sides)) {
      SideTerms terms{kNone, kNone, kNone};
      terms[sides == kOnJ ? 1 : sides == kOnListed ? 2 : 0] = id;
      return terms;
    }
    const Node n = graph()[id];
    if (n.type != Type::Int && n.type != Type::Index) return {};
    const auto whole = [&](NodeId node) { return graph().cast(node, n.type); };
    if (n.op == Op::Cast || n.op == Op::Neg) {
      if (graph()[n.args[0]].type > Type::Index) return {};
      return each_of(split_by_side(n.args[0]),
                     [&](NodeId term) { return n.op == Op::Cast ? whole(term) : graph().unary(Op::Neg, whole(term)); });
    }
    if (n.op == Op::Mul) {
      for (const int k : {0, 1}) {
        const NodeId factor = n.args[std::size_t(k)];
        if ((dependence(factor) & kOnParticles) != 0) continue;
        return each_of(split_by_side(n.args[std::size_t(1 - k)]),
                       [&](NodeId term) { return graph().binary(Op::Mul, whole(term), factor); });
      }
    }
    if (n.op != Op::Add && n.op != Op::Sub) return {};
    std::optional<SideTerms> a = split_by_side(n.args[0]);
    const std::optional<SideTerms> b = split_by_side(n.args[1]);
    if (!a || !b) return {};
    for (std::size_t side = 0; side < kIndexSides; ++side) {
      const NodeId x = (*a)[side], y = (*b)[side];
      if (y == kNone) continue;
      (*a)[side] = x != kNone        ? graph().binary(n.op, whole(x), whole(y))
                   : n.op == Op::Add ? y
                                     : graph().unary(Op::Neg, y);
    }
    return a;
  }
  template <typename Change>
  static std::optional<SideTerms> each_of(std::optional<SideTerms> terms, const Change& change) {
    for (std::size_t side = 0; terms && side < kIndexSides; ++side)
      if ((*terms)[side] != kNone) (*terms)[side] = change((*terms)[side]);
    return terms;
  }

  // The inputs and indices that the roots depend on.
  std::set<NodeId> leaves(const std::vector<NodeId>& roots) {
    const std::vector<bool> needed = reachable(graph(), roots);
    std::set<NodeId> found;
    for (NodeId id = 0; id < graph().size(); ++id)
      if (needed[std::size_t(id)] && (dependence_of_leaf(graph()[id].op) & kOnParticles) != 0) found.insert(id);
    return found;
  }

  std::string text_of(NodeId id) { return expression_text(pipeline_.fields, graph(), id); }

  void add_check(const Key& key, NodeId condition, Location where) {
    const auto unchecked = [&](const char* reason) {
      found_.unchecked.push_back({text_of(key.raw), key.table->name, reason, where.line, where.column});
    };
    if ((dependence(key.raw) & kOnOutputs) != 0) return unchecked("it depends on results");
    const std::optional<SideTerms> terms = split_by_side(key.raw);
    if (!terms) return unchecked("it depends on both particles of a pair, and is not a sum of one number of each");
    std::array<NodeId, kIndexSides> conditions{};
    std::set<NodeId> coupling;
    projections_.clear();  // each check has a separate coupling
    for (std::size_t side = 0; side < kIndexSides; ++side)
      conditions[side] = projected(condition, 1u << side, false, coupling);
    const unsigned sides = dependence(key.raw) & kOnParticles;
    if (!is_one_side(sides)) {
      const std::set<NodeId> of_index = leaves({key.raw});
      const std::set<NodeId> of_coupling = leaves({coupling.begin(), coupling.end()});
      const auto is_coupled = [&](NodeId leaf) { return of_coupling.contains(leaf); };
      if (std::ranges::any_of(of_index, is_coupled))
        return unchecked("it depends on both particles of a pair, and so does a condition of its lookup");
    }
    IndexCheck check{text_of(key.raw),
                     key.table->name,
                     key.dimension,
                     key.count,
                     where.line,
                     (dependence(key.raw) & kOnParams) != 0,
                     {}};
    for (std::size_t side = 0; side < kIndexSides; ++side) {
      const NodeId term = (*terms)[side];
      if (term == kNone) continue;
      check.uses_params = check.uses_params || (dependence(conditions[side]) & kOnParams) != 0;
      check.parts[side] = {range_of(side, {graph().cast(term, Type::Index), conditions[side]}), text_of(term)};
    }
    found_.checks.push_back(std::move(check));
  }

  int range_of(std::size_t side, const TableIndices::Range& range) {
    std::vector<TableIndices::Range>& all = found_.of_side[side];
    const auto known = std::ranges::find(all, range);
    if (known != all.end()) return int(known - all.begin());
    all.push_back(range);
    return int(all.size()) - 1;
  }

  const Pipeline& pipeline_;
  TableIndices found_;
  NodeId always_ = kNone, copied_ = 0;
  std::vector<bool> reads_table_;                                     // by node: it or a node below it is a lookup
  std::vector<unsigned> dependence_;                                  // by node
  std::map<std::tuple<NodeId, unsigned, bool>, NodeId> projections_;  // of one check: by node, side and negation
  std::vector<NodeId> demanded_;                                      // by node: the condition under which it is used
  std::map<Key, Wanted> wanted_;
};

}  // namespace

TableIndices find_table_indices(const Pipeline& pipeline) {
  if (pipeline.tables.empty()) return {};
  TableIndices found;
  run_on_own_stack(kDeepStack, [&] { found = Finder(pipeline).run(); });
  return found;
}

}  // namespace nbcc
