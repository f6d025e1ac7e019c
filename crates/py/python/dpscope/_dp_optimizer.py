"""Hooks on an optimizer of Opacus and its loader: which records a step sums, and what it releases.

Only the two objects are changed; classes, modules and the user's loop are not. Hooks draw no random
numbers, so that a training has the same bits with and without them.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dpscope._native import DpscopeError


class LostRecords(DpscopeError):
    """Rows of gradients cannot be assigned to records."""


class Observer:
    """Receives what happens in the steps of an optimizer; methods that are not overridden do nothing."""

    handles_ghost_clipping = False
    """Whether `coefficients` and `accumulated` do what `gradients` does otherwise."""
    handles_ranks = False
    """Whether it works in each of several distributed processes, with their own batches."""

    def epoch(self) -> None:
        """The loader is iterated anew."""

    def incomplete(self, batches: int) -> None:
        """The loader was exhausted, but no step used so many of its batches.

        Called once, before the next `epoch` or at the end: in this epoch, gradients may have been
        assigned to wrong records, where a batch was dropped whose size was that of the next one.
        """

    def gradients(self, optimizer: Any, records: list[int]) -> None:
        """Gradients are about to be clipped: `p.grad_sample` has a row for each of the records.

        Rows may be written. Under gradient accumulation `p.grad_sample` is a list of tensors; see
        `row_blocks`.
        """

    def coefficients(self, optimizer: Any, records: list[int], factors: Any) -> Any:
        """Ghost clipping is about to multiply the gradient of each record by its factor.

        There are no gradients per record. The result replaces the factors.
        """
        return factors

    def accumulated(self, optimizer: Any, records: list[int]) -> None:
        """Under ghost clipping, `p.grad` is the sum of the records' clipped gradients."""

    def clipped(self, optimizer: Any) -> None:
        """The clipped gradients of a physical batch have been added to `p.summed_grad`."""

    def summed(self, optimizer: Any) -> None:
        """`p.summed_grad` is the sum of the step, and noise is about to be added."""

    def noised(self, optimizer: Any) -> None:
        """`p.grad` is the sum with noise."""

    def released(self, optimizer: Any, scale: float) -> None:
        """Parameters are about to change by `p.grad`; `p.grad` times `scale` is in clip norms."""


def row_blocks(p: Any) -> list[Any]:
    """The tensors of gradients per record of a parameter, one per accumulated batch."""
    return p.grad_sample if isinstance(p.grad_sample, list) else [p.grad_sample]


def step_scale(optimizer: Any, clip_norm: float) -> float:
    """The factor from the mean gradient of a step, as parameters get it, to the sum in clip norms."""
    if optimizer.loss_reduction == "sum":
        return 1.0 / clip_norm
    ranks = getattr(optimizer, "world_size", 1)
    divisor = optimizer.expected_batch_size * optimizer.accumulated_iterations
    return float(divisor) * ranks / clip_norm


class _Stopwatch:
    """Time in hooks by the time of a step, measured in the first steps."""

    _SKIPPED, _MEASURED = 5, 20

    def __init__(self, synchronise: Callable[[], object] | None) -> None:
        self._synchronise = synchronise
        self._spent = self._began = self._step_began = 0.0
        self._ratios: list[float] = []

    @property
    def _is_measuring(self) -> bool:
        return len(self._ratios) < self._SKIPPED + self._MEASURED

    def _now(self) -> float:
        if self._synchronise is not None:
            self._synchronise()  # kernels run after the calls that start them
        return time.perf_counter()

    def start(self) -> None:
        if self._is_measuring:
            self._began = self._now()

    def stop(self) -> None:
        if self._is_measuring:
            self._spent += self._now() - self._began

    def end_step(self) -> None:
        if not self._is_measuring:
            return
        now = time.perf_counter()
        if self._step_began:
            self._ratios.append(self._spent / (now - self._step_began))
        self._spent, self._step_began = 0.0, now

    @property
    def overhead(self) -> float:
        """The median of the measured steps; NaN before there are any."""
        ratios = self._ratios[self._SKIPPED :]
        return statistics.median(ratios) if ratios else float("nan")


