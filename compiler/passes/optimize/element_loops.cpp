// Entry point: with_element_loops(). Each old node that reads elements of arrays gets a form, its computation relative
// to the lowest element k that it reads: x[k + 1] - x[k] reads the elements k and k + 1. Forms are interned as nodes
// are, so that terms which differ in k alone have one form. A chain of sums is then a loop where the forms of its terms
// are one and their k count up.
#include "compiler/passes/optimize/element_loops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"
#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

using FormId = std::int32_t;

// The argument 0 of a form, which needs no old node.
constexpr NodeId kZero = -2;

// An argument of a form: another form, `shift` elements after the form's own, or an old node that reads no element.
struct FormArgument {
  FormId form = kNone;
  NodeId node = kNone;
  std::int64_t shift = 0;
  auto operator<=>(const FormArgument&) const = default;
};

struct Form {
  Op op = Op::Const;
  Type type = Type::Real;
  std::int64_t payload = 0;
  std::array<FormArgument, 3> args{};
  auto operator<=>(const Form&) const = default;
};

// The form of an old node and the lowest element that it reads.
struct AtElement {
  FormId form = kNone;
  std::int64_t element = 0;
  bool exists() const { return form != kNone; }
};

// The terms [begin, end) of a chain are a loop over `elements`.
struct Run {
  std::size_t begin = 0, end = 0;
  FormId form = kNone;
  Elements elements;
};

struct ChainTerm {
  NodeId node = kNone;
  bool negative = false;
};

struct Chain {
  bool any_order = false;        // its terms may be added in any order
  std::vector<ChainTerm> terms;  // in order
  std::vector<Run> runs;
};

bool has_elements(const Field& field) {
  const bool is_input = field.role == Role::InputI || field.role == Role::InputJ || field.role == Role::Param;
  return is_input && field.length > kMostWrittenOut && field.width == 1 && !field.is_table();
}

class LoopFinder {
 public:
  LoopFinder(Pipeline& pipeline, Math math)
      : pipeline_(pipeline), math_(math), old_(pipeline.pair), uses_(count_uses(old_, pipeline.roots())) {}

  void run() {
    find_chains();
    find_forms();
    find_arrays();
    for (auto& [id, chain] : chains_) find_runs(chain);
    std::erase_if(chains_, [](const auto& chain) { return chain.second.runs.empty(); });
    if (chains_.empty() && arrays_.empty()) return;
    build();
  }

 private:
  const Node& old(NodeId id) const { return old_[id]; }

  // ---- forms

  void find_forms() {
    for (const Role role : {Role::InputI, Role::InputJ, Role::Param})
      fields_[std::size_t(role)] = pipeline_.fields_of(role);
    at_.resize(std::size_t(old_.size()));
    for (NodeId id = 0; id < old_.size(); ++id)
      if (uses_[std::size_t(id)] > 0 && !in_chain_[std::size_t(id)]) at_[std::size_t(id)] = form_of(id);
  }

  AtElement form_of(NodeId id) {
    const Node& n = old(id);
    if (n.op == Op::InputI || n.op == Op::InputJ || n.op == Op::Param) return element_of(n);
    if (arity(n.op) == 0 || numbers_in(n.type) > 1) return {};
    return form_of({n.op, n.type, n.payload, {}}, n.args, n.where);
  }

  // The form of an operation with these arguments, which are old nodes or kZero.
  AtElement form_of(Form form, const std::array<NodeId, 3>& args, Location where) {
    const auto at = [this](NodeId arg) { return arg < 0 ? AtElement{} : at_[std::size_t(arg)]; };
    std::optional<std::int64_t> lowest;
    for (const NodeId arg : args)
      if (at(arg).exists()) lowest = std::min(lowest.value_or(at(arg).element), at(arg).element);
    if (!lowest) return {};
    for (std::size_t k = 0; k < args.size(); ++k)
      form.args[k] = at(args[k]).exists() ? FormArgument{at(args[k]).form, kNone, at(args[k]).element - *lowest}
                                          : FormArgument{kNone, args[k]};
    if (facts(form.op).commutes && form.args[1] < form.args[0]) std::swap(form.args[0], form.args[1]);
    return {intern(form, where), *lowest};
  }

