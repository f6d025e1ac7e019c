"""Gradients of canaries: unit vectors with disjoint entries, or orthonormal ones."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpscope._native import DpscopeError

#: Numbers of dense directions at most: 64 MiB.
MOST_NUMBERS = 1 << 24
#: Entries of a sparse direction.
_ENTRIES = 64


@dataclass(frozen=True)
class Directions:
    """Unit vectors of gradients, one per canary, in the order of the parameters' numbers."""

    dimension: int
    rows: npt.NDArray[np.float32] | None = None
    """The vectors, of shape (canaries, dimension), if they are dense."""
    places: npt.NDArray[np.int64] | None = None
    """Where a sparse vector is not 0, of shape (canaries, entries); ascending, shared by no two."""
    values: npt.NDArray[np.float32] | None = None
    """The numbers at these places."""

    @property
    def count(self) -> int:
        """Number of vectors."""
        some = self.places if self.rows is None else self.rows
        assert some is not None
        return len(some)


def random_generator(secret: bytes, purpose: str) -> np.random.Generator:
    """Random numbers that a secret determines, independent of those for other purposes.

    Coins have the domain `dpscope one-run coin v1` of the same hash.
    """
    digest = hashlib.sha256(f"dpscope one-run {purpose} v1\0".encode() + secret).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def draw_directions(
    secret: bytes, canaries: int, sizes: Sequence[int], *, by_tensor: bool = False
) -> Directions:
    """Random directions: orthonormal while these are few numbers, else with disjoint entries ±s^(−1/2).

    `sizes` are those of the trained tensors. By tensor, parts are orthonormal in each tensor, and 0 in
    those with fewer numbers than canaries.

    Raises `DpscopeError` for more canaries than numbers.
    """
    dimension = sum(sizes)
    check_number(canaries, max(sizes) if by_tensor else dimension)
    random = random_generator(secret, "directions")
    if canaries * dimension <= MOST_NUMBERS:
        parts = [
            _orthonormal(random, canaries, size) for size in (sizes if by_tensor else [dimension])
        ]
        return Directions(dimension, rows=np.concatenate(parts, axis=1))
    entries = min(_ENTRIES, dimension // canaries)
    shape = (canaries, entries)
    places = np.sort(random.choice(dimension, shape, replace=False), axis=1).astype(np.int64)
    signs = random.integers(0, 2, shape) * 2.0 - 1.0
    values = (signs / np.sqrt(entries)).astype(np.float32)
    return Directions(dimension, places=places, values=values)


def _orthonormal(random: np.random.Generator, count: int, size: int) -> npt.NDArray[np.float32]:
    if count > size:
        return np.zeros((count, size), dtype=np.float32)
    vectors = random.standard_normal((size, count), dtype=np.float32)
    return np.ascontiguousarray(np.linalg.qr(vectors)[0].T)


def given_directions(rows: npt.NDArray[Any], dimension: int) -> Directions:
    """Directions of a file, scaled to norm 1."""
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise DpscopeError(
            f"canaries have shape {rows.shape}, but the trained parameters have {dimension} numbers; "
            "pass directions with one number for each"
        )
    check_number(len(rows), dimension)
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    if not np.all(norms > 0):
        index = int(np.argmin(norms))
        raise DpscopeError(
            f"canary {index} is a direction of norm {norms[index, 0]}; pass a longer one"
        )
    return Directions(dimension, rows=(rows / norms).astype(np.float32))


def one_direction(random: np.random.Generator, dimension: int) -> Directions:
    """A random direction."""
    row = random.standard_normal((1, dimension), dtype=np.float32)
    return Directions(dimension, rows=row / np.float32(np.linalg.norm(row.astype(np.float64))))


def check_number(canaries: int, dimension: int) -> None:
    """Raises an error for more canaries than dimensions."""
    if canaries > dimension:
        raise DpscopeError(
            f"canaries = {canaries}, but the trained parameters have {dimension} numbers; pass at most "
            "that many canaries"
        )
