# Generated from the options of the program by crates/py/tests/stub.py; do not edit.
# `BLESS=1 cargo xtask wheel --dev` writes it.

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpscope._command import Array, Path, Progress
from dpscope._generators import Generate
from dpscope._launch import ShardedAudit
from dpscope._command import DpscopeWarning as DpscopeWarning
from dpscope._generators import Utility as Utility
from dpscope._launch import Launch as Launch
from dpscope._loader_check import LoaderCheck as LoaderCheck
from dpscope._loader_check import check_loader as check_loader
from dpscope._native import DpscopeError as DpscopeError
from dpscope._native import __version__ as __version__
from dpscope._reports import Recomputation as Recomputation
from dpscope._reports import Reproduction as Reproduction
from dpscope._results import Accounted as Accounted
from dpscope._results import Audit as Audit
from dpscope._results import Calibration as Calibration
from dpscope._results import Canaries as Canaries
from dpscope._results import Check as Check
from dpscope._results import Comparison as Comparison
from dpscope._results import Drawing as Drawing
from dpscope._results import Page as Page
from dpscope._results import Plan as Plan
from dpscope._results import Result as Result
from dpscope._results import Strategies as Strategies
from dpscope._results import Sweep as Sweep
from dpscope._results import Verdict as Verdict
from dpscope._results import Votes as Votes
from dpscope._widget import Calculator as Calculator
from dpscope._widget import Explore as Explore
from dpscope._widget import calculator as calculator
from dpscope._widget import explore as explore

__all__ = [
    "Accounted",
    "Audit",
    "Calculator",
    "Calibration",
    "Canaries",
    "Check",
    "Comparison",
    "DpscopeError",
    "DpscopeWarning",
    "Drawing",
    "Explore",
    "Launch",
    "LoaderCheck",
    "Page",
    "Plan",
    "Recomputation",
    "Reproduction",
    "Result",
    "Strategies",
    "Sweep",
    "Utility",
    "Verdict",
    "Votes",
    "audit_bgm",
    "audit_counts",
    "audit_dpsgd",
    "audit_fedavg",
    "audit_federated",
    "audit_gaussian",
    "audit_generator",
    "audit_guesses",
    "audit_one_run",
    "audit_outputs",
    "audit_pategan",
    "audit_scores",
    "audit_secrets",
    "audit_split",
    "bound_matrix",
    "bound_pate",
    "calculator",
    "calibrate",
    "calibrate_matrix",
    "calibrate_pate",
    "canary_direction",
    "canary_rows",
    "check",
    "check_loader",
    "compare",
    "delta",
    "epsilon",
    "explore",
    "generator_utility",
    "launch_kubernetes",
    "launch_slurm",
    "make_canaries",
    "optimise_canaries",
    "plan_bgm",
    "plan_federated",
    "plan_generator",
    "plan_one_run",
    "plan_secrets",
    "plan_split",
    "recompute",
    "reproduce",
    "run_generator",
    "sweep",
    "verify_canaries",
    "__version__",
]

def audit_counts(
    false_positives: int,
    false_negatives: int,
    *,
    target_trials: int,
    zero_out_trials: int,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    batch_size: int | None = None,
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
) -> Audit:
    """Bound ε by the errors of an attack at a threshold that was fixed beforehand.

    Parameters
    ----------
    false_positives
        Runs without the target record that the attack classified as runs with it.
    false_negatives
        Runs with the target record that the attack classified as runs without it.
    target_trials
        Runs with the target record.
    zero_out_trials
        Runs without the target record.
    noise_multiplier
        Noise standard deviation of the training run divided by its clip norm, for accounting.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    batch_size
        Records per batch, with dataset_size.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    """

def audit_federated(
    cosines: Array | None = None,
    *,
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
    control_client: Literal["included", "excluded"] | None = None,
    control_cosine: float | None = None,
    initial: Path | None = None,
    plan: Path | None = None,
    dimension: float | None = None,
    design: str | None = "fixed",
    canaries: int | None = None,
    attacker: Literal["final-model", "all-updates", "sum-of-updates", "known-server-rounds"] | None = "final-model",
    server_rounds: int | None = None,
    unseen: Array | None = None,
    device: str | None = "auto",
    float_mode: Literal["fast", "exact"] | None = None,
    threads: int | None = None,
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
) -> Audit:
    """Bound ε by canary clients of one federated training.

    With a `plan` that `plan_federated` wrote before the training, files of models or updates may stand
    in place of cosines.

    Parameters
    ----------
    cosines
        Cosines between the canaries' directions and what the attacker sees: csv with the columns
        canary and cosine, or one cosine per canary; NaN for a canary without one. An array, or a
        file.
    final
        The trained model: npy, npz or safetensors; pass a list for a model in several files.
    updates
        The update of every server round: files (npy, npz, safetensors) in this order, a folder of
        them, sorted by number, or one array with a row per server round.
    models
        The model after every server round, in place of updates.
    participation
        Server rounds of each canary (plans for attacker="known-server-rounds"): csv with the
        columns canary and server_round, the latter starting at 1.
    momentum
        Momentum of the server, which the audit undoes [default: 0].
    noise_multiplier
        Noise multiplier that the server states; it is tested against updates and replies.
    clip_norm
        Clipping norm of the server, for noise_multiplier.
    planned_clients
        Number of clients that the server divides its sums by [default: 1, updates are sums].
    server_learning_rate
        Learning rate of the server, by which models change [default: 1].
    participations
        Number of server rounds in which each client takes part, as claimed; it is tested against
        the updates.
    replies
        Weights of the clients that replied: csv with the columns server_round and weight.
    control
        The update of canary 0, as your code flattens it: npy, npz or safetensors; refused unless it
        has the direction of the plan.
    control_client
        Whether the control client (`dpscope canaries direction --control`) is known to have taken
        part; its cosine must agree.
    control_cosine
        Cosine of the control client, with cosines.
    initial
        The model before the training.
    plan
        Folder of a plan that `dpscope plan federated` committed; it is verified.
    dimension
        Number of trained parameters: the dimension of the directions.
    design
        How the number of canaries was drawn before the training: poisson:MEAN,
        bernoulli:SLOTS:PROBABILITY, fixed:NUMBER or fixed.
    canaries
        Number of canaries that were inserted [default: number of cosines].
    attacker
        What the attacker sees.
    server_rounds
        Number of server rounds over which each cosine is the maximum (attacker="all-updates" only).
    unseen
        Cosines of directions that no client sent, to check dimension and flattening. An array, or a
        file.
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    float_mode
        Floating-point mode of the GPU; the CPU is always exact.
    threads
        CPU threads [default: one per core].
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    """

def audit_generator(
    folder: Path,
) -> Audit:
    """Bound ε by the rows that a generator of synthetic data released.

    Where the runs certify no ε, `epsilon` raises `DpscopeError`.

    Parameters
    ----------
    folder
        Folder of the manifest and the runs.
    """

def audit_guesses(
    drawn: Array | None = None,
    guessed: Array | None = None,
    *,
    value: Literal["membership", "label"] | None = "membership",
    priors: Array | None = None,
    probability: float | None = None,
    odds_factor: float | None = 1.0,
    independent_draws: bool = False,
    records: int | None = None,
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    correct: int | None = None,
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
) -> Audit:
    """Bound ε by guesses of memberships or labels that were drawn with known odds.

    `drawn` says what was drawn, 1 or 0 for each record; `guessed` what the attack says, -1 where it abstains;
    `priors` the known probability of a 1, or `probability` the same for all.

    Parameters
    ----------
    drawn
        What was drawn: 1 or 0 for each record. An array, or a file.
    guessed
        What the attack says: 1 or 0 for each record, and -1 where it abstains. An array, or a file.
    value
        What was drawn for each record: whether it was trained on, or its label.
    priors
        Known probability of a 1 for each record. An array, or a file.
    probability
        Known probability of a 1, the same for all records.
    odds_factor
        Factor by which the stated odds may be wrong, both ways, given all rows: an assumption, with
        which a bound decides no claim.
    independent_draws
        State that each record was included by a draw of its own; else a number of members that
        suggests a draw of a fixed number is refused.
    records
        Number of records, in place of files.
    guesses_in
        Number of guesses that say 1; without guesses_out, guesses were bound to say so.
    guesses_out
        Number of guesses that say 0; without guesses_in, guesses were bound to say so.
    correct
        Number of correct guesses.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    """

