"""Trainings with Opacus for tests of audits, and what they are observed by.

`python trainings.py` measures the time that hooks take.
"""

import contextlib
import itertools
import warnings

import numpy as np
import torch
from opacus import PrivacyEngine
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch.utils.data import DataLoader, TensorDataset

from dpscope import _dp_optimizer, _recording
from dpscope import opacus as audits

torch.set_num_threads(1)

CLIP_NORM = 0.5
ADAPTIVE = {
    "clipping": "adaptive",
    "target_unclipped_quantile": 0.5,
    "clipbound_learning_rate": 0.2,
    "max_clipbound": 10.0,
    "min_clipbound": 0.01,
    "unclipped_num_std": 1.0,
}
#: The configurations in which hooks must not change a bit.
CONFIGURATIONS = {
    "poisson": {},
    "shuffle": {"poisson_sampling": False},
    "memory manager": {"physical": 16},
    "accumulation": {"poisson_sampling": False, "accumulated": 2},
    "workers": {"workers": 2},
    "adaptive clipping": ADAPTIVE,
}


def records(number=400, features=20):
    """Two overlapping classes. The last feature is 0 in every record: its weights have gradient zero."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, number)
    x = random.normal(size=(number, features)) + 0.5 * (2 * y[:, None] - 1) / np.sqrt(features)
    x[:, -1] = 0.0
    return TensorDataset(torch.tensor(x).float(), torch.tensor(y))


class Training:
    """An ordinary training with Opacus, and where an audit is attached to it."""

    def __init__(
        self, *, epochs=2, physical=None, accumulated=1, workers=0, hidden=16, noise=1.0, **private
    ):
        self.epochs, self.physical, self.accumulated = epochs, physical, accumulated
        self.workers, self.hidden = workers, hidden
        self.private = {"noise_multiplier": noise, "max_grad_norm": CLIP_NORM, **private}

    def __call__(self, data, attach=lambda *_, **__: None, batch_size=40, true_noise=None):
        self.model = self.model_of(data)
        optimizer = torch.optim.SGD(self.model.parameters(), lr=1.0, momentum=0.5)
        loader = DataLoader(data, batch_size=batch_size, shuffle=True, num_workers=self.workers)
        self.engine = PrivacyEngine()
        self.model, self.optimizer, *criterion, self.loader = self.engine.make_private(
            module=self.model, optimizer=optimizer, data_loader=loader, **self.private
        )
        self.criterion = criterion[0] if criterion else torch.nn.CrossEntropyLoss()
        if true_noise is not None:
            self.optimizer.add_noise = self.add_other_noise(true_noise)
        attach(self.optimizer, self.loader, module=self.model)
        for _ in range(self.epochs):
            self.epoch()
        return self

    def model_of(self, data):
        return torch.nn.Sequential(
            torch.nn.Linear(data[0][0].numel(), self.hidden),
            torch.nn.Tanh(),
            torch.nn.Linear(self.hidden, 2),
        )

    def add_other_noise(self, true_noise):
        """Noise that the accountant does not know."""
        stated, add_noise = self.optimizer.noise_multiplier, self.optimizer.add_noise

        def add():
            self.optimizer.noise_multiplier = true_noise
            add_noise()
            self.optimizer.noise_multiplier = stated

        return add

    def epoch(self, dropped=(), steps=None):
        with self.batches() as loader:
            for index, (x, y) in enumerate(itertools.islice(loader, steps)):
                if index in dropped:
                    continue
                self.criterion(self.model(x), y).backward()
                if (index + 1) % self.accumulated == 0:
                    self.optimizer.step()
                    self.optimizer.zero_grad()

    def batches(self):
        if self.physical is None:
            return contextlib.nullcontext(self.loader)
        return BatchMemoryManager(
            data_loader=self.loader,
            max_physical_batch_size=self.physical,
            optimizer=self.optimizer,
        )

    def parameters(self):
        return torch.cat([p.detach().reshape(-1) for p in self.model.parameters()])


class Log(_dp_optimizer.Observer):
    """What an observer sees, and whether releases fit the sums."""

    def __init__(self):
        self.records, self.scales, self.errors, self.unused, self.epochs = [], [], [], 0, 0

    def attach(self, optimizer, loader, module=None):
        self.detach = _dp_optimizer.observe(optimizer, loader, self, module)

    def epoch(self):
        self.epochs += 1

    def incomplete(self, batches):
        self.unused += batches

    def gradients(self, optimizer, records):
        self.records.append(records)
        self.clip_norm = float(optimizer.max_grad_norm)
        rows = sum(map(len, _dp_optimizer.row_blocks(optimizer.params[0])))
        assert rows == len(records)

    def noised(self, optimizer):
        self.noisy_sum = [p.grad.clone() for p in optimizer.params]

    def released(self, optimizer, scale):
        self.scales.append(scale)
        pairs = zip(optimizer.params, self.noisy_sum, strict=True)
        self.errors += [float((p.grad * scale - q / self.clip_norm).abs().max()) for p, q in pairs]


def digits(number=1400):
    """Records whose gradients become small, so that the releases show the canaries."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, number)
    x = random.normal(size=(number, 64)) + (2 * y[:, None] - 1)
    return TensorDataset(torch.tensor(x).float(), torch.tensor(y))


def seeded(audit, seed):
    """The audit with coins and directions that follow from a number: a plan draws fresh ones."""
    random = np.random.default_rng([seed, 44])
    audit._run.coins = random.integers(0, 2, len(audit.coins)).astype(bool)
    audit._run._secret = random.bytes(32)
    return audit


def trained(observer=None, seed=1, **options):
    """A training with the random numbers of a seed."""
    torch.manual_seed(seed)
    training = Training(**options)
    return training(records(), observer.attach) if observer else training(records())


class Convolutions(Training):
    """A convolutional network with 212,146 parameters."""

    def model_of(self, data):
        return torch.nn.Sequential(
            torch.nn.Conv2d(1, 32, 3),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(32, 64, 3),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(1600, 120),
            torch.nn.ReLU(),
            torch.nn.Linear(120, 10),
        )


def print_overhead(records=10_000):
    """Print the time of hooks by that of a step, with batches of 64 on one thread."""
    warnings.filterwarnings("ignore")
    data = TensorDataset(torch.randn(records, 1, 28, 28), torch.randint(0, 10, (records,)))
    for canaries in (0, 1000):
        audit = audits.OneRun(data, canaries=canaries)
        Convolutions(epochs=0)(audit, audit.attach, batch_size=64).epoch(steps=30)
        print(f"one run with {canaries} canaries: {audit.overhead:.2%} of a step")
    hooks = []

    def train(data, attach):
        Convolutions(epochs=0)(data, attach, batch_size=64).epoch(steps=30)

    observe = _recording.observe
    _recording.observe = lambda *of: hooks.append(observe(*of))
    audits.record(train, data, runs=2)
    _recording.observe = observe
    print(f"recording: {np.median([one.overhead for one in hooks]):.2%} of a step")


if __name__ == "__main__":
    print_overhead()
