// GoogleTest on every rank: what one of them finds wrong is the program's failure.
#include <gtest/gtest.h>
#include <mpi.h>

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  MPI_Init(&count, &words);
  int failed = RUN_ALL_TESTS(), anywhere = 0;
  MPI_Allreduce(&failed, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return anywhere;
}
