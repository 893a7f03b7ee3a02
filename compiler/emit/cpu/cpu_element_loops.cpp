// Entry point: cpu_element_loops(). Each loop is computed as a matrix product is (Goto & van de Geijn 2008): the values
// of a piece of the elements are copied to panels for all i and j of a block, and the sums of a panel of i and a panel
// of j stay in registers while the loop passes over the piece.
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
        columns_(facts(vectors.isa).registers >= 32 ? 4 : 2),
        fused_(facts(vectors.isa).target.fused),
        block_(cpu_block(plan)) {
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
    if (!plan_.arrays.empty()) text += fmt::format("vmask counts[{}][{}];\n", block_.rows, kBlockVectors);
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
    return fmt::format("{} {}{}[{}][{}];\n", cpu_type(graph_[id].type, true), what, id, block_.rows, kBlockVectors);
  }
  // The i of a panel. Each has columns_ sums in registers.
  int rows_of(const Node& loop) const {
    const bool is_product = fused_ && block_.rows % kMostRows == 0 && is_floating(loop.type) &&
                            inner_nodes(plan_, loop.args[0]).size() <= 2;
    return is_product ? kMostRows : kRowsInRegisters;
  }

  std::string name_of(const LoopOperand& operand) const { return body_.node_name(operand.id, 0); }
  std::string vector_type(const LoopOperand& operand) const { return cpu_type(graph_[operand.id].type, true); }
  std::string scalar_type(const LoopOperand& operand) const { return cpu_type(graph_[operand.id].type, false); }

  // Declares and fills the copies of what a loop over `range` reads that is the same for all of its elements.
  std::string copies_of_block(const std::vector<LoopOperand>& all) {
    std::string declared, of_i, of_j;
    for (const LoopOperand& operand : all) {
      if (operand.in_loop || operand.of_pair()) continue;
      std::string read;
      for (const NodeId id : read_outside(plan_, operand.id)) read += body_.loaded_once(id);
      if (operand.of_j()) {
        declared += fmt::format("{} copy{}[{}];\n", vector_type(operand), operand.id, kBlockVectors);
        of_j += fmt::format("{{\n{}copy{}[v] = {};\n}}\n", read, operand.id, name_of(operand));
      } else {
        declared += fmt::format("{} copy{}[{}];\n", scalar_type(operand), operand.id, block_.rows);
        of_i += fmt::format("{{\n{}copy{}[r] = {}[0];\n}}\n", read, operand.id, name_of(operand));
      }
    }
    return declared + for_i(of_i) + for_j(of_j);
  }
  std::string for_i(const std::string& text) const {
    if (text.empty()) return "";
    return fmt::format("for (index r = 0; r < rows; ++r) {{\nconst index i = block_i + r;\n{}}}\n", text);
  }
  std::string for_j(const std::string& text) const {
    if (text.empty()) return "";
    return fmt::format("for (index v = 0; v < vectors; ++v) {{\nconst index j = block_j + v * {};\n{}}}\n", lanes_,
                       text);
  }

  // What a loop reads of an element, and the statements that read it.
  struct OfElement {
    const LoopOperand& operand;
    std::string read;
  };
  std::vector<OfElement> of_elements(const std::vector<LoopOperand>& all, Elements range) {
    std::vector<OfElement> found;
    for (const LoopOperand& operand : all) {
      if (!operand.in_loop) continue;
      std::string read;
      for (const NodeId id : read_outside(plan_, operand.id)) read += body_.loaded_once(id);
      found.push_back({operand, read + body_.elements(operand.id, range, operand.of_j())});
    }
    return found;
  }
  std::string copy_of_param(const OfElement& one, std::string& declared) const {
    declared += fmt::format("{} copy{}[elements_in_piece];\n", scalar_type(one.operand), one.operand.id);
    return fmt::format("{{\n{}copy{}[k - piece] = {}[0];\n}}\n", one.read, one.operand.id, name_of(one.operand));
  }
  static std::string for_elements(const std::string& declared, const std::string& text) {
    if (text.empty()) return declared;
    return declared + fmt::format("for (index k = piece; k < piece_end; ++k) {{\n{}}}\n", text);
  }

  // Copies of a piece of the elements to panels, [panel][element][i or vector of j of the panel], which the innermost
  // loop reads from one address on. The number of bytes of a piece may be a power of two, which would put the same
  // element of all panels into a few sets of the L1 cache: so a panel has room for about a cache line more, one element
  // of j (columns_ vectors) or four of i (4 or 6 numbers each). Panels end with copies of the block's last i or vector.
  std::string panels_of_piece(const std::vector<LoopOperand>& all, Elements range, int rows) {
    std::string declared, text, of_i, of_j;
    for (const OfElement& one : of_elements(all, range)) {
      const LoopOperand& operand = one.operand;
      if (operand.of_j()) {
        declared += fmt::format("{} copy{}[{}][elements_in_piece + 1][{}];\n", vector_type(operand), operand.id,
                                kBlockVectors / columns_, columns_);
        of_j += fmt::format("{{\n{}copy{}[panel][k - piece][c] = {};\n}}\n", one.read, operand.id, name_of(operand));
      } else if (operand.of_i()) {
        declared += fmt::format("{} copy{}[{}][elements_in_piece + 4][{}];\n", scalar_type(operand), operand.id,
                                block_.rows / rows, rows);
        of_i += fmt::format("{{\n{}copy{}[panel][k - piece][c] = {}[0];\n}}\n", one.read, operand.id, name_of(operand));
      } else {
        text += copy_of_param(one, declared);
      }
    }
    const auto panels = [](char side, std::string_view count, int size, const std::string& body) {
      if (body.empty()) return std::string();
      return fmt::format(
          "const auto copy_{0} = [&](const index panel, const index c, const index n) __attribute__((always_inline)) "
          "{{\n{3}}};\n"
          "for (index panel = 0; panel < {1} / {2}; ++panel)\n"
          "for (index c = 0; c < {2}; ++c) copy_{0}(panel, c, panel * {2} + c);\n"
          "for (index c = 0; {1} % {2} > 0 && c < {2}; ++c) copy_{0}({1} / {2}, c, "
          "c < {1} % {2} ? {1} / {2} * {2} + c : {1} - 1);\n",
          side, count, size, body);
    };
    text += panels('i', "rows", rows, of_i.empty() ? "" : "const index i = block_i + n;\n" + of_i);
    text += panels('j', "vectors", columns_,
                   of_j.empty() ? "" : fmt::format("const index j = block_j + n * {};\n{}", lanes_, of_j));
    return for_elements(declared, text);
  }

  // The same for output arrays: [element][i or vector of j].
  std::string copies_of_piece(const std::vector<LoopOperand>& all, Elements range) {
    std::string declared, text, of_i, of_j;
    for (const OfElement& one : of_elements(all, range)) {
      const LoopOperand& operand = one.operand;
      if (operand.of_j()) {
        declared += fmt::format("{} copy{}[elements_in_piece][{}];\n", vector_type(operand), operand.id, kBlockVectors);
        of_j += fmt::format("{{\n{}copy{}[k - piece][v] = {};\n}}\n", one.read, operand.id, name_of(operand));
      } else if (operand.of_i()) {
        declared += fmt::format("{} copy{}[elements_in_piece][{}];\n", scalar_type(operand), operand.id, block_.rows);
        of_i += fmt::format("{{\n{}copy{}[k - piece][r] = {}[0];\n}}\n", one.read, operand.id, name_of(operand));
      } else {
        text += copy_of_param(one, declared);
      }
    }
    return for_elements(declared, text + for_i(of_i) + for_j(of_j));
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

  // The arguments of with_term() for a sum. `row`, `vector`: of the pair in the block. `of_i`, `of_j`: the index of an
  // element's copy.
  struct At {
    std::string row, vector, of_i, of_j, element;
  };
  std::string call(const std::vector<LoopOperand>& all, const Sum& sum, const At& at) const {
    std::string text = fmt::format("with_term({}", sum.name());
    for (const LoopOperand& operand : all) {
      const std::string type = vector_type(operand);
      if (operand.of_pair())
        text += fmt::format(", value{}[{}][{}]", operand.id, at.row, at.vector);
      else if (operand.of_j())
        text += fmt::format(", copy{}{}", operand.id, operand.in_loop ? at.of_j : "[" + at.vector + "]");
      else if (operand.of_i())
        text += fmt::format(", ({})(copy{}{})", type, operand.id, operand.in_loop ? at.of_i : "[" + at.row + "]");
      else
        text += fmt::format(", ({})(copy{}[{}])", type, operand.id, at.element);
    }
    return text + ")";
  }

  // The sums of some rows and columns, which are vectors of j or elements.
  template <typename Text>
  static std::string for_sums(int rows, int columns, const Text& text_of) {
    std::string text;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) text += text_of(Sum{r, c});
    return text;
  }

  std::string loop(NodeId id) {
    const Node& n = graph_[id];
    const Elements range = elements_of(n.payload);
    const std::vector<LoopOperand> all = loop_operands(plan_, n.args[0]);
    const int rows = rows_of(n);
    const auto stored = [&](const Sum& sum) { return fmt::format("loop{}[r + {}][v + {}]", id, sum.r, sum.c); };
    const std::string type = cpu_type(n.type, true);
    return fill_template("cpu_element_loop.cpp",
                         {{"first", std::to_string(range.first)},
                          {"end", std::to_string(range.first + range.count)},
                          {"copies_of_block", copies_of_block(all)},
                          {"panels_of_piece", panels_of_piece(all, range, rows)},
                          {"with_term", term_function(n, all)},
                          {"columns", std::to_string(columns_)},
                          {"rows", std::to_string(rows)},
                          {"load", for_sums(rows, columns_,
                                            [&](const Sum& sum) {
                                              return fmt::format("{0} {1} = piece == {2} ? ({0})({3}) : {4};\n", type,
                                                                 sum.name(), range.first, cpu_identity(n), stored(sum));
                                            })},
                          {"add", for_sums(rows, columns_,
                                           [&](const Sum& sum) {
                                             const At at{fmt::format("r + {}", sum.r), fmt::format("v + {}", sum.c),
                                                         fmt::format("[r / {}][k][{}]", rows, sum.r),
                                                         fmt::format("[v / {}][k][{}]", columns_, sum.c), "k"};
                                             return fmt::format("{} = {};\n", sum.name(), call(all, sum, at));
                                           })},
                          {"store", for_sums(rows, columns_, [&](const Sum& sum) {
                             return fmt::format("{} = {};\n", stored(sum), sum.name());
                           })}});
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
      return for_sums(kRowsInRegisters, columns_, [&](const Sum& sum) {
        const std::string row = fmt::format("r + {}", sum.r), element = fmt::format("k + {}", sum.c);
        const At at{row, "v", fmt::format("[{}][{}]", element, row), fmt::format("[{}][v]", element), element};
        const std::string next = call(all, sum, at);
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
         {"copies_of_block", copies_of_block(all)},
         {"copies_of_piece", copies_of_piece(all, range)},
         {"with_term", term_function(sum_of_elements, all)},
         {"columns", std::to_string(columns_)},
         {"rows", std::to_string(kRowsInRegisters)},
         {"clear", for_sums(kRowsInRegisters, columns_,
                            [&](const Sum& sum) { return fmt::format("{0} {1} = ({0})(0);\n", type, sum.name()); })},
         {"add_all", add(true)},
         {"add_some", add(false)},
         {"store", for_sums(kRowsInRegisters, columns_, [&](const Sum& sum) {
            return fmt::format(
                "if (r + {0} < rows && k + {1} < elements) a->acc[{2} + piece + k + {1}][block_i + r + "
                "{0}] += total({3});\n",
                sum.r, sum.c, array.first, sum.name());
          })}});
  }

  // Rows, of columns_ sums each, that leave registers for what a term reads: of any term, and of a product, which reads
  // the least. A block must be entire panels, so kMostRows is taken only if it divides the block's rows.
  static constexpr int kRowsInRegisters = 4, kMostRows = 6;
  CpuPairBody& body_;
  const Plan& plan_;
  const Graph& graph_;
  const int lanes_;
  const int columns_;  // vectors of j, or elements, whose sums are in registers
  const bool fused_;
  const CpuBlock block_;
  std::set<NodeId> guards_, weights_;
};

}  // namespace

