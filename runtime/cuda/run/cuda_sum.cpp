// A checked request -> work in a stream. Interface: CudaSummation. Does not compile; cuda_stage.cpp packs.
//
// Runs of one sum in different streams are ordered by an event, since they use the same working memory. In a stream
// that the caller created, the event is recorded after each run, because the caller may destroy the stream at any time.
// The predefined streams always exist; there the event is recorded only when it is needed.
#include "runtime/cuda/run/cuda_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/first_failure.h"
#include "runtime/sum/request/divide_i.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

// The maximum bytes of the partial sums of j-splits in one launch. More i-particles take several launches.
constexpr std::int64_t kMaxPartialBytes = std::int64_t(1) << 30;

// Handles of predefined streams: null and 1 are the legacy default stream, 2 is the per-thread default stream.
bool is_predefined(CudaStream* stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }

std::uint64_t address_of(const ArrayView& view, int component) {
  return reinterpret_cast<std::uintptr_t>(view.data) + std::uint64_t(component * view.component_stride);
}

// Checks a list of i that was on the GPU, like SumState checks lists on the host. An i may not be listed twice, because
// two threads would store its results.
void check_list(const KernelSource& source, const SumRequest& request, const std::int64_t* list) {
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const bool of_i = source.fields[f].role == Role::InputI || source.fields[f].role == Role::Output;
    if (!of_i || !request.views[f].data) continue;
    for (std::int64_t k = 0; k < request.i_count; ++k) {
      if (list[k] >= 0 && list[k] < request.views[f].count) continue;
      throw UsageError(
          fmt::format("i_list[{}] is {}, but there are {} i-particles", k, list[k], request.views[f].count));
    }
    break;
  }
  std::vector<std::int64_t> sorted(list, list + request.i_count);
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end())
    throw UsageError(fmt::format("i_list: {} is in it more than once: an i-particle may be chosen once", *twice));
}

}  // namespace

std::unique_ptr<Summation> CudaKernel::start() const { return std::make_unique<CudaSummation>(*this); }

