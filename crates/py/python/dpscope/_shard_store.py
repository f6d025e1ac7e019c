"""The files of a run in shards, in a store of fsspec."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
import uuid
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

from dpscope._native import DpscopeError

_T = TypeVar("_T")

#: Seconds between attempts at an operation that failed.
PAUSES = (0.5, 1.0, 2.0)

#: Before a path on a disk.
_LOCAL = re.compile(r"^(file|local):(//)?")


class StoreError(RuntimeError):
    """A store that fails again and again. What was written before is still there."""


class Store:
    """A folder in a store of fsspec: a path, or an address such as s3://bucket/run."""

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        self.url = url
        self._options = dict(options or {})
        try:
            self._fs, self._folder = import_module("fsspec.core").url_to_fs(url, **self._options)
        except ImportError as error:
            raise ImportError(f"{error}; `pip install dpscope[ray]`, with the package of the store")
        except ValueError as error:
            raise DpscopeError(f"storage is {url!r}: {error}") from None
        protocol = self._fs.protocol
        self._protocols = {protocol} if isinstance(protocol, str) else set(protocol)
        if "file" in self._protocols and not _is_absolute(_LOCAL.sub("", url)):
            raise DpscopeError(
                f"storage is {url!r}, which is another folder on each node; pass an absolute path, "
                "or an address such as s3://bucket/run"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.url, self._options)

    @property
    def is_of_one_process(self) -> bool:
        """Whether other processes do not see what is written."""
        return "memory" in self._protocols

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""

        def read() -> bytes | None:
            try:
                return bytes(self._fs.cat_file(self._path(name)))
            except FileNotFoundError:
                return None

        return self._attempt(f"cannot read {name}", read)

    def write(self, name: str, content: bytes, *, check: bool = False) -> None:
        """Replaces a file as a whole; `check` reads it back."""

        def write() -> None:
            if "file" in self._protocols:
                self._put(name, content, os.replace)
            else:  # one request, which object stores take as a whole or not at all
                self._fs.pipe_file(self._path(name), content)
            if check and bytes(self._fs.cat_file(self._path(name))) != content:
                raise OSError("what was read back is not what was written")

        self._attempt(f"cannot write {name}", write)

    def create(self, name: str, content: bytes) -> None:
        """Writes a file unless it is there. A store without conditional writes
        replaces it, so read it back afterwards."""

        def create() -> None:
            with contextlib.suppress(FileExistsError):
                self._create(name, content)

        self._attempt(f"cannot write {name}", create)

    def names(self) -> list[str]:
        """Names of the files."""

        def names() -> list[str]:
            self._fs.invalidate_cache()
            try:
                found = self._fs.ls(self._folder, detail=False)
            except FileNotFoundError:
                return []
            return sorted(path.rstrip("/").rsplit("/", 1)[-1] for path in found)

        return self._attempt("cannot list the files", names)

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def _create(self, name: str, content: bytes) -> None:
        path = self._path(name)
        if "file" in self._protocols:
            self._put(name, content, _link)
            return
        try:
            self._fs.pipe_file(path, content, mode="create")
        except OSError as error:  # a server without conditional writes
            if error.errno != errno.ENOSYS:
                raise
            self._fs.pipe_file(path, content)

    def _put(self, name: str, content: bytes, move: Callable[[str, str], object]) -> None:
        """A file on a disk: nobody sees a part of it."""
        os.makedirs(self._folder, exist_ok=True)
        part = self._path(f".{name}.{uuid.uuid4().hex}")
        try:
            with open(part, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            move(part, self._path(name))
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.remove(part)

    def _attempt(self, what: str, operation: Callable[[], _T]) -> _T:
        for pause in (*PAUSES, None):
            try:
                return operation()
            except Exception as error:  # stores raise errors of their own
                if pause is None:
                    reason = f"{type(error).__name__}: {error}"
                    raise StoreError(f"{self.url}: {what}: {reason}") from error
                time.sleep(pause)
        raise AssertionError  # the last attempt returns or raises


def _link(part: str, path: str) -> None:
    """Gives a file its name, unless the name is taken."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # of a file system without links
        _rename(part, path)


def _rename(part: str, path: str) -> None:
    """The same with a folder as a lock, so that nobody sees a part of the file."""
    lock = f"{path}.lock"
    try:
        os.mkdir(lock)
    except FileExistsError:
        if os.path.exists(path):
            raise
        raise OSError(f"{lock} is there; remove it unless another call is starting") from None
    try:
        if os.path.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        os.replace(part, path)
    finally:
        os.rmdir(lock)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "\\")) or os.path.isabs(path)
