"""Clusters on this machine. What is not installed is skipped by its name."""

import importlib.util
import json
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location(
    "package_conftest", Path(__file__).parents[1] / "tests/conftest.py"
)
package = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(package)
pytest_terminal_summary = package.pytest_terminal_summary

#: About ten seconds of one core.
AUDIT = "audit bgm --noise-multiplier 1 --steps 100 --observations 6e7 --seed 7 --device cpu"

#: What differs between a run and the merge of its shards.
OF_THE_RUN = {"seed_source", "fallback_shards", "devices", "device", "sampling_ms"}


def document(line):
    """What the program prints under --json."""
    return json.loads(package.run(line + " --json"))


def stable(report):
    """A report without what differs between a run and the merge of its shards."""
    found = package.stable(report)
    return {name: value for name, value in found.items() if name not in OF_THE_RUN}


@pytest.fixture(scope="session")
def whole():
    """The audit in one piece."""
    return stable(document(AUDIT))
