// SPH momentum and energy equations with the signal velocity, single precision. Blocks, tiles and parts as in
// gravity.cu, hits as in lennard_jones.cu.
//
// What one particle decides alone comes with it: the squared reach 4 h^2, 1/h, the kernel's norm 3/(pi h^4),
// P/(omega rho^2). Until a pair is within reach only places and reaches are looked at; the rest of i is read anew then.
// i, j: position, reach^2; velocity, h/2; 1/h, norm, P/(omega rho^2), c; rho, mass, 0, 0. Params: alpha, beta.
struct Params {
  double value[8];
};

struct Sums {
  float ax, ay, az, heat, signal;
};

// dW/dr over r without 1/r and the norm.
static __device__ __forceinline__ float slope(float q) {
  const float inner = fmaxf(1 - q, 0.0f), outer = fmaxf(fmaf(-0.5f, q, 1.0f), 0.0f);
  return fmaf(inner, inner, -outer * outer);
}

// r^2 less the square of the larger reach: below 0 within it.
static __device__ __forceinline__ float excess(float4 i, float4 j) {
  const float dx = i.x - j.x, dy = i.y - j.y, dz = i.z - j.z;
  return fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, -fmaxf(i.w, j.w))));
}

static __device__ __forceinline__ void add(float half_alpha, float beta, float4 i, const float4* __restrict__ i_rest,
                                           const float4* j, int tile, Sums& sum) {
  const float4 iv = i_rest[1], ik = i_rest[2], is = i_rest[3];
  const float4 jx = j[0], jv = j[tile], jk = j[2 * tile], js = j[3 * tile];
  const float dx = i.x - jx.x, dy = i.y - jx.y, dz = i.z - jx.z;
  const float r2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
  const float ri = r2 > 0 ? rsqrtf(r2) : 0, r = r2 * ri;
  const float fi = slope(r * ik.x) * (ik.y * ri), fj = slope(r * jk.x) * (jk.y * ri);
  const float vx = fmaf(iv.x - jv.x, dx, fmaf(iv.y - jv.y, dy, (iv.z - jv.z) * dz)), approach = fminf(vx, 0.0f);
  const float h = iv.w + jv.w, c = ik.w + jk.w;
  const float mu = h * approach / fmaf(0.01f * h, h, r2);
  const float visc = mu * fmaf(beta, mu, -half_alpha * c) / (is.x + js.x) * (fi + fj);
  const float push_i = ik.z * fi, pull = js.y * (fmaf(jk.z, fj, push_i) + visc);
  sum.ax = fmaf(-pull, dx, sum.ax);
  sum.ay = fmaf(-pull, dy, sum.ay);
  sum.az = fmaf(-pull, dz, sum.az);
  sum.heat = fmaf(js.y * fmaf(0.5f, visc, push_i), vx, sum.heat);
  sum.signal = fmaxf(sum.signal, fmaf(-3 * approach, ri, c));
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    interact(const float4* __restrict__ xi, const float4* __restrict__ xj, float4* __restrict__ out, int ni, int nj,
             const Params p) {
  __shared__ float4 tile[4][TILE];
  const float half_alpha = 0.5f * (float)p.value[0], beta = (float)p.value[1];
  const int first = blockIdx.x * THREADS * R + threadIdx.x;
  float4 own[R];
  const float4* rest[R];
  Sums sum[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    rest[r] = xi + 4 * min(first + r * THREADS, ni - 1);
    own[r] = rest[r][0];
    sum[r] = Sums{0, 0, 0, 0, -__int_as_float(0x7f800000)};
  }
  const int tiles = nj / TILE;
  const int end = tiles * (blockIdx.y + 1) / gridDim.y;
  for (int t = tiles * blockIdx.y / gridDim.y; t < end; ++t) {
    __syncthreads();
    for (int k = threadIdx.x; k < 4 * TILE; k += THREADS) tile[k % 4][k / 4] = xj[t * TILE * 4 + k];
    __syncthreads();
#if BY_LIST
#pragma unroll 1
    for (int base = 0; base < TILE; base += 32) {
      unsigned hits[R] = {};
#pragma unroll UNROLL
      for (int k = 0; k < 32; ++k) {
        const float4 j = tile[0][base + k];
#pragma unroll
        for (int r = 0; r < R; ++r) hits[r] = __funnelshift_l(__float_as_uint(excess(own[r], j)), hits[r], 1);
      }
#pragma unroll
      for (int r = 0; r < R; ++r) {
        while (hits[r] != 0) {
          const int k = __clz(hits[r]);
          hits[r] &= ~(0x80000000u >> k);
          add(half_alpha, beta, own[r], rest[r], &tile[0][base + k], TILE, sum[r]);
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
          over[k][r] = excess(own[r], tile[0][base + k]);
          any |= over[k][r] < 0;
        }
      }
      if (!any) continue;
#pragma unroll
      for (int k = 0; k < GROUP; ++k) {
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (over[k][r] < 0) add(half_alpha, beta, own[r], rest[r], &tile[0][base + k], TILE, sum[r]);
      }
    }
#endif
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = first + r * THREADS;
    if (i >= ni) continue;
    float4* const row = out + 2 * ((size_t)blockIdx.y * ni + i);
    row[0] = make_float4(sum[r].ax, sum[r].ay, sum[r].az, sum[r].heat);
    row[1] = make_float4(sum[r].signal, 0, 0, 0);
  }
}
