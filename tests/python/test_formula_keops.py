"""nbcc.keops against NumPy: operations, reductions, batches, ranges, solutions, errors. With PyTorch and beside KeOps itself:
test_formula_keops_torch.py."""

import warnings

import numpy as np
import pytest

import nbcc
import nbcc.keops as pykeops
from nbcc.keops import Genred, KernelSolve, LazyTensor, Pm, Vi, Vj
from nbcc.keops._keops_operations import OPERATIONS

random = np.random.default_rng(5)
M, N = 7, 9
SIZES = {"x": 3, "y": 3, "b": 2, "p": 1, "s": 3, "q": 9, "u": 6, "v": 6, "z": 1, "w": 1}
OF_I, OF_J = "xuz", "ybvw"


def row_counts(name):
    return (M,) if name in OF_I else (N,) if name in OF_J else ()


ARRAYS = {name: 1.4 * np.tanh(random.normal(size=(*row_counts(name), size))) for name, size in SIZES.items()}
ARRAYS["p"], ARRAYS["s"] = abs(ARRAYS["p"]) + 0.2, abs(ARRAYS["s"]) + 0.2


class Dense:
    """The arrays with the axes (i, j, element)."""

    def __init__(self):
        for name, array in ARRAYS.items():
            setattr(self, name, array[:, None] if name in OF_I else array)


def sum_of(a):
    return a.sum(-1, keepdims=True)


def matrix(a, rows):
    return a.reshape(*a.shape[:-1], rows, -1)


def flat(a):
    return a.reshape(*a.shape[:-2], -1)


def complex_of(a):
    return a[..., ::2] + 1j * a[..., 1::2]


def pairs_of(a):
    return np.stack(np.broadcast_arrays(a.real, a.imag), -1).reshape(*a.shape[:-1], -1)


def soft_dtw(x, y, gamma):
    best = {}
    for i in range(x.shape[-1]):
        for j in range(y.shape[-1]):
            before = [best[at] for at in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if at in best]
            if len(before) == 3:
                soft = -gamma * np.log(sum(np.exp(-one / gamma) for one in before))
            else:
                soft = before[0] if before else 0
            best[i, j] = (x[..., i : i + 1] - y[..., j : j + 1]) ** 2 + soft
    return best[x.shape[-1] - 1, y.shape[-1] - 1]


def norm(a):
    return np.sqrt(sum_of(a * a))


def gauss(d):
    return np.exp(-sum_of((d.x - d.y) ** 2))


POSITIVE = "(x+y+IntCst(3))/IntCst(8)"


def positive(d):
    return (d.x + d.y + 3) / 8


