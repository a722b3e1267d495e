"""The answers. Each is frozen; what costs something to make is made when it is asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from ._msg import Checked, Repaired

__all__ = ["Checked", "Converted", "Diagnostic", "Fitted", "Position", "Repaired", "Stats"]

D = TypeVar("D")


@dataclass(frozen=True)
class Position:
    """Where a finding is; what is not known is ``None``. Messages and parts count from 0, ``start`` and ``end`` are bytes."""

    message: int | None = None
    part: int | None = None
    other_message: int | None = None
    section: int | None = None
    tool_call_id: str | None = None
    line: int | None = None
    column: int | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Diagnostic:
    """A finding: what is wrong, where, and what would mend it."""

    code: str
    severity: str
    message: str
    at: Position = field(default_factory=Position)
    fix: str | None = None
    answer: str | None = None
    """What the provider would answer, in its own words."""

    @classmethod
    def read(cls, members: dict[str, Any]) -> Diagnostic:
        """From the JSON form of the command line."""
        known = {name: members[name] for name in ("code", "severity", "message", "fix", "answer") if name in members}
        at = {name: value for name, value in members.get("at", {}).items() if name in Position.__dataclass_fields__}
        return cls(at=Position(**at), **known)

    def __str__(self) -> str:
        place = f" (message {self.at.message})" if self.at.message is not None else ""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{self.severity}[{self.code}]: {self.message}{place}{fix}"


def _all(line: str | None, member: str) -> tuple[Diagnostic, ...]:
    if line is None:
        return ()
    return tuple(Diagnostic.read(it) for it in json.loads(line).get(member, ()))


@dataclass(frozen=True)
class Converted(Generic[D]):
    """The answer of :func:`msg.convert`."""

    document: D
    _line: str | None = field(repr=False, default=None)

    @cached_property
    def edits(self) -> tuple[Diagnostic, ...]:
        """What the other format cannot hold."""
        return _all(self._line, "edits")


@dataclass(frozen=True)
class Fitted(Generic[D]):
    """The answer of :func:`msg.fit`."""

    document: D
    _line: str = field(repr=False)

    @cached_property
    def report(self) -> dict[str, Any]:
        """The line of ``msg fit --jsonl``, without the messages."""
        report: dict[str, Any] = json.loads(self._line)
        report.pop("messages", None)
        return report

    @property
    def status(self) -> str:
        """``compacted``, ``not-needed`` or ``cannot-fit``."""
        return str(self.report["status"])

    @property
    def tokens(self) -> int | None:
        """What is left costs so much."""
        after = self.report.get("after") or self.report.get("before") or {}
        return after.get("tokens")

    @property
    def reason(self) -> str | None:
        """Why it does not fit."""
        return next((it.message for it in self.edits if it.severity == "error"), None)

    @cached_property
    def edits(self) -> tuple[Diagnostic, ...]:
        """What was cut."""
        return _all(self._line, "edits")


@dataclass(frozen=True)
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
        """How many messages."""
        return int(self.report["messages"])

    @property
    def bytes(self) -> int:
        """Their size."""
        return int(self.report["bytes"])

    @property
    def tokens(self) -> int:
        """What they cost."""
        return int(self.report["tokens"])
