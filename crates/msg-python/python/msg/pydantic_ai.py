"""Pydantic AI: ``Agent(..., capabilities=[ProcessHistory(repair_history)])``, or for one history
``agent.run(prompt, message_history=repair_messages(history))``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import repair
from ._hooks import log_edits, log_unread
from ._objects import in_place

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import RepairOptions

__all__ = ["repair_history", "repair_messages"]


def repair_history(messages: list[Any]) -> list[Any]:
    """As :func:`repair_messages`, for ``ProcessHistory``: a history that cannot be read is passed on as it is."""
    try:
        return repair_messages(messages)
    except Exception as error:  # noqa: BLE001 - the provider may still take it
        log_unread(error)
        return messages


def repair_messages(messages: Iterable[Any], **options: Unpack[RepairOptions]) -> list[Any]:
    """The messages, mended with the options of :func:`msg.repair`; those that are sound are the same objects.

    A result that is inserted before a user prompt becomes part of its request, which is a new object then.
    """
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    own = list(messages)
    dumped = ModelMessagesTypeAdapter.dump_python(own, mode="json")
    given: RepairOptions = {"from_": "pydantic-ai", **options}
    repaired = repair(dumped, **given)
    log_edits(repaired)
    if not repaired.changed:
        return own
    after = repaired.document
    before = [_said(it) for it in dumped]
    return in_place(
        own, before, [_said(it) for it in after], lambda at, _: ModelMessagesTypeAdapter.validate_python([after[at]])[0]
    )


def _said(message: dict[str, Any]) -> list[Any]:
    """What a message says, without times, usage and what else a message that is written anew does not have."""
    parts = ([it.get(name) for name in ("part_kind", "tool_name", "tool_call_id", "content")] for it in message["parts"])
    arguments = (it.get("args") for it in message["parts"])
    return [message["kind"], *parts, *map(_value, arguments)]


def _value(arguments: Any) -> Any:
    """Arguments as a value: Pydantic AI has them as text and as objects."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
