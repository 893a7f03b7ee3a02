// Entry point: cpu_element_loops(). Each loop is computed as a matrix product is: the values of a piece of the elements
// are copied for all i and j of a block, and the sums of a few i and vectors of j stay in registers while the loop
// passes over the piece.
#include "compiler/emit/cpu/cpu_element_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/emit/loop_operands.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

// A sum in registers: of row r and of vector c of j, or of row r and element c.
struct Sum {
  int r = 0, c = 0;
  std::string name() const { return fmt::format("sum{}_{}", r, c); }
};

class LoopText {
 public:
  LoopText(CpuPairBody& body, const Plan& plan, const CpuVectors& vectors)
      : body_(body),
        plan_(plan),
        graph_(plan.graph),
        lanes_(vectors.lanes()),
        columns_(facts(vectors.isa).registers >= 32 ? 4 : 2) {
    for (const OutputArray& array : plan.arrays) {
      if (array.guard != kNone) guards_.insert(array.guard);
      for (const LoopOperand& operand : loop_operands(plan_, array.value))
        if (operand.of_pair()) weights_.insert(operand.id);
    }
  }

  // Arrays of a block: the values of loops, and what output arrays read of a pair.
  std::string buffers() const {
    std::string text;
    for (const NodeId id : plan_.tiled_loops) text += buffer(id, "loop");
    for (const NodeId id : weights_) text += buffer(id, "value");
    for (const NodeId guard : guards_) text += buffer(guard, "guard");
    if (!plan_.arrays.empty()) text += fmt::format("vmask counts[{}][{}];\n", kBlockRows, kBlockVectors);
    return text;
  }

  std::string loops() {
    std::string text;
    for (const NodeId id : plan_.tiled_loops) text += loop(id);
    return text;
  }

  // Statements before and after the statements of a pair, which store the values that output arrays read.
  std::string before_pair() const { return plan_.arrays.empty() ? "" : "counts[i_row][j_vector] = (vmask)(0);\n"; }
  std::string after_pair() const {
    if (plan_.arrays.empty()) return "";
    std::string text = "counts[i_row][j_vector] = live_0;\n";
    for (const NodeId guard : guards_)
      text += fmt::format("guard{}[i_row][j_vector] = {};\n", guard, body_.node_name(guard, 0));
    for (const NodeId id : weights_)
      text += fmt::format("value{}[i_row][j_vector] = {};\n", id, body_.node_name(id, 0));
    return text;
  }

  std::string arrays() {
    std::string text;
    for (const OutputArray& array : plan_.arrays) text += output_array(array);
    return text;
  }

 private:
  std::string buffer(NodeId id, std::string_view what) const {
    return fmt::format("{} {}{}[{}][{}];\n", cpu_type(graph_[id].type, true), what, id, kBlockRows, kBlockVectors);
  }

  std::string name_of(const LoopOperand& operand) const { return body_.node_name(operand.id, 0); }
  std::string vector_type(const LoopOperand& operand) const { return cpu_type(graph_[operand.id].type, true); }
  std::string scalar_type(const LoopOperand& operand) const { return cpu_type(graph_[operand.id].type, false); }

  // Declares and fills the copies of what a loop reads, for a piece of the elements or, outside of it, for a block.
  std::string copies(const std::vector<LoopOperand>& all, Elements range, bool in_loop) {
    std::string declared, of_i, of_j, of_params;
    for (const LoopOperand& operand : all) {
      if (operand.in_loop != in_loop || operand.of_pair()) continue;
      const std::string dimension = in_loop ? "[elements_in_piece]" : "", at = in_loop ? "[k - piece]" : "";
      const std::string name = fmt::format("copy{}", operand.id);
      std::string read;
      for (const NodeId id : read_outside(plan_, operand.id)) read += body_.loaded_once(id);
      if (in_loop) read += body_.elements(operand.id, range, operand.of_j());
      if (operand.of_j()) {
        declared += fmt::format("{} {}{}[{}];\n", vector_type(operand), name, dimension, kBlockVectors);
        of_j += fmt::format("{{\n{}{}{}[v] = {};\n}}\n", read, name, at, name_of(operand));
      } else if (operand.of_i()) {
        declared += fmt::format("{} {}{}[{}];\n", scalar_type(operand), name, dimension, kBlockRows);
        of_i += fmt::format("{{\n{}{}{}[r] = {}[0];\n}}\n", read, name, at, name_of(operand));
      } else {
        declared += fmt::format("{} {}[elements_in_piece];\n", scalar_type(operand), name);
        of_params += fmt::format("{{\n{}{}{} = {}[0];\n}}\n", read, name, at, name_of(operand));
      }
    }
    std::string text = of_params;
    if (!of_i.empty())
      text += fmt::format("for (index r = 0; r < rows; ++r) {{\nconst index i = block_i + r;\n{}}}\n", of_i);
    if (!of_j.empty())
      text += fmt::format("for (index v = 0; v < vectors; ++v) {{\nconst index j = block_j + v * {};\n{}}}\n", lanes_,
                          of_j);
    if (in_loop && !text.empty()) text = fmt::format("for (index k = piece; k < piece_end; ++k) {{\n{}}}\n", text);
    return declared + text;
  }

