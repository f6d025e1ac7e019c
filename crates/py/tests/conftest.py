"""The program beside the package, and recorded data for both."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

#: What differs between two runs of one audit.
VARYING = {"elapsed_ms", "normals_per_second", "input"}


def program():
    beside = Path(sys.executable).with_name("dpscope.exe" if os.name == "nt" else "dpscope")
    return os.environ.get("DPSCOPE_PROGRAM", str(beside))


def run(line):
    """What the program prints; its exit code may be that of a refuted claim."""
    words = [program(), *line.split()]
    ran = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ran.returncode in (0, 3, 6), ran.stderr
    return ran.stdout


@pytest.fixture
def dpscope_json(tmp_path, monkeypatch):
    """Runs the program in an empty folder and returns its document."""
    monkeypatch.chdir(tmp_path)
    return lambda line: json.loads(run(line + " --json"))


def stable(document):
    """A document without what differs between two runs."""
    return {name: value for name, value in document.items() if name not in VARYING}


@pytest.fixture
def scores():
    random = np.random.default_rng(1)
    return random.normal(size=300) + 2, random.normal(size=300)


def pytest_terminal_summary(terminalreporter):
    """Counts in the words of Rust's tests, which `cargo xtask test` adds up."""
    count = {name: len(found) for name, found in terminalreporter.stats.items()}
    failed = count.get("failed", 0) + count.get("error", 0)
    terminalreporter.write_line(
        f"test result: {'FAILED' if failed else 'ok'}. {count.get('passed', 0)} passed; "
        f"{failed} failed; {count.get('skipped', 0)} ignored"
    )
