"""The cell magic %%pipe of notebooks. Entry point: `register`."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, List, NoReturn

from ._c._errors import Error
from ._c._fields import MATHS, PRECISIONS, ROOTS
from ._pipeline import compile as compile_pipeline


class _Words(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"%%pipe: {message}\n{self.format_usage()}")


def _parser() -> argparse.ArgumentParser:
    words = _Words(prog="%%pipe", add_help=False, allow_abbrev=False)
    words.add_argument("name")
    words.add_argument("--device")
    words.add_argument("--precision", choices=PRECISIONS)
    words.add_argument("--math", choices=MATHS, default=MATHS[0])
    words.add_argument("--root", choices=ROOTS, default=ROOTS[0])
    return words


def _without_frames(error: BaseException) -> BaseException:
    """The error as IPython shows it by its message alone: the frames below the cell are nbcc's."""
    error._render_traceback_ = lambda: str(error).splitlines()  # type: ignore[attr-defined]
    return error.with_traceback(None)


def completions(line: str, words: argparse.ArgumentParser) -> List[str]:
    """What may follow in the first line of a cell: the values of the option before, else the options that are not there."""
    given = line.split()
    last = "" if line.endswith(" ") or not given else given[-1]
    before = given[-1] if not last and given else given[-2] if len(given) > 1 else ""
    actions = {name: action for action in words._actions for name in action.option_strings}
    if before in actions:
        known = actions[before].choices
        values = list(known) if known is not None else ["cpu", "cuda", "cuda:all"]
        return [value for value in values if value.startswith(last)]
    return [name for name in actions if name.startswith(last) and name not in given[: len(given) - bool(last)]]


def register(shell: Any) -> None:
    """`%%pipe NAME [--device D] [--precision P] [--math M] [--root R]` compiles its cell and binds the pipeline to NAME
    in the notebook."""
    parser = _parser()

    def pipe(line: str, cell: str) -> None:
        try:
            words = parser.parse_args(shlex.split(line))
            if not words.name.isidentifier():
                raise ValueError(f"%%pipe: expected a name for the pipeline, got {words.name!r}")
            made = compile_pipeline(
                source=cell,
                name=f"{words.name}.pipe",
                device=words.device,
                precision=words.precision,
                math=words.math,
                root=words.root,
            )
        except (Error, ValueError, TypeError) as error:
            raise _without_frames(error) from None
        shell.push({words.name: made})

    pipe.__doc__ = register.__doc__
    shell.register_magic_function(pipe, magic_kind="cell", magic_name="pipe")
    if hasattr(shell, "set_hook"):
        shell.set_hook("complete_command", lambda _, event: completions(event.line, parser), str_key="%%pipe")
