"""What holds for any input."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import msg

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool", "other"]), "content": st.text(max_size=20)},
    optional={"tool_call_id": st.sampled_from(["a", "b"]), "name": st.text(max_size=5), "extra": JSON},
)


def answer(document: Any) -> Any:
    try:
        checked = msg.check(document)
    except msg.MsgError as error:
        return type(error)
    return checked.ok, checked.format, checked.diagnostics


@given(JSON)
def test_any_value_has_an_answer(value: Any) -> None:
    try:
        msg.check(value)
    except (msg.MsgError, TypeError):
        pass


@given(st.lists(MESSAGE, max_size=6))
def test_objects_and_text_say_the_same(messages: list[Any]) -> None:
    assert answer(messages) == answer(json.dumps(messages))


@given(st.lists(MESSAGE, min_size=1, max_size=6))
def test_repaired_is_well_formed_and_stays(messages: list[Any]) -> None:
    before = json.dumps(messages)
    repaired = msg.repair(messages)
    assert json.dumps(messages) == before, "the caller's objects are not touched"
    assert msg.check(repaired.document).ok or not repaired.document
    assert not repaired.document or not msg.repair(repaired.document).changed


@settings(max_examples=50)
@given(st.text(), st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_any_split_of_a_text_gives_the_same(text: str, sizes: list[int]) -> None:
    def events(pieces: list[str]) -> str:
        parser = msg.ToolParser()
        return "".join(e.get("text", "") for e in parser.events(pieces) if e["type"] == "text-delta")

    pieces, at = [], 0
    for size in sizes:
        pieces.append(text[at : at + size])
        at += size
    pieces.append(text[at:])
    assert events(pieces) == events([text])
