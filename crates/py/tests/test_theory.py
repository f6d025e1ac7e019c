"""Accounting equals that of the program to the last bit."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import stable

import dpscope


@pytest.mark.parametrize("sampler", ["poisson", "shuffle", "balls-in-bins", "fixed-size"])
def test_bounds_equal_those_of_the_program(dpscope_json, sampler):
    expected = dpscope_json(f"bound {sampler} --noise-multiplier 0.8 --steps 50 --epochs 2")
    found = dpscope.epsilon(sampler=sampler, noise_multiplier=0.8, steps=50, epochs=2)
    assert found.report() == expected
    assert found.value == float(found) == expected["epsilon"]


def test_delta_equals_that_of_the_program(dpscope_json):
    expected = dpscope_json("bound poisson --noise-multiplier 1 --steps 100 --epsilon 1")
    found = dpscope.delta("poisson", epsilon=1, noise_multiplier=1, steps=100)
    assert found.report() == expected and found.value == expected["delta"]


def test_the_exact_pair_equals_that_of_the_program(dpscope_json):
    line = "bound pair --noise-multiplier 1 --steps 20 --observations 2e4 --seed 3 --device cpu"
    expected = dpscope_json(line)
    found = dpscope.epsilon(
        "pair", noise_multiplier=1, steps=20, observations=2e4, seed=3, device="cpu"
    )
    assert found.report() == expected and found.kind == "estimate"


def test_calibrations_equal_those_of_the_program(dpscope_json):
    expected = dpscope_json("calibrate epochs --epsilon 4 --steps 100 --noise-multiplier 1")
    found = dpscope.calibrate("epochs", epsilon=4, steps=100, noise_multiplier=1)
    assert found.report() == expected
    assert found.value == expected["epochs"] and found.epsilon <= 4


def test_comparisons_equal_those_of_the_program(dpscope_json):
    line = "compare --noise-multiplier 1 --steps 20 --seed 1 --device cpu --claim 2"
    expected = dpscope_json(line)
    found = dpscope.compare(noise_multiplier=1, steps=20, seed=1, device="cpu", claim=2)
    assert found.report() == expected and len(found.rows) == len(expected["rows"])
    assert found.verdict().outcome == expected["claim"]["verdict"]
    assert "poisson" in found._repr_html_()
    with pytest.raises(dpscope.DpscopeError, match="expected one of poisson"):
        found.value("nothing")


def test_checks_equal_those_of_the_program(dpscope_json):
    line = "check --dataset-size 60000 --batch-size 256 --epochs 20 --noise-multiplier 0.8"
    claim = " --claim 2.6 --delta 1e-5 --loader shuffle --drop-last=false"
    expected = dpscope_json(line + claim)
    found = dpscope.check(
        dataset_size=60_000,
        batch_size=256,
        epochs=20,
        noise_multiplier=0.8,
        claim=2.6,
        delta=1e-5,
        loader="shuffle",
        drop_last=False,
    )
    assert stable(found.report()) == stable(expected)
    assert found.verdict().outcome == "refuted" and found.lower == expected["lower"]["epsilon"]


def test_records_of_other_accountants_are_read(dpscope_json, tmp_path):
    (tmp_path / "history.json").write_text("[[1.0, 0.01, 100]]")
    expected = dpscope_json("check --import history.json --claim 2 --delta 1e-5")
    found = dpscope.check(import_="history.json", claim=2, delta=1e-5)
    assert found.report() == expected
    assert found.verdict().outcome == "holds-as-described" and found.headline == expected["answer"]["headline"]
    assert found.lower < found.upper < 2 and found.findings == []
    with pytest.raises(dpscope.DpscopeError, match="pass claim"):
        dpscope.check(import_="history.json", delta=1e-5).verdict()


@pytest.mark.parametrize("strategy", ["tree", "all"])
def test_correlated_noise_equals_that_of_the_program(dpscope_json, strategy):
    line = f"bound matrix --strategy {strategy} --steps 20 --participation epochs:2"
    options = dict(strategy=strategy, steps=20, participation="epochs:2")
    expected = dpscope_json(f"{line} --noise-multiplier 2 --participant-steps 3,13")
    found = dpscope.bound_matrix(**options, noise_multiplier=2, participant_steps=[3, 13])
    assert found.report() == expected
    assert found.value("tree") == next(
        row["value"]["epsilon"] for row in expected["strategies"] if row["strategy"] == "tree"
    )
    least = dpscope.calibrate_matrix(**options, epsilon=3)
    assert least.report() == dpscope_json(f"calibrate {line.split(' ', 1)[1]} --epsilon 3")
    assert "<table>" in least._repr_html_()
    if strategy == "all":
        with pytest.raises(dpscope.DpscopeError, match="pass strategy"):
            found.value()
    with pytest.raises(dpscope.DpscopeError, match="expected one of"):
        found.value("nothing")


def test_votes_equal_those_of_the_program(dpscope_json):
    expected = dpscope_json("bound pate --teachers 5 --gamma 0.01 --votes 100 --noise one-count")
    found = dpscope.bound_pate(teachers=5, gamma=0.01, votes=100, noise="one-count")
    assert found.report() == expected and float(found) == expected["composed"]["upper"]
    with pytest.raises(dpscope.DpscopeError, match="no target"):
        found.iterations
    expected = dpscope_json("calibrate pate --epsilon 1 --teachers 5 --gamma 0.01")
    found = dpscope.calibrate_pate(epsilon=1, teachers=5, gamma=0.01)
    assert found.report() == expected and found.iterations == expected["target"]["iterations"]


def test_sweeps_equal_those_of_the_program(dpscope_json, tmp_path):
    rows = [
        {"name": "a", "noise_multiplier": 0.1 + 0.7, "steps": 20},
        {"name": "b, c", "noise_multiplier": 1.0, "steps": 20, "epochs": 2},
    ]
    text = f"name,noise_multiplier,steps,epochs\na,{0.1 + 0.7!r},20,\n\"b, c\",1,20,2\n"
    (tmp_path / "settings.csv").write_text(text)
    expected = dpscope_json("sweep settings.csv --pair --seed 1 --device cpu")
    calls = []
    options = dict(pair=True, seed=1, device="cpu")
    found = dpscope.sweep(rows, **options, progress=lambda *steps: calls.append(steps))
    assert found.report() == expected
    assert dpscope.sweep("settings.csv").report() == dpscope.sweep(rows).report()
    assert [row["name"] for row in found.rows] == ["a", "b, c"]
    assert found.rows[0]["poisson"] == expected["rows"][0]["values"][0]["epsilon"]
    assert calls == sorted(calls) and calls[-1] == (2, 2)
    assert str(found) == "2 of 2 trainings" and "<td>b, c</td>" in found._repr_html_()



class Accountant:
    """What Opacus has in `engine.accountant`."""

    history = [(1.0, np.float64(0.01), 2000)]

    def mechanism(self):
        return "rdp"


class Engine:
    accountant = Accountant()


class DpEvent:
    """As those of dp_accounting, whose fields attrs lists."""

    def __init__(self, **fields):
        self.__dict__.update(fields)
        type(self).__attrs_attrs__ = [SimpleNamespace(name=name) for name in fields]


class GaussianDpEvent(DpEvent):
    pass


class PoissonSampledDpEvent(DpEvent):
    pass


class SelfComposedDpEvent(DpEvent):
    pass


EVENT = SelfComposedDpEvent(
    event=PoissonSampledDpEvent(
        sampling_probability=0.01, event=GaussianDpEvent(noise_multiplier=1.0)
    ),
    count=2000,
)


@pytest.mark.parametrize(
    "training",
    [
        Engine(),
        Accountant(),
        Accountant().history,
        {"history": Accountant().history},
        {"module_state_dict": {}, "privacy_accountant_state_dict": {"history": Accountant().history}},
        EVENT,
    ],
    ids=["engine", "accountant", "history", "state", "checkpoint", "event"],
)
def test_objects_of_other_libraries_are_read(training):
    expected = dpscope.epsilon(
        "poisson", noise_multiplier=1, sampling_rate=0.01, total_steps=2000
    ).value
    assert dpscope.check(training).upper == pytest.approx(expected, rel=1e-6)
    counts = {"target_trials": 1000, "zero_out_trials": 1000}
    audit = dpscope.audit_counts(12, 480, **counts, claim=training)
    assert (audit.claim, audit.verdict().outcome) == (dpscope.check(training).upper, "refuted")


def test_other_objects_are_refused_with_what_is_known():
    for call in (
        lambda: dpscope.check(object()),
        lambda: dpscope.check([(1.0, 0.01)]),
        lambda: dpscope.audit_counts(1, 2, target_trials=9, zero_out_trials=9, claim=object()),
    ):
        with pytest.raises(TypeError, match="PrivacyEngine"):
            call()
    with pytest.raises(dpscope.DpscopeError, match="save it after training"):
        dpscope.check({"history": []})


class Sampler:
    def __init__(self, records):
        self.records = records

    def __len__(self):
        return self.records


class RandomSampler(Sampler):
    replacement = False


class SequentialSampler(Sampler):
    pass


class BatchSampler:
    """What torch's DataLoader cuts batches by."""

    batch_size, drop_last = 256, False

    def __init__(self, sampler):
        self.sampler = sampler


