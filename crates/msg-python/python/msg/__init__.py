"""Check, repair, convert and fit conversations with language models.

Every function takes a document as text (``str`` or ``bytes``, the fast way) or as objects (a list of messages, a request
as a ``dict``, models with ``model_dump``), and answers in kind. Options are keyword arguments; :mod:`msg.options` has
their types.

>>> import msg
>>> checked = msg.check([{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "42"}])
>>> bool(checked), checked.diagnostics[0].code
(False, 'chain::orphan-tool-result')
"""

from . import _msg
from ._msg import Checked, Converted, Diagnostic, Position, Repaired, formats, recognise
from .errors import CannotFit, InternalError, MsgError, OptionError, ParseError
from .stream import StreamAssembler, ToolParser, stream, tools

TYPE_CHECKING = False  # as that of `typing`, which costs half of the time that an import may take (PY-1)
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal, TypeVar, overload

    from typing_extensions import Unpack

    from .doctor import SessionReport, doctor
    from .ledger import CacheLedger, cache
    from .options import (
        CheckOptions,
        ConvertOptions,
        FitOptions,
        Format,
        KeyOptions,
        ListFormat,
        ObjectFormat,
        ReadOptions,
        RepairOptions,
        StatsOptions,
    )
    from .types import Document, Dumps, Fitted, Stats

    D = TypeVar("D", bound=Document)
    _Objects = list[Any] | tuple[Any, ...] | Mapping[str, Any] | Dumps

__all__ = [
    "CacheLedger", "CannotFit", "Checked", "Checker", "Converted", "Diagnostic", "Fitted", "InternalError", "MsgError", "OptionError",
    "ParseError", "Position", "Repaired", "SessionReport", "Stats", "StreamAssembler", "ToolParser", "cache", "check", "convert",
    "doctor", "fit", "fit_apply", "fit_requests", "formats", "is_valid", "join", "key", "messages", "options_key",
    "prefix_keys", "recognise", "repair", "stats", "stream", "tokens", "tools",
]

__version__ = _msg.version

_LAZY = {"CacheLedger": "ledger", "cache": "ledger", "Fitted": "types", "SessionReport": "doctor", "Stats": "types", "doctor": "doctor"}


if not TYPE_CHECKING:  # a type checker would take any name for one of the module

    def __getattr__(name: str) -> "Any":
        """What is loaded at its first use: the dataclasses, `cache` and `doctor`."""
        if name not in _LAZY:
            raise AttributeError(f"module 'msg' has no attribute {name!r}")
        from importlib import import_module

        module = import_module(f".{_LAZY[name]}", __name__)
        # The import itself gives the package the module under its own name, which is that of a function in `doctor`.
        globals().update({it: getattr(module, it) for it, home in _LAZY.items() if home == _LAZY[name]})
        return globals()[name]


def __dir__() -> "list[str]":
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__version__"])


def check(document: "Document", /, **options: "Unpack[CheckOptions]") -> Checked:
    """Every problem of a conversation, as a value that is true where no error was found.

    The messages are judged: their order, calls and results, roles and parts; with ``profile`` also by what that provider
    refuses. Tool definitions and settings of a request are not.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        field: Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list
        join: Take the request from one member and its answer from another, such as `input,output`; several as a list
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
        model: The model that wrote the assistant messages, if the document does not name it: some providers refuse signed reasoning of other models
        provider: The provider that wrote them, if the document does not name it
        profile: Also apply the rules of this provider
        for_model: With profile: the model of the request, if the document does not name it
        request: Judge the document as a request: with profile also its tools, settings and last message
        open: Allow calls without results at the end, which the agent has not run yet
        messages: Also check each message by itself: roles, empty content, misplaced parts, arguments
        max_chars: With messages: report user texts of more than N characters

    >>> bool(check('[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]'))
    True
    """
    return _msg.check(document, options)


def is_valid(document: "Document", /, **options: "Unpack[CheckOptions]") -> bool:
    """Whether :func:`check` would find no error; stops at the first. Takes the options of :func:`check`."""
    return _msg.is_valid(document, options)


