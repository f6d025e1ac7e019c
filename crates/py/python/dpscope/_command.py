"""Commands of the program, with arrays in memory."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import os
import re
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard, Union

import numpy as np
import numpy.typing as npt

from dpscope import _native
from dpscope._native import DpscopeError

Path: TypeAlias = Union[str, "os.PathLike[str]"]
Array: TypeAlias = Union[npt.ArrayLike, Path]
Progress: TypeAlias = Callable[[int, int], object]
#: A run of a generator: data, columns with their kinds, seed, number of rows, output.
Release: TypeAlias = Callable[[str, "list[tuple[str, str]]", int, int, str], object]

#: Options that test the counts of a simulation.
_TESTING = ("claim", "claim_adjacency", "fail_above")
#: A command, or an option with its value or the name of one.
_OPTION = re.compile(
    r"`[^`]*`|--([a-z][a-z0-9-]*)(?:\.\.\.)?(?:[ =](<[^>]*>|FILE|DIR|[a-z0-9][a-z0-9.-]*[a-z0-9]|\d))?"
)


class DpscopeWarning(UserWarning):
    """A note of the program, about a protocol or a device for example."""


class Command:
    """A command with its options, which can be run again with further ones.

    `arrays` are the options whose values are arrays or files of them; `several` those that take more
    than one.
    """

    def __init__(
        self,
        name: str,
        options: Mapping[str, object] | None = None,
        *,
        arrays: Sequence[str] = (),
        several: Sequence[str] = (),
    ) -> None:
        self._name = name
        self.arguments: list[str] = []
        self._arrays = arrays
        self._several = several
        self._files: dict[str, bytes] = {}
        self._options = self._words(options or {})

    def set(self, option: str, value: object) -> None:
        """Sets an option."""
        self._options |= self._words({option: value})

    def has(self, option: str) -> bool:
        """Whether an option is set."""
        return bool(self._options.get(option))

    def add_arguments(self, *words: Path) -> None:
        """Adds words after the options."""
        self.arguments += [os.fspath(word) for word in words]

    def add_file(self, name: str, content: bytes) -> None:
        """Adds a file in memory after the options."""
        self.arguments.append(name)
        self.keep_file(name, content)

    def keep_file(self, name: str, content: bytes) -> None:
        """Keeps a file in memory, which an option names."""
        self._files[name] = content

    def add_table(self, name: str, table: object) -> None:
        """Adds a csv file after the options, or its rows."""
        if isinstance(table, (str, os.PathLike)):
            self.add_arguments(table)
        else:
            self.add_file(name, _csv(name, table))  # type: ignore[arg-type]

    def document(self, progress: Progress | None = None) -> dict[str, Any]:
        """The document of `--json`."""
        return json.loads(self._noted({}, [], progress)[0])  # type: ignore[no-any-return]

    def document_with_counts(self, progress: Progress | None) -> dict[str, Any]:
        """The document of a simulation, which is not simulated again: its counts are tested."""
        counts = "counts.json"
        text, files = self._noted({"out": counts}, [counts], progress)
        self._name, self.arguments, self._files = "merge", [counts], files
        self._options = {name: self._options.get(name, []) for name in _TESTING}
        return json.loads(text)  # type: ignore[no-any-return]

    def document_with(
        self, files: Mapping[str, str], progress: Progress | None = None
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The document, and what options write to files of these names, by option."""
        text, written = self._noted(files, list(files.values()), progress)
        return json.loads(text), {option: written[name] for option, name in files.items()}

    def text(self, progress: Progress | None = None, release: Release | None = None) -> str:
        """What a command prints without `--json`; `release` executes runs of a generator."""
        return self._noted({}, [], progress, form=(), release=release)[0]

    def again(self, options: Mapping[str, object]) -> dict[str, Any]:
        """The document with further options."""
        return json.loads(self._run(options, [])[0])  # type: ignore[no-any-return]

    def written(self, option: str, name: str) -> str:
        """The text that an option writes to a file of this name."""
        return self._run({option: name}, [name])[1][name].decode()

    def _noted(
        self,
        options: Mapping[str, object],
        outputs: Sequence[str],
        progress: Progress | None,
        form: Sequence[str] = ("--json",),
        release: Release | None = None,
    ) -> tuple[str, dict[str, bytes]]:
        """What is printed and written; notes are warnings where the public function is called."""
        text, files, notes = self._run(options, outputs, progress, form, release)
        for note in notes:
            warnings.warn(with_keywords(note), DpscopeWarning, stacklevel=5)
        return text, files

    def _run(
        self,
        options: Mapping[str, object],
        outputs: Sequence[str],
        progress: Progress | None = None,
        form: Sequence[str] = ("--json",),
        release: Release | None = None,
    ) -> tuple[str, dict[str, bytes], list[str]]:
        _silence_device_select()
        words = {**self._options, **self._words(options)}.values()
        line = [*self._name.split(), *form, *itertools.chain(*words), "--", *self.arguments]
        try:
            return _native.run(line, list(self._files.items()), outputs, progress, release)
        except DpscopeError as error:
            raise DpscopeError(with_keywords(str(error))) from None

    def _words(self, options: Mapping[str, object]) -> dict[str, list[str]]:
        return {name: list(self._option(name, value)) for name, value in options.items()}

    def _option(self, name: str, value: object) -> Iterator[str]:
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            return
        if value is True:
            yield flag
        elif name in self._arrays:
            for path in self._paths(name, value):
                yield f"{flag}={path}"
        elif isinstance(value, (list, tuple)) and all(map(_is_number, value)):
            yield f"{flag}={','.join(_text(name, one) for one in value)}"
        elif isinstance(value, (list, tuple)):
            for one in value:
                yield f"{flag}={_text(name, one)}"
        else:
            yield f"{flag}={_text(name, value)}"

    def _paths(self, name: str, value: object) -> Iterator[str]:
        """Files of an option; arrays become files in memory."""
        if isinstance(value, (str, os.PathLike)):
            path = os.fspath(value)
            # not the array of this name
            yield os.path.join(os.curdir, path) if path in self._arrays else path
        elif name in self._several and _has_several(value):
            for index, one in enumerate(value):
                if isinstance(one, (str, os.PathLike)):
                    yield from self._paths(name, one)
                else:
                    yield self._keep(f"{name}[{index}]", one)
        else:
            yield self._keep(name, value)

    def _keep(self, name: str, value: object) -> str:
        is_npz = isinstance(value, Mapping) and value
        self._files[name] = npz_of(name, value) if is_npz else _npy(name, value)  # type: ignore[arg-type]
        return name


