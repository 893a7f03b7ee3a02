// Sums over pairs of vectors with many elements, by hand: the matrix product of a BLAS (Goto & van de Geijn 2008),
// block by block, with exp() of each value in place of storing the matrix. Compiled by bench/wide_pairs_on_cpu.py.
//
//                panel of j: W vectors        For a block of i and j and a piece of elements: copy the elements of i
//              +----+----+----+               to panels [k][R i], and of j to panels [k][W vectors]. A panel of j and
//  panel of i  | R x W sums   |  -> exp       one of i are in the L1 cache; R x W sums are in registers while k
//  R rows      +----+----+----+               passes over the piece.
#define INLINE static inline __attribute__((always_inline))
typedef long long index;
#ifdef __AVX512F__
constexpr int kLanes = 16, R = 6, W = 4;  // 24 sums, 4 vectors of j and a broadcast of i in 32 registers
#else
constexpr int kLanes = 8, R = 6, W = 2;  // 12 sums of 16
#endif
typedef float V __attribute__((ext_vector_type(kLanes)));
typedef int I __attribute__((ext_vector_type(kLanes)));
typedef float U __attribute__((ext_vector_type(kLanes), aligned(4)));
constexpr index kPiece = 128, kBlockI = 252, kBlockJ = kLanes == 16 ? 32 : 64;  // elements, i, vectors of j

INLINE V fma(V a, V b, V c) { return __builtin_elementwise_fma(a, b, c); }
// exp(x) for x <= 0, to some 2 ulp.
INLINE V exponential(V x) {
  x = __builtin_elementwise_max(x, (V)(-87.f));
  const V n = __builtin_elementwise_rint(x * 1.44269504f);
  V r = fma(n, (V)(-0.693359375f), x);
  r = fma(n, (V)(2.12194440e-4f), r);
  V p = (V)(1.9875691500e-4f);
  p = fma(p, r, (V)(1.3981999507e-3f));
  p = fma(p, r, (V)(8.3334519073e-3f));
  p = fma(p, r, (V)(4.1665795894e-2f));
  p = fma(p, r, (V)(1.6666665459e-1f));
  p = fma(p, r, (V)(5.0000001201e-1f));
  p = fma(p, r * r, r) + 1;
  return p * (V)((__builtin_convertvector(n, I) + 127) << 23);
}

enum Form { kProduct, kDifference };

template <Form form>
INLINE void multiply(const float* pi, const V* pj, index elements, V (*values)[kBlockJ], bool first) {
  V s[R][W];
  for (int r = 0; r < R; ++r)
    for (int w = 0; w < W; ++w) s[r][w] = first ? (V)(0) : values[r][w];
#pragma clang loop unroll(disable)
  for (index k = 0; k < elements; ++k) {
    V y[W];
#pragma unroll
    for (int w = 0; w < W; ++w) y[w] = pj[k * W + w];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const V x = (V)(pi[k * R + r]);
#pragma unroll
      for (int w = 0; w < W; ++w) {
        if (form == kProduct) {
          s[r][w] = fma(x, y[w], s[r][w]);
        } else {
          const V d = y[w] - x;
          s[r][w] = fma(d, d, s[r][w]);
        }
      }
    }
  }
  for (int r = 0; r < R; ++r)
    for (int w = 0; w < W; ++w) values[r][w] = s[r][w];
}

// x, y: [element][particle], rows of n floats. result: [i]. n a multiple of the vector.
template <Form form>
static void sum(const float* x, const float* y, const float* ni2, const float* nj2, index n, index d, float scale,
                double* result) {
  // Panels are not a power of two of bytes apart: the same element of all would be in a few sets of the L1 cache.
  alignas(64) static V values[kBlockI][kBlockJ], panels_j[kBlockJ / W][kPiece + 1][W];
  alignas(64) static float panels_i[kBlockI / R][kPiece + 4][R];
  for (index i = 0; i < n; ++i) result[i] = 0;
  const index vectors_all = n / kLanes;
  for (index bi = 0; bi < n; bi += kBlockI) {
    const index rows = n - bi < kBlockI ? n - bi : kBlockI;
    for (index bj = 0; bj < vectors_all; bj += kBlockJ) {
      const index vectors = vectors_all - bj < kBlockJ ? vectors_all - bj : kBlockJ;
      for (index piece = 0; piece < d; piece += kPiece) {
        const index elements = d - piece < kPiece ? d - piece : kPiece;
        for (index k = 0; k < elements; ++k) {
          const float* const from = y + (piece + k) * n + bj * kLanes;
          for (index v = 0; v < vectors; ++v) panels_j[v / W][k][v % W] = *(const U*)(from + v * kLanes);
          const float* const of_i = x + (piece + k) * n + bi;
          for (index r = 0; r < rows; r += R)
            for (index q = 0; q < R; ++q) panels_i[r / R][k][q] = r + q < rows ? of_i[r + q] : 0;
        }
        for (index v = 0; v < vectors; v += W)
          for (index r = 0; r < rows; r += R)
            multiply<form>(panels_i[r / R][0], panels_j[v / W][0], elements, (V(*)[kBlockJ]) & values[r][v],
                           piece == 0);
      }
      for (index r = 0; r < rows; ++r) {
        V s = (V)(0);
        for (index v = 0; v < vectors; ++v) {
          V r2 = values[r][v];
          if (form == kProduct && nj2) r2 = fma((V)(-2), r2, *(const U*)(nj2 + (bj + v) * kLanes) + ni2[bi + r]);
          s += exponential(r2 * scale);
        }
        double total = 0;
        for (int l = 0; l < kLanes; ++l) total += s[l];
        result[bi + r] += total;
      }
    }
  }
}

extern "C" void products(const float* x, const float* y, const float* ni2, const float* nj2, index n, index d,
                         float scale, double* result) {
  sum<kProduct>(x, y, ni2, nj2, n, d, scale, result);
}
extern "C" void differences(const float* x, const float* y, const float*, const float*, index n, index d, float scale,
                            double* result) {
  sum<kDifference>(x, y, nullptr, nullptr, n, d, scale, result);
}
