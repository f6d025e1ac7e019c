"""Outputs of many short trainings in two worlds, with and without a target record."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch  # type: ignore[import-not-found,unused-ignore]

from dpscope._accountants import sampler_of
from dpscope._command import Path, Progress
from dpscope._directions import Directions, one_direction
from dpscope._dp_optimizer import Observer, observe, row_blocks
from dpscope._native import DpscopeError
from dpscope._results import Audit
from dpscope._torch_run import GradientDirections, check_dataset, clear_rows

ThreatModel = Literal["worst-case", "partially-informed", "target-canary"]
Canary = Literal["random", "zero-gradient"]
#: The user's training: its data, and the function to call where its objects are complete.
Train = Callable[[Any, Callable[..., Any]], object]
_FLOATS = npt.NDArray[np.float64]


class Finished(BaseException):
    """Ends a training after its epochs; `except Exception` does not catch it."""


@dataclass(frozen=True)
class Facts:
    """What a training states about itself."""

    noise_multiplier: float
    clip_norm: float
    batch_size: int
    sampler: str | None
    threat_model: ThreatModel


@dataclass(frozen=True)
class Recording:
    """Outputs of trainings with a target record and with a zero gradient in its place.

    Arrays have the shape (runs, epochs, steps), numbers are sums in clip norms.
    """

    target: _FLOATS
    """Releases along the canary's direction, with the target."""
    zero_out: _FLOATS
    """Releases without it."""
    sums_target: _FLOATS
    """The same before noise."""
    sums_zero_out: _FLOATS
    uses_target: npt.NDArray[np.int64]
    """How often the record of the target is in each step."""
    uses_zero_out: npt.NDArray[np.int64]
    noise_multiplier: float
    """Of the optimizer, or of the gradient's part under adaptive clipping."""
    clip_norm: float
    """At the start, under adaptive clipping."""
    batch_size: int
    sampler: str | None
    """How the loader draws batches, if its sampler is a known one."""
    threat_model: ThreatModel
    """Which gradients the attacker chose."""

    def save(self, path: Path) -> None:
        """Write the npz file that `audit_outputs` and `dpscope audit outputs` read."""
        with open(path, "wb") as file:
            np.savez(file, **self._arrays())  # type: ignore[arg-type]

    def _arrays(self) -> dict[str, _FLOATS]:
        """The arrays of the file. Outputs are in clip norms: a clip norm would divide them again."""
        worlds = ("target", "zero_out")
        names = [f"{kind}{world}" for kind in ("", "sums_", "uses_") for world in worlds]
        names += ["noise_multiplier", "batch_size"]
        return {name: np.asarray(getattr(self, name), dtype=np.float64) for name in names}

    def audit(self, *, claim: object = None, **options: Any) -> Audit:
        """Bound ε by these outputs, and look for faults.

        `claim` is a number, an accountant, or a list of (noise multiplier, rate, steps). Further options
        are those of `audit_outputs`.
        """
        from dpscope._audits import audit_outputs

        options.setdefault("threat_model", self.threat_model)
        if "sampler" not in options:
            if self.sampler is None:
                raise DpscopeError("the sampler of the loader is not a known one; pass sampler")
            options["sampler"] = self.sampler
        return audit_outputs(self._arrays(), claim=claim, **options)


