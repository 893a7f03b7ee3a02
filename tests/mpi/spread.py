"""nbcc.mpi on every rank: results of spread particles are those of one process, and errors are those of all ranks. Run
by mpirun; ends with 77 where mpi4py, or an MPI that is libnbcc_mpi's, is not there."""

import pathlib
import sys
import traceback

try:
    import numpy as np
    from mpi4py import MPI
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import nbcc
import nbcc.mpi

PIPELINES = pathlib.Path(__file__).resolve().parents[2] / "pipelines"
comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()


def share(count):
    """Rising numbers of particles; rank 0 has none where there are others."""
    first = [count * k * k // (ranks * ranks) if ranks > 1 else count * k for k in range(ranks + 1)]
    first[1:2] = [0] if ranks > 1 else first[1:2]
    return slice(first[rank], first[rank + 1]), first


def close_to(got, expected, terms):
    assert got.shape == expected.shape and got.dtype == np.float64
    assert np.all(np.abs(got - expected) <= 64 * np.finfo(np.float64).eps * terms), np.max(np.abs(got - expected))


def raised(call):
    try:
        call()
    except BaseException as error:
        return type(error), str(error)
    return None


def test_results():
    random = np.random.default_rng(1)
    x, m = random.random((200, 3)), random.random(200) + 0.5
    mine, first = share(200)
    alone = nbcc.compile(PIPELINES / "gravity.pipe", precision="double")
    together = nbcc.mpi.spread(alone, comm)
    for _ in range(2):
        acc, pot = together(x[mine], xj=x[mine], mj=m[mine], eps2=1e-2)
        whole = alone(x, xj=x, mj=m, eps2=1e-2)
        close_to(pot, whole.pot[mine], -whole.pot[mine])
        close_to(acc, whole.acc[mine], np.abs(whole.pot[mine])[:, None] / 1e-2)
        assert together.owners() == (tuple(first), tuple(first))
    together.close()


def test_indices():
    x = np.arange(40.0) ** 2 % 17
    mine, _ = share(40)
    text = "input_i real xi; input_j real xj; output(argmin) index near; skip_if(i_index == j_index);"
    alone = nbcc.compile(source=text + " real d = abs(xj - xi); near = argmin(near, d);")
    assert np.array_equal(nbcc.mpi.spread(alone, comm)(x[mine], xj=x[mine]), alone(x, xj=x)[mine])


def test_totals():
    random = np.random.default_rng(2)
    x, m = random.random((150, 3)), random.random(150) + 0.5
    mine, _ = share(150)
    text = """input_i vec3 xi; input_i real mi; input_j vec3 xj; input_j real mj;
        output(total) double energy; output(total, max) real far[2]; output(total, count) index pairs;
        output(sum) real pot;
        vec3 d = xj - xi; double e = mi * mj / (dot(d, d) + 1e-2);
        pot += e; energy += e; far[0] = max(far[0], dot(d, d)); far[1] = max(far[1], mj); pairs += mj > mi;"""
    alone = nbcc.compile(source=text, precision="double")
    together = nbcc.mpi.spread(alone, comm)
    whole = alone(xi=x, mi=m, xj=x, mj=m)
    found = together(xi=x[mine], mi=m[mine], xj=x[mine], mj=m[mine])
    assert found.pot.shape == (mine.stop - mine.start,)
    close_to(found.energy, whole.energy, whole.energy)
    assert np.array_equal(found.far, whole.far) and found.far.shape == (2,)
    assert found.pairs == whole.pairs
    assert len(set(comm.allgather(found.energy.tobytes()))) == 1
    # An array for a total; a rank that does not want it.
    energy = np.full((), 1.0)
    wanted = {"outputs": ["energy"], "out": {"energy": energy}} if rank > 0 else {"outputs": ["pot"]}
    together(xi=x[mine], mi=m[mine], xj=x[mine], mj=m[mine], **wanted)
    assert energy == (found.energy if rank > 0 else 1.0)


def test_all_j_at_once():
    """Exclusions and batches name the j of all ranks; a tolerance is kept for the i of all."""
    random = np.random.default_rng(3)
    x, m = random.random((300, 3)), random.random(300) + 0.5
    mine, first = share(300)
    alone = nbcc.compile(PIPELINES / "gravity.pipe", precision="double")
    together = nbcc.mpi.spread(alone, comm)
    others = random.integers(0, 300, 300)
    whole = alone(x, xj=x, mj=m, exclusions=(np.arange(301), others))
    found = together(x[mine], xj=x[mine], mj=m[mine], exclusions=(np.arange(mine.stop - mine.start + 1), others[mine]))
    close_to(found.pot, whole.pot[mine], -whole.pot[mine])
    ids = np.arange(300) // 70
    whole = alone(x, xj=x, mj=m, batches=(ids, ids))
    found = together(x[mine], xj=x[mine], mj=m[mine], batches=(ids[mine], ids, 5))
    close_to(found.pot, whole.pot[mine], -whole.pot[mine])
    whole = alone(x, xj=x, mj=m)
    found = together(x[mine], xj=x[mine], mj=m[mine], tolerance=1e-2)
    errors = comm.allgather((np.sum((found.pot / whole.pot[mine] - 1) ** 2), len(found.pot)))
    assert np.sqrt(sum(one for one, _ in errors) / 300) <= 1e-2
    if ranks > 1 and len(found.pot):  # all pairs of so few cost little
        assert "each rank has the j of all ranks" in together.statistics()["reason"], together.statistics()
    together.close()


def test_ranks_with_their_own_j():
    """To a tolerance each rank receives what its domain needs; statistics say so."""
    random = np.random.default_rng(4)
    x, m = random.random((30000, 3)), random.random(30000) + 0.5
    mine, first = share(30000)
    alone = nbcc.compile(PIPELINES / "gravity.pipe", precision="double")
    together = nbcc.mpi.spread(alone, comm)
    some = slice(0, 50)
    whole = alone(x[mine][some], xj=x, mj=m)
    found = together(x[mine], xj=x[mine], mj=m[mine], tolerance=1e-2)
    errors = comm.allgather((np.sum((found.pot[some] / whole.pot - 1) ** 2), len(whole.pot)))
    assert np.sqrt(sum(one for one, _ in errors) / sum(count for _, count in errors)) <= 1e-2
    reason = together.statistics()["reason"]
    assert ranks == 1 or "each rank has the j that its i need: this one" in reason, reason
    together.close()


def test_errors():
    gravity = nbcc.mpi.spread(nbcc.compile(PIPELINES / "gravity.pipe"), comm)
    x, m, last = np.ones((4, 3)), np.ones(4), ranks - 1
    # Of this rank's Python, of the library.
    found = raised(lambda: gravity(x, xj=x, mj=m if rank < last else "text"))
    assert found[0] is TypeError and found[1].startswith(f"rank {last}: gravity(): "), found
    exclusions = (range(6), range(5)) if rank == last else None
    found = raised(lambda: gravity(x, xj=x, mj=m, exclusions=exclusions))
    assert found[0] is nbcc.UsageError and found[1].startswith(f"rank {last}: exclusions: there are rows for 5"), found
    found = raised(lambda: gravity(x, xj=x, mj=m, j_offset=rank))
    if ranks > 1:
        assert found[0] is TypeError and found[1].startswith("rank 1: gravity(): j_offset"), found
    gravity(x, xj=x, mj=m)


def test_errors_of_precision():
    """Ranks agree on a precision only where none is given: that of one rank alone must not make the others wait."""
    if ranks == 1:
        return
    x, m, last = np.ones((4, 3)), np.ones(4), ranks - 1
    gravity = nbcc.mpi.spread(nbcc.compile(PIPELINES / "gravity.pipe"), comm)
    for one in (0, last):
        options = {"precision": "single"} if rank == one else {}
        found = raised(lambda: gravity(x, xj=x, mj=m, **options))
        assert found == (
            nbcc.UsageError,
            f"rank {one}: precision: it is given here and not on rank {0 if one else 1}: expected one precision on all "
            "ranks, or none",
        ), found
    found = raised(lambda: gravity(x, xj=x, mj=m, precision="single" if rank == last else "double"))
    assert found == (
        nbcc.UsageError,
        f"rank {last}: precision: it is single here and double on rank 0: expected one precision on all ranks",
    ), found
    found = raised(lambda: gravity(x, xj=x, mj=m, eps2=0.5 if rank == last else 0.25))
    assert found == (
        nbcc.UsageError,
        f"rank {last}: param 'eps2' is 0.5 here and 0.25 on rank 0: expected one value on all ranks",
    ), found
    gravity(x, xj=x, mj=m)
    gravity.close()


class Interrupting:
    """An argument during whose conversion an exception is raised that is no error, as by Ctrl-C."""

    def __init__(self, exception):
        self.exception = exception

    def __dlpack__(self, *args, **keywords):
        raise self.exception

    def __dlpack_device__(self):
        raise self.exception

    @property
    def __array_interface__(self):
        raise self.exception

    def __array__(self, *args, **keywords):
        raise self.exception


def test_exceptions_that_are_no_errors():
    x, m, last = np.ones((4, 3)), np.ones(4), ranks - 1
    gravity = nbcc.mpi.spread(nbcc.compile(PIPELINES / "gravity.pipe"), comm)
    for exception, kind, text in (
        (KeyboardInterrupt(), KeyboardInterrupt, "KeyboardInterrupt"),
        (KeyError("key"), RuntimeError, "KeyError: 'key'"),
    ):
        found = raised(lambda: gravity(x, xj=x, mj=Interrupting(exception) if rank == last else m))
        assert found == (kind, f"rank {last}: {text}"), found
    gravity(x, xj=x, mj=m)
    gravity.close()


for name, test in list(globals().items()):
    if name.startswith("test_"):
        try:
            test()
        except BaseException:
            # The others wait for this rank.
            traceback.print_exc()
            sys.stderr.flush()
            comm.Abort(1)
