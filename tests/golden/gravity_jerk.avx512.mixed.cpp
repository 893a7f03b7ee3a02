// gravity_jerk: avx512, mixed precision, fast math
//
// A vector holds 16 j-particles; one pass of the pair function holds 1 i-particles in registers.
// real is the working precision; an elementwise condition is a vector of all-ones or zero integers of real's width.
typedef float real;
typedef long long index;
typedef float vfloat __attribute__((ext_vector_type(16)));
typedef double vdouble __attribute__((ext_vector_type(16)));
typedef int vint __attribute__((ext_vector_type(16)));
typedef index vindex __attribute__((ext_vector_type(16)));
typedef long vlong __attribute__((ext_vector_type(16)));  // what comparing doubles gives
typedef vfloat vreal;
typedef vint vmask;

#define NBCC_INLINE static inline __attribute__((always_inline))

static const vmask all_lanes = (vmask)(-1);
static const vint lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
NBCC_INLINE vmask to_mask(vint x) { return __builtin_convertvector(x, vmask); }
NBCC_INLINE vmask to_mask(vlong x) { return __builtin_convertvector(x, vmask); }
NBCC_INLINE vmask to_mask(vindex x) { return __builtin_convertvector(x, vmask); }
NBCC_INLINE bool to_mask(bool x) { return x; }
NBCC_INLINE vmask lanes_below(index n) { return to_mask(lane_numbers < (vint)((int)n)); }
NBCC_INLINE vfloat choose(vmask m, vfloat a, vfloat b) { return __builtin_convertvector(m, vint) ? a : b; }
NBCC_INLINE vdouble choose(vmask m, vdouble a, vdouble b) { return __builtin_convertvector(m, vindex) ? a : b; }
NBCC_INLINE vint choose(vmask m, vint a, vint b) { return __builtin_convertvector(m, vint) ? a : b; }
NBCC_INLINE vindex choose(vmask m, vindex a, vindex b) { return __builtin_convertvector(m, vindex) ? a : b; }
template <typename T>
NBCC_INLINE T choose(bool m, T a, T b) { return m ? a : b; }
// The first argument must not be NaN; NaN in the second gives NaN. One instruction where the order is the processor's.
template <typename T>
NBCC_INLINE T minimum_of_number(T a, T b) { return a < b ? a : b; }
template <typename T>
NBCC_INLINE T maximum_of_number(T a, T b) { return a > b ? a : b; }
// NaN in either argument gives NaN.
template <typename T>
NBCC_INLINE T minimum(T a, T b) { return a != a ? a : minimum_of_number(a, b); }
template <typename T>
NBCC_INLINE T maximum(T a, T b) { return a != a ? a : maximum_of_number(a, b); }
NBCC_INLINE bool any(vmask m) { return __builtin_reduce_or(m) != 0; }
NBCC_INLINE bool all(vmask m) { return !any(~m); }

// What the rounded difference s of a and b lacks, exactly.
template <typename T>
NBCC_INLINE T lost(T a, T b, T s) {
  const T of_b = a - s, of_a = s + of_b;
  return (a - of_a) + (of_b - b);
}

