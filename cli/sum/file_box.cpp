// Entry points: file_box(), params_of_box(), box_warning(). Uses the attributes that the readers of particle files have
// stored.
#include "cli/sum/file_box.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <vector>

#include "particles/numbers.h"
#include "particles/text_words.h"
#include "runtime/error.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

using Cell = std::array<std::array<double, 3>, 3>;

constexpr double kTolerance = 1e-5;  // relative tolerance, because files round the numbers of their box

// The numbers of a text; none if any word is not a number.
std::vector<double> numbers_in(const std::string* text) {
  std::vector<double> numbers;
  if (!text) return numbers;
  for (const Word& word : words_in(*text)) {
    numbers.emplace_back();
    if (read_number(word.text, numbers.back()) != std::errc() || !std::isfinite(numbers.back())) return {};
  }
  return numbers;
}

// The attribute with this key in upper or lower case; null if there is none.
const std::string* find_in_any_case(const ParticleTable& table, std::string_view key) {
  const auto is_same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  for (const auto& [name, value] : table.attributes)
    if (std::ranges::equal(name, key, is_same)) return &value;
  return nullptr;
}

// What a word of pbc says; nothing if it is another word.
std::optional<bool> truth_of(std::string_view word) {
  for (const std::string_view yes : {"T", "t", "True", "true", "TRUE", "1"})
    if (word == yes) return true;
  for (const std::string_view no : {"F", "f", "False", "false", "FALSE", "0"})
    if (word == no) return false;
  return std::nullopt;
}

std::optional<FileBox> box_of_lattice(const ParticleTable& table) {
  const std::vector<double> numbers = numbers_in(find_in_any_case(table, "Lattice"));
  if (numbers.size() != 9) return {};
  FileBox box;
  for (std::size_t k = 0; k < 9; ++k) box.cell[k / 3][k % 3] = numbers[k];
  if (const std::string* const pbc = find_in_any_case(table, "pbc")) {
    std::istringstream words(*pbc);
    std::string word;
    for (std::size_t k = 0; k < 3 && words >> word; ++k) box.periodic[k] = truth_of(word).value_or(false);
  }
  return box;
}

// A LAMMPS data file does not state which sides are periodic; all three are, by LAMMPS's default. A dump file states
// "pp ff fs" and so on.
std::optional<FileBox> box_of_header(const ParticleTable& table) {
  FileBox box;
  if (const std::string* const boundary = table.find_attribute("boundary")) {
    std::istringstream words(*boundary);
    std::string word;
    for (std::size_t k = 0; k < 3 && words >> word; ++k) box.periodic[k] = word.starts_with('p');
  }
  constexpr const char* sides[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
  constexpr const char* vectors[] = {"avec", "bvec", "cvec"};
  bool any = false;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<double> side = numbers_in(table.find_attribute(sides[k])),
                              vector = numbers_in(table.find_attribute(vectors[k]));
    if (side.size() == 2) box.cell[k][k] = side[1] - side[0];
    if (vector.size() == 3) std::ranges::copy(vector, box.cell[k].begin());
    any = any || side.size() == 2 || vector.size() == 3;
  }
  if (const std::vector<double> tilts = numbers_in(table.find_attribute("xy xz yz")); tilts.size() == 3)
    box.cell[1][0] = tilts[0], box.cell[2][0] = tilts[1], box.cell[2][1] = tilts[2];
  return any ? std::optional(box) : std::nullopt;
}

bool is_upright(const Cell& cell) {
  for (std::size_t k = 0; k < 9; ++k)
    if (k / 3 != k % 3 && cell[k / 3][k % 3] != 0) return false;
  return true;
}

std::string text_of(const Cell& cell) {
  if (is_upright(cell)) return fmt::format("{:g} x {:g} x {:g}", cell[0][0], cell[1][1], cell[2][2]);
  std::string text;
  for (const auto& v : cell) text += fmt::format("{}({:g}, {:g}, {:g})", text.empty() ? "" : ", ", v[0], v[1], v[2]);
  return text;
}

double determinant(const Cell& c) {
  return c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[2][1]) - c[0][1] * (c[1][0] * c[2][2] - c[1][2] * c[2][0]) +
         c[0][2] * (c[1][0] * c[2][1] - c[1][1] * c[2][0]);
}

