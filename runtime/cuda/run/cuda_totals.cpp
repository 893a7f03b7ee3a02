// Launches the reduction of values of i to totals, level by level. Interface: CudaTotals.
#include "runtime/cuda/run/cuda_totals.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/cuda/program/cuda_residency.h"
#include "runtime/cuda/run/cuda_sum.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

CudaDevicePointer address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// The reduction's number in templates/cuda/frames/cuda_totals.cu.in.
std::int64_t number_of(Reduction reduction) {
  if (is_sum(reduction)) return 0;
  if (is_minimum(reduction)) return 1;
  return reduction == Reduction::Max ? 2 : reduction == Reduction::Product ? 3 : 4;
}

}  // namespace

std::unique_ptr<TotalSteps> CudaSummation::total_steps() { return std::make_unique<CudaTotals>(kernel_, *this); }

CudaTotals::CudaTotals(const CudaKernel& kernel, CudaSummation& sum)
    : kernel_(kernel), gpu_(kernel.gpu()), summation_(sum), on_host_(sum) {}

CudaTotals::~CudaTotals() {
  try {
    summation_.wait(nullptr);  // the last run may still use the buffers
  } catch (...) {
    // A GPU that has failed no longer uses memory.
  }
}

// True if an array besides the totals is on the GPU.
bool CudaTotals::finds_arrays_here(const SumRequest& request) const {
  const std::vector<FieldLayout>& fields = kernel_.source.fields;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const ArrayView& view = request.views[f];
    const bool is_array = fields[f].role != Role::Param && !fields[f].is_total() && view.data && view.count > 0;
    if (is_array && residency_of(gpu_, view.data, fields[f].name.c_str()) == Residency::Device) return true;
  }
  return false;
}

void CudaTotals::reserve_buffer(CudaBuffer& buffer, std::size_t bytes, bool captured) {
  if (captured) buffer.retain_for_capture();
  if (bytes <= buffer.bytes()) return;
  if (captured)
    throw DeviceError(
        "the working memory of totals must grow, which cannot be done while a stream is captured: run once before the "
        "capture");
  summation_.wait(nullptr);  // earlier runs may still use the old memory
  if (!buffer.reserve(bytes)) throw DeviceError("out of memory of the GPU: there is no room for the values of totals");
}

double* CudaTotals::reserve(const SumRequest& request, std::int64_t count) {
  const CudaContextGuard guard(gpu_);
  here_ = finds_arrays_here(request);
  if (!here_) return on_host_.reserve(request, count);
  const bool captured = gpu_.is_captured(static_cast<CudaStream*>(request.stream));
  if (!program_ && captured)
    throw DeviceError(
        "the code that reduces totals is not loaded yet, which cannot be done while a stream is captured: run once "
        "before the capture");
  const KernelVariant& variant = *kernel_.source.find(Frame::Totals);
  if (!program_) program_ = kernel_.program_of({variant.frame, variant.launches.front()});
  reserve_buffer(values_, std::size_t(count) * sizeof(double), captured);
  return reinterpret_cast<double*>(values_.data());
}

void CudaTotals::launch(total_data::Level level, std::int64_t groups, std::int64_t components,
                        const SumRequest& request) const {
  void* arguments[] = {&level};
  launch_kernel(gpu_, program_->function(), "the reduction of totals", unsigned(groups), unsigned(components),
                unsigned(program_->config().threads), arguments, static_cast<CudaStream*>(request.stream), false);
}

void CudaTotals::fill(const TotalComponent& total, const SumRequest& request, std::int64_t count) {
  if (!here_) return on_host_.fill(total, request, count);
  if (count == 0) return;
  const CudaContextGuard guard(gpu_);
  total_data::Level level{};
  level.values = reinterpret_cast<char*>(total.values);
  level.count = count;
  level.reduction = number_of(total.reduction);
  level.whole = total.element == Element::Int64 ? 1 : 0;
  level.fills = 1;
  auto* const stream = static_cast<CudaStream*>(request.stream);
  summation_.launch_after_runs(stream, gpu_.is_captured(stream),
                               [&] { launch(level, ceil_div(count, kTotalGroup), 1, request); });
}

