"""Widgets of notebooks, without a page: `cargo xtask test --only hosts` opens them in JupyterLab."""

import importlib.util
import json
import sys
from pathlib import Path

import dpscope
import pytest

BUILT = Path(dpscope.__file__).with_name("widget.json")


@pytest.fixture
def anywidget():
    """Skips where no widget can be made."""
    if not BUILT.is_file():
        pytest.skip("the calculators are not built")
    return pytest.importorskip("anywidget")


def test_a_missing_anywidget_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"need anywidget: pip install 'dpscope\[widget\]'"):
        dpscope.calculator("epsilon")


@pytest.mark.skipif(importlib.util.find_spec("anywidget") is None, reason="no anywidget")
def test_a_package_without_calculators_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(dpscope._widget, "_DESCRIPTION", tmp_path / "widget.json")
    with pytest.raises(dpscope.DpscopeError, match="cargo xtask web"):
        dpscope.calculator("epsilon")
    monkeypatch.setattr(dpscope._widget, "_EXPLORE_MODULE", tmp_path / "explore.js")
    with pytest.raises(dpscope.DpscopeError, match="cargo xtask web"):
        dpscope.explore()


def test_wrong_settings_are_refused_by_name(anywidget):
    for name, settings, message in [
        ("eps", {}, "name is 'eps'; expected one of epsilon"),
        ("epsilon", {"noise_multiplier": -1}, "noise_multiplier.*less than 0.05"),
        ("epsilon", {"sampler": "shuffled"}, "sampler.*'shuffle'"),
    ]:
        with pytest.raises(dpscope.DpscopeError, match=message):
            dpscope.calculator(name, **settings)
    with pytest.raises(TypeError, match="'sigma'; expected some of sampler"):
        dpscope.calculator("epsilon", sigma=1)


def test_each_calculator_has_its_settings_and_no_answer_yet(anywidget):
    for name, described in json.loads(BUILT.read_text(encoding="utf-8")).items():
        widget = dpscope.calculator(name)
        for setting, field in described["settings"].items():
            assert getattr(widget, setting) == field["initial"], (name, setting)
        assert described["answers"] and widget.result is None
        for answer in described["answers"]:
            assert getattr(widget, answer) is None


def test_answers_to_other_settings_are_removed(anywidget):
    widget = dpscope.calculator("counts")
    names = ["false_positives", "zero_out_trials", "false_negatives", "target_trials"]
    settings = {name: getattr(widget, name) for name in [*names, "delta", "significance"]}
    settings["false_positives"] = 3
    # as the page sends them
    widget.set_state({**settings, "_answered": settings, "epsilon": 4.5, "result": {"epsilon": 4.5}})
    assert (widget.false_positives, widget.epsilon) == (3, 4.5)
    widget.false_positives = 4
    assert widget.epsilon is None and widget.result is None
    widget.set_state({"epsilon": 4.5, "_answered": settings, "false_positives": 5})
    assert widget.epsilon is None, "an answer to earlier settings"


def test_explore_has_the_settings_of_the_app_and_no_values_yet(anywidget):
    widget = dpscope.explore(noise_multiplier=2, steps=50, claim=1, seed=3)
    settings = widget.settings
    assert (settings["noise_multiplier"], settings["steps"], settings["claim"]) == (2, 50, 1)
    assert (settings["seed"], settings["sampler"], settings["dataset_size"]) == ("3", "shuffle", None)
    assert widget.values is None and widget.claimed is None and widget.lower is None
    for settings, message in [
        ({"noise_multiplier": 0}, "noise_multiplier.*less than"),
        ({"sampler": "shuffled"}, "sampler.*'shuffle'"),
        ({"claim": -1}, "claim"),
    ]:
        with pytest.raises(dpscope.DpscopeError, match=message):
            dpscope.explore(**settings)
    with pytest.raises(TypeError, match="explore has no setting 'sigma'; expected some of noise"):
        dpscope.explore(sigma=1)


def test_values_of_other_settings_are_removed(anywidget):
    widget = dpscope.explore()
    settings = {**widget.settings, "noise_multiplier": 2.0}
    values = {"poisson": {"epsilon": 0.19}}
    # as the page sends them
    widget.set_state({**settings, "_answered": settings, "values": values, "lower": 0.48})
    assert (widget.settings, widget.values, widget.lower) == (settings, values, 0.48)
    widget.steps = 50
    assert widget.values is None and widget.lower is None
