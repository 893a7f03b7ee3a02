"""Rates of gravity: the chart of the README, and the figures of GPU Gems 3, chapter 31, and of Hamada & Iitaka (2007).

Main function: `charts`.
"""

from svg_chart import Axis, Chart, Series, number
from tables import Table

RESULTS, NBODY, PAPERS = "bench/RESULTS.md", "docs/programs/nbody.md", "docs/papers.md"
RATE, BODIES = "10⁹ interactions per second", "bodies N, each attracted by all N (k: 1024)"
OF_NBODY = "NVIDIA H200; acceleration and potential in single precision, positions in double"
# The chapter's text, on a GeForce 8800 GTX; its curves are not available as numbers (docs/papers.md).
CHAPTER_BODIES, CHAPTER_RATE = 16384, 10  # "more than 10"
CHAPTER_FIRST, CHAPTER_UNROLLED = 163, 200  # GFLOP/s before and after the loop was unrolled, "more than 200"
CHAPTER_TWO_THREADS = 1.44  # two threads per body over one, 1024 bodies
SIZES = (1024, 4096, 16384, 65536)
ROLES = ("ours", "ours-2", "ours-3", "ours-4")

# Column of the table "Beside others", label.
OTHERS = (
    ("by hand: each pair once", "by hand, each pair once"),
    ("by hand: blocked sums", "by hand, blocked sums"),
    ("by hand: one i per thread", "by hand, one i per thread"),
    ("NVIDIA's n-body sample", "NVIDIA's n-body sample"),
    ("KeOps's kernel", "KeOps's kernel"),
)


def own_rates():
    table = Table(RESULTS, "| gravity, single | 2048 | 4096 |")
    return table.row("generated, G/s"), table.row("generated, each pair once, G/s")


def rates():
    all_pairs, once = own_rates()
    series = [Series("nbcc", "ours", all_pairs), Series("nbcc, each pair once", "ours", once, dashed=True)]
    others = Table(RESULTS, "**Beside others on one H200.**")
    for k, (column, label) in enumerate(OTHERS):
        series.append(Series(label, "theirs" if k == 0 else f"theirs-{k + 1}", others.column(column)))
    for one in series:
        one.label += f": {one.points[-1][1]:.0f}"
    (n, rate), = others.column("OpenMM, custom force")
    series.append(Series(f"OpenMM, custom force, {n / 1024:.0f}k: {rate:.0f}", "theirs-6", [(n, rate)], line=False))
    sample = others.column("NVIDIA's n-body sample")
    title = (
        f"Gravity on one H200: nbcc {all_pairs[-1][1]:.0f}, each pair once {once[-1][1]:.0f}, NVIDIA's sample {sample[-1][1]:.0f}"
    )
    device = f"single precision, accelerations alone, arrays on the device; numbers of the legend: {all_pairs[-1][0] / 1024:.0f}k bodies"
    return Chart(title, device, Axis(BODIES, "log2"), Axis(RATE, "log10", low=25, high=4000), series,
                 "Rates over the number of bodies of nbcc's kernels and of kernels by others on the same GPU.")  # fmt: skip


def figure_31_6():
    all_pairs, _ = own_rates()
    by_n = dict(all_pairs)
    by_hand = Table(RESULTS, "**Beside others on one H200.**").column("by hand: one i per thread")
    paper = Table(PAPERS, "**Table 3**, time and speed").column("G interactions/s: 8800 GTX, *derived*")
    share = 100 * by_n[CHAPTER_BODIES] / all_pairs[-1][1]
    small = 100 * by_n[2048] / all_pairs[-1][1]
    return Chart(
        f"An H200 has {small:.0f}% of its full rate with 2048 bodies, {share:.0f}% with 16384",
        "GPU Gems 3, figure 31-6: gravity in single precision, accelerations alone; H200: arrays on the device",
        Axis(BODIES, "log2"),
        Axis(RATE, "log10", low=3, high=4000),
        [
            Series("nbcc, H200", "ours", all_pairs),
            Series("the chapter's scheme by hand, one body per thread, H200", "theirs-3", by_hand),
            Series("Hamada & Iitaka, 8800 GTX, 2007, calls with copies", "theirs", paper, dashed=True),
            Series("the chapter's text, 8800 GTX, 2007: more than 10", "theirs-2", [(CHAPTER_BODIES, CHAPTER_RATE)], line=False),
        ],
        "Rates over the number of bodies: nbcc and a hand-written kernel on an H200, and published rates of a GeForce 8800 GTX.",
    )