CASES = {
    "Exp(x-y)": lambda d: np.exp(d.x - d.y),
    f"Log({POSITIVE})": lambda d: np.log(positive(d)),
    "Sin(x)*Cos(y)": lambda d: np.sin(d.x) * np.cos(d.y),
    f"Asin({POSITIVE})+Acos({POSITIVE})*x": lambda d: np.arcsin(positive(d)) + np.arccos(positive(d)) * d.x,
    "Atan(x-y)+Atan2(x,y)": lambda d: np.arctan(d.x - d.y) + np.arctan2(d.x, d.y),
    "Abs(x-y)+Sign(x-y)": lambda d: abs(d.x - d.y) + np.sign(d.x - d.y),
    "Step(x-y)*ReLU(y)": lambda d: (d.x >= d.y) * np.maximum(d.y, 0),
    f"Sqrt({POSITIVE})+Rsqrt({POSITIVE})": lambda d: positive(d) ** 0.5 + positive(d) ** -0.5,
    "Square(x)-y**2": lambda d: d.x**2 - d.y**2,
    "Pow(x-y,3)+x**2*Inv(s)": lambda d: (d.x - d.y) ** 3 + d.x**2 / d.s,
    "Powf(Exp(x),y)": lambda d: np.exp(d.x) ** d.y,
    f"XLogX({POSITIVE})+SinXDivX(x-y)": lambda d: positive(d) * np.log(positive(d)) + np.sin(d.x - d.y) / (d.x - d.y),
    "Floor(x*y)+Round(x*y,1)+Round(x,0)": lambda d: np.floor(d.x * d.y) + np.round(d.x * d.y * 10) / 10 + np.round(d.x),
    "Minus(x)-(-y)": lambda d: -d.x + d.y,
    "Norm2(x-y)*x": lambda d: norm(d.x - d.y) * d.x,
    "SqNorm2(x-y)*b": lambda d: sum_of((d.x - d.y) ** 2) * d.b,
    "Normalize(x-y)": lambda d: (d.x - d.y) / norm(d.x - d.y),
    "Max(x-y)+Min(x+y)": lambda d: (d.x - d.y).max(-1, keepdims=True) + (d.x + d.y).min(-1, keepdims=True),
    "ArgMax(x-y)*x": lambda d: (d.x - d.y).argmax(-1)[..., None] * d.x,
    "ArgMin(x-y)+IntCst(2)": lambda d: (d.x - d.y).argmin(-1)[..., None] + 2.0,
    "Sum(x*y)+(x|y)": lambda d: 2 * sum_of(d.x * d.y),
    "SumT(w,4)": lambda d: d.w * np.ones(4),
    "Clamp(x-y,-s,w*w)": lambda d: np.where(d.x - d.y < -d.s, -d.s, np.minimum(d.x - d.y, d.w**2)),
    "ClampInt(x-y,0,1)": lambda d: (d.x - d.y).clip(0, 1),
    "IfElse(x-y,x,s)": lambda d: np.where(d.x >= d.y, d.x, d.s),
    "Mod(x,IntCst(2),y)": lambda d: d.x - 2 * np.floor((d.x - d.y) / 2),
    "Equal(Step(x),Step(y))+NotEqual(Step(x),w)": lambda d: ((d.x >= 0) == (d.y >= 0)) + 1.0,
    "(x<y)+(x>s)*x": lambda d: (d.x < d.y) + (d.x > d.s) * d.x,
    "(x<=y)+(x>=y)*x+LessThan(x,y)": lambda d: (d.x <= d.y) + (d.x >= d.y) * d.x + (d.x < d.y),
    "SqDist(x,y)/p": lambda d: sum_of((d.x - d.y) ** 2) / d.p,
    "WeightedSqNorm(p,x-y)": lambda d: d.p * sum_of((d.x - d.y) ** 2),
    "WeightedSqNorm(s,x-y)+WeightedSqDist(s,x,y)": lambda d: 2 * sum_of(d.s * (d.x - d.y) ** 2),
    "WeightedSqNorm(q,x)": lambda d: np.einsum("...a,ab,...b->...", d.x, d.q.reshape(3, 3), d.x)[..., None],
    "Elem(x,1)*y+x*Elem(y,2)": lambda d: d.x[..., 1:2] * d.y + d.x * d.y[..., 2:3],
    "ElemT(z*w,4,2)": lambda d: np.eye(4)[2] * d.z * d.w,
    "Extract(u,1,3)*y": lambda d: d.u[..., 1:4] * d.y,
    "ExtractT(x,2,7)": lambda d: np.concatenate([np.zeros((M, 1, 2)), d.x, np.zeros((M, 1, 2))], -1),
    "Concat(x,w)": lambda d: np.concatenate(np.broadcast_arrays(d.x, d.w + 0 * d.x), -1)[..., :4],
    "OneHot(Floor(Abs(z)*IntCst(2)),5)": lambda d: np.eye(5)[np.floor(abs(d.z) * 2).astype(int)[..., 0]],
    "MatVecMult(u,x)": lambda d: np.einsum("...ab,...b->...a", matrix(d.u, 2), d.x),
    "MatVecMult(q,x-y)": lambda d: np.einsum("ab,...b->...a", d.q.reshape(3, 3), d.x - d.y),
    "VecMatMult(b,u)": lambda d: np.einsum("...a,...ab->...b", d.b, matrix(d.u, 2)),
    "TensorProd(x,b)": lambda d: flat(d.x[..., :, None] * d.b[..., None, :]),
    "TensorDot(u,v,[2,3],[3,2],[1],[0])": lambda d: flat(matrix(d.u, 2) @ matrix(d.v, 3)),
    "TensorDot(u,v,[2,3],[2,3],[0,1],[0,1])": lambda d: sum_of(d.u * d.v),
    "Kron(u,v,[2,3],[3,2])": lambda d: np.einsum("...ab,...cd->...acbd", matrix(d.u, 2), matrix(d.v, 3)).reshape(
        M, N, 36
    ),
    "SoftDTW_SqDist(u,y,p)": lambda d: soft_dtw(d.u, d.y, d.p),
    "Grad(SqDist(x,y),x,w)": lambda d: 2 * (d.x - d.y) * d.w,
    "Grad(Exp(-SqDist(x,y)),y,IntCst(1))": lambda d: 2 * (d.x - d.y) * gauss(d),
    "Grad(x*y*p,x,s)": lambda d: d.y * d.p * d.s,
    "Grad(Sin(x*y),x,x)": lambda d: np.cos(d.x * d.y) * d.y * d.x,
    "Grad(Grad(SqDist(x,y)*Exp(z),x,IntCst(1)),x,y)": lambda d: 2 * np.exp(d.z) * d.y,
    "Diff(Sin(x*y),x,s)": lambda d: np.cos(d.x * d.y) * d.y * d.s,
    "GradMatrix(x*y*x,x)": lambda d: flat(np.eye(3) * (2 * d.x * d.y)[..., None]),
    "Divergence(x*y*Sin(x),x)": lambda d: sum_of(d.y * (np.sin(d.x) + d.x * np.cos(d.x))),
    "Laplacian(Exp(-SqDist(x,y)),x)": lambda d: (4 * sum_of((d.x - d.y) ** 2) - 6) * gauss(d),
    "TraceOperator(s*x*y,Var(0,3,0))": lambda d: sum_of(d.s * d.y) + 0 * d.z,
    "Factorize(Exp(-SqDist(x,y)),SqDist(x,y))": gauss,
    "AutoFactorize(SqDist(x,y)*SqDist(x,y))": lambda d: sum_of((d.x - d.y) ** 2) ** 2,
    "IntInv(3)*x*RatCst(2,7)": lambda d: d.x * 2 / 21,
    "ComplexReal(u)*x+ComplexImag(u)": lambda d: d.u[..., ::2] * d.x + d.u[..., 1::2],
    "ComplexAdd(Real2Complex(x),Imag2Complex(y))": lambda d: pairs_of(d.x + 1j * d.y),
    "ComplexExp1j(x-y)": lambda d: pairs_of(np.exp(1j * (d.x - d.y))),
    "ComplexAbs(u)*y+ComplexSquareAbs(v)": lambda d: abs(complex_of(d.u)) * d.y + abs(complex_of(d.v)) ** 2,
    "ComplexAngle(u)*x": lambda d: np.angle(complex_of(d.u)) * d.x,
    "ComplexExp(ComplexAdd(u,v))": lambda d: pairs_of(np.exp(complex_of(d.u) + complex_of(d.v))),
    "ComplexMult(ComplexSubtract(u,v),b)": lambda d: pairs_of((complex_of(d.u) - complex_of(d.v)) * complex_of(d.b)),
    "ComplexDivide(u,v)": lambda d: pairs_of(complex_of(d.u) / complex_of(d.v)),
    "ComplexRealScal(w,Conj(u))": lambda d: pairs_of(d.w * complex_of(d.u).conj()),
    "ComplexSum(u)": lambda d: pairs_of(sum_of(complex_of(d.u))),
    "ComplexSumT(b,6)": lambda d: pairs_of(complex_of(d.b) * np.ones(3)),
    "2*x*3/2-IntCst(1)": lambda d: 3 * d.x - 1,
}


