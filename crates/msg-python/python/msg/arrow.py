"""The functions over columns: an Arrow array of documents in, an Arrow array of answers out.

Takes whatever speaks the PyCapsule interface (pyarrow, polars, nanoarrow, duckdb) and gives such an object; a chunked
column gives chunks. A null gives a null, a row that cannot be read has an ``error`` in its row, and no row fails a batch.

Every function takes ``threads=N``: so many work at a column. It is one if not given, since engines bring their own.
"""

from __future__ import annotations

from typing import Any

from . import _msg

__all__ = [
    "Answers", "check", "convert", "fit", "fit_apply", "fit_requests", "is_valid", "join", "key", "messages", "prefix_keys",
    "recognise", "repair", "stats", "stream", "to_text", "tokens", "tools",
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

    def __arrow_c_stream__(self, requested_schema: Any | None = None) -> Any:
        import pyarrow

        return pyarrow.chunked_array([pyarrow.array(it) for it in self.chunks]).__arrow_c_stream__(requested_schema)

    def to_pyarrow(self) -> Any:
        """A pyarrow array, or a chunked array where the column was chunked."""
        import pyarrow

        arrays = [pyarrow.array(chunk) for chunk in self.chunks]
        return arrays[0] if len(arrays) == 1 else pyarrow.chunked_array(arrays)


def _over(act: str, column: Any, options: dict[str, Any], other: Any = None) -> Answers:
    threads = options.pop("threads", 1)
    if "from_" in options:
        options["from"] = options.pop("from_")
    others = _chunks(other) if act in ("join", "fit_apply") else None
    chunks = _chunks(column)
    if others is not None and [len(it) for it in others] != [len(it) for it in chunks]:
        raise ValueError("the two columns are cut into different chunks")
    second = others or [other] * len(chunks)
    return Answers([_answers(act, *pair, options or None, threads) for pair in zip(chunks, second)])


def _answers(act: str, chunk: Any, other: Any, options: dict[str, Any] | None, threads: int) -> Any:
    pieces = _msg.over_array(act, chunk, options, other, threads)
    if len(pieces) == 1:
        return pieces[0]
    import pyarrow

    return pyarrow.concat_arrays([pyarrow.array(it) for it in pieces])


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


def fit_requests(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.fit_requests`, as lists of JSON texts."""
    return _over("fit_requests", column, options)


def fit_apply(column: Any, answers: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.fit_apply`, as structs with the shorter text; ``answers`` has a list of texts a row."""
    return _over("fit_apply", column, options, answers)


def messages(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.messages`, as lists of structs."""
    return _over("messages", column, options)


def key(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.key`, 16 bytes each."""
    return _over("key", column, options)


def prefix_keys(column: Any, /, **options: Any) -> Answers:
    """The answers of :func:`msg.prefix_keys`, as lists."""
    return _over("prefix_keys", column, options)


def recognise(column: Any, /, **options: Any) -> Answers:
    """The format of each document."""
    return _over("recognise", column, options)


def tools(column: Any, /, **options: Any) -> Answers:
    """The segments of model text, as lists of structs."""
    return _over("tools", column, options)


def stream(column: Any, /, **options: Any) -> Answers:
    """The message of each captured stream, as structs."""
    return _over("stream", column, options)


def join(inputs: Any, outputs: Any, /, **options: Any) -> Answers:
    """One conversation of a column of requests and a column of answers, as text."""
    return _over("join", inputs, options, outputs)


def to_text(column: Any, /, **options: Any) -> Answers:
    """The texts of a nested column; a column of texts comes back as it is."""
    return _over("to_text", column, options)
