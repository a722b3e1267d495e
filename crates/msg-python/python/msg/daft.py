"""The functions as Daft expressions: ``df.with_column("check", msg.daft.check(col("conversation")))``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._engine import Kernel

__all__ = [
    "check", "convert", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats", "tokens",
]


def _expression(act: str) -> Callable[..., Any]:
    def expression(column: Any, *args: Any, **options: Any) -> Any:
        import daft

        kernel = Kernel(act, *args, **options)

        def over(series: daft.Series) -> Any:
            return kernel(series.to_arrow())

        answer = daft.DataType.from_arrow_type(kernel.answer_type())
        return daft.func.batch(return_dtype=answer)(over)(column)

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
