"""A pipeline as a calculator of ASE: energies, forces and stresses of `ase.Atoms` in any cell.

    from nbcc.ase import Calculator

    atoms.calc = Calculator("lennard_jones.pipe", rc=8.5,
                            epsilon={"Ar": 0.0104, "Kr": 0.0141}, sigma={"Ar": 3.40, "Kr": 3.65},
                            mix={"epsilon": "geometric", "sigma": "arithmetic"})

The interface is `Calculator`. Numbers have ASE's units: electronvolts, Angstrom, charges of the proton, atomic masses.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import ase.calculators.calculator
import numpy as np

from ._call._adjoint import Call
from ._c._adjoint_text import GIVEN, SAVED
from ._compile_once import compile_once
from ._c._errors import UsageError
from ._c._fields import INPUT_I, INPUT_J, INPUT_PAIR, OUTPUT, PARAM, Field
from ._arrays._numbers import shown
from ._pipeline import Path, Pipeline, compiled_with_params

# What inputs read, by their names without i or j at the end; other names are arrays of the atoms.
_QUANTITIES = {
    "x": "positions", "v": "velocities", "q": "charges", "charge": "charges", "m": "masses", "mass": "masses",
    "t": "types", "type": "types", "z": "numbers", "id": "ids", "mag": "magmoms",
}  # fmt: skip

Rule = Union[str, Callable[[float, float], float]]

_RULES: Dict[str, Callable[[float, float], float]] = {
    "arithmetic": lambda p, q: 0.5 * (p + q),
    "geometric": lambda p, q: math.sqrt(p * q),
    "sixthpower": lambda p, q: (0.5 * (p**6 + q**6)) ** (1 / 6),
}


_Base: Any = ase.calculators.calculator.Calculator  # whose functions have no types

class Calculator(_Base):  # type: ignore[misc, unused-ignore]
    """Energy, energies, forces, stress and stresses of atoms, by a pipeline that adds up an energy.

    pipeline: of nbcc.compile, or what that takes: a path, or the name of a pipeline that nbcc brings along. Its output
        `energy` is a sum for each i, the energies of the atoms, or a total; where each pair is seen from both of its
        atoms, each time half of the pair's energy is added. i and j are the atoms.
    params: the pipeline's params, by name. A table (`param real epsilon[2][2];`) may be a dict by chemical symbol:
        `{"Ar": 1.0, "Kr": 1.2, ("Ar", "Kr"): 1.1}`; so may a table with one index. `calc.set(rc=9.0)` changes them.
    mix: how a table with two indices gets the elements of unlike symbols that it does not name: `{"epsilon": "geometric",
        "sigma": "arithmetic"}`; "sixthpower" is the sixth root of the mean sixth power; a function of the two elements of
        like symbols is a rule too. Without a rule, a missing element is an error.
    symbols: the chemical symbols whose types are 0, 1, 2 ...; if not given, those of the dicts in their order.
    fields: what inputs read, where their names do not tell: `{"wi": "weights", "wj": "weights"}`. x, v, q (initial
        charges), m, t or type (from 0, the place in `symbols`), z (atomic numbers), mag (initial magnetic moments) and id
        (from 0), with i, j, _i or _j behind, are known; any other name is that of an array in `atoms.arrays`.
    cell: the params that are the cell: three vec3, or one vec3 of lengths; ("a", "b", "c") or ("box",) if not given.
        With `every_image(xj - xi, a, b, c)` cells may be of any size and shape, and open in any direction. Without such
        params the atoms must not be periodic.
    energy, force: the names of outputs. If the pipeline has no output `force`, forces are derivatives of the energy,
        of many-body energies of finish() too. An output `force` is compared with them once, when it is first used.
    precision, device, threads, skin and other options of nbcc.compile: see `__init__`.

    The stress, eV / Angstrom^3, is the derivative of the energy by the strain, divided by the volume, and needs a cell of
    three vectors. The stresses, (N, 6), are those derivatives of the energies of the atoms; their sum is the stress.
    Calculators of one text with the same options share a compiled pipeline, except where a skin is given.
    Raises UsageError for a pipeline that has no such results, and for atoms that it cannot sum; TypeError, ValueError.
    """

    name = "nbcc"
    parameters: Any
    results: Dict[str, Any]
    atoms: Any

    def __init__(
        self,
        pipeline: Union[Pipeline, Path],
        *,
        mix: Optional[Mapping[str, Rule]] = None,
        symbols: Optional[Sequence[str]] = None,
        fields: Optional[Mapping[str, str]] = None,
        cell: Optional[Sequence[str]] = None,
        energy: str = "energy",
        force: str = "force",
        **params: Any,
    ) -> None:
        """See the class for pipeline, mix, symbols, fields, cell, energy, force and params.

        These options are for a path or a name: TypeError with a compiled pipeline, which has its own.
        precision: "double" if not given; "mixed" and "single" are faster, mostly on GPUs.
        device: "cpu", "cuda", "cuda:N"; the CPU if not given. threads: of the CPU; all cores if not given.
        skin: Angstrom; neighbours are kept from call to call until an atom has moved by half of it. 0 if not given.
        math, root, isa, cache_dir, pairs, symmetric: as nbcc.compile has them.
        options: the option of a name that a param of the pipeline has, too: `options={"skin": 0.3}`.
        """
        pipeline, params = compiled_with_params(
            "nbcc.ase.Calculator", pipeline, params, compile_once, precision="double"
        )
        self.pipeline = pipeline
        self._known = {field.name: field for field in pipeline.fields}
        self._energy = self._output(energy)
        self._force = self._known.get(force)
        if self._force is not None:
            self._check_force(self._force)
        self._force_is_checked = False
        self._virial: Optional[Pipeline] = None  # of _stresses()
        self._cell = self._cell_params(cell)
        self._inputs = self._quantities(dict(fields or {}))
        self._mix = dict(mix or {})
        for table, rule in self._mix.items():
            if len(self._param(table).shape) != 2:
                raise ValueError(f"mix: {table!r} is no table with two indices")
            if not callable(rule) and rule not in _RULES:
                raise ValueError(f"mix: expected {', '.join(map(repr, _RULES))} or a function, got {shown(rule)}")
        self._symbols = None if symbols is None else list(symbols)
        properties = ["energy", "free_energy", "forces"]
        if not self._energy.total:
            properties.append("energies")
        if len(self._cell) == 3:
            properties.append("stress")
            if not self._energy.total:
                properties.append("stresses")
        self.implemented_properties = properties
        super().__init__(**params)  # calls set()

    def set(self, **params: Any) -> Dict[str, Any]:
        """Changes params; results are computed anew. Returns what changed. Raises TypeError, ValueError."""
        for name in params:
            if name in self._cell:
                raise TypeError(f"nbcc.ase.Calculator: {name!r} is the cell of the atoms")
            self._param(name)
        before = dict(self.parameters)
        changed: Dict[str, Any] = super().set(**params)
        try:
            types = self._numbered()
            values = {name: self._table(name, value, types) for name, value in self.parameters.items()}
            lacking = [
                field.name
                for field in self._known.values()
                if field.role == PARAM
                and field.default is None
                and field.name not in self.parameters
                and field.name not in self._cell
            ]
            if lacking:
                raise TypeError(f"nbcc.ase.Calculator: {self.pipeline.name} lacks its param {', '.join(lacking)}")
        except (TypeError, ValueError):
            self.parameters = ase.calculators.calculator.Parameters(before)
            raise
        self._types, self._values = types, values
        if changed:
            self.reset()
        return changed

    def check_state(self, atoms: Any, tol: float = 1e-15) -> List[str]:
        """What differs from the atoms of the results, with the arrays that inputs read and that ASE does not compare."""
        changed: List[str] = list(super().check_state(atoms, tol))
        if self.atoms is None or changed:
            return changed
        read = set(self._inputs.values())
        if "velocities" in read:
            read |= {"momenta", "masses"}
        return [name for name in read if not np.array_equal(self.atoms.arrays.get(name), atoms.arrays.get(name))]

    def todict(self, skip_default: bool = True) -> Dict[str, Any]:
        """The pipeline's name and the params as plain data, for trajectories and databases."""
        params: Dict[str, Any] = {}
        for name, value in self.parameters.items():
            if isinstance(value, Mapping):
                value = {key if isinstance(key, str) else "-".join(key): number for key, number in value.items()}
            params[name] = value
        return {"pipeline": self.pipeline.name, **params}

    def calculate(
        self,
        atoms: Any = None,
        properties: Sequence[str] = ("energy",),
        system_changes: Sequence[str] = tuple(ase.calculators.calculator.all_changes),
    ) -> None:
        """As ASE calls it: computes the energy, and the properties that are asked for."""
        super().calculate(atoms, properties, system_changes)
        given = self._given(self.atoms, self.atoms.positions)
        has_stress = "stress" in self.implemented_properties and self.atoms.cell.rank == 3
        needs_stress = has_stress and not {"stress", "stresses"}.isdisjoint(properties)
        if not set(properties) - {"energy", "energies", "free_energy"}:
            self._store_energy(self._array(self._sum(given, self._energy)))
            return
        if self._force is not None and not self._force_is_checked:
            self._compare_forces()
        if self._force is not None and not needs_stress:
            found = self._sum(given, self._energy, self._force)
            self._store_energy(self._array(getattr(found, self._energy.name)))
            self.results["forces"] = self._array(getattr(found, self._force.name))
            return
        energy, slope, of_cell = self._derivatives(given, needs_stress)
        self._store_energy(energy)
        self.results["forces"] = -slope
        if self._force is not None:
            self.results["forces"] = self._array(self._sum(given, self._force))
        if needs_stress:
            # A strain e multiplies positions and vectors of the cell by 1 + e.
            middle = self.atoms.positions.mean(axis=0) if len(self.atoms) else np.zeros(3)
            strain = (self.atoms.positions - middle).T @ slope + self.atoms.cell.array.T @ of_cell
            symmetric = 0.5 * (strain + strain.T)
            voigt = symmetric[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]
            self.results["stress"] = voigt / self.atoms.get_volume()
            if "stresses" in properties and not self._energy.total:
                self.results["stresses"] = self._stresses(given)

    def _store_energy(self, energy: Any) -> None:
        total = float(np.sum(energy))
        self.results["energy"] = self.results["free_energy"] = total
        if not self._energy.total:
            self.results["energies"] = energy

    def _derivatives(self, given: Dict[str, Any], by_cell: bool) -> Tuple[Any, Any, Any]:
        """The energy, its derivative by positions, (N, 3), and by the three vectors of the cell, (3, 3)."""
        call = Call(self.pipeline, (), given, {"outputs": [self._energy.name]})
        call.check_derivatives()
        results = dict(zip((field.name for field in call.outputs), call.run({})))
        energy = results[self._energy.name]
        places = [name for name, quantity in self._inputs.items() if quantity == "positions"]
        vectors = list(self._cell) if by_cell else []
        slopes = call.gradients({}, results, {self._energy.name: np.ones_like(energy)}, places + vectors)
        by_place = sum(self._array(slopes[name]) for name in places if name in slopes)
        of_cell = np.array([self._array(slopes[name]) for name in vectors])
        return self._array(energy), by_place, of_cell

    def _stresses(self, given: Dict[str, Any]) -> Any:
        """The stress of each atom, (N, 6): the derivative of its energy by the strain, divided by the volume. The
        derivative by the position of i is a sum over pairs, whose virial has half of what is wanted."""
        of_i, of_j = (self._positions(role) for role in (INPUT_I, INPUT_J))
        if len(of_i) != 1 or len(of_j) != 1:
            raise UsageError(f"{self.pipeline.name} has no stresses: more than one input of a side reads the positions")
        call = Call(self.pipeline, (), given, {"outputs": [self._energy.name]})
        results = dict(zip((field.name for field in call.outputs), call.run({})))
        adjoint: Any = self.pipeline._adjoints.get("i", [self._energy.name], of_i)
        if self._virial is None:
            slope = next(field.name for field in adjoint.fields if field.role == OUTPUT)
            self._virial = adjoint.virial(slope, (of_i[0], of_j[0]))
        sources = {GIVEN: {self._energy.name: np.ones(len(self.atoms))}, SAVED: results}
        values = {
            one.name: sources[one.meaning][one.of] if one.meaning in sources else given.get(one.of)
            for one in adjoint.adjoint_fields
        }
        inputs = {field.name: values[field.name] for field in self._virial.fields if field.role != OUTPUT}
        name = [field.name for field in self._virial.fields if field.role == OUTPUT][-1]
        virial = self._array(self._virial(**inputs, outputs=[name]))
        stresses = 2.0 * virial[:, [0, 1, 2, 5, 4, 3]] / self.atoms.get_volume()  # from xx, yy, zz, xy, xz, yz
        off = np.abs(stresses.sum(axis=0) - self.results["stress"]).max()
        size = np.abs(stresses).sum() + np.abs(self.results["energies"]).sum() / self.atoms.get_volume()
        if not off <= (1e-8 if self._is_double() else 1e-3) * size:
            raise UsageError(f"{self.pipeline.name} has no stresses: their sum is not the stress, as where forces are not "
                             "along the line between two atoms")  # fmt: skip
        return stresses

    def _positions(self, role: str) -> List[str]:
        """The inputs of a side that read the positions."""
        return [name for name, quantity in self._inputs.items() if quantity == "positions" and self._known[name].role == role]

    def _is_double(self) -> bool:
        """True if sums are computed in double precision, as they are by default, because positions are float64."""
        return self.pipeline._family.options.precision not in ("single", "mixed")

    def _compare_forces(self) -> None:
        """Compares the output `force` with the derivative of the energy, for the atoms moved a little: in a crystal both
        are 0. Raises UsageError."""
        assert self._force is not None
        count = len(self.atoms)
        if count < 2:
            return  # the force of one atom and its images is 0
        extent = np.ptp(self.atoms.positions, axis=0).max() + np.linalg.norm(self.atoms.cell.array, axis=1).max()
        move = np.random.default_rng(1).normal(size=(count, 3)) * 0.02 * (extent or 1.0) / max(count, 8) ** (1 / 3)
        given = self._given(self.atoms, self.atoms.positions + move)
        try:
            _, slope, _ = self._derivatives(given, False)
        except UsageError:
            self._force_is_checked = True  # the energy has no derivative that nbcc knows
            return
        force = self._array(self._sum(given, self._force))
        off, size = np.abs(force + slope).max(), np.abs(slope).max()
        if not off <= (1e-6 if self._is_double() else 1e-2) * max(size, np.abs(force).max()):
            atom = int(np.abs(force + slope).max(axis=1).argmax())
            raise UsageError(
                f"output {self._force.name!r} of {self.pipeline.name} is not minus the derivative of the summed "
                f"{self._energy.name!r}: atom {atom}, moved a little, expected {-slope[atom]}, got {force[atom]}. "
                "(Each pair is seen from both of its atoms, so energies add half of the pair's.)"
            )
        self._force_is_checked = True

    def _sum(self, given: Dict[str, Any], *outputs: Field) -> Any:
        """The outputs, by inputs and params, whose names may be those of options."""
        return self.pipeline._call((), given, {"outputs": [field.name for field in outputs]})

    def _array(self, values: Any) -> Any:
        return np.asarray(values, dtype=float)

    def _given(self, atoms: Any, positions: Any) -> Dict[str, Any]:
        """The pipeline's inputs and params of the atoms."""
        arrays: Dict[str, Any] = {}
        for name, quantity in self._inputs.items():
            if quantity not in arrays:
                arrays[quantity] = self._quantity(atoms, quantity, positions, self._known[name])
        given = {name: arrays[quantity] for name, quantity in self._inputs.items()}
        return {**given, **self._values, **self._cell_of(atoms)}

    def _quantity(self, atoms: Any, quantity: str, positions: Any, field: Field) -> Any:
        if quantity == "positions":
            return np.array(positions, dtype=float)
        if quantity == "types":
            return self._types_of(atoms)
        if quantity == "charges":
            return atoms.get_initial_charges()
        if quantity == "magmoms":
            return atoms.get_initial_magnetic_moments()
        if quantity == "masses":
            return atoms.get_masses()
        if quantity == "velocities":
            return atoms.get_velocities()
        if quantity == "numbers":
            return np.array(atoms.numbers)
        if quantity == "ids":
            return np.arange(len(atoms))
        if quantity not in atoms.arrays:
            raise UsageError(
                f"input {field.name!r} of {self.pipeline.name} reads {quantity!r}, which these atoms do not have; they have "
                f"{', '.join(sorted(atoms.arrays))}"
            )
        return np.array(atoms.arrays[quantity])

    def _types_of(self, atoms: Any) -> Any:
        found = atoms.get_chemical_symbols()
        for symbol in sorted(set(found)):
            if symbol not in self._types:
                known = ", ".join(self._types) or "none: symbols= lists them"
                raise UsageError(f"{self.pipeline.name} has no type for {symbol!r}; its symbols are {known}")
        return np.array([self._types[symbol] for symbol in found], dtype=np.int64)

    def _cell_of(self, atoms: Any) -> Dict[str, Any]:
        """The params that are the cell. A vector of 0 leaves a direction open, in `every_image`."""
        axes = "".join(axis for axis, periodic in zip("xyz", atoms.pbc) if periodic)
        if not self._cell:
            if axes:
                raise UsageError(f"the atoms are periodic, but {self.pipeline.name} has no param for the cell: write "
                                 "every_image(xj - xi, a, b, c)")  # fmt: skip
            return {}
        vectors = atoms.cell.array * atoms.pbc[:, None]
        lengths = np.linalg.norm(vectors, axis=1)
        for k, periodic in enumerate(atoms.pbc):
            if periodic and not lengths[k] > 0:
                raise UsageError(f"the atoms are periodic in direction {k}, but that vector of their cell is 0")
        if len(self._cell) == 3:
            if self._takes_nearest and not atoms.pbc.all():
                raise UsageError(
                    f"the atoms are open in some directions, but {self.pipeline.name} takes the nearest image in a cell that "
                    "is periodic in all: write every_image(xj - xi, a, b, c)"
                )
            return dict(zip(self._cell, vectors))
        if np.abs(vectors - np.diag(np.diag(vectors))).max() > 1e-12 * lengths.max():
            raise UsageError(f"{self._cell[0]!r} of {self.pipeline.name} are three lengths, but the cell is not rectangular "
                             "along x, y and z: write every_image(xj - xi, a, b, c)")  # fmt: skip
        box = np.abs(np.diag(vectors))
        return {self._cell[0]: np.where(atoms.pbc, box, 1e30 if self._takes_nearest else 0.0)}

    def _output(self, name: str) -> Field:
        field = self._known.get(name)
        outputs = [field.name for field in self._known.values() if field.role == OUTPUT]
        if field is None or field.role != OUTPUT:
            raise UsageError(f"{self.pipeline.name} has no output {name!r}: say which is the energy, as energy='pot'; it has "
                             f"{', '.join(outputs)}")  # fmt: skip
        if field.reduction != "sum" or field.components != 1 or field.integral or field.of_pair:
            raise UsageError(f"output {name!r} of {self.pipeline.name} cannot be the energy: expected a sum of real numbers, "
                             f"got {field}")  # fmt: skip
        return field

    def _check_force(self, field: Field) -> None:
        if field.role != OUTPUT or field.reduction != "sum" or field.components != 3 or field.total or field.of_pair:
            raise UsageError(f"{field.name!r} of {self.pipeline.name} cannot be the force: expected output(sum) vec3, got "
                             f"{field}")  # fmt: skip

    def _param(self, name: str) -> Field:
        field = self._known.get(name)
        if field is None or field.role != PARAM:
            known = [one.name for one in self._known.values() if one.role == PARAM and one.name not in self._cell]
            raise TypeError(f"nbcc.ase.Calculator: {self.pipeline.name} has no param {name!r}; it has "
                            f"{', '.join(known) or 'none'}")  # fmt: skip
        return field

    def _cell_params(self, cell: Optional[Sequence[str]]) -> Tuple[str, ...]:
        names = tuple(cell) if cell is not None and not isinstance(cell, str) else (cell,) if cell else ()
        if cell is None:
            known = {name for name, field in self._known.items() if field.role == PARAM and field.components == 3}
            names = next((choice for choice in (("a", "b", "c"), ("box",)) if known.issuperset(choice)), ())
        if len(names) not in (0, 1, 3):
            raise ValueError(f"cell: expected the names of three params, or of one, got {shown(cell)}")
        for name in names:
            if name not in self._known or self._known[name].role != PARAM or self._known[name].components != 3:
                raise UsageError(f"cell: {self.pipeline.name} has no param vec3 {name!r}")
        self._takes_nearest = "in the periodic" in (self.pipeline.info()["neighbours"] or "")
        return names

    def _quantities(self, fields: Dict[str, str]) -> Dict[str, str]:
        found: Dict[str, str] = {}
        for field in self._known.values():
            if field.role == INPUT_PAIR:
                raise UsageError(f"{self.pipeline.name} has an input of pairs, {field.name!r}, which atoms do not have")
            if field.role not in (INPUT_I, INPUT_J):
                continue
            end = "i" if field.role == INPUT_I else "j"
            stem = field.name[:-1].rstrip("_") if field.name.endswith(end) else field.name
            found[field.name] = fields.pop(field.name, "") or _QUANTITIES.get(stem, stem)
        if fields:
            raise UsageError(f"fields: {self.pipeline.name} has no input {', '.join(map(repr, fields))}")
        for role in (INPUT_I, INPUT_J):
            if "positions" not in [found[name] for name in found if self._known[name].role == role]:
                raise UsageError(f"{self.pipeline.name} has no {role} that reads the positions: say which, as "
                                 "fields={'ri': 'positions'}")  # fmt: skip
        return found

    def _numbered(self) -> Dict[str, int]:
        """The types by chemical symbol."""
        names: List[str] = [] if self._symbols is None else list(self._symbols)
        for table, value in self.parameters.items():
            if isinstance(value, Mapping):
                for key in value:
                    for symbol in (key,) if isinstance(key, str) else key:
                        if symbol in names:
                            continue
                        if self._symbols is not None:
                            raise ValueError(f"{table}: {symbol!r} is not in symbols={self._symbols}")
                        names.append(symbol)
        if len(set(names)) != len(names):
            raise ValueError(f"symbols: one of {names} is named twice")
        return {symbol: k for k, symbol in enumerate(names)}

    def _table(self, name: str, value: Any, types: Dict[str, int]) -> Any:
        """The value of a param; a table by chemical symbols as an array. Types without a symbol have elements of 0, which
        no atom reads."""
        if not isinstance(value, Mapping):
            return value
        field = self._param(name)
        shape = field.shape
        if len(shape) not in (1, 2) or len(set(shape)) != 1 or field.width > 1:
            raise ValueError(f"{name}: a dict by chemical symbols is for tables with one index, or two of one length; it is "
                             f"{field}")  # fmt: skip
        if len(types) > shape[0]:
            raise ValueError(f"{name}: the table has {shape[0]} types, but there are {len(types)} symbols: "
                             f"{', '.join(types)}")  # fmt: skip
        table = np.zeros(shape)
        if len(shape) == 2:
            self._fill_pairs(table, name, value, types)
            return table
        for symbol, k in types.items():
            if symbol not in value:
                raise ValueError(f"{name}: no element for {symbol!r}")
            table[k] = value[symbol]
        return table

    def _fill_pairs(self, table: Any, name: str, value: Mapping[Any, float], types: Dict[str, int]) -> None:
        rule = self._mix.get(name)
        mixed = rule if callable(rule) else None if rule is None else _RULES[rule]
        own = {key if isinstance(key, str) else key[0]: number for key, number in value.items()
               if isinstance(key, str) or key[0] == key[1]}  # fmt: skip
        for p, row in types.items():
            for q, column in types.items():
                given = [value[key] for key in ((p, q), (q, p)) if key in value]
                if len(set(given)) == 2:
                    raise ValueError(f"{name}: {(p, q)} is {given[0]}, but {(q, p)} is {given[1]}")
                if p == q and p in value and given and value[p] != given[0]:
                    raise ValueError(f"{name}: {p!r} is {value[p]}, but {(p, p)} is {given[0]}")
                if given:
                    table[row, column] = given[0]
                elif p == q and p in own:
                    table[row, column] = own[p]
                elif mixed is not None and p in own and q in own:
                    table[row, column] = mixed(own[p], own[q])
                else:
                    what = f"{p!r}" if p == q else f"{(p, q)}"
                    hint = f"; mix={{{name!r}: 'geometric'}} would be a rule" if mixed is None and p != q else ""
                    raise ValueError(f"{name}: no element for {what}{hint}")