// Reduces the components of one field, whose values are consecutive. `to`: memory of the GPU for the results, as
// doubles or 64-bit integers, if the field's own array is on the host; else 0.
void CudaTotals::reduce_field(std::span<const TotalComponent> field, const SumRequest& request, CudaDevicePointer list,
                              CudaDevicePointer to) {
  const TotalComponent& first = field.front();
  const auto components = std::int64_t(field.size());
  const std::int64_t most = ceil_div(request.i_count, kTotalGroup) * components;
  total_data::Level level{};
  level.values = reinterpret_cast<char*>(first.values);
  level.rows = request.ni;
  level.list = gpu_pointer<const total_data::index>(list);
  level.first = list ? 0 : request.i_begin;
  level.count = request.i_count;
  level.reduction = number_of(first.reduction);
  level.whole = first.element == Element::Int64 ? 1 : 0;
  const auto accumulate = std::int64_t(request.accumulate ? 1 : 0);
  level.out = {static_cast<char*>(first.to.data), 0, std::int64_t(first.to.element), accumulate};
  level.component_stride = first.to.component_stride;
  if (to) {
    level.out = {gpu_pointer<char>(to), 0, std::int64_t(first.element), 0};
    level.component_stride = sizeof(double);
  }
  // The partials of successive levels lie in the two halves of the buffer in turn.
  CudaDevicePointer partials = partials_.data(), other = partials + std::uint64_t(most) * sizeof(double);
  while (true) {
    const std::int64_t groups = std::max<std::int64_t>(ceil_div(level.count, kTotalGroup), 1);
    level.partials = gpu_pointer<char>(partials);
    launch(level, groups, components, request);
    if (groups == 1) return;
    level.values = gpu_pointer<char>(partials);
    level.rows = level.count = groups;
    level.list = nullptr;
    level.first = 0;
    std::swap(partials, other);
  }
}

// Reduces values on the host to totals whose own arrays may be on the GPU.
void CudaTotals::reduce_on_host(std::span<const TotalComponent> totals, const SumRequest& request) {
  struct Copied {
    std::byte* at;
    std::size_t bytes;
    std::int64_t number = 0;  // the bytes of an element
  };
  const CudaContextGuard guard(gpu_);
  auto* const stream = static_cast<CudaStream*>(request.stream);
  std::vector<TotalComponent> reduced(totals.begin(), totals.end());
  std::vector<Copied> copied;
  copied.reserve(totals.size());
  for (TotalComponent& total : reduced) {
    if (residency_of(gpu_, total.to.data, "a total") == Residency::Host) continue;
    copied.push_back({static_cast<std::byte*>(total.to.data) + total.component * total.to.component_stride,
                      std::size_t(size_of(total.to.element))});
    Copied& one = copied.back();
    if (request.accumulate) gpu_.fetch(&one.number, address_of(one.at), one.bytes, stream);
    total.to = {&one.number, total.to.element, 1, 0, 0};
    total.component = 0;
  }
  if (!copied.empty()) gpu_.synchronize(stream);
  on_host_.reduce(reduced, request);
  for (const Copied& one : copied) gpu_.send(address_of(one.at), &one.number, one.bytes, stream);
  if (!copied.empty()) gpu_.synchronize(stream);
}

void CudaTotals::reduce(std::span<const TotalComponent> totals, const SumRequest& request) {
  if (!here_) return reduce_on_host(totals, request);
  const CudaContextGuard guard(gpu_);
  auto* const stream = static_cast<CudaStream*>(request.stream);
  const bool captured = gpu_.is_captured(stream);
  const bool sends = request.i_list && residency_of(gpu_, request.i_list, "i_list") == Residency::Host;
  const auto is_on_host = [&](const TotalComponent& total) {
    return residency_of(gpu_, total.to.data, "a total") == Residency::Host;
  };
  const bool for_host = std::ranges::any_of(totals, is_on_host);
  if (captured && (sends || for_host))
    throw DeviceError("a run that is captured must find its totals, and the list of i, on the device");
  const std::size_t partials = 2 * totals.size() * std::size_t(ceil_div(request.i_count, kTotalGroup)) * sizeof(double);
  reserve_buffer(partials_, partials, captured);
  if (for_host) reserve_buffer(for_host_, totals.size() * sizeof(double), captured);
  if (sends && !list_.has_room(request.i_count)) {
    summation_.wait(nullptr);
    if (!list_.reserve(request.i_count))
      throw DeviceError("out of memory of the GPU: there is no room for the list of i-particles");
  }
  std::vector<double> results(totals.size());
  summation_.launch_after_runs(stream, captured, [&] {
    CudaDevicePointer list = address_of(request.i_list);
    if (sends) list = list_.send(request.i_list, request.i_count, stream);
    for (std::size_t begin = 0, end = 0; begin < totals.size(); begin = end) {
      // A field's components are consecutive, numbered from 0.
      for (end = begin + 1; end < totals.size() && totals[end].component > 0;) ++end;
      const CudaDevicePointer to =
          is_on_host(totals[begin]) ? for_host_.data() + std::uint64_t(begin) * sizeof(double) : 0;
      reduce_field(totals.subspan(begin, end - begin), request, list, to);
    }
    if (for_host) gpu_.fetch(results.data(), for_host_.data(), results.size() * sizeof(double), stream);
  });
  if (!for_host) return;
  summation_.wait(nullptr);  // throws for an index outside of its table, before anything is stored
  for (std::size_t k = 0; k < totals.size(); ++k)
    if (is_on_host(totals[k])) store_total(totals[k], &results[k], request.accumulate);
}

}  // namespace nbcc