CudaSummation::~CudaSummation() {
  try {
    wait(nullptr);
  } catch (...) {
    // A GPU that has failed no longer uses memory.
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
  launcher_.pace().mark_all_done();
}

bool CudaSummation::can_read(const std::int64_t* list) const {
  if (!list) return false;
  const CudaContextGuard guard(gpu_);
  return residency_of(gpu_, list, "i_list") == Residency::Host;
}

LaunchConfig CudaSummation::launch_for(std::int64_t ni, std::int64_t nj) {
  const CudaContextGuard guard(gpu_);
  launcher_.configure(ni, nj, false, true);
  return launcher_.config();
}

void CudaSummation::send_buffer_range(const CudaSearch::BufferRange& to, const SumRequest::Share& share,
                                      CudaStream* stream, bool capturing) {
  const CudaSearch::BufferRange from = buffer_range(share);
  if (from.bytes == 0) return;
  const CudaContextGuard guard(gpu_);
  launch_in(stream, capturing, [&] {
    gpu_.require(gpu_.driver().memcpy_async(to.at, from.at, from.bytes, stream),
                 "copying results from one GPU to another");
  });
}

void CudaSummation::make_wait(CudaStream* stream) {
  if (!under_way_ || stream == stream_) return;
  const CudaContextGuard guard(gpu_);
  if (!recorded_) event_.record(stream_);
  recorded_ = true;
  event_.make_wait(stream);
}

void CudaSummation::unpermute(CudaStream* stream, bool capturing) {
  const CudaContextGuard guard(gpu_);
  launch_in(stream, capturing, [&] { is_symmetric() ? symmetric_.store(stream) : search_.unpermute(stream); });
}

void CudaSummation::fetch(void* to, const void* from, std::size_t bytes) const {
  const CudaContextGuard guard(gpu_);
  if (residency_of(gpu_, from, "a list") == Residency::Host) return void(std::memcpy(to, from, bytes));
  gpu_.fetch(to, reinterpret_cast<std::uintptr_t>(from), bytes, nullptr);
  gpu_.synchronize(nullptr);
}

void CudaSummation::synchronize(void* stream) const {
  const CudaContextGuard guard(gpu_);
  auto* const of_caller = static_cast<CudaStream*>(stream);
  if (gpu_.is_captured(of_caller))
    throw DeviceError("the host reads arrays of this run, which cannot be done while a stream is captured");
  gpu_.synchronize(of_caller);
}

SumStatistics CudaSummation::statistics() const {
  const CudaContextGuard guard(gpu_);
  if (under_way_ && recorded_) event_.wait();
  SumStatistics statistics = search_.statistics();
  if (!searched_) statistics.pairs_within = 0;
  return statistics;
}

// Prepares a run: sets the kernel argument, and sends index checks, exclusions and tables to the GPU.
CudaRunContext CudaSummation::begin(const SumRequest& request, const CudaMethod* method) {
  CudaRunContext context{request, static_cast<CudaStream*>(request.stream)};
  context.capturing = gpu_.is_captured(context.stream);
  if (context.capturing && !request.may_be_captured)
    throw DeviceError("batches that are searched, each by itself, cannot be captured");
  CudaIndexChecks& checks = launcher_.index_checks();
  // Throws errors found by earlier runs or by graphs that the caller has launched since.
  if (!context.capturing) checks.report();
  if (checks.sends(request)) wait_for_work();
  checks.prepare(request, context.capturing);
  send_exclusions(context);
  if (request.binding != binding_) bind(request);
  send_tables(context);
  std::copy_n(request.params.begin(), kernel_.source.params, launcher_.arguments().params());
  launcher_.arguments().run().i_offset = request.i_offset;
  launcher_.arguments().run().j_offset = request.j_offset;
  if (method && method->reads_in_place(request) && residency_.outputs_touch_j)
    throw UsageError("an output may not be an input of j where ranges are shifted or batches have params of their own");
  launcher_.pace().begin(context.capturing ? nullptr : request.progress);
  if (request.progress && request.share.i_of_run == 0)
    request.progress->begin(method ? method->units(request) : pairs_of(request));
  return context;
}

void CudaSummation::run(const SumRequest& request, CudaMethod* method) {
  const CudaContextGuard guard(gpu_);
  searched_ = method == &search_;
  const CudaRunContext context = begin(request, method);
  const bool device_list = request.i_list && residency_of(gpu_, request.i_list, "i_list") == Residency::Device;
  const bool host_list = request.i_list && !device_list;
  if (context.capturing && (host_list || !residency_.all_on_device))
    throw DeviceError("a run that is captured must find all its arrays, and the list of i, on the device");
  if (!residency_.all_on_device) return run_staged(context, method, device_list);
  if (method) return run_method(context, *method, device_list);
  run_all_pairs(context, device_list);
}

void CudaSummation::put(void* to, const void* from, std::size_t bytes) const {
  const CudaContextGuard guard(gpu_);
  if (residency_of(gpu_, to, "an output") == Residency::Host) return void(std::memcpy(to, from, bytes));
  gpu_.send(reinterpret_cast<std::uintptr_t>(to), from, bytes, nullptr);
  gpu_.synchronize(nullptr);
}

void CudaSummation::run_staged(const CudaRunContext& context, CudaMethod* method, bool list_on_device) {
  const SumRequest& request = context.request;
  std::vector<std::int64_t> fetched;
  const std::int64_t* list = request.i_list;
  // The run may free memory that earlier runs still use.
  wait_for_work(request.progress);
  if (list_on_device) {
    fetched.resize(std::size_t(request.i_count));
    gpu_.fetch(fetched.data(), reinterpret_cast<std::uintptr_t>(list), fetched.size() * sizeof(std::int64_t),
               context.stream);
    gpu_.synchronize(context.stream);
    list = fetched.data();
    check_list(kernel_.source, request, list);
  }
  // The kernels of `method` need the caller's indices, and get them from a list.
  if (!list && method && method->uses_particle_indices(request) && request.i_begin != 0) {
    for (std::int64_t k = 0; k < request.i_count; ++k) fetched.push_back(request.i_begin + k);
    list = fetched.data();
  }
  staging_.run(request, list, context.stream, method);
}

void CudaSummation::send_exclusions(const CudaRunContext& context) {
  const Exclusions* const exclusions = context.request.exclusions;
  if (context.capturing) exclusions_.retain_for_capture();
  if (exclusions_.holds(exclusions)) return;
  if (context.capturing)
    throw DeviceError(
        "the excluded pairs are sent to the GPU, which cannot be done while a stream is captured: run once before the "
        "capture");
  wait_for_work();
  if (exclusions_.send(*exclusions)) return;
  // Free the working memory of earlier sums and try again.
  launcher_.release();
  if (begins(context.request.j_part)) accumulators_.release();
  if (!exclusions_.send(*exclusions))
    throw DeviceError("out of memory of the GPU: there is no room for the table of excluded pairs");
}

void CudaSummation::send_tables(const CudaRunContext& context) {
  const Tables* const tables = context.request.tables;
  if (context.capturing) tables_.retain_for_capture();
  if (!tables || tables->number == tables_number_) return;
  if (context.capturing)
    throw DeviceError(
        "params that are tables are sent to the GPU, which cannot be done while a stream is captured: run once before "
        "the capture");
  wait_for_work();
  tables_number_ = 0;
  const std::vector<std::byte>& bytes = tables->bytes;
  if (!tables_.reallocate(bytes.size()))
    throw DeviceError("out of memory of the GPU: there is no room for tables of params");
  gpu_.send(tables_.data(), bytes.data(), bytes.size(), nullptr);
  gpu_.synchronize(nullptr);
  *launcher_.arguments().tables() = tables_.data();
  tables_number_ = tables->number;
}

// Sets the argument's views of arrays on the device. CudaStaging sets the views of staged arrays in each run.
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
      auto* const data = gpu_pointer<char>(here ? address_of(view, c) : 0);
      const auto element = std::int64_t(view.element);
      if (field.role == Role::InputI) arguments.i(field.first + c) = {data, view.stride, element};
      if (field.role == Role::InputJ) arguments.j(field.first + c) = {data, view.stride, element};
      if (field.role == Role::Output) arguments.output(field.first + c) = {data, view.stride, element, 0};
    }
  }
  staging_.bind(residency_);
  binding_ = request.binding;
}

