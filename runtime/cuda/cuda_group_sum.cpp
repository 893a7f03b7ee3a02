// A checked request -> a run on each of several GPUs. One door: CudaGroupSummation.
//
// From arrays on a GPU (home) nothing waits on the host: copies to the others follow in streams of theirs what the
// caller's stream was given before, and the caller's stream goes on when all have stored their results.
#include "runtime/cuda/cuda_group_sum.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "runtime/error.h"
#include "runtime/sum/overlap.h"

namespace nbcc {
namespace {

// Ranges of i begin at multiples, so that no GPU but the last has a block that is not full.
constexpr std::int64_t kGrain = 256;

bool is_bound(const FieldLayout& field, const ArrayView& view) {
  return field.role != Role::Param && view.data && view.count > 0;
}

}  // namespace

CudaGroupSummation::CudaGroupSummation(const std::vector<const CudaKernel*>& kernels)
    : source_(kernels.front()->source), lists_(kernels.size()) {
  for (const CudaKernel* kernel : kernels) members_.push_back(std::make_unique<Member>(*kernel));
}

CudaGroupSummation::~CudaGroupSummation() {
  try {
    wait();
  } catch (...) {
    // A GPU that has failed uses no memory any more.
  }
}

void CudaGroupSummation::wait() {
  for (const auto& member : members_) member->sum.wait();
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
    all.pairs_within += one.pairs_within;
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
    // Zeros, and wider than what the driver writes.
    std::int64_t type = 0, ordinal = 0, managed = 0;
    int which[] = {kCudaMemoryType, kCudaDeviceOrdinal, kCudaIsManaged};
    void* values[] = {&type, &ordinal, &managed};
    gpu.require(gpu.driver().pointer_get_attributes(3, which, values, reinterpret_cast<std::uintptr_t>(view.data)),
                "asking where an array lies");
    if (managed != 0) continue;
    if (type != std::int64_t(kCudaDeviceMemory)) {
      host = true;
      continue;
    }
    const auto owner = std::ranges::find_if(members_, [&](const auto& m) { return m->gpu.ordinal() == ordinal; });
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
  for (std::size_t out = 0; out < source_.fields.size(); ++out) {
    const FieldLayout& output = source_.fields[out];
    if (output.role != Role::Output || !is_bound(output, request.views[out])) continue;
    for (std::size_t in = 0; in < source_.fields.size(); ++in) {
      const FieldLayout& input = source_.fields[in];
      if (input.role == Role::Output || !is_bound(input, request.views[in])) continue;
      if (!disjoint(request.views[in], input.components(), request.views[out], output.components())) return true;
    }
  }
  return false;
}

// In groups: all i, of whose groups the GPU takes its share. Else a range of them.
SumRequest CudaGroupSummation::share_of(const SumRequest& request, std::size_t member, bool in_groups) const {
  SumRequest own = request;
  own.share = {request.i_count, int(member), int(members_.size())};
  if (in_groups) return own;
  const std::int64_t grains = (request.i_count + kGrain - 1) / kGrain;
  const std::int64_t begin = own.share.begin(grains) * kGrain;
  const std::int64_t end = std::min(own.share.end(grains) * kGrain, request.i_count);
  own.i_count = end - begin;
  if (own.i_list)
    own.i_list += begin;
  else
    own.i_begin += begin;
  return own;
}

void CudaGroupSummation::run(const SumRequest& request, AllPairs all) {
  // What the parts before have accumulated stays with the GPU that did it.
  if (request.j_part != JPart::Whole) {
    last_ = 0;
    return first().run(request, all);
  }
  const Where where = find(request);
  const auto run = [&](CudaSummation& sum, const SumRequest& share) { sum.run(share, all); };
  if (where.home) return run_from(*where.home, request, false, run);
  // Who stores its results may not change what another still has to read.
  if (where.host && !outputs_touch_inputs(request)) return run_from_host(request);
  last_ = 0;
  first().run(request, all);
}

void CudaGroupSummation::run(const SumRequest& request, Neighbours neighbours) {
  if (request.j_part != JPart::Whole) {
    last_ = 0;
    return first().run(request, neighbours);
  }
  const Where where = find(request);
  if (!members_[where.home.value_or(0)]->sum.will_search(request, neighbours) && !neighbours.must)
    return run(request, AllPairs{});
  run_in_groups(request, [](CudaSummation& sum, const SumRequest& share) { sum.run(share, Neighbours{true}); });
}

void CudaGroupSummation::run(const SumRequest& request, Listed listed) {
  run_in_groups(request, [&](CudaSummation& sum, const SumRequest& share) { sum.run(share, listed); });
}

void CudaGroupSummation::run(const SumRequest& request, ListedPairs listed) {
  run_in_groups(request, [&](CudaSummation& sum, const SumRequest& share) { sum.run(share, listed); });
}

void CudaGroupSummation::run_in_groups(const SumRequest& request, const RunOfShare& run) {
  const Where where = find(request);
  if (where.home) return run_from(*where.home, request, true, run);
  last_ = 0;
  run(first(), request);
}

void CudaGroupSummation::run_from_host(const SumRequest& request) {
  std::vector<std::exception_ptr> failures(members_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      SumRequest own = share_of(request, m, false);
      if (own.i_count == 0) continue;
      // The caller's stream is one of the first GPU.
      if (m > 0) own.stream = nullptr;
      threads.emplace_back([this, m, own, &failures] {
        try {
          members_[m]->sum.run(own, AllPairs{});
        } catch (...) {
          failures[m] = std::current_exception();
        }
      });
    }
  }
  last_ = 0;
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void CudaGroupSummation::run_from(std::size_t home, const SumRequest& request, bool in_groups, const RunOfShare& run) {
  Member& owner = *members_[home];
  auto* const stream = static_cast<CudaStream*>(request.stream);
  SumRequest whole = request;
  {
    const CudaContextGuard guard(owner.gpu);
    int capturing = 0;
    // The legacy default stream cannot be captured, and may not be asked.
    if (reinterpret_cast<std::uintptr_t>(stream) > 1)
      owner.gpu.require(owner.gpu.driver().stream_is_capturing(stream, &capturing), "asking whether it is captured");
    if (capturing != 0) throw DeviceError("a run on several GPUs cannot be captured");
    if (request.i_list && !owner.sum.can_read(request.i_list)) {
      std::vector<std::int64_t>& list = lists_[home];
      list.resize(std::size_t(request.i_count));
      owner.gpu.fetch(list.data(), reinterpret_cast<std::uintptr_t>(request.i_list), list.size() * sizeof(std::int64_t),
                      stream);
      owner.gpu.synchronize(stream);
      whole.i_list = list.data();
    }
  }
  std::vector<SumRequest> shares;
  for (std::size_t m = 0; m < members_.size(); ++m) shares.push_back(share_of(whole, m, in_groups));
  const bool to_home = outputs_touch_inputs(request);
  last_ = home;
  try {
    bring_copies(home, whole, to_home, shares);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (shares[m].i_count > 0) run(members_[m]->sum, shares[m]);
    }
  } catch (...) {
    for (const auto& member : members_) {
      try {
        const CudaContextGuard guard(member->gpu);
        member->stream.wait();
      } catch (...) {
        // What failed first is thrown.
      }
    }
    throw;
  }
  for (const auto& member : members_) {
    if (member.get() == &owner) continue;
    {
      const CudaContextGuard guard(member->gpu);
      member->done.record(member->stream.get());
    }
    const CudaContextGuard guard(owner.gpu);
    member->done.make_wait(stream);
  }
}

// To all but the one whose they are, and to that as well where results would overwrite them.
void CudaGroupSummation::bring_copies(std::size_t home, const SumRequest& request, bool to_home,
                                      std::vector<SumRequest>& shares) {
  Member& owner = *members_[home];
  auto* const stream = static_cast<CudaStream*>(request.stream);
  {
    const CudaContextGuard guard(owner.gpu);
    owner.done.record(stream);  // all that the caller gave it before
  }
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (m == home && !to_home) continue;
    Member& member = *members_[m];
    const CudaContextGuard guard(member.gpu);
    shares[m].stream = m == home ? stream : member.stream.get();
    auto* const own = static_cast<CudaStream*>(shares[m].stream);
    if (m != home) owner.done.make_wait(own);
    shares[m].views = member.copies.bring(source_, request.views, own);
    member.copied.record(own);
  }
  if (!to_home) return;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const CudaContextGuard guard(members_[m]->gpu);
    for (const auto& other : members_) other->copied.make_wait(static_cast<CudaStream*>(shares[m].stream));
  }
}

}  // namespace nbcc
