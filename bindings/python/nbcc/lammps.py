"""A pair formula in LAMMPS through its library interface, for releases without plugins.

    lmp = lammps.lammps()
    lmp.commands_string(...)  # units, box, atoms, masses
    nbcc.lammps.pair_force(lmp, "lennard_jones.pipe", cutoff=2.5, rc=2.5)
    lmp.commands_string("fix 1 all nve\\nrun 1000")

Entry point: `pair_force`. It uses LAMMPS's `fix external`, which requests forces at every step. If LAMMPS has the
command `plugin`, use `pair_style nbcc` instead, which does more and needs no Python during the run.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional, Union

import numpy as np

from ._c._errors import UsageError
from ._c._fields import INPUT_I, INPUT_J, OUTPUT, PARAM
from ._c._lists import Rows
from ._pipeline import Pipeline, compile

_QUANTITIES = {
    "x": "x", "v": "v", "q": "q", "charge": "q", "m": "mass", "mass": "mass", "r": "radius", "radius": "radius",
    "t": "type", "type": "type", "id": "id", "tag": "id", "mol": "molecule", "molecule": "molecule", "mu": "mu",
    "omega": "omega",
}  # fmt: skip
_RESULTS = {"force": 3, "energy": 1, "virial": 6}


def pair_force(
    lmp: Any,
    path: Union[str, "os.PathLike[str]"],
    cutoff: float,
    *,
    fields: Optional[Mapping[str, str]] = None,
    fix: str = "nbcc",
    pair_style: bool = True,
    precision: str = "double",
    device: str = "cpu",
    threads: int = 1,
    skin: float = 0.0,
    **params: Any,
) -> Pipeline:
    """Adds the forces of a pipeline to LAMMPS's forces, with their energy and pressure. Call it after the box and the
    atoms have been created.

    lmp: a `lammps.lammps`. path: the pipeline's file. All numbers are in LAMMPS's units.
    cutoff: the largest distance at which pairs act; at least the proved reach of the pipeline.
    fields: the meaning of fields that do not follow from their names. An input is one of LAMMPS's quantities of atoms
        ("x", "v", "q", "mass", "radius", "type" (from 0), "id", "molecule", "mu", "omega"); names such as xi and xj, qi
        and q_j are known. An output is "force" (3 numbers), "energy" (half of the energy of i's pairs) or "virial" (6
        numbers: half of the virial of i's pairs, xx, yy, zz, xy, xz, yz). Energy and virial may be totals
        (`output(total)`). Without a virial output the virial is computed from the force.
    fix: the name of the fix external. pair_style: also issue `pair_style zero CUTOFF`, which makes LAMMPS keep the
        ghosts that are needed; use False if another pair style with at least this cutoff remains.
    skin: of nbcc's neighbour lists; the skin of the command `neighbor` is a good choice.
    params: those of the pipeline.

    On several ranks it needs mpi4py, built with the MPI that LAMMPS is linked to. Factors of special_bonds are not
    supported: bonds are an error unless all factors are 1. Returns the pipeline. Raises UsageError for invalid
    arguments, such as a cutoff that is too short; errors while LAMMPS runs end the run.
    """
    pipeline = compile(path, device=device, precision=precision, threads=threads)
    _refuse_bonds(lmp)
    force = _Force(lmp, pipeline, dict(fields or {}), fix, skin, params)
    force.check_reach(cutoff)
    commands = f"fix {fix} all external pf/callback 1 1\nfix_modify {fix} energy yes virial yes"
    if pair_style:
        commands = f"pair_style zero {cutoff!r}\npair_coeff * *\n{commands}"
    lmp.commands_string(commands)
    lmp.set_fix_external_callback(fix, force, lmp)
    return force.pipeline


def _refuse_bonds(lmp: Any) -> None:
    factors = lmp.extract_global("special_lj")  # None in older releases
    if lmp.extract_global("nbonds") and (factors is None or any(factor != 1 for factor in factors[1:])):
        raise UsageError("atoms have bonds: the factors of special_bonds are known to pair_style nbcc only")


class _Force:
    """The callback of fix external, called at every step."""

    def __init__(
        self, lmp: Any, pipeline: Pipeline, fields: Dict[str, str], fix: str, skin: float, params: Dict[str, Any]
    ) -> None:
        self._lmp, self._fix, self._skin = lmp, fix, skin
        self._params = dict(params)
        self._open_box(pipeline)
        inputs = [field for field in pipeline.fields if field.role in (INPUT_I, INPUT_J)]
        self._inputs = {field.name: fields.pop(field.name, "") or _quantity(field) for field in inputs}
        self._results: Dict[str, str] = {}  # by result the output
        for field in pipeline.fields:
            result = fields.pop(field.name, field.name) if field.role == OUTPUT else ""
            if result in _RESULTS and _RESULTS[result] == field.components:
                _check_result(field, result)
                self._results[result] = field.name
        if fields:
            raise UsageError(f"fields: {pipeline.name} has no input or output {', '.join(map(repr, fields))}")
        if "force" not in self._results:
            raise UsageError(f"no output of {pipeline.name} is the force: say which, as fields={{'acc': 'force'}}")
        self._of_i = {field.name for field in inputs if field.role == INPUT_I}
        self._comm = _communicator(lmp)
        self._itself: Optional[Rows] = None  # exclusions: each atom with itself
        if "virial" not in self._results:
            place_i, place_j = (
                next((name for name, quantity in self._inputs.items() if quantity == "x" and (name in self._of_i) == of_i), "")
                for of_i in (True, False)
            )
            pipeline = pipeline.virial(self._results["force"], (place_i, place_j))
            self._results["virial"] = self._results["force"] + "_virial"
        self.pipeline = pipeline

    def _open_box(self, pipeline: Pipeline) -> None:
        """Gives a periodic box of the pipeline practically infinite lengths, because ghosts are the periodic images."""
        proved = pipeline.info()["neighbours"] or ""
        if "in the periodic" not in proved:
            return
        box = proved.split("`")[1]
        param = next((field for field in pipeline.fields if field.role == PARAM and field.name == box), None)
        if param is None or box in self._params:
            raise UsageError(f"the box stays open: write xj - xi, or leave the param of the box alone ({proved})")
        self._params[box] = [1e30] * param.components

    def check_reach(self, cutoff: float) -> None:
        """Tests each atom as i with an atom that has the same quantities as j, at a distance just beyond the cutoff and
        far from all others; none of these pairs may be within reach."""
        info = self.pipeline.info()
        if not info["neighbours"]:
            why = f": {info['no_neighbours']}" if info["no_neighbours"] else ""
            raise UsageError(f"no cutoff is proved of {self.pipeline.name}{why}; write skip_if(r2 >= rc * rc)")
        count = self._lmp.extract_setting("nlocal")
        if not count:
            return
        exact = compile(source=self.pipeline.text, name=self.pipeline.filename, precision="double", device="cpu")
        found = self._acting(exact, cutoff * (1 + 1e-9), slice(0, count))
        if len(found):
            reach = self._reach_of(exact, int(found[0]), cutoff)
            raise UsageError(
                f"the cutoff {cutoff} is less than the reach of {self.pipeline.name}, {reach:.10g}: {info['neighbours']}"
            )

    def _acting(self, exact: Pipeline, distance: float, atoms: slice) -> Any:
        """Which of the atoms act on their equals at this distance. The equal of atom m is the j of index m + 1, because a
        guard may exclude equal indices; j 0 is far from all atoms."""
        count = atoms.stop - atoms.start
        equal = np.maximum(np.arange(count + 1) - 1, 0)
        of_i = np.zeros((count, 3))
        of_i[:, 1] = 4 * distance * np.arange(count)
        of_j = of_i[equal] + [distance, 0, 0]
        of_j[0, 1] = -4 * distance
        given: Dict[str, Any] = {}
        for name, quantity in self._inputs.items():
            if quantity == "x":
                given[name] = of_i if name in self._of_i else of_j
            else:
                values = self._array(quantity, atoms.stop)[atoms]
                given[name] = values if name in self._of_i else values[equal]
        return exact.find_neighbours(**given, **self._params).j - 1

    def _reach_of(self, exact: Pipeline, atom: int, acting: float) -> float:
        """The distance up to which an atom acts on its equal, by bisection; it does a little beyond `acting`."""
        one, beyond = slice(atom, atom + 1), 2 * acting
        while len(self._acting(exact, beyond, one)) and beyond < 1e30:
            acting, beyond = beyond, 2 * beyond
        while beyond - acting > 1e-12 * beyond:
            middle = 0.5 * (acting + beyond)
            acting, beyond = (middle, beyond) if len(self._acting(exact, middle, one)) else (acting, middle)
        return beyond

    def _array(self, quantity: str, count: int) -> Any:
        """The current array of a quantity for the first `count` atoms, owned atoms and ghosts."""
        arrays = self._lmp.numpy
        if quantity == "type":
            return arrays.extract_atom("type", nelem=count) - 1
        if quantity == "mass":
            each = arrays.extract_atom("rmass", nelem=count)
            if each is not None:
                return each
            masses = arrays.extract_atom("mass", nelem=self._lmp.extract_global("ntypes") + 1)
            return masses[arrays.extract_atom("type", nelem=count)]
        columns = {"x": 3, "v": 3, "omega": 3, "mu": 4}.get(quantity, 1)
        found = arrays.extract_atom(quantity, nelem=count, dim=columns)
        if found is None:
            raise UsageError(f"these atoms have no {quantity!r}")
        return found[:, :3] if columns == 4 else found

    def __call__(self, _: Any, step: int, owned: int, ids: Any, x: Any, force: Any) -> None:
        try:
            self._compute(owned, force)
        except Exception as wrong:  # ctypes would print this exception and continue
            force[:] = np.nan
            if not hasattr(self._lmp, "error"):
                raise
            self._lmp.error(1, f"nbcc: {wrong}")

    def _compute(self, owned: int, force: Any) -> None:
        every = self._lmp.extract_setting("nall")
        arrays = {quantity: self._array(quantity, every) for quantity in set(self._inputs.values())}
        given = {
            name: arrays[quantity][:owned] if name in self._of_i else arrays[quantity]
            for name, quantity in self._inputs.items()
        }
        names = list(self._results)
        outputs = [self._results[name] for name in names]
        if self._itself is None or len(self._itself.j) != owned:
            self._itself = Rows(range(owned + 1), range(owned))
        found = self.pipeline(
            **given, **self._params, outputs=outputs, skin=self._skin, exclusions=self._itself
        )
        sums = {name: getattr(found, output) for name, output in zip(names, outputs)}
        force[:] = sums["force"]
        of_all = {name: np.reshape(sums[name], (-1, _RESULTS[name])).sum(axis=0) for name in sums if name != "force"}
        totals = self._total(np.append(of_all["virial"], of_all.get("energy", 0.0)))
        self._lmp.fix_external_set_energy_global(self._fix, totals[6])
        self._lmp.fix_external_set_virial_global(self._fix, list(totals[:6]))

    def _total(self, numbers: Any) -> Any:
        """Sums over all ranks: LAMMPS takes the energy and the virial of the entire system from each rank."""
        if self._comm is None:
            return numbers
        return self._comm.allreduce(numbers)


def _check_result(field: Any, result: str) -> None:
    """LAMMPS adds up energies and virials, so these may be totals; the force is that of each atom."""
    if field.reduction != "sum":
        raise UsageError(f"output {field.name!r} cannot be the {result}: it is an output({field.reduction}), not a sum")
    if field.total and result == "force":
        raise UsageError(f"output {field.name!r} cannot be the force: it is a total, not an output(sum) for each atom")


def _quantity(field: Any) -> str:
    side = "i" if field.role == INPUT_I else "j"
    stem = field.name[:-1] if field.name.endswith(side) else field.name
    known = _QUANTITIES.get(stem.rstrip("_"))
    if known is None:
        raise UsageError(
            f"input {field.name!r} is none of LAMMPS's quantities by its name: say which, as "
            f"fields={{{field.name!r}: 'radius'}}"
        )
    return known


def _communicator(lmp: Any) -> Any:
    """LAMMPS's communicator; None on one rank."""
    if lmp.extract_setting("world_size") == 1:
        return None
    comm = lmp.get_mpi_comm()
    if comm is None:
        raise UsageError("on several ranks nbcc.lammps needs mpi4py, of the MPI that LAMMPS is linked to")
    return comm
