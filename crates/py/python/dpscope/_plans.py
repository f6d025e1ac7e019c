"""What precedes a training: sizes of audits, committed plans, and canaries."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpscope._command import Command, Path, Progress
from dpscope._results import Canaries, Plan


def plan_bgm(
    *,
    epsilon: float | None = None,
    observations: float | None = None,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    sampler: str = "shuffle",
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    threat_model: str | None = None,
    threshold_rule: str = "simultaneous",
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
) -> Plan:
    """Largest ε that audits of DP-SGD can show, by their number of observations.

    Parameters
    ----------
    epsilon
        ε that the bound should reach: how many observations it needs.
    observations
        This number of observations alone.
    noise_multiplier, steps, dataset_size, batch_size, epochs, total_steps, sampler, buffer_examples, \\
    uses_per_epoch, max_batch_size, threat_model, seed
        Predict the bound of this training, as `audit_bgm` would give it.
    threshold_rule, delta, significance, confidence
        The audit.

    Examples
    --------
    >>> plan = plan_bgm(epsilon=9)
    >>> plan.report()["target"]["observations_for_ceiling"]
    104724
    """
    return Plan(Command("plan bgm", dict(locals())).document())


def plan_one_run(
    *,
    canaries: int | Path | None = None,
    design: str | None = None,
    mu: float | Sequence[float] | None = None,
    claim: float | None = None,
    epsilon: float | None = None,
    out: Path | None = None,
    nonce: str | None = None,
    guesses: int | None = None,
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    pairs: bool = False,
    set_size: int | None = None,
    runs: int | None = None,
    adjacency: str | None = None,
    direction: str | None = None,
    delta: float | Sequence[float] | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
) -> Plan:
    """Sizes of an audit of one training run; with `out`, coins of its canaries, committed.

    Parameters
    ----------
    canaries
        Number of canaries, or their file (npz or npy).
    design
        For an audit without coins: "poisson:MEAN" or "fixed:NUMBER".
    mu, claim, epsilon
        μ of the training, or ε reported for it; ε that the bound should reach.
    out
        New folder for plan, secret seed, coins and commitment: draws the coins. Then train, and pass
        it to `audit_one_run`.
    nonce
        Random bytes, in hexadecimal, that somebody else publishes after the commitment of the plan in
        `out`: its coins are drawn again, from its seed and these bytes, once, before the training.
    guesses, guesses_in, guesses_out
        Numbers of guesses that are fixed beforehand; `guesses` is for sizes too.
    pairs, set_size, runs, adjacency, direction
        As in `audit_one_run`; number of trainings, each with its own coins.
    delta, significance, confidence
        The audit; δ may be several.

    Examples
    --------
    >>> plan = plan_one_run(canaries=1000, mu=1)
    >>> print(plan)
    1 size at δ = 1e-05
    >>> round(plan.rows[0]["expected_epsilon"], 4)
    1.6978
    """
    return Plan(Command("plan one-run", dict(locals())).document())


def plan_federated(
    *,
    design: str,
    dimension: float | None = None,
    mu: float | Sequence[float] | None = None,
    claim: float | None = None,
    attacker: str | None = None,
    server_rounds: int | None = None,
    weights: Sequence[int] | None = None,
    loudness: Sequence[float] | None = None,
    out: Path | None = None,
    delta: float | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
) -> Plan:
    """Sizes of an audit with canary clients; with `out`, their number and directions, committed.

    Parameters
    ----------
    design
        How the number of canaries is drawn: "poisson:MEAN" or "fixed:NUMBER".
    dimension
        Number of trained parameters.
    mu, claim
        μ of the training, or ε reported for it.
    attacker, server_rounds
        What the attacker sees: "final-model", "all-updates" (with their number), "sum-of-updates" or
        "known-server-rounds".
    weights, loudness
        Numbers of examples and norms that canaries report and send, drawn by lot.
    out
        New folder for plan, secret seed and commitment: draws the canaries. `canary_direction` gives
        their updates, `audit_federated` takes the folder.
    delta, significance, confidence
        The audit.

    Examples
    --------
    >>> plan = plan_federated(design="poisson:1000", mu=[1, 2])
    >>> [round(row["median_epsilon"], 4) for row in plan.rows]
    [2.4426, 6.6478]
    """
    return Plan(Command("plan federated", dict(locals())).document())


def plan_generator(
    *,
    claim: float,
    epsilon: float | None = None,
    delta: float | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    runs: int | None = None,
    out: Path | None = None,
    data: Path | None = None,
    columns: Path | None = None,
    bounds_from_data: bool = False,
    target_row: int | None = None,
    target_cells: str | None = None,
    rows: int | None = None,
    retries: int | None = None,
    allow_duplicates: bool = False,
    seed: int | None = None,
) -> str:
    """How many runs of a generator a claim needs; with `out`, the folder of the audit.

    Parameters
    ----------
    claim, epsilon
        ε reported for the generator, and ε that the bound should reach [default: one more].
    runs
        Runs of each world.
    out, data, columns, rows
        New folder for manifest and data; the real rows, csv, and the TOML file of their public
        columns; rows that each run releases.
    bounds_from_data
        Take bounds from the data: the audit then reports no ε.
    target_row, target_cells
        The row of the data that one world lacks, or cells of a row that one world has in addition.
    retries, allow_duplicates, seed
        Runs that fail, equal rows of two runs, and the seed of the runs' seeds.
    delta, significance, confidence
        The audit.

    Examples
    --------
    >>> print(plan_generator(claim=1), end="")
    72 runs of each world can show ε ≥ 2.0337 at most, by an attack without errors; 72 are needed for ε = 2.
    """
    return Command("plan generator", dict(locals())).text()


def make_canaries(
    kind: str,
    *,
    count: int,
    out: Path,
    data: Path | None = None,
    dimension: int | None = None,
    seed: int | None = None,
) -> Canaries:
    """Choose records of a file as canaries, or draw directions of gradients.

    Parameters
    ----------
    kind
        "random" or "mislabelled" records, or "directions".
    count, out
        Number of canaries, and their file, npz.
    data
        Records that are not used for training otherwise: npz with `inputs` and `labels`.
    dimension
        Number of parameters, for directions.
    seed
        Seed of the choice; coins need another, secret one.

    Examples
    --------
    >>> make_canaries("directions", count=10, dimension=4, out="rows.txt")
    Traceback (most recent call last):
    dpscope.DpscopeError: rows.txt: must end in .npz
    """
    options = dict(locals())
    del options["kind"]
    return Canaries(Command("canaries make", options, arguments=[kind]).document())


def verify_canaries(
    file: Path, *, plan: Path | None = None, seed: Path | None = None, base_data: Path | None = None
) -> Canaries:
    """Check canaries against a committed plan.

    Parameters
    ----------
    file
        File of the canaries.
    plan, seed
        Folder of the plan, and the file of its revealed seed.
    base_data
        The other training records; canaries that are among them are counted.
    """
    options = dict(locals())
    del options["file"]
    return Canaries(Command("canaries verify", options, arguments=[file]).document())


def optimise_canaries(
    *,
    count: int,
    metasteps: int,
    out: Path,
    model: Path = "mlp",
    data: Path | None = None,
    labels: Path | None = None,
    classes: Sequence[int] | None = None,
    records: int | None = None,
    start: str | None = None,
    steps: int | None = None,
    batch_size: int | None = None,
    learning_rate: float | None = None,
    momentum: float | None = None,
    splits: int | None = None,
    validation_splits: int | None = None,
    update: str | None = None,
    step_size: float | None = None,
    relaxed: bool = False,
    memory: str | int | None = None,
    allow_rough: bool = False,
    device: str | None = None,
    threads: int | None = None,
    seed: int | None = None,
    checkpoint: Path | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Canaries:
    """Optimise canaries so that a trained model reveals whether it saw them.

    Parameters
    ----------
    count, out
        Number of canaries, and their file, npz.
    metasteps, splits, validation_splits, update, step_size
        Steps of the optimisation; splits of the canaries per step and per validation; "sign",
        "gradient" or "momentum"; step size as a fraction of a feature's range.
    model, data, labels, classes, records, start
        As in `audit_dpsgd`; what canaries start from: "random" or "mislabelled" records.
    steps, batch_size, learning_rate, momentum
        Each training.
    relaxed, allow_rough
        Write binary features without rounding; accept layers with discontinuous derivatives.
    memory
        For saved training states: "store-all", "two-level", or a limit in MiB.
    device, threads, seed
        As in `audit_bgm`.
    checkpoint
        State of the optimisation, from which it is resumed [default: beside `out`]; Ctrl-C leaves it.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with the metasteps so far and in all.
    """
    options = dict(locals())
    del options["progress"]
    return Canaries(Command("canaries optimise", options).document(progress))


def canary_direction(
    plan: Path, index: int | None = None, *, control: bool = False, like: Path | None = None
) -> npt.NDArray[np.float64] | dict[str, npt.NDArray[np.float64]]:
    """The update direction of a canary client in a committed plan, of norm 1.

    Parameters
    ----------
    plan
        Folder that `plan_federated` wrote.
    index, control
        Number of the canary from 0, or the control client in its place.
    like
        File of a model whose arrays the direction is split into; the result is then a dictionary.

    Multiply it by the clipping norm.
    """
    options = dict(locals())
    command = Command("canaries direction", options)
    name = "direction.npy" if like is None else "direction.npz"
    content = command.document_with({"out": name})[1]["out"]
    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    return loaded if like is None else dict(loaded)


def canary_rows(
    *,
    data: Path,
    columns: Path,
    rows: int,
    out: Path,
    count: int | None = None,
    poisson: float | None = None,
    null_draws: float | None = None,
    claim: float | None = None,
    scoring: str | None = None,
    delta: float | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
) -> str:
    """Draw canary rows for one run of a generator, which `audit_generator` audits.

    Parameters
    ----------
    data, columns, rows
        The real rows, csv, the TOML file of their public columns, and the rows that the run releases.
    out
        New folder.
    count, poisson, null_draws
        Number of canaries, or of rows of the pool; mean of a Poisson number of them; independent
        canaries in place of a pool, and so many rows more after the run.
    claim, scoring
        ε reported for the generator; "nearest", "count", "density" or "decoys".
    delta, significance, confidence
        The audit.
    """
    return Command("canaries rows", dict(locals())).text()
