"""Shards that are computed here, and what engines are given."""

import json
import socket
from types import SimpleNamespace

import pytest
from conftest import stable

import dpscope
from dpscope import ray as driver
from dpscope._shard_run import RUN as RUN_FILE
from dpscope._shard_run import ShardedRun, digest, shard_name

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
    expected = dpscope_json(f"launch slurm --shards 3 --json -- {AUDIT} --claim 3")
    for audit in (f"{AUDIT} --claim 3", [*AUDIT.split(), "--claim", "3"]):
        launched = dpscope.launch_slurm(audit, shards=3)
        assert stable(launched.report())["audit"] == expected["audit"]
    assert launched.headline == "3 shards for slurm" and "--array=1-3" in launched.text
    plan = dpscope.plan_bgm(noise_multiplier=1, steps=10, observations=30_000, seed=1)
    launched = dpscope.launch_kubernetes(plan, image="i")
    assert "30000" in launched.report()["audit"]
    with pytest.raises(dpscope.DpscopeError, match="names no audit"):
        dpscope.launch_slurm(dpscope.plan_bgm(epsilon=2))
    with pytest.raises(dpscope.DpscopeError, match="cannot be run in shards"):
        dpscope.launch_slurm("bound poisson --noise-multiplier 1 --steps 10")


class Folder:
    """A store in this process."""

    url = "folder"
    is_of_one_process = False

    def __init__(self):
        self.files = {}
        self.read = self.files.get

    def write(self, name, content, *, check=False):
        self.files[name] = content

    def create(self, name, content):
        self.files.setdefault(name, content)

    def names(self):
        return list(self.files)


class Remote:
    """A function or a class of Ray, which is called at once."""

    def __init__(self, called):
        self._called = called

    def options(self, **_):
        return self

    def remote(self, *arguments):
        result = self._called(*arguments)
        return Actor(result) if isinstance(self._called, type) else Reference(result)


class Actor:
    def __init__(self, instance):
        self._instance = instance

    def __getattr__(self, name):
        return Remote(getattr(self._instance, name))


class Reference:
    def __init__(self, result):
        self.result = result


class Ray:
    """Ray without a cluster: tasks are finished when they are submitted."""

    class RayError(Exception):
        pass

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayError)
    util = SimpleNamespace(client=SimpleNamespace(ray=SimpleNamespace(is_connected=lambda: True)))
    remote = Remote

    def __init__(self):
        self.waits, self.cancelled = 0, 0

    def wait(self, references, num_returns, timeout):
        self.waits += 1
        return references[:num_returns], references[num_returns:]

    def get(self, reference, timeout=None):
        return reference.result

    def cancel(self, reference, force):
        self.cancelled += 1
        raise ConnectionError("the cluster is gone")


def computed(ray, run, progress):
    store = Folder()
    run.opened(store, True)
    started = driver._Driver(ray, run, store, 0, progress)
    started.compute(range(1, run.shards + 1))
    return started, store


def test_progress_is_shown_once_per_look():
    ray, shown = Ray(), []
    started, store = computed(ray, RUN, shown.append)
    assert ray.waits == len(shown) == 1
    assert (shown[0].shards_done, shown[0].results_done, shown[0].results) == (3, 30_000, 30_000)
    assert started.digests == {n: digest(store.files[shard_name(n)]) for n in (1, 2, 3)}


def test_what_resumed_shards_counted_before_is_no_speed():
    collector = driver._Collector()
    for first, done in ((40, 40), (60, 60), (90, 90)):
        collector.put(1, first, done, 100)
    assert collector.state() == {1: (40, 90, 100)}

    def compute(number, saved, report):
        report(100, 100)
        return b"content"

    run = SimpleNamespace(compute=compute)
    driver._compute(run, 2, None, b"checkpoint", Actor(collector))
    driver._compute(run, 3, None, None, Actor(collector))  # short, with one report
    assert collector.state() == {1: (40, 90, 100), 2: (100, 100, 100), 3: (0, 100, 100)}
    started = driver._Driver(Ray(), RUN, Folder(), 0, silent)
    started._note(collector.state())
    started._note({1: (90, 95, 100)})  # of a collector that Ray started again
    assert started._resumed == {1: 40, 2: 100, 3: 0}


