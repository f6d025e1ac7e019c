"""Mechanisms that are simulated or trained: the numbers of the program, progress and Ctrl-C."""

import signal
import threading

import pytest
from conftest import stable

import dpscope


def test_simulations_equal_those_of_the_program(dpscope_json):
    line = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e4 --seed 7 --device cpu"
    expected = dpscope_json(line + " --claim 0.72")
    calls = []
    audit = dpscope.audit_bgm(
        noise_multiplier=1,
        steps=100,
        observations=1e4,
        seed=7,
        device="cpu",
        claim=0.72,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert stable(audit.report()) == stable(expected)
    assert calls[-1] == (10_000, 10_000)
    assert audit.verdict().outcome == "refuted"
    # another claim needs no further simulation
    assert audit.verdict(claim=6).outcome == "not-refuted"


DPSGD = "audit dpsgd --records 100 --batch-size 10 --poisson-epsilon 4 --seed 1 --device cpu"
FEDAVG = (
    "audit fedavg --noise-multiplier 0.3 --clients 20 --rounds 4 --participation each-once "
    "--design poisson:10 --seed 1 --device cpu"
)


@pytest.mark.parametrize("protocol", ["--runs 40", "--protocol one-run --canaries 10"])
def test_dpsgd_equals_that_of_the_program(dpscope_json, protocol):
    expected = dpscope_json(f"{DPSGD} {protocol} --claim 0.1 --delta 1e-6")
    training = dict(records=100, batch_size=10, poisson_epsilon=4, seed=1, device="cpu")
    options = dict(runs=40) if "runs" in protocol else dict(protocol="one-run", canaries=10)
    audit = dpscope.audit_dpsgd(**training, **options, claim=0.1, delta=1e-6)
    assert stable(audit.report()) == stable(expected)
    # so few runs or canaries cannot refute it
    assert audit.verdict(claim=100).outcome == "inconclusive"
    assert "<svg" in audit.svg() and audit.headline in audit.page()


def test_outputs_of_trainings_are_audited(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trained = dpscope.audit_dpsgd(
        records=100, batch_size=10, poisson_epsilon=4, runs=40, seed=1, device="cpu",
        outputs_to="outputs.npz",
    )
    recorded = dpscope.audit_outputs("outputs.npz", threat_model="partially-informed")
    assert recorded.report()["observations"]["target"] == 20
    assert trained.report()["observations"]["target"] == 20


def test_fedavg_equals_that_of_the_program(dpscope_json):
    expected = dpscope_json(FEDAVG)
    audit = dpscope.audit_fedavg(
        noise_multiplier=0.3,
        clients=20,
        rounds=4,
        participation="each-once",
        design="poisson:10",
        seed=1,
        device="cpu",
    )
    assert stable(audit.report()) == stable(expected)
    assert audit.epsilon == expected["bounds"]["epsilon"] and audit.kind == "bound"
    assert audit.verdict(claim=100).outcome == "not-refuted"


def test_noisy_sums_equal_those_of_the_program(dpscope_json):
    line = "audit gaussian --noise-multiplier 1 --dimension 1e4 --repeats 3 --seed 1 --device cpu"
    expected = dpscope_json(line)
    calls = []
    audit = dpscope.audit_gaussian(
        noise_multiplier=1,
        dimension=1e4,
        repeats=3,
        seed=1,
        device="cpu",
        progress=lambda done, total: calls.append((done, total)),
    )
    assert stable(audit.report()) == stable(expected) and calls[-1] == (3, 3)


def test_pategan_equals_that_of_the_program(dpscope_json, tmp_path):
    expected = dpscope_json("audit pategan --runs 40 --fault U1,S4 --gamma 0.5 --iterations 2 --seed 1")
    audit = dpscope.audit_pategan(runs=40, fault=["U1", "S4"], gamma=0.5, iterations=2, seed=1)
    assert stable(audit.report()) == stable(expected)
    assert audit.kind == "bound" and audit.epsilon == expected["epsilon"]
    assert audit.verdict().outcome == expected["verdict"] and str(audit.verdict()) == expected["says"]
    assert {fault for found in audit.findings for fault in found["data"]["faults"]} >= {"U1"}
    text = " ".join(str(audit).split())
    assert all(" ".join(found["sentence"].split()) in text for found in audit.findings)
    with pytest.raises(dpscope.DpscopeError, match="claim"):
        audit.verdict(claim=1)
    audit.page().save(tmp_path / "report.html")


COLUMNS = """
[[columns]]
name = "x"
kind = "integer"
low = 0
high = 100

[[columns]]
name = "c"
kind = "category"
names = ["a", "b"]
"""


def test_a_table_is_searched_for_its_target(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "columns.toml").write_text(COLUMNS)
    (tmp_path / "data.csv").write_text("x,c\n" + "".join(f"{x},{'ab'[x % 2]}\n" for x in range(12)))
    calls = []
    audit = dpscope.audit_pategan(
        runs=20, data="data.csv", columns="columns.toml", rows=4, candidates=2, candidate_runs=20,
        iterations=1, seed=1, progress=lambda done, total: calls.append((done, total)),
    )
    assert audit.report()["data"]["candidates"] == 2 and calls[-1] == (40, 40)
    assert audit.headline in audit.page()


ENDLESS = {
    dpscope.audit_bgm: dict(noise_multiplier=1, steps=100, observations=1e15, device="cpu"),
    dpscope.audit_gaussian: dict(noise_multiplier=1, dimension=1e5, repeats=100_000, full=True, device="cpu"),
    dpscope.audit_dpsgd: dict(
        records=100, batch_size=10, poisson_epsilon=4, runs=1e6, device="cpu"
    ),
    dpscope.audit_fedavg: dict(
        noise_multiplier=1, clients=20, rounds=5, repeats=400, device="cpu"
    ),
    dpscope.audit_pategan: dict(runs=50_000),
    dpscope.optimise_canaries: dict(
        count=6, metasteps=10_000, records=200, steps=5, device="cpu"
    ),
}


def test_very_long_runs_need_consent():
    with pytest.raises(dpscope.DpscopeError, match="estimated to take .*; .* pass yes to start it"):
        dpscope.audit_bgm(**ENDLESS[dpscope.audit_bgm], seed=1)


@pytest.fixture
def interrupts():
    """The handler of Python: shells let jobs in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("function", ENDLESS, ids=lambda function: function.__name__)
def test_control_c_stops_a_run(function, tmp_path):
    options = dict(ENDLESS[function], seed=1, yes=True)
    if function is dpscope.optimise_canaries:
        options["out"] = tmp_path / "canaries.npz"
    has_started = threading.Event()
    main = threading.main_thread().ident

    def press():  # runs while the audit does: the interpreter is not blocked
        has_started.wait()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        function(**options, progress=lambda done, total: has_started.set())
    thread.join()


def test_exceptions_of_progress_stop_a_run():
    class Enough(Exception):
        pass

    def progress(done, total):
        raise Enough

    with pytest.raises(Enough):
        dpscope.audit_bgm(**ENDLESS[dpscope.audit_bgm], seed=1, yes=True, progress=progress)
