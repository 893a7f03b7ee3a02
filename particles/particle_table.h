// Particles as a file holds them: ordered, named columns of numbers, and notes about where they came from.
// A column of `components` numbers per particle is row-major: component c of particle k is at k * components + c.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nbcc {

enum class ElementType { Double, Float, Int32, Int64 };  // in the order of ColumnData's alternatives

using ColumnData =
    std::variant<std::vector<double>, std::vector<float>, std::vector<std::int32_t>, std::vector<std::int64_t>>;

struct ParticleColumn {
  std::string name;
  int components = 1;
  ColumnData data;
  std::string also{};  // what its file calls it, where that is another name

  ElementType type() const { return static_cast<ElementType>(data.index()); }
  std::int64_t rows() const;
  const void* values() const;
  void* values();
  std::string first_as_text() const;
};

// A column as it stands in a file of which not all was read.
struct ColumnOfFile {
  std::string name;
  std::int64_t components = 1, rows = 0;
  std::string also{};  // as in ParticleColumn
};

struct ParticleTable {
  std::vector<ParticleColumn> columns;
  std::vector<ColumnOfFile> in_file;  // all of them, in the file's order, where not all were asked for; else none
  std::int64_t rows = 0;              // of the columns; where there are none, of those in the file
  // Key and value, in order: "made by", "seed", "units" ... Keys hold letters, digits, spaces, '_' and '-'.
  std::vector<std::pair<std::string, std::string>> attributes;
  // A plain array without column names: exactly one column, called "data", of shape (rows, components).
  bool unnamed = false;
  // Of a format that nbcc does not write: its file is not to be replaced by a table.
  bool of_other_format = false;

  // What of a text is not as it was written: "column 'tag' holds 123456789012345678901"; "" where nothing is.
  std::string rounded{};

  // By its name, else by the one in its file; null when there is none.
  const ParticleColumn* find(std::string_view name) const;
  const std::string* find_attribute(std::string_view key) const;  // null when there is none
  // "id, m, x[3]", with other names of the file as "m (Masses)": the columns, of the file where it has more, as one
  // writes them for --columns.
  std::string column_names() const;
};

std::string_view element_name(ElementType type);  // "double", "float", "int32", "int64"
int element_size(ElementType type);               // bytes

ColumnData make_data(ElementType type, std::size_t count);

// The column in another type. An integer type takes whole numbers within its range only; throws
// std::range_error that names the first value and row that do not fit. Rounds to nearest towards float.
ParticleColumn convert(const ParticleColumn& column, ElementType type);

// Why the table is not one (names missing or twice, lengths that differ), or "" when all is well.
std::string table_fault(const ParticleTable& table);

}  // namespace nbcc
