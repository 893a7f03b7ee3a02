// The vectors of the instruction set that a file is compiled for, and the few operations that the kernels need beyond
// + - *. Nothing here may leave the file: a function that the linker merges with the other instruction set's copy would
// run on processors that do not have it. So everything is static, and no header of the C++ library is used.
#pragma once
#ifdef __aarch64__
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif

#include "bench/hand_written/kernels.h"

#define NBCC_INLINE static inline __attribute__((always_inline))
// An aligned stack frame on x86: Clang spills vectors to addresses that may straddle cache lines otherwise.
#ifdef __aarch64__
#define NBCC_ALIGNED_FRAME
#else
#define NBCC_ALIGNED_FRAME __attribute__((force_align_arg_pointer))
#endif

namespace hand_written {
#ifdef __AVX512F__
#define NBCC_BENCH_ISA avx512
namespace avx512 {

constexpr int kBytes = 64;
typedef float Float __attribute__((vector_size(64)));
typedef double Double __attribute__((vector_size(64)));
typedef __mmask16 Mask;  // of floats

NBCC_INLINE Float all(float x) { return (Float)_mm512_set1_ps(x); }
NBCC_INLINE Double all(double x) { return (Double)_mm512_set1_pd(x); }
NBCC_INLINE Float fma(Float a, Float b, Float c) { return (Float)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
NBCC_INLINE Float fnma(Float a, Float b, Float c) { return (Float)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)c); }
NBCC_INLINE Double fma(Double a, Double b, Double c) {
  return (Double)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
NBCC_INLINE Double fnma(Double a, Double b, Double c) {
  return (Double)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
NBCC_INLINE Float minimum(Float a, Float b) { return (Float)_mm512_min_ps((__m512)a, (__m512)b); }
NBCC_INLINE Float maximum(Float a, Float b) { return (Float)_mm512_max_ps((__m512)a, (__m512)b); }
NBCC_INLINE Float nearest_whole(Float x) { return (Float)_mm512_roundscale_ps((__m512)x, 0); }
// 14 bits.
NBCC_INLINE Float rsqrt_estimate(Float x) { return (Float)_mm512_rsqrt14_ps((__m512)x); }
NBCC_INLINE Float reciprocal_estimate(Float x) { return (Float)_mm512_rcp14_ps((__m512)x); }
NBCC_INLINE Double rsqrt_estimate(Double x) { return (Double)_mm512_rsqrt14_pd((__m512d)x); }
NBCC_INLINE Double square_root(Double x) { return (Double)_mm512_sqrt_pd((__m512d)x); }

NBCC_INLINE Mask less(Float a, Float b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ); }
NBCC_INLINE Mask unequal(Float a, Float b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_NEQ_UQ); }
NBCC_INLINE bool any(Mask m) { return m != 0; }
NBCC_INLINE Mask without(Mask m, Mask not_these) { return (Mask)(m & ~not_these); }
NBCC_INLINE Float keep(Mask m, Float x) { return (Float)_mm512_maskz_mov_ps(m, (__m512)x); }
NBCC_INLINE Float choose(Mask m, Float a, Float b) { return (Float)_mm512_mask_mov_ps((__m512)b, m, (__m512)a); }
// The lane with this number, if there is one.
NBCC_INLINE Mask lane(std::int64_t k) { return (std::uint64_t)k < 16 ? (Mask)(1u << k) : (Mask)0; }

NBCC_INLINE Double low_half(Float x) { return (Double)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x)); }
NBCC_INLINE Double high_half(Float x) {
  return (Double)_mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd((__m512d)x, 1)));
}
#elif defined(__aarch64__)
#define NBCC_BENCH_ISA neon
namespace neon {

constexpr int kBytes = 16;
typedef float32x4_t Float;
typedef float64x2_t Double;
typedef uint32x4_t Mask;  // of floats: all bits or none

NBCC_INLINE Float all(float x) { return vdupq_n_f32(x); }
NBCC_INLINE Double all(double x) { return vdupq_n_f64(x); }
NBCC_INLINE Float fma(Float a, Float b, Float c) { return vfmaq_f32(c, a, b); }
NBCC_INLINE Float fnma(Float a, Float b, Float c) { return vfmsq_f32(c, a, b); }
NBCC_INLINE Double fma(Double a, Double b, Double c) { return vfmaq_f64(c, a, b); }
NBCC_INLINE Double fnma(Double a, Double b, Double c) { return vfmsq_f64(c, a, b); }
NBCC_INLINE Float minimum(Float a, Float b) { return vminq_f32(a, b); }
NBCC_INLINE Float maximum(Float a, Float b) { return vmaxq_f32(a, b); }
NBCC_INLINE Float nearest_whole(Float x) { return vrndnq_f32(x); }
// 16 bits: the processor's 8 and a Newton step.
NBCC_INLINE Float rsqrt_estimate(Float x) {
  const Float y = vrsqrteq_f32(x);
  return y * vrsqrtsq_f32(x, y * y);
}
NBCC_INLINE Float reciprocal_estimate(Float x) {
  const Float y = vrecpeq_f32(x);
  return y * vrecpsq_f32(x, y);
}
NBCC_INLINE Double newton_step(Double x, Double y) { return y * vrsqrtsq_f64(x, y * y); }
NBCC_INLINE Double rsqrt_estimate(Double x) { return newton_step(x, vrsqrteq_f64(x)); }
NBCC_INLINE Double square_root(Double x) { return vsqrtq_f64(x); }

NBCC_INLINE Mask less(Float a, Float b) { return vcltq_f32(a, b); }
NBCC_INLINE Mask unequal(Float a, Float b) { return ~vceqq_f32(a, b); }
NBCC_INLINE bool any(Mask m) { return vmaxvq_u32(m) != 0; }
NBCC_INLINE Mask without(Mask m, Mask not_these) { return m & ~not_these; }
NBCC_INLINE Float keep(Mask m, Float x) { return (Float)(m & (Mask)x); }
NBCC_INLINE Float choose(Mask m, Float a, Float b) { return vbslq_f32(m, a, b); }
// The lane with this number, if there is one.
NBCC_INLINE Mask lane(std::int64_t k) {
  const Mask numbers = {0, 1, 2, 3};
  return numbers == vdupq_n_u32((std::uint64_t)k < 4 ? (unsigned)k : 4);
}

NBCC_INLINE Double low_half(Float x) { return vcvt_f64_f32(vget_low_f32(x)); }
NBCC_INLINE Double high_half(Float x) { return vcvt_high_f64_f32(x); }
#else
#define NBCC_BENCH_ISA avx2
namespace avx2 {

constexpr int kBytes = 32;
typedef float Float __attribute__((vector_size(32)));
typedef double Double __attribute__((vector_size(32)));
typedef Float Mask;  // of floats: all bits or none

NBCC_INLINE Float all(float x) { return (Float)_mm256_set1_ps(x); }
NBCC_INLINE Double all(double x) { return (Double)_mm256_set1_pd(x); }
NBCC_INLINE Float fma(Float a, Float b, Float c) { return (Float)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
NBCC_INLINE Float fnma(Float a, Float b, Float c) { return (Float)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c); }
NBCC_INLINE Double fma(Double a, Double b, Double c) {
  return (Double)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
NBCC_INLINE Double fnma(Double a, Double b, Double c) {
  return (Double)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
NBCC_INLINE Float minimum(Float a, Float b) { return (Float)_mm256_min_ps((__m256)a, (__m256)b); }
NBCC_INLINE Float maximum(Float a, Float b) { return (Float)_mm256_max_ps((__m256)a, (__m256)b); }
NBCC_INLINE Float nearest_whole(Float x) {
  return (Float)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// 12 bits.
NBCC_INLINE Float rsqrt_estimate(Float x) { return (Float)_mm256_rsqrt_ps((__m256)x); }
NBCC_INLINE Float reciprocal_estimate(Float x) { return (Float)_mm256_rcp_ps((__m256)x); }
// There is none in double: x must be within the range of float.
NBCC_INLINE Double rsqrt_estimate(Double x) {
  return (Double)_mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps((__m256d)x)));
}
NBCC_INLINE Double square_root(Double x) { return (Double)_mm256_sqrt_pd((__m256d)x); }

NBCC_INLINE Mask less(Float a, Float b) { return (Mask)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LT_OQ); }
NBCC_INLINE Mask unequal(Float a, Float b) { return (Mask)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_NEQ_UQ); }
NBCC_INLINE bool any(Mask m) { return _mm256_movemask_ps((__m256)m) != 0; }
NBCC_INLINE Mask without(Mask m, Mask not_these) { return (Mask)_mm256_andnot_ps((__m256)not_these, (__m256)m); }
NBCC_INLINE Float keep(Mask m, Float x) { return (Float)_mm256_and_ps((__m256)m, (__m256)x); }
NBCC_INLINE Float choose(Mask m, Float a, Float b) { return (Float)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m); }
// The lane with this number, if there is one.
NBCC_INLINE Mask lane(std::int64_t k) {
  const int wanted = (std::uint64_t)k < 8 ? (int)k : -1;
  return (Mask)_mm256_cmpeq_epi32(_mm256_set1_epi32(wanted), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

NBCC_INLINE Double low_half(Float x) { return (Double)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x)); }
NBCC_INLINE Double high_half(Float x) { return (Double)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1)); }
#endif