def test_a_cluster_that_cannot_cancel_hides_no_error():
    class Lost(Ray):
        def wait(self, references, num_returns, timeout):
            raise self.RayError("the head is gone")

    ray = Lost()
    with pytest.raises(driver.ClusterError, match="the head is gone; 0 of 3 shards are finished"):
        computed(ray, RUN, silent)
    assert ray.cancelled == 3


def test_a_node_that_does_not_see_the_storage_computes_nothing():
    store = Folder()
    for text, problem in ((None, "sees no run.json"), (b"{}", "sees another run")):
        if text is not None:
            store.files[RUN_FILE] = text
        with pytest.raises(driver.StoreError, match=f"^folder: node .* {problem} there; all nodes"):
            driver._compute(RUN, 1, store, None, None)
        assert shard_name(1) not in store.files
    store.files.clear()
    ShardedRun((*RUN.audit[:-3], "8", *RUN.audit[-2:]), 3).opened(store, True)  # with another seed
    with pytest.raises(driver.StoreError, match="sees another run"):
        driver._compute(RUN, 1, store, None, None)


def test_shards_that_stay_damaged_are_repaired_three_times(capsys):
    wrong, calls = {2: "missing", 3: "damaged"}, []
    compute = lambda numbers: calls.append(list(numbers))
    with pytest.raises(driver.StoreError, match="^folder: after 3 repairs, shard 2 is missing, sh"):
        driver._completed(compute, lambda: wrong, range(1, 4), "folder")
    assert calls == [[1, 2, 3], [2, 3], [2, 3], [2, 3]]
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6 and lines[0].endswith("shard 2 is missing in folder and is computed again")

    merged = dpscope.Audit({}, None)
    found = [merged, wrong, wrong, wrong]
    assert driver._completed(compute, found.pop, [1], "folder") is merged and not found


def test_missing_and_damaged_shards_are_not_merged():
    started, store = computed(Ray(), RUN, silent)
    whole = dict(store.files)
    del store.files[shard_name(1)]
    store.files[shard_name(3)] = b""
    found = driver._merged(RUN, store, started.digests, {})
    assert found == {1: "missing", 3: "damaged"}
    store.files.update(whole)
    asked = dpscope.launch_slurm([*AUDIT.split(), "--claim=3", "--brief"])
    assert asked.report()["merge_options"] == {"claim": ["3"], "brief": []}
    audit = driver._merged(RUN, store, started.digests, asked.report()["merge_options"])
    assert audit.report()["claim"]["epsilon"] == 3


def test_drawings_of_pategan_are_written(tmp_path):
    words = "audit pategan --runs 40 --fault U1 --gamma 0.5 --iterations 2 --seed 1 --device cpu"
    run = ShardedRun(tuple(words.split()), 2)
    started, store = computed(Ray(), run, silent)
    plot, report = tmp_path / "a.svg", tmp_path / "a.html"
    asked = {"plot": [str(plot)], "report": [str(report)]}
    audit = driver._merged(run, store, started.digests, asked)
    assert plot.read_text(encoding="utf-8") == audit.svg()
    assert report.read_text(encoding="utf-8") == audit.page()
    asked = {"plot": [str(tmp_path / "missing/a.svg")]}
    with pytest.raises(dpscope.DpscopeError, match="^cannot write .*a.svg: No such file"):
        driver._merged(run, store, started.digests, asked)


def test_addresses_of_ipv6_have_no_brackets(monkeypatch):
    tried = []
    connected = SimpleNamespace(close=silent)
    monkeypatch.setattr(
        socket, "create_connection", lambda address, timeout: tried.append(address) or connected
    )
    for address in ("[::1]:6379", "127.0.0.1:6379"):
        context = SimpleNamespace(gcs_address=address)
        not_connected = SimpleNamespace(ray=SimpleNamespace(is_connected=lambda: False))
        ray = SimpleNamespace(
            util=SimpleNamespace(client=not_connected), get_runtime_context=lambda: context
        )
        driver._Cluster(ray).check("")
    assert tried == [("::1", 6379), ("127.0.0.1", 6379)]
