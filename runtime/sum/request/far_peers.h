// The processes that share a sum to a tolerance. Each sums for its own i, and has either all j, or its own j alone;
// then the particles move to the processes by their positions (runtime/far/ranks/). Implemented by
// runtime/api/ranks.cpp over functions of the caller, for libnbcc_mpi.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

class FarPeers {
 public:
  using Bytes = std::vector<std::byte>;
  virtual ~FarPeers() = default;
  virtual int own() const = 0;  // the index of this process
  virtual int count() const = 0;
  // True: each process has its own j alone, and all processes take part in each exchange.
  virtual bool has_own_j() const = 0;
  // Why each process has all j, for statistics; "": it has its own j, or the caller gives no reason.
  virtual std::string_view why_all_j() const = 0;
  // Collective. [process][number]: the numbers of all processes that take part; empty for a process that has no i, or
  // whose run has ended or failed. `mine` has as many numbers on every process. Throws DeviceError.
  virtual std::vector<std::vector<double>> exchange(const std::vector<double>& mine) = 0;
  // Collective, if each process has its own j. Sends to[process], and returns what [process] has sent to this one.
  // Throws DeviceError, or Interrupted if the run of another process has ended.
  virtual std::vector<Bytes> send(std::vector<Bytes> to) = 0;
};

// Thrown on all processes alike: each process needs all j for a run like this. The message is the reason.
struct NeedsAllJ : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nbcc
