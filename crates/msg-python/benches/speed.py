"""How fast, beside what people use today: `python benches/speed.py FILE.jsonl` (conversations, one a line).

Prints medians of the whole file and ratios. Speed is shown here, never asserted in a test.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import msg


def timed(what: Callable[[], Any], rounds: int = 5) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        what()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        objects = [{"messages": json.loads(line)["messages"]} for line in file]
    texts = [json.dumps(it) for it in objects]
    size = sum(map(len, texts)) / 1e6
    print(f"{len(texts)} conversations, {size:.1f} MB")

    loads = timed(lambda: [json.loads(it) for it in texts])
    check = timed(lambda: [msg.check(it) for it in texts])
    print(f"json.loads {size / loads:.0f} MB/s, msg.check of text {size / check:.0f} MB/s: {loads / check:.2f} times")
    by_object = timed(lambda: [msg.check(it) for it in objects])
    print(f"msg.check of objects {size / by_object:.0f} MB/s")

    repair = timed(lambda: [msg.repair(it) for it in texts])
    print(f"msg.repair of text {size / repair:.0f} MB/s")
    repair_objects = timed(lambda: [msg.repair(it) for it in objects])
    print(f"msg.repair of objects {size / repair_objects:.0f} MB/s")
    try:
        import litellm
        from litellm.litellm_core_utils.prompt_templates.factory import (
            sanitize_messages_for_tool_calling,
        )
    except ImportError:
        sanitize_messages_for_tool_calling = None
    if sanitize_messages_for_tool_calling is not None:
        litellm.modify_params = True  # it does nothing otherwise
        theirs = timed(lambda: [sanitize_messages_for_tool_calling(it["messages"]) for it in objects])
        whole = timed(
            lambda: [json.dumps(sanitize_messages_for_tool_calling(json.loads(it)["messages"])) for it in texts]
        )
        print(f"litellm on text {size / whole:.0f} MB/s: {whole / repair:.2f} times")
        print(f"litellm on objects {size / theirs:.0f} MB/s: {theirs / repair_objects:.2f} times")

    two = '[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]'
    n = 100_000
    one = timed(lambda: [msg.check(two) for _ in range(n)], 3) / n
    print(f"a call on two short messages {one * 1e6:.2f} µs")


main(sys.argv[1])
