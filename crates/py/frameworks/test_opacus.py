"""Audits of trainings with Opacus, whose loop stays as it is."""

import itertools
import warnings

import numpy as np
import pytest
import torch
from opacus.distributed import DifferentiallyPrivateDistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset
from trainings import ADAPTIVE, CLIP_NORM, CONFIGURATIONS, Log, Training, digits, records, trained

import dpscope
from dpscope import _dp_optimizer
from dpscope import opacus as audits

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_hooks_change_no_bit(name):
    plain = trained(**CONFIGURATIONS[name])
    observed = trained(log := Log(), **CONFIGURATIONS[name])
    assert torch.equal(observed.parameters(), plain.parameters())
    assert observed.engine.accountant.history == plain.engine.accountant.history
    assert (log.unused, log.epochs) == (0, 2)
    assert len(log.scales) == 20 // observed.accumulated
    assert max(log.errors) < 1e-5

    torch.manual_seed(1)
    control = audits.OneRun(records(), canaries=0)
    audited = Training(**CONFIGURATIONS[name])(control, control.attach)
    assert torch.equal(audited.parameters(), plain.parameters())
    assert control.steps == len(log.scales)


def test_physical_batches_have_the_records_of_the_logical_ones():
    trained(logical := Log())
    trained(physical := Log(), physical=16)
    seen = [list(itertools.chain(*log.records)) for log in (logical, physical)]
    assert seen[0] == seen[1]
    assert len(physical.records) > 2 * len(logical.records)


def random_hook(self, optimizer, records, gradients=Log.gradients):
    torch.rand(1)
    gradients(self, optimizer, records)


def replace_step_hook(self, optimizer, *objects, init=_dp_optimizer.Hooks.__init__):
    init(self, optimizer, *objects)
    optimizer.attach_step_hook(lambda optimizer: None)


def clip_norm_after_the_step(optimizer, clip_norm, scale=_dp_optimizer.step_scale):
    return scale(optimizer, float(optimizer.max_grad_norm))


def scale_of_one_batch(optimizer, clip_norm):
    return optimizer.expected_batch_size / clip_norm


def take_a_batch(self, rows):
    return self._waiting.popleft()[:rows]


@pytest.mark.parametrize(
    ("name", "owner", "attribute", "mutant"),
    [
        ("poisson", Log, "gradients", random_hook),
        ("poisson", _dp_optimizer.Hooks, "__init__", replace_step_hook),
        ("adaptive clipping", _dp_optimizer, "step_scale", clip_norm_after_the_step),
        ("accumulation", _dp_optimizer, "step_scale", scale_of_one_batch),
    ],
)
def test_faulty_hooks_are_noticed(monkeypatch, name, owner, attribute, mutant):
    monkeypatch.setattr(owner, attribute, mutant)
    with pytest.raises(AssertionError):
        test_hooks_change_no_bit(name)


def test_batches_taken_whole_are_noticed(monkeypatch):
    monkeypatch.setattr(_dp_optimizer._Batches, "take", take_a_batch)
    with pytest.raises((AssertionError, IndexError)):
        test_physical_batches_have_the_records_of_the_logical_ones()


def test_detaching_restores_optimizer_and_loader():
    training = Training(epochs=0)(records())
    sampler = training.loader.batch_sampler
    before = dict(training.optimizer.__dict__)
    log = Log()
    log.attach(training.optimizer, training.loader)
    assert isinstance(training.loader.batch_sampler, type(sampler))
    assert len(training.loader) == 10
    with pytest.raises(dpscope.DpscopeError, match="optimizer has an audit attached already"):
        log.attach(training.optimizer, training.loader)
    log.detach()
    assert training.loader.batch_sampler is sampler
    assert training.optimizer.__dict__ == before
    assert not training.optimizer.original_optimizer._optimizer_step_pre_hooks
    training.epoch()
    assert not log.records


