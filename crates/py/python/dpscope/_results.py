"""What functions return."""

from __future__ import annotations

import copy
import html
import json
import math
import os
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpscope._accountants import claim_of
from dpscope._command import Array, Command, Path, with_keywords
from dpscope._native import DpscopeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Page(str):
    """The text of a file."""

    def save(self, path: Path) -> None:
        """Write the file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self)


class Drawing(Page):
    """A drawing: the text of an SVG file, shown by notebooks."""

    def _repr_svg_(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Verdict:
    """What a result says about a claim."""

    outcome: str
    """`refuted`, `not-refuted` or `inconclusive`; of `check` and `compare`, `holds-as-described`
    in place of `not-refuted`."""
    reason: str | None
    """The code of the reason, where there is one."""
    says: str
    """What the verdict means."""

    def __str__(self) -> str:
        return self.says


class Result:
    """A result with the document that the program prints under `--json`."""

    def __init__(self, report: dict[str, Any]) -> None:
        self._report = report

    def report(self) -> dict[str, Any]:
        """The document of `dpscope … --json`, a new copy of it.

        `dpscope schema NAME` prints its JSON Schema.
        """
        return copy.deepcopy(self._report)

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        return str(self._report["headline"])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"

    def __str__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"


class _Answered(Result):
    """A result whose document has an answer: what it says, in a form that all kinds have in common."""

    _lists_values = False
    """Whether the text has the values that the program prints as a table."""

    @property
    def _answer(self) -> dict[str, Any]:
        return self._report["answer"]  # type: ignore[no-any-return]

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        return str(self._answer["headline"])

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What was found, the most severe first: `code`, `severity` (refutes, warning or note) and
        `sentence`, with the numbers of the finding as `data`."""
        report = self.report()
        fired = [check for check in report.get("checks", []) if check["outcome"] == "fired"]  # PATE-GAN
        recorded = report.get("findings", fired)
        listed = copy.deepcopy(self._answer["findings"])
        if len(recorded) != len(listed):
            return listed  # type: ignore[no-any-return]
        return [{**short, "data": full} for short, full in zip(listed, recorded)]

    def verdict(self) -> Verdict:
        """The verdict on the claim of the call."""
        return self._verdict(self._answer)

    def _verdict(self, answer: Mapping[str, Any]) -> Verdict:
        if not answer["tests"]:
            raise DpscopeError("no claim was tested; pass claim")
        test = answer["tests"][0]
        return Verdict(test["outcome"], test["reason"], test["sentence"])

    def __repr__(self) -> str:
        tests = self._answer["tests"]
        outcome = f"; claim {tests[0]['outcome']}" if tests else ""
        return f"<{type(self).__name__}: {self.headline}{outcome}>"

    def __str__(self) -> str:
        """The headline, and the labelled paragraphs of the program."""
        answer = self._answer
        lines = [self.headline]
        lines += [f"{test['name']}: {test['verdict']}" for test in answer["tests"]]
        lines.append("")
        shown = {row["text"] for row in answer["rows"]}
        for finding in answer["findings"]:
            if finding["sentence"] not in shown:
                lines += _paragraph(finding["severity"], finding["sentence"])
        if self._lists_values:
            for value in answer["values"]:
                lines.append(f"  {_outward(value):<12} {value['name']}")
        for row in answer["rows"]:
            lines += _paragraph(row["label"], row["text"])
        return with_keywords("\n".join(lines).rstrip())

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(self.headline)}</b></p>"]
        for test in self._answer["tests"]:
            colour = _COLOURS.get(test["outcome"], "inherit")
            parts.append(
                f"<p>{html.escape(test['name'])}: <b style=\"color:{colour}\">"
                f"{html.escape(test['outcome'])}</b>. {html.escape(test['sentence'])}</p>"
            )
        if self._answer["findings"]:
            parts.append(_table(self._answer["findings"], ("severity", "code", "sentence")))
        parts.append(_table(self._answer["rows"], ("label", "text")))
        return "".join(parts)


#: Signs of values, and how they are rounded, so that a bound stays one.
_SIGNS: dict[str, tuple[str, Callable[[float], float]]] = {
    "lower": ("≥", math.floor),
    "upper": ("≤", math.ceil),
    "estimate": ("≈", round),
}
#: Colours of verdicts that can be read on light and dark pages.
_COLOURS = {"refuted": "#d1242f", "inconclusive": "#9a6700", "not-refuted": "#1a7f37"}
#: Columns of a label, and of a line, as the program prints them.
_LABEL, _LINE = 14, 96


def _outward(value: Mapping[str, Any]) -> str:
    """A value with four decimals."""
    sign, rounded = _SIGNS[value["kind"]]
    return f"{sign} {rounded(value['epsilon'] * 1e4) / 1e4:.4f}"


