"""The two worlds of `check_step`: data sets that differ by the target, and equal random numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]
from torch.utils.data import Dataset  # type: ignore[import-not-found,unused-ignore]


@dataclass(frozen=True, eq=False)
class RandomState:
    """The state of all generators that a training can draw from."""

    torch_cpu: torch.Tensor
    torch_cuda: tuple[torch.Tensor, ...]
    numpy: Any
    python: tuple[Any, ...]
    noise: torch.Tensor | None

    @classmethod
    def capture(cls, optimizer: Any = None) -> RandomState:
        generator = getattr(optimizer, "generator", None)
        has_cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call,unused-ignore]
        return cls(
            torch.get_rng_state(),
            tuple(torch.cuda.get_rng_state_all()) if has_cuda else (),
            np.random.get_state(),
            random.getstate(),
            None if generator is None else generator.get_state(),
        )

    def restore(self, optimizer: Any = None) -> None:
        torch.set_rng_state(self.torch_cpu)
        if self.torch_cuda:
            torch.cuda.set_rng_state_all(list(self.torch_cuda))
        np.random.set_state(self.numpy)
        random.setstate(self.python)
        if self.noise is not None:
            optimizer.generator.set_state(self.noise)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RandomState):
            return NotImplemented
        mine, theirs = (
            [it.torch_cpu, *it.torch_cuda, *([] if it.noise is None else [it.noise])]
            for it in (self, other)
        )
        return (
            len(mine) == len(theirs)
            and all(map(torch.equal, mine, theirs))
            and self.python == other.python
            and all(map(np.array_equal, self.numpy, other.numpy))
        )


@dataclass(frozen=True)
class Case:
    """What the original run of a comparison does with its target."""

    dataset: Any
    target: int
    steps: int
    seed: tuple[int, ...]
    kind: str = "natural"
    """`inflated` and `zeroed` change the target's gradient; in `alone` the last step has no other
    record."""
    item: Any = None
    """What is in place of the target's item."""

    @property
    def substitute(self) -> int:
        """The record whose item stands in place of the target's in a zero-out world."""
        return (self.target + 1) % len(self.dataset)


class World(Dataset[Any]):  # type: ignore[misc,unused-ignore]
    """The records of one world: `original`, `zero-out` or `add-remove`, which lacks the target."""

    def __init__(self, case: Case, name: str) -> None:
        self._case = case
        self._name = name

    def __len__(self) -> int:
        return len(self._case.dataset) - (self._name == "add-remove")

    def __getitem__(self, index: Any) -> Any:
        case, record = self._case, self.record(range(len(self))[index])
        if record == case.target:
            if self._name == "zero-out":
                return case.dataset[case.substitute]
            if case.item is not None:
                return case.item
        return case.dataset[record]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"the data set of train has no {name}, only items and a length, so that a record can be left "
            "out; use its items"
        )

    def record(self, index: int) -> int:
        """The record of the original world at an index of this one."""
        return index + (self._name == "add-remove" and index >= self._case.target)

    def batch(self, records: list[int]) -> list[int]:
        """A batch of the original world in this one."""
        if self._name != "add-remove":
            return records
        target = self._case.target
        return [record - (record > target) for record in records if record != target]
