"""The package of a wheel: alone, beside another LLVM that shows all its names, and its command.

    python3 wheel_use.py SCRATCH

with nbcc where Python finds it. Needs nothing but Python; another LLVM is Debian's libLLVM-19.so.1, and llvmlite and
PyTorch where they are installed.
"""

import ctypes
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

SUM = """
import nbcc, pathlib
pipelines = pathlib.Path(nbcc.__file__).parent / "pipelines"
assert nbcc.info()["library"] == str(pipelines.parent / "libnbcc_jit.so"), nbcc.info()
acc, pot = nbcc.compile(str(pipelines / "gravity.pipe"))([[0, 0, 0]], xj=[[2, 0, 0]], mj=[8], eps2=0)
acc = acc.tolist() if hasattr(acc, "tolist") else acc
assert abs(acc[0][0] - 2) < 1e-6 and abs(pot[0] + 4) < 1e-6, (acc, pot)
"""
FUNCTIONS = """
import math, nbcc
names = ["exp", "log", "sin", "cos", "tan", "erf", "erfc", "atan", "tanh", "sinh", "cbrt", "log1p", "expm1"]
outputs = "".join(f"output(sum) real y_{name}; y_{name} += {name}(xj - xi);" for name in names)
sums = nbcc.compile(source="input_i real xi; input_j real xj;" + outputs, precision="%s")([0.0], xj=[0.5, 0.75])
for name, found in zip(names, sums):
    function = getattr(math, name, lambda x: x ** (1 / 3))
    assert abs(found[0] / (function(0.5) + function(0.75)) - 1) < %r, (name, found[0])
"""
LIBLLVM = """
import ctypes
other = ctypes.CDLL("{}", ctypes.RTLD_GLOBAL)
other.LLVMContextCreate.restype = ctypes.c_void_p
assert other.LLVMContextCreate()
"""
LLVMLITE = """
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
module = llvm.parse_assembly('define i32 @seven() {\\n ret i32 7\\n}')
engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())
import ctypes
assert ctypes.CFUNCTYPE(ctypes.c_int)(engine.get_function_address('seven'))() == 7
"""
TORCH = """
import torch
assert torch.ones(3).sum() == 3
"""
USER = """
#include "gravity.h"
int main(void) {
  double xi[1][3] = {{0, 0, 0}}, xj[1][3] = {{2, 0, 0}}, mj[1] = {8}, acc[1][3], pot[1];
  if (gravity(1, xi, 1, xj, mj, 0, acc, pot) != NBCC_OK) return 1;
  return acc[0][0] > 1.999 && acc[0][0] < 2.001 && pot[0] > -4.001 && pot[0] < -3.999 ? 0 : 2;
}
"""


def run(what, text, **environment):
    # A cache of its own each time, so that kernels are compiled.
    environment = {**os.environ, "NBCC_CACHE_DIR": str(SCRATCH / what.replace(" ", "_")), **environment}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{what}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
    print(what + ": right")


def command(*words, **environment):
    environment = {**os.environ, **environment}
    done = subprocess.run([str(NBCC), *map(str, words)], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"nbcc {words}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


SCRATCH = pathlib.Path(sys.argv[1]).resolve()
PACKAGE = pathlib.Path(importlib.util.find_spec("nbcc").submodule_search_locations[0])
NBCC = PACKAGE / "bin" / "nbcc"
GRAVITY = PACKAGE / "pipelines" / "gravity.pipe"

run("alone", SUM)
# By docs/reference/built_ins.md at most 4.2 ulp, with SSE2 0.9 more; and half an ulp, the rounding of the sum.
for precision, ulp in (("single", 2**-23), ("double", 2**-52)):
    run(f"functions in {precision} precision", FUNCTIONS % (precision, 6 * ulp))
others = {}
for place in ("libLLVM-19.so.1", "/usr/lib/llvm-19/lib/libLLVM.so.1"):
    try:
        ctypes.CDLL(place)
    except OSError:
        continue
    others["libLLVM"] = LIBLLVM.format(place)
    break
for module, text in (("llvmlite", LLVMLITE), ("torch", TORCH)):
    if importlib.util.find_spec(module):
        others[module] = text
for name, text in others.items():
    run(f"{name} before", text + SUM)
    run(f"{name} after", SUM + text + SUM.replace("eps2=0", "eps2=0, precision='double'"))
print("other LLVMs in the process:", ", ".join(others) or "none is here")

NBCC.chmod(0o755)
assert re.fullmatch(r"nbcc [0-9.]+\n", command("--version"))
inside = json.loads(command("--version", "--json"))
assert inside["glibc"]["linked"] == "2.28" and inside["llvm"].startswith("19."), inside
assert all(inside["libraries"].values()), inside
found = {one["subject"]: one["finding"] for one in json.loads(command("doctor", "--json"))["findings"]}
for subject, file in (
    ("C and C++ headers", "include/nbcc/nbcc.h"),
    ("library for programs (libnbcc_jit)", "libnbcc_jit.so"),
    ("Fortran module", "fortran/nbcc.f90"),
):
    assert found[subject] == str(PACKAGE.resolve() / file), (subject, found[subject])
seconds = []
for _ in range(10):
    start = time.perf_counter()
    command("--version")
    seconds.append(time.perf_counter() - start)
assert min(seconds) < 0.05, f"nbcc --version takes {min(seconds):.3f} s"
# Another file of the library's name does not come between the command and its library.
(SCRATCH / "other").mkdir()
(SCRATCH / "other" / "libnbcc_jit.so").write_text("no library")
assert command("--version", LD_LIBRARY_PATH=str(SCRATCH / "other")).startswith("nbcc ")
assert "ok" in command("verify", GRAVITY, "--random", "64,1")
for form in ("npz", "h5"):
    (SCRATCH / "bodies.txt").write_text("# x y z m\n0 0 0 1\n2 0 0 8\n")
    out = SCRATCH / f"forces.{form}"
    command("run", GRAVITY, "--i", SCRATCH / "bodies.txt", "--columns", "x[3],m", "--param", "eps2=0", "-o", out)
    assert out.stat().st_size > 100

# A compiled library asks for the runtime in the package.
command("compile", GRAVITY, "-o", SCRATCH / "libgravity.so", "--isa", "sse2", "--rpath", PACKAGE / "lib")
assert "gravity" in command("inspect", SCRATCH / "libgravity.so")
assert ctypes.CDLL(str(SCRATCH / "libgravity.so")).gravity
if shutil.which("cc"):
    (SCRATCH / "user.c").write_text(USER)
    words = ["cc", "user.c", "-o", "user", "-I.", f"-I{PACKAGE}/include", "-L.", "-lgravity", f"-L{PACKAGE}/lib"]
    words += ["-lnbcc_runtime", f"-Wl,-rpath,{SCRATCH}", f"-Wl,-rpath,{PACKAGE}/lib"]
    subprocess.run(words, cwd=SCRATCH, check=True)
    subprocess.run([str(SCRATCH / "user")], check=True)
print("the command: right")
