"""Shards that are computed here, and what engines are given."""

import json

import pytest
from conftest import stable

import dpscope
from dpscope._shard_run import ShardedRun

AUDIT = "audit bgm --noise-multiplier 1 --steps 10 --observations 3e4 --seed 7 --device cpu"
RUN = ShardedRun(tuple(AUDIT.split()), 3, checkpoint_every=0.0)


def silent(*_):
    pass


def test_damaged_shards_are_detected_and_computed_again():
    content = RUN.compute(1, None, silent)
    assert RUN.compute(1, content, silent, note=pytest.fail) == content
    counts = json.loads(content)
    changed = json.dumps({**counts, "sampling_ms": 1.0}).encode()
    for damaged in (content[:1000], content[:-1], b"", b"\0" * 100, changed):
        notes = []
        again = json.loads(RUN.compute(1, damaged, silent, note=notes.append))
        assert len(notes) == 1 and notes[0].startswith("shard 1 is damaged in the store"), notes
        assert again["histograms"] == counts["histograms"]
        assert again["counted"] == counts["counted"]


def test_shards_of_another_run_are_refused():
    content = RUN.compute(1, None, silent)
    with pytest.raises(dpscope.DpscopeError, match="this run counts"):
        RUN.compute(2, content, silent)
    other = ShardedRun(tuple(AUDIT.replace("--seed 7", "--seed 8").split()), 3)
    with pytest.raises(dpscope.DpscopeError, match='seed: "8" here, "7" there'):
        other.compute(1, content, silent)
    with pytest.raises(dpscope.DpscopeError, match="install one version on all nodes"):
        ShardedRun(RUN.audit, 3, version="0.0.1").compute(1, None, silent)


def test_an_interrupted_shard_continues_from_its_checkpoint():
    longer = ShardedRun(tuple(AUDIT.replace("3e4", "2.4e7").split()), 3, checkpoint_every=0.0)
    saved = []

    class Lost(Exception):
        pass

    def stop_early(done, total):
        if saved and json.loads(saved[-1])["counted"]:
            raise Lost

    with pytest.raises(Lost):
        longer.compute(2, None, stop_early, saved.append)
    before = sum(part["end"] - part["first"] for part in json.loads(saved[-1])["counted"])
    seen = []
    content = longer.compute(2, saved[-1], lambda done, total: seen.append(done))
    assert 0 < before < 4_000_000 and seen[0] >= 2 * before and seen[-1] == 8_000_000
    in_one_piece = json.loads(longer.compute(2, None, silent))
    assert json.loads(content)["histograms"] == in_one_piece["histograms"]


def test_launches_equal_those_of_the_program(dpscope_json):
    expected = dpscope_json(f"launch slurm --shards 3 --seconds 0 --json -- {AUDIT} --claim 3")
    for audit in (f"{AUDIT} --claim 3", [*AUDIT.split(), "--claim", "3"]):
        launched = dpscope.launch_slurm(audit, shards=3, seconds=0)
        assert stable(launched.report())["audit"] == expected["audit"]
    assert launched.core_hours is None and "--array=1-3" in launched.text
    plan = dpscope.plan_bgm(noise_multiplier=1, steps=10, observations=30_000, seed=1)
    launched = dpscope.launch_kubernetes(plan, image="i", seconds=0.01, price_per_core_hour=1)
    assert "30000" in launched.report()["audit"]
    assert launched.core_hours > 0 and "measured on this machine" in launched.headline
    with pytest.raises(dpscope.DpscopeError, match="names no audit"):
        dpscope.launch_slurm(dpscope.plan_bgm(epsilon=2))
    with pytest.raises(dpscope.DpscopeError, match="cannot be run in shards"):
        dpscope.launch_slurm("bound poisson --noise-multiplier 1 --steps 10")
