"""Canaries of one training in any framework: their plan, coins, directions and scores."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dpscope._command import DpscopeWarning, Path
from dpscope._directions import Directions, draw_directions, given_directions
from dpscope._native import DpscopeError
from dpscope._results import Audit, Plan

if TYPE_CHECKING:
    from dpscope._native import CalibratedScores

Kind = Literal["directions", "records"]
_FLOATS = npt.NDArray[np.float64]
#: Arrays of a file of canaries.
_NAMES = ("inputs", "labels")


class CanaryRun:
    """The canaries of one training, which knows nothing of the framework.

    Scores are functions of the releases, the directions and the sampling rate; coins enter only where
    gradients are written.
    """

    def __init__(
        self,
        canaries: object,
        kind: Kind,
        plan: Path | Plan | None,
        *,
        delta: float,
        significance: float,
        guesses: int | None,
    ) -> None:
        if kind not in ("directions", "records"):
            raise DpscopeError(f"kind is {kind!r}; expected 'directions' or 'records'")
        self.kind: Kind = kind
        self._arrays, self._file = _arrays_of(canaries)
        if self._arrays is None and kind == "records":
            raise DpscopeError(
                f"canaries is {canaries!r}, but canaries that are records need their contents; pass "
                "arrays (inputs, labels) or a file of them, or kind='directions'"
            )
        count = _count_of(canaries, self._arrays)
        self.coins = np.zeros(count, dtype=bool)
        self.folder: str | None = None
        """Of the plan; none without canaries."""
        self.commitment = ""
        self.steps = 0
        """Steps whose releases are in the scores."""
        self.discarded_steps = 0
        """Steps of epochs in which gradients may have been assigned to wrong records."""
        self._total: _FLOATS = np.zeros(count)
        self._epoch_steps = 0
        self._calibrated: CalibratedScores | None = None
        self._losses: list[_FLOATS] = []
        self._calibration: _FLOATS = np.zeros((2, 0))
        if self.is_control:
            return
        if plan is None:
            plan = self._commit(count, delta=delta, significance=significance, guesses=guesses)
        self.folder = _folder_of(plan)
        self._read_plan(self.folder, count)
        self.plan = plan if isinstance(plan, Plan) else self._plan_record()

    def _commit(self, count: int, **options: Any) -> Plan:
        """A plan in a temporary folder, committed before a coin is used."""
        from dpscope._plans import plan_one_run

        if count < 5:
            raise DpscopeError(f"canaries = {count}; pass at least 5")
        folder = tempfile.mkdtemp(prefix="dpscope-one-run-")
        if self._file is None:
            self._file = os.path.join(folder, "canaries.npz")
            # directions follow from the seed of the plan, and have no other content
            arrays = self._arrays or {"inputs": np.arange(float(count))[:, None]}
            np.savez(self._file, **arrays)  # type: ignore[arg-type]
        return plan_one_run(
            canaries=os.fspath(self._file),
            out=os.path.join(folder, "plan"),
            adjacency="zero-out",
            **options,
        )

    def _read_plan(self, folder: str, count: int) -> None:
        """Reads the folder of the plan, and compares it with the canaries."""
        texts = {}
        for name in ("plan.json", "commitment.txt", "seed.secret"):
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    texts[name] = file.read()
            except OSError as error:
                raise DpscopeError(
                    f"{os.path.join(folder, name)}: cannot be read: {error.strerror}; pass the "
                    "folder that plan_one_run wrote"
                ) from None
        self._record: dict[str, Any] = json.loads(texts["plan.json"])
        self.commitment = texts["commitment.txt"].strip()
        self._secret = bytes.fromhex(texts["seed.secret"].strip())
        if os.path.exists(os.path.join(folder, "audited.txt")):
            raise DpscopeError(
                f"plan {folder} was audited already; commit a new plan for a new training"
            )
        coins = np.load(os.path.join(folder, "coins.npy"), allow_pickle=False)
        adjacency, runs = self._record["adjacency"], self._record.get("runs", 1)
        if self._record["game"] != "coins" or adjacency != "zero-out" or runs != 1:
            raise DpscopeError(
                f"plan {folder} has game {self._record['game']}, adjacency {adjacency} and "
                f"{runs} runs; canaries that keep their slot need coins, adjacency='zero-out' and one run"
            )
        self.coins = coins.reshape(-1).astype(bool)
        if len(self.coins) != count:
            raise DpscopeError(
                f"canaries = {count}, but plan {folder} has coins for {len(self.coins)}; pass "
                f"canaries={len(self.coins)}"
            )

    def _plan_record(self) -> Plan:
        record = self._record
        committed = {
            "folder": self.folder,
            "commitment": self.commitment,
            **{name: record[name] for name in ("canaries", "canaries_digest")},
            "runs": record.get("runs", 1),
        }
        return Plan(
            {
                "schema": "dpscope.one_run_sizes/1",
                "delta": record["deltas"][0],
                "significance": record["significance"],
                "rows": [],
                "targets": [],
                "committed": committed,
            }
        )

    @property
    def count(self) -> int:
        """Number of canaries."""
        return len(self.coins)

    @property
    def is_control(self) -> bool:
        """Whether there are no canaries: a training with hooks that change nothing."""
        return self.count == 0

    def records(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
        """Inputs and labels of canaries that are records."""
        assert self._arrays is not None
        return self._arrays["inputs"], self._arrays.get("labels")

    def directions(self, sizes: Sequence[int], *, by_tensor: bool = False) -> Directions:
        """The gradients of the canaries, for trained tensors of these sizes; see `draw_directions`."""
        if self._arrays is not None:
            return given_directions(self._arrays["inputs"], sum(sizes))
        return draw_directions(self._secret, self.count, sizes, by_tensor=by_tensor)

    def begin_epoch(self) -> None:
        """Adds the scores of an epoch to those of the training."""
        self._total = self._total + self._of_epoch()
        self._calibration = self.calibration
        self._calibrated, self._epoch_steps = None, 0

    def discard_epoch(self, unused: int) -> None:
        """Forgets the scores of an epoch with unused batches, which do not depend on coins."""
        if self._epoch_steps == 0:
            return
        warnings.warn(
            f"{unused} batches of the loader were not used: gradients may have been assigned to wrong "
            f"records, so the scores of the {self._epoch_steps} steps of this epoch are discarded",
            DpscopeWarning,
            stacklevel=2,
        )
        self.steps -= self._epoch_steps
        self.discarded_steps += self._epoch_steps
        self._calibrated, self._epoch_steps = None, 0

    def observe(self, projections: _FLOATS, rate: float) -> None:
        """Adds a step: its release along each direction, in clip norms, and the sampler's rate."""
        if self._calibrated is None:
            from dpscope._native import CalibratedScores

            self._calibrated = CalibratedScores(self.count, rate)
        self._calibrated.observe(np.ascontiguousarray(projections, dtype=np.float64).tobytes())
        self.count_step()

    def count_step(self) -> None:
        """Counts a step that is scored by losses alone."""
        self.steps += 1
        self._epoch_steps += 1

    def add_losses(self, passes: Sequence[npt.ArrayLike]) -> _FLOATS:
        """Scores by losses of the canaries in several passes: their decrease since the first call."""
        losses = [np.asarray(losses, dtype=np.float64) for losses in passes]
        for one in losses:
            if one.shape != (self.count,):
                raise DpscopeError(
                    f"loss returned an array of shape {one.shape}; expected one loss for each of the "
                    f"{self.count} canaries"
                )
        self._losses = [*self._losses[:1], np.stack(losses)]
        return self.scores

    @property
    def scores(self) -> _FLOATS:
        """One score per canary, or for each of several passes over them."""
        if self.is_control:
            raise DpscopeError("canaries = 0: there are no scores; pass at least 5")
        if self.kind == "records":
            if not self._losses:
                raise DpscopeError("there are no scores yet; call score after the training")
            last = self._losses[-1]
            # where the losses before the training are known, a canary is scored by what it learned
            first = self._losses[0].mean(axis=0) if len(self._losses) > 1 else 0.0
            return np.asarray(first - last, dtype=np.float64)
        if self.steps == 0:
            reason = "attach the audit to the training, and train at least one step"
            if self.discarded_steps:
                reason = (
                    f"those of {self.discarded_steps} steps were discarded, because batches of their "
                    "epoch were not used"
                )
            raise DpscopeError(f"there are no scores; {reason}")
        if not self.calibration[1].any():
            raise DpscopeError(
                f"at least half of the projections are equal in each of the {self.steps} steps: the "
                "releases have no noise, so no ε holds; check that noise is added"
            )
        return self._total + self._of_epoch()

    @property
    def calibration(self) -> _FLOATS:
        """Centre and scale of the projections of each scored step; a scale of 0 is of a step without
        noise, which is left out."""
        if self._calibrated is None:
            return self._calibration
        rows = (self._calibrated.centres(), self._calibrated.scales())
        of_epoch = np.stack([np.frombuffer(row, dtype=np.float64) for row in rows])
        return np.concatenate([self._calibration, of_epoch], axis=1)

    def _of_epoch(self) -> _FLOATS:
        if self._calibrated is None:
            return np.zeros(self.count)
        return np.frombuffer(self._calibrated.scores(), dtype=np.float64)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs: scores so far, steps, and the commitment of the plan."""
        return {
            "commitment": self.commitment,
            "scores": self._total + self._of_epoch(),
            "calibration": self.calibration,
            "losses": [losses.copy() for losses in self._losses],
            "steps": self.steps,
            "discarded_steps": self.discarded_steps,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resumes from a checkpoint of the same plan."""
        if state["commitment"] != self.commitment:
            raise DpscopeError(
                f"the checkpoint is of a training with commitment {state['commitment']}, and the plan "
                f"has {self.commitment}; pass the same folder as plan"
            )
        scores = np.asarray(state["scores"], dtype=np.float64)
        if scores.shape != (self.count,):
            raise DpscopeError(
                f"the checkpoint has scores of shape {scores.shape} for {self.count} canaries; load an "
                "intact one"
            )
        self._total = scores.copy()
        self._calibration = np.asarray(state["calibration"], dtype=np.float64).reshape(2, -1)
        self._losses = [np.asarray(losses, dtype=np.float64) for losses in state["losses"]]
        self._calibrated, self._epoch_steps = None, 0
        self.steps, self.discarded_steps = int(state["steps"]), int(state["discarded_steps"])

    def audit(self, *, claim: object = None, **options: Any) -> Audit:
        """The audit of the scores by `audit_one_run`, with further options of it."""
        from dpscope._audits import audit_one_run

        if self._file is not None:
            options.setdefault("canaries", os.fspath(self._file))
        return audit_one_run(self.scores, plan=self.folder, claim=claim, **options)


