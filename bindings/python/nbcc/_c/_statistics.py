"""The statistics of several sums as one dict. Entry point: `Statistics`."""

from __future__ import annotations

from typing import Dict, Union

from ._library import StatisticsStruct

_NAMES = [field[0] for field in StatisticsStruct._fields_ if field[0] != "size"]
_TEXTS = ("method", "reason", "precision", "convention")
_COUNTS = ["pairs_tested", "searches", "runs", "pairs_within", "terms_outside"]
_COUNTS += ["seconds_locate", "seconds_sort", "seconds_lists", "seconds_sums"]


class Statistics:
    """Counts and times of neighbours are added up; all others are those of the sum that ran last."""

    def __init__(self) -> None:
        self._found: Dict[str, Union[float, str]] = {name: "" if name in _TEXTS else 0 for name in _NAMES}
        self._last = 0

    def add(self, one: StatisticsStruct, last_run: int) -> None:
        """last_run: number of the sum's last run among the runs of all sums; 0: it has not run."""
        is_last = last_run > self._last
        self._last = max(self._last, last_run)
        for name in _NAMES:
            value = getattr(one, name)
            if name in _COUNTS:
                self._found[name] += value
            elif is_last:
                self._found[name] = value.decode() if name in _TEXTS else value

    def as_dict(self) -> Dict[str, Union[float, str]]:
        return self._found
