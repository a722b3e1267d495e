"""How fast, beside what people use today: `python benches/speed.py FILE.jsonl` (conversations, one a line).

Every way is measured in turn, many rounds, and the best of each is printed, in microseconds of processor time per conversation:
neighbours on the machine then cost all of them alike. Rows include what users read: findings and edits too. Speed is shown here,
never asserted in a test.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import msg
import msg.arrow

ROUNDS = 15
TWO = '[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]'


def sanitizer() -> Callable[[list[Any]], list[Any]]:
    """What LiteLLM does to the messages of a call with `modify_params`."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm
    from litellm.litellm_core_utils.prompt_templates import factory

    litellm.modify_params = True  # it does nothing otherwise
    logging.disable(logging.CRITICAL)  # it says what it does, which costs more than doing it
    sanitize: Callable[[list[Any]], list[Any]] = factory.sanitize_messages_for_tool_calling
    return sanitize


def best(ways: dict[str, tuple[Callable[[Any], Any], list[Any]]]) -> dict[str, float]:
    """Microseconds per document of each way."""
    times: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, (act, documents) in ways.items():
            start = time.process_time()
            for it in documents:
                act(it)
            took = (time.process_time() - start) * 1e6 / len(documents)
            times[name] = min(took, times.get(name, took))
    return times


def threads(texts: list[str]) -> None:
    """Wall time of a column by threads, beside that of looking at its bytes."""
    import pyarrow
    import pyarrow.compute

    column = pyarrow.array(texts * 10)
    ways: dict[str, Callable[[], Any]] = {
        "utf8_length": lambda: pyarrow.compute.call_function("utf8_length", [column]),
        "1 thread": lambda: msg.arrow.check(column),
        "2 threads": lambda: msg.arrow.check(column, threads=2),
        "4 threads": lambda: msg.arrow.check(column, threads=4),
    }
    times: dict[str, float] = {}
    for _ in range(5):
        for name, act in ways.items():
            start = time.perf_counter()
            act()
            took = time.perf_counter() - start
            times[name] = min(took, times.get(name, took))
    said = ", ".join(f"{name} {took * 1e3:.0f} ms" for name, took in times.items())
    print(f"a column of {len(column)} rows, {os.cpu_count()} processors, load {os.getloadavg()[0]:.0f}: {said}")


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        objects: list[Any] = [{"messages": json.loads(line)["messages"]} for line in file]
    texts = [json.dumps(it) for it in objects]
    ways: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
        "json.loads": (json.loads, texts),
        "check of text": (msg.check, texts),
        "check of text, findings read": (lambda it: [d.code for d in msg.check(it).diagnostics], texts),
        "check of objects": (msg.check, objects),
        "repair of text": (msg.repair, texts),
        "repair of text, edits read": (lambda it: [d.code for d in msg.repair(it).edits], texts),
        "repair of objects": (msg.repair, objects),
        "check of two messages": (msg.check, [TWO] * 5000),
    }
    try:
        sanitize = sanitizer()
        ways["litellm on objects"] = (lambda it: sanitize(it["messages"]), objects)
        ways["litellm on text"] = (lambda it: json.dumps(sanitize(json.loads(it)["messages"])), texts)
        import orjson

        ways["litellm on text with orjson"] = (lambda it: orjson.dumps(sanitize(orjson.loads(it)["messages"])), texts)
        wrong = [it for it in texts if not msg.is_valid(json.dumps(sanitize(json.loads(it)["messages"])))]
        print(f"litellm leaves {len(wrong)} of {sum(not msg.is_valid(it) for it in texts)} broken conversations broken")
    except ImportError:
        print("litellm or orjson is not installed")
    times = best(ways)
    print(f"{len(texts)} conversations, {sum(map(len, texts)) / 1e6:.1f} MB")
    for name, took in times.items():
        print(f"{took:8.2f} µs  {name}")
    for ours, theirs in (
        ("check of text", "json.loads"),
        ("repair of text", "litellm on text"),
        ("repair of text, edits read", "litellm on text with orjson"),
        ("repair of objects", "litellm on objects"),
    ):
        if theirs in times:
            print(f"{ours}: {times[theirs] / times[ours]:.2f} times the speed of {theirs}")
    threads(texts)


main(sys.argv[1])
