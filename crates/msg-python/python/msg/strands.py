"""Strands Agents: ``Agent(..., hooks=[msg.strands.RepairHook()])``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strands.hooks import BeforeModelCallEvent, HookProvider

from ._hooks import Mend

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import RepairOptions

__all__ = ["RepairHook"]


class RepairHook(HookProvider):
    """Mends the agent's messages before each model call; takes the options of :func:`msg.repair`."""

    def __init__(self, **options: Unpack[RepairOptions]) -> None:
        self._mend = Mend(**options)

    def register_hooks(self, registry: Any, **_: Any) -> None:
        """Called by the agent."""
        registry.add_callback(BeforeModelCallEvent, self.before_model_call)

    def before_model_call(self, event: Any) -> None:
        """Mends the list of messages in place, so that the agent goes on with it."""
        messages = event.agent.messages
        mended = self._mend({"messages": list(messages)}, from_="bedrock")["messages"]
        if mended != messages:
            messages[:] = mended
