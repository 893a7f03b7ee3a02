// Neighbourhood -> a separate CUDA source: templates/cuda/search/cuda_search.cu.in and cuda_search_*.cuh.in, filled
// with the statements of a pair and those that locate a particle. Entry point: add_cuda_search().
// runtime/cuda/methods/cuda_search launches the kernels.
#include "compiler/emit/cuda/frames/cuda_neighbours.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "compiler/emit/cuda/frames/cuda_particles.h"
#include "compiler/emit/cuda/launch/gpu_facts.h"
#include "compiler/emit/cuda/pair/cuda_pair_body.h"
#include "compiler/ir/period.h"
#include "compiler/passes/facts/image_shift.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

std::string reach_name(SearchLayout::Reach reach) {
  using Reach = SearchLayout::Reach;
  switch (reach) {
    case Reach::Uniform:
      return "kUniform";
    case Reach::OfI:
      return "kOfI";
    case Reach::OfJ:
      return "kOfJ";
    case Reach::Max:
      return "kLarger";
    case Reach::Min:
      return "kSmaller";
    case Reach::Sum:
      return "kBoth";
  }
  return "";
}

constexpr LaunchConfig kLaunch{128, 1, 640, 8, 1};

int periodic_axes(const SearchLayout& layout) {
  int bits = 0;
  for (std::size_t axis = 0; axis < layout.periodic.size(); ++axis)
    bits |= int(layout.triclinic || layout.periodic[axis]) << axis;
  return bits;
}

// Resident blocks of nbcc_interact on a multiprocessor: five, since the shared memory of more would be taken from the
// L1 cache (bench/RESULTS.md), and fewer if values would not stay in registers.
int resident_blocks(const CudaNeeds& needs) {
  constexpr int kRegisters = kGpuRegisters / kLaunch.threads, kMaxBlocks = 5, kOfSearch = 48;
  const int words = needs.precision == Precision::Single ? 1 : 2;
  // Two pairs at a time; j-particles that are not in shared memory are loaded ahead.
  const int particles = needs.staged_bytes <= 16 ? 2 : 4;
  const int of_pair = needs.i_words + particles * needs.staged_bytes / 4 + 3 * words * needs.accumulators;
  return std::clamp(kRegisters / (kOfSearch + of_pair), 2, kMaxBlocks);
}

// The shared memory of the architecture that the source is compiled for, as macros.
std::string shared_memory_text() {
  std::string text;
  const auto begin = std::rbegin(kGpuSharedMemory), end = std::rend(kGpuSharedMemory);
  for (auto row = begin; row != end; ++row) {
    const bool last = std::next(row) == end;
    text +=
        last ? "#else\n" : fmt::format("#{} __CUDA_ARCH__ >= {}0\n", row == begin ? "if" : "elif", row->architecture);
    text += fmt::format("#define NBCC_SHARED_BYTES {}\n#define NBCC_RESERVED_SHARED_BYTES {}\n", row->bytes,
                        row->reserved_bytes);
  }
  return text + "#endif";
}

// same_leaf(): true for the same leaf in two graphs. without_sign(): strips negations.
bool same_leaf(const Graph& a, NodeId in_a, const Graph& b, NodeId in_b) {
  const Node &x = a[in_a], &y = b[in_b];
  if (x.op != y.op) return false;
  if (x.op == Op::Const) return a.constant_value(in_a) == b.constant_value(in_b);
  return (x.op == Op::InputI || x.op == Op::InputJ || x.op == Op::Param) && x.payload == y.payload;
}
NodeId without_sign(const Graph& graph, NodeId id, bool& negative) {
  if (graph[id].op != Op::Neg) return id;
  negative = !negative;
  return without_sign(graph, graph[id].args[0], negative);
}

// True if the node is difference / length, or difference times the reciprocal of the length.
bool is_in_lengths(const Graph& graph, NodeId id, NodeId difference, NodeId length) {
  const Node& n = graph[id];
  const auto is_reciprocal = [&](NodeId factor) {
    const Node& f = graph[factor];
    if (f.op == Op::Div)
      return f.args[1] == length && graph[f.args[0]].op == Op::Const && graph.constant_value(f.args[0]) == 1;
    return f.op == Op::Const && graph[length].op == Op::Const &&
           std::abs(graph.constant_value(factor) * graph.constant_value(length) - 1) < 1e-6;
  };
  if (n.op == Op::Div) return n.args[0] == difference && n.args[1] == length;
  return n.op == Op::Mul && ((n.args[0] == difference && is_reciprocal(n.args[1])) ||
                             (n.args[1] == difference && is_reciprocal(n.args[0])));
}