def arguments(formula, *more):
    import re

    used = [name for name in SIZES if re.search(rf"\b{name}\b", " ".join([formula, *more]))]
    used = ["x", "y", *(name for name in used if name not in "xy")]
    kinds = {name: "Vi" if name in OF_I else "Vj" if name in OF_J else "Pm" for name in used}
    return [f"{name} = {kinds[name]}({SIZES[name]})" for name in used], [ARRAYS[name] for name in used]


@pytest.mark.parametrize("formula", CASES)
def test_operations(formula):
    aliases, arrays = arguments(formula)
    dense = CASES[formula](Dense())
    dense = np.broadcast_to(dense, (M, N, dense.shape[-1]))
    for axis in (0, 1):
        got = Genred(formula, aliases, axis=axis)(*arrays)
        expected = dense.sum(axis)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)


def test_all_operations_are_tested():
    text = (
        " ".join(CASES)
        + " BSpline Add Subtract Mult Divide Scalprod Zero LessOrEqual SqNormIso SqNormDiag SymSqNorm DiffClampInt"
    )
    assert not [name for name in OPERATIONS if name not in text]


def test_splines():
    interpolate = pytest.importorskip("scipy.interpolate")
    knots, x = np.array([0.0, 0.5, 1.0, 2.0, 2.5, 4.0]), np.linspace(0.05, 3.9, M)[:, None]
    for order in (0, 1, 2, 3):
        got = Genred(f"BSpline(k,x,{order})*w", ["k=Pm(6)", "x=Vi(1)", "w=Vj(1)"], axis=1)(knots, x, np.ones((1, 1)))
        for m in range(6 - order - 1):
            element = interpolate.BSpline.basis_element(knots[m : m + order + 2], extrapolate=False)
            np.testing.assert_allclose(got[:, m], np.nan_to_num(element(x[:, 0])), atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("formula", ["SqDist(x,y)", "(x-y)*p"])
def test_reductions(formula, axis):
    aliases, arrays = arguments(formula)
    d = Dense()
    dense = sum_of((d.x - d.y) ** 2) if formula == "SqDist(x,y)" else (d.x - d.y) * d.p
    rows = np.moveaxis(dense, axis, 1)  # the axis that is reduced is the second one
    order = np.argsort(rows, axis=1, kind="stable")[:, :3]
    least = np.take_along_axis(rows, order, 1)
    squeeze = (lambda a: a[..., 0]) if formula == "SqDist(x,y)" else (lambda a: a)
    expected = {
        "Min": rows.min(1),
        "Max": rows.max(1),
        "ArgMin": rows.argmin(1),
        "ArgMax": rows.argmax(1),
        "Min_ArgMin": (rows.min(1), rows.argmin(1)),
        "MaxArgMax": (rows.max(1), rows.argmax(1)),
        "KMin": squeeze(least),
        "ArgKMin": squeeze(order),
        "KMin_ArgKMin": (squeeze(least), squeeze(order)),
    }
    for name, value in expected.items():
        got = Genred(formula, aliases, name, axis, opt_arg=3 if name.startswith(("K", "ArgK")) else None)(*arrays)
        for one, other in zip(*((got, value) if isinstance(value, tuple) else ((got,), (value,)))):
            assert one.shape == other.shape and one.dtype == (np.int64 if other.dtype.kind == "i" else np.float64)
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    if formula == "SqDist(x,y)":
        values, indices = Genred(formula, aliases, "KMin_ArgKMin", axis, opt_arg=12)(*arrays)
        count = rows.shape[1]
        assert np.isinf(values[:, count:]).all() and (indices[:, count:] == 0).all()


def test_exponential_reductions():
    aliases, arrays = arguments("x y b")
    d = Dense()
    f, b = -sum_of((d.x - d.y) ** 2), np.broadcast_to(d.b, (M, N, 2))
    weights = np.exp(f)
    expected = {
        ("LogSumExp", None): np.log(weights.sum(1)),
        ("LogSumExp", "Exp(b)"): np.log((weights * np.exp(b)).sum(1)),
        ("SumSoftMaxWeight", "b"): (weights * b).sum(1) / weights.sum(1),
        ("SoftMax", "b*b"): (weights * b * b).sum(1) / weights.sum(1),
        ("Max_SumShiftExp", None): np.concatenate([f.max(1), np.exp(f - f.max(1, keepdims=True)).sum(1)], 1),
    }
    for (name, formula2), value in expected.items():
        got = Genred("-SqDist(x,y)", aliases, name, 1, formula2=formula2)(*arrays)
        np.testing.assert_allclose(got, value, rtol=1e-11)


def test_lazy_tensors():
    x, y, b = ARRAYS["x"], ARRAYS["y"], ARRAYS["b"]
    x_i, y_j = LazyTensor(x[:, None, :]), LazyTensor(y[None, :, :])
    distance = ((x_i - y_j) ** 2).sum(-1)
    assert distance.shape == (M, N) and (x_i * y_j).shape == (M, N, 3) and distance.dim() == 3
    kernel = (-distance / 2.0).exp()
    dense = np.exp(-((x[:, None] - y) ** 2).sum(2) / 2)
    np.testing.assert_allclose(kernel @ b, dense @ b, rtol=1e-12)
    np.testing.assert_allclose(kernel @ b[:, 0], dense @ b[:, 0], rtol=1e-12)
    np.testing.assert_allclose(kernel.T @ x, dense.T @ x, rtol=1e-11)
    np.testing.assert_allclose(kernel.sum(0), dense.sum(0)[:, None], rtol=1e-12)
    np.testing.assert_allclose((1 - kernel.sqrt()).sum(dim=1), (1 - np.sqrt(dense)).sum(1)[:, None], rtol=1e-12)
    assert (distance.argKmin(4, dim=1) == np.argsort(((x[:, None] - y) ** 2).sum(2), 1)[:, :4]).all()
    np.testing.assert_allclose(
        (Vi(x) * Vj(x)).sum(-1).sum(1)[:, 0], (x @ x.T).sum(1), rtol=1e-11
    )  # one array as i and as j
    np.testing.assert_allclose((Vi(x) | Vj(y)).logsumexp(1)[:, 0], np.log(np.exp(x @ y.T).sum(1)), rtol=1e-12)
    np.testing.assert_allclose((Pm(2.0) * Vi(x) + Vj(y)[:, :, 1]).sum(1), 2 * N * x + y[:, 1].sum(), rtol=1e-11)
    symbolic = (Vi(0, 3) - Vj(1, 3)).sqnorm2().sum(1)
    np.testing.assert_allclose(symbolic(x, y), ((x[:, None] - y) ** 2).sum((1, 2))[:, None], rtol=1e-12)
    assert "formula: Sum(Square((Var(0,3,0) - Var(1,3,1))))" in str(distance)
    z_i, z_j = (x + 1j * x[::-1])[:, None], (y * 1j - y)[None]
    np.testing.assert_allclose((LazyTensor(z_i) * LazyTensor(z_j)).exp().sum(1), np.exp(z_i * z_j).sum(1), rtol=1e-10)
    np.testing.assert_allclose(abs(LazyTensor(z_i) - 2j * Vj(y)).sum(1), abs(z_i - 2j * y).sum(1), rtol=1e-11)


def test_batches():
    x, y, s = random.normal(size=(4, 1, M, 3)), random.normal(size=(5, N, 3)), random.random((4, 5, 1)) + 0.5
    dense = ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1) * s[..., None]
    got = Genred("SqDist(x,y)*s", ["x=Vi(3)", "y=Vj(3)", "s=Pm(1)"], axis=1)(x, y, s)
    np.testing.assert_allclose(got, dense.sum(-1)[..., None], rtol=1e-12)
    got = Genred("SqDist(x,y)*s", ["x=Vi(3)", "y=Vj(3)", "s=Pm(1)"], "ArgMin", axis=0)(x, y, s)
    assert got.shape == (4, 5, N, 1) and (got[..., 0] == dense.argmin(-2)).all()
    x_i, y_j = LazyTensor(x[..., :, None, :]), LazyTensor(y[..., None, :, :])
    assert (x_i - y_j).shape == (4, 5, M, N, 3)
    got = ((x_i - y_j) ** 2).sum(-1).argKmin(3, dim=3)
    assert (got == np.argsort(dense / s[..., None], -1)[..., :3]).all()
    counts = Genred("IntCst(2)*x", ["x=Vi(3)", "y=Vj(3)"], axis=1)(x, y)  # no j in the text
    np.testing.assert_allclose(counts, np.broadcast_to(2 * N * x, counts.shape))
    counts = Genred("IntCst(2)", ["x=Vi(3)", "y=Vj(3)"], axis=1)(x, y)
    np.testing.assert_allclose(counts, np.full((4, 5, M, 1), 2 * N))
    with pytest.raises(ValueError, match="Incompatible batch dimensions"):
        LazyTensor(x[:, 0, :, None]) - LazyTensor(y[..., None, :, :])


