// One sum on several GPUs: a run -> shares of it, each a run on one of them (cuda_group.h says which).
// Tested by tests/unit/cuda_group_test.cpp.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_copies.h"
#include "runtime/cuda/cuda_sum.h"

namespace nbcc {

class CudaGroupSummation final : public Summation {
 public:
  // The kernels, one for each GPU, must outlive this object. `shares_small_sums`: also where one GPU would be faster.
  CudaGroupSummation(const std::vector<const CudaKernel*>& kernels, bool shares_small_sums);
  ~CudaGroupSummation() override;
  std::span<const PairMethod> methods() const override { return methods_; }
  void fetch(void* to, const void* from, std::size_t bytes) const override { first().fetch(to, from, bytes); }
  void wait(Progress* progress) override;
  bool can_read(const std::int64_t* list) const override { return first().can_read(list); }
  void set_launch(const LaunchConfig& overrides) override;
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj) override { return first().launch_for(ni, nj); }
  SumStatistics statistics() const override;

 private:
  struct Member {
    explicit Member(const CudaKernel& k)
        : gpu(k.gpu()), sum(k), copies(gpu), list(gpu), stream(gpu), copied(gpu), done(gpu) {}
    const CudaGpu& gpu;
    CudaSummation sum;
    CudaCopies copies;
    CudaBuffer list;               // of its i
    std::vector<ArrayView> views;  // of its last share
    std::uint64_t binding = 0;     // another number whenever they have changed, or the caller has bound anew
    std::uint64_t callers_binding = 0;
    std::int64_t last_run = 0;  // in which it took part
    CudaOwnStream stream;
    CudaEventOwner copied, done;
  };
  // The parts that a method is shared out in: ranges of i; groups of lists; groups that a search makes.
  enum class Cut : std::uint8_t { Ranges, Groups, Search };
  // How one of the GPUs' methods is shared out.
  struct SharedMethod {
    std::size_t row = 0;  // among the methods of each GPU
    Cut cut = Cut::Ranges;
  };
  // Where the arrays of a run are: all on the host, all on one of the GPUs (managed memory counts as any one's), or
  // here and there.
  struct Where {
    bool host = false;
    std::optional<std::size_t> home;  // a member
  };
  CudaSummation& first() const { return members_.front()->sum; }
  Where find(const SumRequest& request) const;
  bool outputs_touch_inputs(const SumRequest& request) const;
  double seconds_of_copies(const SumRequest& request, Cut cut) const;
  std::vector<DeviceWork> work(const SumRequest& request, const SharedMethod& method);
  void run(const SumRequest& request, const SharedMethod& method);
  double seconds_of(const SumRequest& request, const SharedMethod& method) const;
  double part_of_home(const SumRequest& request, Cut cut, double seconds) const;
  std::vector<SumRequest> shares_of(const SumRequest& request, std::size_t home, Cut cut, double part_of_home) const;
  void run_from_host(const SumRequest& request, const SharedMethod& method);
  void run_from(std::size_t home, const SumRequest& request, const SharedMethod& method, std::vector<SumRequest> shares,
                bool in_threads);
  // Each on its GPU, those without i not; in a thread for each where a GPU may make its host wait.
  void run_shares(const std::vector<SumRequest>& shares, const SharedMethod& method, bool in_threads);
  void run_share(Member& member, SumRequest share, const SharedMethod& method) const;
  void run_alone(std::size_t member, const SumRequest& request, const SharedMethod& method);
  void bring_list(Member& member, SumRequest& share, CudaStream* stream);
  void set_views(Member& member, SumRequest& share, std::vector<ArrayView> views);
  void send_rows(std::size_t home, const std::vector<SumRequest>& shares);
  static void reserve(Member& member, CudaBuffer& buffer, std::size_t bytes, const char* what);
  void bring_copies(std::size_t home, const SumRequest& request, bool to_home, std::vector<SumRequest>& shares);

  const KernelSource& source_;
  const bool shares_small_sums_;
  std::vector<std::unique_ptr<Member>> members_;
  std::int64_t runs_ = 0;
  // The decomposition of the last search: the member that has the arrays, its fraction of the groups, and the epoch,
  // another number for another decomposition, or when a member has run without the others.
  std::size_t decomposed_home_ = 0;
  double decomposed_part_ = 0;
  std::int64_t epoch_ = 0;
  bool is_decomposed_ = false;  // the last run was such a search, and has not failed
  std::size_t last_ = 0;        // the member that has the last run's arrays, or ran alone
  std::vector<PairMethod> methods_;
};

}  // namespace nbcc
