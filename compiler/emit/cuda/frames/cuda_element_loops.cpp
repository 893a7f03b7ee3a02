// Entry points: cuda_loop_launch(), cuda_element_loops(). What the loops read of i and of j is copied to shared memory
// for a piece of the elements; each thread holds the sums of a few i and j in registers.
#include "compiler/emit/cuda/frames/cuda_element_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/emit/cuda/launch/gpu_facts.h"
#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/cuda/pair/cuda_loop_operands.h"
#include "compiler/emit/cuda/pair/cuda_statement.h"
#include "compiler/emit/finish.h"
#include "compiler/emit/loop_operands.h"
#include "compiler/emit/spelling.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

constexpr int kJOfThread = 8;
// Elements between rows of copies, against bank conflicts; rows of j stay aligned to 16 bytes.
constexpr int kPaddingOfI = 2, kPaddingOfJ = 4;

// More doubles would take too many registers.
int elements_in_piece(const Options& options) { return options.precision == Precision::Double ? 16 : 32; }

class LoopText {
 public:
  LoopText(const Plan& plan, const Options& options) : plan_(plan), options_(options) {
    for (const OutputArray& array : plan.arrays) {
      if (array.guard != kNone) stored_.insert(array.guard);
      for (const LoopOperand& operand : loop_operands(plan, array.value))
        if (operand.of_pair()) stored_.insert(operand.id);
    }
  }

  // Bytes of shared memory, besides JParticles, of a block.
  std::int64_t shared_bytes(const LaunchConfig& launch) const {
    const std::int64_t i = launch.i_per_block();
    std::int64_t loops = 0, arrays = 0, values = i * launch.j_slices + 16;  // exclusions
    for (const NodeId id : plan_.tiled_loops)
      loops = std::max(loops, copied_bytes(loop_operands(plan_, graph_[id].args[0]), launch, true));
    for (const OutputArray& array : plan_.arrays)
      arrays = std::max(arrays, copied_bytes(loop_operands(plan_, array.value), launch, false));
    for (const NodeId id : stored_)
      values += i * (is_condition(id) ? launch.j_slices : launch.j_tile) * bytes_of(id) + 16;
    std::int64_t scalars = 0;
    for (const OutputPlan& output : plan_.outputs)
      scalars += output.of_array ? 0 : keeps_index(output.reduction) ? 2 : 1;
    return (std::max({loops, values + arrays, 8 * scalars * launch.j_slices * i}) + 15) / 16 * 16;
  }

  std::string buffers() const {
    std::string text;
    for (const NodeId id : plan_.tiled_loops)
      text += fmt::format("{} loop{}[NBCC_I_PER_THREAD][kJ];\n", type_of(id), id);
    return text;
  }

  // The memory of the values that output arrays read.
  std::string values() const {
    std::string text;
    std::string offset = "0";
    for (const NodeId id : stored_) {
      const std::string type = is_condition(id) ? "unsigned char" : type_of(id);
      const char* const rows = is_condition(id) ? "NBCC_J_SLICES" : "NBCC_J_TILE";
      text +=
          fmt::format("{0} (* const value{1})[kBlockI] = ({0}(*)[kBlockI])(shared.bytes + {2});\n", type, id, offset);
      offset += fmt::format(" + rounded({} * kBlockI * (int)sizeof({}))", rows, type);
    }
    return text + fmt::format("constexpr int kValueBytes = {};\n", offset);
  }

  std::string loops() const {
    std::string text;
    for (const NodeId id : plan_.tiled_loops) text += loop(id);
    return text;
  }

  // Conditions are stored as bits, a byte for an i and the j of a thread.
  std::string before_pairs() const {
    std::string text;
    for (const NodeId id : stored_)
      if (is_condition(id)) text += fmt::format("unsigned bits{}[NBCC_I_PER_THREAD] = {{}};\n", id);
    return text;
  }
  std::string after_pair() const {
    std::string text;
    for (const NodeId id : stored_)
      text += is_condition(id) ? fmt::format("bits{0}[r] |= (unsigned)t{0} << u;\n", id)
                               : fmt::format("value{0}[k][row + r * kSliceThreads] = t{0};\n", id);
    return text;
  }
  std::string after_pairs() const {
    std::string text;
    for (const NodeId id : stored_)
      if (is_condition(id))
        text += fmt::format("value{0}[slice][row + r * kSliceThreads] = (unsigned char)bits{0}[r];\n", id);
    return text.empty() ? "" : "#pragma unroll\nfor (int r = 0; r < NBCC_I_PER_THREAD; ++r) {\n" + text + "}\n";
  }

