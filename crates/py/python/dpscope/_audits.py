"""Audits of recorded data."""

from __future__ import annotations

import os
from collections.abc import Sequence

from dpscope._command import Array, Command, Path
from dpscope._results import Audit


def _audit(command: Command) -> Audit:
    return Audit(command.document(), command)


def audit_scores(
    target: Array,
    zero_out: Array,
    *,
    higher_means: str = "target",
    threshold_rule: str = "split",
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    count_non_finite: bool = False,
    seed: int | None = None,
) -> Audit:
    """Bound ε by the scores of any attack, one per run.

    Parameters
    ----------
    target, zero_out
        Scores of the runs with the target record, and of those with a zero-gradient record in its
        place: arrays, or files (npy, npz, csv, safetensors). One score per training run, not labels:
        for members and non-members of one model, use `audit_one_run`.
    higher_means
        World that a higher score indicates: "target" or "zero-out".
    threshold_rule
        "split" and "simultaneous" give a bound, "max-uncorrected" the estimate that most papers
        report.
    delta
        δ of the statement; 0 for pure DP.
    significance, confidence
        Probability that a bound is wrong [default: 0.05], or one minus it.
    claim, claim_adjacency
        ε reported for the training at `delta`, and its adjacency [default: "add-remove"].
    fail_above
        Largest acceptable bound.
    noise_multiplier, steps, dataset_size, batch_size, epochs, total_steps
        The training behind the scores, if its accounted ε is to be shown.
    count_non_finite
        Count runs with NaN or infinity as errors of the attack, instead of rejecting them.
    seed
        Seed of the random split, below 2**53 [default: derived from the scores].

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> out = random.normal(size=1000)
    >>> audit = audit_scores(out + 3, out[::-1], claim=1.0, seed=1)
    >>> audit.kind, audit.epsilon > 1.0, audit.verdict().outcome
    ('bound', True, 'refuted')
    """
    options = dict(locals())
    return _audit(Command("audit scores", options, arrays=["target", "zero_out"]))


def audit_outputs(
    target: Array,
    zero_out: Array | None = None,
    *,
    noise_multiplier: float | None = None,
    sampler: str = "shuffle",
    threat_model: str | None = None,
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    dataset_size: int | None = None,
    max_batch_size: int | None = None,
    batch_size: int | None = None,
    epochs: int | None = None,
    clip_norm: float | None = None,
    override: bool = False,
    per_batch_mean: int | None = None,
    target_step: int | None = None,
    threshold_rule: str = "simultaneous",
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
    count_non_finite: bool = False,
    seed: int | None = None,
) -> Audit:
    """Bound ε by outputs recorded from your own training, and look for faults in it.

    Parameters
    ----------
    target, zero_out
        Outputs of both worlds, of shape (runs, epochs, steps) or (runs, steps): the projection of
        each privatised gradient on the unit gradient of the canary. Arrays, or files; `target` alone
        is a file with both arrays, and optionally with sums before noise (`sums_target`,
        `sums_zero_out`) and uses of the target (`uses_target`, `uses_zero_out`).
    noise_multiplier
        Noise standard deviation divided by the clip norm; required with arrays.
    sampler, buffer_examples, uses_per_epoch, dataset_size, max_batch_size, batch_size, target_step
        How batches are drawn, and what that depends on.
    threat_model
        "worst-case", "partially-informed" or "target-canary" [default: the strongest one defined for
        the sampler].
    epochs
        Epochs per run, if an array has no epoch axis [default: 1].
    clip_norm, per_batch_mean
        Scale of the outputs: they are divided by `clip_norm`, and multiplied by the number of records
        that they are means over.
    override
        Use these numbers where a file contains others.

    The other parameters are those of `audit_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> zero_out = random.normal(size=(400, 2, 5))
    >>> target = random.normal(size=(400, 2, 5))
    >>> steps = random.integers(5, size=(400, 2, 1))  # one batch of each epoch has the target
    >>> np.put_along_axis(target, steps, np.take_along_axis(target, steps, 2) + 1, 2)
    >>> audit = audit_outputs(
    ...     target, zero_out, noise_multiplier=1.0, threat_model="target-canary"
    ... )
    >>> audit.kind, audit.findings
    ('bound', [])
    """
    options = dict(locals())
    if zero_out is None:
        if not isinstance(target, (str, os.PathLike)):
            raise TypeError("zero_out is missing; pass it, or a file with both arrays as target")
        del options["target"]
        return _audit(Command("audit outputs", options, arguments=[target]))
    return _audit(Command("audit outputs", options, arrays=["target", "zero_out"]))


