// A checked request -> work in a stream. One door: CudaSummation. Does not compile, and packs nothing (cuda_stage.cpp).
//
// Between two runs of one sum in different streams stands an event, since they use the same working memory. It is
// recorded with each run in a stream of the caller's, who may destroy it at any time; the legacy default stream stays,
// so there it is recorded only when somebody waits.
#include "runtime/cuda/cuda_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/first_failure.h"
#include "runtime/sum/formula.h"

namespace nbcc {
namespace {

// The partial sums of j-splits may take so much at a time; more i-particles go in several launches.
constexpr std::int64_t kPartialBytes = std::int64_t(1) << 30;

// Of fewer pairs, for each multiprocessor, all are summed over sooner than a search is made: bench/RESULTS.md.
constexpr double kFewPairs = 1e6;

// And where more of a periodic box is within reach.
constexpr double kLargeShare = 0.1;

// What share of a box is within reach, if params tell; else 0.
double share_within(const SearchLayout& search, std::span<const double> params) {
  constexpr double kPi = std::numbers::pi;
  const auto value = [&](const Formula& formula) {
    return formula.steps.empty() ? 0 : std::abs(evaluate(formula, params));
  };
  const double reach = value(search.reach_uniform);
  double share = search.axes == 1   ? 2 * reach
                 : search.axes == 2 ? kPi * reach * reach
                                    : 4 * kPi / 3 * std::pow(reach, 3);
  for (std::size_t axis = 0; axis < std::size_t(search.axes); ++axis) {
    const double length = value(search.lengths[axis]);
    share = length > 0 ? share / length : 0;
  }
  return share;
}

// Handles that stand for streams which always exist: null and 1 for the legacy default stream, 2 for the thread's.
bool lives_for_ever(CudaStream* stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }
bool can_be_captured(CudaStream* stream) { return reinterpret_cast<std::uintptr_t>(stream) > 1; }

std::uint64_t address_of(const ArrayView& view, int component) {
  return reinterpret_cast<std::uintptr_t>(view.data) + std::uint64_t(component * view.component_stride);
}

// As SumState checks a list that it can read.
void check_list(const KernelSource& source, const SumRequest& request, const std::int64_t* list) {
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const bool of_i = source.fields[f].role == Role::InputI || source.fields[f].role == Role::Output;
    if (!of_i || !request.views[f].data) continue;
    for (std::int64_t k = 0; k < request.i_count; ++k) {
      if (list[k] >= 0 && list[k] < request.views[f].count) continue;
      throw UsageError(
          fmt::format("i_list[{}] is {}, but there are {} i-particles", k, list[k], request.views[f].count));
    }
    return;
  }
}

}  // namespace

std::unique_ptr<Summation> CudaKernel::start() const { return std::make_unique<CudaSummation>(*this); }

CudaSummation::~CudaSummation() {
  try {
    wait(nullptr);
  } catch (...) {
    // A GPU that has failed uses no memory any more.
  }
}

void CudaSummation::wait(Progress* progress) {
  FirstFailure failure;
  failure.attempt([&] {
    if (!under_way_) return;
    const CudaContextGuard guard(gpu_);
    wait_for_work(progress);
  });
  failure.attempt([&] { launcher_.index_checks().report(); });
  failure.rethrow();
}

void CudaSummation::wait_for_work(Progress* progress) {
  if (!under_way_) return;
  if (!recorded_) event_.record(stream_);
  recorded_ = true;
  event_.wait(progress);
  under_way_ = false;
  launcher_.pace().forget();
}

bool CudaSummation::can_read(const std::int64_t* list) const {
  if (!list) return false;
  const CudaContextGuard guard(gpu_);
  return residency_of(gpu_, list, "i_list") == Residency::Host;
}

LaunchConfig CudaSummation::launch_for(std::int64_t ni, std::int64_t nj) {
  const CudaContextGuard guard(gpu_);
  launcher_.leave_out(nullptr);
  launcher_.configure(ni, nj, true);
  return launcher_.config();
}

void CudaSummation::run(const SumRequest& request, Listed listed) {
  lists_.choose(request, listed.lists, nullptr);
  run(request, &lists_);
}

void CudaSummation::run(const SumRequest& request, ListedPairs listed) {
  lists_.choose(request, nullptr, listed.rows);
  run(request, &lists_);
}

