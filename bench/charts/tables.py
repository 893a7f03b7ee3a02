"""Tables in Markdown files -> their numbers. Main class: `Table`."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


class Table:
    """The first table behind the text `mark` of a file of the repository.

    lines: the cells of each row; rows: the same by their first cell, of which the last is kept if cells are equal.
    """

    def __init__(self, path, mark):
        text = (ROOT / path).read_text(encoding="utf-8")
        if text.count(mark) != 1:
            raise ValueError(f"{path}: expected '{mark}' once, found it {text.count(mark)} times")
        # The mark may be within the head of the table.
        lines = text[text.rindex("\n", 0, text.index(mark)) + 1 :].split("\n")
        first = next(k for k, line in enumerate(lines) if line.startswith("|"))
        end = next((k for k, line in enumerate(lines) if k > first and not line.startswith("|")), len(lines))
        self.where = f"{path}, table behind '{mark}'"
        self.head = cells_of(lines[first])
        self.lines = [cells_of(line) for line in lines[first + 2 : end]]
        self.rows = {cells[0]: cells for cells in self.lines}

    def column(self, name):
        """[(number of the row's name, number in the column)], without rows that have none there."""
        if name not in self.head:
            raise ValueError(f"{self.where}: expected a column '{name}', found {', '.join(self.head)}")
        k = self.head.index(name)
        pairs = [(number_in(row), number_in(cells[k])) for row, cells in self.rows.items()]
        return [(x, y) for x, y in pairs if x is not None and y is not None]

    def row(self, name):
        """[(number of the column's head, number in the row)], without columns that have none there."""
        if name not in self.rows:
            raise ValueError(f"{self.where}: expected a row '{name}', found {', '.join(self.rows)}")
        pairs = zip(map(number_in, self.head[1:]), map(number_in, self.rows[name][1:]))
        return [(x, y) for x, y in pairs if x is not None and y is not None]


def number_in(cell):
    """The number that a cell consists of, else None."""
    return float(cell) if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell) else None
