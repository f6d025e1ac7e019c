"""Plans and canaries: those of the program, from the plan to the audit."""

import numpy as np
import pytest
from conftest import run, stable

import dpscope

PLANS = {
    "plan bgm --epsilon 9 --significance 0.01": (
        dpscope.plan_bgm, dict(epsilon=9, significance=0.01)
    ),
    "plan bgm --noise-multiplier 1 --steps 100 --observations 1e6 --seed 2": (
        dpscope.plan_bgm, dict(noise_multiplier=1, steps=100, observations=1e6, seed=2)
    ),
    "plan one-run --canaries 1000 --mu 1,2 --delta 1e-6": (
        dpscope.plan_one_run, dict(canaries=1000, mu=[1, 2], delta=1e-6)
    ),
    "plan federated --design poisson:100 --claim 4 --attacker all-updates --server-rounds 10": (
        dpscope.plan_federated,
        dict(design="poisson:100", claim=4, attacker="all-updates", server_rounds=10),
    ),
}


@pytest.mark.parametrize("line", PLANS, ids=lambda line: " ".join(line.split()[1:3]))
def test_plans_equal_those_of_the_program(dpscope_json, line):
    expected = dpscope_json(line)
    function, options = PLANS[line]
    plan = function(**options)
    assert plan.report() == expected and plan.rows == expected["rows"]
    assert plan.committed is None and "<table>" in plan._repr_html_()


def test_a_plan_of_one_run_leads_to_its_audit(dpscope_json):
    random = np.random.default_rng(1)
    np.savez("records.npz", inputs=random.normal(size=(300, 4)), labels=np.arange(300) % 2)
    expected = dpscope_json("canaries make random --data records.npz --count 200 --out a.npz --seed 1")
    made = dpscope.make_canaries("random", data="records.npz", count=200, out="b.npz", seed=1)
    assert made.digest == expected["canaries_digest"] and str(made) == "200 canaries in b.npz"
    plan = dpscope.plan_one_run(canaries=made.file, out="plan")
    assert plan.committed["canaries_digest"] == made.digest and "committed in plan" in str(plan)
    coins = np.load("plan/coins.npy")
    scores = random.normal(size=200) + 3 * coins
    audit = dpscope.audit_one_run(scores, plan="plan", canaries="b.npz")
    assert audit.kind == "bound" and audit.epsilon > 1
    verified = dpscope.verify_canaries("b.npz", plan="plan", base_data="records.npz")
    assert verified.report()["in_base_data"] == 200 and verified.digest == made.digest
    with pytest.raises(dpscope.DpscopeError, match="plan"):
        dpscope.plan_one_run(canaries="b.npz", out="plan")


def test_a_nonce_draws_the_coins_anew_once(dpscope_json):
    np.save("canaries.npy", np.random.default_rng(3).normal(size=(100, 5)))
    planned = dpscope.plan_one_run(canaries="canaries.npy", out="plan", delta=1e-6)
    before = np.load("plan/coins.npy")
    drawn = dpscope.plan_one_run(out="plan", nonce="00ff")
    assert drawn.committed == planned.committed and drawn.rows == []
    assert str(drawn) == "committed in plan" and drawn.report()["delta"] == 1e-6
    assert not np.array_equal(before, np.load("plan/coins.npy"))
    scores = np.random.default_rng(4).normal(size=100)
    with pytest.warns(dpscope.DpscopeWarning, match="nonce"):
        audit = dpscope.audit_one_run(scores, plan="plan", canaries="canaries.npy")
    assert audit.report()["input"]["nonce"] == "00ff"
    for options, message in [
        (dict(nonce="01"), "one nonce only"),
        (dict(nonce="zz", delta=1e-5), "delta"),
        (dict(nonce="01", canaries=10), "canaries"),
    ]:
        with pytest.raises(dpscope.DpscopeError, match=message):
            dpscope.plan_one_run(out="plan", **options)
    with pytest.raises(dpscope.DpscopeError, match="out"):
        dpscope.plan_one_run(nonce="01")


def test_a_federated_plan_gives_directions(dpscope_json):
    plan = dpscope.plan_federated(design="poisson:20", dimension=100, out="plan")
    first = dpscope.canary_direction("plan", 0)
    dpscope_json("canaries direction --plan plan --index 0 --out first.npy")
    assert np.array_equal(first, np.load("first.npy")) and first.dtype == np.float64
    assert abs(np.linalg.norm(first) - 1) < 1e-6
    np.savez("model.npz", a=np.zeros((9, 10)), b=np.zeros(10))
    parts = dpscope.canary_direction("plan", 0, like="model.npz")
    assert np.array_equal(np.concatenate([parts["a"].ravel(), parts["b"]]), first)
    control = dpscope.canary_direction("plan", control=True)
    directions = [dpscope.canary_direction("plan", i) for i in range(plan.committed["inserted"])]
    seen = (first + control) / np.linalg.norm(first + control)
    audit = dpscope.audit_federated([one @ seen for one in directions], plan="plan")
    assert audit.kind == "bound"


