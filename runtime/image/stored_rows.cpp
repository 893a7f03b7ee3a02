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

// Null: the pipeline has no wide loops.
std::shared_ptr<const DerivedFacts> matrix_facts(const StoredFacts& stored) {
  if (!stored.has_wide_loops) return nullptr;
  auto facts = std::make_shared<MatrixFacts>();
  facts->obstacle = stored.no_matrix_kernels;
  facts->precision = precision_named(stored.precision);
  facts->two_passes = stored.two_passes;
  facts->centres = stored.product_centres;
  return facts;
}

DerivedKernels kernels_of_row(const StoredRow& row) {
  if (!row.obstacle.empty()) return {row.obstacle, {}, matrix_facts(row.facts)};
  if (row.name == "far") return far_kernels(row);
  DerivedKernels made;
  for (const StoredKernel& kernel : row.kernels)
    made.kernels.push_back({kernel.name, std::make_shared<const KernelSource>(kernel.source), kernel.bind});
  if (row.name == "nearest") {
    auto facts = std::make_shared<NearestFacts>();
    facts->axes = row.facts.axes;
    made.facts = std::move(facts);
  } else if (row.name == "matrix units") {
    made.facts = matrix_facts(row.facts);
  } else {
    auto facts = std::make_shared<SymmetricFacts>();
    facts->cost = row.facts.cost;
    facts->partners = row.facts.partners;
    made.facts = std::move(facts);
  }
  return made;
}

class StoredDerivations final : public Derivations {
 public:
  StoredDerivations(std::span<const StoredRow> rows, std::string_view target) {
    for (const StorableRow& one : kStorableRows)
      none_[one.row] = {fmt::format("the library has no kernel for it: nbcc compile --with {}", one.choice)};
    for (const StoredRow& row : rows)
      if (row.target == target && row.name != kPairValuesRow)
        made_[row.name].emplace(row.precision, kernels_of_row(row));
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

}  // namespace

std::vector<StoredRow> store_rows(const KernelSource& kernel, std::span<const std::string> choices,
                                  Precision precision) {
  std::vector<StoredRow> rows;
  if (kernel.callers && kernel.callers->values)
    rows.push_back({kernel.target,
                    std::string(kPairValuesRow),
                    Precision::Double,
                    {},
                    {{std::string(kPairValuesRow), *kernel.callers->values, {}}},
                    {}});
  for (const StorableRow& one : kStorableRows) {
    if (std::ranges::find(choices, one.choice) == choices.end()) continue;
    // A tolerance may need a higher precision than the pipeline has.
    std::vector<Precision> precisions{precision};
    for (const Precision higher : {Precision::Mixed, Precision::Double})
      if (one.row == "far" && higher > precision) precisions.push_back(higher);
    for (const Precision at_least : precisions) {
      const DerivedKernels& made = kernel.derivations->row(one.row, at_least);
      // Other rows suffice for every precision.
      StoredRow row{
          kernel.target, std::string(one.row), one.row == "far" ? at_least : Precision::Double, made.obstacle, {}, {}};
      for (const DerivedKernel& derived : made.kernels)
        row.kernels.push_back({derived.name, *derived.source, derived.bind});
      if (made.facts) row.facts = facts_of(*made.facts);
      rows.push_back(std::move(row));
    }
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
  return std::make_shared<StoredDerivations>(rows, target);
}

}  // namespace nbcc