// True if the file's periodic vectors are vectors of the lattice of `cell`. If all three directions are periodic, the
// volumes must agree too, so that the lattices are equal; the bases may differ.
bool is_lattice_of(const FileBox& box, const Cell& cell) {
  const double volume = determinant(cell);
  for (std::size_t k = 0; k < 3; ++k) {
    if (!box.periodic[k]) continue;
    bool nonzero = false;
    for (std::size_t m = 0; m < 3; ++m) {
      Cell replaced = cell;
      replaced[m] = box.cell[k];
      const double multiple = determinant(replaced) / volume, whole = std::nearbyint(multiple);
      if (!(std::fabs(multiple - whole) <= kTolerance * std::max(1.0, std::fabs(whole)))) return false;
      nonzero = nonzero || whole != 0;
    }
    if (!nonzero) return false;
  }
  const bool all = box.periodic == std::array{true, true, true};
  return !all || std::fabs(std::fabs(determinant(box.cell) / volume) - 1) <= 3 * kTolerance;
}

// The periodic cell of the pipeline's minimum image or of every_image(), [lattice vector][component]; open directions
// have zeros. Nothing if it is not known.
std::optional<Cell> cell_of(const KernelSource& pipeline, std::span<const double> params) {
  const SearchLayout& search = pipeline.search;
  const Formula zero{{{Formula::Op::Constant}}};
  std::array<const Formula*, 9> numbers{};
  numbers.fill(&zero);
  if (pipeline.copies() && pipeline.copies()->of_i.size() == 3) {
    for (std::size_t k = 0; k < 9; ++k) numbers[k] = &pipeline.copies()->periods[k / 3][k % 3];
  } else if (search.axes == 3 && !pipeline.copies()) {
    for (std::size_t k = 0; k < 9; ++k) {
      if (search.triclinic) numbers[k] = &search.cell[k];
      if (!search.triclinic && k % 4 == 0 && search.periodic[k / 3]) numbers[k] = &search.lengths[k / 3];
    }
  } else {
    return {};
  }
  Cell cell{};
  for (std::size_t k = 0; k < 9; ++k) {
    if (numbers[k]->steps.empty()) return {};
    cell[k / 3][k % 3] = evaluate(*numbers[k], params);
    if (!search.triclinic && !pipeline.copies()) cell[k / 3][k % 3] = std::fabs(cell[k / 3][k % 3]);
  }
  for (auto& vector : cell)
    if (!std::ranges::all_of(vector, [](double x) { return std::isfinite(x); })) vector = {};
  return cell;
}

// True if the box may be given by some of the params: three vectors among them are a basis of its lattice, or, if the
// box is parallel to the axes, each periodic length is one of the numbers.
bool is_among(const FileBox& box, const KernelSource& pipeline, std::span<const double> params) {
  std::vector<double> numbers;
  std::vector<std::array<double, 3>> vectors;
  for (const FieldLayout& field : pipeline.fields) {
    if (field.role != Role::Param || field.is_table()) continue;
    const auto own = params.subspan(std::size_t(field.first), std::size_t(field.components()));
    numbers.insert(numbers.end(), own.begin(), own.end());
    for (std::size_t k = 0; own.size() % 3 == 0 && k < own.size(); k += 3)
      vectors.push_back({own[k], own[k + 1], own[k + 2]});
  }
  bool has_lengths = is_upright(box.cell);
  for (std::size_t k = 0; k < 3; ++k) {
    const double length = std::fabs(box.cell[k][k]);
    const auto is_length = [&](double number) { return std::fabs(std::fabs(number) - length) <= kTolerance * length; };
    has_lengths = has_lengths && (!box.periodic[k] || std::ranges::any_of(numbers, is_length));
  }
  if (has_lengths) return true;
  for (std::size_t a = 0; a < vectors.size(); ++a)
    for (std::size_t b = a + 1; b < vectors.size(); ++b)
      for (std::size_t c = b + 1; c < vectors.size(); ++c)
        if (is_lattice_of(box, {vectors[a], vectors[b], vectors[c]})) return true;
  return false;
}

}  // namespace

