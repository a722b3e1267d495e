"""`msg.langchain.RepairMiddleware` in an agent of LangChain."""

from __future__ import annotations

from typing import Any

import msg.langchain
from endpoint import cases, started
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="echo", base_url=f"{started()}/v1", api_key="x", max_retries=0)  # type: ignore[arg-type]
UNANSWERED = [HumanMessage("hi"), AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {}}]), HumanMessage("well?")]
BAD = {"type": "invalid_tool_call", "id": "c1", "name": "look", "args": '{"a":', "error": "bad"}
UNREAD = [HumanMessage("hi"), AIMessage("", invalid_tool_calls=[BAD]), ToolMessage("1", tool_call_id="c1"), HumanMessage("well?")]
ORPHAN = [HumanMessage("hi"), ToolMessage("1", tool_call_id="c9"), HumanMessage("well?")]


def agent(hooked: bool) -> Any:
    return create_agent(model, tools=[], middleware=[msg.langchain.RepairMiddleware()] if hooked else [])


def invoke(hooked: bool, messages: Any) -> Any:
    return agent(hooked).invoke({"messages": list(messages)})["messages"][-1].content


async def ainvoke(hooked: bool, messages: Any) -> Any:
    return (await agent(hooked).ainvoke({"messages": list(messages)}))["messages"][-1].content


cases({
    f"{act.__name__}, {name}": (lambda act=act, it=it: act(False, it), lambda act=act, it=it: act(True, it))
    for act in (invoke, ainvoke)
    for name, it in (("call without result", UNANSWERED), ("result without call", ORPHAN))
}, {
    f"{act.__name__}, result of a call with arguments that are not JSON": (lambda act=act: act(False, UNREAD), lambda act=act: act(True, UNREAD))
    for act in (invoke, ainvoke)
})