@pytest.mark.parametrize("physical", [None, 16])
def test_a_dropped_batch_loses_records(physical):
    torch.manual_seed(3)
    training = Training(epochs=0, physical=physical)(records(), Log().attach)
    with pytest.raises(audits.LostRecords, match="Iterate the loader that was passed to attach"):
        training.epoch(dropped=[3])


def test_another_loader_loses_records():
    training = Training(epochs=0)(records(), Log().attach)
    training.loader = DataLoader(records(), batch_size=40)
    with pytest.raises(audits.LostRecords, match="the attached loader has not been iterated"):
        training.epoch()


def test_a_dropped_batch_of_equal_size_discards_its_epoch():
    audit = audits.OneRun(records(), canaries=40)
    training = Training(epochs=1, poisson_sampling=False)(audit, audit.attach)
    scores = audit.scores
    training.epoch(dropped=[3])
    assert audit.steps == 11 + 10
    with pytest.warns(dpscope.DpscopeWarning, match="1 batches of the loader were not used"):
        training.epoch()
    assert (audit.steps, audit._run.discarded_steps) == (22, 10)
    assert not np.array_equal(audit.scores, scores)


def test_leaving_an_epoch_early_loses_nothing():
    training = Training(epochs=0, workers=2)(records(), (log := Log()).attach)
    next(iter(training.loader))
    training.epoch()
    assert (len(log.records), log.unused) == (10, 0)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(records())


def refused_objects():
    """Objects of a training that cannot be observed, and the words of the error."""
    training = Training(epochs=0)(data := records())
    optimizer, loader = training.optimizer, training.loader
    ghost = Training(epochs=0, grad_sample_mode="ghost")(data)
    unordered = DataLoader(data, batch_size=40, in_order=False, num_workers=1)
    random_rows = Training(epochs=0, rand_on_empty=True)(data).loader
    ranks = Training(epochs=0)(data).optimizer
    ranks.world_size = 2
    foreign = Training(epochs=0)(data).optimizer
    foreign.original_optimizer = object()
    return {
        "use dpscope.torch": (optimizer.original_optimizer, loader),
        'pass grad_sample_mode="hooks"': (ghost.optimizer, ghost.loader),
        "one of 2 distributed processes": (ranks, loader),
        "no register_step_pre_hook": (foreign, loader),
        "IterableDataset": (optimizer, DataLoader(Stream(), batch_size=40)),
        "batch_size=None": (optimizer, DataLoader(data, batch_size=None)),
        "in_order=False": (optimizer, unordered),
        "rand_on_empty=True": (optimizer, random_rows),
    }


def test_what_cannot_be_observed_is_refused():
    for words, (optimizer, loader) in refused_objects().items():
        with pytest.raises(dpscope.DpscopeError, match=words):
            Log().attach(optimizer, loader)


def audited(canaries=300, true_noise=None, epochs=3, seed=1, **options):
    torch.manual_seed(seed)
    audit = audits.OneRun(digits(), canaries=canaries)
    training = Training(epochs=epochs, hidden=64, **options)
    training(audit, audit.attach, batch_size=70, true_noise=true_noise)
    return audit, training


def test_too_little_noise_is_refuted():
    audit, training = audited(true_noise=0.15)
    result = audit.audit(claim=training.engine, self_test=True)
    assert result.verdict().outcome == "refuted"
    assert result.epsilon > training.engine.get_epsilon(1e-5)
    scores, coins = audit.scores, audit.coins
    assert np.mean(scores[coins][:, None] > scores[~coins]) > 0.9
    assert audit.steps == 3 * 25
    assert audit.centres.shape == audit.scales.shape == (audit.steps,)
    assert 0.1 < np.median(audit.scales) < 0.5  # stated as 1
    assert 0 < audit.overhead < 10


