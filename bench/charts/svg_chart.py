"""Series of points -> the text of an SVG chart, in the one style of the charts of measured tables.

Main function: `svg_of`. The text depends on the arguments alone. A chart is 480 units wide with letters of 13 to 17 units,
so that it can be read at a width of 300 pixels. Results of nbcc have warm colours, results of others have cold ones. Colours follow
the reader's light or dark scheme.
"""

import dataclasses
import math
from html import escape

WIDTH, PLOT_HEIGHT = 480, 236
LEFT, RIGHT = 58, 452  # of the plot
TEXT, SMALL, TITLE = 15, 13, 17  # sizes of letters
# Mean width of a letter over its size, for sans-serif fonts.
LETTER, BOLD_LETTER = 0.57, 0.61

# Role of a series: colours on light and on dark paper.
COLOURS = {
    "ours": ("#cf222e", "#ff7b72"),
    "ours-2": ("#b35900", "#f0a35e"),
    "ours-3": ("#bf3989", "#ff9bce"),
    "ours-4": ("#7d5a00", "#d9b54a"),
    "theirs": ("#0550ae", "#79c0ff"),
    "theirs-2": ("#1a7f37", "#56d364"),
    "theirs-3": ("#6639ba", "#d2a8ff"),
    "theirs-4": ("#57606a", "#b1bac4"),
    "theirs-5": ("#0b7285", "#66d9e8"),
    "theirs-6": ("#24292f", "#e6edf3"),
}
MARKERS = ("circle", "square", "triangle", "diamond", "circle")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclasses.dataclass
class Series:
    label: str
    role: str  # a key of COLOURS
    points: list  # [(x, y)], y > 0 on a logarithmic axis
    dashed: bool = False
    line: bool = True
    markers: bool = True


@dataclasses.dataclass
class Axis:
    label: str  # quantity and unit
    scale: str = "linear"  # or "log2" (ticks are powers of two), "log10"
    low: float | None = None  # values that the axis covers even without a point
    high: float | None = None


@dataclasses.dataclass
class Chart:
    title: str  # states the result
    device: str  # devices and precision
    x: Axis
    y: Axis
    series: list
    description: str  # for readers who do not see the chart


def style_sheet(roles):
    def rules(side):
        return " ".join(
            f".{role} {{ stroke: {COLOURS[role][side]} }} .{role}-fill {{ fill: {COLOURS[role][side]} }}" for role in roles
        )

    return f"""
  text {{ fill: #24292f; font: {TEXT}px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif }}
  .small {{ font-size: {SMALL}px }} .title {{ font-size: {TITLE}px; font-weight: bold }} .ours-text {{ font-weight: bold }}
  .card {{ fill: #ffffff; stroke: #d0d7de }} .grid {{ stroke: #d8dee4 }} .line {{ fill: none; stroke-width: 2.5 }}
  .dashed {{ stroke-dasharray: 8 5 }} {rules(0)}
  @media (prefers-color-scheme: dark) {{
    text {{ fill: #e6edf3 }} .card {{ fill: #0d1117; stroke: #30363d }} .grid {{ stroke: #2b323b }}
    {rules(1)}
  }}
"""


def wrapped(text, size, width, letter=LETTER):
    """Lines of at most `width` units."""
    lines, most = [""], int(width / (size * letter))
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def number(value):
    """A short text: 0.01, 300, 10⁻⁶, 10⁵."""
    exponent = math.floor(math.log10(value) + 1e-9) if value > 0 else 0
    if value == 0 or -2 <= exponent <= 4:
        return f"{value:.10g}"
    mantissa = value / 10.0**exponent
    return ("" if abs(mantissa - 1) < 1e-9 else f"{mantissa:.3g}·") + "10" + str(exponent).translate(SUPERSCRIPTS)


def power_of_two(value):
    return f"{value / 1024:.0f}k" if value >= 1024 else f"{value:.0f}"


def limits(axis, values):
    values = [*values, *(v for v in (axis.low, axis.high) if v is not None)]
    low, high = min(values), max(values)
    if axis.scale == "log10":
        high = high if high > low else 10 * low
        return low / (high / low) ** 0.03, high * (high / low) ** 0.03
    if axis.scale == "log2":
        return low, max(high, 2 * low)
    low = 0 if low >= 0 and axis.low is None else low
    return low, high + 0.04 * (high - low) if high > low else low + 1


def ticks(axis, low, high, most):
    """[(value, text)], at most about `most`."""
    if axis.scale == "log2":
        exponents = range(math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9) + 1)
        step = math.ceil(len(exponents) / most)
        return [(2.0**k, power_of_two(2.0**k)) for k in exponents[::step]]
    if axis.scale == "log10":
        exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        inside = [k for k in exponents if low <= 10.0**k <= high]
        if len(inside) < 4 and (low > 0.01 or not inside):
            values = [m * 10.0**k for k in exponents for m in (1, 3)]
        else:
            values = [10.0**k for k in inside[:: math.ceil(len(inside) / most)]]
        return [(v, number(v)) for v in values if low <= v <= high]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    first = math.ceil(low / step - 1e-9)
    values = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    return [(v, f"{v:.10g}") for v in values]


