"""Calls with PyTorch's tensors, where PyTorch must see them as one operation: its derivatives, torch.func, torch.compile,
torch.export, fake and meta tensors. The entry point is `call`. Only imported where PyTorch is.

Such a call is the operator nbcc::sums(str call, Tensor[] tensors) -> Tensor[]. The string describes the call completely
(`_described_call`), so that an exported graph has a meaning in other processes.
Derivatives are calls of other pipelines, and hence the same operator, which can be differentiated and mapped again."""

from __future__ import annotations

import warnings
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import torch

from .._call._adjoint import Call, copied
from ._described_call import OF_INDICES, DescribedCall, Held, is_constant
from .._c._errors import PipelineWarning
from .._c._fields import INPUT_I, INPUT_J, INPUT_PAIR, PARAM
from .._c._handles import level_of_caller
from .._c._lists import listed_count
from ._opened import register

_HALVES = (torch.float16, torch.bfloat16)
_PLAIN = (torch.Tensor, torch.nn.Parameter)
# The types of tensors that are made of Python's numbers, by Pipeline._kinds.
_DTYPES = {"whole": torch.int64, "real": torch.float64, "complex": torch.complex128}


def tensors_of(arrays: Sequence[Any], *keywords: Mapping[str, Any]) -> List[torch.Tensor]:
    """Those among the arguments, also as elements of lists."""
    found = []
    for value in (*arrays, *(value for named in keywords for value in named.values())):
        found += [one for one in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(one, torch.Tensor)]
    return found


