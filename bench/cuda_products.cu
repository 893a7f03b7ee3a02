// Gaussian sums of points with many coordinates by matrix instructions, by hand, on one GPU: the yardstick of
// templates/cuda/frames/cuda_products.cu.in, whose scheme it has (mma.sync m16n8k16 of halves, sums in single
// precision).
//
//   s_i = sum over j of w_j exp(-|x_i - y_j|^2 / 2)
//
//   nvcc -O3 -std=c++17 -arch=sm_90 bench/cuda_products.cu -o cuda_products && ./cuda_products
//
// Prints for each number of coordinates, launch configuration and number of halves of an element the least time of five
// runs, packing included, and the rms relative error of 64 sums.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <type_traits>
#include <vector>

#define CHECK(x)                                     \
  do {                                               \
    cudaError_t e = (x);                             \
    if (e != cudaSuccess) {                          \
      printf("%s: %s\n", #x, cudaGetErrorString(e)); \
      exit(1);                                       \
    }                                                \
  } while (0)

constexpr int kSample = 32;
// One warp a particle: subtract the centre, scale by a power of two, split into two halves.
__global__ void pack(const float* x, const float* y, int n, int m, int D, int Dp, __half* xh, __half* yh, float2* xf,
                     float2* yf, int split) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  extern __shared__ float centre[];
  for (int k = threadIdx.x; k < D; k += blockDim.x) {
    float s = 0;
    for (int q = 0; q < kSample; ++q) s += y[(size_t)(q * (long long)m / kSample) * D + k];
    centre[k] = s / kSample;
  }
  __syncthreads();
  if (warp >= n + m) return;
  const bool of_i = warp < n;
  const int p = of_i ? warp : warp - n;
  const float* from = (of_i ? x : y) + (size_t)p * D;
  float norm = 0, most = 0;
  for (int k = lane; k < D; k += 32) {
    float v = from[k] - centre[k];
    norm = fmaf(v, v, norm);
    most = fmaxf(most, fabsf(v));
  }
  for (int o = 16; o; o /= 2) norm += __shfl_xor_sync(~0u, norm, o), most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  int e = most > 0 ? ilogbf(most) : 0;
  const float up = ldexpf(1.f, 14 - e), down = ldexpf(1.f, e - 14);
  __half* to = (of_i ? xh : yh) + (size_t)p * Dp * (split ? 2 : 1);
  for (int k = lane; k < Dp; k += 32) {
    float v = k < D ? (from[k] - centre[k]) * up : 0.f;
    __half h = __float2half_rn(v);
    to[k] = h;
    if (split) to[k + Dp] = __float2half_rn(v - __half2float(h));
  }
  if (lane == 0) (of_i ? xf : yf)[p] = make_float2(norm, down);
}

