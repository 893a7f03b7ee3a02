// Pipeline and Plan -> the statements of nbcc_finish. One door: cpu_finish(). Scalar statements in double precision: a
// few operations per particle, where accuracy costs nothing.
#include "compiler/emit/cpu/cpu_finish.h"

#include <fmt/core.h>

#include <array>
#include <vector>

#include "compiler/emit/whole_number.h"

namespace nbcc {
namespace {

class CpuFinish {
 public:
  CpuFinish(const Pipeline& pipeline, const Plan& plan, CpuExpressions& expressions)
      : pipeline_(pipeline), plan_(plan), expressions_(expressions) {}

  std::string text() {
    std::string text = scalar_statements(pipeline_.pair, plan_.scales, "s");
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k)
      if (const NodeId scale = pipeline_.contributions[k].scale; scale != kNone)
        text += fmt::format("a->acc[{0}][i] = scaled(a->acc[{0}][i], s{1});\n", k, scale);
    if (pipeline_.finished.empty()) return text;
    text += scalar_statements(pipeline_.finish, plan_.finish, "f");
    for (std::size_t k = 0; k < pipeline_.finished.size(); ++k)
      if (!is_untouched(pipeline_, k))
        text += fmt::format("{} = ({})f{};\n", result(k), in_64_bits(k) ? "index" : "double", pipeline_.finished[k]);
    return text;
  }

 private:
  Reduction reduction(std::size_t k) const { return pipeline_.field_of(Role::Output, int(k)).reduction; }
  bool is_sum(std::size_t k) const { return reduction(k) == Reduction::Sum; }
  bool is_index(std::size_t k) const { return keeps_index(reduction(k)); }
  bool in_64_bits(std::size_t k) const { return !is_index(k) && is_whole_extreme(pipeline_, k); }
  std::string result(std::size_t k) const {
    if (is_index(k)) return fmt::format("a->arg[{}][i]", k);
    return in_64_bits(k) ? fmt::format("((index*)a->acc[{}])[i]", k) : fmt::format("a->acc[{}][i]", k);
  }

  std::string i_value(int component) const {
    const auto read = [&](int column) {
      return fmt::format("((const {}*)a->i[{}])[i]", c_element(plan_.i.columns[std::size_t(column)].element), column);
    };
    std::string value = read(plan_.i.whole.at(component));
    if (const auto low = plan_.i.low.find(component); low != plan_.i.low.end())
      value = fmt::format("(double){} + {}", value, read(low->second));
    return value;
  }

  std::string scalar_statements(const Graph& graph, const std::vector<NodeId>& nodes, const char* prefix) {
    std::string text;
    for (NodeId id : nodes) {
      const Node& n = graph[id];
      const std::string type = n.type == Type::Real ? "double" : cpu_type(n.type, false);
      std::string value;
      switch (n.op) {
        case Op::Const:
          value = n.type == Type::Bool ? (graph.constant_value(id) != 0 ? "true" : "false")
                                       : cpu_literal(graph.constant_value(id), n.type);
          break;
        case Op::Param:
          value = fmt::format("a->param[{}]", n.payload);
          break;
        case Op::InputI:
          value = i_value(int(n.payload));
          break;
        case Op::IIndex:
          value = "i + a->i_offset";
          break;
        case Op::Output:
          value = result(std::size_t(n.payload));
          if (n.type == Type::Index && is_sum(std::size_t(n.payload))) value = fmt::format("whole({})", value);
          break;
        default: {
          std::array<std::string, 3> args;
          for (int k = 0; k < arity(n.op); ++k)
            args[std::size_t(k)] = fmt::format("{}{}", prefix, n.args[std::size_t(k)]);
          Node wide = n;
          if (wide.type == Type::Real) wide.type = Type::Double;
          value = expressions_.operation(graph, wide, args, false);
        }
      }
      text += fmt::format("const {0} {1}{2} = ({0})({3});\n", type, prefix, id, value);
    }
    return text;
  }

  const Pipeline& pipeline_;
  const Plan& plan_;
  CpuExpressions& expressions_;
};

}  // namespace

const char* c_element(Element e) {
  switch (e) {
    case Element::Float:
      return "float";
    case Element::Double:
      return "double";
    case Element::Int32:
      return "int";
    case Element::Int64:
      return "index";
  }
  return "";
}

std::string cpu_finish(const Pipeline& pipeline, const Plan& plan, CpuExpressions& expressions) {
  return CpuFinish(pipeline, plan, expressions).text();
}

}  // namespace nbcc
