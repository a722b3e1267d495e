"""What a conversation says, whatever form it is in: the list of its texts, calls and results, in order.

    [("system", "Be brief."), ("user", "hi"), ("call", 0, "ls", '{"path": "."}'), ("result", 0, "a.txt"), ("assistant", "There.")]

A call is known by its place among the calls, a result by that of the call that it answers (None if it answers none).
Thinking, media and citations are left out: not every form has a place for them, and so are calls and results of tools that a
provider runs, which are sealed by it. Neighbouring texts of one role are one, and white space does not count, nor does the
order of members where a result is JSON.
"""

import json


def of(form, document):
    events = []
    FORMS[form](document, events)
    return _joined(events)


def _joined(events):
    res = []
    for event in events:
        if event[0] in ("system", "user", "assistant"):
            event = (event[0], "".join(event[1].split()))
            if res and res[-1][0] == event[0]:
                res[-1] = (event[0], res[-1][1] + event[1])
                continue
        elif event[0] == "result":
            event = (*event[:2], "".join(_canonical(event[2]).split()))
        if event[-1]:
            res.append(event)
    return res


def _canonical(text):
    """JSON with its members in order and 2.0 as 2; other text as it is. The value alone, where it has one of the usual names."""
    try:
        value = json.loads(text, parse_float=lambda it: int(float(it)) if float(it).is_integer() else float(it))
    except (ValueError, OverflowError):
        return text
    return _output(value) if isinstance(value, dict) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def arguments(it):
    if isinstance(it, str):
        try:
            it = json.loads(it or "{}")
        except ValueError:
            return it
    if isinstance(it, dict) and it.keys() == {"_raw"}:
        # What is not an object, where a provider takes objects only.
        return arguments(it["_raw"])
    return json.dumps({} if it is None else it, sort_keys=True, ensure_ascii=False)


def _text(content):
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(it.get("text") or "" if isinstance(it, dict) else _text(it) for it in content)
    if isinstance(content, dict) and content.keys() == {"text"}:
        return content["text"]
    return "" if content is None else json.dumps(content, sort_keys=True, ensure_ascii=False)


class _Calls:
    """Which call a result answers: the first open one of its id, or of its name where results have none."""

    def __init__(self):
        self.n, self.open = 0, []

    def call(self, key, name=None):
        self.open.append((key, name, self.n))
        self.n += 1
        return self.n - 1

    def answered(self, key):
        for at, (other, name, n) in enumerate(self.open):
            if key in (other, name):
                del self.open[at]
                return n
        return None


def _openai(document, events):
    calls = _Calls()
    for it in document["messages"] if isinstance(document, dict) else document:
        role = "system" if it["role"] == "developer" else it["role"]
        if role in ("tool", "function"):
            events.append(("result", calls.answered(it.get("tool_call_id")), _text(it.get("content"))))
            continue
        events.append((role, _text(it.get("content")) + (it.get("refusal") or "")))
        old = [{"function": it["function_call"]}] if it.get("function_call") else []
        for call in it.get("tool_calls") or old:
            said = call["function"]
            events.append(("call", calls.call(call.get("id")), said.get("name"), arguments(said.get("arguments"))))


