"""The shared numeric cases through the Python package, for arrays of float64 and of float32, in every precision.

    python3 from_python.py CASES FOLDER_OF_PIPELINES

What it says to wrong arguments is in tests/python/test_arguments.py. Needs NumPy."""

import pathlib
import sys

import numpy as np

import nbcc

PRECISIONS = ("single", "mixed", "double")


class Cases:
    """The file, word by word."""

    def __init__(self, path):
        self.words = iter(pathlib.Path(path).read_text().split())

    def next_case(self):
        pipeline, ni, nj, kind = (next(self.words) for _ in range(4))
        return pipeline, int(ni), int(nj), kind

    def numbers(self, field):
        name, count = next(self.words), int(next(self.words))
        assert name == field, (name, field)
        return np.array([next(self.words) for _ in range(count)], np.float64)

    def shaped(self, field):
        values = self.numbers(field.name)
        return values.reshape(-1, field.components) if field.components > 1 else values


def difference(got, expected, bounds, rounding):
    """The worst one in words, "" if all are within their bounds."""
    got = np.asarray(got, np.float64).reshape(expected.shape)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        off = np.abs(got - expected) > bounds + rounding * np.abs(expected)
        off |= np.isnan(got) != np.isnan(expected)
    wrong = np.flatnonzero(~same & off)
    if not wrong.size:
        return ""
    k = wrong[0]
    return f"[{k}] is {got.flat[k]!r}, expected {expected.flat[k]!r} within {bounds.flat[k]!r}"


def run_case(name, pipelines, cases, ni, nj, kind):
    fields = pipelines["double"].fields
    given, expected = {}, {}
    for field in fields:
        if field.role == "output":
            expected[field.name] = cases.numbers(field.name), cases.numbers("single"), cases.numbers("double")
        else:
            given[field.name] = cases.shaped(field)
    failures = 0
    for precision in PRECISIONS:
        for dtype in (np.float64, np.float32):
            arrays = {
                field.name: (
                    given[field.name]
                    if field.role == "param"
                    else np.nan_to_num(given[field.name]).astype(np.int64)  # a whole number is never NaN
                    if field.integral
                    else given[field.name].astype(dtype)
                )
                for field in fields
                if field.role != "output"
            }
            for field in fields:
                if field.role == "param" and field.integral:
                    arrays[field.name] = int(given[field.name][0])
            # Results of the type of the inputs: what is asked for, not what is chosen.
            out = {
                field.name: np.full((1 if field.total else ni, field.components), 7, np.int64 if field.integral else dtype)
                for field in fields
                if field.role == "output"
            }
            shown = {key: value if value.shape[1] > 1 else value[:, 0] for key, value in out.items()}
            shown.update((field.name, out[field.name].reshape(field.shape)) for field in fields if field.total)
            # By position, since a field may have the name of an option of the call, as nj.
            pipelines[precision](*arrays.values(), out=shown)
            for field_name, (values, single, double) in expected.items():
                rounding = np.finfo(np.float32).eps if dtype == np.float32 else 0
                bounds = double if precision == "double" else single
                said = difference(out[field_name].ravel(), values, bounds, rounding)
                if said:
                    print(f"{name}, {ni} x {nj}, {kind}, {precision}, {dtype.__name__}: {field_name}{said}")
                    failures += 1
    return failures


def main():
    cases, folder = Cases(sys.argv[1]), pathlib.Path(sys.argv[2])
    pipelines, done, failures = {}, 0, 0
    while True:
        name, ni, nj, kind = cases.next_case()
        if name == "end":
            break
        if name not in pipelines:
            pipelines[name] = {p: nbcc.compile(folder / f"{name}.pipe", precision=p) for p in PRECISIONS}
        failures += run_case(name, pipelines[name], cases, ni, nj, kind)
        done += 2 * len(PRECISIONS)
    print(f"Python: {done} cases of {len(pipelines)} pipelines, {failures} failures")
    return done == 0 or failures != 0


sys.exit(main())