def repair(document: "D", /, **options: "Unpack[RepairOptions]") -> "Repaired[D]":
    """The smallest edit that makes a conversation well formed, or, with ``profile``, one that the provider takes.

    The document is of the kind of the input; messages that did not change are the caller's own objects. ``edits`` lists
    what was changed, ``remaining`` the errors that no edit mends.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        field: Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list
        join: Take the request from one member and its answer from another, such as `input,output`; several as a list
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
        model: The model that wrote the assistant messages, if the document does not name it: some providers refuse signed reasoning of other models
        provider: The provider that wrote them, if the document does not name it
        profile: Also apply the rules of this provider
        for_model: With profile: the model of the request, if the document does not name it
        request: Judge the document as a request: with profile also its tools, settings and last message
        open: Allow calls without results at the end, which the agent has not run yet
        orphans: What to do with results that match no call: fabricate a call, drop them, or keep them [default: fabricate]
        first: What to do with an assistant message at the start: insert a user message before it, or drop it [default: insert]
        unknown_role: What to do with a message of unknown role: drop it, or make it a user message [default: drop]
        arguments: What to do with arguments that are not JSON: keep them; mend those with one possible meaning; complete also truncated ones, for display; sanitize: escape control characters, else write `{}` [default: keep]
        all: Also repair warnings: what the provider accepts but ignores, or may refuse [default: errors only]
        strict: Treat losses as errors
        id_pattern: The pattern of fresh tool call ids, such as `call_{r:24:x}`

    >>> question = {"role": "user", "content": "hi"}
    >>> repaired = repair([question, {"role": "tool", "tool_call_id": "c1", "content": "42"}])
    >>> repaired.document[0] is question, [edit.code for edit in repaired.edits]
    (True, ['chain::orphan-tool-result'])
    """
    return _msg.repair(document, options)


if TYPE_CHECKING:

    @overload
    def convert(
        document: str, /, to: Format, *, request: bool = ..., response: bool = ..., **options: Unpack[ConvertOptions]
    ) -> Converted[str]: ...
    @overload
    def convert(
        document: bytes | bytearray | memoryview,
        /,
        to: Format,
        *,
        request: bool = ...,
        response: bool = ...,
        **options: Unpack[ConvertOptions],
    ) -> Converted[bytes]: ...
    @overload
    def convert(
        document: _Objects,
        /,
        to: ListFormat,
        *,
        request: Literal[False] = ...,
        response: Literal[False] = ...,
        **options: Unpack[ConvertOptions],
    ) -> Converted[list[dict[str, Any]]]: ...
    @overload
    def convert(
        document: _Objects,
        /,
        to: Literal["openai", "responses"],
        *,
        request: Literal[True],
        response: Literal[False] = ...,
        **options: Unpack[ConvertOptions],
    ) -> Converted[dict[str, Any]]: ...
    @overload
    def convert(
        document: _Objects,
        /,
        to: Literal["openai", "responses"],
        *,
        request: Literal[False] = ...,
        response: Literal[True],
        **options: Unpack[ConvertOptions],
    ) -> Converted[dict[str, Any]]: ...
    @overload
    def convert(
        document: _Objects,
        /,
        to: ObjectFormat,
        *,
        request: bool = ...,
        response: bool = ...,
        **options: Unpack[ConvertOptions],
    ) -> Converted[dict[str, Any]]: ...


def convert(document: "Any", /, to: str, **options: "Any") -> "Converted[Any]":
    """The conversation in another format; ``edits`` lists what was lost or changed.

    The document is of the kind of the input: text for text, objects for objects.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        field: Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list
        join: Take the request from one member and its answer from another, such as `input,output`; several as a list
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
        request: Convert the whole request (tools, limits, temperature …), not only its conversation
        response: Convert a response into a response, with id, model, stop reason and usage
        model: With request: the model to write; the name in the input belongs to another provider
        strict: Treat losses as errors
        context: To an agent's session: keep or drop system texts and context that an agent injected
        cwd: To an agent's session: the folder that it works in
        session_id: To an agent's session: its id
        provenance: Write who made each message, where the format has a place for it
        preview: For `plain`: role and preview only, of so many characters
        agent_form: Which form of `agent` is written
        layout: Whether to keep the shape of the source
        content_when_empty: The content of an assistant message with calls and without content
        text_parts: How to write a content of several texts
        text_separator: The separator of joined texts [default: a line break]
        reasoning: Which messages keep their reasoning
        reasoning_field: The member for reasoning
        item_ids: What to do with the ids of Responses items
        later_system: What to do with later system messages
        cache_control: What to do with `cache_control`
        thinking: What to do with thinking
        max_tokens: With request: the token limit of the answer, if the target requires one and the input has none
        cache: What to do with cache points
        unsigned: What to do with unsigned reasoning; `keep` in the same format, else `drop`, by default
        ids: What to do with ids
        thoughts: What to do with reasoning
        profile: Repair the output for this provider, as `msg repair profile` does
        system_prompt: The prompt to inject if a system message is missing
        system_role: The role of system turns and of the prompt
        agent_display_name: The name that replaces `product_name` in the injected prompt
        product_name: The name that the prompt contains
        failed_tools: Whether the rules `doc` send failed tools
        empty_tool_output: The output of a tool that returned nothing
        invalid_arguments: What the rules `strict` send for arguments that are not JSON
        arguments: The spelling of a tool's `input`
        split_interleaved: Whether text after a tool part begins another assistant message

    >>> convert([{"role": "user", "content": "hi"}], "gemini").document
    {'contents': [{'role': 'user', 'parts': [{'text': 'hi'}]}]}
    """
    if not isinstance(to, str):
        raise TypeError(f"convert() argument 'to' expects str, found {type(to).__name__}")
    return _msg.convert(document, to, options)