def of_sizes(mark, relative_to):
    """[(N, [(choice, rate over that of `relative_to`)])]; relative_to: a choice, or None for the best of that N."""
    table = Table(NBODY, mark)
    found = []
    for n in SIZES:
        rates_of_n = table.row(str(n))
        reference = max(rate for _, rate in rates_of_n) if relative_to is None else dict(rates_of_n)[relative_to]
        found.append((n, [(choice, rate / reference) for choice, rate in rates_of_n]))
    return found


def own_series(curves):
    return [Series(f"nbcc, {n} bodies", role, points) for role, (n, points) in zip(ROLES, curves)]


def figure_31_5():
    curves = of_sizes("By the pairs of the loop that are written out", 1)
    gain = {n: 100 * (dict(points)[16] - 1) for n, points in curves}
    more = [str(n) for n, points in curves if dict(points)[32] > dict(points)[16]]
    exceptions = f", except with {' and '.join(more)} bodies" if more else ""
    theirs = [(1, 1.0), (4, CHAPTER_UNROLLED / CHAPTER_FIRST)]
    return Chart(
        f"Unrolling the loop 16 times gains {min(gain.values()):.0f} to {max(gain.values()):.0f}%; 32 times gains less{exceptions}",
        f"GPU Gems 3, figure 31-5: {OF_NBODY}",
        Axis("pairs of the loop that are written out", "log2"),
        Axis("rate relative to no unrolling", low=0.95),
        [*own_series(curves), Series("the chapter's text, 8800 GTX, 16384 bodies: from 163 to more than 200 GFLOP/s", "theirs", theirs, dashed=True)],
        "Rates relative to a loop that is not unrolled, over the number of pairs written out, for four numbers of bodies.",
    )


def figure_31_7():
    curves = of_sizes("By threads of a block", None)
    small = {n: 100 * dict(points)[32] for n, points in curves}
    return Chart(
        f"Blocks of 32 threads reach {small[1024]:.0f}% of the best rate with 1024 bodies, {small[65536]:.0f}% with 65536",
        f"GPU Gems 3, figure 31-7: {OF_NBODY}. Blocks of 512 threads are impossible with four bodies per thread",
        Axis("threads of a block", "log2"),
        Axis("rate relative to the best block size", low=0),
        own_series(curves),
        "Rates relative to the best block size, over the number of threads of a block, for four numbers of bodies.",
    )


def figure_31_8():
    curves = of_sizes("By the threads that share a body", 1)
    best = {n: max(points, key=lambda point: point[1]) for n, points in curves}
    if any(best[n][0] != 1 for n in SIZES if n >= 16384):
        raise ValueError("figure 31-8: the title says that several threads per body gain nothing from 16384 bodies on")
    gains = [f"{best[n][0]:.0f} threads per body gain {100 * (best[n][1] - 1):.0f}% with {n} bodies" for n in (1024, 4096)]
    return Chart(
        f"{gains[0]}, {gains[1].replace(' threads per body gain', ' gain')}; with 16384 none",
        f"GPU Gems 3, figure 31-8: {OF_NBODY}",
        Axis("threads per body", "log2"),
        Axis("rate relative to one thread per body", low=0),
        [*own_series(curves), Series("the chapter's text, 8800 GTX, 1024 bodies", "theirs", [(1, 1.0), (2, CHAPTER_TWO_THREADS)], dashed=True)],
        "Rates relative to one thread per body, over the number of threads per body, for four numbers of bodies.",
    )