  // An element of a long array of numbers, or the test of one of conditions, which are stored as integers.
  AtElement element_of(const Node& n) {
    const Field& field = *fields_[std::size_t(*facts(n.op).role)].at(std::size_t(n.payload));
    if (!has_elements(field)) return {};
    const Op op = n.op == Op::InputI ? Op::ElementOfI : n.op == Op::InputJ ? Op::ElementOfJ : Op::ElementOfParam;
    const std::int64_t element = n.payload - field.first;
    if (field.type != Type::Bool) return {intern({op, n.type, field.first, {}}, {}), element};
    const FormId number = intern({op, Type::Int, field.first, {}}, {});
    const FormId is_zero = intern({Op::Eq, Type::Bool, 0, {{{number, kNone}, {kNone, kZero}, {}}}}, n.where);
    return {intern({Op::Not, Type::Bool, 0, {{{is_zero, kNone}, {}, {}}}}, n.where), element};
  }

  FormId intern(const Form& form, Location where) {
    const auto [found, is_new] = form_ids_.try_emplace(form, FormId(forms_.size()));
    if (!is_new) return found->second;
    forms_.push_back(form);
    where_.push_back(where);
    return found->second;
  }

  // ---- arrays of outputs

  // Components [first, first + count) of the outputs, with one guard. Component k of an array has element k + shift.
  struct Results {
    int first = 0, count = 0;
    FormId form = kNone;
    std::int64_t shift = 0;
    NodeId guard = kNone;
    bool holds(std::size_t c) const { return int(c) >= first && int(c) < first + count; }
    bool continues(const Results& next) const {
      return form != kNone && next.form == form && next.shift == shift && next.guard == guard;
    }
  };

  void find_arrays() {
    for (const Field& field : pipeline_.fields) {
      const bool is_array = field.role == Role::Output && field.length > kMostWrittenOut && field.width == 1 &&
                            (field.kind == FieldKind::Particle || field.kind == FieldKind::Total);
      if (!is_array || field.reduction != Reduction::Sum || pipeline_.first_reaction > 0) continue;
      Results open;
      for (int c = field.first; c <= field.first + field.components(); ++c) {
        const Results next = c < field.first + field.components() ? result_of(c, field) : Results{};
        if (open.continues(next)) {
          ++open.count;
          continue;
        }
        if (open.form != kNone && open.count > kMostWrittenOut) arrays_.push_back(open);
        open = next;
      }
    }
  }

  // One component. Where its guard depends on the element, the term is a choice between the value and 0.
  Results result_of(int output, const Field& field) {
    const Contribution& one = pipeline_.contributions[std::size_t(output)];
    const Node& value = old(one.value);
    if (one.scale != kNone || !is_floating(value.type)) return {};
    AtElement at = at_[std::size_t(one.value)];
    NodeId guard = one.guard;
    if (guard != kNone && at_[std::size_t(guard)].exists()) {
      at = form_of({Op::Select, value.type, 0, {}}, {guard, one.value, kZero}, value.where);
      guard = kNone;
    }
    return {output, 1, at.form, at.element - (output - field.first), guard};
  }

  // ---- chains of sums, minima and maxima

  bool is_chain(NodeId id) const {
    const Op op = old(id).op;
    return op == Op::Add || op == Op::Sub || op == Op::Min || op == Op::Max;
  }
  static Op family(Op op) { return op == Op::Sub ? Op::Add : op; }

