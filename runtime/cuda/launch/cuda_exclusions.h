// Excluded pairs -> a table on the GPU, sent once for all runs (templates/cuda/frames/cuda_exclusions.cuh.in).
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/sum/request/lists.h"
#include "templates/cuda/frames/cuda_list_data.h"

namespace nbcc {

class CudaExclusions {
 public:
  explicit CudaExclusions(const CudaGpu& gpu) : gpu_(gpu), bytes_(gpu) {}
  // True if the table of `exclusions` is on the GPU, or if no pair is excluded (null).
  bool holds(const Exclusions* exclusions) const { return !exclusions || number_ == exclusions->number; }
  // Call only when no launch uses the old table. False: the GPU's memory does not suffice.
  [[nodiscard]] bool send(const Exclusions& exclusions);
  // `of` has one entry for each i, `far` the indices of excluded j that no entry can hold.
  const list_data::ExclusionTable& table() const { return table_; }
  void retain_for_capture() { bytes_.retain_for_capture(); }

 private:
  const CudaGpu& gpu_;
  CudaBuffer bytes_;
  list_data::ExclusionTable table_{};
  std::int64_t number_ = 0;  // Exclusions::number of the table on the GPU; 0: none
};

}  // namespace nbcc
