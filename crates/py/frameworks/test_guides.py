"""The guides, each of which is one program."""

import pathlib
import re
import warnings

import pytest

GUIDES = pathlib.Path(__file__).parent.parent / "guides"
NEEDS = {
    "opacus": "opacus",
    "pytorch": "torch",
    "jax": "jax_privacy",
    "hugging-face": "transformers",
}


@pytest.mark.parametrize("name", NEEDS)
def test_the_programs_of_guides_run(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    program = "\n".join(re.findall(r"```python\n(.*?)```", (GUIDES / f"{name}.md").read_text(), re.S))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the frameworks
        exec(compile(program, f"{name}.md", "exec"), {"__name__": "guide"})
    assert "ε ≥" in capsys.readouterr().out