void CudaSummation::run_all_pairs(const CudaRunContext& context, bool list_on_device) {
  const SumRequest& request = context.request;
  const bool send = request.i_list && !list_on_device;
  launcher_.configure(request.i_of_run(), request.nj, request.exclusions, !context.capturing);
  launcher_.set_progress(context.capturing ? nullptr : request.progress);
  const std::int64_t piece = size_memory(context, send);
  // Kernels are loaded and memory is allocated before the first launch, so that between two pieces only the GPU can
  // fail.
  launch_in(context.stream, context.capturing, [&] { launch_all(context, list_on_device, piece); });
}

// The last launch stores the results, when all j have been read.
void CudaSummation::run_method(const CudaRunContext& context, CudaMethod& method, bool list_on_device) {
  const SumRequest& request = context.request;
  const bool send = request.i_list && !list_on_device;
  size_method(context, method, send);
  launch_in(context.stream, context.capturing, [&] {
    CudaPiece all;
    all.i_begin = request.i_begin;
    all.ni = request.i_count;
    all.nj = request.nj;
    all.i_list = send ? list_.send(request.i_list, request.i_count, context.stream)
                      : reinterpret_cast<std::uintptr_t>(request.i_list);
    all.first = begins(request.j_part);
    all.last = ends(request.j_part);
    all.accumulators = {accumulators_.data(), request.accumulator_rows()};
    accumulate_outputs(request);
    method.send(context);
    launcher_.check_indices(all, context);
    method.run(context, all);
  });
}

// Bytes of accumulators in memory, which are needed if several launches (`kept`) or several runs (JPart) add to them.
std::size_t CudaSummation::accumulator_bytes(const SumRequest& request, bool kept) const {
  if (!kept && request.j_part == JPart::Whole) return 0;
  return std::size_t(request.accumulator_rows() * launcher_.accumulators()) * sizeof(double);
}

void CudaSummation::size_method(const CudaRunContext& context, CudaMethod& method, bool send) {
  const SumRequest& request = context.request;
  const std::int64_t indices = send ? request.i_count : 0;
  const std::size_t sums = accumulator_bytes(request, false);
  if (method.has_room(request) && list_.has_room(indices) && sums <= accumulators_.bytes()) {
    if (!context.capturing) return;
    method.retain_for_capture();
    accumulators_.retain_for_capture();
    return;
  }
  if (context.capturing)
    throw DeviceError(
        "a search, or a list, needs more working memory, or its code, which cannot be obtained while a stream is "
        "captured: "
        "run once before the capture");
  // Earlier runs may still use memory that reserve() frees.
  wait_for_work();
  const auto reserve = [&] { return method.reserve(request) && list_.reserve(indices) && accumulators_.reserve(sums); };
  if (reserve()) return;
  // Free the working memory of sums over all pairs and try again.
  launcher_.release();
  if (request.j_part == JPart::Whole) accumulators_.release();
  if (!reserve())
    throw DeviceError(
        fmt::format("out of memory of the GPU: {} and {} particles at once", request.i_count, request.nj));
}

