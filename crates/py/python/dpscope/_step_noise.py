"""Sums over the noise of an original run of `check_step`, from which its distribution is judged."""

from __future__ import annotations

from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from dpscope._step_replay import Original
from dpscope._step_run import Json


def noise(run: Original, other_seed: Original | None) -> list[list[Json]]:
    """Sums over the noise of each step and tensor; none for a step that is not finite."""
    rows: list[list[Json]] = []
    previous: list[torch.Tensor] | None = None
    for step in range(len(run.steps)):
        drawn = _noise(run, step)
        other = None
        if other_seed is not None and step < len(other_seed.steps):
            other = _noise(other_seed, step)
        rows.append([] if drawn is None else _tensors(run, drawn, previous, other))
        previous = drawn
    return rows


def _noise(run: Original, step: int) -> list[torch.Tensor] | None:
    """The noise of each tensor in clip norms, a vector in double precision."""
    facts = run.steps[step]
    if not facts["is_finite"] or facts["scale"] is None:
        return None
    release, total = (run.load(what, step).double() for what in ("release", "sum"))
    drawn = (release * facts["scale"] - total) / facts["clip_norm"]
    sizes = [p.numel() for p in run.trained.values()]
    return list(torch.split(drawn, sizes)) if bool(drawn.isfinite().all()) else None


def _tensors(
    run: Original,
    drawn: list[torch.Tensor],
    previous: list[torch.Tensor] | None,
    other_seed: list[torch.Tensor] | None,
) -> list[Json]:
    rows = []
    for number, (p, e) in enumerate(zip(run.trained.values(), drawn, strict=True)):
        square = e * e
        width = p.shape[-1] if p.dim() > 1 else len(e)
        # generators with one seed give a smaller tensor the first numbers of a larger one
        earlier = max(
            drawn[:number], key=lambda other: min(len(other), len(e)), default=torch.zeros(0)
        )
        pairs = min(len(earlier), len(e))
        rows.append(
            {
                "powers": [
                    float(power.sum()) for power in (e, square, square * e, square * square)
                ],
                "neighbours": _correlation(e[:-1], e[1:]),
                "rows": _correlation(e[:-width], e[width:]),
                "previous_step": None if previous is None else _correlation(previous[number], e),
                "other_tensor": _correlation(earlier[:pairs], e[:pairs]),
                "other_seed": None if other_seed is None else _correlation(other_seed[number], e),
            }
        )
    return rows


def _correlation(x: torch.Tensor, y: torch.Tensor) -> Json | None:
    """The correlation of two vectors about 0; without a pair, or where one is 0, none."""
    squares = float(x @ x) * float(y @ y)
    if squares <= 0:
        return None
    value: Any = float(x.to(y) @ y) / squares**0.5
    return {"pairs": len(x), "value": max(-1.0, min(1.0, value))}
