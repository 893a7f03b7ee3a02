// Reads each contribution as a polynomial in the values of single particles whose coefficients are functions of the
// displacement. Entry point: read_far_terms().
#include "compiler/passes/far/far_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/ir/text/expression_text.h"
#include "compiler/made_inputs.h"
#include "compiler/passes/derive/term.h"
#include "compiler/passes/facts/power_product.h"
#include "compiler/passes/facts/terms.h"
#include "compiler/passes/far/far_axes.h"
#include "compiler/passes/far/far_polynomial.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/prove/neighbourhood.h"

namespace nbcc {
namespace {

constexpr std::size_t kMaxWeights = 32, kMaxSums = 48;

class Reader {
 public:
  // one_sided: values of i are inputs of the new graph instead of factors.
  Reader(const Pipeline& pipeline, bool one_sided)
      : pipeline_(pipeline), old_(pipeline.pair), one_sided_(one_sided), alive_(reachable(old_, pipeline.roots())) {}

  FarTerms run() {
    check_outputs();
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive_[std::size_t(id)] && old_[id].type == Type::Double) made_.real = Type::Double;
    made_.axes = far_axes(pipeline_, alive_);
    for (const FarAxis& axis : made_.axes) {
      check_indices({{axis.of_i, -1}}, "i_index");
      check_indices({{axis.of_j, -1}}, "j_index");
    }
    made_.both_sides = !one_sided_;
    std::vector<Polynomial> polynomials;
    for (const Contribution& contribution : pipeline_.contributions) polynomials.push_back(read(contribution));
    const bool as_written = is_linear(polynomials);
    for (std::size_t output = 0; output < polynomials.size(); ++output) {
      if (polynomials[output].empty()) continue;  // an output that is always 0
      if (as_written)
        add_as_written(int(output));
      else
        add_sums(int(output), polynomials[output]);
    }
    if (made_.sums.empty()) fail({}, "no output depends on the displacement of two particles");
    if (made_.weights.size() > kMaxWeights || made_.sums.size() > kMaxSums)
      fail({},
           fmt::format("{} products of values of j and {} sums are needed", made_.weights.size(), made_.sums.size()));
    return std::move(made_);
  }

 private:
  [[noreturn]] void fail(NodeId at, const std::string& reason) const { fail(old_[at].where, reason); }
  [[noreturn]] static void fail(const Location& where, const std::string& reason) { throw FarObstacle{where, reason}; }
  std::string text(NodeId id) const { return expression_text(pipeline_.fields, old_, id); }

  // --- what a far field cannot be made of ---

  void check_outputs() const {
    for (const Field& field : pipeline_.fields) {
      if (field.role == Role::InputPair) fail(field.where, fmt::format("'{}' is an input of listed pairs", field.name));
      if (field.role != Role::Output) continue;
      if (field.reduction == Reduction::Histogram)
        fail(field.where, fmt::format("'{}' is a histogram, which needs every pair", field.name));
      if (field.reduction != Reduction::Sum)
        fail(field.where,
             fmt::format("'{}' is an output({}), which has no far field", field.name, reduction_text(field)));
      if (!is_floating(field.type)) fail(field.where, fmt::format("'{}' is a sum of integers", field.name));
    }
    const NeighbourhoodProof proof = prove_neighbourhood(pipeline_);
    if (proof.neighbourhood) fail(Location{}, "a cutoff: pairs are found by search");
    if (proof.obstacle) fail(proof.obstacle->where, "a cutoff that is not proved: " + proof.obstacle->reason);
    if (const std::optional<NodeId> image = find_minimum_image(old_, alive_))
      fail(*image, "nearest_image: pairs are found by search");
  }

  // --- functions of the displacement ---

  // The number of the axis, and true for i - j.
  std::optional<std::pair<int, bool>> axis_of(NodeId id) const {
    const auto found = far_difference(old_, id);
    if (!found) return {};
    const auto at = std::ranges::find(made_.axes, found->first);
    if (at == made_.axes.end()) return {};
    return {{int(at - made_.axes.begin()), found->second}};
  }

  bool compares_indices(const Node& node) const {
    if (node.op != Op::Eq) return false;
    const Op a = old_[node.args[0]].op, b = old_[node.args[1]].op;
    return (a == Op::IIndex && b == Op::JIndex) || (a == Op::JIndex && b == Op::IIndex);
  }