def needs_operator(tensors: Sequence[torch.Tensor], options: Mapping[str, Any]) -> bool:
    """Whether PyTorch must see the call: it traces, maps or differentiates it, or the tensors have no numbers. Otherwise
    tensors are read where they are, like any arrays."""
    if torch.compiler.is_compiling() or (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
        return True
    if any(
        type(tensor) not in _PLAIN or tensor.is_meta or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        for tensor in tensors
    ):
        return True
    return options.get("out") is None and torch._C._len_torch_dispatch_stack() > 0


def as_array(value: Any) -> Any:
    """An input as what is read where it is."""
    return widened(value).detach() if isinstance(value, torch.Tensor) else value


def as_option(value: Any) -> Any:
    """An option, which may be an array to be written."""
    return value.detach() if isinstance(value, torch.Tensor) else value


_warned_of_halves = False


def widened(value: Any) -> Any:
    """A tensor of float16 or bfloat16 as float32, which is said once; any other value as it is."""
    if not isinstance(value, torch.Tensor) or value.dtype not in _HALVES:
        return value
    if not torch.compiler.is_compiling():
        _warn_of_halves(value.dtype)
    return value.to(torch.float32)


def _warn_of_halves(dtype: torch.dtype) -> None:
    global _warned_of_halves
    if not _warned_of_halves:
        _warned_of_halves = True
        warnings.warn(
            f"tensors of {dtype} are converted to float32, in which nbcc sums and returns results",
            PipelineWarning,
            stacklevel=level_of_caller(),
        )


def _place(tensors: List[torch.Tensor], tensor: torch.Tensor) -> int:
    """The index of the tensor in the list; the same for the same tensor, so that i and j may be one set."""
    for k, known in enumerate(tensors):
        if known is tensor:
            return k
    tensors.append(tensor)
    return len(tensors) - 1


def call(pipeline: Any, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """torch.compile traces this function: only plain Python, no Call."""
    is_compiling = torch.compiler.is_compiling()
    words: List[str] = []
    tensors: List[torch.Tensor] = []
    kept: List[Any] = []
    copies: Dict[int, Any] = {}
    if not is_compiling:
        register(pipeline)  # of several with one key the one that is called
        _check(pipeline, arrays, fields, options)
    given = [(False, name, value) for name, value in zip(pipeline._argument_names, arrays)]
    given += [(False, name, value) for name, value in fields.items()]
    given += [(True, name, value) for name, value in options.items()]
    outputs = pipeline._output_names
    on_gpu = any(isinstance(value, torch.Tensor) and value.is_cuda for _, _, value in given)
    for is_option, name, value in given:
        if value is None:
            continue
        if is_option and name == "outputs":
            asked = [value] if isinstance(value, str) else list(value)
            outputs = tuple(one for one in outputs if one in asked)
        if is_compiling and name == "out" and is_option:
            return _untraced(pipeline, arrays, fields, options)
        if not is_option and isinstance(value, (list, tuple)) and any(isinstance(one, torch.Tensor) for one in value):
            value = torch.stack([one if isinstance(one, torch.Tensor) else torch.tensor(one) for one in value])
        if not is_compiling and not isinstance(value, torch.Tensor):
            value = copied(value, copies, tensors=True)
        elif not is_compiling and is_option:  # PyTorch's own graph minds inputs
            value = copied(value, copies, tensors=True)
        has_elements = isinstance(value, (list, tuple)) and any(isinstance(one, torch.Tensor) for one in value)
        parts = enumerate(value) if has_elements else [(-1, value)]
        for element, one in parts:
            word = f"-{name}" if is_option else name
            word = word if element < 0 else f"{word}.{element}"
            if isinstance(one, torch.Tensor):
                words.append(f"{word}:{_place(tensors, one if is_option else widened(one))}")
            elif is_compiling and not is_option and not on_gpu:
                # Numbers may change from call to call: as tensors they need no new compilation. With tensors on the host a
                # CUDA graph is none.
                words.append(f"{word}:{_place(tensors, torch.tensor(one, dtype=_DTYPES[pipeline._kinds[name]]))}")
            elif is_compiling and isinstance(one, (int, float)) and not isinstance(one, bool):
                # The way to make a constant of a number that Dynamo takes for a variable.
                above, below = one.as_integer_ratio()
                words.append(f"{word}%{above}/{below}")
            elif is_constant(one):
                words.append(f"{word}={one!r}")
            elif is_compiling:
                raise TypeError(
                    f"{pipeline._name}(): {name}= cannot be given where torch.compile traces: expected tensors or constants"
                )
            else:
                kept.append(Held(one))
                words.append(f"{word}@{kept[-1].number}")
    text = "\t".join([pipeline._key, *words])
    results = _Sum.apply(text, *tensors) if _is_transformed() else torch.ops.nbcc.sums(text, tensors)
    if len(outputs) == 1:
        return results[0]
    return pipeline._family.result_type(outputs)(*results[: len(outputs)])


@torch.compiler.disable  # type: ignore[misc, unused-ignore]
def _untraced(pipeline: Any, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    return pipeline._call(arrays, fields, options)


def _is_transformed() -> bool:
    """Whether torch.func is at work. There the derivative of an operator is unknown, and that of a function known."""
    return not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active()


def _check(pipeline: Any, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    pipeline._match(arrays, fields)
    wanted = [field.name for _, field in pipeline._wanted(options.get("outputs")) if not field.integral]
    if wanted and torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors_of(arrays, fields)):
        pipeline._adjoints.forward(wanted)  # raises UsageError where there are no derivatives
    for name, value in (*zip(pipeline._argument_names, arrays), *fields.items()):
        field = pipeline._family.fields[pipeline._family.arguments[name]]
        if field.role == INPUT_PAIR and isinstance(value, torch.Tensor) and value.requires_grad:
            raise TypeError(f"{pipeline.name}(): there are no derivatives by '{name}', an input of pairs")


# ---- the operator ----------------------------------------------------------------------------------------------------


def _plain(plan: Call) -> Dict[str, Any]:
    """The tensors of a call as what a pipeline is called with. Params are numbers, wherever their tensors lie: those of a
    GPU are copied."""
    return {
        name: value.detach().tolist() if plan.field(name).role == PARAM else value.detach()
        for name, value in plan.values.items()
        if isinstance(value, torch.Tensor)
    }


@torch.library.custom_op(  # type: ignore[misc, unused-ignore]
    "nbcc::sums", mutates_args=(), schema="(str call, Tensor[] tensors) -> Tensor[]"
)
def _sums(call: str, tensors: List[torch.Tensor]) -> List[torch.Tensor]:
    plan = DescribedCall(call).plan(tensors)
    return [torch.as_tensor(result) for result in plan.run(_plain(plan))]


@_sums.register_fake  # type: ignore[misc, unused-ignore]
def _fake(call: str, tensors: List[torch.Tensor]) -> List[torch.Tensor]:
    sums = DescribedCall(call)
    plan = sums.plan(tensors)
    inputs = {name: value for name, value in plan.values.items() if plan.field(name).role != PARAM}
    ni = plan.options.get("ni")
    for name, value in inputs.items():
        if plan.field(name).role == INPUT_I:
            ni = value.shape[0] if isinstance(value, torch.Tensor) else len(value)
    if ni is None:
        raise TypeError(f"{plan.pipeline.name}() has no input_i: ni= must tell the number of i-particles")
    like = sums.pipeline._family.like
    exemplar: Any = inputs.get(sums.pipeline._family.fields[like].name) if like >= 0 else None
    device = exemplar.device if isinstance(exemplar, torch.Tensor) else torch.device("cpu")
    real = torch.float32 if plan.is_single(inputs.values()) else torch.float64
    paired = torch.complex64 if real == torch.float32 else torch.complex128
    made: List[torch.Tensor] = []
    for field in plan.outputs:
        shape = field.shape if field.total else (field.rows(ni, listed_count(plan.options)), *field.shape)
        dtype = torch.int64 if field.integral else paired if field.is_complex else real
        if field.total and not field.integral:
            dtype = torch.complex128 if field.is_complex else torch.float64
        made.append(torch.empty(shape, dtype=dtype, device=device))
    return made


def _save(ctx: Any, inputs: Tuple[str, List[torch.Tensor]], output: Sequence[torch.Tensor]) -> None:
    call, tensors = inputs
    ctx.call, ctx.held, ctx.count = call, DescribedCall(call).held, len(tensors)
    ctx.save_for_backward(*tensors, *output)


def _backward(ctx: Any, grads: Sequence[Any]) -> Tuple[None, List[Any]]:
    return None, _gradients(ctx, grads, ctx.needs_input_grad[1])


def _gradients(ctx: Any, grads: Sequence[Any], needed: Sequence[bool]) -> List[Any]:
    """By all tensors of the call; None: not needed."""
    sums, tensors, outputs = DescribedCall(ctx.call), ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
    plan = sums.plan(tensors)
    results = {field.name: value for field, value in zip(plan.outputs, outputs)}
    adjoints = {
        field.name: grad.contiguous() for field, grad in zip(plan.outputs, grads) if grad is not None and not field.integral
    }
    gradients: List[Any] = [None] * len(tensors)
    at = {one.name: one.array for one in sums.given if one.array is not None and not one.is_option}
    wanted = [name for name, index in at.items() if needed[index] and not plan.field(name).integral]
    for name in wanted:
        plan.refuse_derivative_by_pairs(name)
    if not adjoints or not wanted:
        return gradients
    found = plan.gradients(plan.values, results, adjoints, wanted)
    for name in wanted:
        gradient, index = found.get(name), at[name]
        if gradient is None:
            continue
        like = tensors[index]
        if plan.by_group(name):
            groups = torch.as_tensor(plan.group_of_i(), device=gradient.device)
            gradient = gradient.new_zeros(like.shape[0], *gradient.shape[1:]).index_add(0, groups, gradient)
        if like.is_complex():
            gradient = torch.view_as_complex(gradient.reshape(*like.shape, 2).contiguous())
        elif plan.field(name).is_complex and plan.field(name).role == PARAM:  # given as real numbers
            gradient = gradient[..., 0]
        gradient = gradient.reshape(like.shape).to(device=like.device, dtype=like.dtype)
        gradients[index] = gradient if gradients[index] is None else gradients[index] + gradient
    return gradients


_sums.register_autograd(_backward, setup_context=_save)


class _Sum(torch.autograd.Function):  # type: ignore[misc]
    """The operator as a function, for torch.func."""

    generate_vmap_rule = True

    @staticmethod
    def forward(call: str, *tensors: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        return tuple(torch.ops.nbcc.sums(call, list(tensors)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[torch.Tensor, ...]) -> None:
        _save(ctx, (inputs[0], list(inputs[1:])), output)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Tuple[Any, ...]:
        return (None, *_gradients(ctx, grads, ctx.needs_input_grad[1:]))


# ---- torch.func.vmap -------------------------------------------------------------------------------------------------


@_sums.register_vmap  # type: ignore[misc, unused-ignore]
def _map(info: Any, in_dims: Any, call: str, tensors: List[torch.Tensor]) -> Tuple[List[torch.Tensor], List[int]]:
    dims, count = in_dims[1], info.batch_size
    front = [tensor if dim is None else tensor.movedim(dim, 0) for tensor, dim in zip(tensors, dims)]
    sums = DescribedCall(call)
    mapped = [dim is not None for dim in dims]
    fields = {field.name: field for field in sums.pipeline._family.fields}
    lengths: Dict[str, int] = {}
    params: List[str] = []
    for name, _, index, _, is_option in sums.given:
        if index is None or is_option:
            continue
        if fields[name].role != PARAM:
            lengths[fields[name].role] = front[index].shape[int(mapped[index])]
        elif mapped[index]:
            params.append(name)

    def of_system(k: int) -> List[torch.Tensor]:
        return [tensor[k] if is_mapped else tensor for tensor, is_mapped in zip(front, mapped)]

    plan = sums.plan(of_system(0)) if count else None
    if plan is None or not sums.can_be_batches(plan, lengths, params):
        rows = [torch.ops.nbcc.sums(call, of_system(k)) for k in range(count)]
        return [torch.stack(list(column)) for column in zip(*rows)], [0] * len(rows[0])
    joined: List[torch.Tensor] = list(front)
    for name, _, index, _, is_option in sums.given:
        if index is None or is_option or fields[name].role == PARAM:
            continue
        whole = front[index] if mapped[index] else front[index].expand(count, *front[index].shape)
        joined[index] = whole.reshape(count * whole.shape[1], *whole.shape[2:])
    ni, nj = lengths[INPUT_I], lengths[INPUT_J]
    ids = {n: torch.arange(count).repeat_interleave(n) for n in (ni, nj)}
    words = [f"-batches.0:{_place(joined, ids[ni])}", f"-batches.1:{_place(joined, ids[nj])}", f"-batches.2={count}"]
    results = torch.ops.nbcc.sums("\t".join([call, *words]), joined)
    first_j = (torch.arange(count) * nj).to(results[0].device)
    for k, field in enumerate(plan.outputs):
        results[k] = results[k].reshape(count, ni, *results[k].shape[1:])
        if field.reduction in OF_INDICES:  # the index of a j in its own system; -1 is none
            first = first_j.reshape(count, *[1] * (results[k].dim() - 1))
            results[k] = torch.where(results[k] < 0, results[k], results[k] - first)
    return results, [0] * len(results)
