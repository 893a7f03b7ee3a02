// Softened gravity, accelerations only, single precision, as a general code generator may write it: one i-particle per
// thread, tiles as long as the block, positions and masses apart, no loop unrolled by hand, tails of any length.
// i, j: position, mass. Params: eps2.
struct Params {
  double value[8];
};

extern "C" __global__ void interact(const float* __restrict__ xi, const float* __restrict__ xj,
                                    float* __restrict__ out, int ni, int nj, const Params p) {
  __shared__ float tile[THREADS * 4];
  const float eps2 = (float)p.value[0];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  float x[3], sum[3] = {0, 0, 0};
  if (i < ni)
    for (int c = 0; c < 3; ++c) x[c] = xi[4 * i + c];
  for (int start = 0; start < nj; start += THREADS) {
    const int j = start + threadIdx.x;
    if (j < nj)
      for (int c = 0; c < 4; ++c) tile[4 * threadIdx.x + c] = xj[4 * j + c];
    __syncthreads();
    if (i < ni) {
      const float* other = tile;
#pragma unroll 1
      for (int k = 0; k < THREADS && k < nj - start; ++k, other += 4) {
        float d[3], r2 = eps2;
        for (int c = 0; c < 3; ++c) d[c] = other[c] - x[c];
        for (int c = 0; c < 3; ++c) r2 += d[c] * d[c];
        const float ri = rsqrtf(r2), s = other[3] * ri * ri * ri;
        for (int c = 0; c < 3; ++c) sum[c] += s * d[c];
      }
    }
    __syncthreads();
  }
  if (i < ni)
    for (int c = 0; c < 3; ++c) out[4 * i + c] = sum[c];
}