def _silence_device_select() -> None:
    """Disables a layer of Mesa, as the program does: without a desktop it prints an error."""
    configured = ("XDG_RUNTIME_DIR", "MESA_VK_DEVICE_SELECT", "DRI_PRIME")
    if sys.platform == "linux" and not any(map(os.environ.get, configured)):
        os.environ.setdefault("NODEVICE_SELECT", "1")


def _has_several(value: object) -> TypeGuard[Sequence[object]]:
    """Whether it is a list of arrays or files, and not of numbers."""
    kinds = (str, os.PathLike, np.ndarray)
    return isinstance(value, (list, tuple)) and any(isinstance(one, kinds) for one in value)


def npz_of(name: str, arrays: Mapping[str, object]) -> bytes:
    """Named arrays of real numbers in the format npz."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry, value in arrays.items():
            archive.writestr(f"{entry}.npy", _npy(f"{name}[{entry!r}]", value))
    return buffer.getvalue()


def _npy(name: str, value: object) -> bytes:
    """An array of real numbers in the format npy, which keeps every bit."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; pass the values that are valid")
    try:
        array = np.asarray(value)
    except (RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{name} is not an array: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} has dtype {array.dtype}; expected real numbers, such as numpy.float64"
        )
    most = _native.readable_bytes()
    if array.nbytes > most:  # before a copy: an array made by broadcasting takes no memory itself
        raise ValueError(
            f"{name} has {array.size} numbers, {array.nbytes} bytes, more than the limit of {most} bytes "
            "on this machine; pass fewer"
        )
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _csv(name: str, rows: Sequence[Mapping[str, object]]) -> bytes:
    """Rows as a csv file, whose numbers keep every bit."""
    columns = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        cells = [row.get(column) for column in columns]
        writer.writerow(["" if cell is None else _text(name, cell) for cell in cells])
    return text.getvalue().encode()


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating))


def _text(name: str, value: object) -> str:
    """A value as on a command line, to the last bit."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    raise TypeError(f"{name} is of type {type(value).__name__}; expected a number or a string")


def with_keywords(message: str) -> str:
    """A message of the program with keywords in place of options, except in commands.

    `--sampler shuffle` becomes `sampler="shuffle"`, `--steps 10` becomes `steps=10`.
    """

    def keyword(option: re.Match[str]) -> str:
        if option[1] is None:
            return option[0]
        name, value = option[1].replace("-", "_"), option[2]
        if value is None or value.startswith("<") or value in ("FILE", "DIR"):
            return name
        if value in _choices().get(name, ()):
            return f'{name}="{value}"'
        is_number = value.replace(".", "", 1).isdigit()
        return f"{name}={value}" if is_number else name + option[0][option.start(2) - option.start() - 1 :]

    return _OPTION.sub(keyword, message)


@functools.cache
def option_table() -> list[dict[str, Any]]:
    """The options of every command of the program."""
    return json.loads(_native.option_table())  # type: ignore[no-any-return]


@functools.cache
def _choices() -> dict[str, set[str]]:
    """The choices of every option of the program, by keyword."""
    found: dict[str, set[str]] = {}
    for command in option_table():
        for option in command["options"]:
            names = {choice["name"] for choice in option["choices"]}
            found.setdefault(option["name"], set()).update(names)
    return found
