"""How a loader draws batches, by drawing them: no record is loaded."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpscope import _native
from dpscope._native import DpscopeError
from dpscope._results import Check, Result
from dpscope._theory import check

#: Maps a batch to the numbers of its records.
Records = Callable[[Any], "npt.ArrayLike"]

_MOST_NUMBER = 2**32 - 1


class LoaderCheck(Result):
    """The sampler that a loader's batches fit, with what shows it."""

    @property
    def headline(self) -> str:
        return str(self._report["sentence"])

    @property
    def sampler(self) -> dict[str, Any]:
        """The `name` of the sampler, and what is known of it, such as `least_buffer`."""
        return dict(self._report["sampler"])

    @property
    def evidence(self) -> str:
        """`facts` if they show the sampler, `rejection` if tests reject those before it,
        `not-rejected` if no test rejects it, which proves nothing."""
        return str(self._report["evidence"])

    @property
    def facts(self) -> dict[str, Any]:
        """What holds for all epochs that were drawn."""
        return dict(self.report()["facts"])

    @property
    def tests(self) -> list[dict[str, Any]]:
        """Tests with `name`, `statistic`, two-sided `p` and the level `significance`."""
        return list(self.report()["tests"])

    @property
    def loader(self) -> str | None:
        """The name of the batches for `dpscope.check`, if it knows them."""
        loader: str | None = self._report["loader"]
        return loader

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What accountants do not assume, each with `code`, `severity` and `sentence`."""
        return list(self.report()["findings"])

    def check(self, **options: Any) -> Check:
        """`dpscope.check` with these batches; options replace what was drawn."""
        known = self._report["options"]
        if known is None and "loader" not in options:
            raise DpscopeError(
                f"no accountant is known for these batches ({self.sampler['name']}); pass loader, for "
                'example "unknown"'
            )
        return check(**{**(known or {}), **options})

    def __str__(self) -> str:
        facts = self._report["facts"]
        shown = [
            name.replace("_", " ") + ("" if value is True else f" {value}")
            for name, value in facts.items()
            if value is not None and value is not False
        ]
        lines = [f"{self.sampler['name']}: {self.headline}", "facts: " + ", ".join(shown)]
        for finding in self._report["findings"]:
            if finding["sentence"] != self.headline:
                lines.append(f"{finding['severity']}: {finding['sentence']}")
        return "\n".join(lines)


def check_loader(
    loader: Any,
    *,
    epochs: int = 20,
    records: Records | None = None,
    rate: float | None = None,
    dataset_size: int | None = None,
) -> LoaderCheck:
    """Draw the batches of a loader over several epochs, and find the sampler that they fit.

    No record is loaded: of a `torch` or Opacus `DataLoader`, only `batch_sampler` is iterated. A
    loader that depends on its epoch, such as one with a `DistributedSampler`, has to set it where it is
    iterated.

    Parameters
    ----------
    loader
        A loader, or a function that makes one. A function is called twice: loaders that draw the
        same batches have a fixed seed.
    epochs
        How often the loader is iterated, at least twice.
    records
        Maps a batch to the numbers of its records, 0 to `dataset_size` - 1; the loader itself is
        iterated then. Needed for a loader without `batch_sampler`.
    rate
        Stated probability with which a batch contains a record, for Poisson batches.
    dataset_size
        Records in the data set [default: len(loader.dataset)].

    Examples
    --------
    >>> class Loader:
    ...     dataset = range(60)
    ...     batch_sampler = [range(start, start + 10) for start in range(0, 60, 10)]
    >>> found = check_loader(Loader())
    >>> found.sampler["name"], found.loader
    ('deterministic', 'deterministic')
    """
    epochs = operator.index(epochs)
    if hasattr(loader, "batch_sampler") or not callable(loader):
        first, drawn = loader, _draw(loader, epochs, records, dataset_size)
        repeated = None
    else:
        first, second = loader(), loader()
        if first is second:
            raise DpscopeError(
                "the function returned one loader twice; make a new one in each call"
            )
        drawn = _draw(first, epochs, records, dataset_size)
        repeated = drawn == _draw(second, epochs, records, dataset_size)
    size = _dataset_size(first, dataset_size)
    lists = (drawn.records, drawn.sizes, drawn.batches)
    document = _native.check_loader(*lists, size, None if rate is None else float(rate), repeated)
    return LoaderCheck(json.loads(document))


@dataclass
class _Drawn:
    """Record numbers, batch sizes and batches per epoch: 32 bits each, in little-endian order."""

    records: bytes
    sizes: bytes
    batches: bytes


def _draw(loader: Any, epochs: int, records: Records | None, dataset_size: int | None) -> _Drawn:
    """The record numbers of the batches of all epochs."""
    source = _source(loader, records)
    most = 100 * _dataset_size(loader, dataset_size) + 1_000_000
    numbers: list[bytes] = []
    sizes: list[int] = []
    batches: list[int] = []
    for epoch in range(1, epochs + 1):
        drawn: list[npt.NDArray[Any]] = []
        count = 0
        for batch in source:
            place = f"batch {len(drawn) + 1} of epoch {epoch}"
            drawn.append(_numbers(batch if records is None else records(batch), place))
            count += drawn[-1].size
            if count + len(drawn) > most:
                raise DpscopeError(
                    f"epoch {epoch} has no end after {len(drawn)} batches; pass a loader whose epochs end"
                )
        numbers.append(np.concatenate(drawn).tobytes() if drawn else b"")
        sizes += [batch.size for batch in drawn]
        batches.append(len(drawn))
    return _Drawn(b"".join(numbers), _bytes(sizes), _bytes(batches))


def _source(loader: Any, records: Records | None) -> Iterable[Any]:
    """What is iterated in each epoch."""
    dataset = getattr(loader, "dataset", None)
    remedy = "pass records, a function that maps a batch to record numbers, and dataset_size"
    if records is not None:
        source = loader
    elif any(base.__name__ == "IterableDataset" for base in type(dataset).__mro__):
        raise DpscopeError(
            f"loader has an IterableDataset, whose records have no numbers; {remedy}"
        )
    elif not hasattr(loader, "batch_sampler"):
        raise DpscopeError(f"loader has no batch_sampler; {remedy}")
    elif loader.batch_sampler is None:
        raise DpscopeError(
            f"loader forms no batches (batch_size=None); pass batch_size, or {remedy}"
        )
    else:
        source = loader.batch_sampler
    if isinstance(source, Iterable) and not isinstance(source, Iterator):
        return source
    raise DpscopeError(
        "loader does not start again in each epoch: its batches are an iterator; pass one whose __iter__ "
        "starts an epoch"
    )


def _numbers(batch: npt.ArrayLike, place: str) -> npt.NDArray[Any]:
    """The record numbers of a batch."""
    numbers = np.asarray(batch)
    if numbers.size == 0:
        return np.empty(0, "<u4")
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise DpscopeError(
            f"{place} is an array of shape {numbers.shape} and dtype {numbers.dtype}; expected a list of "
            "record numbers: pass records, which maps a batch to them"
        )
    least, most = int(numbers.min()), int(numbers.max())
    if least < 0 or most > _MOST_NUMBER:
        wrong = least if least < 0 else most
        raise DpscopeError(f"{place} contains record {wrong}; records have the numbers 0 to n - 1")
    return numbers.astype("<u4")


def _bytes(numbers: list[int]) -> bytes:
    return np.array(numbers, "<u4").tobytes()


def _dataset_size(loader: Any, dataset_size: int | None) -> int:
    if dataset_size is not None:
        size = operator.index(dataset_size)
    else:
        try:
            size = len(loader.dataset)
        except (AttributeError, TypeError):
            raise DpscopeError(
                "loader has no dataset with a length; pass dataset_size, the number of records"
            ) from None
    if size < 2:
        raise DpscopeError(f"dataset_size is {size}; it must be at least 2")
    return size