  std::string arrays() const {
    std::string text;
    for (const OutputArray& array : plan_.arrays) text += output_array(array);
    return text;
  }

  std::string store_arrays() const {
    const ScalarSpelling spelling = cuda_scalar_spelling();
    std::string text = scalar_statements(plan_, graph_, plan_.scales, 's', spelling);
    for (const OutputArray& array : plan_.arrays) {
      const NodeId scale = plan_.outputs[std::size_t(array.first + array.elements.first)].scale;
      text += fmt::format(
          "for (int k = {0} + share; k < {1}; k += shares) store_element(a, at, i, {2} + k, {3} + k, {4});\n",
          array.elements.first, array.elements.first + array.elements.count, place_of(array.first), array.first,
          scale == kNone ? "1.0" : fmt::format("s{}", scale));
    }
    return text;
  }

  std::string clear_arrays() const {
    std::string text;
    for (const OutputArray& array : plan_.arrays)
      text += fmt::format("for (int k = {} + share; k < {}; k += shares) *place(a, split, {} + k, at) = 0;\n",
                          array.elements.first, array.elements.first + array.elements.count, place_of(array.first));
    return text;
  }

  // True if what the loops read of one side needs no loop itself: it is computed again for each piece.
  bool reads_no_loops() const {
    const auto is_simple = [&](NodeId term) {
      return std::ranges::all_of(loop_operands(plan_, term), [&](const LoopOperand& operand) {
        return operand.of_pair() ||
               std::ranges::none_of(operands_.closure(operand.id), [&](NodeId id) { return is_loop(graph_[id].op); });
      });
    };
    return std::ranges::all_of(plan_.tiled_loops, [&](NodeId id) { return is_simple(graph_[id].args[0]); }) &&
           std::ranges::all_of(plan_.arrays, [&](const OutputArray& array) { return is_simple(array.value); });
  }

 private:
  std::string type_of(NodeId id) const { return cuda_type(graph_[id].type, scalars_); }
  bool is_condition(NodeId id) const { return graph_[id].type == Type::Bool; }
  std::int64_t bytes_of(NodeId id) const {
    return is_condition(id) ? 1 : size_of(element_of(graph_[id].type, options_.precision));
  }

  // Output arrays copy no values of i.
  std::int64_t copied_bytes(const std::vector<LoopOperand>& all, const LaunchConfig& launch, bool of_i) const {
    std::int64_t bytes = 0;
    for (const LoopOperand& operand : all) {
      if (!operand.in_loop) continue;
      std::int64_t row = 1;
      if (operand.of_j()) row = launch.j_tile + kPaddingOfJ;
      if (operand.of_i()) row = of_i ? launch.i_per_block() + kPaddingOfI : 0;
      bytes += elements_in_piece(options_) / (of_i ? 1 : 2) * row * bytes_of(operand.id) + 16;
    }
    return bytes;
  }

  // The place in memory of the first component of an output.
  int place_of(int output) const {
    int place = 0;
    for (int k = 0; k < output; ++k) place += keeps_index(plan_.outputs[std::size_t(k)].reduction) ? 2 : 1;
    return place;
  }

  // The value of i or of j that is no element, as the pair loop has it.
  std::string member(const LoopOperand& operand, const std::string& j) const {
    const Node& n = graph_[operand.id];
    if (n.op == Op::IIndex) return "own[r].i";
    if (n.op == Op::JIndex) return fmt::format("(first_j + {} + a.j_offset)", j);
    const SidePlan& side = operand.of_i() ? plan_.i : plan_.j;
    const auto derived = side.derived.find(operand.id);
    const int column = derived != side.derived.end() ? derived->second : side.whole.at(int(n.payload));
    return operand.of_i() ? fmt::format("own[r].c{}", column) : fmt::format("staged[{}].c{}", j, column);
  }