// What the sums need to know of a vector: its elements, and how to become a vector of the double totals.
template <typename V>
struct Lanes;
template <>
struct Lanes<Float> {
  using Element = float;
  static constexpr int kCount = kBytes / 4;
  NBCC_INLINE void add(Double* total, Float x) {
    total[0] += low_half(x);
    total[1] += high_half(x);
  }
};
template <>
struct Lanes<Double> {
  using Element = double;
  static constexpr int kCount = kBytes / 8;
  NBCC_INLINE void add(Double* total, Double x) { total[0] += x; }
};

// 1/x for every x whose estimate is finite.
NBCC_INLINE Float reciprocal(Float x) {
  const Float y = reciprocal_estimate(x), e = fnma(x, y, all(1.0f));
#if defined(__AVX512F__) || defined(__aarch64__)
  return fma(y, e, y);
#else
  return fma(y, fma(e, e, e), y);
#endif
}

// factor / sqrt(x): the series of (1 - h)^(-1/2) with h = 1 - x y^2, as far as the estimate y makes necessary.
NBCC_INLINE Float scaled_rsqrt(Float x, Float y, float factor) {
  const Float h = fnma(x, y * y, all(1.0f));
#if defined(__AVX512F__) || defined(__aarch64__)
  return y * fma(h, all(0.5f * factor), all(factor));
#else
  return y * fma(h, fma(h, all(0.375f * factor), all(0.5f * factor)), all(factor));
#endif
}

}  // namespace NBCC_BENCH_ISA
}  // namespace hand_written
