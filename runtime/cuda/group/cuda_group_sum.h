// One sum on several GPUs: a run -> work shares, each a run on one GPU (cuda_group.h says how they are chosen).
// Tested by tests/unit/runtime/cuda/group/cuda_group_test.cpp.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/cuda/run/cuda_copies.h"
#include "runtime/cuda/run/cuda_sum.h"

namespace nbcc {

class CudaGroupSummation final : public Summation {
 public:
  // The kernels, one for each GPU, must outlive this object. `shares_small_sums`: also divides sums for which one GPU
  // is faster.
  CudaGroupSummation(const std::vector<const CudaKernel*>& kernels, bool shares_small_sums);
  ~CudaGroupSummation() override;
  std::span<const PairMethod> methods() const override { return methods_; }
  void fetch(void* to, const void* from, std::size_t bytes) const override { first().fetch(to, from, bytes); }
  void put(void* to, const void* from, std::size_t bytes) const override { first().put(to, from, bytes); }
  void wait(Progress* progress) override;
  bool can_read(const std::int64_t* list) const override { return first().can_read(list); }
  bool is_captured(void* stream) const override { return first().is_captured(stream); }
  void set_launch(const LaunchConfig& overrides) override;
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj) override { return first().launch_for(ni, nj); }
  SumStatistics statistics() const override;
  std::vector<std::shared_ptr<FarBackend>> far_backends(const Kernel& callers, Precision at_least,
                                                        std::span<const int> orders) const override;
  std::unique_ptr<TotalSteps> total_steps() override;  // cuda_group_totals.cpp
  DeviceCopies* device_copies(std::span<const ArrayView> arrays) override;
  void synchronize(void* stream) const override { first().synchronize(stream); }

 private:
  // The caller's kernel on one GPU, whose derived kernels run on that GPU alone.
  class CallersKernel final : public Kernel {
   public:
    CallersKernel(const Kernel& callers, const CudaKernel& on_gpu) : Kernel(callers.source), on_gpu_(on_gpu) {}
    std::unique_ptr<Summation> start() const override { return on_gpu_.start(); }
    std::shared_ptr<const Kernel> load(const KernelSource& other) const override { return on_gpu_.load(other); }

   private:
    const CudaKernel& on_gpu_;
  };
  struct Member {
    explicit Member(const CudaKernel& k)
        : kernel(k), gpu(k.gpu()), sum(k), copies(gpu), list(gpu), stream(gpu), copied(gpu), done(gpu) {}
    const CudaKernel& kernel;
    const CudaGpu& gpu;
    CudaSummation sum;
    std::map<const Kernel*, const CallersKernel> callers;  // of far fields
    CudaCopies copies;
    CudaBuffer list;               // int64 indices of the i of its share
    std::vector<ArrayView> views;  // of its last share
    std::uint64_t binding = 0;     // changes whenever `views` have changed or the caller has bound arrays again
    std::uint64_t callers_binding = 0;
    std::int64_t last_run = 0;  // number of the last run in which the GPU took part
    CudaOwnStream stream;
    CudaEventOwner copied, done;
  };
  // How the work of a pair method is divided: ranges of i; groups of lists; groups that a search makes; distances of
  // groups in a symmetric sum. The results of the last two are in buffers that the other GPUs send to the owner.
  enum class Cut : std::uint8_t { Ranges, Groups, Search, Distances };
  static bool has_buffers(Cut cut) { return cut == Cut::Search || cut == Cut::Distances; }
  // A pair method and how its work is divided.
  struct SharedMethod {
    std::size_t row = 0;  // index in methods() of each GPU
    Cut cut = Cut::Ranges;
  };
  // The memory that holds the arrays of a run: `host`: all on the host; `owner_index`: all on this member (managed
  // memory counts as any member's); neither: mixed.
  struct Where {
    bool host = false;
    std::optional<std::size_t> owner_index;
  };
  CudaSummation& first() const { return members_.front()->sum; }
  Where find(const SumRequest& request) const;
  Where find(std::span<const ArrayView> arrays) const;
  bool outputs_touch_inputs(const SumRequest& request) const;
  double seconds_of_copies(const SumRequest& request, Cut cut) const;
  std::vector<DeviceWork> work(const SumRequest& request, const SharedMethod& method);
  void run(const SumRequest& request, const SharedMethod& method);
  double seconds_of(const SumRequest& request, const SharedMethod& method) const;
  double owner_fraction(const SumRequest& request, Cut cut, double seconds) const;
  std::vector<SumRequest> shares_of(const SumRequest& request, std::size_t owner_index, Cut cut,
                                    double owner_fraction) const;
  void run_from_host(const SumRequest& request, const SharedMethod& method);
  void run_from(std::size_t owner_index, const SumRequest& request, const SharedMethod& method,
                std::vector<SumRequest> shares, bool in_threads);
  // Runs each share on its GPU; skips shares without i. `in_threads`: one host thread per GPU, because a run may block
  // its thread.
  void run_shares(const std::vector<SumRequest>& shares, const SharedMethod& method, bool in_threads);
  void run_share(Member& member, SumRequest share, const SharedMethod& method) const;
  void run_alone(std::size_t member, const SumRequest& request, const SharedMethod& method);
  void copy_list(Member& member, SumRequest& share, CudaStream* stream, bool captured);
  void set_views(Member& member, SumRequest& share, std::vector<ArrayView> views);
  void send_buffer_ranges(std::size_t owner_index, const std::vector<SumRequest>& shares, bool captured);
  static void reserve(Member& member, CudaBuffer& buffer, std::size_t bytes, const char* what, bool captured);
  // In a captured run the streams of the other GPUs join the capture, since they wait for an event of the caller's
  // stream, which then waits for theirs.
  void copy_inputs(std::size_t owner_index, const SumRequest& request, bool to_owner, std::vector<SumRequest>& shares,
                   bool captured);
  bool is_captured(const Member& member, CudaStream* stream) const;

  const KernelSource& source_;
  const bool shares_small_sums_;
  std::vector<std::unique_ptr<Member>> members_;
  std::int64_t runs_ = 0;
  // The decomposition of the last search: the owner of the arrays, its fraction of the groups, and the epoch, a number
  // that changes with the decomposition and when a member has run without the others.
  std::size_t decomposed_owner_ = 0;
  double decomposed_fraction_ = 0;
  std::int64_t epoch_ = 0;
  bool is_decomposed_ = false;  // the last run was such a search, and has not failed
  std::size_t last_ = 0;        // the member that has the last run's arrays, or ran alone
  std::vector<PairMethod> methods_;
};

}  // namespace nbcc
