"""Audits of a training with PyTorch that clips and adds noise by its own code.

>>> data = audit = dpscope.torch.OneRun(data, canaries=1000)  # doctest: +SKIP
>>> audit.attach(optimizer, loader)  # doctest: +SKIP
>>> grads = audit.insert(grads, records, clip_norm=C)  # before clipping  # doctest: +SKIP
>>> audit.release(noisy, divisor=B)  # after noise  # doctest: +SKIP
>>> print(audit.audit(claim=4.0))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from dpscope._command import Path, Progress
from dpscope._native import DpscopeError
from dpscope._recording import (
    Canary,
    Finished,
    Recording,
    Settings,
    ThreatModel,
    Train,
    WorldObserver,
    check_attach,
    record_worlds,
)
from dpscope._torch_run import CanaryDataset, GradientDirections, check_dataset, tensors_of

__all__ = ["OneRun", "Recording", "record"]

_Gradients = TypeVar("_Gradients")


class OneRun(CanaryDataset):
    __doc__ = CanaryDataset.__doc__

    _rate: float | None = None
    _clip_norm: float | None = None
    _gradients: GradientDirections | None = None

    def attach(self, optimizer: Any, loader: Any, *, module: Any = None) -> Any:
        """State the loader, whose batches have each record with probability 1/len(loader).

        Returns it. Nothing is changed: call `insert` and `release` in each step.
        """
        self._refuse_attached(self._rate is not None)
        check_dataset(loader, self)
        self._rate, self._loader = 1.0 / len(loader), loader
        return loader

    def insert(
        self, gradients: _Gradients, records: Sequence[int], *, clip_norm: float
    ) -> _Gradients:
        """Write the gradients of canaries, before clipping.

        `gradients` are tensors with a row for each of `records`, as `torch.func.vmap` returns them, in
        dictionaries, lists or tuples. They are changed, and returned.
        """
        tensors, numbers = _rows(gradients, records)
        _check_clip_norm(clip_norm)
        self._clip_norm = float(clip_norm)
        if self._run.kind == "directions" and self._slots and self._gradients is None:
            self._gradients = self._directions([_parameter(tensor) for tensor in tensors])
        self._insert(self._gradients, [[tensor] for tensor in tensors], numbers, self._clip_norm)
        return gradients

    def release(
        self,
        noisy: Any,
        *,
        total: Any = None,
        divisor: float = 1.0,
        clip_norm: float | None = None,
        rate: float | None = None,
    ) -> None:
        """Score the canaries by a noisy gradient, which was divided by `divisor`.

        `total`, the sum before noise, is for recordings; scores do not depend on it. `rate` is the
        probability that a batch has a record [default: that of the attached loader].
        """
        norm, rate = clip_norm or self._clip_norm, rate or self._rate
        if norm is None:
            raise DpscopeError(
                "release was called before insert; call insert in each step, before it"
            )
        if self._gradients is None:
            self._run.count_step()
            return
        if rate is None or not 0 < rate <= 1:
            raise DpscopeError(
                f"rate is {rate}; call attach(optimizer, loader), or pass the probability that a batch "
                "has a record"
            )
        self._run.observe(self._gradients.project(tensors_of(noisy)) * (divisor / norm), rate)


class _Recorder:
    """What `attach` returns to a training that is recorded."""

    def __init__(self, observer: WorldObserver, settings: Settings, steps: int) -> None:
        self._observer = observer
        self._settings = settings
        self._steps = steps
        self._clip_norm = 1.0

    def insert(
        self, gradients: _Gradients, records: Sequence[int], *, clip_norm: float
    ) -> _Gradients:
        """Write the gradients that the attacker chooses, before clipping."""
        tensors, numbers = _rows(gradients, records)
        _check_clip_norm(clip_norm)
        self._clip_norm = float(clip_norm)
        self._observer.write([[tensor] for tensor in tensors], numbers, self._clip_norm)
        return gradients

    def release(
        self, noisy: Any, *, total: Any, divisor: float = 1.0, clip_norm: float | None = None
    ) -> None:
        """Record a step: the noisy gradient, which was divided by `divisor`, and the sum before noise."""
        epochs = self._observer.epochs
        if not epochs or len(epochs[-1]) == self._steps:
            epochs.append([])
        self._observer.observe_sum(tensors_of(total))
        scale = divisor / (clip_norm or self._clip_norm)
        self._observer.observe_release(tensors_of(noisy), scale)
        if len(epochs) == self._settings.epochs and len(epochs[-1]) == self._steps:
            raise Finished


def _attach_loop(observer: WorldObserver, settings: Settings, dataset: Any) -> Any:
    def attach(
        optimizer: Any,
        loader: Any,
        *,
        module: Any = None,
        noise_multiplier: float,
        clip_norm: float,
    ) -> _Recorder:
        check_attach(observer, loader, dataset)
        _check_clip_norm(clip_norm)
        size = loader.batch_size or round(len(dataset) / len(loader))
        observer.facts = settings.facts(noise_multiplier, clip_norm, size, loader)
        return _Recorder(observer, settings, len(loader))

    return attach


def record(
    train: Train,
    dataset: Any,
    *,
    runs: int = 200,
    epochs: int = 1,
    target: int = 0,
    threat_model: ThreatModel | None = None,
    canary: Canary = "random",
    processes: int = 1,
    seed: int = 0,
    out: Path | None = None,
    progress: Progress | None = None,
) -> Recording:
    """Record outputs of a training by its own code, with a target record and without it.

    `train(data, attach)` is your training. It makes model, loader and optimizer anew, calls `recorder =
    attach(optimizer, loader, noise_multiplier=σ, clip_norm=C)`, and in each step `recorder.insert(grads,
    records, clip_norm=C)` before clipping and `recorder.release(noisy, total=sum, divisor=B)` after
    noise. Parameters are those of `dpscope.opacus.record`.
    """
    settings = Settings(epochs, target, threat_model, canary, seed, _attach_loop)
    return record_worlds(train, dataset, settings, runs, processes, out, progress)


def _rows(gradients: Any, records: Sequence[int]) -> tuple[list[Any], list[int]]:
    tensors, numbers = tensors_of(gradients), [int(record) for record in records]
    for tensor in tensors:
        if len(tensor) != len(numbers):
            raise DpscopeError(
                f"gradients of shape {tuple(tensor.shape)} have {len(tensor)} rows for {len(numbers)} "
                "records; pass a row for each record of the batch"
            )
    if not tensors:
        raise DpscopeError("gradients have no tensors")
    return tensors, numbers


def _parameter(rows: Any) -> Any:
    """A tensor with the shape of the parameter."""
    return rows.new_empty(rows.shape[1:])


def _check_clip_norm(clip_norm: float) -> None:
    if not clip_norm > 0:
        raise DpscopeError(f"clip_norm is {clip_norm}; pass the norm that gradients are clipped to")
