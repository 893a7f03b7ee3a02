// A checked request -> a run on each of several GPUs. Interface: CudaGroupSummation.
//
// If the arrays are on a GPU (the owner), the host does not wait. Each other GPU has a stream; its copies of the inputs
// wait for the earlier work of the caller's stream, and the caller's stream then waits until all GPUs have stored their
// results.
#include "runtime/cuda/group/cuda_group_sum.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "fmt/format.h"
#include "runtime/cuda/far/cuda_far_backend.h"
#include "runtime/error.h"
#include "runtime/first_failure.h"
#include "runtime/sum/request/divide_i.h"
#include "runtime/sum/request/overlap.h"

namespace nbcc {
namespace {

// The work of one multiprocessor per clock cycle, in round numbers, measured on an H200 (132 multiprocessors, 1.98 GHz;
// bench/RESULTS.md, "Several GPUs"). In one second the H200 sums over 1.5e12 pairs or 5e11 listed pairs, or finds the
// neighbours of 3e9 i and sums over them.
constexpr double kMeasuredCycles = 132 * 1.98e9;  // of all multiprocessors, per second
constexpr double kPairsPerCycle = 1.5e12 / kMeasuredCycles, kListedPerCycle = 5e11 / kMeasuredCycles,
                 kSearchedPerCycle = 3e9 / kMeasuredCycles;

// i-particles. Ranges of i begin at multiples of this, so that only the last GPU has a partially filled block.
constexpr std::int64_t kGranularity = 256;

}  // namespace

CudaGroupSummation::CudaGroupSummation(const std::vector<const CudaKernel*>& kernels, bool shares_small_sums)
    : source_(kernels.front()->source), shares_small_sums_(shares_small_sums) {
  for (const CudaKernel* kernel : kernels) members_.push_back(std::make_unique<Member>(*kernel));
  // All GPUs have the same pair methods, since all GPUs of a group are of one model.
  for (const PairMethod& of_one : first().methods()) {
    const Cut cut = of_one.searches              ? Cut::Search
                    : of_one.name == "all pairs" ? Cut::Ranges
                    : of_one.name == "symmetric" ? Cut::Distances
                                                 : Cut::Groups;
    const SharedMethod shared{methods_.size(), cut};
    PairMethod& method = methods_.emplace_back(of_one);
    method.work = [this, shared](const SumRequest& request) { return work(request, shared); };
    method.enqueue = [this, shared](const SumRequest& request) { run(request, shared); };
  }
}

CudaGroupSummation::~CudaGroupSummation() {
  try {
    wait(nullptr);
  } catch (...) {
    // A GPU that has failed no longer uses memory.
  }
}

std::vector<std::shared_ptr<FarBackend>> CudaGroupSummation::far_backends(const Kernel& callers, Precision at_least,
                                                                          std::span<const int> orders) const {
  std::vector<std::shared_ptr<FarBackend>> backends;
  for (const auto& member : members_) {
    // The group's kernels would divide the sums of each share among all GPUs once more.
    const CallersKernel& own = member->callers.try_emplace(&callers, callers, member->kernel).first->second;
    backends.push_back(member->sum.far_backends(own, at_least, orders).front());
  }
  CudaFarBackend::join(backends, shares_small_sums_);
  return backends;
}

DeviceCopies* CudaGroupSummation::device_copies(std::span<const ArrayView> arrays) {
  const Where where = find(arrays);
  return where.owner_index ? members_[*where.owner_index]->sum.device_copies(arrays) : nullptr;
}

void CudaGroupSummation::wait(Progress* progress) {
  FirstFailure failure;
  for (const auto& member : members_) failure.attempt([&] { member->sum.wait(progress); });
  failure.rethrow();
}

void CudaGroupSummation::set_launch(const LaunchConfig& overrides) {
  for (const auto& member : members_) member->sum.set_launch(overrides);
}

SumStatistics CudaGroupSummation::statistics() const {
  SumStatistics all = members_[last_]->sum.statistics();
  for (const auto& member : members_) {
    if (member == members_[last_]) continue;
    const SumStatistics one = member->sum.statistics();
    all.pairs_tested += one.pairs_tested;
    if (member->last_run == runs_) all.pairs_within += one.pairs_within;
  }
  return all;
}

// The values of totals are where the other arrays are (CudaTotals).
CudaGroupSummation::Where CudaGroupSummation::find(const SumRequest& request) const {
  return find(arrays_of(source_.fields, request.views));
}

CudaGroupSummation::Where CudaGroupSummation::find(std::span<const ArrayView> arrays) const {
  const CudaGpu& gpu = members_.front()->gpu;
  const CudaContextGuard guard(gpu);
  bool host = false, mixed = false;
  std::optional<std::size_t> owner_index;
  for (const ArrayView& view : arrays) {
    if (gpu.shares(view.data)) continue;
    const CudaPointer pointer = find_pointer(gpu, view.data);
    if (pointer.managed) continue;
    if (!pointer.on_gpu) {
      host = true;
      continue;
    }
    const auto owner =
        std::ranges::find_if(members_, [&](const auto& m) { return m->gpu.ordinal() == pointer.ordinal; });
    const std::size_t number = std::size_t(owner - members_.begin());
    // In a mixed case one GPU runs alone, and its error message names the array that it cannot access.
    mixed = mixed || owner == members_.end() || owner_index.value_or(number) != number;
    owner_index = number;
  }
  mixed = mixed || (host && owner_index);
  if (mixed) return {};
  if (host) return {true, {}};
  return {false, owner_index.value_or(0)};
}

bool CudaGroupSummation::outputs_touch_inputs(const SumRequest& request) const {
  return find_overlap(source_.fields, request.views, disjoint).has_value();
}

// Predicted seconds of the peer copies: of the inputs before the sums, and of a search's results after them.
double CudaGroupSummation::seconds_of_copies(const SumRequest& request, Cut cut) const {
  const auto others = double(members_.size() - 1);
  double bytes = double(copied_bytes(source_, request.views)) * others;
  if (has_buffers(cut)) bytes += first().buffer_bytes(request) * others / (others + 1);
  return kPeerSeconds + bytes / kPeerBytesPerSecond;
}

// The fraction of a run that the owner of the arrays does, so that all GPUs finish at the same time. `seconds`: the
// run's time on one GPU. 1 if the other GPUs would only delay the run. Results do not depend on the fraction.
double CudaGroupSummation::owner_fraction(const SumRequest& request, Cut cut, double seconds) const {
  const auto others = double(members_.size() - 1);
  if (shares_small_sums_) return 1 / (others + 1);
  if (seconds < 2 * kPeerSeconds) return 1;
  const double copies = seconds_of_copies(request, cut);
  return copies > seconds / 2 ? 1 : (1 + others * copies / seconds) / (others + 1);
}

// One request per GPU: for Cut::Ranges a range of the i, else a fraction of the groups.
std::vector<SumRequest> CudaGroupSummation::shares_of(const SumRequest& request, std::size_t owner_index, Cut cut,
                                                      double owner_fraction) const {
  std::vector<SumRequest> shares;
  double from = 0;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const double part = m == owner_index ? owner_fraction : (1 - owner_fraction) / double(members_.size() - 1);
    const double to = m + 1 == members_.size() ? 1 : from + part;
    SumRequest& own = shares.emplace_back(request);
    own.share = {request.i_count, from, to, epoch_};
    from = to;
    if (cut != Cut::Ranges) continue;
    const std::int64_t grains = ceil_div(request.i_count, kGranularity);
    const std::int64_t begin = std::min(own.share.begin(grains) * kGranularity, request.i_count);
    own = with_i(own, begin, std::min(own.share.end(grains) * kGranularity, request.i_count) - begin);
  }
  return shares;
}