def stats(document: "Document", /, **options: "Unpack[StatsOptions]") -> "Stats":
    """Messages, bytes and tokens, by role, section and tool.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        field: Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list
        join: Take the request from one member and its answer from another, such as `input,output`; several as a list
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
        budget: A limit in tokens, drawn as a line over the growth
        counter: How tokens are counted [default: script, or the preset's]
        tools: Count these tool definitions instead of those of the request body
        usage: Calibrate by a reported usage: so many prompt tokens for the first K messages
        top: How many of the largest parts to list

    >>> stats([{"role": "user", "content": "hi"}]).messages
    1
    """
    from .types import Stats

    return Stats(_msg.stats(document, options))


def tokens(document: "Document", /, **options: "Unpack[StatsOptions]") -> int:
    """The tokens of a conversation, as :func:`stats` counts them.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        field: Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list
        join: Take the request from one member and its answer from another, such as `input,output`; several as a list
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
        budget: A limit in tokens, drawn as a line over the growth
        counter: How tokens are counted [default: script, or the preset's]
        tools: Count these tool definitions instead of those of the request body
        usage: Calibrate by a reported usage: so many prompt tokens for the first K messages
        top: How many of the largest parts to list
    """
    return _msg.tokens(document, options)


def fit(document: "D", /, *, budget: "int | None" = None, **options: "Unpack[FitOptions]") -> "Fitted[D]":
    """The conversation within a budget of tokens. No model is called: digests take the place of what was cut.

    Raises :class:`CannotFit` if what has to stay is larger than the budget.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        field: Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list
        join: Take the request from one member and its answer from another, such as `input,output`; several as a list
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
        budget: The limit, in tokens unless unit says otherwise
        unit: What the limit counts [default: tokens]
        reserve: What to keep free of the limit, as a number or a percentage
        trigger: Compact only above this percentage of what is usable
        target: Compact down to this percentage of what is usable, or as deep as costs least (`cache`)
        cache: Choose how deep to cut by the prices of a prompt cache, as shares of the input price or those of a provider [default: 0.1:1.25]
        keep: With cache, keep at least this much [default: an eighth of the budget]
        cold: Compact from three quarters of the budget on: the prompt cache has expired anyway
        counter: How tokens are counted [default: script, or the preset's]
        tools: Count these tool definitions instead of those of the request body
        usage: Calibrate by a reported usage: so many prompt tokens for the first K messages
        preset: What to do, in which order [default: balanced]
        config: Options of the preset
        policies: The policies to run instead of a preset, as a JSON list
        pin: What stays: first-user, contains:TEXT, tool:NAME; replaces first-user
        tool_caps: Bytes to which the outputs of a tool are cut first
        profile: Keep to what this provider accepts
        repair: Repair the chain first
        open: Accept unanswered calls at the end
        on_failure: When a summary fails: keep the messages, or replace them with a digest [default: the preset's]
        best_effort: Give what was reached even if it does not fit
        strict: Treat losses other than cuts as errors
        test_summarizer: A summariser for tests: fixed:TEXT, len, hash, echo:N, digest, error, fail-on:TEXT
        records: Add the records of the compaction to the report
        plan: Add the plan to the report; `apply` repeats it on the grown conversation, `undo` undoes it
        apply: Apply this plan instead of compacting
        undo: Undo this plan instead of compacting
        top: How many parts `stats` lists

    >>> fit([{"role": "user", "content": "hi"}], budget=1000).status
    'not-needed'
    """
    return fit_apply(document, [], budget=budget, **options)


