"""The input files of the page about LAMMPS, as they stand there."""

import pathlib
import re

import numpy as np
import pytest

from engine import PLUGIN, melt, state_of

PAGE = pathlib.Path(__file__).parents[2] / "docs/how_to/any_pair_formula_in_lammps.md"
BLOCKS = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```", PAGE.read_text(), re.M | re.S)


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The page's formulas are in the working folder."""
    monkeypatch.chdir(tmp_path)
    for kind, name, text in BLOCKS:
        if kind == "pipe":
            (tmp_path / name).write_text(text)


def text_with(word):
    text = next(text for kind, _, text in BLOCKS if kind == "text" and word in text)
    return re.sub(r"plugin load +nbccplugin.so", f"plugin load {PLUGIN}", text)


def test_the_first_run(page):
    commands, run = text_with("plugin load").split("run ")
    ours = state_of(commands, run=f"run {run}")
    theirs = state_of(
        commands.split("plugin load")[0] + "pair_style morse 2.5\npair_coeff * * 1 5 1.12\nfix 1 all nve",
        run=f"run {run}",
    )
    np.testing.assert_allclose(ours.forces, theirs.forces, rtol=0, atol=1e-9 * np.abs(theirs.forces).max())


def test_a_mixture_by_a_rule(page):
    commands = f"plugin load {PLUGIN}\npair_style nbcc 2.5\n" + text_with("pair_modify mix arithmetic")
    ours = state_of(melt(types=2), commands)
    theirs = state_of(
        melt(types=2), "pair_style lj/cut 2.5\npair_modify mix arithmetic\npair_coeff 1 1 1 1\npair_coeff 2 2 0.7 1"
    )
    np.testing.assert_allclose(ours.forces, theirs.forces, rtol=0, atol=1e-12 * np.abs(theirs.forces).max())


def test_a_mixture(page):
    commands = f"plugin load {PLUGIN}\npair_style nbcc 2.5\n" + text_with("pair_coeff 1 2 epsilon")
    ours = state_of(melt(types=2), commands)
    theirs = state_of(
        melt(types=2), "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\npair_coeff 1 2 1.3 1\npair_coeff 2 2 0.7 1"
    )
    np.testing.assert_allclose(ours.forces, theirs.forces, rtol=0, atol=1e-12 * np.abs(theirs.forces).max())
