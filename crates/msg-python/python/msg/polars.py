"""The functions as Polars expressions: ``df.select(msg.polars.check(pl.col("conversation")))``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._engine import Kernel

__all__ = [
    "check", "convert", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats", "tokens",
]


def _expression(act: str) -> Callable[..., Any]:
    def expression(column: Any, *args: Any, **options: Any) -> Any:
        import polars

        kernel = Kernel(act, *args, **options)

        def over(series: Any) -> Any:
            return polars.Series(series.name, kernel(series.to_arrow()))

        empty = over(polars.Series("", [], dtype=polars.String))
        return column.map_batches(over, is_elementwise=True, return_dtype=empty.dtype)

    expression.__name__ = act
    expression.__doc__ = f"The answers of :func:`msg.arrow.{act}` to an expression of documents."
    return expression


check = _expression("check")
convert = _expression("convert")
fit = _expression("fit")
is_valid = _expression("is_valid")
key = _expression("key")
messages = _expression("messages")
prefix_keys = _expression("prefix_keys")
recognise = _expression("recognise")
repair = _expression("repair")
stats = _expression("stats")
tokens = _expression("tokens")
