// Plan -> OptionalImage, ImageTest. Entry points: optional_images(), image_test().
#include "compiler/emit/cpu/cpu_images.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "compiler/emit/cpu/cpu_pair_body.h"
#include "compiler/passes/facts/image_shift.h"

namespace nbcc {
namespace {

constexpr std::size_t kMaxComponents = 4;  // of ImageTest

std::optional<OptionalImage> optional_image(const Graph& graph, NodeId id) {
  const std::optional<ImageShift> shift = image_shift(graph, id);
  if (!shift || graph[id].binding != Binding::Pair) return {};
  NodeId rounded = shift->whole;
  while (graph[rounded].op == Op::Neg) rounded = graph[rounded].args[0];
  const Node& quotient = graph[graph[rounded].args[0]];
  if (quotient.op != Op::Mul && quotient.op != Op::Div) return {};
  const bool divides = quotient.op == Op::Div, is_first = quotient.args[0] == shift->difference;
  if (!is_first && (divides || quotient.args[1] != shift->difference)) return {};
  const NodeId factor = quotient.args[is_first ? 1 : 0];
  if (!is_uniform(graph[factor].binding)) return {};
  const auto& of = graph[shift->difference].args;
  const bool i_first = graph[of[0]].op == Op::InputI;
  return OptionalImage{id, shift->difference, of[i_first ? 0 : 1], of[i_first ? 1 : 0], factor, divides};
}

}  // namespace

std::vector<OptionalImage> optional_images(const Plan& plan) {
  std::vector<OptionalImage> images;
  for (const NodeId id : plan.pair)
    if (const auto image = optional_image(plan.graph, id); image && !plan.image_shifts.count(id))
      images.push_back(*image);
  return images.size() > kMaxComponents ? std::vector<OptionalImage>() : images;
}

ImageTest image_test(const CpuPairBody& body, const std::vector<OptionalImage>& images) {
  ImageTest test;
  std::string limits, low, high;
  for (std::size_t k = 0; k < kMaxComponents; ++k) {
    const bool is_used = k < images.size();
    limits += k > 0 ? ", " : "";
    low += k > 0 ? ", " : "";
    high += k > 0 ? ", " : "";
    const std::string factor = is_used ? body.node_name(images[k].factor, 0) + "[0]" : "";
    limits += is_used ? fmt::format("image_limit({}, {})", factor, images[k].divides) : "0";
    std::string least, most;
    for (int r = 0; is_used && r < body.i_block(); ++r) {
      const std::string x = body.node_name(images[k].of_i, r) + "[0]";
      least = r == 0 ? x : fmt::format("minimum_of_number({}, {})", least, x);
      most = r == 0 ? x : fmt::format("maximum_of_number({}, {})", most, x);
    }
    low += is_used ? fmt::format("float_below({})", least) : "0";
    high += is_used ? fmt::format("float_above({})", most) : "0";
    if (is_used)
      test.box_of_j += fmt::format(
          "{{\n{0}box[{1}] = float_below(reduce_lanes({2}, [](auto x, auto y) {{ return minimum_of_number(x, y); "
          "}}));\n"
          "box[{3}] = float_above(reduce_lanes({2}, [](auto x, auto y) {{ return maximum_of_number(x, y); }}));\n}}\n",
          body.loaded_once(images[k].of_j), k, body.node_name(images[k].of_j, 0), kMaxComponents + k);
  }
  test.limits = fmt::format("const four_floats image_limits = {{{}}};\n", limits);
  test.box_of_i = fmt::format("const four_floats low_i = {{{}}}, high_i = {{{}}};\n", low, high);
  return test;
}

}  // namespace nbcc