class _Batches:
    """The batches that a sampler has drawn and no step has used yet, in their order."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._waiting: deque[list[int]] = deque()
        self._used = 0
        """Records of the first batch that a step has used."""
        self._is_exhausted = False
        self._was_iterated = False

    def begin(self) -> None:
        """A new epoch; what a loader has loaded in advance before `break` is forgotten."""
        self.end()
        self._was_iterated = True
        self._observer.epoch()

    def end(self) -> None:
        """Reports batches that no step has used, and forgets them."""
        unused = sum(1 for batch in self._waiting if batch)
        if self._is_exhausted and unused:
            self._observer.incomplete(unused)
        self._waiting.clear()
        self._used, self._is_exhausted = 0, False

    def draw(self, batch: Any) -> None:
        numbers = batch.tolist() if hasattr(batch, "tolist") else batch
        self._waiting.append([int(record) for record in numbers])

    def exhaust(self) -> None:
        self._is_exhausted = True

    def take(self, rows: int) -> list[int]:
        """The records of a physical batch. It lies within one batch of the sampler."""
        if rows > 0:
            while self._waiting and not self._waiting[0]:  # the loop skips empty batches
                self._waiting.popleft()
        if not self._waiting:
            if rows == 0 and self._was_iterated:
                return []
            reason = (
                "no batch of the loader is left for it"
                if self._was_iterated
                else "the attached loader has not been iterated"
            )
            raise LostRecords(f"A step has gradients of {rows} records, but {reason}. {_REMEDY}")
        batch = self._waiting[0]
        left = len(batch) - self._used
        if rows > left or (rows == 0 and left > 0):
            raise LostRecords(
                f"A step has gradients of {rows} records, but the next batch of the loader has "
                f"{left}. {_REMEDY}"
            )
        taken = batch[self._used : self._used + rows]
        self._used += rows
        if self._used == len(batch):
            self._waiting.popleft()
            self._used = 0
        return taken

    def check_boundary(self) -> None:
        """Fails within a batch of the sampler, where a step must not end."""
        if self._used > 0:
            raise LostRecords(
                f"A step ends after {self._used} of the {len(self._waiting[0])} records of its batch. "
                f"{_REMEDY}"
            )


_REMEDY = (
    "Iterate the loader that was passed to attach, or the one that BatchMemoryManager makes of it, and "
    "use each batch in one step, in order."
)


class _ObservedSampler:
    """A batch sampler that yields the batches of another one, which it looks like."""

    def __init__(self, sampler: Any, batches: _Batches) -> None:
        self.__dict__.update(_sampler=sampler, _batches=batches)

    @property  # type: ignore[misc]  # BatchMemoryManager computes its length by the class
    def __class__(self) -> Any:
        return type(self._sampler)

    def __iter__(self) -> Iterator[Any]:
        # begins with the first batch: a loader with workers makes two iterators, and uses one
        self._batches.begin()
        for batch in self._sampler:
            self._batches.draw(batch)
            yield batch
        self._batches.exhaust()

    def __len__(self) -> int:
        return len(self._sampler)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_sampler"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._sampler, name, value)


@dataclass(frozen=True)
class _Replaced:
    """A method of one object that a hook replaced."""

    owner: Any
    method: Callable[[], Any]
    of_instance: Any
    """The attribute of the object itself, if it had one."""
    hook: Callable[[], Any]


def _is_ghost(optimizer: Any) -> bool:
    return hasattr(optimizer, "accumulate")


class Hooks:
    """Hooks on an optimizer and a loader. Calling it detaches them."""

    def __init__(self, optimizer: Any, loader: Any, observer: Observer, module: Any = None) -> None:
        self._optimizer = optimizer
        self._loader = loader
        self._observer = observer
        self._batches = _Batches(observer)
        self._clip_norm: float | None = None
        self._is_detached = False
        self._watch = _Stopwatch(_synchronise(optimizer))
        self._sampler = loader.batch_sampler
        # a loader refuses a new batch sampler
        object.__setattr__(loader, "batch_sampler", _ObservedSampler(self._sampler, self._batches))
        self._records: list[int] = []
        self._replaced: dict[str, _Replaced] = {}
        if _is_ghost(optimizer):
            self._replace(module, "get_clipping_coef", self._coefficients)
            self._replace(optimizer, "accumulate", self._accumulate)
        else:
            self._replace(optimizer, "clip_and_accumulate", self._clip)
        self._replace(optimizer, "add_noise", self._add_noise)
        self._handle = optimizer.original_optimizer.register_step_pre_hook(self._release)

    @property
    def overhead(self) -> float:
        """Time in hooks by the time of a step: the median of 20 steps after the first 5."""
        return self._watch.overhead

    def end_epoch(self) -> None:
        """Tells the observer if batches of the last epoch were not used; it would be told later."""
        self._batches.end()

    def __call__(self) -> None:
        """Detaches the hooks, and restores what they replaced."""
        if self._is_detached:
            return
        self._is_detached = True
        self.end_epoch()
        self._handle.remove()
        object.__setattr__(self._loader, "batch_sampler", self._sampler)
        for name, replaced in self._replaced.items():
            if replaced.owner.__dict__.get(name) != replaced.hook:
                continue  # replaced by others since then; the hook only calls what it replaced
            delattr(replaced.owner, name)
            if replaced.of_instance is not None:
                setattr(replaced.owner, name, replaced.of_instance)

    def _replace(self, owner: Any, name: str, hook: Callable[[], Any]) -> None:
        """Puts a hook in place of a method of one object."""
        of_instance = owner.__dict__.get(name)
        self._replaced[name] = _Replaced(owner, getattr(owner, name), of_instance, hook)
        setattr(owner, name, hook)

    def _coefficients(self) -> Any:
        factors = self._replaced["get_clipping_coef"].method()
        if self._is_detached:
            return factors
        self._watch.start()
        self._records = self._batches.take(len(factors))
        self._clip_norm = float(self._optimizer.max_grad_norm)
        factors = self._observer.coefficients(self._optimizer, self._records, factors)
        self._watch.stop()
        return factors

    def _accumulate(self) -> None:
        accumulate = self._replaced["accumulate"].method
        if self._is_detached:
            accumulate()
            return
        self._watch.start()
        self._observer.accumulated(self._optimizer, self._records)
        self._records = []
        self._watch.stop()
        accumulate()

    def _clip(self) -> None:
        clip = self._replaced["clip_and_accumulate"].method
        if self._is_detached:
            clip()
            return
        self._watch.start()
        optimizer = self._optimizer
        records: list[int] = []
        for block in row_blocks(optimizer.params[0]):
            records += self._batches.take(len(block))
        # adaptive clipping changes it later in the step
        self._clip_norm = float(optimizer.max_grad_norm)
        self._observer.gradients(optimizer, records)
        self._watch.stop()
        clip()
        self._watch.start()
        self._observer.clipped(optimizer)
        self._watch.stop()

    def _add_noise(self) -> None:
        add_noise = self._replaced["add_noise"].method
        if self._is_detached:
            add_noise()
            return
        self._watch.start()
        self._batches.check_boundary()
        self._observer.summed(self._optimizer)
        self._watch.stop()
        add_noise()
        self._watch.start()
        self._observer.noised(self._optimizer)
        self._watch.stop()

    def _release(self, optimizer: Any, arguments: Any, keywords: Any) -> None:
        """The last place before parameters change: gradients have been scaled, and reduced over ranks."""
        if self._clip_norm is None:
            return
        self._watch.start()
        self._batches.check_boundary()
        scale = step_scale(self._optimizer, self._clip_norm)
        self._clip_norm = None
        self._observer.released(self._optimizer, scale)
        self._watch.stop()
        self._watch.end_step()


def _synchronise(optimizer: Any) -> Callable[[], object] | None:
    """Waits for the device of the trained tensors, if its kernels run on their own."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    devices = {p.device for p in optimizer.params if p.device.type == "cuda"}
    return (lambda: [torch.cuda.synchronize(device) for device in devices]) if devices else None


