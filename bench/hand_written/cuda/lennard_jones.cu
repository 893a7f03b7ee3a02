// Lennard-Jones force, energy and virial with a cutoff in a periodic box, single precision. Blocks, tiles and parts as
// in gravity.cu.
//
// Every pair's distance is formed, few pairs are within the cutoff. BY_LIST: the sign of r^2 - rc^2 is shifted into a
// word for 32 j-particles, whose set bits are worked off afterwards: lanes of a warp that meet different particles then
// work at the same time. Otherwise the GROUP pairs of a j-particle group are tested together, and worked off one by one.
// Particles may stand anywhere, as with the generated kernel. With all of them within the box, which IN_BOX takes for
// granted, |d| < box and the nearest image is |d| or box - |d| away, in half of the instructions.
// i, j: position, 0. Params: sigma, eps, rc, shift, box.
struct Params {
  double value[8];
};

struct Sums {
  float fx, fy, fz, energy, virial;
};

struct Liquid {
  float bx, by, bz, per_x, per_y, per_z, cutoff2, sigma2, shift;
};

#if IN_BOX
static __device__ __forceinline__ float nearest(float d, float box, float) { return fminf(fabsf(d), box - fabsf(d)); }
#else
// Adding and taking off 1.5 2^23 rounds to a whole number.
static __device__ __forceinline__ float nearest(float d, float box, float per_box) {
  return fmaf(-box, __fadd_rn(__fmaf_rn(d, per_box, 12582912.0f), -12582912.0f), d);
}
#endif

// r^2 - rc^2: below 0 within the cutoff.
static __device__ __forceinline__ float excess(const Liquid& q, float4 j, float x, float y, float z) {
  const float dx = nearest(j.x - x, q.bx, q.per_x), dy = nearest(j.y - y, q.by, q.per_y),
              dz = nearest(j.z - z, q.bz, q.per_z);
  return fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, -q.cutoff2)));
}

static __device__ __forceinline__ void add(const Liquid& q, float4 j, float x, float y, float z, Sums& sum) {
  float dx = j.x - x, dy = j.y - y, dz = j.z - z;
  dx = fmaf(-q.bx, rintf(dx * q.per_x), dx);
  dy = fmaf(-q.by, rintf(dy * q.per_y), dy);
  dz = fmaf(-q.bz, rintf(dz * q.per_z), dz);
  const float per_r2 = 1 / fmaf(dx, dx, fmaf(dy, dy, dz * dz));
  const float s2 = q.sigma2 * per_r2, s6 = s2 * s2 * s2;
  const float w = s6 * fmaf(2.0f, s6, -1.0f), f = w * per_r2;
  sum.fx = fmaf(f, dx, sum.fx);
  sum.fy = fmaf(f, dy, sum.fy);
  sum.fz = fmaf(f, dz, sum.fz);
  sum.energy += fmaf(s6, s6, -s6) - q.shift;
  sum.virial += w;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    interact(const float4* __restrict__ xi, const float4* __restrict__ xj, float4* __restrict__ out, int ni, int nj,
             const Params p) {
  __shared__ float4 tile[TILE];
  const float sigma = (float)p.value[0], eps = (float)p.value[1], rc = (float)p.value[2];
  const float sc2 = sigma * sigma / (rc * rc), sc6 = sc2 * sc2 * sc2;
  const float bx = (float)p.value[4], by = (float)p.value[5], bz = (float)p.value[6];
  const Liquid q{bx, by, bz, 1 / bx, 1 / by, 1 / bz, rc * rc, sigma * sigma, (float)p.value[3] * sc6 * (sc6 - 1)};
  const int first = blockIdx.x * THREADS * R + threadIdx.x;
  float x[R], y[R], z[R];
  Sums sum[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const float4 own = xi[min(first + r * THREADS, ni - 1)];
    x[r] = own.x, y[r] = own.y, z[r] = own.z;
    sum[r] = Sums{0, 0, 0, 0, 0};
  }
  const int tiles = nj / TILE;
  const int end = tiles * (blockIdx.y + 1) / gridDim.y;
  for (int t = tiles * blockIdx.y / gridDim.y; t < end; ++t) {
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += THREADS) tile[k] = xj[t * TILE + k];
    __syncthreads();
#if BY_LIST
#pragma unroll 1
    for (int base = 0; base < TILE; base += 32) {
      unsigned hits[R] = {};  // the highest bit stands for the first of the 32
#pragma unroll UNROLL
      for (int k = 0; k < 32; ++k) {
        const float4 j = tile[base + k];
#pragma unroll
        for (int r = 0; r < R; ++r)
          hits[r] = __funnelshift_l(__float_as_uint(excess(q, j, x[r], y[r], z[r])), hits[r], 1);
      }
#pragma unroll
      for (int r = 0; r < R; ++r) {
        while (hits[r] != 0) {
          const int k = __clz(hits[r]);
          hits[r] &= ~(0x80000000u >> k);
          if (t * TILE + base + k != first + r * THREADS) add(q, tile[base + k], x[r], y[r], z[r], sum[r]);
        }
      }
    }
#else
#pragma unroll UNROLL
    for (int base = 0; base < TILE; base += GROUP) {
      float over[GROUP][R];
      bool any = false;
#pragma unroll
      for (int k = 0; k < GROUP; ++k) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
          over[k][r] = excess(q, tile[base + k], x[r], y[r], z[r]);
          any |= over[k][r] < 0;
        }
      }
      if (!any) continue;
#pragma unroll
      for (int k = 0; k < GROUP; ++k) {
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (over[k][r] < 0 && t * TILE + base + k != first + r * THREADS)
            add(q, tile[base + k], x[r], y[r], z[r], sum[r]);
      }
    }
#endif
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = first + r * THREADS;
    if (i >= ni) continue;
    const float f = -24 * eps;
    float4* const row = out + 2 * ((size_t)blockIdx.y * ni + i);
    row[0] = make_float4(f * sum[r].fx, f * sum[r].fy, f * sum[r].fz, 2 * eps * sum[r].energy);
    row[1] = make_float4(12 * eps * sum[r].virial, 0, 0, 0);
  }
}
