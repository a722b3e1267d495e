"""A hook for LiteLLM that mends the messages of every call: ``litellm.callbacks = [msg.litellm.Repair()]``."""

from __future__ import annotations

from typing import Any

from . import repair

__all__ = ["Repair", "repair_messages"]


def repair_messages(messages: list[Any], **options: Any) -> list[Any]:
    """The messages, mended; those that are sound are the same objects."""
    document: list[Any] = repair(list(messages), **options).document
    return document


class Repair:
    """Mends ``messages`` before a call of the proxy; takes the options of :func:`msg.repair`."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """The data of the call with its messages mended."""
        if isinstance(data.get("messages"), list):
            data["messages"] = repair_messages(data["messages"], **self.options)
        return data
