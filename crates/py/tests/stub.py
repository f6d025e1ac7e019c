"""The stub of the package, with the signatures of the functions that are declared by commands.

Type checkers and editors read `__init__.pyi` in place of `__init__.py`. `test_signatures.py` compares it
with the functions, and writes it if BLESS is set.
"""

import ast
import inspect
import json
import re
import textwrap
from pathlib import Path

import dpscope

FOLDER = Path(__file__).parents[1] / "python" / "dpscope"
STUB = FOLDER / "__init__.pyi"

HEADER = """\
# Generated from the options of the program by crates/py/tests/stub.py; do not edit.
# `BLESS=1 cargo xtask wheel --dev` writes it."""

#: Types of parameters.
TYPES = """\
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpscope._command import Array, Path, Progress
from dpscope._generators import Generate
from dpscope._launch import ShardedAudit
"""


def text():
    """The text of the stub."""
    tree = ast.parse((FOLDER / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = [(node.module, alias.name) for node in imports for alias in node.names]
    functions = [name for _, name in names if hasattr(getattr(dpscope, name), "__signature__")]
    others = [
        f"from {module} import {name} as {name}" for module, name in names if name not in functions
    ]
    exported = "".join(f'    "{name}",\n' for name in dpscope.__all__)
    parts = [HEADER, TYPES + "\n".join(others), f"__all__ = [\n{exported}]"]
    return "\n\n".join(parts + [written(name) for name in functions]) + "\n"


def written(name):
    """A function with the first paragraph on each of its parameters."""
    function = getattr(dpscope, name)
    signature = inspect.signature(function)
    parameters, is_keyword = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword:
            parameters.append("*")
            is_keyword = True
        parameters.append(f"{parameter.name}: {parameter.annotation}{default(parameter)}")
    listed = "".join(f"    {parameter},\n" for parameter in parameters)
    documentation = re.split(r"^(?:Returns|Notes|Raises|Examples)\n-", function.__doc__, flags=re.M)[0]
    documentation = re.sub(r"\n\n    .*(\n    .*)*", "", documentation)
    documentation = textwrap.indent(documentation.strip(), "    ").strip()
    head = f"def {name}(\n{listed}) -> {signature.return_annotation}:"
    return f'{head}\n    """{documentation}\n    """'


def default(parameter):
    """The default of a parameter."""
    if parameter.default is parameter.empty:
        return ""
    is_text = isinstance(parameter.default, str)
    return f" = {json.dumps(parameter.default) if is_text else repr(parameter.default)}"
