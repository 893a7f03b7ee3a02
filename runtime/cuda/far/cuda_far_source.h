// Templates of far fields -> the source of a kernel, as CudaKernel::load() takes it.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "compiler/kernel_source.h"
#include "fmt/format.h"
#include "templates/embedded.h"

namespace nbcc {

// `macros`: lines that come first. `templates`: names of embedded templates, which follow the text that all far fields
// share.
inline KernelSource cuda_far_source(std::string name, std::string_view macros,
                                    std::initializer_list<std::string_view> templates) {
  constexpr std::string_view kOnce = "#pragma once\n";  // of a header, which NVRTC expects in included files only
  KernelVariant variant{Frame::AllPairs, std::string(macros), {{256, 1, 32, 1, 1}}};
  const auto append = [&](std::string_view of) {
    std::string text(embedded_template(of));
    if (const std::size_t at = text.find(kOnce); at != std::string::npos) text.erase(at, kOnce.size());
    variant.source += text;
  };
  for (const std::string_view of : {"cuda_far_types.cuh", "cuda_far_data.h", "cuda_blocks.cuh"}) append(of);
  for (const std::string_view of : templates) append(of);
  KernelSource source;
  source.pipeline = std::move(name);
  source.target = "cuda";
  source.variants.push_back(std::move(variant));
  return source;
}

// The programs of a far field besides those of its derived kernels.
inline KernelSource far_particles_source() {
  return cuda_far_source("cuda_far_particles.cu", "", {"cuda_far_particles.cu"});
}
inline KernelSource far_walk_source() { return cuda_far_source("cuda_far_walk.cu", "", {"cuda_far_walk.cu"}); }
inline KernelSource far_images_source() { return cuda_far_source("cuda_far_images.cu", "", {"cuda_far_images.cu"}); }
inline KernelSource radix_sort_source() {
  return cuda_far_source("radix_sort", "", {"cuda_far_blocks.cuh", "cuda_onesweep.cuh", "cuda_radix_sort.cu"});
}
inline KernelSource far_tree_source(int axes) {
  return cuda_far_source("far_tree", fmt::format("#define NBCC_AXES {}\n", axes),
                         {"cuda_far_blocks.cuh", "cuda_far_tree.cu"});
}
inline KernelSource far_grids_source(int axes, int order) {
  return cuda_far_source(fmt::format("far grids, {} axes, order {}", axes, order),
                         fmt::format("#define NBCC_AXES {}\n#define NBCC_ORDER {}\n", axes, order),
                         {"cuda_far_grids.cu"});
}

}  // namespace nbcc
