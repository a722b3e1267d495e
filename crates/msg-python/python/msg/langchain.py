"""Message lists as LangChain holds them: ``model.invoke(repair_messages(messages))``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import repair
from ._objects import in_place

__all__ = ["repair_messages"]


def repair_messages(messages: Iterable[Any], **options: Any) -> list[Any]:
    """The messages, mended with the options of :func:`msg.repair`; those that are sound are the same objects.

    They are judged as the Chat messages that LangChain makes of them. A list with a message that becomes several there
    comes back as it is.
    """
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages

    own = list(messages)
    before = [convert_to_openai_messages(it) for it in own]
    if not all(isinstance(it, dict) for it in before):
        return own
    after = repair(before, from_="openai", **options).document
    return in_place(own, before, after, lambda at: convert_to_messages([after[at]])[0])
