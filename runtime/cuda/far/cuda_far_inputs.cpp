// Packs columns of inputs and sends them. Entry point: CudaFarInputs::take().
#include "runtime/cuda/far/cuda_far_inputs.h"

#include "runtime/cuda/far/cuda_far_program.h"
#include "runtime/cuda/program/cuda_residency.h"

namespace nbcc {

bool CudaFarInputs::is_sent(const SumRequest& request, std::size_t field) const {
  const FieldLayout& layout = source_.fields[field];
  const ArrayView& view = request.views[field];
  if ((layout.role != Role::InputI && layout.role != Role::InputJ) || view.count == 0) return false;
  return residency_of(gpu_, view.data, layout.name.c_str()) == Residency::Host;
}

std::int64_t CudaFarInputs::bytes_to_send(const SumRequest& request) const {
  std::int64_t bytes = 0;
  for (std::size_t f = 0; f < source_.fields.size(); ++f)
    if (is_sent(request, f))
      bytes += request.views[f].count * source_.fields[f].components() * std::int64_t(sizeof(double));
  return bytes;
}

void CudaFarInputs::take(const SumRequest& request, CudaStream* stream) {
  views_.assign(request.views.begin(), request.views.end());
  bool waited = false;
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    ArrayView& view = views_[f];
    if (!is_sent(request, f)) continue;
    if (!waited) gpu_.synchronize(stream);
    waited = true;
    const int components = field.components();
    const std::size_t column = std::size_t(view.count) * sizeof(double);
    pinned_.reserve(column);
    CudaBuffer& to = sent_.try_emplace(f, gpu_).first->second;
    reserve_elements(to, view.count * components, sizeof(double), "inputs");
    const Element element = field.integral() ? Element::Int64 : Element::Double;
    for (int c = 0; c < components; ++c) {
      pack(view, c, {0, nullptr, view.count}, {c, element, Column::Part::Whole}, pinned_.data());
      gpu_.send(to.data() + std::uint64_t(c) * column, pinned_.data(), column, stream);
      gpu_.synchronize(stream);
    }
    view = {reinterpret_cast<void*>(to.data()), element, view.count, 8, std::int64_t(column)};
  }
}

}  // namespace nbcc
