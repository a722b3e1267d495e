"""Check, repair, convert and fit conversations with language models.

Every function takes a document as text (``str`` or ``bytes``, the fast way) or as objects (a list of messages, a request
as a ``dict``, models with ``model_dump``), and answers in kind.

>>> import msg
>>> checked = msg.check([{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "42"}])
>>> bool(checked), checked.diagnostics[0].code
(False, 'chain::orphan-tool-result')
"""

from __future__ import annotations

from . import _msg
from ._msg import Checked, Repaired, formats, recognise
from .errors import CannotFit, InternalError, MsgError, OptionError, ParseError
from .stream import StreamAssembler, ToolParser, stream, tools

TYPE_CHECKING = False  # as that of `typing`, which costs half of the time that an import may take (PY-1)
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeVar

    from .types import Converted, Diagnostic, Fitted, Position, Stats

    D = TypeVar("D")

__all__ = [
    "CannotFit", "Checked", "Checker", "Converted", "Diagnostic", "Fitted", "InternalError", "MsgError", "OptionError",
    "ParseError", "Position", "Repaired", "Stats", "StreamAssembler", "ToolParser", "check", "convert", "fit", "fit_apply", "fit_requests",
    "formats", "is_valid", "join", "key", "messages", "prefix_keys", "recognise", "repair", "stats", "stream", "tokens", "tools",
]

__version__ = _msg.version


def __getattr__(name: str) -> Any:
    """The classes of :mod:`msg.types`, made when somebody asks for one."""
    if name not in ("Converted", "Diagnostic", "Fitted", "Position", "Stats"):
        raise AttributeError(f"module 'msg' has no attribute {name!r}")
    from . import types

    return getattr(types, name)


def check(document: Any, /, **options: Any) -> Checked:
    """Every problem of a conversation. True iff a provider would take it (``profile="anthropic"``) or, without a profile,
    iff it is well formed.

    Options: ``profile``, ``open``, ``request``, ``model``, ``for_model``, ``messages``, ``max_chars``, ``from_``, ``calls``,
    ``max_bytes``: the flags of ``msg check``.

    >>> bool(check('[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]'))
    True
    """
    return _msg.check(document, _named(options))


def is_valid(document: Any, /, **options: Any) -> bool:
    """Whether :func:`check` would find no error; stops at the first."""
    return _msg.is_valid(document, _named(options))


def repair(document: D, /, **options: Any) -> Repaired[D]:
    """The smallest edit that makes a conversation well formed, or, with ``profile``, one that the provider takes.

    The document is of the kind of the input; messages that did not change are the caller's own objects. Only errors
    are mended, with ``all=True`` warnings too; ``remaining`` has the errors that no edit mends.

    >>> question = {"role": "user", "content": "hi"}
    >>> repaired = repair([question, {"role": "tool", "tool_call_id": "c1", "content": "42"}])
    >>> repaired.document[0] is question, [edit.code for edit in repaired.edits]
    (True, ['chain::orphan-tool-result'])
    """
    return _msg.repair(document, _named(options))


def convert(document: D, to: str, /, **options: Any) -> Converted[D]:
    """The conversation in another format, with what was lost.

    >>> convert([{"role": "user", "content": "hi"}], "gemini").document
    {'contents': [{'role': 'user', 'parts': [{'text': 'hi'}]}]}
    """
    from .types import Converted

    return Converted(*_msg.convert(document, to, _named(options)))


def stats(document: Any, /, **options: Any) -> Stats:
    """Messages, bytes and tokens, by role, section and tool."""
    from .types import Stats

    return Stats(_msg.stats(document, _named(options)))


def tokens(document: Any, /, **options: Any) -> int:
    """What a conversation costs, in tokens of ``counter`` (``script`` if not given)."""
    return _msg.tokens(document, _named(options))


def fit(document: D, /, *, budget: int | None = None, **options: Any) -> Fitted[D]:
    """The conversation within a budget of tokens; no model is asked, digests stand for what was cut.

    Raises :class:`CannotFit` where nothing that may be cut is enough.
    """
    return fit_apply(document, [], budget=budget, **options)


def fit_requests(document: Any, /, *, budget: int | None = None, **options: Any) -> list[dict[str, Any]]:
    """What a model would be asked for to make the conversation fit: ``prompt``, a list of texts, and how long the summary may
    be (``target``, ``max``). :func:`fit_apply` takes the answers, in this order."""
    if budget is not None:
        options["budget"] = budget
    return _msg.fit_requests(document, _named(options))


def fit_apply(document: D, answers: list[str | None], /, *, budget: int | None = None, **options: Any) -> Fitted[D]:
    """As :func:`fit`, with summaries that were written elsewhere, in the order of :func:`fit_requests`; what has none gets a
    digest."""
    from .types import Fitted

    if budget is not None:
        options["budget"] = budget
    fitted, fits, line = _msg.fit(document, _named(options), answers)
    answer: Fitted[Any] = Fitted(fitted if fitted is not None else document, line)
    if not fits:
        raise CannotFit(answer)
    return answer


def messages(document: Any, /, **options: Any) -> list[dict[str, Any]]:
    """One row a message: index, role, name, text, calls, result_ids, native."""
    return _msg.messages(document, _named(options))


def join(input: D | None, output: Any | None) -> D | None:
    """The one conversation of a logged request and its answer."""
    joined: D | None = _msg.join(input, output)
    return joined


def key(document: Any, /, **options: Any) -> bytes:
    """16 bytes that conversations which say the same have in common, for deduplication."""
    return _msg.key(document, _named(options))


def prefix_keys(document: Any, /, **options: Any) -> list[bytes]:
    """The keys of all prefixes that end with an assistant message."""
    return _msg.prefix_keys(document, _named(options))


class Checker:
    """:func:`check` with its options understood once; it pickles.

    >>> checker = Checker(profile="openai")
    >>> bool(checker([{"role": "user", "content": "hi"}]))
    True
    """

    __slots__ = ("_options",)

    def __init__(self, **options: Any) -> None:
        self._options = _named(options)
        # A bad option is said now, not at the first document.
        _msg.check("[]", self._options)

    def __call__(self, document: Any, /) -> Checked:
        return _msg.check(document, self._options)

    def all(self, documents: Iterable[Any], /) -> list[Checked]:
        """The answers to several documents, in their order."""
        return [self(document) for document in documents]

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in (self._options or {}).items())
        return f"Checker({options})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _checker, (self._options,)


def _checker(options: dict[str, Any] | None) -> Checker:
    return Checker(**(options or {}))


def _named(options: dict[str, Any]) -> dict[str, Any] | None:
    """Options by the names of the command line: ``from_`` is ``from``."""
    if not options:
        return None
    if "from_" in options:
        options["from"] = options.pop("from_")
    return options
