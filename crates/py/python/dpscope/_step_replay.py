"""Runs of the user's training for `check_step`: an original run, and replays of it in other worlds.

A replay has the batches, the noise and the releases of its original, so that it differs by the target
alone. Both only measure; what the numbers mean is decided elsewhere.
"""

from __future__ import annotations

import bisect
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from dpscope._native import DpscopeError
from dpscope._recording import Finished, Train
from dpscope._step_run import Json, Run, finite, flat, norm, relative
from dpscope._step_world import Case, RandomState

#: Bytes of temporary files; a check that needs more is refused.
MOST_BYTES = 10**10


class Original(Run):
    """A run whose batches, random states, sums and releases are saved for replays."""

    def __init__(self, case: Case, folder: Path) -> None:
        super().__init__(case, "original")
        self.epochs: list[list[tuple[list[int], RandomState]]] = []
        self.is_exhausted: list[bool] = []
        self.rows: list[list[tuple[int, float]]] = []
        self.random_states: list[RandomState] = []
        self.counts: list[Any] = []
        """Noisy counts of adaptive clipping."""
        self.precision = 0.0
        self.draws_random_numbers = False
        self._folder = folder
        self._types: dict[str, torch.dtype] = {}
        self._last_random: RandomState | None = None
        self._last_batch_of = -1
        """The step for which the last batch was drawn."""
        self._exchanged: int | None = None

    def begin(self) -> None:
        numbers = 2 * sum(p.numel() for p in self.trained.values())
        numbers += sum(tensor.numel() for tensor in self.tensors.values())
        size = next(iter(self.trained.values())).element_size() * numbers * self.case.steps
        if size > MOST_BYTES:
            raise DpscopeError(
                f"steps={self.case.steps} needs {size / 1e9:.0f} GB of temporary files for "
                f"{numbers} numbers a step, and {MOST_BYTES / 1e9:.0f} GB are allowed; reduce steps"
            )
        self.precision = max(torch.finfo(p.dtype).eps for p in self.trained.values())
        self._last_random = RandomState.capture(self.optimizer)

    def batches(self, drawn: Iterator[Any]) -> Iterator[list[int]]:
        epoch: list[tuple[list[int], RandomState]] = []
        self.epochs.append(epoch)
        self.is_exhausted.append(False)
        for batch in drawn:
            planned = self._plan([int(record) for record in batch])
            self._drawn.append(len(planned))
            self._last_random = RandomState.capture(self.optimizer)
            epoch.append((planned, self._last_random))
            yield planned
        self.is_exhausted[-1] = True

    def _plan(self, batch: list[int]) -> list[int]:
        """A batch with the target where it has to be."""
        target = self.case.target
        step = len(self.steps)
        if self.loader.num_workers > 0:  # batches are drawn in advance
            step = len(self._drawn)
        is_first, self._last_batch_of = step != self._last_batch_of, step
        if self.case.kind == "alone" and step == self.case.steps - 1:
            return [target]
        if self.is_poisson:
            batch = [record for record in batch if record != target]
            if is_first and step % 3 != 1:  # a second time in a step would count twice
                bisect.insort(batch, target)
            return batch
        if not self._drawn and target not in batch:
            self._exchanged = batch[0] if batch else None
            return [target, *batch[1:]]
        if self._exchanged is not None and len(self.epochs) == 1:
            return [self._exchanged if record == target else record for record in batch]
        return batch

    def gradients(self, optimizer: Any, records: list[int]) -> None:
        if self._last_random != RandomState.capture(optimizer):
            self.draws_random_numbers = True
        super().gradients(optimizer, records)

    def clipped(self, optimizer: Any) -> None:
        self._last_random = RandomState.capture(optimizer)

    def summed(self, optimizer: Any) -> None:
        self.rows.append(list(self._rows))
        self.random_states.append(RandomState.capture(optimizer))
        self._save("sum", flat(p.summed_grad for p in optimizer.params))

    def noised(self, optimizer: Any) -> None:
        super().noised(optimizer)
        count = getattr(optimizer, "unclipped_num", None)
        self.counts.append(count.clone() if isinstance(count, torch.Tensor) else count)

    def released(self, optimizer: Any, scale: float) -> None:
        release = flat(p.grad for p in optimizer.params)
        self._save("release", release)
        total = self.load("sum", len(self.steps))
        factor = self.scale(release, scale * self._clip_norm)
        self.steps.append(self.facts(total, self._clip_norm, factor))
        self._last_random = RandomState.capture(optimizer)
        self._is_begun = False

    def state(self, step: int) -> None:
        self._states = step + 1
        self._save("state", flat(self.tensors.values()), step)

    def _save(self, what: str, vector: torch.Tensor, step: int | None = None) -> None:
        number = len(self.steps) if step is None else step
        self._types[what] = vector.dtype
        vector.view(torch.uint8).numpy().tofile(self._folder / f"{what}-{number}")

    def load(self, what: str, step: int) -> torch.Tensor:
        """The `sum`, `release` or `state` of a step, a vector."""
        read = np.fromfile(self._folder / f"{what}-{step}", np.uint8)
        return torch.from_numpy(read).view(self._types[what])