// Launches and memory of each GPU, with equal shares.
std::vector<DeviceWork> CudaGroupSummation::work(const SumRequest& request, const SharedMethod& method) {
  std::vector<DeviceWork> all;
  std::vector<SumRequest> shares = shares_of(request, 0, method.cut, 1 / double(members_.size()));
  for (std::size_t m = 0; m < members_.size(); ++m) {
    set_views(*members_[m], shares[m], {request.views.begin(), request.views.end()});
    for (DeviceWork& one : members_[m]->sum.methods()[method.row].work(shares[m])) all.push_back(std::move(one));
  }
  return all;
}

// Predicted seconds of the run on one GPU.
double CudaGroupSummation::seconds_of(const SumRequest& request, const SharedMethod& method) const {
  const auto seconds = [&](double work, double per_cycle) {
    return work / (per_cycle * members_.front()->gpu.cycles_per_second());
  };
  if (method.cut == Cut::Search) return seconds(double(request.i_count), kSearchedPerCycle);
  if (request.lists) return seconds(double(request.lists->pairs), kPairsPerCycle);
  if (request.listed_pairs) return seconds(double(request.listed_pairs->j.size()), kListedPerCycle);
  return seconds(pairs_of(request), kPairsPerCycle);
}

// Divides the run among all GPUs if its arrays are on one GPU and dividing takes less time, or if its arrays are on the
// host and ranges of i can be divided. Else one GPU does the run.
void CudaGroupSummation::run(const SumRequest& request, const SharedMethod& method) {
  if (request.progress && method.cut != Cut::Search) {
    const double pairs = request.lists          ? double(request.lists->pairs)
                         : request.listed_pairs ? double(request.listed_pairs->j.size())
                                                : pairs_of(request);
    request.progress->begin(pairs);
  }
  // The accumulators of the earlier j chunks are on the GPU that summed them.
  if (request.j_part != JPart::Whole) return run_alone(0, request, method);
  const Where where = find(request);
  // Histograms are sums over all i, and a GPU waits for its own.
  if (request.histograms) return run_alone(where.owner_index.value_or(0), request, method);
  const double seconds = seconds_of(request, method);
  // A GPU that stores its results must not overwrite inputs that another GPU still has to read.
  const bool from_host = method.cut == Cut::Ranges && where.host && !outputs_touch_inputs(request);
  if (from_host && (shares_small_sums_ || seconds > 4 * kPeerSeconds)) return run_from_host(request, method);
  const std::size_t owner_index = where.owner_index.value_or(0);
  const double part = where.owner_index ? owner_fraction(request, method.cut, seconds) : 1;
  if (part == 1) return run_alone(owner_index, request, method);
  if (method.cut != Cut::Search) {
    // A run whose launches are cut into slices blocks its host thread (CudaPace).
    const bool in_threads = request.progress && (shares_small_sums_ || seconds > CudaPace::kMaxLaunchSeconds);
    return run_from(owner_index, request, method, shares_of(request, owner_index, method.cut, part), in_threads);
  }
  // An index in the group order means the same particle on all GPUs only if all GPUs have searched in the same runs.
  if (!std::exchange(is_decomposed_, false) || owner_index != decomposed_owner_ || part != decomposed_fraction_)
    ++epoch_;
  decomposed_owner_ = owner_index;
  decomposed_fraction_ = part;
  run_from(owner_index, request, method, shares_of(request, owner_index, method.cut, part), false);
  is_decomposed_ = true;
}

