"""OpenAI Agents SDK: ``RunConfig(call_model_input_filter=msg.agents.call_model_input_filter)``."""

from __future__ import annotations

from typing import Any

from ._hooks import Mend

__all__ = ["call_model_input_filter"]

_mend = Mend()


def call_model_input_filter(data: Any) -> Any:
    """The input of a model call with its items mended; for models of the Responses API and of Chat Completions.

    Results whose calls are kept at the provider (``previous_response_id``, ``conversation_id``) stay as they are.
    """
    from agents.run import ModelInputData

    history: dict[str, Any] = {"model": "unknown", "input": list(data.model_data.input)}
    if _goes_on(history["input"]):
        history["previous_response_id"] = "unknown"
    items = _mend(history, from_="responses")["input"]
    return ModelInputData(input=items, instructions=data.model_data.instructions)


def _goes_on(items: list[Any]) -> bool:
    """Whether results come first, in a list without anything that a model wrote.

    A filter is not told whether the earlier turns are kept at the provider. If they are, the input of a later turn is what
    is new: the results of the last calls, and texts of the user after them.
    """
    kinds = [_kind(it) for it in items]
    return "model" not in kinds and next((it for it in kinds if it), None) == "result"


def _kind(item: Any) -> str | None:
    """Who an item is from, ``model``, ``user`` or ``result``; ``None`` for instructions and references."""
    if not isinstance(item, dict):
        return "model"
    role, kind = item.get("role"), item.get("type") or "message"
    if role is not None:
        return {"user": "user", "system": None, "developer": None}.get(role, "model")
    if kind.endswith("_output") or kind == "mcp_approval_response":
        return "result"
    return None if kind == "item_reference" else "model"