// `launch` enqueues work in `stream`, ordered after the previous run.
void CudaSummation::launch_in(CudaStream* stream, bool capturing, const std::function<void()>& launch) {
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
    launcher_.arguments().output(c).accumulate = request.accumulate ? 1 : 0;
  }
}

void CudaSummation::launch_all(const CudaRunContext& context, bool list_on_device, std::int64_t piece) {
  const SumRequest& request = context.request;
  CudaDevicePointer list = reinterpret_cast<std::uintptr_t>(request.i_list);
  if (request.i_list && !list_on_device) list = list_.send(request.i_list, request.i_count, context.stream);
  accumulate_outputs(request);
  const bool apart = stores_in_own_launch(request), last = ends(request.j_part);
  launch_pieces(context, list, piece, begins(request.j_part), last && !apart, request.nj);
  if (last && apart) launch_pieces(context, list, piece, false, true, 0);
}

// The number of i, a multiple of a block's, whose partial sums take at most kMaxPartialBytes.
std::int64_t CudaSummation::max_i_per_launch() const {
  const std::int64_t grain = launcher_.i_per_block();
  return i_within(kMaxPartialBytes, launcher_.bytes_per_i(), grain);
}

// Allocates the working memory of a run. Returns the number of i per launch, as many as there is memory for.
std::int64_t CudaSummation::size_memory(const CudaRunContext& context, bool list) {
  const SumRequest& request = context.request;
  const std::int64_t grain = launcher_.i_per_block(), ni = request.i_count;
  std::int64_t piece = std::min(ni, max_i_per_launch());
  const std::size_t sums = accumulator_bytes(request, stores_in_own_launch(request));
  const std::int64_t indices = list ? ni : 0;
  if (launcher_.has_room(piece) && sums <= accumulators_.bytes() && list_.has_room(indices)) {
    if (context.capturing) {
      launcher_.retain_for_capture();
      accumulators_.retain_for_capture();
    }
    return piece;
  }
  if (context.capturing) {
    throw DeviceError(
        "working memory must grow, which cannot be done while a stream is captured: run once before the capture");
  }
  // Earlier runs may still use memory that reserve() frees.
  wait_for_work();
  const auto fail = [](std::size_t bytes) {
    throw DeviceError(fmt::format("out of memory of the GPU: {} bytes are needed at least", bytes));
  };
  if (!accumulators_.reserve(sums)) fail(sums);
  if (!list_.reserve(indices)) fail(std::size_t(indices) * sizeof(std::int64_t));
  while (!launcher_.reserve(piece, context.stream)) {
    if (piece <= grain) fail(std::size_t(piece * launcher_.bytes_per_i()));
    piece = std::max(grain, piece / 2 / grain * grain);
  }
  return piece;
}

void CudaSummation::launch_pieces(const CudaRunContext& context, CudaDevicePointer list, std::int64_t piece, bool first,
                                  bool last, std::int64_t nj) {
  const SumRequest& request = context.request;
  const CudaAccumulators sums =
      first && last ? CudaAccumulators{} : CudaAccumulators{accumulators_.data(), request.i_count};
  const CudaPiece all{
      .i_begin = request.i_begin, .i_list = list, .nj = nj, .first = first, .last = last, .accumulators = sums};
  for_ranges_of_i(request.i_count, piece,
                  [&](std::int64_t begin, std::int64_t count) { launcher_.launch(all.with_i(begin, count), context); });
}

// Later work of `stream` waits for the last run.
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
  if (is_predefined(stream)) return;
  try {
    event_.record(stream);
    recorded_ = true;
  } catch (const DeviceError&) {
    // The run has not failed, but wait for it here: the caller may destroy the stream before a later wait.
    gpu_.synchronize(stream);
    under_way_ = false;
  }
}

void CudaSummation::end_after_failure(CudaStream* stream) noexcept {
  try {
    end_in(stream);
  } catch (...) {
    // The first failure is thrown; a GPU that has failed no longer uses memory.
    under_way_ = false;
  }
}

}  // namespace nbcc
