"""One step of the user's own training in two worlds that differ by one record."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from dpscope import _native
from dpscope._native import DpscopeError
from dpscope._recording import Train, _seeded
from dpscope._results import Result, _table
from dpscope._step_noise import noise
from dpscope._step_replay import Original, first_batch, original, refuse_unattached, replay
from dpscope._step_run import Json
from dpscope._step_world import Case

Adjacency = Literal["zero-out", "add-remove"]


class StepCheck(Result):
    """What a replay of the training without one record found.

    A finding contradicts an assumption of the accountant. Without findings nothing is proven about
    other records, batches and steps, or about the sampler.
    """

    @property
    def outcome(self) -> str:
        """`violated`, `no-violation-found` or `incomplete`."""
        return str(self._report["outcome"])

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What was found, the most severe first: `code`, `severity`, `sentence` and `data`."""
        return list(self.report()["findings"])

    @property
    def noise(self) -> dict[str, Any] | None:
        """Standard deviation of the noise in clip norms: `estimate`, `lower`, `upper` and `stated`, by
        `steps` and `tensors` too."""
        return self.report()["noise"]  # type: ignore[no-any-return]

    @property
    def sensitivity(self) -> float | None:
        """The largest change of a sum by the record, in clip norms."""
        return _number(self._report["sensitivity"])

    @property
    def target(self) -> int:
        """Number of the record that one of the worlds lacks."""
        return int(self._report["target"])

    @property
    def control_difference(self) -> float | None:
        """The largest change of a sum, in clip norms, between two runs with the same records."""
        return _number(self._report["control_difference"])

    def __str__(self) -> str:
        rows = [f"{row['severity']:<8} {row['code']}  {row['sentence']}" for row in self.findings]
        return "\n".join([self.headline, *rows])

    def _repr_html_(self) -> str:
        lines = f"<p>{html.escape(self.headline)}</p>"
        return lines + _table(self.findings, ("severity", "code", "sentence"))


def check_step(
    train: Train,
    dataset: Any,
    *,
    noise_multiplier: float | None = None,
    steps: int = 8,
    target: int | None = None,
    extremes: bool = True,
    adjacency: Adjacency | Sequence[Adjacency] = ("zero-out", "add-remove"),
    accountant: Any = None,
    seed: int = 0,
) -> StepCheck:
    """Run the first steps of a training again without one record, with the same batches and noise.

    `train(data, attach)` is the training: its loop, with `data` in place of the data set, and the line
    `attach(optimizer, loader, module=model)` after `make_private`. It runs about 20 times, for
    `steps` steps or fewer.

    `target` is the record, by default one of the first batch. `noise_multiplier` is the one stated, by
    default that of the accountant or the optimizer. `extremes` also changes the record's item: values
    times 100 or random tokens, and NaN. `accountant` is the PrivacyEngine or accountant, if `train`
    does not make it.
    """
    record = measure(
        train,
        dataset,
        noise_multiplier=noise_multiplier,
        steps=steps,
        target=target,
        extremes=extremes,
        adjacency=adjacency,
        accountant=accountant,
        seed=seed,
    )
    return StepCheck(json.loads(_native.check_step(json.dumps(record, allow_nan=False))))


def measure(
    train: Train,
    dataset: Any,
    *,
    noise_multiplier: float | None,
    steps: int,
    target: int | None,
    extremes: bool,
    adjacency: Adjacency | Sequence[Adjacency],
    accountant: Any,
    seed: int,
) -> Json:
    """The record of `check_step`: what its runs measured."""
    worlds = _worlds(adjacency)
    _refuse(train, dataset, noise_multiplier, steps, target, seed)
    with ExitStack() as stack:
        stack.callback(_restore, *_history(accountant))
        entropy = (seed, 0)
        if target is None:
            target = next(iter(first_batch(train, dataset, entropy)), 0)
        case = Case(dataset, target, steps, entropy)
        run = stack.enter_context(original(train, case, accountant))
        refuse_unattached(run)
        if not run.steps:
            raise DpscopeError("train ended before a step; call optimizer.step() in train")
        other = replace(case, steps=1, seed=(seed, 1))
        other_seed = stack.enter_context(original(train, other, accountant))
        return {
            "target": target,
            "tensors": [{"name": name, "size": p.numel()} for name, p in run.trained.items()],
            "precision": run.precision,
            "noise_multiplier": noise_multiplier,
            "accountant": run.accounting(),
            "draws_random_numbers": run.draws_random_numbers,
            "buffers_examined": run.has_module,
            "original": run.document(),
            "control": replay(train, run, "original").document(),
            "shape_control": _shape_control(train, case, run) if "add-remove" in worlds else None,
            "replays": [
                {"adjacency": world, "replay": replay(train, run, world).document()}
                for world in worlds
            ],
            "probes": _probes(train, case, run.is_poisson, worlds, extremes),
            "noise": noise(run, other_seed),
        }


