// A pipeline's name and particles -> sums on a GPU through the interface that anyone uses. Entry point: DeviceSum.
#include "bench/cuda/device_sum.h"

#include <fmt/core.h>

#include <cstring>
#include <stdexcept>

#include "bench/embedded_texts.h"

namespace nbcc::bench {
namespace {

std::string text_of(const std::string& name) {
  const std::string_view text = embedded_pipeline(name);
  if (text.empty()) throw std::runtime_error(fmt::format("no pipeline is named '{}'", name));
  return std::string(text);
}

// "xi" is the field "x" of the i-particles.
const std::vector<double>& values_of(const Particles& particles, const Field& field) {
  const auto own = particles.fields.find(field.name);
  if (own != particles.fields.end()) return own->second;
  return particles.fields.at(field.name.substr(0, field.name.size() - 1));
}

PipelineOptions options_for(nbcc_precision precision) {
  PipelineOptions options;
  options.precision = precision;
  return options;
}

}  // namespace

DeviceSum::DeviceSum(const CudaGpu& gpu, const Device& device, const std::string& pipeline, nbcc_precision precision)
    : gpu_(gpu),
      in_double_(precision != NBCC_SINGLE),
      pipeline_(Pipeline::from_text(device, text_of(pipeline), pipeline, options_for(precision))),
      fields_(pipeline_.fields()),
      sum_(pipeline_) {
  sum_.pairs(NBCC_PAIRS_ALL);  // what is by hand sums over them
  for (const Field& field : fields_)
    if (field.role == NBCC_OUTPUT) row_ += field.components;
}

void DeviceSum::bind(const Particles& particles, Arrays arrays) {
  if (in_double_)
    bind_as<double>(particles, arrays);
  else
    bind_as<float>(particles, arrays);
}

template <typename T>
void* DeviceSum::place(std::vector<std::byte>& host, Arrays arrays) {
  if (arrays == Arrays::OfHost) return host.data();
  const CudaContextGuard guard(gpu_);
  CudaBuffer& buffer = *on_device_.emplace_back(std::make_unique<CudaBuffer>(gpu_));
  if (!buffer.reserve(host.size())) throw std::runtime_error("out of memory of the GPU");
  gpu_.require(gpu_.driver().memcpy_htod_async(buffer.data(), host.data(), host.size(), nullptr),
               "copying particles to the GPU");
  gpu_.require(gpu_.driver().stream_synchronize(nullptr), "copying particles to the GPU");
  return reinterpret_cast<void*>(buffer.data());
}

template <typename T>
void DeviceSum::bind_as(const Particles& particles, Arrays arrays) {
  n_ = particles.n;
  arrays_ = arrays;
  host_.clear();
  on_device_.clear();
  for (const Field& field : fields_) {
    if (field.role == NBCC_PARAM) {
      const auto given = particles.params.find(field.name);
      if (given != particles.params.end()) sum_.set(field.name, given->second);
      continue;
    }
    std::vector<T> values(std::size_t(n_ * field.components), T(0));
    if (field.role != NBCC_OUTPUT) {
      const std::vector<double>& given = values_of(particles, field);
      values.assign(given.begin(), given.end());
    }
    std::vector<std::byte>& host = host_.emplace_back(values.size() * sizeof(T));
    std::memcpy(host.data(), values.data(), host.size());
    T* const at = static_cast<T*>(place<T>(host, arrays));
    sum_.bind(field.name, view(at, n_, std::int64_t(sizeof(T)) * field.components, sizeof(T)));
  }
}

std::vector<double> DeviceSum::results() {
  sum_.wait();
  std::vector<double> all(std::size_t(n_) * std::size_t(row_));
  std::size_t index = 0, column = 0;
  for (const Field& field : fields_) {
    if (field.role == NBCC_PARAM) continue;
    std::vector<std::byte>& host = host_[index];
    if (field.role == NBCC_OUTPUT) {
      if (arrays_ == Arrays::OfDevice) {
        const CudaContextGuard guard(gpu_);
        gpu_.require(gpu_.driver().memcpy_dtoh_async(host.data(), on_device_[index]->data(), host.size(), nullptr),
                     "copying results from the GPU");
        gpu_.require(gpu_.driver().stream_synchronize(nullptr), "copying results from the GPU");
      }
      const auto components = std::size_t(field.components);
      for (std::size_t k = 0; k < std::size_t(n_); ++k)
        for (std::size_t c = 0; c < components; ++c) {
          const std::size_t at = k * components + c;
          double value = 0;
          if (in_double_) {
            std::memcpy(&value, host.data() + 8 * at, 8);
          } else {
            float single = 0;
            std::memcpy(&single, host.data() + 4 * at, 4);
            value = double(single);
          }
          all[k * std::size_t(row_) + column + c] = value;
        }
      column += components;
    }
    ++index;
  }
  return all;
}

}  // namespace nbcc::bench