__device__ __forceinline__ void ldm4(unsigned (&r)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
}
__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void cpasync(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

template <int WI, int WJ, int MF, int NF, int SPLIT, int KC, int STAGES, int MINB>
struct Shape {
  static constexpr int threads = WI * WJ * 32, BI = WI * MF * 16, BJ = WJ * NF * 8, P = KC + 8;  // pitch in halves
  static constexpr int words = SPLIT ? 2 : 1;
  static constexpr int a_chunk = BI * P * 2 * words, b_chunk = BJ * P * 2 * words;
};

template <int WI, int WJ, int MF, int NF, int SPLIT, int KC, int STAGES, int MINB, int RESIDENT>
__global__ void __launch_bounds__(WI* WJ * 32, MINB)
    gauss(const __half* __restrict__ xh, const __half* __restrict__ yh, const float2* xf, const float2* yf,
          const float* w, int n, int m, int Dp, float* partial) {
  using S = Shape<WI, WJ, MF, NF, SPLIT, KC, STAGES, MINB>;
  extern __shared__ __align__(16) char smem[];
  __shared__ float4 staged[2][S::BJ];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wi = warp / WJ, wj = warp % WJ;
  const int chunks = Dp / KC;
  const unsigned base = (unsigned)__cvta_generic_to_shared(smem);
  const unsigned a_base = base, b_base = base + (RESIDENT ? chunks : STAGES) * S::a_chunk;
  const int tiles = (m + S::BJ - 1) / S::BJ;
  const int t0 = (long long)tiles * blockIdx.y / gridDim.y, t1 = (long long)tiles * (blockIdx.y + 1) / gridDim.y;
  const int steps = (t1 - t0) * chunks;
  constexpr int U = KC / 8;  // 16-byte units of a row
  auto load_rows = [&](unsigned to, const __half* from, int first, int rows, int limit, int chunk) {
    for (int q = threadIdx.x; q < rows * U * S::words; q += S::threads) {
      int u = q % U, row = q / U % rows, part = q / U / rows;
      int p = min(first + row, limit - 1);
      cpasync(to + ((part * rows + row) * S::P + u * 8) * 2,
              from + ((size_t)p * S::words + part) * Dp + chunk * KC + u * 8);
    }
  };
  auto issue = [&](int step) {
    if (step < steps) {
      int tile = t0 + step / chunks, chunk = step % chunks;
      if (!RESIDENT) load_rows(a_base + step % STAGES * S::a_chunk, xh, blockIdx.x * S::BI, S::BI, n, chunk);
      load_rows(b_base + step % STAGES * S::b_chunk, yh, tile * S::BJ, S::BJ, m, chunk);
    }
    asm volatile("cp.async.commit_group;");
  };
  if (RESIDENT)
    for (int c = 0; c < chunks; ++c) load_rows(a_base + c * S::a_chunk, xh, blockIdx.x * S::BI, S::BI, n, c);
  for (int s = 0; s < STAGES - 1; ++s) issue(s);
  float nx[MF][2], fx[MF][2];
  float hi[MF][2] = {}, lo[MF][2] = {};
#pragma unroll
  for (int f = 0; f < MF; ++f)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int i = min(blockIdx.x * S::BI + wi * MF * 16 + f * 16 + h * 8 + lane / 4, n - 1);
      nx[f][h] = xf[i].x, fx[f][h] = 2 * xf[i].y;
    }
  constexpr float scale = -0.5f * 1.44269504f;
  int step = 0;
  for (int tile = t0; tile < t1; ++tile) {
    float acc[MF][NF][4] = {};
    float4* const st = staged[tile & 1];
    for (int k = threadIdx.x; k < S::BJ; k += S::threads) {
      int j = tile * S::BJ + k;
      float2 f = yf[min(j, m - 1)];
      st[k] = make_float4(f.x, f.y, j < m ? w[j] : 0.f, 0.f);
    }
    for (int c = 0; c < chunks; ++c, ++step) {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
      __syncthreads();
      issue(step + STAGES - 1);
      const unsigned a_at = a_base + (RESIDENT ? c : step % STAGES) * S::a_chunk,
                     b_at = b_base + step % STAGES * S::b_chunk;
      // A: lanes 0-15 rows, 16-31 the next 8 columns. B: two n8 fragments a load.
      const unsigned a_row = a_at + ((wi * MF * 16 + lane % 16) * S::P + lane / 16 * 8) * 2;
      const unsigned b_row = b_at + ((wj * NF * 8 + lane % 8 + lane / 16 * 8) * S::P + lane / 8 % 2 * 8) * 2;
#pragma unroll
      for (int k = 0; k < KC; k += 16) {
        unsigned a[MF][4], al[SPLIT ? MF : 1][4];
#pragma unroll
        for (int f = 0; f < MF; ++f) {
          ldm4(a[f], a_row + (f * 16 * S::P + k) * 2);
          if (SPLIT) ldm4(al[f], a_row + ((S::BI + f * 16) * S::P + k) * 2);
        }
#pragma unroll
        for (int g = 0; g < NF; g += 2) {
          unsigned b[4], bl[4];
          ldm4(b, b_row + (g * 8 * S::P + k) * 2);
          if (SPLIT) ldm4(bl, b_row + ((S::BJ + g * 8) * S::P + k) * 2);
#pragma unroll
          for (int f = 0; f < MF; ++f)
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              if (SPLIT) {
                mma(acc[f][g + e], al[f], b[2 * e], b[2 * e + 1]);
                mma(acc[f][g + e], a[f], bl[2 * e], bl[2 * e + 1]);
              }
              mma(acc[f][g + e], a[f], b[2 * e], b[2 * e + 1]);
            }
        }
      }
    }
    float part[MF][2] = {};
#pragma unroll
    for (int g = 0; g < NF; ++g)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float4 s = st[wj * NF * 8 + g * 8 + lane % 4 * 2 + e];
#pragma unroll
        for (int f = 0; f < MF; ++f)
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            float d2 = fmaf(-acc[f][g][2 * h + e] * fx[f][h], s.y, nx[f][h] + s.x);
            d2 = fmaxf(d2, 0.f) * scale;
            float x;
            asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(d2));
            part[f][h] = fmaf(x, s.z, part[f][h]);
          }
      }
#pragma unroll
    for (int f = 0; f < MF; ++f)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float next = hi[f][h] + part[f][h], taken = next - hi[f][h];
        lo[f][h] += (hi[f][h] - (next - taken)) + (part[f][h] - taken);
        hi[f][h] = next;
      }
  }
#pragma unroll
  for (int f = 0; f < MF; ++f)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float s = hi[f][h] + lo[f][h];
      s += __shfl_xor_sync(~0u, s, 1);
      s += __shfl_xor_sync(~0u, s, 2);
      int i = blockIdx.x * S::BI + wi * MF * 16 + f * 16 + h * 8 + lane / 4;
      if (lane % 4 == 0 && i < n) atomicAdd(partial + i, s);
    }
}

struct Data {
  int n, D;
  std::vector<float> x, y, w;
  std::vector<double> exact;  // of the first kCheck i
  float *dx, *dy, *dw, *out;
};
constexpr int kCheck = 64;