def test_ranges():
    labels_x, labels_y = random.integers(0, 4, 60), random.integers(0, 5, 80)
    labels_x[:4], labels_y[:5] = range(4), range(5)
    x, y = random.normal(size=(60, 2)), random.normal(size=(80, 2))
    (x, b), labels_x = pykeops.sort_clusters((x, x[:, :1]), labels_x)
    y, labels_y = pykeops.sort_clusters(y, labels_y)
    keep = random.random((4, 5)) < 0.5
    ranges = pykeops.from_matrix(pykeops.cluster_ranges(labels_x), pykeops.cluster_ranges(labels_y), keep)
    mask = keep[labels_x][:, labels_y]
    dense = np.exp(-((x[:, None] - y) ** 2).sum(2)) * mask
    kernel = (-((Vi(x) - Vj(y)) ** 2).sum(-1)).exp()
    kernel.ranges = ranges
    np.testing.assert_allclose(kernel.sum(1)[:, 0], dense.sum(1), rtol=1e-12)
    np.testing.assert_allclose(kernel.sum(0)[:, 0], dense.sum(0), rtol=1e-12)
    np.testing.assert_allclose(kernel.T @ b, dense.T @ b, rtol=1e-11, atol=1e-13)
    centroids = pykeops.cluster_ranges_centroids(x, labels_x, weights=b[:, 0] ** 2)[1]
    expected = [np.average(x[labels_x == k], axis=0, weights=b[labels_x == k, 0] ** 2) for k in range(4)]
    np.testing.assert_allclose(centroids, expected, rtol=1e-12)
    cells = pykeops.grid_cluster(x, 0.5)
    of_cell = np.floor((x - x.min(0)) / 0.5)
    same = (of_cell[:, None] == of_cell).all(2)
    assert ((cells[:, None] == cells) == same).all() and set(cells) == set(range(cells.max() + 1))
    with pytest.raises(ValueError, match="two clusters overlap"):
        kernel.sum(1, ranges=(np.array([[0, 3], [2, 4]]), *ranges[1:]))