  // The function that adds a term to a sum.
  std::string term_function(const Node& loop, const std::vector<LoopOperand>& all) {
    std::string parameters = fmt::format("const {} sum", cpu_type(loop.type, true)), body;
    for (const LoopOperand& operand : all)
      parameters += fmt::format(", const {} {}", vector_type(operand), name_of(operand));
    for (const NodeId id : inner_nodes(plan_, loop.args[0])) body += body_.computed(id, 0);
    return fmt::format("const auto with_term = [&]({}) __attribute__((always_inline)) {{\n{}return {};\n}};\n",
                       parameters, body, body_.with_term(loop, "sum"));
  }

  // The arguments of with_term() for a row, a vector of j and an element.
  std::string call(const std::vector<LoopOperand>& all, const Sum& sum, const std::string& row,
                   const std::string& vector, const std::string& element) const {
    std::string text = fmt::format("with_term({}", sum.name());
    for (const LoopOperand& operand : all) {
      const std::string type = vector_type(operand), k = operand.in_loop ? fmt::format("[{}]", element) : "";
      if (operand.of_pair())
        text += fmt::format(", value{}[{}][{}]", operand.id, row, vector);
      else if (operand.of_j())
        text += fmt::format(", copy{}{}[{}]", operand.id, k, vector);
      else if (operand.of_i())
        text += fmt::format(", ({})(copy{}{}[{}])", type, operand.id, k, row);
      else
        text += fmt::format(", ({})(copy{}{})", type, operand.id, k);
    }
    return text + ")";
  }

  // The sums of some rows and columns, which are vectors of j or elements.
  template <typename Text>
  std::string for_sums(int columns, const Text& text_of) const {
    std::string text;
    for (int r = 0; r < kRowsInRegisters; ++r)
      for (int c = 0; c < columns; ++c) text += text_of(Sum{r, c});
    return text;
  }

  std::string loop(NodeId id) {
    const Node& n = graph_[id];
    const Elements range = elements_of(n.payload);
    const std::vector<LoopOperand> all = loop_operands(plan_, n.args[0]);
    const auto at = [&](const Sum& sum) { return fmt::format("loop{}[r + {}][v + {}]", id, sum.r, sum.c); };
    const std::string type = cpu_type(n.type, true);
    return fill_template(
        "cpu_element_loop.cpp",
        {{"first", std::to_string(range.first)},
         {"end", std::to_string(range.first + range.count)},
         {"copies_of_block", copies(all, range, false)},
         {"copies_of_piece", copies(all, range, true)},
         {"with_term", term_function(n, all)},
         {"columns", std::to_string(columns_)},
         {"rows", std::to_string(kRowsInRegisters)},
         {"load", for_sums(columns_,
                           [&](const Sum& sum) {
                             return fmt::format("{0} {1} = piece == {2} ? ({0})({3}) : {4};\n", type, sum.name(),
                                                range.first, cpu_identity(n), at(sum));
                           })},
         {"add", for_sums(columns_,
                          [&](const Sum& sum) {
                            return fmt::format(
                                "{} = {};\n", sum.name(),
                                call(all, sum, fmt::format("r + {}", sum.r), fmt::format("v + {}", sum.c), "k"));
                          })},
         {"store",
          for_sums(columns_, [&](const Sum& sum) { return fmt::format("{} = {};\n", at(sum), sum.name()); })}});
  }

