"""Audits of recorded data."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from dpscope._command import Array, Command, npz_of
from dpscope._function import command
from dpscope._results import Audit


@command("audit scores", positional=["target", "zero_out"], arrays=["target", "zero_out"])
def audit_scores(call: Command) -> Audit:
    """Bound ε by the scores of any attack, one per run.

    Scores are one per training run, not labels: for members and non-members of one model, use
    `audit_one_run`.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> out = random.normal(size=1000)
    >>> audit = audit_scores(out + 3, out[::-1], claim=1.0, seed=1)
    >>> audit.kind, audit.epsilon > 1.0, audit.verdict().outcome
    ('bound', True, 'refuted')
    """
    return Audit(call.document(), call)


@command("audit outputs", without=["runs"], arrays=["target", "zero_out"])
def audit_outputs(
    call: Command, target: Array | Mapping[str, Array], zero_out: Array | None = None
) -> Audit:
    """Bound ε by outputs recorded from your own training, and look for faults in it.

    Parameters
    ----------
    target, zero_out
        Outputs of both worlds, of shape (runs, epochs, steps) or (runs, steps): the projection of
        each privatised gradient on the unit gradient of the canary. Arrays, or files; `target` alone
        is a file or a dictionary with both arrays, and optionally with sums before noise (`sums_target`,
        `sums_zero_out`) and uses of the target (`uses_target`, `uses_zero_out`).

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
    if zero_out is not None:
        call.set("target", target)
        call.set("zero_out", zero_out)
    elif isinstance(target, (str, os.PathLike)):
        call.add_arguments(target)
    elif isinstance(target, Mapping):
        call.add_file("outputs.npz", npz_of("target", target))
    else:
        raise TypeError("zero_out is missing; pass it, or a file with both arrays as target")
    return Audit(call.document(), call)


@command("audit counts", positional=["false_positives", "false_negatives"])
def audit_counts(call: Command) -> Audit:
    """Bound ε by the errors of an attack at a threshold that was fixed beforehand.

    Examples
    --------
    >>> audit = audit_counts(12, 480, target_trials=1000, zero_out_trials=1000)
    >>> print(audit.headline)
    ε ≥ 3.1531 at δ = 1e-5, with 95 % confidence
    """
    return Audit(call.document(), call)


@command(
    "audit one-run",
    positional=["scores"],
    arrays=["scores", "projections", "coins", "sets", "null_scores", "pool_scores", "baseline"],
    types={"canaries": "int | Path"},
)
def audit_one_run(
    call: Command, *, included: npt.ArrayLike | None = None, excluded: npt.ArrayLike | None = None
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

    Examples
    --------
    >>> audit = audit_one_run(canaries=1000, guesses=100, correct=95)
    >>> audit.kind, round(audit.epsilon, 4)
    ('bound', 2.1719)
    """
    if included is not None or excluded is not None:
        if included is None or excluded is None:
            raise TypeError("included and excluded go together: scores of both kinds of canaries")
        if call.has("scores") or call.has("coins"):
            raise TypeError("included and excluded stand in place of scores and coins")
        kinds = [np.ravel(included), np.ravel(excluded)]
        coins = np.repeat([1, 0], [len(kind) for kind in kinds])
        # in an order of their own, since coins that follow the order of canaries were not drawn
        order = np.random.default_rng(0).permutation(len(coins))
        call.set("scores", np.concatenate(kinds)[order])
        call.set("coins", coins[order])
    return Audit(call.document(), call)


@command(
    "audit split",
    positional=["members", "non_members"],
    arrays=["members", "non_members", "synthetic", "member_strata", "non_member_strata"],
)
def audit_split(call: Command) -> Audit:
    """Bound ε by the random hold-out of one training, in which no canaries were planted.

    The scores of rows that were trained on and of rows that the same random draw held out; or the rows
    themselves, with the rows that a generator released as `synthetic`. `epsilon` is for adding or removing a
    row; the bound for replacing one is in `report()["bounds"]`.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> members, held_out = random.normal(1, 1, 1000), random.normal(0, 1, 1000)
    >>> audit = audit_split(members, held_out, claim=1.0)
    >>> audit.verdict().outcome, audit.epsilon > 1
    ('refuted', True)
    """
    return Audit(call.document(), call)


@command(
    "audit secrets",
    positional=["candidates"],
    arrays=["candidates", "ranks"],
)
def audit_secrets(call: Command) -> Audit:
    """Bound ε by secrets that the records of one training hold, each drawn uniformly from many values.

    Scores of `candidates` have a row per record: the true value first, then decoys that were drawn without
    replacement from the other values. In their place stand the `ranks` of the true values, with `values` or
    `decoys`; or `records`, `values` and `correct` as numbers. `epsilon` is for replacing a secret; the bound
    for adding or removing a record is in `report()["bounds"]`.

    Examples
    --------
    >>> audit = audit_secrets(records=200, values=1_000_000, correct=7)
    >>> round(audit.epsilon, 4), round(audit.report()["bounds"]["add_remove"], 4)
    (9.7281, 8.7848)
    """
    return Audit(call.document(), call)


@command(
    "audit guesses",
    positional=["drawn", "guessed"],
    arrays=["drawn", "guessed", "priors"],
)
def audit_guesses(call: Command) -> Audit:
    """Bound ε by guesses of memberships or labels that were drawn with known odds.

    `drawn` says what was drawn, 1 or 0 for each record; `guessed` what the attack says, -1 where it abstains;
    `priors` the known probability of a 1, or `probability` the same for all.

    Examples
    --------
    >>> audit = audit_guesses(value="label", records=1000, probability=0.1, guesses_in=60, correct=41)
    >>> round(audit.epsilon, 4)
    2.48
    """
    return Audit(call.document(), call)


@command("audit federated", positional=["cosines"], arrays=["cosines", "unseen"])
def audit_federated(call: Command) -> Audit:
    """Bound ε by canary clients of one federated training.

    With a `plan` that `plan_federated` wrote before the training, files of models or updates may stand
    in place of cosines.

    Examples
    --------
    >>> import numpy as np
    >>> cosines = np.random.default_rng(1).normal(size=200) / np.sqrt(1e5) + 0.02
    >>> audit = audit_federated(cosines, dimension=1e5, design="poisson:200")
    >>> audit.kind, audit.epsilon > 1
    ('bound', True)
    """
    return Audit(call.document(), call)


@command("audit generator")
def audit_generator(call: Command) -> Audit:
    """Bound ε by the rows that a generator of synthetic data released.

    Where the runs certify no ε, `epsilon` raises `DpscopeError`.

    Examples
    --------
    >>> audit_generator("no-folder")
    Traceback (most recent call last):
    dpscope.DpscopeError: no-folder/manifest.toml: cannot be read: No such file or directory (os error 2)
    """
    return Audit(call.document(), call)