class WorldObserver(Observer):
    """Plays the attacker in one training, and records what the attacker sees."""

    def __init__(self, settings: Settings, has_target: bool, seed: np.random.SeedSequence) -> None:
        self._settings = settings
        self._has_target = has_target
        self._random = np.random.default_rng(seed)
        self._directions: GradientDirections | None = None
        self._zero_place: tuple[int, int] | None = None
        self.facts: Facts | None = None
        self._uses = 0
        self._sum = 0.0
        self._clip_norm = 1.0
        self.epochs: list[list[tuple[float, float, int]]] = []
        """Output, sum and uses of each step."""

    def epoch(self) -> None:
        if self.epochs and not self.epochs[-1]:
            return  # batches were looked at, and not trained on
        if len(self.epochs) == self._settings.epochs:
            raise Finished
        self.epochs.append([])

    def gradients(self, optimizer: Any, records: list[int]) -> None:
        blocks = [row_blocks(p) for p in optimizer.params]
        self.check_noise(stated_noise(optimizer))
        ends_step = not optimizer._check_skip_next_step(pop_next=False)
        norms = getattr(optimizer, "max_grad_norms", None)
        self.write(blocks, records, float(optimizer.max_grad_norm), ends_step, norms)

    def summed(self, optimizer: Any) -> None:
        self.observe_sum([p.summed_grad for p in optimizer.params])

    def released(self, optimizer: Any, scale: float) -> None:
        self.observe_release([p.grad for p in optimizer.params], scale)

    def check_noise(self, noise_multiplier: float) -> None:
        """Refuses a schedule of noise, as a file of outputs has one noise multiplier."""
        assert self.facts is not None
        if noise_multiplier != self.facts.noise_multiplier:
            raise DpscopeError(
                f"noise_multiplier changed from {self.facts.noise_multiplier} to {noise_multiplier}; "
                "record runs without a schedule of noise"
            )

    def write(
        self,
        blocks: Sequence[Sequence[torch.Tensor]],
        records: Sequence[int],
        clip_norm: float,
        ends_step: bool = True,
        clip_norms: Sequence[float] | None = None,
    ) -> None:
        """Writes the gradients that the attacker chooses, twice as long as the clip norm."""
        assert self.facts is not None
        directions = self._directions_of(blocks, clip_norms)
        self._check_zero(blocks)
        self._clip_norm = clip_norm
        target = [row for row, record in enumerate(records) if record == self._settings.target]
        others: list[int] = []
        self._uses += len(target)
        if self.facts.threat_model == "worst-case":
            others = [row for row, record in enumerate(records) if record != self._settings.target]
        elif self.facts.threat_model == "partially-informed" and ends_step and self._uses == 0:
            others = [len(records) - 1] if records else []
        if target and not self._has_target:
            clear_rows(blocks, target)
            target = []
        rows = target + others
        if rows:
            sizes = [2.0 * clip_norm] * len(target) + [-2.0 * clip_norm] * len(others)
            directions.write(blocks, rows, [0] * len(rows), sizes)

    def observe_sum(self, tensors: Sequence[torch.Tensor]) -> None:
        """Projects the sum of clipped gradients."""
        assert self._directions is not None
        self._sum = float(self._directions.project(tensors)[0]) / self._clip_norm

    def observe_release(self, tensors: Sequence[torch.Tensor], scale: float) -> None:
        """Projects what the optimizer gets, and ends the step."""
        assert self._directions is not None
        output = float(self._directions.project(tensors)[0]) * scale
        self.epochs[-1].append((output, self._sum, self._uses))
        self._uses = 0

    def _directions_of(
        self, blocks: Sequence[Sequence[torch.Tensor]], clip_norms: Sequence[float] | None
    ) -> GradientDirections:
        if self._directions is not None:
            return self._directions
        tensors = [one[0].new_empty(one[0].shape[1:]) for one in blocks]
        dimension = sum(tensor.numel() for tensor in tensors)
        if self._settings.canary == "random":
            direction = one_direction(self._random, dimension)
        else:
            if clip_norms is not None:
                raise DpscopeError(
                    "canary is 'zero-gradient', which clipping per layer shortens; pass canary='random'"
                )
            direction = self._zero_direction(blocks, dimension)
        self._directions = GradientDirections(direction, tensors, clip_norms)
        return self._directions

    def _zero_direction(
        self, blocks: Sequence[Sequence[torch.Tensor]], dimension: int
    ) -> Directions:
        """A number of the parameters for which no record of the first batch has a gradient."""
        places = []
        for index, one in enumerate(blocks):
            used = torch.cat(list(one)).ne(0).any(dim=0).reshape(-1)
            free = torch.nonzero(~used).reshape(-1).tolist()
            places += [(index, place) for place in free]
        if not places or not any(len(block) for block in blocks[0]):
            raise DpscopeError(
                "canary is 'zero-gradient', but every parameter has a gradient in the first batch; pass "
                "canary='random', or add a feature that is always 0"
            )
        index, place = places[int(self._random.integers(len(places)))]
        self._zero_place = (index, place)
        row = np.zeros((1, dimension), dtype=np.float32)
        row[0, sum(one[0][0].numel() for one in blocks[:index]) + place] = 1.0
        return Directions(dimension, rows=row)

    def _check_zero(self, blocks: Sequence[Sequence[torch.Tensor]]) -> None:
        if self._zero_place is None:
            return
        index, place = self._zero_place
        for block in blocks[index]:
            at = np.unravel_index(place, block.shape[1:])
            if bool((block[(slice(None), *at)] != 0).any()):
                raise DpscopeError(
                    "canary is 'zero-gradient', but a parameter without gradients in the first batch "
                    "has one later; pass canary='random'"
                )


