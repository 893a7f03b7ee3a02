"""The pipelines of this process by their keys. A key is one word that tells another process everything about a pipeline.
Entry points: `register` and `opened_again`."""

from __future__ import annotations

import weakref
from typing import Any, Callable, Dict

_by_key: "weakref.WeakValueDictionary[str, Any]" = weakref.WeakValueDictionary()
_opened: Dict[str, Any] = {}


def register(pipeline: Any) -> None:
    _by_key[pipeline._key] = pipeline


def opened_again(key: str) -> Any:
    """The pipeline of this key, which is made if there is none in this process."""
    found = _by_key.get(key)
    if found is None:
        found = _opened.get(key) or _opened.setdefault(key, maker(key))
    return found


def maker(key: str) -> Any:
    raise NotImplementedError  # _pipeline sets it


def set_maker(make: Callable[[str], Any]) -> None:
    global maker
    maker = make  # type: ignore[assignment]
