// In place of mpi/ranks.cpp where the program is built without MPI.
#include "examples/nbody/ranks.h"

#include "examples/support/failure.h"

namespace examples {

std::unique_ptr<Ranks> ranks_of_mpi() {
  throw Missing("built without --mpi: it needs an MPI for C, as libopenmpi-dev");
}

}  // namespace examples
