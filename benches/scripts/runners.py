"""How the programs that take part are driven. A runner takes all rows of a task and gives an answer for each.

To take part: any program that is given a task's name and its rows and writes the answers (`public.py table FOLDER NAME=COMMAND`),
or a function a task and an entry in RUNNERS.
"""

import functools
import json
import logging
import os
import subprocess
import tempfile

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no network


def each(work):
    """A runner that answers a row at a time; what it throws is its answer."""

    def run(rows):
        res = []
        for row in rows:
            try:
                res.append({"id": row["id"], **work(row)})
            except Exception as err:  # a program may fail in any way
                res.append({"id": row["id"], "error": f"{type(err).__name__}: {err}"})
        return res

    return run


def program(command):
    """A runner a task for a program that is called `COMMAND TASK`, one process for all rows."""

    def run(task, rows):
        text = "".join(json.dumps(it, ensure_ascii=False) + "\n" for it in rows)
        done = subprocess.run([*command, task], input=text, capture_output=True, text=True)
        if done.returncode:
            raise OSError((done.stderr.strip().splitlines() or ["it failed"])[-1])
        return [json.loads(it) for it in done.stdout.splitlines()]

    return {task: functools.partial(run, task) for task in ("repair", "convert", "verdict", "stream")}


# msg: the program, one process a task


def msg(args, documents, report=False):
    """The lines that the program answers with, and of `--report` the lines of the report."""
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    program = os.environ.get("MSG", os.path.join(target, "release/msg"))
    text = "".join(json.dumps(it, ensure_ascii=False) + "\n" for it in documents)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.jsonl")
        more = ["--report", path] if report else []
        done = subprocess.run([program, *args, "--jsonl", "--quiet", *more, "-"], input=text, capture_output=True, text=True)
        answers = [json.loads(it) for it in done.stdout.splitlines()]
        if not report:
            return answers
        with open(path, encoding="utf-8") as file:
            return answers, [json.loads(it) for it in file]


def msg_repair(rows):
    documents = [{"messages": it["messages"]} for it in rows]
    answers, reports = msg(["repair", "--from", "openai", "--profile", "generic"], documents, report=True)
    res = []
    for row, answer, report in zip(rows, answers, reports, strict=True):
        changed = [it["at"]["message"] for it in report.get("edits") or () if it.get("at", {}).get("message") is not None]
        res.append({"id": row["id"], "messages": answer.get("messages"), "changed": changed})
    return res


def msg_convert(rows):
    res = []
    for key in sorted({(it["from"], it["to"]) for it in rows}):
        chosen = [it for it in rows if (it["from"], it["to"]) == key]
        answers = msg(["convert", "--from", key[0], "--to", key[1]], [it["document"] for it in chosen])
        res += [{"id": row["id"], "document": it} for row, it in zip(chosen, answers, strict=True)]
    return res


def msg_verdict(rows):
    res = []
    for key in sorted({(it["family"], it["profile"]) for it in rows}):
        chosen = [it for it in rows if (it["family"], it["profile"]) == key]
        answers = msg(["check", "--json", "--from", key[0], "--profile", key[1]], [it["document"] for it in chosen])
        res += [{"id": row["id"], "ok": it.get("ok", False)} for row, it in zip(chosen, answers, strict=True)]
    return res


def msg_stream(rows):
    """Through the Python package, which takes chunks as they come."""
    from msg import StreamAssembler

    def work(row):
        assembler = StreamAssembler()
        for chunk in row["chunks"]:
            assembler.feed(chunk)
        message = assembler.finish()["message"]
        calls = [[it["function"]["name"], it["function"]["arguments"]] for it in message.get("tool_calls") or ()]
        return {"text": meaning_text(message.get("content")), "calls": calls}

    return each(work)(rows)


# litellm


def litellm():
    import litellm

    litellm.modify_params = True  # it repairs nothing otherwise
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel("ERROR")  # it says each duplicate that it drops
    return litellm


def litellm_repair(rows):
    litellm()
    from litellm.litellm_core_utils.prompt_templates.factory import sanitize_messages_for_tool_calling as sanitize

    return each(lambda row: {"messages": sanitize(row["messages"])})(rows)