std::optional<FileBox> file_box(const ParticleTable& table) {
  if (!box_fault(table).empty()) return {};
  std::optional<FileBox> box = box_of_lattice(table);
  if (!box) box = box_of_header(table);
  if (!box || box->periodic == std::array{false, false, false} || !(std::fabs(determinant(box->cell)) > 0)) return {};
  return box;
}

std::string box_fault(const ParticleTable& table) {
  const std::string* const lattice = find_in_any_case(table, "Lattice");
  if (lattice && numbers_in(lattice).size() != 9)
    return fmt::format("Lattice=\"{}\" is not nine finite numbers, so no periodic box is known", shown(*lattice));
  const std::string* const pbc = find_in_any_case(table, "pbc");
  if (lattice && pbc && words_in(*pbc).size() != 3)
    return fmt::format("pbc=\"{}\" is not three words, so no periodic box is known", shown(*pbc));
  if (lattice && pbc)
    for (const Word& word : words_in(*pbc))
      if (!truth_of(word.text))
        return fmt::format("pbc=\"{}\" has '{}', which is neither T nor F, so no periodic box is known", shown(*pbc),
                           shown(word.text));
  return "";
}

std::vector<ParamValue> params_of_box(const std::string& names, const ParticleTable& table, const std::string& file) {
  std::vector<ParamValue> params;
  for (const std::string_view name : split(names, ',')) params.push_back({std::string(name), {}});
  for (std::size_t k = 0; k < params.size(); ++k)
    for (std::size_t other = 0; other < k; ++other)
      if (params[k].name == params[other].name)
        throw UsageError(fmt::format("--box {}: '{}' is named twice", names, params[k].name));
  if (params.size() != 1 && params.size() != 3)
    throw UsageError(
        fmt::format("--box: '{}' is not a param for the lengths, as box, or three for the vectors, as a,b,c", names));
  if (const std::string fault = box_fault(table); !fault.empty())
    throw UsageError(fmt::format("--box {}: {}: {}", names, file, fault));
  const std::optional<FileBox> box = file_box(table);
  if (!box) throw UsageError(fmt::format("--box {}: {} states no periodic box", names, file));
  for (std::size_t k = 0; k < 3; ++k)
    if (!box->periodic[k])
      throw UsageError(fmt::format("--box {}: the box of {} is not periodic in {}: set the params by --param", names,
                                   file, "xyz"[k]));
  if (params.size() == 1 && !is_upright(box->cell))
    throw UsageError(fmt::format("--box {}: the box of {} has the vectors {}, which need three params: --box a,b,c",
                                 names, file, text_of(box->cell)));
  for (std::size_t k = 0; k < 3; ++k) {
    if (params.size() == 1)
      params[0].values.push_back(std::fabs(box->cell[k][k]));
    else
      params[k].values.assign(box->cell[k].begin(), box->cell[k].end());
  }
  return params;
}

std::string box_warning(const FileBox& box, const std::string& file, const KernelSource& pipeline,
                        std::span<const double> params) {
  const std::string stated = fmt::format("{} is of particles in a periodic box of {}", file, text_of(box.cell));
  if (!pipeline.uses.minimum_images && !pipeline.copies())
    return fmt::format("{}, but pipeline '{}' takes no nearest image: no pair across an edge of the box is near",
                       stated, pipeline.pipeline);
  std::optional<Cell> cell = cell_of(pipeline, params);
  if (!cell && is_among(box, pipeline, params)) return "";
  if (!cell)
    return fmt::format("{}, but no param of pipeline '{}' has its lengths or vectors: they were not set from the file",
                       stated, pipeline.pipeline);
  const Cell given = *cell;
  // In directions that are open in the file and in the pipeline, the lengths need not agree.
  for (std::size_t k = 0, open = 0; k < 3; ++k) {
    if (given[k] != std::array{0.0, 0.0, 0.0}) continue;
    while (open < 3 && box.periodic[open]) ++open;
    if (open < 3) (*cell)[k] = box.cell[open++];
  }
  if (is_lattice_of(box, *cell)) return "";
  return fmt::format("{}, but the box of pipeline '{}' is {}: its params were not set from the file", stated,
                     pipeline.pipeline, text_of(given));
}

}  // namespace nbcc
