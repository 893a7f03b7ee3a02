"""Objects that are copied, pickled, and sent to other processes."""

import concurrent.futures
import copy
import multiprocessing
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import nbcc
from conftest import PIPELINES
from nbcc._c._handles import Sum, open_device

TEXT = """
input_i vec3 xi; input_j vec3 xj; input_j real m; param real eps2 = 0.01;
output(sum) vec3 acc; output(sum) real pot; output(total) real energy; output(count) int class_;
vec3 d = xj - xi; real u = m * rsqrt(dot(d, d) + eps2);
pot -= u; energy -= 0.5 * u; acc += u * d; class_ += u > 1.0;
"""
random = np.random.default_rng(4)
X, M = random.random((20, 3)), random.random(20)


def same(a, b):
    return type(a) is type(b) and all(np.array_equal(x, y) for x, y in zip(a, b))


@pytest.fixture(scope="module")
def pipe():
    return nbcc.compile(source=TEXT, name="made/here.pipe", precision="double", threads=1, pairs="all")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pipeline_pickles_as_its_text_and_options(pipe, protocol):
    sent = pickle.dumps(pipe, protocol)
    again = pickle.loads(sent)
    assert again is not pipe and again.fields == pipe.fields and "not compiled in this process" in repr(again)
    assert (again.text, again.filename, again._family.search) == (pipe.text, pipe.filename, pipe._family.search)
    assert again._family.choice == pipe._family.choice
    assert same(again(X, X, M), pipe(X, X, M))
    assert repr(again) == repr(pipe) and again.info() == pipe.info()


def test_a_missing_device_is_an_error_of_the_call(pipe):
    elsewhere = pickle.loads(pickle.dumps(pipe))
    elsewhere._family.device = "cuda:77"
    arrived = pickle.loads(pickle.dumps(elsewhere))
    with pytest.raises(nbcc.DeviceError):
        arrived(X, X, M)
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(nbcc.DeviceError):
        pool.map_async(sum_there, [(elsewhere, X)]).get(timeout=60)


def test_copies_are_the_pipeline_itself(pipe):
    assert copy.copy(pipe) is pipe and copy.deepcopy(pipe) is pipe
    assert copy.deepcopy({"forces": [pipe]})["forces"][0] is pipe


def test_adjoints_and_virials_travel(pipe):
    for made in (pipe.adjoint("j", of=["pot"]), pipe.adjoint("forward", of=["pot"])):
        again = pickle.loads(pickle.dumps(made))
        assert (again.text, again.adjoint_fields) == (made.text, made.adjoint_fields)


def test_a_bound_pipeline_takes_its_arrays_along(pipe):
    bound = pipe.bind(xj=X, m=M, eps2=0.5)
    bound(X)
    for again in (pickle.loads(pickle.dumps(bound)), copy.deepcopy(bound)):
        assert repr(again) == repr(bound) and same(again(X), pipe(X, X, M, eps2=0.5))
        assert again._given is not bound._given
    scale = np.array([2.0])
    held = pipe.bind(xj=X, m=M, eps2=scale)
    scale[:] = 3
    assert same(copy.copy(held)(X), held(X))


def test_results_pickle(pipe):
    results = pipe(X, X, M)
    again = pickle.loads(pickle.dumps(results))
    assert same(again, results) and again._fields == ("acc", "pot", "energy", "class_")
    some = pipe(X, X, M, outputs=["pot", "acc"])
    assert same(pickle.loads(pickle.dumps(some)), some)
    assert same(copy.deepcopy(results), results)
    other = nbcc.compile(source=TEXT, name="there/here.pipe", precision="double")
    assert type(other(X, X, M)) is type(results)
    reserved = nbcc.compile(source="input_i real a; input_j real b; output(sum) real s; output(sum) real lambda; s += a; lambda += b;")
    assert same(pickle.loads(pickle.dumps(reserved([1.0], [2.0]))), reserved([1.0], [2.0]))


def test_lists_errors_and_neighbours_pickle(pipe):
    lists = nbcc.Lists([0, 20], [0, 1], [0], [20])
    assert same(pipe(X, X, M, lists=pickle.loads(pickle.dumps(lists))), pipe(X, X, M, lists=lists))
    with pytest.raises(nbcc.CompileError) as wrong:
        nbcc.compile(source="output(sum) real s; s += dott;")
    again = pickle.loads(pickle.dumps(wrong.value))
    assert (str(again), again.line, again.diagnostics) == (str(wrong.value), wrong.value.line, wrong.value.diagnostics)


def test_devices_are_opened_again_and_sums_refuse(pipe):
    device = open_device("cpu", pipe._family.choice)
    assert pickle.loads(pickle.dumps(device)) is device and copy.copy(device) is device
    kernel = pipe._family.kernel("cpu", pipe._family.options)
    for one in (kernel, Sum(kernel)):
        with pytest.raises(TypeError, match="belongs to its process"):
            pickle.dumps(one)
        with pytest.raises(TypeError, match="belongs to its process"):
            copy.copy(one)


def sum_there(work):
    pipe, x = work
    return pipe(x, X, M)


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_pools_of_processes(pipe, method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        found = pool.map(sum_there, [(pipe, X[k:]) for k in range(4)])
    assert all(same(found[k], pipe(X[k:], X, M)) for k in range(4))
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        bound = pipe.bind(X, M)
        assert same(list(executor.map(bound, [X, X[3:]]))[1], bound(X[3:]))


def test_an_error_in_a_worker_arrives(pipe):
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(ValueError, match=r"'xi'.*expected shape \(N, 3\)"):
        pool.map(sum_there, [(pipe, X[:, :2])])


def test_half_made_objects_end_in_silence():
    code = """
    import nbcc, gc
    from nbcc._c._handles import Device, Kernel, Sum
    for kind in (Device, Kernel, Sum):
        kind.__new__(kind)
    for call in (lambda: nbcc.compile(source="input_i", device="cuda:77"), lambda: Device("cuda:77", nbcc.DeviceChoice())):
        try:
            call()
        except (nbcc.Error, ValueError):
            pass
    gc.collect()
    """
    said = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert (said.stdout, said.stderr) == ("", "")


def test_torch_modules_hold_pipelines(tmp_path, pipe):
    torch = pytest.importorskip("torch")

    class Forces(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.pipe = pipe
            self.m = torch.nn.Parameter(torch.tensor(M))

        def forward(self, x):
            return self.pipe(x, x, self.m, outputs="pot")

    module = Forces()
    again = copy.deepcopy(module)
    assert torch.equal(again(torch.tensor(X)), module(torch.tensor(X)))
    sent = pickle.dumps(module.pipe)
    torch.save(sent, tmp_path / "pipe.pt")
    assert same(pickle.loads(torch.load(tmp_path / "pipe.pt", weights_only=False))(X, X, M), pipe(X, X, M))


def test_pipelines_of_files_travel_without_the_file(tmp_path):
    copied = tmp_path / "gravity.pipe"
    copied.write_bytes((PIPELINES / "gravity.pipe").read_bytes())
    gravity = nbcc.compile(copied)
    sent = pickle.dumps(gravity)
    copied.unlink()
    assert pickle.loads(sent).name == "gravity"