def audit_counts(
    false_positives: int,
    false_negatives: int,
    *,
    target_trials: int,
    zero_out_trials: int,
    delta: float = 1e-5,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
) -> Audit:
    """Bound ε by the errors of an attack at a threshold that was fixed beforehand.

    Parameters
    ----------
    false_positives, zero_out_trials
        Runs without the target record that the attack took for runs with it, and all of them.
    false_negatives, target_trials
        Runs with the target record that the attack took for runs without it, and all of them.

    The other parameters are those of `audit_scores`.

    Examples
    --------
    >>> audit = audit_counts(12, 480, target_trials=1000, zero_out_trials=1000)
    >>> print(audit)
    ε ≥ 3.1531 at δ = 1e-5, with 95 % confidence
    """
    options = dict(locals())
    return _audit(Command("audit counts", options))


def audit_one_run(
    scores: Array | Sequence[Array] | None = None,
    *,
    plan: Path | None = None,
    seed: Path | None = None,
    coins: Array | None = None,
    canaries: int | Path | None = None,
    correct: int | None = None,
    guesses: int | None = None,
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    sets: Array | None = None,
    pairs: bool = False,
    set_size: int | None = None,
    inclusion_probability: float | None = None,
    independent_coins: bool = False,
    null_scores: Array | None = None,
    pool_scores: Array | None = None,
    design: str | None = None,
    base_data: Path | None = None,
    baseline: Array | None = None,
    direction: str | None = None,
    adjacency: str | None = None,
    delta: float | Sequence[float] | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_delta: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    sampler: str | None = None,
    sampling_rate: float | None = None,
    self_test: bool = False,
) -> Audit:
    """Bound ε by guesses on the canaries of one training run.

    Parameters
    ----------
    scores
        Scores of the canaries, one each or of shape (queries, canaries), which are averaged; several
        arrays or files for a plan with several runs.
    plan, seed
        Folder that `dpscope plan one-run` wrote before the training, and the file of its revealed
        seed. The folder remembers which scores were audited.
    coins
        Without a plan: 1 for each canary that was included, 0 for the others.
    canaries, correct, guesses
        In place of scores: numbers of canaries, of correct guesses and of guesses. With scores,
        `canaries` may be the file of the canaries, to be compared with coins and plan, and `guesses`
        is the number that was fixed beforehand.
    guesses_in, guesses_out
        Guess this many of the largest scores as included, of the smallest as not included.
    sets, pairs, set_size
        One canary of each set was included: the set of each canary; neighbours are pairs; or sets of
        this many neighbours.
    inclusion_probability
        Probability that each canary was included, with one-sided guesses [default: 0.5].
    independent_coins
        State that each canary had a coin of its own. Without this and without a plan, a number of included
        canaries near its mean is audited as a draw of a fixed number, such as scikit-learn's
        `train_test_split`, and exactly half of them as pairs.
    null_scores, pool_scores, design
        Scores of canaries that were not included, or of the whole pool that the canaries were drawn
        from, and how their number was drawn, such as "poisson:100".
    base_data, baseline
        The file of the other training records, and scores of the same canaries without training.
    direction
        Scores that indicate an included canary: "higher" or "lower" [default: "higher"].
    adjacency
        "add-remove", "zero-out" or "replace": what stands in place of a canary that is not included.
    delta
        δ of the statement, or several [default: 1e-5].
    claim, claim_delta, claim_adjacency
        ε reported for the training, its δ and its adjacency [default: "add-remove"].
    noise_multiplier, steps, dataset_size, batch_size, epochs, total_steps, sampler, sampling_rate
        A training that is claimed as a whole.
    self_test
        Redraw the coins 1,000 times and check that no leak is reported.

    Examples
    --------
    >>> audit = audit_one_run(canaries=1000, guesses=100, correct=95)
    >>> audit.kind, round(audit.epsilon, 4)
    ('bound', 2.1719)
    """
    options = dict(locals())
    arrays = ["scores", "coins", "sets", "null_scores", "pool_scores", "baseline"]
    return _audit(Command("audit one-run", options, arrays=arrays, several=["scores"]))


