"""Whether SDKs and agents can talk through the example gateway: `python relay_programs.py GATEWAY PREFIX`.

PREFIX is a folder with `node_modules/.bin`, in which Claude Code and Codex are; without them only the SDKs run. For each
API as the upstream, a fake provider on 127.0.0.1 (that of `agent_programs`) is put after the gateway, and the SDKs of
OpenAI, Anthropic and Google ask it in their own form: whole and streamed, with a call and its result, with a history that
every provider refuses, with an upstream that answers 429, cuts its stream, or is left by its client.
Claude Code and Codex run their shell twice through it.

Prints a table; the status is 1 if anything in it is not `ok`.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

import anthropic
import openai
from google import genai
from google.genai import errors, types

import agent_programs as fake

APIS = ["chat", "responses", "messages", "gemini"]
FORMS = {"chat": fake.chat, "responses": fake.responses, "messages": fake.anthropic, "gemini": fake.gemini}
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}, "description": {"type": "string"}}, "required": ["command"]}


class Handler(fake.Handler):
    """What the prompt asks for: an error, a cut, or a stream that does not end."""

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(data)
        request = fake.Request(self.path, body)
        self.server.requests.append(request)
        self.server.number += 1
        said = " ".join(what for who, what in request.items if who == "user")
        if "streamGenerateContent" in self.path:
            body["stream"] = True
        if request.faults:
            return self.refuse(400, "; ".join(request.faults))
        if "please fail" in said:
            return self.refuse(429, "slow down, please")
        if "please wait" in said:
            return self.trickle(request, body)
        kind, out = fake.answer(request, body, self.server.number)
        if request.form == "gemini" and not body.get("stream"):
            kind, out = "application/json", out.split(b"data: ", 1)[1]
        if "please cut" in said:
            out = out[: len(out) * 2 // 5]
        self.reply(200, kind, out)

    def refuse(self, status, text):
        error = {"type": "rate_limit_error" if status == 429 else "invalid_request_error", "message": text}
        self.send_response(status)
        body = json.dumps({"type": "error", "error": error}).encode()
        for name, value in [("content-type", "application/json"), ("retry-after", "7"), ("content-length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def trickle(self, request, body):
        """Texts without end, until the connection is closed."""
        form = {"anthropic": "messages"}.get(request.form, request.form)
        _, out = FORMS[form]("word ", [], {**body, "stream": True}, 1)
        pieces = [it + b"\n\n" for it in out.split(b"\n\n")]
        delta = next((it for it in pieces if b"delta" in it and b"word" in it or b'"text": "word "' in it and form == "gemini"), None)
        if form == "responses":
            delta = b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"word "}\n\n'
        if form == "gemini":
            delta = delta.replace(b', "finishReason": "STOP"', b"")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for it in pieces[: {"messages": 2, "responses": 1}.get(form, 0)]:
                self.wfile.write(it)
            for _ in range(600):
                self.wfile.write(delta)
                self.wfile.flush()
                time.sleep(0.02)
        except OSError:
            self.server.closed = time.monotonic()


class Provider(fake.Provider):
    closed = None

    def __init__(self):
        super().__init__()
        self.RequestHandlerClass = Handler


@contextlib.contextmanager
def gateway(program, api, upstream):
    """The gateway in front of an upstream: its address and its process."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{it.getsockname()[1]}"
    process = subprocess.Popen([program, address, api, "big", upstream], env={**os.environ, "KEY": "k", "NO_PROXY": "*"})
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(address.split(":"), 1):
                break
            time.sleep(0.05)
        yield f"http://{address}", process
    finally:
        process.terminate()
        process.wait()


