"""The functions as Polars expressions: ``df.select(msg.polars.check(pl.col("conversation")))``."""

from __future__ import annotations

from typing import Any

from . import arrow

__all__ = ["check", "fit", "is_valid", "key", "repair", "stats", "tokens"]


def _expression(act: str, column: Any, options: dict[str, Any]) -> Any:
    import polars

    kernel = getattr(arrow, act)

    def over(series: Any) -> Any:
        return polars.Series(series.name, kernel(series.to_arrow(), **options).to_pyarrow())

    empty = over(polars.Series("", [], dtype=polars.String))
    return column.map_batches(over, is_elementwise=True, return_dtype=empty.dtype)


def check(column: Any, **options: Any) -> Any:
    """The answers of :func:`msg.check`, as a struct."""
    return _expression("check", column, options)


def is_valid(column: Any, **options: Any) -> Any:
    """The answers of :func:`msg.is_valid`."""
    return _expression("is_valid", column, options)


def repair(column: Any, **options: Any) -> Any:
    """The answers of :func:`msg.repair`, as a struct."""
    return _expression("repair", column, options)


def stats(column: Any, **options: Any) -> Any:
    """The answers of :func:`msg.stats`, as a struct."""
    return _expression("stats", column, options)


def tokens(column: Any, **options: Any) -> Any:
    """The answers of :func:`msg.tokens`."""
    return _expression("tokens", column, options)


def fit(column: Any, **options: Any) -> Any:
    """The answers of :func:`msg.fit`, as a struct."""
    return _expression("fit", column, options)


def key(column: Any, **options: Any) -> Any:
    """The answers of :func:`msg.key`."""
    return _expression("key", column, options)
