// A checked request -> a run on each of several GPUs. One door: CudaGroupSummation.
//
// From arrays on a GPU (home) nothing waits on the host: copies to the others follow in streams of theirs what the
// caller's stream was given before, and the caller's stream goes on when all have stored their results.
#include "runtime/cuda/cuda_group_sum.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/first_failure.h"
#include "runtime/sum/overlap.h"

namespace nbcc {
namespace {

// The work of one multiprocessor in a clock cycle, in round numbers, as measured on an H200 (132 multiprocessors,
// 1.98 GHz; bench/RESULTS.md, "Several GPUs"). In a second it sums over 1.5e12 pairs or 5e11 listed pairs, or finds and
// sums over the neighbours of 3e9 i.
constexpr double kMeasuredCycles = 132 * 1.98e9;  // of all multiprocessors, in a second
constexpr double kPairsPerCycle = 1.5e12 / kMeasuredCycles, kListedPerCycle = 5e11 / kMeasuredCycles,
                 kSearchedPerCycle = 3e9 / kMeasuredCycles;
// The cost of sharing a run: launches and events on another GPU, in seconds, and copies between two by NVLink.
constexpr double kLaunches = 50e-6, kBytesPerSecond = 3.5e11;

// Ranges of i begin at multiples, so that no GPU but the last has a block that is not full.
constexpr std::int64_t kGrain = 256;

bool is_bound(const FieldLayout& field, const ArrayView& view) {
  return field.role != Role::Param && view.data && view.count > 0;
}

}  // namespace

CudaGroupSummation::CudaGroupSummation(const std::vector<const CudaKernel*>& kernels, bool shares_small_sums)
    : source_(kernels.front()->source), shares_small_sums_(shares_small_sums) {
  for (const CudaKernel* kernel : kernels) members_.push_back(std::make_unique<Member>(*kernel));
  // All GPUs have the rows of the first one, since a group takes GPUs of one model only.
  for (const PairMethod& of_one : first().methods()) {
    const Cut cut = of_one.searches ? Cut::Search : of_one.name == "all pairs" ? Cut::Ranges : Cut::Groups;
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
    // A GPU that has failed uses no memory any more.
  }
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

CudaGroupSummation::Where CudaGroupSummation::find(const SumRequest& request) const {
  const CudaGpu& gpu = members_.front()->gpu;
  const CudaContextGuard guard(gpu);
  bool host = false, mixed = false;
  std::optional<std::size_t> home;
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const ArrayView& view = request.views[f];
    if (!is_bound(source_.fields[f], view) || gpu.shares(view.data)) continue;
    const CudaPointer pointer = find_pointer(gpu, view.data);
    if (pointer.managed) continue;
    if (!pointer.on_gpu) {
      host = true;
      continue;
    }
    const auto owner =
        std::ranges::find_if(members_, [&](const auto& m) { return m->gpu.ordinal() == pointer.ordinal; });
    const std::size_t number = std::size_t(owner - members_.begin());
    // Whoever runs it alone then names the array that it does not reach.
    mixed = mixed || owner == members_.end() || home.value_or(number) != number;
    home = number;
  }
  mixed = mixed || (host && home);
  if (mixed) return {};
  if (host) return {true, {}};
  return {false, home.value_or(0)};
}

bool CudaGroupSummation::outputs_touch_inputs(const SumRequest& request) const {
  return find_overlap(source_.fields, request.views, disjoint).has_value();
}

// What the others wait for before they sum, and behind it, in seconds: copies of the inputs, and of a search's results.
double CudaGroupSummation::seconds_of_copies(const SumRequest& request, Cut cut) const {
  const auto others = double(members_.size() - 1);
  double bytes = double(copied_bytes(source_, request.views)) * others;
  if (cut == Cut::Search) bytes += double(request.i_count * source_.outputs * 4) * others / (others + 1);
  return kLaunches + bytes / kBytesPerSecond;
}

// The part of a run that takes one GPU so many seconds which is done by the GPU that has the arrays, so that all are
// done at the same time; 1: a run that the others would only delay. Whoever does what, it gives the same bits.
double CudaGroupSummation::part_of_home(const SumRequest& request, Cut cut, double seconds) const {
  const auto others = double(members_.size() - 1);
  if (shares_small_sums_) return 1 / (others + 1);
  if (seconds < 2 * kLaunches) return 1;
  const double copies = seconds_of_copies(request, cut);
  return copies > seconds / 2 ? 1 : (1 + others * copies / seconds) / (others + 1);
}

// A part of all groups, or else of the i.
std::vector<SumRequest> CudaGroupSummation::shares_of(const SumRequest& request, std::size_t home, Cut cut,
                                                      double part_of_home) const {
  std::vector<SumRequest> shares;
  double from = 0;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const double part = m == home ? part_of_home : (1 - part_of_home) / double(members_.size() - 1);
    const double to = m + 1 == members_.size() ? 1 : from + part;
    SumRequest& own = shares.emplace_back(request);
    own.share = {request.i_count, from, to, epoch_};
    from = to;
    if (cut != Cut::Ranges) continue;
    const std::int64_t grains = ceil_div(request.i_count, kGrain);
    const std::int64_t begin = std::min(own.share.begin(grains) * kGrain, request.i_count);
    own.i_count = std::min(own.share.end(grains) * kGrain, request.i_count) - begin;
    if (own.i_list)
      own.i_list += begin;
    else
      own.i_begin += begin;
  }
  return shares;
}

