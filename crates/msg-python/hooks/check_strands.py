"""`msg.strands.RepairHook` in an agent of Strands."""

from __future__ import annotations

from typing import Any

import msg.strands
from endpoint import cases, started
from strands import Agent
from strands.models.openai import OpenAIModel

URL = started()
USE: Any = {"toolUse": {"toolUseId": "c1", "name": "look", "input": {}}}
RESULT: Any = {"toolResult": {"toolUseId": "c9", "status": "success", "content": [{"text": "1"}]}}
YES: Any = {"role": "assistant", "content": [{"text": "yes"}]}
UNANSWERED = [{"role": "user", "content": [{"text": "hi"}]}, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [{"text": "more"}]}, YES]
IMAGE: Any = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
SEEN = [{"role": "user", "content": [{"text": "hi"}, IMAGE]}, *UNANSWERED[1:]]
ORPHAN = [{"role": "user", "content": [{"text": "hi"}, RESULT]}, YES]


def run(hooked: bool, messages: Any) -> str:
    model = OpenAIModel(client_args={"base_url": f"{URL}/v1", "api_key": "x", "max_retries": 0}, model_id="echo")
    hooks: Any = [msg.strands.RepairHook()] if hooked else []
    return str(Agent(model=model, messages=[dict(it) for it in messages], hooks=hooks, callback_handler=None)("well?")).strip()


cases({
    name: (lambda it=it: run(False, it), lambda it=it: run(True, it))
    for name, it in (("call without result", UNANSWERED), ("call without result after an image", SEEN), ("result without call", ORPHAN))
})
