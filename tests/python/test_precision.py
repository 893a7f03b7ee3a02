"""The precision of calls that state none, which is that of their arrays, and what results tell of it."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import nbcc

TEXT = """input_i vec3 x; input_i int k; input_j vec3 y; input_j real m; param real s = 1;
output(sum) real p; output(count) int n; output(total) real e;
p += s * m / (dot(y - x, y - x) + 0.01); n += m > 0.1 * k; e += m;"""


@pytest.fixture(scope="module")
def sums():
    return nbcc.compile(source=TEXT, name="sums.pipe")


def arrays(x, y, m, k="int64"):
    random = np.random.default_rng(1)
    return [random.random((20, 3)).astype(x), np.arange(20, dtype=k), random.random((30, 3)).astype(y), random.random(30).astype(m)]


@pytest.mark.parametrize(
    "kinds, precision",
    [
        (("f4", "f4", "f4"), "single"),
        (("f8", "f8", "f8"), "double"),
        (("f4", "f8", "f4"), "double"),
        (("f4", "f4", "f8"), "double"),
        (("f4", "f4", "i8"), "single"),  # whole numbers do not count
        (("i4", "i8", "i8"), "double"),  # nor is any array of real numbers there
    ],
)
def test_arrays_decide(sums, kinds, precision):
    given = arrays(*kinds)
    result = sums(*given, s=np.float64(0.5))  # nor do params
    assert result.info == (precision, "all pairs", "cpu")
    assert result.p.dtype == ("f4" if precision == "single" else "f8")
    stated = nbcc.compile(source=TEXT, name="sums.pipe", precision=precision)(*given, s=0.5)
    assert np.array_equal(result.p, stated.p) and result.e == stated.e


def test_what_is_stated_goes_before_arrays(sums):
    given = arrays("f8", "f8", "f8")
    assert sums(*given, precision="single").info.precision == "single"
    assert nbcc.compile(source=TEXT, precision="mixed")(*given).info.precision == "mixed"
    assert sums(*arrays("f4", "f4", "f4"), precision="double").p.dtype == np.float64
    assert "precision of the arrays" in repr(sums) and sums.info()["options"]["precision"] is None


def test_the_last_call_tells_the_same(sums):
    one = nbcc.compile("gravity_acc")
    assert one.info()["last"] == {"precision": "", "method": "", "device": ""}
    one(np.ones((2, 3), "f4"), np.ones((2, 3), "f4"), np.ones(2, "f4"))
    assert one.info()["last"] == {"precision": "single", "method": "all pairs", "device": "cpu"}


def test_lists_are_double(sums):
    assert sums([[0, 0, 0]], [1], [[1, 0, 0]], [2.5]).info.precision == "double"


def test_bound_pipelines_and_derivatives(sums):
    x, k, y, m = arrays("f4", "f8", "f4")
    assert sums.bind(y, m)(x, k).info.precision == "double"
    adjoint = sums.adjoint("i", of="p", by="x")
    given = [{"x": x, "k": k, "y": y.astype("f4"), "m": m, "s": 1.0, "d_p": np.ones(20, "f4")}[field.name] for field in adjoint.fields if field.role != "output"]
    assert adjoint(*given).dtype == np.float32


def test_results_travel_with_what_they_tell(sums):
    result = sums(*arrays("f4", "f4", "f4"))
    again = pickle.loads(pickle.dumps(result))
    assert again.info == result.info and again._fields == result._fields
    assert sums(*arrays("f4", "f4", "f4"), outputs=("p", "n")).info.device == "cpu"
    named = nbcc.compile(source="input_i real x; input_j real y; output(sum) real info; output(sum) real b; info += x * y; b += y;")
    assert named([1.0], [2.0]).info == [2.0]  # an output that is called so is one


def run(code, **environment):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


CALL = """import numpy as np, nbcc
a = nbcc.compile(source="input_i real x; input_j real y; output(sum) real s; output(sum) real t; s += x * y; t += y;")
for _ in range(2): print(a(np.ones(2), np.ones(2)).info.precision)
"""


def test_no_warning_where_the_device_is_fast_in_double():
    assert run(CALL) == ("double\ndouble\n", "")
    assert run(CALL.replace("np.ones(2)", "np.ones(2, 'f4')")) == ("single\nsingle\n", "")


def test_environment():
    assert run(CALL, NBCC_PRECISION="mixed") == ("mixed\nmixed\n", "")
    assert run(CALL, NBCC_PRECISION="")[0] == "double\ndouble\n"
    with pytest.raises(AssertionError, match="NBCC_PRECISION .of the environment.: expected 'single', 'mixed', 'double', got 'half'"):
        run(CALL, NBCC_PRECISION="half")


def test_gpus_that_are_slow_in_double_say_so(monkeypatch):
    import nbcc._call._precision as precision

    class Device:
        name, description = "cuda:0", "cuda:0, NVIDIA GeForce RTX 4090, sm_89"

    monkeypatch.setattr(precision, "_warned", set())
    with pytest.warns(nbcc.PipelineWarning, match="cuda:0 .sm_89. is slow"):
        precision.warn_of_double("double", Device)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        precision.warn_of_double("double", Device)  # said already
        Device.name, Device.description = "cuda:1", "cuda:1, NVIDIA H100, sm_90"
        precision.warn_of_double("double", Device)
        precision.warn_of_double("single", None)


def test_names_of_the_library():
    assert nbcc.compile("gravity").name == "gravity" and nbcc.compile("gravity").filename == "gravity.pipe"
    assert not nbcc.check("yukawa")
    with pytest.raises(FileNotFoundError, match="did you mean 'gravity'"):
        nbcc.compile("gravty")
    with pytest.raises(FileNotFoundError):
        nbcc.compile("gravity.pipe")  # a file
