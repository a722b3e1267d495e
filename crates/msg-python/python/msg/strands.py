"""Strands Agents: ``Agent(..., hooks=[msg.strands.RepairHook()])``."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from strands.hooks import BeforeModelCallEvent, HookProvider

from ._hooks import Mend

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import RepairOptions

__all__ = ["RepairHook"]

BINARY = ("bytes", "redactedContent")
"""The members that are bytes for boto3 and Base64 for the API."""

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
        known: dict[str, bytes] = {}
        before = [_as_json(it, known) for it in messages]
        after = self._mend({"messages": before}, from_="bedrock")["messages"]
        if after is not before:
            own = {id(it): message for it, message in zip(before, messages)}
            messages[:] = [own[id(it)] if id(it) in own else _as_python(it, known) for it in after]


def _as_json(value: Any, known: dict[str, bytes]) -> Any:
    """A value as the API has it, the same object if nothing in it is bytes; ``known`` gets the bytes by their text."""
    if isinstance(value, (bytes, bytearray)):
        text = base64.b64encode(value).decode()
        known[text] = bytes(value)
        return text
    if isinstance(value, dict):
        members = {name: _as_json(it, known) for name, it in value.items()}
        return value if all(members[name] is it for name, it in value.items()) else members
    if isinstance(value, list):
        items = [_as_json(it, known) for it in value]
        return value if all(a is b for a, b in zip(items, value)) else items
    return value


def _as_python(value: Any, known: dict[str, bytes]) -> Any:
    """A value with its bytes again."""
    if isinstance(value, dict):
        return {
            name: known.get(it, it) if name in BINARY and isinstance(it, str) else _as_python(it, known)
            for name, it in value.items()
        }
    return [_as_python(it, known) for it in value] if isinstance(value, list) else value
