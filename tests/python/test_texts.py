"""Pipelines as texts: errors with their places, warnings, stages, what a pipeline tells of itself, notebooks."""

import pickle
import types
import warnings

import pytest

import nbcc
from conftest import PIPELINES, TYPES

WRONG = "input_i vec3 xi;\noutput(sum) real s;\ns += foo(xi);\ns += bar;\n"
UNUSED = "input_j real mj;\ninput_j real q;\noutput(sum) real s;\ns += mj;\n"


def test_errors_of_a_text():
    with pytest.raises(nbcc.CompileError) as caught:
        nbcc.compile(source=WRONG, name="wrong.pipe")
    error = caught.value
    assert (error.filename, error.line, error.column) == ("wrong.pipe", 3, 6)
    assert error.message == "use of undeclared identifier 'foo'"
    assert error.text == "wrong.pipe:3:6: error: use of undeclared identifier 'foo'\ns += foo(xi);\n     ^\n"
    assert [one.line for one in error.diagnostics if one.severity == "error"] == [3, 4]
    assert str(error).startswith(error.text) and str(error).endswith("^")
    assert isinstance(error, nbcc.Error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_errors_of_a_file(tmp_path):
    file = tmp_path / "wrong.pipe"
    file.write_text(WRONG)
    with pytest.raises(nbcc.CompileError) as caught:
        nbcc.compile(file)
    assert caught.value.filename == str(file) and caught.value.text.startswith(f"{file}:3:6: error: ")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        nbcc.compile(tmp_path / "none.pipe")
    with pytest.raises(IsADirectoryError):
        nbcc.compile(tmp_path)


def test_binary_files(tmp_path):
    file = tmp_path / "binary.pipe"
    file.write_bytes(b"input_i real x;\n\0\0")
    with pytest.raises(nbcc.CompileError, match="binary.pipe:2: error: a NUL byte"):
        nbcc.compile(file)
    assert [one.line for one in nbcc.check(file)] == [2]
    with pytest.raises(nbcc.CompileError):
        nbcc.compile(source=b"\xff\xfe\xfd")


def test_path_or_source():
    with pytest.raises(TypeError, match="either a path or source=, not neither"):
        nbcc.compile()
    with pytest.raises(TypeError, match="either a path or source=, not both"):
        nbcc.check("a.pipe", source="")


def test_options_of_compile():
    with pytest.raises(ValueError, match="precision: expected 'single', 'mixed', 'double', got 'quad'"):
        nbcc.compile(PIPELINES / "gravity.pipe", precision="quad")
    with pytest.raises(ValueError, match="root: expected"):
        nbcc.compile(PIPELINES / "gravity.pipe", root="none")
    with pytest.raises(nbcc.UsageError, match="unknown instruction set 'mmx'"):
        nbcc.compile(PIPELINES / "gravity.pipe", isa="mmx")
    with pytest.raises(nbcc.UsageError, match="threads: expected 0"):
        nbcc.compile(PIPELINES / "gravity.pipe", threads=-1)
    one = nbcc.compile(PIPELINES / "gravity.pipe", threads=1, isa="sse2", cache_dir="")
    assert one.info()["kernels"][0]["description"] == "cpu, sse2, 1 thread"


def test_warnings():
    with pytest.warns(
        nbcc.PipelineWarning, match="pipeline.pipe:2:14: warning: input_j 'q' is declared and never used"
    ):
        nbcc.compile(source=UNUSED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nbcc.compile(PIPELINES / "gravity.pipe")


def test_check():
    assert nbcc.check(PIPELINES / "gravity.pipe") == []
    found = nbcc.check(source=WRONG + UNUSED)
    assert [one.line for one in found if one.severity == "error"][:2] == [3, 4]
    (only,) = nbcc.check(source=UNUSED, name="unused.pipe")
    assert (only.severity, only.line, only.column) == ("warning", 2, 14)
    assert (
        str(only)
        == "unused.pipe:2:14: warning: input_j 'q' is declared and never used\ninput_j real q;\n             ^\n"
    )


def test_what_a_pipeline_tells(gravity, types):
    assert gravity.name == "gravity" and gravity.filename.endswith("gravity.pipe") and gravity.operations == 38
    assert gravity.text.startswith("// gravity.pipe")
    assert [field.name for field in gravity.fields] == ["xi", "xj", "mj", "eps2", "acc", "pot"]
    assert gravity.fields[3].default == (1e-4,) and gravity.fields[4].reduction == "sum"
    assert repr(gravity).startswith(
        "<nbcc pipeline gravity(xi: vec3[ni], xj: vec3[nj], mj: real[nj], eps2: real = 0.0001) "
        "-> acc: sum vec3, pot: sum real; precision of the arrays, fast; "
    )
    assert "shift: vec2, scale: int = 2" in repr(types)
    assert [field.shape for field in types.fields] == [(2, 2), (), (2,), (), (2,), (), (2, 2), (), ()]
    assert [field.integral for field in types.fields] == [False, True, False, True, False, True, False, True, False]
    assert "with xj, mj bound" in repr(gravity.bind([[0, 0, 0]], [1]))


def test_parts_of_types():
    p = nbcc.compile(source="""input_i complex z[2]; input_j vec2 w[3]; input_j float unused; param real t[2][3]; param bool b[2] = {true, false};
    param vec3 box = vec3(1, 2, 3); output(sum) complex s; output(sum) double h[7]; output(argmin) index k[2]; output(total) int n;
    s += z[0] * complex(w[0].x, w[1].y); h[int(5 * w[2].x)] += t[int(w[0].x)][1] + box.x; k = argmin(k, w[0].y); n += b[0];""")
    found = {f.name: (f.scalar, f.width, f.shape, f.components) for f in p.fields}
    assert found == {
        "z": ("real", 2, (2,), 4),
        "w": ("real", 2, (3, 2), 6),
        "unused": ("float", 1, (), 1),
        "t": ("real", 1, (2, 3), 6),
        "b": ("bool", 1, (2,), 2),
        "box": ("real", 3, (3,), 3),
        "s": ("real", 2, (), 2),
        "h": ("double", 1, (7,), 7),
        "k": ("index", 1, (2,), 2),
        "n": ("int", 1, (), 1),
    }
    for property, names in (("is_complex", "zs"), ("histogram", "h"), ("table", "t"), ("total", "n"), ("has_pairs", "zws")):
        assert [f.name for f in p.fields if getattr(f, property)] == list(names), property
    assert [f.name for f in p.fields if not f.is_read] == ["unused"]
    assert p._family.index_use == "unused"


def test_use_of_indices():
    fields = "input_i real x; input_j real y; output(sum) real s; "
    for statement, use in (
        ("s += y; // i_index", "unused"),
        ("skip_if(i_index == j_index); s += x * y;", "equal"),
        ("s += i_index == j_index ? x : y;", "equal"),
        ("if (2 * i_index == j_index) s += x;", "value"),
    ):
        assert nbcc.compile(source=fields + statement)._family.index_use == use, statement


def test_info(gravity):
    told = gravity.info()
    assert told["name"] == "gravity" and told["options"] == {"precision": None, "math": "fast", "root": "refined"}
    assert told["neighbours"] is None and told["no_neighbours"] is None
    guarded = nbcc.compile(PIPELINES / "lennard_jones.pipe").info()
    assert guarded["neighbours"] == "|xj - xi| < rc in the periodic box `box`"
    assert told["fields"][0] | {"comment": ""} == {
        "name": "xi",
        "role": "input_i",
        "type": "vec3",
        "shape": (3,),
        "components": 3,
        "integral": False,
        "reduction": None,
        "default": None,
        "comment": "",
        "total": False,
        "of_pair": False,
        "scalar": "real",
        "width": 3,
        "is_complex": False,
        "histogram": False,
        "table": False,
        "is_read": True,
    }
    assert any(kernel["device"] == "cpu" for kernel in told["kernels"])
    machine = nbcc.info()
    assert machine["devices"][0] == "cpu" and machine["cpu"].startswith("cpu, ")
    assert machine["version"] == nbcc.__version__
    assert (machine["cuda_problem"] == "") == (len(machine["devices"]) > 1)


def test_stages(gravity):
    assert "rsqrt.real" in gravity.source("ir")
    assert "acc.x +=" in gravity.source("optimized")
    assert "nbcc_interact" in gravity.source() == gravity.source("cpu")
    assert "nbcc_interact:" in gravity.source("asm", isa="sse2")
    assert "__global__" in gravity.source("cuda")
    single, double = (nbcc.compile(PIPELINES / "gravity.pipe", precision=kind) for kind in ("single", "double"))
    assert double.source("cuda") != single.source("cuda")
    assert gravity.source("cuda") in (single.source("cuda"), double.source("cuda"))  # no arrays are known
    with pytest.raises(nbcc.UsageError, match="there is no stage 'sass'; there are ir, "):
        gravity.source("sass")


class Shell:
    """As much of IPython as the magic asks for."""

    def __init__(self):
        self.magics, self.variables = {}, {}

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics[magic_kind, magic_name] = function

    def push(self, variables):
        self.variables.update(variables)


def test_cell_magic():
    shell = Shell()
    nbcc.load_ipython_extension(shell)
    pipe = shell.magics["cell", "pipe"]
    pipe("types --precision double", TYPES)
    made = shell.variables["types"]
    assert made.name == "types" and made.info()["options"]["precision"] == "double"
    with pytest.raises(nbcc.CompileError) as caught:
        pipe("wrong", WRONG)
    assert caught.value.filename == "wrong.pipe"
    assert caught.value._render_traceback_() == str(caught.value).split("\n")
    for line, message in [("", "required: name"), ("a --precision half", "invalid choice"), ("a-b", "expected a name")]:
        with pytest.raises(ValueError, match=f"%%pipe: .*{message}"):
            pipe(line, TYPES)


def test_cell_magic_shows_no_frames_and_completes_options():
    class Hooked(Shell):
        def set_hook(self, name, function, str_key):
            assert (name, str_key) == ("complete_command", "%%pipe")
            self.complete = lambda line: function(self, types.SimpleNamespace(line=line))

    shell = Hooked()
    nbcc.load_ipython_extension(shell)
    pipe = shell.magics["cell", "pipe"]
    for line in ("", "a --precision half"):
        with pytest.raises(ValueError) as caught:
            pipe(line, TYPES)
        assert caught.value._render_traceback_() == str(caught.value).splitlines()
    assert shell.complete("%%pipe a --pre") == ["--precision"]
    assert shell.complete("%%pipe a --precision ") == ["single", "mixed", "double"]
    assert shell.complete("%%pipe a --precision d") == ["double"]
    assert shell.complete("%%pipe a --math fast ") == ["--device", "--precision", "--root"]


def test_cell_magic_in_ipython():
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell.instance()
    shell.run_cell("%load_ext nbcc")
    shell.run_cell_magic("pipe", "types", TYPES)
    assert isinstance(shell.user_ns["types"], nbcc.Pipeline)
