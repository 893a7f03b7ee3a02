// Each pair of one set once, by hand: softened gravity, and gravity with its jerk, on one GPU, against kernels that
// compute each pair from both ends. The same scheme as templates/cuda/frames/cuda_symmetric.cu.in: lanes exchange their j, partial
// sums have slots of their own, and a second launch adds the slots in a fixed order.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 bench/cuda_symmetric.cu -o cuda_symmetric && ./cuda_symmetric
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#define CHECK(call)                                                             \
  do {                                                                          \
    const cudaError_t status = call;                                            \
    if (status != cudaSuccess) {                                                \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(status));       \
      std::exit(1);                                                             \
    }                                                                           \
  } while (0)

__device__ __forceinline__ float reciprocal_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Accelerations: 3 sums. add(): terms of i; add_both(): terms of i and reactions of j.
struct Acceleration {
  static constexpr int kSums = 3;
  struct Particle {
    float4 x;  // w: mass
  };
  static __device__ void add(const Particle& i, const Particle& j, float* sum, float eps2) {
    const float dx = j.x.x - i.x.x, dy = j.x.y - i.x.y, dz = j.x.z - i.x.z;
    const float r = reciprocal_root(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, eps2)))), w = (j.x.w * r) * (r * r);
    sum[0] = fmaf(w, dx, sum[0]), sum[1] = fmaf(w, dy, sum[1]), sum[2] = fmaf(w, dz, sum[2]);
  }
  static __device__ void add_both(const Particle& i, const Particle& j, float* sum, float* back, float eps2) {
    const float dx = j.x.x - i.x.x, dy = j.x.y - i.x.y, dz = j.x.z - i.x.z;
    const float r = reciprocal_root(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, eps2)))), r3 = r * r * r;
    const float w = j.x.w * r3, u = -i.x.w * r3;
    sum[0] = fmaf(w, dx, sum[0]), sum[1] = fmaf(w, dy, sum[1]), sum[2] = fmaf(w, dz, sum[2]);
    back[0] = fmaf(u, dx, back[0]), back[1] = fmaf(u, dy, back[1]), back[2] = fmaf(u, dz, back[2]);
  }
};

// Accelerations, jerks and potentials: 7 sums.
struct Jerk {
  static constexpr int kSums = 7;
  struct alignas(16) Particle {
    float4 x, v;
  };
  static __device__ void add(const Particle& i, const Particle& j, float* sum, float eps2) {
    float back[7] = {};
    terms(i, j, sum, back, eps2, false);
  }
  static __device__ void add_both(const Particle& i, const Particle& j, float* sum, float* back, float eps2) {
    terms(i, j, sum, back, eps2, true);
  }
  static __device__ void terms(const Particle& i, const Particle& j, float* sum, float* back, float eps2, bool both) {
    const float d[3] = {j.x.x - i.x.x, j.x.y - i.x.y, j.x.z - i.x.z};
    const float v[3] = {j.v.x - i.v.x, j.v.y - i.v.y, j.v.z - i.v.z};
    const float r = reciprocal_root(fmaf(d[0], d[0], fmaf(d[1], d[1], fmaf(d[2], d[2], eps2))));
    const float dv = fmaf(d[0], v[0], fmaf(d[1], v[1], d[2] * v[2])), r2 = r * r, alpha = -3.0f * dv * r2, r3 = r * r2;
    const float w = j.x.w * r3, u = -i.x.w * r3;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const float jerk = fmaf(alpha, d[k], v[k]);
      sum[k] = fmaf(w, d[k], sum[k]), sum[3 + k] = fmaf(w, jerk, sum[3 + k]);
      if (both) back[k] = fmaf(u, d[k], back[k]), back[3 + k] = fmaf(u, jerk, back[3 + k]);
    }
    sum[6] = fmaf(-j.x.w, r, sum[6]);
    if (both) back[6] = fmaf(-i.x.w, r, back[6]);
  }
};

// kRows i for each of 128 threads, tiles of 128 j, `splits` ranges of j.
template <typename Body, int kRows, int kUnroll>
__global__ void __launch_bounds__(128, 1)
    both_ends(const typename Body::Particle* __restrict__ x, float* __restrict__ slots, float eps2, int n) {
  __shared__ typename Body::Particle staged[128];
  const int first = blockIdx.x * 128 * kRows + threadIdx.x, length = n / gridDim.y;
  typename Body::Particle own[kRows];
  float sum[kRows][Body::kSums] = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r) own[r] = x[first + r * 128];
  for (int tile = blockIdx.y * length; tile < int(blockIdx.y + 1) * length; tile += 128) {
    staged[threadIdx.x] = x[tile + threadIdx.x];
    __syncthreads();
#pragma unroll kUnroll
    for (int k = 0; k < 128; ++k)
#pragma unroll
      for (int r = 0; r < kRows; ++r) Body::add(own[r], staged[k], sum[r], eps2);
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    for (int s = 0; s < Body::kSums; ++s)
      slots[(std::size_t(blockIdx.y) * Body::kSums + s) * n + first + r * 128] = sum[r][s];
}

