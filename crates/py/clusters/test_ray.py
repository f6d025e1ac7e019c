"""Runs on local clusters of Ray with several nodes, which are lost and come back."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import AUDIT, document, stable

import dpscope
import dpscope.ray
from dpscope._shard_run import ShardedRun, shard_name

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")
server = pytest.importorskip("moto.server")

SHARDS = 4
SHORT = "audit bgm --noise-multiplier 1 --steps 10 --observations 3e4 --seed 7 --device cpu"
OPTIONS = {"shards": SHARDS, "checkpoint_every": 0.2}


@pytest.fixture
def cluster():
    """A head without cores, so that nodes with work can be lost."""
    started = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    started.add_node(num_cpus=1)
    started.add_node(num_cpus=1)
    ray.init(address=started.address, log_to_driver=False)
    yield started
    ray.shutdown()
    started.shutdown()


class S3:
    """A server of S3 in this process, whose content outlives it."""

    def __init__(self):
        self._server, self.port = None, 0
        self.start()

    def start(self):
        self._server = server.ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
        self._server.start()
        self.port = self._server.get_host_and_port()[1]

    def stop(self):
        self._server.stop()

    @property
    def options(self):
        endpoint = f"http://127.0.0.1:{self.port}"
        retries = {"config_kwargs": {"retries": {"max_attempts": 1}, "connect_timeout": 2}}
        return {"key": "key", "secret": "secret", "endpoint_url": endpoint, **retries}


@pytest.fixture
def s3(request):
    s3fs = pytest.importorskip("s3fs")
    started = S3()
    # The content is that of the process: each test has a bucket of its own.
    started.folder = f"s3://{request.node.name.replace('_', '-')}/run"
    bucket = started.folder.split("/")[2]
    s3fs.S3FileSystem(**started.options, skip_instance_cache=True).mkdir(bucket)
    yield started
    started.stop()


def kill_a_worker():
    """Kills a process that computes a shard; whether there was one."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if name.startswith(b"ray::_compute"):
            os.kill(int(folder.name), signal.SIGKILL)
            return True
    return False


class Disturbed:
    """Calls each function in turn once shards have counted more, until it has had its effect."""

    def __init__(self, *functions):
        self._left, self._done = list(functions), 0

    def __call__(self, progress):
        if self._left and progress.results_done > self._done and self._left[0]():
            self._done = progress.results_done
            del self._left[0]

    @property
    def is_over(self):
        return not self._left


def test_lost_workers_and_nodes_change_nothing(cluster, s3, whole):
    def lose_a_node():
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        return True

    def add_a_node():
        cluster.add_node(num_cpus=1)
        return True

    disturbed = Disturbed(kill_a_worker, lose_a_node, add_a_node)
    audit = dpscope.ray.run(
        AUDIT, storage=s3.folder, storage_options=s3.options, progress=disturbed, **OPTIONS
    )
    assert disturbed.is_over, "the run ended before a worker and a node were lost"
    assert stable(audit.report()) == whole
    assert audit.verdict(claim=100).outcome == "not-refuted"


def test_a_store_that_stops_loses_nothing(cluster, s3, whole):
    def stop():
        s3.stop()
        return True

    options = {"storage": s3.folder, "storage_options": s3.options, **OPTIONS}
    stopped = Disturbed(stop)
    with pytest.raises(dpscope.ray.StoreError, match=r"^s3://.*/run: .* of 4 shards are finished"):
        dpscope.ray.run(AUDIT, progress=stopped, **options)
    s3.start()
    assert stable(dpscope.ray.run(AUDIT, **options).report()) == whole


