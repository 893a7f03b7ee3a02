// Pipeline and Plan -> the holes of nbcc_reduce. One door: fill_reduction(). Scalar statements in double precision and
// with exact division: a few operations per particle, where accuracy costs nothing.
#include "compiler/cuda_reduction.h"

#include <fmt/core.h>

#include <array>
#include <vector>

#include "compiler/cuda_expression.h"

namespace nbcc {
namespace {

constexpr CudaScalars kScalars{true, true};

class ReductionText {
 public:
  ReductionText(const Pipeline& pipeline, const Plan& plan) : pipeline_(pipeline), plan_(plan) {}

  void fill(std::map<std::string, std::string>& holes) const {
    std::string &begin = holes["begin_results"], &join = holes["join"], &store = holes["store_results"];
    int slot = 0;
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) {
      const Reduction how = reduction(k);
      const char* start = how == Reduction::Sum ? "0.0" : is_minimum(how) ? "infinite()" : "-infinite()";
      begin += fmt::format("double acc{0} = a.first ? {1} : a.acc[{0}][i];\n", k, start);
      store += fmt::format("a.acc[{0}][i] = acc{0};\n", k);
      if (how == Reduction::Sum)
        join += fmt::format("acc{} += partial[{} * a.ni];\n", k, slot++);
      else if (!keeps_index(how))
        join += fmt::format("acc{0} = {1}(acc{0}, partial[{2} * a.ni]);\n", k, is_minimum(how) ? "minimum" : "maximum",
                            slot++);
      else {
        begin += fmt::format("double arg{0} = a.first ? -1.0 : a.arg[{0}][i];\n", k);
        store += fmt::format("a.arg[{0}][i] = arg{0};\n", k);
        join += fmt::format("keep_best(acc{0}, arg{0}, partial[{1} * a.ni], partial[{2} * a.ni], {3});\n", k, slot,
                            slot + 1, is_minimum(how) ? "true" : "false");
        slot += 2;
      }
    }
    holes["finish"] = finish();
  }

 private:
  Reduction reduction(std::size_t output) const { return pipeline_.field_of(Role::Output, int(output)).reduction; }
  std::string result_name(std::size_t k) const {
    return fmt::format("{}{}", keeps_index(reduction(k)) ? "arg" : "acc", k);
  }

  std::string i_value(int component) const {
    const std::string value = cuda_column("i", plan_.i.columns, plan_.i.whole.at(component));
    const auto low = plan_.i.low.find(component);
    return low == plan_.i.low.end()
               ? value
               : fmt::format("(double){} + (double){}", value, cuda_column("i", plan_.i.columns, low->second));
  }

  std::string scalar_statements(const Graph& graph, const std::vector<NodeId>& nodes, const char* prefix) const {
    std::string text;
    for (NodeId id : nodes) {
      const Node& n = graph[id];
      const std::string type = cuda_type(n.type, kScalars);
      std::string value;
      switch (n.op) {
        case Op::Const:
          value = cuda_literal(graph.constant_value(id), n.type, kScalars);
          break;
        case Op::Param:
          value = fmt::format("({})a.param[{}]", type, n.payload);
          break;
        case Op::InputI:
          value = cuda_from_packed(i_value(int(n.payload)), n.type);
          break;
        case Op::IIndex:
          value = "i + a.i_offset";
          break;
        case Op::Output:
          value = fmt::format("({}){}", type, result_name(std::size_t(n.payload)));
          break;
        default: {
          std::array<std::string, 3> args;
          for (int k = 0; k < arity(n.op); ++k)
            args[std::size_t(k)] = fmt::format("{}{}", prefix, n.args[std::size_t(k)]);
          value = cuda_operation(graph, n, args, kScalars);
        }
      }
      text += fmt::format("const {} {}{} = {};\n", type, prefix, id, value);
    }
    return text;
  }

  std::string finish() const {
    std::string text = scalar_statements(pipeline_.pair, plan_.scales, "s");
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k)
      if (const NodeId scale = pipeline_.contributions[k].scale; scale != kNone)
        text += fmt::format("acc{0} = scaled(acc{0}, s{1});\n", k, scale);
    if (pipeline_.finished.empty()) return text;
    const std::vector<bool> alive = reachable(pipeline_.finish, pipeline_.finished);
    std::vector<NodeId> nodes;
    for (NodeId id = 0; id < pipeline_.finish.size(); ++id)
      if (alive[std::size_t(id)]) nodes.push_back(id);
    text += scalar_statements(pipeline_.finish, nodes, "f");
    for (std::size_t k = 0; k < pipeline_.finished.size(); ++k)
      text += fmt::format("{} = (double)f{};\n", result_name(k), pipeline_.finished[k]);
    return text;
  }

  const Pipeline& pipeline_;
  const Plan& plan_;
};

}  // namespace

void fill_reduction(const Pipeline& pipeline, const Plan& plan, std::map<std::string, std::string>& holes) {
  ReductionText(pipeline, plan).fill(holes);
}

}  // namespace nbcc
