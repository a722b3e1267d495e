"""`msg.doctor` in a session store of the Claude Agent SDK: the records that a resume loads are mended first."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import msg
from claude_agent_sdk import InMemorySessionStore


class Mended(InMemorySessionStore):
    async def load(self, key: Any) -> Any:
        entries = await super().load(key)
        return entries and msg.doctor(entries, agent="claude-code").document


def record(id: str, parent: str | None, kind: str, content: Any) -> Any:
    message = {"role": kind, "content": content, **({"id": f"m{id}", "type": "message", "model": "m"} if kind == "assistant" else {})}
    at = f"2026-11-20T10:00:0{id}.000Z"
    return {"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "timestamp": at, "isSidechain": False, "message": message}


RECORDS = [
    record("1", None, "user", "hi"),
    record("2", "1", "assistant", [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]),
    record("3", "2", "user", "well?"),
]


async def loaded(store: Any) -> Any:
    key = {"project_key": "p", "session_id": "s"}
    await store.append(key, RECORDS)
    return await store.load(key)


def unanswered(records: list[Any]) -> int:
    blocks = [it for record in records for it in record["message"]["content"] if isinstance(it, dict)]
    results = {it["tool_use_id"] for it in blocks if it["type"] == "tool_result"}
    return sum(it["type"] == "tool_use" and it["id"] not in results for it in blocks)


plain, mended = asyncio.run(loaded(InMemorySessionStore())), asyncio.run(loaded(Mended()))
good = unanswered(plain) == 1 and unanswered(mended) == 0
print(f"{'ok  ' if good else 'FAIL'} resume: {len(plain)} records with {unanswered(plain)} unanswered call, mended {len(mended)} with {unanswered(mended)}")
sys.exit(0 if good else 1)
