from collections.abc import Callable, Sequence
from typing import final

__all__ = [
    "CalibratedScores",
    "DpscopeError",
    "__version__",
    "check_loader",
    "check_step",
    "option_table",
    "readable_bytes",
    "run",
]

__version__: str

class DpscopeError(ValueError): ...

@final
class CalibratedScores:
    def __new__(cls, canaries: int, rate: float) -> CalibratedScores: ...
    @staticmethod
    def from_state(state: bytes) -> CalibratedScores: ...
    @property
    def skipped(self) -> int: ...
    def observe(self, projections: bytes) -> None: ...
    def scores(self) -> bytes: ...
    def centres(self) -> bytes: ...
    def scales(self) -> bytes: ...
    def state(self) -> bytes: ...

def run(
    arguments: Sequence[str],
    files: Sequence[tuple[str, bytes]],
    outputs: Sequence[str],
    progress: Callable[[int, int], object] | None = None,
    generator: Callable[[str, list[tuple[str, str]], int, int, str], object] | None = None,
) -> tuple[str, dict[str, bytes], list[str]]: ...
def check_step(record: str) -> str: ...
def check_loader(
    records: bytes,
    batch_sizes: bytes,
    batches_per_epoch: bytes,
    dataset_size: int,
    rate: float | None = None,
    repeated: bool | None = None,
) -> str: ...
def option_table() -> str: ...
def readable_bytes() -> int: ...
