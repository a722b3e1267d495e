"""The functions over columns: an Arrow column of documents in, an Arrow column of answers out.

Takes whatever speaks the PyCapsule interface (pyarrow, polars, pandas, nanoarrow, duckdb) and gives such an object; a chunked
column gives chunks. A null gives a null, a row that cannot be read has an ``error`` in its row, and no row fails a batch.
No library of Arrow is imported: ``polars.Series(answers)`` and ``answers.to_pylist()`` work without pyarrow.

Every function takes the options of the function of the same name in :mod:`msg`, and ``threads=N``, the number of threads that
work at a column (default 1, since engines bring their own). ``key=True`` adds a member ``key`` to structs: what judged the
row, as :func:`msg.options_key` says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _msg
from ._msg import Answers

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import (
        CheckOptions,
        CompareOptions,
        ConvertOptions,
        FitOptions,
        Format,
        KeyOptions,
        ReadOptions,
        RepairOptions,
        StatsOptions,
        StreamOptions,
        SummaryOptions,
        ToolsOptions,
    )

__all__ = [
    "Answers", "cache", "check", "convert", "fit", "fit_apply", "fit_requests", "is_valid", "join", "key", "merge", "messages",
    "prefix_keys", "recognise", "repair", "stats", "stream", "summary", "to_text", "tokens", "tools",
]


def check(column: Any, /, *, threads: int = 1, key: bool = False, **options: Unpack[CheckOptions]) -> Answers:
    """The answers of :func:`msg.check`, as structs."""
    return _msg.over_column("check", column, options, None, threads, key)


def is_valid(column: Any, /, *, threads: int = 1, **options: Unpack[CheckOptions]) -> Answers:
    """The answers of :func:`msg.is_valid`, as booleans."""
    return _msg.over_column("is_valid", column, options, None, threads)


def repair(column: Any, /, *, threads: int = 1, key: bool = False, **options: Unpack[RepairOptions]) -> Answers:
    """The answers of :func:`msg.repair`, as structs with the mended text."""
    return _msg.over_column("repair", column, options, None, threads, key)


def convert(
    column: Any,
    /,
    to: Format,
    *,
    threads: int = 1,
    key: bool = False,
    request: bool = False,
    response: bool = False,
    **options: Unpack[ConvertOptions],
) -> Answers:
    """The answers of :func:`msg.convert`, as structs with the converted text."""
    given = {**options, **{name: True for name, on in (("request", request), ("response", response)) if on}}
    return _msg.over_column("convert", column, given, to, threads, key)


def stats(column: Any, /, *, threads: int = 1, key: bool = False, **options: Unpack[StatsOptions]) -> Answers:
    """The answers of :func:`msg.stats`, as structs."""
    return _msg.over_column("stats", column, options, None, threads, key)


def tokens(column: Any, /, *, threads: int = 1, **options: Unpack[StatsOptions]) -> Answers:
    """The answers of :func:`msg.tokens`, as integers."""
    return _msg.over_column("tokens", column, options, None, threads)


def fit(
    column: Any, /, *, budget: int | None = None, threads: int = 1, key: bool = False, **options: Unpack[FitOptions]
) -> Answers:
    """The answers of :func:`msg.fit`, as structs with the shorter text."""
    return _msg.over_column("fit", column, {"budget": budget, **options}, None, threads, key)


def fit_requests(column: Any, /, *, budget: int | None = None, threads: int = 1, **options: Unpack[FitOptions]) -> Answers:
    """The answers of :func:`msg.fit_requests`, as lists of JSON texts."""
    return _msg.over_column("fit_requests", column, {"budget": budget, **options}, None, threads)


def fit_apply(
    column: Any,
    answers: Any,
    /,
    *,
    budget: int | None = None,
    threads: int = 1,
    key: bool = False,
    **options: Unpack[FitOptions],
) -> Answers:
    """The answers of :func:`msg.fit_apply`, as structs with the shorter text; ``answers`` has a list of texts per row."""
    return _msg.over_column("fit_apply", column, {"budget": budget, **options}, answers, threads, key)


def messages(column: Any, /, *, threads: int = 1, **options: Unpack[ReadOptions]) -> Answers:
    """The answers of :func:`msg.messages`, as lists of structs."""
    return _msg.over_column("messages", column, options, None, threads)


def key(column: Any, /, *, threads: int = 1, **options: Unpack[KeyOptions]) -> Answers:
    """The answers of :func:`msg.key`, 16 bytes each."""
    return _msg.over_column("key", column, options, None, threads)


def prefix_keys(column: Any, /, *, threads: int = 1, **options: Unpack[ReadOptions]) -> Answers:
    """The answers of :func:`msg.prefix_keys`, as lists."""
    return _msg.over_column("prefix_keys", column, options, None, threads)


def recognise(column: Any, /, *, threads: int = 1, **options: Unpack[ReadOptions]) -> Answers:
    """The format of each document."""
    return _msg.over_column("recognise", column, options, None, threads)


def tools(column: Any, /, *, threads: int = 1, **options: Unpack[ToolsOptions]) -> Answers:
    """The segments of model text, as lists of structs."""
    return _msg.over_column("tools", column, options, None, threads)


def stream(column: Any, /, *, threads: int = 1, key: bool = False, **options: Unpack[StreamOptions]) -> Answers:
    """The message of each captured stream, as structs."""
    return _msg.over_column("stream", column, options, None, threads, key)


def join(inputs: Any, outputs: Any, /, *, threads: int = 1, **options: Unpack[ReadOptions]) -> Answers:
    """One conversation of a column of requests and a column of answers, as text."""
    return _msg.over_column("join", inputs, options, outputs, threads)


def cache(before: Any, now: Any, /, *, threads: int = 1, key: bool = False, **options: Unpack[CompareOptions]) -> Answers:
    """Where each request stops being a continuation of the one before, as structs; null where there is none before."""
    return _msg.over_column("cache", before, options, now, threads, key)


def to_text(column: Any, /, *, threads: int = 1) -> Answers:
    """The texts of a nested column; a column of texts comes back as it is."""
    return _msg.over_column("to_text", column, None, None, threads)


def summary(column: Any, /, *, threads: int = 1, key: bool = False, **options: Unpack[SummaryOptions]) -> Answers:
    """One row for all rows: ``rows``, ``read``, ``ok``, ``errors`` by code, ``messages``, ``tokens``, ``bytes``, ``nulls``.

    :func:`merge` makes one of several, in any order, so that an engine sends one row per batch to its driver.
    """
    return _msg.over_column("summary", column, options, None, threads, key)


def merge(summaries: Any, /) -> Answers:
    """The rows of :func:`summary` as one row. Associative and commutative."""
    return _msg.over_column("merge", summaries)
