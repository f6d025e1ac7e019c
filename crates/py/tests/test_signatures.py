"""Functions have the options of the program, and the stub says the same."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import stub

import dpscope
import dpscope.ray
from dpscope import _native
from dpscope._function import command
from dpscope._options import WITHOUT_KEYWORD, options_of


def test_the_stub_has_the_signatures_of_the_functions():
    text = stub.text()
    if "BLESS" in os.environ:
        stub.STUB.write_text(text, encoding="utf-8", newline="\n")
    stored = stub.STUB.read_text(encoding="utf-8")
    assert stored == text, "stale; `BLESS=1 cargo xtask wheel --dev` writes it"


#: Commands without a function.
ONLY_IN_THE_PROGRAM = {
    "audit",
    "bench",
    "canaries",
    "completions",
    "devices",
    "generator",
    "launch",
    "man-pages",
    "merge",
    "plan",
    "resume",
    "schema",
    "serve",
}


def table():
    """Names of the options of every command of the program."""
    entries = json.loads(_native.option_table())
    return {entry["name"]: {option["name"] for option in entry["options"]} for entry in entries}


def test_every_command_has_a_function():
    functions = [getattr(dpscope, name) for name in dpscope.__all__]
    declared = {getattr(function, "command", None) for function in functions} - {None}
    assert declared == set(table()) - ONLY_IN_THE_PROGRAM - {"launch ray"}
    assert set(WITHOUT_KEYWORD) <= set().union(*table().values())


def test_keywords_defaults_and_choices_are_those_of_the_options():
    parameters = inspect.signature(dpscope.audit_scores).parameters
    options = {option.keyword for option in options_of("audit scores")}
    assert set(parameters) == options - {"yes"}
    assert [*parameters][:2] == ["target", "zero_out"]
    assert parameters["target"].default is inspect.Parameter.empty
    assert parameters["delta"].default == 1e-5 and parameters["claim"].default is None
    assert parameters["higher_means"].annotation == 'Literal["target", "zero-out"] | None'
    for keyword in parameters:
        assert f"\n{keyword}\n    " in dpscope.audit_scores.__doc__
    assert "import_" in inspect.signature(dpscope.check).parameters
    assert inspect.signature(dpscope.epsilon).parameters["sampler"].default == "poisson"


def test_the_driver_of_ray_has_the_options_of_its_command():
    keywords = set(inspect.signature(dpscope.ray.run).parameters)
    own = {"checkpoint_every", "max_retries", "progress", "storage_options"}
    assert keywords - own == {option.name for option in options_of("launch ray")} - {"yes"}


def test_wrong_calls_name_the_function():
    with pytest.raises(TypeError, match=r"audit_bgm\(\) .*unexpected keyword argument 'sigma'"):
        dpscope.audit_bgm(noise_multiplier=1, observations=10, sigma=1)
    with pytest.raises(TypeError, match=r"epsilon\(\) missing .* 'noise_multiplier'"):
        dpscope.epsilon("poisson")
    with pytest.raises(TypeError, match=r"check\(\) too many positional arguments"):
        dpscope.check("file", "loader")


def test_a_declaration_names_options_of_its_command():
    with pytest.raises(KeyError, match="sigma"):
        command("audit bgm", arrays=["sigma"])(lambda call: None)
    with pytest.raises(KeyError, match="audit nothing"):
        command("audit nothing")(lambda call: None)


def test_type_checkers_find_wrong_calls(tmp_path):
    pytest.importorskip("mypy")
    calls = {
        "audit_bgm(noise_multiplier=1, observations=1e6, progress=print).epsilon": None,
        "audit_scores([1.0], Path('zero-out.npy'), confidence='95%', delta=None)": None,
        "audit_pategan(fault=['U1', 'S4'], utility=True, data=Path('rows.csv'))": None,
        "audit_bgm(noise_multiplier='1', observations=1e6)": "arg-type",
        "audit_bgm(noise_multiplier=1, observations=1e6, steps=2.5)": "arg-type",
        "audit_bgm(noise_multiplier=1, observations=1e6, sampler='poison')": "arg-type",
        "audit_bgm(noise_multiplier=1)": "call-arg",
        "audit_bgm(noise_multiplier=1, observations=1e6, sigma=1)": "call-arg",
        "delta('poisson', noise_multiplier=1)": "call-arg",
        "audit_counts(12, 480, target_trials=9, zero_out_trials=9).plots": "attr-defined",
    }
    lines = "".join(f"dpscope.{call}\n" for call in calls)
    (tmp_path / "calls.py").write_text(f"import dpscope; from pathlib import Path\n{lines}")
    package = str(Path(dpscope.__file__).parents[1])
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "calls.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": "" if "site-packages" in package else package},
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(re.findall(r"calls.py:(\d+): error: .*\[([a-z-]+)\]", checked.stdout))
    expected = {str(line): code for line, code in enumerate(calls.values(), 2) if code}
    assert found == expected, checked.stdout + checked.stderr
