"""What precedes a training: sizes of audits, committed plans, and canaries."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from dpscope._command import Command, Progress
from dpscope._function import command
from dpscope._results import Canaries, Plan


@command("plan bgm")
def plan_bgm(call: Command) -> Plan:
    """Largest ε that audits of DP-SGD can show, by their number of observations.

    With the parameters of a training, its bound is predicted as `audit_bgm` would give it.

    Examples
    --------
    >>> plan = plan_bgm(epsilon=9)
    >>> plan.report()["target"]["observations_for_ceiling"]
    104724
    """
    return Plan(call.document())


@command("plan one-run", types={"canaries": "int | Path"})
def plan_one_run(call: Command) -> Plan:
    """Sizes of an audit of one training run; with `out`, coins of its canaries, committed.

    Draw the coins, then train, and pass the folder to `audit_one_run`.

    Examples
    --------
    >>> plan = plan_one_run(canaries=1000, mu=1)
    >>> print(plan)
    1 size at δ = 1e-05
    >>> round(plan.rows[0]["expected_epsilon"], 4)
    1.6978
    """
    return Plan(call.document())


@command("plan split")
def plan_split(call: Command) -> Plan:
    """Expected bounds of an audit by a random hold-out, before the split is drawn.

    Examples
    --------
    >>> plan = plan_split(member_rows=1600, non_member_rows=400, mu=2)
    >>> round(plan.rows[0]["bounds"]["add_remove"], 2)
    2.94
    """
    return Plan(call.document())


@command("plan secrets")
def plan_secrets(call: Command) -> Plan:
    """Expected bounds of an audit by secrets; with `out`, the secrets and their decoys, committed.

    Give `secrets.npy` of the folder to the trainer, and pass the folder to `audit_secrets`.

    Examples
    --------
    >>> plan = plan_secrets(records=200, values=1_000_000, mu=3)
    >>> round(plan.rows[0]["bounds"]["replace"], 2)
    9.73
    """
    return Plan(call.document())


@command("plan federated")
def plan_federated(call: Command) -> Plan:
    """Sizes of an audit with canary clients; with `out`, their number and directions, committed.

    `canary_direction` gives the updates of the canaries, `audit_federated` takes the folder.

    Examples
    --------
    >>> plan = plan_federated(design="poisson:1000", mu=[1, 2])
    >>> [round(row["median_epsilon"], 4) for row in plan.rows]
    [2.4426, 6.6478]
    """
    return Plan(call.document())


@command("plan generator")
def plan_generator(call: Command) -> str:
    """How many runs of a generator a claim needs; with `out`, the folder of the audit.

    `columns` is a TOML file.

    Examples
    --------
    >>> print(plan_generator(claim=1), end="")
    72 runs of each world can show ε ≥ 2.0337 at most, by an attack without errors; 72 are needed for ε = 2.
    """
    return call.text()


@command("canaries make", arrays=["data"])
def make_canaries(call: Command) -> Canaries:
    """Choose records of a file as canaries, or draw directions of gradients.

    Examples
    --------
    >>> make_canaries("directions", count=10, dimension=4, out="rows.txt")
    Traceback (most recent call last):
    dpscope.DpscopeError: rows.txt: must end in .npz
    """
    return Canaries(call.document())


@command("canaries verify")
def verify_canaries(call: Command) -> Canaries:
    """Check canaries against a committed plan."""
    return Canaries(call.document())


@command("canaries optimise")
def optimise_canaries(call: Command, *, progress: Progress | None = None) -> Canaries:
    """Optimise canaries so that a trained model reveals whether it saw them.

    The state of the optimisation is saved at `checkpoint`, which Ctrl-C leaves. `progress` counts
    metasteps.
    """
    return Canaries(call.document(progress))


@command("canaries direction", positional=["plan", "index"], without=["out"])
def canary_direction(
    call: Command,
) -> npt.NDArray[np.float64] | dict[str, npt.NDArray[np.float64]]:
    """The update direction of a canary client in a committed plan, of norm 1.

    Multiply it by the clipping norm. With `like`, the result is a dictionary.
    """
    name = "direction.npz" if call.has("like") else "direction.npy"
    content = call.document_with({"out": name})[1]["out"]
    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    return dict(loaded) if call.has("like") else loaded


@command("canaries rows")
def canary_rows(call: Command) -> str:
    """Draw canary rows for one run of a generator, which `audit_generator` audits.

    `columns` is a TOML file.
    """
    return call.text()
