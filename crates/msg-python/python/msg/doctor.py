"""Sessions that agents left on disk or in a store: what keeps them from being resumed, and the mended session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from . import _msg
from ._msg import Diagnostic
from .errors import ParseError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Agent, DoctorOptions

__all__ = ["SessionReport", "doctor"]

D = TypeVar("D")


@dataclass(frozen=True)
class SessionReport(Generic[D]):
    """The answer of :func:`msg.doctor`; true where no error was found."""

    agent: str
    """The agent that wrote the session."""
    document: D
    """The mended session; the one that was given if nothing was changed."""
    changed: bool
    """Whether anything was mended."""
    findings: tuple[Diagnostic, ...]
    """What was wrong, with lines that count from 1."""

    def __bool__(self) -> bool:
        return all(it.severity != "error" for it in self.findings)


def doctor(session: D, /, *, agent: Agent | None = None, **options: Unpack[DoctorOptions]) -> SessionReport[D]:
    """What is wrong with a session, and the session mended: text (JSON lines) or the list of its records.

    ``agent`` names who wrote it; it is recognised if not given. No file is read or written.

    Options:
        all: Also repair warnings
        drop_thinking: Remove the reasoning of the model
        drop_encrypted: Remove reasoning that only another account can decrypt
        drop: Remove lines with errors from a data set
        error: Find the place that this message of the provider is about
        agent_version: Judge by the rules of this version of the agent, such as 2.1.197 [default: the newest known]
        leaf: Read the branch of the session that contains this record
        max_record: Do not parse records larger than this, in bytes
        xml: Also read tool calls in the texts of older sessions

    >>> record = {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "Hi"}}
    >>> report = doctor([record])
    >>> report.agent, report.changed, report.document[0] is record
    ('claude-code', False, True)
    """
    name: object = session
    if isinstance(name, str) and "\n" not in name and name.endswith((".jsonl", ".json", ".md")):
        raise ParseError("this looks like the name of a file; pass what is in the file")
    if not (agent is None or isinstance(agent, str)):
        raise TypeError(f"doctor() argument 'agent' expects str, found {type(agent).__name__}")
    return SessionReport(*_msg.doctor(session, agent, options))
