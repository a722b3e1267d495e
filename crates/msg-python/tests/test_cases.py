"""The case files of the Rust crates, walked again: text and objects have the same answers, by every profile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msg
import pytest

CRATES = Path(__file__).parents[2]
LOST = r',?\{"code":"convert::lost-value"[^}]*\}\}|,?\{"code":"convert::lost-value"[^}]*\}'
PLACES = r',?"(start|end|line|column)":\d+|,?"pointer":"[^"]*"|"at":\{\},?|(byte|offset) \d+'
PROFILES = [None, "openai", "anthropic", "gemini", "mistral"]


def values(value: Any, depth: int = 3) -> Iterator[Any]:
    """A value of a case file, and what is in it: some of it is a document."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value, parse_constant=no_number)
        except ValueError:
            return
    if isinstance(value, (list, dict)) and value:
        yield value
        if depth > 0:
            for inner in value.values() if isinstance(value, dict) else value[:3]:
                yield from values(inner, depth - 1)


def documents(crate: str) -> Iterator[Any]:
    for file in sorted((CRATES / crate / "test_data").rglob("*.json*")):
        text = file.read_text(encoding="utf-8")
        for line in text.splitlines() if file.suffix == ".jsonl" else [text]:
            try:
                yield from values(json.loads(line, parse_constant=no_number))
            except (ValueError, RecursionError):
                continue


def no_number(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def spelled(document: Any) -> str:
    """A document as objects are walked: raw values that become texts show how they were spelled."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    halves = any("\ud800" <= it <= "\udfff" for it in text)
    return json.dumps(document, separators=(",", ":")) if halves else text


def read(text: str) -> Any:
    """A document of text; the records of a session are a list."""
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def answers(document: Any, options: dict[str, Any]) -> Any:
    """What is said of a document. Objects are edited in place, where no value can be lost unseen. Bytes, lines and pointers are places in its text, and objects have none."""

    def said(line: str | None) -> str | None:
        return line and re.sub(PLACES, "", re.sub(LOST, "", line))

    try:
        checked: Any = msg.check(document, **options)
        repaired: Any = msg.repair(document, **options)
    except msg.MsgError as error:
        return type(error), said(str(error))
    mended = read(repaired.document) if isinstance(document, str) else repaired.document
    return (checked.ok, checked.format, checked.messages, said(checked._line)), (said(repaired._line), mended)


@pytest.mark.parametrize("crate", ["msg-arrow", "msg-chainast", "msg-document", "msg-formats", "msg-openai"])
def test_text_and_objects_have_the_same_answers(crate: str) -> None:
    compared = 0
    for document in documents(crate):
        text = spelled(document)
        if "[" * 250 in text or '{"a":' * 250 in text:
            continue  # objects nest less deep than text
        for profile in PROFILES:
            options: dict[str, Any] = {"profile": profile} if profile else {}
            assert answers(document, options) == answers(text, options), (profile, text)
        assert spelled(document) == text, "the caller's objects are not touched"
        compared += 1
    assert compared > 50, "few documents prove little"
