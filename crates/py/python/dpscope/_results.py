"""What functions return."""

from __future__ import annotations

import copy
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpscope._command import Command, Path
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


class Audit(Result):
    """A lower bound on ε, or an estimate, with what it rests on."""

    def __init__(
        self, report: dict[str, Any], command: Command, drawings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(report)
        self._command = command
        self._drawings = dict(drawings or {})

    @property
    def _answer(self) -> dict[str, Any]:
        """What the report says, in the form that all audits have in common."""
        return self._report["answer"]  # type: ignore[no-any-return]

    @property
    def epsilon(self) -> float:
        """The bound or the estimate; with several δ, that of the first."""
        values = self._answer["values"]
        if not values:
            raise DpscopeError("these runs certify no epsilon; see headline")
        return float(values[0]["epsilon"])

    @property
    def kind(self) -> str:
        """`bound`, wrong with probability `significance` at most, or `estimate`, without such a
        guarantee."""
        values = self._answer["values"]
        return "bound" if values and values[0]["kind"] == "lower" else "estimate"

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What the data indicate about code and protocol, each with a `sentence`."""
        report = self.report()
        if "checks" in report:  # of PATE-GAN
            faulty = [check for check in report["checks"] if check["faults"]]
            return [{**check, "sentence": check.get("says")} for check in faulty]
        said = report["answer"]["findings"]
        return [
            {**finding, "sentence": short["sentence"]}
            for finding, short in zip(report["findings"], said, strict=True)
        ]

    def verdict(self, claim: float | None = None, *, claim_adjacency: str | None = None) -> Verdict:
        """The verdict on a claimed ε at the audited δ: by default that of the call."""
        answer = self._answer
        if claim is not None:
            options = {"claim": claim, "claim_adjacency": claim_adjacency}
            answer = self._command.again(options)["answer"]
        if not answer["tests"]:
            raise DpscopeError("no claim was tested; pass claim")
        test = answer["tests"][0]
        return Verdict(test["outcome"], test["reason"], test["sentence"])

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

    def __repr__(self) -> str:
        tests = self._answer["tests"]
        outcome = f"; claim {tests[0]['outcome']}" if tests else ""
        return f"<Audit: {self.headline}{outcome}>"

    def __str__(self) -> str:
        answer = self._answer
        says = [test["sentence"] for test in answer["tests"] if test["kind"] == "claim"]
        sentences = [finding["sentence"] for finding in answer["findings"]]
        return "\n".join([self.headline, *says, *sentences])

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())
        try:
            return f"{lines}{self.svg()}"
        except DpscopeError:  # counts of one run are not drawn
            return lines


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


class Comparison(Result):
    """Claimed, proven and estimated ε of one training."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per value: `what` it is, `epsilon`, `kind`, `scope`, `method` or a `reason` why it
        is missing."""
        return list(self.report()["rows"])

    def epsilon(self, what: str) -> float:
        """ε of a row, such as `poisson` or `pair_lower`."""
        for row in self._report["rows"]:
            if row["what"] == what:
                if "epsilon" not in row:
                    raise DpscopeError(f"{what} is missing: {row['reason']}")
                return float(row["epsilon"])
        names = ", ".join(row["what"] for row in self._report["rows"])
        raise DpscopeError(f"what is {what!r}; expected one of {names}")

    def verdict(self) -> Verdict:
        """The verdict on the claim of the call."""
        claim = self._report.get("claim")
        if claim is None:
            raise DpscopeError("no claim was tested; pass claim")
        return Verdict(claim["verdict"], None, claim["sentence"])

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
    def headline(self) -> str:
        count = len(self._report["rows"])
        sizes = f"{count} size{'s' * (count != 1)} at δ = {self._report['delta']:g}"
        committed = self.committed
        if committed is not None and count == 0:
            return f"committed in {committed['folder']}"
        return sizes if committed is None else f"{sizes}; committed in {committed['folder']}"


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

    def epsilon(self, strategy: str | None = None) -> float:
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


class Check(Result):
    """A described training, or the record of an accountant, beside its claim."""

    @property
    def headline(self) -> str:
        return str({**self._report, **self._report.get("claim", {})}["says"])

    def verdict(self) -> Verdict:
        """The verdict on the claim."""
        claim = self._report.get("claim")
        if claim is None:
            raise DpscopeError("no claim was tested; pass claim")
        return Verdict(claim["verdict"], None, self.headline)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What contradicts the claim or weakens it, the most severe first."""
        return list(self.report().get("findings", []))

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