def audit_one_run(
    scores: Array | Sequence[Array] | None = None,
    *,
    projections: Array | Sequence[Array] | None = None,
    score: Literal["calibrated", "stated", "sum"] | None = "calibrated",
    null_scores: Array | None = None,
    pool_scores: Array | None = None,
    design: str | None = None,
    coins: Array | None = None,
    plan: Path | None = None,
    seed: Path | None = None,
    canaries: int | Path | None = None,
    guesses: int | None = None,
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    correct: int | None = None,
    sets: Array | None = None,
    pairs: bool = False,
    set_size: int | None = None,
    inclusion_probability: float | None = None,
    independent_coins: bool = False,
    base_data: Path | None = None,
    baseline: Array | None = None,
    direction: Literal["higher", "lower"] | None = None,
    adjacency: Literal["add-remove", "replace", "zero-out"] | None = None,
    delta: float | Sequence[float] | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    batch_size: int | None = None,
    sampler: Literal["poisson", "shuffle", "persistent-shuffle", "balls-in-bins", "deterministic", "partial-shuffle", "sliding-buffer", "batch-then-shuffle", "truncated-poisson", "fixed-size", "random-allocation"] | None = "poisson",
    sampling_rate: float | None = None,
    self_test: bool = False,
    included: npt.ArrayLike | None = None,
    excluded: npt.ArrayLike | None = None,
) -> Audit:
    """Bound ε by guesses on the canaries of one training run.

    Canaries are known by `coins`, or by a `plan` that `plan_one_run` wrote before the training; its
    folder remembers which scores were audited. Scores are computed from `projections` of the noisy
    gradients of all steps, if these are passed. In place of scores, `canaries`, `correct` and `guesses`
    may be numbers. Without `independent_coins` and without a plan, exactly half of the canaries
    included, or a number near the mean, counts as a draw of a fixed number, such as scikit-learn's
    `train_test_split`.

    Parameters
    ----------
    included, excluded
        Scores of the canaries that were trained on, and of the others, in place of `scores` and
        `coins`.
    scores
        Scores of the canaries, one each or (queries, canaries) to be averaged: npy, npz, csv or
        safetensors; for a plan with several runs, one file per run, in order. An array, or a file.
    projections
        Projections of the noisy gradients on the canaries' directions, of which scores are
        computed: (steps, canaries), in clip norms, gradients as sums over the batch; one file per
        run. They need the sampling rate. An array, or a file.
    score
        How the score of a canary follows from projections; fixed before the training.
    null_scores
        Scores of canaries that were not included, drawn from the same distribution as the included
        ones in scores, and at least 100 times as many. No coins are needed. An array, or a file.
    pool_scores
        Scores of all members of the pool from which the canaries in scores were drawn, each with
        equal probability; a canary that was drawn twice has two scores. An array, or a file.
    design
        How the number of canaries was drawn before the training, with null_scores or pool_scores:
        poisson:MEAN, bernoulli:SLOTS:PROBABILITY, fixed:NUMBER or fixed [default: fixed].
    coins
        Coins of the canaries: 1 if included, 0 if not; required without plan. An array, or a file.
    plan
        Folder of a committed plan; commitment, canaries and coins are verified.
    seed
        The revealed seed of the plan [default: seed.secret of the plan].
    canaries
        Number of canaries, or the file of the canaries: checked against coins and plan.
    guesses
        Guess this many of the most confident canaries, fixed before the coins were drawn [default:
        several numbers at a joint level].
    guesses_in
        Guess this many of the largest scores as included.
    guesses_out
        Guess this many of the smallest scores as not included.
    correct
        Number of correct guesses, in place of scores.
    sets
        Set number of each canary; one canary of each set was included. An array, or a file.
    pairs
        Canaries 2i and 2i+1 are a pair, one of which was included; with correct, canaries counts
        pairs.
    set_size
        Canaries Si to Si+S-1 form a set with one included; with correct, canaries counts sets.
    inclusion_probability
        Probability that each canary was included; needs one-sided guesses [default: 0.5].
    independent_coins
        State that each canary had a coin of its own; else a number of included canaries that
        suggests a draw of a fixed number is audited as such a draw.
    base_data
        Training records other than the canaries; canaries that are also among them are counted.
    baseline
        Scores of the same canaries before the training, or by a model trained without them. An
        array, or a file.
    direction
        Which scores indicate an included canary [default: higher].
    adjacency
        What stands in place of a canary that is not included: nothing (add-remove), a zero gradient
        (zero-out) or another record (replace) [default: add-remove; sets and pairs: replace].
    delta
        Delta at which epsilon is bounded, or several; 0 for pure DP [default: 1e-5].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    noise_multiplier
        Noise standard deviation of the training run divided by its clip norm, for accounting.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    batch_size
        Records per batch, with dataset_size.
    sampler
        Batch sampler of the claimed training, with noise_multiplier.
    sampling_rate
        Probability that a record is in a batch, for projections and of the claimed training (there
        poisson and fixed-size only) [default: 1/T of the claimed training].
    self_test
        Redraw the coins 1,000 times and check that no leak is reported; tests this program.
    """

def audit_outputs(
    target: Array | Mapping[str, Array],
    zero_out: Array | None = None,
    *,
    noise_multiplier: float | None = None,
    sampler: Literal["poisson", "shuffle", "persistent-shuffle", "balls-in-bins", "deterministic", "partial-shuffle", "sliding-buffer", "batch-then-shuffle", "truncated-poisson", "fixed-size", "random-allocation"] | None = "shuffle",
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    threat_model: Literal["worst-case", "partially-informed", "target-canary"] | None = None,
    batch_size: int | None = None,
    dataset_size: int | None = None,
    epochs: int | None = None,
    clip_norm: float | None = None,
    override: bool = False,
    per_batch_mean: int | None = None,
    target_step: int | None = 0,
    threshold_rule: Literal["split", "simultaneous", "max-uncorrected"] | None = "simultaneous",
    count_non_finite: bool = False,
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
) -> Audit:
    """Bound ε by outputs recorded from your own training, and look for faults in it.

    Parameters
    ----------
    target, zero_out
        Outputs of both worlds, of shape (runs, epochs, steps) or (runs, steps): the projection of
        each privatised gradient on the unit gradient of the canary. Arrays, or files; `target` alone
        is a file or a dictionary with both arrays, and optionally with sums before noise (`sums_target`,
        `sums_zero_out`) and uses of the target (`uses_target`, `uses_zero_out`).
    noise_multiplier
        Noise standard deviation divided by the clip norm, 0.2 to 20.
    sampler
        How batches are drawn.
    buffer_examples
        Records in the shuffle buffer (partial-shuffle and sliding-buffer only).
    uses_per_epoch
        Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
        batches of B on average has K N/B steps [default: 1].
    max_batch_size
        Maximum batch size (truncated-poisson only); excess records are dropped at random.
    threat_model
        Threat model [default: the strongest one defined for the sampler].
    batch_size
        Records per batch (required by the buffered samplers and batch-then-shuffle).
    dataset_size
        Records of the data set (samplers that draw each step anew): with batch_size, a record is in
        a batch with probability B/N instead of 1/steps.
    epochs
        Epochs per run, if an array has no epoch axis [default: 1].
    clip_norm
        Clip norm C; outputs are divided by it [default: the number in the file, or 1].
    override
        Use the numbers of the call even where those in the file differ.
    per_batch_mean
        Outputs are means over B records; they are multiplied by B.
    target_step
        Step of each epoch whose batch contains the target, counted from 0 (deterministic batches
        only).
    threshold_rule
        How the threshold is chosen.
    count_non_finite
        Count runs with NaN or infinity as errors of the attack, instead of rejecting the file.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    seed
        Seed of the random split or pilot, below 2^53 [default: derived from the data].
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    """

def audit_scores(
    target: Array,
    zero_out: Array,
    *,
    higher_means: Literal["target", "zero-out"] | None = "target",
    anytime: bool = False,
    threshold_rule: Literal["split", "simultaneous", "max-uncorrected"] | None = "split",
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    batch_size: int | None = None,
    count_non_finite: bool = False,
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
) -> Audit:
    """Bound ε by the scores of any attack, one per run.

    Scores are one per training run, not labels: for members and non-members of one model, use
    `audit_one_run`.

    Parameters
    ----------
    target
        Scores of the runs with the target record: csv, npy, or npz or safetensors with one array.
        An array, or a file.
    zero_out
        Scores of the runs without the target record. An array, or a file.
    higher_means
        Which world a higher score indicates.
    anytime
        Report a bound that stays valid if you look after every run and append runs to both files.
        It needs 1.3 to 2 times as many runs; run i of both files is a pair.
    threshold_rule
        How the threshold is chosen.
    noise_multiplier
        Noise standard deviation of the training run divided by its clip norm, for accounting.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    batch_size
        Records per batch, with dataset_size.
    count_non_finite
        Count runs with NaN or infinity as errors of the attack, instead of rejecting the file.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    seed
        Seed of the random split or pilot, below 2^53 [default: derived from the data].
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    """

def audit_secrets(
    candidates: Array | None = None,
    *,
    ranks: Array | None = None,
    plan: Path | None = None,
    records: int | None = None,
    values: int | None = None,
    decoys: int | None = None,
    list_length: int | None = None,
    guesses: int | None = None,
    correct: int | None = None,
    direction: Literal["higher", "lower"] | None = "higher",
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
) -> Audit:
    """Bound ε by secrets that the records of one training hold, each drawn uniformly from many values.

    Scores of `candidates` have a row per record: the true value first, then decoys that were drawn without
    replacement from the other values. In their place stand the `ranks` of the true values, with `values` or
    `decoys`; or `records`, `values` and `correct` as numbers. `epsilon` is for replacing a secret; the bound
    for adding or removing a record is in `report()["bounds"]`.

    Parameters
    ----------
    candidates
        Scores of candidate values, a row per record: of the true value first, then of decoys that
        were drawn without replacement from the other values, or of all others with values. An
        array, or a file.
    ranks
        Rank of each true value among all values, or among the decoys and itself, from 1; equal
        scores count against it. An array, or a file.
    plan
        Folder of a plan by `plan secrets --out`, which fixes all but the scores; its commitment is
        verified.
    records
        Number of records with a secret, in place of files.
    values
        Number of values from which each secret was drawn, with equal probability.
    decoys
        Number of decoys of each secret, drawn without replacement from the other values and never
        trained on.
    list_length
        Values named for each guessed secret [default: 1, if secrets are guessed by lists].
    guesses
        Guess this many secrets; of candidates those with the clearest lists [default: all].
    correct
        Number of lists with the true value, in place of files.
    direction
        Which scores indicate the true value.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    """

