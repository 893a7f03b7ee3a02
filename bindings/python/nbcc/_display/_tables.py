"""The table of fields in notebooks. Entry point: `field_table`."""

from __future__ import annotations

import html
from typing import Iterable, Tuple

_COLUMNS = ("name", "role", "type", "default", "comment")


def field_table(rows: Iterable[Tuple[str, ...]]) -> str:
    """HTML of (name, role, type, default, comment) of each field."""
    head = "".join(f"<th>{title}</th>" for title in _COLUMNS)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
