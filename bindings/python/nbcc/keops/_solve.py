"""KernelSolve: linear systems whose matrix is a formula, by conjugate gradients."""

from __future__ import annotations

import functools
from typing import Any, Callable, List, Optional, Sequence, Tuple

from ._genred import Genred
from ._parse import variable_of
from ._libraries import library_of

Product = Callable[[Any], Any]


class KernelSolve:
    """The solution a of sum(formula(a)) + alpha * a = b, of a formula that is linear in the variable `varinvalias`.

    The arguments are those of Genred. The matrix must be symmetric and positive definite. With tensors of PyTorch and in
    JAX the solution is differentiable by all arrays, any number of times.
    """

    def __init__(self, formula: str, aliases: Sequence[str], varinvalias: str, axis: int = 0, **options: Any) -> None:
        self._sum = Genred(formula, list(aliases), "Sum", axis, **options)
        text = varinvalias.replace(" ", "")
        if text.startswith("Var("):
            self.varinvpos = variable_of(text).position
            return
        found = [variable.position for variable in self._sum.variables if variable.name == text]
        if not found:
            names = ", ".join(str(variable.name) for variable in self._sum.variables)
            raise ValueError(f"varinvalias: expected the alias of a variable, one of {names}, got {varinvalias!r}")
        self.varinvpos = found[0]

    def __call__(
        self,
        *args: Any,
        backend: str = "auto",
        device_id: Any = -1,
        alpha: float = 1e-10,
        eps: float = 1e-6,
        ranges: Any = None,
    ) -> Any:
        """The solution for the arrays, of which that of the variable is b. eps: the root mean square of the residual. alpha:
        a number, or a tensor or an array of JAX that is one.

        Raises ValueError if the residual is not below eps after 10 steps for each unknown, and 100; the solution of JAX is
        NaN then.
        """
        if not eps > 0:
            raise ValueError(f"KernelSolve: eps: expected a number above 0, got {eps!r}")
        if len(args) != self._sum.nargs:
            raise ValueError(
                f"Invalid number of arguments in call to KernelSolve (should be {self._sum.nargs} and got {len(args)})."
            )
        options = {"backend": backend, "device_id": device_id, "ranges": ranges}
        at = self.varinvpos

        def product(given: Sequence[Any], vector: Any) -> Any:
            *arrays, diagonal = given
            return self._sum(*arrays[:at], vector, *arrays[at + 1 :], **options) + diagonal * vector

        b = args[at]
        name = library_of(b).__name__
        if name == "torch":
            import torch

            return _torch_solver().apply(product, eps, at, *args, torch.as_tensor(alpha, dtype=b.dtype, device=b.device))
        if name == "jax.numpy":
            import jax

            solve = functools.partial(_conjugate_gradients_jax, eps=eps)
            return jax.lax.custom_linear_solve(functools.partial(product, (*args, alpha)), b, solve, symmetric=True)
        return conjugate_gradients(functools.partial(product, (*args, alpha)), b, eps)


def _most_steps(count: int) -> int:
    """For so many unknowns. Without rounding errors there are as many steps as unknowns."""
    return 10 * count + 100


def conjugate_gradients(product: Product, b: Any, eps: float) -> Any:
    """a with product(a) = b, until the mean square of the residual is below eps**2."""
    count = b.numel() if hasattr(b, "numel") else b.size
    limit = count * eps**2
    solution, residual = 0 * b, b + 0
    direction, square = residual, (residual**2).sum()
    for _ in range(_most_steps(count)):
        if square < limit:
            break
        image = product(direction)
        step = square / (direction * image).sum()
        solution, residual = solution + step * direction, residual - step * image
        before, square = square, (residual**2).sum()
        if not square == square:
            raise ValueError("KernelSolve: the residual is NaN: the matrix is not finite, or not positive definite")
        direction = residual + square / before * direction
    else:
        raise ValueError(
            f"KernelSolve: after {_most_steps(count)} steps the root mean square of the residual is "
            f"{(float(square) / max(count, 1)) ** 0.5:.3g}, expected less than eps={eps}: the matrix is not positive definite, or "
            "eps is below the rounding errors"
        )
    return solution


