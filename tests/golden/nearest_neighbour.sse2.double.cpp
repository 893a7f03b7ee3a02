// nearest_neighbour: sse2, double precision, fast math
//
// A vector holds 2 j-particles; one pass of the pair function holds 1 i-particles in registers.
// real is the working precision; an elementwise condition is a vector of all-ones or zero integers of real's width.
typedef double real;
typedef long long index;
typedef float vfloat __attribute__((ext_vector_type(2)));
typedef double vdouble __attribute__((ext_vector_type(2)));
typedef int vint __attribute__((ext_vector_type(2)));
typedef index vindex __attribute__((ext_vector_type(2)));
typedef long vlong __attribute__((ext_vector_type(2)));  // what comparing doubles gives
typedef vdouble vreal;
typedef vindex vmask;

#define NBCC_INLINE static inline __attribute__((always_inline))

static const vmask all_lanes = (vmask)(-1);
static const vint lane_numbers = {0, 1};
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
NBCC_INLINE double total(vdouble s2) {
  return s2[0] + s2[1];
}
NBCC_INLINE double total(vfloat x) { return total(__builtin_convertvector(x, vdouble)); }
template <typename T>
NBCC_INLINE double smallest(T s2) {
  return minimum(s2[0], s2[1]);
}
template <typename T>
NBCC_INLINE double largest(T s2) {
  return maximum(s2[0], s2[1]);
}
// The factor that left a sum. A sum without terms is 0 whatever the factor, even infinity.
NBCC_INLINE double scaled(double sum, double factor) { return sum == 0 ? sum : sum * factor; }
// Joins the best of each lane to the best so far; of equal values the lowest j wins.
template <typename T>
NBCC_INLINE void keep_best(double* best, double* arg, T value, vint position, index first, bool least) {
  // Seldom does a tile hold a better one than all tiles before it.
  if (least ? smallest(value) > *best : largest(value) < *best) return;
  for (int k = 0; k < 2; ++k) {
    if (position[k] < 0) continue;
    const double v = value[k], j = (double)(first + position[k]);
    const bool better = least ? v < *best : v > *best;
    if (better || (v == *best && (*arg < 0 || j < *arg))) *best = v, *arg = j;
  }
}
// No fused multiply-add and no rounding instructions: the first is a product and a sum; whole numbers are found by
// adding and taking away 2^23 or 2^52, beyond which every number is whole.
template <typename T>
NBCC_INLINE T fused(T a, T b, T c) { return a * b + c; }
NBCC_INLINE float whole_from(vfloat) { return 0x1p23f; }
NBCC_INLINE double whole_from(vdouble) { return 0x1p52; }
NBCC_INLINE double whole_from(double) { return 0x1p52; }
NBCC_INLINE float whole_from(float) { return 0x1p23f; }
template <typename T>
NBCC_INLINE T round_to_zero(T x) {
  const T size = __builtin_elementwise_abs(x), whole = (T)(whole_from(x)), nearest = (size + whole) - whole;
  const T below = choose(to_mask(nearest > size), nearest - (T)(1), nearest);
  return choose(to_mask(size < whole), with_sign(below, x), x);
}
template <typename T>
NBCC_INLINE T round_down(T x) {
  const T t = round_to_zero(x);
  return choose(to_mask(t > x), t - (T)(1), t);
}
template <typename T>
NBCC_INLINE T round_up(T x) {
  const T t = round_to_zero(x);
  return choose(to_mask(t < x), t + (T)(1), t);
}
template <typename T>
NBCC_INLINE T round_half_away(T x) {
  const T t = round_to_zero(x);
  return choose(to_mask(__builtin_elementwise_abs(x - t) >= (T)(0.5)), t + with_sign((T)(1), x), t);
}
template <typename T>
NBCC_INLINE T round_to_even(T x) {
  const T size = __builtin_elementwise_abs(x), whole = (T)(whole_from(x));
  return choose(to_mask(size < whole), with_sign((size + whole) - whole, x), x);
}
typedef float p4 __attribute__((ext_vector_type(4)));
NBCC_INLINE p4 rsqrt_estimate(p4 x) { return __builtin_ia32_rsqrtps(x); }

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
  for (index i = begin; i < end; i += 2) {
  }
}

