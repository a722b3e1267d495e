"""`msg.pydantic_ai.repair_history` in an agent of Pydantic AI, which repairs pairs by itself: the hook must not break it, and a
history that it mends must go through its own models."""

from __future__ import annotations

import sys

import msg.pydantic_ai
from endpoint import Handler, started
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIChatModel("echo", provider=OpenAIProvider(base_url=f"{started()}/v1", api_key="x"))
UNANSWERED: list[ModelMessage] = [
    ModelRequest(parts=[UserPromptPart("hi")]), ModelResponse(parts=[ToolCallPart("look", {}, tool_call_id="c1")]),
    ModelRequest(parts=[UserPromptPart("more")]), ModelResponse(parts=[TextPart("yes")]),
]
ORPHAN: list[ModelMessage] = [
    ModelRequest(parts=[UserPromptPart("hi"), ToolReturnPart("look", "1", tool_call_id="c9")]), ModelResponse(parts=[TextPart("yes")]),
]
failed = 0
for name, history in (("call without result", UNANSWERED), ("result without call", ORPHAN)):
    mended = msg.pydantic_ai.repair_history(list(history))
    agent = Agent(model, capabilities=[ProcessHistory(msg.pydantic_ai.repair_history)])
    output = agent.run_sync("well?", message_history=history).output
    good = output == "fine" and mended != history
    failed += not good
    print(f"{'ok  ' if good else 'FAIL'} {name}: {output!r}, {len(Handler.sent[-1]['messages'])} messages were sent")
sys.exit(1 if failed else 0)
