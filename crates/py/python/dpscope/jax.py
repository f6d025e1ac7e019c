"""Audits of a training with JAX and optax, by canaries that keep a slot among the records.

>>> audit = dpscope.jax.OneRun((x, y), canaries=1000, parameters=params)  # doctest: +SKIP
>>> observed = dpscope.jax.observe(audit, rate=q, divisor=B, clip_norm=C)  # doctest: +SKIP
>>> optimizer = optax.chain(noise, observed, optax.sgd(0.1))  # doctest: +SKIP
>>> for batch in CyclicPoissonSampling(q, steps).batch_iterator(len(audit)):  # doctest: +SKIP
...     total = clipped(params, audit[batch], is_padding_example=audit.excluded(batch))
...     total = jax.tree.map(jnp.add, total, audit.canary_sum(batch))
>>> print(audit.audit(claim=[(noise_multiplier, q, steps)]))  # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np
import numpy.typing as npt
import optax  # type: ignore[import-not-found,unused-ignore]
from jax.experimental import io_callback  # type: ignore[import-not-found,unused-ignore]

from dpscope._command import Path
from dpscope._native import DpscopeError
from dpscope._one_run import CanaryRun, Kind
from dpscope._results import Plan

__all__ = ["ObserveState", "OneRun", "observe"]

#: Steps that wait for an earlier one, whose callback came later; without it they are counted.
_WAITING = 16


class OneRun(CanaryRun):
    """Records followed by a slot for each canary, and the audit of one training with them.

    A batch is an array of record numbers, such as `jax_privacy.batch_selection` draws from `len(audit)`
    records; negative numbers are padding. All canaries keep their slot, so that the sampling rate and
    the divisor of the mean gradient do not depend on coins.

    Parameters
    ----------
    records
        The training data: arrays in any tree, whose first axis has the records; or their number.
    canaries
        Number of canaries; or their directions, or records, as arrays or a file with `inputs` and
        `labels`. 0 for a control: `observe` that observes nothing.
    parameters
        The trained parameters, or their number. Canaries that are records need none.
    kind
        `directions`: gradients of norm C, whose releases are scored; they are added after clipping, which
        is not audited. `records`: records that you chose, which `score` scores by their losses.
    plan
        Folder of a committed plan, with adjacency="zero-out"; by default one is committed in a temporary
        folder.
    delta, significance, guesses
        Of the plan that is committed.
    """

    def __init__(
        self,
        records: Any,
        *,
        canaries: int | Path | npt.ArrayLike | Mapping[str, npt.ArrayLike] = 1000,
        parameters: Any = None,
        kind: Kind = "directions",
        plan: Path | Plan | None = None,
        delta: float = 1e-5,
        significance: float = 0.05,
        guesses: int | None = None,
    ) -> None:
        super().__init__(
            canaries, kind, plan, delta=delta, significance=significance, guesses=guesses
        )
        self._data = np.arange(records) if isinstance(records, (int, np.integer)) else records
        lengths = {len(leaf) for leaf in jax.tree.leaves(self._data)}
        if len(lengths) != 1 or 0 in lengths:
            raise DpscopeError(
                f"records has arrays of {sorted(lengths)} records; pass arrays of the same positive number"
            )
        self._size = lengths.pop()
        self._clip_norm: float | None = None
        self._rate = math.nan
        self._next_step = 0
        self._waiting: dict[int, npt.NDArray[np.float64]] = {}
        if kind == "records":
            if self.count:
                self._append_canaries()
            return
        if parameters is None:
            raise DpscopeError("parameters is None; pass the trained parameters, or their number")
        if isinstance(parameters, (int, np.integer)):
            parameters = np.broadcast_to(np.float32(0), int(parameters))
        leaves, self._structure = jax.tree.flatten(parameters)
        self._shapes = [(leaf.shape, leaf.dtype) for leaf in leaves]
        sizes = [math.prod(shape) for shape, _ in self._shapes]
        self._ends = np.cumsum(sizes)
        if sum(sizes) >= 1 << 31:
            raise DpscopeError(
                f"parameters have {sum(sizes)} numbers; pass fewer than 2^31, such as those of adapters"
            )
        if self.count:
            drawn = self.directions(sizes)
            parts = (drawn.rows, drawn.places, drawn.values)
            arrays: list[Any] = [None if part is None else jnp.asarray(part) for part in parts]
            self._rows, self._places, self._values = arrays

    def _append_canaries(self) -> None:
        """Adds canaries that are records to the arrays of the data."""
        inputs, labels = self.records()
        canaries = [inputs] if labels is None else [inputs, labels]
        leaves, structure = jax.tree.flatten(self._data)
        shapes = [leaf.shape[1:] for leaf in leaves]
        if shapes != [canary.shape[1:] for canary in canaries]:
            raise DpscopeError(
                f"records have arrays of shapes {shapes}, and canaries {[c.shape[1:] for c in canaries]}; "
                "pass canaries with the arrays of a record, inputs and then labels"
            )
        joined = [
            np.concatenate([leaf, canary.astype(leaf.dtype)])
            for leaf, canary in zip(leaves, canaries, strict=True)
        ]
        self._data = jax.tree.unflatten(structure, joined)

    def __len__(self) -> int:
        return self._size + self.count

    def __getitem__(self, records: Any) -> Any:
        """The data of a batch. The slot of a direction, and padding, have those of record 0."""
        numbers = np.asarray(records)
        last = len(self) if self.kind == "records" else self._size
        numbers = np.where((numbers >= 0) & (numbers < last), numbers, 0)
        return jax.tree.map(lambda leaf: leaf[numbers], self._data)

    def excluded(self, records: Any) -> Any:
        """Which records of a batch have no gradient of their own: `is_padding_example` of `clipped_grad`.

        These are padding and canaries whose coin is 0, and the slots of all directions: `canary_sum` adds
        the included ones.
        """
        records = jnp.asarray(records)
        slots = records - self._size
        if self.kind == "directions" or not self.count:
            return (records < 0) | (slots >= 0)
        included = jnp.asarray(self.coins)[jnp.clip(slots, 0)]
        return (records < 0) | ((slots >= 0) & ~included)

    def canary_sum(self, records: Any, *, norm: float | None = None) -> Any:
        """The sum of the gradients of a batch's canaries, in the tree of the parameters.

        Add it to the sum of clipped gradients before noise. `norm` is that of each gradient, by default
        the clip norm of `observe`; pass `clipped.l2_norm_bound` of jax_privacy where its sum is divided.
        """
        if self.kind == "records":
            raise DpscopeError("canaries are records, whose gradients are in the sum already")
        norm = self._clip_norm if norm is None else norm
        if norm is None:
            raise DpscopeError("the clip norm is not known yet; call observe first, or pass norm")
        if not self.count:
            return self._in_tree(jnp.zeros(int(self._ends[-1])))
        slots = jnp.asarray(records) - self._size
        # indices from `count` are dropped, and negative ones would count from the end
        slots = jnp.where(slots < 0, self.count, slots)
        weights = jnp.zeros(self.count).at[slots].add(norm, mode="drop") * jnp.asarray(self.coins)
        if self._rows is not None:
            return self._in_tree(jnp.matmul(weights, self._rows, precision="highest"))
        zeros = jnp.zeros(int(self._ends[-1]))
        return self._in_tree(
            zeros.at[self._places].set(weights[:, None] * self._values, unique_indices=True)
        )

    def _in_tree(self, vector: Any) -> Any:
        parts = jnp.split(vector, self._ends[:-1])
        leaves = [
            part.reshape(shape).astype(dtype)
            for part, (shape, dtype) in zip(parts, self._shapes, strict=True)
        ]
        return jax.tree.unflatten(self._structure, leaves)

    def _project(self, updates: Any) -> Any:
        """The inner product of updates with each direction."""
        leaves = jax.tree.leaves(updates)
        flat = jnp.concatenate([leaf.reshape(-1).astype(jnp.float32) for leaf in leaves])
        if len(flat) != self._ends[-1]:
            raise DpscopeError(
                f"updates have {len(flat)} numbers, and parameters {self._ends[-1]}; pass the parameters "
                "that this optimizer trains to OneRun"
            )
        if self._rows is not None:
            return jnp.matmul(self._rows, flat, precision="highest")
        return (flat[self._places] * self._values).sum(axis=1)

    def _receive(self, number: npt.ArrayLike, projections: npt.NDArray[Any]) -> None:
        """Counts a step, after those before it."""
        step = int(np.asarray(number))
        if step < self._next_step:
            raise DpscopeError(
                f"step {step} was observed already, up to step {self._next_step - 1}; make a new OneRun "
                "for another training, and load the state of the audit with that of its optimizer"
            )
        self._waiting[step] = np.asarray(projections, dtype=np.float64)
        self._count_waiting(_WAITING)

    def _count_waiting(self, most: int) -> None:
        """Counts the steps whose predecessors are counted; at most so many others wait."""
        while self._next_step in self._waiting or len(self._waiting) > most:
            self._next_step = min(self._waiting)
            self.observe(self._waiting.pop(self._next_step), self._rate)
            self._next_step += 1

    def _settle(self) -> None:
        """Waits for the callbacks of all steps."""
        jax.effects_barrier()
        self._count_waiting(0)

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The score of each canary so far: larger means included. Scores do not depend on coins."""
        self._settle()
        return super().scores

    def score(
        self, loss: Callable[[Any], npt.ArrayLike], *, queries: int = 2
    ) -> npt.NDArray[np.float64]:
        """Score canaries that are records by the model: `loss` returns one loss for each of them.

        Called before the training too, canaries are scored by the decrease of their losses. Several
        passes show whether the model answers at random.
        """
        if self.kind != "records":
            raise DpscopeError("canaries are directions, which no loss scores; pass kind='records'")
        if queries < 1:
            raise DpscopeError(f"queries is {queries}; pass at least 1")
        canaries = self[np.arange(self._size, len(self))]
        return self.add_losses([np.asarray(loss(canaries)) for _ in range(queries)])

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs beside the state of the optimizer."""
        self._settle()
        return {**super().state_dict(), "next_step": self._next_step}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint; the audit must have the same plan."""
        super().load_state_dict(state)
        self._next_step = int(state["next_step"])
        self._waiting = {}


