"""Gaussian sums over points with many features on a GPU, and their gradients: nbcc beside a kernel in KeOps's scheme,
written by hand, and beside torch.compile. Needs CuPy and PyTorch. Prints milliseconds and ratios.

    python3 bench/features_on_gpu.py [D ...] [--points 16384] [--double]

The scheme of KeOps is that of keops_scheme.py. torch.compile fuses the formula with the difference; `product` is the form |x|^2 + |y|^2 - 2 x.y, which loses digits of small distances.
"""

import argparse

import cupy
import torch

import nbcc
from keops_scheme import fastest

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


def by_hand(d, x, y, w, gradient):
    """(milliseconds of the fastest size of blocks, sums); (None, None) if the scheme has no such kernel."""
    stream = cupy.cuda.Stream.from_external(torch.cuda.current_stream())
    with stream:
        found = fastest("gradient" if gradient else "sum", *(cupy.asarray(t) for t in (x, y, w)), milliseconds)
    return (None, None) if found is None else (found[0], torch.as_tensor(found[1]))


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
                hand, hand_sum = by_hand(d, x, y, w, gradient)
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