COLUMNS = """
[[columns]]
name = "c"
kind = "category"
names = ["a", "b"]

[[columns]]
name = "x"
kind = "integer"
low = 0
high = 1000
"""


def test_folders_of_generators_are_planned(dpscope_json, tmp_path):
    (tmp_path / "columns.toml").write_text(COLUMNS)
    (tmp_path / "data.csv").write_text("c,x\na,1\na,2\nb,3\n")
    table = dict(data="data.csv", columns="columns.toml", rows=4)
    text = dpscope.plan_generator(
        claim=0.5, delta=0, **table, target_row=2, runs=60, seed=5, out="audit"
    )
    line = (
        "plan generator --claim 0.5 --delta 0 --data data.csv --columns columns.toml --rows 4 "
        "--target-row 2 --runs 60 --seed 5 --out other"
    )
    assert text.replace("audit", "other") == run(line)
    manifests = [(tmp_path / name / "manifest.toml").read_text() for name in ("audit", "other")]
    assert manifests[0] == manifests[1]
    text = dpscope.canary_rows(**table, count=20, claim=1, out="one-run")
    assert "one-run" in text and (tmp_path / "one-run" / "manifest.toml").exists()


def test_canaries_are_optimised(dpscope_json):
    line = (
        "canaries optimise --count 6 --metasteps 2 --records 200 --steps 5 --seed 1 --device cpu "
        "--validation-splits 2 --out "
    )
    expected = dpscope_json(line + "a.npz")
    calls = []
    made = dpscope.optimise_canaries(
        count=6,
        metasteps=2,
        records=200,
        steps=5,
        seed=1,
        device="cpu",
        validation_splits=2,
        out="b.npz",
        progress=lambda done, total: calls.append((done, total)),
    )
    without_file = lambda document: {**document, "file": None}
    assert without_file(made.report()) == without_file(expected)
    assert calls[-1] == (2, 2) and np.load("b.npz")["inputs"].shape[0] == 6


def test_documents_of_plans_are_copies():
    plan = dpscope.plan_bgm(epsilon=9)
    plan.rows.clear()
    plan.report().clear()
    assert stable(plan.report())["delta"] == 1e-5 and plan.rows


def test_a_plan_has_its_coins_and_audits_by_canary(tmp_path):
    records = {"inputs": np.random.default_rng(0).normal(size=(500, 3)), "labels": np.arange(500) % 2}
    canaries = dpscope.make_canaries("random", data=records, count=200, out=tmp_path / "canaries.npz")
    plan = dpscope.plan_one_run(canaries=canaries.file, guesses=20, out=tmp_path / "plan")
    assert plan.coins.dtype == bool and plan.coins.shape == (200,)
    assert plan.included.tolist() == np.flatnonzero(plan.coins).tolist()
    scores = 4.0 * plan.coins + np.random.default_rng(1).normal(size=200)
    options = {"canaries": canaries.file, "base_data": None}
    with pytest.raises(ValueError, match="canary 1, and 199 in all"):
        plan.audit({0: 1.0}, **options)
    with pytest.raises(ValueError, match="canary 200; the plan has those from 0 to 199"):
        plan.audit(dict(enumerate([*scores, 0.0])), **options)
    backwards = dict(reversed(list(enumerate(scores))))
    audit = plan.audit(backwards, claim=1.0, **options)
    assert audit.kind == "bound" and audit.epsilon > 1 and audit.adjacency == "add-remove"
    with pytest.raises(dpscope.DpscopeError, match="pass out"):
        dpscope.plan_one_run(canaries=100, mu=1).coins


def test_scores_of_two_kinds_need_no_coins():
    random = np.random.default_rng(2)
    included, excluded = random.normal(3, 1, 90), random.normal(0, 1, 110)
    options = {"guesses": 20, "independent_coins": True}
    audit = dpscope.audit_one_run(included=included, excluded=excluded, **options)
    assert audit.kind == "bound" and audit.epsilon > 1
    swapped = dpscope.audit_one_run(included=excluded, excluded=included, **options)
    assert swapped.epsilon == 0
    for wrong in ({"included": included}, {"included": included, "excluded": excluded, "coins": [1]}):
        with pytest.raises(TypeError, match="included and excluded"):
            dpscope.audit_one_run(**wrong)
