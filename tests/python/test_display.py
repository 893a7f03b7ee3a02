"""What a person sees of pipelines and results: signatures, docstrings, tables, HTML."""

import array
import html.parser
import inspect
import pickle
import pydoc

import numpy as np
import pytest

import nbcc

TEXT = """\
// forces: attraction of everything, Σ
//
// Units: any.
input_i vec3 xi;
input_j vec3 xj;           // where it <is>
param real k = 2;          // strength
input_j real q;            // charge
param vec2 box = vec2(3, 4);
param int n = 5;
output(sum) vec3 force;
output(max) real far;
output(total) real energy; // of the run
vec3 d = xj - xi; real r2 = dot(d, d);
force += k * q * d * n; far = max(far, r2); energy += r2 + box.x;
"""


@pytest.fixture(scope="module")
def forces():
    return nbcc.compile(source=TEXT, name="forces.pipe")


class Checked(html.parser.HTMLParser):
    """Texts and elements; every element that is opened must be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text = [], [], ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_signature(forces):
    signature = inspect.signature(forces)
    fields = {name: p for name, p in signature.parameters.items() if name in ("xi", "xj", "k", "q", "box", "n")}
    assert list(fields) == ["xi", "xj", "k", "q", "box", "n"]
    assert [p.default for p in fields.values()] == [inspect.Parameter.empty] * 2 + [2.0, inspect.Parameter.empty, (3.0, 4.0), 5]
    assert fields["q"].kind is inspect.Parameter.KEYWORD_ONLY and fields["xj"].kind is not inspect.Parameter.KEYWORD_ONLY
    assert "tolerance" in signature.parameters and signature.parameters["accumulate"].default is False
    x = np.ones((2, 3))
    signature.bind(x, x, q=np.ones(2))  # as it is called
    with pytest.raises(TypeError):
        signature.bind(x, x)
    assert type(inspect.signature(nbcc.Pipeline)) is inspect.Signature  # of the class itself


def test_docstring_and_help(forces):
    for text in (forces.__doc__, pydoc.render_doc(forces, renderer=pydoc.plaintext)):
        assert "forces(xi, xj, k=2.0, *, q, box=(3.0, 4.0), n=5)" in text
        assert "attraction of everything, Σ" in text and "Units: any." in text
        assert "xj (vec3, shape (nj, 3)): where it <is>" in text
        assert "k (real, default 2.0): strength" in text
        assert "far (real, shape (ni,), max)" in text
        assert "energy (real, total sum): of the run" in text
    assert nbcc.Pipeline.__doc__.startswith("A compiled pipeline")
    copied = pickle.loads(pickle.dumps(forces))
    assert copied.__doc__ == forces.__doc__ and inspect.signature(copied) == inspect.signature(forces)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        forces.nothing


def test_html_of_pipelines_and_fields(forces):
    shown = Checked(forces._repr_html_())
    assert "details" in shown.elements and shown.elements.count("tr") == 10
    for text in ("where it <is>", "output(total, sum)", "(3.0, 4.0)", "input_j vec3 xj".split()[0], '"operations"'):
        assert text in shown.text, text
    field = Checked(forces.fields[1]._repr_html_())
    assert "where it <is>" in field.text and field.elements.count("tr") == 2


def test_results_show_shapes_and_first_rows(forces):
    x = np.arange(3000.0).reshape(1000, 3)
    result = forces(x, x, q=np.ones(1000))
    text = repr(result)
    assert str(result) == text and len(text) < 1000
    lines = text.split("\n")
    assert lines[0] == "forces_result("
    assert "  force: float64 (1000, 3)" in lines and "  far: float64 (1000,)" in lines
    assert any(line.strip().startswith("[") for line in lines) and lines.count("    ...") == 2
    assert f"    {result.energy}" in lines
    assert lines[-1] == "  info: double, all pairs, cpu)"
    shown = Checked(result._repr_html_())
    assert shown.elements.count("tr") == 4 and "float64 (1000, 3)" in shown.text
    few = forces(x[:2], x, q=np.ones(1000))
    assert "    ..." not in repr(few).split("\n")
    assert repr(pickle.loads(pickle.dumps(few))) == repr(few)
    assert len(result) == 3 and tuple(result)[0] is result.force  # still a named tuple


def test_values_of_every_kind_are_shown():
    from nbcc._c._family import result_type

    class Unreadable:
        shape = property(lambda self: 1 / 0)

    kinds = {
        "array": array.array("d", [1, 2, 3, 4]),
        "memory": memoryview(array.array("d", range(8))).cast("B").cast("d", (4, 2)),
        "number": 2.5,
        "none": np.zeros((0, 3)),
        "total": np.array(1.5),  # as those of PyTorch and JAX, which have a __len__, too
        "bad": Unreadable(),
    }
    text = repr(result_type("kinds", tuple(kinds))(*kinds.values()))
    for line in ("  array: array (4,)", "    [1.0, 2.0, 3.0]", "    [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]", "  number: float",
                 "    2.5", "  none: float64 (0, 3)", "  total: float64 ()", "    1.5", "  bad: Unreadable"):
        assert line in text.split("\n"), (line, text)


def test_totals_of_pytorch():
    torch = pytest.importorskip("torch")
    source = "input_i real x; input_j real y; output(total) real s; output(sum) real r; s += x * y; r += y;"
    summed = nbcc.compile(source=source, name="summed.pipe")
    text = repr(summed(torch.ones(2, dtype=torch.float64), torch.ones(3, dtype=torch.float64)))
    assert "  s: float64 ()\n    6.0\n" in text, text


def test_without_pygments(forces, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pygments", None)
    assert "Units: any." in Checked(forces._repr_html_()).text
