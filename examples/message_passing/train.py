#!/usr/bin/env python3
"""A small message-passing potential in PyTorch, whose edges and sums over neighbours are nbcc's.

    train.py --steps 100 --configurations 8 --device cpu --precision double

Makes configurations of silicon with energies and forces by Stillinger-Weber, then trains one model twice, from the same
weights: by pipelines (`NbccEdges`) and by indexing in PyTorch alone (`TorchEdges`), and compares losses and times. Input:
options. Output: a report. `main` is the entry point; `Model` with `NbccEdges` is the part to use elsewhere. The lists of
neighbours are made once, because the data do not move. Exit codes: 0; 1: the losses differ; 2: wrong options.
"""
import argparse
import pathlib
import sys
import time

import numpy as np
import torch

import nbcc

HERE = pathlib.Path(__file__).resolve().parent
CUTOFF, FUNCTIONS, FEATURES, LAYERS = 5.0, 12, 16, 2  # Angstrom; as the texts have them
SPACING = 5.431  # Angstrom, of the crystal
DTYPES = {"single": torch.float32, "double": torch.float64}


# ---- data ---------------------------------------------------------------------------------------------------


class Data:
    """configurations * 64 atoms. x, forces: (atoms, 3). energies: (configurations,). box: lengths, (3,). first, j: the
    neighbours of all atoms."""

    def __init__(self, configurations, seed, dtype, device):
        random = np.random.default_rng(seed)
        cells, corners = 2, [[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
        corner = np.stack(np.meshgrid(*[np.arange(cells)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
        crystal = (corner + np.concatenate([corners, np.add(corners, 0.25)])).reshape(-1, 3) * SPACING
        self.configurations, self.atoms = configurations, len(crystal)
        box = np.full(3, cells * SPACING)
        x = [crystal + random.normal(size=crystal.shape) * random.uniform(0.05, 0.2) for _ in range(configurations)]

        near = nbcc.compile(HERE / "near.pipe", precision="double")
        particles = range(self.atoms + 1), range(self.atoms)
        lists = [near.find_neighbours(one, one, box=box, rc=CUTOFF, exclusions=particles) for one in x]
        pairs = np.cumsum([0] + [len(one.j) for one in lists])
        self.first = np.concatenate([[0]] + [one.first[1:] + start for one, start in zip(lists, pairs)])
        self.j = np.concatenate([one.j + k * self.atoms for k, one in enumerate(lists)])

        silicon = nbcc.compile(HERE / "stillinger_weber.pipe", precision="double")
        places = torch.tensor(np.concatenate(x), requires_grad=True)
        energies = silicon(places, places, box=box, listed_pairs=(self.first, self.j), outputs="energy")
        energies = energies.reshape(configurations, -1).sum(1)
        (gradient,) = torch.autograd.grad(energies.sum(), places)
        self.x, self.energies, self.forces, self.box = (
            array.detach().to(device, dtype) for array in (places, energies, -gradient, torch.tensor(box))
        )
        self.first, self.j = (torch.tensor(array, device=device) for array in (self.first, self.j))


# ---- edges --------------------------------------------------------------------------------------------------


class NbccEdges:
    """The functions of distance of all edges, and sums over neighbours, by pipelines."""

    def __init__(self, data, precision):
        self.box, self.rows = data.box, nbcc.Rows(data.first, data.j)
        self.basis_of = nbcc.compile(HERE / "basis.pipe", precision=precision)
        self.sum_of = nbcc.compile(HERE / "messages.pipe", precision=precision)

    def basis(self, x):
        """(edges, FUNCTIONS)"""
        return self.basis_of(x, x, box=self.box, listed_pairs=self.rows)

    def sums(self, features, weights):
        """For each i the sum over j of weights of the edge times features of j: (atoms, FEATURES)."""
        return self.sum_of(features, weights, listed_pairs=self.rows, ni=len(features))


class TorchEdges:
    """The same by indexing."""

    def __init__(self, data, precision):
        self.box, self.j = data.box, data.j
        self.i = torch.repeat_interleave(torch.arange(len(data.x), device=data.x.device), data.first.diff())
        self.centres = 1.5 + 0.3 * torch.arange(FUNCTIONS, dtype=data.x.dtype, device=data.x.device)

    def basis(self, x):
        d = x[self.j] - x[self.i]
        d = d - self.box * torch.round(d / self.box)
        r = d.square().sum(1, keepdim=True).sqrt()
        return torch.exp(-0.5 * ((r - self.centres) / 0.3).square()) * (0.5 + 0.5 * torch.cos(torch.pi / CUTOFF * r))

    def sums(self, features, weights):
        return torch.zeros_like(features).index_add(0, self.i, weights * features[self.j])


# ---- the model ----------------------------------------------------------------------------------------------


def network(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, FEATURES), torch.nn.SiLU(), torch.nn.Linear(FEATURES, outputs))


class Model(torch.nn.Module):
    """Energies of configurations of equal numbers of atoms of one element."""

    def __init__(self):
        super().__init__()
        self.start = torch.nn.Parameter(torch.randn(FEATURES))
        self.filters = torch.nn.ModuleList(network(FUNCTIONS, FEATURES) for _ in range(LAYERS))
        self.updates = torch.nn.ModuleList(network(FEATURES, FEATURES) for _ in range(LAYERS))
        self.energy = network(FEATURES, 1)

    def forward(self, x, edges, configurations):
        basis = edges.basis(x)
        features = self.start.expand(len(x), FEATURES)
        for weights, update in zip(self.filters, self.updates):
            features = features + update(0.1 * edges.sums(features, weights(basis)))
        return self.energy(features).reshape(configurations, -1).sum(1)


def energies_and_forces(model, data, edges, create_graph=False):
    x = data.x.clone().requires_grad_()
    energies = model(x, edges, data.configurations)
    (gradient,) = torch.autograd.grad(energies.sum(), x, create_graph=create_graph)
    return energies, -gradient


def train(kind, data, options):
    """Losses of all steps, seconds of a step, and the model. Seconds are without those of the first steps, which
    compile."""
    torch.manual_seed(options.seed)
    model = Model().to(data.x.device, data.x.dtype)
    edges = kind(data, options.precision)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    mean, losses, times = data.energies.mean(), [], []
    for _ in range(options.steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        energies, forces = energies_and_forces(model, data, edges, create_graph=True)
        of_energies = ((energies - (data.energies - mean)) / data.atoms).square().mean()
        loss = of_energies + (forces - data.forces).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append(time.perf_counter() - start)
    return losses, float(np.median(times[2:] or times)), model


def rms_error_of_forces(model, data, options):
    _, forces = energies_and_forces(model, data, NbccEdges(data, options.precision))
    return (forces - data.forces).square().mean().sqrt().item()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--configurations", type=int, default=8, help="of 64 atoms each")
    parser.add_argument("--rate", type=float, default=0.005, help="of Adam")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", choices=DTYPES, default="double")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    for name in ("steps", "configurations"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: expected at least 1, got {getattr(options, name)}")

    made = (DTYPES[options.precision], options.device)
    data, others = Data(options.configurations, options.seed, *made), Data(2, options.seed + 1, *made)
    print(f"{options.configurations} configurations, {len(data.x)} atoms, {len(data.j)} edges, {options.device}, {options.precision}")
    losses, seconds, model = train(NbccEdges, data, options)
    plain_losses, plain_seconds, _ = train(TorchEdges, data, options)
    for step in sorted({0, options.steps // 2, options.steps - 1}):
        print(f"step {step:3}: loss {losses[step]:.6f}, in plain PyTorch {plain_losses[step]:.6f}")
    differ = max(abs(one - other) / other for one, other in zip(losses, plain_losses))
    print(f"losses differ by at most {differ:.1e} of their values")
    deviation = others.forces.square().mean().sqrt().item()
    print(f"RMS error of forces, other configurations: {rms_error_of_forces(model, others, options):.2f} of {deviation:.2f} eV / Angstrom")
    print(f"seconds of a step: {seconds:.4f}, in plain PyTorch {plain_seconds:.4f}")
    # Rounding errors grow from step to step, as the weights change by them.
    if differ > {"double": 1e-8, "single": 1e-2}[options.precision]:
        print("train.py: error: expected equal losses up to rounding", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
