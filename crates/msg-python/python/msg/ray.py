"""The functions for Ray Data: ``ds.map_batches(msg.ray.check("conversation"), batch_format="pyarrow", zero_copy_batch=True)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._engine import Kernel

__all__ = [
    "OverColumn", "check", "convert", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats",
    "tokens",
]


class OverColumn:
    """A table with the answers to one of its columns in another, ``to``. It pickles."""

    def __init__(self, kernel: Kernel, column: str, to: str) -> None:
        self.kernel, self.column, self.to = kernel, column, to

    def __call__(self, table: Any) -> Any:
        return table.append_column(self.to, self.kernel(table[self.column]))


def _batches(act: str) -> Callable[..., OverColumn]:
    def over(column: str, *args: Any, to: str = act, **options: Any) -> OverColumn:
        kernel = Kernel(act, *args, **options)
        kernel.answer_type()
        return OverColumn(kernel, column, to)

    over.__name__ = act
    over.__doc__ = f"The answers of :func:`msg.arrow.{act}` beside the other columns, in the column ``to``."
    return over


check = _batches("check")
convert = _batches("convert")
fit = _batches("fit")
is_valid = _batches("is_valid")
key = _batches("key")
messages = _batches("messages")
prefix_keys = _batches("prefix_keys")
recognise = _batches("recognise")
repair = _batches("repair")
stats = _batches("stats")
tokens = _batches("tokens")
