#!/usr/bin/env python3
"""The recipes in packaging/ agree with the tree: recipes.py SOURCE_FOLDER BUILD_FOLDER.

Compared with CMakeLists.txt and cmake/: the version, the names of options, the oldest and newest LLVM, CMake and compilers,
and that each dependency that CMake looks for is in each recipe. The Spack recipe is executed with replacements of Spack's
functions, and nbcc is configured with its options. The conda recipe is rendered if Python has rattler_build. Of the
Apptainer recipe the packages are compared with those that ./dev installs.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import types

# What CMake looks for -> the dependency's name in Spack, conda-forge and Debian; None: of the recipe no concern.
DEPENDENCIES = {
    "LLVM": ("llvm", "llvmdev", "llvm-19-dev"),
    "Clang": ("llvm", "clangdev", "libclang-19-dev"),
    "LLD": ("llvm", "lld", "liblld-19-dev"),
    "fmt": ("fmt", "fmt", "libfmt-dev"),
    "xxhash": ("xxhash", "xxhash", "libxxhash-dev"),
    "ZLIB": ("zlib-api", "zlib", "zlib1g-dev"),
    "zstd": ("zstd", "zstd", "libzstd-dev"),
    "CLI11": ("cli11", "cli11", "libcli11-dev"),
    "nlohmann_json": ("nlohmann-json", "nlohmann_json", "nlohmann-json3-dev"),
    "HDF5": ("hdf5", "hdf5", "libhdf5-dev"),
    "PkgConfig": ("pkgconfig", "pkg-config", "pkg-config"),
    "MPI": ("mpi", None, "libopenmpi-dev"),
    "Threads": (None, None, None),
    "GTest": (None, None, None),  # with NBCC_BUILD_TESTS alone
}
LINKED_BY_NAME = ("xxhash", "zstd")  # target_link_libraries() without a find_package()

problems = []


def expect(what, expected, got):
    if expected != got:
        problems.append(f"{what}: expected {expected}, got {got}")


def only(pattern, text, what):
    found = re.findall(pattern, text, re.MULTILINE)
    if len(found) != 1:
        problems.append(f"{what}: expected one match of {pattern}, got {found}")
        return ""
    return found[0]


class Tree:
    """What CMake says."""

    def __init__(self, source):
        files = [source / "CMakeLists.txt", *sorted((source / "cmake").glob("*.cmake"))]
        files += [source / folder / "CMakeLists.txt" for folder in ("compiler", "runtime", "jit", "mpi", "particles", "cli")]
        text = "\n".join(path.read_text(encoding="utf-8") for path in files)
        self.version = only(r"^project\(nbcc VERSION (\S+)", text, "CMakeLists.txt")
        root = files[0].read_text(encoding="utf-8")
        self.cmake = only(r"^cmake_minimum_required\(VERSION ([\d.]+)\)", root, "CMakeLists.txt")
        self.options = set(re.findall(r"^(?:option|set)\((NBCC_\w+) .*(?:CACHE|ON\)|OFF\))", text, re.MULTILINE))
        self.options |= {"LLVM_DIR", "HDF5_ROOT"}
        self.oldest_llvm = only(r"^set\(llvm_oldest (\d+)\)", text, "find_llvm.cmake")
        self.tested_llvm = only(r"^set\(llvm_tested ([\d ]+)\)", text, "find_llvm.cmake").split()
        self.oldest = {name: int(only(rf"^set\(oldest_{name} (\d+)\)", text, name)) for name in ("GNU", "Clang")}
        self.dependencies = set(re.findall(r"find_package\((\w+)", text)) - {"nbcc"}
        self.dependencies |= {name for name in LINKED_BY_NAME if re.search(rf"\b{name}\b", text)}
        for part in only(r"^foreach\(part ([\w ]+)\)", text, "find_llvm.cmake").split():
            self.dependencies.add(part)


def check_dependencies(recipe, tree, column, names):
    for dependency in sorted(tree.dependencies):
        if dependency not in DEPENDENCIES:
            problems.append(f"CMake looks for {dependency}: name it in tests/packaging/recipes.py and in the recipes")
        elif DEPENDENCIES[dependency][column] not in {None} | names:
            problems.append(f"{recipe}: expected {DEPENDENCIES[dependency][column]}, which CMake looks for, got {sorted(names)}")


def check_options(recipe, text, tree):
    for option in re.findall(r"-D((?:NBCC|LLVM)_\w+)", text):
        if option not in tree.options:
            problems.append(f"{recipe}: there is no CMake option {option}; there are {sorted(tree.options)}")


class Prefix(str):
    """Spack's prefixes: each attribute is a folder below."""

    def __getattr__(self, name):
        return Prefix(f"{self}/{name}")