class Buckets:
    """Batches that records of a shuffle do not fill in their order."""

    batch_size, drop_last = 256, False

    def __init__(self, sampler):
        self.sampler = sampler


class Loader:
    """What torch's DataLoader has."""

    def __init__(self, sampler):
        self.batch_sampler = BatchSampler(sampler)


class PoissonLoader:
    """What Opacus' DPDataLoader has."""

    batch_sampler = SimpleNamespace(num_samples=60_000, sample_rate=256 / 60_000)


def test_data_loaders_describe_themselves():
    options = {"epochs": 20, "noise_multiplier": 0.8, "claim": 3.0, "delta": 1e-5}
    shuffled = dpscope.check(loader=Loader(RandomSampler(60_000)), **options)
    named = dpscope.check(loader="shuffle", dataset_size=60_000, batch_size=256, **options)
    assert shuffled.lower == named.lower and shuffled.verdict().outcome == "refuted"
    poisson = dpscope.check(loader=PoissonLoader(), accountant="poisson", **options)
    assert poisson.verdict().outcome == "holds-as-described" and poisson.lower < poisson.upper < 3
    ordered = dpscope.check(loader=Loader(SequentialSampler(60_000)), **options)
    assert ordered.lower > shuffled.lower
    with pytest.raises(TypeError, match="batch sampler"):
        dpscope.check(loader=object(), **options)
    with pytest.raises(dpscope.DpscopeError, match="check_loader"):
        dpscope.check(loader=Loader(Sampler(60_000)), **options)
    bucketed = Loader(RandomSampler(60_000))
    bucketed.batch_sampler = Buckets(RandomSampler(60_000))
    with pytest.raises(dpscope.DpscopeError, match="Buckets and RandomSampler.*check_loader"):
        dpscope.check(loader=bucketed, **options)


def test_a_training_without_a_claim_is_bounded():
    training = {"dataset_size": 60_000, "batch_size": 256, "epochs": 20, "noise_multiplier": 0.8}
    found = dpscope.check(loader="poisson", **training)
    assert 2.59 < found.lower < found.upper < 2.61 and found.delta == 1e-5
    assert "≥" in found.headline and "≤" in found.headline
    with pytest.raises(dpscope.DpscopeError, match="pass claim"):
        found.verdict()
    with pytest.raises(dpscope.DpscopeError, match="delta is missing"):
        dpscope.check(loader="poisson", claim=3, **training)  # δ of a claim is never assumed
    unknown = dpscope.check(loader="unknown", **training)
    assert (unknown.delta, unknown.lower, unknown.upper) == (1e-5, None, None)
