"""LangChain: ``create_agent(model, tools, middleware=[RepairMiddleware()])``, or ``model.invoke(repair_messages(messages))``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import repair
from ._hooks import Mend, log
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

    They are judged as the Chat messages that LangChain makes of them. A list with a message that becomes several there
    comes back as it is.
    """
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages

    own = list(messages)
    before = [convert_to_openai_messages(it) for it in own]
    if not all(isinstance(it, dict) for it in before):
        return own
    given: RepairOptions = {"from_": "openai", **options}
    after: list[Any] = repair(before, **given).document
    return in_place(own, before, after, lambda at: convert_to_messages([after[at]])[0])


class RepairMiddleware(AgentMiddleware):
    """Mends the messages of each model call of an agent; takes the options of :func:`msg.repair`."""

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
            return request.override(messages=repair_messages(request.messages, **self._options))
        except Exception as error:  # noqa: BLE001 - the provider may still take it
            log.warning("the history is sent as it is: %s", error)
            return request
