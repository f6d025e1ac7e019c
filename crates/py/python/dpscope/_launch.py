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
    def core_hours(self) -> float | None:
        """An estimate, from a short measurement on this machine; None without one."""
        estimate = self._report["estimate"]
        return None if estimate is None else float(estimate["core_hours"])

    @property
    def headline(self) -> str:
        return f"{self._report['shards']} shards for {self._report['engine']}; {self.cost}"

    @property
    def cost(self) -> str:
        """The estimate with what it rests on."""
        estimate = self._report["estimate"]
        if estimate is None:
            return "core-hours were not measured"
        price = "" if estimate["price"] is None else f", price {estimate['price']:.2g}"
        return (
            f"estimate: {estimate['core_hours']:.2g} core-hours{price}; measured on this machine: "
            f"{estimate['results_per_second']:.2g} {estimate['unit']}/s per core"
        )


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
    cpus_per_shard: int = 1,
    output_folder: str = "dpscope-shards",
    job_name: str = "dpscope",
    time_limit: int | None = None,
    seconds: float = 1.0,
    price_per_core_hour: float | None = None,
) -> Launch:
    """A script that runs an audit in shards on Slurm, and merges them.

    Parameters
    ----------
    audit
        A result of `plan_bgm` that names mechanism and size, a file of `dpscope plan --json`, or a
        command such as "audit bgm --noise-multiplier 1 --steps 100 --observations 1e9".
    shards, cpus_per_shard
        Number of shards, and CPU cores of each.
    output_folder, job_name, time_limit
        Folder that all nodes share; name of the jobs; time limit of each shard, in minutes.
    seconds, price_per_core_hour
        How long the audit is measured on this machine, for an estimate of core-hours, or 0; price of
        one core for one hour.

    Examples
    --------
    >>> audit = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e6 --seed 1"
    >>> script = launch_slurm(audit, shards=4, seconds=0).text
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
    cpus_per_shard: int = 1,
    memory: str = "1Gi",
    name: str = "dpscope",
    claim_name: str | None = None,
    time_limit: int | None = None,
    seconds: float = 1.0,
    price_per_core_hour: float | None = None,
) -> Launch:
    """A manifest of Jobs that run an audit in shards on Kubernetes, and merge them.

    Parameters
    ----------
    audit, shards, cpus_per_shard, seconds, price_per_core_hour
        As in `launch_slurm`.
    image
        Image whose entry point is the program dpscope.
    memory, time_limit
        Memory of each shard, such as "512Mi"; time limit of each attempt at it, in minutes.
    name, claim_name
        Name of the Jobs and of their volume; an existing volume claim to use [default: a new one].

    Examples
    --------
    >>> audit = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e6 --seed 1"
    >>> manifest = launch_kubernetes(audit, image="registry.example/dpscope", seconds=0).text
    >>> "completionMode: Indexed" in manifest
    True
    """
    options = dict(locals())
    return launch("kubernetes", options.pop("audit"), options)