def audit_split(
    members: Array | None = None,
    non_members: Array | None = None,
    *,
    synthetic: Array | None = None,
    member_strata: Array | None = None,
    non_member_strata: Array | None = None,
    direction: Literal["higher", "lower"] | None = "higher",
    holdout_used: bool = False,
    rule: Literal["cut", "sets"] | None = "cut",
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    guesses: int | None = None,
    member_rows: int | None = None,
    non_member_rows: int | None = None,
    correct_in: int | None = None,
    correct_out: int | None = None,
    correct: int | None = None,
    seed: int | None = 1,
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
) -> Audit:
    """Bound ε by the random hold-out of one training, in which no canaries were planted.

    The scores of rows that were trained on and of rows that the same random draw held out; or the rows
    themselves, with the rows that a generator released as `synthetic`. `epsilon` is for adding or removing a
    row; the bound for replacing one is in `report()["bounds"]`.

    Parameters
    ----------
    members
        Scores of the rows that were trained on, one each; with synthetic, the rows themselves: csv,
        npy, npz or safetensors. An array, or a file.
    non_members
        Scores, or rows, that the same random draw held out. An array, or a file.
    synthetic
        Rows that a generator released: the score of a row is minus its distance to the nearest of
        them. An array, or a file.
    member_strata
        Stratum of each member, as a number, if the split was drawn within strata, such as labels.
        An array, or a file.
    non_member_strata
        Stratum of each non-member. An array, or a file.
    direction
        Which scores indicate members.
    holdout_used
        The held-out rows were also used, for early stopping, tuning or calibration: bounds are then
        those of training and selection together, and say nothing of the training alone.
    rule
        How rows are guessed.
    guesses_in
        Rows named as members, 0 for none; in each stratum [default: √(10 · members), rounded up].
    guesses_out
        Rows named as non-members, 0 for none; in each stratum [default: √(10 · non-members),
        rounded up].
    guesses
        Guessed sets of rule="sets" [default: √(10 · sets), rounded up].
    member_rows
        Number of rows that were trained on, in place of scores.
    non_member_rows
        Number of rows that were held out.
    correct_in
        Correct ones of guesses_in.
    correct_out
        Correct ones of guesses_out.
    correct
        Correct ones of guesses.
    seed
        Seed of the random sets of rule="sets", below 2^53.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    """

def generator_utility(
    folders: Path | Sequence[Path],
    *,
    test_data: Path,
    label: str,
    positive: str | None = None,
    runs: int | None = 25,
    progress: Progress | None = None,
) -> Utility:
    """Train classifiers on the rows that generators released, and test them on real ones.

    Hold out the test data before `plan_generator`. Folders of one generator with different ε show what
    privacy costs.

    Parameters
    ----------
    folders
        Folders of manifests and runs, with equal columns.
    test_data
        Real rows that no generator saw, with the columns of the manifests, csv.
    label
        Categorical column that the classifiers predict.
    positive
        Positive class of the classifiers, a category of the label [default: the last one].
    runs
        Number of runs to test per folder: the first ones with the target row.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def run_generator(
    folder: Path,
    generate: str | Generate,
    *,
    jobs: int | None = None,
    timeout: int | None = 3600,
    max_bytes: float | None = 1000000000,
    allow_failures: bool = False,
    progress: Progress | None = None,
) -> str:
    """Execute the runs of a generator in a folder; finished ones are skipped.

    Parameters
    ----------
    generate
        A function `generate(table, seed)` that returns the released rows, or a `command` of the shell
        with {data}, {seed}, {out} and, if it needs it, {rows}, as `dpscope generator run --help` says.
    folder
        Folder with manifest and data.
    jobs
        Runs at a time [default: one per core].
    timeout
        Seconds after which a run has failed.
    max_bytes
        Bytes that a run may write or print.
    allow_failures
        Record failures also where the first 3 runs, or 20 in a row, fail equally, instead of
        stopping there.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def launch_kubernetes(
    audit: ShardedAudit,
    *,
    shards: int | None = 16,
    device: str | None = None,
    cpus_per_shard: int | None = 1,
    image: str,
    name: str | None = "dpscope",
    claim_name: str | None = None,
    memory: int | str | None = "1Gi",
    gpu_resource: str | None = "nvidia.com/gpu",
    time_limit: int | None = None,
) -> Launch:
    """A manifest of Jobs that run an audit in shards on Kubernetes, and merge them.

    Parameters
    ----------
    audit
        As in `launch_slurm`.
    shards
        Number of shards.
    device
        Device of each shard: cpu, gpu, or part of the name of a GPU; with a GPU, each shard
        reserves one [default: that of the audit, or cpu].
    cpus_per_shard
        CPU cores of each shard.
    image
        Image whose entry point is dpscope.
    name
        Name of the Jobs and of the volume.
    claim_name
        Existing volume claim to use; by default a new one is made.
    memory
        Memory of each shard.
    gpu_resource
        Kubernetes resource that stands for a GPU; each shard on a GPU requests one.
    time_limit
        Time limit of each attempt at a shard, in minutes.
    """

def launch_slurm(
    audit: ShardedAudit,
    *,
    shards: int | None = 16,
    device: str | None = None,
    cpus_per_shard: int | None = 1,
    output_folder: str | None = "dpscope-shards",
    job_name: str | None = "dpscope",
    time_limit: int | None = None,
) -> Launch:
    """A script that runs an audit in shards on Slurm, and merges them.

    Parameters
    ----------
    audit
        A result of `plan_bgm` that names mechanism and size, a file of `dpscope plan --json`, or a
        command such as "audit bgm --noise-multiplier 1 --steps 100 --observations 1e9".
    shards
        Number of shards.
    device
        Device of each shard: cpu, gpu, or part of the name of a GPU; with a GPU, each shard
        reserves one [default: that of the audit, or cpu].
    cpus_per_shard
        CPU cores of each shard.
    output_folder
        Folder of shards, logs and result, shared by all nodes.
    job_name
        Name of the jobs.
    time_limit
        Time limit of each shard, in minutes.
    """

def bound_matrix(
    *,
    strategy: Literal["identity", "tree", "banded-square-root", "banded-optimised", "blt", "all"] | None = None,
    strategy_file: Path | None = None,
    steps: int | None = None,
    participation: str,
    bands: int | None = None,
    buffers: int | None = None,
    buffer_decay: float | Sequence[float] | None = None,
    output_scale: float | Sequence[float] | None = None,
    objective: Literal["mean", "largest"] | None = None,
    participant_steps: int | Sequence[int] | None = None,
    delta: float | None = 1e-05,
    noise_multiplier: float,
) -> Strategies:
    """Proven ε of correlated noise: DP-FTRL and matrix mechanisms.

    Parameters
    ----------
    strategy
        Strategy matrix.
    strategy_file
        File with a lower triangular strategy matrix, one row per step, in place of strategy.
    steps
        Number of steps.
    participation
        Steps of a participant: single, epochs:E (E epochs in one order), shuffled:E (E epochs, any
        order), min-separation:B or min-separation:B,K (B steps apart, at most K times), or
        cyclic-poisson:B,Q (B groups take turns, members sampled with probability Q).
    bands
        Number of bands of banded strategies [default: the smallest distance between two steps of a
        participant, at most 64].
    buffers
        Number of buffers of blt, whose parameters are optimised [default: 3].
    buffer_decay
        Decays of the buffers of blt, instead of optimised ones.
    output_scale
        Output scales of the buffers of blt.
    objective
        Error that banded-optimised and blt minimise [default: mean].
    participant_steps
        Also account for the participant in these steps, counted from 1.
    delta
        Delta at which epsilon is bounded.
    noise_multiplier
        Standard deviation of z divided by the clip norm.
    """

def bound_pate(
    *,
    teachers: int,
    gamma: float,
    noise: Literal["both-counts", "one-count"] | None = "both-counts",
    orders: int | None = 100,
    delta: float | None = 1e-05,
    votes: int | None = None,
    iterations: int | None = None,
    vote_counts: Path | None = None,
    batch_size: int | None = 64,
    student_steps: int | None = 5,
) -> Votes:
    """Proven ε of noisy votes of teachers: PATE and PATE-GAN.

    Parameters
    ----------
    teachers
        Teachers, trained on disjoint parts of the data.
    gamma
        Inverse scale of the Laplace noise (lambda of PATE-GAN).
    noise
        Where the noise is added.
    orders
        Largest order of the published moments.
    delta
        Delta at which epsilon is bounded.
    votes
        Number of votes.
    iterations
        Iterations of PATE-GAN, of batch_size times student_steps votes each.
    vote_counts
        File with the number of teachers that voted for 1 in each vote; adds bounds for these votes,
        which depend on private data. With columns `votes` and `label`, also tests whether labels
        have the stated noise.
    batch_size
        Labels per step of the student.
    student_steps
        Steps of the student per iteration.
    """

def calibrate_matrix(
    *,
    epsilon: float,
    strategy: Literal["identity", "tree", "banded-square-root", "banded-optimised", "blt", "all"] | None = None,
    strategy_file: Path | None = None,
    steps: int | None = None,
    participation: str,
    bands: int | None = None,
    buffers: int | None = None,
    buffer_decay: float | Sequence[float] | None = None,
    output_scale: float | Sequence[float] | None = None,
    objective: Literal["mean", "largest"] | None = None,
    participant_steps: int | Sequence[int] | None = None,
    delta: float | None = 1e-05,
) -> Strategies:
    """Least correlated noise for a target ε, which is not exceeded.

    Parameters
    ----------
    epsilon
        Target epsilon; not exceeded.
    strategy
        Strategy matrix.
    strategy_file
        File with a lower triangular strategy matrix, one row per step, in place of strategy.
    steps
        Number of steps.
    participation
        Steps of a participant: single, epochs:E (E epochs in one order), shuffled:E (E epochs, any
        order), min-separation:B or min-separation:B,K (B steps apart, at most K times), or
        cyclic-poisson:B,Q (B groups take turns, members sampled with probability Q).
    bands
        Number of bands of banded strategies [default: the smallest distance between two steps of a
        participant, at most 64].
    buffers
        Number of buffers of blt, whose parameters are optimised [default: 3].
    buffer_decay
        Decays of the buffers of blt, instead of optimised ones.
    output_scale
        Output scales of the buffers of blt.
    objective
        Error that banded-optimised and blt minimise [default: mean].
    participant_steps
        Also account for the participant in these steps, counted from 1.
    delta
        Delta at which epsilon is bounded.
    """