// Writes the columns that depend on j alone.
extern "C" void nbcc_prepare_j(const Arguments* a, index begin, index end) {
  for (index j = begin; j < end; j += 2) {
  }
}

extern "C" void nbcc_interact(const Arguments* a, index i_begin, index i_end, index j_begin, index j_end) {
  const vint t0 = (vint)(a->param[0]);
  const vint t1 = (vint)(0);
  const vmask t2 = to_mask(t0 == t1);
  const vmask t3 = ~t2;
  for (index i = i_begin; i < i_end; i += 1) {
    // The last pass repeats the last i rather than reading beyond it; the repetition is not stored.
    const vreal t11_0 = (vreal)(((const double*)a->i[0])[i]);
    const vreal t12_0 = (vreal)(((const double*)a->i[1])[i]);
    const vreal t13_0 = (vreal)(((const double*)a->i[2])[i]);
    for (index tile = j_begin; tile < j_end; tile += 256) {
      const index tile_end = tile + 256 < j_end ? tile + 256 : j_end;
      const index whole = tile + (tile_end - tile) / 2 * 2;
      // Terms of one tile are summed in working precision, tiles in double.
      vreal sum0_0 = (vreal)(__builtin_inf());
      vint arg0_0 = (vint)(-1);
      vreal sum1_0 = (vreal)(__builtin_inf());
      const auto pair = [&](const index j, const vmask live) __attribute__((always_inline)) {
        const index lane_0 = i + a->i_offset - (j + a->j_offset);
        const int self_0 = (unsigned long long)lane_0 < 2 ? (int)lane_0 : -1;
        const vmask t6_0 = to_mask(lane_numbers == (vint)(self_0));
        const vmask t7_0 = t3 & t6_0;
        const vreal t8 = *(const vdouble*)((const double*)a->j[0] + j);
        const vreal t9 = *(const vdouble*)((const double*)a->j[1] + j);
        const vreal t10 = *(const vdouble*)((const double*)a->j[2] + j);
        const vreal t14_0 = t8 - t11_0;
        const vreal t15_0 = t9 - t12_0;
        const vreal t16_0 = t10 - t13_0;
        const vreal t17_0 = t14_0 * t14_0;
        const vreal t18_0 = t15_0 * t15_0;
        const vreal t19_0 = t17_0 + t18_0;
        const vreal t20_0 = t16_0 * t16_0;
        const vreal t21_0 = t19_0 + t20_0;
        const vmask t22_0 = ~t7_0;
        const vmask better0_0 = live & t22_0 & to_mask(t21_0 < sum0_0);
        sum0_0 = choose(better0_0, t21_0, sum0_0);
        arg0_0 = choose(better0_0, lane_numbers + (vint)((int)(j - tile)), arg0_0);
        sum1_0 = choose(live & t22_0 & to_mask(sum1_0 == sum1_0), minimum_of_number(sum1_0, t21_0), sum1_0);
      };
      for (index j = tile; j < whole; j += 2) pair(j, all_lanes);
      if (whole < tile_end) pair(whole, lanes_below(tile_end - whole));
      keep_best(a->acc[0] + i, a->arg[0] + i, sum0_0, arg0_0, tile + a->j_offset, true);
      a->acc[1][i] = minimum(a->acc[1][i], smallest(sum1_0));
    }
  }
}

// What is done once per i after its sum: common factors, then finish().
extern "C" void nbcc_finish(const Arguments* a, index i_begin, index i_end) {
  for (index i = i_begin; i < i_end; ++i) {
    const index f0 = (index)(a->arg[0][i]);
    const double f1 = (double)(a->acc[1][i]);
    const double f2 = (double)(__builtin_elementwise_sqrt(f1));
    a->acc[1][i] = (double)f2;
  }
}
