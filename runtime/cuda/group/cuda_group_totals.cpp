// Totals of a run on several GPUs: the GPU that has the run's arrays reduces the values of all i. Entry point:
// CudaGroupSummation::total_steps().
#include <functional>
#include <utility>

#include "runtime/cuda/group/cuda_group_sum.h"
#include "runtime/cuda/run/cuda_totals.h"

namespace nbcc {
namespace {

class GroupTotals final : public TotalSteps {
 public:
  // `owner_of` gives the number of the GPU that has the arrays of a request; 0 if they are on the host.
  GroupTotals(std::vector<std::unique_ptr<TotalSteps>> members, std::function<std::size_t(const SumRequest&)> owner_of)
      : members_(std::move(members)), owner_of_(std::move(owner_of)) {}
  double* reserve(const SumRequest& request, std::int64_t count) override {
    owner_ = owner_of_(request);
    return members_[owner_]->reserve(request, count);
  }
  void fill(const TotalComponent& total, const SumRequest& request, std::int64_t count) override {
    members_[owner_]->fill(total, request, count);
  }
  void reduce(std::span<const TotalComponent> totals, const SumRequest& request) override {
    members_[owner_]->reduce(totals, request);
  }

 private:
  std::vector<std::unique_ptr<TotalSteps>> members_;
  std::function<std::size_t(const SumRequest&)> owner_of_;
  std::size_t owner_ = 0;
};

}  // namespace

std::unique_ptr<TotalSteps> CudaGroupSummation::total_steps() {
  std::vector<std::unique_ptr<TotalSteps>> steps;
  for (const auto& member : members_) steps.push_back(member->sum.total_steps());
  return std::make_unique<GroupTotals>(
      std::move(steps), [this](const SumRequest& request) { return find(request).owner_index.value_or(0); });
}

}  // namespace nbcc