def test_damaged_shards_are_not_merged(cluster, tmp_path):
    folder = tmp_path / "run"
    options = {"storage": str(folder), **OPTIONS}
    audit = stable(dpscope.ray.run(SHORT, **options).report())
    second = folder / shard_name(2)
    content = second.read_bytes()
    second.write_bytes(content[: len(content) // 2])
    # Cut before the tasks, and after them.
    assert stable(dpscope.ray.run(SHORT, **options).report()) == audit
    assert len(second.read_bytes()) > len(content) // 2

    def cut(progress):
        if progress.shards_done == SHARDS and not cuts:
            cuts.append(second.write_bytes(content[: len(content) // 2]))

    cuts = []
    assert stable(dpscope.ray.run(SHORT, progress=cut, **options).report()) == audit
    assert cuts and len(second.read_bytes()) > len(content) // 2
    with pytest.raises(dpscope.DpscopeError, match="another run"):
        dpscope.ray.run(SHORT.replace("--seed 7", "--seed 8"), **options)
    other = second.read_bytes()
    (folder / shard_name(1)).write_bytes(other)
    with pytest.raises(dpscope.DpscopeError, match="^shard 1: .*this run counts"):
        dpscope.ray.run(SHORT, **options)


def test_of_two_drivers_that_start_at_once_one_is_refused(cluster, s3):
    options = {"storage": s3.folder, "storage_options": s3.options, **OPTIONS}
    audits = [SHORT, SHORT.replace("--seed 7", "--seed 8")]
    with ThreadPoolExecutor() as drivers:
        runs = [drivers.submit(dpscope.ray.run, audit, **options) for audit in audits]
    [refused] = [run.exception() for run in runs if run.exception() is not None]
    assert isinstance(refused, dpscope.DpscopeError) and "has another run" in str(refused)
    [[audit, run]] = [(audit, run) for audit, run in zip(audits, runs) if run.exception() is None]
    alone = dpscope.ray.run(audit, storage="memory://alone", **OPTIONS)
    assert stable(run.result().report()) == stable(alone.report())


def software():
    """The name of a device that computes in software; the test is skipped where there is none."""
    names = [found["name"] for found in document("devices")["devices"] if found["kind"] == "software"]
    return names[0] if names else pytest.skip("no software device: Debian's mesa-vulkan-drivers has one")


def test_shards_on_gpus_wait_for_nodes_that_have_one(cluster, tmp_path):
    audit, name = SHORT.replace(" --device cpu", ""), software()
    options = {"storage": str(tmp_path / "run"), "device": name, **OPTIONS}
    waited = []

    def add_a_gpu(progress):
        if not waited:
            waited.append(progress.shards_done)
            cluster.add_node(num_cpus=1, num_gpus=1)

    found = dpscope.ray.run(audit, progress=add_a_gpu, **options)
    assert waited == [0]
    assert name in found.report()["device"]
    on_cpu = dpscope.ray.run(SHORT, storage="memory://cpu", **OPTIONS)
    assert found.epsilon == pytest.approx(on_cpu.epsilon, rel=1e-3)


def test_a_storage_that_nodes_do_not_share_is_noticed_at_once(cluster, tmp_path, monkeypatch):
    # The run of this process is not in the folder that nodes see.
    monkeypatch.setattr(ShardedRun, "opened", lambda run, store, has_seed: run)
    with pytest.raises(dpscope.ray.StoreError, match="sees no run.json there; .*0 of 4 shards"):
        dpscope.ray.run(SHORT, storage=str(tmp_path), **OPTIONS)
    assert not any(tmp_path.iterdir())


def test_states_in_memory_are_those_of_this_process(cluster):
    audit = dpscope.ray.run(f"{SHORT} --claim 0.1", storage="memory://run", **OPTIONS)
    assert audit.verdict().outcome == "refuted"
    again = dpscope.ray.run(SHORT, storage="memory://run", **OPTIONS)
    assert stable(again.report())["result"] == stable(audit.report())["result"]


def test_a_cluster_that_disappears_is_an_error_with_its_name(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(dpscope.ray, "_MOST_MISSED", 3)
    lost = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    ray.init(address=lost.address, log_to_driver=False)
    options = {"storage": str(tmp_path / "run"), **OPTIONS}

    def lose_the_head():
        lost.head_node.kill_gcs_server()
        return True

    disappears = Disturbed(lose_the_head)
    try:
        with pytest.raises(dpscope.ray.ClusterError, match="does not answer.*call again"):
            dpscope.ray.run(AUDIT, progress=disappears, **options)
    finally:
        ray.shutdown()
        lost.shutdown()
    later = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    ray.init(address=later.address, log_to_driver=False)
    try:
        assert stable(dpscope.ray.run(AUDIT, **options).report()) == whole
    finally:
        ray.shutdown()
        later.shutdown()
