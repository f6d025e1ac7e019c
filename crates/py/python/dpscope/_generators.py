"""Runs of the user's generator of synthetic rows, and the utility of its rows."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dpscope._command import Command, Path, Progress
from dpscope._results import Drawing, Result, _table

Table: TypeAlias = dict[str, npt.NDArray[Any]]
#: Takes a table and a seed; returns a table, as a mapping of columns or a data frame.
Generate: TypeAlias = Callable[[Table, int], Any]


def run_generator(
    folder: Path,
    generate: str | Generate,
    *,
    jobs: int | None = None,
    timeout: int | None = None,
    max_bytes: float | None = None,
    allow_failures: bool = False,
    progress: Progress | None = None,
) -> str:
    r"""Execute the runs of a generator in a folder; finished ones are skipped.

    Parameters
    ----------
    folder
        Folder that `plan_generator` or `canary_rows` wrote.
    generate
        A function `generate(table, seed)` that returns the released rows, or a `command` of the shell
        with {data}, {seed}, {out} and, if it needs it, {rows}, as `dpscope generator run --help` says.

        The table is a new dictionary of columns in each run: arrays of floats, of integers, or of the
        names of categories; `pandas.DataFrame(table)` is the same. What it returns has the same
        columns and the planned number of rows: a dictionary of arrays, or a data frame.
    jobs, timeout
        Of commands alone: runs at a time [default: one per core], and the seconds after which a run has
        failed [default: 3600]. A function is called on this thread, and cannot be ended.
    max_bytes
        Bytes that a run may write [default: 1e9].
    allow_failures
        Record failures even if the first 3 runs, or 20 in a row, fail in the same way. Otherwise such
        failures count as a mistake in `generate`, and use up no run of the plan.
    progress
        Called with the numbers of runs so far and in all. Ctrl-C and exceptions of `progress` stop
        the runs; call again to continue.

    Returns
    -------
    str
        Numbers of runs that are done, failed, and done after retries.

    Notes
    -----
    Runs must be independent of each other: fit anew in every run, keep nothing between runs, and draw
    all random numbers from `seed`. The first run is executed twice, and the audit reports if its
    rows differ. A function that raises an exception, or returns other columns, values out of bounds or
    another number of rows, has failed in this run. That is an output too: it is saved with its
    traceback, and the audit counts it.

    Raises
    ------
    DpscopeError
        The folder is not a plan, no run succeeded, or a file cannot be written.
    TypeError
        `generate` is neither a function nor a string, or has an option of commands.

    Examples
    --------
    >>> import dpscope, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> data, columns, audit = (folder / name for name in ("data.csv", "columns.toml", "audit"))
    >>> _ = data.write_text("x\n0\n0\n1\n")
    >>> _ = columns.write_text('[[columns]]\nname = "x"\nkind = "integer"\nlow = 0\nhigh = 1\n')
    >>> planned = dpscope.plan_generator(
    ...     claim=0.1, delta=0, data=data, columns=columns, target_row=2, rows=4, runs=60,
    ...     allow_duplicates=True, seed=1, out=audit,
    ... )
    >>> def resampled(table, seed):  # with no privacy at all
    ...     return {"x": np.random.default_rng(seed).choice(table["x"], size=4)}
    >>> print(run_generator(audit, resampled).splitlines()[1])
    with: 60 done, 0 failed, 0 after retries
    >>> dpscope.audit_generator(audit).verdict().outcome
    'refuted'
    """
    options: dict[str, object] = {
        "jobs": jobs,
        "timeout": timeout,
        "max_bytes": max_bytes,
        "allow_failures": allow_failures,
    }
    if isinstance(generate, str):
        command = Command("generator run", {**options, "command": generate}, arguments=[folder])
        return command.text(progress)
    if not callable(generate):
        raise TypeError(
            f"generate is of type {type(generate).__name__}; expected a function or a command"
        )
    for name in ("jobs", "timeout"):
        if options[name] is not None:
            raise TypeError(f"{name} has no effect on a function; leave it out, or pass a command")
    command = Command("generator run", {**options, "command": "function"}, arguments=[folder])
    return command.text(progress, _released_by(generate))


def _released_by(generate: Generate) -> Callable[[str, list[tuple[str, str]], int, int, str], None]:
    """Reads data, calls a function, and writes the rows that it returns."""

    def release(
        data: str, columns: list[tuple[str, str]], seed: int, rows: int, out: str
    ) -> None:
        _write_table(out, generate(_read_table(data, columns), seed))

    return release


def _read_table(path: str, columns: Sequence[tuple[str, str]]) -> Table:
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    table: Table = {}
    for name, kind in columns:
        cells = [row[name].strip() for row in rows]
        if kind == "category":
            table[name] = np.array(cells, dtype=str)
        else:
            numbers = np.array(cells, dtype=np.float64)
            table[name] = numbers.astype(np.int64) if kind == "integer" else numbers
    return table


def _write_table(path: str, table: Any) -> None:
    """A table as csv, whose numbers keep every bit."""
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise TypeError(
            f"generate returned {type(table).__name__}; expected a dictionary of columns or a data frame"
        )
    names = list(table) if isinstance(table, Mapping) else list(table.columns)
    for name in names:
        if isinstance(table[name], np.ma.MaskedArray):
            raise TypeError(
                f"generate returned column {name} as a masked array; return the values to release"
            )
    columns = [np.asarray(table[name]) for name in names]
    for name, column in zip(names, columns):
        if column.ndim != 1 or len(column) != len(columns[0]):
            shape = f"{column.shape}, and column {names[0]} {columns[0].shape}"
            raise ValueError(f"generate returned column {name} of shape {shape}; expected one length")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*(column.tolist() for column in columns)))


class Utility(Result):
    """What classifiers learn from released rows, beside ε."""

    def __init__(self, report: dict[str, Any], svg: str) -> None:
        self._report = report
        self._svg = svg

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One per folder: `name`, `claimed_epsilon` and `measured_epsilon` where they are known, and
        `auroc` and `auprc`, each with `mean`, `standard_error` between runs, and `maximum`, which is
        biased upward. `report()` also has what `real` rows are good for."""
        return list(self.report()["utility"]["generators"])

    @property
    def headline(self) -> str:
        utility = self._report["utility"]
        found = [f"{row['name']}: AUROC {row['auroc']['mean']:.3f}" for row in utility["generators"]]
        return f"{', '.join(found)} on {utility['tested_rows']} real rows"

    def svg(self) -> Drawing:
        """The drawing of `--plot`: utility against ε."""
        return Drawing(self._svg)

    def _repr_html_(self) -> str:
        columns = ("name", "claimed_epsilon", "measured_epsilon", "auroc", "auprc")
        means = {"auroc", "auprc"}
        rows = [
            {name: row[name]["mean"] if name in means else row.get(name) for name in columns}
            for row in self.rows
        ]
        return super()._repr_html_() + _table(rows, columns)


