#!/usr/bin/env python3
"""charts.py [--times FILE.svg] [--speed-up FILE.svg --host NAME] NAME=TABLE ...

Draws figures 1 and 4 of Portegies Zwart, Belleman & Geldof (2007), with their table 2 and those of ours: each TABLE is
what `hermite --experiment table2` has printed, NAME the device's. Times are those of a quarter of a unit of time.
Speed-up is over the host of the same program: theirs over their Xeon, ours over the table called NAME by --host.
"""
import argparse
import pathlib
import sys

# The charts' style is that of the repository's own charts.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "charts"))
from svg_chart import COLOURS, Axis, Chart, Series, svg_of  # noqa: E402

PAPER_HOST = "Xeon"


def rows(path):
    """The lines of numbers of a table, and of its comments the last before the first of them."""
    head, lines = "", []
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            head = head if lines else line[1:]
        elif line.strip():
            lines.append(line.split())
    if not lines:
        raise ValueError(f"{path} has no line of numbers")
    return head.split(), lines


def paper_columns():
    head, lines = rows(pathlib.Path(__file__).with_name("table2_2007.txt"))
    return {
        f"{name}, 2007": {int(line[0]): float(line[k]) for line in lines if line[k] != "-"}
        for k, name in enumerate(head) if k > 0
    }


def our_column(path):
    return {int(line[0]): float(line[1]) for line in rows(path)[1]}


def speed_up(times, host):
    return {n: host[n] / seconds for n, seconds in times.items() if n in host}


def chart(title, y_label, ours, theirs):
    """The SVG of {name: {number of bodies: value}}: solid lines are ours, dashed ones the paper's."""
    series = []
    for side, curves in (("ours", ours), ("theirs", theirs)):
        roles = [role for role in COLOURS if role.startswith(side)]
        for k, (name, points) in enumerate(curves.items()):
            if points:
                series.append(Series(name, roles[k % len(roles)], sorted(points.items()), dashed=side == "theirs"))
    device = "a quarter of a unit of time; 2007: table 2 of Portegies Zwart, Belleman & Geldof"
    description = f"{y_label} over the number of bodies: {', '.join(one.label for one in series)}."
    return svg_of(Chart(title, device, Axis("bodies N (k: 1024)", "log2"), Axis(y_label, "log10"), series, description))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", metavar="FILE.svg", type=pathlib.Path)
    parser.add_argument("--speed-up", metavar="FILE.svg", type=pathlib.Path)
    parser.add_argument("--host", metavar="NAME")
    parser.add_argument("tables", nargs="+", metavar="NAME=TABLE")
    options = parser.parse_args()
    ours = {}
    for word in options.tables:
        name, _, path = word.partition("=")
        if not path:
            parser.error(f"'{word}' is not NAME=TABLE")
        ours[name] = our_column(pathlib.Path(path))
    if options.speed_up and options.host not in ours:
        parser.error(f"--host must be one of {', '.join(ours)}")
    paper = paper_columns()
    if options.times:
        options.times.write_text(chart("Seconds of complete runs", "seconds", ours, paper))
    if options.speed_up:
        host = f"{PAPER_HOST}, 2007"
        faster = {name: speed_up(times, ours[options.host]) for name, times in ours.items() if name != options.host}
        theirs = {name: speed_up(times, paper[host]) for name, times in paper.items() if name != host}
        options.speed_up.write_text(chart("Speed-up over the host", "speed-up over the host", faster, theirs))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        print(f"charts.py: {error}", file=sys.stderr)
        sys.exit(2)
