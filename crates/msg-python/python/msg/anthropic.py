"""Message lists as the client of Anthropic takes them: ``client.messages.create(messages=repair_messages(messages), …)``."""

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

    >>> call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    >>> broken = [{"role": "user", "content": "ls"}, {"role": "assistant", "content": [call]}]
    >>> len(repair_messages([*broken, {"role": "user", "content": "well?"}]))
    3
    """
    given: RepairOptions = {"profile": "anthropic", "from_": "anthropic", **options}
    document: list[Any] = repair(list(messages), **given).document
    return document
