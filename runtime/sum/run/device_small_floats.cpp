// Entry points: DeviceSmallFloats::begin() and store(). The kernels are those of
// templates/cuda/frames/cuda_copies.cu.in.
#include "runtime/sum/run/device_small_floats.h"

#include <algorithm>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/run/device_copies.h"
#include "templates/cuda/frames/cuda_copy_data.h"

namespace nbcc {
namespace {

// Numbers of arrays of a DeviceCopies, beyond those that copies of particles have.
constexpr std::size_t kFirstNumber = 1000;

copy_data::Convert conversion(const ArrayView& small, const ArrayView& wide, int components) {
  return {static_cast<char*>(small.data),
          small.stride,
          small.component_stride,
          small.element == Element::Half,
          static_cast<char*>(wide.data),
          wide.element == Element::Double,
          components,
          small.count};
}

}  // namespace

bool DeviceSmallFloats::are_all_wide(const SumRequest& request) const {
  return std::ranges::none_of(
      request.views, [](const ArrayView& view) { return view.data && view.count > 0 && is_small(view.element); });
}

void DeviceSmallFloats::end() {
  if (device_) device_->end();
  device_ = nullptr;
  converted_.clear();
}

// Equal arrays, such as those of i and j of one set, get one copy.
ArrayView DeviceSmallFloats::widened(const SumRequest& request, std::size_t field, DeviceCopies& device) {
  const ArrayView& view = request.views[field];
  const FieldLayout& layout = source_.fields[field];
  const bool is_output = layout.role == Role::Output;
  const int components = layout.numbers();
  if (!is_output)
    for (const Converted& one : converted_)
      if (one.callers == view && source_.fields[one.field].role != Role::Output &&
          source_.fields[one.field].numbers() == components)
        return one.wide;
  // A result is rounded once: in double precision it is not rounded to float before.
  const Element element = is_output ? Element::Double : Element::Float;
  const std::int64_t size = size_of(element);
  void* const to = device.reserve(kFirstNumber + field, std::size_t(view.count * components * size));
  const ArrayView wide{to, element, view.count, components * size, size};
  // Rows of i that are not chosen keep their numbers, and `accumulate` reads all.
  const copy_data::Convert widen = conversion(view, wide, components);
  device.launch("nbcc_widen", view.count * components, &widen, copy_data::kMaxBlocks);
  return wide;
}

SumRequest DeviceSmallFloats::begin(const SumRequest& request) {
  end();  // of a run that has failed
  const bool is_wide = are_all_wide(request);
  if (is_wide && binding_ == 0) return request;
  std::vector<ArrayView> views(request.views.begin(), request.views.end());
  for (std::size_t f = 0; f < views.size() && !is_wide; ++f) {
    const ArrayView view = views[f];
    if (!view.data || view.count == 0 || !is_small(view.element)) continue;
    DeviceCopies* const device = summation_.device_copies({&view, 1});
    if (!device) continue;
    if (source_.fields[f].is_histogram())
      throw UsageError(fmt::format(
          "field '{}' of pipeline '{}': a histogram in the memory of a GPU has elements of float or double, "
          "got 16-bit numbers",
          source_.fields[f].name, source_.pipeline));
    if (!device_) device->begin(request.stream);
    device_ = device;
    views[f] = widened(request, f, *device);
    converted_.push_back({f, view, views[f]});
  }
  if (binding_ == 0) binding_ = request.binding;
  if (views != views_ || request.binding != callers_binding_) ++binding_;
  callers_binding_ = request.binding;
  views_ = std::move(views);
  SumRequest wide = request;
  wide.views = views_;
  wide.binding = binding_;
  return wide;
}

void DeviceSmallFloats::store(const SumRequest&, std::span<const ArrayView>) {
  if (!device_) return;
  for (const Converted& one : converted_) {
    const FieldLayout& field = source_.fields[one.field];
    if (field.role != Role::Output) continue;
    const copy_data::Convert narrow = conversion(one.callers, one.wide, field.numbers());
    device_->launch("nbcc_narrow", one.callers.count * field.numbers(), &narrow, copy_data::kMaxBlocks);
  }
  end();
}

}  // namespace nbcc