def pictures_a_second():
    table = Table(NBODY, "`--draw-steps` measures pictures a second instead")
    curves = [(n, table.row(str(n))) for n in SIZES[1:]]
    series, spread = [], []
    for role, (n, points) in zip(ROLES, curves):
        series.append(Series(f"{n} bodies", role, points))
        rates = [rate for _, rate in points]
        spread.append(100 * (max(rates) / min(rates) - 1))
    sixteen = dict(curves)[16384]
    return Chart(
        f"The block size changes pictures a second by at most {max(spread):.0f}%: {max(rate for _, rate in sixteen):.0f} with 16384 bodies",
        "As in the Alea posts: a step and a picture of 1280 x 720 by OpenGL on the same GPU, NVIDIA H200",
        Axis("threads of a block", "log2"),
        Axis("pictures a second", low=0),
        series,
        "Pictures a second over the number of threads of a block, for three numbers of bodies.",
    )


def errors_of_cunbody():
    table = Table(PAPERS, "**Table 2**, the largest relative error")
    theirs, ours = table.head.index("sequential: 8800 GTX"), table.head.index("blocked: 8800 GTX")
    columns = {name: [(float(n), float(cells[k])) for n, cells in table.rows.items()]
               for name, k in (("theirs", theirs), ("ours", theirs + 1), ("theirs blocked", ours), ("ours blocked", ours + 1))}  # fmt: skip
    worst = max(error for _, error in columns["ours blocked"])
    return Chart(
        f"The largest error of blocked sums is {number(worst)} at most; that of a sequential sum grows with N",
        "Hamada & Iitaka, table 2: Plummer sphere, single precision, eps2 = 0.01; 8800 GTX (2007) and H200",
        Axis("particles N (k: 1024)", "log2"),
        Axis("largest relative error of an acceleration", "log10"),
        [
            Series("nbcc, H200, blocked", "ours", columns["ours blocked"]),
            Series("by hand, H200, sequential", "ours-2", columns["ours"], dashed=True),
            Series("8800 GTX, blocked (Chamomile)", "theirs", columns["theirs blocked"]),
            Series("8800 GTX, sequential", "theirs-2", columns["theirs"], dashed=True),
        ],
        "Largest errors over the number of particles of sequential and of blocked sums, published and measured.",
    )


def rates_of_cunbody():
    table = Table(PAPERS, "**Table 3**, time and speed")
    theirs, gpu, cpu, device = (table.column(name) for name in (
        "GFLOP/s: 8800 GTX", "H200", "Xeon", "GFLOP/s, arrays on the device: H200"))  # fmt: skip
    return Chart(
        f"The unchanged call of CUNBODY-1 runs at {dict(gpu)[65536] / 1000:.1f} TFLOP/s on an H200, {dict(cpu)[65536] / 1000:.1f} on 16 threads",
        "Hamada & Iitaka, table 3: 38 operations per interaction, arrays of the host copied in every call; 65536 particles in the title",
        Axis("particles N (k: 1024)", "log2"),
        Axis("GFLOP/s", "log10", low=100),
        [
            Series("nbcc, H200, force()", "ours", gpu),
            Series("nbcc, H200, arrays on the device", "ours", device, dashed=True),
            Series("nbcc, Xeon, 16 threads, force()", "ours-2", cpu),
            Series("CUNBODY-1, 8800 GTX, 2007, force()", "theirs", theirs),
        ],
        "Speed of the complete call over the number of particles, published and measured.",
    )


def charts():
    """{file: Chart}"""
    return {
        "docs/pictures/rates.svg": rates(),
        "docs/programs/pictures/nbody-rates.svg": figure_31_6(),
        "docs/programs/pictures/nbody-unrolling.svg": figure_31_5(),
        "docs/programs/pictures/nbody-blocks.svg": figure_31_7(),
        "docs/programs/pictures/nbody-threads.svg": figure_31_8(),
        "docs/programs/pictures/nbody-pictures.svg": pictures_a_second(),
        "docs/programs/pictures/cunbody-errors.svg": errors_of_cunbody(),
        "docs/programs/pictures/cunbody-rates.svg": rates_of_cunbody(),
    }
