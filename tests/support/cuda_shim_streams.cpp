// The driver's functions for streams, events, copies and launches. Entry point: ShimMachine. Streams never run beside
// each other: their work is done in the calling thread, at once or when somebody waits for it.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/support/cuda_shim_machine.h"

namespace nbcc::test {
namespace {

void* pointer_of(CudaDevicePointer pointer) { return reinterpret_cast<void*>(pointer); }

// Doubles among which is one that still is what all memory begins as.
bool holds_unwritten(const void* from, std::size_t bytes) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at + sizeof word <= bytes; at += sizeof word) {
    std::memcpy(&word, static_cast<const std::byte*>(from) + at, sizeof word);
    if (word == ~std::uint64_t(0)) return true;
  }
  return false;
}

}  // namespace

// ---- work
// ------------------------------------------------------------------------------------------------------------

CudaStream* ShimMachine::resolve(CudaStream* stream) {
  const CudaContext* const context = current();
  if (!context) return nullptr;
  if (!stream) return &default_streams_[context->device];
  if (std::any_of(streams_.begin(), streams_.end(), [&](const auto& s) { return s.get() == stream; })) return stream;
  fail("a stream is used that is not there", 0);
  return nullptr;
}

bool ShimMachine::capturing() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& s) { return s->capturing; });
}

CudaResult ShimMachine::give(CudaStream* stream, bool at_once, std::function<CudaResult()> work) {
  return give(stream, at_once, ShimWork{std::move(work), nullptr, false});
}

CudaResult ShimMachine::give(CudaStream* stream, bool at_once, ShimWork work) {
  if (stream->capturing) return stream->origin->recorded.push_back(std::move(work)), kCudaSuccess;
  const bool is_default = stream == &default_streams_[stream->device];
  if (is_default) {
    for (const auto& other : streams_) {
      if (other->blocking && other->device == stream->device) drain(other.get());
    }
  } else if (stream->blocking) {
    drain(&default_streams_[stream->device]);
  }
  stream->waiting.push_back(std::move(work));
  return lazy && !at_once ? kCudaSuccess : drain(stream);
}

// An error is told once, to who waits first.
CudaResult ShimMachine::drain(CudaStream* stream) {
  while (!stream->waiting.empty()) {
    if (const CudaResult error = do_next_unordered(stream); error && !stream->error) stream->error = error;
  }
  return std::exchange(stream->error, kCudaSuccess);
}

CudaResult ShimMachine::do_next(CudaStream* stream) {
  const ShimWork next = std::move(stream->waiting.front());
  stream->waiting.pop_front();
  return next.launch ? launch(*next.launch, fibres_, {}) : next.work();
}

CudaResult ShimMachine::do_next_unordered(CudaStream* stream) {
  std::deque<ShimWork>& waiting = stream->waiting;
  if (!waiting.front().launch) return do_next(stream);
  const auto later = std::find_if(waiting.begin() + 1, waiting.end(), [](const ShimWork& work) { return !work.marks; });
  if (later == waiting.end() || !later->launch || !later->launch->early) return do_next(stream);
  const std::vector<ShimWork> before(waiting.begin(), later);
  const ShimWork early = *later;
  waiting.erase(waiting.begin(), later + 1);
  CudaResult error = kCudaSuccess;
  bool done = false;
  const auto do_before = [&] {
    done = true;
    error = launch(*before.front().launch, fibres_of_earlier_, {});
    for (std::size_t k = 1; k < before.size(); ++k) before[k].work();
  };
  const CudaResult last = launch(*early.launch, fibres_, do_before);
  if (!done) do_before();  // it failed, or did not wait
  return error ? error : last;
}

void ShimMachine::drain_all() {
  const auto keep_error = [&](CudaStream& stream) { stream.error = drain(&stream); };
  for (CudaStream& stream : default_streams_) keep_error(stream);
  for (const auto& stream : streams_) keep_error(*stream);
}

