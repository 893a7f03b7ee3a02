"""Pairs of wide vectors on a GPU: without a tolerance, and by matrix instructions (tolerance 1e-2 and 2e-6).

    python3 bench/matrix_units.py [--n 16384] [--elements 64,200,784]

Prints one line for each text and number of elements: milliseconds a call, mean of 10 calls between two events; the
precision that the tolerance chose; the error that was measured. torch.cdist with topk beside the nearest neighbours.
Needs PyTorch with CUDA.
"""

import argparse

import nbcc
import torch

INPUTS = "input_i real xi[{d}];\ninput_j real xj[{d}];\n"
DISTANCE = "real r2 = 0;\nfor (int k = 0; k < {d}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);\n"
TEXTS = {
    "Gaussian sum": INPUTS + "output(sum) real s;\n" + DISTANCE + "s += exp(-r2 / {d});\n",
    "logsumexp": INPUTS + "output(logsumexp) real z;\n" + DISTANCE + "z = logsumexp(z, -r2 / {d});\n",
    "nearest": INPUTS + "output(argmin) index near;\noutput(min) real r;\n" + DISTANCE
    + "near = argmin(near, r2);\nr = min(r, r2);\nvoid finish() {{ r = sqrt(r); }}\n",
    "8 nearest": INPUTS + "output(argmin) index near[8];\n" + DISTANCE + "near = argmin(near, r2);\n",
    "8 nearest and distances": INPUTS + "output(argmin) index near[8];\noutput(at) real r[8];\n" + DISTANCE
    + "near = argmin(near, r2);\nr = at(near, r2);\n",
    "gradient": INPUTS + "output(sum) real s;\noutput(sum) real g[{d}];\n" + DISTANCE
    + "real e = exp(-r2 / {d});\ns += e;\nfor (int k = 0; k < {d}; ++k) g[k] += grad(e, xi[k]);\n",
    "attention": "input_i real qi[{d}];\ninput_j real kj[{d}];\ninput_j real vj[{d}];\noutput(softmax) real y[{d}];\n"
    "real alike = 0;\nfor (int c = 0; c < {d}; ++c) alike += qi[c] * kj[c];\nreal logit = alike / sqrt({d}.0);\n"
    "for (int c = 0; c < {d}; ++c) y[c] = softmax(y[c], logit, vj[c]);\n",
}


def milliseconds(call, calls=10):
    """Mean time of a call. The error is measured in calls 1, 2, 4, 8, 16 and 32, which are not among those timed."""
    for _ in range(20):
        call()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=16384)
    parser.add_argument("--elements", default="64,200,784")
    parser.add_argument("--texts", default=",".join(TEXTS))
    parser.add_argument("--without", action=argparse.BooleanOptionalAction, default=True)
    chosen = parser.parse_args()
    print(torch.cuda.get_device_name(), "n =", chosen.n)
    torch.manual_seed(1)
    for d in map(int, chosen.elements.split(",")):
        x, y, v = (torch.randn(chosen.n, d, device="cuda") for _ in range(3))
        for name in chosen.texts.split(","):
            f = nbcc.compile(source=TEXTS[name].format(d=d), device="cuda", precision="single")
            arrays = (x, y, v) if name == "attention" else (x, y)
            row = []
            for tolerance in ((None,) if chosen.without else ()) + (1e-2, 2e-6):
                try:
                    time = milliseconds(lambda: f(*arrays, tolerance=tolerance))
                    found = f.statistics()
                    row.append(f"{time:.3f}" + (f" ({found['precision']}, {found['error']:.1e})" if tolerance else ""))
                except nbcc.Error as error:
                    row.append(str(error).splitlines()[0][:60])
            print(f"D = {d:4} {name:22}", " | ".join(row), flush=True)
        if any("nearest" in name for name in chosen.texts.split(",")):
            time = milliseconds(lambda: torch.cdist(x, y).topk(8, largest=False))
            print(f"D = {d:4} torch.cdist and topk(8): {time:.3f}", flush=True)
        if "attention" in chosen.texts.split(","):
            q, k, w = (a[None, None] for a in (x, y, v))
            attend = torch.nn.functional.scaled_dot_product_attention
            half = [a.to(torch.bfloat16) for a in (q, k, w)]
            print(f"D = {d:4} PyTorch's attention: {milliseconds(lambda: attend(q, k, w)):.3f}, bfloat16 "
                  f"{milliseconds(lambda: attend(*half)):.3f}", flush=True)


if __name__ == "__main__":
    main()
