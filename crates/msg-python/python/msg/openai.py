"""Message lists as the client of OpenAI takes them: ``client.chat.completions.create(messages=repair_messages(messages), …)``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import repair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import RepairOptions

__all__ = ["repair_messages"]


def repair_messages(messages: Iterable[Any], **options: Unpack[RepairOptions]) -> list[Any]:
    """The messages, mended where the provider would refuse them; those that are sound are the same objects.

    >>> repair_messages([{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "42"}])
    [{'role': 'user', 'content': 'hi'}]
    """
    given: RepairOptions = {"profile": "openai", **options}
    document: list[Any] = repair(list(messages), **given).document
    return document
