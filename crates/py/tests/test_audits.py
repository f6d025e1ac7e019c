"""Audits equal those of the program to the last bit."""

import numpy as np
import pytest
from conftest import run, stable

import dpscope


def test_scores_equal_those_of_the_program(dpscope_json, scores):
    np.save("in.npy", scores[0])
    np.save("out.npy", scores[1])
    line = "audit scores --target in.npy --zero-out out.npy --claim 0.5 --delta 1e-6"
    expected = dpscope_json(line)
    audit = dpscope.audit_scores(*scores, claim=0.5, delta=1e-6)
    assert stable(audit.report()) == stable(expected)
    assert audit.report()["version"] == dpscope.__version__
    assert audit.report()["input"]["target"] == "target"
    assert audit.epsilon == expected["result"]["epsilon"] and audit.kind == "bound"
    of_files = dpscope.audit_scores("in.npy", "out.npy", claim=0.5, delta=1e-6)
    assert of_files.report()["input"] == expected["input"]


def test_labels_in_place_of_a_world_are_refused(scores):
    both = np.concatenate(scores)
    labels = np.repeat([1, 0], [len(world) for world in scores])
    call = r"audit_scores\(target=scores\[labels == 1\], zero_out=scores\[labels == 0\]\)"
    with pytest.raises(dpscope.DpscopeError, match=call):
        dpscope.audit_scores(both, labels)
    with pytest.raises(dpscope.DpscopeError, match="target world"):
        dpscope.audit_scores(labels == 1, both)
    dpscope.audit_scores(both[labels == 1], both[labels == 0])


def test_independent_coins_are_stated():
    coins = np.arange(40) % 4 < 2
    options = {"coins": coins, "guesses": 15}
    pairs = dpscope.audit_one_run(np.arange(40.0) * 7 % 41, **options)
    assert pairs.report()["design"]["game"] == "matched_pairs"
    stated = dpscope.audit_one_run(np.arange(40.0) * 7 % 41, independent_coins=True, **options)
    assert stated.report()["design"]["game"] == "coins"
    with pytest.raises(dpscope.DpscopeError, match="pass independent_coins"):
        dpscope.audit_one_run(np.arange(40.0), coins=coins, guesses_in=15)


def test_a_changed_score_changes_the_result(scores):
    audit = dpscope.audit_scores(*scores)
    other = dpscope.audit_scores(scores[0] * (1 + 2**-50), scores[1])
    assert audit.report()["seed"] != other.report()["seed"]


def test_outputs_equal_those_of_the_program(dpscope_json):
    random = np.random.default_rng(2)
    target, zero_out = random.normal(size=(2, 300, 2, 5))
    target[:, :, 0] += 1
    np.savez("runs.npz", target=target, zero_out=zero_out, noise_multiplier=1.0)
    line = "audit outputs runs.npz --threat-model partially-informed"
    expected = dpscope_json(line)
    audit = dpscope.audit_outputs(
        target, zero_out, noise_multiplier=1.0, threat_model="partially-informed"
    )
    assert stable(audit.report()) == stable(expected)
    assert [found["data"] for found in audit.findings] == expected["findings"] != []
    severities = {"refutes", "warning", "note"}
    assert all(found["code"] and found["severity"] in severities for found in audit.findings)
    of_file = dpscope.audit_outputs("runs.npz", threat_model="partially-informed")
    assert of_file.report()["input"] == expected["input"]


def test_counts_equal_those_of_the_program(dpscope_json):
    line = "audit counts --false-positives 12 --zero-out-trials 1000 --false-negatives 480"
    expected = dpscope_json(line + " --target-trials 1000 --noise-multiplier 1 --steps 100")
    audit = dpscope.audit_counts(
        12, 480, target_trials=1000, zero_out_trials=1000, noise_multiplier=1, steps=100
    )
    assert stable(audit.report()) == stable(expected)


def test_one_run_equals_that_of_the_program(dpscope_json):
    random = np.random.default_rng(3)
    coins = random.integers(2, size=400)
    scores = random.normal(size=400) + 3 * coins
    np.save("scores.npy", scores)
    np.save("coins.npy", coins)
    line = "audit one-run --scores scores.npy --coins coins.npy --delta 1e-5,1e-6 --claim 1"
    expected = dpscope_json(line)
    audit = dpscope.audit_one_run(scores, coins=coins, delta=[1e-5, 1e-6], claim=1)
    assert stable(audit.report()) == stable(expected)
    assert audit.epsilon == expected["bounds"][0]["epsilon"]
    of_bools = dpscope.audit_one_run(scores, coins=coins == 1, delta=[1e-5, 1e-6], claim=1)
    assert stable(of_bools.report()) == stable(expected)


def test_a_plan_of_one_run_is_audited(dpscope_json):
    np.save("canaries.npy", np.random.default_rng(3).normal(size=(100, 5)))
    dpscope_json("plan one-run --canaries canaries.npy --out plan")
    scores = np.random.default_rng(4).normal(size=100)
    with pytest.warns(dpscope.DpscopeWarning, match="pass canaries"):
        audit = dpscope.audit_one_run(scores, plan="plan")
    np.save("scores.npy", scores)
    expected = dpscope_json("audit one-run --scores scores.npy --plan plan")
    assert stable(audit.report()) == stable(expected)
    with pytest.warns(dpscope.DpscopeWarning):
        second = dpscope.audit_one_run(scores + 1, plan="plan")
    assert second.kind == "estimate"


