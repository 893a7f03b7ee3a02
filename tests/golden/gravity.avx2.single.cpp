// gravity: avx2, single precision, fast math
//
// The runtime packs the particles into columns (structure of arrays) and calls, over ranges of particles:
//
//   nbcc_prepare_i, nbcc_prepare_j   input columns -> derived columns, which depend on one particle alone
//   nbcc_interact ...                pairs -> accumulators a->acc and a->arg, [row][i]
//   nbcc_finish                      accumulators of one i -> its results, in the same rows
//
// A SIMD vector holds 8 j-particles; the pair statements hold 1 i-particles in registers.
// real: the working precision. vmask: an elementwise condition, integers of real's width that are all ones or 0.
typedef float real;
typedef long long index;
typedef float vfloat __attribute__((ext_vector_type(8)));
typedef double vdouble __attribute__((ext_vector_type(8)));
typedef int vint __attribute__((ext_vector_type(8)));
typedef index vindex __attribute__((ext_vector_type(8)));
typedef int vnumbers __attribute__((ext_vector_type(8), aligned(4)));  // need not be aligned to the vector
typedef long vlong __attribute__((ext_vector_type(8)));  // the result of comparing doubles
typedef vfloat vreal;
typedef vint vmask;

#define NBCC_INLINE static inline __attribute__((always_inline))

static const vmask all_lanes = (vmask)(-1);
static const vint lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
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
// The first argument must not be NaN; NaN in the second gives NaN. With this order of arguments it is one instruction.
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

// The rounding error of s = a - b, exactly (Knuth's two-sum).
template <typename T>
NBCC_INLINE T lost(T a, T b, T s) {
  const T of_b = a - s, of_a = s + of_b;
  return (a - of_a) + (of_b - b);
}

// x minus its rounding to real, as a real; 0 where x overflows real.
NBCC_INLINE real lower_part(double x) {
  const real upper = (real)x;
  return upper - upper == 0 ? (real)(x - (double)upper) : 0;
}
// Applies f to pieces of x and y, which are native vectors or scalars.
template <typename Piece, typename V, typename F>
NBCC_INLINE V in_pieces(V x, V y, F f) {
  union { V whole; Piece part[sizeof(V) / sizeof(Piece)]; } a = {x}, b = {y};
  for (unsigned k = 0; k < sizeof(V) / sizeof(Piece); ++k) a.part[k] = f(a.part[k], b.part[k]);
  return a.whole;
}

template <typename T>
NBCC_INLINE T with_sign(T x, T sign) { return __builtin_elementwise_copysign(x, sign); }
// Division by zero gives 0, and division by -1 negates: the processor's instruction would trap.
template <typename T>
NBCC_INLINE T integer_quotient(T a, T b) {
  const T divisor = choose(to_mask((b == 0) | (b == -1)), (T)(1), b);
  return choose(to_mask(b == 0), (T)(0), choose(to_mask(b == -1), (T)(0) - a, a / divisor));
}
template <typename T>
NBCC_INLINE T integer_remainder(T a, T b) { return choose(to_mask(b == 0), (T)(0), a - integer_quotient(a, b) * b); }
NBCC_INLINE vindex indices(vint numbers, index offset) {
  return __builtin_convertvector(numbers, vindex) + (vindex)(offset);
}
NBCC_INLINE vmask number_is(vint numbers, index number) {
  return to_mask(numbers == (vint)((unsigned long long)number < 0x80000000ull ? (int)number : -1));
}
// A mask of the lane with this number, if there is one. Unsigned, so that one comparison tests both ends.
NBCC_INLINE vmask lane_of(index number) {
  return to_mask(lane_numbers == (vint)((unsigned long long)number < 8 ? (int)number : -1));
}
template <typename T>
NBCC_INLINE vmask is_better(T x, T best, bool least) { return to_mask(least ? x < best : x > best); }
template <typename T>
NBCC_INLINE vmask is_not_worse(T x, T best, bool least) { return to_mask(least ? x <= best : x >= best); }

// Lane-wise minimum or maximum of `best` and x. A NaN in `best` is kept; a NaN in x is passed on by
// minimum_of_number().
template <typename T>
NBCC_INLINE void accumulate(T& best, T x, vmask live, bool least) {
  best = choose(live & to_mask(best == best), least ? minimum_of_number(best, x) : maximum_of_number(best, x), best);
}
NBCC_INLINE void accumulate(vindex& best, vindex x, vmask live, bool least) {
  best = choose(live & is_better(x, best, least), x, best);
}
// argmin, argmax: a strictly better value replaces the best, so that a tie keeps the first. If `compares`, an equal
// value with a lower number replaces it too: the numbers may come in any order.
template <typename T>
NBCC_INLINE void accumulate(T& best, vint& arg, T x, vint number, vmask live, bool least, bool compares) {
  vmask better = is_better(x, best, least);
  if (compares) better |= to_mask(x == best) & to_mask(number < arg);
  best = choose(live & better, x, best);
  arg = choose(live & better, number, arg);
}
// No integer is worse than all others, so the first candidate (arg < 0) is always taken.
NBCC_INLINE void accumulate(vindex& best, vint& arg, vindex x, vint number, vmask live, bool least, bool compares) {
  vmask better = is_better(x, best, least) | to_mask(arg < 0);
  if (compares) better |= to_mask(x == best) & to_mask(number < arg);
  best = choose(live & better, x, best);
  arg = choose(live & better, number, arg);
}