class Chat:
    """The SDK of OpenAI, Chat Completions."""

    def __init__(self, url):
        self.sdk = openai.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0)
        self.error = openai.APIError

    def ask(self, history, stream):
        tools = [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}]
        it = self.sdk.chat.completions.create(model="m", messages=history, tools=tools, stream=stream)
        if not stream:
            message = it.choices[0].message
            return message.content, [(c.id, c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or []], it.usage.completion_tokens
        text, calls, usage = "", {}, None
        for chunk in it:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for c in choice.delta.tool_calls or []:
                    known = calls.setdefault(c.index, [c.id, c.function.name, ""])
                    known[2] += c.function.arguments or ""
        return text, [(id, name, json.loads(args)) for id, name, args in calls.values()], usage and usage.completion_tokens

    def user(self, text):
        return [{"role": "user", "content": text}]

    def turn(self, text, calls):
        called = [{"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}} for id, name, args in calls]
        return [{"role": "assistant", "content": text, **({"tool_calls": called} if called else {})}] + [{"role": "tool", "tool_call_id": id, "content": "out"} for id, *_ in calls]

    def broken(self):
        return self.user("hi") + self.turn("", [("c1", "bash", {"command": "ls"})])[:1] + self.user("and?")

    def first(self):
        return next(iter(self.sdk.chat.completions.create(model="m", messages=self.user("please wait"), stream=True)))


class Responses(Chat):
    def ask(self, history, stream):
        tools = [{"type": "function", "name": "bash", "parameters": SCHEMA, "strict": False}]
        it = self.sdk.responses.create(model="m", input=history, tools=tools, stream=stream)
        if stream:
            last = None
            for event in it:
                last = event
            if last.type == "response.failed":
                # The SDK gives this event as it came; it is how the API says that an answer failed.
                raise openai.APIError(last.response.error.message, None, body=None)
            if last.type == "error":
                # So does it with the other way, which a stream that is passed on takes.
                raise openai.APIError(last.message, None, body=None)
            if last.type != "response.completed":
                raise AssertionError(f"the stream ends with {last.type}")
            it = last.response
        calls = [(o.call_id, o.name, json.loads(o.arguments)) for o in it.output if o.type == "function_call"]
        return it.output_text, calls, it.usage.output_tokens

    def turn(self, text, calls):
        called = [{"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(args)} for id, name, args in calls]
        return [{"role": "assistant", "content": text}] * bool(text) + called + [{"type": "function_call_output", "call_id": id, "output": "out"} for id, *_ in calls]

    def first(self):
        for event in self.sdk.responses.create(model="m", input=self.user("please wait"), stream=True):
            if event.type == "response.output_text.delta":
                return event


class Messages(Chat):
    def __init__(self, url):
        self.sdk = anthropic.Anthropic(base_url=url, api_key="x", max_retries=0)
        self.error = anthropic.APIError

    def ask(self, history, stream):
        tools = [{"name": "bash", "input_schema": SCHEMA}]
        asked = {"model": "m", "max_tokens": 100, "messages": history, "tools": tools}
        if stream:
            with self.sdk.messages.stream(**asked) as it:
                it = it.get_final_message()
        else:
            it = self.sdk.messages.create(**asked)
        if it.stop_reason is None:
            raise AssertionError("the stream has no end")
        calls = [(b.id, b.name, b.input) for b in it.content if b.type == "tool_use"]
        return "".join(b.text for b in it.content if b.type == "text"), calls, it.usage.output_tokens

    def turn(self, text, calls):
        called = [{"type": "text", "text": text}] * bool(text) + [{"type": "tool_use", "id": id, "name": name, "input": args} for id, name, args in calls]
        results = [{"type": "tool_result", "tool_use_id": id, "content": "out"} for id, *_ in calls]
        return [{"role": "assistant", "content": called}] + [{"role": "user", "content": results}] * bool(results)

    def first(self):
        for event in self.sdk.messages.create(model="m", max_tokens=100, messages=self.user("please wait"), stream=True):
            if event.type == "content_block_delta":
                return event


class Gemini(Chat):
    def __init__(self, url):
        self.sdk = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url))
        self.error = errors.APIError

    def ask(self, history, stream):
        config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[{"name": "bash", "parameters": SCHEMA}])], automatic_function_calling={"disable": True})
        asked = {"model": "m", "contents": history, "config": config}
        parts, usage, finish = [], None, None
        models = self.sdk.models
        for it in models.generate_content_stream(**asked) if stream else [models.generate_content(**asked)]:
            usage = it.usage_metadata or usage
            for candidate in it.candidates or []:
                finish = candidate.finish_reason or finish
                parts += candidate.content.parts if candidate.content and candidate.content.parts else []
        if finish is None:
            raise AssertionError("the stream has no end")
        calls = [(p.function_call.id, p.function_call.name, p.function_call.args) for p in parts if p.function_call]
        return "".join(p.text or "" for p in parts), calls, usage.candidates_token_count

    def user(self, text):
        return [{"role": "user", "parts": [{"text": text}]}]

    def turn(self, text, calls):
        called = [{"text": text}] * bool(text) + [{"functionCall": {"id": id, "name": name, "args": args}} for id, name, args in calls]
        results = [{"functionResponse": {"id": id, "name": name, "response": {"output": "out"}}} for id, name, _ in calls]
        return [{"role": "model", "parts": called}] + [{"role": "user", "parts": results}] * bool(results)

    def first(self):
        for it in self.sdk.models.generate_content_stream(model="m", contents="please wait"):
            if it.text:
                return it


