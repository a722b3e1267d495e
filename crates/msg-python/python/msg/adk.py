"""Google ADK: ``LlmAgent(..., before_model_callback=msg.adk.before_model_callback)``."""

from __future__ import annotations

from typing import Any

from ._hooks import Mend, log_unread

__all__ = ["before_model_callback"]

_mend = Mend()


def before_model_callback(callback_context: Any, llm_request: Any) -> None:
    """Mends the contents of a request in place; contents that are sound are the same objects."""
    from google.genai import types

    from ._objects import in_place

    try:
        before = [it.model_dump(mode="json", exclude_none=True, by_alias=True) for it in llm_request.contents]
        after = _mend({"contents": before}, from_="gemini")["contents"]
        if after is not before:
            build = types.Content.model_validate
            llm_request.contents = in_place(llm_request.contents, before, after, lambda at, _: build(after[at]))
    except Exception as error:  # noqa: BLE001 - the provider may still take it
        log_unread(error)