  std::string output_array(const OutputArray& array) {
    Node sum_of_elements;
    sum_of_elements.op = Op::SumOfElements;
    sum_of_elements.type = graph_[array.value].type;
    sum_of_elements.args[0] = array.value;
    const std::vector<LoopOperand> all = loop_operands(plan_, array.value);
    const Elements range = array.elements;
    const std::string type = cpu_type(sum_of_elements.type, true);
    const auto add = [&](bool every) {
      return for_sums(columns_, [&](const Sum& sum) {
        const std::string row = fmt::format("r + {}", sum.r);
        const std::string next = call(all, sum, row, "v", fmt::format("k + {}", sum.c));
        if (every) return fmt::format("{} = {};\n", sum.name(), next);
        std::string mask = fmt::format("counts[{}][v]", row);
        if (array.guard != kNone) mask += fmt::format(" & guard{}[{}][v]", array.guard, row);
        return fmt::format("{0} = choose({1}, {2}, {0});\n", sum.name(), mask, next);
      });
    };
    return fill_template(
        "cpu_output_array.cpp",
        {{"first", std::to_string(range.first)},
         {"end", std::to_string(range.first + range.count)},
         {"guard", array.guard == kNone ? "" : fmt::format(" & guard{}[r][v]", array.guard)},
         {"copies_of_block", copies(all, range, false)},
         {"copies_of_piece", copies(all, range, true)},
         {"with_term", term_function(sum_of_elements, all)},
         {"columns", std::to_string(columns_)},
         {"rows", std::to_string(kRowsInRegisters)},
         {"clear",
          for_sums(columns_, [&](const Sum& sum) { return fmt::format("{0} {1} = ({0})(0);\n", type, sum.name()); })},
         {"add_all", add(true)},
         {"add_some", add(false)},
         {"store", for_sums(columns_, [&](const Sum& sum) {
            return fmt::format(
                "if (r + {0} < rows && k + {1} < elements) a->acc[{2} + piece + k + {1}][block_i + r + "
                "{0}] += total({3});\n",
                sum.r, sum.c, array.first, sum.name());
          })}});
  }

  static constexpr int kRowsInRegisters = 4;
  CpuPairBody& body_;
  const Plan& plan_;
  const Graph& graph_;
  const int lanes_;
  const int columns_;  // vectors of j, or elements, whose sums are in registers
  std::set<NodeId> guards_, weights_;
};

}  // namespace

bool has_blocks(const Plan& plan) {
  if (std::ranges::any_of(plan.two_float, [&](NodeId id) { return plan.in_loop[std::size_t(id)]; })) return false;
  // A block of values in the largest vectors takes 128 KB in single precision, and so do copies of a piece.
  constexpr std::size_t kMostBlocks = 12;
  std::set<NodeId> stored;
  std::size_t copies = 0;
  const auto add = [&](NodeId term) {
    const std::vector<LoopOperand> operands = loop_operands(plan, term);
    copies = std::max(copies, operands.size());
    for (const LoopOperand& operand : operands)
      if (operand.of_pair()) stored.insert(operand.id);
  };
  for (const NodeId id : plan.tiled_loops) add(plan.graph[id].args[0]);
  for (const OutputArray& array : plan.arrays) {
    add(array.value);
    if (array.guard != kNone) stored.insert(array.guard);
  }
  return plan.tiled_loops.size() + stored.size() + copies <= kMostBlocks;
}

std::string cpu_element_loops(CpuPairBody& body, const Plan& plan, const CpuVectors& vectors) {
  LoopText loops(body, plan, vectors);
  const std::string lanes = std::to_string(vectors.lanes());
  return fill_template("cpu_element_loops.cpp", {{"lanes", lanes},
                                                 {"rows", std::to_string(kBlockRows)},
                                                 {"vectors", std::to_string(kBlockVectors)},
                                                 {"tile", std::to_string(kBlockVectors * vectors.lanes())},
                                                 {"uniform", body.uniform()},
                                                 {"buffers", loops.buffers()},
                                                 {"loops", loops.loops()},
                                                 {"load_i", body.load_i()},
                                                 {"clear", body.clear()},
                                                 {"pair", loops.before_pair() + body.pair() + loops.after_pair()},
                                                 {"reduce", body.reduce(0)},
                                                 {"arrays", loops.arrays()}});
}

}  // namespace nbcc
