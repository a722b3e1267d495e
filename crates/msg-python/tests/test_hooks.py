"""What hooks leave alone, keep and say. `hooks/check_*.py` runs each in its framework (`cargo xtask interop hooks`)."""

from __future__ import annotations

import logging
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

SPEAKERS = [{"role": "user", "name": name, "content": name[0]} for name in ("alice", "bob")]
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "42"}
APPROVAL = {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True}
QUESTION = {"role": "user", "content": "hi"}
ORPHAN = [QUESTION, {"role": "tool", "tool_call_id": "c1", "content": "42"}]


def module(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    """A framework that is not installed here."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        made = ModuleType(".".join(parts[:end]))
        monkeypatch.setitem(sys.modules, made.__name__, made)
    vars(made).update(members)


def test_litellm_keeps_results_of_kept_turns() -> None:
    import msg.litellm

    for item in (OUTPUT, APPROVAL):
        for kept in ({"previous_response_id": "r1"}, {"conversation": "c"}, {"conversation": {"id": "c"}}):
            request = {"model": "gpt-5", "input": [item], **kept}
            assert msg.litellm.hook.mend(request, "aresponses") is request
    alone = {"model": "gpt-5", "input": [QUESTION, OUTPUT]}
    assert msg.litellm.hook.mend(alone, "aresponses")["input"] == [QUESTION]
    bridged = {"model": "gpt-5", "messages": ORPHAN[1:], "previous_response_id": "r1"}
    assert msg.litellm.hook.mend(bridged, "acompletion") is bridged


def test_litellm_knows_its_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    import msg.litellm

    module(monkeypatch, "litellm", open_ai_chat_completion_models={"gpt-5"}, anthropic_models=set())
    for name in msg.litellm.BASES:
        monkeypatch.delenv(name, raising=False)
    two = [{"role": "user", "content": it} for it in "ab"]
    for known in (
        {"model": "gpt-5"}, {"model": "openai/gpt-5"}, {"model": "azure/x", "api_base": "https://x.openai.azure.com"},
        {"model": "gpt-5", "api_base": "https://api.openai.com/v1"}, {"model": "x", "custom_llm_provider": "openai"},
    ):
        for messages in (two, SPEAKERS):
            request = {**known, "messages": messages}
            assert msg.litellm.hook.mend(request, "acompletion") is request, known
    # Some servers with this API refuse two messages of the user in a row.
    other = {"model": "openai/x", "api_base": "http://localhost/v1", "messages": two}
    assert len(msg.litellm.hook.mend(other, "acompletion")["messages"]) == 1
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost/v1")
    assert len(msg.litellm.hook.mend({"model": "gpt-5", "messages": two}, "acompletion")["messages"]) == 1


def test_agents_keeps_results_of_kept_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    import msg.agents

    module(monkeypatch, "agents.run", ModelInputData=SimpleNamespace)

    def sent(items: list[Any]) -> list[Any]:
        data = SimpleNamespace(model_data=SimpleNamespace(input=items, instructions="be brief"))
        mended: list[Any] = msg.agents.call_model_input_filter(data).input
        return mended

    answer = {"role": "assistant", "content": "yes"}
    for items in ([OUTPUT], [APPROVAL], [OUTPUT, QUESTION], [{"role": "developer", "content": "x"}, OUTPUT]):
        assert sent(items) == items
    assert sent([QUESTION, OUTPUT]) == [QUESTION]
    assert OUTPUT not in sent([OUTPUT, answer, QUESTION])


def test_httpx_leaves_other_bodies_unread() -> None:
    httpx = pytest.importorskip("httpx")
    import msg.httpx

    taken: list[int] = []

    def upload() -> Any:
        for it in range(3):
            taken.append(it)
            yield b"x"

    class Sent(httpx.BaseTransport):  # type: ignore[misc, name-defined]
        def handle_request(self, request: Any) -> Any:
            assert not taken
            return httpx.Response(200, json=len(request.read()))

    transport = msg.httpx.Transport(Sent())
    with httpx.Client(transport=transport) as client:
        assert client.post("https://api.openai.com/v1/files", content=upload()).json() == 3
    echo = httpx.MockTransport(lambda it: httpx.Response(200, content=it.content))
    with httpx.Client(transport=msg.httpx.Transport(echo)) as client:
        sent = client.post("https://api.openai.com/v1/chat/completions", json={"model": "m", "messages": ORPHAN})
    assert sent.json() == {"model": "m", "messages": [QUESTION]}


def test_strands_keeps_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "strands.hooks", BeforeModelCallEvent=object, HookProvider=object)
    monkeypatch.delitem(sys.modules, "msg.strands", raising=False)
    import msg.strands

    def user(*content: Any) -> dict[str, Any]:
        return {"role": "user", "content": list(content)}

    image = {"image": {"format": "png", "source": {"bytes": b"\xff\x00"}}}
    call = {"toolUse": {"toolUseId": "c1", "name": "f", "input": {}}}
    messages = [user({"text": "see"}, image), {"role": "assistant", "content": [call]}, user(image, {"text": "well?"})]
    event = SimpleNamespace(agent=SimpleNamespace(messages=list(messages)))
    msg.strands.RepairHook().before_model_call(event)
    mended = event.agent.messages
    assert all(a is b for a, b in zip(mended[:2], messages)) and len(mended) == 3
    assert mended[2]["content"][0]["toolResult"]["toolUseId"] == "c1" and mended[2]["content"][1:] == messages[2]["content"]
    msg.strands.RepairHook().before_model_call(event)
    assert event.agent.messages is mended


def test_a_mend_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    import msg.litellm

    caplog.set_level(logging.INFO, "msg")
    msg.litellm.hook.mend({"model": "x", "messages": [QUESTION]})
    assert not caplog.records
    msg.litellm.hook.mend({"model": "x", "messages": ORPHAN})
    msg.litellm.hook.mend({"model": "x", "messages": [{"role": "user", "content": {1}}]})
    assert [(it.levelname, it.getMessage().split(":")[0]) for it in caplog.records] == [
        ("INFO", "the history was mended"), ("WARNING", "the history is sent as it is"),
    ]
    assert "chain::orphan-tool-result at message 1" in caplog.text


class OpenAI:
    """As `ChatOpenAI`."""

    _llm_type = "openai-chat"

    def __init__(self, url: str, responses: bool = False) -> None:
        self.root_client = SimpleNamespace(base_url=url)
        self._use_responses_api = lambda _: responses


def test_langchain_knows_its_provider() -> None:
    import msg.langchain

    def profile(model: object) -> str | None:
        return msg.langchain._profile(SimpleNamespace(model=model, tools=[object(), {"type": "web_search"}]))

    assert profile(OpenAI("https://api.openai.com/v1/")) == "openai"
    assert profile(OpenAI("https://eu.api.openai.com/v1/", responses=True)) == "openai-responses"
    assert profile(OpenAI("http://localhost/api.openai.com")) is None and profile(object()) is None


@pytest.mark.engine
def test_langchain_leaves_speakers_alone() -> None:
    classes = pytest.importorskip("langchain_core.messages")
    import msg.langchain

    messages = [classes.HumanMessage(it["content"], name=it["name"]) for it in SPEAKERS]
    request = SimpleNamespace(messages=messages, model=OpenAI("https://api.openai.com/v1/"), tools=[], override=None)
    assert msg.langchain.RepairMiddleware().wrap_model_call(request, lambda it: it) is request


def invalid(id: str) -> Any:
    return {"type": "invalid_tool_call", "name": "f", "args": '{"a":', "id": id, "error": "bad"}


def call(id: str) -> Any:
    return {"type": "tool_call", "name": "f", "args": {"a": 1}, "id": id}


@pytest.mark.engine
def test_langchain_keeps_results_of_calls_it_could_not_read() -> None:
    classes = pytest.importorskip("langchain_core.messages")
    from msg.langchain import repair_messages

    human, answer = classes.HumanMessage("hi"), classes.ToolMessage("bad json", tool_call_id="c1")
    for calls in ([], [call("c2")]):
        results = [classes.ToolMessage("1", tool_call_id=it["id"]) for it in calls]
        sound = [human, classes.AIMessage("", tool_calls=calls, invalid_tool_calls=[invalid("c1")]), answer, *results]
        assert all(a is b for a, b in zip(repair_messages(sound), sound)) and len(repair_messages(sound)) == len(sound)
    open_call = classes.AIMessage("", invalid_tool_calls=[invalid("c1")], id="m1")
    mended = repair_messages([human, open_call, classes.HumanMessage("well?")])
    assert mended[1] is open_call and mended[2].tool_call_id == "c1" and len(mended) == 4


@pytest.mark.engine
def test_langchain_keeps_what_a_mend_does_not_concern() -> None:
    classes = pytest.importorskip("langchain_core.messages")
    from msg.langchain import repair_messages

    signatures = {"c1": "SIG"}
    kept: dict[str, Any] = {
        "id": "run-1", "response_metadata": {"model_provider": "google_genai"},
        "usage_metadata": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
    }
    asked = classes.AIMessage(
        [{"type": "text", "text": "so"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}],
        tool_calls=[call("c1")], additional_kwargs={"reasoning_content": "I think", "signatures": signatures}, **kept,
    )
    result = classes.ToolMessage("1", tool_call_id="c1", artifact={"k": 1}, status="error", id="t1")
    history = [classes.HumanMessage("hi"), asked, result, classes.ToolMessage("2", tool_call_id="c2")]
    mended = repair_messages(history)
    assert [it["id"] for it in mended[1].tool_calls] == ["c1", "c2"] and mended[1].tool_calls[0] is asked.tool_calls[0]
    assert mended[1].content == asked.content and mended[1].additional_kwargs == asked.additional_kwargs
    assert {name: getattr(mended[1], name) for name in kept} == kept
    assert asked.tool_calls == [call("c1")]  # the message itself is the caller's

    # An id that the provider does not take: the call, its result and what names them get another.
    old = asked.model_copy(update={
        "content": [{"type": "text", "text": "so"}, {"type": "tool_use", "id": "c.1", "name": "f", "input": {"a": 1}}],
        "tool_calls": [call("c.1")], "additional_kwargs": {"signatures": {"c.1": "SIG"}},
    })
    again = repair_messages([history[0], old, result.model_copy(update={"tool_call_id": "c.1"})], profile="anthropic")
    fresh = again[1].tool_calls[0]["id"]
    assert fresh != "c.1" and again[1].content[1]["id"] == fresh and again[1].additional_kwargs == {"signatures": {fresh: "SIG"}}
    assert (again[1].id, again[1].content[0]) == ("run-1", old.content[0])
    assert (again[2].tool_call_id, again[2].artifact, again[2].status, again[2].id) == (fresh, {"k": 1}, "error", "t1")


@pytest.mark.engine
def test_langchain_keeps_messages_that_move() -> None:
    classes = pytest.importorskip("langchain_core.messages")
    from msg.langchain import repair_messages

    asked, late = classes.AIMessage("", tool_calls=[call("c1")]), classes.ToolMessage("1", tool_call_id="c1", artifact=1)
    between = classes.HumanMessage("well?", id="h1")
    mended = repair_messages([classes.HumanMessage("hi"), asked, between, late])
    assert mended[2] is late and mended[3] is between
    # A message that becomes several in Chat is not judged.
    results = [{"type": "tool_result", "tool_use_id": it, "content": "1"} for it in ("c1", "c2")]
    several = [asked, classes.HumanMessage(results), classes.HumanMessage("well?")]
    assert repair_messages(several) == several
