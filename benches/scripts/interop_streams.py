"""Whether the SDKs of providers read what `msg stream` writes: `python interop_streams.py MSG FOLDER...`.

Every capture below the folders (`*.sse`, and the lines of `stream.jsonl` that name a source, which hold binary streams
too) is assembled, and written as the stream of Chat Completions, of Responses, of Anthropic and of Gemini. The official Python SDKs (openai, anthropic, google-genai) and the AI SDK (`interop_streams.mjs`
with node, whose modules $NODE_MODULES names) read each of these streams from a transport that answers with it. What
they read must be the message: texts, thoughts, refusals, calls and the reason why it ended. A stream that failed or was
cut must never be read as a success. Each event must be valid for the type that the SDK has for it.

Prints a line for each difference, then a table: for each target, the streams that its SDK and the AI SDK read without a
difference. The status is 1 if there is a difference, or if nothing was read.
"""

import json
import os
import subprocess
import sys
import typing
import warnings

warnings.filterwarnings("ignore")

import anthropic
import httpx
import openai
from anthropic.types import RawMessageStreamEvent
from google import genai
from google.genai import types as gemini_types
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent

try:  # newer clients of Anthropic bring a transport of their own
    import httpx2
except ImportError:
    httpx2 = httpx

TARGETS = {"openai": "openai-chunks", "responses": "responses-events", "anthropic": "anthropic-events", "gemini": "gemini-chunks"}
FINISHED = {
    "openai": {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "content_filter"},
    "responses": {"stop": "completed", "tool_calls": "completed", "length": "incomplete", "content_filter": "incomplete"},
    "anthropic": {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"},
    "gemini": {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"},
}
SUCCESS = {"stop", "tool_calls", "tool-calls", "completed", "end_turn", "tool_use", "STOP"}


def captures(folders):
    """The place of each capture, and its body as a line for `msg stream`: `{"sse"}` or `{"sse_b64"}`."""
    for folder in folders:
        for place, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(place, name)
                if name.endswith(".sse"):
                    with open(path, "rb") as file:
                        yield path, {"sse": file.read().decode("utf-8", "replace")}
                elif name == "stream.jsonl":
                    with open(path, encoding="utf-8") as lines:
                        cases = [json.loads(it) for it in lines]
                    for case in (it for it in cases if "source" in it):
                        yield f"{path}:{case['name']}", {k: case[k] for k in ("sse", "sse_b64") if k in case}


def streamed(msg, bodies, to):
    """What `msg stream` answers to each body."""
    lines = "".join(json.dumps({**it, "options": {"to": to}}) + "\n" for it in bodies)
    done = subprocess.run([msg, "stream", "-", "--jsonl", "--json", "--quiet"], input=lines.encode(), stdout=subprocess.PIPE)
    return [json.loads(it) for it in done.stdout.decode("utf-8").split("\n")[:-1]]


def message(answer):
    """The message that a capture holds."""
    parts = (answer.get("message") or {}).get("parts", [])
    of = lambda kind: [it for it in parts if it["type"] == kind]
    thought = lambda it: it.get("text") or "\n\n".join(it.get("summary") or [])
    cut = set(answer.get("incomplete_calls") or [])
    # A custom call takes text, which is the one member `input` of its arguments elsewhere.
    said = lambda it: {"input": it["arguments"]} if it.get("kind") == "custom" else arguments(it["arguments"])
    return {
        "text": "".join(it["text"] for it in of("text")),
        "refusal": "".join(it["text"] for it in of("refusal")),
        "thought": "".join(thought(it) for it in of("reasoning")),
        "calls": [[it["name"], said(it)] for it in of("tool_call") if it["id"] not in cut],
        "finish": answer.get("finish_reason"),
        "is_whole": bool(answer.get("complete")) and not answer.get("error"),
        "has_message": bool(parts),
        "has_cut_call": bool(cut),
        "is_only": len(answer.get("choices") or []) < 2,
    }


def arguments(text):
    try:
        return json.loads(text or "{}")
    except ValueError:
        return None


def called(text):
    """The arguments of a call as a client sees them; the text of a custom call as in the message."""
    said = arguments(text)
    return said if isinstance(said, dict) else {"input": said if isinstance(said, str) else text}


def read_nothing():
    return {"text": "", "refusal": "", "thought": "", "calls": [], "finish": None}


def client(body, library=httpx):
    def answer(_):
        return library.Response(200, headers={"content-type": "text/event-stream"}, content=body.encode("utf-8", "surrogatepass"))

    return library.Client(transport=library.MockTransport(answer))


def read_openai(body):
    sdk = openai.OpenAI(api_key="x", http_client=client(body), max_retries=0)
    with sdk.chat.completions.stream(model="m", messages=[]) as stream:
        for _ in stream:
            pass
        answer = stream._state.current_completion_snapshot
    res = read_nothing()
    for choice in answer.choices[:1]:
        it = choice.message
        call = lambda it: [it.function.name, it.function.arguments] if it.type == "function" else [it.custom.name, it.custom.input]
        res.update(text=it.content or "", refusal=it.refusal or "", finish=choice.finish_reason)
        res.update(thought=getattr(it, "reasoning_content", None) or "", calls=[call(it) for it in it.tool_calls or []])
    return res


def read_responses(body):
    sdk = openai.OpenAI(api_key="x", http_client=client(body), max_retries=0)
    res, final = read_nothing(), None
    for event in sdk.responses.create(model="m", input="x", stream=True):
        if event.type == "response.output_text.delta":
            res["text"] += event.delta
        elif event.type == "response.refusal.delta":
            res["refusal"] += event.delta
        elif event.type in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            res["thought"] += event.delta
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            final = event.response
    if final is None:
        return res
    if final.status == "failed":
        raise RuntimeError(final.error.message)
    kept = read_nothing()
    for item in final.output:
        if item.type == "message":
            for part in item.content:
                kept["text" if part.type == "output_text" else "refusal"] += part.text if part.type == "output_text" else part.refusal
        elif item.type == "function_call":
            res["calls"].append([item.name, item.arguments])
        elif item.type == "custom_tool_call":
            res["calls"].append([item.name, item.input])
        elif item.type == "reasoning":
            kept["thought"] += "".join(it.text for it in item.summary) + "".join(it.text for it in item.content or [])
    for name in ("text", "refusal", "thought"):
        if kept[name] != res[name]:
            raise ValueError(f"the final response has another {name} than the deltas")
    res["finish"] = final.status
    return res


def read_anthropic(body):
    sdk = anthropic.Anthropic(api_key="x", http_client=client(body, httpx2), max_retries=0)
    with sdk.messages.stream(model="m", max_tokens=5, messages=[]) as stream:
        for _ in stream:
            pass
        answer = stream.get_final_message()
    res = {**read_nothing(), "finish": answer.stop_reason}
    for block in answer.content:
        if block.type == "text":
            res["text"] += block.text
        elif block.type == "thinking":
            res["thought"] += block.thinking
        elif block.type == "tool_use":
            res["calls"].append([block.name, json.dumps(block.input)])
    return res


def read_gemini(body):
    sdk = genai.Client(api_key="x", http_options=gemini_types.HttpOptions(httpx_client=client(body)))
    res = read_nothing()
    for chunk in sdk.models.generate_content_stream(model="m", contents="x"):
        for candidate in (it for it in chunk.candidates or [] if not it.index):
            if candidate.finish_reason:
                res["finish"] = candidate.finish_reason.value
            for part in (candidate.content.parts if candidate.content else None) or []:
                if part.text is not None:
                    res["thought" if part.thought else "text"] += part.text
                elif part.function_call:
                    res["calls"].append([part.function_call.name, json.dumps(part.function_call.args or {})])
    return res


READERS = {"openai": read_openai, "responses": read_responses, "anthropic": read_anthropic, "gemini": read_gemini}


def event_types(union):
    """The type of each event by its word."""
    union = typing.get_args(union)[0] if typing.get_origin(union) is typing.Annotated else union
    return {word: it for it in typing.get_args(union) for word in typing.get_args(it.model_fields["type"].annotation)}


TYPES = {"responses": event_types(ResponseStreamEvent), "anthropic": event_types(RawMessageStreamEvent)}


def events(body):
    """The events of a stream, parsed; None for one that is not JSON."""
    for line in body.split("\n"):
        if line.startswith("data:") and line[5:].strip() != "[DONE]":
            try:
                yield json.loads(line[5:])
            except ValueError:
                yield None


def refusal(target, event):
    """Why the type of the SDK refuses an event."""
    if not isinstance(event, dict):
        return "an event is not a JSON object"
    if event.get("type") in ("ping", "error") or event.get("error") and target != "responses":
        return None
    try:
        if target == "openai":
            ChatCompletionChunk.model_validate(event)
        elif target == "gemini":
            gemini_types.GenerateContentResponse.model_validate(event)
        else:
            TYPES[target][event["type"]].model_validate(event)
    except (KeyError, ValueError) as failure:
        return f"invalid event: {failure}"


def invalid_event(target, body, captured):
    """The first event that the type of the SDK refuses, unless the capture is of its family and it refuses that too: a
    provider's own members go out as they came, those included that its SDK does not know yet."""
    refused = next(filter(None, (refusal(target, it) for it in events(body))), None)
    own = [it for it in events(captured) if isinstance(it, dict) and is_of(target, it)] if refused else []
    return None if any(refusal(target, it) for it in own) else refused


def is_of(target, event):
    kind = str(event.get("type", ""))
    match target:
        case "openai":
            return "choices" in event
        case "gemini":
            return "candidates" in event or "usageMetadata" in event
        case "responses":
            return kind.startswith("response.")
        case _:
            return kind in TYPES["anthropic"]


def difference(target, want, read):
    """How what was read differs from the message."""
    if not want["is_whole"]:
        if read.get("raised") or read["finish"] not in SUCCESS:
            return None
        return f"a failure is read as {read['finish']}"
    if read.get("raised"):
        return f"raises: {read['raised']}"
    # A refusal is text where the family or the client has no other place for it.
    is_apart = target in ("openai", "responses") and not read.get("shows_no_refusal")
    texts = {want["text"]} if is_apart else {want["text"] + want["refusal"], want["refusal"] + want["text"]}
    if read.get("shows_no_refusal"):
        texts.add(want["text"])
    if read["text"] not in texts:
        return f"text: {read['text'][:80]!r}, expected {want['text'][:80]!r}"
    if is_apart and read["refusal"] != want["refusal"]:
        return f"refusal: {read['refusal'][:80]!r}, expected {want['refusal'][:80]!r}"
    if not read.get("shows_no_thought") and read["thought"] != want["thought"]:
        return f"thought: {read['thought'][:80]!r}, expected {want['thought'][:80]!r}"
    calls = [[name, called(text)] for name, text in read["calls"]]
    # Of an answer that was cut, a client also sees the call that was, which it does not run.
    is_cut = want["has_cut_call"] or want["finish"] not in ("stop", "tool_calls")
    if calls != want["calls"] and not (is_cut and calls[: len(want["calls"])] == want["calls"]):
        return f"calls: {json.dumps(calls)[:160]}, expected {json.dumps(want['calls'])[:160]}"
    finish = FINISHED[target].get(want["finish"])
    if want["has_cut_call"] and target == "anthropic":
        # Its clients read what there is of the arguments, so that the stream says that they are not whole.
        finish = "max_tokens"
    if finish and not read.get("shows_no_finish") and read["finish"] != finish:
        return f"finish: {read['finish']}, expected {finish}"
    return None


def by_sdk(target, body):
    try:
        return READERS[target](body)
    except Exception as failure:
        return {**read_nothing(), "raised": f"{type(failure).__name__}: {failure}"[:160]}


class AiSdk:
    """One process of node that reads a stream for each line."""

    def __init__(self, modules):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interop_streams.mjs")
        self.node = subprocess.Popen(["node", script, modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, target, body, tools):
        self.node.stdin.write(json.dumps({"target": target, "sse": body, "tools": tools}) + "\n")
        self.node.stdin.flush()
        read = {**read_nothing(), **json.loads(self.node.stdout.readline())}
        # What its provider for Responses shows of items like `shell_call` is not a function call.
        read["calls"] = [it for it in read["calls"] if it[0] in tools]
        # Its provider for chat shows no thoughts, and not all show refusals.
        return {**read, "shows_no_refusal": True, "shows_no_thought": target == "openai", "shows_no_finish": True}


def main():
    msg, *folders = sys.argv[1:]
    found = list(captures(folders))
    bodies = [body for _, body in found]
    wanted = [message(it) for it in streamed(msg, bodies, "native")]
    ai_sdk = AiSdk(os.environ["NODE_MODULES"])
    rows, differences = [], 0
    for target, form in TARGETS.items():
        equal = {"sdk": 0, "ai": 0}
        total = 0
        for (path, captured), want, answer in zip(found, wanted, streamed(msg, bodies, form)):
            if not want["has_message"] and want["is_whole"]:
                continue
            total += 1
            body = answer["sse"]
            tools = sorted({name for name, _ in want["calls"]})
            invalid = invalid_event(target, body, captured.get("sse", ""))
            for reader, read in (("sdk", by_sdk(target, body)), ("ai", ai_sdk.read(target, body, tools))):
                if reader == "ai" and not want["is_only"]:
                    # It reads the deltas of all choices as those of one.
                    equal[reader] += 1
                    continue
                found_here = (invalid if reader == "sdk" else None) or difference(target, want, read)
                equal[reader] += found_here is None
                if found_here:
                    differences += 1
                    print(f"{path}: to {target}, {reader}: {found_here}".replace("\n", " ")[:400])
        rows.append((target, total, equal["sdk"], equal["ai"]))
    print("| target | streams | its SDK | AI SDK |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    return 0 if found and not differences else 1


if __name__ == "__main__":
    sys.exit(main())