def generator_utility(
    folders: Path | Sequence[Path],
    *,
    test_data: Path,
    label: str,
    positive: str | None = None,
    runs: int | None = None,
    progress: Progress | None = None,
) -> Utility:
    """Train classifiers on the rows that generators released, and test them on real ones.

    Parameters
    ----------
    folders
        One or more folders with finished runs and equal columns; those of one generator with
        different ε show what privacy costs.
    test_data
        Real rows that no generator saw, csv: hold them out before `plan_generator`.
    label, positive
        Column of categories that classifiers predict, and the positive class
        [default: the last one].
    runs
        Runs of each folder that are tested, the first ones with the target row [default: 25].
    progress
        Called with the numbers of runs so far and in all. Ctrl-C and exceptions of `progress` stop it.

    Returns
    -------
    Utility
        Areas under the ROC and the precision-recall curve, in [0, 1]: means over four classifiers and
        all runs, estimates without coverage. A measured ε is a lower bound.

    Raises
    ------
    DpscopeError
        A folder has no finished runs, columns differ, the test data lack one of both classes, or all of
        them are among the data of the generator.

    Examples
    --------
    >>> generator_utility("no-folder", test_data="held_out.csv", label="ill")
    Traceback (most recent call last):
    dpscope.DpscopeError: no-folder/manifest.toml: cannot be read: No such file or directory (os error 2)
    """
    options = {"test_data": test_data, "label": label, "positive": positive, "runs": runs}
    several = [folders] if isinstance(folders, (str, os.PathLike)) else folders
    command = Command("generator utility", options, arguments=several)
    report, drawn = command.document_with({"plot": "utility.svg"}, progress)
    return Utility(report, drawn["plot"].decode())