def _folder_of(plan: Path | Plan) -> str:
    return plan.folder if isinstance(plan, Plan) else os.fspath(plan)


def _arrays_of(canaries: object) -> tuple[dict[str, npt.NDArray[Any]] | None, Path | None]:
    """Arrays of canaries by name, and the file that has them; none for a number of canaries."""
    if isinstance(canaries, (int, np.integer)):
        return None, None
    if isinstance(canaries, (str, os.PathLike)):
        loaded = np.load(canaries, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"inputs": loaded}, canaries
        return {name: loaded[name] for name in _NAMES if name in loaded.files}, canaries
    if isinstance(canaries, Mapping):
        return {name: np.asarray(canaries[name]) for name in _NAMES if name in canaries}, None
    if isinstance(canaries, tuple) and len(canaries) == 2:
        return {"inputs": np.asarray(canaries[0]), "labels": np.asarray(canaries[1])}, None
    return {"inputs": np.asarray(canaries)}, None


def _count_of(canaries: object, arrays: Mapping[str, npt.NDArray[Any]] | None) -> int:
    if arrays is None:
        if isinstance(canaries, bool) or int(canaries) < 0:  # type: ignore[call-overload]
            raise DpscopeError(f"canaries = {canaries}; pass at least 5")
        return int(canaries)  # type: ignore[call-overload,no-any-return]
    if "inputs" not in arrays:
        raise DpscopeError("canaries have no array `inputs`; save the records under this name")
    return len(arrays["inputs"])
