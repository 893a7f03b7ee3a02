"""The package by itself: without NumPy, with a wrong library, its types."""

import ast
import graphlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import nbcc
from conftest import PIPELINES
from nbcc._c import _library

PACKAGE = pathlib.Path(nbcc.__file__).parent

WITHOUT_NUMPY = f"""
import sys
sys.modules["numpy"] = None  # importing it fails
import array, nbcc
gravity = nbcc.compile({str(PIPELINES / "gravity.pipe")!r}, precision="double")
rows = lambda values: memoryview(array.array("d", values)).cast("B").cast("d", (len(values) // 3, 3))
x = rows([0, 0, 0, 1, 0, 0])
acc, pot = gravity(x, x, array.array("d", [1, 2]), eps2=0.0625)
assert acc.shape == (2, 3) and acc.format == "d", acc
assert abs(acc[0, 0] - 2 / 1.0625**1.5) < 1e-12 and acc.tolist()[1][1:] == [0, 0], acc.tolist()
assert type(pot) is array.array and abs(pot[0] + 4 + 2 / 1.0625**0.5) < 1e-12, pot
acc, pot = gravity([(0, 0, 0), (1, 0, 0)], xj=[[0, 0, 0], [1, 0, 0]], mj=[1, 2], eps2=0.0625)
assert abs(acc[0, 0] - 2 / 1.0625**1.5) < 1e-12
single = gravity(*[memoryview(array.array("f", [0, 0, 0])).cast("B").cast("f", (1, 3))] * 2, array.array("f", [1]),
                 precision="single")
assert single.pot.typecode == "f"
empty = gravity([], x, [1, 2])
assert len(empty.acc) == 0 and len(empty.pot) == 0
nearest = nbcc.compile({str(PIPELINES / "nearest_neighbour.pipe")!r})
assert nearest(x, x).near.tolist() == [1, 0]
short = array.array("h", [0, 1])
for ids in ([0, 1], range(2), short, memoryview(array.array("i", [0, 5, 1]))[::2]):
    apart = gravity(x, x, array.array("d", [1, 2]), batches=(ids, short), eps2=array.array("d", [0.25, 1]))
    assert apart.pot.tolist() == [-2, -2], apart.pot
apart = gravity(x, x, [1, 2], listed_pairs=(range(3), short), eps2=0.25)
assert apart.pot.tolist() == [-2, -4]
apart = gravity(x, x, [1, 2], lists=nbcc.Lists([0, 2], [0, 1], [1], [2]), eps2=[0.25], exclusions=([0, 0, 1], [0]))
assert apart.pot[1] == -4, apart.pot
assert apart.pot[0] == gravity([(0, 0, 0)], [(1, 0, 0)], [2], eps2=0.25).pot[0]
rows = nbcc.Rows([0, 1, 2], short)
assert rows.j.tolist() == [0, 1] and rows.j.readonly
for _ in range(2):
    assert gravity(x, x, [1, 2], listed_pairs=rows, eps2=0.25).pot.tolist() == [-2, -4]
near = nbcc.compile(source="input_i vec2 a; input_j vec2 b; output(sum) real n; vec2 d = b - a; "
                           "skip_if(dot(d, d) >= 1.0); n += 1.0;", precision="double")
places = [(0, 0), (0.5, 0), (1.25, 0)]
first, j, shifts = near.find_neighbours(places, places)
assert (first.tolist(), j.tolist()) == ([0, 2, 5, 7], [0, 1, 0, 1, 2, 1, 2])
assert shifts.tolist() == [[0, 0]] * 7 and shifts.format == "d"
away = nbcc.Lists([0, 3], [0, 1], [0], [3], shifts=[[0.25, 1]])
assert near(places, places, lists=away).tolist() == [0, 0, 0]
assert near(places, places, lists=nbcc.Lists([0, 3], [0, 1], [0], [3], shifts=[(0, 0)])).tolist() == [2, 3, 2]
assert len(near.find_neighbours([], []).j) == 0
for wrong in (dict(batches=([0.5, 1], short)), dict(batches=(array.array("d", [0, 1]), short))):
    try:
        gravity(x, x, [1, 2], **wrong)
    except TypeError as error:
        assert "batches: i_batch: expected integers, got float64" in str(error), error
    else:
        raise AssertionError("real numbers were taken for ids")
"""


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )


def test_without_numpy():
    done = python(WITHOUT_NUMPY)
    assert done.returncode == 0, done.stderr


