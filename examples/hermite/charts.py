#!/usr/bin/env python3
"""charts.py [--times FILE.svg] [--speed-up FILE.svg --host NAME] NAME=TABLE ...

Draws figures 1 and 4 of Portegies Zwart, Belleman & Geldof (2007), with their table 2 and those of ours: each TABLE is
what `hermite --experiment table2` has printed, NAME the device's. Times are those of a quarter of a unit of time.
Speed-up is over the host of the same program: theirs over their Xeon, ours over the table called NAME by --host.
"""
import argparse
import math
import pathlib
import sys

WIDTH, HEIGHT = 900, 640
LEFT, RIGHT, TOP, BOTTOM = 90, 190, 30, 70
PALETTE = ["#0b5fa5", "#c2410c", "#15803d", "#7e22ce", "#0e7490", "#a16207", "#be123c", "#374151"]
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


def power(exponent):
    return f'10<tspan dy="-6" font-size="11">{exponent}</tspan>'


def chart(title, y_label, curves):
    """An SVG of curves {name: (points, dashed)} over the number of bodies, both axes logarithmic."""
    xs = [math.log2(x) for points, _ in curves.values() for x in points]
    ys = [math.log10(y) for points, _ in curves.values() for y in points.values()]
    x_low, x_high = min(xs), max(max(xs), min(xs) + 1)
    y_low, y_high = math.floor(min(ys)), max(math.ceil(max(ys)), math.floor(min(ys)) + 1)

    def px(x):
        return LEFT + (math.log2(x) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def py(y):
        return HEIGHT - BOTTOM - (math.log10(y) - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="14">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for exponent in range(y_low, y_high + 1):
        y = py(10.0**exponent)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d4d4d4"/>')
        out.append(f'<text x="{LEFT - 10}" y="{y + 5:.1f}" text-anchor="end">{power(exponent)}</text>')
    for exponent in range(math.ceil(x_low), math.floor(x_high) + 1):
        x = px(2.0**exponent)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#eeeeee"/>')
        name = str(2**exponent) if exponent < 10 else f"{2 ** (exponent - 10)}k"
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{name}</text>')
    out.append(f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" fill="none" '
               'stroke="#404040"/>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 22}" text-anchor="middle">bodies (k: 1024)</text>')
    out.append(f'<text transform="translate(26 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{y_label}</text>')
    for k, (name, (points, dashed)) in enumerate(curves.items()):
        colour = PALETTE[k % len(PALETTE)]
        dash = ' stroke-dasharray="7 5"' if dashed else ""
        places = [(px(x), py(y)) for x, y in sorted(points.items())]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        y = TOP + 14 + 24 * k
        x = WIDTH - RIGHT + 14
        out.append(f'<line x1="{x}" x2="{x + 30}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{x + 38}" y="{y + 5}">{name}</text>')
    return "\n".join(out + ["</svg>", ""])


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
        curves = {name: (times, False) for name, times in ours.items()}
        curves |= {name: (times, True) for name, times in paper.items()}
        options.times.write_text(chart("Seconds for a quarter of a unit of time", "seconds for a quarter of a unit of time", curves))
    if options.speed_up:
        host = f"{PAPER_HOST}, 2007"
        curves = {name: (speed_up(times, ours[options.host]), False) for name, times in ours.items() if name != options.host}
        curves |= {name: (speed_up(times, paper[host]), True) for name, times in paper.items() if name != host}
        curves = {name: curve for name, curve in curves.items() if curve[0]}
        options.speed_up.write_text(chart("Speed-up over the host", "speed-up over the host", curves))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        print(f"charts.py: {error}", file=sys.stderr)
        sys.exit(2)