def test_solutions():
    x, b = ARRAYS["x"], ARRAYS["u"][:, :2]
    matrix = np.exp(-((x[:, None] - x) ** 2).sum(2))
    aliases = ["x = Vi(3)", "y = Vj(3)", "b = Vj(2)"]
    got = KernelSolve("Exp(-SqDist(x,y))*b", aliases, "b", axis=1)(x, x, b, alpha=0.1, eps=1e-10)
    np.testing.assert_allclose(got, np.linalg.solve(matrix + 0.1 * np.eye(M), b), rtol=1e-7, atol=1e-9)
    kernel = (-((Vi(x) - Vj(x)) ** 2).sum(-1)).exp()
    got = kernel.solve(Vi(b), alpha=0.1, eps=1e-10)
    np.testing.assert_allclose(got, np.linalg.solve(matrix + 0.1 * np.eye(M), b), rtol=1e-7, atol=1e-9)


def test_derivatives_at_0_are_those_of_keops():
    x = ARRAYS["x"]
    formulas = ("Norm2(x-y)", "Abs(x-y)", "Rsqrt(SqDist(x,y))", "XLogX(SqDist(x,y))", "ReLU(x-y)", "SinXDivX(x-y)")
    for formula in formulas:
        got = Genred(f"Grad({formula},x,IntCst(1))", ["x=Vi(3)", "y=Vj(3)"], axis=1)(x[:1], x[:1])
        np.testing.assert_array_equal(got, np.full((1, 3), formula.startswith("ReLU")), err_msg=formula)


