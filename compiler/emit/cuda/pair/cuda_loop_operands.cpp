// Operands of a loop -> statements. Interface: CudaLoopOperands.
#include "compiler/emit/cuda/pair/cuda_loop_operands.h"

#include <fmt/format.h>

#include <set>

#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/spelling.h"

namespace nbcc {

std::vector<NodeId> CudaLoopOperands::closure(NodeId operand) const {
  std::set<NodeId> found;
  std::vector<NodeId> open{operand};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const bool is_outside = !plan_.in_loop[std::size_t(id)] && is_uniform(graph_[id].binding);
    if (is_outside || !found.insert(id).second) continue;
    for (const NodeId arg : graph_[id].args)
      if (arg != kNone) open.push_back(arg);
  }
  return {found.begin(), found.end()};
}

std::string CudaLoopOperands::computed(NodeId operand, const std::string& loaded) const {
  std::string text;
  for (const NodeId id : closure(operand)) {
    const Node& n = graph_[id];
    const char side = n.binding == Binding::I ? 'i' : 'j';
    if (is_element(n.op) && n.op != Op::ElementOfParam && !loaded.empty()) {
      text += statements_.statement(id, cuda_from_loaded(fmt::format(fmt::runtime(loaded), id), n.type));
    } else if (is_element(n.op)) {
      text += statements_.statement(id, statements_.element(id));
    } else if (n.op == Op::InputI || n.op == Op::InputJ) {
      const SidePlan& plan = n.op == Op::InputI ? plan_.i : plan_.j;
      const char* const type = c_name(plan.columns[std::size_t(plan.whole.at(int(n.payload)))].element);
      const std::string component = fmt::format("component<{0}>(a.{1}[{2}], {1})", type, side, n.payload);
      text += statements_.statement(id, cuda_from_loaded(component, n.type));
    } else if (n.op == Op::IIndex || n.op == Op::JIndex) {
      text += statements_.statement(id, fmt::format("{0} + a.{0}_offset", side));
    } else {
      text += statements_.computed(id);
    }
  }
  return text;
}

}  // namespace nbcc
