// Rows of derived kernels as plain data and back. Entry points: store_rows(), stored_derivations(),
// with_stored_values().
#include "runtime/image/stored_rows.h"

#include <algorithm>
#include <functional>
#include <map>

#include "compiler/nearest_facts.h"
#include "fmt/format.h"

namespace nbcc {
namespace {

StoredFacts facts_of(const DerivedFacts& facts) {
  StoredFacts stored;
  if (const auto* const nearest = dynamic_cast<const NearestFacts*>(&facts)) stored.axes = nearest->axes;
  if (const auto* const symmetric = dynamic_cast<const SymmetricFacts*>(&facts)) {
    stored.has_symmetric = true;
    stored.cost = symmetric->cost;
    stored.partners = symmetric->partners;
  }
  if (const auto* const far = dynamic_cast<const FarKernels*>(&facts)) {
    stored.text = far->text;
    stored.precision = far->precision;
    stored.raised = far->raised;
    stored.axes = far->axes;
    stored.weights = far->weights;
    stored.weight_names = far->weight_names;
    stored.factors = far->factors;
    stored.sums = far->sums;
    stored.both_sides = far->both_sides;
    stored.needs_one_set = far->needs_one_set;
    stored.parts = far->parts;
    stored.periods = far->periods;
    stored.centres = far->centres;
  }
  if (const auto* const matrix = dynamic_cast<const MatrixFacts*>(&facts)) {
    stored.has_wide_loops = true;
    stored.no_matrix_kernels = matrix->obstacle;
    stored.precision = matrix->precision;
    stored.two_passes = matrix->two_passes;
    stored.product_centres = matrix->centres;
  }
  return stored;
}

std::string_view precision_named(std::string_view stored) {
  for (const Precision one : {Precision::Single, Precision::Mixed})
    if (name(one) == stored) return name(one);
  return name(Precision::Double);
}

// The members of FarKernels that are kernels.
KernelSource* source_in(FarKernels& far, std::string_view name) {
  const std::pair<std::string_view, KernelSource*> members[] = {
      {"sources", &far.sources}, {"targets", &far.targets},   {"distant", &far.distant}, {"measured", &far.measured},
      {"near", &far.near},       {"excluded", &far.excluded}, {"sample", &far.sample},   {"finish", &far.finish}};
  if (name == "means") return &far.means.emplace();
  for (const auto& [member, source] : members)
    if (member == name) return source;
  return nullptr;
}

DerivedKernels far_kernels(const StoredRow& row) {
  const StoredFacts& stored = row.facts;
  auto far = std::make_shared<FarKernels>();
  far->text = stored.text;
  far->precision = precision_named(stored.precision);
  far->raised = stored.raised;
  far->axes = stored.axes;
  far->weights = stored.weights;
  far->weight_names = stored.weight_names;
  far->factors = stored.factors;
  far->sums = stored.sums;
  far->both_sides = stored.both_sides;
  far->needs_one_set = stored.needs_one_set;
  far->parts = stored.parts;
  far->periods = stored.periods;
  far->centres = stored.centres;
  DerivedKernels made;
  for (const StoredKernel& kernel : row.kernels) {
    KernelSource* const source = source_in(*far, kernel.name);
    *source = kernel.source;
    made.kernels.push_back({kernel.name, {far, source}, kernel.bind});
  }
  made.facts = std::move(far);
  return made;
}

// Facts of a row without kernels too; null: the row has none. FarKernels consist of kernels.
std::shared_ptr<const DerivedFacts> facts_of_row(const StoredRow& row) {
  const StoredFacts& stored = row.facts;
  if (row.name == "nearest" && row.obstacle.empty()) {
    auto facts = std::make_shared<NearestFacts>();
    facts->axes = stored.axes;
    return facts;
  }
  if (row.name == "symmetric" && stored.has_symmetric) {
    auto facts = std::make_shared<SymmetricFacts>();
    facts->cost = stored.cost;
    facts->partners = stored.partners;
    return facts;
  }
  if (row.name == "matrix units" && stored.has_wide_loops) {
    auto facts = std::make_shared<MatrixFacts>();
    facts->obstacle = stored.no_matrix_kernels;
    facts->precision = precision_named(stored.precision);
    facts->two_passes = stored.two_passes;
    facts->centres = stored.product_centres;
    return facts;
  }
  return nullptr;
}

// `all`: all rows of the library, which include the rows that are derived from kernels of `row`.
DerivedKernels kernels_of_row(const StoredRow& row, std::span<const StoredRow> all);

class StoredDerivations final : public Derivations {
 public:
  // `of`: the row whose kernel the derivations belong to, as in StoredRow.
  StoredDerivations(std::span<const StoredRow> rows, std::string_view target, std::string_view of) {
    for (const StorableRow& one : kStorableRows)
      none_[one.row] = {fmt::format("the library has no kernel for it: nbcc compile --with {}", one.choice)};
    for (const StoredRow& row : rows)
      if (row.target == target && row.of == of && row.name != kPairValuesRow)
        made_[row.name].emplace(row.precision, kernels_of_row(row, rows));
  }
  // Kernels of the lowest precision that suffices.
  const DerivedKernels& row(std::string_view name, Precision at_least) const override {
    if (const auto found = made_.find(name); found != made_.end())
      if (const auto kernels = found->second.lower_bound(at_least); kernels != found->second.end())
        return kernels->second;
    const auto found = none_.find(name);
    return found == none_.end() ? unknown_ : found->second;
  }

