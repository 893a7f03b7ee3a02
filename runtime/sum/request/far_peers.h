// The processes that share a sum to a tolerance: all have all j, and each sums for its own i. Implemented by
// runtime/api/ranks.cpp over a function of the caller, for libnbcc_mpi.
#pragma once
#include <vector>

namespace nbcc {

class FarPeers {
 public:
  virtual ~FarPeers() = default;
  virtual int own() const = 0;  // the index of this process
  // Collective. [process][number]: the numbers of all processes that take part; empty for a process that has no i, or
  // whose run has ended or failed. `mine` has as many numbers on every process. Throws DeviceError.
  virtual std::vector<std::vector<double>> exchange(const std::vector<double>& mine) = 0;
};

}  // namespace nbcc