  // The argument that continues the chain of `id`: of the same family, with no other user; of two, the longer one.
  int continued(NodeId id) const {
    const Node& n = old(id);
    int best = -1;
    for (const int k : {0, 1}) {
      const NodeId arg = n.args[std::size_t(k)];
      const bool continues = is_chain(arg) && family(old(arg).op) == family(n.op) && old(arg).type == n.type &&
                             uses_[std::size_t(arg)] == 1 && !(n.op == Op::Sub && k == 1);
      if (continues && (best < 0 || length_[std::size_t(arg)] > length_[std::size_t(n.args[std::size_t(best)])]))
        best = k;
    }
    return best;
  }

  // Finds the long chains, and their sums: these are no terms of other loops.
  void find_chains() {
    length_.assign(std::size_t(old_.size()), 1);
    in_chain_.assign(std::size_t(old_.size()), false);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (uses_[std::size_t(id)] > 0 && is_chain(id))
        if (const int k = continued(id); k >= 0)
          length_[std::size_t(id)] = length_[std::size_t(old(id).args[std::size_t(k)])] + 1;
    for (NodeId id = old_.size(); id-- > 0;) {
      if (in_chain_[std::size_t(id)] || length_[std::size_t(id)] < kMostWrittenOut) continue;
      chains_[id].any_order = math_ == Math::Fast || family(old(id).op) != Op::Add || !is_floating(old(id).type);
      std::vector<ChainTerm>& terms = chains_[id].terms;
      NodeId at = id;
      for (int k = continued(at); k >= 0; k = continued(at)) {
        in_chain_[std::size_t(at)] = true;
        terms.push_back(term(at, 1 - k));
        at = old(at).args[std::size_t(k)];
      }
      in_chain_[std::size_t(at)] = true;
      for (const int last : {1, 0}) terms.push_back(term(at, last));
      std::ranges::reverse(terms);
    }
  }

  ChainTerm term(NodeId id, int k) const { return {old(id).args[std::size_t(k)], old(id).op == Op::Sub && k == 1}; }

  void find_runs(Chain& chain) const {
    const std::vector<ChainTerm>& terms = chain.terms;
    for (std::size_t begin = 0; begin < terms.size();) {
      const AtElement first = at_[std::size_t(terms[begin].node)];
      const auto follows = [&](std::size_t k) {
        const AtElement& at = at_[std::size_t(terms[k].node)];
        return at.form == first.form && at.element == first.element + std::int64_t(k - begin) &&
               terms[k].negative == terms[begin].negative;
      };
      std::size_t end = begin + 1;
      while (first.exists() && end < terms.size() && follows(end)) ++end;
      const auto count = std::int64_t(end - begin);
      if (first.exists() && count > kMostWrittenOut && (begin == 0 || chain.any_order))
        chain.runs.push_back({begin, end, first.form, {first.element, count}});
      begin = end;
    }
  }

  // ---- the new graph

