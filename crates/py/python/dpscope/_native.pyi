from collections.abc import Callable, Sequence

__all__ = ["DpscopeError", "__version__", "option_table", "readable_bytes", "run"]

__version__: str

class DpscopeError(ValueError): ...

def run(
    arguments: Sequence[str],
    files: Sequence[tuple[str, bytes]],
    outputs: Sequence[str],
    progress: Callable[[int, int], object] | None = None,
    generator: Callable[[str, list[tuple[str, str]], int, int, str], object] | None = None,
) -> tuple[str, dict[str, bytes], list[str]]: ...
def option_table() -> str: ...
def readable_bytes() -> int: ...