@dataclass(frozen=True)
class Settings:
    """What all runs of a recording have in common."""

    epochs: int
    target: int
    threat_model: ThreatModel | None
    canary: Canary
    seed: int
    attachment: Callable[[WorldObserver, Settings, Any], Callable[..., Any]]
    """Makes the function `attach` of a training."""

    def facts(
        self, noise_multiplier: float, clip_norm: float, batch_size: int, loader: Any
    ) -> Facts:
        """What a training states, with the threat model of its sampler."""
        if not noise_multiplier > 0:
            raise DpscopeError(
                f"noise_multiplier is {noise_multiplier}; outputs are compared with a positive one"
            )
        sampler = sampler_of(loader)
        default: ThreatModel = "target-canary" if sampler == "poisson" else "partially-informed"
        return Facts(noise_multiplier, clip_norm, batch_size, sampler, self.threat_model or default)


def stated_noise(optimizer: Any) -> float:
    """The noise multiplier of the gradients' sum: under adaptive clipping a count has the rest."""
    noise = float(optimizer.noise_multiplier)
    of_count = getattr(optimizer, "unclipped_num_std", None)
    if of_count is None or noise == 0:
        return noise
    return float((noise**-2 - (2 * of_count) ** -2) ** -0.5)


def _attach_optimizer(
    observer: WorldObserver, settings: Settings, dataset: Any
) -> Callable[..., Any]:
    def attach(optimizer: Any, loader: Any, *, module: Any = None) -> Any:
        check_attach(observer, loader, dataset)
        observe(optimizer, loader, observer, module)
        size = loader.batch_size or round(float(optimizer.expected_batch_size))
        clip_norm = float(optimizer.max_grad_norm)
        observer.facts = settings.facts(stated_noise(optimizer), clip_norm, size, loader)
        return loader

    return attach


def check_attach(observer: WorldObserver, loader: Any, dataset: Any) -> None:
    """Refuses a second call of `attach` in a training, and a loader over other data."""
    if observer.facts is not None:
        raise DpscopeError("train called attach twice; call it once, after make_private")
    check_dataset(loader, dataset)


def record(
    train: Train,
    dataset: Any,
    *,
    runs: int = 200,
    epochs: int = 1,
    target: int = 0,
    threat_model: ThreatModel | None = None,
    canary: Canary = "random",
    processes: int = 1,
    seed: int = 0,
    out: Path | None = None,
    progress: Progress | None = None,
) -> Recording:
    """Record outputs of a training with Opacus, with a target record and without it.

    `train(data, attach)` is your training. It makes model, loader and optimizer anew, calls
    `attach(optimizer, loader, module=model)` after `make_private`, and trains; it is ended after
    `epochs` epochs, by an exception that `except Exception` does not catch.

    Parameters
    ----------
    train, dataset
        The training, and its data.
    runs
        Runs in each of the two worlds.
    epochs
        Epochs of each run.
    target
        The record whose gradient is replaced by a canary, or by 0.
    threat_model
        Which gradients the attacker chooses [default: target-canary for Poisson sampled batches, else
        partially-informed].
    canary
        A random direction of gradients, or a parameter for which no record has a gradient.
    processes
        Processes that share the runs; above 1, `train` must be a function of a module.
    seed
        Determines the random numbers of each run: those of torch, CUDA, numpy and random.
    out
        File to save the recording to.
    progress
        Called with the runs so far, of both worlds, and their total. Exceptions of it stop the runs.
    """
    settings = Settings(epochs, target, threat_model, canary, seed, _attach_optimizer)
    return record_worlds(train, dataset, settings, runs, processes, out, progress)


def record_worlds(
    train: Train,
    dataset: Any,
    settings: Settings,
    runs: int,
    processes: int,
    out: Path | None,
    progress: Progress | None,
) -> Recording:
    """The runs of both worlds; see `record`."""
    _check(settings, dataset, runs, processes)
    jobs = [(run, world) for run in range(runs) for world in (0, 1)]
    results: dict[tuple[int, int], _Run] = {}
    for job, result in _run_all(train, dataset, settings, jobs, processes):
        results[job] = result
        if progress is not None:
            progress(len(results), len(jobs))
    facts = results[jobs[0]].facts
    for (run, world), result in results.items():
        if result.steps.shape != results[jobs[0]].steps.shape or result.facts != facts:
            raise DpscopeError(
                f"run {run} of world {world} has {result.steps.shape[1]} steps per epoch and "
                f"{result.facts}, the first run {results[jobs[0]].steps.shape[1]} and {facts}; train must "
                "be the same in all runs"
            )
    worlds = [np.stack([results[run, world].steps for run in range(runs)]) for world in (0, 1)]
    target, zero_out = (np.moveaxis(world, -1, 0) for world in worlds)
    recording = Recording(
        target[0],
        zero_out[0],
        target[1],
        zero_out[1],
        target[2].astype(np.int64),
        zero_out[2].astype(np.int64),
        facts.noise_multiplier,
        facts.clip_norm,
        facts.batch_size,
        facts.sampler,
        facts.threat_model,
    )
    if out is not None:
        recording.save(out)
    return recording


