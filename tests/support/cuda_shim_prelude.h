// What NVRTC has built in, as C++ for Clang on this CPU: put before the CUDA text. Blocks and threads take turns in one
// thread of the process, so that the places they read their numbers from are plain variables, which the shim sets
// whenever it changes from one thread to another.
#pragma once

namespace nbcc::test {

inline constexpr char kShimPrelude[] = R"prelude(
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; } __attribute__((aligned(16)));
struct double2 { double x, y; } __attribute__((aligned(16)));
struct longlong2 { long long x, y; } __attribute__((aligned(16)));
struct int2 { int x, y; };
struct int4 { int x, y, z, w; } __attribute__((aligned(16)));

// Written by the shim.
extern "C" {
__attribute__((visibility("default"))) uint3 nbcc_shim_thread, nbcc_shim_block;
__attribute__((visibility("default"))) dim3 nbcc_shim_threads, nbcc_shim_blocks;
__attribute__((visibility("default"))) void (*nbcc_shim_barrier)(int line);
__attribute__((visibility("default"))) void (*nbcc_shim_warp_barrier)(int line);
__attribute__((visibility("default"))) void (*nbcc_shim_wait)();
}
#define threadIdx nbcc_shim_thread
#define blockIdx nbcc_shim_block
#define blockDim nbcc_shim_threads
#define gridDim nbcc_shim_blocks
#define warpSize 32

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
// One copy serves all blocks, which run one after the other. `used`: what other threads do to it between two of a
// thread's own instructions is not to be reasoned away.
#define __shared__ static __attribute__((used, section("nbcc_shared")))
#define __constant__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict

#define __syncthreads() nbcc_shim_barrier(__LINE__)
// Nobody may come back and add to it before all have read it and one has cleared it.
static inline int nbcc_shim_or(int mine, int line) {
  static bool any;
  any |= mine != 0;
  nbcc_shim_barrier(line);
  const bool found = any;
  nbcc_shim_barrier(line);
  any = false;
  nbcc_shim_barrier(line);
  return found;
}
#define __syncthreads_or(mine) nbcc_shim_or(mine, __LINE__)
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline unsigned atomicAdd(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at = before + value;
  return before;
}
static inline unsigned atomicOr(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at = before | value;
  return before;
}
static inline int atomicAdd(int* at, int value) {
  const int before = *at;
  *at = before + value;
  return before;
}
static inline unsigned atomicExch(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at = value;
  return before;
}
// Counts up to `last` and begins again at 0.
static inline unsigned atomicInc(unsigned* at, unsigned last) {
  const unsigned before = *at;
  *at = before >= last ? 0 : before + 1;
  return before;
}

#define __syncwarp() nbcc_shim_warp_barrier(__LINE__)
template <typename T>
static inline T nbcc_shim_of_lane(T mine, int lane, int line) {
  static T values[1024];
  values[threadIdx.x] = mine;
  nbcc_shim_warp_barrier(line);
  const T found = values[threadIdx.x / 32 * 32 + lane];
  nbcc_shim_warp_barrier(line);
  return found;
}
#define __shfl_up_sync(lanes, mine, by) \
  nbcc_shim_of_lane(mine, (int)(threadIdx.x % 32) - ((int)(threadIdx.x % 32) < (by) ? 0 : (by)), __LINE__)
#define __shfl_sync(lanes, mine, from) nbcc_shim_of_lane(mine, from, __LINE__)
#define __shfl_xor_sync(lanes, mine, mask) nbcc_shim_of_lane(mine, (int)(threadIdx.x % 32) ^ (mask), __LINE__)
// The lanes whose number is the same.
static inline unsigned nbcc_shim_match(int mine, int line) {
  static int values[1024];
  values[threadIdx.x] = mine;
  nbcc_shim_warp_barrier(line);
  unsigned alike = 0;
  for (unsigned lane = 0; lane < 32 && threadIdx.x / 32 * 32 + lane < nbcc_shim_threads.x; ++lane)
    alike |= (unsigned)(values[threadIdx.x / 32 * 32 + lane] == mine) << lane;
  nbcc_shim_warp_barrier(line);
  return alike;
}
static inline unsigned nbcc_shim_ballot(bool mine, int line) {
  const unsigned alike = nbcc_shim_match(mine, line);
  return mine ? alike : ~alike;
}
#define __ballot_sync(lanes, mine) nbcc_shim_ballot(mine, __LINE__)
#define __any_sync(lanes, mine) (nbcc_shim_ballot(mine, __LINE__) != 0)
#define memcpy __builtin_memcpy
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
static inline unsigned long long atomicMax(unsigned long long* at, unsigned long long value) {
  const unsigned long long before = *at;
  *at = before < value ? value : before;
  return before;
}
static inline unsigned atomicMax(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at = before < value ? value : before;
  return before;
}
static inline unsigned atomicMin(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at = before < value ? before : value;
  return before;
}
static inline unsigned long long atomicAdd(unsigned long long* at, unsigned long long value) {
  const unsigned long long before = *at;
  *at = before + value;
  return before;
}

