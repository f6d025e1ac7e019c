"""The calculators and the comparison of Explore in notebooks, as anywidgets."""

from __future__ import annotations

import functools
import json
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from dpscope._native import DpscopeError

_MODULE = Path(__file__).with_name("widget.js")
_DESCRIPTION = Path(__file__).with_name("widget.json")
_EXPLORE_MODULE = Path(__file__).with_name("explore.js")
_EXPLORE_DESCRIPTION = Path(__file__).with_name("explore.json")
_TYPES: dict[str, Any] = {}


class Calculator(Protocol):
    """A calculator in a notebook: a widget whose traits are settings and answers."""

    #: The name of the calculator.
    calculator: str
    #: The result, with the names of the program's JSON; None until the page has computed it.
    result: dict[str, Any] | None
    #: The command that gives the same numbers.
    command: str
    #: Why there is no result.
    failure: str

    def observe(self, handler: Any, names: Any = ..., type: str = ...) -> None:
        """Calls the handler when traits change."""

    def __getattr__(self, name: str) -> Any:
        """A setting or an answer."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Changes a setting."""


def calculator(name: str = "epsilon", **settings: float | str) -> Calculator:
    """A calculator for a notebook, computed in its page (needs `pip install dpscope[widget]`).

    Name: epsilon, noise, counts, one-run, one-shot, pate, matrix, plan or shuffle-gap, as the elements
    `<dpscope-…>`. Settings are those of the element, with underscores. They are traits of the widget:
    what the reader changes arrives here, and what is assigned here is shown. Answers are traits too:

    - epsilon and shuffle-gap: `claimed`, `lower` and `upper`; None where there is no such bound
    - noise: `noise_multiplier`; counts, one-run, pate and matrix: `epsilon`
    - one-shot: `median_epsilon`; plan: `observations`

    `result`, `command` and `failure` have the rest. All are None or empty until the page has computed.
    To compute without a page, use the functions of this package.

    >>> training = dpscope.calculator("epsilon", noise_multiplier=1.1)  # doctest: +SKIP
    >>> training.observe(lambda change: print(change.new), "lower")  # doctest: +SKIP
    """
    described = _described(_MODULE, _DESCRIPTION)
    if name not in described:
        raise DpscopeError(f"name is {name!r}; expected one of {', '.join(described)}")
    if name not in _TYPES:
        _TYPES[name] = _calculator_type(name, described[name])
    widget: Calculator = _widget(name, described[name], settings)
    return widget


class Explore(Protocol):
    """The comparison of Explore in a notebook: a widget whose traits are settings and values."""

    #: The rows of `compare` by their names: `epsilon`, `kind`, `scope`, `method`, or the `reason` why a
    #: value is missing. None until the page has computed all of them.
    values: dict[str, dict[str, Any]] | None
    #: ε that Poisson accounting claims.
    claimed: float | None
    #: ε that the batches leak at least; None where nothing is proven.
    lower: float | None
    #: ε that the batches leak at most; None where nothing is proven.
    upper: float | None

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, which are traits too; None where a field is empty."""

    def observe(self, handler: Any, names: Any = ..., type: str = ...) -> None:
        """Calls the handler when traits change."""

    def __getattr__(self, name: str) -> Any:
        """A setting."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Changes a setting."""


def explore(**settings: float | str | None) -> Explore:
    """What is claimed and what is proven of a training, with sliders, in a notebook (needs
    `pip install dpscope[widget]`).

    The table and the chart of the app's view Explore, computed in the page. Settings are those of
    `compare` and of the app: `noise_multiplier`, `steps`, `epochs`, `delta`, `claim`, `sampler`,
    `dataset_size`, `batch_size`, `significance`, `seed` and others, see the keys of `settings`. They are
    traits: what the reader changes arrives here, and what is assigned here is shown. `values` has the
    rows of `compare`, to the last bit; `claimed`, `lower` and `upper` are ε of the conclusion. All are
    None until the page has computed them. To compute without a page, use `compare`.

    >>> training = dpscope.explore(noise_multiplier=1, steps=100)  # doctest: +SKIP
    >>> training.values["pair_lower"]["epsilon"]  # doctest: +SKIP
    4.064146706382639
    """
    described = _described(_EXPLORE_MODULE, _EXPLORE_DESCRIPTION)
    if "explore" not in _TYPES:
        _TYPES["explore"] = _explore_type(described)
    if isinstance(settings.get("seed"), int):
        settings["seed"] = str(settings["seed"])
    widget: Explore = _widget("explore", described, settings)
    return widget


