"""One run of the user's training for `check_step`: what it does in each step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from dpscope._accountants import sampler_of
from dpscope._dp_optimizer import Hooks, Observer, observe, row_blocks
from dpscope._native import DpscopeError
from dpscope._recording import Finished, Train, _seeded, stated_noise
from dpscope._step_world import Case, World

Json = dict[str, Any]


class _PlannedSampler:
    """A batch sampler whose batches a run chooses."""

    def __init__(self, sampler: Any, run: Run) -> None:
        self.__dict__.update(_sampler=sampler, _run=run)

    def __iter__(self) -> Iterator[list[int]]:
        run: Run = self._run
        return run.batches(iter(self._sampler))

    def __len__(self) -> int:
        return len(self._sampler)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_sampler"], name)


class Run(Observer):
    """One run of the training: its steps, and what is common to originals and replays."""

    def __init__(self, case: Case, world: str) -> None:
        self.case = case
        self.world = world
        self.data = World(case, world)
        self.steps: list[Json] = []
        self.failure: str | None = None
        self.error: Exception | None = None
        self.optimizer: Any = None
        self.loader: Any = None
        self.tensors: dict[str, Any] = {}
        """Parameters and buffers of the module."""
        self.trained: dict[str, Any] = {}
        """Parameters of the optimizer."""
        self.has_module = False
        self.random_draws_differ = False
        self.shape_change: Json | None = None
        self.is_poisson = False
        self.accounted: list[Any] = []
        """Noise multiplier, sampling rate and number of the steps that the accountant counted."""
        self._hooks: Hooks | None = None
        self._accountant: Any = None
        self._before: list[Any] = []
        self._sampler: Any = None
        self._drawn: list[int] = []
        self._rows_used = 0
        self._empty_used = 0
        """Empty batches that were used before the last one with records."""
        self._empty_waiting = 0
        self._is_flat = False
        self._rows: list[tuple[int, float]] = []
        self._is_begun = False
        self._states = 0
        self._clip_norm = 1.0
        self._target_norm: float | None = None
        self._noised = torch.zeros(0)

    def run(self, train: Train, accountant: Any = None) -> None:
        """Runs the training until its last step."""
        self._accountant = accountant
        with _seeded(np.random.SeedSequence(self.case.seed)):
            try:
                train(self.data, self.attach)
            except Finished:
                pass
            except Exception as error:  # also of one world only
                self.error = error
                if len(self.steps) < self.case.steps:
                    self.failure = f"{type(error).__name__}: {error}"
            finally:
                self._detach()
        if self.steps and self._states < len(self.steps):
            self.state(len(self.steps) - 1)

    def attach(self, optimizer: Any, loader: Any, *, module: Any = None) -> Any:
        """What the training calls as `attach`; returns the loader."""
        if self.optimizer is not None:
            raise DpscopeError("train called attach twice; call it once, after make_private")
        self._sampler = getattr(loader, "batch_sampler", None)
        if self._sampler is not None:
            if hasattr(loader.dataset, "__len__") and len(loader.dataset) != len(self.data):
                raise DpscopeError(
                    f"loader has {len(loader.dataset)} records and data {len(self.data)}; split the "
                    "data set before check_step, and make the loader of all records of data"
                )
            object.__setattr__(loader, "batch_sampler", _PlannedSampler(self._sampler, self))
        self._is_flat = _clips_flat(optimizer)
        try:
            self._hooks = observe(optimizer, loader, self, module)
        except BaseException:
            object.__setattr__(loader, "batch_sampler", self._sampler)
            raise
        self.optimizer, self.loader = optimizer, loader
        self.is_poisson = sampler_of(loader) == "poisson"
        self.has_module = module is not None
        named = [] if module is None else [*module.named_parameters(), *module.named_buffers()]
        self.tensors = {name.removeprefix("_module."): tensor for name, tensor in named}
        names = {id(tensor): name for name, tensor in self.tensors.items()}
        self.trained = {
            names.get(id(p), f"parameter {number}"): p for number, p in enumerate(optimizer.params)
        }
        self.tensors = {**self.trained, **self.tensors}
        self._accountant = _accountant_of(optimizer, self._accountant)
        self._before = list(getattr(self._accountant, "history", []))
        self.begin()
        return loader

    def _detach(self) -> None:
        if self._hooks is not None:
            self._hooks()
            object.__setattr__(self.loader, "batch_sampler", self._sampler)
            self.accounted = _new_entries(self._accountant, self._before)

    def accounting(self) -> Json | None:
        """What the accountant counted in this run."""
        if not hasattr(self._accountant, "history"):
            return None
        stds, rates = ({entry[place] for entry in self.accounted} for place in (0, 1))
        # adaptive clipping shares the accounted noise between sum and count
        is_shared = hasattr(self.optimizer, "unclipped_num_std")
        return {
            "noise_multiplier": finite(*stds) if len(stds) == 1 and not is_shared else None,
            "sample_rate": finite(*rates) if len(rates) == 1 else None,
            "steps": sum(int(entry[2]) for entry in self.accounted),
        }

    # what originals and replays do each in their way

    def begin(self) -> None:
        """The training is about to start."""

    def batches(self, drawn: Iterator[Any]) -> Iterator[list[int]]:
        """The batches of an epoch, in numbers of this world."""
        raise NotImplementedError

    def state(self, step: int) -> None:
        """Parameters and buffers are those after a step, and the next batch has passed forward."""

    def row_factor(self, norm: float) -> float:
        """What the target's gradient is multiplied by."""
        if self.case.kind == "zeroed" or self.world == "zero-out":
            return 0.0
        if self.case.kind == "inflated" and 0 < norm < math.inf:
            return 1000 * self._clip_norm / norm
        return 1.0

    # hooks

    def gradients(self, optimizer: Any, records: list[int]) -> None:
        if not self._is_begun:
            self._is_begun = True
            if self.steps:
                self.state(len(self.steps) - 1)
            if len(self.steps) == self.case.steps:
                raise Finished
            self._target_norm = None
            self._rows.clear()
        self._clip_norm = float(optimizer.max_grad_norm)
        self._empty_waiting += not records
        if records:
            self._empty_used += self._empty_waiting
            self._empty_waiting = 0
            self._rows_used += len(records)
        norms = row_norms(optimizer)
        for row, index in enumerate(records):
            record = self.data.record(index)
            self._rows.append((record, norms[row]))
            if record == self.case.target:
                factor = self.row_factor(norms[row])
                multiply_row(optimizer, row, factor)
                if self._is_flat and factor > 0:
                    self._target_norm = min(1.0, factor * norms[row] / self._clip_norm)

    def noised(self, optimizer: Any) -> None:
        self._noised = flat(p.grad for p in optimizer.params)

    # facts of a step

    def facts(self, total: torch.Tensor, clip_norm: float, scale: float) -> Json:
        """A step of the record, without what compares it; norms are in `clip_norm`."""
        optimizer = self.optimizer
        size = norm(total)
        rate = getattr(self._sampler, "sample_rate", None) or 1 / max(len(self.loader), 1)
        rate *= optimizer.accumulated_iterations
        return {
            "is_finite": math.isfinite(size),
            "sum_norm": finite(size / clip_norm),
            "target_norm": finite(self._target_norm),
            "scale": finite(scale),
            "divisor": finite(optimizer.expected_batch_size),
            "sample_rate": finite(rate),
            "clip_norm": finite(self._clip_norm),
            "learning_rate": finite(optimizer.param_groups[0]["lr"]),
            "noise_multiplier": finite(stated_noise(optimizer)),
        }

    def scale(self, release: torch.Tensor, stated: float) -> float:
        """The factor from releases to noisy sums: what the optimizer states, unless the noisy sums are
        another multiple of the releases."""
        noised, released = self._noised.double(), release.double()
        square = float(released @ released)
        if not 0 < square < math.inf:
            return stated
        measured = float(noised @ released) / square
        rounding = 10 * torch.finfo(release.dtype).eps
        off = float((noised - measured * released).norm()) / (abs(measured) * math.sqrt(square))
        is_other = abs(measured / stated - 1) > rounding and off < rounding < 1e-5
        return measured if is_other and math.isfinite(measured) else stated

    def document(self) -> Json:
        """The run as a replay of the record."""
        return {
            "failure": self.failure,
            "batches_without_step": self._batches_without_step(),
            "steps_per_epoch": None if self.loader is None else len(self.loader),
            "random_draws_differ": self.random_draws_differ,
            "shape_change": self.shape_change,
            "steps": self.steps,
        }

    def _batches_without_step(self) -> int:
        """Empty batches before the last used record that no step used; others cannot be skipped."""
        left, empty = self._rows_used, 0
        for size in self._drawn:
            if left <= 0:
                break
            empty += size == 0
            left -= size
        return max(0, empty - self._empty_used)


