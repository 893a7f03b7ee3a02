// CpuPairBody with reactions -> the functions that sum for both particles of each pair. Entry points: cpu_symmetric(),
// cpu_half_lists(), cpu_listed_once().
#include "compiler/emit/cpu/cpu_symmetric.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "compiler/emit/cpu/cpu_all_pairs.h"
#include "compiler/emit/cpu/cpu_images.h"
#include "compiler/emit/spelling.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

namespace {

std::map<std::string, std::string> common_holes(CpuPairBody& body, int lanes, int terms) {
  const IBlock block = i_block_of(body, "chunk_end");
  return {{"lanes", std::to_string(lanes)},
          {"terms", std::to_string(terms)},
          {"i_block", std::to_string(body.i_block())},
          {"uniform", body.uniform()},
          {"reactions", body.declare_reactions(terms)},
          {"clear_reactions", body.clear_reactions()},
          {"load_i", block.other_i + body.load_i()},
          {"clear", body.clear()},
          {"pair", body.pair()},
          {"reduce", block.reduce},
          {"add_reactions", body.add_reactions()}};
}

// Records are aligned, so that most lie in one cache line.
std::size_t bytes_of_record(std::size_t bytes) {
  std::size_t aligned = 8;
  while (aligned < bytes && aligned < 64) aligned *= 2;
  return aligned;
}

std::string reaction_row(std::size_t output) { return fmt::format("reaction_row{}", output); }

// Adds the k-th elements of the rows of reactions to the sums of a particle; four sums of doubles at a time.
std::string scatter_reactions(const Plan& plan, std::span<const std::size_t> of_j) {
  constexpr std::size_t kFour = 4;
  const auto is_sum = [&plan](std::size_t k) { return plan.outputs[k].reduction == Reduction::Sum; };
  std::string text;
  for (std::size_t at = 0; at < of_j.size();) {
    const std::span<const std::size_t> four = of_j.subspan(at, std::min(kFour, of_j.size() - at));
    if (four.size() == kFour && std::ranges::all_of(four, is_sum)) {
      text += fmt::format("*(four_sums*)&sums.sum{} += (four_sums){{{}[k], {}[k], {}[k], {}[k]}};\n", four[0],
                          reaction_row(four[0]), reaction_row(four[1]), reaction_row(four[2]), reaction_row(four[3]));
      at += kFour;
      continue;
    }
    const std::size_t k = of_j[at++];
    const std::string sum = fmt::format("sums.sum{}", k), one = reaction_row(k) + "[k]";
    text += is_sum(k) ? fmt::format("{} += {};\n", sum, one)
                      : fmt::format("{0} = {1}({0}, {2});\n", sum,
                                    is_minimum(plan.outputs[k].reduction) ? "minimum" : "maximum", one);
  }
  return text;
}

}  // namespace

std::string cpu_symmetric(CpuPairBody& body, int lanes, int terms) {
  return fill_template("cpu_symmetric.cpp", common_holes(body, lanes, terms));
}
std::string cpu_half_lists(CpuPairBody& body, const Plan& plan, int lanes, int terms) {
  const std::vector<OptionalImage> images = optional_images(plan);
  std::map<NodeId, NodeId> differences;
  for (const OptionalImage& image : images) differences.emplace(image.image, image.difference);
  body.set_optional(std::move(differences));
  std::map<std::string, std::string> holes = common_holes(body, lanes, terms);
  const ImageTest test = image_test(body, images);
  holes["has_test"] = images.empty() ? "false" : "true";
  holes["image_limits"] = test.limits;
  holes["box_of_i"] = test.box_of_i;
  holes["box_of_j"] = test.box_of_j;
  return fill_template("cpu_half_lists.cpp", holes);
}
std::string cpu_listed_once(CpuPairBody& body, const Plan& plan, int lanes) {
  // Most rows have fewer j. Arrays are not a multiple of a page apart, as these would map to the same sets of the L1
  // cache.
  constexpr int kVectors = 64, kStagger = 32;
  const int tile = kVectors * lanes;
  std::map<std::string, std::string> holes{{"lanes", std::to_string(lanes)},
                                           {"tile", std::to_string(tile)},
                                           {"row_length", std::to_string(tile + kStagger)},
                                           {"uniform", body.uniform()},
                                           {"reactions", body.declare_reactions(1)},
                                           {"clear_reactions", body.clear_reactions()},
                                           {"load_i", body.load_i()},
                                           {"clear", body.clear()},
                                           {"pair", body.pair()},
                                           {"reduce", body.reduce(0)},
                                           {"add_reactions", body.add_reactions()}};
  for (const char* const hole : {"listed_fields", "pack_listed", "gather", "column_names"}) holes[hole] = "";
  std::size_t bytes = 0;
  for (std::size_t c = 0; c < plan.j.columns.size(); ++c) {
    const Element element = plan.j.columns[c].element;
    const std::string type = c_name(element), name = fmt::format("column{}", c);
    holes["listed_fields"] += fmt::format("{} {};\n", type, name);
    holes["pack_listed"] += fmt::format("one.{0} = (({1}*)a->j[{2}])[j];\n", name, type, c);
    holes["columns"] += fmt::format("alignas(64) {} {}[{}];\n", type, name, tile + kStagger);
    holes["column_names"] += name + ", ";
    holes["gather"] += fmt::format("{0}[k] = one.{0};\n", name);
    bytes += std::size_t(size_of(element));
  }
  holes["listed_bytes"] = std::to_string(bytes_of_record(bytes));
  std::vector<std::size_t> of_j;
  for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
    const OutputPlan& output = plan.outputs[k];
    const Type type = output.is_whole() ? Type::Index : Type::Double;
    const std::string text = type == Type::Index ? "index" : "double", row = reaction_row(k);
    holes["rows"] +=
        fmt::format("{}{}", k > 0 ? ", " : "", output.of_j ? "(double*)" + row : fmt::format("given->acc[{}]", k));
    if (!output.of_j) continue;
    of_j.push_back(k);
    holes["reactions_fields"] += fmt::format("{} sum{};\n", text, k);
    holes["columns"] += fmt::format("alignas(64) {} {}[{}];\n", text, row, tile + kStagger);
    holes["clear_sums"] += fmt::format("sums.sum{} = {};\n", k, cpu_literal(output.identity(), type));
    holes["unpack_sums"] += fmt::format("(({}*)a->acc[{}])[j] = sums.sum{};\n", text, k, k);
  }
  holes["scatter"] = scatter_reactions(plan, of_j);
  holes["reactions_bytes"] = std::to_string(bytes_of_record(of_j.size() * sizeof(double)));
  return fill_template("cpu_listed_once.cpp", holes);
}

}  // namespace nbcc
