"""A trainer that uses Opacus with a canary; records outputs for an audit.

    python3 opacus_trainer.py runs.npz
    dpscope audit outputs runs.npz --threat-model partially-informed --claim 2.0

An audit adds the class Canary and three lines of `train`; the rest is an ordinary Opacus loop. Needs
torch and opacus.
"""

import argparse
import warnings

import numpy as np
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

RECORDS = 400
FEATURES = 20
BATCH_SIZE = 40
CLIP_NORM = 0.5
NOISE_MULTIPLIER = 2.0
LEARNING_RATE = 2.0
TARGET = 0  # index of the target record


class Canary:
    """The attacker's canary gradient and observations for a DPOptimizer.

    Gradients are replaced before Opacus clips them, by one of twice the clipping norm, so that
    clipping is audited as well.
    """

    def __init__(self, optimizer, has_target, owns_others):
        self.optimizer = optimizer
        self.has_target = has_target
        self.owns_others = owns_others
        self.records = None  # indices of the batch, set by the loop
        self.outputs = []
        # a unit vector along a weight with gradient zero: only canary and noise are observed
        self.direction = [torch.zeros_like(p) for p in optimizer.params]
        self.direction[0][0, -1] = 1.0
        self._clip = optimizer.clip_and_accumulate
        optimizer.clip_and_accumulate = self._clip_with_canary
        self._hook = optimizer.step_hook  # the accountant's
        optimizer.attach_step_hook(self._observe)

    def _clip_with_canary(self):
        slots = torch.nonzero(self.records == TARGET).flatten()
        multiple = 2.0 if self.has_target else 0.0
        if len(slots) == 0 and self.owns_others:
            slots, multiple = torch.tensor([len(self.records) - 1]), -2.0
        for p, part in zip(self.optimizer.params, self.direction):
            p.grad_sample[slots] = multiple * CLIP_NORM * part
        self._clip()

    def _observe(self, optimizer):
        along = sum((p.grad * part).sum() for p, part in zip(optimizer.params, self.direction))
        self.outputs.append(BATCH_SIZE * float(along))
        if self._hook:
            self._hook(optimizer)


def make_data():
    """Two overlapping classes. The last feature is 0 in every record: its weights have gradient zero."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, RECORDS)
    x = rng.normal(size=(RECORDS, FEATURES)) + 0.5 * (2 * y[:, None] - 1) / np.sqrt(FEATURES)
    x[:, -1] = 0.0
    # the canary needs the indices of the records of a batch
    return TensorDataset(torch.arange(RECORDS), torch.tensor(x).float(), torch.tensor(y))


def train(data, arguments, has_target):
    """One run; returns the outputs of its steps."""
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=LEARNING_RATE),
        data_loader=DataLoader(data, batch_size=BATCH_SIZE, shuffle=arguments.broken != "no-shuffle"),
        noise_multiplier=NOISE_MULTIPLIER,
        max_grad_norm=CLIP_NORM,
        poisson_sampling=arguments.sampler == "poisson",
    )
    canary = Canary(optimizer, has_target, arguments.sampler == "shuffle")
    if arguments.broken == "noise-divided-twice":
        add_noise = optimizer.add_noise

        def add_less_noise():
            add_noise()
            for p in optimizer.params:
                p.grad = p.summed_grad + (p.grad - p.summed_grad) / BATCH_SIZE

        optimizer.add_noise = add_less_noise
    for _ in range(arguments.epochs):
        for records, x, y in loader:
            canary.records = records
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return canary.outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="npz file to write")
    parser.add_argument("--runs", type=int, default=200, help="runs in each world")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sampler", choices=["shuffle", "poisson"], default="shuffle")
    parser.add_argument("--broken", choices=["noise-divided-twice", "no-shuffle"])
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # Opacus and PyTorch warn at each step
    torch.set_num_threads(1)
    data = make_data()
    outputs = {}
    for name, has_target in [("target", True), ("zero_out", False)]:
        runs = []
        for run in range(arguments.runs):
            # runs must be independent
            seed = np.random.SeedSequence([arguments.seed, run, has_target])
            torch.manual_seed(int(seed.generate_state(1, np.uint64)[0]))
            runs.append(train(data, arguments, has_target))
        outputs[name] = np.reshape(runs, (arguments.runs, arguments.epochs, -1))
    np.savez(
        arguments.out,
        **outputs,
        noise_multiplier=NOISE_MULTIPLIER,
        clip_norm=CLIP_NORM,
        batch_size=BATCH_SIZE,
    )
    print(f"{arguments.runs} runs per world, {outputs['target'].shape[2]} steps per epoch")


if __name__ == "__main__":
    main()
