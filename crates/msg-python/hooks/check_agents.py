"""`msg.agents.call_model_input_filter` in the OpenAI Agents SDK, for both of its models."""

from __future__ import annotations

from typing import Any

import msg.agents
from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner, set_tracing_disabled
from endpoint import ITEMS_KEPT, ITEMS_ORPHAN, ITEMS_UNANSWERED, cases, started
from openai import AsyncOpenAI

set_tracing_disabled(True)
URL = started()


async def run(kind: Any, hooked: bool, items: Any, **kept: Any) -> Any:
    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key="x", max_retries=0)
    hook = {"call_model_input_filter": msg.agents.call_model_input_filter} if hooked else {}
    agent = Agent(name="a", model=kind(model="echo", openai_client=client))
    return (await Runner.run(agent, list(items), run_config=RunConfig(**hook), **kept)).final_output


cases({
    f"{kind.__name__}, {name}": (lambda kind=kind, it=it: run(kind, False, it), lambda kind=kind, it=it: run(kind, True, it))
    for kind in (OpenAIResponsesModel, OpenAIChatCompletionsModel)
    for name, it in (("call without result", ITEMS_UNANSWERED), ("result without call", ITEMS_ORPHAN))
}, {
    f"result of a call that is kept, {kept}": (
        lambda kept=kept: run(OpenAIResponsesModel, False, ITEMS_KEPT, **kept),
        lambda kept=kept: run(OpenAIResponsesModel, True, ITEMS_KEPT, **kept),
    )
    for kept in ({"previous_response_id": "r1"}, {"conversation_id": "conv_1"})
})