// What each GPU takes, where all have the same share.
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

// Shares the run out to all GPUs if its arrays are on one of them and that takes less time, or if they are on the host
// and ranges of i are shared out. Else one GPU runs it.
void CudaGroupSummation::run(const SumRequest& request, const SharedMethod& method) {
  if (request.progress && method.cut != Cut::Search) {
    const double pairs = request.lists          ? double(request.lists->pairs)
                         : request.listed_pairs ? double(request.listed_pairs->j.size())
                                                : pairs_of(request);
    request.progress->begin(pairs);
  }
  // The accumulators of the parts before are on the GPU that ran them.
  if (request.j_part != JPart::Whole) return run_alone(0, request, method);
  const Where where = find(request);
  const double seconds = seconds_of(request, method);
  // A GPU that stores its results may not change what another still has to read.
  const bool from_host = method.cut == Cut::Ranges && where.host && !outputs_touch_inputs(request);
  if (from_host && (shares_small_sums_ || seconds > 4 * kLaunches)) return run_from_host(request, method);
  const std::size_t home = where.home.value_or(0);
  const double part = where.home ? part_of_home(request, method.cut, seconds) : 1;
  if (part == 1) return run_alone(home, request, method);
  if (method.cut != Cut::Search) {
    // A GPU whose launches are cut makes its host wait.
    const bool in_threads = request.progress && (shares_small_sums_ || seconds > CudaPace::kLongest);
    return run_from(home, request, method, shares_of(request, home, method.cut, part), in_threads);
  }
  // Positions in the order of the groups mean the same on all GPUs where all have searched in the same runs.
  if (!std::exchange(is_decomposed_, false) || home != decomposed_home_ || part != decomposed_part_) ++epoch_;
  decomposed_home_ = home;
  decomposed_part_ = part;
  run_from(home, request, method, shares_of(request, home, method.cut, part), false);
  is_decomposed_ = true;
}

// A GPU's packed j hold if it took part in the run before.
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
  // The lists that the member's search has kept hold in its next runs of this epoch.
  whole.share.epoch = epoch_;
  run_share(*members_[member], whole, method);
}

void CudaGroupSummation::run_from_host(const SumRequest& request, const SharedMethod& method) {
  std::vector<SumRequest> shares = shares_of(request, 0, Cut::Ranges, 1 / double(members_.size()));
  ++runs_;
  is_decomposed_ = false;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    set_views(*members_[m], shares[m], {request.views.begin(), request.views.end()});
    // The caller's stream is one of the first GPU.
    if (m > 0) shares[m].stream = nullptr;
  }
  last_ = 0;
  run_shares(shares, method, true);
}

