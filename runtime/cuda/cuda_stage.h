// A run with arrays of the host: packed, copied and summed chunk by chunk, so that all three overlap.
// Tested by tests/unit/cuda_sum_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/cuda/cuda_chunks.h"
#include "runtime/cuda/cuda_launch.h"
#include "runtime/cuda/cuda_places.h"

namespace nbcc {

class CudaStaging {
 public:
  // Both must outlive this object; the launcher's argument holds the views of the arrays that are on the device.
  CudaStaging(const CudaKernel& kernel, CudaLauncher& launcher);

  // Other arrays are bound now.
  void bind(const CudaPlaces& places);
  // Nothing of an earlier run may be under way, and nothing of this one is when it returns or throws. `list` is
  // request.i_list in memory of the host. When this throws, no output on the host has been written, and none on the
  // device unless the GPU failed in the last launch, which stores them all.
  void run(const SumRequest& request, const std::int64_t* list, CudaStream* stream);

 private:
  // A column of an input, or of results, that passes through memory of ours.
  struct Part {
    std::size_t field;
    int component;  // of the field
    int of_role;    // of all fields of its role
    Column column;  // of an input
  };
  // What the chunks of a run have in common.
  struct Plan {
    CudaChunks chunks;
    std::int64_t rows = 0;  // of i: particles that columns hold
    // The kernel finds particles by a list, columns hold all from the lowest to the highest of them; else columns hold
    // the chosen ones, as if they were the set.
    bool by_list = false;
    std::int64_t lowest = 0;  // particle of the columns' first row, where nothing is chosen by a list
    bool several_launches = false;
  };
  struct IChunk {
    std::int64_t begin = 0, end = 0;            // of the chosen i
    std::int64_t first_row = 0, row_count = 0;  // particles in the columns
    int buffer = 0;
  };

  Plan make_plan(const SumRequest& request, const std::int64_t* list);
  CudaChunkQuestion question(const SumRequest& request, const Plan& plan) const;
  void size_memory(const SumRequest& request, Plan& plan, CudaStream* stream);
  bool reserve(const SumRequest& request, const Plan& plan, CudaStream* stream);
  void release(bool keep_j);
  std::size_t held() const;
  void fetch(const SumRequest& request, CudaStream* stream);
  void pipe(const SumRequest& request, const Plan& plan, const std::int64_t* list, CudaStream* stream);
  void send_list(const SumRequest& request, const std::int64_t* list, CudaStream* stream);
  void clear_results(const Plan& plan, CudaStream* stream);
  void send_i(const SumRequest& request, const Plan& plan, const IChunk& chunk, const std::int64_t* list,
              CudaStream* stream);
  void send_j(const SumRequest& request, const Plan& plan, std::int64_t begin, std::int64_t end, int buffer,
              CudaStream* stream);
  void sum_chunk(const SumRequest& request, const Plan& plan, const IChunk& chunk, bool send, CudaStream* stream);
  void point_at_j(const SumRequest& request, const Plan& plan, std::int64_t begin, int buffer);
  void point_outputs_on_device(const SumRequest& request, bool wanted);
  void launch_finish(const Plan& plan, const IChunk& chunk, CudaStream* stream);
  void receive(const Plan& plan, const IChunk& chunk);
  void collect(const Plan& plan, const IChunk& chunk);
  void publish(const SumRequest& request, const Plan& plan, CudaStream* stream);
  void unpack_outputs(const SumRequest& request, const Plan& plan, const std::int64_t* list);
  void wait_for_all(CudaStream* stream) const;
  CudaPiece piece(const Plan& plan, const IChunk& chunk) const;
  ArrayView view_of(const SumRequest& request, std::size_t field) const;

  const CudaKernel& kernel_;
  const CudaGpu& gpu_;
  CudaLauncher& launcher_;
  CudaPlaces places_;
  std::vector<Part> i_parts_, j_parts_, out_parts_;
  std::int64_t i_bytes_ = 0, j_bytes_ = 0;  // of one particle in the columns

  CudaQueue in_, out_;
  CudaBuffer j_, running_, list_;
  std::array<CudaBuffer, 2> i_, results_;
  std::array<CudaPinned, 2> pinned_i_, pinned_j_, pinned_results_;
  CudaPinned pinned_list_;
  std::array<CudaMark, 2> i_sent_, j_sent_, i_done_, j_done_, received_;
  AlignedBuffer gathered_;  // results of all chunks, where there are several
  std::vector<AlignedBuffer> fetched_;
  std::vector<ArrayView> fetched_views_;  // parallel to the kernel's fields
  bool resident_ = false;                 // j_ holds all of the columns
};

}  // namespace nbcc