class ObserveState(NamedTuple):
    """State of `observe`."""

    step: Any
    """Number of the next step."""


def observe(
    audit: OneRun, *, rate: float, divisor: float, clip_norm: float
) -> optax.GradientTransformation:
    """Observe the noisy gradients of a training, which are returned unchanged.

    Place it in `optax.chain` after the noise and before all that scales or sums gradients over steps, such
    as momentum and the learning rate.

    The state is the number of the step. Projections of each step go to the host by a callback, which
    works under `jit` and `scan`: medians and scores are computed there, in float64, with the bits of the
    other frameworks. Projections in the state would need the number of steps beforehand, and a call that
    takes them out at the end.

    Parameters
    ----------
    audit
        The audit of this training.
    rate
        Probability that a step uses a record: that of the sampler, never a share of the batch's records.
    divisor
        What the sum of clipped gradients was divided by; 1 for sums.
    clip_norm
        The clip norm C; 1 for gradients that are scaled to norm 1.
    """
    for name, value in (("rate", rate), ("divisor", divisor), ("clip_norm", clip_norm)):
        if not 0 < value < math.inf:
            raise DpscopeError(f"{name} is {value}; pass a positive number")
    if rate > 1:
        raise DpscopeError(f"rate is {rate}; pass a probability")
    if audit.kind == "records":
        raise DpscopeError("canaries are records; score them by their losses, without observe")
    audit._rate, audit._clip_norm = rate, clip_norm

    def init(params: Any) -> ObserveState:
        return ObserveState(jnp.zeros([], jnp.int32))

    def update(updates: Any, state: ObserveState, params: Any = None) -> tuple[Any, ObserveState]:
        if audit.count:
            projections = audit._project(updates) * (divisor / clip_norm)
            io_callback(audit._receive, None, state.step, projections)
        return updates, ObserveState(state.step + 1)

    return optax.GradientTransformation(init, update)
