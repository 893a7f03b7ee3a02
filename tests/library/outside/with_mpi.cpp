// Each rank has one of two bodies, and both are pulled by both.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <nbcc/nbcc_mpi.hpp>
#include <vector>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, failed = 0, anywhere = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    const nbcc::Device device("cpu");
    nbcc::MpiRing ring(MPI_COMM_WORLD, device);
    nbcc::Sum sum(nbcc::Pipeline::from_file(device, GRAVITY));
    std::vector<double> x = {rank == 0 ? 0.5 : -0.5, 0, 0}, m = {0.5}, acc(3);
    sum.bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc).ignore("pot").set("eps2", 1e-8);
    ring.run(sum);
    failed = !(std::abs(acc[0] - (rank == 0 ? -0.5 : 0.5)) < 1e-6);
    if (failed) std::printf("rank %d: %.9g\n", rank, acc[0]);
  }
  MPI_Allreduce(&failed, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return anywhere;
}