def _probes(
    train: Train, case: Case, is_poisson: bool, worlds: list[str], extremes: bool
) -> list[Json]:
    """Short runs with a large gradient, with extreme items, and with a batch of the target alone."""
    cases = [(replace(case, steps=1, kind="inflated"), worlds)]
    if extremes:
        for kind, item in _extreme_items(case):
            # the second step shows what the loop does after such a loss
            cases.append((replace(case, steps=2, kind=kind, item=item), worlds))
    if is_poisson and "add-remove" in worlds:
        cases.append((replace(case, steps=2, kind="alone"), ["add-remove"]))
    rows = []
    for probe, adjacencies in cases:
        with original(train, probe) as run:
            for world in adjacencies:
                other = replay(train, run, world)
                # before a batch of the target alone comes one with others
                first = 1 if probe.kind == "alone" else 0
                made = [it.steps[first:] for it in (run, other)]
                compared = made[1][0] if all(made) else {}
                rows.append(
                    {
                        "kind": probe.kind,
                        "adjacency": world,
                        "contribution": compared.get("sum_change"),
                        "other_gradients": compared.get("other_gradients"),
                        "runs": [
                            {
                                "failure": it.failure,
                                "steps": len(steps),
                                "is_finite": all(step["is_finite"] for step in steps[:1]),
                            }
                            for it, steps in zip((run, other), made, strict=True)
                        ],
                        "learning_rates": [
                            steps[1]["learning_rate"] if steps[1:] else None for steps in made
                        ],
                    }
                )
    return rows


def _shape_control(train: Train, case: Case, run: Original) -> Json | None:
    """A run without a record whose gradient is 0, against the run with it: shapes alone differ."""
    batch = run.epochs[0][0][0]
    unrelated = next((record for record in batch if record != case.target), None)
    if unrelated is None:
        return None
    with original(train, replace(case, target=unrelated, kind="zeroed")) as zeroed:
        return replay(train, zeroed, "add-remove").document()


def _extreme_items(case: Case) -> list[tuple[str, Any]]:
    """The target's item with values times 100, or with random tokens, and with NaN."""
    with _seeded(np.random.SeedSequence((*case.seed, 2))):
        records = [(case.target + shift) % len(case.dataset) for shift in range(9)]
        item, *others = (case.dataset[record] for record in records)
        large = _changed(item, others, lambda values: values * 100)
        missing = _changed(item, others, lambda values: values * math.nan, tokens=False)
    changed = [("extreme-item", large), ("not-a-number", missing)]
    return [(kind, value) for kind, value in changed if value is not None]


def _changed(item: Any, others: list[Any], change: Any, tokens: bool = True) -> Any:
    """An item with its real numbers changed, or its tokens drawn from those of others; `None` if it has
    neither."""
    if isinstance(item, dict):
        columns = [[other[name] for other in others] for name in item]
        values = _changed(list(item.values()), list(zip(*columns, strict=True)), change, tokens)
        return None if values is None else dict(zip(item, values, strict=True))
    if isinstance(item, list) and item and all(isinstance(value, int) for value in item):
        values = _changed(torch.tensor(item), [torch.tensor(it) for it in others], change, tokens)
        return None if values is None else values.tolist()
    if isinstance(item, (tuple, list)):
        columns = [[other[place] for other in others] for place in range(len(item))]
        values = [_changed(*pair, change, tokens) for pair in zip(item, columns, strict=True)]
        if all(value is None for value in values):
            return None
        values = [old if new is None else new for old, new in zip(item, values, strict=True)]
        return type(item)(*values) if hasattr(item, "_fields") else type(item)(values)
    if isinstance(item, np.ndarray):
        arrays = [torch.from_numpy(it) for it in (item, *others)]
        values = _changed(arrays[0], arrays[1:], change, tokens)
        return None if values is None else values.numpy()
    if not isinstance(item, torch.Tensor):
        return None
    if item.is_floating_point():
        return change(item)
    if not tokens or item.dim() == 0 or item.dtype == torch.bool:
        return None
    seen = torch.cat([other.flatten() for other in others])
    return seen[torch.randint(len(seen), item.shape)]


def _worlds(adjacency: Adjacency | Sequence[Adjacency]) -> list[str]:
    names = [adjacency] if isinstance(adjacency, str) else list(adjacency)
    known = {"zero-out", "add-remove"}
    if not names or len(set(names)) < len(names) or not known.issuperset(names):
        raise DpscopeError(f'adjacency is {adjacency!r}; expected "zero-out", "add-remove" or both')
    return [str(name) for name in names]


def _refuse(
    train: Any, dataset: Any, noise_multiplier: Any, steps: Any, target: Any, seed: Any
) -> None:
    """Errors for what cannot be checked, each with what was expected."""
    if not callable(train):
        raise DpscopeError(f"train is {train!r}; expected a function train(data, attach)")
    if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
        raise DpscopeError(
            f"dataset is a {type(dataset).__name__}; expected a data set with __len__ and __getitem__"
        )
    if len(dataset) < 2:
        raise DpscopeError(f"dataset has {len(dataset)} records; expected 2 or more")
    if noise_multiplier is not None and not 0 < noise_multiplier < math.inf:
        raise DpscopeError(f"noise_multiplier is {noise_multiplier!r}; expected a positive number")
    if not (_is_whole(steps) and 1 <= steps <= 10_000):
        raise DpscopeError(f"steps is {steps!r}; expected a whole number from 1 to 10,000")
    if target is not None and not (_is_whole(target) and 0 <= target < len(dataset)):
        raise DpscopeError(
            f"target is {target!r}; expected the number of a record, from 0 to {len(dataset) - 1}"
        )
    if not (_is_whole(seed) and seed >= 0):
        raise DpscopeError(f"seed is {seed!r}; expected a whole number, 0 or more")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _history(accountant: Any) -> tuple[list[Any], list[Any]]:
    """The history of an accountant of the caller, and a copy: replays must not count as its steps."""
    history = getattr(getattr(accountant, "accountant", accountant), "history", [])
    return history, list(history)


def _restore(history: list[Any], before: list[Any]) -> None:
    history[:] = before


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)