// A GPU's packed j are valid if the GPU took part in the previous run.
void CudaGroupSummation::run_share(Member& member, SumRequest share, const SharedMethod& method) const {
  if (member.last_run != runs_ - 1) share.reuse = JReuse::None;
  member.last_run = runs_;
  member.sum.methods()[method.row].enqueue(share);
}

void CudaGroupSummation::run_alone(std::size_t member, const SumRequest& request, const SharedMethod& method) {
  SumRequest whole = request;
  set_views(*members_[member], whole, {request.views.begin(), request.views.end()});
  last_ = member;
  ++runs_;
  is_decomposed_ = false;
  // The neighbour lists of the member's search remain valid in its next runs of this epoch.
  whole.share.epoch = epoch_;
  run_share(*members_[member], whole, method);
}

void CudaGroupSummation::run_from_host(const SumRequest& request, const SharedMethod& method) {
  std::vector<SumRequest> shares = shares_of(request, 0, Cut::Ranges, 1 / double(members_.size()));
  ++runs_;
  is_decomposed_ = false;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    set_views(*members_[m], shares[m], {request.views.begin(), request.views.end()});
    // The caller's stream belongs to the first GPU.
    if (m > 0) shares[m].stream = nullptr;
  }
  last_ = 0;
  run_shares(shares, method, true);
}

