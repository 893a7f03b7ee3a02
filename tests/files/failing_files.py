#!/usr/bin/env python3
"""Every call of the command for a file fails once: it says so and ends with 2 or 3, or it does without; a file that was
to be written is as it was or complete, nothing else is left, and the next run gives the right files.

usage: failing_files.py NBCC LIBRARY SOURCE [NAME ...]     LIBRARY: failing_files.cpp's; NAME: of cases, all if none
"""
import errno
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import sampling  # noqa: E402

NBCC, LIBRARY, SOURCE = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:4])
GRAVITY = SOURCE + "/pipelines/gravity.pipe"
RUN = f"run {GRAVITY} --param eps2=0.01"

# A case: the arguments, and the files that it makes or changes. {0} is a folder with the inputs.
CASES = {
    "make_ic": ("make-ic plummer --n 40 --seed 3 -o new.npz", ["new.npz"]),
    "npz_to_npz": (RUN + " --i in.npz -o new.npz", ["new.npz"]),
    "npz_over_npz": (RUN + " --i in.npz -o old.npz --force", ["old.npz"]),
    "npy_to_npy": (RUN + " --i in.npy --columns m,x[3] -o new.npy", ["new.npy"]),
    "text_to_text": (RUN + " --i in.txt -o new.txt", ["new.txt"]),
    "text_to_csv": (RUN + " --i in.txt -o new.csv", ["new.csv"]),
    "hdf5_to_hdf5": (RUN + " --i in.h5 -o new.h5", ["new.h5"]),
    "xyz_to_stdout": (RUN + " --i in.xyz --bind mj=mass -o -", []),
    "update_npz": (RUN + " --i in.npz --update", ["in.npz"]),
    "update_text": (RUN + " --i in.txt --update", ["in.txt"]),
    "update_hdf5": (RUN + " --i in.h5 --update", ["in.h5"]),
    "update_hdf5_to_new": (RUN + " --i in.h5 --update -o new.h5", ["new.h5"]),
    "total": (RUN + " --i in.npz --total", []),
    "emit": (f"emit {GRAVITY} -o new.ir --stage ir", ["new.ir"]),
    "fmt": ("fmt ugly.pipe", ["ugly.pipe"]),
    "compile": (f"compile {GRAVITY} --isa sse2 -o libnew.so", ["libnew.so", "new.h", "new.hpp"]),
    "compile_over": (f"compile {GRAVITY} --isa sse2 -o libold.so --force", ["libold.so", "old.h", "old.hpp"]),
    "verify": (f"verify {GRAVITY} --random 50", []),
    "bench": (f"bench {GRAVITY} --n 64 --repeat 5", []),
    "cache": ("cache list", []),
}
# What they print differs from run to run.
TIMED = {"bench", "verify"}
# Beyond so many calls a stride is taken, beside the first and the last calls of a command.
MOST, ENDS = (24, 8) if sampling.ALL else (8, 4)


class Folder:
    """The inputs, made once, and copies of them with a cache of their own."""

    def __init__(self, root):
        self.root = root
        self.model = root / "model"
        self.model.mkdir()
        self.cache = root / "warm"
        for command in (
            "make-ic plummer --n 40 -o in.npz",
            "make-ic plummer --n 40 -o in.txt",
            "make-ic plummer --n 40 -o in.h5",
            "make-ic plummer --n 7 -o old.npz",
            f"compile {SOURCE}/pipelines/lennard_jones.pipe --isa sse2 -o libold.so",
            RUN + " --i in.npz -o /dev/null --format text --force",
        ):
            done = self.call(self.model, command, self.cache)
            assert done.returncode == 0, (command, done.stderr)
        (self.model / "ugly.pipe").write_text("input_i   real x;\nreal a=1;\n")
        rows = [line for line in (self.model / "in.txt").read_text().splitlines() if not line.startswith("#")]
        numbers = [row.split() for row in rows]
        names = (self.model / "in.txt").read_text().splitlines()
        xyz = [f"{len(rows)}", 'Properties=species:S:1:pos:R:3:mass:R:1']
        xyz += [" ".join(["A"] + row[1:4] + ["0.025"]) for row in numbers]
        (self.model / "in.xyz").write_text("\n".join(xyz) + "\n")
        assert names
        write_npy(self.model / "in.npy", [[0.025] + [float(x) for x in row[1:4]] for row in numbers])

    def call(self, folder, command, cache, fail=0, error=0, log=None):
        # TMPDIR is not below the folder that is watched, but for compile, whose objects are there.
        temporary = folder.parent / (folder.name + ".tmp")
        temporary.mkdir(exist_ok=True)
        environment = dict(os.environ, XDG_CACHE_HOME=str(cache), TMPDIR=str(temporary), HOME=str(folder))
        environment.pop("NBCC_DUMP", None)
        passed = ()
        if log is not None or fail:
            environment.update(LD_PRELOAD=LIBRARY, NBCC_FILES_BELOW=str(folder), NBCC_FILES_FAIL=str(fail),
                               NBCC_FILES_ERROR=str(error))
            if log is not None:
                environment["NBCC_FILES_LOG"] = str(log)
                passed = (log,)
        done = subprocess.run([NBCC] + command.split(), cwd=folder, env=environment, capture_output=True,
                              pass_fds=passed, timeout=120)
        left = list(temporary.iterdir())
        for one in left:
            subprocess.run(["rm", "-rf", str(one)], check=True)
        return done

    def fresh(self, warm):
        folder = self.root / "work"
        subprocess.run(["rm", "-rf", str(folder)], check=True)
        subprocess.run(["cp", "-a", str(self.model), str(folder)], check=True)
        if warm:
            subprocess.run(["cp", "-a", str(self.cache), str(folder / "cache")], check=True)
        return folder