def test_long_arrays_and_slots_are_refused_by_name():
    with pytest.raises(ValueError, match="variable 0 has 2000 elements; nbcc's arrays have at most 1024"):
        Genred("Sum(x*x)", ["x=Vi(2000)"], axis=1)(np.ones((2, 2000)))
    with pytest.raises(ValueError, match="ArgKMin: K=100: nbcc keeps at most 64"):
        Genred("SqDist(x,y)", ["x=Vi(3)", "y=Vj(3)"], "ArgKMin", 1, opt_arg=100)(ARRAYS["x"], ARRAYS["y"])


def test_errors():
    x, y = ARRAYS["x"], ARRAYS["y"]
    aliases = ["x=Vi(3)", "y=Vj(3)"]
    for formula, match in [
        ("Exp(-SqDist(x,z))", "there is no variable 'z'"),
        ("Expo(x)", "there is no operation 'Expo'"),
        ("Exp(x", r"'\(' was never closed"),
        ("x if y else x", "is not part of KeOps' formulas"),
        ("Elem(x,3)", "Index out of bound in Elem"),
        ("Exp()", "Exp: wrong arguments"),
        ("x+Concat(x,y)", "3 and 6 elements"),
    ]:
        with pytest.raises(ValueError, match=match):
            Genred(formula, aliases, axis=1)(x, y)
    calls = [
        ((x,), r"should be 2 and got 1"),
        ((x[:, :2], y), "argument 0 of Genred: expected the dimension 3"),
        ((x[0], y), "argument 0 of Genred: expected 2 axes or more"),
    ]
    for given, match in calls:
        with pytest.raises(ValueError, match=match):
            Genred("SqDist(x,y)", aliases, axis=1)(*given)
    with pytest.raises(ValueError, match="Axis should be 0 or 1"):
        Genred("x", aliases, axis=2)
    with pytest.raises(ValueError, match="does not match|expected an alias"):
        Genred("x", ["x=Vk(3)"])
    with pytest.raises(ValueError, match="only valid for sum type"):
        Genred("x", aliases, "Min", sum_scheme="kahan_scheme")
    with pytest.raises(ValueError, match="Invalid backend"):
        Genred("x", aliases, axis=1)(x, y, backend="TPU")
    with pytest.raises(ValueError, match="'reduced' LazyTensor"):
        Vi(0, 3).sum(1) + 1
    with pytest.raises(ValueError, match="same dimension or dimension 1. Received 3 and 2"):
        Vi(x) + Vj(y[:, :2])
    with pytest.raises(ValueError, match="explicit 'axis' value"):
        LazyTensor(x)


