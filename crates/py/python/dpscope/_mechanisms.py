"""Accounting of correlated noise and of votes of teachers."""

from __future__ import annotations

from dpscope._command import Command
from dpscope._function import command
from dpscope._results import Strategies, Votes


@command("bound matrix")
def bound_matrix(call: Command) -> Strategies:
    """Proven ε of correlated noise: DP-FTRL and matrix mechanisms.

    Examples
    --------
    >>> found = bound_matrix(
    ...     strategy="tree", steps=16, participation="single", noise_multiplier=2
    ... )
    >>> print(found, found.value(), sep="\\n")
    tree: ε ≤ 4.983306405971392 at δ = 1e-05
    4.983306405971392
    """
    return Strategies(call.document())


@command("calibrate matrix")
def calibrate_matrix(call: Command) -> Strategies:
    """Least correlated noise for a target ε, which is not exceeded.

    Examples
    --------
    >>> found = calibrate_matrix(
    ...     epsilon=4, strategy="tree", steps=16, participation="single"
    ... )
    >>> found.rows[0]["noise_multiplier"], found.value() <= 4
    (2.41756, True)
    """
    return Strategies(call.document())


@command("bound pate")
def bound_pate(call: Command) -> Votes:
    """Proven ε of noisy votes of teachers: PATE and PATE-GAN.

    Examples
    --------
    >>> print(bound_pate(teachers=5, gamma=1e-3, iterations=32))
    ε ≤ 0.3454396653588469 at δ = 1e-05
    """
    return Votes(call.document())


@command("calibrate pate")
def calibrate_pate(call: Command) -> Votes:
    """Most iterations of PATE-GAN for a target ε, which is not exceeded.

    Examples
    --------
    >>> calibrate_pate(epsilon=1, teachers=5, gamma=1e-3).iterations
    224
    """
    return Votes(call.document())