static inline float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
static inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
static inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
  return by == 0 ? low : by < 32 ? low >> by | high << (32 - by) : high;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  const unsigned long long both = (unsigned long long)high << 32 | low;
  return (unsigned)(both << (by & 31) >> 32);
}
static inline int __clz(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline double __longlong_as_double(long long bits) { return __builtin_bit_cast(double, bits); }
static inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
extern "C" char __start_nbcc_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_nbcc_shared[] __attribute__((weak, visibility("hidden")));
// The address that an instruction on global memory is given: a GPU faults where it is one of shared memory.
template <typename T>
static inline T* in_global_memory(T* at) {
  if ((const char*)at >= __start_nbcc_shared && (const char*)at < __stop_nbcc_shared) __builtin_trap();
  return at;
}
template <typename T>
static inline T __ldg(const T* at) { return *in_global_memory(at); }
template <typename T>
static inline T __ldcg(const T* at) { return *in_global_memory(at); }
template <typename T>
static inline T __ldcs(const T* at) { return *in_global_memory(at); }
template <typename T>
static inline void __stcg(T* at, T value) { *in_global_memory(at) = value; }

#define NBCC_SHIM_FUNCTION(name)  \
  extern "C" double name(double) noexcept; \
  extern "C" float name##f(float) noexcept;
NBCC_SHIM_FUNCTION(sqrt) NBCC_SHIM_FUNCTION(cbrt) NBCC_SHIM_FUNCTION(exp) NBCC_SHIM_FUNCTION(exp2)
NBCC_SHIM_FUNCTION(expm1) NBCC_SHIM_FUNCTION(log) NBCC_SHIM_FUNCTION(log2) NBCC_SHIM_FUNCTION(log10)
NBCC_SHIM_FUNCTION(log1p) NBCC_SHIM_FUNCTION(sin) NBCC_SHIM_FUNCTION(cos) NBCC_SHIM_FUNCTION(tan)
NBCC_SHIM_FUNCTION(asin) NBCC_SHIM_FUNCTION(acos) NBCC_SHIM_FUNCTION(atan) NBCC_SHIM_FUNCTION(sinh)
NBCC_SHIM_FUNCTION(asinh) NBCC_SHIM_FUNCTION(acosh) NBCC_SHIM_FUNCTION(atanh) NBCC_SHIM_FUNCTION(lgamma)
NBCC_SHIM_FUNCTION(tgamma)
NBCC_SHIM_FUNCTION(cosh) NBCC_SHIM_FUNCTION(tanh) NBCC_SHIM_FUNCTION(erf) NBCC_SHIM_FUNCTION(erfc)
NBCC_SHIM_FUNCTION(floor) NBCC_SHIM_FUNCTION(ceil) NBCC_SHIM_FUNCTION(round) NBCC_SHIM_FUNCTION(trunc)
NBCC_SHIM_FUNCTION(rint) NBCC_SHIM_FUNCTION(fabs)
#undef NBCC_SHIM_FUNCTION
#define NBCC_SHIM_FUNCTION(name)  \
  extern "C" double name(double, double) noexcept; \
  extern "C" float name##f(float, float) noexcept;
NBCC_SHIM_FUNCTION(pow) NBCC_SHIM_FUNCTION(atan2) NBCC_SHIM_FUNCTION(copysign) NBCC_SHIM_FUNCTION(fmin)
NBCC_SHIM_FUNCTION(fmax) NBCC_SHIM_FUNCTION(fmod) NBCC_SHIM_FUNCTION(hypot)
#undef NBCC_SHIM_FUNCTION
extern "C" double ldexp(double, int) noexcept;
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" void sincos(double, double*, double*) noexcept;
extern "C" void sincosf(float, float*, float*) noexcept;
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

static inline float rsqrtf(float x) { return (float)(1 / sqrt((double)x)); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }

// sin(pi x) of |x| <= 1/4 and cos(pi x) are as good as sin and cos; what is whole is taken away exactly before.
static inline double nbcc_shim_half_turns(double x, double* quarter) {
  const double whole = 2 * floor(x / 2 + 0.5);  // x - whole is in [-1, 1)
  const double rest = x - whole;
  *quarter = rint(2 * rest);
  return (rest - *quarter / 2) * 3.14159265358979323846;
}
static inline double sinpi(double x) {
  double quarter;
  const double angle = nbcc_shim_half_turns(x, &quarter);
  if (quarter == 0) return sin(angle);
  if (quarter == 1) return cos(angle);
  if (quarter == -1) return -cos(angle);
  return angle == angle ? -sin(angle) : angle;
}
static inline double cospi(double x) {
  double quarter;
  const double angle = nbcc_shim_half_turns(x, &quarter);
  if (quarter == 0) return cos(angle);
  if (quarter == 1) return -sin(angle);
  if (quarter == -1) return sin(angle);
  return angle == angle ? -cos(angle) : angle;
}
static inline float sinpif(float x) { return (float)sinpi(x); }
static inline float cospif(float x) { return (float)cospi(x); }

// What the text writes as instructions of the GPU. Estimates have errors like theirs: float within 2^-23 of the
// true value (GPU: 2^-22.9 to 2 ulp), and never by chance exact.
#define NBCC_EMULATED_GPU
static inline float nbcc_shim_flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }
static inline float nbcc_shim_blurred(double exact) {
  const double sign = __double_as_longlong(exact) & 1 ? 0x1p-24 : -0x1p-24;
  return nbcc_shim_flushed((float)(exact * (1 + sign)));
}
static inline float rsqrt_estimate(float x) { return nbcc_shim_blurred(1 / sqrt((double)nbcc_shim_flushed(x))); }
// Reads and writes the upper halves only, as the GPU does: up to 2^-20 off.
static inline double rsqrt_estimate(double x) {
  if (fabs(x) < 0x1p-1022) x = copysign(0.0, x);
  const long long upper = (long long)0xffffffff00000000ull;
  const double y = 1 / sqrt(__longlong_as_double(__double_as_longlong(x) & upper));
  return __longlong_as_double((__double_as_longlong(y) + 0x80000000ll) & upper);
}
static inline float quotient(float a, float b) {
  return nbcc_shim_blurred((double)nbcc_shim_flushed(a) / (double)nbcc_shim_flushed(b));
}
static inline float reciprocal(float x) { return nbcc_shim_blurred(1 / (double)nbcc_shim_flushed(x)); }
static inline float exp2_estimate(float x) { return nbcc_shim_blurred(exp2((double)nbcc_shim_flushed(x))); }
static inline float square_root(float x) { return nbcc_shim_blurred(sqrt((double)nbcc_shim_flushed(x))); }
static inline unsigned sign(float x) { return x < 0 ? 0x80000000u : 0u; }
static inline float larger(float a, float b) { return a < b ? b : a != a || b != b ? a + b : a; }
static inline long long nbcc_shim_bits(float x) { return __builtin_bit_cast(int, x); }
static inline long long nbcc_shim_bits(double x) { return __builtin_bit_cast(long long, x); }
template <typename... T>
static inline bool all_zero(T... x) {
  return ((nbcc_shim_bits(x) == 0) && ...);
}
template <typename T>
static inline void add_if(bool counts, T x, T& sum) {
  if (counts) sum += x;
}
static inline void add_product_if(bool counts, float a, float b, float& sum) {
  if (counts) sum = fmaf(a, b, sum);
}
static inline void add_product_if(bool counts, double a, double b, double& sum) {
  if (counts) sum = fma(a, b, sum);
}
static inline unsigned highest_bit(unsigned word) { return word ? 31u - (unsigned)__builtin_clz(word) : ~0u; }
static inline unsigned long long nanoseconds() {
  static unsigned long long calls = 0;  // time goes on
  return __atomic_add_fetch(&calls, 1000, __ATOMIC_RELAXED);
}
static inline unsigned lanes_below() { return (1u << threadIdx.x % 32) - 1; }
#define match_any(digit) nbcc_shim_match(digit, __LINE__)
static inline unsigned nbcc_shim_half(float x) { return __builtin_bit_cast(unsigned short, (_Float16)x); }
static inline float nbcc_shim_low(unsigned both) { return (float)__builtin_bit_cast(_Float16, (unsigned short)both); }
static inline unsigned half2_of(float low, float high) { return nbcc_shim_half(low) | nbcc_shim_half(high) << 16; }
static inline float nbcc_shim_fma(float a, float b, float c) { return (float)((double)a * b + c); }
static inline unsigned fma_half2(unsigned a, unsigned b, unsigned c) {
  return half2_of(nbcc_shim_fma(nbcc_shim_low(a), nbcc_shim_low(b), nbcc_shim_low(c)),
                    nbcc_shim_fma(nbcc_shim_low(a >> 16), nbcc_shim_low(b >> 16), nbcc_shim_low(c >> 16)));
}
static inline unsigned less_half2(unsigned a, unsigned b) {
  return (nbcc_shim_low(a) < nbcc_shim_low(b) ? 0xffffu : 0) |
         (nbcc_shim_low(a >> 16) < nbcc_shim_low(b >> 16) ? 0xffff0000u : 0);
}
static inline unsigned max_half2(unsigned a, unsigned b) {
  const unsigned less = less_half2(a, b);
  return (b & less) | (a & ~less);
}
static inline unsigned min_half2(unsigned a, unsigned b) { return a ^ b ^ max_half2(a, b); }
struct uint4 { unsigned x, y, z, w; } __attribute__((aligned(16)));
static inline unsigned shared_address(const void* at) { return (unsigned)((const char*)at - __start_nbcc_shared); }
static inline uint4 load_global4(const void* at) {
  typedef const volatile unsigned Word __attribute__((may_alias));  // read, wherever it is
  Word* const words = (Word*)in_global_memory(at);
  return {words[0], words[1], words[2], words[3]};
}
static inline uint4 load_shared4(unsigned at) { return *(uint4*)(__start_nbcc_shared + at); }
static inline unsigned load_shared(unsigned at) { return *(unsigned*)(__start_nbcc_shared + at); }
static inline void store_shared(unsigned at, uint4 f) { *(uint4*)(__start_nbcc_shared + at) = f; }
static inline void store_shared(unsigned at, unsigned word) { *(unsigned*)(__start_nbcc_shared + at) = word; }
static inline void store_shared_half(unsigned at, unsigned half) {
  *(unsigned short*)(__start_nbcc_shared + at) = (unsigned short)half;
}
static inline void store_shared_halves(unsigned low_at, unsigned high_at, unsigned both) {
  store_shared_half(low_at, both), store_shared_half(high_at, both >> 16);
}
static inline unsigned arrive(unsigned* counter) { return atomicAdd(in_global_memory(counter), 1u); }
static inline unsigned load_relaxed(const unsigned* word) { return __atomic_load_n(in_global_memory(word), __ATOMIC_RELAXED); }
static inline unsigned load_acquire(const unsigned* word) { return __atomic_load_n(in_global_memory(word), __ATOMIC_ACQUIRE); }
static inline void store_relaxed(unsigned* word, unsigned value) {
  __atomic_store_n(in_global_memory(word), value, __ATOMIC_RELAXED);
}
static inline void store_release(unsigned* word, unsigned value) {
  __atomic_store_n(in_global_memory(word), value, __ATOMIC_RELEASE);
}
// Matrix instructions. Lanes exchange their operands through memory.
static inline float scalbnf(float x, int exponent) { return (float)ldexp((double)x, exponent); }
static inline unsigned short half_of(float x) { return (unsigned short)nbcc_shim_half(x); }
static inline float float_of_half(unsigned short half) { return nbcc_shim_low(half); }
static inline void nbcc_shim_load_matrices(unsigned (&to)[4], unsigned from, int line) {
  static unsigned rows[1024];
  rows[threadIdx.x] = from;
  nbcc_shim_warp_barrier(line);
  const unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane;
  for (unsigned matrix = 0; matrix < 4; ++matrix)
    to[matrix] = load_shared(rows[first + 8 * matrix + lane / 4] + 4 * (lane % 4));
  nbcc_shim_warp_barrier(line);
}
#define load_matrices(to, from) nbcc_shim_load_matrices(to, from, __LINE__)
// Products and their sums in double precision; the matrix units of a GPU add in single precision.
static inline void nbcc_shim_add_product(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, int line) {
  static unsigned of_a[1024][4], of_b[1024][2];
  for (int k = 0; k < 4; ++k) of_a[threadIdx.x][k] = a[k];
  of_b[threadIdx.x][0] = b0, of_b[threadIdx.x][1] = b1;
  nbcc_shim_warp_barrier(line);
  const unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane;
  for (unsigned element = 0; element < 4; ++element) {
    const unsigned row = lane / 4, column = lane % 4 * 2 + element % 2;
    double total = sum[element];
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned word = of_a[first + row * 4 + k % 8 / 2][element / 2 + k / 8 * 2] >> 16 * (k % 2);
      total += (double)nbcc_shim_low(word) * nbcc_shim_low(of_b[first + column * 4 + k % 8 / 2][k / 8] >> 16 * (k % 2));
    }
    sum[element] = (float)total;
  }
  nbcc_shim_warp_barrier(line);
}
#define add_product(sum, a, b0, b1) nbcc_shim_add_product(sum, a, b0, b1, __LINE__)
static inline float upper_bits(float x) {
  return x == x ? __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u) : x;
}
static inline void nbcc_shim_add_array_product(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                               int line) {
  static unsigned of_a[1024][4], of_b[1024][2];
  for (int k = 0; k < 4; ++k) of_a[threadIdx.x][k] = a[k] & 0xffffe000u;
  of_b[threadIdx.x][0] = b0 & 0xffffe000u, of_b[threadIdx.x][1] = b1 & 0xffffe000u;
  nbcc_shim_warp_barrier(line);
  const unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane;
  for (unsigned element = 0; element < 4; ++element) {
    double total = sum[element];
    for (unsigned k = 0; k < 8; ++k)
      total += (double)__uint_as_float(of_a[first + lane / 4 * 4 + k % 4][element / 2 + k / 4 * 2]) *
               __uint_as_float(of_b[first + (lane % 4 * 2 + element % 2) * 4 + k % 4][k / 4]);
    sum[element] = (float)total;
  }
  nbcc_shim_warp_barrier(line);
}
#define add_array_product(sum, a, b0, b1) nbcc_shim_add_array_product(sum, a, b0, b1, __LINE__)
static inline void copy_16(unsigned to, const void* from) { store_shared(to, load_global4(from)); }
static inline void commit_copies() {}
template <int n>
static inline void wait_for_copies() {}
static inline void pdl_wait() { nbcc_shim_wait(); }
static inline void pdl_trigger() {}
#line 1 "kernel.cu"
)prelude";

