"""The message classes of other packages: sound messages stay the caller's objects, broken lists are mended."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.engine
def test_langchain() -> None:
    classes = pytest.importorskip("langchain_core.messages")
    import msg.langchain

    call = {"name": "ls", "args": {"path": "a"}, "id": "c1"}
    human = classes.HumanMessage("list a", id="m1", additional_kwargs={"own": 1})
    asked, well = classes.AIMessage("", tool_calls=[call]), classes.HumanMessage("well?")
    mended = msg.langchain.repair_messages([human, asked, well])
    assert len(mended) == 4 and mended[0] is human and mended[1] is asked and mended[3] is well
    assert isinstance(mended[2], classes.ToolMessage) and mended[2].tool_call_id == "c1"
    assert all(a is b for a, b in zip(msg.langchain.repair_messages(mended), mended))


@pytest.mark.engine
def test_pydantic_ai() -> None:
    classes = pytest.importorskip("pydantic_ai.messages")
    import msg.pydantic_ai

    asked = classes.ModelRequest(parts=[classes.UserPromptPart("list a")])
    call = classes.ModelResponse(parts=[classes.ToolCallPart("ls", {"path": "a"}, tool_call_id="c1")])
    well = classes.ModelRequest(parts=[classes.UserPromptPart("well?")])
    mended = msg.pydantic_ai.repair_messages([asked, call, well])
    assert mended[0] is asked and mended[1] is call
    returned = [part for it in mended[2:] for part in it.parts if isinstance(part, classes.ToolReturnPart)]
    assert [it.tool_call_id for it in returned] == ["c1"]
    assert all(a is b for a, b in zip(msg.pydantic_ai.repair_messages(mended), mended))


@pytest.mark.engine
def test_openai_and_litellm_objects() -> None:
    chat = pytest.importorskip("openai.types.chat")
    import msg.litellm
    import msg.openai

    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    answer = chat.ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [call]})
    messages: list[Any] = [{"role": "user", "content": "ls"}, answer, {"role": "user", "content": "well?"}]
    for mended in (msg.openai.repair_messages(messages), msg.litellm.repair_messages(messages)):
        assert len(mended) == 4 and mended[1] is answer and mended[2]["tool_call_id"] == "c1"


@pytest.mark.engine
def test_daft() -> None:
    daft = pytest.importorskip("daft")
    import msg.daft

    frame = daft.from_pydict({"c": ['[{"role":"user","content":"hi"}]', None, "["]})
    answers = frame.select(msg.daft.check(frame["c"]).alias("check")).to_pydict()["check"]
    assert [it and it["ok"] for it in answers] == [True, None, None] and answers[1] is None


@pytest.mark.engine
def test_typed_dicts_are_what_is_written() -> None:
    pydantic = pytest.importorskip("pydantic")
    import msg.schema

    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    chat: Any = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}, image]},
        {"role": "assistant", "content": "yes", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a"},
    ]
    native = msg.convert(chat, "native").document
    assert pydantic.TypeAdapter(list[msg.schema.Message]).validate_python(native) == native
    agent = msg.convert(chat, "agent").document
    assert pydantic.TypeAdapter(list[msg.schema.AgentMessage]).validate_python(agent) == agent
    found = [{"code": it.code, "severity": it.severity, "message": it.message} for it in msg.check(chat[1:]).diagnostics]
    assert pydantic.TypeAdapter(list[msg.schema.DiagnosticDict]).validate_python(found) == found and found
