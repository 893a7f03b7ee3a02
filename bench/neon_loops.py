#!/usr/bin/env python3
"""Gravity for NEON, generated and by hand: instructions and simulated cycles per pair of the innermost loops. (Loops of
other pipelines have a branch inside.)

    python3 bench/neon_loops.py NBCC [-- OPTION_OF_CLANG...]

NBCC is the command (of any machine). Loops are simulated by llvm-mca-19 for Neoverse V2, which knows the processor's
pipelines and latencies, and assumes that every load hits the first cache. Where Clang has no arm64 headers of its own,
options name them: -- --sysroot=build-arm64/root
"""

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
PROCESSOR = "neoverse-v2"
ITERATIONS = 200
# Pipeline, precision, hand-written kernel, pairs in a vector.
KERNELS = [
    ("gravity_acc", "single", "gravity", 4),
    ("gravity_acc", "double", "gravity_double", 2),
]


def output_of(words, text=None):
    return subprocess.run(words, input=text, stdout=subprocess.PIPE, check=True, text=True).stdout


def inner_loops(assembly):
    """The instructions of every loop that has no label inside."""
    loops, label, body = [], None, []
    for line in assembly.splitlines():
        line = line.split("//")[0].strip()
        if re.fullmatch(r"[.\w$]+:", line):
            label, body = line[:-1], []
        elif line and not line.startswith("."):
            body.append(line)
            if re.match(r"(b\.\w+|cbn?z|tbn?z)\b", line) and line.split()[-1] == label:
                loops.append(body)
                label, body = None, []
    return loops


def vectors_in(loop):
    """Vectors of pairs that one iteration computes: each needs one root."""
    operations = [line.split()[0] for line in loop]
    return operations.count("frsqrte") or operations.count("fsqrt")


def cycles_of(loop):
    report = output_of(["llvm-mca-19", "-mtriple=aarch64-linux-gnu", f"-mcpu={PROCESSOR}", f"-iterations={ITERATIONS}"],
                       "\n".join(loop) + "\n")
    return int(re.search(r"Total Cycles: +(\d+)", report)[1]) / ITERATIONS


def best_of(assembly, lanes):
    """Cycles and instructions per pair, and vectors per iteration, of the loop with the least cycles per pair."""
    found = []
    for loop in inner_loops(assembly):
        vectors = vectors_in(loop)
        if vectors:
            pairs = vectors * lanes
            found.append((cycles_of(loop) / pairs, len(loop) / pairs, vectors))
    if not found:
        sys.exit("neon_loops.py: expected a loop with a root in the assembly, found none")
    return min(found)


def main():
    words = sys.argv[1:]
    clang_options = words[words.index("--") + 1:] if "--" in words else []
    if not words or words[0] == "--":
        sys.exit(__doc__)
    print("| kernel, precision | generated: instructions, cycles per pair (vectors) | by hand | generated / by hand |")
    print("|---|---|---|---|")
    for pipeline, precision, by_hand, lanes in KERNELS:
        generated = best_of(output_of([words[0], "emit", SOURCE / f"pipelines/{pipeline}.pipe", "--isa", "neon",
                                       "--stage", "asm", "--precision", precision]), lanes)
        hand = best_of(output_of(["clang++-19", "--target=aarch64-linux-gnu", *clang_options, "-std=c++20", "-O3",
                                  f"-I{SOURCE}", "-S", SOURCE / f"bench/hand_written/{by_hand}.cpp", "-o", "-"]), lanes)
        row = [f"{instructions:.2f}, {cycles:.2f} ({vectors})" for cycles, instructions, vectors in (generated, hand)]
        print(f"| {pipeline}, {precision} | {row[0]} | {row[1]} | {hand[0] / generated[0]:.2f} |")


if __name__ == "__main__":
    main()
