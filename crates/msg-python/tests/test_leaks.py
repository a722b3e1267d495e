"""Many calls keep no memory."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msg
import pytest

TEXT = json.dumps([{"role": "user", "content": "hi " * 60}, {"role": "tool", "tool_call_id": "c", "content": "4"}])
CALLS = 50_000


def resident() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def unreadable() -> None:
    with pytest.raises(msg.ParseError):
        msg.check("[")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize(
    "call",
    [
        lambda: msg.check(TEXT),
        lambda: msg.repair(json.loads(TEXT)),
        lambda: msg.repair(json.loads(TEXT), profile="openai").edits,
        lambda: msg.tools("a<tool><tool_name>ls</tool_name></tool>"),
        unreadable,
    ],
)
def test_memory_is_flat(call: Callable[[], Any]) -> None:
    for _ in range(CALLS // 10):
        call()
    gc.collect()
    before = resident()
    for _ in range(CALLS):
        call()
    gc.collect()
    # A byte a call would be 50 kB; what an allocator keeps for itself is more.
    assert resident() - before < 2_000_000
