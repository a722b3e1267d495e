"""The functions as Daft expressions: ``df.with_column("check", msg.daft.check(col("conversation")))``."""

from __future__ import annotations

from typing import Any

from ._engine import Kernel, expression

__all__ = [
    "check", "convert", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats", "tokens",
]


def _over(column: Any, kernel: Kernel) -> Any:
    import daft

    def answers(series: daft.Series) -> Any:
        return kernel(series.to_arrow())

    answer = daft.DataType.from_arrow_type(kernel.answer_type())
    return daft.func.batch(return_dtype=answer)(answers)(column)


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
