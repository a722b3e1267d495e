"""The functions as Polars expressions: ``df.select(msg.polars.check(pl.col("conversation")))``, or after the import also
``pl.col("conversation").msg.check(profile="openai")``. A column may be its name. pyarrow is not needed."""

from __future__ import annotations

from typing import Any

import polars

from . import arrow
from ._engine import Kernel, expression

__all__ = [
    "Expressions", "check", "convert", "fit", "is_valid", "key", "messages", "prefix_keys", "recognise", "repair", "stats",
    "tokens",
]


def _over(column: polars.Expr | str, kernel: Kernel) -> polars.Expr:
    def answers(series: polars.Series) -> polars.Series:
        return polars.Series(series.name, kernel.answers(series))

    empty = answers(polars.Series("", [], dtype=polars.String))
    expr = polars.col(column) if isinstance(column, str) else column
    return expr.map_batches(answers, is_elementwise=True, return_dtype=empty.dtype)


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


@polars.api.register_expr_namespace("msg")
class Expressions:
    """The functions of this module on the expression itself, with the same options."""

    def __init__(self, column: polars.Expr) -> None:
        self._column = column

    def __getattr__(self, name: str) -> Any:
        if name not in __all__[1:]:
            raise AttributeError(f"msg has no function {name!r} for expressions")
        return lambda *args, **options: globals()[name](self._column, *args, **options)
