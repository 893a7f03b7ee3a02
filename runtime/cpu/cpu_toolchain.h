// What the CPU device needs of a compiler, so that the runtime knows nothing of LLVM: libnbcc_jit implements it.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "compiler/kernel_source.h"

namespace nbcc {

// Machine code of one kernel, mapped and ready; the functions live as long as this object.
struct CpuCode {
  virtual ~CpuCode() = default;
  nbcc_prepare_function prepare_i = nullptr, prepare_j = nullptr;
  nbcc_interact_function interact = nullptr;
  nbcc_finish_function finish = nullptr;
  // Null where nothing is known of neighbours.
  nbcc_locate_function locate_i = nullptr, locate_j = nullptr;
  nbcc_extent_function extent = nullptr;
  // By side; null where no index of a table is checked.
  std::array<nbcc_indices_function, kIndexSides> indices{};
  nbcc_within_function within = nullptr;
  nbcc_interact_function interact_numbered = nullptr;
  nbcc_interact_function interact_but = nullptr;  // of Frame::Lists, which has no `interact`
};

struct CpuToolchain {
  virtual ~CpuToolchain() = default;
  // Names everything besides text and target that decides what compile() makes (compiler version, flags).
  virtual std::string identity() const = 0;
  // A variant of a kernel -> relocatable object code (the bytes that the disk cache keeps). Throws InternalError if the
  // compiler refuses the source.
  virtual std::string compile(const KernelSource& kernel, const KernelVariant& variant) const = 0;
  // Maps object code. Throws DeviceError when the bytes are no such object.
  virtual std::unique_ptr<CpuCode> load(const std::string& object) const = 0;
};

}  // namespace nbcc