// Behind the CUDA text: calls a kernel with its arguments where cuLaunchKernel's list says that they are, and tells how
// large they are.
inline constexpr char kShimPostlude[] = R"postlude(
template <int... N>
struct nbcc_shim_numbers {};
template <typename T, T... N>
using nbcc_shim_sequence = nbcc_shim_numbers<N...>;
template <typename... A, int... N>
static void nbcc_shim_call(void (*kernel)(A...), void** at, nbcc_shim_numbers<N...>) { kernel(*(A*)at[N]...); }
template <typename... A>
static void nbcc_shim_call(void (*kernel)(A...), void** at) {
  nbcc_shim_call(kernel, at, __make_integer_seq<nbcc_shim_sequence, int, sizeof...(A)>());
}
template <typename... A>
static int nbcc_shim_size(void (*)(A...), int k) {
  const int sizes[] = {(int)sizeof(A)..., -1};
  return sizes[k];
}
extern "C" {
extern char __start_nbcc_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_nbcc_shared[] __attribute__((weak, visibility("hidden")));
__attribute__((visibility("default"))) char* nbcc_shim_shared_begin() { return __start_nbcc_shared; }
__attribute__((visibility("default"))) char* nbcc_shim_shared_end() { return __stop_nbcc_shared; }
}
#define NBCC_SHIM_KERNEL(name, bounds)                                                                               \
  extern "C" __attribute__((visibility("default"))) void nbcc_shim_call_##name(void** at) { nbcc_shim_call(name, at); } \
  extern "C" __attribute__((visibility("default"))) int nbcc_shim_size_##name(int k) { return nbcc_shim_size(name, k); } \
  extern "C" __attribute__((visibility("default"))) int nbcc_shim_bounds_##name() { return bounds; }
)postlude";

}  // namespace nbcc::test