  // True if the node is computed from the displacement and from params alone, without one-sidedness; then it belongs to
  // the new graph.
  bool is_of_displacement(NodeId id) {
    const auto [at, is_new] = of_displacement_.try_emplace(id, false);
    if (!is_new) return at->second;
    const Node& node = old_[id];
    bool result = false;
    if (node.binding <= Binding::Param || axis_of(id) || compares_indices(node))
      result = true;
    else if (node.binding == Binding::I)
      result = one_sided_;
    else if (node.binding == Binding::Pair && node.op != Op::InputPair) {
      result = true;
      for (int k = 0; k < arity(node.op); ++k) result = is_of_displacement(node.args[std::size_t(k)]) && result;
    }
    return of_displacement_[id] = result;
  }

  // Tests for coincident particles fail for distant ones: r2 == 0, 0 < r2, i_index == j_index.
  std::optional<bool> when_distant(const Node& node) {
    if (compares_indices(node)) {
      made_.needs_one_set = true;
      return false;
    }
    if (node.op != Op::Eq && node.op != Op::Lt && node.op != Op::Le) return {};
    const auto [a, b, c] = node.args;
    const auto is_zero = [&](NodeId id) { return old_.is_constant(id, 0); };
    if (node.op == Op::Eq && ((is_zero(b) && is_distance(a, true)) || (is_zero(a) && is_distance(b, true))))
      return false;
    if (node.op != Op::Eq && is_zero(a) && is_distance(b, false)) return true;
    if (node.op != Op::Eq && is_zero(b) && is_distance(a, false)) return false;
    return {};
  }

  // The distance, its square, or that plus a param: a softening, which is not negative.
  bool is_distance(NodeId id, bool softened) {
    id = look_through_casts(old_, id);
    if (old_[id].op == Op::Sqrt) return is_distance(old_[id].args[0], softened);
    Graph scratch = old_;
    std::set<int> squared;
    for (const auto& [node, coefficient] : read_sum(scratch, id).terms) {
      if (coefficient <= 0) return false;
      const Node term = scratch[node];
      if (softened && term.binding == Binding::Param) continue;
      const bool square = (term.op == Op::Mul && term.args[0] == term.args[1]) ||
                          (term.op == Op::Pow && scratch.is_constant(term.args[1], 2));
      const auto axis = square && term.args[0] < old_.size() ? axis_of(term.args[0]) : std::nullopt;
      if (!axis) return false;
      squared.insert(axis->first);
    }
    return squared.size() == made_.axes.size();
  }

  // The value that a Select has for all distant pairs.
  std::optional<NodeId> taken_when_distant(const Node& node) {
    if (node.op != Op::Select || !is_of_displacement(node.args[0])) return {};
    const NodeId condition = copy(node.args[0]);
    if (!made_.graph.is_constant(condition)) return {};
    return node.args[made_.graph.constant_value(condition) != 0 ? 1 : 2];
  }

  NodeId copy(NodeId id) {
    const auto [at, is_new] = copies_.try_emplace(id, kNone);
    if (!is_new) return at->second;
    return copies_[id] = make_copy(id);
  }

  NodeId make_copy(NodeId id) {
    Graph& graph = made_.graph;
    const Node node = old_[id];
    if (const auto axis = axis_of(id)) {
      const NodeId j = graph.cast(graph.leaf(Op::InputJ, axis->first, made_.real, node.where), node.type);
      const NodeId i = graph.cast(graph.leaf(Op::InputI, axis->first, made_.real, node.where), node.type);
      return axis->second ? graph.binary(Op::Sub, i, j, node.where) : graph.binary(Op::Sub, j, i, node.where);
    }
    if (node.binding == Binding::I) return input_of_i({{id, -1}}, node);
    if (const auto known = when_distant(node)) return graph.constant(*known, Type::Bool, node.where);
    if (arity(node.op) == 0) return graph.leaf(node.op, node.payload, node.type, node.where);
    std::array<NodeId, 3> args{kNone, kNone, kNone};
    for (std::size_t k = 0; k < std::size_t(arity(node.op)); ++k) args[k] = copy(node.args[k]);
    return fold_node(graph, node, args);
  }

  NodeId input_of_i(const FarProduct& product, const Node& node) {
    check_indices(product, "i_index");
    const int k = number_in(made_.factors, product);
    return made_.graph.cast(made_.graph.leaf(Op::InputI, std::int64_t(made_.axes.size()) + k, made_.real, node.where),
                            node.type);
  }

  // --- polynomials ---

  static int number_in(std::vector<FarProduct>& products, const FarProduct& product) {
    const auto found = std::ranges::find(products, product);
    if (found != products.end()) return int(found - products.begin());
    products.push_back(product);
    return int(products.size()) - 1;
  }

