// SPH momentum and energy equations with the signal velocity, single precision, over lists of neighbours: a thread takes
// an i and goes through its j, whose numbers it reads from where they are. Particles stand in an order in which
// neighbours are near each other; of each i the k-th neighbour stands at list[k * n + i], so that a warp reads a row.
//
// Rows as in sph_force.cu: position, reach^2; velocity, h/2; 1/h, norm, P/(omega rho^2), c; rho, mass, 0, 0.
struct Row {
  float4 place, motion, kernel, mass;
};

// dW/dr over r without 1/r and the norm.
static __device__ __forceinline__ float slope(float q) {
  const float inner = fmaxf(1 - q, 0.0f), outer = fmaxf(fmaf(-0.5f, q, 1.0f), 0.0f);
  return fmaf(inner, inner, -outer * outer);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    sum_lists(const Row* __restrict__ rows, const int* __restrict__ list, const int* __restrict__ counts,
              float4* __restrict__ out, int n, float half_alpha, float beta) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  const Row own = rows[i];
  const int count = counts[i];
  float ax = 0, ay = 0, az = 0, heat = 0, signal = -__int_as_float(0x7f800000);
  // The next neighbour's number, and with AHEAD the next one's row, are on their way.
  int next = list[i];
#if AHEAD
  Row upcoming = rows[next];
#endif
#pragma unroll UNROLL
  for (int k = 0; k < count; ++k) {
#if AHEAD
    const Row j = upcoming;
    next = list[(size_t)min(k + 1, count - 1) * n + i];
    upcoming = rows[next];
#else
    const Row j = rows[next];
    next = list[(size_t)min(k + 1, count - 1) * n + i];
#endif
    const float dx = own.place.x - j.place.x, dy = own.place.y - j.place.y, dz = own.place.z - j.place.z;
    const float r2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
    const float ri = r2 > 0 ? rsqrtf(r2) : 0, r = r2 * ri;
    const float fi = slope(r * own.kernel.x) * (own.kernel.y * ri), fj = slope(r * j.kernel.x) * (j.kernel.y * ri);
    const float vx = fmaf(own.motion.x - j.motion.x, dx,
                          fmaf(own.motion.y - j.motion.y, dy, (own.motion.z - j.motion.z) * dz));
    const float approach = fminf(vx, 0.0f), h = own.motion.w + j.motion.w, c = own.kernel.w + j.kernel.w;
    const float mu = h * approach / fmaf(0.01f * h, h, r2);
    const float visc = mu * fmaf(beta, mu, -half_alpha * c) / (own.mass.x + j.mass.x) * (fi + fj);
    const float push_i = own.kernel.z * fi, pull = j.mass.y * (fmaf(j.kernel.z, fj, push_i) + visc);
    ax = fmaf(-pull, dx, ax);
    ay = fmaf(-pull, dy, ay);
    az = fmaf(-pull, dz, az);
    heat = fmaf(j.mass.y * fmaf(0.5f, visc, push_i), vx, heat);
    signal = fmaxf(signal, fmaf(-3 * approach, ri, c));
  }
  out[2 * i] = make_float4(ax, ay, az, heat);
  out[2 * i + 1] = make_float4(signal, 0, 0, 0);
}
