"""What a conversation says, whatever form it is in: the list of its texts, calls and results, in order.

    [("system", "Be brief."), ("user", "hi"), ("call", 0, "ls", '{"path": "."}'), ("result", 0, "a.txt"), ("assistant", "There.")]

A call is known by its place among the calls, a result by that of the call that it answers (None if it answers none).
Thinking, media and citations are left out: not every form has a place for them. Neighbouring texts of one role are one, and
white space does not count, nor does the order of members where a result is JSON.
"""

import json


def of(form, document):
    events = []
    {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini}[form](document, events)
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
    """JSON with its members in order and 2.0 as 2; other text as it is."""
    try:
        value = json.loads(text, parse_float=lambda it: int(float(it)) if float(it).is_integer() else float(it))
    except (ValueError, OverflowError):
        return text
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def arguments(it):
    if isinstance(it, str):
        try:
            it = json.loads(it or "{}")
        except ValueError:
            return it
    return json.dumps(it or {}, sort_keys=True, ensure_ascii=False)


def _text(content):
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(it.get("text") or "" if isinstance(it, dict) else _text(it) for it in content)
    return "" if content is None else json.dumps(content, sort_keys=True, ensure_ascii=False)


class _Calls:
    """Which call a result answers: the first open one of its id, or of its name without ids."""

    def __init__(self):
        self.n, self.open = 0, []

    def call(self, key):
        self.open.append((key, self.n))
        self.n += 1
        return self.n - 1

    def answered(self, key):
        for at, (other, n) in enumerate(self.open):
            if other == key:
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
                events.append(("result", calls.answered(block["tool_use_id"]), _text(block.get("content"))))


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
                events.append(("call", calls.call(key), call["name"], arguments(call.get("args"))))
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
