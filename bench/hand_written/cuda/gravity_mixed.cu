// Softened gravity, accelerations only, mixed precision: differences of two-float positions, the rest in float, sums of
// a tile in float, of all tiles in double. Blocks, tiles and parts as in gravity.cu.
// i, j: upper parts of the position, mass, lower parts, 0. Params: eps2.
struct Params {
  double value[8];
};
struct __align__(32) Quad {
  double x, y, z, w;
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    interact(const float4* __restrict__ xi, const float4* __restrict__ xj, Quad* __restrict__ out, int ni, int nj,
             const Params p) {
  __shared__ float4 high[TILE], low[TILE];
  const float eps2 = (float)p.value[0];
  const int first = blockIdx.x * THREADS * R + threadIdx.x;
  float x[R], y[R], z[R], lx[R], ly[R], lz[R];
  double ax[R], ay[R], az[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = min(first + r * THREADS, ni - 1);
    const float4 own = xi[2 * i], own_low = xi[2 * i + 1];
    x[r] = own.x, y[r] = own.y, z[r] = own.z;
    lx[r] = own_low.x, ly[r] = own_low.y, lz[r] = own_low.z;
    ax[r] = ay[r] = az[r] = 0;
  }
  const int tiles = nj / TILE;
  const int end = tiles * (blockIdx.y + 1) / gridDim.y;
  for (int t = tiles * blockIdx.y / gridDim.y; t < end; ++t) {
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
      high[k] = xj[2 * (t * TILE + k)];
      low[k] = xj[2 * (t * TILE + k) + 1];
    }
    __syncthreads();
    float bx[R] = {}, by[R] = {}, bz[R] = {};
#pragma unroll UNROLL
    for (int k = 0; k < TILE; ++k) {
      const float4 j = high[k], l = low[k];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const float dx = (j.x - x[r]) + (l.x - lx[r]), dy = (j.y - y[r]) + (l.y - ly[r]),
                    dz = (j.z - z[r]) + (l.z - lz[r]);
        const float ri = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, eps2))));
        const float s = (j.w * ri) * (ri * ri);
        bx[r] = fmaf(s, dx, bx[r]);
        by[r] = fmaf(s, dy, by[r]);
        bz[r] = fmaf(s, dz, bz[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) ax[r] += bx[r], ay[r] += by[r], az[r] += bz[r];
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = first + r * THREADS;
    if (i < ni) out[(size_t)blockIdx.y * ni + i] = Quad{ax[r], ay[r], az[r], 0};
  }
}
