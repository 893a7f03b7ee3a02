// Softened gravity, accelerations only, double precision. Blocks, tiles and parts as in gravity.cu.
//
// ROOT 0: the library's rsqrt. 1: the hardware's estimate of float, 2: that of double (its upper half); both refined by
// one step of third order, which leaves the rounding of double.
// i, j: position, mass. Params: eps2.
struct Params {
  double value[8];
};
struct __align__(32) Quad {
  double x, y, z, w;
};

static __device__ __forceinline__ double per_root(double x) {
#if ROOT == 0
  return rsqrt(x);
#else
#if ROOT == 1
  const double y = (double)rsqrtf((float)x);
#else
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
#endif
  const double e = fma(-x * y, y, 1.0);
  return fma(y * e, fma(0.375, e, 0.5), y);
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    interact(const Quad* __restrict__ xi, const Quad* __restrict__ xj, Quad* __restrict__ out, int ni, int nj,
             const Params p) {
  __shared__ Quad tile[TILE];
  const double eps2 = p.value[0];
  const int first = blockIdx.x * THREADS * R + threadIdx.x;
  double x[R], y[R], z[R], ax[R], ay[R], az[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const Quad own = xi[min(first + r * THREADS, ni - 1)];
    x[r] = own.x, y[r] = own.y, z[r] = own.z;
    ax[r] = ay[r] = az[r] = 0;
  }
  const int tiles = nj / TILE;
  const int end = tiles * (blockIdx.y + 1) / gridDim.y;
  for (int t = tiles * blockIdx.y / gridDim.y; t < end; ++t) {
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += THREADS) tile[k] = xj[t * TILE + k];
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < TILE; ++k) {
      const Quad j = tile[k];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const double dx = j.x - x[r], dy = j.y - y[r], dz = j.z - z[r];
        const double ri = per_root(fma(dx, dx, fma(dy, dy, fma(dz, dz, eps2))));
        const double s = (j.w * ri) * (ri * ri);
        ax[r] = fma(s, dx, ax[r]);
        ay[r] = fma(s, dy, ay[r]);
        az[r] = fma(s, dz, az[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = first + r * THREADS;
    if (i < ni) out[(size_t)blockIdx.y * ni + i] = Quad{ax[r], ay[r], az[r], 0};
  }
}
