"""OpenAI Agents SDK: ``RunConfig(call_model_input_filter=msg.agents.call_model_input_filter)``."""

from __future__ import annotations

from typing import Any

from ._hooks import Mend

__all__ = ["call_model_input_filter"]

_mend = Mend()


def call_model_input_filter(data: Any) -> Any:
    """The input of a model call with its items mended; for models of the Responses API and of Chat Completions."""
    from agents.run import ModelInputData

    history = {"model": "unknown", "input": list(data.model_data.input)}
    items = _mend(history, from_="responses")["input"]
    return ModelInputData(input=items, instructions=data.model_data.instructions)
