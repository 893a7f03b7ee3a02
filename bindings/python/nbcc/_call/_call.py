"""Executes a call of a pipeline as one run of an nbcc_sum. Entry point: `Caller`, a callable object for a pipeline.
Options of the run are checked here, with errors that name the argument. The library does the sums."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .._c import _library
from ._arguments import Inputs, Param
from ._batched_neighbours import detached, groups_of, neighbours_of
from .._arrays._arrays import CPU
from .._c._errors import UsageError
from .._c._family import Family
from .._c._fields import Field, Search, device_name, is_read_by
from .._c._handles import Kernel, Sum, View
from ._keywords import split
from .._c._library import RunOptions
from .._arrays._list_arrays import whole_numbers
from .._c._lists import Listing, Lists, Values, listing_of
from .._c._neighbours import Neighbours
from .._arrays._numbers import flag, named, whole
from ._outputs import Outputs
from .._c._progress import Bar, Progress, function_of
from ._precision import RunInfo, precision_of, warn_of_double
from ._repeated import CallArguments, Kinds
from .._arrays._results import Result
from .._c._statistics import Statistics
from .._arrays._streams import LEGACY, handle_of


class Caller(Outputs):
    """A pipeline that is called with its inputs; bound inputs and params with defaults need not be given."""

    def __init__(self, family: Family) -> None:
        super().__init__(family)
        self._idle: Dict[Kernel, List[Sum]] = {}
        self._version, self._last_run = 0, RunInfo("", "", "")
        self._kinds_seen = Kinds()
        self._is_derivative = False

    def _precision_of(self, views: List[Tuple[int, Field, View]]) -> str:
        return precision_of(views)

    def __call__(self, /, *arrays: Any, **keywords: Any) -> Any:
        """Sums over all j for every i.

        arrays, keywords: the pipeline's inputs and params, by position in the order of their declaration or by name; and
            the options below, by name. The name of a field is the field's, also if an option has it: that option is then
            given as `options={"tolerance": 1e-3}`, which may hold any options, and `compile` warns of such names.
            An input is an array of float32, float64, int32 or int64 with one row for each particle: shape (N,) for a
            scalar, (N, 3) for a vec3, with any strides, on the CPU or a CUDA GPU; it is read without a copy. Units are
            those of the pipeline's text. An input_pair has a row for each listed pair. A param is a number, or one
            number for each component; with lists or batches also an array with one more axis in front, for values of
            each group or batch.
        out: arrays for the results: one, a tuple in the order of the outputs, or a dict by name. An element None: a new
            array.
        outputs: the names of the outputs to compute. Default: all.
        accumulate: combine the results with the values in `out`, by the output's reduction.
        i: only these i-particles, a slice or indices (integers, each at most once). The result of particle k is stored
            at index k of `out`; other rows are not changed. In new arrays they are 0.
        ni, nj: the number of particles, if it does not follow from an input (or output).
        i_offset, j_offset: added to i_index and j_index, for arrays that are slices of larger ones.
        device: "cpu", "cuda:N", "cuda:0,2" or "cuda:all". Default: the device of `compile`, or that of the arrays.
        stream: GPU only: an integer, or a stream of CuPy, PyTorch or Numba. Default: the current stream of the arrays'
            library.
        precision, math, root, pairs, skin: as for `compile`. Without a precision, there or here, that of the arrays.
        tolerance: of a sum in O(N) or O(N log N) time, for pipelines with a far field: the root mean square over i of
            the error divided by the sum of the terms' magnitudes, for each output before finish(); measured for
            256 i or more. From 1e-14 to 1; None or 0: none. All pairs are summed if that is faster, or if the tolerance
            cannot be kept, in the precision that it needs; `statistics()["reason"]` says so. With batches each of them for
            which that is faster has a far field, and others are summed in the precision of the call; a tolerance that needs
            a higher one is an error. No effect with lists, listed_pairs, and pairs other than "auto". Derivatives are sums to the same tolerance.
        lists: nbcc.Lists, groups of i and the ranges of j that act on each.
        batches: (i_batch, j_batch), integers of shape (ni,) and (nj,) in rising order: the j of a batch act on the i of
            the same batch. The number of batches is the largest id + 1; a third element sets another number.
        listed_pairs: (first, j), integers of shape (ni + 1,) and (pairs,), or a sparse matrix in CSR form with a row
            for each i, or nbcc.Rows: the j that act on i are j[first[i]], ..., j[first[i + 1] - 1]; a repeated j acts
            repeatedly.
        exclusions: excluded pairs, in the same form.
            These four arguments apply to this call only. Each call reads and checks them again, except nbcc.Lists and
            nbcc.Rows: these never change, so later calls with the same object skip the copy and the check.
        clamp: clamp an index outside of a table to the table's nearest end. Without it such an index is an error, which
            names the index, the particle, the value and the table. For arrays on a GPU the error is raised when results
            are next waited for, or by the next call.
        progress: True: a bar on sys.stderr, if that is a terminal or a notebook and the call takes more than a second.
            Or a function that is called in this thread about every 50 ms with the fraction that is done, from 0 to 1;
            an exception of this function ends the sum, and is raised by the call.

        Ctrl-C, in the main thread, ends a sum. Arrays in `out` then have for each i either its new result or its old
        value.

        Returns the outputs in order of declaration, one by itself, several as a named tuple, whose `info` says in which
        precision, on which device and by which method (see `statistics`) they were computed. A total is a number, or an
        array of the shape of its type; an array for it in `out` has that shape. Outputs have the library and the device
        of the first input of i; the type is float32 if all real inputs are float32 and precision is not "double", else
        float64; float64 for totals; int64 for indices.

        Raises TypeError or ValueError, with the argument's name, what was expected and what was given; DeviceError.
        """
        fields, options = self._split(keywords)
        return self._call(arrays, fields, options)

    def _split(self, keywords: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """(fields, options) of a call's keywords. Raises TypeError."""
        return split(self._family.name, keywords, OPTIONS, self._family.arguments)

    def _call(self, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        """A call whose keywords have been split."""
        return self._sum(arrays, fields, None, **options)

    def _repeat(self, arguments: CallArguments) -> Any:
        """The results of a call of a kind that was seen before; None: it must be checked."""
        kind = self._kinds_seen.find(arguments)
        order = None if kind is None else kind.order()
        if kind is None or order is None:
            return None
        values = arguments.values
        views = [(k, field, (values[index], *rest)) for k, field, index, rest in kind.inputs]
        inputs = Inputs(views, None, [], order, kind.device, kind.ni, kind.nj)
        params = [
            (k, value if index < 0 else self._param(field, values[index])) for k, field, index, value in kind.params
        ]
        results = kind.results_for(arguments)
        if len(arguments.out) > 1:
            self._check_apart([(self._family.fields[k], view) for k, result, view in results if not result.is_new])
        run = self._run_options(inputs, kind.accumulate, kind.clamp, None)
        rows, listing = arguments.rows, None
        if rows:
            listing = listing_of(self._family.name, None, None, rows.get("listed_pairs"), rows.get("exclusions"))
        method = self._run(kind.kernel, inputs, results, params, [], kind.offsets, kind.search, listing, run, None)
        self._last_run = RunInfo(kind.precision, method, kind.device)
        return self._handed_out(results, self._last_run)

    def _sum(
        self,
        arrays: Sequence[Any],
        fields: Mapping[str, Any],
        seen: Optional[CallArguments],
        *,
        out: Any = None,
        outputs: Any = None,
        accumulate: bool = False,
        i: Any = None,
        ni: Optional[int] = None,
        nj: Optional[int] = None,
        i_offset: int = 0,
        j_offset: int = 0,
        device: Any = None,
        stream: Any = None,
        precision: Optional[str] = None,
        math: Optional[str] = None,
        root: Optional[str] = None,
        pairs: Optional[str] = None,
        skin: Optional[float] = None,
        tolerance: Optional[float] = None,
        lists: Optional[Lists] = None,
        batches: Any = None,
        listed_pairs: Any = None,
        exclusions: Any = None,
        clamp: bool = False,
        progress: Any = None,
    ) -> Any:
        family = self._family
        values = self._match(arrays, fields)
        options = family.options
        if precision is not None or math is not None or root is not None:
            options = options.changed(precision, math, root)
        search = family.search
        if pairs is not None or skin is not None or tolerance is not None:
            search = search.changed(pairs, skin, tolerance)
        if ni is not None or nj is not None:
            ni, nj = self._count("ni", ni), self._count("nj", nj)
        if type(i_offset) is not int or type(j_offset) is not int or i_offset or j_offset:
            i_offset, j_offset = (
                named(f"{family.name}(): {name}", whole, value)
                for name, value in (("i_offset", i_offset), ("j_offset", j_offset))
            )
        if type(accumulate) is not bool or type(clamp) is not bool:
            accumulate, clamp = (
                named(f"{family.name}(): {name}", flag, value) for name, value in (("accumulate", accumulate), ("clamp", clamp))
            )
        where = family.device if device is None else device_name(device)
        listing: Optional[Listing] = None
        if lists is not None or batches is not None or listed_pairs is not None or exclusions is not None:
            listing = listing_of(family.name, lists, batches, listed_pairs, exclusions)
        inputs = self._inputs(values, where, stream, ni, nj, listing)
        wanted = family.outputs if outputs is None else self._wanted(outputs)
        given = {} if out is None else self._given_outputs(out, wanted)
        if accumulate and len(given) < len(wanted):
            lacking = next(field.name for k, field in wanted if k not in given)
            raise TypeError(f"{family.name}(): accumulate= needs out=, for '{lacking}' too")
        if inputs.ni is None or inputs.nj is None:
            inputs = self._counted(inputs, wanted, given)
        if options.precision is None:
            options = options._replace(precision=self._precision_of(inputs.views))
        results = self._results(inputs, wanted, given, options.precision == "double", i is not None, listing)
        run = self._run_options(inputs, accumulate, clamp, i)
        params, by_group = self._params(values, None if listing is None else listing.groups)
        if listing is not None:
            listing.check(family.name, inputs.device, inputs.nj or 0)
        kernel = family.kernel(inputs.device, options)
        if precision is None and family.options.precision is None:
            warn_of_double(options.precision, kernel.device)
        callback = None if progress is None else function_of(family.name, progress)
        offsets = (i_offset, j_offset)
        try:
            method = self._run(kernel, inputs, results, params, by_group, offsets, search, listing, run, callback)
        finally:
            if isinstance(callback, Bar):
                callback.clear()
        self._last_run = RunInfo(options.precision or "", method, inputs.device)
        if seen is not None:
            self._kinds_seen.learn(
                seen,
                self._indices(len(arrays), fields),
                inputs.views,
                [(param, family.fields[param[0]]) for param in params],
                results,
                kernel=kernel,
                precision=options.precision or "",
                device=inputs.device,
                ni=inputs.ni,
                nj=inputs.nj,
                search=search,
                offsets=offsets,
                accumulate=accumulate,
                clamp=clamp,
                stream=None if stream is None else handle_of(stream),
            )
        return self._handed_out(results, self._last_run)

    def _indices(self, count: int, fields: Mapping[str, Any]) -> List[int]:
        """Of each field the index of its argument, the positional ones first; -1: the field is not given."""
        given = self._match(range(count), dict(zip(fields, range(count, count + len(fields)))))
        return [value if type(value) is int else -1 for value in given]

    def _run(
        self,
        kernel: Kernel,
        inputs: Inputs,
        results: List[Tuple[int, Result, View]],
        params: List[Param],
        by_group: List[Tuple[int, Values]],
        offsets: Tuple[int, int],
        search: Search,
        listing: Optional[Listing],
        run: Optional[RunOptions],
        progress: Optional[Progress],
    ) -> str:
        """Returns the method by which the pairs were chosen."""
        idle, used = self._take(kernel)
        try:
            self._give(used, inputs, params, listing)
            for k, _, view in results:
                used.bind(k, view)
            if len(results) < len(self._family.outputs):
                wanted = [k for k, _, _ in results]
                for k, _ in self._family.outputs:
                    if k not in wanted:
                        used.ignore(k)
            for k, of_groups in by_group:
                used.set_values(k, of_groups)
            used.set_offsets(*offsets)
            used.set_search(search)
            used.ask(progress)
            waits = any(result.wait for _, result, _ in results)
            try:
                used.run(run)
                if waits:
                    used.wait()
            except BaseException:
                if waits:  # the results' library may free them, although a kernel still writes to them
                    used.wait_after_error()
                raise
            used.warn()
            if self._is_derivative and search.tolerance:
                self._refuse_shape(used)
            return used.method()
        finally:
            used.forget()
            idle.append(used)

    def _refuse_shape(self, used: Sum) -> None:
        """The derivative of a periodic sum may fall so slowly that its sum depends on the order of the images, which that
        of the differentiated sum does not tell: its terms are singular where two particles meet."""
        if b"growing spheres" in used.statistics().convention:
            raise UsageError(
                f"{self._family.name}(): a derivative of this periodic sum has terms that fall like 1 / r^3, whose sum "
                "depends on the order of the images, so that it is not the derivative; write the derivative's terms as a "
                "pipeline, of which the page Periodic sums says what is summed"
            )

    def _take(self, kernel: Kernel) -> Tuple[List[Sum], Sum]:
        """Takes an idle sum, and returns it with the list to which the caller must return it. So concurrent threads,
        and a call inside of a call, use different sums."""
        idle = self._idle.get(kernel) or self._idle.setdefault(kernel, [])
        try:
            return idle, idle.pop()
        except IndexError:
            return idle, self._new_sum(kernel)

    def _give(self, used: Sum, inputs: Inputs, params: List[Param], listing: Optional[Listing]) -> None:
        if used.version != self._version:
            used.j_changed()
            used.version = self._version
        for k, _, view in inputs.views:
            used.bind(k, view)
        used.set_listing(listing)
        for k, values in params:
            used.set_param(k, values)
        if self._family.counts_are_given:
            used.set_counts(inputs.ni or 0, inputs.nj or 0)

    def find_neighbours(self, /, *arrays: Any, **keywords: Any) -> Neighbours:
        """The pairs that can contribute: those that pass the guards' comparisons of distances; `info()["neighbours"]`
        has the reach.

        arrays: as for a call. keywords: inputs and params by name, and the options ni, nj, exclusions, progress, batches, as
            for a call. With batches, and for arrays on a GPU, the search is that of `nbcc.neighbours`, in the memory of the
            arrays: for one cutoff, of 3 coordinates that are inputs, of at most half a period.

        Returns nbcc.Neighbours (`first`, `j`, `shifts`), arrays of the library of the inputs that the caller owns: the neighbours of i are
        j[first[i]], ..., j[first[i + 1] - 1], in rising order; `shifts` added to the position of j gives its periodic
        image nearest to i. `listed_pairs=(found.first, found.j)` sums over these pairs; use
        `nbcc.Rows(found.first, found.j)` for several calls.

        If i and j are one set, the pairs of particles with themselves are included, unless a guard of the text excludes
        them, as `skip_if(i_index == j_index)` does, or `exclusions=(range(n + 1), range(n))`. Distances are compared as in
        the guards, `<=` or `<`, in the arithmetic of the kernel; with batches and on a GPU in the precision of the positions.

        Raises what calls raise; UsageError if no reach is proved, or if a length of the box is 0.
        """
        fields, options = split(
            f"{self._family.name}.find_neighbours", keywords, _NEIGHBOUR_OPTIONS, self._family.arguments
        )
        return self._found_neighbours(arrays, fields, **options)

    def _found_neighbours(
        self,
        arrays: Sequence[Any],
        fields: Mapping[str, Any],
        *,
        ni: Optional[int] = None,
        nj: Optional[int] = None,
        exclusions: Any = None,
        progress: Any = None,
        batches: Any = None,
    ) -> Neighbours:
        family = self._family
        if family.of_pairs:
            raise TypeError(
                f"{family.name}.find_neighbours(): expected a pipeline whose pairs are searched for; "
                f"those of this one are listed, for its {family.of_pairs[0]}"
            )
        for name, instead in (
            ("lists", "call it for the particles of each list"),
            ("listed_pairs", "listed pairs are not searched for"),
        ):
            if name in fields and name not in family.arguments:
                raise TypeError(
                    f"{family.name}.find_neighbours() takes no {name}=: {instead}; {family.name}(..., {name}=) sums over "
                    "such pairs without a search"
                )
        values = detached(self._match(arrays, fields))
        ni, nj = self._count("ni", ni), self._count("nj", nj)
        inputs = self._inputs(values, None, None, ni, nj)
        for side, count in (("i", inputs.ni), ("j", inputs.nj)):
            if count is None:
                raise TypeError(
                    f"{family.name}() has no input_{side}: n{side}= must give the number of {side}-particles"
                )
        who = f"{family.name}.find_neighbours()"
        groups = groups_of(who, batches)
        params, by_group = self._params(values, groups)
        options = family.options.changed(family.options.precision or precision_of(inputs.views), None, None)
        if batches is not None or inputs.device != CPU:
            if progress is not None:
                raise TypeError(f"{who}: progress is for searches on the CPU without batches")
            idle, used = self._take(family.kernel(CPU, options))
            try:
                return neighbours_of(who, used, values, inputs, params, by_group, batches, groups, exclusions)
            finally:
                idle.append(used)
        listing = None if exclusions is None else listing_of(family.name, None, None, None, exclusions)
        if listing is not None:
            listing.check(family.name, CPU, inputs.nj or 0)
        callback = None if progress is None else function_of(family.name, progress)
        idle, used = self._take(family.kernel(CPU, options))
        try:
            self._give(used, inputs, params, listing)
            for k, _ in family.outputs:
                used.ignore(k)
            used.ask(callback)
            found = used.find_neighbours(inputs.like)
            used.warn()
            return found
        finally:
            if isinstance(callback, Bar):
                callback.clear()
            used.forget()
            idle.append(used)

    def _counted(self, inputs: Inputs, wanted: List[Tuple[int, Field]], given: Dict[int, Any]) -> Inputs:
        """Sets ni from an output array, if the pipeline has no input of i. Raises TypeError if a count is unknown."""
        if inputs.nj is None:
            raise TypeError(f"{self._family.name}() has no input_j: nj= must give the number of j-particles")
        for k, field in wanted:
            if k in given and not field.total and not field.of_pair:
                return inputs._replace(ni=self._seen(field, given[k], inputs.order)[0][2])
        raise TypeError(f"{self._family.name}() has no input_i: ni= or out= must give the number of i-particles")

    def _handed_out(self, results: List[Tuple[int, Result, View]], info: RunInfo) -> Any:
        values = [self._value(k, result) for k, result, _ in results]
        if len(values) == 1:
            return values[0]
        family = self._family
        if len(values) == len(family.outputs):
            made = family.result(*values)
        else:
            made = family.result_type(tuple(family.fields[k].name for k, _, _ in results))(*values)
        if "info" not in made._fields:  # an output may be called so
            made.info = info
        return made

    def _value(self, k: int, result: Result) -> Any:
        value = result.converted()
        field = self._family.fields[k]
        return value[0] if field.total and not field.shape and result.is_new else value

    def _new_sum(self, kernel: Kernel) -> Sum:
        made = Sum(kernel)
        made.version = self._version
        if self._resident:
            made.keep_j()
        return made

    def _run_options(self, inputs: Inputs, accumulate: bool, clamp: bool, i: Any) -> Optional[RunOptions]:
        """The options of a run. None is the default: all i, outputs overwritten, table indices checked."""
        stream = LEGACY if inputs.device == CPU else inputs.order.settle("", 0)
        if i is None and not accumulate and not clamp and stream == LEGACY:
            return None
        options = RunOptions(ctypes.sizeof(RunOptions), 0, -1, None, bool(accumulate), None, 0, bool(clamp))
        if stream != LEGACY:
            options.stream = stream
        if i is not None:
            self._choose(options, i, inputs)
        return options

    def _choose(self, options: RunOptions, i: Any, inputs: Inputs) -> None:
        name = self._family.name
        if isinstance(i, slice):
            begin, end, step = (
                None if one is None else named(f"{name}(): i: slice", whole, one) for one in (i.start, i.stop, i.step)
            )
            begin = begin or 0
            if step not in (None, 1) or begin < 0 or (end is not None and end < begin):
                raise ValueError(f"{name}(): i: expected a slice of step 1 with 0 <= start <= stop, got {i}")
            options.i_begin = begin
            options.i_count = -1 if end is None else end - begin
            return
        if str(getattr(i, "dtype", "")) in ("bool", "torch.bool"):
            raise TypeError(f"{name}(): i: expected a slice or indices, got a mask; numpy.flatnonzero() of it gives them")
        found = whole_numbers(f"{name}(): i", i, inputs.order)
        if not is_read_by(inputs.device, found.device):
            raise ValueError(f"{name}(): i: expected indices on {inputs.device}, got some on {found.device}")
        options.i_count = found.shape[0]
        options.i_list = found.pointer or ctypes.addressof(options)  # a null pointer means a range
        inputs.kept.append(found)

    def wait(self) -> None:
        """Returns when all GPU work of this object's calls is done.

        Raises DeviceError if some of it failed. Not needed for results of CuPy, PyTorch and similar libraries, whose
        operations follow in the same stream.
        """
        self._for_idle(Sum.wait_alone)

    def statistics(self) -> Dict[str, Union[float, str]]:
        """Numbers of the last call, on whichever device and in whichever precision, and counts and times of all calls that
        summed over neighbours (see `pairs` of `compile`). Derivatives and products of operators are calls, too.

        Of the last call: method, reason: how it chose its pairs ("all pairs", "search", "lists", "listed pairs",
        "batches", "nearest", "far field", "far batches"), and why; "" before the first call. With a tolerance: tolerance,
        precision, sampled, error, largest_error, error_of_sum, runs_since_error (0: the errors are those of the last call),
        pairs_per_i, order, leaf, separation; seconds_particles, _tree, _walk, _up, _near, _distant, _down, _first;
        of a periodic sum images, image_points, mismatch, convention; otherwise 0 and "". docs/reference/c_api.md defines
        them.

        Of all calls: runs, number of runs over neighbours; searches, runs that searched, because no valid neighbour lists
        were kept; pairs_tested, pairs that kernels tested; pairs_within, pairs within the proved reach in the last run of
        each kernel, counted by this function, which takes longer than a run; seconds_locate, seconds_sort,
        seconds_lists, seconds_sums, times to compute positions, to sort, to find the j near each i, and to sum."""
        total = Statistics()
        for caller in self._callers():
            caller._for_idle(lambda used: total.add(used.statistics(), used.last_run))
        return total.as_dict()

    def _callers(self) -> List[Caller]:  # Pipeline adds the callers of its derivatives and operators
        return [self]

    def _for_idle(self, action: Callable[[Sum], None]) -> None:
        """Calls `action` with all sums that no call is using."""
        for kernel, idle in list(self._idle.items()):
            if kernel.generation != _library.generation:
                continue
            taken: List[Sum] = []
            try:
                while idle:
                    taken.append(idle.pop())
                for used in taken:
                    action(used)
            finally:
                idle.extend(taken)


# The options of a call; the options of `find_neighbours`.
OPTIONS = frozenset(Caller._sum.__kwdefaults__ or ())
_NEIGHBOUR_OPTIONS = frozenset(Caller._found_neighbours.__kwdefaults__ or ())
