// Joins the columns of several groups, row after row. Entry point: join_groups(). Input: the columns of each group, not
// yet read. Output: the joined columns, whose read() reads all groups. Opens no files.
#include "particles/files/hdf5/hdf5_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "particles/file_error.h"
#include "particles/files/hdf5/gadget_names.h"

namespace nbcc {
namespace {

const FileColumn* find(const GroupColumns& group, const std::string& name) {
  const auto found = std::ranges::find(group.columns, name, &FileColumn::name);
  return found == group.columns.end() ? nullptr : &*found;
}

std::string shape_of(std::int64_t components) {
  return fmt::format("{} number{} per particle", components, components == 1 ? "" : "s");
}

bool is_integral(const ColumnData& data) {
  return std::holds_alternative<std::vector<std::int32_t>>(data) ||
         std::holds_alternative<std::vector<std::int64_t>>(data);
}

// An integer that no double equals; nothing if there is none.
std::optional<std::int64_t> inexact_in(const ColumnData& data) {
  if (const auto* const values = std::get_if<std::vector<std::int64_t>>(&data))
    for (const std::int64_t value : *values)
      if (static_cast<std::int64_t>(static_cast<double>(value)) != value) return value;
  return std::nullopt;
}

// Appends the numbers of the next group. The integers become doubles if only one of them has integers.
void append(ColumnData& all, ColumnData part) {
  if (all.index() != part.index()) {
    const ElementType common = is_integral(all) && is_integral(part) ? ElementType::Int64 : ElementType::Double;
    all = convert({"", 1, std::move(all)}, common).data;
    part = convert({"", 1, std::move(part)}, common).data;
  }
  std::visit(
      [&](auto& to) {
        const auto& from = std::get<std::decay_t<decltype(to)>>(part);
        to.insert(to.end(), from.begin(), from.end());
      },
      all);
}

// The column of the first group, with the rows of all groups.
FileColumn joined(const std::vector<GroupColumns>& groups, const std::string& path, const FileColumn& first) {
  FileColumn column = first;
  std::vector<std::function<ColumnData()>> reads = {first.read};
  std::vector<std::string> names = {groups[0].group};
  std::string fault;
  for (std::size_t k = 1; k < groups.size(); ++k) {
    names.push_back(groups[k].group);
    const FileColumn& other = *find(groups[k], first.name);
    column.rows += other.rows;
    column.readable = column.readable && other.readable;
    column.listed = column.listed && other.listed;
    reads.push_back(other.read);
    if (other.components != first.components && fault.empty())
      fault = fmt::format("column '{}' has {} in {}, but {} in {}", first.name, shape_of(first.components),
                          groups[0].group, shape_of(other.components), groups[k].group);
  }
  column.read = [reads = std::move(reads), fault, path, name = first.name, names = std::move(names)] {
    if (!fault.empty()) throw FileError(path, fault);
    ColumnData all = reads[0]();
    for (std::size_t k = 1; k < reads.size(); ++k) {
      ColumnData part = reads[k]();
      const std::optional<std::int64_t> inexact = is_integral(all) == is_integral(part) ? std::nullopt
                                                  : is_integral(all)                    ? inexact_in(all)
                                                                                        : inexact_in(part);
      if (inexact)
        throw FileError(path, fmt::format("column '{}' has integers in one group and other numbers in {}, and no "
                                          "double equals {}",
                                          name, names[is_integral(all) ? k : 0], *inexact));
      append(all, std::move(part));
    }
    return all;
  };
  return column;
}

// The numbers of the particle types, one for each row; nothing if a group is no particle type or has no column.
std::optional<FileColumn> type_column(const std::vector<GroupColumns>& groups) {
  std::vector<std::int32_t> types;
  for (const GroupColumns& group : groups) {
    const std::optional<int> type = gadget_type(group.group);
    if (!type || group.columns.empty()) return std::nullopt;
    types.insert(types.end(), std::size_t(group.columns[0].rows), *type);
  }
  FileColumn column;
  column.name = "type";
  column.rows = std::int64_t(types.size());
  column.read = [types = std::move(types)] { return types; };
  return column;
}

}  // namespace

std::vector<FileColumn> join_groups(const std::vector<GroupColumns>& groups, const std::string& path,
                                    std::vector<std::pair<std::string, std::string>>& absent) {
  std::vector<FileColumn> columns;
  for (const GroupColumns& group : groups) {
    for (const FileColumn& column : group.columns) {
      const auto lacks = std::ranges::find_if(groups, [&](const auto& other) { return !find(other, column.name); });
      const std::string& theirs = column.name_in_file.empty() ? column.name : column.name_in_file;
      if (lacks != groups.end()) {
        const std::string reason = fmt::format("{} has no {}", lacks->group, theirs);
        absent.emplace_back(column.name, reason);
        if (theirs != column.name) absent.emplace_back(theirs, reason);
      } else if (&group == groups.data()) {
        columns.push_back(joined(groups, path, column));
      }
    }
  }
  const auto types = type_column(groups);
  if (types && std::ranges::find(columns, "type", &FileColumn::name) == columns.end()) columns.push_back(*types);
  return columns;
}

}  // namespace nbcc