def test_a_library_that_is_not_there():
    done = python("import nbcc; nbcc.check(source='')", NBCC_LIBRARY="/nonexistent/libnbcc_jit.so")
    assert done.returncode != 0
    assert "ImportError: nbcc's library could not be loaded:" in done.stderr
    assert "/nonexistent/libnbcc_jit.so" in done.stderr and "NBCC_LIBRARY may name it" in done.stderr


def test_the_library_of_the_prefix_in_which_the_package_is_installed(tmp_path):
    packages = tmp_path / "lib" / "python3" / "dist-packages"
    shutil.copytree(PACKAGE, packages / "nbcc")
    library = tmp_path / "lib" / "libnbcc_jit.so.0"
    library.symlink_to(os.path.realpath(_library.path()))
    done = python("from nbcc._c import _library; print(_library.path())", NBCC_LIBRARY="", PYTHONPATH=str(packages))
    assert done.stdout.strip() == str(library), done.stderr


def test_a_library_that_is_another():
    done = python("import nbcc; nbcc.check(source='')", NBCC_LIBRARY="libm.so.6")
    assert (
        "ImportError: libm.so.6 is not the libnbcc_jit of this package: it has no function nbcc_version" in done.stderr
    )


def test_help_where_packages_are_missing():
    done = python(
        "import sys; sys.modules.update(ase=None, torch=None)\n"
        "import inspect, pydoc, nbcc\n"
        "names = dict(inspect.getmembers(nbcc)); assert 'compile' in names and 'ase' not in names, names\n"
        "assert 'DESCRIPTION' in pydoc.plain(pydoc.render_doc(nbcc))\n"
        "assert not hasattr(nbcc, 'ase') and not hasattr(nbcc, 'torch')\n"
        "try: nbcc.ase\n"
        "except AttributeError as error: print(error)\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("nbcc.ase cannot be imported: ") and "ase" in done.stdout.split(":", 1)[1]


def test_docstrings():
    for name in nbcc.__all__:
        public = getattr(nbcc, name)
        assert public.__doc__, name
        members = vars(public).items() if isinstance(public, type) and issubclass(public, nbcc.Pipeline) else ()
        for member, value in members:
            assert member.startswith("_") or value.__doc__, f"{name}.{member}"
    assert "Raises" in nbcc.compile.__doc__ and "Raises" in nbcc.Pipeline.__call__.__doc__


# JAX and PyTorch need not be there, nor MPI.
_UNTYPED = ("--ignore-missing-imports", "--allow-untyped-decorators")


def test_types():
    pytest.importorskip("mypy")
    assert (PACKAGE / "py.typed").exists()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *_UNTYPED, "--cache-dir", os.devnull, str(PACKAGE)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def relative_imports(file):
    """Files of the modules that a module imports by `from .`, anywhere in it; those of packages are their __init__.py."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            start = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            inner = [start / name.name for name in node.names]
            modules = [path for module in inner for path in (module.with_suffix(".py"), module / "__init__.py")]
            found = [path for path in modules if path.exists()]
            if len(found) < len(inner):  # a name that is no module is one of the module `start`
                found += [path for path in (start.with_suffix(".py"), start / "__init__.py") if path.exists()]
            yield from found


def check_order_of_imports(package):
    """Raises graphlib.CycleError where a chain of imports leads back to its module."""
    imports = {file: set(relative_imports(file)) for file in package.rglob("*.py")}
    graphlib.TopologicalSorter(imports).prepare()
    return imports


def test_modules_import_each_other_in_one_direction(tmp_path):
    imports = check_order_of_imports(PACKAGE)
    assert PACKAGE / "_c/_library.py" in imports[PACKAGE / "_c/_errors.py"]
    assert PACKAGE / "keops/numpy/cluster.py" in imports[PACKAGE / "keops/torch/cluster.py"]

    # Modules of one name in two folders are two modules.
    for name, text in {"a/one": "from ..b.one import f", "b/one": "from ..b import two", "b/two": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    check_order_of_imports(tmp_path)
    (tmp_path / "b/two.py").write_text("from ..a.one import g")
    with pytest.raises(graphlib.CycleError) as error:
        check_order_of_imports(tmp_path)
    assert {tmp_path / "a/one.py", tmp_path / "b/one.py", tmp_path / "b/two.py"} == set(error.value.args[1])


def test_dir_is_what_is_public():
    assert [name for name in dir(nbcc) if not name.startswith("__")] == sorted(
        [*nbcc.__all__, *nbcc._FUNCTIONS, "ase", "keops", "lammps", "mpi", "torch"]
    )
    missing = [name for name in ("ase", "torch") if importlib.util.find_spec(name) is None]
    for name in dir(nbcc):
        if name not in ("mpi", *missing):  # `import nbcc.mpi` starts MPI
            assert getattr(nbcc, name) is not None, name
