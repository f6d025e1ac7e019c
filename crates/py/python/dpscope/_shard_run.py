"""A run in shards: which audit it is, and one shard of it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dpscope import _native
from dpscope._native import DpscopeError
from dpscope._shard_store import Store, StoreError

#: The file that says which run the others belong to.
RUN = "run.json"
SCHEMA = "dpscope.ray_run/1"

_SHARD = re.compile(r"shard-[0-9]+\.json")
#: What the program says of a file that is cut or changed.
_DAMAGED = re.compile("checksum does not match|not a dpscope artefact")


def shard_name(number: int) -> str:
    """The file of a shard; unfinished, it is the checkpoint."""
    return f"shard-{number}.json"


@dataclass(frozen=True)
class ShardedRun:
    """An audit that is run in shards, numbered from 1."""

    audit: tuple[str, ...]
    shards: int
    cpus: int = 1
    #: Of the package, which all nodes need.
    version: str = _native.__version__
    #: Seconds between two checkpoints of a shard in the store.
    checkpoint_every: float = 5.0

    def opened(self, store: Store, has_seed: bool) -> ShardedRun:
        """The run of a folder: the one that is there, with its seed, or this one."""
        here = self._document()
        text = store.read(RUN)
        if text is None:
            if any(map(_SHARD.fullmatch, store.names())):
                raise DpscopeError(
                    f"storage {store.url} has shards without {RUN}, of another run; choose another "
                    "folder"
                )
            store.create(RUN, json.dumps(here, indent=2).encode())
            text = store.read(RUN) or b""  # of another call that started with this one, perhaps
        try:
            there = _parsed(text)
            if not has_seed:
                here["audit"] = _with_seed(self.audit, _seed(there["audit"]))
        except (IndexError, ValueError):
            raise DpscopeError(
                f"storage {store.url}: {RUN} is damaged; choose another folder"
            ) from None
        if there != here:
            differing = [name for name in here if here[name] != there.get(name)]
            theirs = "; ".join(f"{name} {_shown(there.get(name))}" for name in differing)
            raise DpscopeError(
                f"storage {store.url} has another run ({theirs}); choose another folder, or repeat "
                "that run"
            )
        return replace(self, audit=tuple(here["audit"]))

    def check(self, store: Store) -> None:
        """Raises an error unless the store of this node has this run."""
        text = store.read(RUN)
        if text is None:
            raise StoreError(
                f"{store.url}: node {platform.node()} sees no {RUN} there; all nodes must share the "
                "folder"
            )
        try:
            is_this = _parsed(text) == self._document()
        except ValueError:
            is_this = False
        if not is_this:
            raise StoreError(
                f"{store.url}: node {platform.node()} sees another run there; all nodes must share "
                "the folder, and no other call may use it"
            )

    def _document(self) -> dict[str, Any]:
        """What is in run.json."""
        return {
            "schema": SCHEMA,
            "version": self.version,
            "audit": list(self.audit),
            "shards": self.shards,
        }

    def compute(
        self,
        number: int,
        saved: bytes | None,
        report: Callable[[int, int], object],
        save: Callable[[bytes], object] | None = None,
        note: Callable[[str], object] = print,
    ) -> bytes:
        """Computes a shard from its saved state, and returns the file for `dpscope merge`."""
        if self.version != _native.__version__:
            raise DpscopeError(
                f"this node has dpscope {_native.__version__}, and the run is of {self.version}; "
                "install one version on all nodes"
            )
        # A command that is stopped may write once more.
        with tempfile.TemporaryDirectory(prefix="dpscope-", ignore_cleanup_errors=True) as folder:
            path = os.path.join(folder, shard_name(number))
            if saved is not None:
                write_file(path, saved)
            saving = _Saving(path, self.checkpoint_every, save)

            def progress(done: int, total: int) -> None:
                report(done, total)
                saving.later()

            try:
                self._execute(number, path, progress)
            except DpscopeError as error:
                if saved is None or not _DAMAGED.search(str(error)):
                    raise
                reason = str(error).split(": ", 1)[-1]  # without the path of the copy
                note(f"shard {number} is damaged in the store and is computed again: {reason}")
                os.remove(path)
                self._execute(number, path, progress)
            return _read(path)

    def _execute(self, number: int, path: str, progress: Callable[[int, int], None]) -> None:
        own = ["--threads", str(self.cpus), "--shard", f"{number}/{self.shards}"]
        _native.run([*self.audit, *own, "--checkpoint", path, "--json"], [], [], progress)


class _Saving:
    """Saves the state of a shard from time to time."""

    def __init__(self, path: str, every: float, save: Callable[[bytes], object] | None) -> None:
        self._path, self._every, self._save = path, every, save
        self._due = time.monotonic() + every

    def later(self) -> None:
        if self._save is None or time.monotonic() < self._due or not os.path.exists(self._path):
            return
        self._save(_read(self._path))
        self._due = time.monotonic() + self._every


def digest(content: bytes) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write_file(path: str, content: bytes) -> None:
    """Writes a file of this machine."""
    with open(path, "wb") as file:
        file.write(content)


def _parsed(text: bytes) -> dict[str, Any]:
    """What is in run.json; a ValueError if it is damaged."""
    try:
        document = json.loads(text)
    except RecursionError:
        raise ValueError from None
    audit = document.get("audit") if isinstance(document, dict) else None
    if not isinstance(audit, list) or not all(isinstance(word, str) for word in audit):
        raise ValueError
    return document  # type: ignore[no-any-return]


def _seed(audit: list[str]) -> str:
    return audit[audit.index("--seed") + 1]


def _with_seed(audit: tuple[str, ...], seed: str) -> list[str]:
    words = list(audit)
    words[words.index("--seed") + 1] = seed
    return words


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
