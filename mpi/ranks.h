// The ranks of a communicator: their number and order, and the agreement that turns an error of one rank into an error
// of all.
// Tested by tests/mpi/ring_test.cpp.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace nbcc {

// A call of MPI failed. Other ranks do not learn of it, because that would take MPI.
struct MpiFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws MpiFailure with MPI's message, unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

// Runs `body`, which concerns one rank only, and returns its exception as an Error. MpiFailure is not caught.
template <typename Body>
std::optional<Error> attempt(const Body& body) {
  try {
    body();
    return std::nullopt;
  } catch (const MpiFailure&) {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return Error(NBCC_ERROR_DEVICE, "out of memory");
  } catch (const std::exception& e) {
    return Error(NBCC_ERROR_INTERNAL, std::string("internal error: ") + e.what());
  }
}

class Ranks {
 public:
  // Duplicates the communicator. Throws Error if `comm` is null or MPI is not initialised, and MpiFailure.
  explicit Ranks(MPI_Comm comm);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  MPI_Comm comm() const { return comm_; }
  int count() const { return count_; }
  int own() const { return own_; }
  int previous(int rank) const { return (rank + count_ - 1) % count_; }
  int next(int rank) const { return (rank + 1) % count_; }

  // Collective. If any rank passes an Error, all ranks throw the Error of the lowest such rank, prefixed by "rank N: ".
  // Errors of a smaller `order` precede: consequences of another rank's error come behind it.
  void agree(const std::optional<Error>& mine, int order = 0) const;
  // Collective. Returns the concatenated numbers of all ranks, rank 0 first. All ranks must pass the same count.
  std::vector<std::int64_t> gather(const std::vector<std::int64_t>& mine) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int count_ = 1, own_ = 0;
};

}  // namespace nbcc