def _described(module: Path, description: Path) -> dict[str, Any]:
    """Domains of settings and names of answers, as the elements have them."""
    _imported("anywidget")
    if not (module.is_file() and description.is_file()):
        raise DpscopeError(
            "this package was built without calculators; run `cargo xtask web` before `cargo xtask wheel`"
        )
    described: dict[str, Any] = json.loads(description.read_text(encoding="utf-8"))
    return described


def _widget(name: str, described: dict[str, Any], settings: dict[str, Any]) -> Any:
    """A widget with these settings; others are those of the page."""
    known = described["settings"]
    for setting in settings:
        if setting not in known:
            raise TypeError(f"{name} has no setting {setting!r}; expected some of {', '.join(known)}")
    traitlets = _imported("traitlets")
    try:
        return _TYPES[name](**settings)
    except traitlets.TraitError as error:
        raise DpscopeError(str(error)) from None


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"calculators in notebooks need {module}: pip install 'dpscope[widget]'"
        ) from error


def _calculator_type(name: str, described: dict[str, Any]) -> Any:
    """The class of one calculator."""
    traitlets = _imported("traitlets")
    answers = {
        "result": _optional(traitlets.Dict),
        **{answer: _optional(traitlets.Float) for answer in described["answers"]},
    }
    texts = {"command": traitlets.Unicode(), "failure": traitlets.Unicode()}
    more = {"_esm": _MODULE, "calculator": traitlets.Unicode(name).tag(sync=True)}
    return _new_type("Calculator", described, answers, texts, more)


def _explore_type(described: dict[str, Any]) -> Any:
    """The class of the comparison."""
    traitlets = _imported("traitlets")
    answers = {
        "values": _optional(traitlets.Dict),
        **{answer: _optional(traitlets.Float) for answer in described["answers"]},
    }
    names = list(described["settings"])

    def settings(self: Any) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    more = {"_esm": _EXPLORE_MODULE, "settings": property(settings)}
    return _new_type("Explore", described, answers, {}, more)


def _optional(kind: Any) -> Any:
    """A trait that is None until the page has computed it."""
    return kind(default_value=None, allow_none=True)


def _new_type(
    name: str,
    described: dict[str, Any],
    answers: dict[str, Any],
    texts: dict[str, Any],
    more: dict[str, Any],
) -> Any:
    """A class of widgets whose answers are removed when a setting changes."""
    anywidget, traitlets = _imported("anywidget"), _imported("traitlets")
    settings = {
        setting: _trait(traitlets, field) for setting, field in described["settings"].items()
    }
    traits = {**settings, **answers, **texts, "_answered": traitlets.Dict()}

    def __init__(self: Any, **given: float | str) -> None:
        anywidget.AnyWidget.__init__(self, **given)
        self.observe(functools.partial(_forget, self), list(settings))

    def _forget(self: Any, _change: object) -> None:
        """Removes answers to earlier settings: those of the new ones come with these."""
        if self._answered != {setting: getattr(self, setting) for setting in settings}:
            with self.hold_sync():
                for answer in answers:
                    setattr(self, answer, None)
                for text in texts:
                    setattr(self, text, "")

    return type(
        name,
        (anywidget.AnyWidget,),
        {
            "__doc__": described["title"],
            "__module__": __name__,
            "__init__": __init__,
            **{trait: of.tag(sync=True) for trait, of in traits.items()},
            **more,
        },
    )


def _trait(traitlets: Any, field: dict[str, Any]) -> Any:
    """A setting, within the domain of its field."""
    initial, about = field["initial"], field["help"]
    is_optional = initial is None
    if field["kind"] == "choice":
        return traitlets.Enum(field["values"], initial, allow_none=is_optional, help=about)
    if field["kind"] == "seed":
        return traitlets.Unicode(initial, help=about)
    kind = traitlets.Int if field["whole"] else traitlets.Float
    least, most = field["least"], field["most"]
    return kind(initial, min=least, max=most, allow_none=is_optional, help=about)
