// Entry point: with_element_loops(). Each old node gets a form, its computation for element k, if it reads elements k
// of arrays and no other elements. Forms are interned as nodes are, so that terms which differ in k alone have one
// form. A chain of sums is then a loop where the forms of its terms are one and their k count up.
#include "compiler/passes/optimize/element_loops.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"
#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

using FormId = std::int32_t;

// An argument of a form: another form at the same element, or an old node that reads no element.
struct FormArgument {
  FormId form = kNone;
  NodeId node = kNone;
  auto operator<=>(const FormArgument&) const = default;
};

struct Form {
  Op op = Op::Const;
  Type type = Type::Real;
  std::int64_t payload = 0;
  std::array<FormArgument, 3> args{};
  auto operator<=>(const Form&) const = default;
};

// The form of an old node and its element.
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
  std::vector<ChainTerm> terms;  // in order
  std::vector<Run> runs;
};

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
    std::optional<std::int64_t> element;
    std::array<FormArgument, 3> args{};
    for (std::size_t k = 0; k < std::size_t(arity(n.op)); ++k) {
      const AtElement& at = at_[std::size_t(n.args[k])];
      if (!at.exists()) {
        args[k] = {kNone, n.args[k]};
        continue;
      }
      if (element && *element != at.element) return {};
      element = at.element;
      args[k] = {at.form, kNone};
    }
    if (!element) return {};
    if (facts(n.op).commutes && args[1] < args[0]) std::swap(args[0], args[1]);
    return {intern({n.op, n.type, n.payload, args}, id), *element};
  }

  // An element of a long array of numbers.
  AtElement element_of(const Node& n) {
    const Field& field = *fields_[std::size_t(*facts(n.op).role)].at(std::size_t(n.payload));
    if (field.length <= kMostWrittenOut || field.width > 1 || field.type == Type::Bool) return {};
    const Op op = n.op == Op::InputI ? Op::ElementOfI : n.op == Op::InputJ ? Op::ElementOfJ : Op::ElementOfParam;
    return {intern({op, n.type, field.first, {}}, kNone), n.payload - field.first};
  }

  FormId intern(const Form& form, NodeId first) {
    const auto [found, is_new] = form_ids_.try_emplace(form, FormId(forms_.size()));
    if (!is_new) return found->second;
    forms_.push_back(form);
    where_.push_back(first == kNone ? Location{} : old(first).where);
    bool reads_pair = false;
    for (const FormArgument& arg : form.args) {
      if (arg.form != kNone) reads_pair = reads_pair || reads_pair_[std::size_t(arg.form)];
      if (arg.node == kNone) continue;
      const Node& n = old(arg.node);
      const bool is_uniform = n.binding == Binding::Constant || n.binding == Binding::Param;
      reads_pair = reads_pair || n.binding == Binding::Pair || (n.type == Type::Bool && !is_uniform);
    }
    reads_pair_.push_back(reads_pair);
    return found->second;
  }

  // ---- arrays of outputs

  // Components [first, first + count) of the outputs, with one guard. Component k of an array has element k.
  struct Results {
    int first = 0, count = 0;
    FormId form = kNone;
    bool holds(std::size_t c) const { return int(c) >= first && int(c) < first + count; }
  };

  void find_arrays() {
    for (const Field& field : pipeline_.fields) {
      const bool is_array = field.role == Role::Output && field.length > kMostWrittenOut && field.width == 1 &&
                            (field.kind == FieldKind::Particle || field.kind == FieldKind::Total);
      if (!is_array || field.reduction != Reduction::Sum) continue;
      const int end = field.first + field.components();
      for (int begin = field.first, next = begin; begin < end; begin = next) {
        next = begin + 1;
        if (!is_element_of(field, begin)) continue;
        while (next < end && is_element_of(field, next) && continues(begin, next)) ++next;
        if (next - begin > kMostWrittenOut) arrays_.push_back({begin, next - begin, value_of(begin).form});
      }
    }
  }
  const AtElement& value_of(int output) const {
    return at_[std::size_t(pipeline_.contributions[std::size_t(output)].value)];
  }
  bool is_element_of(const Field& field, int output) const {
    const Contribution& one = pipeline_.contributions[std::size_t(output)];
    return value_of(output).exists() && value_of(output).element == output - field.first && one.scale == kNone &&
           is_floating(old(one.value).type);
  }
  bool continues(int first, int next) const {
    return value_of(next).form == value_of(first).form &&
           pipeline_.contributions[std::size_t(next)].guard == pipeline_.contributions[std::size_t(first)].guard;
  }

  // ---- chains of sums, minima and maxima

  bool is_chain(NodeId id) const {
    const Op op = old(id).op;
    return (op == Op::Add || op == Op::Sub || op == Op::Min || op == Op::Max) && is_floating(old(id).type);
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
      const bool keeps_order = math_ == Math::Fast || begin == 0;
      if (first.exists() && count > kMostWrittenOut && !reads_pair_[std::size_t(first.form)] && keeps_order)
        chain.runs.push_back({begin, end, first.form, {first.element, count}});
      begin = end;
    }
  }

  // ---- the new graph

  void build() {
    mark_needed();
    new_form_.assign(forms_.size(), kNone);
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id) {
      if (!needed_[std::size_t(id)]) continue;
      const auto chain = chains_.find(id);
      new_id_[std::size_t(id)] = chain == chains_.end() ? copy_node(new_, old(id), new_id_) : remake(id, chain->second);
    }
    rename_roots(pipeline_, new_id_);
    for (const Results& array : arrays_)
      for (int c = array.first; c < array.first + array.count; ++c)
        pipeline_.contributions[std::size_t(c)].value = node_of(array.form);
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
      for (const NodeId root : {in_array ? kNone : one.value, one.guard, one.scale, one.logit}) need(root);
    }
    need(pipeline_.within);
    for (const Results& array : arrays_) need_form(array.form);
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
      if (arg.node != kNone) needed_[std::size_t(arg.node)] = true;
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
      append(new_.make(loop, root.type, {node_of(run.form), kNone, kNone}, root.where, loop_payload(run.elements)),
             chain.terms[run.begin].negative);
      next = run.end;
    }
    append_to(chain.terms.size());
    return result;
  }

  NodeId node_of(FormId id) {
    NodeId& known = new_form_[std::size_t(id)];
    if (known != kNone) return known;
    const Form& form = forms_[std::size_t(id)];
    if (is_element(form.op)) return known = new_.leaf(form.op, form.payload, form.type);
    std::array<NodeId, 3> args{kNone, kNone, kNone};
    for (std::size_t k = 0; k < std::size_t(arity(form.op)); ++k)
      args[k] = form.args[k].form != kNone ? node_of(form.args[k].form) : new_id_[std::size_t(form.args[k].node)];
    return new_form_[std::size_t(id)] = new_.make(form.op, form.type, args, where_[std::size_t(id)], form.payload);
  }

  Pipeline& pipeline_;
  const Math math_;
  const Graph& old_;
  const std::vector<int> uses_;
  std::array<std::vector<const Field*>, kRoles> fields_;  // [role][component]
  std::vector<Form> forms_;
  std::map<Form, FormId> form_ids_;
  std::vector<Location> where_;     // [form]
  std::vector<bool> reads_pair_;    // [form] it reads a value of the pair, or a condition, that is no element
  std::vector<AtElement> at_;       // [old node]
  std::vector<int> length_;         // [old node] sums of its chain
  std::vector<bool> in_chain_;      // [old node] it is a sum of a long chain
  std::map<NodeId, Chain> chains_;  // last sum -> chain
  std::vector<Results> arrays_;
  std::vector<bool> needed_;  // [old node] it has a new node
  std::vector<char> form_is_needed_;
  std::vector<NodeId> new_id_, new_form_;
  Graph new_;
};

