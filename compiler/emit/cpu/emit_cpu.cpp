// Optimized pipeline -> CPU kernel text. Doors: emit_cpu(), cpu_target(). The text's frame is
// templates/cpu_kernel.cpp.in; here its holes are filled. Statements of the i-particles of one pass are written breadth
// first (t7_0, t7_1, then t8_0, t8_1): independent work stands side by side, and the compiler keeps it so.
#include "compiler/emit/cpu/emit_cpu.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "compiler/emit/cpu/cpu_expression.h"
#include "compiler/emit/cpu/cpu_finish.h"
#include "compiler/emit/describe.h"
#include "compiler/emit/plan.h"
#include "compiler/emit/whole_number.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

// 128 terms per lane: their rounding errors in working precision stay near one unit, and the step to double costs
// one or two operations in a hundred.
constexpr int kTermsPerTile = 128;

// Of a pair: several times what the largest pipeline of the library has.
constexpr std::size_t kManyOperations = 500;

std::string param_text(const Node& node, bool vector) {
  if (node.type == Type::Bool && vector) return fmt::format("(vmask)(a->param[{}] != 0 ? -1 : 0)", node.payload);
  return fmt::format("({})(a->param[{}])", cpu_type(node.type, vector), node.payload);
}

class Emitter {
 public:
  Emitter(Pipeline& pipeline, const Options& options, Isa isa)
      : pipeline_(pipeline),
        graph_(pipeline.pair),
        options_(options),
        isa_(isa),
        vectors_{isa, options.precision},
        expressions_(vectors_),
        plan_(make_plan(pipeline, options)) {
    block_ = choose_block();
    if (plan_.any_guard != kNone) return;
    const std::vector<bool> apart = sets_pairs_apart(graph_);
    for (const Contribution& c : pipeline_.contributions)
      if (c.guard != kNone && apart[std::size_t(c.guard)]) rare_guards_.insert(c.guard);
  }

  KernelSource run() {
    std::map<std::string, std::string> holes;
    holes["title"] = fmt::format("{}: {}, {} precision, {} math", pipeline_.name, name(isa_), name(options_.precision),
                                 name(options_.math));
    holes["lanes"] = std::to_string(vectors_.lanes());
    holes["tile"] = std::to_string(tile());
    holes["i_block"] = std::to_string(block_);
    holes["types"] = types();
    holes["prepare_uniform_i"] = prepare_uniform(plan_.i);
    holes["prepare_i"] = prepare(plan_.i, "i");
    holes["prepare_uniform_j"] = prepare_uniform(plan_.j);
    holes["prepare_j"] = prepare(plan_.j, "j");
    holes["uniform"] = uniform(plan_.uniform);
    holes["load_i"] = load_i();
    holes["clear"] = clear();
    holes["pair"] = pair();
    holes["flush"] = flush();
    holes["finish"] = cpu_finish(pipeline_, plan_, expressions_);
    holes["whole_numbers"] = whole_numbers();
    holes["functions"] = expressions_.functions();  // last: it knows by now which are used
    return describe(fill_template("cpu_kernel.cpp", holes));
  }

 private:
  int tile() const { return kTermsPerTile * vectors_.lanes(); }

  // Several i-particles share the loads of j, where the registers hold the values of all; with sixteen registers they
  // do not even for gravity, and one i at a time, whose iterations overlap all the same, is faster by a fifth.
  int choose_block() const {
    int per_i = 0;
    for (NodeId id : plan_.pair) per_i += graph_[id].op == Op::InputI || plan_.i.derived.count(id);
    per_i += int(plan_.i.low.size() + pipeline_.contributions.size());
    // No register holds what so many operations leave, and Clang's time grows with the square of their number.
    if (plan_.pair.size() > kManyOperations) return 1;
    const bool many_registers = isa_ == Isa::Avx512 || isa_ == Isa::Neon;
    // What is seldom reached behind a cutoff needs no registers; four would pass over too few.
    if (plan_.any_guard != kNone) return 2;
    if (!many_registers) return 1;
    return per_i * 4 <= 24 ? 4 : per_i * 2 <= 28 ? 2 : 1;
  }

