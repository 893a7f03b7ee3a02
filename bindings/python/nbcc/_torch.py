"""Calls with PyTorch's tensors that require gradients. The entry point is `call`. Both ways of a derivative are calls of
pipelines, so that derivatives can be differentiated again. Only imported where PyTorch is."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence, Tuple

import torch

from ._adjoint import Call
from ._fields import PARAM


def requires_gradient(arrays: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
    tensors = [value for value in (*arrays, *keywords.values()) if isinstance(value, torch.Tensor)]
    if any(map(torch._C._functorch.is_batchedtensor, tensors)):
        raise RuntimeError("nbcc pipelines cannot be mapped by torch.func.vmap; batches= sums over several systems at once")
    for value in (*arrays, *keywords.values()):
        if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) and v.requires_grad for v in value):
            raise TypeError("a list of tensors that require gradients: give torch.stack() of it")
    return any(tensor.requires_grad for tensor in tensors)


def detached(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def call(pipeline: Any, arrays: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    plan = Call(pipeline, arrays, keywords, lambda a, b: a is b)
    names = [name for name, value in plan.values.items() if isinstance(value, torch.Tensor)]
    for name in names:
        if plan.values[name].is_meta:
            raise TypeError(f"{pipeline.name}(): '{name}': expected a tensor with numbers, got one on meta, which has none")
        if plan.values[name].requires_grad:
            plan.refuse_derivative_by_pairs(name)
    return plan.handed_out(_Sum.apply(plan, names, *[plan.values[name] for name in names]))


def _plain(plan: Call, values: Dict[str, Any]) -> Dict[str, Any]:
    """Params are numbers, wherever their tensors lie: those of a GPU are copied."""
    return {
        name: value.detach().tolist() if plan.field(name).role == PARAM else value.detach()
        for name, value in values.items()
    }


class _Sum(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, plan: Call, names: List[str], *tensors: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        results = [torch.as_tensor(result) for result in plan.run(_plain(plan, dict(zip(names, tensors))))]
        ctx.plan, ctx.names = plan, names
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, *results)
        ctx.mark_non_differentiable(*[r for r, field in zip(results, plan.outputs) if field.integral])
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Tuple[Any, ...]:
        plan, names, saved = ctx.plan, ctx.names, ctx.saved_tensors
        values = dict(zip(names, saved))
        results = {field.name: value for field, value in zip(plan.outputs, saved[len(names) :])}
        adjoints = {
            field.name: grad.contiguous() for field, grad in zip(plan.outputs, grads) if grad is not None and not field.integral
        }
        wanted = [name for name, needed in zip(names, ctx.needs_input_grad[2:]) if needed]
        if not adjoints or not wanted:
            return (None,) * (2 + len(names))
        found = plan.gradients(values, results, adjoints, wanted)
        gradients: List[Any] = []
        for name in names:
            gradient = found.get(name)
            if gradient is not None:
                like = values[name]
                if plan.by_group(name):
                    groups = torch.as_tensor(plan.group_of_i(), device=gradient.device)
                    gradient = gradient.new_zeros(plan.groups, *gradient.shape[1:]).index_add(0, groups, gradient)
                elif plan.field(name).role == PARAM:
                    gradient = gradient.sum(0)
                if like.is_complex():
                    gradient = torch.view_as_complex(gradient.reshape(*like.shape, 2).contiguous())
                gradient = gradient.reshape(like.shape).to(device=like.device, dtype=like.dtype)
            gradients.append(gradient)
        return (None, None, *gradients)