  // How what a loop reads of i, of j and of params comes into shared memory, from `begin` on: a piece of the elements
  // is loaded into registers while the piece before is in use.
  struct Copies {
    std::string declarations, load, store;
  };
  Copies copies(const std::vector<LoopOperand>& all, const std::string& begin, bool of_i) const {
    Copies made;
    std::string of_side[3], offset = begin;  // statements of i, of j, of params
    std::set<NodeId> loaded;
    for (const LoopOperand& operand : all) {
      if (!operand.in_loop || (operand.of_i() && !of_i)) continue;
      const int side = operand.of_i() ? 0 : operand.of_j() ? 1 : 2;
      static constexpr const char* kRows[] = {"kRowOfI", "kRowOfJ", "1"};
      const std::string type = type_of(operand.id), name = fmt::format("copy{}", operand.id);
      made.declarations +=
          fmt::format("{0} (* const {1})[{2}] = ({0}(*)[{2}])(shared.bytes + {3});\n", type, name, kRows[side], offset);
      offset += fmt::format(" + rounded(elements * {} * (int)sizeof({}))", kRows[side], type);
      of_side[side] += fmt::format("{{\n{}{}[k - piece][{}] = t{};\n}}\n", operands_.computed(operand.id, "next{}[m]"),
                                   name, side < 2 ? "number" : "0", operand.id);
      for (const NodeId id : operands_.closure(operand.id))
        if (is_element(graph_[id].op) && side < 2 && loaded.insert(id).second) {
          const char* const count = side == 0 ? "kBlockI" : "NBCC_J_TILE";
          made.declarations +=
              fmt::format("{} next{}[{} / copied_together(elements)];\n", statements_.loaded_type(id), id, count);
          made.load += fmt::format(
              "load_column(next{0}, a.{1}[{2} + k], [&](int m) {{ return {3}; }});\n", id, side == 0 ? 'i' : 'j',
              graph_[id].payload,
              side == 0 ? "i_particle(a, lesser((index)blockIdx.x * kBlockI + number_of<elements>(m), a.ni - 1))"
                        : "first_j + lesser(number_of<elements>(m), count - 1)");
        }
    }
    made.declarations += fmt::format("static_assert({} <= kSharedBytes, \"the copies fit\");\n", offset);
    static constexpr const char* kParticles[] = {
        "kBlockI", "const index i = i_particle(a, lesser((index)blockIdx.x * kBlockI + number, a.ni - 1));\n",
        "NBCC_J_TILE", "const index j = first_j + lesser(number, count - 1);\n"};
    for (const std::size_t side : {0, 1})
      if (!of_side[side].empty())
        made.store += fmt::format(
            "#pragma unroll\nfor (int m = 0; m < {} / copied_together(elements); ++m) {{\nconst int number = "
            "number_of<elements>(m);\n{}{}}}\n",
            kParticles[2 * side], kParticles[2 * side + 1], of_side[side]);
    if (!of_side[2].empty()) made.store += fmt::format("if (threadIdx.x < elements) {{\n{}}}\n", of_side[2]);
    return made;
  }

  std::string term_function(const Node& loop, const std::vector<LoopOperand>& all) const {
    std::string parameters = fmt::format("const {} sum", cuda_type(loop.type, scalars_)), body;
    for (const LoopOperand& operand : all) parameters += fmt::format(", const {} t{}", type_of(operand.id), operand.id);
    for (const NodeId id : inner_nodes(plan_, loop.args[0])) body += statements_.computed(id);
    return fmt::format("const auto with_term = [&]({}) {{\n{}return {};\n}};\n", parameters, body,
                       statements_.with_term(loop, "sum"));
  }

  std::string loop(NodeId id) const {
    const Node& n = graph_[id];
    const Elements range = elements_of(n.payload);
    const std::vector<LoopOperand> all = loop_operands(plan_, n.args[0]);
    std::string loads, arguments;
    const Copies copied = copies(all, "0", true);
    for (const LoopOperand& operand : all) {
      const std::string name = fmt::format("of{}", operand.id), type = type_of(operand.id);
      if (!operand.in_loop) {
        arguments += ", " + member(operand, "slice * kJ + u");
      } else if (operand.of_i()) {
        loads += fmt::format(
            "{0} {1}[NBCC_I_PER_THREAD];\n#pragma unroll\nfor (int r = 0; r < NBCC_I_PER_THREAD; ++r) {1}[r] = "
            "copy{2}[k][row + r * kSliceThreads];\n",
            type, name, operand.id);
        arguments += fmt::format(", {}[r]", name);
      } else if (operand.of_j()) {
        loads += fmt::format("{0} {1}[kJ];\nload_row<kJ>({1}, copy{2}[k] + slice * kJ);\n", type, name, operand.id);
        arguments += fmt::format(", {}[u]", name);
      } else {
        loads += fmt::format("const {} {} = copy{}[k][0];\n", type, name, operand.id);
        arguments += ", " + name;
      }
    }
    return fill_template("cuda_element_loop.cuh", {{"first", std::to_string(range.first)},
                                                   {"end", std::to_string(range.first + range.count)},
                                                   {"sum", fmt::format("loop{}", id)},
                                                   {"identity", cuda_loop_identity(n, scalars_)},
                                                   {"declarations", copied.declarations},
                                                   {"load", copied.load},
                                                   {"store", copied.store},
                                                   {"with_term", term_function(n, all)},
                                                   {"loads", loads},
                                                   {"arguments", arguments}});
  }

