"""The functions as Daft expressions: ``df.with_column("check", msg.daft.check(col("conversation")))``."""

from __future__ import annotations

from typing import Any

from . import arrow
from ._engine import Kernel, expression

__all__ = [
    "check", "convert", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats", "tokens",
]


def _over(column: Any, kernel: Kernel) -> Any:
    import daft

    def answers(series: daft.Series) -> Any:
        return kernel(series.to_arrow())

    answer = daft.DataType.from_arrow_type(kernel.answer_type())
    return daft.func.batch(return_dtype=answer)(answers)(daft.col(column) if isinstance(column, str) else column)


check = expression(arrow.check, _over)
convert = expression(arrow.convert, _over)
fit = expression(arrow.fit, _over)
is_valid = expression(arrow.is_valid, _over)
key = expression(arrow.key, _over)
messages = expression(arrow.messages, _over)
prefix_keys = expression(arrow.prefix_keys, _over)
recognise = expression(arrow.recognise, _over)
repair = expression(arrow.repair, _over)
stats = expression(arrow.stats, _over)
tokens = expression(arrow.tokens, _over)
