// GPUs -> a device, and its kernels. Interface: CudaGroup. cuda_group_sum.cpp does the runs.
#include "runtime/cuda/group/cuda_group.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/cuda/group/cuda_group_sum.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

class CudaGroupKernel final : public Kernel {
 public:
  CudaGroupKernel(std::vector<std::shared_ptr<const Kernel>> members, bool shares_small_sums)
      : Kernel(members.front()->source), members_(std::move(members)), shares_small_sums_(shares_small_sums) {}

  std::unique_ptr<Summation> start() const override {
    std::vector<const CudaKernel*> kernels;
    for (const auto& member : members_) kernels.push_back(static_cast<const CudaKernel*>(member.get()));
    return std::make_unique<CudaGroupSummation>(kernels, shares_small_sums_);
  }

  std::shared_ptr<const Kernel> load(const KernelSource& other) const override {
    std::vector<std::shared_ptr<const Kernel>> loaded;
    for (const auto& member : members_) loaded.push_back(member->load(other));
    return std::make_shared<CudaGroupKernel>(std::move(loaded), shares_small_sums_);
  }

 private:
  std::vector<std::shared_ptr<const Kernel>> members_;  // each a CudaKernel
  bool shares_small_sums_;
};

void require_same_model(const CudaGpu& one, const CudaGpu& other) {
  if (one.ordinal() == other.ordinal()) throw DeviceError(fmt::format("cuda:{} is named twice", one.ordinal()));
  if (one.model() != other.model() || one.multiprocessors() != other.multiprocessors())
    throw DeviceError(fmt::format(
        "cuda:{} is an {} and cuda:{} an {}: only GPUs of one model are used together, as sums of different ones would "
        "differ in their last bits",
        one.ordinal(), one.model(), other.ordinal(), other.model()));
  if (!one.reach(other) || !other.reach(one))
    throw DeviceError(
        fmt::format("cuda:{} and cuda:{} cannot reach each other's memory", one.ordinal(), other.ordinal()));
}

}  // namespace

CudaGroup::CudaGroup(std::vector<std::shared_ptr<CudaDevice>> members, bool shares_small_sums)
    : members_(std::move(members)), shares_small_sums_(shares_small_sums) {
  std::vector<int> ordinals;
  for (const auto& member : members_) {
    for (const auto& other : members_) {
      if (&member == &other) break;
      require_same_model(other->gpu(), member->gpu());
    }
    ordinals.push_back(member->gpu().ordinal());
  }
  name_ = fmt::format("cuda:{}, {} x {}, {}", fmt::join(ordinals, ","), members_.size(),
                      members_.front()->gpu().model(), members_.front()->arch());
}

std::shared_ptr<const Kernel> CudaGroup::load(KernelSource source) {
  return load_each([&](CudaDevice& member) { return member.load(source); });
}

std::shared_ptr<const Kernel> CudaGroup::load_each(
    const std::function<std::shared_ptr<const Kernel>(CudaDevice&)>& load) {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const auto& member : members_) kernels.push_back(load(*member));
  return std::make_shared<CudaGroupKernel>(std::move(kernels), shares_small_sums_);
}

void* CudaGroup::allocate_shared(std::size_t bytes) {
  void* const memory = members_.front()->allocate_shared(bytes);
  for (const auto& member : members_) member->gpu().share(memory, std::max<std::size_t>(bytes, 1));
  return memory;
}

bool CudaGroup::holds(const void* memory) {
  if (!memory) return false;
  const CudaGpu& gpu = members_.front()->gpu();
  if (gpu.shares(memory)) return true;
  const CudaContextGuard guard(gpu);
  return find_pointer(gpu, memory).on_gpu;
}

void CudaGroup::release(void* memory) noexcept {
  members_.front()->release(memory);
  for (const auto& member : members_) member->gpu().unshare(memory);
}

}  // namespace nbcc
