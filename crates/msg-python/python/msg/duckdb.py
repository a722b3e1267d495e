"""The functions in DuckDB's SQL: ``msg.duckdb.register(con)``, then ``select msg_check(conversation).ok``."""

from __future__ import annotations

from typing import Any

from ._engine import kernels

__all__ = ["register"]


def register(connection: Any, **options: dict[str, Any]) -> None:
    """Registers ``msg_check``, ``msg_repair`` and all others, each with its own options: ``check={"profile":
    "anthropic"}``. ``msg_fit`` and ``msg_convert`` are there where they have options (``convert={"to": "anthropic"}``)."""
    for name, kernel in kernels(options).items():
        answer = _sql_type(kernel.answer_type())
        # Null handling must be special: DuckDB takes the nulls out of a batch otherwise.
        connection.create_function(name, kernel.__call__, ["VARCHAR"], answer, type="arrow", null_handling="special")


def _sql_type(kind: Any) -> str:
    """The name of an Arrow type in SQL."""
    from pyarrow import types

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
