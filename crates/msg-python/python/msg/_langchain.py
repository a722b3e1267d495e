"""The messages of LangChain as Chat messages, and what a mend of those makes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["chat_of", "rewritten"]

CALL_BLOCKS = {"tool_use": ("id", "input"), "function_call": ("call_id", "arguments"), "tool_call": ("id", "args")}
"""The members of a block of content that is a call: its id, and its arguments."""


def chat_of(message: Any) -> Any:
    """The Chat message that LangChain sends, with the calls whose arguments it could not read, which it sends too; nothing
    if it is several messages."""
    from langchain_core.messages import convert_to_openai_messages

    found = convert_to_openai_messages([message])
    if len(found) != 1:
        return None
    chat: dict[str, Any] = found[0]
    calls = chat.get("tool_calls", [])
    ids = {it["id"] for it in calls}
    unread = [it for it in getattr(message, "invalid_tool_calls", None) or () if it["id"] not in ids]
    return {**chat, "tool_calls": [*calls, *map(_chat_call, unread)]} if unread else chat


def _chat_call(call: Any) -> dict[str, Any]:
    return {"type": "function", "id": call["id"], "function": {"name": call["name"] or "", "arguments": call["args"] or ""}}


def rewritten(own: Sequence[Any], before: Sequence[dict[str, Any]], place: int | None, after: dict[str, Any]) -> Any:
    """The object of a mended message: a copy of the one that it was, with what the mend changed; or a new one."""
    from langchain_core.messages import BaseMessage, convert_to_messages

    if place is None or not isinstance(own[place], BaseMessage):
        [made] = convert_to_messages([{name: it for name, it in after.items() if name != "tool_calls"}])
        return made.model_copy(update=_as_calls(after["tool_calls"])) if after.get("tool_calls") else made
    message, was = own[place], before[place]
    update: dict[str, Any] = {}
    if (was.get("content") or "") != (after.get("content") or ""):
        update["content"] = after.get("content") or ""
    for name in ("name", "tool_call_id"):
        if was.get(name) != after.get(name):
            update[name] = after.get(name)
    if (was.get("tool_calls") or []) != (after.get("tool_calls") or []) or ("content" in update and was.get("tool_calls")):
        update |= _calls_changed(message, was.get("tool_calls") or [], after.get("tool_calls") or [], update)
    return message.model_copy(update=update)


def _calls_changed(message: Any, was: list[Any], calls: list[Any], update: dict[str, Any]) -> dict[str, Any]:
    """The members of a message that has these calls now: those that it has by itself, and what else names them."""
    changed: dict[str, Any] = _as_calls(calls, _kept(message, was))
    # A call that was renamed is in its old place.
    pairs = list(zip(was, calls)) if len(was) == len(calls) else [(it, it) for it in calls]
    if "content" not in update and isinstance(message.content, list):
        changed["content"] = _blocks(message.content, was, pairs)
    ids = {old["id"]: new["id"] for old, new in pairs}
    changed["additional_kwargs"] = {
        name: {ids.get(key, key): it for key, it in value.items()} if isinstance(value, dict) else value
        for name, value in message.additional_kwargs.items()
        if name != "tool_calls"  # as the provider wrote them, which is old now
    }
    return changed


def _kept(message: Any, was: list[Any]) -> list[tuple[Any, Any]]:
    """The Chat calls of a message, each with the call of LangChain that it was made of."""
    own = [*message.tool_calls, *message.invalid_tool_calls]
    pairs = []
    for call in was:
        it = next((it for it in own if it["id"] == call["id"]), None)
        if it is not None:
            own.remove(it)
            pairs.append((call, it))
    return pairs


def _as_calls(calls: list[Any], kept: Sequence[tuple[Any, Any]] = ()) -> dict[str, list[Any]]:
    """Chat calls as those of LangChain, which has calls whose arguments are not an object apart."""
    made: dict[str, list[Any]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call in calls:
        own = next((own for chat, own in kept if chat == call), None)
        it = own if own is not None else _as_call(call)
        made["invalid_tool_calls" if it.get("type") == "invalid_tool_call" else "tool_calls"].append(it)
    return made


def _as_call(call: Any) -> dict[str, Any]:
    name, text = call["function"]["name"], call["function"]["arguments"]
    arguments = _value(text)
    if isinstance(arguments, dict):
        return {"name": name, "args": arguments, "id": call["id"], "type": "tool_call"}
    return {"name": name, "args": text, "id": call["id"], "error": None, "type": "invalid_tool_call"}


def _blocks(blocks: list[Any], was: list[Any], pairs: list[tuple[Any, Any]]) -> list[Any]:
    """Blocks of content; those that are calls say what their calls say now, and go where their calls went."""
    known, left, made = {it["id"] for it in was}, list(pairs), []
    for block in blocks:
        names = CALL_BLOCKS.get(str(block.get("type"))) if isinstance(block, dict) else None
        if names is None or block.get(names[0]) not in known:
            made.append(block)
            continue
        at = next((at for at, (old, _) in enumerate(left) if old["id"] == block[names[0]]), None)
        if at is not None:
            made.append(_block(block, *names, left.pop(at)[1]))
    return made


def _block(block: dict[str, Any], id: str, arguments: str, call: Any) -> dict[str, Any]:
    text = call["function"]["arguments"]
    value = text if arguments == "arguments" else _value(text)
    now = {**block, id: call["id"], "name": call["function"]["name"]}
    return now if value is None else {**now, arguments: value}


def _value(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return None
