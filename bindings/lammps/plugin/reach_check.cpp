// The atoms of a rank -> an error if a pair of them can act beyond the cutoff. Part of Interaction. Entry point:
// check_reach(). Finds no pairs of the atoms: their distances do not matter.
//
// A tested pair consists of copies of two atoms just beyond the cutoff; different tests are far apart, so that one
// search for neighbours has the answer for all of them:
//
//   y = 4 cutoff m    i of test m o--- cutoff (1 + 1e-9) ---o j of test m
//
// A proved reach is the max, min or sum of a number of i and one of j, or at most the largest element of a table, so
// the largest reach of two types belongs to atoms with the smallest or largest quantities if it rises or falls with
// each of them. Other reaches are tested for each atom and its equal alone, before the run.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include "bindings/lammps/plugin/interaction.h"

namespace nbcc_lammps {
namespace {

// If the reach is so long that it covers other tests, a search lists all pairs: at most the square of this number.
constexpr std::size_t kTestsPerSearch = 1024;
constexpr double kLongestReach = 1e30;  // beyond it a message names no larger reach

// The pipeline's text for a search. A search does not support inputs of pairs, so these become inputs of j.
std::string text_for_search(std::string text) {
  const std::string role = "input_pair";
  for (std::size_t at = 0; (at = text.find(role, at)) != std::string::npos;) text.replace(at, role.size(), "input_j");
  return text;
}

const std::byte* row_of(const Quantity& quantity, std::int64_t atom) {
  return static_cast<const std::byte*>(quantity.data) + atom * quantity.stride;
}

template <typename T>
double number_at(const std::byte* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return double(number);
}

double number_of(const Quantity& quantity, std::int64_t atom, int column) {
  const std::byte* const at = row_of(quantity, atom) + std::size_t(column) * std::size_t(bytes_of(quantity.element));
  switch (quantity.element) {
    case NBCC_FLOAT:
      return number_at<float>(at);
    case NBCC_INT32:
      return number_at<std::int32_t>(at);
    case NBCC_INT64:
      return number_at<std::int64_t>(at);
    default:
      return number_at<double>(at);
  }
}

// ", for atoms of radius 0.5 and 0.6, type 1 and 2"; empty if the formula reads no single numbers of atoms.
std::string shown(const std::map<std::string, Quantity>& quantities, std::int64_t i, std::int64_t j) {
  std::string text;
  for (const auto& [name, quantity] : quantities) {
    if (name == "x" || quantity.columns != 1) continue;
    const int first = name == "type" ? 1 : 0;  // as LAMMPS counts
    std::array<char, 100> numbers{};
    std::snprintf(numbers.data(), numbers.size(), " %.7g and %.7g", number_of(quantity, i, 0) + first,
                  number_of(quantity, j, 0) + first);
    text += (text.empty() ? ", for atoms of " : ", ") + name + numbers.data();
  }
  return text;
}

}  // namespace

Interaction::Exact::Exact(const std::string& text, const std::string& path)
    : device("cpu", {.threads = 1}),
      pipeline(nbcc::Pipeline::from_text(device, text, path, {.precision = NBCC_DOUBLE})) {}

Interaction::Exact& Interaction::exact() {
  if (!exact_) exact_ = std::make_shared<Exact>(text_for_search(text_), path_);
  return *exact_;
}

void Interaction::check_reach(double cutoff, const AtomsInReach& atoms, ReachTest test) {
  if (exact().pipeline.neighbours().empty()) {
    const std::string why = exact().pipeline.no_neighbours();
    refuse("no cutoff is proved of this pipeline" + (why.empty() ? "" : ": " + why) +
           "; exclude pairs by skip_if(dot(dx, dx) >= rc * rc), with dx = xj - xi");
  }
  if (test == ReachTest::Step && are_tested(ranges_of(atoms, test))) return;
  const std::vector<std::vector<Range>> ranges = ranges_of(atoms, ReachTest::NewList);
  if (test == ReachTest::NewList && are_tested(ranges)) return;
  std::vector<std::set<std::int64_t>> outermost(ranges.size());  // [type]
  for (std::size_t type = 0; type < ranges.size(); ++type)
    for (const Range& range : ranges[type])
      if (range.least_atom >= 0) outermost[type].insert({range.least_atom, range.most_atom});
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < ranges.size(); ++a)
    for (std::size_t b = 0; b < ranges.size(); ++b)
      for (const std::int64_t i : outermost[a])
        for (const std::int64_t j : outermost[b])
          if (atoms.acts[a][b]) pairs.emplace_back(i, j);
  for (std::int64_t k = 0; test == ReachTest::Everything && k < atoms.owned; ++k)
    if (atoms.acts[std::size_t(atoms.types[k])][std::size_t(atoms.types[k])]) pairs.emplace_back(k, k);
  test_pairs(cutoff, pairs);
  tested_ = ranges;
}

bool Interaction::are_tested(const std::vector<std::vector<Range>>& ranges) const {
  if (tested_.size() != ranges.size()) return false;
  for (std::size_t type = 0; type < ranges.size(); ++type)
    for (std::size_t n = 0; n < ranges[type].size(); ++n) {
      const Range &range = ranges[type][n], &tested = tested_[type][n];
      if (range.least_atom < 0) continue;
      if (tested.least_atom < 0 || range.least < tested.least || tested.most < range.most) return false;
    }
  return true;
}

