// The rank of this process, and the number of ranks, for tests under MPI.
#pragma once
#include <mpi.h>

namespace nbcc::test {

inline int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int rank_count() {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

}  // namespace nbcc::test
