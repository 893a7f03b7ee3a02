// A run with arrays on the host: the particles are packed, copied and summed chunk by chunk, so that the three steps
// overlap.
// Tested by tests/unit/runtime/cuda/run/cuda_sum_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/cuda/launch/cuda_index_list.h"
#include "runtime/cuda/launch/cuda_launch.h"
#include "runtime/cuda/methods/cuda_method.h"
#include "runtime/cuda/program/cuda_residency.h"
#include "runtime/cuda/run/cuda_chunks.h"

namespace nbcc {

class CudaStaging {
 public:
  // launcher.arguments() holds the views of the arrays that are on the device. All references must outlive this object.
  // `accumulators`: memory of CudaAccumulators, kept between the runs (JPart) of one sum.
  CudaStaging(const CudaKernel& kernel, CudaLauncher& launcher, CudaBuffer& accumulators, CudaIndexList& list,
              std::array<CudaMethod*, 3> methods)
      : kernel_(kernel),
        gpu_(kernel.gpu()),
        launcher_(launcher),
        accumulators_(accumulators),
        list_(list),
        methods_(methods) {}

  // Call when other arrays are bound.
  void bind(const CudaResidency& residency);
  // No earlier run may be in progress; this run is complete when run() returns or throws. `list` is request.i_list in
  // host memory. If run() throws, it has written no output on the host, and none on the device unless the GPU failed in
  // the last launch, which stores them all. If `method` is not null, it does the sums; all particles must then fit into
  // the GPU's memory at once.
  void run(const SumRequest& request, const std::int64_t* list, CudaStream* stream, CudaMethod* method);
  // Launches and memory of such a run over a range of i, with the memory that is free now.
  DeviceWork work(const SumRequest& request, CudaMethod* method);

 private:
  // A component of an input or output that is copied through the buffers of this class.
  struct StagedColumn {
    std::size_t field;
    int component;  // index within the field
    int of_role;    // index among the components of all fields of this role
    Column column;  // only for inputs
  };
  // Properties that all chunks of a run share.
  struct Plan {
    CudaChunks chunks;
    std::int64_t rows = 0;  // i-particles in the columns
    // True: the kernel reads a list of i, and columns hold all particles from the lowest to the highest index in it.
    // False: columns hold the chosen i only, and the kernel reads them as consecutive particles.
    bool by_list = false;
    std::int64_t lowest = 0;  // caller's index of row 0 of the columns; 0 for a list with by_list false
    bool several_launches = false;
    bool first = true, last = true;  // this run is the first, the last run (JPart) of the sum
    CudaMethod* method = nullptr;    // does the sums; null: launches over all pairs
  };
  struct IChunk {
    std::int64_t begin = 0, end = 0;            // range of the chosen i
    std::int64_t first_row = 0, row_count = 0;  // particles in the columns: index of the first, and their number
    int buffer = 0;
  };

  Plan make_plan(const SumRequest& request, const std::int64_t* list, CudaMethod* method);
  CudaChunkQuestion question(const SumRequest& request, const Plan& plan) const;
  std::int64_t budget() const;
  void size_memory(const SumRequest& request, Plan& plan, CudaStream* stream);
  bool reserve(const SumRequest& request, const Plan& plan, CudaStream* stream);
  void release(bool keep_j);
  std::size_t bytes_held() const;
  void stage_device_inputs(const SumRequest& request, CudaStream* stream);
  void run_chunks(const SumRequest& request, const Plan& plan, const std::int64_t* list, CudaStream* stream);
  void clear_results(const Plan& plan, CudaStream* stream);
  void send_i(const SumRequest& request, const Plan& plan, const IChunk& chunk, const std::int64_t* list,
              CudaStream* stream);
  void send_j(const SumRequest& request, const Plan& plan, std::int64_t begin, std::int64_t end, int buffer,
              CudaStream* stream);
  void sum_chunk(const SumRequest& request, const Plan& plan, const IChunk& chunk, bool send, CudaStream* stream);
  void set_j_views(const SumRequest& request, const Plan& plan, std::int64_t begin, int buffer);
  void set_device_outputs(const SumRequest& request, bool wanted);
  void receive(const Plan& plan, const IChunk& chunk);
  void gather(const Plan& plan, const IChunk& chunk);
  void store_device_outputs(const SumRequest& request, const Plan& plan, CudaStream* stream);
  void unpack_outputs(const SumRequest& request, const Plan& plan, const std::int64_t* list);
  void wait_for_all(CudaStream* stream) const;
  CudaPiece piece(const Plan& plan, const IChunk& chunk) const;
  ArrayView view_of(const SumRequest& request, std::size_t field) const;

  const CudaKernel& kernel_;
  const CudaGpu& gpu_;
  CudaLauncher& launcher_;
  CudaBuffer& accumulators_;
  CudaIndexList& list_;
  const std::array<CudaMethod*, 3> methods_;
  CudaResidency residency_;
  std::vector<StagedColumn> i_staged_, j_staged_, out_staged_;
  std::int64_t i_bytes_ = 0, j_bytes_ = 0;  // bytes of one particle in the columns

  // Buffers for one chunk of i, or of j. Chunks are double-buffered.
  struct IBuffers {
    explicit IBuffers(const CudaGpu& gpu)
        : columns(gpu), results(gpu), packed(gpu), fetched(gpu), sent(gpu), done(gpu), received(gpu) {}
    CudaBuffer columns, results;
    CudaPinned packed, fetched;  // on the host: columns to send, results received
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
  AlignedBuffer gathered_;  // results of all chunks, if there are several
  std::vector<AlignedBuffer> via_host_;
  std::vector<ArrayView> via_host_views_;  // parallel to the kernel's fields
  bool resident_ = false;                  // j_columns_ holds all j
};

}  // namespace nbcc