// [type][number]: number 0 is 0 for each atom, so that a formula without quantities has an atom of each type.
std::vector<std::vector<Interaction::Range>> Interaction::ranges_of(const AtomsInReach& atoms, ReachTest test) const {
  const bool is_step = test == ReachTest::Step;
  const std::int64_t count = is_step ? atoms.owned : atoms.all;
  std::vector<std::vector<Range>> ranges(atoms.acts.size(), std::vector<Range>(1));
  const auto add_column = [&](const auto& number_of_atom) {
    for (std::int64_t k = 0; k < count; ++k) {
      const double number = number_of_atom(k);
      Range& range = ranges[std::size_t(atoms.types[k])].back();
      if (range.least_atom < 0 && !std::isnan(number)) range = {number, number, k, k};
      if (number < range.least) range.least = number, range.least_atom = k;
      if (number > range.most) range.most = number, range.most_atom = k;
    }
  };
  add_column([](std::int64_t) { return 0.0; });
  for (const auto& [name, quantity] : quantities_)
    for (int c = 0; name != "x" && name != "type" && c < quantity.columns; ++c) {
      for (std::vector<Range>& of_type : ranges) of_type.emplace_back();
      if (is_step && !reach_quantities_.contains(name)) continue;
      add_column([&q = quantity, c](std::int64_t k) { return number_of(q, k, c); });
    }
  return ranges;
}

// The index of the first pair whose atoms act on each other at this distance.
std::optional<std::size_t> Interaction::first_acting(double distance, std::span<const Pair> pairs) {
  nbcc::Sum sum(exact().pipeline);
  give_params(sum);
  ignore_outputs(sum);
  const std::vector<double> ones(pairs.size(), 1.0);
  for (const nbcc::Field& field : fields_)
    if (field.role == NBCC_INPUT_PAIR) sum.bind(field.name, ones);
  std::map<std::string, std::vector<std::byte>> arrays;  // by input
  for (const auto& [name, meaning] : meaning_of_input_) {
    const bool is_of_i = find(name)->role == NBCC_INPUT_I;
    Quantity quantity = quantities_.at(meaning);
    const std::size_t bytes = std::size_t(quantity.columns * bytes_of(quantity.element));
    std::vector<std::byte>& array = arrays[name];
    array.resize(pairs.size() * bytes);
    for (std::size_t m = 0; m < pairs.size(); ++m) {
      const std::int64_t atom = is_of_i ? pairs[m].first : pairs[m].second;
      const double x[3] = {is_of_i ? 0 : distance, 4 * distance * double(m), 0};
      const void* const from = meaning == "x" ? static_cast<const void*>(x) : row_of(quantity, atom);
      std::memcpy(array.data() + m * bytes, from, bytes);
    }
    quantity.data = array.data();
    quantity.stride = std::int64_t(bytes);
    bind_input(sum, name, quantity, std::int64_t(pairs.size()));
  }
  sum.offsets(0, std::int64_t(pairs.size()));  // a guard may exclude the pair of a particle and itself
  const nbcc::NeighbourList found = sum.neighbours();
  for (std::size_t m = 0; m < pairs.size(); ++m)
    for (std::int64_t n = found.first[m]; n < found.first[m + 1]; ++n)
      if (found.j[std::size_t(n)] == std::int64_t(m)) return m;
  return {};
}

void Interaction::test_pairs(double cutoff, const std::vector<Pair>& pairs) {
  const double beyond = cutoff * (1 + 1e-9);
  for (std::size_t begin = 0; begin < pairs.size(); begin += kTestsPerSearch) {
    const std::span<const Pair> some(pairs.data() + begin, std::min(kTestsPerSearch, pairs.size() - begin));
    const std::optional<std::size_t> found = first_acting(beyond, some);
    if (!found) continue;
    const auto [i, j] = some[*found];
    std::array<char, 120> numbers{};
    std::snprintf(numbers.data(), numbers.size(),
                  "the cutoff of pair_style, %.10g, is less than the reach of this pipeline, %.10g", cutoff,
                  reach_of(some[*found], beyond));
    refuse(numbers.data() + (": " + exact().pipeline.neighbours()) + shown(quantities_, i, j));
  }
}

// The distance up to which the atoms of a pair act, by bisection; they do at the distance `acting`.
double Interaction::reach_of(const Pair& pair, double acting) {
  double beyond = 2 * acting;
  while (first_acting(beyond, {&pair, 1}) && beyond < kLongestReach) acting = std::exchange(beyond, 2 * beyond);
  while (beyond - acting > 1e-12 * beyond) {
    const double middle = 0.5 * (acting + beyond);
    (first_acting(middle, {&pair, 1}) ? acting : beyond) = middle;
  }
  return beyond;
}

// True if the name is a word of the proved reach.
bool Interaction::reach_names(const std::string& name) const {
  const std::string reach = plain_.pipeline->neighbours();
  const auto is_of_a_name = [&reach](std::size_t at) {
    return at < reach.size() && (std::isalnum(static_cast<unsigned char>(reach[at])) || reach[at] == '_');
  };
  for (std::size_t at = 0; (at = reach.find(name, at)) != std::string::npos; at += name.size())
    if (!is_of_a_name(at + name.size()) && (at == 0 || !is_of_a_name(at - 1))) return true;
  return false;
}

bool Interaction::is_reach_followed() const {
  return std::any_of(followed_.begin(), followed_.end(), [this](const auto& one) { return reach_names(one.first); });
}

}  // namespace nbcc_lammps