void CudaSummation::send_rows(const CudaSearch::Rows& to, const SumRequest::Share& share) {
  const CudaSearch::Rows from = rows_of(share);
  if (from.bytes == 0) return;
  const CudaContextGuard guard(gpu_);
  launch_in(stream_, false, [&] {
    gpu_.require(gpu_.driver().memcpy_async(to.at, from.at, from.bytes, stream_),
                 "copying results from one GPU to another");
  });
}

void CudaSummation::follow(CudaStream* stream) {
  if (!under_way_ || stream == stream_) return;
  const CudaContextGuard guard(gpu_);
  if (!recorded_) event_.record(stream_);
  recorded_ = true;
  event_.make_wait(stream);
}

void CudaSummation::collect() {
  const CudaContextGuard guard(gpu_);
  launch_in(stream_, false, [&] { search_.collect(stream_); });
}

void CudaSummation::fetch(void* to, const void* from, std::size_t bytes) const {
  const CudaContextGuard guard(gpu_);
  if (residency_of(gpu_, from, "a list") == Residency::Host) return void(std::memcpy(to, from, bytes));
  gpu_.fetch(to, reinterpret_cast<std::uintptr_t>(from), bytes, nullptr);
  gpu_.synchronize(nullptr);
}

void CudaSummation::check_must_search(const SumRequest& request) const {
  if (!kernel_.source.find(Frame::Search))
    throw UsageError(fmt::format("pairs = cutoff: the code of pipeline '{}' for this GPU has no search for neighbours",
                                 kernel_.source.pipeline));
  if (request.j_part != JPart::Whole)
    throw UsageError("part: on a GPU a sum in parts is over all pairs, and pairs = cutoff asks for a search");
  if (CudaSearch::is_too_large(request.i_count, request.nj))
    throw UsageError(fmt::format("pairs = cutoff: on a GPU a search takes at most {} i- and j-particles, got {} and {}",
                                 CudaSearch::kMostParticles, request.i_count, request.nj));
}

void CudaSummation::run(const SumRequest& request, Neighbours neighbours) {
  if (neighbours.must) check_must_search(request);
  if (request.j_part != JPart::Whole || !will_search(request, neighbours)) return run(request, AllPairs{});
  run(request, &search_);
}

bool CudaSummation::will_search(const SumRequest& request, Neighbours neighbours) {
  search_.leave_out(request.left_out != nullptr);
  return search_.can_search(request.i_count, request.nj) && (neighbours.must || search_may_pay(request));
}

// Who chooses a launch configuration means that of all pairs. What depends on more than counts and params is not looked
// at: the same run takes the same way each time.
bool CudaSummation::search_may_pay(const SumRequest& request) const {
  if (chosen_launch_ || double(request.i_count) * double(request.nj) < kFewPairs * gpu_.multiprocessors()) return false;
  if (share_within(kernel_.source.search, request.params) > kLargeShare) return false;
  if (search_.has_room(request.i_count, request.nj)) return true;
  const CudaContextGuard guard(gpu_);
  std::size_t free = 0, total = 0;
  gpu_.require(gpu_.driver().mem_get_info(&free, &total), "asking for the GPU's memory");
  return search_.bytes_for(request.i_count, request.nj) < (free + search_.bytes()) / 2;
}

SumStatistics CudaSummation::statistics() const {
  const CudaContextGuard guard(gpu_);
  if (under_way_ && recorded_) event_.wait();
  SumStatistics statistics = search_.statistics();
  if (!searched_) statistics.pairs_within = 0;
  return statistics;
}