def litellm_convert(rows):
    litellm()
    from litellm.litellm_core_utils.prompt_templates.factory import anthropic_messages_pt
    from litellm.llms.anthropic.pass_through.adapters.transformation import LiteLLMAnthropicMessagesAdapter
    from litellm.llms.vertex_ai.gemini.transformation import _gemini_convert_messages_with_history as to_gemini

    def from_anthropic(document):
        res = LiteLLMAnthropicMessagesAdapter().translate_anthropic_messages_to_openai(document["messages"])
        system = document.get("system")
        return ([{"role": "system", "content": system}] if system else []) + [dict(it) for it in res]

    def work(row):
        document = row["document"]
        messages = document["messages"] if row["from"] == "openai" else from_anthropic(document)
        if row["to"] == "openai":
            return {"document": {"messages": messages}}
        system = [it for it in messages if it["role"] in ("system", "developer")]
        rest = [it for it in messages if it["role"] not in ("system", "developer")]
        text = "".join(meaning_text(it["content"]) for it in system)
        if row["to"] == "anthropic":
            res = anthropic_messages_pt(messages=rest, model="claude-3", llm_provider="anthropic")
            return {"document": {"system": text, "messages": res}}
        return {"document": {"systemInstruction": {"parts": [{"text": text}]}, "contents": to_gemini(rest)}}

    return each(work)(rows)


def meaning_text(content):
    return content if isinstance(content, str) else "".join(it.get("text") or "" for it in content or ())


def litellm_stream(rows):
    llm = litellm()
    from litellm.types.utils import ModelResponseStream

    def work(row):
        data = [it[5:].strip() for it in "".join(row["chunks"]).splitlines() if it.startswith("data:")]
        chunks = [ModelResponseStream(**json.loads(it)) for it in data if it and it != "[DONE]"]
        message = llm.stream_chunk_builder(chunks).choices[0].message
        calls = [[it.function.name, it.function.arguments] for it in message.tool_calls or ()]
        return {"text": message.content or "", "calls": calls}

    return each(work)(rows)


# pydantic-ai: messages of its own, made from those of OpenAI and written back


def pydantic_repair(rows):
    from pydantic_ai.messages import (
        ModelRequest, ModelResponse, SystemPromptPart, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart, repair_messages,
    )

    def read(messages):
        res, names = [], {}
        for it in messages:
            role, content = it["role"], meaning_text(it.get("content"))
            if role == "assistant":
                parts = [TextPart(content)] if content else []
                for call in it.get("tool_calls") or ():
                    function, key = call["function"], call.get("id") or ""
                    names[key] = function.get("name") or ""
                    parts.append(ToolCallPart(names[key], function.get("arguments"), key))
                res.append(ModelResponse(parts))
            elif role == "tool":
                key = it.get("tool_call_id") or ""
                res.append(ModelRequest([ToolReturnPart(names.get(key, ""), content, key)]))
            else:
                kind = SystemPromptPart if role in ("system", "developer") else UserPromptPart
                res.append(ModelRequest([kind(content)]))
        return res

    def write(messages):
        res = []
        for it in messages:
            if isinstance(it, ModelResponse):
                text = "".join(part.content for part in it.parts if isinstance(part, TextPart))
                message = {"role": "assistant", "content": text or None}
                calls = [part for part in it.parts if isinstance(part, ToolCallPart)]
                if calls:
                    message["tool_calls"] = [call_of(part) for part in calls]
                res.append(message)
                continue
            for part in it.parts:
                if isinstance(part, ToolReturnPart):
                    res.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": part.content})
                else:
                    role = "system" if isinstance(part, SystemPromptPart) else "user"
                    res.append({"role": role, "content": part.content})
        return res

    def call_of(part):
        function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
        return {"id": part.tool_call_id, "type": "function", "function": function}

    return each(lambda row: {"messages": write(repair_messages(read(row["messages"])))})(rows)


# langchain


def langchain_repair(rows):
    """It has no repair: this is what its documentation does to keep a history valid, without dropping for length."""
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages

    keep = {"max_tokens": 1 << 30, "token_counter": len, "strategy": "last", "include_system": True}

    def work(row):
        messages = trim_messages(convert_to_messages(row["messages"]), start_on="human", end_on=("human", "tool"), **keep)
        return {"messages": convert_to_openai_messages(messages)}

    return each(work)(rows)


def langchain_convert(rows):
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages

    def work(row):
        if row["to"] != "openai":
            return {"skipped": "it writes the form of OpenAI only"}
        document = row["document"]
        system = [{"role": "system", "content": document["system"]}] if document.get("system") else []
        messages = convert_to_messages(system + document["messages"])
        return {"document": {"messages": convert_to_openai_messages(messages)}}

    return each(work)(rows)


RUNNERS = {
    "msg": {"repair": msg_repair, "convert": msg_convert, "verdict": msg_verdict, "stream": msg_stream},
    "litellm 1.106": {"repair": litellm_repair, "convert": litellm_convert, "stream": litellm_stream},
    "pydantic-ai 2.68": {"repair": pydantic_repair},
    "langchain-core 1.6": {"repair": langchain_repair, "convert": langchain_convert},
    "lingua 0.1": program(["node", os.path.join(os.path.dirname(__file__), "lingua.mjs")]),
    "no repair": {"repair": each(lambda row: {"messages": row["messages"]})},
}
