"""Figures of Portegies Zwart, Belleman & Geldof (2007): run times, model, speed-up, error of the energy.

Main function: `charts`.
"""

from svg_chart import Axis, Chart, Series, number
from tables import Table

PAPERS, RESULTS = "docs/papers.md", "bench/RESULTS.md"
BODIES = "bodies N (k: 1024)"
RUNS = "mixed precision, eta = 0.01, softening 1/256"
THEIRS = "Portegies Zwart et al. 2007"
PARTS = 4  # the runs are a quarter of a unit of time
PROJECTED = 100  # the paper's figure 5: "more than a factor of 100" over the workstation, for all N


def times():
    """Seconds of table 2 by the name of the column, and those of two GPUs."""
    table = Table(PAPERS, "**Table 2**, seconds.")
    two = Table(RESULTS, "`hermite --experiment table2`, mixed precision, seconds to a quarter").column("two")
    return {name: table.column(name) for name in table.head[1:]} | {"two H100": two}


def over(slow, fast):
    """Ratios of the seconds of two columns, for the numbers of bodies of both."""
    seconds = dict(fast)
    return [(n, t / seconds[n]) for n, t in slow if n in seconds]


def figure_1():
    t = times()
    most = max(n for n, _ in t["8800 GTX"])
    theirs, ours = dict(t["8800 GTX"])[most], dict(t["here: H200"])[most]
    return Chart(
        f"{most / 1024:.0f}k bodies took {theirs / 3600:.0f} hours on an 8800 GTX, and {ours:.0f} seconds on an H200",
        f"{THEIRS}, figure 1 and table 2: a quarter of a unit of time; ours: {RUNS}",
        Axis(BODIES, "log2"),
        Axis("seconds", "log10"),
        [
            Series("nbcc, H200", "ours", t["here: H200"]),
            Series("nbcc, Xeon, 16 threads", "ours-2", t["here: Xeon, 16 threads"]),
            Series("GRAPE-6Af", "theirs", t["GRAPE-6Af"], dashed=True),
            Series("8800 GTX", "theirs-2", t["8800 GTX"], dashed=True),
            Series("Quadro FX 1400", "theirs-3", t["Quadro FX 1400"], dashed=True),
            Series("Xeon, 3.4 GHz", "theirs-4", t["Xeon, 3.4 GHz"], dashed=True),
        ],
        "Seconds over the number of bodies: measured on two devices with nbcc, and published for four devices of 2007.",
    )


def figure_3():
    t = {name: [(n, PARTS * seconds) for n, seconds in column] for name, column in times().items()}
    predicted = Table(PAPERS, "| bodies | measured | model |")
    model = [(n, PARTS * seconds) for n, seconds in predicted.column("model")]
    worst = max(abs(dict(model)[n] / (PARTS * seconds) - 1) for n, seconds in predicted.column("measured"))
    return Chart(
        f"Fitted to single blocks, the model predicts complete runs on an H200 within {100 * worst:.0f}%",
        f"{THEIRS}, figure 3: one unit of time (a quarter was measured, times 4); ours: {RUNS}",
        Axis(BODIES, "log2"),
        Axis("seconds", "log10"),
        [
            Series("nbcc, H200", "ours", t["here: H200"], line=False),
            Series("model of the H200", "ours", model, dashed=True, markers=False),
            Series("nbcc, two H100", "ours-3", t["two H100"]),
            Series("nbcc, Xeon, 16 threads", "ours-2", t["here: Xeon, 16 threads"]),
            Series("GRAPE-6Af, published", "theirs", t["GRAPE-6Af"], dashed=True),
            Series("8800 GTX, published", "theirs-2", t["8800 GTX"], dashed=True),
            Series("Xeon, 3.4 GHz, published", "theirs-4", t["Xeon, 3.4 GHz"], dashed=True),
        ],
        "Seconds for a unit of time over the number of bodies: measured, by the model, and published.",
    )


