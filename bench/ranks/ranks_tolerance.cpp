// The time, memory and traffic of sums to a tolerance over the ranks of MPI (bench/RESULTS.md).
//   mpirun -np 2 build/bin/ranks_tolerance [number of bodies] [tolerance] [runs] [sorted | periodic]
// Gravity of a Plummer sphere, single precision arrays; one thread for each rank. The particles of a rank are in random
// order, or with "sorted" by distance along x, so that they are near each other. With "periodic" potential and field of
// charges +1 and -1 at random positions in a periodic cube.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "mpi/nbcc_mpi.hpp"

namespace {

constexpr const char* kGravity = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj;
output(sum) vec3 acc; output(sum) real pot;
vec3 d = xj - xi;
real rinv = rsqrt(dot(d, d) + 1e-6);
acc += mj * d * rinv * rinv * rinv; pot += -mj * rinv;
)";

constexpr const char* kCharges = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj;
output(sum) vec3 acc; output(sum) real pot;
vec3 d = every_image(xj - xi, 1);
skip_if(self_pair);
real rinv = rsqrt(dot(d, d));
acc += mj * d * rinv * rinv * rinv; pot += mj * rinv;
)";

// In the unit cube; the same on every rank.
std::vector<float> cube(std::int64_t count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> flat(std::size_t(3 * count));
  for (float& one : flat) one = uniform(random);
  return flat;
}

// Within 10 scale radii; the same on every rank.
std::vector<float> plummer(std::int64_t count, bool sorts) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::array<float, 3>> x;
  while (std::int64_t(x.size()) < count) {
    const double r = 1 / std::sqrt(std::pow(uniform(random), -2.0 / 3) - 1);
    const double z = 2 * uniform(random) - 1, angle = 6.283185307179586 * uniform(random), s = std::sqrt(1 - z * z);
    if (r < 10) x.push_back({float(r * s * std::cos(angle)), float(r * s * std::sin(angle)), float(r * z)});
  }
  if (sorts) std::ranges::sort(x);
  std::vector<float> flat;
  for (const auto& one : x) flat.insert(flat.end(), one.begin(), one.end());
  return flat;
}

double highest_of_ranks(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

double memory_in_gb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024e-9;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t bodies = count > 1 ? std::atoll(words[1]) : 1000000;
  const double tolerance = count > 2 ? std::atof(words[2]) : 1e-3;
  const int runs = count > 3 ? std::atoi(words[3]) : 3;
  const std::string_view kind = count > 4 ? words[4] : "";
  const bool is_periodic = kind == "periodic";
  try {
    std::vector<float> x = is_periodic ? cube(bodies) : plummer(bodies, kind == "sorted");
    const std::int64_t begin = bodies * rank / ranks, own = bodies * (rank + 1) / ranks - begin;
    x = std::vector<float>(x.begin() + 3 * begin, x.begin() + 3 * (begin + own));
    std::vector<float> m(std::size_t(own), float(1.0 / double(bodies))), acc(3 * m.size()), pot(m.size());
    for (std::size_t k = 0; is_periodic && k < m.size(); ++k) m[k] = (begin + std::int64_t(k)) % 2 == 0 ? 1 : -1;
    const double before = memory_in_gb();
    nbcc::Device device("cpu", {.threads = 1});
    nbcc::MpiRing ring(MPI_COMM_WORLD, device);
    nbcc::Sum sum(nbcc::Pipeline::from_text(device, is_periodic ? kCharges : kGravity, "pairs"));
    sum.bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc).bind("pot", pot).tolerance(tolerance);
    for (int run = 0; run < runs; ++run) {
      // All particles move, so that trees are made again.
      for (float& one : x) one *= 1.0001F;
      MPI_Barrier(MPI_COMM_WORLD);
      const auto start = std::chrono::steady_clock::now();
      ring.run(sum);
      const double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const double slowest = highest_of_ranks(mine), memory = highest_of_ranks(memory_in_gb());
      const nbcc_statistics found = sum.statistics();
      if (rank == 0)
        std::printf(
            "%lld bodies, %d ranks, tolerance %g, run %d: %.2f s, %s order %d leaf %d, error %.2e, %.2f GB (%.2f "
            "before), "
            "%.1f MB received; particles %.2f tree %.2f walk %.2f up %.2f near %.2f distant %.2f down %.2f choice "
            "%.2f; rank 0: %s\n",
            static_cast<long long>(bodies), ranks, tolerance, run + 1, slowest, found.method, found.order, found.leaf,
            found.error, memory, before, 1e-6 * double(nbcc_mpi_ring_bytes(ring.get())), found.seconds_particles,
            found.seconds_tree, found.seconds_walk, found.seconds_up, found.seconds_near, found.seconds_distant,
            found.seconds_down, found.seconds_first, found.reason);
      std::fflush(stdout);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
