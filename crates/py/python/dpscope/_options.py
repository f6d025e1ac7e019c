"""The options of the program's commands as parameters of functions."""

from __future__ import annotations

import inspect
import json
import keyword
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from dpscope._command import option_table, with_keywords

#: Options that have no keyword, and why.
WITHOUT_KEYWORD = {
    "ascii": "results are Unicode",
    "json": "every result has its document",
    "quiet": "nothing is drawn on a terminal",
    "brief": "print(result) is brief",
    "metrics": "they are in the document",
    "plot": "svg()",
    "curves": "plot()",
    "report": "page()",
    "csv": "rows",
    "shard": "shards are run by dpscope.ray.run, or by the program, one per machine",
    "fail_on_finding": "it sets the exit code; see findings",
    "statement": "it is printed",
    "example": "it is printed",
    "list_loaders": "it is printed",
    "sarif": "for code scanning in CI, by the program",
    "format": "for CI and model cards, by the program",
}

#: Words of the help that are about a terminal, and those of a call.
_WORDS = {
    "; exit with code 3 if it is refuted": "; `verdict()` says whether it is refuted",
    "; exit with code 3 if the leakage of shuffled batches refutes it, with code 6 if it is neither "
    "refuted nor confirmed": "; `verdict()` says whether the leakage of shuffled batches refutes it",
    "Exit with code 3 if the bound exceeds this epsilon": "Largest acceptable bound",
    "exits with code 4 without one": "raises an error without one",
    "Start runs that are estimated to take more than an hour without asking": "Start a run that is "
    "estimated to take more than an hour; otherwise it is an error",
    "repeat the option": "pass a list",
    "several separated by commas": "or several",
    "or a comma-separated list": "or several",
    "prints how many": "says how many",
    "; `-` for standard input": "",
    "; `--list-loaders` explains them": "",
    "options on the command line": "keywords",
    "the command line": "the call",
}
#: Types of values.
_TYPES = {
    "flag": "bool",
    "boolean": "bool",
    "integer": "int",
    "number": "float",
    "path": "Path",
    "text": "str",
}
#: Integers that are usually written as 1e6.
_LARGE = {"dimension", "largest_dimension", "max_bytes", "null_draws", "observations"}
_WIDTH = 96


@dataclass(frozen=True)
class Option:
    """An option of a command, as the program describes it."""

    name: str
    kind: str
    is_positional: bool
    is_required: bool
    is_list: bool
    takes_words: bool
    is_value_optional: bool
    default: str | None
    choices: list[dict[str, str]]
    help: str

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Option:
        """An entry of the option table. Fields that only forms need are ignored."""
        return cls(**{field.name: entry[field.name] for field in fields(cls)})

    @property
    def keyword(self) -> str:
        """Its keyword, unless a function has another one."""
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name

    @property
    def type(self) -> str:
        """The type of one value."""
        if self.kind == "choice":
            return f"Literal[{', '.join(json.dumps(choice['name']) for choice in self.choices)}]"
        one = "float" if self.name in _LARGE else _TYPES[self.kind]
        if self.is_value_optional and one != "bool":
            return f"bool | {one}"
        return f"{one} | str" if self.takes_words else one

    @property
    def initial(self) -> object:
        """The value of an option that is left out, or None."""
        if self.kind == "flag" or (self.is_value_optional and self.kind != "boolean"):
            return False
        if not self.default:
            return None
        try:
            value = float(self.default) if self.kind in ("number", "integer") else self.default
        except ValueError:
            return self.default
        return int(value) if self.kind == "integer" else value

    def parameter(
        self,
        name: str,
        type_of_one: str | None = None,
        kind: inspect._ParameterKind = inspect.Parameter.KEYWORD_ONLY,
        *,
        initial: object = None,
        is_required: bool = False,
    ) -> inspect.Parameter:
        """The parameter of a function, where None always leaves the option out."""
        one = type_of_one or self.type
        annotation = f"{one} | Sequence[{one}]" if self.is_list else one
        if is_required or (self.is_required and initial is None):
            return inspect.Parameter(name, kind, annotation=annotation)
        default = self.initial if initial is None else initial
        if default is not False and initial is None:
            annotation += " | None"
        return inspect.Parameter(name, kind, default=default, annotation=annotation)

    def word(self, value: object) -> object:
        """A value as the program takes it."""
        if self.kind == "boolean" and isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, (list, tuple)) and not self.is_list:
            return ",".join(map(str, value))
        return value

    def description(self, *, is_array: bool = False) -> str:
        """What the help says of it, with keywords in place of options."""
        text = self.help
        for words, of_call in _WORDS.items():
            text = text.replace(words, of_call)
        if self.is_list:
            text = text.replace("separated by commas", "as a list")
        text = with_keywords(text)
        text = "\n\n".join(part if part.endswith(".") else f"{part}." for part in text.split("\n\n"))
        if is_array:
            text += " An array, or a file."
        if self.choices:
            choices = [
                f'"{choice["name"]}"' + (f" ({choice['help']})" if choice["help"] else "")
                for choice in self.choices
            ]
            text += f"\n\n{', '.join(choices)}."
        return text


_COMMANDS = {
    entry["name"]: [Option.read(option) for option in entry["options"]]
    for entry in option_table()
}


def options_of(command: str) -> list[Option]:
    """The options of a command that have a keyword."""
    options = _COMMANDS[command]
    skipped = set(WITHOUT_KEYWORD)
    if any(option.name == "shard" for option in options):
        skipped.add("out")  # the file of a shard
    return [option for option in options if option.name not in skipped]


def paragraphs(text: str, indent: str) -> Iterable[str]:
    """The wrapped paragraphs of a text."""
    for paragraph in text.split("\n\n"):
        yield textwrap.fill(
            " ".join(paragraph.split()),
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
