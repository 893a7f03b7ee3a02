"""Uses of wide pairs on a GPU, to a tolerance: a step of k-means, nearest neighbours, an iteration of Sinkhorn.

    python3 bench/wide_uses.py

Milliseconds: means of ten calls among which none measures the error. Needs PyTorch with CUDA.
"""

import nbcc
import torch

from matrix_units import DISTANCE, INPUTS, milliseconds


def nearest(queries, centres, k, tolerance):
    """Milliseconds of the k nearest of `centres` for all `queries`, and the share of those that exact distances name."""
    d = queries.shape[1]
    array = f"[{k}]" if k > 1 else ""
    text = INPUTS + "output(argmin) index near" + array + ";\n" + DISTANCE + "near = argmin(near, r2);\n"
    f = nbcc.compile(source=text.format(d=d), device="cuda", precision="single")
    time = milliseconds(lambda: f(queries, centres, tolerance=tolerance))
    found = f(queries, centres, tolerance=tolerance)
    some = slice(0, 4096)
    exact = torch.cdist(queries[some].double(), centres.double(), compute_mode="donot_use_mm_for_euclid_dist")
    expected = exact.topk(k, largest=False).indices.squeeze()
    same = (torch.as_tensor(found)[some].to(expected.device).squeeze() == expected).double().mean().item()
    return time, same, f.statistics()


def sinkhorn(x, y, epsilon, tolerance):
    """Milliseconds of an iteration, which is two logsumexp over all pairs, and the precision of the products."""
    text = INPUTS + "input_j real gj;\nparam real epsilon;\noutput(logsumexp) real z;\n" + DISTANCE
    text += "z = logsumexp(z, (gj - r2) / epsilon);\nvoid finish() {{ z = -epsilon * z; }}\n"
    half = nbcc.compile(source=text.format(d=x.shape[1]), device="cuda", precision="single")
    f, g = torch.zeros(len(x), device="cuda"), torch.zeros(len(y), device="cuda")

    def iterate():
        nonlocal f, g
        f = half(xi=x, xj=y, gj=g, epsilon=epsilon, tolerance=tolerance)
        g = half(xi=y, xj=x, gj=f, epsilon=epsilon, tolerance=tolerance)

    time = milliseconds(iterate)
    found = half.statistics()
    return time, found["precision"], found["error"]


def main():
    torch.manual_seed(1)
    print(torch.cuda.get_device_name())
    x = torch.randn(1_000_000, 128, device="cuda")
    centres = x[:1024] + 0.1 * torch.randn(1024, 128, device="cuda")
    for tolerance in (None, 1e-2):
        time, same, found = nearest(x, centres, 1, tolerance)
        print(f"k-means: the nearest of 1024 centres of 10^6 x 128, tolerance {tolerance}: {time:.2f} ms, "
              f"{100 * same:.2f}% as exact, {found['method']} {found['precision']}", flush=True)
    few = x[:65536].contiguous()
    for tolerance in (None, 1e-2):
        time, same, found = nearest(few, few, 8, tolerance)
        print(f"8 nearest of 65536 x 128, tolerance {tolerance}: {time:.1f} ms, {100 * same:.2f}% as exact", flush=True)
    x, y = torch.randn(50_000, 64, device="cuda"), torch.randn(50_000, 64, device="cuda") + 0.5
    for tolerance in (None, 1e-2, 1e-5):
        time, precision, error = sinkhorn(x, y, 8.0, tolerance)
        print(f"Sinkhorn, 50000 points, d = 64, tolerance {tolerance}: {time:.2f} ms an iteration, "
              f"{precision}, error {error:.1e}", flush=True)


if __name__ == "__main__":
    main()
