"""Gaussian sums over points with many features on a GPU, and their gradients: nbcc beside a kernel in KeOps's scheme,
written by hand, and beside torch.compile. Needs CuPy and PyTorch. Prints milliseconds and ratios.

    python3 bench/features_on_gpu.py [D ...] [--points 16384] [--double]

The scheme of KeOps: one i per thread, tiles of j in shared memory; the coordinates of i in registers, for more than 64
of them in pieces of 64, with the squared distances to a tile in local memory. torch.compile fuses the formula with the
difference; `product` is the form |x|^2 + |y|^2 - 2 x.y, which loses digits of small distances.
"""

import argparse

import cupy
import torch

import nbcc

HAND = r"""
#define D %(D)d
#define TILE %(tile)d
typedef %(real)s real;
extern "C" __global__ void whole(const real* x, const real* y, const real* w, real* s, real* g, int n) {
  __shared__ real tile[TILE * D], weight[TILE];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  real own[D], slope[D] = {}, sum = 0;
  for (int k = 0; k < D; ++k) own[k] = i < n ? x[i * (long long)D + k] : 0;
  for (int first = 0; first < n; first += TILE) {
    __syncthreads();
    const long long begin = first * (long long)D, end = n * (long long)D;
    for (int k = threadIdx.x; k < TILE * D; k += blockDim.x) tile[k] = begin + k < end ? y[begin + k] : 0;
    if (threadIdx.x < TILE) weight[threadIdx.x] = first + threadIdx.x < n ? w[first + threadIdx.x] : 0;
    __syncthreads();
    for (int j = 0; j < TILE; ++j) {
      real r2 = 0;
#pragma unroll
      for (int k = 0; k < D; ++k) { const real d = tile[j * D + k] - own[k]; r2 += d * d; }
      const real e = weight[j] * %(exp)s(-r2 / 2);
      sum += e;
      if (%(gradient)d) {
#pragma unroll
        for (int k = 0; k < D; ++k) slope[k] += e * (tile[j * D + k] - own[k]);
      }
    }
  }
  if (i >= n) return;
  s[i] = sum;
  if (%(gradient)d) for (int k = 0; k < D; ++k) g[i * (long long)D + k] = slope[k];
}
extern "C" __global__ void pieces(const real* x, const real* y, const real* w, real* s, int n) {
  constexpr int P = 64;
  __shared__ real tile[TILE * P];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  real sum = 0;
  for (int first = 0; first < n; first += TILE) {
    real r2[TILE];
    for (int j = 0; j < TILE; ++j) r2[j] = 0;
    for (int piece = 0; piece < D; piece += P) {
      real own[P];
#pragma unroll
      for (int k = 0; k < P; ++k) own[k] = i < n && piece + k < D ? x[i * (long long)D + piece + k] : 0;
      __syncthreads();
      for (int at = threadIdx.x; at < TILE * P; at += blockDim.x) {
        const int j = first + at / P, k = piece + at %% P;
        tile[at] = j < n && k < D ? y[j * (long long)D + k] : 0;
      }
      __syncthreads();
      for (int j = 0; j < TILE; ++j) {
        real part = 0;
#pragma unroll
        for (int k = 0; k < P; ++k) { const real d = tile[j * P + k] - own[k]; part += d * d; }
        r2[j] += part;
      }
    }
    for (int j = 0; j < TILE && first + j < n; ++j) sum += w[first + j] * %(exp)s(-r2[j] / 2);
  }
  if (i < n) s[i] = sum;
}
"""


def text(d, gradient):
    return f"""input_i real xi[{d}]; input_j real xj[{d}]; input_j real wj; output(sum) real s;
{f'output(sum) real g[{d}];' if gradient else ''}
real r2 = 0;
for (int k = 0; k < {d}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);
real e = wj * exp(-r2 / 2);
s += e;
{f'for (int k = 0; k < {d}; ++k) g[k] += grad(e, xi[k]);' if gradient else ''}"""


def milliseconds(call, repeat=5):
    call()
    torch.cuda.synchronize()
    found = []
    for _ in range(repeat):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end))
    return min(found)


