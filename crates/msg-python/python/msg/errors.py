"""What is raised: only for calls, and for a single document that cannot be read. A bad conversation is a value."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .types import Diagnostic, Fitted


class MsgError(Exception):
    """Everything that this package raises."""


class ParseError(MsgError, ValueError):
    """A document cannot be read."""

    def __init__(self, message: str, line: str = "") -> None:
        super().__init__(message)
        self._line = line

    @property
    def diagnostic(self) -> Diagnostic | None:
        """What is wrong, with its place; none where objects are no JSON."""
        import json

        from .types import Diagnostic

        return Diagnostic.read(json.loads(self._line)["error"]) if self._line else None

    @property
    def start(self) -> int | None:
        """The byte where reading stopped."""
        found = self.diagnostic
        return found.at.start if found else None

    @property
    def line(self) -> int | None:
        """The line where reading stopped, from 1."""
        found = self.diagnostic
        return found.at.line if found else None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self._line)


class OptionError(MsgError, ValueError):
    """An option that does not exist, or that cannot have this value."""


class CannotFit(MsgError):
    """Nothing that may be cut is enough."""

    def __init__(self, fitted: Fitted[Any]) -> None:
        super().__init__(fitted.reason or "the history does not fit its budget")
        self.fitted = fitted


class InternalError(MsgError):
    """A bug in this package."""
