"""Audits of mechanisms that are simulated or trained here."""

from __future__ import annotations

from dpscope._command import Command, Progress
from dpscope._function import command
from dpscope._results import Audit


@command("audit bgm")
def audit_bgm(call: Command, *, progress: Progress | None = None) -> Audit:
    """Bound ε by a simulation of DP-SGD that releases every noisy sum.

    `progress` counts observations.

    Examples
    --------
    >>> audit = audit_bgm(
    ...     noise_multiplier=1.0, steps=100, observations=1e4, seed=1, device="cpu", claim=0.72
    ... )
    >>> audit.epsilon < 4.3772, audit.verdict().outcome
    (True, 'refuted')
    """
    return Audit(call.document_with_counts(progress), call)


@command("audit gaussian")
def audit_gaussian(call: Command, *, progress: Progress | None = None) -> Audit:
    """Bound ε of the Gaussian mechanism by canaries in one noisy sum.

    The result is that of the first run. `progress` counts runs.

    Examples
    --------
    >>> audit = audit_gaussian(noise_multiplier=1.0, dimension=1e6, delta=1e-6, seed=1, claim=1)
    >>> print(audit.headline)
    ε ≥ 1.8595 at δ = 1e-6, with 95 % confidence (add/remove adjacency)
    >>> audit.verdict().outcome, audit.verdict(claim=5).outcome
    ('refuted', 'not-refuted')
    """
    return Audit(call.document_with_counts(progress), call)


@command("audit dpsgd", types={"runs": "float"})
def audit_dpsgd(call: Command, *, progress: Progress | None = None) -> Audit:
    """Train models by DP-SGD with a canary, and bound ε of their outputs.

    `outputs_to` writes the outputs of every run, for `audit_outputs`. `progress` counts trainings.

    Examples
    --------
    >>> audit = audit_dpsgd(
    ...     records=100, batch_size=10, poisson_epsilon=1, runs=200, seed=1, device="cpu"
    ... )
    >>> audit.kind, audit.report()["subject"]
    ('bound', 'trained_models')
    """
    return Audit(call.document_with_counts(progress), call)


@command("audit fedavg")
def audit_fedavg(call: Command, *, progress: Progress | None = None) -> Audit:
    """Train a model by DP-FedAvg with canary clients, and bound its ε.

    `progress` counts trainings.

    Examples
    --------
    >>> audit = audit_fedavg(
    ...     noise_multiplier=0.3, clients=20, rounds=4, participation="each-once",
    ...     design="poisson:10", seed=1, device="cpu",
    ... )
    >>> audit.kind, audit.report()["design"]["unit"]
    ('bound', 'user')
    """
    return Audit(call.document_with_counts(progress), call)


@command("audit pategan", types={"fault": "str | Sequence[str]"})
def audit_pategan(call: Command, *, progress: Progress | None = None) -> Audit:
    """Run PATE-GAN, faithful or faulty, and report its faults and ε of its rows.

    `columns` is a TOML file. `verdict()` is on the accounted ε. `progress` counts candidates, then
    runs.

    Examples
    --------
    >>> audit = audit_pategan(runs=40, iterations=2, fault="U1", gamma=0.5, seed=1)
    >>> "U1" in [fault["name"] for fault in audit.report()["faults"]]
    True
    """
    # the saved counts may exceed the size limit, so both are drawn now
    files = {"plot": "plot.svg", "report": "report.html"}
    report, drawn = call.document_with(files, progress)
    return Audit(report, call, {option: text.decode() for option, text in drawn.items()})
