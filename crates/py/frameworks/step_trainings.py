"""Trainings with Opacus for the tests of `check_step`: one correct training, and faults of it."""

import types

import numpy as np
import torch
from opacus import PrivacyEngine
from opacus.optimizers.optimizer import _generate_noise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.set_num_threads(1)

BATCH = 70


def digits(records=1400, seed=0):
    """Images of ten classes: 64 pixels from 0 to 1, and labels."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, records)
    classes = random.uniform(0, 1, (10, 64))
    images = np.clip(classes[labels] + 0.25 * random.normal(size=(records, 64)), 0, 1)
    return TensorDataset(torch.tensor(images, dtype=torch.float32), torch.tensor(labels))


class Network(nn.Sequential):
    """64, 32 and 10 units."""

    def __init__(self, *front):
        super().__init__(*front, nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


class Centred(nn.Module):
    """Subtracts the mean of a batch."""

    def forward(self, x):
        return x - x.mean(0) if len(x) else x


class RunningMean(nn.Module):
    """Subtracts a mean that it updates with every batch."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(64))

    def forward(self, x):
        if self.training and len(x):
            self.mean += 0.1 * (x.mean(0).detach() - self.mean)
        return x - self.mean


class Standardised(Dataset):
    """Standardises all records with their own mean and standard deviation."""

    def __init__(self, data):
        images = torch.stack([data[index][0] for index in range(len(data))])
        self.images = (images - images.mean(0)) / images.std(0)
        self.labels = [data[index][1] for index in range(len(data))]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def per_record(model, x, y):
    """The loss of the default training."""
    return functional.cross_entropy(model(x), y)


def by_totals(model, x, y):
    """A loss whose weights depend on the labels of the batch."""
    weights = len(y) / (10 * torch.bincount(y, minlength=10).clamp(min=1))
    brightness = x.mean() if len(x) else 1.0
    return (
        functional.cross_entropy(model(x), y, reduction="none") * weights[y]
    ).mean() / brightness


def trainer(
    *,
    front=(),
    data_of=lambda data: data,
    loss_of=per_record,
    optimizer_of=lambda parameters: torch.optim.SGD(parameters, lr=0.5),
    fault=lambda optimizer: None,
    poisson=True,
    physical=None,
    accumulate=1,
    divisor=BATCH,
    before_step=lambda optimizer, model, x, y: None,
    after_step=lambda optimizer, loss: False,
    skip_empty=False,
    epochs=1,
    batch=BATCH,
    engine=None,
    **private,
):
    """The function `train(data, attach)` of one training; `fault` changes its optimizer."""

    def train(data, attach):
        model = Network(*[layer() for layer in front])
        optimizer = optimizer_of(model.parameters())
        loader = DataLoader(data_of(data), batch_size=batch, shuffle=True)
        settings = {"noise_multiplier": 1.0, "max_grad_norm": 1.0} | private
        generator = settings.pop("noise_seed", None)
        if generator is not None:
            settings["noise_generator"] = torch.Generator().manual_seed(generator)
        model, optimizer, loader = (engine or PrivacyEngine()).make_private(
            module=model,
            optimizer=optimizer,
            data_loader=loader,
            poisson_sampling=poisson,
            **settings,
        )
        if divisor is not None:
            optimizer.expected_batch_size = divisor
        fault(optimizer)
        attach(optimizer, loader, module=model)
        for _ in range(epochs):
            if physical is None:
                epoch(model, optimizer, loader)
            else:
                with BatchMemoryManager(
                    data_loader=loader, max_physical_batch_size=physical, optimizer=optimizer
                ) as small:
                    epoch(model, optimizer, small)

    def epoch(model, optimizer, loader):
        for number, (x, y) in enumerate(loader):
            if skip_empty and len(x) == 0:
                continue
            if number % accumulate == 0:
                optimizer.zero_grad()
            loss = loss_of(model, x, y)
            loss.backward()
            if number % accumulate < accumulate - 1:
                continue
            before_step(optimizer, model, x, y)
            optimizer.step()
            if after_step(optimizer, loss.detach()):
                return

    return train


def noise_of(draw):
    """A fault that draws the noise of parameter number `index` by `draw(optimizer, index, p)`."""

    def fault(optimizer):
        def add_noise(self):
            for index, p in enumerate(self.params):
                p.grad = (p.summed_grad + draw(self, index, p.summed_grad)).view_as(p)

        optimizer.add_noise = types.MethodType(add_noise, optimizer)

    return fault