def observe(optimizer: Any, loader: Any, observer: Observer, module: Any = None) -> Hooks:
    """Attaches hooks to an optimizer of Opacus and the loader of its training.

    `module` is the model that `make_private` returned. The result detaches the hooks when called.
    """
    _refuse(optimizer, loader, observer, module)
    return Hooks(optimizer, loader, observer, module)


def _refuse(optimizer: Any, loader: Any, observer: Observer, module: Any) -> None:
    """Errors for what cannot be observed, each with what to do instead."""
    from opacus import optimizers  # type: ignore[import-not-found,unused-ignore]
    from torch.utils.data import IterableDataset  # type: ignore[import-not-found,unused-ignore]

    if not isinstance(optimizer, optimizers.DPOptimizer):
        raise DpscopeError(
            f"optimizer is a {type(optimizer).__name__}, not a DPOptimizer of Opacus; attach to what "
            "make_private returned, or use dpscope.torch for a training without Opacus"
        )
    if _is_ghost(optimizer):
        if not observer.handles_ghost_clipping:
            raise DpscopeError(
                "ghost clipping computes no gradients per record, which would be replaced; pass "
                'grad_sample_mode="hooks" to make_private'
            )
        if not hasattr(module, "get_clipping_coef"):
            raise DpscopeError(
                "ghost clipping is done by the model, and module is "
                f"{'missing' if module is None else type(module).__name__}; pass the first object that "
                "make_private returned as module"
            )
    if getattr(optimizer, "world_size", 1) > 1 and not observer.handles_ranks:
        raise DpscopeError(
            f"optimizer is that of one of {optimizer.world_size} distributed processes; attach in a "
            "training on one process"
        )
    if not hasattr(optimizer.original_optimizer, "register_step_pre_hook"):
        raise DpscopeError(
            f"optimizer steps by a {type(optimizer.original_optimizer).__name__}, which has no "
            "register_step_pre_hook; use a subclass of torch.optim.Optimizer"
        )
    if isinstance(getattr(optimizer.__dict__.get("add_noise"), "__self__", None), Hooks):
        raise DpscopeError(
            "optimizer has an audit attached already; detach it, or attach to a new one"
        )
    if isinstance(getattr(loader, "dataset", None), IterableDataset):
        raise DpscopeError(
            "loader is over an IterableDataset, whose records have no numbers; use a Dataset with "
            "__getitem__ and __len__"
        )
    if getattr(loader, "batch_sampler", None) is None:
        raise DpscopeError(
            "loader has no batch sampler (batch_size=None); pass batch_size or batch_sampler to DataLoader"
        )
    if type(loader.batch_sampler) is _ObservedSampler:
        raise DpscopeError(
            "loader has an audit attached already; detach it, or attach to a new one"
        )
    if not getattr(loader, "in_order", True):
        raise DpscopeError(
            "loader returns batches in any order (in_order=False); leave in_order at True"
        )
    if getattr(loader.collate_fn, "rand_on_empty", False):
        raise DpscopeError(
            "loader puts a random record in place of an empty batch (rand_on_empty=True), whose gradient "
            "belongs to no record; leave rand_on_empty at False"
        )
