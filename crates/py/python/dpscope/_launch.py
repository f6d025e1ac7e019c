"""An audit in shards, for engines that run jobs on many machines."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from typing import TypeAlias, Union

from dpscope._command import Command, Path
from dpscope._function import command
from dpscope._results import Page, Plan, Result

#: An audit: a plan, the file of one, or the words of a command.
ShardedAudit: TypeAlias = Union[Plan, Path, Sequence[str]]


class Launch(Result):
    """What an engine needs to run an audit in shards."""

    @property
    def text(self) -> Page:
        """The script or manifest; `text.save(path)` writes it."""
        return Page(self._report["text"])

    @property
    def headline(self) -> str:
        return f"{self._report['shards']} shards for {self._report['engine']}"


def launch(call: Command, audit: ShardedAudit) -> Launch:
    """What `dpscope launch` prints for an audit."""
    if isinstance(audit, Plan):
        call.add_file("plan.json", json.dumps(audit.report()).encode())
    elif isinstance(audit, str) and len(audit.split()) > 1:
        call.add_arguments(*shlex.split(audit))
    elif isinstance(audit, (str, os.PathLike)):
        call.add_arguments(audit)
    else:
        call.add_arguments(*audit)
    return Launch(call.document())


@command("launch slurm")
def launch_slurm(call: Command, audit: ShardedAudit) -> Launch:
    """A script that runs an audit in shards on Slurm, and merges them.

    Parameters
    ----------
    audit
        A result of `plan_bgm` that names mechanism and size, a file of `dpscope plan --json`, or a
        command such as "audit bgm --noise-multiplier 1 --steps 100 --observations 1e9".

    Examples
    --------
    >>> audit = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e6 --seed 1"
    >>> script = launch_slurm(audit, shards=4).text
    >>> "--array=1-4" in script
    True
    """
    return launch(call, audit)


@command("launch kubernetes")
def launch_kubernetes(call: Command, audit: ShardedAudit) -> Launch:
    """A manifest of Jobs that run an audit in shards on Kubernetes, and merge them.

    Parameters
    ----------
    audit
        As in `launch_slurm`.

    Examples
    --------
    >>> audit = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e6 --seed 1"
    >>> manifest = launch_kubernetes(audit, image="registry.example/dpscope").text
    >>> "completionMode: Indexed" in manifest
    True
    """
    return launch(call, audit)