void ShimMachine::begin_capture(CudaStream* stream) {
  stream->recorded.clear();
  stream->capturing = true;
  stream->origin = stream;
}
void ShimMachine::end_capture(CudaStream* stream) {
  for (const auto& one : streams_)
    if (one->origin == stream) one->capturing = false, one->origin = nullptr;
}
void ShimMachine::replay(CudaStream* stream) {
  for (const ShimWork& one : stream->recorded) give(stream, false, one);
}

// ---- streams and events
// ----------------------------------------------------------------------------------------------

CudaResult ShimMachine::stream_create(CudaStream** stream, unsigned flags) {
  const CudaContext* const context = current();
  if (!context) return kShimInvalidContext;
  auto made = std::make_unique<CudaStream>();
  made->device = context->device;
  made->blocking = !(flags & kCudaNonBlocking);
  *stream = made.get();
  streams_.push_back(std::move(made));
  return kCudaSuccess;
}

CudaResult ShimMachine::stream_destroy(CudaStream* stream) {
  if (!stream || !resolve(stream)) return kShimInvalidHandle;
  drain(stream);
  for (const auto& event : events_) {
    if (event->stream == stream) event->stream = nullptr;  // which it has reached
  }
  std::erase_if(streams_, [&](const auto& s) { return s.get() == stream; });
  return kCudaSuccess;
}

CudaResult ShimMachine::stream_synchronize(CudaStream* stream) {
  CudaStream* const here = resolve(stream);
  if (!here) return kShimInvalidHandle;
  return here->capturing ? kShimCaptureForbids : drain(here);
}

CudaResult ShimMachine::stream_is_capturing(CudaStream* stream, int* status) {
  const CudaStream* const here = resolve(stream);
  if (!here) return kShimInvalidHandle;
  return *status = here->capturing, kCudaSuccess;
}

bool ShimMachine::is_event(const CudaEvent* event) {
  if (std::any_of(events_.begin(), events_.end(), [&](const auto& e) { return e.get() == event; })) return true;
  return fail("an event is used that is not there", false);
}

CudaResult ShimMachine::event_create(CudaEvent** event, unsigned flags) {
  if (!current()) return kShimInvalidContext;
  events_.push_back(std::make_unique<CudaEvent>());
  *event = events_.back().get();
  (*event)->timed = !(flags & kCudaNoTiming);
  return kCudaSuccess;
}

CudaResult ShimMachine::event_destroy(CudaEvent* event) {
  if (!current()) return kShimInvalidContext;
  if (!is_event(event)) return kShimInvalidHandle;
  drain_all();
  std::erase_if(events_, [&](const auto& e) { return e.get() == event; });
  return kCudaSuccess;
}

CudaResult ShimMachine::event_record(CudaEvent* event, CudaStream* stream) {
  CudaStream* const here = resolve(stream);
  if (!here || !is_event(event)) return kShimInvalidHandle;
  event->capture = here->origin;
  if (!here->capturing) event->stream = here;
  const std::uint64_t number = here->capturing ? event->recorded : ++event->recorded;
  const auto reached = [event, number] {
    event->reached = std::max(event->reached, number);
    event->time = std::chrono::steady_clock::now();
    return kCudaSuccess;
  };
  return give(here, false, ShimWork{reached, nullptr, true});
}

// Does what stands before the record in the event's stream.
void ShimMachine::reach(CudaEvent* event, std::uint64_t number) {
  while (event->reached < number) {
    if (const CudaResult error = do_next(event->stream)) event->stream->error = error;
  }
}

CudaResult ShimMachine::stream_wait_event(CudaStream* stream, CudaEvent* event, unsigned) {
  CudaStream* const here = resolve(stream);
  if (!here || !is_event(event)) return kShimInvalidHandle;
  if (event->capture) {  // the order of `recorded` is that of the calls
    if (here->capturing && here->origin != event->capture) return kShimCaptureIsolation;
    here->capturing = true;
    here->origin = event->capture;
    return kCudaSuccess;
  }
  if (here->capturing) return kShimCaptureIsolation;
  return give(here, false, [this, event, number = event->recorded] {
    reach(event, number);
    return kCudaSuccess;
  });
}

