// A sum with a far field -> a share of it for each of several GPUs. Interface: CudaGroupFar, which
// CudaGroupSummation::far_steps() makes. cuda_far_run.cpp does the shares.
#include "runtime/cuda/group/cuda_group_far.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "fmt/format.h"
#include "runtime/cuda/group/cuda_group_sum.h"
#include "runtime/cuda/program/cuda_residency.h"

namespace nbcc {

std::unique_ptr<FarSteps> CudaGroupSummation::far_steps(Precision at_least) const {
  std::vector<const CudaKernel*> kernels;
  for (const auto& member : members_) kernels.push_back(&member->kernel);
  return std::make_unique<CudaGroupFar>(kernels, at_least);
}

CudaGroupFar::CudaGroupFar(const std::vector<const CudaKernel*>& kernels, Precision at_least) {
  for (const CudaKernel* kernel : kernels) members_.push_back(std::make_unique<CudaFarRun>(*kernel, at_least));
}

SumRequest CudaGroupFar::of_members(const SumRequest& request) {
  SumRequest own = request;
  own.stream = nullptr;
  own.progress = nullptr;
  return own;
}

// A host thread for each GPU, because each waits for its GPU. The first failure is thrown.
void CudaGroupFar::on_each(const std::function<void(std::size_t member)>& body) {
  std::vector<std::exception_ptr> failures(members_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t m = 0; m < members_.size(); ++m)
      threads.emplace_back([&, m] {
        try {
          body(m);
          members_[m]->wait();
        } catch (...) {
          failures[m] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// Waits for the work of the caller's stream, on whichever GPU the arrays and so the stream are.
std::string CudaGroupFar::prepare(const SumRequest& request, int leaf) {
  const CudaGpu* owner = &first().gpu();
  for (const ArrayView& view : request.views) {
    if (!view.data) continue;
    const CudaContextGuard guard(first().gpu());
    const CudaPointer pointer = find_pointer(first().gpu(), view.data);
    for (const auto& member : members_)
      if (pointer.on_gpu && !pointer.managed && member->gpu().ordinal() == pointer.ordinal) owner = &member->gpu();
  }
  {
    const CudaContextGuard guard(*owner);
    owner->synchronize(static_cast<CudaStream*>(request.stream));
  }
  std::vector<std::string> obstacles(members_.size());
  on_each([&](std::size_t m) { obstacles[m] = members_[m]->prepare(of_members(request), leaf); });
  return obstacles.front();
}

void CudaGroupFar::compute(const SumRequest& request, const FarSetting& setting, Of) {
  const FarLimits limits = first().limits(setting);
  const FarArray totals = first().make_totals();
  first().wait();
  std::vector<double> pairs(members_.size());
  on_each([&](std::size_t m) {
    const CudaFarRun::Share share{std::int64_t(m), std::int64_t(members_.size())};
    pairs[m] = members_[m]->compute_share(of_members(request), setting, limits, share, totals);
  });
  double all = 0;
  for (const double of_one : pairs) all += of_one;
  first().set_pairs(all);
}

void CudaGroupFar::compute_all_pairs(const SumRequest& request, Of of) {
  if (of == Of::Sampled) {
    first().compute_all_pairs(of_members(request), of);
    return first().wait();
  }
  const FarArray totals = first().make_totals();
  first().wait();
  const auto count = std::int64_t(members_.size());
  on_each([&](std::size_t m) {
    SumRequest own = of_members(request);
    const std::int64_t begin = request.i_count * std::int64_t(m) / count;
    own.i_count = request.i_count * std::int64_t(m + 1) / count - begin;
    if (own.i_list)
      own.i_list += begin;
    else
      own.i_begin += begin;
    members_[m]->compute_all_pairs_of_share(own, totals);
  });
}

void CudaGroupFar::finish(const SumRequest& request) {
  first().finish(of_members(request));
  first().wait();
}

void CudaGroupFar::forget_lists() {
  for (const auto& member : members_) member->forget_lists();
}

void CudaGroupFar::reset_seconds() {
  for (const auto& member : members_) member->reset_seconds();
}

// The largest need and the least room of all GPUs.
FarMemory CudaGroupFar::memory(const SumRequest& request, const FarSetting& setting) {
  FarMemory least = first().memory(request, setting);
  for (const auto& member : members_) {
    const FarMemory memory = member->memory(request, setting);
    least.needed = std::max(least.needed, memory.needed);
    least.available = std::min(least.available, memory.available);
  }
  least.device = fmt::format("each of {} GPUs", members_.size());
  return least;
}

}  // namespace nbcc
