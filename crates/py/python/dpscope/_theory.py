"""Accounting: what is claimed and what is proven of a training."""

from __future__ import annotations

import os

from dpscope._accountants import RECORD, RECORDS, loader_options, record_of
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
    >>> found.value("poisson") < found.value("shuffle_max_slice")
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


@command("check")
def check(call: Command, file: object = None, *, loader: object = None) -> Check:
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

    Examples
    --------
    >>> found = check(
    ...     dataset_size=60_000, batch_size=256, epochs=20, noise_multiplier=0.8,
    ...     loader="shuffle", accountant="poisson", claim=2.6, delta=1e-5,
    ... )
    >>> found.verdict().outcome, found.findings[0]["severity"]
    ('refuted', 'refutes')
    >>> print(check([(1.0, 0.01, 2000)]).headline)
    ε ≥ 2.5838 and ε ≤ 2.5839 at δ = 1e-5, proven
    """
    record = None if file is None else record_of(file)
    if record is not None:
        call.keep_file(RECORD, record.encode())
        call.set("import", RECORD)
    elif isinstance(file, (str, os.PathLike)):
        is_record = os.fspath(file).endswith(".json")
        call.set("import", file) if is_record else call.add_arguments(file)
    elif file is not None:
        raise TypeError(f"file is of type {type(file).__name__}; expected a file, or {RECORDS}")
    if loader is None or isinstance(loader, str):
        call.set("loader", loader)
    else:
        for name, value in loader_options(loader).items():
            if not call.has(name):
                call.set(name, value)
    return Check(call.document())
