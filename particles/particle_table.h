// A particle table as a file holds it: named columns of numbers in the file's order, and attributes (key and value).
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
  std::string name_in_file{};  // its name in the file, if that differs from `name`; else ""

  ElementType type() const { return static_cast<ElementType>(data.index()); }
  std::int64_t rows() const;
  const void* values() const;
  void* values();
  std::string first_as_text() const;
};

// A column of a file of which only chosen columns were read: name and shape, without the numbers.
struct ColumnOfFile {
  std::string name;
  std::int64_t components = 1, rows = 0;
  std::string name_in_file{};  // as in ParticleColumn
};

struct ParticleTable {
  std::vector<ParticleColumn> columns;
  // All columns of the file, in its order, if only chosen columns were read; else empty.
  std::vector<ColumnOfFile> in_file;
  std::int64_t rows = 0;  // of `columns`; if there are none, of `in_file`
  // Keys and values, in order: "made by", "seed", "units" ... Keys hold letters, digits, spaces, '_' and '-'.
  std::vector<std::pair<std::string, std::string>> attributes;
  // A plain array without column names: exactly one column, called "data", of shape (rows, components).
  bool unnamed = false;
  // The file has a format that nbcc reads but does not write; a table must not overwrite it.
  bool of_other_format = false;

  // Columns of a file that are not in the table, and why: {"h", "PartType1 has no SmoothingLength"}. In this order:
  // nbcc's name or the file's name, the reason.
  std::vector<std::pair<std::string, std::string>> absent{};

  // The first integer of a text file that was rounded to double: "column 'tag' holds 123456789012345678901"; "": none.
  std::string rounded{};

  // True if the option --types gave type names of the file their numbers.
  bool types_used = false;

  // Doubts of a reader about the file, without its path: "two rows have the id 7". The command prints them.
  std::vector<std::string> warnings{};

  // The column of this name, else the column with this name in the file; null if there is none.
  const ParticleColumn* find(std::string_view name) const;
  const std::string* find_attribute(std::string_view key) const;  // null when there is none
  // ": PartType1 has no SmoothingLength", if the column is among `absent`; else "".
  std::string absence(std::string_view name) const;
  // "id, m, x[3]": all columns of the file, for messages. A different name in the file is appended: "m (Masses)".
  std::string column_names() const;
};

std::string_view element_name(ElementType type);  // "double", "float", "int32", "int64"
int element_size(ElementType type);               // bytes

ColumnData make_data(ElementType type, std::size_t count);

// Converts a column to another type. A conversion to an integer type accepts only integers within its range; throws
// std::range_error, which names the first value and row that do not fit. A conversion to float rounds to nearest.
ParticleColumn convert(const ParticleColumn& column, ElementType type);

// What is wrong with the table (missing or duplicate names, different lengths of columns), or "" if nothing is.
std::string table_fault(const ParticleTable& table);

}  // namespace nbcc