@pytest.mark.parametrize("options", [{}, {"accumulated": 2}])
def test_theory_of_shuffled_batches_comes_first(options):
    audit, training = audited(epochs=2, canaries=100, poisson_sampling=False, **options)
    result = audit.audit(claim=training.engine)
    assert result.headline.startswith("Theory proves")
    assert result.verdict().reason == "proven_lower_bound"
    assert result.proven > training.engine.get_epsilon(1e-5) > result.epsilon
    fixed = audit.audit(claim=1e3)
    assert fixed.verdict().outcome != "refuted"


@pytest.mark.parametrize("options", [{}, {"physical": 32}, ADAPTIVE])
def test_correct_training_is_not_refuted(options):
    audit, training = audited(epochs=2, canaries=100, **options)
    result = audit.audit(claim=training.engine)
    assert result.verdict().outcome == "not-refuted"
    assert "zero-out adjacency" in result.headline
    with pytest.raises(dpscope.DpscopeError, match="was audited already"):
        audits.OneRun(records(), canaries=100, plan=audit.plan)


def test_sparse_directions_show_included_canaries(monkeypatch):
    monkeypatch.setattr("dpscope._directions.MOST_NUMBERS", 0)
    audit, _ = audited(true_noise=0.1, canaries=64)
    scores, coins = audit.scores, audit.coins
    assert np.mean(scores[coins][:, None] > scores[~coins]) > 0.9


def test_clipping_per_layer_has_canaries_of_the_clip_norm():
    torch.manual_seed(1)
    audit = audits.OneRun(records(), canaries=100)
    audit._run.coins[:] = True
    clip_norms = [0.4, 0.1, 0.2, 0.3]
    training = Training(
        epochs=0, noise=1e-6, clipping="per_layer", poisson_sampling=False, max_grad_norm=clip_norms
    )
    training(audit, audit.attach, batch_size=500)
    projections = []
    audit._run.observe = lambda row, rate: projections.append(row)
    for x, _ in training.loader:
        (0 * training.model(x).sum()).backward()
        training.optimizer.step()
    assert np.allclose(projections, 1.0, atol=1e-4)


@pytest.mark.parametrize("most", [1 << 24, 0])
def test_ghost_clipping_adds_canaries_to_the_clipped_sum(monkeypatch, most):
    monkeypatch.setattr("dpscope._directions.MOST_NUMBERS", most)
    ghost = {"grad_sample_mode": "ghost", "epochs": 1}
    plain = trained(**ghost)
    torch.manual_seed(1)
    control = audits.OneRun(records(), canaries=0)
    assert torch.equal(Training(**ghost)(control, control.attach).parameters(), plain.parameters())
    with pytest.warns(dpscope.DpscopeWarning, match="does not see faults of clipping"):
        audit, _ = audited(true_noise=0.1, canaries=60, grad_sample_mode="ghost")
    scores, coins = audit.scores, audit.coins
    assert np.mean(scores[coins][:, None] > scores[~coins]) > 0.85
    control = audits.OneRun(records(), canaries=0)
    training = Training(**{**ghost, "epochs": 0})(control)
    with pytest.raises(dpscope.DpscopeError, match="module is missing"):
        control.attach(training.optimizer, training.loader)


