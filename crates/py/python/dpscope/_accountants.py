"""Objects of other libraries that record a training: accountants, their histories, and loaders.

Nothing is imported for them: an object is recognised by what it has.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from dpscope._command import Command, Path
from dpscope._native import DpscopeError

#: The name of a record among the files of a command.
RECORD = "accountant.json"

#: What `record_of` reads, for messages.
RECORDS = (
    "an Opacus PrivacyEngine or accountant, its history or state_dict, a DpEvent or an accountant of "
    "dp_accounting, or a list of (noise_multiplier, sampling_rate, steps)"
)

_Json = Union[None, bool, int, float, str, "list[_Json]", "dict[str, _Json]"]


def record_of(value: object) -> str | None:
    """The record of a training as JSON that `dpscope check --import` reads; None of other objects."""
    accountant = getattr(value, "accountant", value)  # of a PrivacyEngine
    if not isinstance(accountant, Mapping) and hasattr(accountant, "history"):
        mechanism = getattr(accountant, "mechanism", None)
        state = {"history": accountant.history}
        if callable(mechanism):
            state["mechanism"] = mechanism()
        return json.dumps(_plain(state))
    if isinstance(value, Mapping):
        # a checkpoint of PrivacyEngine has the state beside those of model and optimizer
        states = [one for one in [value, *value.values()] if isinstance(one, Mapping) and "history" in one]
        return json.dumps(_plain(states[0])) if states else None
    event = getattr(value, "ledger", value)  # of a PrivacyAccountant of dp_accounting
    if _is_event(event):
        return json.dumps(_plain(event))
    if isinstance(value, (list, tuple)) and value and all(map(_is_phase, value)):
        return json.dumps(_plain(value))
    return None


def claim_of(value: object, delta: float | None) -> tuple[float, str]:
    """A claimed ε at δ, and where it is from; without δ, at the default of the program.

    ε of an accountant is that of its history, rounded up, so that a claim is never below what its noise,
    rates and steps give.
    """
    if isinstance(value, (int, float)) or hasattr(value, "__float__"):
        return float(value), "stated"
    record = record_of(value)
    if record is None:
        raise TypeError(f"claim is of type {type(value).__name__}; expected a number, or {RECORDS}")
    call = Command("check", {"import": RECORD, "delta": delta})
    call.keep_file(RECORD, record.encode())
    report = call.document()
    name = "list of steps" if isinstance(value, (list, tuple)) else type(value).__name__
    return float(report["upper"]["epsilon"]), name


def planned_delta(folder: Path) -> float | None:
    """The first δ of a committed plan, if its folder has one that can be read: the audit says what is
    wrong with another."""
    try:
        with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
            return float(json.load(file)["deltas"][0])
    except (OSError, ValueError, LookupError, TypeError):
        return None


#: Loaders of the program by how a loader of PyTorch draws, or by the class of its other samplers.
_LOADERS = {
    "shuffle": "DataLoader(shuffle=True)",
    "deterministic": "DataLoader",
    "RandomSampler": "RandomSampler(replacement=True)",
    "SubsetRandomSampler": "SubsetRandomSampler",
}


def sampler_of(loader: Any) -> str | None:
    """How a loader of PyTorch or Opacus draws batches: `poisson`, `shuffle` or `deterministic`; None of
    other ways."""
    batches = loader.batch_sampler
    if hasattr(batches, "sample_rate"):
        return "poisson"
    sampler = getattr(batches, "sampler", None)
    if not _cuts_batches(batches) or getattr(sampler, "replacement", False):
        return None
    return {"RandomSampler": "shuffle", "SequentialSampler": "deterministic"}.get(
        type(sampler).__name__
    )


def training_of(claim: object, loader: Any) -> dict[str, object]:
    """The training that an accountant recorded, as options of an audit, for a loader that uses each record
    once per epoch: the claim is then compared with what is proven of such batches.

    Empty for other loaders, and for records whose noise or sampling rate changes.
    """
    sampler = sampler_of(loader)
    if sampler not in ("shuffle", "deterministic") or _drops_records(loader.batch_sampler):
        return {}
    record = json.loads(record_of(claim) or "{}")
    phases = record.get("history", []) if isinstance(record, dict) else record
    kinds = {(noise, rate) for noise, rate, _ in phases}
    if len(kinds) != 1:
        return {}
    [(noise, rate)] = kinds
    return {
        "noise_multiplier": noise,
        "steps": math.ceil(1 / rate - 1e-9),
        "total_steps": sum(steps for *_, steps in phases),
        "sampler": sampler,
    }


def _drops_records(batches: Any) -> bool:
    return bool(batches.drop_last) and len(batches.sampler) % batches.batch_size > 0


def _cuts_batches(batches: Any) -> bool:
    """Whether batches are cut from the order of a sampler, as PyTorch does; hooks keep the class."""
    return any(base.__name__ == "BatchSampler" for base in batches.__class__.__mro__)


def loader_options(loader: object) -> dict[str, object]:
    """What a data loader of PyTorch or Opacus says of itself, as options of `check`."""
    batches = getattr(loader, "batch_sampler", None)
    if batches is None:
        raise TypeError(
            f"loader is of type {type(loader).__name__}; expected a name, or a loader with a batch "
            "sampler, such as a DataLoader with a batch size"
        )
    if sampler_of(loader) == "poisson":
        records, rate = int(batches.num_samples), float(batches.sample_rate)
        return {
            "loader": "poisson",
            "dataset_size": records,
            "batch_size": max(round(records * rate), 1),
            "sampling_rate": rate,
        }
    sampler = getattr(batches, "sampler", None)
    kind = sampler_of(loader) or (type(sampler).__name__ if _cuts_batches(batches) else None)
    name = _LOADERS.get(kind or "")
    if name is None:
        raise DpscopeError(
            f"loader draws by {type(batches).__name__} and {type(sampler).__name__}, whose batches are not "
            "known; check_loader(loader) finds the sampler that they fit"
        )
    return {
        "loader": name,
        "dataset_size": len(sampler),  # type: ignore[arg-type]
        "batch_size": int(batches.batch_size),
        "drop_last": bool(batches.drop_last),
    }


def _is_phase(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 3


def _is_event(value: object) -> bool:
    names = [one.__name__ for one in type(value).__mro__]
    return "DpEvent" in names or hasattr(value, "class_name")


def _plain(value: Any) -> _Json:
    """A value as JSON has it: events are objects with `type` and their fields."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        return _plain(value.item())  # numbers of numpy and torch
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):  # what to_named_tuple returns
        return _plain(value._asdict())
    if _is_event(value):
        fields = getattr(type(value), "__attrs_attrs__", ())
        return {
            "type": type(value).__name__,
            **{field.name: _plain(getattr(value, field.name)) for field in fields},
        }
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    raise TypeError(
        f"a record has a value of type {type(value).__name__}; expected numbers, lists and events"
    )
