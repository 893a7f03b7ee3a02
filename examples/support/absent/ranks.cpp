// In place of mpi/ranks.cpp where programs are built without MPI.
#include "examples/support/ranks.h"

#include "examples/support/failure.h"

namespace examples {

std::unique_ptr<Ranks> ranks_of_mpi(const nbcc::Device&) {
  throw Missing("built without --mpi: it needs an MPI for C, as libopenmpi-dev");
}

}  // namespace examples