template <typename T>
NBCC_INLINE T with_sign(T x, T sign) { return __builtin_elementwise_copysign(x, sign); }
// Division by zero gives 0 and -1 turns the sign: a processor would stop the whole program instead.
template <typename T>
NBCC_INLINE T whole_quotient(T a, T b) {
  const T divisor = choose(to_mask((b == 0) | (b == -1)), (T)(1), b);
  return choose(to_mask(b == 0), (T)(0), choose(to_mask(b == -1), (T)(0) - a, a / divisor));
}
template <typename T>
NBCC_INLINE T whole_remainder(T a, T b) { return choose(to_mask(b == 0), (T)(0), a - whole_quotient(a, b) * b); }
// All lanes in one, always in the same order: the upper half joins the lower until two are left.
NBCC_INLINE double total(vdouble s16) {
  const auto s8 = __builtin_shufflevector(s16, s16, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(s16, s16, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto s4 = __builtin_shufflevector(s8, s8, 0, 1, 2, 3) + __builtin_shufflevector(s8, s8, 4, 5, 6, 7);
  const auto s2 = __builtin_shufflevector(s4, s4, 0, 1) + __builtin_shufflevector(s4, s4, 2, 3);
  return s2[0] + s2[1];
}
NBCC_INLINE double total(vfloat x) { return total(__builtin_convertvector(x, vdouble)); }
template <typename T>
NBCC_INLINE double smallest(T s16) {
  const auto s8 = minimum(__builtin_shufflevector(s16, s16, 0, 1, 2, 3, 4, 5, 6, 7), __builtin_shufflevector(s16, s16, 8, 9, 10, 11, 12, 13, 14, 15));
  const auto s4 = minimum(__builtin_shufflevector(s8, s8, 0, 1, 2, 3), __builtin_shufflevector(s8, s8, 4, 5, 6, 7));
  const auto s2 = minimum(__builtin_shufflevector(s4, s4, 0, 1), __builtin_shufflevector(s4, s4, 2, 3));
  return minimum(s2[0], s2[1]);
}
template <typename T>
NBCC_INLINE double largest(T s16) {
  const auto s8 = maximum(__builtin_shufflevector(s16, s16, 0, 1, 2, 3, 4, 5, 6, 7), __builtin_shufflevector(s16, s16, 8, 9, 10, 11, 12, 13, 14, 15));
  const auto s4 = maximum(__builtin_shufflevector(s8, s8, 0, 1, 2, 3), __builtin_shufflevector(s8, s8, 4, 5, 6, 7));
  const auto s2 = maximum(__builtin_shufflevector(s4, s4, 0, 1), __builtin_shufflevector(s4, s4, 2, 3));
  return maximum(s2[0], s2[1]);
}
// The factor that left a sum. A sum without terms is 0 whatever the factor, even infinity.
NBCC_INLINE double scaled(double sum, double factor) { return sum == 0 ? sum : sum * factor; }
// Joins the best of each lane to the best so far; of equal values the lowest j wins.
template <typename T>
NBCC_INLINE void keep_best(double* best, double* arg, T value, vint position, index first, bool least) {
  // Seldom does a tile hold a better one than all tiles before it.
  if (least ? smallest(value) > *best : largest(value) < *best) return;
  for (int k = 0; k < 16; ++k) {
    if (position[k] < 0) continue;
    const double v = value[k], j = (double)(first + position[k]);
    const bool better = least ? v < *best : v > *best;
    if (better || (v == *best && (*arg < 0 || j < *arg))) *best = v, *arg = j;
  }
}
template <typename T>
NBCC_INLINE T fused(T a, T b, T c) { return __builtin_elementwise_fma(a, b, c); }
template <typename T>
NBCC_INLINE T round_down(T x) { return __builtin_elementwise_floor(x); }
template <typename T>
NBCC_INLINE T round_up(T x) { return __builtin_elementwise_ceil(x); }
template <typename T>
NBCC_INLINE T round_to_zero(T x) { return __builtin_elementwise_trunc(x); }
template <typename T>
NBCC_INLINE T round_to_even(T x) { return __builtin_elementwise_rint(x); }
template <typename T>
NBCC_INLINE T round_half_away(T x) { return __builtin_elementwise_round(x); }
// 14 bits
typedef float p16 __attribute__((ext_vector_type(16)));
typedef double p8 __attribute__((ext_vector_type(8)));
NBCC_INLINE p16 rsqrt_estimate(p16 x) { return __builtin_ia32_rsqrt14ps512_mask(x, (p16)(0), (unsigned short)-1); }
NBCC_INLINE p8 rsqrt_estimate(p8 x) { return __builtin_ia32_rsqrt14pd512_mask(x, (p8)(0), (unsigned char)-1); }

struct Arguments {
  const void* const* i;
  const void* const* j;
  const double* param;
  double* const* acc;
  double* const* arg;
  index i_offset, j_offset;
};


// Writes the columns that depend on i alone.
extern "C" void nbcc_prepare_i(const Arguments* a, index begin, index end) {
  for (index i = begin; i < end; i += 16) {
  }
}

// Writes the columns that depend on j alone.
extern "C" void nbcc_prepare_j(const Arguments* a, index begin, index end) {
  for (index j = begin; j < end; j += 16) {
  }
}

extern "C" void nbcc_interact(const Arguments* a, index i_begin, index i_end, index j_begin, index j_end) {
  const vreal t21 = (vreal)(0.0);
  const vreal t23 = (vreal)(a->param[0]);
  const vreal t27 = (vreal)(1.0);
  const vreal t31 = (vreal)(0.5);
  const vreal t40 = (vreal)(3.0);
  for (index i = i_begin; i < i_end; i += 1) {
    // The last pass repeats the last i rather than reading beyond it; the repetition is not stored.
    const vreal t3_0 = (vreal)(((const float*)a->i[0])[i]);
    const vreal t3_0l = (vreal)(((const float*)a->i[1])[i]);
    const vreal t4_0 = (vreal)(((const float*)a->i[2])[i]);
    const vreal t4_0l = (vreal)(((const float*)a->i[3])[i]);
    const vreal t5_0 = (vreal)(((const float*)a->i[4])[i]);
    const vreal t5_0l = (vreal)(((const float*)a->i[5])[i]);
    const vreal t12_0 = (vreal)(((const float*)a->i[6])[i]);
    const vreal t12_0l = (vreal)(((const float*)a->i[7])[i]);
    const vreal t13_0 = (vreal)(((const float*)a->i[8])[i]);
    const vreal t13_0l = (vreal)(((const float*)a->i[9])[i]);
    const vreal t14_0 = (vreal)(((const float*)a->i[10])[i]);
    const vreal t14_0l = (vreal)(((const float*)a->i[11])[i]);
    for (index tile = j_begin; tile < j_end; tile += 2048) {
      const index tile_end = tile + 2048 < j_end ? tile + 2048 : j_end;
      const index whole = tile + (tile_end - tile) / 16 * 16;
      // Terms of one tile are summed in working precision, tiles in double.
      vreal sum0_0 = (vreal)(0);
      vreal sum1_0 = (vreal)(0);
      vreal sum2_0 = (vreal)(0);
      vreal sum3_0 = (vreal)(0);
      vreal sum4_0 = (vreal)(0);
      vreal sum5_0 = (vreal)(0);
      vreal sum6_0 = (vreal)(0);
      const auto pair = [&](const index j, const vmask live) __attribute__((always_inline)) {
        const vreal t0 = *(const vfloat*)((const float*)a->j[0] + j);
        const vreal t0l = *(const vfloat*)((const float*)a->j[1] + j);
        const vreal t1 = *(const vfloat*)((const float*)a->j[2] + j);
        const vreal t1l = *(const vfloat*)((const float*)a->j[3] + j);
        const vreal t2 = *(const vfloat*)((const float*)a->j[4] + j);
        const vreal t2l = *(const vfloat*)((const float*)a->j[5] + j);
        const vreal t6_0 = (t0 - t3_0) + (t0l - t3_0l);
        const vreal t7_0 = (t1 - t4_0) + (t1l - t4_0l);
        const vreal t8_0 = (t2 - t5_0) + (t2l - t5_0l);
        const vreal t9 = *(const vfloat*)((const float*)a->j[6] + j);
        const vreal t9l = *(const vfloat*)((const float*)a->j[7] + j);
        const vreal t10 = *(const vfloat*)((const float*)a->j[8] + j);
        const vreal t10l = *(const vfloat*)((const float*)a->j[9] + j);
        const vreal t11 = *(const vfloat*)((const float*)a->j[10] + j);
        const vreal t11l = *(const vfloat*)((const float*)a->j[11] + j);
        const vreal t15_0 = (t9 - t12_0) + (t9l - t12_0l);
        const vreal t16_0 = (t10 - t13_0) + (t10l - t13_0l);
        const vreal t17_0 = (t11 - t14_0) + (t11l - t14_0l);
        const vreal t18_0 = t8_0 * t8_0;
        const vreal t19_0 = fused(t7_0, t7_0, t18_0);
        const vreal t20_0 = fused(t6_0, t6_0, t19_0);
        const vmask t22_0 = to_mask(t20_0 == t21);
        const vreal t24_0 = t20_0 + t23;
        const vreal t25 = *(const vfloat*)((const float*)a->j[12] + j);
        const vreal t26_0 = rsqrt_estimate(t24_0);
        const vreal t28_0 = t24_0 * t26_0;
        const vreal t29_0 = -t26_0;
        const vreal t30_0 = fused(t28_0, t29_0, t27);
        const vreal t32_0 = t26_0 * t30_0;
        const vreal t33_0 = fused(t32_0, t31, t26_0);
        const vreal t34_0 = t25 * t33_0;
        const vreal t35_0 = t33_0 * t33_0;
        const vreal t36_0 = t34_0 * t35_0;
        const vreal t37_0 = t8_0 * t17_0;
        const vreal t38_0 = fused(t7_0, t16_0, t37_0);
        const vreal t39_0 = fused(t6_0, t15_0, t38_0);
        const vreal t41_0 = t39_0 * t40;
        const vreal t43_0 = t35_0 * t41_0;
        const vreal t44_0 = t6_0 * t36_0;
        const vreal t45_0 = t7_0 * t36_0;
        const vreal t46_0 = t8_0 * t36_0;
        const vreal t47_0 = -t6_0;
        const vreal t48_0 = fused(t43_0, t47_0, t15_0);
        const vreal t49_0 = -t7_0;
        const vreal t50_0 = fused(t43_0, t49_0, t16_0);
        const vreal t51_0 = -t8_0;
        const vreal t52_0 = fused(t43_0, t51_0, t17_0);
        const vreal t53_0 = t36_0 * t48_0;
        const vreal t54_0 = t36_0 * t50_0;
        const vreal t55_0 = t36_0 * t52_0;
        const vmask t56_0 = ~t22_0;
        if (__builtin_expect(all(live & t56_0), true)) {
        sum0_0 = choose(all_lanes, fused(t6_0, t36_0, sum0_0), sum0_0);
        sum1_0 = choose(all_lanes, fused(t7_0, t36_0, sum1_0), sum1_0);
        sum2_0 = choose(all_lanes, fused(t8_0, t36_0, sum2_0), sum2_0);
        sum3_0 = choose(all_lanes, fused(t36_0, t48_0, sum3_0), sum3_0);
        sum4_0 = choose(all_lanes, fused(t36_0, t50_0, sum4_0), sum4_0);
        sum5_0 = choose(all_lanes, fused(t36_0, t52_0, sum5_0), sum5_0);
        sum6_0 = choose(all_lanes, fused(t25, t33_0, sum6_0), sum6_0);
        } else {
        sum0_0 = choose(live & t56_0, fused(t6_0, t36_0, sum0_0), sum0_0);
        sum1_0 = choose(live & t56_0, fused(t7_0, t36_0, sum1_0), sum1_0);
        sum2_0 = choose(live & t56_0, fused(t8_0, t36_0, sum2_0), sum2_0);
        sum3_0 = choose(live & t56_0, fused(t36_0, t48_0, sum3_0), sum3_0);
        sum4_0 = choose(live & t56_0, fused(t36_0, t50_0, sum4_0), sum4_0);
        sum5_0 = choose(live & t56_0, fused(t36_0, t52_0, sum5_0), sum5_0);
        sum6_0 = choose(live & t56_0, fused(t25, t33_0, sum6_0), sum6_0);
        }
      };
      for (index j = tile; j < whole; j += 16) pair(j, all_lanes);
      if (whole < tile_end) pair(whole, lanes_below(tile_end - whole));
      a->acc[0][i] += total(sum0_0);
      a->acc[1][i] += total(sum1_0);
      a->acc[2][i] += total(sum2_0);
      a->acc[3][i] += total(sum3_0);
      a->acc[4][i] += total(sum4_0);
      a->acc[5][i] += total(sum5_0);
      a->acc[6][i] += total(sum6_0);
    }
  }
}

// What is done once per i after its sum: common factors, then finish().
extern "C" void nbcc_finish(const Arguments* a, index i_begin, index i_end) {
  for (index i = i_begin; i < i_end; ++i) {
    const double s42 = (double)(-1.0);
    a->acc[6][i] = scaled(a->acc[6][i], s42);
  }
}