bool may_have_loops(const Pipeline& pipeline) {
  return pipeline.tables.empty() && pipeline.first_reaction == 0 && pipeline.components(Role::InputPair) == 0 &&
         std::ranges::any_of(pipeline.fields, [](const Field& field) {
           return field.length > kMostWrittenOut && field.role != Role::Output && field.width == 1;
         });
}

class Writer {
 public:
  explicit Writer(Pipeline& pipeline) : pipeline_(pipeline), old_(pipeline.pair), in_loop_(nodes_in_loops(old_)) {}

  void run() {
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (!in_loop_[std::size_t(id)]) new_id_[std::size_t(id)] = is_loop(old_[id].op) ? sum(id) : copy(id);
    std::vector<NodeId> values;
    const std::vector<const Field*> outputs = pipeline_.fields_of(Role::Output);
    for (std::size_t c = 0; c < outputs.size(); ++c)
      values.push_back(at(pipeline_.contributions[c].value, std::int64_t(c) - outputs[c]->first));
    rename_roots(pipeline_, new_id_);
    for (std::size_t c = 0; c < values.size(); ++c) pipeline_.contributions[c].value = values[c];
    pipeline_.pair = std::move(new_);
  }

 private:
  NodeId copy(NodeId id) { return copy_node(new_, old_[id], new_id_); }

