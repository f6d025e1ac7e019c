"""Accounting: what is claimed and what is proven of a training."""

from __future__ import annotations

from dpscope._command import Command, Progress
from dpscope._function import command
from dpscope._results import Accounted, Calibration, Check, Comparison, Sweep


@command(
    "bound", without=["epsilon"], renamed={"subject": "sampler"}, defaults={"subject": "poisson"}
)
def epsilon(call: Command, *, progress: Progress | None = None) -> Accounted:
    """Proven or estimated ε of a training at δ.

    `sampler` is how batches are drawn, or "pair" for the exact pair of shuffled batches.

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
    return Accounted(call.document(progress), "epsilon")


@command(
    "bound",
    required=["epsilon"],
    without=["delta"],
    renamed={"subject": "sampler"},
    defaults={"subject": "poisson"},
)
def delta(call: Command, *, progress: Progress | None = None) -> Accounted:
    """Proven or estimated δ of a training at ε.

    `sampler` is how batches are drawn, or "pair" for the exact pair of shuffled batches.

    Examples
    --------
    >>> print(delta("poisson", epsilon=1, noise_multiplier=1, steps=100))
    δ ≤ 6.671425294909056e-07 at ε = 1
    """
    return Accounted(call.document(progress), "delta")


@command("calibrate")
def calibrate(call: Command) -> Calibration:
    """Least noise, most steps or most epochs for a target ε, which is not exceeded.

    Shuffled batches are accounted as deterministic ones; they have no upper bound for the adjacency
    "add-remove".

    Examples
    --------
    >>> found = calibrate("noise", epsilon=4, steps=100)
    >>> print(found)
    noise_multiplier = 0.590505, with ε ≤ 3.999936754493486
    """
    return Calibration(call.document())


@command("compare")
def compare(call: Command, *, progress: Progress | None = None) -> Comparison:
    """What is claimed of a training, what is proven, and what its worst-case pair leaks.

    Examples
    --------
    >>> found = compare(noise_multiplier=1, steps=100, seed=1, device="cpu", claim=2)
    >>> found.epsilon("poisson") < found.epsilon("shuffle_max_slice")
    True
    >>> found.verdict().outcome
    'refuted'
    """
    return Comparison(call.document(progress))


@command("sweep", tables=["settings"])
def sweep(call: Command, *, progress: Progress | None = None) -> Sweep:
    """What is claimed and proven of many trainings.

    `settings` may be dictionaries with `noise_multiplier`, `steps` (or `dataset_size` and
    `batch_size`), and optionally `name`, `epochs` or `total_steps`, and `delta`. `progress` counts them.

    Examples
    --------
    >>> found = sweep([{"noise_multiplier": sigma, "steps": 100} for sigma in (0.8, 1.0)])
    >>> [round(row["shuffle_lower"], 4) for row in found.rows]
    [5.624, 4.0632]
    """
    return Sweep(call.document(progress))


@command("check", types={"loader": "str"})
def check(call: Command) -> Check:
    """Check a claim by a description of the training; nothing is trained.

    `dpscope check --example` prints such a description; keywords override it. `loader` may be a
    library's loader as in your code, such as "DataLoader(shuffle=True)".

    Examples
    --------
    >>> found = check(
    ...     dataset_size=60_000, batch_size=256, epochs=20, noise_multiplier=0.8,
    ...     loader="shuffle", accountant="poisson", claim=2.6, delta=1e-5,
    ... )
    >>> found.verdict().outcome, found.findings[0]["severity"]
    ('refuted', 'refutes')
    """
    return Check(call.document())
