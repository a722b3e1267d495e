"""The functions as Polars expressions: ``df.select(msg.polars.check(pl.col("conversation")))``."""

from __future__ import annotations

from typing import Any

from ._engine import Kernel, expression

__all__ = [
    "check", "convert", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats", "tokens",
]


def _over(column: Any, kernel: Kernel) -> Any:
    import polars

    def answers(series: Any) -> Any:
        return polars.Series(series.name, kernel(series.to_arrow()))

    empty = answers(polars.Series("", [], dtype=polars.String))
    return column.map_batches(answers, is_elementwise=True, return_dtype=empty.dtype)


check = expression("check", _over)
convert = expression("convert", _over)
fit = expression("fit", _over)
is_valid = expression("is_valid", _over)
key = expression("key", _over)
messages = expression("messages", _over)
prefix_keys = expression("prefix_keys", _over)
recognise = expression("recognise", _over)
repair = expression("repair", _over)
stats = expression("stats", _over)
tokens = expression("tokens", _over)