def fit_requests(document: "Document", /, *, budget: "int | None" = None, **options: "Unpack[FitOptions]") -> "list[dict[str, Any]]":
    """The summaries that would make the conversation fit, as requests to a model: ``prompt``, a list of texts, and how long
    the summary may be (``target``, ``max``). :func:`fit_apply` takes the answers, in this order. Takes the options of
    :func:`fit`."""
    return _msg.fit_requests(document, {"budget": budget, **options})


def fit_apply(
    document: "D",
    answers: "Sequence[str | None]",
    /,
    *,
    budget: "int | None" = None,
    **options: "Unpack[FitOptions]",
) -> "Fitted[D]":
    """As :func:`fit`, with summaries that a model wrote, in the order of :func:`fit_requests`; a request without an answer
    gets a digest. Takes the options of :func:`fit`."""
    from .types import Fitted

    if not hasattr(answers, "__iter__") or isinstance(answers, (str, bytes, bytearray)) or hasattr(answers, "keys"):
        raise TypeError(f"fit_apply() argument 'answers' expects a list of texts, found {type(answers).__name__}")
    texts = list(answers)
    for at, it in enumerate(texts):
        if not (it is None or isinstance(it, str)):
            raise TypeError(f"fit_apply() argument 'answers'[{at}] expects str or None, found {type(it).__name__}")
    fitted, fits, line = _msg.fit(document, {"budget": budget, **options}, texts)
    answer: Fitted[Any] = Fitted(fitted if fitted is not None else document, line)
    if not fits:
        raise CannotFit(answer)
    return answer


def messages(document: "Document", /, **options: "Unpack[ReadOptions]") -> "list[dict[str, Any]]":
    """One row per message: index, role, name, text, calls, result_ids, native.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
    """
    return _msg.messages(document, options)


def join(input: "Document | None", output: "Document | None") -> "Any":
    """The conversation of a logged request and its answer, of the kind of the first that is not ``None``."""
    return _msg.join(input, output)


def key(document: "Document", /, **options: "Unpack[KeyOptions]") -> bytes:
    """16 bytes that are equal for conversations that say the same, for deduplication.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
        exact: Hash the bytes, which need not be a document, instead of what is said
    """
    return _msg.key(document, options)


def prefix_keys(document: "Document", /, **options: "Unpack[ReadOptions]") -> "list[bytes]":
    """The keys of all prefixes that end with an assistant message.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
    """
    return _msg.prefix_keys(document, options)


def options_key(function: str, /, **options: "Any") -> bytes:
    """16 bytes that say what judged a row: a hash of the version of this package, the function and its options.

    >>> options_key("check", profile="openai") == options_key("check", profile="openai", open=None)
    True
    """
    if not isinstance(function, str):
        raise TypeError(f"options_key() argument 'function' expects str, found {type(function).__name__}")
    return _msg.options_key(function, options)


class Checker:
    """:func:`check` with its options understood once; it pickles.

    Options:
        from_: The format of the input [default: recognised from its content, then its name]
        field: Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list
        join: Take the request from one member and its answer from another, such as `input,output`; several as a list
        calls: Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
        model: The model that wrote the assistant messages, if the document does not name it: some providers refuse signed reasoning of other models
        provider: The provider that wrote them, if the document does not name it
        profile: Also apply the rules of this provider
        for_model: With profile: the model of the request, if the document does not name it
        request: Judge the document as a request: with profile also its tools, settings and last message
        open: Allow calls without results at the end, which the agent has not run yet
        messages: Also check each message by itself: roles, empty content, misplaced parts, arguments
        max_chars: With messages: report user texts of more than N characters

    >>> checker = Checker(profile="openai")
    >>> bool(checker([{"role": "user", "content": "hi"}]))
    True
    """

    __slots__ = ("_options",)

    def __init__(self, **options: "Unpack[CheckOptions]") -> None:
        self._options = options
        # A bad option is an error here, not at the first document.
        _msg.check("[]", options)

    def __call__(self, document: "Document", /) -> Checked:
        return _msg.check(document, self._options)

    def all(self, documents: "Iterable[Document]", /) -> "list[Checked]":
        """The answers to several documents, in their order."""
        return [self(document) for document in documents]

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"Checker({options})"

    def __reduce__(self) -> "tuple[Any, ...]":
        return _checker, (dict(self._options),)


def _checker(options: "CheckOptions") -> Checker:
    return Checker(**options)