 private:
  std::map<std::string, std::map<Precision, DerivedKernels>, std::less<>> made_;
  std::map<std::string_view, DerivedKernels> none_;
  const DerivedKernels unknown_{"compiled libraries have no kernel for it"};
};

DerivedKernels kernels_of_row(const StoredRow& row, std::span<const StoredRow> all) {
  if (row.name == "far" && row.obstacle.empty()) return far_kernels(row);
  DerivedKernels made{row.obstacle, {}, facts_of_row(row)};
  for (const StoredKernel& kernel : row.kernels) {
    KernelSource source = kernel.source;
    if (row.name == kNearestImagesRow)
      source.derivations = std::make_shared<StoredDerivations>(all, row.target, row.name);
    made.kernels.push_back({kernel.name, std::make_shared<const KernelSource>(std::move(source)), kernel.bind});
  }
  return made;
}

// Other rows than a far field suffice for every precision.
StoredRow row_of(const KernelSource& kernel, std::string_view of, std::string_view name, Precision at_least) {
  const DerivedKernels& made = kernel.derivations->row(name, at_least);
  StoredRow row{kernel.target,
                std::string(of),
                std::string(name),
                name == "far" ? at_least : Precision::Double,
                made.obstacle,
                {},
                {}};
  for (const DerivedKernel& derived : made.kernels)
    row.kernels.push_back({derived.name, *derived.source, derived.bind});
  if (made.facts) row.facts = facts_of(*made.facts);
  return row;
}

}  // namespace

std::vector<StoredRow> store_rows(const KernelSource& kernel, std::span<const std::string> choices,
                                  Precision precision) {
  std::vector<StoredRow> rows;
  if (kernel.callers && kernel.callers->values)
    rows.push_back({kernel.target,
                    "",
                    std::string(kPairValuesRow),
                    Precision::Double,
                    {},
                    {{std::string(kPairValuesRow), *kernel.callers->values, {}}},
                    {}});
  const auto is_chosen = [&](std::string_view choice) { return std::ranges::find(choices, choice) != choices.end(); };
  const bool is_on_cpu = kernel.find(Frame::Search) == nullptr;
  if (kernel.copies() && kernel.copies()->obstacle.empty() && is_on_cpu) {
    rows.push_back(row_of(kernel, "", kNearestImagesRow, precision));
    for (const StoredKernel& nearest : std::vector(rows.back().kernels))
      if (is_chosen("symmetric")) rows.push_back(row_of(nearest.source, kNearestImagesRow, "symmetric", precision));
  }
  for (const StorableRow& one : kStorableRows) {
    if (!is_chosen(one.choice)) continue;
    // A tolerance may need a higher precision than the pipeline has.
    std::vector<Precision> precisions{precision};
    for (const Precision higher : {Precision::Mixed, Precision::Double})
      if (one.row == "far" && higher > precision) precisions.push_back(higher);
    for (const Precision at_least : precisions) rows.push_back(row_of(kernel, "", one.row, at_least));
  }
  return rows;
}

KernelSource with_stored_values(KernelSource kernel, std::span<const StoredRow> rows) {
  const auto found = std::ranges::find_if(
      rows, [&](const StoredRow& row) { return row.name == kPairValuesRow && row.target == kernel.target; });
  if (found == rows.end()) return kernel;
  CallersView callers = *kernel.callers;
  callers.values = std::make_shared<const KernelSource>(found->kernels.front().source);
  kernel.callers = std::make_shared<const CallersView>(std::move(callers));
  return kernel;
}

std::shared_ptr<const Derivations> stored_derivations(std::span<const StoredRow> rows, std::string_view target) {
  return std::make_shared<StoredDerivations>(rows, target, "");
}

}  // namespace nbcc
