"""`msg.adk.before_model_callback` in an agent of Google ADK that asks Gemini."""

from __future__ import annotations

import os
from typing import Any

import msg.adk
from endpoint import cases, started

os.environ |= {"GOOGLE_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": started()}
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.genai import types


def content(role: str, part: Any) -> Any:
    return types.Content(role=role, parts=[part])


HI, WELL = content("user", types.Part(text="hi")), content("user", types.Part(text="well?"))
UNANSWERED = [HI, content("model", types.Part(function_call=types.FunctionCall(id="c1", name="look", args={}))), WELL]
ORPHAN = [HI, content("user", types.Part(function_response=types.FunctionResponse(id="c9", name="look", response={"r": 1}))), WELL]


async def run(hooked: bool, contents: list[Any]) -> Any:
    def broken(callback_context: Any, llm_request: Any) -> None:
        llm_request.contents = list(contents)

    hooks = [broken, msg.adk.before_model_callback] if hooked else [broken]
    runner = InMemoryRunner(agent=LlmAgent(name="a", model="gemini-2.5-flash", before_model_callback=hooks), app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    said = None
    async for event in runner.run_async(user_id="u", session_id=session.id, new_message=HI):
        said = event
    if said is None or said.content is None:
        raise RuntimeError(said and said.error_message)
    return said.content.parts[0].text


cases({
    name: (lambda it=it: run(False, it), lambda it=it: run(True, it))
    for name, it in (("call without result", UNANSWERED), ("result without call", ORPHAN))
})
