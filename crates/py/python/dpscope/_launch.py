"""An audit in shards, for engines that run jobs on many machines."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

from dpscope._command import Command, Path
from dpscope._results import Page, Plan, Result

#: An audit: a plan, the file of one, or the words of a command.
ShardedAudit: TypeAlias = Union[Plan, Path, Sequence[str]]


class Launch(Result):
    """What an engine needs to run an audit in shards."""

    def __init__(self, report: dict[str, Any]) -> None:
        self._report = report

    @property
    def text(self) -> Page:
        """The script or manifest; `text.save(path)` writes it."""
        return Page(self._report["text"])

    @property
    def headline(self) -> str:
        return f"{self._report['shards']} shards for {self._report['engine']}"


def launch(engine: str, audit: ShardedAudit, options: Mapping[str, object]) -> Launch:
    """What `dpscope launch` prints for an engine."""
    files: dict[str, bytes] = {}
    if isinstance(audit, Plan):
        words = ["plan.json"]
        files["plan.json"] = json.dumps(audit.report()).encode()
    elif isinstance(audit, str) and len(audit.split()) > 1:
        words = shlex.split(audit)
    elif isinstance(audit, (str, os.PathLike)):
        words = [os.fspath(audit)]
    else:
        words = list(audit)
    command = Command(f"launch {engine}", options, arguments=words, files=files)
    return Launch(command.document())


def launch_slurm(
    audit: ShardedAudit,
    *,
    shards: int = 16,
    device: str | None = None,
    cpus_per_shard: int = 1,
    output_folder: str = "dpscope-shards",
    job_name: str = "dpscope",
    time_limit: int | None = None,
) -> Launch:
    """A script that runs an audit in shards on Slurm, and merges them.

    Parameters
    ----------
    audit
        A result of `plan_bgm` that names mechanism and size, a file of `dpscope plan --json`, or a
        command such as "audit bgm --noise-multiplier 1 --steps 100 --observations 1e9".
    shards, cpus_per_shard
        Number of shards, and CPU cores of each.
    device
        Device of each shard: "cpu", "gpu", or part of the name of a GPU; with a GPU, each shard
        reserves one [default: that of the audit, or "cpu"].
    output_folder, job_name, time_limit
        Folder that all nodes share; name of the jobs; time limit of each shard, in minutes.

    Examples
    --------
    >>> audit = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e6 --seed 1"
    >>> script = launch_slurm(audit, shards=4).text
    >>> "--array=1-4" in script
    True
    """
    options = dict(locals())
    return launch("slurm", options.pop("audit"), options)


def launch_kubernetes(
    audit: ShardedAudit,
    *,
    image: str,
    shards: int = 16,
    device: str | None = None,
    cpus_per_shard: int = 1,
    memory: str = "1Gi",
    name: str = "dpscope",
    claim_name: str | None = None,
    gpu_resource: str | None = None,
    time_limit: int | None = None,
) -> Launch:
    """A manifest of Jobs that run an audit in shards on Kubernetes, and merge them.

    Parameters
    ----------
    audit, shards, device, cpus_per_shard
        As in `launch_slurm`.
    image
        Image whose entry point is the program dpscope.
    memory, gpu_resource, time_limit
        Memory of each shard, such as "512Mi"; resource of which a shard with a GPU reserves one
        [default: "nvidia.com/gpu"]; time limit of each attempt at a shard, in minutes.
    name, claim_name
        Name of the Jobs and of their volume; an existing volume claim to use [default: a new one].

    Examples
    --------
    >>> audit = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e6 --seed 1"
    >>> manifest = launch_kubernetes(audit, image="registry.example/dpscope").text
    >>> "completionMode: Indexed" in manifest
    True
    """
    options = dict(locals())
    return launch("kubernetes", options.pop("audit"), options)