def audit_federated(
    cosines: Array | None = None,
    *,
    plan: Path | None = None,
    dimension: float | None = None,
    design: str | None = None,
    canaries: int | None = None,
    attacker: str | None = None,
    server_rounds: int | None = None,
    unseen: Array | None = None,
    initial: Path | None = None,
    final: Path | Sequence[Path] | None = None,
    updates: Path | Sequence[Path] | None = None,
    models: Path | Sequence[Path] | None = None,
    participation: Path | None = None,
    momentum: float | None = None,
    noise_multiplier: float | None = None,
    clip_norm: float | None = None,
    planned_clients: int | None = None,
    server_learning_rate: float | None = None,
    participations: int | None = None,
    replies: Path | None = None,
    control: Path | None = None,
    control_client: str | None = None,
    control_cosine: float | None = None,
    device: str | None = None,
    float_mode: str | None = None,
    threads: int | None = None,
    delta: float | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: float | None = None,
    claim_adjacency: str | None = None,
    fail_above: float | None = None,
) -> Audit:
    """Bound ε by canary clients of one federated training.

    Parameters
    ----------
    cosines
        Cosines between the directions of the canaries and what the attacker sees; NaN for a canary
        without one.
    plan
        Folder that `dpscope plan federated` wrote before the training.
    dimension, design, canaries, attacker, server_rounds
        Without a plan: the number of trained parameters, how the number of canaries was drawn, how
        many were inserted, and what the attacker sees.
    unseen
        Cosines of directions that no client sent, to check dimension and flattening.
    initial, final, updates, models
        In place of cosines, with a plan: files of the model before and after the training, of the
        update of every server round, or of the model after every server round.
    participation, momentum, replies, control, control_client, control_cosine
        How these files are read, and checks of them, as `dpscope audit federated --help` says.
    noise_multiplier, clip_norm, planned_clients, server_learning_rate, participations
        What the server states; it is tested against the updates.
    device, float_mode, threads
        Where models are multiplied with directions: "auto", "cpu", "gpu" or the name of a device.

    The other parameters are those of `audit_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> cosines = np.random.default_rng(1).normal(size=200) / np.sqrt(1e5) + 0.02
    >>> audit = audit_federated(cosines, dimension=1e5, design="poisson:200")
    >>> audit.kind, audit.epsilon > 1
    ('bound', True)
    """
    options = dict(locals())
    return _audit(Command("audit federated", options, arrays=["cosines", "unseen"]))


def audit_generator(folder: Path) -> Audit:
    """Bound ε by the rows that a generator of synthetic data released.

    Parameters
    ----------
    folder
        Folder that `dpscope plan generator` wrote, with the runs of the generator.

    Where the runs certify no ε, `epsilon` raises `DpscopeError`.

    Examples
    --------
    >>> audit_generator("no-folder")
    Traceback (most recent call last):
    dpscope.DpscopeError: no-folder/manifest.toml: cannot be read: No such file or directory (os error 2)
    """
    return _audit(Command("audit generator", {}, arguments=[folder]))
