// Params with a value for each batch or group -> what a request has of them: rows of params by value, and tables. Entry
// points: SumState::make_table_of_params(), SumState::make_tables_of_groups().
#include <algorithm>
#include <map>
#include <vector>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/overlap.h"
#include "runtime/sum/run/sum.h"

namespace nbcc {

// The row of a group's values in params_of_groups_.
std::size_t SumState::row_of_group(std::size_t group) const {
  return lists_->are_batches ? std::size_t(lists_->batch_ids[group]) : group;
}

// Groups with equal tables share them. They are kept until a table or the lists change.
void SumState::make_tables_of_groups() {
  if (std::ranges::none_of(params_of_groups_, [this](const auto& one) { return fields()[one.first].is_table(); }))
    return tables_of_groups_.clear();
  if (tables_of_groups_.empty()) {
    std::map<std::vector<double>, std::size_t> known;
    for (std::size_t g = 0; g < std::size_t(lists_->groups()); ++g) {
      std::vector<double> values = params_;
      for (const auto& [f, rows] : params_of_groups_) {
        const FieldLayout& field = fields()[f];
        if (field.is_table())
          std::copy_n(rows.begin() + std::ptrdiff_t(row_of_group(g)) * field.components(), field.components(),
                      values.begin() + field.first);
      }
      const auto [at, is_new] = known.emplace(values, tables_of_groups_.size());
      if (is_new) tables_of_groups_.push_back({{}, values, std::make_unique<const Tables>(source(), values)});
      tables_of_groups_[at->second].groups.push_back(std::int64_t(g));
    }
  }
  for (TablesOfGroups& one : tables_of_groups_) std::copy_n(params_.begin(), source().params, one.params.begin());
  if (tables_of_groups_.size() < 2) return;
  if (const auto shared = find_overlap(fields(), views_, disjoint))
    throw UsageError(
        fmt::format("{} overlaps {} in memory, and the results of groups with one table are stored before groups with "
                    "the next are summed",
                    quoted(shared->output), quoted(shared->input)));
}

void SumState::make_table_of_params() {
  std::vector<double>& table = table_of_params_;
  table.clear();
  if (std::ranges::all_of(params_of_groups_, [this](const auto& one) { return fields()[one.first].is_table(); }))
    return;
  for (std::size_t g = 0; g < std::size_t(lists_->groups()); ++g) {
    table.insert(table.end(), params_.begin(), params_.begin() + source().params);
    for (const auto& [f, values] : params_of_groups_) {
      const FieldLayout& field = fields()[f];
      if (!field.is_table())
        std::copy_n(values.begin() + std::ptrdiff_t(row_of_group(g)) * field.components(), field.components(),
                    table.end() - source().params + field.first);
    }
  }
}

}  // namespace nbcc