def _paragraph(label: str, text: str) -> list[str]:
    """A labelled paragraph as the program prints it."""
    return textwrap.wrap(
        text,
        _LINE,
        initial_indent=f"  {label:<12}",
        subsequent_indent=" " * _LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    )


class Audit(_Answered):
    """A lower bound on ε, or an estimate, with what it rests on."""

    def __init__(
        self, report: dict[str, Any], command: Command, drawings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(report)
        self._command = command
        self._drawings = dict(drawings or {})

    @property
    def _value(self) -> dict[str, Any]:
        values = self._answer["values"]
        if not values:
            raise DpscopeError("these runs certify no epsilon; see headline")
        return values[0]  # type: ignore[no-any-return]

    @property
    def epsilon(self) -> float:
        """The bound or the estimate; with several δ, that of the first. Also `float(self)`."""
        return float(self._value["epsilon"])

    @property
    def delta(self) -> float:
        """δ of `epsilon`."""
        return float(self._value["delta"])

    @property
    def kind(self) -> str:
        """`bound`, wrong with probability `1 - confidence` at most, or `estimate`, without such a
        guarantee."""
        values = self._answer["values"]
        return "bound" if values and values[0]["kind"] == "lower" else "estimate"

    @property
    def confidence(self) -> float | None:
        """Confidence of a bound; None of an estimate."""
        significance = self._value["significance"]
        return None if significance is None else 1.0 - float(significance)

    @property
    def adjacency(self) -> str | None:
        """What the neighbouring data sets of the bound differ in, where the audit states it."""
        return self._value.get("adjacency")

    @property
    def ceiling(self) -> float | None:
        """The largest ε that an audit of this size could show, where it is known."""
        return self._value.get("ceiling")

    @property
    def claim(self) -> float | None:
        """The claimed ε that was tested, if one was."""
        tests = (test for test in self._answer["tests"] if test["kind"] == "claim")
        return next((test["epsilon"] for test in tests), None)

    @property
    def accounted(self) -> float | None:
        """ε of Poisson accounting, where the parameters of the training are known."""
        return self._theory("upper", "Poisson accounting")

    @property
    def proven(self) -> float | None:
        """ε that the training is proven to leak at least, where theory knows it."""
        return self._theory("lower", "proven lower bound")

    def _theory(self, kind: str, name: str) -> float | None:
        for value in self._answer["values"][1:]:
            if value["kind"] == kind and value["name"] == name:
                return float(value["epsilon"])
        return None

    def verdict(self, claim: object = None, *, claim_adjacency: str | None = None) -> Verdict:
        """The verdict on a claimed ε at the audited δ: by default that of the call.

        `claim` may be an accountant, as in the call.
        """
        answer = self._answer
        if claim is not None:
            options = {
                "claim": claim_of(claim, self.delta)[0],
                "claim_adjacency": claim_adjacency,
            }
            answer = self._command.again(options)["answer"]
        return self._verdict(answer)

    def __float__(self) -> float:
        return self.epsilon

    def svg(self) -> Drawing:
        """The drawing of `--plot`."""
        return Drawing(self._drawing("plot", "plot.svg"))

    def plot(self, ax: Axes | None = None) -> Axes | Drawing:
        """Draw the result.

        Trade-off curves are drawn on `ax`, or on new axes of matplotlib if it is installed. Where it
        is not, and for audits without such curves, the result is that of `svg`.
        """
        if "result" not in self._report:
            if ax is not None:
                raise DpscopeError("this audit has no trade-off curves to draw; leave ax out")
            return self.svg()
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                return self.svg()
            ax = pyplot.subplots()[1]
        draw_curves(json.loads(self._drawing("curves", "curves.json")), ax)
        return ax

    def page(self) -> Page:
        """The page of `--report`, for reviewers: it opens offline and prints well."""
        return Page(self._drawing("report", "report.html"))

    def _drawing(self, option: str, name: str) -> str:
        if option not in self._drawings:
            self._drawings[option] = self._command.written(option, name)
        return self._drawings[option]

    def _repr_html_(self) -> str:
        try:
            return f"{super()._repr_html_()}{self.svg()}"
        except DpscopeError:  # counts of one run are not drawn
            return super()._repr_html_()


def draw_curves(curves: dict[str, Any], ax: Axes) -> None:
    """Draw the document of `--curves` on axes of matplotlib."""
    for curve in curves["curves"]:
        fpr = [point["fpr"] for point in curve["points"]]
        fnr = [point["fnr"] for point in curve["points"]]
        line = {"claim": "--", "estimate": ":"}.get(curve["kind"], "-")
        style: dict[str, Any] = {"linestyle": line}
        if len(fpr) == 1:
            style = {"linestyle": "none", "marker": "o"}
        ax.plot(fpr, fnr, label=curve["curve"], **style)
    ax.set_xlabel("false positive rate")
    ax.set_ylabel("false negative rate")
    ax.set_title(curves["title"])
    ax.legend()


class Accounted(Result):
    """A value of ε or δ, and whether it is proven."""

    def __init__(self, report: dict[str, Any], quantity: str) -> None:
        super().__init__(report)
        self._quantity = quantity

    @property
    def value(self) -> float:
        """The ε or δ that was asked for; also `float(self)`."""
        return float(self._report[self._quantity])

    @property
    def kind(self) -> str:
        """`upper`, `lower` or `estimate`."""
        return str(self._report["kind"])

    @property
    def method(self) -> str:
        """How it was computed."""
        return str(self._report["method"])

    @property
    def headline(self) -> str:
        relation = {"upper": "≤", "lower": "≥"}.get(self.kind, "≈")
        symbol, other = ("ε", "delta") if self._quantity == "epsilon" else ("δ", "epsilon")
        at = f"{'δ' if other == 'delta' else 'ε'} = {self._report[other]:g}"
        return f"{symbol} {relation} {self.value} at {at}"

    def __float__(self) -> float:
        return self.value


class Calibration(Result):
    """Noise, steps or epochs for a target ε."""

    def __init__(self, report: dict[str, Any]) -> None:
        super().__init__(report)
        wanted = str(report["wanted"])
        self._name = "noise_multiplier" if wanted == "noise" else wanted

    @property
    def value(self) -> float:
        """The noise multiplier, or the number of steps or epochs; also `float(self)`."""
        return self._report[self._name]  # type: ignore[no-any-return]

    @property
    def epsilon(self) -> float:
        """ε of this value, at most the target."""
        return float(self._report["epsilon"])

    @property
    def headline(self) -> str:
        return f"{self._name} = {self.value}, with ε ≤ {self.epsilon}"

    def __float__(self) -> float:
        return float(self.value)


class _Described(_Answered):
    """What theory says of a training as described: a claim about it holds, or not."""

    _lists_values = True

    def verdict(self) -> Verdict:
        """The verdict on the claim of the call."""
        found = super().verdict()
        return Verdict(self._report["claim"]["verdict"], found.reason, found.says)


class Comparison(_Described):
    """Claimed, proven and estimated ε of one training."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per value: `what` it is, `epsilon`, `kind`, `scope`, `method` or a `reason` why it
        is missing."""
        return list(self.report()["rows"])

    def value(self, what: str) -> float:
        """ε of a row, such as `poisson` or `pair_lower`."""
        for row in self._report["rows"]:
            if row["what"] == what:
                if "epsilon" not in row:
                    raise DpscopeError(f"{what} is missing: {row['reason']}")
                return float(row["epsilon"])
        names = ", ".join(row["what"] for row in self._report["rows"])
        raise DpscopeError(f"what is {what!r}; expected one of {names}")

    def _repr_html_(self) -> str:
        rows = self._report["rows"]
        columns = ("what", "epsilon", "kind", "scope", "method")
        return super()._repr_html_() + _table(rows, columns)


def _table(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> str:
    """An HTML table of rows."""
    columns = list(columns)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in columns)
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


class _Rows(Result):
    """A result with rows of numbers, which pandas.DataFrame takes as they are."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows."""
        return list(self.report()["rows"])

    def _repr_html_(self) -> str:
        rows = [
            {name: cell for name, cell in row.items() if not isinstance(cell, (dict, list))}
            for row in self.rows
        ]
        columns = dict.fromkeys(name for row in rows for name in row)
        return super()._repr_html_() + _table(rows, columns)


class Plan(_Rows):
    """Sizes of an audit; one row per size."""

    @property
    def committed(self) -> dict[str, Any] | None:
        """Folder and commitment, if a plan was written; publish the commitment before the training."""
        return self.report().get("committed")

    @property
    def folder(self) -> str:
        """The folder of the committed plan."""
        committed = self._report.get("committed")
        if committed is None:
            raise DpscopeError("no plan was committed; pass out, a new folder")
        return str(committed["folder"])

    @property
    def coins(self) -> npt.NDArray[np.bool_]:
        """The coins of the committed plan, one per canary: whether to train on it."""
        path = os.path.join(self.folder, "coins.npy")
        if not os.path.exists(path):
            raise DpscopeError(f"{self.folder} has no coins; only plans of `plan_one_run` draw them")
        coins: npt.NDArray[np.bool_] = np.load(path, allow_pickle=False).astype(bool)
        return coins

    @property
    def included(self) -> npt.NDArray[np.intp]:
        """The numbers of the canaries to train on, from 0."""
        return np.flatnonzero(self.coins)

    def audit(self, scores: Array | Mapping[int, float], **options: Any) -> Audit:
        """The audit of one training with these coins: `audit_one_run` with this plan.

        `scores` may be a mapping of the numbers of canaries to scores, in any order.
        """
        from dpscope._audits import audit_one_run

        if isinstance(scores, Mapping):
            scores = joined(scores, len(self.coins))
        return audit_one_run(scores, plan=self.folder, **options)

    @property
    def headline(self) -> str:
        count = len(self._report["rows"])
        sizes = f"{count} size{'s' * (count != 1)} at δ = {self._report['delta']:g}"
        committed = self.committed
        if committed is not None and count == 0:
            return f"committed in {committed['folder']}"
        return sizes if committed is None else f"{sizes}; committed in {committed['folder']}"


def joined(scores: Mapping[int, float], canaries: int) -> list[float]:
    """Scores in the order of canaries, each of which needs one."""
    missing = [index for index in range(canaries) if index not in scores]
    if missing:
        raise ValueError(
            f"scores has none for canary {missing[0]}, and {len(missing)} in all are missing; score "
            "every canary, also those that were not included"
        )
    unknown = next((index for index in scores if index not in range(canaries)), None)
    if unknown is not None:
        raise ValueError(f"scores has canary {unknown!r}; the plan has those from 0 to {canaries - 1}")
    return [float(scores[index]) for index in range(canaries)]


class Sweep(_Rows):
    """What is claimed and proven of many trainings; one row per training."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Each training with its ε by name: `poisson`, `balls_in_bins`, `shuffle_lower`, … `report()`
        has sides, methods and errors; where there is no value, it has the reason."""
        return [
            {name: cell for name, cell in row.items() if name != "values"}
            | {value["what"]: value.get("epsilon") for value in row["values"]}
            for row in self.report()["rows"]
        ]

    @property
    def headline(self) -> str:
        return f"{len(self._report['rows'])} of {self._report['settings']} trainings"


class Strategies(_Rows):
    """ε of strategies of correlated noise; one row per strategy."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Each strategy with `epsilon`, `noise_multiplier`, errors of prefix sums and more, or a
        `reason`."""
        return [
            {name: cell for name, cell in row.items() if name != "value"} | row.get("value", {})
            for row in self.report()["strategies"]
        ]

    def value(self, strategy: str | None = None) -> float:
        """ε of a strategy; without a name, of the only one."""
        rows = self.rows
        if strategy is None and len(rows) != 1:
            raise DpscopeError("there are several strategies; pass strategy")
        for row in rows:
            if strategy in (None, row["strategy"]):
                if "epsilon" not in row:
                    raise DpscopeError(f"{row['strategy']} has no value: {row['reason']}")
                return float(row["epsilon"])
        names = ", ".join(row["strategy"] for row in rows)
        raise DpscopeError(f"strategy is {strategy!r}; expected one of {names}")

    @property
    def headline(self) -> str:
        found = [f"{row['strategy']}: ε ≤ {row['epsilon']}" for row in self.rows if "epsilon" in row]
        return f"{', '.join(found) or 'no strategy'} at δ = {self._report['delta']:g}"


class Votes(Result):
    """ε of noisy votes of teachers, whatever they are."""

    @property
    def epsilon(self) -> float:
        """Proven ε; also `float(self)`."""
        return float(self._report["composed"]["upper"])

    @property
    def iterations(self) -> int:
        """The most iterations of PATE-GAN within the target."""
        target = self._report.get("target")
        if target is None:
            raise DpscopeError("no target was set; call calibrate_pate")
        return int(target["iterations"])

    @property
    def headline(self) -> str:
        return f"ε ≤ {self.epsilon} at δ = {self._report['delta']:g}"

    def __float__(self) -> float:
        return self.epsilon


class Canaries(Result):
    """A file of canaries."""

    @property
    def file(self) -> str:
        """Where they are."""
        return str(self._report["file"])

    @property
    def digest(self) -> str:
        """SHA-256 of the file, hexadecimal."""
        return str(self._report["canaries_digest"])

    @property
    def headline(self) -> str:
        return f"{self._report['canaries']} canaries in {self.file}"


class Check(_Described):
    """A described training, or the record of an accountant, with what is proven of its ε."""

    @property
    def delta(self) -> float:
        """δ of the values, whether any is known or not."""
        described = self._report.get("claim") or self._report["upper"]
        return float(described["delta"])

    @property
    def lower(self) -> float | None:
        """ε that the training leaks at least, if it is known."""
        return _known(self._report["lower"])

    @property
    def upper(self) -> float | None:
        """ε that it leaks at most, if it is known."""
        return _known(self._report["upper"])


def _known(value: dict[str, Any] | None) -> float | None:
    return None if value is None else float(value["epsilon"])
