// NVRTC for tests that compile CUDA text, opened once; they are skipped where it is not installed.
#pragma once
#include <gtest/gtest.h>

#include <memory>

#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/error.h"

namespace nbcc::test {

// Null where it is not.
inline const CudaCompiler* installed_nvrtc() {
  static const std::shared_ptr<const CudaCompiler> the = [] {
    try {
      return make_nvrtc();
    } catch (const DeviceError&) {
      return std::shared_ptr<const CudaCompiler>();
    }
  }();
  return the.get();
}

}  // namespace nbcc::test

#define NBCC_NEEDS_NVRTC() \
  if (!nbcc::test::installed_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA text is compiled here"