void CudaSummation::run(const SumRequest& request, CudaWhole* whole) {
  const CudaContextGuard guard(gpu_);
  searched_ = whole == &search_;
  auto* const stream = static_cast<CudaStream*>(request.stream);
  int capturing = 0;
  if (can_be_captured(stream)) {
    gpu_.require(gpu_.driver().stream_is_capturing(stream, &capturing), "asking whether the stream is captured");
  }
  if (capturing != 0 && !request.may_be_captured)
    throw DeviceError("batches that are searched, each by itself, cannot be captured");
  launcher_.set_capturing(capturing != 0);
  // What runs before have found, or a graph that the caller has launched since.
  if (capturing == 0) launcher_.index_checks().report();
  if (launcher_.index_checks().sends(request)) wait_for_work();
  launcher_.index_checks().begin(request, capturing != 0);
  leave_out(request, !whole, capturing != 0);
  if (request.binding != binding_) bind(request);
  send_tables(request, capturing != 0);
  std::copy_n(request.params.begin(), kernel_.source.params, launcher_.arguments().params());
  launcher_.arguments().run().i_offset = request.i_offset;
  launcher_.arguments().run().j_offset = request.j_offset;

  const bool device_list = request.i_list && residency_of(gpu_, request.i_list, "i_list") == Residency::Device;
  const bool host_list = request.i_list && !device_list;
  if (capturing != 0 && (host_list || !residency_.all_on_device)) {
    throw DeviceError("a run that is captured must find all its arrays, and the list of i, on the device");
  }
  if (whole == &lists_ && lists_.reads_in_place() && residency_.outputs_touch_j)
    throw UsageError("an output may not be an input of j where ranges are shifted or batches have params of their own");
  if (!begins(request.j_part) && parts_on_device_ != residency_.all_on_device)
    throw UsageError(
        "part: the arrays of this part and of the first one must all be on the device, or not all in either");
  parts_on_device_ = residency_.all_on_device;
  launcher_.pace().begin(capturing != 0 ? nullptr : request.progress);
  if (request.progress && request.share.i_of_run == 0)
    request.progress->begin(whole ? whole->units(request) : double(request.i_count) * double(request.nj));
  if (residency_.all_on_device && whole) return run_whole(request, *whole, device_list, stream, capturing != 0);
  if (residency_.all_on_device) return run_on_device(request, device_list, stream, capturing != 0);

  std::vector<std::int64_t> fetched;
  const std::int64_t* list = request.i_list;
  // Memory that earlier runs still use may be given back.
  wait_for_work(request.progress);
  if (device_list) {
    fetched.resize(std::size_t(request.i_count));
    gpu_.fetch(fetched.data(), reinterpret_cast<std::uintptr_t>(list), fetched.size() * sizeof(std::int64_t), stream);
    gpu_.synchronize(stream);
    list = fetched.data();
    check_list(kernel_.source, request, list);
  }
  // Who is found by number stands in a list.
  if (!list && whole && whole->goes_by_numbers() && request.i_begin != 0) {
    for (std::int64_t k = 0; k < request.i_count; ++k) fetched.push_back(request.i_begin + k);
    list = fetched.data();
  }
  staging_.run(request, list, stream, whole);
}

// The table of the pairs that are left out, and whether the launcher's kernels look into it.
void CudaSummation::leave_out(const SumRequest& request, bool all_pairs, bool capturing) {
  launcher_.leave_out(request.left_out && all_pairs ? &left_out_ : nullptr);
  if (capturing) left_out_.keep_old();
  if (left_out_.holds(request.left_out)) return;
  if (capturing)
    throw DeviceError(
        "the pairs that are left out are sent to the GPU, which cannot be done while a stream is captured: run once "
        "before the capture");
  wait_for_work();
  if (left_out_.send(*request.left_out)) return;
  // What other sums left behind.
  launcher_.release();
  running_.release();
  if (!left_out_.send(*request.left_out))
    throw DeviceError("out of memory of the GPU: there is no room for the table of the pairs that are left out");
}

void CudaSummation::send_tables(const SumRequest& request, bool capturing) {
  if (capturing) tables_.keep_old();
  if (!request.tables || request.tables->number == tables_number_) return;
  if (capturing)
    throw DeviceError(
        "params that are tables are sent to the GPU, which cannot be done while a stream is captured: run once before "
        "the capture");
  wait_for_work();
  tables_number_ = 0;
  const std::vector<std::byte>& bytes = request.tables->bytes;
  if (!tables_.renew(bytes.size()))
    throw DeviceError("out of memory of the GPU: there is no room for tables of params");
  gpu_.send(tables_.data(), bytes.data(), bytes.size(), nullptr);
  gpu_.synchronize(nullptr);
  *launcher_.arguments().tables() = tables_.data();
  tables_number_ = request.tables->number;
}

