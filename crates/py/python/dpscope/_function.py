"""Public functions, declared by the command of the program that each of them runs."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dpscope._accountants import claim_of, planned_delta
from dpscope._command import Command
from dpscope._options import Option, options_of, paragraphs

_R = TypeVar("_R")

_PROGRESS = (
    "Called with what is done so far and the total. Ctrl-C and exceptions of `progress` stop the run."
)
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_TABLE = "Path | Sequence[Mapping[str, float | str]]"


@dataclass(frozen=True)
class command:
    """Declares a public function by the command of the program that it runs.

    The decorated function gets the command with the options of the call, and returns the result. Its
    further parameters are those that the program does not have; all others, with their defaults, choices
    and descriptions, are the options of the program.
    """

    name: str
    positional: Sequence[str] = ()
    """Options that may be passed without a keyword, after the arguments of the command."""
    required: Sequence[str] = ()
    without: Sequence[str] = ()
    arrays: Sequence[str] = ()
    """Options whose values are arrays, or files of them."""
    tables: Sequence[str] = ()
    """Arguments whose values are rows, or a csv file."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Keywords that are not named like their option."""
    defaults: Mapping[str, object] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, body: Callable[..., _R]) -> Callable[..., _R]:
        own = list(inspect.signature(body).parameters.values())[1:]
        options = self._options({parameter.name for parameter in own})
        parameters = self._parameters(options, own)
        annotation = body.__annotations__["return"]
        signature = inspect.Signature(parameters, return_annotation=annotation)

        @functools.wraps(body)
        def function(*values: Any, **named: Any) -> _R:
            try:
                passed = signature.bind(*values, **named).arguments
            except TypeError as error:
                raise TypeError(f"{body.__name__}() {error}") from None
            further = {one.name: passed.pop(one.name) for one in own if one.name in passed}
            return body(self._call(options, passed), **further)

        function.command = self.name  # type: ignore[attr-defined]
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__annotations__ = {one.name: one.annotation for one in parameters}
        function.__annotations__["return"] = annotation
        descriptions = {
            keyword: option.description(is_array=option.name in self.arrays)
            for keyword, option in options.items()
        }
        names = [parameter.name for parameter in parameters]
        described = {"progress": _PROGRESS, **descriptions}
        ordered = {name: described[name] for name in names if name in described}
        function.__doc__ = _documentation(body.__doc__ or "", ordered)
        return function

    def _options(self, own: set[str]) -> dict[str, Option]:
        """The options that the function has, by keyword."""
        options = {option.name: option for option in options_of(self.name)}
        declared = (self.positional, self.required, self.without, self.arrays, self.tables)
        for name in {*self.renamed, *self.defaults, *self.types}.union(*declared):
            if name not in options:
                raise KeyError(f"{self.name} has no option {name}")
        skipped = own.union(self.without)
        if "progress" not in own:
            skipped.add("yes")  # only a run that shows progress may take an hour
        return {
            self.renamed.get(name, option.keyword): option
            for name, option in options.items()
            if name not in skipped
        }

    def _parameters(
        self, options: Mapping[str, Option], own: Sequence[inspect.Parameter]
    ) -> list[inspect.Parameter]:
        """Parameters in their order: arguments of the command, further ones, keywords."""
        first = [keyword for keyword, option in options.items() if option.is_positional]
        first += self.positional
        # a claim may be an accountant, whose class is not imported here
        types = dict.fromkeys(self.arrays, "Array") | dict.fromkeys(self.tables, _TABLE)
        types["claim"] = "object"
        types.update(self.types)

        def parameter(keyword: str) -> inspect.Parameter:
            name = options[keyword].name
            return options[keyword].parameter(
                keyword,
                types.get(name),
                _POSITIONAL if keyword in first else inspect.Parameter.KEYWORD_ONLY,
                initial=self.defaults.get(name),
                is_required=name in self.required,
            )

        return [
            *map(parameter, first),
            *(one for one in own if one.kind is _POSITIONAL),
            *(parameter(keyword) for keyword in options if keyword not in first),
            *(one for one in own if one.kind is not _POSITIONAL),
        ]

    def _call(self, options: Mapping[str, Option], passed: Mapping[str, object]) -> Command:
        """The command of a call."""
        several = [option.name for option in options.values() if option.is_list]
        call = Command(self.name, arrays=self.arrays, several=several)
        for keyword, option in options.items():
            value = passed.get(keyword, self.defaults.get(option.name))
            if option.name in self.tables:
                call.add_table(option.name, value)
            elif option.is_positional:
                call.add_arguments(*_words(value))
            elif option.name in self.arrays:
                call.set(option.name, value)
            elif option.name == "claim" and value is not None:
                call.set("claim", claim_of(value, _delta(passed))[0])
            else:
                call.set(option.name, option.word(value))
        return call


def _delta(passed: Mapping[str, Any]) -> float | None:
    """δ of a call, at which an accountant is asked for its ε; of several, the first. None stands for
    the default of the program."""
    delta: Any = passed.get("delta")
    if delta is None and passed.get("plan") is not None:
        return planned_delta(passed["plan"])
    first: float | None = delta[0] if isinstance(delta, (list, tuple)) and delta else delta
    return first


def _words(value: Any) -> Sequence[Any]:
    """The values of an argument, which may be left out."""
    if value is None:
        return []
    return value if isinstance(value, (list, tuple)) else [value]


def _documentation(text: str, described: Mapping[str, str]) -> str:
    """A documentation with the descriptions of parameters after those that it has itself."""
    head, *sections = re.split(r"^(?=\w+\n-{3,}$)", inspect.cleandoc(text), flags=re.MULTILINE)
    title = "Parameters\n----------\n"
    own = [section.removeprefix(title) for section in sections if section.startswith(title)]
    others = [section for section in sections if not section.startswith(title)]
    entries = [
        f"{name}\n" + "\n\n".join(paragraphs(description, "    "))
        for name, description in described.items()
    ]
    listed = "\n".join([*(section.strip() for section in own), *entries])
    return "\n\n".join([head.strip(), title + listed, *(section.strip() for section in others)])
