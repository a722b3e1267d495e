"""Peers in Python, on conversations in a file, one `{"messages":[...]}` a line: `python peers.py TASK FILE`.

Prints `{"seconds": best of three, "answers": [number of messages of each conversation]}`; a task that makes documents
writes them to FILE with the ending .out, a line each, and answers nothing. Without a file it only says whether it could run: exit status 1
and the reason on standard error if not.
"""

import importlib
import json
import os
import sys
import time

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no network


def need(*names):
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            sys.exit(f"missing Python package {name}")


def orjson_check(lines):
    """Twelve lines that pair ids, as people write them."""
    import orjson

    res = []
    for line in lines:
        messages = orjson.loads(line)["messages"]
        pending, broken = set(), 0
        for message in messages:
            for call in message.get("tool_calls") or ():
                pending.add(call.get("id"))
            if message.get("role") == "tool":
                if message.get("tool_call_id") in pending:
                    pending.discard(message.get("tool_call_id"))
                else:
                    broken += 1
        res.append(len(messages))
    return res


def loads(module):
    def run(lines):
        return [len(module.loads(line)["messages"]) for line in lines]

    return run


def litellm_sanitize():
    import litellm
    from litellm.litellm_core_utils.prompt_templates.factory import sanitize_messages_for_tool_calling

    litellm.modify_params = True  # it does nothing otherwise
    return sanitize_messages_for_tool_calling


def litellm_text(lines):
    sanitize = litellm_sanitize()
    return [json.dumps({"messages": sanitize(json.loads(line)["messages"])}) for line in lines]


def litellm_objects(objects):
    sanitize = litellm_sanitize()
    return [{"messages": sanitize(it["messages"])} for it in objects]


def litellm_anthropic(lines):
    from litellm.litellm_core_utils.prompt_templates.factory import anthropic_messages_pt

    res = []
    for line in lines:
        try:
            messages = [it for it in json.loads(line)["messages"] if it["role"] != "system"]
            said = anthropic_messages_pt(messages=messages, model="claude-3", llm_provider="anthropic")
            res.append(json.dumps({"messages": said}))
        except Exception:
            res.append("{}")
    return res


def langchain_trim(_):
    from langchain_core.messages import AIMessage, HumanMessage, trim_messages

    messages = [kind(content=f"message {n}") for n in range(1000) for kind in (HumanMessage, AIMessage)]
    trim_messages(messages, max_tokens=1000, token_counter=len, start_on="human")
    return [1]


def msg_check(lines):
    import msg

    return [msg.check(line).messages for line in lines]


def msg_repair(lines):
    import msg

    return [msg.repair(line).document for line in lines]


TASKS = {
    "orjson_check": (("orjson",), orjson_check),
    "orjson_loads": (("orjson",), lambda lines: loads(importlib.import_module("orjson"))(lines)),
    "json_loads": ((), loads(json)),
    "litellm_text": (("litellm",), litellm_text),
    "litellm_objects": (("litellm",), litellm_objects),
    "litellm_anthropic": (("litellm",), litellm_anthropic),
    "langchain_trim": (("langchain_core",), langchain_trim),
    "msg_check": (("msg",), msg_check),
    "msg_repair": (("msg",), msg_repair),
    "msg_repair_objects": (("msg",), msg_repair),
}


def main(task, path=None):
    names, run = TASKS[task]
    need(*names)
    if path is None:
        return print('{"seconds":0,"answers":[]}')
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    best = float("inf")
    for _ in range(3):
        given = [json.loads(it) for it in lines] if task.endswith("_objects") else lines
        start = time.process_time()
        answers = run(given)
        best = min(best, time.process_time() - start)
    if not isinstance(answers[0], int):
        with open(path.removesuffix(".jsonl") + ".out", "w", encoding="utf-8") as file:
            file.writelines((it if isinstance(it, str) else json.dumps(it)) + "\n" for it in answers)
        answers = []
    print(json.dumps({"seconds": best, "answers": answers}))


main(*sys.argv[1:])
