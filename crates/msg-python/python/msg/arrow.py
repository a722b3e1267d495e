"""The functions over columns: an Arrow array of documents in, an Arrow array of answers out.

Takes whatever speaks the PyCapsule interface (pyarrow, polars, nanoarrow, duckdb) and gives such an object; a chunked
column gives chunks. A null gives a null, a row that cannot be read has an ``error`` in its row, and no row fails a batch.
"""

from __future__ import annotations

from typing import Any

from . import _msg

__all__ = [
    "Answers", "check", "convert", "fit", "is_valid", "key", "messages", "prefix_keys", "repair", "stats", "tokens",
]


class Answers:
    """One answer a row, in the chunks of the column that was asked."""

    __slots__ = ("chunks",)

    def __init__(self, chunks: list[Any]) -> None:
        self.chunks = chunks

    def __len__(self) -> int:
        return sum(map(len, self.chunks))

    def __arrow_c_array__(self, requested_schema: Any | None = None) -> tuple[Any, Any]:
        if len(self.chunks) != 1:
            raise ValueError(f"the column has {len(self.chunks)} chunks: take `.chunks` or `.to_pyarrow()`")
        answer: tuple[Any, Any] = self.chunks[0].__arrow_c_array__(requested_schema)
        return answer

    def to_pyarrow(self) -> Any:
        """A pyarrow array, or a chunked array where the column was chunked."""
        import pyarrow

        arrays = [pyarrow.array(chunk) for chunk in self.chunks]
        return arrays[0] if len(arrays) == 1 else pyarrow.chunked_array(arrays)


def _over(act: str, column: Any, options: dict[str, Any], to: str | None = None) -> Answers:
    if "from_" in options:
        options["from"] = options.pop("from_")
    return Answers([_msg.over_array(act, chunk, options or None, to) for chunk in _chunks(column)])


def _chunks(column: Any) -> list[Any]:
    if hasattr(column, "__arrow_c_array__"):
        return [column]
    if hasattr(column, "chunks"):
        chunks = list(column.chunks)
        return chunks or [column.combine_chunks()]
    if hasattr(column, "to_arrow"):
        return _chunks(column.to_arrow())
    if hasattr(column, "__arrow_c_stream__"):
        import pyarrow

        return _chunks(pyarrow.chunked_array(column))
    raise TypeError(f"{type(column).__name__} is no Arrow column")


def check(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.check`, as structs."""
    return _over("check", column, options)


def is_valid(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.is_valid`, as booleans."""
    return _over("is_valid", column, options)


def repair(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.repair`, as structs with the mended text."""
    return _over("repair", column, options)


def convert(column: Any, to: str, /, **options: Any) -> Answers:
    """The answers of :func:`msg.convert`, as structs with the converted text."""
    return _over("convert", column, options, to)


def stats(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.stats`, as structs."""
    return _over("stats", column, options)


def tokens(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.tokens`, as integers."""
    return _over("tokens", column, options)


def fit(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.fit`, as structs with the shorter text."""
    return _over("fit", column, options)


def messages(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.messages`, as lists of structs."""
    return _over("messages", column, options)


def key(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.key`, 16 bytes each."""
    return _over("key", column, options)


def prefix_keys(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.prefix_keys`, as lists."""
    return _over("prefix_keys", column, options)
