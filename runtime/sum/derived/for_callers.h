// Kernels as callers see them.
#pragma once
#include <memory>
#include <utility>

#include "runtime/sum/derived/every_image.h"
#include "runtime/sum/derived/pair_values.h"

namespace nbcc {

// Returns a kernel with the caller's fields if this one has inputs that the runtime makes; else this one.
inline std::shared_ptr<const Kernel> for_callers(std::shared_ptr<const Kernel> kernel) {
  return with_pair_values(with_images(std::move(kernel)));
}

}  // namespace nbcc
