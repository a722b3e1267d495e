"""What the adapters of message classes share: after a repair, the caller's own objects are kept where nothing changed."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["in_place"]

NEAR = 32
"""So many messages that were not found again are compared with one that is new."""


def in_place(
    own: Sequence[Any],
    before: Sequence[Any],
    after: Sequence[Any],
    build: Callable[[int, int | None], Any],
    *,
    akin: Callable[[Any, Any], bool] = lambda _before, _after: False,
) -> list[Any]:
    """The messages of a repaired list as objects: those of ``own`` where they say what they said, else new ones.

    ``before`` is what the messages of ``own`` say, ``after`` what the repaired ones do, both as JSON values; ``build``
    makes an object of the repaired message of an index, and is told the place of the own message that it is ``akin`` to.
    Each object is used once. Linear.
    """
    found = _found(before, after)
    left = sorted(set(range(len(own))).difference(it for it in found if it is not None))
    answer, last = [], 0
    for at, place in enumerate(found):
        if place is not None:
            last = place
            answer.append(own[place])
            continue
        start = max(0, bisect_left(left, last) - NEAR // 2)
        like = next((it for it in left[start : start + NEAR] if akin(before[it], after[at])), None)
        if like is not None:
            left.remove(like)
            last = like
        answer.append(build(at, like))
    return answer


def _found(before: Sequence[Any], after: Sequence[Any]) -> list[int | None]:
    """The places of the repaired messages in the list as it was: the next that says the same, else one that was moved."""
    ahead: dict[str, deque[int]] = {}
    passed: dict[str, deque[int]] = {}
    for at, said in enumerate(before):
        ahead.setdefault(_text(said), deque()).append(at)
    answer: list[int | None] = []
    next_own = 0
    for said in after:
        text = _text(said)
        known, moved = ahead.get(text, deque()), passed.setdefault(text, deque())
        while known and known[0] < next_own:
            moved.append(known.popleft())
        if known:
            next_own = known[0] + 1
            answer.append(known.popleft())
        else:
            answer.append(moved.popleft() if moved else None)
    return answer


def _text(said: Any) -> str:
    return json.dumps(said, sort_keys=True)
