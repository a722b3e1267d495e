"""The functions in DuckDB's SQL: ``msg.duckdb.register(con)``, then ``select msg_check(conversation).ok``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import arrow

__all__ = ["register"]

_ACTS = ("check", "is_valid", "key", "prefix_keys", "repair", "stats", "tokens")


def register(connection: Any, **options: Any) -> None:
    """Registers ``msg_check``, ``msg_is_valid``, ``msg_repair``, ``msg_stats``, ``msg_tokens``, ``msg_key`` and
    ``msg_prefix_keys``, all with these options."""
    import pyarrow

    for act in _ACTS:
        known = _known(act, options)
        answer = _kernel(act, known)(pyarrow.array([], pyarrow.string()))
        connection.create_function(
            f"msg_{act}",
            _kernel(act, known),
            ["VARCHAR"],
            _sql_type(answer.type),
            type="arrow",
            null_handling="special",
        )


def _known(act: str, options: dict[str, Any]) -> dict[str, Any]:
    counting = {"counter"}
    return {name: it for name, it in options.items() if (name in counting) == (act in ("stats", "tokens"))}


def _kernel(act: str, options: dict[str, Any]) -> Callable[[Any], Any]:
    kernel = getattr(arrow, act)

    def over(column: Any) -> Any:
        return kernel(column, **options).to_pyarrow()

    return over


def _sql_type(kind: Any) -> str:
    """The name of an Arrow type in SQL."""
    import pyarrow.types as types

    if types.is_struct(kind):
        fields = (kind.field(at) for at in range(kind.num_fields))
        return "STRUCT(" + ", ".join(f'"{it.name}" {_sql_type(it.type)}' for it in fields) + ")"
    if types.is_list(kind) or types.is_large_list(kind):
        return _sql_type(kind.value_type) + "[]"
    if types.is_boolean(kind):
        return "BOOLEAN"
    if types.is_int32(kind):
        return "INTEGER"
    if types.is_int64(kind):
        return "BIGINT"
    if types.is_fixed_size_binary(kind) or types.is_binary(kind):
        return "BLOB"
    return "VARCHAR"
