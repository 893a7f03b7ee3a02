// Particle tables: lookup of columns, conversion between element types, consistency check. Knows no file formats.
#include "particles/particle_table.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace nbcc {
namespace {

template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    // Compares with 2^63, the first double beyond the range: the largest int64, 2^63 - 1, is not a double.
    constexpr To half = std::numeric_limits<To>::max() / 2 + 1;
    constexpr double beyond = 2.0 * static_cast<double>(half);
    return value >= -beyond && value < beyond && value == std::floor(value);
  } else {
    return value >= std::numeric_limits<To>::min() && value <= std::numeric_limits<To>::max();
  }
}

template <class To, class From>
void convert_values(const ParticleColumn& column, const std::vector<From>& from, std::vector<To>& to) {
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (!fits<To>(from[k]))
      throw std::range_error(fmt::format("column '{}' holds {} in row {}, which is not an {}", column.name, from[k],
                                         k / column.components, sizeof(To) == 4 ? "int32" : "int64"));
    to[k] = static_cast<To>(from[k]);
  }
}

}  // namespace

std::int64_t ParticleColumn::rows() const {
  return std::visit([&](const auto& v) { return static_cast<std::int64_t>(v.size()) / components; }, data);
}

const void* ParticleColumn::values() const {
  return std::visit([](const auto& v) { return static_cast<const void*>(v.data()); }, data);
}

void* ParticleColumn::values() {
  return std::visit([](auto& v) { return static_cast<void*>(v.data()); }, data);
}

std::string ParticleColumn::first_as_text() const {
  return std::visit([](const auto& v) { return fmt::format("{}", v.at(0)); }, data);
}

const ParticleColumn* ParticleTable::find(std::string_view name) const {
  for (const ParticleColumn& column : columns)
    if (column.name == name) return &column;
  for (const ParticleColumn& column : columns)
    if (!column.name_in_file.empty() && column.name_in_file == name) return &column;
  return nullptr;
}

const std::string* ParticleTable::find_attribute(std::string_view key) const {
  for (const auto& [name, value] : attributes)
    if (name == key) return &value;
  return nullptr;
}

std::string ParticleTable::absence(std::string_view name) const {
  for (const auto& [column, reason] : absent)
    if (column == name) return ": " + reason;
  return "";
}

std::string ParticleTable::column_names() const {
  std::string text;
  const auto add = [&](const auto& column) {
    text += (text.empty() ? "" : ", ") + column.name;
    if (column.components > 1) text += fmt::format("[{}]", column.components);
    if (!column.name_in_file.empty()) text += fmt::format(" ({})", column.name_in_file);
  };
  for (const ColumnOfFile& column : in_file) add(column);
  if (in_file.empty())
    for (const ParticleColumn& column : columns) add(column);
  return text;
}

std::string_view element_name(ElementType type) {
  constexpr std::string_view names[] = {"double", "float", "int32", "int64"};
  return names[static_cast<int>(type)];
}

int element_size(ElementType type) { return type == ElementType::Double || type == ElementType::Int64 ? 8 : 4; }

ColumnData make_data(ElementType type, std::size_t count) {
  switch (type) {
    case ElementType::Double:
      return std::vector<double>(count);
    case ElementType::Float:
      return std::vector<float>(count);
    case ElementType::Int32:
      return std::vector<std::int32_t>(count);
    case ElementType::Int64:
      break;
  }
  return std::vector<std::int64_t>(count);
}

ParticleColumn convert(const ParticleColumn& column, ElementType type) {
  ParticleColumn result{column.name, column.components, {}, column.name_in_file};
  std::visit(
      [&](const auto& from) {
        result.data = make_data(type, from.size());
        std::visit([&](auto& to) { convert_values(column, from, to); }, result.data);
      },
      column.data);
  return result;
}

std::string table_fault(const ParticleTable& table) {
  if (table.columns.empty() && !table.in_file.empty()) {
    const ColumnOfFile& first = table.in_file.front();
    for (const ColumnOfFile& other : table.in_file)
      if (other.rows != first.rows)
        return fmt::format("the number of particles is ambiguous: column '{}' has {} rows, but '{}' has {}", other.name,
                           other.rows, first.name, first.rows);
    return "";
  }
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    const ParticleColumn& column = table.columns[k];
    if (column.name.empty()) return fmt::format("column {} has no name", k + 1);
    if (column.rows() != table.rows)
      return fmt::format("column '{}' has {} rows, but '{}' has {}", column.name, column.rows(), table.columns[0].name,
                         table.rows);
    for (std::size_t other = 0; other < k; ++other)
      if (table.columns[other].name == column.name) return fmt::format("two columns are called '{}'", column.name);
  }
  return table.columns.empty() ? "there are no columns of numbers" : "";
}

}  // namespace nbcc
