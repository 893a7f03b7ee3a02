#!/usr/bin/env python3
"""The output of `nbcc bench --sweep --json` -> its three tables, in Markdown, as docs/programs/nbody.md has them.

    sweep_tables.py FILE.json

Rates are in 10^9 interactions per second; "-": no such kernel is possible. Rows are numbers of particles.
"""

import json
import pathlib
import sys

CHOICES = {"threads": "threads of a block", "unroll": "unrolling", "j_slices": "threads that share a body"}


def tables_of(entries):
    """entries: the list that the command prints. Returns Markdown."""
    devices = sorted({entry["device"] for entry in entries})
    if len(devices) != 1:
        raise ValueError(f"expected results of one device, got {', '.join(devices) or 'none'}")
    lines = [f"{entries[0]['pipeline']} on {devices[0]}, {entries[0]['precision']} precision"]
    for choice, words in CHOICES.items():
        rates = {(entry["ni"], entry["value"]): entry["interactions_per_s"] for entry in entries if entry["choice"] == choice}
        if not rates:
            raise ValueError(f"expected entries of '{choice}', found none")
        values = sorted({value for _, value in rates})
        lines += ["", f"By {words}:", "", f"| N | {' | '.join(map(str, values))} |", "|---" * (len(values) + 1) + "|"]
        for n in sorted({n for n, _ in rates}):
            cells = [rates.get((n, value)) for value in values]
            lines.append(f"| {n} | " + " | ".join("-" if rate is None else f"{1e-9 * rate:.0f}" for rate in cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        print(tables_of(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"sweep_tables.py: {sys.argv[1]}: {error}")