  Polynomial read(const Contribution& contribution) {
    Polynomial value = read(contribution.value);
    if (contribution.guard == kNone) return value;
    if (!is_of_displacement(contribution.guard) && !one_sided_) throw OneSided{};
    if (!is_of_displacement(contribution.guard)) {
      NodeId at = contribution.guard;  // the negation of a skip_if has no line
      while (old_[at].where.line == 0 && arity(old_[at].op) > 0) at = old_[at].args[0];
      fail(at, fmt::format("'{}' is a condition on more than the displacement", text(contribution.guard)));
    }
    const NodeId guard = copy(contribution.guard);
    return choose(guard, value, {}, old_[contribution.value].type);
  }

  const Polynomial& read(NodeId id) {
    const auto found = polynomials_.find(id);
    if (found != polynomials_.end()) return found->second;
    Polynomial made = make(id);
    std::size_t terms = 0;
    for (const auto& [monomial, sum] : made) terms += sum.size();
    if (terms > 400) fail(id, fmt::format("'{}' has too many terms", text(id)));
    return polynomials_.emplace(id, std::move(made)).first->second;
  }

  Polynomial make(NodeId id) {
    const Node& node = old_[id];
    if (is_of_displacement(id)) {
      const Sum value = factors_of(id);
      return value.empty() ? Polynomial{} : Polynomial{{Monomial{}, value}};
    }
    if (node.binding == Binding::J || node.binding == Binding::I) return value_of_particle({id, -1}, node.binding);
    const auto [a, b, c] = node.args;
    const Sum one{Term{}};
    switch (node.op) {
      case Op::Sub:
        if (const auto found = far_difference(old_, id)) return centred_difference(found->first, found->second);
        [[fallthrough]];
      case Op::Add: {
        Polynomial sum = read(a);
        append(sum, read(b), node.op == Op::Add ? 1 : -1);
        return sum;
      }
      case Op::Neg: {
        Polynomial sum;
        append(sum, read(a), -1);
        return sum;
      }
      case Op::Mul:
        return product_of(read(a), read(b));
      case Op::Fma: {
        Polynomial sum = product_of(read(a), read(b));
        append(sum, read(c), 1);
        return sum;
      }
      case Op::Div: {
        if (!is_of_displacement(b)) break;
        const NodeId inverse = fold_node(made_.graph, Node{.op = Op::Div, .type = node.type, .where = node.where},
                                         {made_.graph.constant(1, node.type), copy(b), kNone});
        return product_of(read(a), {{Monomial{}, {Term{1, {inverse}}}}});
      }
      case Op::Pow: {
        const std::optional<int> power = far_whole_power(old_, node);
        if (!power) break;
        Polynomial result{{Monomial{}, one}};
        for (int k = 0; k < *power; ++k) result = product_of(result, read(a));
        return result;
      }
      case Op::Cast:
        if (is_floating(node.type) && is_floating(old_[a].type)) return read(a);
        break;
      case Op::Select:
        if (!is_of_displacement(a)) break;
        if (const auto taken = taken_when_distant(node)) return read(*taken);
        return choose(copy(a), read(b), read(c), node.type);
      default:
        break;
    }
    fail_nonlinear(id);
  }

  [[noreturn]] void fail_nonlinear(NodeId id) {
    // The numerator, and the values between which a choice is made, are not the cause.
    const Op op = old_[id].op;
    for (int k = op == Op::Div ? 1 : 0; k < (op == Op::Select ? 1 : arity(op)); ++k) {
      const NodeId arg = old_[id].args[std::size_t(k)];
      const Binding binding = old_[arg].binding;
      if (binding == Binding::I && !one_sided_) throw OneSided{};
      if (binding == Binding::J) fail(id, fmt::format("'{}' enters nonlinearly", text(arg)));
      if (binding == Binding::Pair && !is_of_displacement(arg)) {
        const std::optional<NodeId> value = value_of_j_in(arg);
        if (value) fail(id, fmt::format("'{}' enters nonlinearly", text(*value)));
        if (!one_sided_) throw OneSided{};
      }
    }
    fail(id, fmt::format("'{}' is not linear in values of j", text(id)));
  }

  // A value of j, other than the position, that the node depends on.
  std::optional<NodeId> value_of_j_in(NodeId id) {
    if (axis_of(id)) return {};
    const Node& node = old_[id];
    if (node.binding == Binding::J) return id;
    if (node.binding != Binding::Pair) return {};
    for (int k = 0; k < arity(node.op); ++k)
      if (const auto found = value_of_j_in(node.args[std::size_t(k)])) return found;
    return {};
  }

