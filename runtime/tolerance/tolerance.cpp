// The pair methods of sums to a tolerance. Entry point: set_tolerance().
#include "runtime/tolerance/tolerance.h"

#include <functional>
#include <memory>
#include <string_view>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/far/far_batches.h"
#include "runtime/far/ranks/make_ranks.h"
#include "runtime/sum/request/far_peers.h"
#include "runtime/tolerance/matrix_units.h"

namespace nbcc {
namespace {

// Runs of one process, or with all j, and runs of processes that have their own j alone, know different particles: each
// kind has a far field of its own, which chooses for itself.
class FarFields {
 public:
  FarFields(const Kernel& kernel, const Summation& summation, double tolerance, const FarChoice& choice)
      : all_j_(std::make_shared<FarField>(kernel, summation, tolerance, choice)),
        make_own_j_([&kernel, &summation, tolerance, choice] {
          return std::make_unique<FarField>(kernel, summation, tolerance, choice, make_ranks(kernel.source));
        }) {}
  const std::shared_ptr<FarField>& of_all_j() const { return all_j_; }
  FarField& of(const SumRequest& request) {
    is_own_j_ = request.peers && request.peers->has_own_j();
    if (is_own_j_ && !own_j_) own_j_ = make_own_j_();
    return last();
  }
  FarField& last() { return is_own_j_ ? *own_j_ : *all_j_; }  // of the last run

 private:
  std::shared_ptr<FarField> all_j_;
  std::function<std::unique_ptr<FarField>()> make_own_j_;
  std::unique_ptr<FarField> own_j_;
  bool is_own_j_ = false;
};

}  // namespace

const char* why_all_j(const SumState& sum) {
  if (!sum.is_to_tolerance()) {
    const std::string_view setting = sum.needs_all_j();
    return setting.empty() ? "its pairs are not chosen to a tolerance" : setting.data();
  }
  const DerivedKernels& far = sum.kernel().derived("far");
  if (!far.obstacle.empty()) return "products of wide vectors are measured by each rank";
  return "";
}

void set_tolerance(SumState& sum, double tolerance, const FarChoice& choice) {
  if (tolerance == 0) {
    sum.needs_both_ends(false);
    sum.remove_method("matrix units");
    sum.remove_method("far batches");
    return sum.remove_method("far field");
  }
  if (!(tolerance >= 1e-14 && tolerance <= 1))
    throw UsageError(fmt::format("tolerance: it must be 0 (none) or from 1e-14 to 1, got {}", tolerance));
  if (const std::string& no_far_field = sum.kernel().derived("far").obstacle; !no_far_field.empty()) {
    const DerivedKernels& matrix_units = sum.kernel().derived("matrix units");
    if (matrix_units.obstacle.empty()) {
      sum.add_method(MatrixSums::method(std::make_shared<MatrixSums>(sum.kernel(), sum.summation(), tolerance)));
      return;
    }
    if (matrix_units.facts)  // it has wide loops
      throw UsageError(fmt::format("tolerance: pipeline '{}' has no products of wide vectors: {}; and no far field: {}",
                                   sum.kernel().source.pipeline, matrix_units.obstacle, no_far_field));
  }
  const auto fields = std::make_shared<FarFields>(sum.kernel(), sum.summation(), tolerance, choice);
  const std::shared_ptr<FarField>& field = fields->of_all_j();
  PairMethod method;
  method.name = "far field";
  method.keeps_sums = true;
  method.estimate = [field](const SumRequest& request) { return field->estimate(request); };
  method.measure = [fields](const SumRequest& request) { return fields->of(request).measure(request); };
  method.expected = [field](const SumRequest& request) { return field->expected(request); };
  method.work = [field](const SumRequest& request) {
    const FarMemory memory = field->memory(request);
    return std::vector<DeviceWork>{{memory.device, 0, memory.needed}};
  };
  method.enqueue = [fields](const SumRequest& request) { fields->of(request).run(request); };
  method.statistics = [fields] { return fields->last().statistics(); };
  // The error of all pairs is measured before they run.
  method.add_survey = [fields](SumStatistics& found) { found.far = fields->last().statistics().far; };
  method.wait = [fields](Progress*) { fields->last().wait(); };
  sum.add_method(std::move(method));
  const Kernel& kernel = sum.kernel();
  sum.add_method(FarBatches::method(std::make_shared<FarBatches>(kernel, sum.summation(), field, tolerance, choice)));
  sum.needs_both_ends(true);
}

}  // namespace nbcc
