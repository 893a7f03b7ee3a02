"""The statistics of several sums as one dict. Entry point: `Statistics`."""

from __future__ import annotations

from typing import Dict, Union

from ._library import StatisticsStruct

_NAMES = [field[0] for field in StatisticsStruct._fields_ if field[0] != "size"]
_TEXTS = ("method", "reason", "precision")
_OF_FAR_FIELD = _NAMES[_NAMES.index("tolerance") : _NAMES.index("terms_outside")]


class Statistics:
    """Counts and times are added up; texts, and the numbers of a far field, are those of the last sum that has them."""

    def __init__(self) -> None:
        self._found: Dict[str, Union[float, str]] = {name: "" if name in _TEXTS else 0 for name in _NAMES}

    def add(self, one: StatisticsStruct) -> None:
        found = {name: getattr(one, name) for name in _NAMES}
        found.update((name, found[name].decode()) for name in _TEXTS)
        for name, value in found.items():
            if name in _OF_FAR_FIELD:
                if found["tolerance"] > 0:
                    self._found[name] = value
            elif name not in _TEXTS:
                self._found[name] += value
            elif value:
                self._found[name] = value

    def as_dict(self) -> Dict[str, Union[float, str]]:
        return self._found