CudaResult ShimMachine::event_synchronize(CudaEvent* event) {
  if (!current()) return kShimInvalidContext;
  if (!is_event(event)) return kShimInvalidHandle;
  if (capturing()) return kShimCaptureForbids;
  reach(event, event->recorded);
  return event->stream ? std::exchange(event->stream->error, kCudaSuccess) : kCudaSuccess;
}

// Whoever asks again and again sees it come.
CudaResult ShimMachine::event_query(CudaEvent* event) {
  if (!current()) return kShimInvalidContext;
  if (!is_event(event)) return kShimInvalidHandle;
  if (capturing()) return kShimCaptureForbids;
  if (event->reached == event->recorded) return kCudaSuccess;
  reach(event, event->recorded);
  return kCudaNotReady;
}

CudaResult ShimMachine::event_elapsed_time(float* milliseconds, CudaEvent* start, CudaEvent* end) {
  if (!is_event(start) || !is_event(end) || !start->timed || !end->timed) return kShimInvalidHandle;
  if (!start->recorded || !end->recorded) return kShimInvalidHandle;
  if (start->reached < start->recorded || end->reached < end->recorded) return kCudaNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return kCudaSuccess;
}

// ---- copies
// ----------------------------------------------------------------------------------------------------------

// A block of pinned memory or a caller's own memory, of which the shim knows nothing.
std::string ShimMachine::check_host(const void* at, std::size_t bytes, const char* what) const {
  const ShimMemory::Block* const block = memory.find(at);
  if (!block) return "";
  if (block->kind == ShimMemory::Kind::Device) return fmt::format("{}: {} is device memory, not the host's", what, at);
  return memory.check_inside(at, bytes, what);
}

std::string ShimMachine::check_device(const void* at, std::size_t bytes, const char* what) const {
  const ShimMemory::Block* const block = memory.find(at);
  if (block && block->kind == ShimMemory::Kind::Pinned)
    return fmt::format("{}: {} is the host's memory, not a device's", what, at);
  return memory.check_inside(at, bytes, what);
}

CudaResult ShimMachine::memcpy_htod_async(CudaDevicePointer to, const void* from, std::size_t bytes,
                                          CudaStream* stream) {
  CudaStream* const here = resolve(stream);
  if (!here) return kShimInvalidHandle;
  if (bytes == 0) return kCudaSuccess;
  std::string failure = check_device(pointer_of(to), bytes, "memcpy_htod");
  if (failure.empty()) failure = check_host(from, bytes, "memcpy_htod");
  if (!failure.empty()) return fail(failure, kShimInvalidValue);
  return give(here, !memory.find(from), [=] { return std::memcpy(pointer_of(to), from, bytes), kCudaSuccess; });
}

CudaResult ShimMachine::memcpy_dtoh_async(void* to, CudaDevicePointer from, std::size_t bytes, CudaStream* stream) {
  CudaStream* const here = resolve(stream);
  if (!here) return kShimInvalidHandle;
  if (bytes == 0) return kCudaSuccess;
  std::string failure = check_device(pointer_of(from), bytes, "memcpy_dtoh");
  if (failure.empty()) failure = check_host(to, bytes, "memcpy_dtoh");
  if (!failure.empty()) return fail(failure, kShimInvalidValue);
  const bool pinned = memory.find(to);
  return give(here, !pinned, [=, this] {
    // A caller's own array may hold the index -1, which looks the same.
    if (pinned && !allows_minus_one && holds_unwritten(pointer_of(from), bytes))
      fail(fmt::format("memcpy_dtoh: of {} bytes some were never written", bytes), 0);
    return std::memcpy(to, pointer_of(from), bytes), kCudaSuccess;
  });
}

CudaResult ShimMachine::memcpy_async(CudaDevicePointer to, CudaDevicePointer from, std::size_t bytes,
                                     CudaStream* stream) {
  CudaStream* const here = resolve(stream);
  if (!here) return kShimInvalidHandle;
  if (bytes == 0) return kCudaSuccess;
  std::string failure = check_device(pointer_of(to), bytes, "memcpy");
  if (failure.empty()) failure = check_device(pointer_of(from), bytes, "memcpy");
  if (!failure.empty()) return fail(failure, kShimInvalidValue);
  return give(here, false, [=] { return std::memcpy(pointer_of(to), pointer_of(from), bytes), kCudaSuccess; });
}

