#!/usr/bin/env python3
"""Whether two builds give the same bits on this machine's CPU: `record` writes what one gives, `check` compares another.

    same_bits.py record LIBRARY FILE [PIPE...]     LIBRARY: a libnbcc_jit.so
    same_bits.py check  LIBRARY FILE [PIPE...]     exit code 1 where one differs

For changes that must not change a result. Without pipelines: those of the library, of the examples and of GRAPE. Each is
run in every precision and instruction set, over all i, over a list of some, with offsets and one output at a time;
digests of the outputs are compared, so a record holds for the machine that it was made on.
"""
import hashlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def pipelines():
    found = [*ROOT.glob("pipelines/*.pipe"), *ROOT.glob("examples/*/*.pipe"), *ROOT.glob("bindings/*/*.pipe")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def inputs(numpy, pipeline, ni, nj):
    random = numpy.random.default_rng(20261122)
    arrays = []
    for field in pipeline.fields:
        count = {"input_i": (ni,), "input_j": (nj,), "param": ()}.get(field.role)
        if count is None:
            continue
        shape = count + tuple(field.shape)
        if field.default is not None:
            arrays.append(numpy.reshape(field.default, shape))
        elif field.integral:
            arrays.append(random.integers(0, 7, shape))
        else:
            # Multiples of 1/1024, as of a box of length 2: some pairs coincide, and differences are exact.
            arrays.append(random.integers(1 if field.role == "param" else -1024, 1024, shape) / 1024.0)
    return arrays


def digests(nbcc, numpy, path, isa, precision):
    try:
        pipeline = nbcc.compile(ROOT / path, isa=isa, precision=precision, device="cpu", threads=2)
    except nbcc.UsageError as e:
        return {"refused": str(e)}
    arrays = inputs(numpy, pipeline, 337, 5003)
    few = numpy.array([330, 1, 2, 64, 17])

    counts = {} if any(f.role == "input_j" for f in pipeline.fields) else {"nj": 5003}
    outputs = [field for field in pipeline.fields if field.role == "output"]

    def digest(fields_wanted=outputs, **choice):
        out = {f.name: numpy.zeros((337, *f.shape), "i8" if f.integral else "f8") for f in fields_wanted}
        pipeline(*arrays, **choice, **counts, outputs=list(out), out=out)
        return hashlib.sha256(b"".join(array.tobytes() for array in out.values())).hexdigest()[:16]

    return {
        "all": digest(),
        "list": digest(i=few),
        "offsets": digest(i=slice(3, 200), i_offset=5, j_offset=7),
        **{"only " + field.name: digest([field]) for field in outputs},
    }


def main():
    what, library, file, *paths = sys.argv[1:]
    os.environ["NBCC_LIBRARY"] = os.path.abspath(library)
    sys.path.insert(0, str(ROOT / "bindings/python"))
    import numpy
    import nbcc
    import warnings

    warnings.simplefilter("ignore")
    paths = [os.path.relpath(os.path.abspath(p), ROOT) for p in paths] or pipelines()
    isas = ["sse2", "avx2"] + (["avx512"] if "avx512" in nbcc.info()["cpu"] else [])
    cases = [(path, isa, precision) for path in paths for isa in isas for precision in ("single", "mixed", "double")]
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda case: digests(nbcc, numpy, *case), cases)
        found = {" ".join(case): result for case, result in zip(cases, results)}
    if what == "record":
        Path(file).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        print(f"{len(found)} kernels recorded")
        return
    before = json.loads(Path(file).read_text())
    differ = [
        f"{case}: {run}"
        for case, runs in found.items()
        for run, digest in runs.items()
        if before.get(case, {}).get(run) != digest
    ]
    print("\n".join(differ) if differ else f"{len(found)} kernels: the same bits")
    sys.exit(1 if differ else 0)


main()