def train_rank(rank, folder):
    """One of two processes of a distributed training."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/init", rank=rank, world_size=2
    )
    audit = audits.OneRun(digits(700), canaries=50)
    torch.manual_seed(rank)  # ranks draw different batches
    training = Distributed(hidden=64, noise=0.1, epochs=3)
    training(audit, audit.attach, batch_size=70)
    other = audits.OneRun(records(), canaries=50, plan=None)
    assert other.plan.committed["commitment"] != audit.plan.committed["commitment"]
    mixed = audits.OneRun(records(), canaries=50, plan=(audit, other)[rank].plan)
    with pytest.raises(dpscope.DpscopeError, match="2 distributed processes have different plans"):
        Distributed(epochs=0)(mixed, mixed.attach)
    np.savez(f"{folder}/{rank}.npz", scores=audit.scores, coins=audit.coins, steps=audit.steps)
    torch.distributed.destroy_process_group()


class Distributed(Training):
    def model_of(self, data):
        return DifferentiallyPrivateDistributedDataParallel(super().model_of(data))


def test_two_processes_have_one_plan_and_equal_scores(tmp_path):
    torch.multiprocessing.spawn(train_rank, (str(tmp_path),), nprocs=2)
    first, second = (np.load(tmp_path / f"{rank}.npz") for rank in (0, 1))
    assert np.array_equal(first["scores"], second["scores"])
    scores, coins = first["scores"], first["coins"].astype(bool)
    assert np.array_equal(coins, second["coins"])
    assert np.mean(scores[coins][:, None] > scores[~coins]) > 0.85


def test_rate_and_divisor_do_not_depend_on_coins():
    found = set()
    for included in (False, True):
        contents = np.zeros((1000, 64)), np.zeros(1000)
        audit = audits.OneRun(digits(), canaries=contents, kind="records")
        audit._run.coins[:] = included
        training = Training(epochs=0)(audit, audit.attach, batch_size=70)
        found.add((training.loader.sample_rate, training.optimizer.expected_batch_size))
    assert found == {(1 / 35, 68)}
    # records that are appended for coins of 1 change the divisor
    appended = set()
    for included in (503, 507):
        training = Training(epochs=0)(digits(1400 + included), batch_size=70)
        appended.add(training.optimizer.expected_batch_size)
    assert appended == {67, 68}


def test_scores_do_not_depend_on_coins(monkeypatch):
    audit, _ = audited(epochs=1, canaries=50)
    scores = audit.scores
    audit._run.coins = np.roll(audit._run.coins, 7)
    assert np.array_equal(audit.scores, scores)


def test_coins_of_0_have_gradient_0():
    sums = []
    for included in (False, True):
        torch.manual_seed(1)
        audit = audits.OneRun(records(), canaries=40)
        audit._run.coins[:] = included
        torch.manual_seed(1)
        training = Training(epochs=0, noise=1e-9)(audit, audit.attach)
        training.optimizer.attach_step_hook(
            lambda optimizer: sums.append(
                torch.cat([p.summed_grad.reshape(-1) for p in optimizer.params])
            )
        )
        x, y = next(iter(training.loader))
        torch.nn.functional.cross_entropy(training.model(x), y).backward()
        training.optimizer.step()
        if included:
            rows = audit._run.directions([sums[0].numel()]).rows
            change = rows @ (sums[1] - sums[0]).numpy() / CLIP_NORM
            drawn = change > 0.5
            assert 0 < drawn.sum() < 15
            # a canary of norm 2 C is clipped to C
            assert np.allclose(change, drawn, atol=1e-4)


def test_a_checkpoint_resumes_with_its_plan(tmp_path):
    np.savez(tmp_path / "canaries.npz", inputs=np.arange(50.0)[:, None])
    options = {"canaries": tmp_path / "canaries.npz", "adjacency": "zero-out"}
    plan = dpscope.plan_one_run(out=tmp_path / "plan", **options)
    parts = [audits.OneRun(records(), canaries=50, plan=plan) for _ in range(2)]
    trainings = [Training(epochs=1)(part, part.attach) for part in parts]
    whole = parts[0].scores + parts[1].scores
    resumed = audits.OneRun(records(), canaries=50, plan=tmp_path / "plan")
    resumed.load_state_dict(parts[0].state_dict())
    assert np.array_equal(resumed.scores, parts[0].scores)
    state = parts[1].state_dict()
    parts[0].load_state_dict(parts[0].state_dict())
    assert resumed.steps == len(resumed.scales) == len(trainings[0].loader)
    assert np.allclose(whole - parts[1].scores, resumed.scores)
    with pytest.raises(dpscope.DpscopeError, match="pass the same folder as plan"):
        audits.OneRun(records(), canaries=50).load_state_dict(state)
    assert resumed.audit().epsilon >= 0


def test_records_are_scored_by_losses():
    random = np.random.default_rng(1)
    inputs, labels = random.normal(size=(60, 20)), random.integers(0, 2, 60)
    audit = audits.OneRun(records(), canaries=(inputs, labels), kind="records")
    x, y = audit[437]
    assert torch.equal(x, torch.tensor(inputs[37]).float())
    assert (int(y), y.dtype) == (labels[37], torch.int64)
    with pytest.raises(dpscope.DpscopeError, match="call score after the training"):
        _ = audit.scores
    training = Training(epochs=2)(audit, audit.attach)

    def loss(data):
        x, y = next(iter(DataLoader(data, batch_size=60)))
        return torch.nn.functional.cross_entropy(training.model(x), y, reduction="none")

    assert audit.score(loss).shape == (2, 60)
    assert audit.steps == 2 * len(training.loader)
    assert audit.audit().epsilon >= 0
    with pytest.raises(dpscope.DpscopeError, match="one loss for each of the 60 canaries"):
        audit.score(lambda data: np.zeros(3))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"canaries": 4}, "canaries = 4; pass at least 5"),
        ({"canaries": -1}, "canaries = -1"),
        ({"canaries": 10, "kind": "records"}, "need their contents"),
        ({"canaries": 10, "kind": "labels"}, "kind is 'labels'"),
        ({"canaries": 10, "plan": "no-plan"}, "no-plan.*cannot be read"),
    ],
)
def test_bad_arguments_are_named(options, words):
    with pytest.raises(dpscope.DpscopeError, match=words):
        audits.OneRun(records(), **options)


def test_bad_attachments_are_named():
    audit = audits.OneRun(records(), canaries=360)
    with pytest.raises(dpscope.DpscopeError, match="there are no scores; attach the audit"):
        _ = audit.scores
    with pytest.raises(dpscope.DpscopeError, match="not attached"):
        _ = audit.overhead
    with pytest.raises(dpscope.DpscopeError, match="not over this OneRun"):
        Training(epochs=0)(records(), audit.attach)
    training = Training(epochs=0, hidden=2)(audit)
    with pytest.raises(dpscope.DpscopeError, match="canaries = 360, but .* have 48 numbers"):
        audit.attach(training.optimizer, training.loader)
    Training(epochs=0)(audit, audit.attach)  # the refused optimizer is free again
    with pytest.raises(dpscope.DpscopeError, match="this audit is attached already"):
        Training(epochs=0)(audit, audit.attach)
    assert audit.batch_size(40) == 76
    assert audit[759][0].equal(audit[0][0])
    with pytest.raises(IndexError):
        audit[760]


def test_releases_without_noise_are_an_error():
    audit = audits.OneRun(records(), canaries=40)
    audit._run.observe(np.zeros(40), 0.1)
    with pytest.raises(dpscope.DpscopeError, match="the releases have no noise"):
        audit.audit()


def test_plans_for_other_games_are_refused(tmp_path):
    np.savez(tmp_path / "canaries.npz", inputs=np.arange(50.0)[:, None])
    for number, options in enumerate([{}, {"pairs": True}]):
        plan = dpscope.plan_one_run(
            canaries=tmp_path / "canaries.npz", out=tmp_path / str(number), **options
        )
        with pytest.raises(dpscope.DpscopeError, match="adjacency='zero-out'"):
            audits.OneRun(records(), canaries=50, plan=plan)
    plan = dpscope.plan_one_run(
        canaries=tmp_path / "canaries.npz", out=tmp_path / "plan", adjacency="zero-out"
    )
    with pytest.raises(dpscope.DpscopeError, match="pass canaries=50"):
        audits.OneRun(records(), canaries=60, plan=plan)
    assert audits.OneRun(records(), canaries=50, plan=plan).plan is plan