def calibrate_pate(
    *,
    epsilon: float,
    teachers: int,
    gamma: float,
    noise: Literal["both-counts", "one-count"] | None = "both-counts",
    orders: int | None = 100,
    delta: float | None = 1e-05,
    batch_size: int | None = 64,
    student_steps: int | None = 5,
) -> Votes:
    """Most iterations of PATE-GAN for a target ε, which is not exceeded.

    Parameters
    ----------
    epsilon
        Target epsilon; not exceeded.
    teachers
        Teachers, trained on disjoint parts of the data.
    gamma
        Inverse scale of the Laplace noise (lambda of PATE-GAN).
    noise
        Where the noise is added.
    orders
        Largest order of the published moments.
    delta
        Delta at which epsilon is bounded.
    batch_size
        Labels per step of the student.
    student_steps
        Steps of the student per iteration.
    """

def canary_direction(
    plan: Path,
    index: int | None = None,
    *,
    control: bool = False,
    like: Path | None = None,
) -> npt.NDArray[np.float64] | dict[str, npt.NDArray[np.float64]]:
    """The update direction of a canary client in a committed plan, of norm 1.

    Multiply it by the clipping norm. With `like`, the result is a dictionary.

    Parameters
    ----------
    plan
        Folder of a plan that `dpscope plan federated` committed.
    index
        Index of the canary, starting at 0.
    control
        The direction of the control client, which is no canary, in place of index.
    like
        Model whose arrays the direction is split into, by sorted name; out is then an npz file.
    """

def canary_rows(
    *,
    data: Path,
    columns: Path,
    count: int | None = None,
    poisson: float | None = None,
    null_draws: float | None = None,
    rows: int,
    claim: object | None = None,
    scoring: Literal["nearest", "count", "density", "decoys"] | None = "nearest",
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    out: Path,
) -> str:
    """Draw canary rows for one run of a generator, which `audit_generator` audits.

    `columns` is a TOML file.

    Parameters
    ----------
    data
        The real rows, csv with a header line.
    columns
        Columns with their public bounds and categories.
    count
        Number of canaries, or of rows of the pool.
    poisson
        Draw a Poisson number of canaries with this mean.
    null_draws
        Draw canaries independently instead of from a pool, and N more rows after the run for
        comparison: at least 100 times the mean.
    rows
        Number of rows that the run releases; must not depend on the data.
    claim
        Epsilon reported for the generator.
    scoring
        How a canary is scored from the released rows.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    out
        New folder.
    """

def make_canaries(
    kind: Literal["random", "mislabelled", "directions"],
    *,
    data: Array | None = None,
    count: int,
    dimension: float | None = None,
    out: Path,
    seed: int | None = None,
) -> Canaries:
    """Choose records of a file as canaries, or draw directions of gradients.

    Parameters
    ----------
    kind
        What the canaries are.
    data
        Records that are not used for training otherwise: npz with `inputs` and `labels`. An array,
        or a file.
    count
        Number of canaries, at least 5.
    dimension
        Number of parameters of the model, for directions.
    out
        File of the canaries, npz.
    seed
        Seed of the choice, below 2^53; coins need another, secret one [default: fresh entropy].
    """

