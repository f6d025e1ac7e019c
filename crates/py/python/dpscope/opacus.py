"""Audits of a training with Opacus, whose loop stays as it is.

>>> data = audit = dpscope.opacus.OneRun(data, canaries=1000)  # doctest: +SKIP
>>> model, optimizer, loader = engine.make_private(...)  # doctest: +SKIP
>>> audit.attach(optimizer, loader, module=model)  # doctest: +SKIP
>>> for x, y in loader: ...  # doctest: +SKIP
>>> print(audit.audit(claim=engine))  # doctest: +SKIP
"""

from __future__ import annotations

import warnings
from typing import Any

from dpscope._command import DpscopeWarning
from dpscope._dp_optimizer import Hooks, LostRecords, Observer, observe, row_blocks
from dpscope._native import DpscopeError
from dpscope._recording import Recording, record
from dpscope._step_check import StepCheck, check_step
from dpscope._torch_run import CanaryDataset, GradientDirections, check_dataset, check_ranks

__all__ = ["LostRecords", "OneRun", "Recording", "StepCheck", "check_step", "record"]


class OneRun(CanaryDataset):
    __doc__ = CanaryDataset.__doc__

    _hooks: Hooks | None = None

    def attach(self, optimizer: Any, loader: Any, *, module: Any = None) -> Any:
        """Observe a training: its optimizer, loader and model as `make_private` returned them.

        Returns the same loader. Neither classes nor modules are changed, and training has the same bits
        as with the gradients of the canaries alone.
        """
        self._refuse_attached(self._hooks is not None)
        check_dataset(loader, self)
        check_ranks(self._run.commitment)
        observer = _CanaryObserver(self, 1.0 / len(loader))
        hooks = observe(optimizer, loader, observer, module)
        try:
            if self._run.kind == "directions" and self._slots:
                clip_norms = getattr(optimizer, "max_grad_norms", None)
                observer.directions = self._directions(optimizer.params, clip_norms)
        except BaseException:
            hooks()
            raise
        self._hooks, self._loader = hooks, loader
        if observer.directions is not None and hasattr(module, "get_clipping_coef"):
            warnings.warn(
                "ghost clipping has no gradients per record: canaries are added to the clipped sum, so "
                "that this audit does not see faults of clipping",
                DpscopeWarning,
                stacklevel=2,
            )
        return loader

    def detach(self) -> None:
        """Restore optimizer and loader."""
        if self._hooks is not None:
            self._hooks()

    @property
    def overhead(self) -> float:
        """Time in the audit by the time of a step: the median of 20 steps after the first 5."""
        return self._attached().overhead

    def audit(self, *, claim: object = None, **options: Any) -> Any:
        if self._hooks is not None:
            self._hooks.end_epoch()
        return super().audit(claim=claim, **options)

    audit.__doc__ = CanaryDataset.audit.__doc__

    def _attached(self) -> Hooks:
        if self._hooks is None:
            raise DpscopeError("this audit is not attached; call attach after make_private")
        return self._hooks


class _CanaryObserver(Observer):
    """Writes the gradients of canaries, and scores releases."""

    handles_ghost_clipping = True
    handles_ranks = True

    def __init__(self, audit: OneRun, rate: float) -> None:
        self._audit = audit
        self._run = audit._run
        self._rate = rate
        self.directions: GradientDirections | None = None

    def epoch(self) -> None:
        self._run.begin_epoch()

    def incomplete(self, batches: int) -> None:
        self._run.discard_epoch(batches)

    def gradients(self, optimizer: Any, records: list[int]) -> None:
        blocks = [row_blocks(p) for p in optimizer.params]
        clip_norm = float(optimizer.max_grad_norm)
        self._audit._insert(self.directions, blocks, records, clip_norm)

    def coefficients(self, optimizer: Any, records: list[int], factors: Any) -> Any:
        rows, canaries = self._audit._slot_rows(records)
        if self.directions is None:
            rows = [row for row, canary in zip(rows, canaries) if not self._run.coins[canary]]
        if rows:
            factors = factors.clone()
            factors[rows] = 0.0
        return factors

    def accumulated(self, optimizer: Any, records: list[int]) -> None:
        _, canaries = self._audit._slot_rows(records)
        if self.directions is not None and canaries:
            gradients = [p.grad for p in optimizer.params]
            sizes = float(optimizer.max_grad_norm) * self._run.coins[canaries]
            self.directions.add(gradients, canaries, sizes)

    def released(self, optimizer: Any, scale: float) -> None:
        if self.directions is None:
            self._run.count_step()
            return
        projections = self.directions.project([p.grad for p in optimizer.params]) * scale
        rate = min(1.0, self._rate * optimizer.accumulated_iterations)
        self._run.observe(projections, rate)