  Polynomial value_of_particle(FarAtom atom, Binding binding) {
    if (binding == Binding::J) check_indices({atom}, "j_index");
    if (binding == Binding::J) return {{Monomial{{atom}, {}}, {Term{}}}};
    check_indices({atom}, "i_index");
    if (one_sided_) return {{Monomial{}, {Term{1, {input_of_i({atom}, old_[atom.node])}}}}};
    return {{Monomial{{}, {atom}}, {Term{}}}};
  }

  // (vj - centre) - (vi - centre)
  Polynomial centred_difference(const FarAxis& values, bool reversed) {
    auto found = std::ranges::find(made_.centred, values.of_j);
    if (found == made_.centred.end()) found = made_.centred.insert(found, values.of_j);
    const int centre = int(found - made_.centred.begin());
    Polynomial result = value_of_particle({values.of_j, centre}, Binding::J);
    Polynomial of_i = value_of_particle({values.of_i, centre}, Binding::I);
    append(result, of_i, -1);
    if (!reversed) return result;
    Polynomial negative;
    append(negative, result, -1);
    return negative;
  }

  void check_indices(const FarProduct& product, std::string_view name) {
    for (const FarAtom& atom : product) {
      const std::vector<bool> used = reachable(old_, {atom.node});
      for (NodeId id = 0; id <= atom.node; ++id)
        if (used[std::size_t(id)] && (old_[id].op == Op::IIndex || old_[id].op == Op::JIndex))
          fail(atom.node, fmt::format("{} is used other than to exclude the pair of a particle with itself", name));
    }
  }

  Polynomial choose(NodeId condition, const Polynomial& yes, const Polynomial& no, Type type) {
    if (made_.graph.is_constant(condition)) return made_.graph.constant_value(condition) != 0 ? yes : no;
    type = widest(yes, widest(no, type));
    Polynomial result;
    std::set<Monomial> monomials;
    for (const Polynomial* side : {&yes, &no})
      for (const auto& [monomial, sum] : *side) monomials.insert(monomial);
    const auto coefficient = [&](const Polynomial& side, const Monomial& monomial) {
      const auto found = side.find(monomial);
      return found == side.end() ? made_.graph.constant(0, type) : node_of(found->second, type);
    };
    for (const Monomial& monomial : monomials) {
      const NodeId value = made_.graph.select(condition, coefficient(yes, monomial), coefficient(no, monomial));
      result[monomial] = {Term{1, {value}}};
    }
    return result;
  }

  // A function of the displacement as a product, so that equal products are found equal.
  Sum factors_of(NodeId id) {
    const Node& node = old_[id];
    if (old_.is_constant(id) && is_floating(node.type)) {
      if (old_.constant_value(id) == 0) return {};
      return {Term{old_.constant_value(id), {}}};
    }
    if (node.op == Op::Neg) return product_of({Term{-1, {}}}, factors_of(node.args[0]));
    if (node.op == Op::Mul && is_floating(node.type) && !axis_of(id))
      return product_of(factors_of(node.args[0]), factors_of(node.args[1]));
    const NodeId made = copy(id);
    if (made_.graph.is_constant(made) && made_.graph.constant_value(made) == 0) return {};
    return {Term{1, {made}}};
  }

  // The widest type of a factor, at least `type`: where the text narrows a value, factors of node_of() are wider.
  Type widest(const Polynomial& polynomial, Type type) const {
    for (const auto& [monomial, sum] : polynomial)
      for (const Term& term : sum)
        for (const NodeId factor : term.factors) type = std::max(type, made_.graph[factor].type);
    return type;
  }

  NodeId node_of(const Sum& sum, Type type) {
    Graph& graph = made_.graph;
    NodeId total = kNone;
    for (const Term& term : sum) {
      NodeId product = kNone;
      for (const NodeId factor : term.factors)
        product = product == kNone ? cast(factor, type) : graph.binary(Op::Mul, product, cast(factor, type));
      if (product == kNone)
        product = graph.constant(term.coefficient, type);
      else if (term.coefficient == -1)
        product = graph.unary(Op::Neg, product);
      else if (term.coefficient != 1)
        product = graph.binary(Op::Mul, graph.constant(term.coefficient, type), product);
      total = total == kNone ? product : graph.binary(Op::Add, total, product);
    }
    return total == kNone ? graph.constant(0, type) : total;
  }
  NodeId cast(NodeId id, Type type) { return made_.graph[id].type < type ? made_.graph.cast(id, type) : id; }

