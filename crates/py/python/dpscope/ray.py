"""Audits in shards on a cluster of Ray (`pip install dpscope[ray]`).

Each shard is a task. Ray starts nodes, retries tasks and moves them from lost nodes; a task that is
retried continues from its checkpoint in the store. All nodes need this package in the same version.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dpscope._command import Command
from dpscope._launch import ShardedAudit, launch
from dpscope._native import DpscopeError
from dpscope._results import Audit
from dpscope._shard_run import ShardedRun, digest, shard_name, write_file
from dpscope._shard_store import Store, StoreError

__all__ = ["ClusterError", "Progress", "StoreError", "run"]

#: Seconds between looks at the tasks, and between lines of progress.
_PAUSE = 1.0
_SHOWN_EVERY = 10.0
#: Failed connections in a row after which the cluster counts as lost.
_MOST_MISSED = 10
#: How often shards that are missing or damaged in the store are computed again.
_MOST_REPAIRS = 3
#: Options of the report that concern what a program prints.
_PRINTED = ("json", "format", "brief", "quiet", "metrics")


class ClusterError(RuntimeError):
    """A cluster that is gone, or a shard that failed more often than Ray retries it."""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    shards_done: int
    shards: int
    results_done: int
    """Observations, or runs, of the shards that this call computes; what a lost task repeats counts
    once."""
    results: int
    """The same in all, of those that have begun."""
    per_second: float
    """Since the start of this call."""

    def __str__(self) -> str:
        return (
            f"{self.shards_done} of {self.shards} shards are finished; {self.results_done:.3g} of "
            f"{self.results:.3g} results in those that have begun, {self.per_second:.3g}/s"
        )


def run(
    audit: ShardedAudit,
    *,
    storage: str,
    storage_options: Mapping[str, Any] | None = None,
    shards: int = 16,
    device: str | None = None,
    cpus_per_shard: int = 1,
    checkpoint_every: float = 5.0,
    max_retries: int = 10,
    progress: Callable[[Progress], object] | None = None,
) -> Audit:
    """Run an audit in shards on the cluster that Ray is connected to, and merge them.

    A second call with the same storage continues the run, whatever ended the first one. A call
    for a different run with the same storage is rejected. On a disk, or in a store with conditional
    writes, this holds even if both start at the same time; elsewhere one of the two may fail only
    when its shards start.

    Parameters
    ----------
    audit
        A result of `plan_bgm` that names mechanism and size, a file of `dpscope plan --json`, or a
        command such as "audit bgm --noise-multiplier 1 --steps 100 --observations 1e9". Files that it
        names must be on all nodes.
    storage, storage_options
        Folder in a store of fsspec that all nodes reach, such as "s3://bucket/run" or the absolute
        path of a shared folder, and options of that store. With "memory://run", states are in this
        process alone.
    shards, cpus_per_shard
        Number of shards, and CPU cores of each.
    device
        Device of each shard: "cpu", "gpu", or part of the name of a GPU; with a GPU, each shard
        reserves one (`num_gpus`) [default: that of the audit, or "cpu"]. All tasks on a node use
        the first GPU that the driver lists, so use nodes with one GPU each.
    checkpoint_every
        Seconds between two checkpoints of a shard in the store.
    max_retries
        How often Ray repeats a shard whose worker or node is lost.
    progress
        Called about once per second with a `Progress` [default: prints one line every 10 s].

    Raises
    ------
    StoreError
        The store failed several times. Finished shards and checkpoints are in it.
    ClusterError
        The cluster is gone, or a shard failed too often.
    DpscopeError
        A wrong audit, or a storage with another run.

    Examples
    --------
    >>> import dpscope.ray
    >>> audit = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e9 --claim 3"
    >>> dpscope.ray.run(audit, storage="s3://bucket/run", shards=64)  # doctest: +SKIP
    <Audit: ε ≥ 3.7571 at δ = 1e-5, with 95 % confidence>
    """
    ray = import_module("ray")
    options = {"shards": shards, "cpus_per_shard": cpus_per_shard, "storage": storage}
    document = launch(Command("launch ray", options | {"device": device}), audit).report()
    store = Store(storage, storage_options)
    planned = ShardedRun(
        tuple(document["audit"]), shards, cpus_per_shard, checkpoint_every=checkpoint_every
    )
    opened = planned.opened(store, _has_seed(audit))
    if not ray.is_initialized():
        ray.init()
    gpus = 0 if document["device"] == "cpu" else 1
    driver = _Driver(ray, opened, store, max_retries, progress, gpus)

    def merge() -> Audit | dict[int, str]:
        return _merged(opened, store, driver.digests, document["merge_options"])

    return _completed(driver.compute, merge, range(1, shards + 1), store.url)


class _Driver:
    """Runs shards as tasks and watches them."""

    def __init__(
        self,
        ray: Any,
        opened: ShardedRun,
        store: Store,
        max_retries: int,
        progress: Callable[[Progress], object] | None,
        gpus: int = 0,
    ) -> None:
        self._ray, self._run, self._store = ray, opened, store
        self._progress = progress or _Printer()
        self.digests: dict[int, str] = {}
        self._cluster = _Cluster(ray)
        task = ray.remote(_compute)
        self._task = task.options(num_cpus=opened.cpus, num_gpus=gpus, max_retries=max_retries)
        collector = ray.remote(_Collector).options(num_cpus=0, max_restarts=-1)
        self._collector = collector.remote()
        self._started = time.monotonic()
        self._steps: dict[int, tuple[int, int]] = {}
        self._resumed: dict[int, int] = {}

    def compute(self, numbers: Iterable[int]) -> None:
        """Computes these shards; finished ones take a moment."""
        pending = {self._submitted(number): number for number in numbers}
        try:
            while pending:
                references = list(pending)
                most = len(references)
                ready, _ = self._ray.wait(references, num_returns=most, timeout=_PAUSE)
                for reference in ready:
                    self._finish(reference, pending[reference])
                    del pending[reference]
                self._show()
                if pending:
                    self._cluster.check(self._where())
        except (StoreError, ClusterError):
            raise
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            raise ClusterError(f"the cluster failed: {error}; {self._where()}") from error
        finally:
            self._cancel(pending)

    def _submitted(self, number: int) -> Any:
        store, saved = self._store, None
        if self._store.is_of_one_process:
            saved, store = self._store.read(shard_name(number)), None  # type: ignore[assignment]
        return self._task.remote(self._run, number, store, saved, self._collector)

    def _finish(self, reference: Any, number: int) -> None:
        try:
            content, found = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, StoreError):
                raise StoreError(f"{cause}; {self._where()}") from None
            if isinstance(cause, DpscopeError):
                raise DpscopeError(f"shard {number}: {cause}; {self._where()}") from None
            reason = str(cause).partition("\n")[0]
            if "No module named 'dpscope'" in reason:
                reason = "a node has no dpscope: install it there in the same version"
            raise ClusterError(f"shard {number} failed: {reason}; {self._where()}") from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(f"shard {number} failed: {error}; {self._where()}") from error
        if content is not None:
            self._store.write(shard_name(number), content)
        self.digests[number] = found
        if number in self._steps:
            total = self._steps[number][1]
            self._steps[number] = (total, total)

    def _where(self) -> str:
        return (
            f"{len(self.digests)} of {self._run.shards} shards are finished in {self._store.url}; "
            "call again with this storage to continue"
        )

    def _show(self) -> None:
        try:
            self._note(self._ray.get(self._collector.state.remote(), timeout=_PAUSE))
        except self._ray.exceptions.RayError:
            pass  # a lost node, or one that is busy: what was known before is shown
        done = sum(done for done, _ in self._steps.values())
        total = sum(total for _, total in self._steps.values())
        fresh = max(done - sum(self._resumed.values()), 0)
        seconds = max(time.monotonic() - self._started, 1e-3)
        shards_done = len(self.digests)
        self._progress(Progress(shards_done, self._run.shards, done, total, fresh / seconds))

    def _note(self, steps: Mapping[int, tuple[int, int, int]]) -> None:
        for number, (first, done, total) in steps.items():
            self._resumed.setdefault(number, first)
            known = self._steps.get(number, (0, 0))
            self._steps[number] = max(known, (done, total))

    def _cancel(self, pending: Mapping[Any, int]) -> None:
        if not self._cluster.is_lost:
            for reference in pending:
                with contextlib.suppress(Exception):  # the error that ended the run is raised
                    self._ray.cancel(reference, force=True)


class _Cluster:
    """Watches whether the head of the cluster answers: Ray itself ends this process after a minute."""

    def __init__(self, ray: Any) -> None:
        is_client = ray.util.client.ray.is_connected()
        address = None if is_client else ray.get_runtime_context().gcs_address
        self._address = address
        self._missed = 0

    @property
    def is_lost(self) -> bool:
        return self._missed >= _MOST_MISSED

    def check(self, where: str) -> None:
        if self._address is None:
            return
        host, port = self._address.rsplit(":", 1)
        try:
            address = (host.strip("[]"), int(port))  # without the brackets of IPv6
            socket.create_connection(address, timeout=_PAUSE).close()
            self._missed = 0
        except OSError:
            self._missed += 1
        if self.is_lost:
            raise ClusterError(f"the cluster at {self._address} does not answer; {where}")


class _Collector:
    """Progress of the shards, from all nodes."""

    def __init__(self) -> None:
        self._shards: dict[int, tuple[int, int, int]] = {}

    def put(self, number: int, first: int, done: int, total: int) -> None:
        known = self._shards.get(number, (first,))[0]
        self._shards[number] = (known, done, total)

    def state(self) -> dict[int, tuple[int, int, int]]:
        """The first count, the last one and the total of each shard."""
        return self._shards


class _Printer:
    """Prints a line on stderr from time to time."""

    def __init__(self) -> None:
        self._due = time.monotonic() + _SHOWN_EVERY

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() >= self._due or progress.shards_done == progress.shards:
            _print(str(progress))
            self._due = time.monotonic() + _SHOWN_EVERY


def _compute(
    run: ShardedRun, number: int, store: Store | None, saved: bytes | None, collector: Any
) -> tuple[bytes | None, str]:
    """A task: a shard, whose file is saved in the store, or returned where there is none."""
    reported = 0.0
    name = shard_name(number)
    if store is not None:
        run.check(store)
        saved = store.read(name)

    def report(done: int, total: int) -> None:
        nonlocal reported
        if done == total or time.monotonic() - reported >= _PAUSE:
            first = 0 if saved is None else done  # what a checkpoint counts is not known
            collector.put.remote(number, first, done, total)
            reported = time.monotonic()

    if store is None:
        content = run.compute(number, saved, report)
        return content, digest(content)
    content = run.compute(number, saved, report, lambda state: store.write(name, state))
    if content != saved:
        store.write(name, content, check=True)
    return None, digest(content)


def _completed(
    compute: Callable[[Iterable[int]], object],
    merge: Callable[[], Audit | dict[int, str]],
    numbers: Iterable[int],
    url: str,
) -> Audit:
    """Computes and merges shards; those that are not what was written are computed again."""
    compute(numbers)
    merged = merge()
    for _ in range(_MOST_REPAIRS):
        if isinstance(merged, Audit):
            return merged
        for number, state in merged.items():
            _print(f"shard {number} is {state} in {url} and is computed again")
        compute(merged)
        merged = merge()
    if isinstance(merged, Audit):
        return merged
    found = ", ".join(f"shard {number} is {state}" for number, state in merged.items())
    raise StoreError(f"{url}: after {_MOST_REPAIRS} repairs, {found}")


def _merged(
    run: ShardedRun, store: Store, digests: Mapping[int, str], given: Mapping[str, list[str]]
) -> Audit | dict[int, str]:
    """The audit of all shards, or what is wrong with those that are not what was written."""
    named = {name.replace("-", "_"): values for name, values in given.items() if name not in _PRINTED}
    options: dict[str, Any] = {name: values or True for name, values in named.items()}
    with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
        paths, wrong = [], {}
        for number in range(1, run.shards + 1):
            content = store.read(shard_name(number))
            if content is None or digest(content) != digests[number]:
                wrong[number] = "missing" if content is None else "damaged"
                continue
            paths.append(os.path.join(folder, shard_name(number)))
            write_file(paths[-1], content)
        if wrong:
            return wrong
        command = Command("merge", options)
        command.add_arguments(*paths)
        if run.audit[1] == "pategan":  # its saved counts may exceed the size limit
            files = {"plot": "plot.svg", "report": "report.html"}
            report, drawn = command.document_with(files)
            for option in drawn.keys() & options.keys():
                _save(options[option][0], drawn[option])
            return Audit(report, command, {name: text.decode() for name, text in drawn.items()})
        return Audit(command.document_with_counts(None), command)


def _save(path: str, content: bytes) -> None:
    try:
        write_file(path, content)
    except OSError as error:
        raise DpscopeError(f"cannot write {path}: {error.strerror}") from None


def _has_seed(audit: ShardedAudit) -> bool:
    words = audit.split() if isinstance(audit, str) else audit
    if not isinstance(words, (list, tuple)):
        return False
    return any(str(word).split("=")[0] == "--seed" for word in words)


def _print(line: str) -> None:
    print(f"dpscope: {line}", file=sys.stderr, flush=True)