def by_hand(d, x, y, w, gradient, single):
    """The fastest of some sizes of blocks; None if it has no such kernel."""
    n = len(x)
    s, g = torch.empty_like(w), torch.empty_like(x)
    best = None
    pointers = [cupy.asarray(t) for t in (x, y, w, s, g)]
    for threads in (64, 128, 192, 256):
        size = 4 if single else 8
        tile = min(threads, 48 * 1024 // (size * (min(d, 64) + 1)) // 8 * 8)
        if gradient and d > 64:
            return None, None
        holes = {"D": d, "tile": tile, "real": "float" if single else "double",
                 "exp": "__expf" if single else "exp", "gradient": int(gradient)}
        source = HAND % holes
        source = source[: source.index('extern "C" __global__ void pieces')] if d <= 64 else (
            source[: source.index('extern "C"')] + source[source.index('extern "C" __global__ void pieces'):])
        kernel = cupy.RawKernel(source, "whole" if d <= 64 else "pieces", options=("--use_fast_math",))
        arguments = (*pointers, cupy.int32(n)) if d <= 64 else (*pointers[:4], cupy.int32(n))
        stream = cupy.cuda.Stream.from_external(torch.cuda.current_stream())
        with stream:
            time = milliseconds(lambda: kernel(((n + threads - 1) // threads,), (threads,), arguments))
        if best is None or time < best:
            best = time
    return best, s.clone()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("d", nargs="*", type=int, default=[8, 16, 33, 64, 200, 784])
    arguments.add_argument("--points", type=int, default=16384)
    arguments.add_argument("--double", action="store_true")
    given = arguments.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    kind = torch.float64 if given.double else torch.float32
    print(f"{torch.cuda.get_device_name()}, {given.points} points, {kind}; ms")
    print(f"{'D':>4} {'what':<9}{'nbcc':>9}{'hand':>9}{'torch':>9}{'product':>9}  nbcc/hand nbcc/torch nbcc/product  error")
    for d in given.d:
        torch.manual_seed(1)
        n = given.points
        x = torch.randn(n, d, device="cuda", dtype=kind) / d**0.5
        y = torch.randn(n, d, device="cuda", dtype=kind) / d**0.5
        w = torch.rand(n, device="cuda", dtype=kind)

        def difference(x, y, w):
            return torch.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(-1) / 2) @ w

        def product(x, y, w):
            r2 = (x * x).sum(1)[:, None] + (y * y).sum(1)[None, :] - 2 * (x @ y.T)
            return torch.exp(r2 / -2) @ w

        def slope(x, y, w):
            e = torch.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(-1) / 2) * w
            return e.sum(1), e @ y - e.sum(1)[:, None] * x

        forward = None
        for what in ("sum", "gradient"):
            gradient = what == "gradient"
            kernel = nbcc.compile(source=text(d, gradient), precision="double" if given.double else "single")
            got = kernel(xi=x, xj=y, wj=w)
            got = got[0] if gradient else got
            nbcc_time = milliseconds(lambda: kernel(xi=x, xj=y, wj=w))
            try:
                hand, hand_sum = by_hand(d, x, y, w, gradient, not given.double)
            except Exception as no:
                print("by hand:", str(no)[:200])
                hand = hand_sum = None
            torch_time = product_time = float("nan")
            try:
                call = torch.compile(slope if gradient else difference)
                torch_time = milliseconds(lambda: call(x, y, w), 3)
            except Exception as no:
                print("torch.compile:", str(no)[:200])
            exact = product(x.double()[:512], y.double(), w.double())
            error = ((got[:512].double() - exact).abs() / exact).max().item()
            if not gradient:
                call = torch.compile(product)
                product_time = milliseconds(lambda: call(x, y, w), 3)
                forward = nbcc_time
            hand = hand or float("nan")
            print(f"{d:4d} {what:<9}{nbcc_time:9.2f}{hand:9.2f}{torch_time:9.2f}{product_time:9.2f}  {nbcc_time/hand:9.2f} "
                  f"{nbcc_time/torch_time:10.2f} {nbcc_time/product_time:12.2f}  {error:.1e}"
                  + (f"  {nbcc_time/forward:.2f} of the sum" if gradient else ""), flush=True)
            torch._dynamo.reset()


if __name__ == "__main__":
    main()