def _normal(optimizer, reference, factor=1.0, generator=None):
    std = factor * optimizer.noise_multiplier * optimizer.max_grad_norm
    return _generate_noise(std=std, reference=reference, generator=generator)


def scaled_noise(factor):
    """A fault that multiplies the noise."""
    return noise_of(lambda optimizer, index, p: _normal(optimizer, p, factor))


def without_biases(optimizer, index, p):
    return _normal(optimizer, p) if p.dim() > 1 else torch.zeros_like(p)


def one_seed(optimizer, index, p):
    if index == 0:
        optimizer.noise_seed = int(torch.randint(2**31, ()))
    return _normal(optimizer, p, generator=torch.Generator().manual_seed(optimizer.noise_seed))


def laplace(optimizer, index, p):
    std = optimizer.noise_multiplier * optimizer.max_grad_norm
    return torch.distributions.Laplace(0.0, std / 2**0.5).sample(p.shape)


def broadcast(optimizer, index, p):
    return _normal(optimizer, p[:1] if p.dim() > 1 else p).expand_as(p)


def _clip(optimizer, factors):
    """Sums rows times factors, the factor of a tensor's rows by `factors(rows, all rows)`."""
    rows = [g.reshape(len(g), p.numel()) for p, g in zip(optimizer.params, optimizer.grad_samples)]
    for p, own in zip(optimizer.params, rows):
        total = (factors(own, rows) * own).sum(0).view_as(p)
        p.summed_grad = total if p.summed_grad is None else p.summed_grad + total


def clipped_by(factors):
    """A fault that multiplies the rows of a tensor by `factors(optimizer, rows, all rows)`."""

    def fault(optimizer):
        def clip_and_accumulate(self):
            _clip(self, lambda own, rows: factors(self, own, rows))

        optimizer.clip_and_accumulate = types.MethodType(clip_and_accumulate, optimizer)

    return fault


def _factor(optimizer, norm):
    return (optimizer.max_grad_norm / (norm + 1e-6)).clamp(max=1.0)


def mean_clipping(optimizer, own, rows):
    return _factor(optimizer, torch.cat([row.sum(0) / max(len(own), 1) for row in rows]).norm())


def per_tensor(optimizer, own, rows):
    return _factor(optimizer, own.norm(dim=1, keepdim=True))


def seeded_step(optimizer, model, x, y):
    """Seeds the noise of every step alike."""
    torch.manual_seed(7)


def divide_by_length(optimizer, model, x, y):
    """Divides the sum by the size of its batch."""
    optimizer.expected_batch_size = max(len(x), 1)


def data_after_noise(optimizer):
    """Adds a share of the unclipped sum to the noisy one."""
    add_noise = optimizer.add_noise

    def with_data():
        add_noise()
        for p in optimizer.params:
            p.grad += 0.2 * p.grad_sample.sum(0)

    optimizer.add_noise = with_data


def uncounted_releases(optimizer):
    """Makes the accountant count every second step."""
    count, steps = optimizer.step_hook, []

    def count_second(optimizer):
        steps.append(optimizer)
        if len(steps) % 2:
            count(optimizer)

    optimizer.attach_step_hook(count_second)


def plateau(optimizer, loss):
    """Lowers the learning rate when the loss of a batch is not below the first ones."""
    scheduler = optimizer.__dict__.setdefault(
        "scheduler",
        torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer.original_optimizer, patience=0, threshold=0.0
        ),
    )
    scheduler.step(loss)
    return False


def stop_early(optimizer, loss):
    return bool(loss > 2.45)


def frozen_first_bias(parameters):
    """An SGD that does not train the first bias."""
    first, _, *others = parameters
    return torch.optim.SGD([first, *others], lr=0.5)


def plain_first_bias(optimizer, model, x, y):
    """Trains the first bias without noise."""
    bias = model.get_parameter("_module.0.bias")
    with torch.no_grad():
        bias -= 0.5 * bias.grad
    bias.grad = bias.grad_sample = None


def outlier(record, factor=30, **options):
    """Digits with one that is `factor` times as bright."""
    images, labels = digits(**options).tensors
    images[record] *= factor
    return TensorDataset(images, labels)


def scale_by_length(optimizer):
    """Divides noisy sums by the size of the batch, whatever the optimizer's divisor is."""

    def scale_grad():
        for p in optimizer.params:
            p.grad /= max(len(p.grad_sample), 1)

    optimizer.scale_grad = scale_grad
