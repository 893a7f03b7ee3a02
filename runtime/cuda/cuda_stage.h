// A run with arrays of the host: packed, copied and summed chunk by chunk, so that all three overlap.
// Tested by tests/unit/cuda_sum_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/cuda/cuda_chunks.h"
#include "runtime/cuda/cuda_index_list.h"
#include "runtime/cuda/cuda_launch.h"
#include "runtime/cuda/cuda_method.h"
#include "runtime/cuda/cuda_residency.h"

namespace nbcc {

class CudaStaging {
 public:
  // The launcher's argument holds the views of the arrays that are on the device.
  // All must outlive this object. `accumulators`: memory of CudaAccumulators, which outlives the parts of a sum.
  CudaStaging(const CudaKernel& kernel, CudaLauncher& launcher, CudaBuffer& accumulators, CudaIndexList& list,
              std::array<CudaMethod*, 2> methods)
      : kernel_(kernel),
        gpu_(kernel.gpu()),
        launcher_(launcher),
        accumulators_(accumulators),
        list_(list),
        methods_(methods) {}

  // Other arrays are bound now.
  void bind(const CudaResidency& residency);
  // Nothing of an earlier run may be under way, and nothing of this one is when it returns or throws. `list` is
  // request.i_list in memory of the host. When this throws, no output on the host has been written, and none on the
  // device unless the GPU failed in the last launch, which stores them all. With `method` it does the sums; all
  // particles must then fit into the GPU's memory at a time.
  void run(const SumRequest& request, const std::int64_t* list, CudaStream* stream, CudaMethod* method);
  // What such a run over a range of i would take, with the memory that is free now.
  DeviceWork work(const SumRequest& request, CudaMethod* method);

 private:
  // A column of an input, or of results, that passes through memory of ours.
  struct StagedColumn {
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
    bool first = true, last = true;  // of a sum's parts
    CudaMethod* method = nullptr;    // does the sums; null: launches over all pairs
  };
  struct IChunk {
    std::int64_t begin = 0, end = 0;            // of the chosen i
    std::int64_t first_row = 0, row_count = 0;  // particles in the columns
    int buffer = 0;
  };

  Plan make_plan(const SumRequest& request, const std::int64_t* list, CudaMethod* method);
  CudaChunkQuestion question(const SumRequest& request, const Plan& plan) const;
  std::int64_t budget() const;
  void size_memory(const SumRequest& request, Plan& plan, CudaStream* stream);
  bool reserve(const SumRequest& request, const Plan& plan, CudaStream* stream);
  void release(bool keep_j);
  std::size_t bytes_held() const;
  void fetch(const SumRequest& request, CudaStream* stream);
  void pipe(const SumRequest& request, const Plan& plan, const std::int64_t* list, CudaStream* stream);
  void clear_results(const Plan& plan, CudaStream* stream);
  void send_i(const SumRequest& request, const Plan& plan, const IChunk& chunk, const std::int64_t* list,
              CudaStream* stream);
  void send_j(const SumRequest& request, const Plan& plan, std::int64_t begin, std::int64_t end, int buffer,
              CudaStream* stream);
  void sum_chunk(const SumRequest& request, const Plan& plan, const IChunk& chunk, bool send, CudaStream* stream);
  void point_at_j(const SumRequest& request, const Plan& plan, std::int64_t begin, int buffer);
  void point_outputs_on_device(const SumRequest& request, bool wanted);
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
  CudaBuffer& accumulators_;
  CudaIndexList& list_;
  const std::array<CudaMethod*, 2> methods_;
  CudaResidency residency_;
  std::vector<StagedColumn> i_staged_, j_staged_, out_staged_;
  std::int64_t i_bytes_ = 0, j_bytes_ = 0;  // of one particle in the columns

  // What one chunk of i, or of j, passes through; each is there twice.
  struct IBuffers {
    explicit IBuffers(const CudaGpu& gpu)
        : columns(gpu), results(gpu), packed(gpu), fetched(gpu), sent(gpu), done(gpu), received(gpu) {}
    CudaBuffer columns, results;
    CudaPinned packed, fetched;  // columns and results
    CudaEventOwner sent, done, received;
  };
  struct JBuffers {
    explicit JBuffers(const CudaGpu& gpu) : packed(gpu), sent(gpu), done(gpu) {}
    CudaPinned packed;
    CudaEventOwner sent, done;
  };
  CudaOwnStream in_{gpu_}, out_{gpu_};
  CudaEventOwner launched_{gpu_};
  CudaBuffer j_columns_{gpu_};
  std::array<IBuffers, 2> i_{IBuffers(gpu_), IBuffers(gpu_)};
  std::array<JBuffers, 2> j_{JBuffers(gpu_), JBuffers(gpu_)};
  AlignedBuffer gathered_;  // results of all chunks, where there are several
  std::vector<AlignedBuffer> fetched_;
  std::vector<ArrayView> fetched_views_;  // parallel to the kernel's fields
  bool resident_ = false;                 // j_columns_ holds all of them
};

}  // namespace nbcc