void CudaGroupSummation::run_shares(const std::vector<SumRequest>& shares, const SharedMethod& method,
                                    bool in_threads) {
  std::vector<std::exception_ptr> failures(members_.size());
  std::exception_ptr failure_of_asking;
  // Short shares may end before this thread polls again.
  if (Progress* const progress = shares.front().progress; progress && in_threads) progress->poll();
  std::atomic<int> running = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (shares[m].i_count == 0) continue;
      if (!in_threads) {
        run_share(*members_[m], shares[m], method);
        continue;
      }
      ++running;
      threads.emplace_back([&, m] {
        try {
          run_share(*members_[m], shares[m], method);
        } catch (...) {
          failures[m] = std::current_exception();
        }
        --running;
      });
    }
    // Only this thread calls the caller's callback; the other threads read the flag that an interrupt sets.
    if (Progress* const progress = shares.front().progress; progress && in_threads) {
      try {
        progress->wait_until([&] { return running == 0; });
      } catch (...) {
        failure_of_asking = std::current_exception();
      }
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  if (failure_of_asking) std::rethrow_exception(failure_of_asking);
}

void CudaGroupSummation::run_from(std::size_t owner_index, const SumRequest& request, const SharedMethod& method,
                                  std::vector<SumRequest> shares, bool in_threads) {
  Member& owner = *members_[owner_index];
  auto* const stream = static_cast<CudaStream*>(request.stream);
  const bool captured = is_captured(owner, stream);
  const bool to_owner = outputs_touch_inputs(request);
  last_ = owner_index;
  // Reuse packed j on all GPUs or on none: the searches must agree on whether i and j are one set
  // (CudaSearch::i_are_j).
  if (!std::ranges::all_of(members_, [&](const auto& member) { return member->last_run == runs_; }))
    for (SumRequest& share : shares) share.reuse = JReuse::None;
  ++runs_;
  try {
    copy_inputs(owner_index, request, to_owner, shares, captured);
    run_shares(shares, method, in_threads && !captured);
    if (has_buffers(method.cut)) send_buffer_ranges(owner_index, shares, captured);
    for (const auto& member : members_) {
      if (member.get() == &owner) continue;
      {
        const CudaContextGuard guard(member->gpu);
        member->done.record(member->stream.get());
      }
      const CudaContextGuard guard(owner.gpu);
      member->done.make_wait(stream);
    }
  } catch (...) {
    // Neither the caller's stream nor wait() waits for the streams of the other GPUs. The first failure is thrown.
    if (captured) throw;
    FirstFailure later;
    for (const auto& member : members_)
      later.attempt([&] {
        const CudaContextGuard guard(member->gpu);
        member->stream.wait();
      });
    throw;
  }
  if (has_buffers(method.cut) && owner.sum.buffer_range(shares[owner_index].share).at != 0)
    owner.sum.unpermute(stream, captured);
}

bool CudaGroupSummation::is_captured(const Member& member, CudaStream* stream) const {
  const CudaContextGuard guard(member.gpu);
  return member.gpu.is_captured(stream);
}