def _conjugate_gradients_jax(product: Product, b: Any, eps: float) -> Any:
    import jax

    limit = b.size * eps**2

    def step(state: Tuple[Any, ...]) -> Tuple[Any, ...]:
        solution, residual, direction, square, count = state
        image = product(direction)
        length = square / (direction * image).sum()
        solution, residual = solution + length * direction, residual - length * image
        after = (residual**2).sum()
        return solution, residual, residual + after / square * direction, after, count + 1

    start = (0 * b, b, b, (b**2).sum(), 0)
    most = _most_steps(b.size)
    state = jax.lax.while_loop(lambda state: (state[3] >= limit) & (state[4] < most), step, start)
    return jax.numpy.where(state[3] < limit, state[0], float("nan"))


@functools.lru_cache(None)
def _torch_solver() -> Any:
    import torch

    class Solve(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(ctx: Any, product: Any, eps: float, at: int, *args: Any) -> Any:
            ctx.product, ctx.eps, ctx.at = product, eps, at
            with torch.no_grad():
                solution = conjugate_gradients(functools.partial(product, args), args[at], eps)
            ctx.save_for_backward(*args, solution)
            return solution

        @staticmethod
        def backward(ctx: Any, *given: Any) -> Any:
            *args, solution = ctx.saved_tensors
            back = Solve.apply(ctx.product, ctx.eps, ctx.at, *args[: ctx.at], given[0], *args[ctx.at + 1 :])
            wanted = [k for k in range(len(args)) if ctx.needs_input_grad[k + 3] and k != ctx.at]
            grads: List[Optional[Any]] = [None] * len(args)
            if ctx.needs_input_grad[ctx.at + 3]:
                grads[ctx.at] = back
            if wanted:
                with torch.enable_grad():
                    # Views, so that the derivatives are those with a constant solution, which depends on args, too.
                    inputs = [one.view_as(one) if one.requires_grad else one for one in args]
                    image = ctx.product(inputs, solution)
                    found = torch.autograd.grad(
                        image,
                        [inputs[k] for k in wanted],
                        -back,
                        create_graph=torch.is_grad_enabled(),
                        allow_unused=True,
                    )
                for k, one in zip(wanted, found):
                    grads[k] = one
            return None, None, None, *grads

    return Solve


def solver_of(lazy: Any, other: Any, var: Any, call: bool, options: Any) -> Any:
    """What LazyTensor.solve returns: the solution, or a function of the arrays of symbolic variables."""
    other = other if hasattr(other, "__GenericLazyTensor__") else lazy.lt_constructor(other, axis=0)
    if not other.symbolic_variables and lazy.symbolic_variables:
        raise ValueError("If 'self' has symbolic variables, so should 'other'.")
    axis = 1 - other.axis
    if var is None:
        index = 1 + max((one[0] for one in lazy.symbolic_variables), default=-1)
        made = lazy * lazy.lt_constructor((index, other.ndim, axis))
    else:
        index = var.symbolic_variables[0][0]
        made = lazy.init(lazy.is_complex)
        made.formula, made.ndim = lazy.formula, lazy.ndim
    made.reduction_op, made.axis, made.kwargs = "Solve", axis, options

    def run(formulas: List[str], args: Sequence[Any], arrays: List[Any], init: Any, rest: Any) -> Any:
        solve = KernelSolve(formulas[0], [], f"Var({index},{other.ndim},{axis})", axis, **init)
        if not other.symbolic_variables:
            if args:
                raise ValueError("no input required")
            args = (other.variables[0][1],)
        return solve(*args, *arrays, **rest)

    made._run = run
    return made() if call and not other.symbolic_variables and made._dtype is not None else made
