"""What the adapters of message classes share: after a repair, the caller's own objects are kept where nothing changed."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["in_place"]


def in_place(own: Sequence[Any], before: Sequence[Any], after: Sequence[Any], build: Callable[[int], Any]) -> list[Any]:
    """The messages of a repaired list as objects: those of ``own`` where they say what they said, else new ones.

    ``before`` is what the messages of ``own`` say, ``after`` what the repaired ones do, both as JSON values; ``build``
    makes an object of the repaired message of an index. Each object is used once, in order. Linear.
    """
    places: dict[str, deque[int]] = {}
    for at, said in enumerate(before):
        places.setdefault(_text(said), deque()).append(at)
    answer, next_own = [], 0
    for at, said in enumerate(after):
        known = places.get(_text(said), deque())
        while known and known[0] < next_own:
            known.popleft()
        if known:
            next_own = known.popleft() + 1
            answer.append(own[next_own - 1])
        else:
            answer.append(build(at))
    return answer


def _text(said: Any) -> str:
    return json.dumps(said, sort_keys=True)