def optimise_canaries(
    *,
    model: Path | None = "mlp",
    data: Path | None = None,
    labels: Path | None = None,
    classes: int | Sequence[int] | None = None,
    count: int,
    metasteps: int,
    out: Path,
    checkpoint: Path | None = None,
    records: int | None = None,
    start: Literal["random", "mislabelled"] | None = "random",
    steps: int | None = None,
    batch_size: int | None = None,
    learning_rate: float | None = None,
    momentum: float | None = 0.9,
    splits: int | None = 1,
    validation_splits: int | None = 4,
    update: Literal["sign", "gradient", "momentum"] | None = "sign",
    step_size: float | None = 0.02,
    relaxed: bool = False,
    memory: int | str | None = 1024,
    allow_rough: bool = False,
    device: str | None = "auto",
    threads: int | None = None,
    seed: int | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Canaries:
    """Optimise canaries so that a trained model reveals whether it saw them.

    The state of the optimisation is saved at `checkpoint`, which Ctrl-C leaves. `progress` counts
    metasteps.

    Parameters
    ----------
    model
        mlp (32 tanh units), lenet or cnn (average pooling), sized for the data, or a model file.
    data
        p100-like, location-like, fmnist-like or cifar-like (built-in synthetic data), or a file:
        IDX, CIFAR-10 binary, npz or csv [default: synthetic data of the model's shape].
    labels
        Label file of IDX data.
    classes
        Classes to use, in the order of their new labels, for example 0,1.
    count
        Number of canaries, at least 5.
    metasteps
        Number of optimisation steps (metasteps).
    out
        Output file of the canaries, npz.
    checkpoint
        Checkpoint of the optimisation, resumed if it exists [default: out with .part appended,
        removed at the end].
    records
        Number of training records besides the canaries [default: all records of a file; 3000 of
        synthetic data].
    start
        What canaries start from: records of the data, which are left out of the training.
    steps
        Steps of each training [default: 150; lenet 500, cnn 50].
    batch_size
        Records per batch [default: 150; lenet and cnn 100].
    learning_rate
        Learning rate [default: 0.1; lenet and cnn 0.02].
    momentum
        Momentum; 0 is SGD.
    splits
        Splits of the canaries per metastep; a model is trained with each half.
    validation_splits
        Splits of each validation and of the final comparison.
    update
        Update rule of the canaries.
    step_size
        Step size as a fraction of a feature's range; divided by 10 for the last fifth of the steps.
    relaxed
        Write binary features without rounding them to 0 and 1.
    memory
        Memory for saved training states: store-all, two-level, or a limit in MiB. Less memory takes
        more time; the results are bit-identical.
    allow_rough
        Accept layers with discontinuous derivatives (relu, max-pool); metagradients are unreliable.
    device
        Device of gradients and second derivatives: auto, cpu, gpu, or an index or part of a name
        listed by `dpscope devices`.
    threads
        CPU threads [default: one per core].
    seed
        Seed, below 2^53; never use it for coins, which need a secret one [default: that of the
        checkpoint, or fresh entropy].
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def plan_bgm(
    *,
    epsilon: float | None = None,
    observations: float | None = None,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    sampler: Literal["poisson", "shuffle", "persistent-shuffle", "balls-in-bins", "deterministic", "partial-shuffle", "sliding-buffer", "batch-then-shuffle", "truncated-poisson", "fixed-size", "random-allocation"] | None = "shuffle",
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    threat_model: Literal["worst-case", "partially-informed", "target-canary"] | None = None,
    batch_size: int | None = None,
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    threshold_rule: Literal["split", "simultaneous", "max-uncorrected"] | None = "simultaneous",
    seed: int | None = None,
) -> Plan:
    """Largest ε that audits of DP-SGD can show, by their number of observations.

    With the parameters of a training, its bound is predicted as `audit_bgm` would give it.

    Parameters
    ----------
    epsilon
        Epsilon that the bound should be able to reach.
    observations
        Observations in both worlds together.
    noise_multiplier
        Predict the bound for this noise multiplier and the length of the run.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    sampler
        How batches are drawn.
    buffer_examples
        Records in the shuffle buffer (partial-shuffle and sliding-buffer only).
    uses_per_epoch
        Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
        batches of B on average has K N/B steps [default: 1].
    max_batch_size
        Maximum batch size (truncated-poisson only); excess records are dropped at random.
    threat_model
        Threat model [default: the strongest one defined for the sampler].
    batch_size
        Records per batch (required by the buffered samplers and batch-then-shuffle).
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    threshold_rule
        How the threshold is chosen.
    seed
        Seed of the prediction [default: fresh entropy].
    """

def plan_federated(
    *,
    design: str,
    dimension: float | None = None,
    mu: float | Sequence[float] | None = None,
    claim: object | None = None,
    attacker: Literal["final-model", "all-updates", "sum-of-updates", "known-server-rounds"] | None = "final-model",
    server_rounds: int | None = None,
    weights: float | Sequence[float] | None = None,
    loudness: float | Sequence[float] | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    out: Path | None = None,
    delta: float | None = 1e-05,
) -> Plan:
    """Sizes of an audit with canary clients; with `out`, their number and directions, committed.

    `canary_direction` gives the updates of the canaries, `audit_federated` takes the folder.

    Parameters
    ----------
    design
        How the number of canaries is drawn: poisson:MEAN; fixed:NUMBER gives weaker bounds.
    dimension
        Number of trained parameters: the dimension of the directions.
    mu
        GDP mu of the training, or several [default: from claim, or 0.5,1,2,3].
    claim
        Claimed epsilon of the training, converted to the mu of a Gaussian mechanism.
    attacker
        What the attacker sees.
    server_rounds
        Number of server rounds over which each cosine is the maximum (attacker="all-updates" only).
    weights
        Numbers of examples that canaries report, each drawn by lot, to test whether the server
        weights clients by it [default: none].
    loudness
        Norms that canaries send in units of the clipping norm, each drawn by lot, to test clipping;
        norms above 1 harm a model that is not clipped [default: 1].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    out
        Draw the canaries, and write plan, secret seed and commitment to this folder.
    delta
        Delta at which epsilon is bounded, above 0.
    """

def plan_generator(
    *,
    claim: object,
    epsilon: float | None = None,
    delta: float | None = 1e-05,
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
    retries: int | None = 0,
    allow_duplicates: bool = False,
    seed: int | None = None,
) -> str:
    """How many runs of a generator a claim needs; with `out`, the folder of the audit.

    `columns` is a TOML file.

    Parameters
    ----------
    claim
        Epsilon reported for the generator.
    epsilon
        Epsilon that the bound should be able to reach; sets the number of runs [default: claim +
        1].
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    runs
        Runs in each world [default: as many as epsilon needs].
    out
        Write manifest and data to this folder.
    data
        The real rows, csv with a header line.
    columns
        Columns with their public bounds and categories.
    bounds_from_data
        Take bounds and categories from the data: the audit then reports no epsilon.
    target_row
        Row of the data that is left out in one world, counted from 0.
    target_cells
        Additional row of one world: its cells, separated by commas.
    rows
        Number of rows that each run releases; must not depend on the data.
    retries
        How often a failed run is repeated with another seed.
    allow_duplicates
        Accept runs with identical rows, which occur by chance if few rows come from a small domain.
    seed
        Seed of the runs' seeds, below 2^53 [default: fresh entropy].
    """

def plan_one_run(
    *,
    canaries: int | Path | None = None,
    design: str | None = None,
    mu: float | Sequence[float] | None = None,
    claim: object | None = None,
    epsilon: float | None = None,
    out: Path | None = None,
    nonce: str | None = None,
    guesses: int | None = None,
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    pairs: bool = False,
    set_size: int | None = None,
    runs: int | None = 1,
    adjacency: Literal["add-remove", "replace", "zero-out"] | None = None,
    direction: Literal["higher", "lower"] | None = "higher",
    delta: float | Sequence[float] | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
) -> Plan:
    """Sizes of an audit of one training run; with `out`, coins of its canaries, committed.

    Draw the coins, then train, and pass the folder to `audit_one_run`.

    Parameters
    ----------
    canaries
        Number of canaries, or the file of the canaries, npz or npy.
    design
        How the number of canaries is drawn, for an audit without coins: poisson:MEAN, or
        fixed:NUMBER, which shows less. With out, a Poisson number of canaries is drawn from the
        pool in canaries.
    mu
        Mu of the training, or several [default: that of claim, or 0.5,1,2,3].
    claim
        Epsilon reported for the training; its mu is that of a Gaussian mechanism.
    epsilon
        Epsilon that the bound should reach; says how many canaries this needs.
    out
        Draw the coins, and write plan, secret seed, coins and commitment to this folder.
    nonce
        Random bytes, in hexadecimal, that a third party published after the plan in out was
        committed: draws the coins again, from the secret seed and these bytes.
    guesses
        Guess this many of the most confident canaries [default: with out, several numbers tested
        jointly; otherwise the best number for each size].
    guesses_in
        Guess this many of the largest scores as included.
    guesses_out
        Guess this many of the smallest scores as not included.
    pairs
        Canaries 2i and 2i+1 are a pair, one of which is included.
    set_size
        Canaries Si to Si+S-1 are a set, one of which is included.
    runs
        Number of planned training runs, each with its own coins; their evidence is combined.
    adjacency
        What stands in place of a canary that is not included [default: add-remove; sets and pairs:
        replace].
    direction
        Which scores indicate an included canary.
    delta
        Delta at which epsilon is bounded, or several [default: 1e-5].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    """

def plan_secrets(
    *,
    records: int,
    values: int,
    decoys: int | None = None,
    list_length: int | None = None,
    guesses: int | None = None,
    direction: Literal["higher", "lower"] | None = "higher",
    out: Path | None = None,
    mu: float | Sequence[float] | None = None,
    epsilon: float | None = None,
    adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
) -> Plan:
    """Expected bounds of an audit by secrets; with `out`, the secrets and their decoys, committed.

    Give `secrets.npy` of the folder to the trainer, and pass the folder to `audit_secrets`.

    Parameters
    ----------
    records
        Number of records with a secret.
    values
        Number of values from which each secret is drawn.
    decoys
        Number of decoys of each secret, at most half of the values; attacks then rank the secret
        among these.
    list_length
        Values named for each secret [default: several numbers tested together; in the table the
        best one].
    guesses
        Guess this many secrets, those with the clearest lists; for out [default: all].
    direction
        Which scores indicate the true value; for out.
    out
        Draw the secrets, and write plan, secret seed, secrets, decoys and commitment to this
        folder.
    mu
        How far training moves the score of a member, or of a true secret, in standard deviations of
        the scores; or several [default: 0.5,1,2,3].
    epsilon
        Epsilon that the bound should reach; prints the size that this needs.
    adjacency
        Adjacency of epsilon.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    """

def plan_split(
    *,
    member_rows: int,
    non_member_rows: int,
    rule: Literal["cut", "sets"] | None = "cut",
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    guesses: int | None = None,
    mu: float | Sequence[float] | None = None,
    epsilon: float | None = None,
    adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
) -> Plan:
    """Expected bounds of an audit by a random hold-out, before the split is drawn.

    Parameters
    ----------
    member_rows
        Number of rows that will be trained on.
    non_member_rows
        Number of rows that will be held out.
    rule
        How rows are guessed.
    guesses_in
        Rows named as members, 0 for none [default: √(10 · members), rounded up].
    guesses_out
        Rows named as non-members, 0 for none [default: √(10 · non-members), rounded up].
    guesses
        Guessed sets of rule="sets" [default: √(10 · sets), rounded up].
    mu
        How far training moves the score of a member, or of a true secret, in standard deviations of
        the scores; or several [default: 0.5,1,2,3].
    epsilon
        Epsilon that the bound should reach; prints the size that this needs.
    adjacency
        Adjacency of epsilon.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    """

def verify_canaries(
    file: Path,
    *,
    plan: Path | None = None,
    seed: Path | None = None,
    base_data: Path | None = None,
) -> Canaries:
    """Check canaries against a committed plan.

    Parameters
    ----------
    file
        File of the canaries, npz or npy.
    plan
        Folder of a committed plan.
    seed
        The revealed seed of the plan [default: seed.secret of the plan].
    base_data
        Training records other than the canaries; canaries that are also among them are counted.
    """

def recompute(
    report: Result | Mapping[str, Any] | Path,
) -> Recomputation:
    """Compute the bounds of a report again, from the counts in it.

    Values are compared bit for bit, and the result and the verdicts that a page shows with those of the
    JSON in it. A report is consistent if its values follow from its counts; that does not make it
    authentic.

    Parameters
    ----------
    report
        A result of this package, its `report()`, the text of such a document or of a page of
        `page()`, or the file of either.
    """

def reproduce(
    what: Literal["figure-3", "table-1", "published", "one-run-validity", "one-shot-table-2", "pategan", "metagradient-canaries", "fedavg-final-vs-all", "fedavg-presentations", "fedavg-one-or-ten-runs", "fedavg-utility", "fedavg-gaussianity", "dpsgd-partially-informed", "dpsgd-batch-size", "dpsgd-worst-case", "dpsgd-target-canary", "partial-shuffle", "batch-then-shuffle"],
    *,
    observations: float | None = None,
    runs: int | None = None,
    canaries: int | None = None,
    delta: float | None = None,
    scale: Literal["mlp", "lenet", "cnn"] | None = None,
    metasteps: int | None = None,
    full: bool = False,
    largest_dimension: float | None = None,
    data: Path | None = None,
    labels: Path | None = None,
    classes: int | Sequence[int] | None = None,
    columns: Path | None = None,
    label: str | None = None,
    positive: str | None = None,
    rows: int | None = None,
    average_runs: int | None = None,
    utility: int | None = None,
    seed: int | None = None,
    device: str | None = "auto",
    float_mode: Literal["fast", "exact"] | None = None,
    threads: int | None = None,
    yes: bool = False,
    draw: bool = False,
    progress: Progress | None = None,
) -> Reproduction:
    """Repeat a published experiment, and compare the results with those that were printed.

    The defaults take up to a few minutes on two cores. `dpscope reproduce --help` says what the
    experiments are.

    Parameters
    ----------
    draw
        Draw the results as well, for `svg()`.
    what
        Published experiment.
    observations
        Observations per setting in both worlds together (figure-3 and table-1).
    runs
        Runs per setting in both worlds together (other experiments) [default: as many as take about
        two minutes on two cores; 1000 audits per setting of one-run-validity and one-shot-table-2,
        50 with full; 2000 runs per audit of the worst case of pategan, which takes a minute on two
        cores with its average case; 10 repeats of metagradient-canaries; 6 audits per setting of
        DP-FedAvg].
    canaries
        Canaries of each audit (one-run-validity, metagradient-canaries and DP-FedAvg) [default:
        1000 for one-run-validity, set by scale for metagradient-canaries, 1000 for
        fedavg-one-or-ten-runs, 200 for other experiments of DP-FedAvg].
    delta
        Delta of the bounds (one-run-validity, metagradient-canaries and DP-FedAvg) [default: 1e-5,
        or 1e-6 for DP-FedAvg].
    scale
        Model and sizes (metagradient-canaries) [default: mlp].
    metasteps
        Steps of the canaries in each optimisation (metagradient-canaries) [default: those of the
        scale].
    full
        Draw every coordinate of directions, noise and sum, in place of the joint distribution of
        the cosines; on a GPU if there is one, with the same result (one-shot-table-2).
    largest_dimension
        Largest dimension of the table with full (one-shot-table-2) [default: 1e5, about ten seconds
        on one core; 1e6 takes five minutes, 1e7 more than two hours].
    data
        p100-like, location-like, fmnist-like or cifar-like (built-in synthetic data), or a file:
        IDX, CIFAR-10 binary, npz or csv [default: synthetic data of the model's shape].
    labels
        Label file of IDX data.
    classes
        Classes to use, in the order of their new labels, for example 0,1.
    columns
        Columns of data, a csv, with their public bounds and categories (pategan).
    label
        Categorical column that is the label (pategan with data).
    positive
        Positive class of the classifiers, a category of the label [default: the last one].
    rows
        Number of rows that each run releases; must not depend on the data (pategan with data).
    average_runs
        Runs per audit of the average case in both worlds together, 0 to leave it out (pategan)
        [default: 200].
    utility
        Generators per implementation whose rows train classifiers in the average case (pategan)
        [default: 5].
    seed
        Random seed, below 2^53 [default: fresh entropy].
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    float_mode
        Floating-point mode of the GPU; the CPU is always exact.
    threads
        CPU threads [default: one per core].
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def audit_bgm(
    *,
    noise_multiplier: float,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    sampler: Literal["poisson", "shuffle", "persistent-shuffle", "balls-in-bins", "deterministic", "partial-shuffle", "sliding-buffer", "batch-then-shuffle", "truncated-poisson", "fixed-size", "random-allocation"] | None = "shuffle",
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    threat_model: Literal["worst-case", "partially-informed", "target-canary"] | None = None,
    batch_size: int | None = None,
    observations: float,
    significance: float | None = None,
    confidence: float | str | None = None,
    threshold_rule: Literal["split", "simultaneous", "max-uncorrected"] | None = "simultaneous",
    seed: int | None = None,
    device: str | None = "auto",
    float_mode: Literal["fast", "exact"] | None = None,
    threads: int | None = None,
    checkpoint: Path | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
    delta: float | None = 1e-05,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Bound ε by a simulation of DP-SGD that releases every noisy sum.

    `progress` counts observations.

    Parameters
    ----------
    noise_multiplier
        Noise standard deviation divided by the clip norm, 0.2 to 20.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    sampler
        How batches are drawn.
    buffer_examples
        Records in the shuffle buffer (partial-shuffle and sliding-buffer only).
    uses_per_epoch
        Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
        batches of B on average has K N/B steps [default: 1].
    max_batch_size
        Maximum batch size (truncated-poisson only); excess records are dropped at random.
    threat_model
        Threat model [default: the strongest one defined for the sampler].
    batch_size
        Records per batch (required by the buffered samplers and batch-then-shuffle).
    observations
        Observations in both worlds together; an even number, for example 1e7.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    threshold_rule
        How the threshold is chosen.
    seed
        Random seed, below 2^53 [default: fresh entropy].
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    float_mode
        Floating-point mode of the GPU; the CPU is always exact.
    threads
        CPU threads [default: one per core].
    checkpoint
        Save the state to this file at least once per second, and resume from it if it exists.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    delta
        Delta at which epsilon is bounded, above 0.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def audit_dpsgd(
    *,
    protocol: Literal["two-worlds", "one-run"] | None = None,
    model: Path | None = "mlp",
    data: Path | None = None,
    labels: Path | None = None,
    classes: int | Sequence[int] | None = None,
    records: int | None = 10000,
    epochs: int | None = 1,
    noise_multiplier: float | None = None,
    poisson_epsilon: float | None = None,
    sampler: Literal["poisson", "shuffle", "persistent-shuffle", "balls-in-bins", "deterministic", "partial-shuffle", "sliding-buffer", "batch-then-shuffle", "truncated-poisson", "fixed-size", "random-allocation"] | None = "shuffle",
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    threat_model: Literal["worst-case", "partially-informed", "target-canary"] | None = None,
    batch_size: int | None = None,
    clip_norm: float | None = 1.0,
    learning_rate: float | str | None = None,
    canary: Literal["random", "dirac"] | None = "random",
    fixed_canary: bool = False,
    debias_records: int | None = 0,
    runs: float | None = None,
    outputs_to: Path | None = None,
    device_memory: int | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    threshold_rule: Literal["split", "simultaneous", "max-uncorrected"] | None = "simultaneous",
    seed: int | None = None,
    device: str | None = "auto",
    float_mode: Literal["fast", "exact"] | None = None,
    threads: int | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
    canaries: int | None = None,
    canary_file: Path | None = None,
    canary_kind: Literal["random", "mislabelled"] | None = None,
    repeats: int | None = None,
    reference_models: int | None = None,
    score: Literal["final-loss", "loss-difference", "white-box"] | None = None,
    guesses: int | None = None,
    guesses_in: int | None = None,
    guesses_out: int | None = None,
    momentum: float | None = None,
    pretrain_records: int | None = None,
    pretrain_epochs: int | None = None,
    pretrain_learning_rate: float | None = None,
    delta: float | None = 1e-05,
    checkpoint: Path | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Train models by DP-SGD with a canary, and bound ε of their outputs.

    `outputs_to` writes the outputs of every run, for `audit_outputs`. `progress` counts trainings.

    Parameters
    ----------
    protocol
        Audit protocol [default: two-worlds].
    model
        Model: mlp, lenet or cnn, sized for the data, or a TOML file with a list of layers.
    data
        p100-like, location-like, fmnist-like or cifar-like (built-in synthetic data), or a file:
        IDX, CIFAR-10 binary, npz or csv [default: synthetic data of the model's shape].
    labels
        Label file of IDX data.
    classes
        Classes to use, in the order of their new labels, for example 0,1.
    records
        Number of training records, including canaries.
    epochs
        Passes over the data, 1 to 1000.
    noise_multiplier
        Noise standard deviation divided by the clip norm, 0.2 to 20.
    poisson_epsilon
        Calibrate the noise so that Poisson accounting claims this epsilon.
    sampler
        How batches are drawn.
    buffer_examples
        Records in the shuffle buffer (partial-shuffle and sliding-buffer only).
    uses_per_epoch
        Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
        batches of B on average has K N/B steps [default: 1].
    max_batch_size
        Maximum batch size (truncated-poisson only); excess records are dropped at random.
    threat_model
        Threat model [default: the strongest one defined for the sampler].
    batch_size
        Records per batch (required by the buffered samplers and batch-then-shuffle).
    clip_norm
        Clip norm C of a record's gradient.
    learning_rate
        Learning rate, or `search` for a logarithmic search [default: the built-in model's rate;
        search for a model file].
    canary
        Direction of the canary's gradient.
    fixed_canary
        Draw the canary's gradient once for all runs, not once per run.
    debias_records
        Subtract the other records' mean gradient, estimated from M records, as a white-box attacker
        would.
    runs
        Runs in both worlds together; an even number, for example 1e4.
    outputs_to
        Write the outputs of every run to this npz file, for `dpscope audit outputs`.
    device_memory
        GPU memory that models may use [default: 1024, or 256 on a software rasteriser].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    threshold_rule
        How the threshold is chosen.
    seed
        Random seed, below 2^53 [default: fresh entropy].
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    float_mode
        Floating-point mode of the GPU; the CPU is always exact.
    threads
        CPU threads [default: one per core].
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    canaries
        Number of canaries in each training run, at least 5; a fair coin decides on each.
    canary_file
        Canaries to insert: npz with `inputs`, preprocessed as for the model, and `labels`.
    canary_kind
        Kind of canaries drawn from otherwise unused records [default: mislabelled].
    repeats
        Number of audited training runs, each with its own coins; one bound covers all [default: 1].
    reference_models
        Number of reference models, with their own coins, that calibrate the scores [default: 0].
    score
        Score by which canaries are ranked [default: final-loss].
    guesses
        Number of guesses over all repeats, most confident first [default: several numbers, tested
        jointly].
    guesses_in
        Guess that the K canaries with the largest scores are included.
    guesses_out
        Guess that the K canaries with the smallest scores are not included.
    momentum
        Momentum of the updates, in [0, 1) [default: 0].
    pretrain_records
        Pre-train without privacy on N other records.
    pretrain_epochs
        Pre-training epochs [default: 1].
    pretrain_learning_rate
        Pre-training learning rate [default: that of learning_rate].
    delta
        Delta at which epsilon is bounded, above 0.
    checkpoint
        Save the state to this file, once per second or after each wave of runs; resume from it with
        the same command or `dpscope resume`.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def audit_fedavg(
    *,
    model: Path | None = "mlp",
    data: Path | None = None,
    labels: Path | None = None,
    classes: int | Sequence[int] | None = None,
    client_column: str | None = None,
    clients: int | None = 900,
    records_per_client: int | None = 10,
    concentration: float | None = None,
    rounds: int | None = 50,
    participation: str | None = "epochs:5",
    canary_presentations: int | None = None,
    local_epochs: int | None = 5,
    local_batch_size: int | None = 10,
    local_learning_rate: float | None = 0.5,
    clip_norm: float | None = 1.0,
    adaptive_clipping: bool = False,
    noise_multiplier: float,
    noise_mechanism: str | None = "gaussian",
    server_learning_rate: float | None = 1.0,
    server_momentum: float | None = 0.9,
    design: str | None = "poisson:200",
    attack: Literal["final-model", "largest-update", "sum-of-updates", "known-rounds"] | None = "final-model",
    final_model_only: bool = False,
    repeats: int | None = 1,
    without_canaries: int | None = 1,
    device_memory: int | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    device: str | None = "auto",
    threads: int | None = None,
    checkpoint: Path | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
    delta: float | None = 1e-05,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Train a model by DP-FedAvg with canary clients, and bound its ε.

    `progress` counts trainings.

    Parameters
    ----------
    model
        Model: mlp, lenet or cnn, sized for the data, or a TOML file with a list of layers.
    data
        p100-like, location-like, fmnist-like or cifar-like (built-in synthetic data), or a file:
        IDX, CIFAR-10 binary, npz or csv [default: synthetic data of the model's shape].
    labels
        Label file of IDX data.
    classes
        Classes to use, in the order of their new labels, for example 0,1.
    client_column
        Column of a csv file, or array of an npz file, with the client of each record; a tenth of
        the records of each client is held out.
    clients
        Number of clients, without canaries.
    records_per_client
        Records of each client.
    concentration
        Distribute labels among clients by a Dirichlet distribution of this concentration [default:
        evenly].
    rounds
        Server rounds.
    participation
        Who takes part in which round: each-once, epochs:E (reshuffled), min-separation:E (one order
        for all epochs), poisson:RATE or fixed-size:N.
    canary_presentations
        Number of rounds of each canary, evenly spread [default: drawn like the rounds of clients].
    local_epochs
        Passes of a participant over its records.
    local_batch_size
        Records of a local batch.
    local_learning_rate
        Learning rate of participants.
    clip_norm
        Norm that updates are clipped to; with adaptive_clipping, that of the first round.
    adaptive_clipping
        Adapt the clip norm to the median norm of updates, using part of the privacy budget.
    noise_multiplier
        Standard deviation of the noise on the sum of updates, divided by the clip norm.
    noise_mechanism
        Correlation of the noise between rounds: gaussian (none), tree (DP-FTRL) or banded:BANDS
        (matrix factorisation).
    server_learning_rate
        Learning rate of the server.
    server_momentum
        Momentum of the server.
    design
        How the number of canaries is drawn: poisson:MEAN, bernoulli:SLOTS:PROBABILITY or
        fixed:NUMBER.
    attack
        The attack whose bound decides.
    final_model_only
        Score only the final model, so that updates are not stored.
    repeats
        Number of trainings, each with canaries and noise of its own; one bound covers all.
    without_canaries
        Number of trainings without canaries, to compare accuracies.
    device_memory
        GPU memory that models may use [default: 1024, or 256 on a software rasteriser].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    seed
        Random seed, below 2^53 [default: fresh entropy].
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    threads
        CPU threads [default: one per core].
    checkpoint
        Save the state to this file at least once per second, and resume from it if it exists.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    delta
        Delta at which epsilon is bounded, above 0.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def audit_gaussian(
    *,
    noise_multiplier: float,
    dimension: float,
    design: str | None = "poisson:1000",
    full: bool = False,
    repeats: int | None = 1,
    delta: float | None = 1e-05,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    device: str | None = "auto",
    threads: int | None = None,
    checkpoint: Path | None = None,
    claim: object | None = None,
    claim_delta: float | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    fail_above: float | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Bound ε of the Gaussian mechanism by canaries in one noisy sum.

    The result is that of the first run. `progress` counts runs.

    Parameters
    ----------
    noise_multiplier
        Standard deviation of the noise per coordinate, divided by the norm of a canary.
    dimension
        Dimension of the sum and of the directions.
    design
        How the number of canaries is drawn: poisson:MEAN, bernoulli:SLOTS:PROBABILITY or
        fixed:NUMBER.
    full
        Draw every coordinate of directions, noise and sum, in place of the joint distribution of
        the cosines; on a GPU if there is one, with the same result.
    repeats
        Independent runs; the result is that of the first, the others show how much it varies.
    delta
        Delta at which epsilon is bounded; 0 for pure DP.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    seed
        Random seed, below 2^53 [default: fresh entropy].
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    threads
        CPU threads [default: one per core].
    checkpoint
        Save the state to this file at least once per second, and resume from it if it exists.
    claim
        Epsilon reported for the training; `verdict()` says whether it is refuted.
    claim_delta
        Delta reported with claim; must equal delta.
    claim_adjacency
        Adjacency of the claim.
    fail_above
        Largest acceptable bound.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def audit_pategan(
    *,
    data: Path | None = None,
    columns: Path | None = None,
    rows: int | None = None,
    label: str | None = None,
    utility: bool | int = False,
    positive: str | None = None,
    utility_gamma: float | Sequence[float] | None = None,
    utility_plot: Path | None = None,
    target_row: int | None = None,
    candidates: int | None = None,
    candidate_runs: int | None = None,
    runs: int | None = 1000,
    teachers: int | None = 2,
    gamma: float | None = 0.001,
    batch_size: int | None = 4,
    iterations: int | None = None,
    epsilon: float | None = None,
    fault: str | Sequence[str] | None = None,
    harness_faults: bool = False,
    checks_significance: float | None = 0.001,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    checkpoint: Path | None = None,
    fail_above: float | None = None,
    delta: float | None = 1e-05,
    yes: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Run PATE-GAN, faithful or faulty, and report its faults and ε of its rows.

    `columns` is a TOML file. `verdict()` is on the accounted ε. `progress` counts candidates, then
    runs.

    Parameters
    ----------
    data
        Real rows, csv with a header line [default: the worst case].
    columns
        Columns with their public bounds and categories.
    rows
        Number of rows that each run releases; must not depend on the data.
    label
        Categorical column that is the label, for faults that need one and for utility.
    utility
        Train N more generators on 80 % of the rows and classifiers on the rows they release, and
        test the classifiers on the remaining rows [default N: 5].
    positive
        Positive class of the classifiers, a category of the label [default: the last one].
    utility_gamma
        Inverse scales whose utility and epsilon are compared with those of gamma, as a list; each
        is audited with the same number of runs.
    utility_plot
        Draw utility against epsilon to a self-contained SVG file.
    target_row
        Row of the data that is left out in one world, counted from 0 [default: the most exposed
        candidate].
    candidates
        Number of rows to try as the target, 1 to 64: those farthest from their 5 nearest neighbours
        [default: 64].
    candidate_runs
        Runs in each world per candidate, 20 to 10000; the audit itself does not use them [default:
        100].
    runs
        Runs of each world, from 20 to 100000.
    teachers
        Teachers, trained on disjoint parts of the data.
    gamma
        Inverse scale of the Laplace noise (lambda of PATE-GAN).
    batch_size
        Rows per training step.
    iterations
        Iterations [default: 100].
    epsilon
        Stop training when epsilon by the published moments reaches this value, or after 10000
        iterations.
    fault
        Faults to switch on, separated by commas.
    harness_faults
        Release as many rows as the data have, as the published audit does (fault E1).
    checks_significance
        Chance that the checks of a faithful mechanism report a fault.
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    seed
        Random seed, below 2^53 [default: fresh entropy].
    threads
        CPU threads [default: one per core].
    checkpoint
        Save the state to this file at least once per second, and resume from it if it exists.
    fail_above
        Largest acceptable bound.
    delta
        Delta at which epsilon is bounded, above 0.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def calibrate(
    wanted: Literal["noise", "steps", "epochs"],
    *,
    epsilon: float,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    batch_size: int | None = None,
    delta: float | None = 1e-05,
    sampler: Literal["poisson", "shuffle", "persistent-shuffle", "balls-in-bins", "deterministic", "partial-shuffle", "sliding-buffer", "batch-then-shuffle", "truncated-poisson", "fixed-size", "random-allocation"] | None = "poisson",
    adjacency: Literal["add-remove", "replace", "zero-out"] | None = None,
    sampling_rate: float | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
) -> Calibration:
    """Least noise, most steps or most epochs for a target ε, which is not exceeded.

    Shuffled batches are accounted as deterministic ones; they have no upper bound for the adjacency
    "add-remove".

    Parameters
    ----------
    wanted
        What to compute from the other options.
    epsilon
        Target epsilon; not exceeded.
    noise_multiplier
        Noise standard deviation divided by the clip norm.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    batch_size
        Records per batch, with dataset_size.
    delta
        Delta of the target epsilon.
    sampler
        How batches are drawn.
    adjacency
        What neighbouring data sets differ in [default: zero-out].
    sampling_rate
        Probability that a record is in a batch, for samplers that draw each step anew [default:
        1/T]; with it, total_steps is enough.
    uses_per_epoch
        Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
        batches of B on average has K N/B steps [default: 1].
    max_batch_size
        Maximum batch size (truncated-poisson only); excess records are dropped at random.
    """

def check(
    file: object = None,
    *,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    noise_multiplier: float | None = None,
    buffer_examples: int | None = None,
    uses_per_epoch: int | None = None,
    sampling_rate: float | None = None,
    max_batch_size: int | None = None,
    drop_last: bool | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = None,
    accountant: Literal["poisson", "shuffle", "persistent-shuffle", "balls-in-bins", "deterministic", "partial-shuffle", "sliding-buffer", "batch-then-shuffle", "truncated-poisson", "fixed-size", "random-allocation"] | None = None,
    accounted_sampling_rate: float | None = None,
    accounted_steps: int | None = None,
    noise_std: float | None = None,
    clip_norm: float | None = None,
    noise_on: Literal["sum", "mean"] | None = None,
    import_: Path | None = None,
    claim: object | None = None,
    delta: float | None = None,
    loader: object = None,
) -> Check:
    """Bound ε of a described training, and check a claim by it; nothing is trained.

    Without a claim, the result says what is proven of ε. Parameters that an object of `file` or
    `loader` has are left out.

    Parameters
    ----------
    file
        The training: a TOML file that describes it (`dpscope check --example` prints one), which
        keywords override; an Opacus PrivacyEngine or accountant, its history or state_dict; a DpEvent
        or an accountant of dp_accounting; a list of (noise_multiplier, sampling_rate, steps); or a JSON
        file with such a record.
    loader
        How batches are formed: a name such as "shuffle", a library's loader as in your code, such as
        "DataLoader(shuffle=True)", or a DataLoader itself.
    dataset_size
        Records in the training data.
    batch_size
        Batch size configured in the data loader.
    epochs
        Passes over the data, possibly with a fraction.
    total_steps
        Steps in all, in place of epochs.
    noise_multiplier
        Noise standard deviation divided by the clip norm, as configured in the accountant.
    buffer_examples
        Records in the shuffle buffer (partial-shuffle and sliding-buffer only).
    uses_per_epoch
        Steps per epoch that use each record (random-allocation only); an epoch then has K times as
        many steps [default: 1].
    sampling_rate
        Probability with which the loader draws each record into each batch (poisson and
        truncated-poisson only) [default: unknown: batch size over records, or one over the batches
        per epoch].
    max_batch_size
        Maximum batch size (truncated-poisson only).
    drop_last
        Whether the loader drops an incomplete last batch.
    claim_adjacency
        Adjacency of the claim [default: add-remove].
    accountant
        Sampler that the accountant assumes.
    accounted_sampling_rate
        Sampling rate configured in the accountant.
    accounted_steps
        Total number of steps configured in the accountant.
    noise_std
        Standard deviation of the noise in the code, per coordinate.
    clip_norm
        Clip norm of one record's gradient, which goes with `noise_std`.
    noise_on
        What the noise is added to [default: sum].
    import_
        Record of another accountant: events, a history or settings, recognised by its content.
    claim
        Claimed epsilon; without one, the check bounds epsilon.
    delta
        Claimed delta [default: 1e-5 without a claim].
    """

def compare(
    *,
    noise_multiplier: float,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    batch_size: int | None = None,
    observations: float | None = None,
    seed: int | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    device: str | None = "auto",
    float_mode: Literal["fast", "exact"] | None = None,
    threads: int | None = None,
    max_batch_size: int | None = None,
    allocated_epochs: int | None = None,
    claim: object | None = None,
    claim_adjacency: Literal["add-remove", "replace", "zero-out"] | None = "add-remove",
    delta: float | None = 1e-05,
    yes: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """What is claimed of a training, what is proven, and what its worst-case pair leaks.

    Parameters
    ----------
    noise_multiplier
        Noise standard deviation divided by the clip norm.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    batch_size
        Records per batch, with dataset_size.
    observations
        Add a simulated audit with this many observations in both worlds together.
    seed
        Seed of all draws, below 2^53 [default: fresh entropy].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    float_mode
        Floating-point mode of the GPU; the CPU is always exact.
    threads
        CPU threads [default: one per core].
    max_batch_size
        Add truncated Poisson batches with at most this many records.
    allocated_epochs
        Add random allocation that uses each record K times in every K epochs.
    claim
        Epsilon reported for the training; `verdict()` says whether the leakage of shuffled batches
        refutes it.
    claim_adjacency
        Adjacency of the claim; the upper bound of shuffled batches is proven under zero-out alone.
    delta
        Delta at which epsilon is bounded, above 0.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def delta(
    sampler: Literal["poisson", "deterministic", "balls-in-bins", "truncated-poisson", "fixed-size", "random-allocation", "shuffle", "persistent-shuffle", "pair"] = "poisson",
    *,
    side: Literal["upper", "lower", "estimate"] | None = None,
    method: Literal["max-slice", "sum", "best"] | None = None,
    noise_multiplier: float,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    batch_size: int | None = None,
    epsilon: float,
    sampling_rate: float | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    adjacency: Literal["add-remove", "replace", "zero-out"] | None = None,
    direction: Literal["remove", "add", "both"] | None = None,
    observations: float | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    device: str | None = "auto",
    float_mode: Literal["fast", "exact"] | None = None,
    threads: int | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Accounted:
    """Proven or estimated δ of a training at ε.

    `sampler` is how batches are drawn, or "pair" for the exact pair of shuffled batches.

    Parameters
    ----------
    sampler
        What is bounded.
    side
        Side of the bound [default: lower for shuffle, the estimate and the lower limit for pair,
        otherwise upper].
    method
        Closed form (shuffle and persistent-shuffle only) [default: best].
    noise_multiplier
        Noise standard deviation divided by the clip norm.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    batch_size
        Records per batch, with dataset_size.
    epsilon
        Compute delta at this epsilon instead.
    sampling_rate
        Probability that a record is in a batch (poisson and fixed-size only) [default: 1/T]; with
        it, total_steps is enough.
    uses_per_epoch
        Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
        batches of B on average has K N/B steps [default: 1].
    max_batch_size
        Maximum batch size (truncated-poisson only); excess records are dropped at random.
    adjacency
        What neighbouring data sets differ in (not for pair) [default: zero-out].
    direction
        With the record against without it, or the reverse [default: both].
    observations
        Draws of the pair [default: chosen to finish in under a second].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    seed
        Seed of the draws of the pair, below 2^53 [default: fresh entropy].
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    float_mode
        Floating-point mode of the GPU; the CPU is always exact.
    threads
        CPU threads [default: one per core].
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def epsilon(
    sampler: Literal["poisson", "deterministic", "balls-in-bins", "truncated-poisson", "fixed-size", "random-allocation", "shuffle", "persistent-shuffle", "pair"] = "poisson",
    *,
    side: Literal["upper", "lower", "estimate"] | None = None,
    method: Literal["max-slice", "sum", "best"] | None = None,
    noise_multiplier: float,
    steps: int | None = None,
    dataset_size: int | None = None,
    epochs: float | None = None,
    total_steps: int | None = None,
    batch_size: int | None = None,
    delta: float | None = 1e-05,
    sampling_rate: float | None = None,
    uses_per_epoch: int | None = None,
    max_batch_size: int | None = None,
    adjacency: Literal["add-remove", "replace", "zero-out"] | None = None,
    direction: Literal["remove", "add", "both"] | None = None,
    observations: float | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    seed: int | None = None,
    device: str | None = "auto",
    float_mode: Literal["fast", "exact"] | None = None,
    threads: int | None = None,
    yes: bool = False,
    progress: Progress | None = None,
) -> Accounted:
    """Proven or estimated ε of a training at δ.

    `sampler` is how batches are drawn, or "pair" for the exact pair of shuffled batches.

    Parameters
    ----------
    sampler
        What is bounded.
    side
        Side of the bound [default: lower for shuffle, the estimate and the lower limit for pair,
        otherwise upper].
    method
        Closed form (shuffle and persistent-shuffle only) [default: best].
    noise_multiplier
        Noise standard deviation divided by the clip norm.
    steps
        Batches per epoch.
    dataset_size
        Records in the training data: with batch_size B, an epoch has N/B steps, rounded up.
    epochs
        Passes over the data; theory also takes a fraction [default: 1].
    total_steps
        Steps in all, instead of epochs.
    batch_size
        Records per batch, with dataset_size.
    delta
        Delta at which epsilon is computed.
    sampling_rate
        Probability that a record is in a batch (poisson and fixed-size only) [default: 1/T]; with
        it, total_steps is enough.
    uses_per_epoch
        Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
        batches of B on average has K N/B steps [default: 1].
    max_batch_size
        Maximum batch size (truncated-poisson only); excess records are dropped at random.
    adjacency
        What neighbouring data sets differ in (not for pair) [default: zero-out].
    direction
        With the record against without it, or the reverse [default: both].
    observations
        Draws of the pair [default: chosen to finish in under a second].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    seed
        Seed of the draws of the pair, below 2^53 [default: fresh entropy].
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    float_mode
        Floating-point mode of the GPU; the CPU is always exact.
    threads
        CPU threads [default: one per core].
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """

def sweep(
    settings: Path | Sequence[Mapping[str, float | str]],
    *,
    pair: bool = False,
    observations: float | None = None,
    seed: int | None = None,
    significance: float | None = None,
    confidence: float | str | None = None,
    device: str | None = "auto",
    float_mode: Literal["fast", "exact"] | None = None,
    threads: int | None = None,
    delta: float | None = 1e-05,
    yes: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """What is claimed and proven of many trainings.

    `settings` may be dictionaries with `noise_multiplier`, `steps` (or `dataset_size` and
    `batch_size`), and optionally `name`, `epochs` or `total_steps`, and `delta`. `progress` counts them.

    Parameters
    ----------
    settings
        CSV file of training runs.
    pair
        Add a lower limit and an estimate from draws of the exact pair.
    observations
        Add a simulated audit with this many observations in both worlds together.
    seed
        Seed of all draws, below 2^53 [default: fresh entropy].
    significance
        Probability that the bound is wrong, below 0.5 [default: 0.05].
    confidence
        Confidence of the bound, in place of significance: 95% or 0.95.
    device
        Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    float_mode
        Floating-point mode of the GPU; the CPU is always exact.
    threads
        CPU threads [default: one per core].
    delta
        Delta at which epsilon is bounded, above 0.
    yes
        Start a run that is estimated to take more than an hour; otherwise it is an error.
    progress
        Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the
        run.
    """
