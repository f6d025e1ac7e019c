"""Generators of the user: functions and commands in the same folder, and what their rows are good for."""

import signal
import sys
from random import Random

import numpy as np
import pytest
from conftest import run, stable

import dpscope

COLUMNS = """
[[columns]]
name = "x"
kind = "number"
low = 0
high = 1

[[columns]]
name = "n"
kind = "integer"
low = 0
high = 9

[[columns]]
name = "ill"
kind = "category"
names = ["no", "yes"]
"""

#: The function below as a command; each of its many runs would load numpy.
SCRIPT = """
import csv, sys
from random import Random
data, seed, out = sys.argv[1:]
rows = list(csv.DictReader(open(data)))
draws = Random(int(seed))
xs = [draws.random() for _ in range(8)]
with open(out, "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["x", "n", "ill"])
    for x in xs:
        row = rows[draws.randrange(len(rows))]
        writer.writerow([x, row["n"], row["ill"]])
"""


def released(table, seed):
    draws = Random(seed)
    x = np.array([draws.random() for _ in range(8)])
    drawn = [draws.randrange(len(table["x"])) for _ in range(8)]
    return {"x": x, "n": table["n"][drawn], "ill": table["ill"][drawn]}


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """Plans an audit in a folder of this name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "columns.toml").write_text(COLUMNS)
    rows = "".join(f"0.{i}5,{i},{'no' if i < 5 else 'yes'}\n" for i in range(9))
    (tmp_path / "data.csv").write_text("x,n,ill\n" + rows)
    (tmp_path / "held_out.csv").write_text("x,n,ill\n" + rows.replace("5,", "4,", 3))

    def plan(name, runs=20, **options):
        dpscope.plan_generator(
            claim=0.5, delta=0, data="data.csv", columns="columns.toml", target_row=8, rows=8,
            runs=runs, seed=5, out=name, **options,
        )
        return tmp_path / name

    return plan


def test_a_function_releases_the_rows_of_its_command(planned, dpscope_json, tmp_path):
    by_function, by_command, of_program = (planned(name) for name in ("function", "command", "program"))
    (tmp_path / "generator.py").write_text(SCRIPT)
    command = f"{sys.executable} generator.py {{data}} {{seed}} {{out}}"
    calls = []
    text = dpscope.run_generator(
        by_function, released, progress=lambda done, total: calls.append((done, total))
    )
    assert "with: 20 done, 0 failed" in text and calls[-1] == (40, 40)
    assert dpscope.run_generator(by_command, command, jobs=2).startswith("40 runs executed.")
    (tmp_path / "run.sh").write_text(f'exec {sys.executable} generator.py "$1" "$2" "$3"\n')
    run("generator run program --command sh${IFS}run.sh${IFS}{data}${IFS}{seed}${IFS}{out}")
    for file in by_command.rglob("*.csv"):
        name = file.relative_to(by_command)
        rows = [(folder / name).read_text().split() for folder in (by_function, by_command, of_program)]
        assert rows[0] == rows[1] == rows[2], name
    assert "equal rows" in (by_function / "seed-check.txt").read_text()
    expected = dpscope_json("audit generator program")
    audit = dpscope.audit_generator("function")
    same = {**expected, "folder": audit.report().get("folder")} if "folder" in expected else expected
    assert stable(audit.report()) == stable(same)


def test_the_table_has_the_types_of_its_columns(planned):
    seen = []

    def generate(table, seed):
        seen.append((table, seed))
        return released(table, seed)

    dpscope.run_generator(planned("audit"), generate)
    table, seed = seen[0]
    assert [column.dtype.kind for column in table.values()] == ["f", "i", "U"]
    assert table["x"][0] == 0.05 and table["ill"][-1] == "yes" and isinstance(seed, int)
    assert {len(table["x"]) for table, _ in seen} == {8, 9}  # without and with the target row
    assert len({seed for _, seed in seen}) == 40 and seen[-1][1] == seed  # the first run once more


class Frame:
    """What a data frame has of its columns."""

    def __init__(self, table):
        self.columns, self.table = list(table), table

    def __getitem__(self, name):
        return self.table[name]


def test_data_frames_are_released(planned):
    folder = planned("audit")
    dpscope.run_generator(folder, lambda table, seed: Frame(released(table, seed)))
    assert not list(folder.rglob("*.failed"))


WRONG = {
    "an exception": (lambda table, seed: 1 / 0, "ZeroDivisionError: division by zero"),
    "no table": (lambda table, seed: None, "TypeError: generate returned NoneType"),
    "fewer rows": (lambda table, seed: {n: c[:3] for n, c in table.items()}, "has 3 rows"),
    "another column": (lambda table, seed: {"y": table["x"]}, "column"),
    "ragged": (
        lambda table, seed: {**table, "n": table["n"][:3]}, "generate returned column n of shape"
    ),
    "a masked array": (
        lambda table, seed: {**table, "x": np.ma.masked_array(table["x"], mask=True)},
        "generate returned column x as a masked array",
    ),
    "not a number": (
        lambda table, seed: {**released(table, seed), "x": np.full(8, np.nan)}, "nan"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_run_that_fails_is_an_output(planned, name):
    wrong, reason = WRONG[name]
    folder = planned("audit")
    # only where the target row is present
    generate = lambda table, seed: (wrong if len(table["x"]) == 9 else released)(table, seed)
    text = dpscope.run_generator(folder, generate)
    assert "with: 0 done, 20 failed" in text and "without: 20 done, 0 failed" in text
    assert reason.lower() in (folder / "with/0000.failed").read_text().lower()
    if name == "an exception":
        assert "Traceback" in (folder / "with/0000.stderr").read_text()
    with pytest.raises(dpscope.DpscopeError, match="no run succeeded"):
        dpscope.run_generator(planned("other"), wrong)


def test_state_between_runs_is_reported(planned):
    draws = Random(1)  # not those of the run
    folder = planned("audit")
    dpscope.run_generator(folder, lambda table, seed: released(table, draws.randrange(1000)))
    assert "different rows" in (folder / "seed-check.txt").read_text()


def test_runs_continue_after_control_c(planned):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = planned("audit")
    calls = []

    def generate(table, seed):
        calls.append(seed)
        if len(calls) == 7:
            signal.raise_signal(signal.SIGINT)
        return released(table, seed)

    try:
        with pytest.raises(KeyboardInterrupt):
            dpscope.run_generator(folder, generate)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(calls) == 7
    assert dpscope.run_generator(folder, generate).startswith("34 runs executed.")
    assert calls[6] == calls[7]  # the run that was stopped


def test_control_c_ends_commands(planned):
    class Enough(Exception):
        pass

    def progress(done, total):
        raise Enough

    folder = planned("audit")
    with pytest.raises(Enough):
        dpscope.run_generator(folder, "sleep 1000; echo {data} {seed} {out}", progress=progress)
    assert not list(folder.rglob("*.failed")), "a stopped run has no outcome"


def test_options_of_commands_are_refused_for_functions(planned):
    folder = planned("audit")
    for options in (dict(jobs=2), dict(timeout=5)):
        with pytest.raises(TypeError, match="^" + next(iter(options))):
            dpscope.run_generator(folder, released, **options)
    with pytest.raises(TypeError, match="^generate is of type int"):
        dpscope.run_generator(folder, 3)
    with pytest.raises(dpscope.DpscopeError, match=r"^command lacks \{data\}"):
        dpscope.run_generator(folder, "true")
    with pytest.raises(dpscope.DpscopeError, match="max_bytes"):
        dpscope.run_generator(folder, released, max_bytes=-1)
    failed = dpscope.run_generator(planned("large", retries=0), lambda t, s: (
        released(t, s) if len(t["x"]) == 9 else {**released(t, s), "ill": np.array(["x" * 900] * 8)}
    ), max_bytes=1000)
    assert "without: 0 done, 20 failed" in failed


def test_utility_equals_that_of_the_program(planned, dpscope_json, tmp_path):
    for name in ("one", "two"):
        dpscope.run_generator(planned(name), released)
    line = "generator utility one two --test-data held_out.csv --label ill --runs 3 --plot utility.svg"
    expected = dpscope_json(line)
    calls = []
    utility = dpscope.generator_utility(
        ["one", "two"], test_data="held_out.csv", label="ill", runs=3,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert stable(utility.report()) == stable(expected) and calls[-1] == (6, 6)
    assert utility.svg() == (tmp_path / "utility.svg").read_text(encoding="utf-8")
    assert [row["name"] for row in utility.rows] == ["one", "two"] and "AUROC" in str(utility)
    assert "<table>" in utility._repr_html_()
    single = dpscope.generator_utility("one", test_data="held_out.csv", label="ill", runs=3)
    assert single.rows[0]["auroc"] == utility.rows[0]["auroc"]
    with pytest.raises(dpscope.DpscopeError, match="^label"):
        dpscope.generator_utility("one", test_data="held_out.csv", label="x")
    with pytest.raises(dpscope.DpscopeError, match="all its rows"):
        dpscope.generator_utility("one", test_data="data.csv", label="ill")