CLIENTS = {"chat": Chat, "responses": Responses, "messages": Messages, "gemini": Gemini}


def conversation(client, stream):
    """Three rounds: a call, two calls, the end; as the fake provider plays them."""
    history, texts = client.user(fake.PROMPT), []
    for _ in range(3):
        text, calls, tokens = client.ask(history, stream)
        assert tokens == 5, f"{tokens} tokens instead of 5"
        assert all(name == "bash" and args["command"].startswith("echo ") for _, name, args in calls), calls
        texts.append((text, len(calls)))
        history += client.turn(text, calls)
    assert texts == [("Looking.", 1), ("Twice.", 2), ("Done.", 0)], texts


def refused(client, word, stream, expected):
    try:
        client.ask(client.user(f"please {word}"), stream)
    except client.error as e:
        assert expected in str(e), f"expected {expected!r}, found {e}"
        return
    except AssertionError as e:
        raise AssertionError(f"no error of the SDK: {e}") from None
    raise AssertionError("nothing was refused")


def cancelled(client, provider):
    provider.closed = None
    start = client.first()
    assert start is not None, "nothing came"
    left = time.monotonic()
    del start
    close = getattr(client.sdk, "close", None)
    if close:
        close()
    while provider.closed is None and time.monotonic() - left < 5:
        time.sleep(0.02)
    assert provider.closed, "the upstream was not left within 5 s"


def checks(name, url, provider):
    def fresh():
        return CLIENTS[name](url)

    yield "whole", lambda: conversation(fresh(), False)
    yield "streamed", lambda: conversation(fresh(), True)
    yield "mended", lambda: fresh().ask(fresh().broken(), True)
    yield "429", lambda: refused(fresh(), "fail", False, "slow down, please")
    yield "429 streamed", lambda: refused(fresh(), "fail", True, "slow down, please")
    yield "cut", lambda: refused(fresh(), "cut", True, "the upstream ended the answer early")
    yield "left", lambda: cancelled(fresh(), provider)


def attempt(run):
    try:
        run()
        return "ok"
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:200]}"


def agent(name, prefix, url, provider):
    """An agent's conversation through the gateway."""
    home = tempfile.mkdtemp(prefix=f"relay-{name}-")
    before = len(provider.requests)
    status, said = fake.Agent(name, os.path.join(prefix, "node_modules/.bin"), url, home).ask(fake.PROMPT)
    requests = provider.requests[before:]
    faults = [it for request in requests for it in request.faults]
    assert status == 0 and "Done." in said, f"status {status}: {said[-300:]}"
    assert not faults, faults
    results = [what for who, what in requests[-1].items if who == "result"]
    assert len(results) == 3, results


def main(program, prefix=None):
    bad = 0
    for api in APIS:
        provider = Provider()
        with gateway(program, api, provider.url) as (url, _):
            rows = [(name, what, run) for name in CLIENTS for what, run in checks(name, url, provider)]
            for name, bin in (("claude-code", "claude"), ("codex", "codex")):
                if prefix and os.path.exists(os.path.join(prefix, "node_modules/.bin", bin)):
                    rows.append((name, "session", lambda name=name: agent(name, prefix, url, provider)))
            for name, what, run in rows:
                res = attempt(run)
                bad += res != "ok"
                print(f"{name:12} > {api:10} {what:13} {res}", flush=True)
    print(f"{bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