// Copies the results of a search, as parts of the group-ordered output buffer, or slots to the owner. Direct stores
// into the owner's memory would be one small transfer per number, since particles of a group are scattered in the
// caller's arrays.
void CudaGroupSummation::send_buffer_ranges(std::size_t owner_index, const std::vector<SumRequest>& shares,
                                            bool captured) {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (m == owner_index) continue;
    members_[m]->sum.send_buffer_range(members_[owner_index]->sum.buffer_range(shares[m].share), shares[m].share,
                                       static_cast<CudaStream*>(shares[m].stream), captured);
  }
}

// For memory that only the runs of shares use.
void CudaGroupSummation::reserve(Member& member, CudaBuffer& buffer, std::size_t bytes, const char* what,
                                 bool captured) {
  if (captured) buffer.retain_for_capture();
  if (bytes <= buffer.bytes()) return;
  if (captured)
    throw DeviceError(
        "working memory must grow, which cannot be done while a stream is captured: run once before the capture");
  member.gpu.synchronize(member.stream.get());  // an earlier run may still use the old memory
  if (!buffer.reserve(bytes))
    throw DeviceError(fmt::format("out of memory of cuda:{}: there is no room for {} bytes of {}", member.gpu.ordinal(),
                                  bytes, what));
}

// Copies the share's part of a list of i from one GPU to another.
void CudaGroupSummation::copy_list(Member& member, SumRequest& share, CudaStream* stream, bool captured) {
  const std::size_t bytes = std::size_t(share.i_count) * sizeof(std::int64_t);
  reserve(member, member.list, bytes, "a list of i-particles", captured);
  member.gpu.require(member.gpu.driver().memcpy_async(member.list.data(),
                                                      reinterpret_cast<std::uintptr_t>(share.i_list), bytes, stream),
                     "copying a list from one GPU to another");
  share.i_list = reinterpret_cast<const std::int64_t*>(member.list.data());
}

void CudaGroupSummation::set_views(Member& member, SumRequest& share, std::vector<ArrayView> views) {
  if (views != member.views || share.binding != member.callers_binding) ++member.binding;
  member.callers_binding = share.binding;
  member.views = std::move(views);
  share.views = member.views;
  share.binding = member.binding;
}

// Copies the inputs to all GPUs but the owner, and on the owner too if results would overwrite inputs (`to_owner`).
void CudaGroupSummation::copy_inputs(std::size_t owner_index, const SumRequest& request, bool to_owner,
                                     std::vector<SumRequest>& shares, bool captured) {
  Member& owner = *members_[owner_index];
  auto* const stream = static_cast<CudaStream*>(request.stream);
  const bool has_device_list = request.i_list && !owner.sum.can_read(request.i_list);
  // A graph is ordered after earlier runs by the caller.
  if (!captured) owner.sum.make_wait(stream);
  {
    const CudaContextGuard guard(owner.gpu);
    owner.done.record(stream);  // the earlier work of the caller's stream, and the previous run
  }
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Member& member = *members_[m];
    if (m == owner_index && !to_owner) {
      set_views(member, shares[m], {request.views.begin(), request.views.end()});
      continue;
    }
    const CudaContextGuard guard(member.gpu);
    shares[m].stream = m == owner_index ? stream : member.stream.get();
    auto* const own = static_cast<CudaStream*>(shares[m].stream);
    if (!captured) member.sum.make_wait(own);
    if (m != owner_index) owner.done.make_wait(own);
    if (m != owner_index && has_device_list && shares[m].i_count > 0) copy_list(member, shares[m], own, captured);
    set_views(member, shares[m], member.copies.copy(source_, request.views, own, captured));
    member.copied.record(own);
  }
  if (!to_owner) return;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const CudaContextGuard guard(members_[m]->gpu);
    for (const auto& other : members_) other->copied.make_wait(static_cast<CudaStream*>(shares[m].stream));
  }
}

}  // namespace nbcc
