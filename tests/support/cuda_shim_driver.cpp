// The shim's machine -> the table of functions that the runtime calls, and what tests ask of it. Entry points:
// CudaShim. Counts and refuses calls; what they do is in cuda_shim_machine.cpp and cuda_shim_streams.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tests/support/cuda_shim.h"
#include "tests/support/cuda_shim_machine.h"

namespace nbcc::test {
namespace {

ShimMachine* machine_of_process = nullptr;

template <std::size_t N>
struct Name {
  char text[N];
  // NOLINTNEXTLINE(google-explicit-constructor): a template argument is written as the text alone.
  consteval Name(const char (&from)[N]) { std::copy_n(from, N, text); }
};

template <Name name, auto method>
struct Entry;
template <Name name, typename... A, CudaResult (ShimMachine::*method)(A...)>
struct Entry<name, method> {
  static CudaResult call(A... arguments) {
    if (!machine_of_process) return 4;  // CUDA_ERROR_DEINITIALIZED
    const std::lock_guard lock(machine_of_process->mutex);
    if (const CudaResult planned = machine_of_process->begin(name.text)) return planned;
    return (machine_of_process->*method)(arguments...);
  }
};

// In CudaDriver's order.
// clang-format off
#define NBCC_SHIM_FUNCTIONS(F) \
  F(init) F(driver_get_version) F(get_error_name) F(get_error_string) F(device_get_count) F(device_get) \
  F(device_get_name) F(device_get_attribute) F(device_total_mem) F(device_primary_ctx_retain) \
  F(device_primary_ctx_release) F(ctx_push_current) F(ctx_pop_current) F(ctx_get_current) \
  F(device_can_access_peer) F(ctx_enable_peer_access) F(mem_get_info) \
  F(mem_alloc) F(mem_alloc_managed) F(mem_free) F(mem_host_alloc) F(mem_free_host) F(memcpy_htod_async) \
  F(memcpy_dtoh_async) F(memset_d32_async) F(memcpy_async) F(pointer_get_attributes) F(stream_create) F(stream_destroy) \
  F(stream_synchronize) \
  F(stream_wait_event) F(stream_is_capturing) F(event_create) F(event_destroy) F(event_record) \
  F(event_synchronize) F(event_query) F(event_elapsed_time) F(module_load_data) F(module_unload) \
  F(module_get_function) F(func_get_attribute) F(func_set_attribute) F(occupancy_max_active_blocks_per_multiprocessor) \
  F(launch_kernel) F(launch_kernel_ex)
// clang-format on

#define NBCC_SHIM_ENTRY(name) .name = &Entry<#name, &ShimMachine::name>::call,
constexpr CudaDriver kTable{NBCC_SHIM_FUNCTIONS(NBCC_SHIM_ENTRY)};
#undef NBCC_SHIM_ENTRY

#define NBCC_SHIM_NAME(name) #name,
constexpr std::string_view kNames[] = {NBCC_SHIM_FUNCTIONS(NBCC_SHIM_NAME)};
#undef NBCC_SHIM_NAME
#undef NBCC_SHIM_FUNCTIONS

std::string known(std::string_view function) {
  if (std::find(std::begin(kNames), std::end(kNames), function) == std::end(kNames))
    throw std::invalid_argument("the driver has no function " + std::string(function));
  return std::string(function);
}

}  // namespace

CudaShim::CudaShim() : machine_(std::make_unique<ShimMachine>()) {
  if (machine_of_process) throw std::logic_error("there is a CudaShim already");
  machine_of_process = machine_.get();
}

CudaShim::~CudaShim() {
  machine_->find_leaks();
  for (const std::string& failure : machine_->failures) ADD_FAILURE() << "shim: " << failure;
  machine_of_process = nullptr;
}

std::span<const std::string_view> CudaShim::functions() { return kNames; }

const CudaDriver& CudaShim::driver() const { return kTable; }
std::shared_ptr<const CudaCompiler> CudaShim::compiler() const { return make_shim_compiler(); }

void CudaShim::set_device(const Device& device) { machine_->kind = device; }
void CudaShim::set_device_count(int count) {
  if (count < 0 || count > kShimDevices) throw std::invalid_argument("the shim has at most 8 devices");
  machine_->devices = count;
}
void CudaShim::set_linked(bool linked) { machine_->linked = linked; }
void CudaShim::allow_minus_one() { machine_->allows_minus_one = true; }
void CudaShim::set_driver_version(int version) { machine_->version = version; }
void CudaShim::set_block_order(ShimOrder order) { machine_->block_order = order; }
void CudaShim::set_thread_order(ShimOrder order) { machine_->thread_order = order; }
void CudaShim::set_lazy(bool lazy) { machine_->lazy = lazy; }

void CudaShim::begin_capture(CudaStream* stream) { machine_->begin_capture(stream); }
void CudaShim::end_capture(CudaStream* stream) { machine_->end_capture(stream); }
void CudaShim::replay(CudaStream* stream) { machine_->replay(stream); }

int CudaShim::calls(std::string_view function) const {
  const auto found = machine_->calls.find(known(function));
  return found == machine_->calls.end() ? 0 : found->second;
}
void CudaShim::forget_calls() { machine_->calls.clear(); }

void CudaShim::fail(std::string_view function, int k, CudaResult result) {
  machine_->plans[known(function)] = {machine_->all_calls[std::string(function)] + k, false, result};
}
void CudaShim::fail_from(std::string_view function, int k, CudaResult result) {
  machine_->plans[known(function)] = {machine_->all_calls[std::string(function)] + k, true, result};
}
void CudaShim::succeed(std::string_view function) { machine_->plans.erase(known(function)); }

std::size_t CudaShim::allocated() const {
  std::size_t bytes = 0;
  for (int device = 0; device < kShimDevices; ++device) bytes += machine_->memory.bytes_of_device(device);
  return bytes;
}
std::size_t CudaShim::peak_allocated() const { return machine_->peak; }
int CudaShim::in_flight() const { return machine_->in_flight(); }
int CudaShim::held() const { return machine_->held(); }
std::vector<unsigned> CudaShim::last_launch() const { return machine_->last_launch; }
std::vector<std::string> CudaShim::take_failures() { return std::exchange(machine_->failures, {}); }

}  // namespace nbcc::test
