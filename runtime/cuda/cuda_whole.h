// A way to sum over all chosen i at once, in working memory of its own: a search (cuda_search.h), lists of the caller
// (cuda_lists.h). What does not fit into the GPU's memory cannot be done so.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/cuda_launch.h"
#include "runtime/sum/device.h"

namespace nbcc {

struct CudaWhole {
  virtual ~CudaWhole() = default;
  // Whether memory and code for a run are there; reserve() gets them, when nothing uses the old memory any more. False
  // from that: there is not so much memory.
  virtual bool has_room(std::int64_t ni, std::int64_t nj) const = 0;
  [[nodiscard]] virtual bool reserve(std::int64_t ni, std::int64_t nj) = 0;
  virtual std::size_t bytes_for(std::int64_t ni, std::int64_t nj) const = 0;
  virtual std::size_t bytes() const = 0;
  virtual void keep_old() = 0;
  virtual void release() = 0;
  // Units of work of a run, for Progress::begin(): pairs, or 0 if their number is unknown.
  virtual double units(const SumRequest& request) const = 0;
  // Whether particles must be found by the numbers that the caller has for them.
  virtual bool goes_by_numbers() const = 0;
  // What kernels read besides the particles: inputs of pairs, params of groups. After reserve().
  virtual void send(const SumRequest&, CudaStream*, bool /*capturing*/) {}
  // All j of the piece act; results of its i are stored by the last launch. After send().
  virtual void run(const SumRequest& request, const CudaPiece& piece, CudaStream* stream, bool capturing) = 0;
};

}  // namespace nbcc