CudaResult ShimMachine::memset_d32_async(CudaDevicePointer to, unsigned value, std::size_t count, CudaStream* stream) {
  CudaStream* const here = resolve(stream);
  if (!here) return kShimInvalidHandle;
  if (count == 0) return kCudaSuccess;
  if (to % 4) return kShimInvalidValue;
  const std::string failure = check_device(pointer_of(to), 4 * count, "memset_d32");
  if (!failure.empty()) return fail(failure, kShimInvalidValue);
  return give(here, false,
              [=] { return std::fill_n(static_cast<unsigned*>(pointer_of(to)), count, value), kCudaSuccess; });
}

// ---- launches
// --------------------------------------------------------------------------------------------------------

CudaResult ShimMachine::launch(const ShimLaunch& launch, Fibres& fibres, const std::function<void()>& earlier) {
  std::string failure = run_grid(fibres, launch, block_order, thread_order, earlier);
  if (failure.empty()) failure = memory.check_margins();
  return fail(failure, failure.empty() ? kCudaSuccess : kShimLaunchFailed);
}

CudaResult ShimMachine::give_launch(const CudaLaunchConfig& config, bool early, CudaFunction* function,
                                    void** arguments, void** extra) {
  CudaStream* const here = resolve(config.stream);
  if (!here || !is_loaded(function)) return kShimInvalidHandle;
  if (function->module->device != here->device)
    return fail(
        fmt::format("{} of device {} is launched on device {}", function->name, function->module->device, here->device),
        kShimInvalidHandle);
  last_launch = {config.grid_x, config.grid_y, config.grid_z, config.block_x, config.block_y, config.block_z};
  if (std::find(last_launch.begin(), last_launch.end(), 0u) != last_launch.end()) return kShimInvalidValue;
  const std::uint64_t threads = std::uint64_t(config.block_x) * config.block_y * config.block_z;
  const int bounds = function->bounds();
  if (config.grid_y > 65535 || config.grid_z > 65535 || threads > 1024 || (bounds && threads > std::uint64_t(bounds)))
    return kShimInvalidValue;
  if (extra) return fail("the shim has no `extra`", kShimInvalidValue);
  if (config.shared_bytes > unsigned(function->dynamic_shared)) return kShimInvalidValue;
  auto launch = std::make_shared<ShimLaunch>(ShimLaunch{function,
                                                        {config.grid_x, config.grid_y, config.grid_z},
                                                        {config.block_x, config.block_y, config.block_z},
                                                        {},
                                                        early});
  for (int k = 0; function->size(k) >= 0; ++k) {
    const auto* const from = static_cast<const std::byte*>(arguments[k]);
    launch->arguments.emplace_back(from, from + function->size(k));
  }
  return give(here, false, ShimWork{{}, std::move(launch), false});
}

CudaResult ShimMachine::launch_kernel(CudaFunction* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                      CudaStream* stream, void** arguments, void** extra) {
  return give_launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, nullptr, 0}, false,
                     function, arguments, extra);
}

CudaResult ShimMachine::launch_kernel_ex(const CudaLaunchConfig* config, CudaFunction* function, void** arguments,
                                         void** extra) {
  bool early = false;
  for (unsigned k = 0; k < config->attribute_count; ++k) {
    const CudaLaunchAttribute& attribute = config->attributes[k];
    if (attribute.id != kCudaProgrammaticStreamSerialization)
      return fail(fmt::format("the shim does not know launch attribute {}", attribute.id), kShimInvalidValue);
    early = attribute.value != 0;
  }
  if (early && kind.major < 9) return fail("this GPU launches nothing early", kShimInvalidValue);
  return give_launch(*config, early, function, arguments, extra);
}

}  // namespace nbcc::test
