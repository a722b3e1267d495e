"""The answers, and what a document is for a type checker. Each answer is frozen; its parts are made when they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from . import _msg
from ._msg import Checked, Converted, Diagnostic, Position, Repaired

__all__ = ["Checked", "Converted", "Diagnostic", "Document", "Dumps", "Fitted", "Position", "Repaired", "Stats"]

D = TypeVar("D")


class Dumps(Protocol):
    """A model of pydantic, or anything that gives its members as one does."""

    def model_dump(self, *, mode: Any = ..., exclude_unset: Any = ..., by_alias: Any = ...) -> dict[str, Any]: ...


Document = str | bytes | bytearray | memoryview | Sequence[Any] | Mapping[str, Any] | Dumps
"""A conversation: JSON as text, or a list of messages, a request, a model."""


@dataclass(frozen=True, repr=False)
class Fitted(Generic[D]):
    """The answer of :func:`msg.fit`."""

    document: D
    _line: str = field(repr=False)

    @cached_property
    def report(self) -> dict[str, Any]:
        """The line of ``msg fit --jsonl``, without the conversation."""
        report: dict[str, Any] = json.loads(self._line)
        return report

    @property
    def status(self) -> str:
        """``compacted``, ``not-needed`` or ``cannot-fit``."""
        return str(self.report["status"])

    @property
    def tokens(self) -> int | None:
        """The tokens of the document."""
        after = self.report.get("after") or self.report.get("before") or {}
        return after.get("tokens")

    @property
    def reason(self) -> str | None:
        """Why it does not fit; ``None`` if it does."""
        why = self.report.get("cannot_fit")
        if why:
            floor, limit = why["floor"], why["limit"]
            return f"the history has at least {floor} tokens, the budget leaves {limit} ({why['why']})"
        errors = (*self.remaining, *(it for it in self.edits if it.severity == "error"))
        return next((it.message for it in errors), None)

    @cached_property
    def edits(self) -> tuple[Diagnostic, ...]:
        """What was cut."""
        return _msg.diagnostics(self._line, "edits")

    @cached_property
    def remaining(self) -> tuple[Diagnostic, ...]:
        """The errors that no edit mends."""
        return _msg.diagnostics(self._line, "remaining")

    def __repr__(self) -> str:
        return f"Fitted(status={self.status!r}, tokens={self.tokens}, edits={len(self.edits)})"


@dataclass(frozen=True, repr=False)
class Stats:
    """The answer of :func:`msg.stats`."""

    _line: str = field(repr=False)

    @cached_property
    def report(self) -> dict[str, Any]:
        """The line of ``msg stats --json``."""
        report: dict[str, Any] = json.loads(self._line)
        return report

    @property
    def messages(self) -> int:
        """The number of messages."""
        return int(self.report["messages"])

    @property
    def bytes(self) -> int:
        """The size of the messages."""
        return int(self.report["bytes"])

    @property
    def tokens(self) -> int:
        """The tokens of the messages."""
        return int(self.report["tokens"])

    def __repr__(self) -> str:
        return f"Stats(messages={self.messages}, bytes={self.bytes}, tokens={self.tokens})"