  NodeId sum(NodeId id) {
    const Node& loop = old_[id];
    const Op op = loop.op == Op::SumOfElements ? Op::Add : loop.op == Op::MinOfElements ? Op::Min : Op::Max;
    const auto [first, count] = elements_of(loop.payload);
    NodeId result = at(loop.args[0], first);
    for (std::int64_t k = first + 1; k < first + count; ++k)
      result = new_.make(op, loop.type, {result, at(loop.args[0], k), kNone}, loop.where);
    return result;
  }

  // The value for element k of a node in a loop, or the value of any other node.
  NodeId at(NodeId id, std::int64_t k) {
    if (!in_loop_[std::size_t(id)]) return new_id_[std::size_t(id)];
    if (const auto known = at_.find({id, k}); known != at_.end()) return known->second;
    const Node& n = old_[id];
    NodeId made = kNone;
    if (is_element(n.op)) {
      const Op leaf = n.op == Op::ElementOfI ? Op::InputI : n.op == Op::ElementOfJ ? Op::InputJ : Op::Param;
      made = new_.leaf(leaf, n.payload + k, n.type, n.where);
    } else {
      std::array<NodeId, 3> args{kNone, kNone, kNone};
      for (std::size_t a = 0; a < std::size_t(arity(n.op)); ++a) args[a] = at(n.args[a], k);
      made = copy_node(new_, n, args);
    }
    return at_[{id, k}] = made;
  }

  Pipeline& pipeline_;
  const Graph& old_;
  const std::vector<bool> in_loop_;
  std::vector<NodeId> new_id_;
  std::map<std::pair<NodeId, std::int64_t>, NodeId> at_;
  Graph new_;
};

}  // namespace

Pipeline written_out(Pipeline pipeline) {
  if (has_element_loops(pipeline)) run_on_own_stack(kDeepStack, [&] { Writer(pipeline).run(); });
  return pipeline;
}

Pipeline with_element_loops(Pipeline pipeline, Math math) {
  if (!may_have_loops(pipeline)) return pipeline;
  Pipeline result = pipeline;
  run_on_own_stack(kDeepStack, [&] {
    fold(result);
    LoopFinder(result, math).run();
  });
  return has_element_loops(result) ? result : pipeline;
}

std::vector<bool> nodes_in_loops(const Graph& graph) {
  std::vector<bool> in_loop(std::size_t(graph.size()), false);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph[id];
    if (is_element(n.op)) in_loop[std::size_t(id)] = true;
    for (int k = 0; k < arity(n.op) && !is_loop(n.op); ++k)
      if (in_loop[std::size_t(n.args[std::size_t(k)])]) in_loop[std::size_t(id)] = true;
  }
  return in_loop;
}

std::vector<NodeId> nodes_of_loop(const Graph& graph, const std::vector<bool>& in_loop, NodeId term) {
  std::set<NodeId> found;
  std::vector<NodeId> open{term};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!in_loop[std::size_t(id)] || !found.insert(id).second) continue;
    for (const NodeId arg : graph[id].args)
      if (arg != kNone) open.push_back(arg);
  }
  return {found.begin(), found.end()};
}

std::vector<NodeId> read_by_loop(const Graph& graph, const std::vector<bool>& in_loop, NodeId term) {
  std::set<NodeId> found;
  for (const NodeId id : nodes_of_loop(graph, in_loop, term))
    for (const NodeId arg : graph[id].args)
      if (arg != kNone && !in_loop[std::size_t(arg)]) found.insert(arg);
  return {found.begin(), found.end()};
}

bool has_element_loops(const Pipeline& pipeline) {
  for (NodeId id = 0; id < pipeline.pair.size(); ++id)
    if (is_element(pipeline.pair[id].op)) return true;
  return false;
}

}  // namespace nbcc
