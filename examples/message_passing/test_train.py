"""train.py: energies, forces and derivatives of the loss beside plain PyTorch, and what it learns."""
import numpy as np
import pytest
import torch

import train


@pytest.fixture(scope="module")
def data():
    return train.Data(2, 3, torch.float64, "cpu")


def test_derivatives_of_the_loss(data):
    found = []
    for kind in (train.NbccEdges, train.TorchEdges):
        torch.manual_seed(4)
        model = train.Model().to(torch.float64)
        energies, forces = train.energies_and_forces(model, data, kind(data, "double"), create_graph=True)
        ((forces - data.forces) ** 2).mean().backward()
        found.append([energies, forces, *(parameter.grad for parameter in model.parameters() if parameter.grad is not None)])
    assert len(found[0]) == len(found[1]) > 10
    for one, other in zip(*found):
        assert (one - other).abs().max() <= 1e-11 * other.abs().max()


def test_forces_of_the_data_are_derivatives(data):
    assert data.forces.reshape(2, -1, 3).sum(1).abs().max() < 1e-11
    assert -4.4 < data.energies.min() / data.atoms < data.energies.max() / data.atoms < -2.5


def test_edges_are_those_of_each_configuration_alone(data):
    x, box = data.x.numpy().reshape(2, data.atoms, 3), data.box.numpy()
    first, j = data.first.numpy(), data.j.numpy()
    for k, one in enumerate(x):
        d = one[None] - one[:, None]
        d -= box * np.round(d / box)
        near = ((d * d).sum(2) < train.CUTOFF**2) & ~np.eye(len(one), dtype=bool)
        for i in range(data.atoms):
            row = k * data.atoms + i
            assert np.array_equal(j[first[row] : first[row + 1]], k * data.atoms + np.nonzero(near[i])[0])


def test_it_learns_and_equals_plain_pytorch(capsys):
    assert train.main(["--steps", "40", "--configurations", "2"]) == 0
    report = capsys.readouterr().out
    losses = [float(line.split()[3].rstrip(",")) for line in report.splitlines() if line.startswith("step")]
    assert len(losses) == 3 and losses[2] < 0.5 * losses[0]


def test_different_losses_are_an_error(monkeypatch, capsys):
    sums = train.TorchEdges.sums
    monkeypatch.setattr(train.TorchEdges, "sums", lambda *given: 1.001 * sums(*given))
    assert train.main(["--steps", "2", "--configurations", "1"]) == 1
    assert "expected equal losses" in capsys.readouterr().err


def test_wrong_options(capsys):
    with pytest.raises(SystemExit) as ended:
        train.main(["--steps", "0"])
    assert ended.value.code == 2 and "--steps: expected at least 1, got 0" in capsys.readouterr().err
