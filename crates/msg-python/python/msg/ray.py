"""The functions for Ray Data: ``ds.map_batches(msg.ray.check("conversation"), batch_format="pyarrow", zero_copy_batch=True)``."""

from __future__ import annotations

from typing import Any

from . import arrow

__all__ = ["OverColumn", "check", "fit", "is_valid", "key", "repair", "stats", "tokens"]


class OverColumn:
    """A table with the answers to one of its columns beside the others. It pickles."""

    def __init__(self, act: str, column: str, options: dict[str, Any], to: str | None = None) -> None:
        self.act, self.column, self.options, self.to = act, column, options, to or act

    def __call__(self, table: Any) -> Any:
        answers = getattr(arrow, self.act)(table[self.column], **self.options).to_pyarrow()
        return table.append_column(self.to, answers)


def check(column: str, *, to: str = "check", **options: Any) -> OverColumn:
    """The answers of :func:`msg.check` in a column of structs."""
    return OverColumn("check", column, options, to)


def is_valid(column: str, *, to: str = "is_valid", **options: Any) -> OverColumn:
    """The answers of :func:`msg.is_valid`."""
    return OverColumn("is_valid", column, options, to)


def repair(column: str, *, to: str = "repair", **options: Any) -> OverColumn:
    """The answers of :func:`msg.repair` in a column of structs."""
    return OverColumn("repair", column, options, to)


def stats(column: str, *, to: str = "stats", **options: Any) -> OverColumn:
    """The answers of :func:`msg.stats` in a column of structs."""
    return OverColumn("stats", column, options, to)


def tokens(column: str, *, to: str = "tokens", **options: Any) -> OverColumn:
    """The answers of :func:`msg.tokens`."""
    return OverColumn("tokens", column, options, to)


def fit(column: str, *, to: str = "fit", **options: Any) -> OverColumn:
    """The answers of :func:`msg.fit` in a column of structs."""
    return OverColumn("fit", column, options, to)


def key(column: str, *, to: str = "key", **options: Any) -> OverColumn:
    """The answers of :func:`msg.key`."""
    return OverColumn("key", column, options, to)
