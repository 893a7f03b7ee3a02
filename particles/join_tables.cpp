// Joins tables of the same particles. Entry point: join_tables(). Reads no files.
#include "particles/join_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>

#include "particles/file_error.h"
#include "particles/text_words.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using Ids = std::vector<std::int64_t>;
using Rows = std::vector<std::size_t>;  // [row of the first table] the row of the other table

const ParticleColumn* id_of(const ParticleTable& table) {
  const ParticleColumn* const id = table.find("id");
  return id && id->components == 1 ? id : nullptr;
}

Ids ids_of(const ParticleColumn& id, const std::string& path) {
  try {
    return std::get<Ids>(convert(id, ElementType::Int64).data);
  } catch (const std::range_error& fault) {
    throw FileError(path, fault.what());
  }
}

using RowOfId = std::unordered_map<std::int64_t, std::size_t>;

RowOfId rows_by_id(const Ids& ids, const std::string& path) {
  RowOfId rows;
  for (std::size_t row = 0; row < ids.size(); ++row)
    if (!rows.emplace(ids[row], row).second)
      throw FileError(
          path, fmt::format("two particles have the id {}, so that its columns cannot be joined to others", ids[row]));
  return rows;
}

Rows rows_that_belong(const TableOfFile& first, const TableOfFile& other) {
  const ParticleColumn *const ours = id_of(first.table), *const theirs = id_of(other.table);
  Rows rows(std::size_t(first.table.rows));
  if (!ours || !theirs) {
    if (other.table.rows != first.table.rows)
      throw FileError(other.path, fmt::format("it has {}, but {} has {}, and not both have ids",
                                              counted(other.table.rows, "particle"), first.path, first.table.rows));
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = row;
    return rows;
  }
  const Ids our_ids = ids_of(*ours, first.path), their_ids = ids_of(*theirs, other.path);
  const RowOfId row_of = rows_by_id(their_ids, other.path), our_row_of = rows_by_id(our_ids, first.path);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto found = row_of.find(our_ids[row]);
    if (found == row_of.end())
      throw FileError(other.path,
                      fmt::format("it has no particle with the id {}, but {} has", our_ids[row], first.path));
    rows[row] = found->second;
  }
  for (const std::int64_t id : their_ids)
    if (!our_row_of.contains(id))
      throw FileError(first.path, fmt::format("it has no particle with the id {}, but {} has", id, other.path));
  return rows;
}

ParticleColumn in_order(ParticleColumn column, const Rows& rows) {
  std::visit(
      [&](auto& values) {
        std::decay_t<decltype(values)> ordered(values.size());
        const auto width = std::size_t(column.components);
        for (std::size_t row = 0; row < rows.size(); ++row)
          std::copy_n(values.begin() + std::ptrdiff_t(rows[row] * width), width,
                      ordered.begin() + std::ptrdiff_t(row * width));
        values = std::move(ordered);
      },
      column.data);
  return column;
}

// True if the numbers are equal or both are NaN. A long double holds every double and every int64.
bool same(long double a, long double b) { return a == b || (a != a && b != b); }

// The first row in which the columns differ, or -1.
std::int64_t first_difference(const ParticleColumn& a, const ParticleColumn& b) {
  return std::visit(
      [&](const auto& ours, const auto& theirs) -> std::int64_t {
        for (std::size_t k = 0; k < ours.size(); ++k)
          if (!same(static_cast<long double>(ours[k]), static_cast<long double>(theirs[k])))
            return std::int64_t(k) / a.components;
        return -1;
      },
      a.data, b.data);
}

// How the columns differ, for a message, or "". Names the particle by its id if it has one, else by its row.
std::string difference(const TableOfFile& first, const ParticleColumn& ours, const ParticleColumn& theirs) {
  if (ours.components != theirs.components)
    return fmt::format("has {} numbers per particle, but {} in ", theirs.components, ours.components);
  const std::int64_t row = first_difference(ours, theirs);
  if (row < 0) return "";
  const ParticleColumn* const id = id_of(first.table);
  if (!id) return fmt::format("differs in row {} from that of ", row);
  return fmt::format("differs at the particle with the id {} from that of ", ids_of(*id, first.path)[std::size_t(row)]);
}

// The columns of a table's file, so that messages can list the columns of all files.
std::vector<ColumnOfFile> listed(const ParticleTable& table) {
  if (!table.in_file.empty()) return table.in_file;
  std::vector<ColumnOfFile> list;
  for (const ParticleColumn& column : table.columns)
    list.push_back({column.name, column.components, table.rows, column.name_in_file});
  return list;
}

void add_listed(ParticleTable& table, const ParticleTable& other) {
  if (table.in_file.empty() && other.in_file.empty()) return;
  table.in_file = listed(table);
  for (const ColumnOfFile& column : listed(other))
    if (std::ranges::find(table.in_file, column.name, &ColumnOfFile::name) == table.in_file.end())
      table.in_file.push_back(column);
}

void add(TableOfFile& first, TableOfFile other, bool last_wins) {
  const Rows rows = rows_that_belong(first, other);
  ParticleTable& table = first.table;
  add_listed(table, other.table);
  for (ParticleColumn& unordered : other.table.columns) {
    ParticleColumn column = in_order(std::move(unordered), rows);
    const auto ours = std::ranges::find(table.columns, column.name, &ParticleColumn::name);
    if (ours == table.columns.end()) {
      table.columns.push_back(std::move(column));
      continue;
    }
    if (last_wins) {
      *ours = std::move(column);
    } else if (const std::string how = difference(first, *ours, column); !how.empty()) {
      throw FileError(other.path, fmt::format("its column '{}' {}{}; --last-wins takes that of the last file",
                                              column.name, how, first.path));
    }
  }
  for (auto& [key, value] : other.table.attributes)
    if (!table.find_attribute(key)) table.attributes.emplace_back(key, std::move(value));
  table.types_used = table.types_used || other.table.types_used;
  table.warnings.insert(table.warnings.end(), other.table.warnings.begin(), other.table.warnings.end());
  table.of_other_format = table.of_other_format || other.table.of_other_format;
  first.path += ", " + other.path;
}

}  // namespace

ParticleTable join_tables(std::vector<TableOfFile> tables, bool last_wins) {
  for (const TableOfFile& each : tables)
    if (each.table.unnamed && tables.size() > 1)
      throw UsageError(
          fmt::format("{}: its columns have no names, so that it cannot be joined to other files", each.path));
  TableOfFile first = std::move(tables.at(0));
  for (std::size_t k = 1; k < tables.size(); ++k) add(first, std::move(tables[k]), last_wins);
  return std::move(first.table);
}

}  // namespace nbcc