def _anthropic(document, events):
    calls = _Calls()
    if isinstance(document, dict):
        events.append(("system", _text(document.get("system"))))
        document = document["messages"]
    for it in document:
        content = it["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or ():
            if block["type"] == "text":
                events.append((it["role"], block["text"]))
            elif block["type"] == "tool_use":
                events.append(("call", calls.call(block["id"]), block["name"], arguments(block["input"])))
            elif block["type"] == "tool_result":
                events.append(("result", calls.answered(block["tool_use_id"]), _found(block.get("content"))))


def _found(content):
    """A result as text, with what a search of the caller has found."""
    if not isinstance(content, list):
        return _text(content)
    said = []
    for it in content:
        if it.get("type") == "search_result":
            said.append(it["title"] + it["source"] + _text(it["content"]))
        elif it.get("type") == "tool_reference":
            said.append(json.dumps(it, sort_keys=True))
        else:
            said.append(it.get("text") or "")
    return "".join(said)


def _member(it, *names):
    return next((it[name] for name in names if name in it), None)


def _gemini(document, events):
    calls = _Calls()
    if isinstance(document, dict):
        system = _member(document, "systemInstruction", "system_instruction")
        events.append(("system", _text((system or {}).get("parts"))))
        document = document["contents"]
    for it in document:
        role = "assistant" if it.get("role") == "model" else "user"
        for part in it.get("parts") or ():
            call = _member(part, "functionCall", "function_call")
            result = _member(part, "functionResponse", "function_response")
            if call:
                key = call.get("id") or call["name"]
                events.append(("call", calls.call(key, call["name"]), call["name"], arguments(call.get("args"))))
            elif result:
                key = result.get("id") or result["name"]
                events.append(("result", calls.answered(key), _output(result.get("response"))))
            elif "text" in part and not part.get("thought"):
                events.append((role, part["text"]))


def _output(response):
    """A result as text: a single value under one of the usual names is the text itself."""
    if isinstance(response, dict) and len(response) == 1:
        (name, it), = response.items()
        if name in ("output", "result", "content", "error"):
            return _text(it)
    return json.dumps(response, sort_keys=True, ensure_ascii=False)


def _responses(document, events):
    calls = _Calls()
    if isinstance(document, dict):
        events.append(("system", _text(document.get("instructions"))))
        document = document["input"]
    for it in [{"role": "user", "content": document}] if isinstance(document, str) else document:
        kind = it.get("type") or "message"
        if kind == "message":
            role = "system" if it["role"] == "developer" else it["role"]
            content = it.get("content")
            said = content if isinstance(content, list) else []
            events.append((role, _text(content) + "".join(part.get("refusal") or "" for part in said)))
        elif kind in ("function_call", "custom_tool_call"):
            said = it.get("arguments") if kind == "function_call" else json.dumps({"input": it.get("input")})
            events.append(("call", calls.call(it["call_id"]), it["name"], arguments(said)))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            events.append(("result", calls.answered(it["call_id"]), _text(it.get("output"))))
        elif it.get("execution") == "client" and kind == "tool_search_call":
            events.append(("call", calls.call(it["call_id"]), "tool_search", arguments(it.get("arguments"))))
        elif it.get("execution") == "client" and kind == "tool_search_output":
            events.append(("result", calls.answered(it["call_id"]), json.dumps(it["tools"])))


def _bedrock(document, events):
    calls = _Calls()
    if isinstance(document, dict):
        events.append(("system", _text(document.get("system"))))
        document = document["messages"]
    for it in document:
        for block in it["content"]:
            use, result, cited = block.get("toolUse"), block.get("toolResult"), block.get("citationsContent")
            guarded = (block.get("guardContent") or {}).get("text")
            if use and use.get("type") != "server_tool_use":
                events.append(("call", calls.call(use["toolUseId"]), use["name"], arguments(use["input"])))
            elif result and not str(result.get("type") or "").endswith("_result"):
                parts = result.get("content") or ()
                said = "".join(part["text"] if "text" in part else _output(part["json"]) for part in parts if {"text", "json"} & part.keys())
                events.append(("result", calls.answered(result["toolUseId"]), "" if said == "(no content)" else said))
            elif cited or guarded:
                events.append((it["role"], _text((cited or {}).get("content") or [guarded])))
            elif "text" in block:
                events.append((it["role"], block["text"]))


def _interactions(document, events):
    calls = _Calls()
    if isinstance(document, dict):
        events.append(("system", document.get("system_instruction") or ""))
        answer = document.get("steps") or document.get("outputs") or ()
        if document.get("outputs"):
            answer = [it if it["type"].startswith("function") else {"type": "model_output", "content": [it]} for it in answer]
        document = document.get("input") or answer
    steps = [document] if isinstance(document, (str, dict)) else document
    for it in steps:
        if isinstance(it, str):
            events.append(("user", it))
            continue
        kind = it.get("type")
        if kind in ("function_call", "function_result"):
            _interaction_call(it, calls, events)
        elif kind in ("text", None) and "role" not in it:
            events.append(("user", it.get("text") or ""))
        elif kind in ("user_input", "model_output") or "role" in it:
            role = "assistant" if kind == "model_output" or it.get("role") == "model" else "user"
            content = it.get("content")
            for part in content if isinstance(content, list) else [{"type": "text", "text": _text(content)}]:
                if part.get("type") in ("function_call", "function_result"):
                    _interaction_call(part, calls, events)
                elif part.get("type", "text") == "text":
                    events.append((role, part.get("text") or ""))


def _interaction_call(it, calls, events):
    if it["type"] == "function_call":
        events.append(("call", calls.call(it.get("id"), it["name"]), it["name"], arguments(it.get("arguments"))))
    else:
        result = it.get("result")
        events.append(("result", calls.answered(it.get("call_id") or it.get("id") or it.get("name")), _output(result) if isinstance(result, dict) else _text(result)))


FORMS = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "interactions": _interactions,
    "bedrock": _bedrock,
}
