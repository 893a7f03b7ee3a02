// Entry point: RunCheck, which calls the checks and keeps the texts of their warnings.
#include "runtime/sum/check/run_check.h"

#include <new>

#include "runtime/sum/check/host_values.h"
#include "runtime/sum/check/result_check.h"
#include "runtime/sum/check/same_particles.h"

namespace nbcc {

void RunCheck::begin(const SumState& sum, const RunChoice& choice) {
  if (guard_ == IndexGuard::None) return;
  std::vector<ArrayView> inputs;
  for (const FieldLayout& field : sum.fields())
    if (field.role == Role::InputI || field.role == Role::InputJ) inputs.push_back(sum.bound(field.name));
  // The j of several ranks are in other arrays than the i.
  const bool has_reason =
      choice.part == JPart::Whole && !choice.peers && !sum.has_lists() && sum.offsets().first == sum.offsets().second;
  if (has_reason && inputs == compared_) return;
  compared_ = has_reason ? std::move(inputs) : std::vector<ArrayView>();
  std::optional<std::string> text;
  if (has_reason) text = two_sets_warning(sum, guard_);
  if (!text || !two_sets_) two_sets_ = std::move(text);
}

void RunCheck::end(const SumState& sum, const RunChoice& choice) {
  if (!ends(choice.part)) return;
  std::optional<std::string> text;
  for (std::size_t f = 0; f < sum.fields().size(); ++f) {
    const FieldLayout& field = sum.fields()[f];
    const ArrayView view = field.role == Role::Output ? sum.bound(field.name) : ArrayView();
    if (!view.data || view.count == 0 || view.data == not_on_host_[f]) continue;
    not_on_host_[f] = is_on_host(sum, view) ? nullptr : view.data;
    if (not_on_host_[f]) continue;
    check_int32_results(sum, choice, field);
    try {
      // A text that is kept needs no cause, which takes two sums.
      if (!text) text = non_finite_warning(sum, choice, field, non_finite_ ? nullptr : kernel_);
    } catch (const std::bad_alloc&) {  // the results are right: a run does not fail for want of a warning
    }
  }
  if (!text || !non_finite_) non_finite_ = std::move(text);
}

const char* RunCheck::warning(std::size_t k) const {
  for (const std::optional<std::string>* text : {&two_sets_, &non_finite_})
    if (*text && k-- == 0) return (*text)->c_str();
  return nullptr;
}

}  // namespace nbcc