// Reduces all lanes to one value in a fixed order: the upper half is combined with the lower half until one lane is
// left.
template <typename F>
NBCC_INLINE double reduce_lanes(double x, F) { return x; }
template <typename F>
NBCC_INLINE double reduce_lanes(float x, F) { return x; }
template <typename T, typename F>
NBCC_INLINE double reduce_lanes(T x, F both) { return reduce_lanes(both(x.lo, x.hi), both); }
NBCC_INLINE double total(vdouble x) { return reduce_lanes(x, [](auto a, auto b) { return a + b; }); }
NBCC_INLINE double total(vfloat x) { return total(__builtin_convertvector(x, vdouble)); }
template <typename T>
NBCC_INLINE double best_of(T x, bool least) {
  return least ? reduce_lanes(x, [](auto a, auto b) { return minimum(a, b); })
               : reduce_lanes(x, [](auto a, auto b) { return maximum(a, b); });
}
// Combines the best of all lanes with the best so far; of equal values the lowest j wins.
template <typename T>
NBCC_INLINE void combine(double* best, T x, bool least) {
  *best = least ? minimum(*best, best_of(x, least)) : maximum(*best, best_of(x, least));
}
template <typename T>
NBCC_INLINE void combine(double* best, double* arg, T x, vint number, index first, bool least) {
  // Most tiles have no better value than the tiles before.
  if (least ? best_of(x, least) > *best : best_of(x, least) < *best) return;
  for (int k = 0; k < 8; ++k) {
    if (number[k] < 0) continue;
    const double v = x[k], j = (double)(first + number[k]);
    const bool better = least ? v < *best : v > *best;
    if (better || (v == *best && (*arg < 0 || j < *arg))) *best = v, *arg = j;
  }
}
// Extremes of integers are int64 in the memory of rows of doubles: a double would round them beyond 2^53.
NBCC_INLINE void combine(index* best, vindex x, bool least) {
  const index extreme = least ? __builtin_reduce_min(x) : __builtin_reduce_max(x);
  if (least ? extreme < *best : extreme > *best) *best = extreme;
}
NBCC_INLINE void combine(index* best, double* arg, vindex x, vint number, index first, bool least) {
  for (int k = 0; k < 8; ++k) {
    if (number[k] < 0) continue;
    const index v = x[k];
    const double j = (double)(first + number[k]);
    const bool better = *arg < 0 || (least ? v < *best : v > *best);
    if (better || (v == *best && j < *arg)) *best = v, *arg = j;
  }
}
// Applies a common factor after the sum. An empty sum stays 0 even if the factor is infinite.
NBCC_INLINE double scaled(double sum, double factor) { return sum == 0 ? sum : sum * factor; }
// An accumulator as the integer that finish() reads.
NBCC_INLINE index to_index(double x) {
  return x != x ? 0 : x >= 0x1p63 ? 9223372036854775807LL : x < -0x1p63 ? -9223372036854775807LL - 1 : (index)x;
}
constexpr bool kHasFusedMultiplyAdd = true;
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
// rsqrt_estimate() is good to 12 bits.
typedef float p8 __attribute__((ext_vector_type(8)));
NBCC_INLINE p8 rsqrt_estimate(p8 x) { return __builtin_ia32_rsqrtps256(x); }

struct Arguments {
  const void* const* i;
  const void* const* j;
  const double* param;
  double* const* acc;
  double* const* arg;
  index i_offset, j_offset;
  const int *i_number, *j_number;  // [position in the columns] index of the particle; null: the position itself
  const void* const* pair;         // columns of listed pairs, at the positions of their j
  const struct Exclusions* exclusions;  // [i]
  index* const* histograms;
  index histogram_row;
};


// Writes the derived columns of i.
extern "C" void nbcc_prepare_i(const Arguments* a, index begin, index end) {
  for (index i = begin; i < end; i += 8) {
  }
}

// Writes the derived columns of j.
extern "C" void nbcc_prepare_j(const Arguments* a, index begin, index end) {
  for (index j = begin; j < end; j += 8) {
  }
}