// The argument's views of arrays on the device; those that pass through memory of the staging are set there, run by
// run.
void CudaSummation::bind(const SumRequest& request) {
  const KernelSource& source = kernel_.source;
  binding_ = 0;
  residency_ = find_residency(gpu_, source, request.views);
  CudaArguments& arguments = launcher_.arguments();
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const FieldLayout& field = source.fields[f];
    const ArrayView& view = request.views[f];
    const bool here = residency_.of[f] == Residency::Device;
    for (int c = 0; c < field.components() && field.role != Role::Param; ++c) {
      const std::uint64_t data = here ? address_of(view, c) : 0;
      const auto element = std::int64_t(view.element);
      if (field.role == Role::InputI) arguments.i(field.first + c) = {data, view.stride, element};
      if (field.role == Role::InputJ) arguments.j(field.first + c) = {data, view.stride, element};
      if (field.role == Role::Output) arguments.output(field.first + c) = {data, view.stride, element, 0};
    }
  }
  staging_.bind(residency_);
  binding_ = request.binding;
}

void CudaSummation::run_on_device(const SumRequest& request, bool list_on_device, CudaStream* stream, bool capturing) {
  const bool send = request.i_list && !list_on_device;
  launcher_.configure(request.i_of_run(), request.nj, !capturing);
  launcher_.ask(capturing ? nullptr : request.progress, !begins(request.j_part));
  const std::int64_t piece = size_memory(request, send, stream, capturing);
  // Kernels and memory are there before the first launch: between two pieces nothing can fail but the GPU itself.
  launch_in(stream, capturing, [&] { launch_all(request, list_on_device, piece, stream); });
}

// Results are stored by the last launch, when all j have been read.
void CudaSummation::run_whole(const SumRequest& request, CudaWhole& whole, bool list_on_device, CudaStream* stream,
                              bool capturing) {
  const bool send = request.i_list && !list_on_device;
  size_whole(request, whole, send, capturing);
  launch_in(stream, capturing, [&] {
    CudaPiece all;
    all.i_begin = request.i_begin;
    all.ni = request.i_count;
    all.nj = request.nj;
    all.i_list = send ? send_list(request, stream) : reinterpret_cast<std::uintptr_t>(request.i_list);
    accumulate_outputs(request);
    whole.send(request, stream, capturing);
    launcher_.check_indices(all, stream);
    whole.run(request, all, stream, capturing);
  });
}

void CudaSummation::size_whole(const SumRequest& request, CudaWhole& whole, bool send, bool capturing) {
  const std::size_t indices = send ? std::size_t(request.i_count) * sizeof(std::int64_t) : 0;
  if (whole.has_room(request.i_count, request.nj) && indices <= list_.bytes()) {
    if (capturing) whole.keep_old();
    return;
  }
  if (capturing)
    throw DeviceError(
        "a search, or a list, needs more working memory, or its code, which cannot be had while a stream is captured: "
        "run once before the capture");
  // Earlier runs may still use what is given back now.
  wait_for_work();
  const auto reserve = [&] { return whole.reserve(request.i_count, request.nj) && list_.reserve(indices); };
  if (reserve()) return;
  // What sums over all pairs left behind.
  launcher_.release();
  running_.release();
  if (!reserve())
    throw DeviceError(
        fmt::format("out of memory of the GPU: {} and {} particles at once", request.i_count, request.nj));
}

// What is launched stands in the stream behind the run before.
template <typename Launch>
void CudaSummation::launch_in(CudaStream* stream, bool capturing, const Launch& launch) {
  if (capturing) return launch();
  begin_in(stream);
  try {
    launch();
  } catch (...) {
    end_after_failure(stream);
    throw;
  }
  end_in(stream);
}

void CudaSummation::accumulate_outputs(const SumRequest& request) {
  for (int c = 0; c < kernel_.source.outputs; ++c) {
    launcher_.arguments().output(c).onto = request.accumulate ? 1 : 0;
  }
}

void CudaSummation::launch_all(const SumRequest& request, bool list_on_device, std::int64_t piece, CudaStream* stream) {
  CudaDevicePointer list = reinterpret_cast<std::uintptr_t>(request.i_list);
  if (request.i_list && !list_on_device) list = send_list(request, stream);
  accumulate_outputs(request);
  const bool apart = finish_apart(request), last = ends(request.j_part);
  launch_pieces(request, list, piece, begins(request.j_part), last && !apart, request.nj, stream);
  if (last && apart) launch_pieces(request, list, piece, false, true, 0, stream);
}

