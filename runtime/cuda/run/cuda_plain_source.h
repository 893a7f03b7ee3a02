// Templates that do not depend on a pipeline -> the source of a kernel, as CudaKernel::load() takes it.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/kernel_source.h"
#include "templates/cuda/frames/cuda_copy_data.h"
#include "templates/cuda/frames/cuda_histogram_data.h"
#include "templates/embedded.h"

namespace nbcc {

// `templates`: names of embedded templates, which follow cuda_far_types.cuh.
inline KernelSource cuda_plain_source(std::string name, int threads,
                                      std::initializer_list<std::string_view> templates) {
  constexpr std::string_view kOnce = "#pragma once\n";  // of a header, which NVRTC expects in included files only
  KernelVariant variant{
      Frame::AllPairs, std::string(embedded_template("cuda_far_types.cuh")), {{threads, 1, 32, 1, 1}}};
  for (const std::string_view of : templates) {
    std::string text(embedded_template(of));
    if (const std::size_t at = text.find(kOnce); at != std::string::npos) text.erase(at, kOnce.size());
    variant.source += text;
  }
  KernelSource source;
  source.pipeline = std::move(name);
  source.target = "cuda";
  source.variants.push_back(std::move(variant));
  return source;
}

// Copies of particles in the memory of a GPU (cuda_device_copies.h).
inline KernelSource copies_source() {
  return cuda_plain_source("copies", copy_data::kThreads, {"cuda_copy_data.h", "cuda_copies.cu"});
}
// The values of histograms of each i (cuda_histograms.cpp).
inline KernelSource histogram_values_source() {
  return cuda_plain_source("histogram values", histogram_data::kThreads,
                           {"cuda_histogram_data.h", "cuda_histogram_values.cu"});
}

}  // namespace nbcc
