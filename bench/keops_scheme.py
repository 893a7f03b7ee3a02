"""KeOps's scheme on a GPU, written by hand: a CUDA source for each sum that the programs beside this file measure.

One i per thread; tiles of j in shared memory. The coordinates of i are in registers, for more than 64 of them in pieces of 64,
with the squared distances to a tile in local memory.
"""

SLOTS = 8  # of argkmin
MAX_REGISTERS = 64  # coordinates of i that a thread keeps

# What a pair with the squared distance r2 and the weight w adds, and what a thread stores. `d` is y - x, [k].
_BODIES = {
    "sum": ("real sum = 0;", "sum += w * EXP(-r2 / 2);", "s[i] = sum;"),
    "gradient": (
        "real slope[D] = {}, sum = 0;",
        """const real e = w * EXP(-r2 / 2);
      sum += e;
#pragma unroll
      for (int k = 0; k < D; ++k) slope[k] += e * (y_j[k] - own[k]);""",
        "s[i] = sum; for (int k = 0; k < D; ++k) g[i * (long long)D + k] = slope[k];",
    ),
    "logsumexp": (
        "real most = -INFINITE, sum = 0;",
        """const real term = -r2 / 2;
      if (term > most) {
        sum = sum * EXP(most - term) + 1;
        most = term;
      } else {
        sum += EXP(term - most);
      }""",
        "s[i] = most + LOG(sum);",
    ),
    "argkmin": (
        "real least[SLOTS]; int near[SLOTS]; for (int m = 0; m < SLOTS; ++m) least[m] = INFINITE, near[m] = 0;",
        """real value = r2;
      int number = j;
#pragma unroll
      for (int m = 0; m < SLOTS; ++m)
        if (value < least[m]) {
          const real next = least[m];
          const int next_number = near[m];
          least[m] = value, near[m] = number;
          value = next, number = next_number;
        }""",
        "for (int m = 0; m < SLOTS; ++m) g[i * (long long)SLOTS + m] = near[m];",
    ),
}

# s: [n], of sums; g: [n][D] of gradients, [n][SLOTS] of indices.
_WHOLE = """
extern "C" __global__ void scheme(const real* x, const real* y, const real* weight, real* s, real* g, int n) {
  __shared__ real tile[TILE * D], weights[TILE];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  real own[D];
  @begin
  for (int k = 0; k < D; ++k) own[k] = i < n ? x[i * (long long)D + k] : 0;
  for (int first = 0; first < n; first += TILE) {
    __syncthreads();
    const long long begin = first * (long long)D, end = n * (long long)D;
    for (int k = threadIdx.x; k < TILE * D; k += blockDim.x) tile[k] = begin + k < end ? y[begin + k] : 0;
    for (int k = threadIdx.x; k < TILE; k += blockDim.x) weights[k] = first + k < n ? weight[first + k] : 0;
    __syncthreads();
    for (int at = 0; at < TILE && first + at < n; ++at) {
      const real* const y_j = tile + at * D;
      const real w = weights[at];
      const int j = first + at;
      real r2 = 0;
#pragma unroll
      for (int k = 0; k < D; ++k) { const real d = y_j[k] - own[k]; r2 += d * d; }
      @add
    }
  }
  if (i < n) { @store }
}
"""
_PIECES = """
extern "C" __global__ void scheme(const real* x, const real* y, const real* weight, real* s, real* g, int n) {
  constexpr int P = 64;
  __shared__ real tile[TILE * P];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  @begin
  for (int first = 0; first < n; first += TILE) {
    real squares[TILE];
    for (int at = 0; at < TILE; ++at) squares[at] = 0;
    for (int piece = 0; piece < D; piece += P) {
      real own[P];
#pragma unroll
      for (int k = 0; k < P; ++k) own[k] = i < n && piece + k < D ? x[i * (long long)D + piece + k] : 0;
      __syncthreads();
      for (int at = threadIdx.x; at < TILE * P; at += blockDim.x) {
        const int j = first + at / P, k = piece + at % P;
        tile[at] = j < n && k < D ? y[j * (long long)D + k] : 0;
      }
      __syncthreads();
      for (int at = 0; at < TILE; ++at) {
        real part = 0;
#pragma unroll
        for (int k = 0; k < P; ++k) { const real d = tile[at * P + k] - own[k]; part += d * d; }
        squares[at] += part;
      }
    }
    for (int at = 0; at < TILE && first + at < n; ++at) {
      const int j = first + at;
      const real w = weight[j], r2 = squares[at];
      @add
    }
  }
  if (i < n) { @store }
}
"""
BLOCKS = (64, 128, 192, 256)  # threads


def source(kind, dimension, single, threads):
    """The source of kernel `scheme` for blocks of so many threads; None if the scheme has no such kernel.

    kind: "sum", "gradient" (with the sum), "logsumexp" or "argkmin".
    """
    whole = dimension <= MAX_REGISTERS
    if kind == "gradient" and not whole:
        return None
    tile = min(threads, 48 * 1024 // ((4 if single else 8) * (min(dimension, MAX_REGISTERS) + 1)) // 8 * 8)
    begin, add, store = _BODIES[kind]
    names = {
        "D": dimension,
        "TILE": tile,
        "SLOTS": SLOTS,
        "EXP": "__expf" if single else "exp",
        "LOG": "__logf" if single else "log",
        "INFINITE": "__int_as_float(0x7f800000)" if single else "__longlong_as_double(0x7ff0000000000000LL)",
    }
    text = (_WHOLE if whole else _PIECES).replace("@begin", begin).replace("@add", add).replace("@store", store)
    defines = "".join(f"#define {name} {value}\n" for name, value in names.items())
    return f"{defines}typedef {'float' if single else 'double'} real;\n{text}"


def fastest(kind, x, y, weight, milliseconds):
    """(time, s, g) of the fastest size of blocks, for CuPy's arrays (n, D), (n, D), (n,); None if there is no such kernel.

    milliseconds: a function that calls another and returns its time.
    """
    import cupy

    n, dimension = x.shape
    s, g = cupy.empty_like(weight), cupy.empty((n, SLOTS if kind == "argkmin" else dimension), x.dtype)
    best = None
    for threads in BLOCKS:
        text = source(kind, dimension, x.dtype == cupy.float32, threads)
        if text is None:
            return None
        kernel = cupy.RawKernel(text, "scheme", options=("--use_fast_math",))
        grid, arguments = ((n + threads - 1) // threads,), (x, y, weight, s, g, cupy.int32(n))
        time = milliseconds(lambda: kernel(grid, (threads,), arguments))
        best = time if best is None else min(best, time)
    return best, s, g