  void build() {
    mark_needed();
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id) {
      if (!needed_[std::size_t(id)]) continue;
      const auto chain = chains_.find(id);
      new_id_[std::size_t(id)] = chain == chains_.end() ? copy_node(new_, old(id), new_id_) : remake(id, chain->second);
    }
    rename_roots(pipeline_, new_id_);
    for (const Results& array : arrays_)
      for (int c = array.first; c < array.first + array.count; ++c) {
        Contribution& one = pipeline_.contributions[std::size_t(c)];
        one.value = node_of(array.form, array.shift);
        if (array.guard == kNone) one.guard = kNone;
      }
    pipeline_.pair = std::move(new_);
  }

  // Users are visited before their arguments.
  void mark_needed() {
    needed_.assign(std::size_t(old_.size()), false);
    const auto need = [this](NodeId id) {
      if (id != kNone) needed_[std::size_t(id)] = true;
    };
    for (std::size_t c = 0; c < pipeline_.contributions.size(); ++c) {
      const Contribution& one = pipeline_.contributions[c];
      const bool in_array = std::ranges::any_of(arrays_, [c](const Results& array) { return array.holds(c); });
      for (const NodeId root : {one.scale, one.logit}) need(root);
      if (in_array) continue;
      need(one.value);
      need(one.guard);
    }
    need(pipeline_.within);
    for (const Results& array : arrays_) {
      need_form(array.form);
      need(array.guard);
    }
    for (NodeId id = old_.size(); id-- > 0;) {
      if (!needed_[std::size_t(id)]) continue;
      const auto chain = chains_.find(id);
      if (chain == chains_.end()) {
        for (const NodeId arg : old(id).args) need(arg);
        continue;
      }
      for (const Run& run : chain->second.runs) need_form(run.form);
      for_other_terms(chain->second, [&](std::size_t k) { need(chain->second.terms[k].node); });
    }
  }

  void need_form(FormId id) {
    form_is_needed_.resize(forms_.size());
    if (std::exchange(form_is_needed_[std::size_t(id)], char(true))) return;
    for (const FormArgument& arg : forms_[std::size_t(id)].args) {
      if (arg.form != kNone) need_form(arg.form);
      if (arg.node >= 0) needed_[std::size_t(arg.node)] = true;
    }
  }

  template <typename Visit>
  static void for_other_terms(const Chain& chain, const Visit& visit) {
    std::size_t next = 0;
    for (const Run& run : chain.runs) {
      for (; next < run.begin; ++next) visit(next);
      next = run.end;
    }
    for (; next < chain.terms.size(); ++next) visit(next);
  }

  // Terms and loops, in order.
  NodeId remake(NodeId id, const Chain& chain) {
    const Node& root = old(id);
    const Op op = family(root.op);
    const Op loop = op == Op::Add ? Op::SumOfElements : op == Op::Min ? Op::MinOfElements : Op::MaxOfElements;
    NodeId result = kNone;
    const auto append = [&](NodeId value, bool negative) {
      if (result == kNone)
        result = negative ? new_.unary(Op::Neg, value, root.where) : value;
      else
        result = new_.make(negative ? Op::Sub : op, root.type, {result, value, kNone}, root.where);
    };
    std::size_t next = 0;
    const auto append_to = [&](std::size_t end) {
      for (; next < end; ++next) append(new_id_[std::size_t(chain.terms[next].node)], chain.terms[next].negative);
    };
    for (const Run& run : chain.runs) {
      append_to(run.begin);
      append(new_.make(loop, root.type, {node_of(run.form, 0), kNone, kNone}, root.where, loop_payload(run.elements)),
             chain.terms[run.begin].negative);
      next = run.end;
    }
    append_to(chain.terms.size());
    return result;
  }

  // The node that computes a form `shift` elements after the element of the loop.
  NodeId node_of(FormId id, std::int64_t shift) {
    NodeId& known = new_form_.try_emplace({id, shift}, kNone).first->second;
    if (known != kNone) return known;
    const Form& form = forms_[std::size_t(id)];
    if (is_element(form.op)) return known = new_.leaf(form.op, form.payload + shift, form.type);
    std::array<NodeId, 3> args{kNone, kNone, kNone};
    Type type_of_zero = form.type;
    for (std::size_t k = 0; k < std::size_t(arity(form.op)); ++k) {
      const FormArgument& arg = form.args[k];
      if (arg.form != kNone)
        args[k] = node_of(arg.form, shift + arg.shift);
      else if (arg.node >= 0)
        args[k] = new_id_[std::size_t(arg.node)];
      if (args[k] != kNone && form.op == Op::Eq) type_of_zero = new_[args[k]].type;
    }
    for (std::size_t k = 0; k < std::size_t(arity(form.op)); ++k)
      if (form.args[k].node == kZero) args[k] = new_.constant(0, type_of_zero);
    return known = new_.make(form.op, form.type, args, where_[std::size_t(id)], form.payload);
  }

  Pipeline& pipeline_;
  const Math math_;
  const Graph& old_;
  const std::vector<int> uses_;
  std::array<std::vector<const Field*>, kRoles> fields_;  // [role][component]
  std::vector<Form> forms_;
  std::map<Form, FormId> form_ids_;
  std::vector<Location> where_;     // [form]
  std::vector<AtElement> at_;       // [old node]
  std::vector<int> length_;         // [old node] sums of its chain
  std::vector<bool> in_chain_;      // [old node] it is a sum of a long chain
  std::map<NodeId, Chain> chains_;  // last sum -> chain
  std::vector<Results> arrays_;
  std::vector<bool> needed_;  // [old node] it has a new node
  std::vector<char> form_is_needed_;
  std::vector<NodeId> new_id_;
  std::map<std::pair<FormId, std::int64_t>, NodeId> new_form_;  // form, shift -> new node
  Graph new_;
};