def test_options_without_effect_are_told_once():
    pykeops._genred._say_once.cache_clear()
    with pytest.warns(UserWarning, match="dtype_acc, use_double_acc and sum_scheme have no effect"):
        Genred("x", ["x=Vi(3)"], sum_scheme="kahan_scheme")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Genred("x", ["x=Vi(3)"], use_double_acc=True)


def test_formulas_are_compiled_once():
    x, y = ARRAYS["x"], ARRAYS["y"]
    before = pykeops._genred._compiled.cache_info().misses
    for k in range(3):
        ((Vi(x + k) - Vj(y)) ** 2).sum(-1).cos().sum(1)
    assert pykeops._genred._compiled.cache_info().misses == before + 1


def test_jax():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        x, y, b = (jax.numpy.asarray(ARRAYS[name]) for name in "xyb")

        def lazy(x, y, b):
            return (-((LazyTensor(x[:, None]) - LazyTensor(y[None])) ** 2).sum(-1)).exp() @ b

        def dense(x, y, b):
            return jax.numpy.exp(-((x[:, None] - y) ** 2).sum(2)) @ b

        np.testing.assert_allclose(jax.jit(lazy)(x, y, b), dense(x, y, b), rtol=1e-11)
        for k in range(3):
            got, expected = (jax.grad(lambda *a: (f(*a) ** 2).sum(), k)(x, y, b) for f in (lazy, dense))
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
        solve = KernelSolve("Exp(-SqDist(x,y))*b", ["x=Vi(3)", "y=Vj(3)", "b=Vj(2)"], "b", axis=1)
        kernel = jax.numpy.exp(-((x[:, None] - x) ** 2).sum(2)) + 0.1 * jax.numpy.eye(M)
        given = jax.numpy.asarray(ARRAYS["u"][:, :2])
        got = solve(x, x, given, alpha=0.1, eps=1e-10)
        np.testing.assert_allclose(got, jax.numpy.linalg.solve(kernel, given), rtol=1e-7, atol=1e-9)


def test_modules_of_keops():
    assert pykeops.numpy.LazyTensor is LazyTensor and pykeops.numpy.cluster.grid_cluster is pykeops.grid_cluster
    assert nbcc.keops is pykeops


def test_slots_of_infinite_pairs():
    x, y = np.zeros((2, 1)), np.array([[0.0], [1.0]])
    near = 1 / (Vi(x) * Vj(y))  # all infinite
    values, indices = near.Kmin_argKmin(2, axis=1)
    assert np.array_equal(values, np.full((2, 2), np.inf)) and np.array_equal(indices, np.zeros((2, 2)))
    assert np.array_equal(near.argmin(1), np.zeros((2, 1)))
    greatest, index = (-1 / (Vi(x) * Vj(y + 1))).max_argmax(1)
    assert np.array_equal(greatest, np.full((2, 1), -np.inf)) and np.array_equal(index, np.zeros((2, 1)))


def test_float_exponents():
    x, y = ARRAYS["x"], ARRAYS["y"]
    difference = x[:, None] - y
    for exponent in (2.0, 3.0, 1.0, -1.0, 0.0):
        got = ((Vi(x) - Vj(y)) ** exponent).sum(1)
        np.testing.assert_allclose(got, (difference**exponent).sum(1), rtol=1e-9)
    got = (((Vi(x) - Vj(y)) ** 2) ** 1.5).sum(1)
    np.testing.assert_allclose(got, (abs(difference) ** 3).sum(1), rtol=1e-9)
    text = str((Vi(x) - Vj(y)) ** 1.5)
    assert "Powf" in text and ",1.5)" in text


def test_complex_numbers_as_operands():
    u, v = (complex_of(ARRAYS[name]) for name in "uv")
    x = u.real.copy()
    d, lazy = u[:, None] - v, LazyTensor(u[:, None]) - LazyTensor(v[None])
    for expected, got in [
        (d + 1, lazy + 1),
        (2.5 - d, 2.5 - lazy),
        (d / 2, lazy / 2),
        (1 / d, 1 / lazy),
        (d * 2 + 1j, lazy * 2 + 1j),
        (d**3, lazy**3),
        (d**2.0, lazy.square()),
        (d**-2, lazy**-2),
        (d**0, lazy**0),
        (d + x[:, None], lazy + LazyTensor(x[:, None])),
        (x[:, None] + 2j + v, LazyTensor(x[:, None]) + 2j + LazyTensor(v[None])),
        (2j - x[:, None] + v, 2j - LazyTensor(x[:, None]) + LazyTensor(v[None])),
        (2j / x[:, None] + v, 2j / LazyTensor(x[:, None]) + LazyTensor(v[None])),
    ]:
        np.testing.assert_allclose(got.sum(1), expected.sum(1), rtol=1e-9)


