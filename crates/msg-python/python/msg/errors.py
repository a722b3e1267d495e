"""What is raised: only for calls, and for a single document that cannot be read. A bad conversation is a value."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import _msg
    from .types import Fitted

__all__ = ["CannotFit", "InternalError", "MsgError", "OptionError", "ParseError"]


class MsgError(Exception):
    """The base of the exceptions of this package."""


class ParseError(MsgError, ValueError):
    """A document cannot be read."""

    def __init__(self, message: str, line: str = "") -> None:
        super().__init__(message)
        self._line = line

    @property
    def diagnostic(self) -> _msg.Diagnostic | None:
        """What is wrong, with its place; ``None`` where objects are not JSON."""
        from . import _msg

        return next(iter(_msg.diagnostics(self._line, "error")), None) if self._line else None

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
    """An option cannot have this value, or another one is missing."""


class CannotFit(MsgError):
    """What has to stay is larger than the budget. ``fitted`` has the report."""

    def __init__(self, fitted: Fitted[Any]) -> None:
        super().__init__(fitted.reason or "the history does not fit its budget")
        self.fitted = fitted

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.fitted,)


class InternalError(MsgError):
    """A bug in this package."""
