// A pair method of a GPU that sums over all chosen i at once, in working memory of its own: a search (cuda_search.h),
// lists of the caller (cuda_lists.h). Particles and working memory must fit into the GPU's memory at a time.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/cuda_launch.h"
#include "runtime/sum/device.h"

namespace nbcc {

struct CudaMethod {
  virtual ~CudaMethod() = default;
  // True if memory and code for a run are there; reserve() gets them, when no earlier run uses the old memory any more.
  // False from reserve(): the GPU has not so much memory.
  virtual bool has_room(const SumRequest& request) const = 0;
  [[nodiscard]] virtual bool reserve(const SumRequest& request) = 0;
  virtual std::size_t bytes_for(const SumRequest& request) const = 0;
  virtual std::size_t bytes() const = 0;
  virtual void keep_old() = 0;  // retains the memory that a captured graph uses
  virtual void release() = 0;
  // Units of work of a run, for Progress::begin(): pairs, or 0 if their number is unknown.
  virtual double units(const SumRequest& request) const = 0;
  virtual std::int64_t launches(const SumRequest& request) const = 0;  // at most
  // True if kernels find particles by the caller's numbers.
  virtual bool goes_by_numbers(const SumRequest& request) const = 0;
  // True if blocks of i read the caller's j while others may store their results.
  virtual bool reads_in_place(const SumRequest&) const { return false; }
  // What kernels read besides the particles: inputs of pairs, params of groups. After reserve().
  virtual void send(const CudaRunContext&) {}
  // All j of the piece act on its i. The last launch stores the results, or leaves them in the accumulators. After
  // send().
  virtual void run(const CudaRunContext& context, const CudaPiece& piece) = 0;
};

}  // namespace nbcc
