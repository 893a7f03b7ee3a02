#!/usr/bin/env python3
"""The papers' numbers are the same wherever they stand, and what is derived from them follows from them.

    papers.py SOURCE_FOLDER
"""
import math
import pathlib
import re
import sys


def rows_after(text, mark):
    """The rows of the first table behind `mark`, without its head, by their first cell."""
    lines = text[text.index(mark):].split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith("|"))
    rows = {}
    for line in lines[first + 2:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        rows[cells[0]] = cells[1:]
    return rows


def follows(printed, value):
    """Whether `printed` is `value` rounded to the digits that it has."""
    digits = len(re.sub(r"e.*|\.", "", printed).lstrip("0"))
    return abs(float(printed) - value) <= 0.51 * 10.0 ** (math.floor(math.log10(value)) - digits + 1)


def hamada_iitaka(papers, results, program):
    errors = rows_after(papers, "**Table 2**, the largest relative error")
    speed = rows_after(papers, "**Table 3**, time and speed")
    measured = rows_after(results, "Accuracy and speed as in tables 2 and 3")
    published = re.findall(r"\{(\d+), ([\d.e-]+), ([\d.e-]+), ([\d.e-]+), (\d+)\}", program)
    if len(published) != len(speed):
        yield f"{len(published)} rows in bench/hamada_iitaka.cpp, {len(speed)} in docs/papers.md"
    for n, *numbers in published:
        if numbers != [errors[n][0], errors[n][2], speed[n][0], speed[n][1]]:
            yield f"Hamada & Iitaka, N = {n}: not the numbers of bench/hamada_iitaka.cpp in docs/papers.md"
        if [numbers[0], numbers[1], numbers[3]] != [measured[n][1], measured[n][3], measured[n][8]]:
            yield f"Hamada & Iitaka, N = {n}: not the numbers of bench/hamada_iitaka.cpp in bench/RESULTS.md"
        if not follows(speed[n][4], 1e-9 * int(n) ** 2 / float(numbers[2])):
            yield f"Hamada & Iitaka, N = {n}: interactions a second do not follow from the seconds"


def portegies_zwart(papers):
    times = rows_after(papers, "**Table 2**, seconds.")
    ratios = rows_after(papers, "**Speed-up** (the paper's figure 4")
    # Columns of the times: what is slower in the ratio, what is faster.
    pairs = [(3, 1), (3, 2), (3, 0), (1, 0), (5, 4)]
    for n, row in ratios.items():
        for ratio, (slow, fast) in zip(row, pairs):
            if ratio and not follows(ratio, float(times[n][slow]) / float(times[n][fast])):
                yield f"Portegies Zwart, N = {n}: {ratio} is not {times[n][slow]} / {times[n][fast]}"


def far_field(papers, nbody):
    here = rows_after(papers, "The chapter has no numbers for the other parts of a tree code.")
    page = rows_after(nbody, "With `--tolerance` the benchmark measures complete steps")
    names = {"all pairs: 6.87e10": "262144, all pairs, Xeon",
             "tolerance 1e-3: a step, integrator included": "262144, 1e-3, Xeon",
             "tolerance 1e-5": "262144, 1e-5, Xeon",
             "all pairs on a GPU": "262144, all pairs, H100",
             "tolerance 1e-3 on a GPU: a step": "262144, 1e-3, H100",
             "tolerance 1e-5 on a GPU": "262144, 1e-5, H100"}
    # The page also has rows for a million bodies.
    if list(names) != list(here) or list(names.values()) != [row for row in page if row.startswith("262144, ")]:
        yield f"far field of 2^18 bodies: rows {list(here)} in docs/papers.md, {list(page)} in docs/programs/nbody.md"
        return
    for name, of_page in names.items():
        all_pairs = here["all pairs on a GPU" if of_page.endswith("H100") else "all pairs: 6.87e10"][0]
        seconds, ratio, error = here[name][:3]
        if [seconds, error] != [page[of_page][0], page[of_page][2]]:
            yield f"far field, {name}: not the numbers of docs/programs/nbody.md in docs/papers.md"
        if ratio and not follows(ratio, float(all_pairs) / float(seconds)):
            yield f"far field, {name}: {ratio} is not {all_pairs} / {seconds}"


def cited_tests(papers, source):
    """Names of tests in code spans: `library.cunbody` is defined in a CMakeLists.txt."""
    defined = "".join((source / name).read_text(encoding="utf-8") for name in ("tests/CMakeLists.txt", "examples/CMakeLists.txt"))
    names = set(re.findall(r"`(?:library|examples)\.(\w+)`", papers))
    if not names:
        yield "docs/papers.md cites no test"
    for name in sorted(names):
        if not re.search(rf"\b{name}\b", defined):
            yield f"docs/papers.md cites the test {name}, which no CMakeLists.txt defines"


def summary(papers):
    """The numbers of the first table are those of the tables of the sections."""
    lines = papers[papers.index("## Tables and figures") : papers.index("## Hamada & Iitaka")].split("\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    ours = {row[1]: (row[2], row[3]) for row in rows}
    times, speed = rows_after(papers, "**Table 2**, seconds."), rows_after(papers, "**Table 3**, time and speed")
    errors = rows_after(papers, "**Table 2**, the largest relative error")

    def span(column, table):
        values = [cells[column] for cells in table.values() if cells[column]]
        return f"{min(values, key=float)} to {max(values, key=float)}"

    expected = {
        "table 2, errors": (f"{span(0, errors)}, blocked {span(2, errors)}", f"{span(1, errors)}, blocked {span(3, errors)}"),
        "table 3, speed of the call": (f"{span(1, speed)} GFLOP/s", f"{span(2, speed)}, {span(3, speed)} GFLOP/s"),
    }
    for name, pair in expected.items():
        if ours.get(name) != pair:
            yield f"docs/papers.md, summary of '{name}': expected {pair}, found {ours.get(name)}"
    # Columns of the times: 3 the Xeon of 2007, 4 the H200, 6 the 16 threads.
    for name, host, bodies in (("figure 4, speed-up", 6, ("256", "32768")), ("figure 5, projection", 3, ("256", "65536"))):
        numbers = [float(times[n][host]) / float(times[n][4]) for n in bodies]
        found = [word for word in re.findall(r"[\d.]+", ours[name][1]) if any(follows(word, value) for value in numbers)]
        if len(found) != 2:
            yield f"docs/papers.md, summary of '{name}': {ours[name][1]} is not {numbers}"


def main(source):
    names = ("docs/papers.md", "bench/RESULTS.md", "bench/hamada_iitaka.cpp", "docs/programs/nbody.md")
    papers, results, program, nbody = ((source / name).read_text(encoding="utf-8") for name in names)
    faults = [*hamada_iitaka(papers, results, program), *portegies_zwart(papers), *far_field(papers, nbody), *cited_tests(papers, source), *summary(papers)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