def fraction(axis, low, high, value):
    if axis.scale == "linear":
        return (value - low) / (high - low)
    return math.log(value / low) / math.log(high / low)


def text_at(x, y, words, style="", anchor="start"):
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words, quote=False)}</text>'


def marker(role, kind, x, y):
    if kind == "circle":
        return f'<circle class="{role}-fill" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    shapes = {
        "square": "M{a:.1f} {b:.1f}h7v7h-7z",
        "triangle": "M{x:.1f} {t:.1f}l4.6 8h-9.2z",
        "diamond": "M{x:.1f} {t:.1f}l5 5l-5 5l-5 -5z",
    }
    path = shapes[kind].format(a=x - 3.5, b=y - 3.5, x=x, t=y - 5)
    return f'<path class="{role}-fill" d="{path}"/>'


def legend(series, top):
    """Elements, and the y below them. Two columns if the labels are short."""
    columns = 2 if all(len(one.label) * TEXT * BOLD_LETTER < 180 for one in series) else 1
    rows = math.ceil(len(series) / columns)
    parts, y = [], top
    for k, one in enumerate(series):
        if k % rows == 0:
            x, y = 22 + (WIDTH / columns - 8) * (k // rows), top
        is_ours = one.role.startswith("ours")
        if one.line:
            parts.append(f'<path class="line {one.role}{" dashed" if one.dashed else ""}" d="M{x:.1f} {y - 5:.1f}h34"/>')
        if one.markers:
            parts.append(marker(one.role, marker_of(series, k), x + 17, y - 5))
        for line in wrapped(one.label, TEXT, WIDTH / columns - 70, BOLD_LETTER if is_ours else LETTER):
            parts.append(text_at(x + 43, y, line, "ours-text" if is_ours else ""))
            y += 19
        y += 4
    return parts, max(y, top + 23 * rows)


def marker_of(series, k):
    return MARKERS[k % len(MARKERS)]


def svg_of(chart):
    unknown = [one.role for one in chart.series if one.role not in COLOURS]
    if unknown or not all(one.points for one in chart.series):
        raise ValueError(f"{chart.title}: expected known roles and points in every series, got {unknown or 'none'}")
    x_low, x_high = limits(chart.x, [x for one in chart.series for x, _ in one.points])
    y_low, y_high = limits(chart.y, [y for one in chart.series for _, y in one.points])

    parts, y = [], 8
    for line in wrapped(chart.title, TITLE, WIDTH - 36, BOLD_LETTER):
        y += 22
        parts.append(text_at(18, y, line, "title"))
    for line in wrapped(chart.device, SMALL, WIDTH - 36):
        y += 18
        parts.append(text_at(18, y, line, "small"))
    y += 26
    parts.append(text_at(18, y, chart.y.label))
    top = y + 14
    bottom = top + PLOT_HEIGHT

    def px(value):
        return LEFT + (RIGHT - LEFT) * fraction(chart.x, x_low, x_high, value)

    def py(value):
        return bottom - PLOT_HEIGHT * fraction(chart.y, y_low, y_high, value)

    for value, words in ticks(chart.y, y_low, y_high, 6):
        parts += [f'<path class="grid" d="M{LEFT} {py(value):.1f}H{RIGHT}"/>', text_at(LEFT - 7, py(value) + 5, words, "", "end")]
    for value, words in ticks(chart.x, x_low, x_high, 7):
        parts += [f'<path class="grid" d="M{px(value):.1f} {top}V{bottom}"/>', text_at(px(value), bottom + 20, words, "", "middle")]
    parts.append(text_at((LEFT + RIGHT) / 2, bottom + 43, chart.x.label, "", "middle"))

    # The first series is above the others, and single points are above lines.
    for k, one in sorted(reversed(list(enumerate(chart.series))), key=lambda entry: not entry[1].line):
        places = [(px(x), py(v)) for x, v in sorted(one.points)]
        dashed = " dashed" if one.dashed else ""
        if one.line and len(places) > 1:
            path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
            parts.append(f'<path class="line {one.role}{dashed}" d="M{path}"/>')
        if one.markers:
            parts += [marker(one.role, marker_of(chart.series, k), a, b) for a, b in places]
    below, y = legend(chart.series, bottom + 74)
    parts += below
    height = round(y + 2)
    roles = list(dict.fromkeys(one.role for one in chart.series))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
        f"<title>{escape(chart.title, quote=False)}</title>\n<desc>{escape(chart.description, quote=False)}</desc>\n"
        f"<style>{style_sheet(roles)}</style>\n"
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