namespace {

// Numbers of arrays in a thread's stack: values of all pairs of a block, and copies of a piece.
struct Stored {
  std::size_t values = 0, copies = 0;
};

Stored stored_by(const Plan& plan) {
  std::set<NodeId> values(plan.tiled_loops.begin(), plan.tiled_loops.end());
  Stored stored;
  const auto add = [&](NodeId term) {
    const std::vector<LoopOperand> operands = loop_operands(plan, term);
    stored.copies = std::max(stored.copies, operands.size());
    for (const LoopOperand& operand : operands)
      if (operand.of_pair()) values.insert(operand.id);
  };
  for (const NodeId id : plan.tiled_loops) add(plan.graph[id].args[0]);
  for (const OutputArray& array : plan.arrays) {
    add(array.value);
    if (array.guard != kNone) values.insert(array.guard);
  }
  stored.values = values.size();
  return stored;
}

// Values of a block of 64 i take 128 KB in the largest vectors in single precision, and so do copies of 64 elements.
// The longer a block, the less often each j is copied (bench/RESULTS.md, "Points with many features").
constexpr CpuBlock kShort{64, 64}, kLong[] = {{384, 128}, {192, 128}};
constexpr std::size_t kMostStored = 12;

}  // namespace

bool has_blocks(const Plan& plan) {
  if (std::ranges::any_of(plan.two_float, [&](NodeId id) { return plan.in_loop[std::size_t(id)]; })) return false;
  const Stored stored = stored_by(plan);
  return stored.values + stored.copies <= kMostStored;
}

// Output arrays read the values of a block again for every few elements.
CpuBlock cpu_block(const Plan& plan) {
  const auto is_real = [&](NodeId id) { return is_floating(plan.graph[id].type); };
  if (!plan.arrays.empty() || !std::ranges::all_of(plan.tiled_loops, is_real)) return kShort;
  const Stored stored = stored_by(plan);
  for (const CpuBlock& block : kLong) {
    const auto times = [](int size, int of) { return std::size_t(size / of); };
    if (times(block.rows, kShort.rows) * stored.values + times(block.elements, kShort.elements) * stored.copies <=
        kMostStored)
      return block;
  }
  return kShort;
}

std::string cpu_element_loops(CpuPairBody& body, const Plan& plan, const CpuVectors& vectors) {
  LoopText loops(body, plan, vectors);
  const CpuBlock block = cpu_block(plan);
  const std::string lanes = std::to_string(vectors.lanes());
  return fill_template("cpu_element_loops.cpp", {{"lanes", lanes},
                                                 {"rows", std::to_string(block.rows)},
                                                 {"elements", std::to_string(block.elements)},
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
