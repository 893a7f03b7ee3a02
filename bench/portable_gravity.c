/* Softened gravity of n bodies on each other as one would write it down, by one thread: no intrinsics, no blocks, and a
   root and a division for each pair. The door is nbcc_bench_portable_gravity(). */
#include "bench/portable_gravity.h"

#include <math.h>

void nbcc_bench_portable_gravity(long n, const float (*bodies)[4], float eps2, float (*acc)[3]) {
  for (long i = 0; i < n; ++i) {
    float ax = 0, ay = 0, az = 0;
    for (long j = 0; j < n; ++j) {
      const float dx = bodies[j][0] - bodies[i][0];
      const float dy = bodies[j][1] - bodies[i][1];
      const float dz = bodies[j][2] - bodies[i][2];
      const float r2 = dx * dx + dy * dy + dz * dz + eps2;
      const float w = bodies[j][3] / sqrtf(r2 * r2 * r2);
      ax += w * dx;
      ay += w * dy;
      az += w * dz;
    }
    acc[i][0] = ax;
    acc[i][1] = ay;
    acc[i][2] = az;
  }
}
