// The pair methods of sums to a tolerance. Entry point: set_tolerance().
#include "runtime/tolerance/tolerance.h"

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/far/far_batches.h"
#include "runtime/tolerance/matrix_units.h"

namespace nbcc {

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
      throw UsageError(
          fmt::format("tolerance: pipeline '{}' has no products for matrix instructions: {}; and no far field: {}",
                      sum.kernel().source.pipeline, matrix_units.obstacle, no_far_field));
  }
  const auto field = std::make_shared<FarField>(sum.kernel(), sum.summation(), tolerance, choice);
  PairMethod method;
  method.name = "far field";
  method.keeps_sums = true;
  method.estimate = [field](const SumRequest& request) { return field->estimate(request); };
  method.measure = [field](const SumRequest& request) { return field->measure(request); };
  method.expected = [field](const SumRequest& request) { return field->expected(request); };
  method.work = [field](const SumRequest& request) {
    const FarMemory memory = field->memory(request);
    return std::vector<DeviceWork>{{memory.device, 0, memory.needed}};
  };
  method.enqueue = [field](const SumRequest& request) { field->run(request); };
  method.statistics = [field] { return field->statistics(); };
  // The error of all pairs is measured before they run.
  method.add_survey = [field](SumStatistics& found) { found.far = field->statistics().far; };
  method.wait = [field](Progress*) { field->wait(); };
  sum.add_method(std::move(method));
  const Kernel& kernel = sum.kernel();
  sum.add_method(FarBatches::method(std::make_shared<FarBatches>(kernel, sum.summation(), field, tolerance, choice)));
  sum.needs_both_ends(true);
}

}  // namespace nbcc
