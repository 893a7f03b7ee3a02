// Templates of far fields -> the source of a kernel, as CudaKernel::load() takes it.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "compiler/kernel_source.h"
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

}  // namespace nbcc
