"""LangChain: ``create_agent(model, tools, middleware=[RepairMiddleware()])``, or ``model.invoke(repair_messages(messages))``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from . import _msg
from ._hooks import Mend, log_edits, log_unread
from ._langchain import chat_of, rewritten
from ._objects import in_place

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from typing_extensions import Unpack

    from .options import RepairOptions
else:
    try:
        from langchain.agents.middleware import AgentMiddleware
    except ImportError:  # langchain-core alone has no agents
        AgentMiddleware = object

__all__ = ["RepairMiddleware", "repair_messages"]


def repair_messages(messages: Iterable[Any], **options: Unpack[RepairOptions]) -> list[Any]:
    """The messages, mended with the options of :func:`msg.repair`; those that are sound are the same objects.

    They are judged as the Chat messages that LangChain makes of them. A message that is mended keeps its id, its metadata
    and all else that the mend does not concern. A list with a message that becomes several comes back as it is.
    """
    return _repaired(list(messages), dict(options))


def _repaired(own: list[Any], options: dict[str, Any]) -> list[Any]:
    before = [chat_of(it) for it in own]
    if not all(isinstance(it, dict) for it in before):
        return own
    repaired = _msg.repair(before, {"from_": "openai", **options})
    log_edits(repaired)
    if not repaired.changed:
        return own
    after: list[Any] = repaired.document
    return in_place(own, before, after, lambda at, place: rewritten(own, before, place, after[at]), akin=_akin)


def _akin(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a mended message is one of before, and not one that was inserted."""
    if before["role"] != after["role"]:
        return False
    if before["role"] == "tool":
        said = before.get("content")
        return bool(before["tool_call_id"] == after["tool_call_id"] or (said and said == after.get("content")))
    calls, mended = before.get("tool_calls") or (), after.get("tool_calls") or ()
    if calls and any(a["id"] == b["id"] or a["function"] == b["function"] for a in calls for b in mended):
        return True
    text = _text(before.get("content"))
    return bool(text) and _text(after.get("content")).startswith(text)


def _text(content: Any) -> str:
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    return "\n".join(str(it.get("text") or "") for it in parts if isinstance(it, dict))


class RepairMiddleware(AgentMiddleware):
    """Mends the messages of each model call of an agent; takes the options of :func:`msg.repair`.

    The profile is that of OpenAI for ``ChatOpenAI``, and none for other models, unless one is given.
    """

    def __init__(self, **options: Unpack[RepairOptions]) -> None:
        super().__init__()
        Mend(**options)
        self._options = options

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Called for ``invoke`` and ``stream``."""
        return handler(self._mended(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Called for ``ainvoke`` and ``astream``."""
        return await handler(self._mended(request))

    def _mended(self, request: Any) -> Any:
        try:
            messages = list(request.messages)
            mended = _repaired(messages, {"profile": _profile(request), **self._options})
            same = len(mended) == len(messages) and all(a is b for a, b in zip(mended, messages))
            return request if same else request.override(messages=mended)
        except Exception as error:  # noqa: BLE001 - the provider may still take it
            log_unread(error)
            return request


def _profile(request: Any) -> str | None:
    """The profile of the provider that a model asks, if LangChain sends it the messages as they were judged."""
    model = request.model
    if getattr(model, "_llm_type", None) not in ("openai-chat", "azure-openai-chat"):
        return None
    host = str(urlsplit(str(getattr(getattr(model, "root_client", None), "base_url", ""))).hostname)
    if not host.endswith(("api.openai.com", ".openai.azure.com")):
        return None  # a server of its own with the API of OpenAI
    tools = [it for it in request.tools or () if isinstance(it, dict)]
    if model._use_responses_api({"tools": tools}):
        return "openai-responses"
    return "openai" if model._llm_type == "openai-chat" else "azure"
