"""The cell magic %%pipe of notebooks. Entry point: `register`."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, NoReturn

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


def register(shell: Any) -> None:
    """`%%pipe NAME [--device D] [--precision P] [--math M] [--root R]` compiles its cell and binds the pipeline to NAME
    in the notebook."""
    parser = _parser()

    def pipe(line: str, cell: str) -> None:
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
        shell.push({words.name: made})

    pipe.__doc__ = register.__doc__
    shell.register_magic_function(pipe, magic_kind="cell", magic_name="pipe")