  // Statements that join the upper half of a vector to the lower until two lanes, s2, are left.
  std::string halve(const char* join) const {
    std::string text;
    for (int n = vectors_.lanes() / 2; n >= 2; n /= 2) {
      std::string low, high;
      for (int k = 0; k < n; ++k) low += fmt::format(", {}", k), high += fmt::format(", {}", k + n);
      const auto half = [&](const std::string& lanes) {
        return fmt::format("__builtin_shufflevector(s{0}, s{0}{1})", 2 * n, lanes);
      };
      text += fmt::format("const auto s{} = {};\n", n, fmt::format(fmt::runtime(join), half(low), half(high)));
    }
    return text;
  }

  // Functions for whole numbers, where there are any.
  std::string whole_numbers() const {
    bool any = false;
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) any = any || is_whole(k);
    for (NodeId id : plan_.finish) {
      const Node& n = pipeline_.finish[id];
      any = any || (n.op == Op::Output && n.type == Type::Index && reduction(std::size_t(n.payload)) == Reduction::Sum);
    }
    return any ? fill_template("cpu_whole_numbers.h", {{"lanes", std::to_string(vectors_.lanes())}}) : "";
  }

  std::string types() const {
    std::string numbers;
    for (int k = 0; k < vectors_.lanes(); ++k) numbers += fmt::format("{}{}", k ? ", " : "", k);
    return fill_template("cpu_types.h", {{"real", vectors_.real()},
                                         {"halve_total", halve("{} + {}")},
                                         {"halve_smallest", halve("minimum({}, {})")},
                                         {"halve_largest", halve("maximum({}, {})")},
                                         {"mask", options_.precision == Precision::Double ? "vindex" : "vint"},
                                         {"lanes", std::to_string(vectors_.lanes())},
                                         {"lane_numbers", numbers},
                                         {"isa", fill_template(fmt::format("cpu_{}.h", name(isa_)), {})}});
  }

  // ---- node names and statements -------------------------------------------------------------------------------

  bool per_i(NodeId id) const { return graph_[id].binding == Binding::I || graph_[id].binding == Binding::Pair; }
  std::string node_name(NodeId id, int r) const {
    return per_i(id) ? fmt::format("t{}_{}", id, r) : fmt::format("t{}", id);
  }

  std::string node_expression(NodeId id, int r) {
    const Node& n = graph_[id];
    if (n.op == Op::Const)
      return fmt::format("({})({})", cpu_type(n.type, true), cpu_literal(graph_.constant_value(id), n.type));
    if (n.op == Op::Param) return param_text(n, true);
    if (is_self_test(graph_, n)) return fmt::format("to_mask(lane_numbers == (vint)(self_{}))", r);
    if (plan_.shifted.count(id)) return fmt::format("{0}s + {0}e", node_name(id, r));
    if (const auto shift = plan_.image_shifts.find(id); shift != plan_.image_shifts.end()) {
      const auto& [difference, whole, length, added] = shift->second;
      const std::string d = node_name(difference, r), n = (added ? "" : "-") + node_name(whole, r);
      return fmt::format("fused({0}, {1}, {2}s) + fused({0}, {1}l, {2}e)", n, node_name(length, r), d);
    }
    if (plan_.two_float.count(id)) {
      const auto part = [&](const char* suffix, int k) { return node_name(n.args[std::size_t(k)], r) + suffix; };
      return fmt::format("({} - {}) + ({} - {})", part("", 0), part("", 1), part("l", 0), part("l", 1));
    }
    std::array<std::string, 3> args;
    for (int k = 0; k < arity(n.op); ++k) args[std::size_t(k)] = node_name(n.args[std::size_t(k)], r);
    return expressions_.operation(graph_, n, args, true);
  }

  std::string uniform(const std::vector<NodeId>& nodes) {
    std::string text;
    for (NodeId id : nodes)
      text += fmt::format("const {} t{} = {};\n", cpu_type(graph_[id].type, true), id, node_expression(id, 0)) +
              low_part_of_length(id);
    return text;
  }

  // What a length that images are shifted by lacks in working precision, if it is a param or a constant.
  std::string low_part_of_length(NodeId id) const {
    if (!plan_.shift_lengths.count(id)) return "";
    const Node& n = graph_[id];
    const Node& bare = n.op == Op::Neg ? graph_[n.args[0]] : n;
    std::string whole = "0.0";
    if (bare.op == Op::Param) whole = fmt::format("a->param[{}]", bare.payload);
    if (bare.op == Op::Const) whole = cpu_literal(std::bit_cast<double>(bare.payload), Type::Double);
    return fmt::format("const vreal t{0}l = (vreal)({1}(real)({2} - (double)(real)({2})));\n", id,
                       n.op == Op::Neg ? "-" : "", whole);
  }

  // ---- prepare ------------------------------------------------------------------------------------------------

  std::string prepare_uniform(const SidePlan& side) {
    std::vector<NodeId> nodes;
    std::copy_if(side.prepare.begin(), side.prepare.end(), std::back_inserter(nodes),
                 [&](NodeId id) { return is_uniform(graph_[id].binding); });
    return uniform(nodes);
  }

  std::string load(const char* side, int column, const std::vector<Column>& columns, const std::string& at) const {
    const char* element = c_element(columns[std::size_t(column)].element);
    return fmt::format("*(const v{}*)((const {}*)a->{}[{}] + {})", vector_name(columns[std::size_t(column)].element),
                       element, side, column, at);
  }
  static const char* vector_name(Element e) {
    return e == Element::Float ? "float" : e == Element::Double ? "double" : e == Element::Int32 ? "int" : "index";
  }

  std::string loaded(const char* side, const SidePlan& plan, int column, Type type, const std::string& at) const {
    const std::string value = load(side, column, plan.columns, at);
    return type == Type::Bool ? fmt::format("to_mask({} != 0)", value) : value;
  }

  std::string prepare(const SidePlan& side, const char* which) {
    std::string text;
    for (NodeId id : side.prepare) {
      const Node& n = graph_[id];
      if (is_uniform(n.binding)) continue;
      std::string value;
      if (n.op == Op::InputI || n.op == Op::InputJ)
        value = loaded(which, side, side.whole.at(int(n.payload)), n.type, which);
      else if (n.op == Op::IIndex || n.op == Op::JIndex)
        value = index_vector(which);
      else
        value = node_expression(id, 0);
      text += fmt::format("const {} {} = {};\n", cpu_type(n.type, true), node_name(id, 0), value);
    }
    for (const auto& [id, column] : side.derived) {
      const Column& c = side.columns[std::size_t(column)];
      text += fmt::format("*(v{}*)(({}*)a->{}[{}] + {}) = {};\n", vector_name(c.element), c_element(c.element), which,
                          column, which, node_name(id, 0));
    }
    return text;
  }

  static std::string index_vector(const std::string& side) {
    return fmt::format("__builtin_convertvector(lane_numbers, vindex) + (vindex)({0} + a->{0}_offset)", side);
  }

  // ---- interact ------------------------------------------------------------------------------------------------

  bool has_self_test() const {
    return std::any_of(plan_.pair.begin(), plan_.pair.end(),
                       [&](NodeId id) { return is_self_test(graph_, graph_[id]); });
  }
  bool guard_tests_self() const {
    return std::any_of(plan_.before_guard.begin(), plan_.before_guard.end(),
                       [&](NodeId id) { return is_self_test(graph_, graph_[id]); });
  }
  // Whether anything but a self test uses the leaf.
  bool index_needed(Op leaf) const {
    for (NodeId id : plan_.pair) {
      const Node& n = graph_[id];
      if (is_self_test(graph_, n) || plan_.i.derived.count(id) || plan_.j.derived.count(id)) continue;
      for (NodeId arg : n.args)
        if (arg != kNone && graph_[arg].op == leaf) return true;
    }
    for (const Contribution& c : pipeline_.contributions)
      if (graph_[c.value].op == leaf) return true;
    return false;
  }

  std::string load_i() {
    std::string text;
    for (int r = 1; r < block_; ++r)
      text += fmt::format("const index i_{0} = i + {0} < i_end ? i + {0} : i_end - 1;\n", r);
    const auto position = [](int r) { return r == 0 ? std::string("i") : fmt::format("i_{}", r); };
    for (NodeId id : plan_.pair) {
      const Node& n = graph_[id];
      for (int r = 0; r < block_; ++r) {
        const auto value = [&](int column) {
          const Element e = plan_.i.columns[std::size_t(column)].element;
          const std::string scalar = fmt::format("((const {}*)a->i[{}])[{}]", c_element(e), column, position(r));
          return n.type == Type::Bool ? fmt::format("to_mask((vint)({}) != 0)", scalar)
                                      : fmt::format("({})({})", cpu_type(n.type, true), scalar);
        };
        const std::string type = cpu_type(n.type, true), id_name = node_name(id, r);
        if (const auto derived = plan_.i.derived.find(id); derived != plan_.i.derived.end()) {
          text += fmt::format("const {} {} = {};\n", type, id_name, value(derived->second));
        } else if (n.op == Op::InputI) {
          text += fmt::format("const {} {} = {};\n", type, id_name, value(plan_.i.whole.at(int(n.payload))));
          if (const auto low = plan_.i.low.find(int(n.payload)); low != plan_.i.low.end())
            text += fmt::format("const {} {}l = {};\n", type, id_name, value(low->second));
        } else if (n.op == Op::IIndex && index_needed(Op::IIndex)) {
          text += fmt::format("const vindex {} = (vindex)({} + a->i_offset);\n", id_name, position(r));
        }
      }
    }
    return text;
  }

  Reduction reduction(std::size_t output) const { return outputs_[output]->reduction; }
  bool is_whole(std::size_t output) const { return is_whole_extreme(pipeline_, output); }
  std::string sum_name(std::size_t k, int r) const { return fmt::format("sum{}_{}", k, r); }

  std::string clear() {
    std::string text;
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k)
      for (int r = 0; r < block_; ++r) {
        const std::string type = cpu_type(graph_[pipeline_.contributions[k].value].type, true);
        const std::string identity = reduction(k) == Reduction::Sum ? "0"
                                     : is_whole(k)                  ? no_candidate(reduction(k))
                                     : is_minimum(reduction(k))     ? "__builtin_inf()"
                                                                    : "-__builtin_inf()";
        text += fmt::format("{0} {1} = ({0})({2});\n", type, sum_name(k, r), identity);
        if (keeps_index(reduction(k))) text += fmt::format("vint arg{}_{} = (vint)(-1);\n", k, r);
      }
    return text;
  }

  // The lane that holds i itself, or none. Unsigned, so that one comparison serves both ends.
  std::string find_self() const {
    std::string text;
    for (int r = 0; r < block_ && has_self_test(); ++r) {
      const std::string i = r == 0 ? "i" : fmt::format("i_{}", r);
      text += fmt::format(
          "const index lane_{0} = {1} + a->i_offset - (j + a->j_offset);\nconst int self_{0} = (unsigned long "
          "long)lane_{0} < {2} ? (int)lane_{0} : -1;\n",
          r, i, vectors_.lanes());
    }
    return text;
  }

  std::string pair() {
    std::string text;
    const bool self_first = plan_.any_guard == kNone || guard_tests_self();
    if (self_first) text += find_self();
    for (NodeId id : plan_.pair)
      if (plan_.any_guard == kNone || plan_.before_guard.count(id)) text += pair_statement(id);
    if (plan_.any_guard != kNone) {
      // No pair of these passes the cutoff: the rest need not be computed.
      std::string any;
      for (int r = 0; r < block_; ++r) any += fmt::format("{}{}", r ? " | " : "", node_name(plan_.any_guard, r));
      text += fmt::format("if (!any({})) return;\n", any);
      if (!self_first) text += find_self();
      for (NodeId id : plan_.pair)
        if (!plan_.before_guard.count(id)) text += pair_statement(id);
    }
    return text + accumulate_all();
  }

  // Where guards set single pairs apart, nearly all vectors are without one: these add their terms unconditionally.
  std::string accumulate_all() const {
    std::string counted = "live";
    for (const NodeId guard : rare_guards_)
      for (int r = 0; r < (per_i(guard) ? block_ : 1); ++r) counted += " & " + node_name(guard, r);
    const auto all = [this](bool every_pair_counts) {
      std::string text;
      for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k)
        for (int r = 0; r < block_; ++r) text += accumulate(k, r, every_pair_counts);
      return text;
    };
    if (rare_guards_.empty()) return all(false);
    return fmt::format("if (__builtin_expect(all({}), true)) {{\n{}}} else {{\n{}}}\n", counted, all(true), all(false));
  }

  std::string pair_statement(NodeId id) {
    const Node& n = graph_[id];
    const std::string type = cpu_type(n.type, true);
    if (n.op == Op::InputI || n.op == Op::IIndex || plan_.i.derived.count(id)) return "";
    if (const auto derived = plan_.j.derived.find(id); derived != plan_.j.derived.end())
      return fmt::format("const {} {} = {};\n", type, node_name(id, 0),
                         loaded("j", plan_.j, derived->second, n.type, "j"));
    if (n.op == Op::InputJ) {
      std::string text = fmt::format("const {} {} = {};\n", type, node_name(id, 0),
                                     loaded("j", plan_.j, plan_.j.whole.at(int(n.payload)), n.type, "j"));
      if (const auto low = plan_.j.low.find(int(n.payload)); low != plan_.j.low.end())
        text +=
            fmt::format("const {} {}l = {};\n", type, node_name(id, 0), load("j", low->second, plan_.j.columns, "j"));
      return text;
    }
    if (n.op == Op::JIndex)
      return index_needed(Op::JIndex) ? fmt::format("const vindex {} = {};\n", node_name(id, 0), index_vector("j"))
                                      : "";
    std::string text;
    for (int r = 0; r < (per_i(id) ? block_ : 1); ++r) {
      if (plan_.shifted.count(id))
        text += fmt::format("const vreal {0}s = {1} - {2}, {0}e = lost({1}, {2}, {0}s) + ({1}l - {2}l);\n",
                            node_name(id, r), node_name(n.args[0], r), node_name(n.args[1], r));
      text += fmt::format("const {} {} = {};\n", type, node_name(id, r), node_expression(id, r));
    }
    return text;
  }

  // A product is fused into the sum; the compiler drops the product itself where nothing else needs it.
  std::string accumulate(std::size_t k, int r, bool every_pair_counts) const {
    const Contribution& c = pipeline_.contributions[k];
    const std::string sum = sum_name(k, r), value = node_name(c.value, r);
    const bool guarded = c.guard != kNone && !(every_pair_counts && rare_guards_.count(c.guard));
    const std::string pairs = every_pair_counts ? "all_lanes" : "live";
    const std::string guard = guarded ? fmt::format("{} & {}", pairs, node_name(c.guard, r)) : pairs;
    if (reduction(k) == Reduction::Sum) {
      const Node& n = graph_[c.value];
      const bool fuse = options_.math == Math::Fast && n.op == Op::Mul && n.binding == Binding::Pair;
      const std::string next =
          fuse ? fmt::format("fused({}, {}, {})", node_name(n.args[0], r), node_name(n.args[1], r), sum)
               : fmt::format("{} + {}", sum, value);
      return fmt::format("{0} = choose({1}, {2}, {0});\n", sum, guard, next);
    }
    if (is_whole(k)) return accumulate_whole(k, r, guard);
    // A NaN in the sum stays; a NaN in the value comes through the _of_number form, which is one instruction.
    if (!keeps_index(reduction(k)))
      return fmt::format("{0} = choose({1} & to_mask({0} == {0}), {2}_of_number({0}, {3}), {0});\n", sum, guard,
                         is_minimum(reduction(k)) ? "minimum" : "maximum", value);
    // Strictly better only: of equal values the lane keeps its first.
    std::string text = fmt::format("const vmask better{0}_{1} = {2} & to_mask({3} {4} {5});\n", k, r, guard, value,
                                   is_minimum(reduction(k)) ? "<" : ">", sum);
    text += fmt::format("{0} = choose(better{1}_{2}, {3}, {0});\n", sum, k, r, value);
    text +=
        fmt::format("arg{0}_{1} = choose(better{0}_{1}, lane_numbers + (vint)((int)(j - tile)), arg{0}_{1});\n", k, r);
    return text;
  }

  // No whole number is worse than all: the first candidate of an arg is taken whatever it is.
  std::string accumulate_whole(std::size_t k, int r, const std::string& guard) const {
    const std::string sum = sum_name(k, r), value = node_name(pipeline_.contributions[k].value, r);
    const char* const sign = is_minimum(reduction(k)) ? "<" : ">";
    if (!keeps_index(reduction(k)))
      return fmt::format("{0} = choose({1} & to_mask({2} {3} {0}), {2}, {0});\n", sum, guard, value, sign);
    return fmt::format(
        "const vmask better{0}_{1} = {2} & (to_mask({3} {4} {5}) | to_mask(arg{0}_{1} < 0));\n"
        "{5} = choose(better{0}_{1}, {3}, {5});\n"
        "arg{0}_{1} = choose(better{0}_{1}, lane_numbers + (vint)((int)(j - tile)), arg{0}_{1});\n",
        k, r, guard, value, sign, sum);
  }

  std::string flush() {
    std::string text;
    for (int r = 0; r < block_; ++r) {
      std::string one;
      const std::string i = r == 0 ? "i" : fmt::format("i_{}", r);
      for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) {
        const std::string sum = sum_name(k, r);
        if (reduction(k) == Reduction::Sum) {
          one += fmt::format("a->acc[{}][{}] += total({});\n", k, i, sum);
        } else if (is_whole(k) && !keeps_index(reduction(k))) {
          one += fmt::format("keep_{}((index*)a->acc[{}] + {}, {});\n",
                             is_minimum(reduction(k)) ? "smallest" : "largest", k, i, sum);
        } else if (!keeps_index(reduction(k))) {
          const bool least = is_minimum(reduction(k));
          one += fmt::format("a->acc[{0}][{1}] = {2}(a->acc[{0}][{1}], {3}({4}));\n", k, i,
                             least ? "minimum" : "maximum", least ? "smallest" : "largest", sum);
        } else {
          one += fmt::format(
              "keep_best({5}a->acc[{0}] + {1}, a->arg[{0}] + {1}, {2}, arg{0}_{3}, tile + a->j_offset, {4});\n", k, i,
              sum, r, is_minimum(reduction(k)) ? "true" : "false", is_whole(k) ? "(index*)" : "");
        }
      }
      text += r == 0 ? one : fmt::format("if (i + {} < i_end) {{\n{}}}\n", r, one);
    }
    return text;
  }

  KernelSource describe(std::string text) const {
    KernelSource source = describe_kernel(pipeline_, plan_);
    source.text = std::move(text);
    source.target = fmt::format("cpu-{}", name(isa_));
    source.lanes = vectors_.lanes();
    source.tile = tile();
    source.i_block = block_;
    return source;
  }

  Pipeline& pipeline_;
  const Graph& graph_;
  const Options& options_;
  Isa isa_;
  CpuVectors vectors_;
  CpuExpressions expressions_;
  Plan plan_;
  std::vector<const Field*> outputs_ = pipeline_.fields_of(Role::Output);
  int block_ = 1;
  std::set<NodeId> rare_guards_;  // hold but for single pairs
};

}  // namespace

Target cpu_target(Isa isa) {
  switch (isa) {
    case Isa::Sse2:
      return {1.5 * 0x1p-12, 0, false};
    case Isa::Avx2:
      return {1.5 * 0x1p-12, 0, true};
    case Isa::Avx512:
      return {0x1p-14, 0x1p-14, true};
    case Isa::Neon:
      return {0, 0, true};
  }
  throw InternalError("no such instruction set");
}

KernelSource emit_cpu(Pipeline pipeline, const Options& options, Isa isa) {
  return Emitter(pipeline, options, isa).run();
}

}  // namespace nbcc