def write_npy(path, rows):
    import struct

    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    body = b"".join(struct.pack("<d", x) for row in rows for x in row)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body)


def files_in(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "cache" not in path.relative_to(folder).parts
    }


def calls_of(folder, command, home):
    """What a good run does: what it says, and its calls, "open PATH", ..."""
    log = pathlib.Path(str(folder) + ".log")
    with open(log, "wb") as file:
        done = home.call(folder, command, folder / "cache", log=file.fileno())
    return done, log.read_text().splitlines()


def check_case(name, home):
    command, targets = CASES[name]
    problems, tried = [], 0
    warm = name not in ("make_ic", "compile", "compile_over", "cache")
    folder = home.fresh(warm)
    before = files_in(folder)
    good, calls = calls_of(folder, command, home)
    if good.returncode != 0:
        return [f"{name}: {good.stderr.decode()}"], 0
    expected = files_in(folder)
    stride = max(1, len(calls) // MOST)
    is_taken = lambda k: k <= ENDS or k > len(calls) - ENDS or (k + sampling.NUMBER) % stride == 0
    numbers = [k for k in range(1, len(calls) + 1) if is_taken(k)]
    for k in numbers:
        what = calls[k - 1]
        call, path = what.split(" ", 1)
        number = errno.EMFILE if call in ("open", "openat", "fopen") else errno.ENOSPC if "write" in call else errno.EIO
        folder = home.fresh(warm)
        done = home.call(folder, command, folder / "cache", fail=k, error=number)
        tried += 1
        after = files_in(folder)
        if call == "unlink":  # which leaves what it was to remove
            after.pop(path.removeprefix("./"), None)
            after = {file: data for file, data in after.items() if not file.endswith(".tmp")}
        where = f"{name}, call {k}, {what}: "
        error = done.stderr.decode(errors="replace")

        def problem(text):
            problems.append(where + text + (f"\n    {error.strip()[:300]}" if error else ""))

        # LLVM itself ends the program when a file of the linker's cannot be closed.
        if done.returncode not in (0, 2, 3) and "LLVM ERROR" not in error:
            problem(f"exit code {done.returncode}")
        if done.returncode in (2, 3) and "nbcc: " not in error:
            problem("no message")
        if "/cache" in path and done.returncode != 0:
            problem(f"exit code {done.returncode}, but only the cache fails")
        if done.returncode == 0 and (after != expected or (name not in TIMED and done.stdout != good.stdout)):
            problem("exit code 0, but not the files or the output that were to be")
        for file in sorted(set(after) | set(before)):
            if after.get(file) in (before.get(file), expected.get(file)):
                continue
            if file not in after or file in before or file in expected:
                problem(f"{file} is neither as it was nor as it was to be")
            elif "unlink" not in call:
                problem(f"{file} is left")
        if done.returncode != 0 and len(targets) > 1 and "unlink" not in call:
            states = {after.get(file) == before.get(file) for file in targets}
            if len(states) > 1:
                problem("of files that belong together some are new")
        # As a user would, once more.
        again = home.call(folder, command, folder / "cache")
        if again.returncode == 2 and done.returncode == 0 and b"exists already" in again.stderr:
            continue
        if again.returncode == 2 and b"exists already" in again.stderr and all(
            after.get(file) == expected.get(file) for file in targets
        ):
            continue
        if again.returncode != 0:
            problem(f"the next run ends with {again.returncode}: {again.stderr.decode()[:200]}")
        elif name.startswith("update") and done.returncode == 0:
            continue
        elif {f: b for f, b in files_in(folder).items() if f in targets} != {
            f: b for f, b in expected.items() if f in targets
        }:
            problem("the next run gives other files")
    return problems, tried


def check_standard_output(home):
    """Full, or closed: 2."""
    problems = []
    folder = home.fresh(True)
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"))
    for command in ("--help", "--version", "--version --json", "info", "info --json", RUN + " --i in.npz -o -",
                    RUN + " --i in.npz --total", RUN + " --i in.npz --total --json", f"emit --stage ir {GRAVITY}",
                    f"check --json {GRAVITY}", f"check {GRAVITY}", f"verify {GRAVITY} --random 50",
                    f"bench {GRAVITY} --n 64 --repeat 5", "cache list", "completion bash", "completion --fields gravity", "list gravity",
                    "inspect libold.so", "make-ic plummer --n 4 -o -", "make-ic plummer --n 4 -o - --format npz"):
        for closed in (False, True):
            line = f"{NBCC} {command} {'>&-' if closed else '>/dev/full'}"
            done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, timeout=60)
            if done.returncode != 2 or b"standard output" not in done.stderr:
                problems.append(f"{command} {'>&-' if closed else '>/dev/full'}: exit code {done.returncode}, "
                                f"{done.stderr.decode()[:200]}")
    return problems


def main():
    names = sys.argv[4:] or [*CASES, "standard_output"]
    failed = False
    with tempfile.TemporaryDirectory(prefix="nbcc-files-") as root:
        home = Folder(pathlib.Path(root))
        for name in names:
            problems, tried = (check_standard_output(home), 36) if name == "standard_output" else check_case(name, home)
            print(f"{name}: {tried} calls, {len(problems)} problems")
            for problem in problems:
                print("  " + problem)
            failed = failed or bool(problems) or tried == 0
    return 1 if failed else 0


sys.exit(main())
