"""Accounting of correlated noise and of votes of teachers."""

from __future__ import annotations

from collections.abc import Sequence

from dpscope._command import Command, Path
from dpscope._results import Strategies, Votes


def bound_matrix(
    *,
    noise_multiplier: float,
    participation: str,
    strategy: str | None = None,
    strategy_file: Path | None = None,
    steps: int | None = None,
    bands: int | None = None,
    buffers: int | None = None,
    buffer_decay: Sequence[float] | None = None,
    output_scale: Sequence[float] | None = None,
    objective: str | None = None,
    participant_steps: Sequence[int] | None = None,
    delta: float = 1e-5,
) -> Strategies:
    """Proven ε of correlated noise: DP-FTRL and matrix mechanisms.

    Parameters
    ----------
    noise_multiplier
        Standard deviation of z divided by the clip norm, where C⁻¹z is added.
    participation
        Steps of a participant: "single", "epochs:E", "shuffled:E", "min-separation:B",
        "min-separation:B,K" or "cyclic-poisson:B,Q".
    strategy, strategy_file, steps
        "identity", "tree", "banded-square-root", "banded-optimised", "blt" or "all", of so many steps;
        or a file of the matrix C.
    bands, buffers, buffer_decay, output_scale, objective
        Parameters of some strategies.
    participant_steps
        Also account for the participant in these steps, from 1.
    delta
        δ of the statement.

    Examples
    --------
    >>> found = bound_matrix(
    ...     strategy="tree", steps=16, participation="single", noise_multiplier=2
    ... )
    >>> print(found, found.epsilon(), sep="\\n")
    tree: ε ≤ 4.983306405971392 at δ = 1e-05
    4.983306405971392
    """
    return Strategies(Command("bound matrix", dict(locals())).document())


def calibrate_matrix(
    *,
    epsilon: float,
    participation: str,
    strategy: str | None = None,
    strategy_file: Path | None = None,
    steps: int | None = None,
    bands: int | None = None,
    buffers: int | None = None,
    buffer_decay: Sequence[float] | None = None,
    output_scale: Sequence[float] | None = None,
    objective: str | None = None,
    participant_steps: Sequence[int] | None = None,
    delta: float = 1e-5,
) -> Strategies:
    """Least correlated noise for a target ε, which is not exceeded.

    Parameters
    ----------
    epsilon
        The target.

    The other parameters are those of `bound_matrix`.

    Examples
    --------
    >>> found = calibrate_matrix(
    ...     epsilon=4, strategy="tree", steps=16, participation="single"
    ... )
    >>> found.rows[0]["noise_multiplier"], found.epsilon() <= 4
    (2.41756, True)
    """
    return Strategies(Command("calibrate matrix", dict(locals())).document())


def bound_pate(
    *,
    teachers: int,
    gamma: float,
    votes: int | None = None,
    iterations: int | None = None,
    vote_counts: Path | None = None,
    noise: str = "both-counts",
    orders: int | None = None,
    batch_size: int | None = None,
    student_steps: int | None = None,
    delta: float = 1e-5,
) -> Votes:
    """Proven ε of noisy votes of teachers: PATE and PATE-GAN.

    Parameters
    ----------
    teachers, gamma
        Teachers, trained on disjoint parts of the data; inverse scale of the Laplace noise.
    votes, iterations, vote_counts
        Number of votes, or iterations of PATE-GAN, or a file with the votes for 1 of each vote.
    noise
        Where it is added: "both-counts" or "one-count".
    orders
        Largest order of the published moments.
    batch_size, student_steps
        Votes of an iteration: labels per step of the student, and its steps.
    delta
        δ of the statement.

    Examples
    --------
    >>> print(bound_pate(teachers=5, gamma=1e-3, iterations=32))
    ε ≤ 0.3454396653588469 at δ = 1e-05
    """
    return Votes(Command("bound pate", dict(locals())).document())


def calibrate_pate(
    *,
    epsilon: float,
    teachers: int,
    gamma: float,
    noise: str = "both-counts",
    orders: int | None = None,
    batch_size: int | None = None,
    student_steps: int | None = None,
    delta: float = 1e-5,
) -> Votes:
    """Most iterations of PATE-GAN for a target ε, which is not exceeded.

    Parameters
    ----------
    epsilon
        The target.

    The other parameters are those of `bound_pate`.

    Examples
    --------
    >>> calibrate_pate(epsilon=1, teachers=5, gamma=1e-3).iterations
    224
    """
    return Votes(Command("calibrate pate", dict(locals())).document())