// The j excluded from one i, by index: first + k for each set bit k of `near`, and far[0 .. far_count).
struct Exclusions {
  index first;
  unsigned long long near;
  const int* far;
  index far_count;
};
// `live` without the lanes whose j is excluded. `numbers`: indices of the vector's j.
NBCC_INLINE vmask without_excluded(const Exclusions& out, vint numbers, vmask live) {
  const vint from = numbers - (vint)((int)out.first);
  const vint may_be = (from >= 0) & (from < 64);
  if (__builtin_reduce_or(may_be) != 0) {
    const vindex bits = (vindex)(out.near) >> __builtin_convertvector(from & 63, vindex);
    live = live & ~to_mask(may_be & -__builtin_convertvector(bits & 1, vint));
  }
  for (index k = 0; k < out.far_count; ++k) live = live & ~to_mask(numbers == (vint)(out.far[k]));
  return live;
}
// Sums over the pairs of i in [i_begin, i_end) and j in [j_begin, j_end):
//
//                j_begin                                     j_end
//                | V | V | ... | V | V | V | ... | V | V |v'|    V: a vector of 8 j; v': the last one, masked
//                |      tile       |      tile       | tile |    tile: 1024 j
//   block of i   |  for each tile: sum lane by lane in working precision, then add the lanes in double
//   next block   |  ...
//
// The 1 i of a block share the loads of j.
// `numbered`: i_index, j_index and the indices of argmin and argmax are made of a->i_number and a->j_number; the j may
// come in any order. `exclusions`: the pairs of a->exclusions are excluded.
template <bool numbered, bool exclusions>
NBCC_INLINE void interact(const Arguments* a, index i_begin, index i_end, index j_begin, index j_end) {
  const vreal t9 = (vreal)(a->param[0]);
  const vreal t15 = (vreal)(1.0);
  const vreal t19 = (vreal)(0.375);
  const vreal t20 = (vreal)(0.5);
  for (index i = i_begin; i < i_end; i += 1) {
    // The last block repeats the last i instead of reading beyond it; the repeated results are not stored.
    const vreal t3_0 = (vfloat)(((float*)a->i[0])[i]);
    const vreal t4_0 = (vfloat)(((float*)a->i[1])[i]);
    const vreal t5_0 = (vfloat)(((float*)a->i[2])[i]);
    for (index first_j = j_begin; first_j < j_end; first_j += 1024) {
      const index tile_end = first_j + 1024 < j_end ? first_j + 1024 : j_end;
      const index vectors_end = first_j + (tile_end - first_j) / 8 * 8;
      vreal sum0_0 = (vreal)(0.0);
      vreal sum1_0 = (vreal)(0.0);
      vreal sum2_0 = (vreal)(0.0);
      vreal sum3_0 = (vreal)(0.0);
      const auto pair = [&](const index j, const vmask live) __attribute__((always_inline)) {
        const vreal t0 = *(vfloat*)((float*)a->j[0] + j);
        const vreal t1 = *(vfloat*)((float*)a->j[1] + j);
        const vreal t2 = *(vfloat*)((float*)a->j[2] + j);
        const vreal t6_0 = t0 - t3_0;
        const vreal t7_0 = t1 - t4_0;
        const vreal t8_0 = t2 - t5_0;
        const vreal t10_0 = fused(t8_0, t8_0, t9);
        const vreal t11_0 = fused(t7_0, t7_0, t10_0);
        const vreal t12_0 = fused(t6_0, t6_0, t11_0);
        const vreal t13 = *(vfloat*)((float*)a->j[3] + j);
        const vreal t14_0 = rsqrt_estimate(t12_0);
        const vreal t16_0 = t12_0 * t14_0;
        const vreal t17_0 = -t14_0;
        const vreal t18_0 = fused(t16_0, t17_0, t15);
        const vreal t21_0 = fused(t18_0, t19, t20);
        const vreal t22_0 = t14_0 * t18_0;
        const vreal t23_0 = fused(t21_0, t22_0, t14_0);
        const vreal t24_0 = t23_0 * t23_0;
        const vreal t25_0 = t13 * t23_0;
        const vreal t26_0 = t24_0 * t25_0;
        const vreal t27_0 = t6_0 * t26_0;
        const vreal t28_0 = t7_0 * t26_0;
        const vreal t29_0 = t8_0 * t26_0;
        const vmask live_0 = exclusions ? without_excluded(a->exclusions[i], *(vnumbers*)(a->j_number + j), live) : live;
        sum0_0 = choose(live_0, fused(t6_0, t26_0, sum0_0), sum0_0);
        sum1_0 = choose(live_0, fused(t7_0, t26_0, sum1_0), sum1_0);
        sum2_0 = choose(live_0, fused(t8_0, t26_0, sum2_0), sum2_0);
        sum3_0 = choose(live_0, fused(t13, t23_0, sum3_0), sum3_0);
      };
      for (index j = first_j; j < vectors_end; j += 8) pair(j, all_lanes);
      if (vectors_end < tile_end) pair(vectors_end, lanes_below(tile_end - vectors_end));
      a->acc[0][i] += total(sum0_0);
      a->acc[1][i] += total(sum1_0);
      a->acc[2][i] += total(sum2_0);
      a->acc[3][i] += total(sum3_0);
    }
  }
}
extern "C" void nbcc_interact(const Arguments* a, index i_begin, index i_end, index j_begin, index j_end) {
  interact<false, false>(a, i_begin, i_end, j_begin, j_end);
}

// Applies common factors and finish(), once per i after its sums.
extern "C" void nbcc_finish(const Arguments* a, index i_begin, index i_end) {
  for (index i = i_begin; i < i_end; ++i) {
    const double s30 = -1.0;
    a->acc[3][i] = scaled(a->acc[3][i], s30);
  }
}
