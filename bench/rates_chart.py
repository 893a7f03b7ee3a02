#!/usr/bin/env python3
"""bench/RESULTS.md -> docs/pictures/rates.svg, the rate of gravity over N beside others' kernels on the same GPU.

    rates_chart.py [--check]     --check writes nothing, and fails where the file is not what the tables give

The rates of nbcc are the rows "generated, G/s" and "generated, each pair once, G/s" of the table "gravity, single", those of the others the columns of the table
under "Beside others on one H200".
"""
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES, CHART = ROOT / "bench" / "RESULTS.md", ROOT / "docs" / "pictures" / "rates.svg"

# Row of the table of nbcc, label in the picture, class of its style.
OWN = [("generated, G/s", "nbcc", "nbcc"), ("generated, each pair once, G/s", "nbcc, each pair once", "own-once")]
# Column of the table, label in the picture, class of its style.
OTHERS = [
    ("by hand: each pair once", "by hand, each pair once", "once"),
    ("by hand: blocked sums", "by hand, blocked sums", "hand"),
    ("by hand: one i per thread", "by hand, one i per thread", "plain"),
    ("NVIDIA's n-body sample", "NVIDIA's n-body sample", "nvidia"),
    ("KeOps's kernel", "KeOps's kernel", "keops"),
]
POINT = ("OpenMM, custom force", "OpenMM, custom force", "openmm")

WIDTH, HEIGHT = 850, 470
LEFT, RIGHT, TOP, BOTTOM = 78, 584, 56, 410  # of the plot
FROM_N, TO_N, FROM_RATE, TO_RATE = 2048, 262144, 25, 4000
LINE = 17  # between the baselines of two labels

STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de } text { fill: #24292f; font: 13px sans-serif } .title { font-size: 15px; font-weight: bold }
  .nbcc-text { font-weight: bold } .grid { stroke: #d8dee4 } .leader { stroke: #8c959f; stroke-dasharray: 2 3 }
  .line { fill: none; stroke-width: 2 } .nbcc { stroke: #cf222e; stroke-width: 3.5 } .nbcc-dot { fill: #cf222e } .nbcc-text { fill: #cf222e }
  .own-once { stroke: #cf222e; stroke-width: 3.5; stroke-dasharray: 8 4 } .own-once-dot { fill: #cf222e }
  .hand { stroke: #0550ae } .hand-dot { fill: #0550ae } .once { stroke: #0550ae; stroke-dasharray: 7 4 } .once-dot { fill: #0550ae }
  .plain { stroke: #1a7f37 } .plain-dot { fill: #1a7f37 } .nvidia { stroke: #8250df } .nvidia-dot { fill: #8250df }
  .keops { stroke: #9a6700 } .keops-dot { fill: #9a6700 } .openmm-dot { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 } .grid { stroke: #2b323b } .leader { stroke: #8b949e }
    .nbcc, .own-once { stroke: #ff7b72 } .nbcc-dot, .own-once-dot, .nbcc-text { fill: #ff7b72 }
    .hand, .once { stroke: #79c0ff } .hand-dot, .once-dot { fill: #79c0ff } .plain { stroke: #56d364 } .plain-dot { fill: #56d364 }
    .nvidia { stroke: #d2a8ff } .nvidia-dot { fill: #d2a8ff } .keops { stroke: #e3b341 } .keops-dot { fill: #e3b341 }
    .openmm-dot { fill: #b1bac4 }
  }
"""


def rows_after(text, mark):
    """The cells of the first table that stands behind `mark`, row by row."""
    lines = text[text.index(mark):].split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            rows.append(cells)
    return rows


def series(text):
    """Label, style and points of each line; the first two are nbcc's."""
    own = rows_after(text, "\n| gravity, single |")
    lines = []
    for name, label, style in OWN:
        rates = next(row for row in own if row[0] == name)
        lines.append((label, style, [(int(n), float(rate)) for n, rate in zip(own[0][1:], rates[1:]) if rate]))
    head, *rows = rows_after(text, "**Beside others on one H200.**")
    for column, label, style in [*OTHERS, POINT]:
        k = head.index(column)
        lines.append((label, style, [(int(row[0]), float(row[k])) for row in rows if row[k]]))
    return lines


def x_of(n):
    return LEFT + (RIGHT - LEFT) * math.log(n / FROM_N) / math.log(TO_N / FROM_N)


def y_of(rate):
    return BOTTOM - (BOTTOM - TOP) * math.log(rate / FROM_RATE) / math.log(TO_RATE / FROM_RATE)


def text_at(x, y, words, style="", anchor="start"):
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def axes():
    title = "Softened gravity on one NVIDIA H200: single precision, arrays on the device"
    parts = [text_at(LEFT - 54, 30, title, "title")]
    for rate in (30, 100, 300, 1000, 3000):
        y = y_of(rate)
        parts += [f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>', text_at(LEFT - 8, y + 4.5, rate, anchor="end")]
    n = FROM_N
    while n <= TO_N:
        x = x_of(n)
        parts += [f'<path class="grid" d="M{x:.1f} {TOP}V{BOTTOM}"/>', text_at(x, BOTTOM + 20, n, anchor="middle")]
        n *= 2
    middle = (TOP + BOTTOM) / 2
    parts.append(text_at((LEFT + RIGHT) / 2, BOTTOM + 44, "particles N, each pulled by all N", anchor="middle"))
    parts.append(f'<g transform="rotate(-90 30 {middle:.1f})">'
                 + text_at(30, middle, "10⁹ interactions per second", anchor="middle") + "</g>")
    return parts


def spread(heights):
    """Baselines from top to bottom that are apart by a line, each near its line's end."""
    placed = []
    for y in sorted(heights):
        placed.append(max(y, placed[-1] + LINE) if placed else y)
    shift = sum(a - b for a, b in zip(placed, sorted(heights))) / len(placed)
    return [y - shift for y in placed]


def dots(style, points):
    return [f'<circle class="{style}-dot" cx="{x_of(n):.1f}" cy="{y_of(rate):.1f}" r="3.2"/>' for n, rate in points]


def curve(style, points):
    path = "L".join(f"{x_of(n):.1f} {y_of(rate):.1f}" for n, rate in points)
    return [f'<path class="line {style}" d="M{path}"/>', *dots(style, points)]


def picture(lines):
    *curves, (label, style, points) = lines
    parts = axes()
    for _, name, through in reversed(curves):  # nbcc above the others
        parts += curve(name, through)
    ends = sorted(curves, key=lambda one: -one[2][-1][1])
    for (words, name, through), y in zip(ends, spread([y_of(one[2][-1][1]) for one in ends])):
        end = y_of(through[-1][1])
        parts.append(f'<path class="leader" d="M{RIGHT + 5} {end:.1f}L{RIGHT + 24} {y:.1f}"/>')
        parts.append(f'<circle class="{name}-dot" cx="{RIGHT + 31}" cy="{y:.1f}" r="3.2"/>')
        parts.append(text_at(RIGHT + 40, y + 4.5, f"{words}: {through[-1][1]:.0f}", "nbcc-text" if name in ("nbcc", "own-once") else ""))
    (n, rate), = points
    x, y = x_of(n), y_of(rate)
    parts += [f'<path class="leader" d="M{x:.1f} {y:.1f}L{x + 90:.1f} {y + 128:.1f}"/>',
              *dots(style, points), text_at(x + 90, y + 142, f"{label}: {rate:.0f}", anchor="middle")]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            f'role="img" aria-label="Rates of gravity over the number of particles">\n<style>{STYLE}</style>\n'
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>\n'
            + "\n".join(parts) + "\n</svg>\n")


def main(words):
    drawn = picture(series(TABLES.read_text(encoding="utf-8")))
    if words == ["--check"]:
        if CHART.is_file() and CHART.read_text(encoding="utf-8") == drawn:
            return 0
        print(f"{CHART.relative_to(ROOT)} is not what bench/RESULTS.md gives: run bench/rates_chart.py", file=sys.stderr)
        return 1
    if words:
        print(__doc__, file=sys.stderr)
        return 2
    CHART.parent.mkdir(exist_ok=True)
    CHART.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