class Spec:
    def __init__(self, variants, llvm):
        self.variants, self.llvm = variants, llvm

    def satisfies(self, constraint):
        if constraint[1:] not in self.variants:
            problems.append(f"package.py asks for an unknown variant {constraint}")
        return (constraint[0] == "+") == self.variants.get(constraint[1:])

    def __getitem__(self, name):
        return types.SimpleNamespace(prefix=Prefix(self.llvm if name == "llvm" else f"/{name}"))


def load_spack(path):
    """Executes package.py; the class with the calls of its directives in `calls`."""
    calls = []

    def directive(name):
        return lambda *arguments, **options: calls.append((name, arguments, options))

    def decorator(*_, **__):
        return lambda function: function

    package = types.ModuleType("spack.package")
    names = "version variant depends_on conflicts extends license generator".split()
    package.__dict__.update({name: directive(name) for name in names})
    package.__dict__.update(run_after=decorator, on_package_attributes=decorator, install_tree=directive("install_tree"))
    package.__dict__.update(join_path=lambda *parts: "/".join(parts), Executable=directive, python_platlib="/python")
    build_system = types.ModuleType("cmake")

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={ {True: 'ON', False: 'OFF'}.get(value, value)}"

    build_system.CMakePackage = CMakePackage
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["spack.package"] = package
    sys.modules["spack_repo.builtin.build_systems.cmake"] = build_system
    scope = {"__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    return scope["Nbcc"], calls


def check_spack(source, tree, llvm):
    path = source / "packaging/spack/spack_repo/nbcc/packages/nbcc/package.py"
    package, calls = load_spack(path)
    dependencies = [arguments[0] for name, arguments, _ in calls if name == "depends_on"]
    check_dependencies("package.py", tree, 0, {re.split(r"[@~+ ]", text)[0] for text in dependencies})
    expect("package.py: git", source.resolve().as_uri(), package.git)
    expect("package.py: versions", [tree.version], [call[1][0] for call in calls if call[0] == "version"])
    [llvm_range] = [text.split()[0] for text in dependencies if text.startswith("llvm@")]
    expect("package.py: LLVM", f"llvm@{tree.oldest_llvm}:{tree.tested_llvm[-1]}", llvm_range)
    expect("package.py: CMake", [f"cmake@{tree.cmake}:"], [text for text in dependencies if text.startswith("cmake@")])
    refused = {call[1][0] for call in calls if call[0] == "conflicts"}
    for compiler, name in (("gcc", "GNU"), ("clang", "Clang")):
        if f"%{compiler}@:{tree.oldest[name] - 1}" not in refused:
            problems.append(f"package.py: expected conflicts('%{compiler}@:{tree.oldest[name] - 1}'), got {sorted(refused)}")
    variants = {arguments[0] for name, arguments, _ in calls if name == "variant"}
    for _, arguments, options in calls:
        for used in re.findall(r"[+~](\w+)", options.get("when", "")):
            if used not in variants:
                problems.append(f"package.py: {arguments[0]} is for an unknown variant {used}")
    chosen = []
    for value in (False, True):
        one = package()
        one.spec, one.prefix = Spec({name: value for name in variants}, llvm), Prefix("/prefix")
        one.setup_run_environment(types.SimpleNamespace(set=lambda name, value: None))
        one.install_python()
        chosen.append(one.cmake_args())
        check_options("package.py", " ".join(chosen[-1]), tree)
    return chosen[0]


def check_conda(source, tree):
    path = source / "packaging/conda/recipe.yaml"
    text = path.read_text(encoding="utf-8")
    expect("recipe.yaml: version", tree.version, only(r'^  version: "(\S+)"$', text, "recipe.yaml"))
    major = only(r'^  llvm: "(\d+)\.\d+"$', text, "recipe.yaml")
    if major not in tree.tested_llvm:
        problems.append(f"recipe.yaml: expected an LLVM of {tree.tested_llvm}, got {major}")
    expect("recipe.yaml: CMake", tree.cmake, only(r"- cmake >=(\S+)$", text, "recipe.yaml"))
    check_options("recipe.yaml", text, tree)
    check_dependencies("recipe.yaml", tree, 1, set(re.findall(r"^        - ([\w-]+)", text, re.MULTILINE)))
    try:
        from rattler_build import Stage0Recipe, VariantConfig
    except ImportError:
        print("the conda recipe is not rendered: this Python has no rattler_build")
        return
    rendered = Stage0Recipe.from_file(str(path)).render(VariantConfig())
    expect("recipe.yaml: packages", ["libnbcc", "nbcc"], [one.recipe.package.name for one in rendered])
    print("the conda recipe is rendered")


def check_apptainer(source, tree):
    text = (source / "packaging/apptainer/nbcc.def").read_text(encoding="utf-8")
    label = only(r"^    org\.opencontainers\.image\.version (\S+)$", text, "nbcc.def")
    expect("nbcc.def: version", tree.version, label)
    check_options("nbcc.def", text, tree)
    build = re.sub(r"\\\n", " ", text).split("Stage: final")[0]
    installed = set(only(r"^    apt-get install (.*)$", build, "nbcc.def").split())
    check_dependencies("nbcc.def", tree, 2, installed)
    known = set((source / "dev").read_text(encoding="utf-8").replace('"', " ").split()) | {"dpkg-dev", "file"}
    for name in sorted(installed):
        if not name.startswith("-") and name not in known:
            problems.append(f"nbcc.def: {name} is none of the packages that ./dev installs")


def configures(source, options):
    """Looks for no GoogleTest, knows each option, and finds an HDF5 that has no hdf5.pc."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = "/usr/lib/pkgconfig:/usr/share/pkgconfig"  # of programs for every processor: no hdf5.pc
        command = ["cmake", "-S", str(source), "-B", scratch, "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", *options]
        made = subprocess.run(["env", f"PKG_CONFIG_LIBDIR={folders}", *command], capture_output=True, text=True)
        words = made.stdout + made.stderr
        unused = re.findall(r"^    (\w+)$", words.partition("were not used by the project")[2], re.MULTILINE)
        if made.returncode != 0 or unused != ["CMAKE_DISABLE_FIND_PACKAGE_GTest"]:
            problems.append(f"{' '.join(command)}: of no use are {unused}\n{words}")
        elif "Found HDF5" not in words:
            problems.append(f"expected an HDF5 that pkg-config does not find, got\n{words}")


def main(source, build):
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    folder = pathlib.Path(only(r"^LLVM_DIR:\w+=(.*)$", cache, "CMakeCache.txt"))
    llvm = next(prefix for prefix in folder.parents if (prefix / "lib/cmake/llvm/LLVMConfig.cmake").exists())
    tree = Tree(source)
    configures(source, check_spack(source, tree, llvm))
    check_conda(source, tree)
    check_apptainer(source, tree)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
