// Softened gravity, accelerations only, single precision.
//
// A block holds THREADS * R i-particles in registers and passes over its part of the j-particles, TILE at a time through
// shared memory; add_parts.cu adds the parts. BLOCKED: the terms of a tile are summed by themselves first.
// i, j: position, mass. Params: eps2. nj is a multiple of TILE.
struct Params {
  double value[8];
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    interact(const float4* __restrict__ xi, const float4* __restrict__ xj, float4* __restrict__ out, int ni, int nj,
             const Params p) {
  __shared__ float4 tile[TILE];
  const float eps2 = (float)p.value[0];
  const int first = blockIdx.x * THREADS * R + threadIdx.x;
  float x[R], y[R], z[R], ax[R], ay[R], az[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const float4 own = xi[min(first + r * THREADS, ni - 1)];
    x[r] = own.x, y[r] = own.y, z[r] = own.z;
    ax[r] = ay[r] = az[r] = 0;
  }
  const int tiles = nj / TILE;
  const int end = tiles * (blockIdx.y + 1) / gridDim.y;
  for (int t = tiles * blockIdx.y / gridDim.y; t < end; ++t) {
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += THREADS) tile[k] = xj[t * TILE + k];
    __syncthreads();
    float bx[R], by[R], bz[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      bx[r] = BLOCKED ? 0 : ax[r];
      by[r] = BLOCKED ? 0 : ay[r];
      bz[r] = BLOCKED ? 0 : az[r];
    }
#pragma unroll UNROLL
    for (int k = 0; k < TILE; ++k) {
      const float4 j = tile[k];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const float dx = j.x - x[r], dy = j.y - y[r], dz = j.z - z[r];
        const float ri = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, eps2))));
        const float s = (j.w * ri) * (ri * ri);
        bx[r] = fmaf(s, dx, bx[r]);
        by[r] = fmaf(s, dy, by[r]);
        bz[r] = fmaf(s, dz, bz[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      ax[r] = BLOCKED ? ax[r] + bx[r] : bx[r];
      ay[r] = BLOCKED ? ay[r] + by[r] : by[r];
      az[r] = BLOCKED ? az[r] + bz[r] : bz[r];
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = first + r * THREADS;
    if (i < ni) out[(size_t)blockIdx.y * ni + i] = make_float4(ax[r], ay[r], az[r], 0);
  }
}