bool may_have_loops(const Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.fields, [](const Field& field) { return has_elements(field); });
}

// ---- terms under conditions

// Lowering makes `if (c) r += t;` a choice between r + t and r. Here it becomes r plus a choice between t and 0.
class ConditionalTerms {
 public:
  int count() const { return count_; }

  NodeId rewritten(Graph& graph, const Node& old, std::array<NodeId, 3> args) {
    const NodeId copy = copy_node(graph, old, args);
    if (old.op != Op::Select || old.type == Type::Bool || numbers_in(old.type) > 1) return copy;
    const auto [condition, yes, no] = args;
    for (const NodeId link : {yes, no})
      for (const Op op : {Op::Add, Op::Min, Op::Max})
        for (const NodeId base : {yes, no, graph[link].args[0], graph[link].args[1]}) {
          const NodeId term_of_yes = term(graph, yes, base, op, old.type),
                       term_of_no = term(graph, no, base, op, old.type);
          if (term_of_yes == kNone || term_of_no == kNone) continue;
          ++count_;
          const NodeId chosen = graph.select(condition, term_of_yes, term_of_no, old.where);
          return graph.make(op, old.type, {base, chosen, kNone}, old.where);
        }
    return copy;
  }

 private:
  // The term t with op(base, t) = `id`; kNone if there is none.
  static NodeId term(Graph& graph, NodeId id, NodeId base, Op op, Type type) {
    if (base == kNone) return kNone;
    if (id == base) return graph.constant(neutral(op, type), type);
    const Node n = graph[id];
    if (op == Op::Add && n.op == Op::Sub && n.args[0] == base) return graph.unary(Op::Neg, n.args[1], n.where);
    if (n.op != op) return kNone;
    return n.args[0] == base ? n.args[1] : n.args[1] == base ? n.args[0] : kNone;
  }
  static double neutral(Op op, Type type) {
    if (op == Op::Add) return 0;
    const auto farthest = [op]<typename T>(T) {
      return double(op == Op::Min ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest());
    };
    if (type == Type::Int) return farthest(std::int32_t());
    if (type == Type::Index) return farthest(std::int64_t());
    return op == Op::Min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  }

  int count_ = 0;
};

// Where terms of a sum are under conditions, the conditions become part of the terms.
void move_conditions(Pipeline& pipeline) {
  Pipeline moved = pipeline;
  ConditionalTerms terms;
  rewrite(moved,
          [&](Graph& graph, const Node& old, std::array<NodeId, 3> args) { return terms.rewritten(graph, old, args); });
  if (terms.count() > kMostWrittenOut) pipeline = std::move(moved);
}

}  // namespace

Pipeline with_element_loops(Pipeline pipeline, Math math) {
  if (!may_have_loops(pipeline)) return pipeline;
  Pipeline result = pipeline;
  run_on_own_stack(kDeepStack, [&] {
    fold(result);
    move_conditions(result);
    LoopFinder(result, math).run();
  });
  return has_element_loops(result) ? result : pipeline;
}

}  // namespace nbcc