def test_federated_equals_that_of_the_program(dpscope_json):
    cosines = np.random.default_rng(5).normal(size=100) / np.sqrt(1e5) + 0.02
    np.save("cosines.npy", cosines)
    expected = dpscope_json("audit federated --cosines cosines.npy --dimension 1e5 --claim 8")
    audit = dpscope.audit_federated(cosines, dimension=1e5, claim=8)
    assert stable(audit.report()) == stable(expected)
    assert audit.epsilon == expected["bounds"]["epsilon"]


COLUMNS = """
[[columns]]
name = "x"
kind = "integer"
low = 0
high = 1000000

[[columns]]
name = "c"
kind = "category"
names = ["a", "b"]
"""


def test_generators_equal_those_of_the_program(dpscope_json, tmp_path):
    (tmp_path / "columns.toml").write_text(COLUMNS)
    (tmp_path / "data.csv").write_text("x,c\n1,a\n2,a\n3,b\n")
    run(
        "plan generator --claim 0.5 --delta 0 --data data.csv --columns columns.toml "
        "--target-row 2 --rows 4 --runs 60 --seed 5 --out audit"
    )
    random = np.random.default_rng(6)
    for world, category in [("with", "b"), ("without", "a")]:
        (tmp_path / "audit" / world).mkdir(exist_ok=True)
        for number in range(60):
            rows = "".join(f"{x},{category}\n" for x in random.integers(1_000_000, size=4))
            (tmp_path / "audit" / world / f"{number:04}.csv").write_text("x,c\n" + rows)
    expected = dpscope_json("audit generator audit")
    audit = dpscope.audit_generator("audit")
    assert stable(audit.report()) == stable(expected)
    assert audit.epsilon == expected["attack"]["epsilon"] > 0.5
    assert audit.verdict().outcome == "refuted" and audit.plot().startswith("<svg")


def test_drawings_equal_those_of_the_program(dpscope_json, scores, tmp_path):
    np.save("in.npy", scores[0])
    np.save("out.npy", scores[1])
    dpscope_json("audit scores --target in.npy --zero-out out.npy --plot plot.svg")
    audit = dpscope.audit_scores("in.npy", "out.npy")
    assert audit.svg() == (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert audit.svg()._repr_svg_().startswith("<svg") and audit.svg() in audit._repr_html_()
    audit.svg().save("other.svg")
    assert (tmp_path / "other.svg").read_bytes() == (tmp_path / "plot.svg").read_bytes()


def test_a_page_is_that_of_the_program(scores, tmp_path):
    audit = dpscope.audit_scores(*scores, claim=0.5)
    audit.page().save(tmp_path / "report.html")
    assert audit.headline in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "consistent" in run(f"recompute {tmp_path / 'report.html'}")


class RecordingAxes:
    """What a drawing calls of matplotlib's axes."""

    def __init__(self):
        self.lines = {}

    def plot(self, x, y, *, label, **style):
        self.lines[label] = (x, y, style)

    def set_xlabel(self, text):
        self.xlabel = text

    set_ylabel = set_title = set_xlabel

    def legend(self):
        self.has_legend = True


def test_curves_are_drawn_on_axes(scores):
    axes = RecordingAxes()
    assert dpscope.audit_scores(*scores, claim=1).plot(axes) is axes
    assert {"audit", "claim"} <= set(axes.lines), axes.lines.keys()
    assert all(len(x) == len(y) > 0 for x, y, _ in axes.lines.values())
    counts = dpscope.audit_one_run(canaries=1000, guesses=100, correct=95)
    with pytest.raises(dpscope.DpscopeError, match="ax"):
        counts.plot(axes)
    assert counts._repr_html_().startswith(f"<p><b>{counts.headline}</b></p><table>")
    assert "<svg" not in counts._repr_html_()


def test_matplotlib_draws(scores):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("svg")
    axes = dpscope.audit_scores(*scores, claim=1).plot()
    assert len(axes.lines) >= 3 and axes.get_xlabel() == "false positive rate"


def unwrapped(result):
    """The text of a result without line breaks."""
    return " ".join(str(result).split())


def test_verdicts_on_other_claims(scores):
    audit = dpscope.audit_scores(*scores, claim=0.1)
    assert audit.verdict().outcome == "refuted"
    assert audit.verdict(claim=4).outcome == "not-refuted"
    assert audit.verdict(claim=50).outcome == "inconclusive"
    assert str(audit.verdict()) in unwrapped(audit) and "refuted" in repr(audit)
    assert (audit.claim, audit.delta, audit.adjacency) == (0.1, 1e-5, "zero-out")
    assert float(audit) == audit.epsilon < audit.ceiling and audit.confidence == 0.95
    phases = [(1.0, 0.01, 200)]
    assert audit.verdict(claim=phases).outcome == audit.verdict(claim=0.9125).outcome == "refuted"
    assert dpscope.audit_scores(*scores, claim=phases).claim == dpscope.check(phases).upper
    limited = dpscope.audit_scores(*scores, claim=4, fail_above=0.1)
    assert limited.report()["verdict"]["outcome"] == "refuted"
    assert limited.verdict().outcome == "not-refuted"
    estimate = dpscope.audit_scores(*scores, threshold_rule="max-uncorrected")
    assert (estimate.kind, estimate.verdict(claim=0.1).outcome) == ("estimate", "inconclusive")
    with pytest.raises(dpscope.DpscopeError, match="pass claim"):
        estimate.verdict()


