"""Builds the wheel: this package's Python files and the libnbcc_jit.so that CMake makes. PEP 517 and 660.

It needs nothing but Python, so that `pip install` works without a network. Environment:

    NBCC_LIBRARY    a libnbcc_jit.so to put into the wheel; nothing is built
    NBCC_BUILD_DIR  the build folder, `build` in the clone by default; made if it is not there
"""

import base64
import hashlib
import os
import pathlib
import subprocess
import sysconfig
import zipfile

try:
    import tomllib
except ImportError:
    tomllib = None

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def _project():
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    if tomllib:
        return tomllib.loads(text)["project"]
    # Python before 3.11 cannot read TOML; these lines of the file are plain strings.
    lines = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    return {key: lines[key].strip('"') for key in ("name", "version", "description", "requires-python")}


def _library():
    """A libnbcc_jit.so: the one that is named, or a new one."""
    named = os.environ.get("NBCC_LIBRARY")
    if named:
        return pathlib.Path(named).resolve(strict=True)
    build = ROOT / os.environ.get("NBCC_BUILD_DIR", "build")
    if not (build / "CMakeCache.txt").exists():
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja"], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "nbcc_jit_shared", "--parallel"], check=True)
    return build / "lib" / "libnbcc_jit.so"


def _tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _metadata(project):
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {project['name']}\n"
        f"Version: {project['version']}\n"
        f"Summary: {project['description']}\n"
        "License: MIT\n"
        f"Requires-Python: {project['requires-python']}\n"
        "Description-Content-Type: text/markdown\n"
        "\n" + (HERE / "README.md").read_text(encoding="utf-8")
    )


def _write_wheel(folder, contents):
    """contents: name in the wheel -> bytes. Gives the wheel's file name."""
    project = _project()
    info = f"{project['name']}-{project['version']}.dist-info"
    contents = dict(contents)
    contents[f"{info}/METADATA"] = _metadata(project).encode()
    contents[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: nbcc\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()
    contents[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = ""
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    contents[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    file = f"{project['name']}-{project['version']}-{_tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / file, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in contents.items():
            # A fixed date, so that the same files make the same wheel.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, data)
    return file


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = sorted((HERE / "nbcc").glob("*.py")) + [HERE / "nbcc" / "py.typed"]
    contents = {f"nbcc/{file.name}": file.read_bytes() for file in package}
    contents["nbcc/libnbcc_jit.so"] = _library().read_bytes()
    return _write_wheel(wheel_directory, contents)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The files stay here; the library that belongs to them is linked beside them."""
    link = HERE / "nbcc" / "libnbcc_jit.so"
    link.unlink(missing_ok=True)
    link.symlink_to(_library())
    return _write_wheel(wheel_directory, {"nbcc.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("nbcc's Python package is built from a clone of nbcc: the C++ sources lie outside of it")