// Minimum image along an axis of the neighbourhood -> the difference of positions of which it is the image. For pairs
// within reach both are equal unless the pair crosses a periodic boundary. Images in mixed precision are not included,
// since they have more digits than the difference.
std::map<NodeId, NodeId> images_of(const Plan& plan, const Neighbourhood& neighbourhood) {
  const Graph& graph = plan.graph;
  std::map<NodeId, NodeId> images;
  for (NodeId id : plan.pair) {
    const std::optional<ImageShift> shift = image_shift(graph, id);
    if (!shift || plan.image_shifts.count(id)) continue;
    bool taken_off = !shift->added;
    const NodeId length = without_sign(graph, shift->length, taken_off);
    const NodeId whole = without_sign(graph, shift->whole, taken_off);
    if (!taken_off || !is_in_lengths(graph, graph[whole].args[0], shift->difference, length)) continue;
    const std::array<NodeId, 2> ends = {graph[shift->difference].args[0], graph[shift->difference].args[1]};
    for (const Axis& axis : neighbourhood.axes) {
      if (axis.length == kNone) continue;
      bool negative = false;
      const NodeId of_axis = without_sign(neighbourhood.graph, axis.length, negative);
      const auto is_end = [&](NodeId of) {
        return same_leaf(graph, ends[0], neighbourhood.graph, of) || same_leaf(graph, ends[1], neighbourhood.graph, of);
      };
      if (is_end(axis.of_i) && is_end(axis.of_j) &&
          same_leaf(graph, length_of_period(graph, length), neighbourhood.graph, of_axis))
        images[id] = shift->difference;
    }
  }
  return images;
}

// Statements that locate a j-particle from `other`, which is in registers, instead of reading the caller's arrays
// again.
std::string locate_packed(const Neighbourhood& neighbourhood, const Plan& plan, const CudaPairBody& body) {
  ScalarSpelling spelling = cuda_scalar_spelling();
  const auto from_array = spelling.input;
  spelling.input = [&](const Node& n) {
    if (n.op != Op::InputJ || n.type < Type::Float) return from_array(n);
    const int column = plan.j.whole.at(int(n.payload));
    if (!body.j_columns.count(column)) return from_array(n);
    const auto low = plan.j.low.find(int(n.payload));
    const std::string rest = low == plan.j.low.end() ? "" : fmt::format(" + (double)other.c{}", low->second);
    return fmt::format("((double)other.c{}{})", column, rest);
  };
  return locate_text(neighbourhood, plan, spelling, {"row[{}]", "row[{}]", "row[{}]"}).j;
}

// Statements that locate a particle of each side. A first branch handles arrays of floats only: without a choice of
// conversions, all loads are in flight together.
LocateText locate_in_arrays(const Neighbourhood& neighbourhood, const Plan& plan) {
  const LocateText rows = {"row[{}]", "row[{}]", "row[{}]"};
  ScalarSpelling spelling = cuda_scalar_spelling();
  LocateText text = locate_text(neighbourhood, plan, spelling, rows);
  std::map<char, std::set<std::string>> elements;
  bool all_real = true;
  spelling.input = [&](const Node& n) {
    const char side = n.op == Op::InputI ? 'i' : 'j';
    elements[side].insert(fmt::format("a.{}[{}].element", side, n.payload));
    all_real &= n.type >= Type::Float;
    return fmt::format("(double)float_of(a.{0}[{1}], {0})", side, n.payload);
  };
  const LocateText of_floats = locate_text(neighbourhood, plan, spelling, rows);
  const auto choose = [&](char side, const std::string& plain, std::string& general) {
    if (all_real && !elements[side].empty())
      general =
          fmt::format("if (({}) == kFloat) {{\n{}return;\n}}\n{}", fmt::join(elements[side], " | "), plain, general);
  };
  choose('i', of_floats.i, text.i);
  choose('j', of_floats.j, text.j);
  return text;
}

