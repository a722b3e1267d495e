"""The functions for Spark: ``msg.spark.map_check(df, "conversation")`` gives the frame with a column of answers.

The workers need this package too: ship it with ``spark.archives`` or install it there, and set ``PYSPARK_PYTHON``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .ray import OverColumn

__all__ = ["map_act", "map_check", "map_repair"]


def map_check(frame: Any, column: str, *, to: str = "check", **options: Any) -> Any:
    """The frame with the answers of :func:`msg.check` in a column of structs."""
    return map_act("check", frame, column, to=to, **options)


def map_repair(frame: Any, column: str, *, to: str = "repair", **options: Any) -> Any:
    """The frame with the answers of :func:`msg.repair` in a column of structs."""
    return map_act("repair", frame, column, to=to, **options)


def map_act(act: str, frame: Any, column: str, *, to: str | None = None, **options: Any) -> Any:
    """The frame with the answers of any function of :mod:`msg.arrow` in a column, by ``mapInArrow``."""
    import pyarrow
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    over = OverColumn(act, column, options, to)
    empty = pyarrow.table({column: pyarrow.array([], pyarrow.string())})
    answer = over(empty).schema.field(over.to)
    added = from_arrow_schema(pyarrow.schema([answer]))

    def batches(source: Iterator[Any]) -> Iterator[Any]:
        for batch in source:
            yield from over(pyarrow.Table.from_batches([batch])).to_batches()

    return frame.mapInArrow(batches, StructType(frame.schema.fields + added.fields))
