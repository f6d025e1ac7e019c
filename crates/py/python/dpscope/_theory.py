"""Accounting: what is claimed and what is proven of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpscope._command import Command, Path, Progress
from dpscope._results import Accounted, Calibration, Check, Comparison, Sweep


def epsilon(
    sampler: str = "poisson",
    *,
    noise_multiplier: float,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    delta: float = 1e-5,
    side: str | None = None,
    method: str | None = None,
    sampling_rate: float | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    adjacency: str | None = None,
    direction: str | None = None,
    observations: float | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    device: str | None = None,
    float_mode: str | None = None,
    threads: int | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Accounted:
    """Proven or estimated ε of a training at δ.

    Parameters
    ----------
    sampler
        How batches are drawn: "poisson", "deterministic", "balls-in-bins", "truncated-poisson",
        "fixed-size", "random-allocation", "shuffle" or "persistent-shuffle"; "pair" for the exact
        pair of shuffled batches.
    noise_multiplier
        Noise standard deviation divided by the clip norm.
    steps, dataset_size, batch_size, epochs, total_steps
        Length of the training: batches per epoch, or records and records per batch; passes [default:
        1], or steps in all.
    delta
        δ of the statement.
    side
        "upper", "lower" or "estimate" [default: "lower" for "shuffle", "estimate" for "pair", else
        "upper"].
    method
        Closed form of shuffled batches: "max-slice", "sum" or "best" [default: "best"].
    sampling_rate, uses_per_epoch, max_batch_size, adjacency, direction
        Parameters of some samplers, as `dpscope bound --help` says.
    observations, significance, confidence, seed, device, float_mode, threads, yes, progress
        Draws of the pair.

    Examples
    --------
    >>> claimed = epsilon("poisson", noise_multiplier=1, steps=100)
    >>> leaked = epsilon("shuffle", noise_multiplier=1, steps=100)
    >>> print(claimed, leaked, sep="\\n")
    ε ≤ 0.7180359046492248 at δ = 1e-05
    ε ≥ 4.063153507878516 at δ = 1e-05
    >>> float(leaked) / float(claimed) > 5
    True
    """
    options = dict(locals())
    return _bound(options, "epsilon")


def delta(
    sampler: str = "poisson",
    *,
    epsilon: float,
    noise_multiplier: float,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    side: str | None = None,
    method: str | None = None,
    sampling_rate: float | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    adjacency: str | None = None,
    direction: str | None = None,
    observations: float | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    device: str | None = None,
    float_mode: str | None = None,
    threads: int | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Accounted:
    """Proven or estimated δ of a training at ε.

    The parameters are those of `epsilon`.

    Examples
    --------
    >>> print(delta("poisson", epsilon=1, noise_multiplier=1, steps=100))
    δ ≤ 6.671425294909056e-07 at ε = 1
    """
    options = dict(locals())
    return _bound(options, "delta")


def _bound(options: dict[str, object], quantity: str) -> Accounted:
    sampler, progress = str(options.pop("sampler")), options.pop("progress")
    command = Command("bound", options, arguments=[sampler])
    return Accounted(command.document(progress), quantity)  # type: ignore[arg-type]


def calibrate(
    wanted: str,
    *,
    epsilon: float,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    delta: float = 1e-5,
    sampler: str = "poisson",
    adjacency: str | None = None,
    sampling_rate: float | None = None,
    max_batch_size: int | None = None,
    uses_per_epoch: int | None = None,
) -> Calibration:
    """Least noise, most steps or most epochs for a target ε, which is not exceeded.

    Parameters
    ----------
    wanted
        "noise", "steps" or "epochs".
    epsilon, delta
        The target.
    sampler
        How batches are drawn. Shuffled ones are accounted as deterministic ones.
    adjacency
        What neighbouring data sets differ in: "zero-out" (the default), "replace" or "add-remove",
        under which shuffles have no upper bound.
    noise_multiplier, steps, dataset_size, batch_size, epochs, total_steps
        What is known of the training.
    sampling_rate, max_batch_size, uses_per_epoch
        Parameters of some samplers.

    Examples
    --------
    >>> found = calibrate("noise", epsilon=4, steps=100)
    >>> print(found)
    noise_multiplier = 0.590505, with ε ≤ 3.999936754493486
    """
    options = dict(locals())
    del options["wanted"]
    report = Command("calibrate", options, arguments=[wanted]).document()
    return Calibration(report, "noise_multiplier" if wanted == "noise" else wanted)


def compare(
    *,
    noise_multiplier: float,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    observations: float | None = None,
    max_batch_size: int | None = None,
    allocated_epochs: int | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    seed: int | None = None,
    device: str | None = None,
    float_mode: str | None = None,
    threads: int | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """What is claimed of a training, what is proven, and what its worst-case pair leaks.

    Parameters
    ----------
    noise_multiplier, steps, dataset_size, batch_size, epochs, total_steps, delta
        The training, as in `epsilon`.
    observations
        Add a simulated audit with this many observations.
    max_batch_size, allocated_epochs
        Add rows of truncated Poisson batches, and of random allocation.
    claim, claim_adjacency
        ε claimed for the training, and its adjacency [default: add-remove].
    significance, confidence, seed, device, float_mode, threads, yes, progress
        Draws of the pair.

    Examples
    --------
    >>> found = compare(noise_multiplier=1, steps=100, seed=1, device="cpu", claim=2)
    >>> found.epsilon("poisson") < found.epsilon("shuffle_max_slice")
    True
    >>> found.verdict().outcome
    'refuted'
    """
    options = dict(locals())
    del options["progress"]
    return Comparison(Command("compare", options).document(progress))


def sweep(
    settings: Path | Sequence[Mapping[str, float | str]],
    *,
    pair: bool = False,
    observations: float | None = None,
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    device: str | None = None,
    float_mode: str | None = None,
    threads: int | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """What is claimed and proven of many trainings.

    Parameters
    ----------
    settings
        A csv file, or dictionaries with `noise_multiplier`, `steps` (or `dataset_size` and
        `batch_size`), and optionally `name`, `epochs` or `total_steps`, and `delta`.
    pair
        Add a lower limit and an estimate from draws of the exact pair.
    observations
        Add simulated audits with this many observations.
    delta
        δ of the statement where a setting has none.
    significance, confidence, seed, device, float_mode, threads
        Draws.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with the settings so far and in all.

    Examples
    --------
    >>> found = sweep([{"noise_multiplier": sigma, "steps": 100} for sigma in (0.8, 1.0)])
    >>> [round(row["shuffle_lower"], 4) for row in found.rows]
    [5.624, 4.0632]
    """
    options = dict(locals())
    del options["settings"], options["progress"]
    return Sweep(Command("sweep", options, table=settings).document(progress))


def check(
    file: Path | None = None,
    *,
    loader: str | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    noise_multiplier: float | None = None,
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    sampling_rate: float | None = None,
    drop_last: bool | None = None,
    claim: float | None = None,
    delta: float | None = None,
    claim_adjacency: str | None = None,
    accountant: str | None = None,
    accounted_sampling_rate: float | None = None,
    accounted_steps: int | None = None,
    noise_std: float | None = None,
    clip_norm: float | None = None,
    noise_on: str | None = None,
    import_: Path | None = None,
) -> Check:
    """Check a claim by a description of the training; nothing is trained.

    Parameters
    ----------
    file
        TOML file that describes the training (`dpscope check --example` prints one); the other
        parameters override it.
    loader
        How batches are formed, such as "shuffle", or a library's loader as in your code, such as
        "DataLoader(shuffle=True)".
    dataset_size, batch_size, epochs, total_steps, noise_multiplier
        The training.
    buffer_examples, uses_per_epoch, max_batch_size, sampling_rate, drop_last
        Parameters of some loaders.
    noise_std, clip_norm, noise_on
        Noise as in the code, in place of `noise_multiplier`.
    claim, delta, claim_adjacency
        What was reported.
    accountant, accounted_sampling_rate, accounted_steps
        What was accounted for.
    import_
        Record of another accountant: events, a history or settings.

    Examples
    --------
    >>> found = check(
    ...     dataset_size=60_000, batch_size=256, epochs=20, noise_multiplier=0.8,
    ...     loader="shuffle", accountant="poisson", claim=2.6, delta=1e-5,
    ... )
    >>> found.verdict().outcome, found.findings[0]["severity"]
    ('refuted', 'refutes')
    """
    options = dict(locals())
    del options["file"]
    if drop_last is not None:
        options["drop_last"] = "true" if drop_last else "false"
    arguments = [] if file is None else [file]
    return Check(Command("check", options, arguments=arguments).document())