  NodeId weight(const FarProduct& product, Type type) {
    const int k = number_in(made_.weights, product);
    return made_.graph.cast(made_.graph.leaf(Op::InputJ, std::int64_t(made_.axes.size()) + k, made_.real), type);
  }

  // --- the sums ---

  // True if every term has exactly one weight, of degree one: then the text itself is the pipeline for distant pairs,
  // and dot(fj, d) need not be multiplied out.
  bool is_linear(const std::vector<Polynomial>& polynomials) const {
    for (const Polynomial& polynomial : polynomials)
      for (const auto& [monomial, sum] : polynomial)
        if (monomial.of_j.size() != 1 || !monomial.of_i.empty() || monomial.of_j.front().centre >= 0) return false;
    return true;
  }

  void add_as_written(int output) {
    const Contribution& contribution = pipeline_.contributions[std::size_t(output)];
    NodeId value = copy_linear(contribution.value);
    if (contribution.guard != kNone) {
      const NodeId guard = copy(contribution.guard);
      if (!made_.graph.is_constant(guard))
        value = made_.graph.select(guard, value, made_.graph.constant(0, made_.graph[value].type));
      else if (made_.graph.constant_value(guard) == 0)
        return;
    }
    add_part(output, -1, value);
  }

  NodeId copy_linear(NodeId id) {
    if (is_of_displacement(id)) return copy(id);
    const auto [at, is_new] = linear_copies_.try_emplace(id, kNone);
    if (!is_new) return at->second;
    const Node node = old_[id];
    NodeId made = kNone;
    if (node.binding == Binding::J) {
      made = weight({{id, -1}}, node.type);
    } else if (const auto taken = taken_when_distant(node)) {
      made = copy_linear(*taken);
    } else {
      std::array<NodeId, 3> args{kNone, kNone, kNone};
      for (std::size_t k = 0; k < std::size_t(arity(node.op)); ++k) args[k] = copy_linear(node.args[k]);
      made = fold_node(made_.graph, node, args);
    }
    return linear_copies_[id] = made;
  }

  void add_sums(int output, const Polynomial& polynomial) {
    const Type type = widest(polynomial, old_[pipeline_.contributions[std::size_t(output)].value].type);
    std::map<FarProduct, NodeId> by_factor;
    for (const auto& [monomial, sum] : polynomial) {
      const NodeId coefficient = node_of(sum, type);
      const NodeId term = made_.graph.binary(Op::Mul, weight(monomial.of_j, type), coefficient);
      const auto [at, is_new] = by_factor.try_emplace(monomial.of_i, term);
      if (!is_new) at->second = made_.graph.binary(Op::Add, at->second, term);
    }
    for (const auto& [product, value] : by_factor)
      add_part(output, product.empty() ? -1 : number_in(made_.factors, product), value);
  }

  void add_part(int output, int factor, NodeId value) {
    const auto found = std::ranges::find(made_.sums, value);
    const int sum = int(found - made_.sums.begin());
    if (found == made_.sums.end()) made_.sums.push_back(value);
    made_.parts.push_back({output, factor, sum});
  }

 public:
  struct OneSided {};  // a value of i enters nonlinearly

 private:
  const Pipeline& pipeline_;
  const Graph& old_;
  bool one_sided_;
  std::vector<bool> alive_;
  FarTerms made_;
  std::map<NodeId, bool> of_displacement_;
  std::map<NodeId, NodeId> copies_, linear_copies_;  // node of the pipeline -> node of the new graph
  std::map<NodeId, Polynomial> polynomials_;
};

// Sums on grids of i cost as much as those on grids of j: without factors there are as many as outputs.
bool are_few(const FarTerms& terms, const Pipeline& pipeline) {
  return terms.sums.size() <= 2 * pipeline.contributions.size() + 3;
}

}  // namespace

FarReading read_far_terms(const Pipeline& pipeline) {
  try {
    try {
      FarTerms terms = Reader(pipeline, false).run();
      const bool is_periodic = pipeline.find(kPlaceOfJ) != nullptr;  // there is no side of j alone
      if (terms.factors.empty() || is_periodic || are_few(terms, pipeline)) return {std::move(terms), {}};
    } catch (const Reader::OneSided&) {
    }
    return {Reader(pipeline, true).run(), {}};
  } catch (const FarObstacle& obstacle) {
    return {{}, obstacle};
  }
}

}  // namespace nbcc