def figure_4():
    t = times()
    ours = over(t["here: Xeon, 16 threads"], t["here: H200"])
    first, last = ours[0], ours[-1]
    return Chart(
        f"An H200 has {first[1]:.2f} times the speed of its host with {first[0]:.0f} bodies, {last[1]:.0f} times with {last[0]:.0f}",
        f"{THEIRS}, figure 4; theirs over their Xeon, ours over 16 threads of the machine's Xeon; {RUNS}",
        Axis(BODIES, "log2"),
        Axis("speed-up over the host", "log10"),
        [
            Series("nbcc, H200", "ours", ours),
            Series("GRAPE-6Af", "theirs", over(t["Xeon, 3.4 GHz"], t["GRAPE-6Af"]), dashed=True),
            Series("8800 GTX", "theirs-2", over(t["Xeon, 3.4 GHz"], t["8800 GTX"]), dashed=True),
            Series("Quadro FX 1400", "theirs-3", over(t["Xeon, 3.4 GHz"], t["Quadro FX 1400"]), dashed=True),
        ],
        "Speed-up over the host over the number of bodies, measured on an H200 and derived from the published times.",
    )


def figure_5():
    t = times()
    past = over(t["Xeon, 3.4 GHz"], t["here: H200"])
    host = over(t["here: Xeon, 16 threads"], t["here: H200"])
    passed = next(n for n, ratio in past if ratio > PROJECTED)
    return Chart(
        f"The projected factor of 100 over the workstation of 2007 is passed from {passed:.0f} bodies on",
        f"{THEIRS}, figure 5 (their projection for a better GPU program) and an H200 17 years later; {RUNS}",
        Axis(BODIES, "log2"),
        Axis("speed-up over a host", "log10"),
        [
            Series("nbcc, H200, over their Xeon of 2007", "ours", past),
            Series("nbcc, H200, over 16 threads of its own host", "ours-2", host),
            Series("projected in 2007: more than 100 for all N", "theirs", [(n, PROJECTED) for n, _ in past], dashed=True, markers=False),
            Series("measured in 2007, 8800 GTX", "theirs-2", over(t["Xeon, 3.4 GHz"], t["8800 GTX"])),
        ],
        "Speed-up over a host over the number of bodies: the projection of 2007, the 8800 GTX of 2007, and an H200.",
    )


def figure_2():
    table = Table(PAPERS, "**Figure 2**, relative error of the energy against eta, H200:")
    series = []
    for bodies, dashed in (("1024", False), ("16384", True)):
        for k, precision in enumerate(("single", "mixed", "double")):
            points = [(float(cells[1]), float(cells[2 + k])) for cells in table.lines if cells[0] == bodies]
            series.append(Series(f"{bodies}, {precision}", ("ours", "ours-2", "ours-3")[k], points, dashed))
    worst = max(dict(one.points)[0.0025] for one in series if "single" in one.label)
    return Chart(
        f"With eta = 0.0025 the energy is kept to {number(worst)} also in single precision",
        f"{THEIRS}, figure 2: a quarter of a unit of time, softening 1/256, nbcc on an H200. Their 8800 GTX stopped near 1e-6",
        Axis("eta, the parameter of the time step", "log10"),
        Axis("relative error of the energy", "log10"),
        series,
        "Relative error of the energy over eta, for two numbers of bodies and three precisions.",
    )


def model():
    table = Table(PAPERS, "| bodies | measured | model |")
    measured, predicted = table.column("measured"), table.column("model")
    worst = max(abs(dict(predicted)[n] / seconds - 1) for n, seconds in measured)
    return Chart(
        f"The model, fitted to single blocks, is within {100 * worst:.0f}% of complete runs",
        f"{THEIRS}, section 5: a quarter of a unit of time on an H200; {RUNS}",
        Axis(BODIES, "log2"),
        Axis("seconds", "log10"),
        [Series("measured", "ours", measured), Series("model", "ours-2", predicted, dashed=True)],
        "Seconds over the number of bodies, measured and by the model.",
    )


def charts():
    """{file: Chart}"""
    folder = "docs/programs/pictures/hermite-"
    return {
        folder + "times.svg": figure_1(),
        folder + "energy.svg": figure_2(),
        folder + "all-devices.svg": figure_3(),
        folder + "speed-up.svg": figure_4(),
        folder + "projection.svg": figure_5(),
        folder + "model.svg": model(),
    }