// Working memory for a run, with launches of as many i as there is memory for, in a sum in parts always as many as in
// the first. Returns that number.
std::int64_t CudaSummation::size_memory(const SumRequest& request, bool list, CudaStream* stream, bool capturing) {
  const std::int64_t grain = launcher_.i_per_block(), ni = request.i_count;
  const bool goes_on = !begins(request.j_part), keeps = finish_apart(request) || request.j_part != JPart::Whole;
  std::int64_t piece = std::min(ni, std::max(grain, kPartialBytes / launcher_.bytes_per_i() / grain * grain));
  if (goes_on) piece = piece_of_parts_;
  piece_of_parts_ = piece;
  const std::size_t running = keeps ? std::size_t(ni * launcher_.accumulators()) * sizeof(double) : 0;
  const std::size_t indices = list ? std::size_t(ni) * sizeof(std::int64_t) : 0;
  if (launcher_.has_room(piece) && running <= running_.bytes() && indices <= list_.bytes()) {
    if (capturing) {
      launcher_.keep_old();
      running_.keep_old();
    }
    return piece;
  }
  if (capturing) {
    throw DeviceError(
        "working memory must grow, which cannot be done while a stream is captured: run once before the capture");
  }
  // Earlier runs may still use what is given back now.
  wait_for_work();
  const auto fail = [](std::size_t bytes) {
    throw DeviceError(fmt::format("out of memory of the GPU: {} bytes are needed at least", bytes));
  };
  if (!running_.reserve(running)) fail(running);
  if (!list_.reserve(indices)) fail(indices);
  while (!launcher_.reserve(piece, stream)) {
    if (piece <= grain || goes_on) fail(std::size_t(piece * launcher_.bytes_per_i()));
    piece_of_parts_ = piece = std::max(grain, piece / 2 / grain * grain);
  }
  return piece;
}

CudaDevicePointer CudaSummation::send_list(const SumRequest& request, CudaStream* stream) {
  const std::size_t bytes = std::size_t(request.i_count) * sizeof(std::int64_t);
  list_sent_.wait();  // the list of an earlier run may still be on its way
  pinned_list_.reserve(bytes);
  std::memcpy(pinned_list_.data(), request.i_list, bytes);
  gpu_.send(list_.data(), pinned_list_.data(), bytes, stream);
  list_sent_.record(stream);
  return list_.data();
}

void CudaSummation::launch_pieces(const SumRequest& request, CudaDevicePointer list, std::int64_t piece, bool first,
                                  bool last, std::int64_t nj, CudaStream* stream) {
  for (std::int64_t begin = 0; begin < request.i_count; begin += piece) {
    CudaPiece now;
    now.i_begin = request.i_begin + begin;
    now.ni = std::min(piece, request.i_count - begin);
    now.i_list = list == 0 ? 0 : list + std::uint64_t(begin) * sizeof(std::int64_t);
    now.nj = nj;
    now.first = first;
    now.last = last;
    if (!first || !last)
      now.running = running_.data() + std::uint64_t(begin * launcher_.accumulators()) * sizeof(double);
    launcher_.launch(now, stream);
  }
}

// What is given to `stream` from here on comes after the last run.
void CudaSummation::begin_in(CudaStream* stream) {
  if (under_way_ && stream != stream_) {
    if (!recorded_) event_.record(stream_);
    event_.make_wait(stream);
  }
  stream_ = stream;
  under_way_ = true;
  recorded_ = false;
}

void CudaSummation::end_in(CudaStream* stream) {
  if (lives_for_ever(stream)) return;
  try {
    event_.record(stream);
    recorded_ = true;
  } catch (const DeviceError&) {
    // The results are on their way, so the run has not failed; but who waits later may find the stream gone.
    gpu_.synchronize(stream);
    under_way_ = false;
  }
}

void CudaSummation::end_after_failure(CudaStream* stream) noexcept {
  try {
    end_in(stream);
  } catch (...) {
    // What failed first is thrown; a GPU that has failed uses no memory any more.
    under_way_ = false;
  }
}

}  // namespace nbcc
