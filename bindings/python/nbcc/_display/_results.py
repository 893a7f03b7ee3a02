"""Results of a pipeline as text and HTML: of each output its type, its shape and its first rows. Entry points: `text_of`,
`html_of`. A value that cannot be read is shown by its type, because showing a result never fails."""

from __future__ import annotations

import html
from typing import Any, Iterable, List, Tuple

_ROWS = 3  # of an array


def _type_of(value: Any) -> str:
    """ "float64 (1000, 3)"; "float" of a number."""
    shape = getattr(value, "shape", None)
    kind = str(getattr(value, "dtype", getattr(value, "format", type(value).__name__)))
    kind = kind.rsplit(".", 1)[-1]  # torch.float32
    if shape is None:
        shape = (len(value),) if hasattr(value, "__len__") else None
    return kind if shape is None else f"{kind} {tuple(shape)}"


def _first_rows(value: Any) -> List[str]:
    """The lines of the first rows, then "..." if there are more."""
    shape = getattr(value, "shape", None)
    # Arrays without axes, such as totals, have a __len__ that fails.
    count = (shape[0] if shape else 0) if shape is not None else len(value) if hasattr(value, "__len__") else 0
    first = value[:_ROWS] if count > _ROWS else value
    if type(first).__module__ == "builtins" and hasattr(first, "tolist"):  # a memoryview
        first = first.tolist()
    elif type(first).__module__ == "array":
        first = list(first)
    elif hasattr(first, "detach"):  # of PyTorch: its numbers without device and gradient
        first = first.detach().cpu().tolist() if first.numel() <= 100 else first
    lines = str(first).splitlines()
    return lines + ["..."] if count > _ROWS else lines


def rows_of(names: Iterable[str], values: Iterable[Any]) -> List[Tuple[str, str, List[str]]]:
    """(name, type, lines) of each output."""
    found = []
    for name, value in zip(names, values):
        try:
            found.append((name, _type_of(value), _first_rows(value)))
        except Exception:
            found.append((name, type(value).__name__, ["?"]))
    return found


def _info_of(result: Any) -> str:
    info = getattr(result, "info", None)
    return ", ".join(part for part in info if part) if isinstance(info, tuple) else ""


def text_of(result: Any) -> str:
    lines = []
    for name, kind, rows in rows_of(result._fields, result):
        lines.append(f"  {name}: {kind}")
        lines += [f"    {row}" for row in rows]
    if info := _info_of(result):
        lines.append(f"  info: {info}")
    return f"{type(result).__name__}(\n" + "\n".join(lines) + ")"


def html_of(result: Any) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(kind)}</td><td><pre>{html.escape(chr(10).join(lines))}</pre></td></tr>"
        for name, kind, lines in rows_of(result._fields, result)
    )
    caption = html.escape(f"{type(result).__name__}: {_info_of(result)}".rstrip(": "))
    return (
        f"<table><caption>{caption}</caption><thead><tr><th>output</th><th>type</th><th>first rows</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