def _check(settings: Settings, dataset: Any, runs: int, processes: int) -> None:
    numbers = {"runs": (runs, 2), "epochs": (settings.epochs, 1), "processes": (processes, 1)}
    for name, (value, least) in numbers.items():
        if value < least:
            raise DpscopeError(f"{name} is {value}; pass at least {least}")
    if not 0 <= settings.target < len(dataset):
        raise DpscopeError(
            f"target is {settings.target}, but the data set has the records 0 to {len(dataset) - 1}"
        )
    if settings.canary not in ("random", "zero-gradient"):
        raise DpscopeError(f"canary is {settings.canary!r}; expected 'random' or 'zero-gradient'")
    models = (None, "worst-case", "partially-informed", "target-canary")
    if settings.threat_model not in models:
        raise DpscopeError(
            f"threat_model is {settings.threat_model!r}; expected 'worst-case', 'partially-informed' or "
            "'target-canary'"
        )


@dataclass(frozen=True)
class _Run:
    steps: _FLOATS
    """Output, sum and uses, of shape (epochs, steps, 3)."""
    facts: Facts


_Job = tuple[int, int]


def _run_all(
    train: Train, dataset: Any, settings: Settings, jobs: Sequence[_Job], processes: int
) -> Iterator[tuple[_Job, _Run]]:
    if processes == 1:
        for job in jobs:
            yield job, _run(train, dataset, settings, job)
        return
    try:
        content = pickle.dumps((train, dataset, settings))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise DpscopeError(
            f"train and dataset cannot be sent to processes: {error}; define train in a module, or pass "
            "processes=1"
        ) from None
    context = multiprocessing.get_context("spawn")
    threads = max(1, (os.cpu_count() or 1) // processes)
    with ProcessPoolExecutor(processes, context, _initialise, (content, threads)) as pool:
        waiting = {pool.submit(_run_in_process, job): job for job in jobs}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_of_process: list[Any] = []


def _initialise(content: bytes, threads: int) -> None:
    torch.set_num_threads(threads)
    _of_process[:] = pickle.loads(content)


def _run_in_process(job: _Job) -> _Run:
    train, dataset, settings = _of_process
    return _run(train, dataset, settings, job)


def _run(train: Train, dataset: Any, settings: Settings, job: _Job) -> _Run:
    run, world = job
    sequence = np.random.SeedSequence([settings.seed, run, world])
    observer = WorldObserver(settings, world == 0, sequence.spawn(1)[0])
    with _seeded(sequence):
        try:
            train(dataset, settings.attachment(observer, settings, dataset))
        except Finished:
            pass
    if observer.facts is None:
        raise DpscopeError(
            "train did not call attach; call attach(optimizer, loader) after make_private"
        )
    return _Run(_steps(observer, settings, job), observer.facts)


def _steps(observer: WorldObserver, settings: Settings, job: _Job) -> _FLOATS:
    """The steps of a run as an array, if all epochs have equally many."""
    epochs = [epoch for epoch in observer.epochs if epoch]
    if not epochs:
        raise DpscopeError("train ended before a step; iterate the attached loader, and call step")
    if len(epochs) != settings.epochs:
        raise DpscopeError(
            f"epochs is {settings.epochs}, but train ended after {len(epochs)}; train for longer, or pass "
            f"epochs={len(epochs)}"
        )
    lengths = {len(epoch) for epoch in epochs}
    if len(lengths) > 1:
        raise DpscopeError(
            f"the epochs of run {job[0]} have {[len(epoch) for epoch in epochs]} steps; make a step for "
            "each batch, an empty one too"
        )
    return np.asarray(epochs, dtype=np.float64)


@contextmanager
def _seeded(sequence: np.random.SeedSequence) -> Iterator[None]:
    """Random numbers of a run; those of the caller go on afterwards."""
    states = random.getstate(), np.random.get_state()
    words = sequence.generate_state(8)
    with torch.random.fork_rng():
        torch.manual_seed(int(sequence.generate_state(1, np.uint64)[0]))  # CUDA's, too
        np.random.seed(words)
        random.seed(words.tobytes())
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])