template <typename Body, int kRows, int kWarps, int kUnroll>
__global__ void __launch_bounds__(kWarps * 32, 1)
    once(const typename Body::Particle* __restrict__ x, float* __restrict__ slots, float eps2, int n) {
  constexpr int kSection = 32 * kWarps, kTile = kSection * kRows;
  __shared__ typename Body::Particle staged[kSection];
  __shared__ float reactions[Body::kSums][kSection];
  const int tiles = gridDim.x, tile = blockIdx.x, distance = blockIdx.y, other = (tile + distance) % tiles;
  if (2 * distance == tiles && tile >= other) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = tile * kTile + warp * 32 * kRows + lane;
  typename Body::Particle own[kRows];
  float sum[kRows][Body::kSums] = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r) own[r] = x[first + r * 32];
  for (int section = 0; section < kRows; ++section) {
    const int j = other * kTile + section * kSection + threadIdx.x;
    __syncthreads();
    staged[threadIdx.x] = x[j];
    for (int s = 0; s < Body::kSums; ++s) reactions[s][threadIdx.x] = 0;
    __syncthreads();
    for (int turn = 0; turn < kWarps; ++turn) {
      const int begin = (warp + turn) % kWarps * 32;
      float back[Body::kSums] = {};
#pragma unroll kUnroll
      for (int step = 0; step < 32; ++step) {
        const typename Body::Particle q = staged[begin + (lane + step) % 32];
#pragma unroll
        for (int r = 0; r < kRows; ++r) Body::add_both(own[r], q, sum[r], back, eps2);
#pragma unroll
        for (int s = 0; s < Body::kSums; ++s) back[s] = __shfl_sync(~0u, back[s], (lane + 1) % 32);
      }
      for (int s = 0; s < Body::kSums; ++s) reactions[s][begin + lane] += back[s];
      __syncthreads();
    }
    if (tile != other)
      for (int s = 0; s < Body::kSums; ++s)
        slots[(std::size_t(tile) * Body::kSums + s) * n + j] = reactions[s][threadIdx.x];
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    for (int s = 0; s < Body::kSums; ++s)
      slots[(std::size_t(other) * Body::kSums + s) * n + first + r * 32] = sum[r][s];
}

template <int kSums>
__global__ void add_slots(const float* __restrict__ slots, float* results, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int s = 0; s < kSums; ++s) {
    double sum = 0;
#pragma unroll 8
    for (int slot = 0; slot < count; ++slot) sum += slots[(std::size_t(slot) * kSums + s) * n + i];
    results[std::size_t(s) * n + i] = float(sum);
  }
}

template <typename Run>
double median_seconds(Run run) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int round = 0; round < 10; ++round) {
    CHECK(cudaEventRecord(begin));
    run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (round > 0) times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] * 1e-3;
}

constexpr std::size_t kSlotBytes = std::size_t(4) << 30;

template <typename Body>
void measure(const char* name, int n) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<typename Body::Particle> particles(n);
  for (auto& particle : particles) {
    auto* const numbers = reinterpret_cast<float*>(&particle);
    for (std::size_t k = 0; k < sizeof particle / sizeof(float); ++k) numbers[k] = any(random);
    particle.x.w = 1.0f / float(n);
  }
  typename Body::Particle* x = nullptr;
  float *slots = nullptr, *results = nullptr;
  CHECK(cudaMalloc(&x, n * sizeof *x));
  CHECK(cudaMalloc(&slots, kSlotBytes));
  CHECK(cudaMalloc(&results, std::size_t(n) * Body::kSums * sizeof(float)));
  CHECK(cudaMemcpy(x, particles.data(), n * sizeof *x, cudaMemcpyHostToDevice));
  const float eps2 = 1e-4f;
  std::vector<float> expected(std::size_t(n) * Body::kSums), got(expected.size());
  const auto report = [&](const char* shape, double seconds, std::vector<float>& into) {
    CHECK(cudaMemcpy(into.data(), results, into.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double largest = 0, size = 0;
    for (std::size_t k = 0; k < into.size(); ++k)
      largest = std::max(largest, std::fabs(double(into[k]) - expected[k])), size = std::max(size, std::fabs(double(expected[k])));
    std::printf("%-12s %-28s N = %6d: %7.1f G/s, largest difference %.1e\n", name, shape, n,
                double(n) * n / seconds * 1e-9, largest / size);
  };
  constexpr int kSplits = 8;
  report("both ends, 4 i", median_seconds([&] {
           both_ends<Body, 4, Body::kSums == 3 ? 16 : 4><<<dim3(n / 512, kSplits), 128>>>(x, slots, eps2, n);
           add_slots<Body::kSums><<<n / 256, 256>>>(slots, results, n, kSplits);
         }),
         expected);
  const auto run_once = [&](const char* shape, auto kernel, int rows, int warps) {
    const int tiles = n / (32 * rows * warps);
    if (std::size_t(tiles) * n * Body::kSums * sizeof(float) > kSlotBytes) return;
    report(shape, median_seconds([&] {
             kernel<<<dim3(tiles, tiles / 2 + 1), warps * 32>>>(x, slots, eps2, n);
             add_slots<Body::kSums><<<n / 256, 256>>>(slots, results, n, tiles);
           }),
           got);
  };
  run_once("once, 8 i, 4 warps", once<Body, 8, 4, 4>, 8, 4);
  run_once("once, 4 i, 8 warps", once<Body, 4, 8, 4>, 4, 8);
  CHECK(cudaFree(x));
  CHECK(cudaFree(slots));
  CHECK(cudaFree(results));
}

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s\n", device.name);
  for (const int n : {131072, 262144}) {
    measure<Acceleration>("gravity_acc", n);
    measure<Jerk>("gravity_jerk", n);
  }
}