// [axis] column of JParticle with the coordinate, if JParticle holds all coordinates as floats.
std::optional<std::vector<int>> position_columns(const Neighbourhood& neighbourhood, const Plan& plan,
                                                 const CudaPairBody& body, Precision precision) {
  if (precision != Precision::Single) return {};
  std::vector<int> columns;
  for (const Axis& axis : neighbourhood.axes) {
    const Node& n = neighbourhood.graph[axis.of_j];
    if (n.op != Op::InputJ || n.type < Type::Float) return {};
    columns.push_back(plan.j.whole.at(int(n.payload)));
    if (!body.j_columns.count(columns.back())) return {};
  }
  return columns;
}

}  // namespace

void add_cuda_search(KernelSource& source, const Pipeline& pipeline, const Plan& plan, const Options& options,
                     const Neighbourhood& neighbourhood) {
  const CudaPairBody body =
      cuda_pair_body(pipeline, plan, options, CudaPairs::Neighbours, images_of(plan, neighbourhood));
  const LocateText locate = locate_in_arrays(neighbourhood, plan);
  source.search = search_layout(neighbourhood, pipeline.tables);
  KernelVariant variant{Frame::Search, {}, {kLaunch}, (body.needs.staged_bytes + 15) / 16 * 16};
  // In single precision, coordinates and their images are rounded to float.
  const char* const coordinates = options.precision == Precision::Single ? "0x1p-20" : "0x1p-48";
  // ~0u is the index of no j.
  const std::string find_self =
      "const index same_number = i + a.i_offset - a.j_offset;\n"
      "self[0] = same_number >= 0 && same_number < js.count ? (unsigned)same_number : ~0u;";
  const auto columns = position_columns(neighbourhood, plan, body, options.precision);
  std::string packed_position;
  for (std::size_t axis = 0; columns && axis < columns->size(); ++axis) {
    packed_position += fmt::format("position[{}] = other.c{};\n", axis, (*columns)[axis]);
  }
  const std::string blocks = std::to_string(resident_blocks(body.needs));
  const std::string sums = fill_template("cuda_search_sums.cuh", {{"resident_blocks", blocks},
                                                                  {"uniform", body.uniform},
                                                                  {"load_i", body.load_i},
                                                                  {"find_self", body.tests_self ? find_self : ""},
                                                                  {"pair_j", body.pair_j},
                                                                  {"pair", body.pair},
                                                                  {"flush", body.flush}});
  const std::string domain =
      fill_template("cuda_search_domain.cuh", {{"locate_i", locate.i},
                                               {"locate_j", locate.j},
                                               {"locate_packed", locate_packed(neighbourhood, plan, body)},
                                               {"extent", locate.extent},
                                               {"packed_position", packed_position},
                                               {"sentinel", body.sentinel}});
  const std::string boxes =
      fill_template("cuda_search_boxes.cuh", {{"uniform", body.uniform}, {"load_j", body.stage_j}});
  const std::string candidates =
      fill_template("cuda_search_candidates.cuh", {{"resident_blocks", blocks},
                                                   {"shared_memory", shared_memory_text()},
                                                   {"bytes_per_block", std::to_string(kGpuSharedBytesPerBlock)}});
  variant.source = fill_template(
      "cuda_search.cu", {{"title", cuda_title(pipeline, options)},
                         {"types", cuda_types(kLaunch, "0", options.precision, plan)},
                         {"exclusions", cuda_exclusions()},
                         {"instructions", fill_template("cuda_halves.cuh", {}) + fill_template("cuda_blocks.cuh", {})},
                         {"particles", cuda_particles(pipeline, plan, body)},
                         {"axes", std::to_string(source.search.axes)},
                         {"periodic", std::to_string(periodic_axes(source.search))},
                         {"reach", reach_name(source.search.reach)},
                         {"coordinates", coordinates},
                         {"packed_bytes", std::to_string(variant.packed_bytes)},
                         {"packed_has_position", columns && !source.search.triclinic ? "true" : "false"},
                         {"cell", source.search.triclinic ? "true" : "false"},
                         {"domain", domain},
                         {"data", fill_template("cuda_search_data.h", {})},
                         {"boxes", boxes},
                         {"sort", fill_template("cuda_onesweep.cuh", {}) + fill_template("cuda_search_sort.cuh", {})},
                         {"candidates", candidates},
                         {"sums", sums}});
  source.variants.push_back(std::move(variant));
}

}  // namespace nbcc