template <int WI, int WJ, int MF, int NF, int SPLIT, int KC, int STAGES, int MINB>
void time_it(Data& d, const char* name) {
  using S = Shape<WI, WJ, MF, NF, SPLIT, KC, STAGES, MINB>;
  const int Dp = (d.D + KC - 1) / KC * KC, chunks = Dp / KC;
  __half *xh, *yh;
  float2 *xf, *yf;
  CHECK(cudaMalloc(&xh, (size_t)d.n * Dp * 2 * S::words));
  CHECK(cudaMalloc(&yh, (size_t)d.n * Dp * 2 * S::words));
  CHECK(cudaMalloc(&xf, d.n * 8));
  CHECK(cudaMalloc(&yf, d.n * 8));
  auto run_one = [&](auto resident) {
    constexpr int R = decltype(resident)::value;
    size_t bytes = (size_t)(R ? chunks : STAGES) * S::a_chunk + STAGES * S::b_chunk;
    if (bytes > 200 * 1024) return;
    auto kernel = gauss<WI, WJ, MF, NF, SPLIT, KC, STAGES, MINB, R>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, S::threads, bytes);
    cudaFuncAttributes at;
    cudaFuncGetAttributes(&at, kernel);
    float best = 1e9;
    int best_split = 0;
    double err = 0;
    for (int splits : {1, 2, 4, 6, 8}) {
      dim3 grid((d.n + S::BI - 1) / S::BI, splits);
      auto run = [&] {
        cudaMemsetAsync(d.out, 0, d.n * 4);
        pack<<<(2 * d.n + 7) / 8, 256, d.D * 4>>>(d.dx, d.dy, d.n, d.n, d.D, Dp, xh, yh, xf, yf, SPLIT);
        kernel<<<grid, S::threads, bytes>>>(xh, yh, xf, yf, d.dw, d.n, d.n, Dp, d.out);
      };
      cudaEvent_t b, e;
      cudaEventCreate(&b);
      cudaEventCreate(&e);
      run();
      CHECK(cudaDeviceSynchronize());
      for (int r = 0; r < 5; ++r) {
        cudaEventRecord(b);
        run();
        cudaEventRecord(e);
        CHECK(cudaDeviceSynchronize());
        float ms;
        cudaEventElapsedTime(&ms, b, e);
        if (ms < best) best = ms, best_split = splits;
      }
      std::vector<float> got(d.n);
      cudaMemcpy(got.data(), d.out, d.n * 4, cudaMemcpyDeviceToHost);
      double s = 0;
      for (int i = 0; i < kCheck; ++i) s += pow(got[i] / d.exact[i] - 1, 2);
      err = sqrt(s / kCheck);
    }
    printf(
        "D %4d %-22s resident %d split %d: %7.3f ms (j splits %d) blocks/SM %d regs %d spill %zu smem %zu KB error "
        "%.1e\n",
        d.D, name, R, SPLIT, best, best_split, blocks, at.numRegs, at.localSizeBytes, bytes / 1024, err);
  };
  run_one(std::integral_constant<int, 0>{});
  run_one(std::integral_constant<int, 1>{});
  cudaFree(xh);
  cudaFree(yh);
  cudaFree(xf);
  cudaFree(yf);
}
#define T(...) time_it<__VA_ARGS__>(d, #__VA_ARGS__)
int main() {
  for (int D : {64, 200, 784}) {
    Data d{16384, D};
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 1);
    d.x.resize((size_t)d.n * D);
    d.y = d.x;
    d.w.resize(d.n);
    for (auto& v : d.x) v = normal(random) / sqrtf(D);
    for (auto& v : d.y) v = normal(random) / sqrtf(D);
    for (auto& v : d.w) v = std::uniform_real_distribution<float>()(random);
    for (int i = 0; i < kCheck; ++i) {
      double s = 0;
      for (int j = 0; j < d.n; ++j) {
        double r = 0;
        for (int k = 0; k < D; ++k) r += pow((double)d.x[i * D + k] - d.y[(size_t)j * D + k], 2);
        s += d.w[j] * exp(-r / 2);
      }
      d.exact.push_back(s);
    }
    CHECK(cudaMalloc(&d.dx, d.x.size() * 4));
    CHECK(cudaMalloc(&d.dy, d.x.size() * 4));
    CHECK(cudaMalloc(&d.dw, d.n * 4));
    CHECK(cudaMalloc(&d.out, d.n * 4));
    cudaMemcpy(d.dx, d.x.data(), d.x.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d.dy, d.y.data(), d.x.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d.dw, d.w.data(), d.n * 4, cudaMemcpyHostToDevice);
    // Warps along i and j, fragments of a warp along i and j, two halves, elements of a chunk, stages, blocks of a
    // multiprocessor.
    T(4, 2, 2, 8, 0, 32, 3, 2);
    T(2, 2, 4, 8, 0, 64, 2, 2);
    T(2, 4, 4, 4, 0, 64, 2, 2);
    T(4, 2, 2, 8, 1, 32, 2, 2);
    T(2, 2, 4, 8, 1, 32, 2, 2);
  }
}
