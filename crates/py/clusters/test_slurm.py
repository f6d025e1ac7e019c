"""A cluster of Slurm on this machine, with two virtual nodes."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import AUDIT, package, stable

import dpscope

#: Debian's package slurm-wlm has them.
PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "scontrol"]

CONFIGURATION = """\
ClusterName=dpscope
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={ports[0]}
AuthType=auth/munge
# A requeued job waits as long as the credential of its last start is valid.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,bf_interval=2
ReturnToService=2
KillWait=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
GresTypes=gpu
NodeName=first NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 Gres=gpu:1 State=UNKNOWN
NodeName=second NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for(what, condition, seconds=300):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    pytest.fail(f"{what}: not within {seconds} s")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"Slurm needs root and {', '.join(missing or PROGRAMS)}")
    folder = tmp_path_factory.mktemp("slurm")
    (folder / "state").mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    text = CONFIGURATION.format(host=socket.gethostname(), folder=folder, ports=free_ports(3))
    (folder / "slurm.conf").write_text(text)
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    files = [f"--{name}={folder}/munge.{name}" for name in ("socket", "log-file", "pid-file", "seed-file")]
    munged = ["munged", "--foreground", "--force", f"--key-file={key}", *files]
    nodes = [["slurmd", "-D", "-N", name] for name in ("first", "second")]
    daemons = []
    try:
        with open(folder / "daemons.log", "w") as log:
            for command in (munged, ["slurmctld", "-D"], *nodes):
                daemons.append(subprocess.Popen(command, stdout=log, stderr=log))
                if command is munged:
                    wait_for("munged", (folder / "munge.socket").exists, 30)
        idle = lambda: output("sinfo", "--noheader", "--format=%D %t").strip() == "2 idle"
        wait_for("two idle nodes", idle, 60)
        yield folder
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            daemon.wait(timeout=60)
        del os.environ["SLURM_CONF"]


def output(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options).stdout


def counted(path):
    """Observations in a checkpoint."""
    try:
        parts = json.loads(path.read_bytes())["counted"]
    except FileNotFoundError:
        return 0
    return sum(part["end"] - part["first"] for part in parts)


def test_a_requeued_task_continues_and_changes_nothing(slurm, whole, tmp_path):
    script = dpscope.launch_slurm([*AUDIT.split(), "--json"], shards=3).text
    script.save(tmp_path / "audit.sh")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/dpscope").symlink_to(package.program())
    path = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    submitted = subprocess.run(
        ["sh", "audit.sh"], cwd=tmp_path, env=path, capture_output=True, text=True, check=True
    )
    shards = tmp_path / "dpscope-shards"
    checkpoint = shards / "shard-1.checkpoint"
    wait_for("a checkpoint", lambda: counted(checkpoint))
    merge = int(submitted.stdout.split()[-1])
    task = f"{merge - 1}_1"
    output("scontrol", "requeue", task)
    waits = lambda: "Restarts=1" in output("scontrol", "show", "job", task)
    wait_for("the task is requeued", waits)
    before = counted(checkpoint)
    assert 0 < before < 10_000_000, "the task was not interrupted in its middle"

    result = shards / "result.txt"
    failed = lambda: "DependencyNeverSatisfied" in output("squeue", "--format=%r")
    ended = lambda: result.exists() and result.read_text().endswith("}\n") or failed()
    wait_for("the merge", ended)
    assert stable(json.loads(result.read_text())) == whole
    # Submitted again, finished shards take a moment.
    submitted = subprocess.run(["sh", "audit.sh", "merge"], cwd=tmp_path, env=path, capture_output=True)
    assert stable(json.loads(submitted.stdout)) == whole


def test_shards_on_gpus_run_on_nodes_that_have_one(slurm, tmp_path):
    script = dpscope.launch_slurm(AUDIT.removesuffix("cpu") + "gpu", shards=3).text
    for gpus, nodes in ((1, {"first"}), (2, set())):
        # Without a GPU here, the shards note their node.
        noting = script.replace("exec dpscope audit", 'echo "$SLURMD_NODENAME" >> nodes; exit; #')
        file = tmp_path / f"audit-{gpus}.sh"
        file.write_text(noting.replace("--gres=gpu:1", f"--gres=gpu:{gpus}"))
        submitted = subprocess.run(["sh", file.name], cwd=tmp_path, capture_output=True, text=True)
        if gpus == 2:
            assert "Requested node configuration is not available" in submitted.stderr
            break
        noted = lambda: (tmp_path / "nodes").exists() and (tmp_path / "nodes").read_text().split()
        wait_for("three shards", lambda: len(noted() or []) == 3)
        assert set(noted()) == nodes


def test_scripts_have_no_lint(tmp_path):
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shellcheck = shutil.which("shellcheck", path=beside)
    if shellcheck is None:
        pytest.skip("shellcheck is not installed")
    check = [shellcheck, "--exclude=SC2016"]  # of words that nothing expands, on purpose
    options = {"output_folder": "it's $(id)", "job_name": "a-1", "time_limit": 9}
    audit = [*AUDIT.split(), "--plot", "it's $(id) `a` \"b\".svg"]
    file = tmp_path / "audit.sh"
    for words, one in ((AUDIT.split(), {}), (audit, options)):
        dpscope.launch_slurm(words, **one).text.save(file)
        checked = subprocess.run([*check, file], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
    unquoted = tmp_path / "unquoted.sh"
    unquoted.write_text(file.read_text().replace('"$folder"/', "$folder/"))
    assert subprocess.run([*check, unquoted], capture_output=True).returncode == 1