class Replay(Run):
    """A run with the batches, noise and releases of an original."""

    def __init__(self, original: Original, world: str) -> None:
        super().__init__(original.case, world)
        self.original = original
        self._other_gradients: Json | None = None
        self._sum_change = torch.zeros(0)
        self._epochs = 0

    def begin(self) -> None:
        for name in {**self.original.tensors, **self.tensors}:
            shapes = [
                list(tensors[name].shape) if name in tensors else []
                for tensors in (self.original.tensors, self.tensors)
            ]
            if shapes[0] != shapes[1]:
                self.shape_change = {"name": name, "original": shapes[0], "replay": shapes[1]}
                raise Finished

    def batches(self, drawn: Iterator[Any]) -> Iterator[list[int]]:
        number, self._epochs = self._epochs, self._epochs + 1
        if number < len(self.original.epochs):
            for batch, random_state in self.original.epochs[number]:
                planned = self.data.batch(batch)
                self._drawn.append(len(planned))
                random_state.restore(self.optimizer)
                yield planned
            if self.original.is_exhausted[number]:
                return
        yield from drawn  # the original ended here

    def _is_beyond(self) -> bool:
        """Whether the original has no such step."""
        return len(self.steps) >= len(self.original.steps)

    def summed(self, optimizer: Any) -> None:
        if self._is_beyond():
            return
        step, target = len(self.steps), self.case.target
        theirs = [row for row in self.original.rows[step] if row[0] != target]
        mine = [row for row in self._rows if row[0] != target]
        if [record for record, _ in mine] != [record for record, _ in theirs]:
            raise Finished  # the loop has skipped a batch
        changes = [
            {"record": record, "change": relative(now, before, abs(now - before), float(now > 0))}
            for (record, now), (_, before) in zip(mine, theirs, strict=True)
        ]
        self._other_gradients = max(changes, key=lambda row: row["change"], default=None)
        expected = self.original.random_states[step]
        if expected != RandomState.capture(optimizer):
            self.random_draws_differ = True
            expected.restore(optimizer)
        total = flat(p.summed_grad for p in optimizer.params)
        self._sum_change = total - self.original.load("sum", step)

    def noised(self, optimizer: Any) -> None:
        super().noised(optimizer)
        if not self._is_beyond() and hasattr(optimizer, "unclipped_num"):
            optimizer.unclipped_num = self.original.counts[len(self.steps)]

    def released(self, optimizer: Any, scale: float) -> None:
        total = flat(p.summed_grad for p in optimizer.params)
        release = flat(p.grad for p in optimizer.params)
        factor = self.scale(release, scale * self._clip_norm)
        if self._is_beyond():
            self.steps.append(self.facts(total, self._clip_norm, factor))
            raise Finished
        step = len(self.steps)
        before = self.original.steps[step]
        clip_norm = before["clip_norm"]
        other = self.original.load("release", step)
        unexplained = (release - other) * before["scale"] - self._sum_change
        self.steps.append(
            self.facts(total, clip_norm, factor)
            | {
                "sum_change": finite(norm(self._sum_change) / clip_norm),
                "other_gradients": self._other_gradients,
                "release_change": finite(norm(unexplained) / clip_norm),
            }
        )
        parts = torch.split(other, [p.numel() for p in optimizer.params])
        with torch.no_grad():
            for p, part in zip(optimizer.params, parts, strict=True):
                p.grad.copy_(part.view_as(p.grad))
        self._is_begun = False

    def state(self, step: int) -> None:
        self._states = step + 1
        if step >= len(self.original.steps) or self.shape_change is not None:
            return
        changes: list[Json] = []
        sizes = [tensor.numel() for tensor in self.tensors.values()]
        vectors = (flat(self.tensors.values()), self.original.load("state", step))
        parts = zip(*(torch.split(vector.double(), sizes) for vector in vectors), strict=True)
        for name, (now, before) in zip(self.tensors, parts, strict=True):
            difference = norm(now - before)
            change = relative(norm(now), norm(before), difference, difference)
            changes.append({"name": name, "change": change})
        self.steps[step]["state"] = max(changes, key=lambda row: row["change"])


class _FirstBatch(Run):
    """A run that ends when a batch is drawn."""

    batch: list[int] | None = None

    def batches(self, drawn: Iterator[Any]) -> Iterator[list[int]]:
        for batch in drawn:
            self.batch = [int(record) for record in batch]
            raise Finished
        yield []


def first_batch(train: Train, dataset: Any, seed: tuple[int, ...]) -> list[int]:
    """The first batch that the loader draws."""

    run = _FirstBatch(Case(dataset, -1, 1, seed), "original")
    run.run(train)
    if run.error is not None:
        raise run.error
    refuse_unattached(run)
    if run.batch is None:
        raise DpscopeError("train ended before it drew a batch; iterate the loader in train")
    return run.batch


def refuse_unattached(run: Run) -> None:
    """An error for a training that did not call `attach`."""
    if run.optimizer is None:
        raise DpscopeError(
            "train did not call attach; add attach(optimizer, loader, module=model) after make_private"
        )


@contextmanager
def original(train: Train, case: Case, accountant: Any = None) -> Iterator[Original]:
    """An original run; its sums, releases and states are deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
        run = Original(case, Path(folder))
        run.run(train, accountant)
        if not run.steps and run.error is not None and case.kind == "natural":
            raise run.error
        yield run


def replay(train: Train, run: Original, world: str) -> Replay:
    """A replay of an original in a world."""
    other = Replay(run, world)
    other.run(train)
    return other