void CudaGroupSummation::run_shares(const std::vector<SumRequest>& shares, const SharedMethod& method,
                                    bool in_threads) {
  std::vector<std::exception_ptr> failures(members_.size());
  std::exception_ptr failure_of_asking;
  // Short shares may end before this thread asks again.
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
    // Only this thread can ask; those of the others hear of it.
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

void CudaGroupSummation::run_from(std::size_t home, const SumRequest& request, const SharedMethod& method,
                                  std::vector<SumRequest> shares, bool in_threads) {
  Member& owner = *members_[home];
  auto* const stream = static_cast<CudaStream*>(request.stream);
  {
    const CudaContextGuard guard(owner.gpu);
    int capturing = 0;
    // The legacy default stream cannot be captured, and may not be asked.
    if (reinterpret_cast<std::uintptr_t>(stream) > 1)
      owner.gpu.require(owner.gpu.driver().stream_is_capturing(stream, &capturing), "asking whether it is captured");
    if (capturing != 0) throw DeviceError("a run on several GPUs cannot be captured");
  }
  const bool to_home = outputs_touch_inputs(request);
  last_ = home;
  // All find alike whether i and j are one set.
  if (!std::ranges::all_of(members_, [&](const auto& member) { return member->last_run == runs_; }))
    for (SumRequest& share : shares) share.reuse = JReuse::None;
  ++runs_;
  try {
    bring_copies(home, request, to_home, shares);
    run_shares(shares, method, in_threads);
    if (method.cut == Cut::Search) send_rows(home, shares);
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
    // Neither the caller's stream nor its wait() knows what the others are at. What failed first is thrown.
    FirstFailure later;
    for (const auto& member : members_)
      later.attempt([&] {
        const CudaContextGuard guard(member->gpu);
        member->stream.wait();
      });
    throw;
  }
  if (method.cut == Cut::Search && owner.sum.rows_of(shares[home].share).at != 0) owner.sum.collect();
}

// A search's results, of those who have them in rows: a particle's own place is in another GPU's memory, where the
// particles of a group stand anywhere, and each number would travel by itself.
void CudaGroupSummation::send_rows(std::size_t home, const std::vector<SumRequest>& shares) {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (m == home) continue;
    members_[m]->sum.send_rows(members_[home]->sum.rows_of(shares[m].share), shares[m].share);
  }
}

// Memory that only runs of shares use.
void CudaGroupSummation::reserve(Member& member, CudaBuffer& buffer, std::size_t bytes, const char* what) {
  if (bytes <= buffer.bytes()) return;
  member.gpu.synchronize(member.stream.get());  // an earlier run may still use the old one
  if (!buffer.reserve(bytes))
    throw DeviceError(fmt::format("out of memory of cuda:{}: there is no room for {} bytes of {}", member.gpu.ordinal(),
                                  bytes, what));
}

// Of a list on a GPU, what the share needs of it.
void CudaGroupSummation::bring_list(Member& member, SumRequest& share, CudaStream* stream) {
  const std::size_t bytes = std::size_t(share.i_count) * sizeof(std::int64_t);
  reserve(member, member.list, bytes, "a list of i-particles");
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

// To all but the one whose they are, and to that as well where results would overwrite them.
void CudaGroupSummation::bring_copies(std::size_t home, const SumRequest& request, bool to_home,
                                      std::vector<SumRequest>& shares) {
  Member& owner = *members_[home];
  auto* const stream = static_cast<CudaStream*>(request.stream);
  const bool has_device_list = request.i_list && !owner.sum.can_read(request.i_list);
  owner.sum.follow(stream);
  {
    const CudaContextGuard guard(owner.gpu);
    owner.done.record(stream);  // all that the caller gave it before, and the run before
  }
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Member& member = *members_[m];
    if (m == home && !to_home) {
      set_views(member, shares[m], {request.views.begin(), request.views.end()});
      continue;
    }
    const CudaContextGuard guard(member.gpu);
    shares[m].stream = m == home ? stream : member.stream.get();
    auto* const own = static_cast<CudaStream*>(shares[m].stream);
    member.sum.follow(own);
    if (m != home) owner.done.make_wait(own);
    if (m != home && has_device_list && shares[m].i_count > 0) bring_list(member, shares[m], own);
    set_views(member, shares[m], member.copies.bring(source_, request.views, own));
    member.copied.record(own);
  }
  if (!to_home) return;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const CudaContextGuard guard(members_[m]->gpu);
    for (const auto& other : members_) other->copied.make_wait(static_cast<CudaStream*>(shares[m].stream));
  }
}

}  // namespace nbcc