def test_complex_numbers_are_not_ordered():
    lazy = LazyTensor(complex_of(ARRAYS["u"])[:, None])
    real = LazyTensor(ARRAYS["x"][:, None])
    for name in ("sqrt", "log", "sin", "cos", "relu", "sign", "min", "argmin", "logsumexp"):
        with pytest.raises(ValueError, match=f"{name} is not implemented for complex LazyTensors"):
            getattr(lazy, name)()
    for compared in (lambda: lazy < real, lambda: real < lazy, lambda: lazy == lazy):
        with pytest.raises(ValueError, match="is not implemented for complex"):
            compared()
    with pytest.raises(ValueError, match="expected a whole number as the exponent, got 0.5"):
        lazy**0.5


def test_elements_of_complex_numbers():
    """KeOps counts parts: x[0:2] is the first number. Where it fails, or a result would mix parts, so does nbcc, by name."""
    u, v = (complex_of(ARRAYS[name]) for name in "uv")
    x, y = LazyTensor(u[:, None]), LazyTensor(v[None])
    real = LazyTensor(ARRAYS["y"][None])
    for expected, got in [
        (u[:, None, :1] * v[None], x[0:2] * y),
        (u[:, None, 1:] + v[None, :, :2], x[2:] + y[:4]),
        (u[:, None, 1:2] * v[None], x.extract(2, 2) * y),
        (np.concatenate(np.broadcast_arrays(u[:, None], v[None]), -1), x.concat(y)),
        (np.concatenate(np.broadcast_arrays(u[:, None], ARRAYS["y"][None] + 0j), -1), x.concat(real)),
        (np.concatenate(np.broadcast_arrays(ARRAYS["y"][None] + 0j, u[:, None]), -1), real.concat(x)),
    ]:
        np.testing.assert_allclose(got.sum(1), expected.sum(1), rtol=1e-9)
    for refused in (lambda: x[0], lambda: x.elem(1), lambda: x | y, lambda: x | real, lambda: real | x, x.sqnorm2, x.norm2,
                    lambda: x.sqdist(y), lambda: real.sqdist(x), lambda: x.tensorprod(y), lambda: real.tensorprod(x),
                    lambda: real.matvecmult(x), lambda: real.vecmatmult(x)):  # fmt: skip
        with pytest.raises(ValueError, match="is not implemented for complex LazyTensors"):
            refused()
    for odd in (lambda: x[1:3], lambda: x[:1], lambda: x.extract(2, 1)):
        with pytest.raises(ValueError, match="KeOps counts parts, two for each number; expected even numbers"):
            odd()


def test_solutions_that_do_not_exist():
    x = ARRAYS["x"]
    solve = KernelSolve("Exp(-SqDist(x,y))*b", ["x=Vi(3)", "y=Vj(3)", "b=Vj(1)"], "b", axis=1)
    b = np.linspace(-1, 1, M)[:, None]
    with pytest.raises(ValueError, match="eps: expected a number above 0, got 0"):
        solve(x, x, b, eps=0)
    with pytest.raises(ValueError, match="KernelSolve: after 170 steps the root mean square of the residual is"):
        solve(x, ARRAYS["y"][:M], b)  # the matrix is not symmetric


def test_batches_without_elements():
    x, y = np.ones((0, 4, 1, 2)), np.ones((0, 1, 5, 2))
    assert ((LazyTensor(x) - LazyTensor(y)) ** 2).sum(-1).argmin(2).shape == (0, 4, 1)


def test_jax_traces_alpha():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        x, b = (jax.numpy.asarray(one) for one in (ARRAYS["x"], ARRAYS["x"][:, :1]))
        solve = KernelSolve("Exp(-SqDist(x,y))*b", ["x=Vi(3)", "y=Vj(3)", "b=Vj(1)"], "b", axis=1)

        def lazy(alpha):
            return (solve(x, x, b, alpha=alpha, eps=1e-12) ** 2).sum()

        def dense(alpha):
            kernel = jax.numpy.exp(-((x[:, None] - x) ** 2).sum(2)) + alpha * jax.numpy.eye(M)
            return (jax.numpy.linalg.solve(kernel, b) ** 2).sum()

        np.testing.assert_allclose(jax.grad(lazy)(0.3), jax.grad(dense)(0.3), rtol=1e-7)
        assert jax.numpy.isnan(solve(x, jax.numpy.asarray(ARRAYS["y"][:M]), b)).all()
