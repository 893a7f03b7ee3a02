// Gravity, its time derivative and the potential, single precision. Blocks, tiles and parts as in gravity.cu.
//
// TEST_SAME_PLACE: a pair in one place adds nothing, whoever it is, as gravity_jerk.pipe has it. Otherwise only the
// particle itself is taken for one, and its potential is taken off at the end: softening must not be 0 then.
// i, j: position, mass, velocity, 0. Params: eps2.
struct Params {
  double value[8];
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    interact(const float4* __restrict__ xi, const float4* __restrict__ xj, float4* __restrict__ out, int ni, int nj,
             const Params p) {
  __shared__ float4 tile[TILE], tile_v[TILE];
  const float eps2 = (float)p.value[0];
  const int first = blockIdx.x * THREADS * R + threadIdx.x;
  float x[R], y[R], z[R], vx[R], vy[R], vz[R];
  float ax[R], ay[R], az[R], jx[R], jy[R], jz[R], pot[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = min(first + r * THREADS, ni - 1);
    const float4 own = xi[2 * i], own_v = xi[2 * i + 1];
    x[r] = own.x, y[r] = own.y, z[r] = own.z;
    vx[r] = own_v.x, vy[r] = own_v.y, vz[r] = own_v.z;
    ax[r] = ay[r] = az[r] = jx[r] = jy[r] = jz[r] = 0;
    pot[r] = !TEST_SAME_PLACE && blockIdx.y == 0 ? own.w * rsqrtf(eps2) : 0;
  }
  const int tiles = nj / TILE;
  const int end = tiles * (blockIdx.y + 1) / gridDim.y;
  for (int t = tiles * blockIdx.y / gridDim.y; t < end; ++t) {
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
      tile[k] = xj[2 * (t * TILE + k)];
      tile_v[k] = xj[2 * (t * TILE + k) + 1];
    }
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < TILE; ++k) {
      const float4 j = tile[k], jv = tile_v[k];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const float dx = j.x - x[r], dy = j.y - y[r], dz = j.z - z[r];
        const float ux = jv.x - vx[r], uy = jv.y - vy[r], uz = jv.z - vz[r];
        const float rv = fmaf(dx, ux, fmaf(dy, uy, dz * uz));
#if TEST_SAME_PLACE
        const float d2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
        const float ri = d2 == 0 ? 0 : rsqrtf(d2 + eps2);
#else
        const float ri = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, eps2))));
#endif
        const float ri2 = ri * ri, mr = j.w * ri, s = mr * ri2, alpha = (-3.0f * rv) * ri2;
        pot[r] -= mr;
        ax[r] = fmaf(s, dx, ax[r]);
        ay[r] = fmaf(s, dy, ay[r]);
        az[r] = fmaf(s, dz, az[r]);
        jx[r] = fmaf(s, fmaf(alpha, dx, ux), jx[r]);
        jy[r] = fmaf(s, fmaf(alpha, dy, uy), jy[r]);
        jz[r] = fmaf(s, fmaf(alpha, dz, uz), jz[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = first + r * THREADS;
    if (i >= ni) continue;
    float4* const row = out + 2 * ((size_t)blockIdx.y * ni + i);
    row[0] = make_float4(ax[r], ay[r], az[r], jx[r]);
    row[1] = make_float4(jy[r], jz[r], pot[r], 0);
  }
}
