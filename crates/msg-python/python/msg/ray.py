"""The functions for Ray Data: ``ds.map_batches(msg.ray.check("conversation"), batch_format="pyarrow", zero_copy_batch=True)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import arrow
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


def _batches(like: Callable[..., arrow.Answers]) -> Callable[..., OverColumn]:
    act = like.__name__

    def over(column: str, *args: Any, to: str = act, **options: Any) -> OverColumn:
        kernel = Kernel(act, *args, **options)
        kernel.answer_type()
        return OverColumn(kernel, column, to)

    over.__name__ = act
    over.__doc__ = f"The answers of :func:`msg.arrow.{act}` beside the other columns, in the column ``to``."
    return over


check = _batches(arrow.check)
convert = _batches(arrow.convert)
fit = _batches(arrow.fit)
is_valid = _batches(arrow.is_valid)
key = _batches(arrow.key)
messages = _batches(arrow.messages)
prefix_keys = _batches(arrow.prefix_keys)
recognise = _batches(arrow.recognise)
repair = _batches(arrow.repair)
stats = _batches(arrow.stats)
tokens = _batches(arrow.tokens)