  // Loads and computes what an output array reads of a thread's i, for its elements.
  std::string values_of_i(const LoopOperand& operand) const {
    std::string raw;
    for (const NodeId id : operands_.closure(operand.id))
      if (graph_[id].op == Op::ElementOfI)
        raw += fmt::format(
            "{0} raw{1}[kElementsOfThread][kIOfThread];\nload_elements(raw{1}, a.i + {2} + "
            "first_element, piece_end - first_element, particle);\n",
            statements_.loaded_type(id), id, graph_[id].payload);
    return fill_text("values of i", R"(@{raw}
@{type} of@{id}[kElementsOfThread][kIOfThread];
#pragma unroll
for (int e = 0; e < kElementsOfThread; ++e) {
  const int k = lesser(first_element + e, piece_end - 1);
#pragma unroll
  for (int q = 0; q < kIOfThread; ++q) {
    const index i = particle(q);
    @{statements}
    of@{id}[e][q] = t@{id};
  }
}
)",
                     {{"raw", raw},
                      {"type", type_of(operand.id)},
                      {"statements", operands_.computed(operand.id, "raw{}[e][q]")},
                      {"id", std::to_string(operand.id)}});
  }

  std::string output_array(const OutputArray& array) const {
    Node sum;
    sum.op = Op::SumOfElements;
    sum.type = graph_[array.value].type;
    sum.args[0] = array.value;
    const std::vector<LoopOperand> all = loop_operands(plan_, array.value);
    std::string of_i, of_j, loads;
    const Copies copied = copies(all, "kCopies", false);
    const auto load_values = [&](NodeId id) {
      loads +=
          is_condition(id)
              ? fmt::format("bool of{0}[kIOfThread];\nload_bits(of{0}, value{0}, number, first_of_i);\n", id)
              : fmt::format("{0} of{1}[kIOfThread];\nload_row<kIOfThread>(of{1}, value{1}[number] + first_of_i);\n",
                            type_of(id), id);
    };
    std::string arguments;  // of with_term() for j number `number`, the m-th that is loaded
    for (const LoopOperand& operand : all) {
      const std::string name = fmt::format("of{}", operand.id), type = type_of(operand.id);
      if (operand.of_pair()) {
        load_values(operand.id);
        arguments += fmt::format(", {}[q]", name);
      } else if (operand.of_i()) {
        of_i += values_of_i(operand);
        arguments += fmt::format(", {}[e][q]", name);
      } else if (operand.of_j() && operand.in_loop) {
        of_j += fmt::format(
            "{0} {1}[kElementsOfThread][together];\n#pragma unroll\nfor (int e = 0; e < kElementsOfThread; ++e) "
            "load_row<together>({1}[e], copy{2}[first_element - piece + e] + begin);\n",
            type, name, operand.id);
        arguments += fmt::format(", {}[e][m]", name);
      } else if (operand.of_j()) {
        arguments += ", " + member(operand, "number");
      } else {
        arguments += fmt::format(", copy{}[first_element - piece + e][0]", operand.id);
      }
    }
    std::string guard = "true";
    if (array.guard != kNone) {
      guard = fmt::format("of{}[q]", array.guard);
      if (std::ranges::find(all, array.guard, &LoopOperand::id) == all.end()) load_values(array.guard);
    }
    return fill_template("cuda_output_array.cuh", {{"first", std::to_string(array.elements.first)},
                                                   {"end", std::to_string(array.elements.first + array.elements.count)},
                                                   {"type", type_of(array.value)},
                                                   {"place", std::to_string(place_of(array.first))},
                                                   {"declarations", copied.declarations},
                                                   {"load", copied.load},
                                                   {"store", copied.store},
                                                   {"with_term", term_function(sum, all)},
                                                   {"of_i", of_i},
                                                   {"of_j", of_j},
                                                   {"loads", loads},
                                                   {"arguments", arguments},
                                                   {"guard", guard}});
  }

  const Plan& plan_;
  const Options& options_;
  const Graph& graph_ = plan_.graph;
  const CudaScalars scalars_{options_.precision == Precision::Double,
                             options_.math == Math::Precise || options_.root == RootMode::Exact};
  const CudaStatements statements_{graph_, plan_, options_, scalars_, "a.", false};
  const CudaLoopOperands operands_{plan_, statements_};
  std::set<NodeId> stored_;  // values of a pair that output arrays read
};

}  // namespace

