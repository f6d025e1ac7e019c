"""Canaries of one training with PyTorch: slots of a data set, and rows of gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch  # type: ignore[import-not-found,unused-ignore]
from torch.utils.data import (  # type: ignore[import-not-found,unused-ignore]
    Dataset,
    IterableDataset,
    Subset,
)

from dpscope._accountants import training_of
from dpscope._command import Path
from dpscope._directions import Directions
from dpscope._native import DpscopeError
from dpscope._one_run import CanaryRun, Kind
from dpscope._results import Audit, Plan


class GradientDirections:
    """Directions on the trained tensors: writes rows of gradients, and projects releases.

    `clip_norms` are those of each tensor under clipping per layer: a direction has parts proportional to
    them, so that each part of a row is clipped.
    """

    def __init__(
        self,
        directions: Directions,
        tensors: Sequence[torch.Tensor],
        clip_norms: Sequence[float] | None = None,
    ) -> None:
        self._shapes = [tuple(tensor.shape) for tensor in tensors]
        self._devices = [tensor.device for tensor in tensors]
        sizes = [tensor.numel() for tensor in tensors]
        self._offsets = np.cumsum([0, *sizes])
        self._rows: list[torch.Tensor] | None = None
        self._scale = 1.0
        if directions.rows is not None:
            parts = np.split(directions.rows, self._offsets[1:-1], axis=1)
            if clip_norms is not None:
                norms = [np.linalg.norm(part, axis=1, keepdims=True) for part in parts]
                used = [
                    clip_norm if np.all(norm > 0) else 0.0
                    for norm, clip_norm in zip(norms, clip_norms, strict=True)
                ]
                total = float(np.linalg.norm(used))
                # a clipped row has this norm, which counts as C
                self._scale = float(np.linalg.norm(clip_norms)) / total
                parts = [
                    part * np.float32(clip_norm / total) / np.maximum(norm, np.float32(1e-30))
                    for part, norm, clip_norm in zip(parts, norms, used, strict=True)
                ]
            self._rows = [
                torch.from_numpy(np.ascontiguousarray(part)).to(device)
                for part, device in zip(parts, self._devices, strict=True)
            ]
            return
        if clip_norms is not None:
            most = (1 << 24) // directions.dimension
            raise DpscopeError(
                f"{directions.count} canaries for {directions.dimension} parameters have sparse gradients, "
                f"which clipping per layer shortens; pass at most {most} canaries, or clipping='flat' to "
                "make_private"
            )
        assert directions.places is not None and directions.values is not None
        self._places, self._values = directions.places, directions.values
        flat = self._places.reshape(-1)
        order = np.argsort(flat, kind="stable")
        bounds = np.searchsorted(flat[order], self._offsets)
        self._gathered = [
            torch.from_numpy(flat[order[low:high]] - offset).to(device)
            for low, high, offset, device in zip(
                bounds, bounds[1:], self._offsets, self._devices, strict=False
            )
        ]
        # from the order of the tensors to that of the canaries
        self._order = torch.from_numpy(np.argsort(order)).to(self._devices[0])
        self._weights = torch.from_numpy(self._values).to(self._devices[0])

    def write(
        self,
        blocks: Sequence[Sequence[torch.Tensor]],
        rows: Sequence[int],
        canaries: Sequence[int],
        sizes: npt.ArrayLike,
    ) -> None:
        """Replaces rows of gradients by directions of these norms, which may be 0.

        `blocks` has the tensors of each parameter whose rows follow each other.
        """
        row = np.asarray(rows, dtype=np.int64)
        canary = np.asarray(canaries, dtype=np.int64)
        size = np.asarray(sizes, dtype=np.float32)
        first = 0
        for index in range(len(blocks[0])):
            count = len(blocks[0][index])
            inside = (row >= first) & (row < first + count)
            if inside.any():
                tensors = [one[index] for one in blocks]
                with torch.no_grad():
                    self._write(tensors, row[inside] - first, canary[inside], size[inside])
            first += count

    def _write(
        self,
        tensors: Sequence[torch.Tensor],
        row: npt.NDArray[np.int64],
        canary: npt.NDArray[np.int64],
        size: npt.NDArray[np.float32],
    ) -> None:
        if self._rows is not None:
            for tensor, part, shape in zip(tensors, self._rows, self._shapes, strict=True):
                at, of, norm = (torch.from_numpy(it).to(part.device) for it in (row, canary, size))
                values = part.index_select(0, of) * norm[:, None]
                tensor.index_copy_(0, at, values.reshape(-1, *shape).to(tensor.dtype))
            return
        places: npt.NDArray[Any] = self._places[canary].reshape(-1)
        values = (self._values[canary] * size[:, None]).reshape(-1)
        owners: npt.NDArray[Any] = np.repeat(row, self._places.shape[1])
        order = np.argsort(places)
        places, values, owners = places[order], values[order], owners[order]
        bounds = np.searchsorted(places, self._offsets)
        for index, tensor in enumerate(tensors):
            low, high = bounds[index], bounds[index + 1]
            device = tensor.device
            tensor.index_fill_(0, torch.from_numpy(row).to(device), 0.0)
            if low == high:
                continue
            local = np.unravel_index(places[low:high] - self._offsets[index], self._shapes[index])
            at = [torch.from_numpy(it).to(device) for it in (owners[low:high], *local)]
            tensor[tuple(at)] = torch.from_numpy(values[low:high]).to(device, tensor.dtype)

    def add(
        self, tensors: Sequence[torch.Tensor], canaries: Sequence[int], sizes: npt.ArrayLike
    ) -> None:
        """Adds directions of these norms to a gradient."""
        canary = np.asarray(canaries, dtype=np.int64)
        size = np.asarray(sizes, dtype=np.float32)
        for index, tensor in enumerate(tensors):
            if self._rows is not None:
                of, norm = (torch.from_numpy(it).to(tensor.device) for it in (canary, size))
                change = norm @ self._rows[index].index_select(0, of)
            else:
                places = self._places[canary] - self._offsets[index]
                inside = (places >= 0) & (places < tensor.numel())
                values = (self._values[canary] * size[:, None])[inside]
                change = torch.zeros(tensor.numel(), device=tensor.device)
                change[torch.from_numpy(places[inside])] = torch.from_numpy(values).to(
                    tensor.device
                )
            with torch.no_grad():
                tensor += change.view_as(tensor).to(tensor.dtype)

    def project(self, gradients: Sequence[torch.Tensor]) -> npt.NDArray[np.float64]:
        """The inner product of a gradient with each direction."""
        with torch.no_grad():
            return np.asarray(self._project(gradients).cpu().numpy()) * self._scale

    def _project(self, gradients: Sequence[torch.Tensor]) -> torch.Tensor:
        device = self._devices[0]
        if self._rows is not None:
            parts = [
                (rows @ gradient.reshape(-1).to(rows.dtype)).to(device, torch.float64)
                for rows, gradient in zip(self._rows, gradients, strict=True)
            ]
            return torch.stack(parts).sum(dim=0)
        gathered = [
            gradient.reshape(-1).index_select(0, places).to(device, torch.float32)
            for gradient, places in zip(gradients, self._gathered, strict=True)
        ]
        entries = torch.cat(gathered).index_select(0, self._order).view_as(self._weights)
        return (entries * self._weights).sum(dim=1).double()


class CanaryDataset(Dataset[Any]):  # type: ignore[misc,unused-ignore]
    """A data set followed by a slot for each canary, and the audit of one training with it.

    All canaries keep their slot, so that the sampling rate and the divisor of the mean gradient do not
    depend on coins; the gradient of a canary whose coin is 0 is set to 0.

    Parameters
    ----------
    dataset
        The training data, with numbered records.
    canaries
        Number of canaries; or their directions, or records, as arrays or a file with `inputs` and
        `labels`. 0 for a control: hooks that change nothing.
    kind
        `directions`: gradients of norm 2 C, whose releases are scored. `records`: records that you
        chose, which `score` scores by their losses.
    plan
        Folder of a committed plan, with adjacency="zero-out"; by default one is committed in a temporary
        folder.
    delta, significance, guesses
        Of the plan that is committed.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        canaries: int | Path | npt.ArrayLike | Mapping[str, npt.ArrayLike] = 1000,
        kind: Kind = "directions",
        plan: Path | Plan | None = None,
        delta: float = 1e-5,
        significance: float = 0.05,
        guesses: int | None = None,
    ) -> None:
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
            raise DpscopeError(
                f"dataset is a {type(dataset).__name__}, whose records have no numbers; pass a Dataset "
                "with __getitem__ and __len__"
            )
        if len(dataset) == 0:
            raise DpscopeError("dataset has no records")
        self._dataset = dataset
        self._records = len(dataset)
        options: dict[str, Any] = {"delta": delta, "significance": significance, "guesses": guesses}
        if plan is None and (ranks := _ranks()):
            # one plan for all processes, which the first of them commits
            folder: list[str | None] = [None]
            if ranks[0] == 0:
                folder = [CanaryRun(canaries, kind, None, **options).folder]
            torch.distributed.broadcast_object_list(folder)
            plan = folder[0]
        self._run = CanaryRun(canaries, kind, plan, **options)
        self._slots = self._run.count
        self._loader: Any = None
        """Of the training that the audit is attached to."""
        self._contents = self._run.records() if kind == "records" and self._slots else None

    def __getstate__(self) -> dict[str, Any]:
        """Workers of a loader get the records, and no coins."""
        return {
            name: self.__dict__[name] for name in ("_dataset", "_records", "_slots", "_contents")
        }

    def __len__(self) -> int:
        return self._records + self._slots

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            index += len(self)
        if index < self._records:
            return self._dataset[index]
        if index >= len(self):
            raise IndexError(f"index {index} is outside the {len(self)} records and slots")
        item = self._dataset[0]
        return item if self._contents is None else self._content(index - self._records, item)

    def _content(self, canary: int, item: Any) -> Any:
        """A canary in the form of a record."""
        assert self._contents is not None
        inputs, labels = self._contents
        if labels is None:
            return _like(inputs[canary], item)
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise DpscopeError(
                f"records are of type {type(item).__name__}; canaries with labels need records that are "
                "pairs (input, label)"
            )
        content = [_like(inputs[canary], item[0]), _like(labels[canary], item[1])]
        return content if isinstance(item, list) else tuple(content)

    @property
    def plan(self) -> Plan:
        """The committed plan."""
        return self._run.plan

    @property
    def coins(self) -> npt.NDArray[np.bool_]:
        """Whether each canary is included."""
        return self._run.coins.copy()

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The score of each canary so far: larger means included. Scores do not depend on coins."""
        return self._run.scores

    @property
    def centres(self) -> npt.NDArray[np.float64]:
        """The median projection of each scored step, in clip norms."""
        return np.asarray(self._run.calibration[0])

    @property
    def scales(self) -> npt.NDArray[np.float64]:
        """The standard deviation of the noise of each scored step; 0 if there is none."""
        return np.asarray(self._run.calibration[1])

    @property
    def steps(self) -> int:
        """Steps that were observed."""
        return self._run.steps

    def batch_size(self, base: int) -> int:
        """The batch size with which slots change neither the steps nor the records per batch."""
        return max(1, round(base * len(self) / self._records))

    def score(
        self, loss: Callable[[Dataset[Any]], npt.ArrayLike], *, queries: int = 2
    ) -> npt.NDArray[np.float64]:
        """Score canaries that are records by the model: `loss` returns one loss for each of them.

        Called before the training too, canaries are scored by the decrease of their losses. Several
        passes show whether the model answers at random.
        """
        if self._run.kind != "records":
            raise DpscopeError("canaries are directions, which no loss scores; pass kind='records'")
        if queries < 1:
            raise DpscopeError(f"queries is {queries}; pass at least 1")
        canaries: Subset[Any] = Subset(self, range(self._records, len(self)))
        return self._run.add_losses([_numbers(loss(canaries)) for _ in range(queries)])

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint of the training needs."""
        return self._run.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint; the audit must have the same plan."""
        self._run.load_state_dict(state)

    def audit(self, *, claim: object = None, **options: Any) -> Audit:
        """Bound ε by the canaries of this training.

        `claim` is a number, the PrivacyEngine, an accountant, or a list of (noise multiplier, rate,
        steps). Of an accountant, and batches that have each record once per epoch, the claim is compared
        with what theory proves of such batches, too. Further options are those of `audit_one_run`.
        """
        if self._loader is not None:
            options = {**training_of(claim, self._loader), **options}
        return self._run.audit(claim=claim, **options)

    def _refuse_attached(self, is_attached: bool) -> None:
        """Refuses the second training of an audit."""
        if is_attached:
            raise DpscopeError(
                "this audit is attached already; it is for one training, so make a new OneRun for another"
            )

    def _directions(
        self, tensors: Sequence[torch.Tensor], clip_norms: Sequence[float] | None = None
    ) -> GradientDirections:
        sizes = [tensor.numel() for tensor in tensors]
        directions = self._run.directions(sizes, by_tensor=clip_norms is not None)
        return GradientDirections(directions, tensors, clip_norms)

    def _slot_rows(self, records: Sequence[int]) -> tuple[list[int], list[int]]:
        """Rows of a batch that belong to canaries, and their numbers."""
        pairs = [(row, record - self._records) for row, record in enumerate(records)]
        slots = [(row, canary) for row, canary in pairs if canary >= 0]
        return [row for row, _ in slots], [canary for _, canary in slots]

    def _insert(
        self,
        directions: GradientDirections | None,
        blocks: Sequence[Sequence[torch.Tensor]],
        records: Sequence[int],
        clip_norm: float,
    ) -> None:
        """Writes the gradients of canaries: 2 C times their directions, so that clipping is audited."""
        rows, canaries = self._slot_rows(records)
        if not rows:
            return
        coins = self._run.coins[canaries]
        if directions is not None:
            directions.write(blocks, rows, canaries, 2.0 * clip_norm * coins)
        else:
            clear_rows(blocks, [row for row, coin in zip(rows, coins, strict=True) if not coin])


def _ranks() -> tuple[int, int] | None:
    """Number of this process, and of all, in a distributed training."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return None
    return distributed.get_rank(), distributed.get_world_size()


