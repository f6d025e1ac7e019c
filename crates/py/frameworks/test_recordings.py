"""Recorded outputs of trainings in two worlds, with Opacus and by loops of their own."""

import contextlib

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from trainings import ADAPTIVE, CLIP_NORM, Training, records, seeded

import dpscope
from dpscope import opacus as audits
from dpscope import torch as loops

pytestmark = pytest.mark.filterwarnings("ignore")


RECORDED = {
    "poisson": ({}, "target-canary"),
    "shuffle": ({"poisson_sampling": False}, "partially-informed"),
    "memory manager": ({"physical": 16, "poisson_sampling": False}, "partially-informed"),
    "accumulation": ({"poisson_sampling": False, "accumulated": 2}, "partially-informed"),
    "adaptive clipping": (ADAPTIVE, "target-canary"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recordings_have_sums_and_uses_of_both_worlds(name):
    options, model = RECORDED[name]
    steps = 10 // options.get("accumulated", 1)
    recording = audits.record(
        Training(epochs=5, noise=0.5, **options),
        records(),
        runs=6,
        epochs=2,
        canary="zero-gradient",
    )
    assert recording.target.shape == recording.uses_zero_out.shape == (6, 2, steps)
    assert (recording.threat_model, recording.batch_size) == (model, 40)
    others = 0.0 if model == "target-canary" else -1.0
    for sums, uses, size in [
        (recording.sums_target, recording.uses_target, 1.0),
        (recording.sums_zero_out, recording.uses_zero_out, 0.0),
    ]:
        assert np.allclose(sums[uses == 1], size, atol=1e-4)
        assert np.allclose(sums[uses == 0], others, atol=1e-4)
        assert uses.max() == 1
        if recording.sampler == "shuffle":
            assert np.all(uses.sum(axis=2) == 1)
    noise = (recording.target - recording.sums_target) / recording.noise_multiplier
    assert abs(np.mean(noise**2) - 1.0) < 5 * np.sqrt(2 / noise.size)


def test_recordings_are_audited(tmp_path):
    training = Training(poisson_sampling=False, noise=1.0)
    recording = audits.record(training, records(), runs=20, out=tmp_path / "runs.npz", seed=2)
    audit = recording.audit(claim=3.0)
    assert audit.verdict().reason == "proven_lower_bound"
    assert audit.proven > 3.0 > audit.epsilon
    saved = dpscope.audit_outputs(
        tmp_path / "runs.npz", sampler="shuffle", threat_model="partially-informed"
    )
    assert saved.report()["answer"]["values"] == audit.report()["answer"]["values"]
    assert audit.svg().startswith("<svg")
    again = audits.record(training, records(), runs=2, seed=2)
    assert np.array_equal(again.target, recording.target[:2])
    other = audits.record(training, records(), runs=2, seed=3)
    assert not np.array_equal(other.target, again.target)


def never_attached(data, attach):
    pass


def attached_alone(data, attach):
    Training(epochs=0)(data, attach)


def attached_twice(data, attach):
    Training(epochs=0)(data, attach)
    Training(epochs=0)(data, attach)


def other_data(data, attach):
    Training(epochs=0)(records(), attach)


def scheduled_noise(data, attach):
    training = Training(epochs=1)(data, attach)
    training.optimizer.noise_multiplier = 0.9
    training.epoch()


def ragged(data, attach):
    training = Training(epochs=1, poisson_sampling=False)(data, attach)
    training.accumulated = 2
    training.epoch()


def caught(data, attach):
    """A training that catches all errors, and would never end."""
    training = Training(epochs=0)(data, attach)
    while True:
        with contextlib.suppress(Exception):
            training.epoch()


@pytest.mark.parametrize(
    ("train", "options", "words"),
    [
        (never_attached, {}, "train did not call attach"),
        (attached_alone, {}, "train ended before a step"),
        (attached_twice, {}, "train called attach twice"),
        (other_data, {}, "not over this TensorDataset"),
        (Training(epochs=1), {"epochs": 2}, "train ended after 1"),
        (scheduled_noise, {"epochs": 2}, "noise_multiplier changed from 1.0 to 0.9"),
        (ragged, {"epochs": 2}, r"have \[10, 5\] steps"),
        (caught, {"runs": 1}, "runs is 1"),
        (caught, {"epochs": 0}, "epochs is 0"),
        (caught, {"target": 400}, "target is 400"),
        (caught, {"canary": "dirac"}, "canary is 'dirac'"),
        (caught, {"threat_model": "none"}, "threat_model is 'none'"),
        (lambda data, attach: None, {"processes": 2}, "define train in a module"),
        (
            Training(clipping="per_layer", max_grad_norm=[1.0] * 4),
            {"canary": "zero-gradient"},
            "random",
        ),
    ],
)
def test_bad_recordings_are_named(train, options, words):
    with pytest.raises(dpscope.DpscopeError, match=words):
        audits.record(train, records(), **{"runs": 2, **options})


def test_a_training_that_catches_errors_is_ended():
    assert audits.record(caught, records(), runs=2).target.shape == (2, 1, 10)


def own_loop(data, attach, noise_multiplier=0.5, epochs=3):
    """DP-SGD of a logistic regression by torch.func, with record numbers from the data."""
    features = data[0][1].numel()
    weights = torch.zeros(features)

    def loss(weights, x, y):
        return torch.nn.functional.softplus((1 - 2 * y) * (weights @ x))

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    loader = DataLoader(data, batch_size=40, shuffle=True)
    audit = attach(loader)
    for _ in range(epochs):
        for numbers, x, y in loader:
            grads = audit.insert({"w": each(weights, x, y)}, numbers, clip_norm=CLIP_NORM)["w"]
            grads = grads * (CLIP_NORM / (grads.norm(dim=1, keepdim=True) + 1e-6)).clamp(max=1.0)
            total = grads.sum(dim=0)
            noisy = (total + noise_multiplier * CLIP_NORM * torch.randn(features)) / 40
            audit.release({"w": noisy}, total={"w": total}, divisor=40)
            weights = weights - noisy


class Numbered(torch.utils.data.Dataset):
    """Records with their numbers, which a loop without Opacus needs."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return (index, *self.data[index])


def test_loops_without_opacus_are_audited():
    torch.manual_seed(1)
    audit = seeded(loops.OneRun(records(features=200), canaries=20), 1)

    def attach(loader):
        # numbers of slots come from the loader, as items of slots are those of record 0
        audit._rate = 1 / len(loader)
        return audit

    own_loop(Numbered(audit), attach, noise_multiplier=0.1)
    scores, coins = audit.scores, audit.coins
    assert audit.steps == 3 * 11
    assert np.mean(scores[coins][:, None] > scores[~coins]) > 0.8
    with pytest.raises(dpscope.DpscopeError, match="39 rows for 40 records"):
        audit.insert([torch.zeros(39, 20)], range(40), clip_norm=1.0)
    with pytest.raises(dpscope.DpscopeError, match="clip_norm is 0.0"):
        audit.insert([torch.zeros(40, 20)], range(40), clip_norm=0.0)


def train_own_loop(data, attach):
    own_loop(data, lambda loader: attach(None, loader, noise_multiplier=0.5, clip_norm=CLIP_NORM))


def test_loops_without_opacus_are_recorded():
    recording = loops.record(
        train_own_loop, Numbered(records()), runs=10, epochs=2, canary="zero-gradient"
    )
    assert recording.target.shape == (10, 2, 10)
    assert np.allclose(recording.sums_target[recording.uses_target == 1], 1.0, atol=1e-4)
    assert np.allclose(recording.sums_zero_out[recording.uses_zero_out == 0], -1.0, atol=1e-4)
    noise = (recording.zero_out - recording.sums_zero_out) / 0.5
    assert abs(np.mean(noise**2) - 1.0) < 5 * np.sqrt(2 / noise.size)
