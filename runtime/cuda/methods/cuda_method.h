// A pair method of a GPU that has its own kernels and working memory and sums over all chosen i in one run: a search
// (cuda_search.h) or lists of the caller (cuda_lists.h). All particles and the working memory must fit into the GPU's
// memory together.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/launch/cuda_launch.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

struct CudaMethod {
  virtual ~CudaMethod() = default;
  // has_room(): true if memory and code for the run are ready. reserve() gets them; call it only when no earlier run
  // uses the old memory. It returns false if the GPU's memory does not suffice.
  virtual bool has_room(const SumRequest& request) const = 0;
  [[nodiscard]] virtual bool reserve(const SumRequest& request) = 0;
  virtual std::size_t bytes_for(const SumRequest& request) const = 0;  // needed by the run
  virtual std::size_t bytes() const = 0;                               // held now
  virtual void retain_for_capture() = 0;                               // retains the memory that a captured graph uses
  virtual void release() = 0;
  // Units of work of a run, for Progress::begin(): pairs, or 0 if their number is unknown.
  virtual double units(const SumRequest& request) const = 0;
  virtual std::int64_t launches(const SumRequest& request) const = 0;  // upper bound
  // True if kernels use the caller's indices of particles.
  virtual bool uses_particle_indices(const SumRequest& request) const = 0;
  // True if the summing kernel reads j from the caller's arrays, so that some blocks may still read j while other
  // blocks store results.
  virtual bool reads_in_place(const SumRequest&) const { return false; }
  // Sends the data besides the particles: input_pair fields, params of groups. Call after reserve().
  virtual void send(const CudaRunContext&) {}
  // Sums over the j of the piece. The last launch stores the results, or the accumulators if piece.last is false. Call
  // after send().
  virtual void run(const CudaRunContext& context, const CudaPiece& piece) = 0;
};

}  // namespace nbcc
