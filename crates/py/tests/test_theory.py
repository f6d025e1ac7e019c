"""Accounting equals that of the program to the last bit."""

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
        found.epsilon("nothing")


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
    assert found.verdict().outcome == "holds-as-described" and found.headline == expected["says"]
    assert found.lower < found.upper < 2 and found.findings == []
    with pytest.raises(dpscope.DpscopeError, match="pass claim"):
        dpscope.check(import_="history.json", delta=1e-5).verdict()
