"""A Spack package of nbcc, for Spack 1.0 or later. In a clone:

    spack repo add packaging/spack/spack_repo/nbcc
    spack install nbcc+python

Untried by Spack itself. `packaging.recipes` (tests/packaging/recipes.py) executes this file with replacements of Spack's
functions: it compares versions, options and dependencies with CMakeLists.txt, and configures nbcc with these options. Names
and variants of the packages below were looked up in Spack's package repository.
"""

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Nbcc(CMakePackage):
    """Sums of pairwise interactions from a text of ten lines, on CPUs and CUDA GPUs."""

    # The clone that contains this file.
    git = pathlib.Path(__file__).resolve().parents[6].as_uri()

    license("MIT")

    version("0.1.0", branch="main")

    variant("mpi", default=False, description="Sums over the ranks of MPI (libnbcc_mpi)")
    variant("cuda", default=False, description="NVRTC for GPUs, from Spack's cuda; without it any other NVRTC is used")
    variant("python", default=False, description="The Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    # One libLLVM for Clang, LLD and nbcc: with static archives LLVM's options would be registered twice.
    depends_on("llvm@19:22 +clang+lld+llvm_dylib+link_llvm_dylib")
    depends_on("fmt@9:10 +pic")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("hdf5@1.10:")
    depends_on("hdf5~mpi", when="~mpi")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@11.2:", type="run", when="+cuda")

    extends("python", when="+python")
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-numpy", type="run", when="+python")

    conflicts("%gcc@:10", msg="nbcc is C++20 and needs GCC 11 or later")
    conflicts("%clang@:15", msg="nbcc is C++20 and needs Clang 16 or later")
    conflicts("platform=darwin", msg="nbcc runs on Linux")
    conflicts("platform=windows", msg="nbcc runs on Linux")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("NBCC_BUILD_TESTS", False),
            self.define("NBCC_WITH_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
            self.define("LLVM_DIR", self.spec["llvm"].prefix.lib.cmake.llvm),
        ]

    @run_after("install")
    def install_python(self):
        if self.spec.satisfies("+python"):
            install_tree("bindings/python/nbcc", join_path(python_platlib, "nbcc"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def sum_once(self):
        nbcc = Executable(self.prefix.bin.nbcc)
        nbcc("verify", join_path(self.prefix.share.nbcc.pipelines, "gravity.pipe"), "--random", "256,7")

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.set("NBCC_LIBRARY", join_path(self.prefix.lib, "libnbcc_jit.so.0"))
        if self.spec.satisfies("+cuda"):
            env.set("CUDA_HOME", self.spec["cuda"].prefix)