def row_norms(optimizer: Any) -> list[float]:
    """The norm of each record's gradient."""
    squares: Any = 0.0
    for p in optimizer.params:
        rows = [block.detach().reshape(len(block), p.numel()) for block in row_blocks(p)]
        squares = squares + torch.cat([row.norm(dim=1).double() for row in rows]).cpu() ** 2
    return squares.sqrt().tolist()  # type: ignore[no-any-return]


def multiply_row(optimizer: Any, row: int, factor: float) -> None:
    """Multiplies the gradient of the record in a row; the factor 0 also removes what is not finite."""
    if factor == 1.0:
        return
    for p in optimizer.params:
        left = row
        for block in row_blocks(p):
            if left < len(block):
                block[left] = block[left] * factor if factor else 0.0
                break
            left -= len(block)


def flat(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """A copy of the entries of all tensors, a vector."""
    return torch.cat([tensor.detach().reshape(-1).cpu() for tensor in tensors])


def norm(vector: torch.Tensor) -> float:
    """The Euclidean norm in double precision."""
    return float(vector.double().norm())


def relative(now: float, before: float, difference: float, without_size: float) -> float:
    """The difference of two norms ÷ that of the original; `without_size` where that is 0, and whether
    they differ where one is not finite."""
    if not math.isfinite(now) or not math.isfinite(before):
        return float(math.isfinite(now) != math.isfinite(before))
    return difference / before if before > 0 else without_size


def finite(value: Any) -> float | None:
    """A number of the record: NaN and infinity are left out."""
    return float(value) if value is not None and math.isfinite(value) else None


def _clips_flat(optimizer: Any) -> bool:
    """Whether rows are clipped to C as Opacus does, which tells the norm of a clipped row."""
    from opacus import optimizers  # type: ignore[import-not-found,import-untyped,unused-ignore]

    flat_clips = (optimizers.DPOptimizer, optimizers.AdaClipDPOptimizer)
    clip = getattr(getattr(optimizer, "clip_and_accumulate", None), "__func__", None)
    return clip in [it.clip_and_accumulate for it in flat_clips]


def _accountant_of(optimizer: Any, accountant: Any) -> Any:
    """The accountant: that of the call, or the one that `make_private` attached to the optimizer."""
    if accountant is not None:
        return getattr(accountant, "accountant", accountant)
    cells = getattr(getattr(optimizer, "step_hook", None), "__closure__", None) or ()
    return next(
        (cell.cell_contents for cell in cells if hasattr(cell.cell_contents, "history")), None
    )


def _new_entries(accountant: Any, before: list[Any]) -> list[Any]:
    """Entries (noise multiplier, sampling rate, steps) of a history since it was as before."""
    history = list(getattr(accountant, "history", []))
    new = history[len(before) :]
    if before and len(history) >= len(before):  # the last one counts equal steps
        *same, steps = history[len(before) - 1]
        new = [(*same, steps - before[-1][-1]), *new]
    return [entry for entry in new if entry[-1] > 0]