def check_ranks(commitment: str) -> None:
    """Raises an error if the processes of a training have different plans."""
    if ranks := _ranks():
        found: list[Any] = [None] * ranks[1]
        torch.distributed.all_gather_object(found, commitment)
        if len(set(found)) > 1:
            raise DpscopeError(
                f"the {ranks[1]} distributed processes have different plans; make OneRun after "
                "init_process_group, or pass the same plan to all"
            )


def check_dataset(loader: Any, dataset: Any) -> None:
    """Raises an error for a loader over other data."""
    found = getattr(loader, "dataset", None)
    if found is not dataset:
        raise DpscopeError(
            f"loader is over a {type(found).__name__}, not over this {type(dataset).__name__}; make the "
            f"loader with DataLoader(audit, ...), where audit is the {type(dataset).__name__}"
        )


def clear_rows(blocks: Sequence[Sequence[torch.Tensor]], rows: Sequence[int]) -> None:
    """Sets rows of gradients to 0."""
    for tensors in blocks:
        first = 0
        for tensor in tensors:
            inside = [row - first for row in rows if first <= row < first + len(tensor)]
            at = torch.tensor(inside, dtype=torch.int64, device=tensor.device)
            with torch.no_grad():
                tensor.index_fill_(0, at, 0.0)
            first += len(tensor)


def tensors_of(gradients: Any) -> list[torch.Tensor]:
    """The tensors of nested dictionaries, lists and tuples, in their order."""

    def leaves(value: Any) -> Iterator[torch.Tensor]:
        if isinstance(value, torch.Tensor):
            yield value
            return
        parts: Iterable[Any] = value.values() if isinstance(value, Mapping) else value
        for part in parts:
            yield from leaves(part)

    return list(leaves(gradients))


def _like(value: Any, item: Any) -> Any:
    """A value with the type of the same part of a record."""
    if isinstance(item, torch.Tensor):
        return torch.as_tensor(np.asarray(value)).to(item.dtype).reshape(item.shape)
    if isinstance(item, np.ndarray):
        return np.asarray(value, dtype=item.dtype).reshape(item.shape)
    return type(item)(value)


def _numbers(losses: Any) -> Any:
    return losses.detach().cpu().double().numpy() if isinstance(losses, torch.Tensor) else losses
