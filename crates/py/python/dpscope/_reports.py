"""Reports again: whether they follow from their counts, and published results."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from dpscope._command import Command, Path, Progress
from dpscope._function import command
from dpscope._native import DpscopeError
from dpscope._results import Drawing, Result, _table


class Recomputation(Result):
    """Whether the values of a report follow from the counts in it.

    Consistent is not authentic: this shows neither who made the report nor that its counts were
    observed. Whoever changes counts can compute the values that belong to them.
    """

    @property
    def outcome(self) -> str:
        """`consistent`, `inconsistent`, `not_compared`, where the deciding bound or the page could not be
        compared, or `nothing`, where nothing in the report can be checked."""
        return str(self._report["outcome"])

    @property
    def is_consistent(self) -> bool:
        """Whether something was checked, and all of it follows; see `open` for what was not checked."""
        return self.outcome == "consistent"

    @property
    def checked(self) -> list[str]:
        """JSON pointers of the values that were computed again, and parts of a page: `page:text`."""
        return list(self._report["checked"])

    @property
    def differences(self) -> list[dict[str, Any]]:
        """Values that do not follow: `pointer`, what the report has `stated`, and what is `expected`."""
        return list(self.report()["differences"])

    @property
    def open(self) -> list[dict[str, Any]]:
        """Values and texts that do not follow from others in the report: `pointer` and `reason`."""
        return list(self.report()["open"])

    @property
    def not_compared(self) -> list[dict[str, Any]]:
        """What decides, and could not be compared: `pointer` and `reason`."""
        return list(self.report()["not_compared"])

    @property
    def headline(self) -> str:
        count = len(self.checked)
        checked = f"{count} value{'s' * (count != 1)} checked, {len(self.open)} open"
        if self.outcome == "nothing":
            return "nothing in the report can be checked"
        if self.is_consistent:
            return f"consistent, which is not authentic: {checked}"
        if self.outcome == "not_compared":
            missing = ", ".join(one["pointer"] for one in self.not_compared)
            return f"NOT COMPARED in full: {missing}; {checked}"
        differ = ", ".join(one["pointer"] for one in self.differences)
        return f"INCONSISTENT: {differ}; {checked}"

    def _repr_html_(self) -> str:
        rows = self.differences
        table = _table(rows, ("pointer", "stated", "expected")) if rows else ""
        return super()._repr_html_() + table


@command("recompute", without=["file"])
def recompute(call: Command, report: Result | Mapping[str, Any] | Path) -> Recomputation:
    """Compute the bounds of a report again, from the counts in it.

    Values are compared bit for bit, and the result and the verdicts that a page shows with those of the
    JSON in it. A report is consistent if its values follow from its counts; that does not make it
    authentic.

    Parameters
    ----------
    report
        A result of this package, its `report()`, the text of such a document or of a page of
        `page()`, or the file of either.

    Returns
    -------
    Recomputation
        Values that follow, values that differ, and values and texts that are open, each with the reason.

    Raises
    ------
    DpscopeError
        It is not a report, is truncated, comes from another version, or has impossible counts.

    Examples
    --------
    >>> import dpscope
    >>> audit = dpscope.audit_counts(12, 480, target_trials=1000, zero_out_trials=1000)
    >>> recompute(audit).outcome
    'consistent'
    >>> edited = audit.report()
    >>> edited["result"]["epsilon"] = 1.0
    >>> [(one["pointer"], one["stated"]) for one in recompute(edited).differences][:1]
    [('/result/epsilon', 1.0)]
    """
    content = _content(report)
    if content is None:
        call.add_arguments(report)  # type: ignore[arg-type]
    else:
        call.add_file("report", content)
    return Recomputation(call.document())


def _content(report: object) -> bytes | None:
    """A report in memory; none of a file."""
    if isinstance(report, Result):
        report = report.report()
    if isinstance(report, Mapping):
        try:
            return json.dumps(dict(report), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise DpscopeError(f"report is not a JSON document: {error}") from None
    if isinstance(report, str) and report.lstrip()[:1] in ("{", "<"):
        return report.encode()
    if isinstance(report, (str, os.PathLike)):
        return None
    raise TypeError(
        f"report is of type {type(report).__name__}; expected a result, a dictionary, a text or a file"
    )


class Reproduction(Result):
    """Published results beside those of this program."""

    def __init__(self, what: str, report: dict[str, Any], svg: str | None) -> None:
        self._what = what
        super().__init__(report)
        self._svg = svg

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One per setting of the publication, with what was printed and what was found; of several tables,
        the first."""
        return next(iter(self.tables.values()), [])

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of each printed table, by its name: values by the names of the columns."""
        tables: dict[str, list[dict[str, Any]]] = {}
        for section in self.report()["sections"]:
            if "columns" in section:
                tables.setdefault(section["name"], []).extend(section.get("rows", []))
        return tables

    @property
    def facts(self) -> dict[str, Any]:
        """Sizes and settings of the whole experiment, by name."""
        return dict(self.report()["facts"])

    @property
    def headline(self) -> str:
        count = len(self.rows)
        return f"{self._what}: {count} setting{'s' * (count != 1)}"

    def svg(self) -> Drawing:
        """The drawing of `--plot`, if `draw=True` was passed."""
        if self._svg is None:
            raise DpscopeError("nothing was drawn; pass draw=True")
        return Drawing(self._svg)


@command("reproduce")
def reproduce(
    call: Command, *, draw: bool = False, progress: Progress | None = None
) -> Reproduction:
    """Repeat a published experiment, and compare the results with those that were printed.

    The defaults take up to a few minutes on two cores. `dpscope reproduce --help` says what the
    experiments are.

    Parameters
    ----------
    draw
        Draw the results as well, for `svg()`.

    Returns
    -------
    Reproduction
        One row per setting: what was printed, what was found here, and why they differ. The notes of
        `report()` say which values are bounds, wrong with probability `significance` at most.

    Raises
    ------
    DpscopeError
        There is no such experiment, or an option does not apply to it.

    Examples
    --------
    >>> figure = reproduce("figure-3", observations=1000, seed=1, device="cpu")
    >>> print(figure)
    figure-3: 6 settings
    >>> figure.rows[0]["claimed_epsilon"]
    6.49
    """
    what = call.arguments[0]
    if not draw:
        return Reproduction(what, call.document(progress), None)
    report, drawn = call.document_with({"plot": "plot.svg"}, progress)
    return Reproduction(what, report, drawn["plot"].decode())
