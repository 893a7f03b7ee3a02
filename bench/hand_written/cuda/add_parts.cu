// The second kernel of a sum whose j-particles were divided: adds the parts in their order. Rows of ROW numbers; the
// one at MAXIMUM (or none: -1) is a maximum.
extern "C" __global__ void add_parts(const ELEMENT* __restrict__ part, ELEMENT* __restrict__ out, int numbers,
                                     int parts) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= numbers) return;
  const bool largest = k % ROW == MAXIMUM;
  ELEMENT sum = part[k];
#pragma unroll 8
  for (int p = 1; p < parts; ++p) {
    const ELEMENT x = part[(size_t)p * numbers + k];
    sum = largest ? (x > sum ? x : sum) : sum + x;
  }
  out[k] = sum;
}
