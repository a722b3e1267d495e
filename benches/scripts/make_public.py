"""Rows of the public benches from recordings: `make_public.py DATA OUT`; DATA is `benches/data` or a larger folder of that form.

Writes OUT/convert.jsonl, stream.jsonl and, where the folder has recorded verdicts, verdict.jsonl. The chains of repair.jsonl are
printed by `cargo run -p benches --bin broken_chains`.
"""

import glob
import gzip
import json
import os
import random
import sys

import meaning

# What a 400 says if it is the shape of the messages that was refused.
SHAPE = (
    "tool_use_id", "tool_result", "roles must alternate", "No tool output found", "required following item", "without `tool",
    "all messages must have non-empty content", "valid role: user, model", "unsupported content[].type", "].content[",
    "unknown variant `", "document.source.type: Field required", "URL sources are not supported",
)
# The profile of a request, by its family and by a word of its address.
PROFILES = {
    "openai": (
        ("deepseek", "deepseek"), ("mistral", "mistral"), ("moonshot", "kimi"), ("groq", "groq"), ("openrouter", "openrouter"),
        ("ollama", "ollama"), ("azure", "azure"), ("openai", "openai"),
    ),
    "responses": (("azure", "azure"), ("openai", "openai-responses")),
    "anthropic": (("bedrock", "bedrock"), ("", "anthropic")),
    "gemini": (("aiplatform", "vertex"), ("", "gemini")),
}


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(it, ensure_ascii=False) + "\n" for it in rows)
    print(f"{path}: {len(rows)} rows")


def conversions(data):
    rows = []
    for form, folder in (("openai", "conversations"), ("anthropic", "anthropic")):
        for path in sorted(glob.glob(os.path.join(data, folder, "*.jsonl"))):
            for n, it in enumerate(lines(path)):
                document = {name: it[name] for name in ("system", "messages") if name in it}
                if not linked(form, document):
                    continue
                for to in {"openai": ("anthropic", "gemini"), "anthropic": ("openai", "gemini")}[form]:
                    name = f"{folder}/{os.path.basename(path)}:{n + 1} to {to}"
                    rows.append({"id": name, "from": form, "to": to, "document": document})
    return rows


def linked(form, document):
    """Whether a conversation is sound: what a broken one means is not for a converter to say."""
    try:
        said = meaning.of(form, document)
    except (KeyError, TypeError, AttributeError):
        return False
    results = [it[1] for it in said if it[0] == "result"]
    calls = [it for it in said if it[0] == "call"]
    roles = {"system", "user", "assistant", "call", "result"}
    objects = {it[0] for it in said} <= roles and all(it[3].startswith("{") and it[3][1:2] != "'" for it in calls)
    return None not in results and len(results) == len(calls) and objects and any(it[0] == "user" for it in said)


def streams(data):
    rows, dice = [], random.Random(1)
    for path in sorted(glob.glob(os.path.join(data, "sse/openai-chat/*.json"))):
        note = json.load(open(path, encoding="utf-8"))
        choices = (note.get("expected") or {}).get("choices") or []
        if len(choices) != 1:
            continue
        message = choices[0]["message"]
        calls = [[it["function"]["name"], it["function"]["arguments"]] for it in message.get("tool_calls") or ()]
        text = open(path[:-5] + ".sse", encoding="utf-8", newline="").read()
        chunks, at = [], 0
        while at < len(text):
            size = dice.choice((1, 3, 16, 100, 1460))
            chunks.append(text[at : at + size])
            at += size
        row = {"id": os.path.basename(path)[:-5], "chunks": chunks, "text": message.get("content") or "", "calls": calls}
        rows.append(row)
    return rows


def profile(it):
    """The first that fits; none for hosts of which nothing is known."""
    address = it["url"].lower()
    return next((name for word, name in PROFILES.get(it["family"], ()) if word in address), None)


def verdicts(data):
    path, rows = os.path.join(data, "verdict/requests.jsonl.gz"), []
    if not os.path.exists(path):
        return rows
    for it in map(json.loads, gzip.open(path, "rt", encoding="utf-8")):
        refused = it["status"] == 400 and any(word in (it.get("error") or "") for word in SHAPE)
        if profile(it) and (it["status"] < 300 or refused):
            name = f"{it['repo']}:{it['path']}#{it['i']}"
            row = {"id": name, "family": it["family"], "profile": profile(it), "document": it["body"]}
            rows.append(row | {"accepted": it["status"] < 300})
    return rows


def main(data, out):
    os.makedirs(out, exist_ok=True)
    for name, rows in (("convert", conversions(data)), ("stream", streams(data)), ("verdict", verdicts(data))):
        path = os.path.join(out, name + ".jsonl")
        if rows:
            write(path, rows)
        elif os.path.exists(path):  # of another folder
            os.remove(path)


main(*sys.argv[1:])
