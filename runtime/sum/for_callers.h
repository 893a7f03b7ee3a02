// Kernels as callers see them.
#pragma once
#include <memory>
#include <utility>

#include "runtime/sum/every_image.h"
#include "runtime/sum/pair_values.h"

namespace nbcc {

// With the caller's fields, if the kernel has inputs that the runtime makes; else the kernel itself.
inline std::shared_ptr<const Kernel> for_callers(std::shared_ptr<const Kernel> kernel) {
  return with_pair_values(with_images(std::move(kernel)));
}

}  // namespace nbcc