bool finishes_sums(const Pipeline& pipeline, const Plan& plan) {
  return !pipeline.finished.empty() || !pipeline.positions.empty() || !plan.choices.empty() ||
         std::ranges::any_of(plan.outputs,
                             [](const OutputPlan& output) { return output.reduction >= Reduction::Product; });
}

LaunchConfig cuda_loop_launch(const Pipeline& pipeline, const Plan& plan, const Options& options) {
  const int staged_bytes = cuda_pair_body(pipeline, plan, options, CudaPairs::All).needs.staged_bytes + 16;
  const LoopText text(plan, options);
  const bool has_more =
      (finishes_sums(pipeline, plan) && !plan.arrays.empty()) || options.precision == Precision::Mixed ||
      std::ranges::any_of(plan.outputs, [](const OutputPlan& output) { return output.histogram >= 0; });
  constexpr std::size_t kMostLoops = 4;  // whose sums fit into registers
  if (has_more || plan.tiled_loops.size() > kMostLoops || !text.reads_no_loops()) return {};
  const int most = options.precision == Precision::Double ? 128 : 256;
  // The later ones are for many accumulators, such as the k least values of an i and their payloads.
  for (const auto& [threads, i_per_thread] : {std::pair{most, 4}, {most / 2, 4}, {128, 2}, {64, 2}, {32, 2}}) {
    // Long tiles, since the sums of output arrays go to memory after each.
    if (i_per_thread < 4 && !plan.arrays.empty()) break;
    const int slices = threads / (plan.arrays.empty() ? 32 : 16);
    const LaunchConfig config{.threads = threads,
                              .i_per_thread = i_per_thread,
                              .j_tile = kJOfThread * slices,
                              .unroll = 1,
                              .j_slices = slices};
    const std::int64_t bytes = text.shared_bytes(config), particles = config.j_tile * std::int64_t(staged_bytes);
    if (bytes + particles <= kGpuSharedBytesPerBlock - 512) return config;
  }
  return {};
}

int cuda_loop_statements(const Plan& plan) {
  std::int64_t count = 0;
  const auto add = [&](NodeId term, Elements elements) {
    count += elements.count * std::int64_t(std::max<std::size_t>(inner_nodes(plan, term).size(), 1));
  };
  for (const NodeId id : plan.tiled_loops) add(plan.graph[id].args[0], elements_of(plan.graph[id].payload));
  for (const OutputArray& array : plan.arrays) add(array.value, array.elements);
  return int(count);
}

std::string cuda_element_loops(const Plan& plan, const Options& options, const CudaPairBody& body,
                               const LaunchConfig& launch) {
  const LoopText text(plan, options);
  std::string self;
  if (body.tests_self) self = "int self[NBCC_I_PER_THREAD];\nfind_self(a, first_i, first_j, self);\n";
  if (body.two_loops) self += "constexpr bool may_be_self = true;\n";
  return fill_template("cuda_element_loops.cu", {{"elements", std::to_string(elements_in_piece(options))},
                                                 {"bytes", std::to_string(text.shared_bytes(launch))},
                                                 {"padding_of_i", std::to_string(kPaddingOfI)},
                                                 {"padding_of_j", std::to_string(kPaddingOfJ)},
                                                 {"place", fill_template("cuda_array_place.cuh", {})},
                                                 {"uniform", body.uniform},
                                                 {"load_i", body.load_i},
                                                 {"clear_arrays", text.clear_arrays()},
                                                 {"stage_j", body.stage_j},
                                                 {"buffers", text.buffers()},
                                                 {"loops", text.loops()},
                                                 {"values", text.values()},
                                                 {"before_pairs", text.before_pairs()},
                                                 {"after_pairs", text.after_pairs()},
                                                 {"self", self},
                                                 {"pair_j", body.pair_j},
                                                 {"pair", body.pair + text.after_pair()},
                                                 {"flush", body.flush},
                                                 {"arrays", text.arrays()},
                                                 {"store_arrays", text.store_arrays()}});
}

}  // namespace nbcc
