"""The calculators in notebooks, as anywidgets."""

from __future__ import annotations

import functools
import json
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from dpscope._native import DpscopeError

_MODULE = Path(__file__).with_name("widget.js")
_DESCRIPTION = Path(__file__).with_name("widget.json")
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
    described = _described()
    if name not in described:
        raise DpscopeError(f"name is {name!r}; expected one of {', '.join(described)}")
    known = described[name]["settings"]
    for setting in settings:
        if setting not in known:
            raise TypeError(f"{name} has no setting {setting!r}; expected some of {', '.join(known)}")
    traitlets = _imported("traitlets")
    try:
        widget: Calculator = _widget_type(name)(**settings)
    except traitlets.TraitError as error:
        raise DpscopeError(str(error)) from None
    return widget


def _described() -> dict[str, Any]:
    """Domains of settings and names of answers, as the elements have them."""
    _imported("anywidget")
    if not (_MODULE.is_file() and _DESCRIPTION.is_file()):
        raise DpscopeError(
            "this package was built without calculators; run `cargo xtask web` before `cargo xtask wheel`"
        )
    described: dict[str, Any] = json.loads(_DESCRIPTION.read_text(encoding="utf-8"))
    return described


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"calculators in notebooks need {module}: pip install 'dpscope[widget]'"
        ) from error


def _widget_type(name: str) -> Any:
    """The class of one calculator."""
    if name not in _TYPES:
        _TYPES[name] = _new_type(name)
    return _TYPES[name]


def _new_type(name: str) -> Any:
    anywidget, traitlets = _imported("anywidget"), _imported("traitlets")
    described = _described()[name]
    settings = {
        setting: _trait(traitlets, field).tag(sync=True)
        for setting, field in described["settings"].items()
    }
    answers = {
        answer: traitlets.Float(None, allow_none=True).tag(sync=True)
        for answer in described["answers"]
    }

    def __init__(self: Any, **given: float | str) -> None:
        anywidget.AnyWidget.__init__(self, **given)
        self.observe(functools.partial(_forget, self), list(settings))

    def _forget(self: Any, _change: object) -> None:
        """Removes answers to earlier settings: those of the new ones come with these."""
        if self._answered != {setting: getattr(self, setting) for setting in settings}:
            with self.hold_sync():
                for answer in ("result", *answers):
                    setattr(self, answer, None)
                self.command = self.failure = ""

    return type(
        "Calculator",
        (anywidget.AnyWidget,),
        {
            "__doc__": described["title"],
            "__module__": __name__,
            "__init__": __init__,
            "_esm": _MODULE,
            "calculator": traitlets.Unicode(name).tag(sync=True),
            "result": traitlets.Dict(default_value=None, allow_none=True).tag(sync=True),
            "command": traitlets.Unicode().tag(sync=True),
            "failure": traitlets.Unicode().tag(sync=True),
            "_answered": traitlets.Dict().tag(sync=True),
            **settings,
            **answers,
        },
    )


def _trait(traitlets: Any, field: dict[str, Any]) -> Any:
    """A setting, within the domain of its field."""
    initial, about = field["initial"], field["help"]
    if field["kind"] == "choice":
        return traitlets.Enum(field["values"], initial, help=about)
    kind = traitlets.Int if field["whole"] else traitlets.Float
    return kind(initial, min=field["least"], max=field["most"], help=about)
