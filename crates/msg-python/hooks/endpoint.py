"""An endpoint on loopback that refuses the pairs of calls and results that the providers refuse, each with its own words.

It answers Chat Completions, Responses, Anthropic Messages and Gemini, whole and as streams, and keeps what it was sent.
``cases`` runs hooks against it: without the hook 400, with it 200.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar


class Refused(Exception):
    """What the provider answers with status 400."""


def chat(body: dict[str, Any]) -> None:
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise Refused("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
            open_calls.remove(message["tool_call_id"])
            continue
        expect_answered(open_calls, "An assistant message with 'tool_calls' must be followed by tool messages responding to each one")
        open_calls = [it["id"] for it in message.get("tool_calls") or ()]
    expect_answered(open_calls, "An assistant message with 'tool_calls' must be followed by tool messages responding to each one")


def responses(body: dict[str, Any]) -> None:
    items = body["input"] if isinstance(body["input"], list) else []
    calls = [it["call_id"] for it in items if it.get("type") == "function_call"]
    outputs = [it["call_id"] for it in items if it.get("type") == "function_call_output"]
    for id in calls:
        if id not in outputs:
            raise Refused(f"No tool output found for function call {id}.")
    if "previous_response_id" in body or "conversation" in body:
        return  # the calls are in the turns that are kept here
    for id in outputs:
        if id not in calls:
            raise Refused(f"No tool call found for function call output with call_id {id}.")


def messages(body: dict[str, Any]) -> None:
    open_calls: list[str] = []
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = [it["tool_use_id"] for it in blocks if it["type"] == "tool_result"]
        for id in results:
            if id not in open_calls:
                raise Refused(f"unexpected `tool_use_id` found in `tool_result` blocks: {id}")
        expect_answered([it for it in open_calls if it not in results], "`tool_use` ids were found without `tool_result` blocks immediately after")
        open_calls = [it["id"] for it in blocks if it["type"] == "tool_use"]
    expect_answered(open_calls, "`tool_use` ids were found without `tool_result` blocks immediately after")


def gemini(body: dict[str, Any]) -> None:
    calls = 0
    for content in body["contents"]:
        parts = content.get("parts") or [{}]
        results = sum("functionResponse" in it for it in parts)
        if results != calls:
            raise Refused("Please ensure that the number of function response parts is equal to the number of function call parts")
        calls = sum("functionCall" in it for it in parts)


def expect_answered(open_calls: list[str], text: str) -> None:
    if open_calls:
        raise Refused(text)


CHAT = {"id": "c", "object": "chat.completion", "created": 1, "model": "echo", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "echo", "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
RESPONSE = {"id": "r", "object": "response", "created_at": 1, "model": "echo", "status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}}
ITEM = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "fine", "annotations": []}]}

WHOLE: dict[str, Any] = {
    "chat": {**CHAT, "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "fine"}}]},
    "responses": {**RESPONSE, "output": [ITEM]},
    "messages": {**MESSAGE, "content": [{"type": "text", "text": "fine"}]},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": "fine"}]}, "finishReason": "STOP", "index": 0}]},
}
STREAMED: dict[str, list[Any]] = {
    "chat": [
        {**CHAT, "object": "chat.completion.chunk", "choices": [{"index": 0, "finish_reason": None, "delta": {"role": "assistant", "content": "fine"}}]},
        {**CHAT, "object": "chat.completion.chunk", "choices": [{"index": 0, "finish_reason": "stop", "delta": {}}]},
    ],
    "responses": [
        {"type": "response.created", "sequence_number": 0, "response": {**RESPONSE, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": {**ITEM, "status": "in_progress", "content": []}},
        {"type": "response.output_text.delta", "sequence_number": 2, "item_id": "i", "output_index": 0, "content_index": 0, "delta": "fine", "logprobs": []},
        {"type": "response.output_item.done", "sequence_number": 3, "output_index": 0, "item": ITEM},
        {"type": "response.completed", "sequence_number": 4, "response": {**RESPONSE, "output": [ITEM]}},
    ],
    "messages": [
        {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "fine"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ],
    "gemini": [WHOLE["gemini"]],
}
JUDGES: dict[str, Callable[[dict[str, Any]], None]] = {"chat": chat, "responses": responses, "messages": messages, "gemini": gemini}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sent: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.sent.append(body)
        path = self.path.split("?")[0]
        ends = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages", "Content": "gemini"}
        family = next(it for end, it in ends.items() if path.endswith(end))
        try:
            JUDGES[family](body)
        except Refused as refused:
            error = {"type": "invalid_request_error", "message": str(refused), "code": 400, "status": "INVALID_ARGUMENT"}
            return self.reply(400, "application/json", json.dumps({"type": "error", "error": error}).encode())
        if body.get("stream") or path.endswith(":streamGenerateContent"):
            events = "".join(f"event: {it.get('type', 'message')}\ndata: {json.dumps(it)}\n\n" for it in STREAMED[family])
            done = "data: [DONE]\n\n" if family == "chat" else ""
            return self.reply(200, "text/event-stream", (events + done).encode())
        self.reply(200, "application/json", json.dumps(WHOLE[family]).encode())

    def reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


LOOP = asyncio.new_event_loop()


def started() -> str:
    """The address of a new endpoint; it ends with the process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def answer(act: Callable[[], Any]) -> str:
    """What a call came to: the text, or the refusal."""
    try:
        result = act()
        # One loop for all: clients keep their connections in it.
        return str(LOOP.run_until_complete(result) if asyncio.iscoroutine(result) else result)
    except Exception as error:  # noqa: BLE001 - the refusal of any client
        return f"{type(error).__name__}: {error}"


Cases = dict[str, tuple[Callable[[], Any], Callable[[], Any]]]


def cases(cases: Cases, sound: Cases | None = None) -> None:
    """Runs each case without its hook, which must be refused, and with it, which must be answered; and each sound one, of
    which the same must be sent both times."""
    failed = 0
    for name, acts in (sound or {}).items():
        answers = [answer(act) for act in acts]
        without, with_hook = ({it: said for it, said in body.items() if it in CONVERSATION} for body in Handler.sent[-2:])
        good = answers == ["fine", "fine"] and without == with_hook
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {name}: {answers}, {'the same is sent' if good else (without, with_hook)}")
    for name, (plain, hooked) in cases.items():
        without, with_hook = answer(plain), answer(hooked)
        refused = any(it in without for it in ("tool", "function response")) and "fine" not in without
        good = refused and with_hook == "fine"
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {name}: without {without[:90]!r}, with {with_hook[:90]!r}")
    sys.exit(1 if failed else 0)


CONVERSATION = ("messages", "input", "previous_response_id", "conversation")
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
UNANSWERED = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "user", "content": "well?"}]
ORPHAN = [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c9", "content": "1"}, {"role": "user", "content": "well?"}]
ITEMS_UNANSWERED = [{"role": "user", "content": "hi"}, {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}, {"role": "user", "content": "well?"}]
ITEMS_ORPHAN = [{"role": "user", "content": "hi"}, {"type": "function_call_output", "call_id": "c9", "output": "1"}, {"role": "user", "content": "well?"}]
ITEMS_KEPT = [{"type": "function_call_output", "call_id": "c9", "output": "1"}]
BLOCKS_UNANSWERED = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
    {"role": "user", "content": "well?"},
]
BLOCKS_ORPHAN = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c9", "content": "1"}, {"type": "text", "text": "hi"}]}]
