"""Reports computed again, and published results."""

import json
import math
import signal
import threading
from pathlib import Path

import pytest
from conftest import run, stable

import dpscope


def counts():
    return dpscope.audit_counts(12, 480, target_trials=1000, zero_out_trials=1000, claim=1)


def test_recomputations_equal_those_of_the_program(dpscope_json, tmp_path):
    audit = counts()
    (tmp_path / "report").write_text(json.dumps(audit.report()))
    expected = dpscope_json("recompute report")
    audit.page().save("report.html")
    for report in (
        audit, audit.report(), json.dumps(audit.report()), str(audit.page()), "report",
        tmp_path / "report.html",
    ):
        found = dpscope.recompute(report)
        of_page = {
            name: [one for one in found.report()[name] if str(one).find("page:") >= 0]
            for name in ("checked", "open")
        }
        of_report = {
            name: [one for one in found.report()[name] if one not in parts]
            for name, parts in of_page.items()
        }
        assert {**found.report(), **of_report, "file": "report"} == expected
        is_page = "html" in str(report)
        assert ("page:text" in of_page["checked"]) == is_page
        assert bool(of_page["open"]) == is_page
        assert found.is_consistent and found.outcome == "consistent"
    assert "/result/epsilon" in found.checked and "not authentic" in str(found)
    assert {"pointer", "reason"} == set(found.open[0])


def test_an_edited_page_differs():
    page = str(counts().page())
    found = dpscope.recompute(page.replace(": REFUTED", ": NOT REFUTED"))
    assert [one["pointer"] for one in found.differences] == ["page:text"]


def test_an_edited_number_differs(tmp_path):
    report = counts().report()
    report["result"]["false_positives"] += 1
    found = dpscope.recompute(report)
    assert found.outcome == "inconsistent" and not found.is_consistent
    pointers = [one["pointer"] for one in found.differences]
    assert "/result/epsilon" in pointers and "INCONSISTENT" in str(found)
    assert "<table>" in found._repr_html_()
    nothing = dpscope.recompute({"schema": "dpscope.pategan/1"})
    assert nothing.outcome == "nothing" and not nothing.is_consistent


WRONG = {
    "another document": ({"a": 1}, "not a report"),
    "another version": ({"schema": "dpscope.report/1"}, "dpscope.report/1"),
    "truncated": ('{"schema": ', "truncated"),
    "another page": ("<html></html>", "neither a page"),
    "a missing file": ("no-file.json", "^no-file.json: cannot be read"),
    "NaN": ({"schema": "dpscope.report/2", "x": math.nan}, "^report is not a JSON document"),
    "an object": ({"schema": "dpscope.report/2", "x": object()}, "^report is not a JSON document"),
}


@pytest.mark.parametrize("name", WRONG)
def test_other_reports_are_refused(name):
    report, message = WRONG[name]
    with pytest.raises(dpscope.DpscopeError, match=message):
        dpscope.recompute(report)


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="^report is of type int"):
        dpscope.recompute(3)


REPRODUCTIONS = {
    "figure-3 --observations 1000 --device cpu": dict(observations=1000, device="cpu"),
    "one-run-validity --runs 5 --canaries 100": dict(runs=5, canaries=100),
    "one-shot-table-2 --runs 4": dict(runs=4),
    "pategan --runs 40 --average-runs 0": dict(runs=40, average_runs=0),
    "dpsgd-worst-case --runs 1000 --device cpu": dict(runs=1000, device="cpu"),
}


def steady(document):
    """A document without times, at any depth."""
    if isinstance(document, dict):
        return {name: steady(value) for name, value in stable(document).items()}
    return [steady(value) for value in document] if isinstance(document, list) else document


@pytest.mark.parametrize("line", REPRODUCTIONS, ids=lambda line: line.split()[0])
def test_reproductions_equal_those_of_the_program(dpscope_json, line):
    expected = dpscope_json(f"reproduce {line} --seed 1")
    calls = []
    what = line.split()[0]
    found = dpscope.reproduce(
        what, **REPRODUCTIONS[line], seed=1, progress=lambda done, total: calls.append((done, total))
    )
    assert steady(found.report()) == steady(expected)
    assert found.rows and str(found).startswith(what) and calls
    assert all(done <= total for done, total in calls)
    with pytest.raises(dpscope.DpscopeError, match="draw=True"):
        found.svg()


def test_a_reproduction_has_tables_by_name():
    columns = [{"id": "name", "heading": "setting", "is_right": False}]
    sections = [
        {"text": "head"},
        {"name": "changes", "rows": [{"name": "x"}]},
        {"name": "settings", "columns": columns, "rows": [{"name": "a"}], "printed": [["a"]]},
        {"name": "settings", "columns": columns, "printed": [["a"]]},
        {"name": "results", "columns": columns, "rows": [{"name": "b"}], "printed": [["b"]]},
        {"name": "results", "columns": columns, "rows": [{"name": "c"}], "printed": [["c"]]},
    ]
    report = {"facts": {"delta": 1e-5}, "sections": sections}
    found = dpscope._reports.Reproduction("experiment", report, None)
    assert found.rows == [{"name": "a"}] and str(found) == "experiment: 1 setting"
    assert found.tables["results"] == [{"name": "b"}, {"name": "c"}] and len(found.tables) == 2
    assert found.facts == {"delta": 1e-5}


def test_a_reproduction_is_drawn(dpscope_json, tmp_path):
    run("reproduce one-run-validity --runs 5 --canaries 100 --seed 1 --plot plot.svg")
    found = dpscope.reproduce("one-run-validity", runs=5, canaries=100, seed=1, draw=True)
    assert found.svg() == (tmp_path / "plot.svg").read_text(encoding="utf-8")


def test_wrong_experiments_are_refused():
    for options, message in [
        (dict(what="figure-99"), "figure-99"),
        (dict(what="figure-3", runs=10), "^runs has no effect"),
        (dict(what="figure-3", draw=True), "^plot has no effect"),
        (dict(what="one-run-validity", canaries=1), "^canaries is 1"),
        (dict(what="published", data="x.npz"), "^data has no effect"),
    ]:
        with pytest.raises(dpscope.DpscopeError, match=message):
            dpscope.reproduce(**options)


ENDLESS = {
    "figure-3": dict(observations=1e14, device="cpu"),
    "one-run-validity": dict(runs=1_000_000),
    "one-shot-table-2": dict(runs=1_000_000),
    "pategan": dict(runs=200_000),
    "metagradient-canaries": dict(metasteps=100_000),
    "fedavg-utility": dict(runs=100),
    "partial-shuffle": dict(runs=1e6, device="cpu"),  # an MLP, the smallest model
}


@pytest.mark.parametrize("what", ENDLESS)
def test_control_c_stops_a_reproduction(what):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    has_started = threading.Event()
    main = threading.main_thread().ident

    def press():
        has_started.wait()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            progress = lambda done, total: has_started.set()
            dpscope.reproduce(what, **ENDLESS[what], seed=1, yes=True, progress=progress)
    finally:
        signal.signal(signal.SIGINT, before)
    thread.join()
