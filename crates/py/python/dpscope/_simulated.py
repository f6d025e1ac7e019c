"""Audits of mechanisms that are simulated or trained here."""

from __future__ import annotations

from collections.abc import Sequence

from dpscope._command import Command, Path, Progress
from dpscope._results import Audit


def _audit(name: str, options: dict[str, object]) -> Audit:
    progress = options.pop("progress")
    command = Command(name, options)
    tested = ("claim", "claim_adjacency", "fail_above")
    return Audit(command.document_with_counts(progress, tested), command)  # type: ignore[arg-type]


def audit_bgm(
    *,
    noise_multiplier: float,
    observations: float,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    sampler: str = "shuffle",
    threat_model: str | None = None,
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    threshold_rule: str = "simultaneous",
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
    seed: int | None = None,
    device: str | None = None,
    float_mode: str | None = None,
    threads: int | None = None,
    checkpoint: Path | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Bound ε by a simulation of DP-SGD that releases every noisy sum.

    Parameters
    ----------
    noise_multiplier
        Noise standard deviation divided by the clip norm, 0.2 to 20.
    observations
        Simulated runs in both worlds together, an even number such as 1e6.
    steps, dataset_size, batch_size, epochs, total_steps
        Length of the training: batches per epoch, or records and records per batch; passes [default:
        1], or steps in all.
    sampler, threat_model, buffer_examples, uses_per_epoch, max_batch_size
        How batches are drawn, and what the attacker chooses.
    seed
        Seed below 2**53 [default: fresh entropy].
    device, float_mode, threads
        "auto" [default], "cpu", "gpu" or the name of a device; "fast" or "exact"; CPU threads.
    checkpoint
        File that saves the state at least once per second, and from which the run is resumed.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with the numbers of observations so far and in all. Ctrl-C and exceptions of
        `progress` stop the run.

    The other parameters are those of `audit_scores`.

    Examples
    --------
    >>> audit = audit_bgm(
    ...     noise_multiplier=1.0, steps=100, observations=1e4, seed=1, device="cpu", claim=0.72
    ... )
    >>> audit.epsilon < 4.3772, audit.verdict().outcome
    (True, 'refuted')
    """
    return _audit("audit bgm", dict(locals()))


def audit_gaussian(
    *,
    noise_multiplier: float,
    dimension: float,
    design: str = "poisson:1000",
    full: bool = False,
    repeats: int = 1,
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
    seed: int | None = None,
    device: str | None = None,
    threads: int | None = None,
    checkpoint: Path | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Bound ε of the Gaussian mechanism by canaries in one noisy sum.

    Parameters
    ----------
    noise_multiplier
        Standard deviation of the noise per coordinate divided by the norm of a canary.
    dimension
        Dimension of the sum and of the directions.
    design
        How the number of canaries is drawn: "poisson:MEAN", "bernoulli:SLOTS:PROBABILITY" or
        "fixed:NUMBER".
    full
        Draw every coordinate, in place of the joint distribution of the cosines.
    repeats
        Independent runs; the result is that of the first.
    device, threads, checkpoint, yes, progress
        As in `audit_bgm`; `progress` counts runs.

    The other parameters are those of `audit_scores`.

    Examples
    --------
    >>> audit = audit_gaussian(noise_multiplier=1.0, dimension=1e6, delta=1e-6, seed=1, claim=1)
    >>> print(audit.headline)
    ε ≥ 1.8595 at δ = 1e-6, with 95 % confidence (add/remove adjacency)
    >>> audit.verdict().outcome, audit.verdict(claim=5).outcome
    ('refuted', 'not-refuted')
    """
    return _audit("audit gaussian", dict(locals()))


def audit_dpsgd(
    *,
    runs: float | None = None,
    protocol: str = "two-worlds",
    noise_multiplier: float | None = None,
    poisson_epsilon: float | None = None,
    model: Path = "mlp",
    data: Path | None = None,
    labels: Path | None = None,
    classes: Sequence[int] | None = None,
    records: int | None = None,
    epochs: int = 1,
    batch_size: int | None = None,
    sampler: str = "shuffle",
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    threat_model: str | None = None,
    clip_norm: float | None = None,
    learning_rate: float | str | None = None,
    momentum: float | None = None,
    canary: str | None = None,
    fixed_canary: bool = False,
    debias_records: int | None = None,
    outputs_to: Path | None = None,
    canaries: int | None = None,
    canary_file: Path | None = None,
    canary_kind: str | None = None,
    repeats: int | None = None,
    reference_models: int | None = None,
    score: str | None = None,
    guesses: int | None = None,
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    pretrain_records: int | None = None,
    pretrain_epochs: int | None = None,
    pretrain_learning_rate: float | None = None,
    threshold_rule: str = "simultaneous",
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
    seed: int | None = None,
    device: str | None = None,
    device_memory: int | None = None,
    float_mode: str | None = None,
    threads: int | None = None,
    checkpoint: Path | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Train models by DP-SGD with a canary, and bound ε of their outputs.

    Parameters
    ----------
    runs
        Models in both worlds together, an even number.
    protocol
        "two-worlds", or "one-run": many canaries in each of a few trainings.
    noise_multiplier, poisson_epsilon
        Noise standard deviation divided by the clip norm, or the ε that Poisson accounting claims.
    model, data, labels, classes, records
        Model: "mlp", "lenet", "cnn" or a TOML file of layers. Data: "p100-like", "location-like",
        "fmnist-like", "cifar-like" or a file, with its labels, the classes to use and the number of
        records.
    epochs, batch_size, sampler, buffer_examples, uses_per_epoch, max_batch_size, threat_model
        As in `audit_bgm`.
    clip_norm, learning_rate, momentum
        The training; a learning rate of "search" is searched for. Momentum is of "one-run" alone.
    canary, fixed_canary, debias_records
        Direction of the canary, "random" or "dirac"; draw it once for all runs; subtract the mean
        gradient of the others, estimated from so many records.
    outputs_to
        File, npz, that gets the outputs of every run, for `audit_outputs`.
    canaries, canary_file, canary_kind, repeats, reference_models, score, guesses, guesses_in, \
    guesses_out
        Of "one-run": number, file or kind of the canaries, trainings, and how canaries are guessed.
    pretrain_records, pretrain_epochs, pretrain_learning_rate
        Of "one-run": training without privacy before.
    device, device_memory, float_mode, threads, checkpoint, yes, progress
        As in `audit_bgm`; memory of a GPU that models may use, in MiB. `progress` counts trainings.

    The other parameters are those of `audit_scores`.

    Examples
    --------
    >>> audit = audit_dpsgd(
    ...     records=100, batch_size=10, poisson_epsilon=1, runs=200, seed=1, device="cpu"
    ... )
    >>> audit.kind, audit.report()["subject"]
    ('bound', 'trained_models')
    """
    return _audit("audit dpsgd", dict(locals()))


def audit_fedavg(
    *,
    noise_multiplier: float,
    noise_mechanism: str = "gaussian",
    model: Path = "mlp",
    data: Path | None = None,
    labels: Path | None = None,
    classes: Sequence[int] | None = None,
    client_column: str | None = None,
    clients: int | None = None,
    records_per_client: int | None = None,
    concentration: float | None = None,
    rounds: int = 50,
    participation: str | None = None,
    canary_presentations: int | None = None,
    local_epochs: int | None = None,
    local_batch_size: int | None = None,
    local_learning_rate: float | None = None,
    clip_norm: float | None = None,
    adaptive_clipping: bool = False,
    server_learning_rate: float | None = None,
    server_momentum: float | None = None,
    design: str = "poisson:200",
    attack: str | None = None,
    final_model_only: bool = False,
    repeats: int | None = None,
    without_canaries: int | None = None,
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
    seed: int | None = None,
    device: str | None = None,
    device_memory: int | None = None,
    threads: int | None = None,
    checkpoint: Path | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Train a model by DP-FedAvg with canary clients, and bound its ε.

    Parameters
    ----------
    noise_multiplier, noise_mechanism
        Standard deviation of the noise of a sum of updates divided by their norm; "gaussian", "tree"
        or "banded:BANDS".
    model, data, labels, classes
        As in `audit_dpsgd`.
    client_column, clients, records_per_client, concentration
        Clients: a column of the data, or their number, records of each and the concentration of their
        labels.
    rounds, participation, canary_presentations
        Server rounds; who takes part in which: "each-once", "epochs:E", "min-separation:E",
        "poisson:RATE" or "fixed-size:N"; rounds of each canary.
    local_epochs, local_batch_size, local_learning_rate
        The training of a participant.
    clip_norm, adaptive_clipping, server_learning_rate, server_momentum
        The server.
    design, attack, final_model_only
        How the number of canaries is drawn; the attack whose bound decides: "final-model",
        "largest-update", "sum-of-updates" or "known-rounds"; store no updates.
    repeats, without_canaries
        Trainings, all covered by one bound, and trainings without canaries, to compare accuracies.
    device, device_memory, threads, checkpoint, yes, progress
        As in `audit_dpsgd`.

    The other parameters are those of `audit_scores`.

    Examples
    --------
    >>> audit = audit_fedavg(
    ...     noise_multiplier=0.3, clients=20, rounds=4, participation="each-once",
    ...     design="poisson:10", seed=1, device="cpu",
    ... )
    >>> audit.kind, audit.report()["design"]["unit"]
    ('bound', 'user')
    """
    return _audit("audit fedavg", dict(locals()))


def audit_pategan(
    *,
    runs: int = 1000,
    data: Path | None = None,
    columns: Path | None = None,
    rows: int | None = None,
    label: str | None = None,
    utility: bool | int = False,
    positive: str | None = None,
    utility_gamma: Sequence[float] | float | None = None,
    utility_plot: Path | None = None,
    target_row: int | None = None,
    candidates: int | None = None,
    candidate_runs: int | None = None,
    teachers: int | None = None,
    gamma: float | None = None,
    batch_size: int | None = None,
    iterations: int | None = None,
    epsilon: float | None = None,
    fault: str | Sequence[str] | None = None,
    harness_faults: bool = False,
    checks_significance: float | None = None,
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    fail_above: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    checkpoint: Path | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Run PATE-GAN, faithful or faulty, and report its faults and ε of its rows.

    Parameters
    ----------
    runs
        Runs of each world.
    data, columns, rows, label
        Table, csv, and the TOML file of its public columns; rows that each run releases; column that is
        the label. Without them, the worst case.
    utility, positive, utility_gamma, utility_plot
        Train classifiers on released rows too (of so many generators), for this category of the label,
        with these inverse scales of noise beside, and draw the result to an SVG file.
    target_row, candidates, candidate_runs
        Row that one world lacks, or how it is searched.
    teachers, gamma, batch_size, iterations, epsilon
        The mechanism; training ends after so many iterations or at this ε of the published moments.
    fault, harness_faults, checks_significance
        Faults to switch on, such as ["U1", "S4"]; chance that checks report a fault where none is.
    threads, checkpoint, yes, progress
        As in `audit_bgm`; `progress` counts candidates, then runs.

    The other parameters are those of `audit_scores`. `verdict()` is on the accounted ε.

    Examples
    --------
    >>> audit = audit_pategan(runs=40, iterations=2, fault="U1", gamma=0.5, seed=1)
    >>> "U1" in [fault["name"] for fault in audit.report()["faults"]]
    True
    """
    options = dict(locals())
    if fault is not None and not isinstance(fault, str):
        options["fault"] = ",".join(fault)
    del options["progress"]
    command = Command("audit pategan", options)
    # the saved counts may exceed the size limit, so both are drawn now
    files = {"plot": "plot.svg", "report": "report.html"}
    report, drawn = command.document_with(files, progress)
    return Audit(report, command, {option: text.decode() for option, text in drawn.items()})
