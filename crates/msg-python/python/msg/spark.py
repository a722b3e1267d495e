"""The functions for Spark: ``df.withColumn("check", msg.spark.check("conversation"))``, or in SQL after ``register(spark)``.

From Spark 4.1 they are Arrow UDFs; for older ones ``map_check`` and its like do the same by ``mapInArrow``. The workers
need this package too: ship an environment with ``spark.archives`` or install it there, and set ``PYSPARK_PYTHON``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import arrow
from ._engine import Kernel, kernels
from .ray import OverColumn

if TYPE_CHECKING:
    from typing import Concatenate

    from typing_extensions import ParamSpec, Unpack

    from .options import CheckOptions, RepairOptions, SummaryOptions

    P = ParamSpec("P")

__all__ = [
    "check", "convert", "fit", "is_valid", "key", "map_act", "map_check", "map_repair", "merge", "messages", "prefix_keys",
    "recognise", "register", "repair", "stats", "summary", "tokens",
]


def register(spark: Any, **options: dict[str, Any]) -> None:
    """Registers ``msg_check``, ``msg_repair`` and all others for SQL, each with its own options: ``check={"profile":
    "anthropic"}``. ``msg_fit`` and ``msg_convert`` are there where they have options (``convert={"to": "anthropic"}``)."""
    for name, kernel in kernels(options).items():
        spark.udf.register(name, _udf(kernel))


def _udf(kernel: Kernel) -> Any:
    from pyspark.sql.functions import ArrowUDFType, arrow_udf

    plain = _plain(kernel.answer_type())

    def over(column: Any) -> Any:
        return kernel(column).cast(plain)

    return arrow_udf(over, _spark_type(plain), ArrowUDFType.SCALAR)


def _column(like: Callable[Concatenate[Any, P], arrow.Answers]) -> Callable[Concatenate[Any, P], Any]:
    def column(name: Any, /, *args: P.args, **options: P.kwargs) -> Any:
        return _udf(Kernel(like.__name__, *args, **options))(name)

    column.__name__ = like.__name__
    column.__doc__ = f"The answers of :func:`msg.arrow.{like.__name__}` to a column of documents, as a column."
    return column


check = _column(arrow.check)
convert = _column(arrow.convert)
fit = _column(arrow.fit)
is_valid = _column(arrow.is_valid)
key = _column(arrow.key)
messages = _column(arrow.messages)
prefix_keys = _column(arrow.prefix_keys)
recognise = _column(arrow.recognise)
repair = _column(arrow.repair)
stats = _column(arrow.stats)
tokens = _column(arrow.tokens)


def summary(frame: Any, column: str, **options: Unpack[SummaryOptions]) -> Any:
    """One row for each partition, as :func:`msg.arrow.summary` gives it; :func:`merge` makes one of them."""
    import pyarrow

    kernel = Kernel("summary", **options)

    def batches(source: Iterator[Any]) -> Iterator[Any]:
        rows = [kernel.answers(batch[column]) for batch in source]
        if rows:
            merged = arrow.merge(pyarrow.chunked_array([it.to_pyarrow() for it in rows])).to_pyarrow()
            yield pyarrow.RecordBatch.from_struct_array(merged)

    return frame.select(column).mapInArrow(batches, _spark_type(kernel.answer_type()))


def merge(summaries: Any) -> dict[str, Any]:
    """The rows of :func:`summary` as one, on the driver: one small row for each partition."""
    import pyarrow

    table = pyarrow.Table.from_batches(summaries.toArrow().to_batches())
    return dict(arrow.merge(table.to_struct_array()).to_pylist()[0])


def map_check(frame: Any, column: str, *, to: str = "check", **options: Unpack[CheckOptions]) -> Any:
    """The frame with the answers of :func:`msg.check` in a column of structs."""
    return map_act("check", frame, column, to=to, **options)


def map_repair(frame: Any, column: str, *, to: str = "repair", **options: Unpack[RepairOptions]) -> Any:
    """The frame with the answers of :func:`msg.repair` in a column of structs."""
    return map_act("repair", frame, column, to=to, **options)


def map_act(act: str, frame: Any, column: str, *args: Any, to: str | None = None, **options: Any) -> Any:
    """The frame with the answers of any function of :mod:`msg.arrow` in a column, by ``mapInArrow``."""
    import pyarrow
    from pyspark.sql.types import StructField, StructType

    kernel = Kernel(act, *args, **options)
    over = OverColumn(kernel, column, to or act)
    added = StructField(over.to, _spark_type(_plain(kernel.answer_type())))

    def batches(source: Iterator[Any]) -> Iterator[Any]:
        for batch in source:
            yield from over(pyarrow.Table.from_batches([batch])).to_batches()

    return frame.mapInArrow(batches, StructType([*frame.schema.fields, added]))


def _spark_type(kind: Any) -> Any:
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(kind)


def _plain(kind: Any) -> Any:
    """The type without binaries of a fixed size, which Spark does not have."""
    import pyarrow
    from pyarrow import types

    if types.is_fixed_size_binary(kind):
        return pyarrow.binary()
    if types.is_list(kind):
        return pyarrow.list_(_plain(kind.value_type))
    return kind
