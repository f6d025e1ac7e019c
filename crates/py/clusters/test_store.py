"""Stores that fail, and folders of other runs."""

import errno
import json
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

import dpscope
from dpscope import _shard_store
from dpscope._shard_run import RUN, ShardedRun, shard_name
from dpscope._shard_store import Store, StoreError

fsspec = pytest.importorskip("fsspec")

AUDIT = "audit bgm --noise-multiplier 1 --steps 10 --observations 3e4 --seed 7 --device cpu"
RUN_OF_THREE = ShardedRun(tuple(AUDIT.split()), 3, checkpoint_every=0.0)


class Failing(fsspec.get_filesystem_class("memory")):
    """A store in memory whose writes fail from time to time, or write a part."""

    protocol = "failing"
    store: dict = {}
    pseudo_dirs = [""]
    #: Of each write: whether it works, fails, or writes a part.
    outcomes: list = []

    def pipe_file(self, path, value, **options):
        outcome = self.outcomes.pop(0) if self.outcomes else "works"
        if outcome == "fails":
            raise ConnectionError("the store is busy")
        super().pipe_file(path, value[: len(value) // 2] if outcome == "part" else value, **options)


fsspec.register_implementation("failing", Failing, clobber=True)


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(_shard_store, "PAUSES", (0.0, 0.0, 0.0))
    Failing.store.clear()
    Failing.outcomes = []
    return Store("failing://run")


def compute(store, number, report=lambda done, total: None):
    name = shard_name(number)
    save = lambda state: store.write(name, state)
    content = RUN_OF_THREE.compute(number, store.read(name), report, save)
    store.write(name, content, check=True)
    return content


def test_files_are_replaced_as_a_whole(tmp_path, store):
    for folder in (store, Store(str(tmp_path / "a/b")), Store("memory://files")):
        assert folder.names() == [] and folder.read("x") is None
        folder.write("x", b"1")
        folder.write("x", b"22", check=True)
        assert (folder.names(), folder.read("x")) == (["x"], b"22")


def test_without_links_the_first_file_stays_and_is_whole(store, tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EPERM, "not permitted")

    folder = Store(str(tmp_path))
    monkeypatch.setattr(os, "link", refused)
    with monkeypatch.context() as failing:
        failing.setattr(os, "replace", refused)
        with pytest.raises(StoreError, match="cannot write x: .*not permitted"):
            folder.create("x", b"content")
    assert os.listdir(tmp_path) == []
    folder.create("x", b"content")
    folder.create("x", b"of another call")
    assert (os.listdir(tmp_path), folder.read("x")) == (["x"], b"content")

    (tmp_path / "y.lock").mkdir()
    with pytest.raises(StoreError, match="y.lock is there; remove it"):
        folder.create("y", b"content")
    (tmp_path / "y.lock").rmdir()
    folder.create("y", b"content")
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_of_calls_at_once_without_links_one_creates_the_file(store, tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EPERM, "not permitted")

    def call(content):
        folder.create("x", content)
        return folder.read("x")

    folder = Store(str(tmp_path))
    monkeypatch.setattr(os, "link", refused)
    monkeypatch.setattr(_shard_store, "PAUSES", (0.05,) * 20)
    contents = [bytes([number]) * 1_000_000 for number in range(8)]
    with ThreadPoolExecutor(len(contents)) as calls:
        seen = set(calls.map(call, contents))
    assert len(seen) == 1 and seen < set(contents)


def test_a_third_write_that_fails_is_repeated(store):
    Failing.outcomes = ["works", "works", "fails"]
    for number in (1, 2, 3):
        store.write(str(number), b"content")
    assert store.names() == ["1", "2", "3"] and Failing.outcomes == []


def test_a_part_is_detected_when_it_is_read_back(store):
    Failing.outcomes = ["part"]
    store.write("checked", b"content", check=True)
    Failing.outcomes = ["part"]
    store.write("unchecked", b"content")
    assert (store.read("checked"), store.read("unchecked")) == (b"content", b"con")


def test_a_store_that_fails_four_times_is_an_error_with_its_name(store):
    Failing.outcomes = ["fails"] * 4
    with pytest.raises(StoreError, match="^failing://run: cannot write x: .*the store is busy"):
        store.write("x", b"content")
    store.write("x", b"content")


def test_a_shard_of_a_store_that_failed_continues(store):
    first = []
    Failing.outcomes = ["works"] + ["fails"] * 4
    with pytest.raises(StoreError):
        compute(store, 1)
        compute(store, 2)  # where shard 1 was saved once
    compute(store, 1)
    compute(store, 1, lambda done, total: first.append(done))
    assert first in ([], [10_000])  # nothing is left to compute


def test_a_run_keeps_its_seed(store):
    fresh = ShardedRun((*AUDIT.replace("--seed 7 ", "").split(), "--seed", "1"), 3)
    assert fresh.opened(store, has_seed=False) == fresh
    other = ShardedRun((*AUDIT.replace("--seed 7 ", "").split(), "--seed", "2"), 3)
    assert other.opened(store, has_seed=False).audit == fresh.audit
    with pytest.raises(dpscope.DpscopeError, match="another run .*choose another folder"):
        other.opened(store, has_seed=True)


@pytest.mark.parametrize("url", ["", "memory://both", "failing://both"])
def test_the_second_of_two_drivers_that_start_at_once_is_refused(url, store, tmp_path, monkeypatch):
    url = url or str(tmp_path / "both")
    other = ShardedRun((*AUDIT.replace("--seed 7 ", "").split(), "--seed", "8"), 3)

    def first():
        """A driver whose look at an empty folder is followed by all that another one does."""
        driver = Store(url)
        driver.names = lambda: [] if other.opened(Store(url), has_seed=True) else None
        return driver

    with pytest.raises(dpscope.DpscopeError, match="another run .*--seed 8.*choose another folder"):
        RUN_OF_THREE.opened(first(), has_seed=True)
    other.check(Store(url))

    # A file that is replaced leaves two drivers that compute.
    Store(url)._fs.rm(Store(url)._path(RUN))
    monkeypatch.setattr(Store, "create", Store.write)
    RUN_OF_THREE.opened(first(), has_seed=True)
    with pytest.raises(StoreError, match="sees another run there"):
        other.check(Store(url))


@pytest.mark.parametrize("is_known", [True, False])
def test_of_two_drivers_whose_writes_cross_one_is_refused(is_known, store, monkeypatch):
    """A store that creates nothing, and so replaces the file: what is there afterwards decides."""
    other = ShardedRun((*AUDIT.replace("--seed 7 ", "").split(), "--seed", "8"), 3)

    def replace(fs, path, value, mode="overwrite", **options):
        if mode == "create" and is_known:
            raise OSError(errno.ENOSYS, "not implemented")
        super(Failing, fs).pipe_file(path, value)

    monkeypatch.setattr(Failing, "pipe_file", replace)
    first = Store("failing://run")
    create = first.create

    def crossed(name, content):
        create(name, content)
        second = Store("failing://run")
        second.read = lambda name, read=second.read: read(name) if looks else looks.append(name)
        other.opened(second, has_seed=True)

    looks = []
    first.create = crossed
    with pytest.raises(dpscope.DpscopeError, match="another run .*--seed 8"):
        RUN_OF_THREE.opened(first, has_seed=True)
    other.check(store)


@pytest.mark.parametrize(
    "other",
    [
        ShardedRun(tuple(AUDIT.replace("3e4", "4e4").split()), 3),
        ShardedRun(tuple(AUDIT.split()), 4),
        ShardedRun(tuple(AUDIT.split()), 3, version="0.0.1"),
    ],
)
def test_another_run_in_the_folder_is_refused(store, other):
    RUN_OF_THREE.opened(store, has_seed=True)
    before = store.read(RUN)
    for has_seed in (True, False):
        with pytest.raises(dpscope.DpscopeError, match="another run"):
            other.opened(store, has_seed)
    assert store.read(RUN) == before
    assert RUN_OF_THREE.opened(store, has_seed=True) == RUN_OF_THREE


def test_shards_of_an_unknown_run_are_refused(store):
    store.write(shard_name(2), b"{}")
    with pytest.raises(dpscope.DpscopeError, match="shards without run.json"):
        RUN_OF_THREE.opened(store, has_seed=True)
    audits = [{"audit": audit} for audit in ([], ["--seed"], 5, [5], None)]
    audits.append({"audit": ["--seed", "1"], "shards": [3]})
    damaged = [json.dumps(document).encode() for document in ([], 5, {}, *audits)]
    for content in (b"{", b"[" * 100_000, *damaged):
        store.write(RUN, content)
        for has_seed in (True, False):
            with pytest.raises(dpscope.DpscopeError, match="run.json is damaged|another run"):
                RUN_OF_THREE.opened(store, has_seed)
        with pytest.raises(StoreError, match="sees another run"):
            RUN_OF_THREE.check(store)


def test_an_unknown_store_is_refused():
    with pytest.raises(dpscope.DpscopeError, match="storage is 'nothing://x'"):
        Store("nothing://x")


@pytest.mark.parametrize("url", ["", "run", "./run", "~/run", "file://run", "local://run", "file:run"])
def test_a_folder_that_differs_between_nodes_is_refused(url):
    with pytest.raises(dpscope.DpscopeError, match="another folder on each node; pass an absolute"):
        Store(url)


def test_a_store_is_the_same_in_another_process(tmp_path):
    for url in (str(tmp_path), tmp_path.as_uri(), f"{tmp_path}/"):
        Store(url).write("x", b"content")
        assert pickle.loads(pickle.dumps(Store(url))).read("x") == b"content"
