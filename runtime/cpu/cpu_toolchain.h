// The interface of the compiler that the CPU device uses. libnbcc_jit implements it, so the runtime does not depend on
// LLVM.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "compiler/kernel_source.h"

// Of pipelines with reactions, for sums over listed pairs (templates/cpu/cpu_listed_once.cpp.in). `listed` and
// `reactions` have a record for each particle, of the sizes that nbcc_listed_sizes gives. Both sides have i_number and
// j_number.
using nbcc_listed_sizes_function = void (*)(std::int64_t* bytes);
using nbcc_begin_listed_once_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end,
                                                 void* listed, void* reactions);
using nbcc_end_listed_once_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end,
                                               const void* reactions);
using nbcc_interact_listed_once_function = void (*)(const nbcc_kernel_arguments*, std::int64_t i_begin,
                                                    std::int64_t i_end, const std::int64_t* first, const int* j,
                                                    const void* listed, void* reactions);

namespace nbcc {

// Machine code of one kernel, mapped into memory. The functions are valid as long as this object.
struct CpuCode {
  virtual ~CpuCode() = default;
  nbcc_prepare_function prepare_i = nullptr, prepare_j = nullptr;
  nbcc_interact_function interact = nullptr;
  nbcc_finish_function finish = nullptr;
  // Null if no cutoff is proved.
  nbcc_locate_function locate_i = nullptr, locate_j = nullptr;
  nbcc_extent_function extent = nullptr;
  // [side]; null if no index of a table is checked.
  std::array<nbcc_indices_function, kIndexSides> indices{};
  nbcc_within_function within = nullptr;
  nbcc_interact_function interact_numbered = nullptr;
  nbcc_interact_function interact_symmetric = nullptr;  // of pipelines with reactions
  nbcc_half_list_function interact_half_list = nullptr;
  nbcc_boxes_function boxes_of_vectors = nullptr;  // with interact_half_list
  // Only in Frame::Lists, with exclusions, and in Frame::ListedPairs, with reactions; these have no `interact`.
  nbcc_interact_function interact_excluding = nullptr;
  nbcc_listed_sizes_function listed_sizes = nullptr;
  nbcc_begin_listed_once_function begin_listed_once = nullptr;
  nbcc_end_listed_once_function end_listed_once = nullptr;
  nbcc_interact_listed_once_function interact_listed_once = nullptr;
};

struct CpuToolchain {
  virtual ~CpuToolchain() = default;
  // Names everything besides source and target that the output of compile() depends on (compiler version, flags).
  virtual std::string identity() const = 0;
  // A variant of a kernel -> relocatable object code, which the disk cache stores. Throws InternalError if the compiler
  // rejects the source.
  virtual std::string compile(const KernelSource& kernel, const KernelVariant& variant) const = 0;
  // Maps object code. Throws DeviceError if the bytes are no object of this toolchain.
  virtual std::unique_ptr<CpuCode> load(const std::string& object) const = 0;
};

}  // namespace nbcc
