#!/usr/bin/env python3
"""Measured tables of bench/RESULTS.md and docs/ -> the charts of docs/pictures and docs/programs/pictures.

    draw.py [--check]     --check writes nothing, and fails where a file is not what the tables give

Wants nothing but Python.
"""

import sys

import gravity
import star_clusters
import svg_chart
from tables import ROOT

MODULES = (gravity, star_clusters)


def main(words):
    if words not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = 0
    for module in MODULES:
        for name, chart in module.charts().items():
            file, drawn = ROOT / name, svg_chart.svg_of(chart)
            if not words:
                file.write_text(drawn, encoding="utf-8")
            elif not file.is_file() or file.read_text(encoding="utf-8") != drawn:
                print(f"{name} is not what its tables give: run bench/charts/draw.py", file=sys.stderr)
                stale = 1
    return stale


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ValueError as error:
        sys.exit(f"draw.py: {error}")
