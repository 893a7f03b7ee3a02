#!/usr/bin/env python3
"""The modules of bench/charts: tables of Markdown, charts of series, tables of a sweep.

    charts.py SOURCE_FOLDER
"""

import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(sys.argv.pop()).resolve() / "bench" / "charts"))

import svg_chart  # noqa: E402
import sweep_tables  # noqa: E402
import tables  # noqa: E402
from svg_chart import Axis, Chart, Series  # noqa: E402

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(series, x=None, y=None, title="A title <of a result>"):
    chart = Chart(title, "a device", x or Axis("N", "log2"), y or Axis("seconds", "log10"), series, "what is shown")
    return xml.etree.ElementTree.fromstring(svg_chart.svg_of(chart))


def places(root):
    """(x, y) of the circles of the plot, without that of the legend."""
    found = [(float(e.get("cx")), float(e.get("cy"))) for e in root.iter(NAMESPACE + "circle")]
    return [place for place in found if place[0] >= svg_chart.LEFT]


class Charts(unittest.TestCase):
    def test_points_of_equal_ratios_are_equally_far_apart(self):
        (a, b), (c, d), (e, f) = places(drawn([Series("", "ours", [(1, 0.01), (2, 1), (4, 100)])]))
        self.assertAlmostEqual(c - a, e - c, delta=0.2)
        self.assertAlmostEqual(b - d, d - f, delta=0.2)
        self.assertGreater(b, d)  # y downwards

    def test_all_that_is_drawn_lies_within_the_picture(self):
        long = "a label whose words are many enough for two lines of the legend, and one more"
        series = [Series(f"{k} {long}", role, [(1, 1e-9), (2**20, 1e9 * (k + 1))]) for k, role in enumerate(svg_chart.COLOURS)]
        root = drawn(series, title="A long title " * 8)
        _, _, width, height = map(float, root.get("viewBox").split())
        for text in root.iter(NAMESPACE + "text"):
            x, y = float(text.get("x")), float(text.get("y"))
            length = len(text.text) * svg_chart.TEXT * 0.5 / {"start": 1, "middle": 2, "end": 1}[text.get("text-anchor")]
            self.assertTrue(0 < y < height, text.text)
            if text.get("text-anchor") != "start":
                self.assertGreaterEqual(x - length, 0, text.text)
            if text.get("text-anchor") != "end":
                self.assertLessEqual(x + length, width, text.text)

    def test_title_and_description_are_for_all_readers(self):
        root = drawn([Series("", "theirs", [(1, 1)])])
        self.assertEqual(root.find(NAMESPACE + "title").text, "A title <of a result>")
        self.assertEqual(root.find(NAMESPACE + "desc").text, "what is shown")

    def test_a_role_without_a_colour_and_an_empty_series_are_errors(self):
        for series in (Series("", "nobody", [(1, 1)]), Series("", "ours", [])):
            with self.assertRaisesRegex(ValueError, "A title"):
                drawn([series])

    def test_numbers(self):
        shown = {v: svg_chart.number(v) for v in (0, 0.01, 1, 300, 30000, 1e5, 4.1e-7, 1e-6)}
        expected = {0: "0", 0.01: "0.01", 1: "1", 300: "300", 30000: "30000", 1e5: "10⁵", 4.1e-7: "4.1·10⁻⁷", 1e-6: "10⁻⁶"}
        self.assertEqual(shown, expected)


class Tables(unittest.TestCase):
    def test_rows_and_columns(self):
        table = tables.Table("docs/papers.md", "**Table 3**, time and speed")
        self.assertEqual(table.column("GFLOP/s: 8800 GTX")[:2], [(2048, 173), (4096, 213)])
        self.assertEqual(len(table.column("H200")), 6)  # an empty cell is no number
        with self.assertRaisesRegex(ValueError, "expected a column 'none', found N, seconds"):
            table.column("none")
        with self.assertRaisesRegex(ValueError, "expected 'no such mark' once, found it 0 times"):
            tables.Table("docs/papers.md", "no such mark")

    def test_a_sweep(self):
        entries = [
            {"pipeline": "force", "device": "a GPU", "precision": "single", "choice": choice, "value": value, "ni": 1024,
             "interactions_per_s": rate} for choice in sweep_tables.CHOICES for value, rate in ((2, 2e9), (1, None))
        ]  # fmt: skip
        self.assertIn("\nBy unrolling:\n\n| N | 1 | 2 |\n|---|---|---|\n| 1024 | - | 2 |\n", sweep_tables.tables_of(entries))
        with self.assertRaisesRegex(ValueError, "of 'j_slices', found none"):
            sweep_tables.tables_of(entries[:4])


if __name__ == "__main__":
    unittest.main()
