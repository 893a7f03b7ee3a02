// The ranks of a communicator: who they are, and how what went wrong on one of them becomes an error on all.
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

// A call of MPI failed. Other ranks cannot be told, since that takes MPI.
struct MpiFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws MpiFailure with MPI's own words.
void check_mpi(int code, const char* call);

// What one rank does by itself -> how it failed, if it did. A failure of MPI goes on to the caller.
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
  // Of a duplicate of the communicator. Throws Error where there is none, MpiFailure.
  explicit Ranks(MPI_Comm comm);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  MPI_Comm comm() const { return comm_; }
  int count() const { return count_; }
  int own() const { return own_; }
  int before(int rank) const { return (rank + count_ - 1) % count_; }
  int behind(int rank) const { return (rank + 1) % count_; }

  // Collective. Throws on all ranks, where any has failed, the Error of the lowest of these, with its number in front.
  void agree(const std::optional<Error>& mine) const;
  // Collective. The numbers of all ranks, those of rank 0 first; each has as many.
  std::vector<std::int64_t> gather(const std::vector<std::int64_t>& mine) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int count_ = 1, own_ = 0;
};

}  // namespace nbcc
