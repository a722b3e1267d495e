"""Every function once, by text and by objects, and what they raise."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import io
import json
import pickle
import subprocess
import sys
import types
import uuid
from collections import UserString
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import msg
import pytest

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}
BROKEN: list[dict[str, Any]] = [
    {"role": "user", "content": "read a"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "user", "content": "are you there?"},
]


def test_text_and_objects_are_judged_alike() -> None:
    by_object, by_text = msg.check(BROKEN), msg.check(json.dumps(BROKEN))
    assert not by_object and by_object == by_text or by_object.diagnostics == by_text.diagnostics
    assert by_object.diagnostics[0].code == "chain::missing-tool-result"
    assert by_object.diagnostics[0].at.message == 1
    assert msg.check(json.dumps(BROKEN).encode()).messages == 3
    assert not msg.is_valid(BROKEN)


def test_unchanged_messages_are_shared() -> None:
    repaired = msg.repair(BROKEN)
    assert repaired.changed and len(repaired.document) == 4
    assert repaired.document[0] is BROKEN[0] and repaired.document[1] is BROKEN[1]
    assert repaired.document[3] is BROKEN[2]
    again = msg.repair(repaired.document)
    assert not again.changed and again.document is repaired.document


def test_a_message_that_gets_an_id_shares_the_rest() -> None:
    arguments = {"name": "read", "arguments": "{}"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "read a"},
        {"role": "assistant", "tool_calls": [{"function": arguments}]},
        {"role": "tool", "content": "a"},
    ]
    before = json.dumps(messages)
    mended = msg.repair(messages).document
    assert json.dumps(messages) == before and mended[0] is messages[0]
    [call] = mended[1]["tool_calls"]
    assert call["id"] == mended[2]["tool_call_id"] != "" and call["type"] == "function"
    assert call["function"] is arguments
    assert mended == json.loads(msg.repair(before).document)


def test_answers_are_values() -> None:
    checked, repaired = msg.check(BROKEN), msg.repair(BROKEN)
    for it in (checked, repaired):
        again = pickle.loads(pickle.dumps(it))
        assert again == it and again is not it and repr(again) == repr(it) and it != "other"
    assert repr(checked) == "Checked(ok=False, format='openai', messages=3)"
    assert repr(repaired).startswith("Repaired(document=[{'role': 'user'") and repr(repaired).endswith("changed=True)")
    assert hash(checked) == hash(msg.check(BROKEN)) and checked != msg.check(repaired.document)
    with pytest.raises(AttributeError):
        checked.ok = True  # type: ignore[misc]
    match checked:
        case msg.Checked(False, "openai", messages=3):
            pass
        case _:
            raise AssertionError(checked)
    match repaired:
        case msg.Repaired(document, True):
            assert document is repaired.document
        case _:
            raise AssertionError(repaired)


def test_the_import_is_light() -> None:
    heavy = "sorted(it for it in ('asyncio', 'dataclasses', 'json', 'pyarrow', 'pydantic', 'typing') if it in sys.modules)"
    script = f"import sys; before = {heavy}; import msg; assert {heavy} == before, {heavy}"
    subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {script}"], check=True)


def test_a_request_stays_a_request() -> None:
    request = {"model": "gpt-x", "messages": BROKEN, "temperature": 0.5, "seed": 2**70}
    repaired: msg.Repaired[Any] = msg.repair(request, profile="openai")
    assert repaired.document["seed"] == 2**70
    assert list(repaired.document) == list(request)
    assert repaired.document["messages"][0] is BROKEN[0]


def test_text_in_text_out() -> None:
    text = json.dumps(BROKEN)
    assert isinstance(msg.repair(text).document, str)
    assert isinstance(msg.repair(text.encode()).document, bytes)
    assert isinstance(msg.convert(text, "anthropic").document, str)


def test_conversion_says_what_is_lost() -> None:
    converted: msg.Converted[Any] = msg.convert([{"role": "user", "name": "Ada", "content": "hi"}], "gemini")
    assert converted.document["contents"][0]["parts"] == [{"text": "hi"}]
    assert [it.code for it in converted.edits] == ["convert::lost-member"]


def test_sizes() -> None:
    assert msg.stats(BROKEN).messages == 3
    assert msg.tokens(BROKEN) == msg.stats(BROKEN).tokens
    assert [row["role"] for row in msg.messages(BROKEN)] == ["user", "assistant", "user"]


def test_fit() -> None:
    long = [{"role": r, "content": "word " * 200} for _ in range(10) for r in ("user", "assistant")]
    fitted = msg.fit(long, budget=900)
    assert fitted.status == "compacted" and (fitted.tokens or 0) <= 900
    assert len(fitted.document) < len(long)
    with pytest.raises(msg.CannotFit):
        msg.fit(long, budget=3)


def test_keys() -> None:
    other_ids = json.loads(json.dumps(BROKEN).replace("c1", "c2"))
    assert msg.key(BROKEN) == msg.key(other_ids) and len(msg.key(BROKEN)) == 16
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert msg.prefix_keys([*chat, {"role": "user", "content": "c"}]) == [msg.key(chat)]


def test_join() -> None:
    joined = msg.join([{"role": "user", "content": "a"}], {"role": "assistant", "content": "b"})
    assert msg.check(joined) and len(msg.messages(joined)) == 2
    assert msg.join(None, None) is None


def test_a_request_joins_the_answer_of_its_provider() -> None:
    request = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    call = {"type": "tool_use", "id": "t1", "name": "w", "input": {}}
    answer = {"id": "m1", "type": "message", "role": "assistant", "model": "c", "content": [call], "stop_reason": "tool_use", "usage": {}}
    joined = msg.join(request, answer)
    assert joined["max_tokens"] == 9 and joined["messages"][1]["content"][0]["type"] == "tool_use"


def test_summaries_that_somebody_else_writes() -> None:
    turn = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "since it is so, as I have said"}]
    history = turn * 40
    options: dict[str, Any] = {"preset": "pentagi", "budget": 400}
    requests = msg.fit_requests(history, **options)
    assert requests and all(it["prompt"] and it["max"] > 0 for it in requests)
    fitted = msg.fit_apply(history, ["they talked"] * len(requests), **options)
    assert "they talked" in json.dumps(fitted.document)
    assert msg.fit_apply(history, [], **options) == msg.fit(history, **options) != fitted


def test_errors() -> None:
    with pytest.raises(msg.ParseError) as raised:
        msg.check('[{"role":"user",]')
    assert issubclass(msg.ParseError, ValueError) and raised.value.start == 16
    assert pickle.loads(pickle.dumps(raised.value)).start == 16
    with pytest.raises(msg.OptionError, match="openia"):
        msg.check([], profile="openia")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="object"):
        msg.check(object())  # type: ignore[arg-type]
    with pytest.raises(msg.ParseError):
        msg.check([{"role": "user", "content": float("nan")}])
    deep: list[Any] = []
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(msg.ParseError):
        msg.check(deep)


def test_wrong_calls_are_type_errors() -> None:
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (None, {}, "expected str, bytes, list, dict or an object with model_dump, found NoneType"),
        (3, {}, "found int"),
        (True, {}, "found bool"),
        ([], {"profil": "openai"}, r"check\(\) got an unexpected option 'profil', did you mean 'profile'\?"),
        ([], {"colour": "red"}, "unexpected option 'colour', expected from_, field, join, calls"),
        ([], {"open": "yes"}, r"check\(\) option 'open' expects bool, found str"),
        ([], {"max_chars": True}, "expects int, found bool"),
    ]
    for document, options, text in wrong:
        with pytest.raises(TypeError, match=text):
            msg.check(document, **options)
    given: dict[str, Any] = {"from": "openai"}
    assert msg.check([], profile=None, open=None, **given)
    with pytest.raises(TypeError, match="budgt.*did you mean 'budget'"):
        msg.fit([], budgt=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"convert\(\) argument 'to' expects str, found int"):
        msg.convert([], 3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"fit_apply\(\) argument 'answers'\[1\] expects str or None, found int"):
        msg.fit_apply([], ["a", 3], budget=9)  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"doctor\(\) argument 'agent' expects str, found int"):
        msg.doctor([], agent=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^\[1\]: messages\[0\].content is object"):
        msg.cache({"messages": []}, {"messages": [{"role": "user", "content": object()}]})
    with pytest.raises(TypeError, match="merge"):
        msg.StreamAssembler(merge=True)  # type: ignore[call-arg]


class Half(float):
    """As the numbers of numpy, which print their type."""

    def __repr__(self) -> str:
        return "Half(0.5)"


class Turn:
    """Says its members, and changes what it is in."""

    def __init__(self, holder: dict[str, Any]) -> None:
        self.holder = holder

    def model_dump(self) -> dict[str, Any]:
        self.holder["new"] = 1
        return {}


def test_values_are_kept_or_refused() -> None:
    def judged(value: object) -> bool:
        # Not a plain chat message, so that all of it is walked.
        return bool(msg.check([{"role": "user", "parts": [{"text": "hi"}], "x": value}]))

    sound: list[object] = [Half(0.5), 2**80, -0.0, 1e300, "\ud83d", (1, 2), None, True]
    wrong: list[object] = [{1}, b"ab", object(), iter([1]), {1: 2}, 1j]
    assert all(judged(it) for it in sound)
    for value in wrong[:4]:
        with pytest.raises(TypeError, match=r"\[0\]\.x is .*, which JSON cannot hold"):
            judged(value)
    for value in wrong[4:]:
        with pytest.raises(TypeError, match=r"\[0\]\.x "):
            judged(value)
    with pytest.raises(TypeError, match=r"^\[0\]\.x\.a\[1\]\.b is complex, which"):
        judged({'say "[{': [1, {"c": 2}], "a": [{}, {"c": "[", "b": 1j}]})
    with pytest.raises(msg.ParseError, match=r"^\[0\]\.x\[1\] is -?inf, which"):
        judged([1, float("inf")])
    with pytest.raises(msg.ParseError, match=r"^\[0\]\.x cannot be written: .*digits"):
        judged(10**5000)
    message: dict[str, Any] = {"role": "user", "parts": []}
    message["x"] = Turn(message)
    with pytest.raises(RuntimeError, match="changed"):
        msg.check([message])


class Number:
    """As an integer of numpy: not an `int`, and used as one."""

    __array_interface__: ClassVar[dict[str, Any]] = {}

    def __index__(self) -> int:
        return 7000

    def tolist(self) -> int:
        return 7000


def test_numbers_of_numpy_are_options() -> None:
    assert msg.fit(BROKEN, budget=Number(), repair=True).report["fits"]  # type: ignore[arg-type]


def test_answers_become_plain_values() -> None:
    checked = msg.check(BROKEN)
    said = json.loads(json.dumps(checked.to_dict()))
    assert said["ok"] is False and said["messages"] == 3
    [found] = said["diagnostics"]
    assert found == checked.diagnostics[0].to_dict() and found["code"] == "chain::missing-tool-result" and found["at"]["message"] == 1
    assert pickle.loads(pickle.dumps(checked)).to_dict() == checked.to_dict()
    by_line = msg.check([{"role": "user", "content": "hi"}]).to_dict()
    assert by_line == {"ok": True, "format": "openai", "messages": 1, "diagnostics": []}


class Array:
    """As an array or a number of numpy, which a row of Parquet holds in pandas."""

    __array_interface__: ClassVar[dict[str, Any]] = {}

    def __init__(self, items: object) -> None:
        self.items = items

    def __len__(self) -> int:
        return 1

    def tolist(self) -> object:
        return self.items


def test_arrays_are_lists() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: Any = Array([{"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": Array([call])}])
    assert [it.code for it in msg.check(messages).diagnostics] == ["chain::missing-tool-result"]
    mended = msg.repair([*messages.items, {"role": "user", "content": "well?", "n": Array(3)}]).document
    assert mended[1] is messages.items[1] and mended[2]["tool_call_id"] == "c1" and len(mended) == 4


class Side(enum.Enum):
    LEFT = "user"


def test_what_holds_a_document_is_told_how_to_get_it() -> None:
    @dataclasses.dataclass
    class Own:
        role: str

    async def later() -> list[Any]:
        return []

    waiting = later()
    found: list[tuple[Any, str]] = [
        (iter(BROKEN), r"found list_iterator; `list\(it\)` is a list"),
        (Path("a.json"), r"; `it.read_text\(\)` is its text"),
        (io.StringIO("[]"), r"; `it.read\(\)` is its text"),
        (Own("user"), r"; `dataclasses.asdict\(it\)` is a dict"),
        ([Own("user")], r"^\[0\] is .*Own, which JSON cannot hold; `dataclasses.asdict"),
        ([{"role": "user", "content": b"hi"}], r"^\[0\].content is bytes, which JSON cannot hold; `it.decode\(\)` is its text"),
        (waiting, r"found coroutine; await it first"),
        ([{"role": "user", "at": datetime.date(2026, 1, 2)}], r"^\[0\].at is datetime.date, .*; `it.isoformat\(\)` is its text"),
        ([{"role": "user", "n": decimal.Decimal(1)}], r"; `float\(it\)` is a number, `str\(it\)` its text"),
        ([{"role": "user", "n": uuid.UUID(int=1)}], r"; `str\(it\)` is its text"),
        ([{"role": Side.LEFT}], r"^\[0\].role is .*Side, .*; `it.value` is its value"),
        ([types.SimpleNamespace(role="user")], r"^\[0\] is types.SimpleNamespace, .*; `vars\(it\)` is a dict"),
    ]
    for value, text in found:
        with pytest.raises(TypeError, match=text):
            msg.check(value)
    waiting.close()
    with pytest.raises(msg.ParseError, match=r"\(`msg.formats\(\)` lists them\)"):
        msg.check({})
    with pytest.raises(msg.ParseError, match="the name of a file.*; pass what is in the file"):
        msg.check("chat.json")
    with pytest.raises(TypeError, match=r"StreamAssembler\(\).feed\(event\)"):
        msg.stream(iter([{"choices": []}]))  # type: ignore[arg-type]
    with pytest.raises(msg.ParseError, match="the name of a file"):
        msg.doctor("projects/a.jsonl")
    with pytest.raises(msg.ParseError, match=r"; put the message of the answer into the list, as `choices\[0\].message`"):
        msg.check([{"role": "user", "content": "hi"}, {"id": "a", "choices": [{"message": {"role": "assistant", "content": "x"}}]}])


def test_errors_speak_of_arguments() -> None:
    """No flag of the program and no place in a text that the caller did not write (RE-15, RE-17)."""
    said = []
    acts: list[Callable[[], object]] = [
        lambda: msg.check([], profile="openia"),  # type: ignore[arg-type]
        lambda: msg.repair([], orphans="lose"),  # type: ignore[arg-type]
        lambda: msg.fit(BROKEN, budget=100),
        lambda: msg.fit(BROKEN),
        lambda: msg.convert([{"role": "user", "content": "hi"}], "anthropic", request=True),
        lambda: msg.convert([], "antropic"),  # type: ignore[call-overload]
        lambda: msg.convert([], "openai", layout="loose"),  # type: ignore[call-overload]
        lambda: msg.stats([], counter="abacus"),  # type: ignore[arg-type]
        lambda: msg.tools("x", dialects="klingon"),  # type: ignore[arg-type]
        lambda: msg.doctor([{}]),
    ]
    for act in acts:
        with pytest.raises(msg.MsgError) as raised:
            act()
        said.append(str(raised.value))
    print("\n".join(said))
    with pytest.raises(msg.OptionError, match="needs tables that this build does not have .feature `tokens`"):
        msg.stats([], counter="o200k")
    assert not [it for it in said if "--" in it or "column" in it or "not understood" in it]
    assert said[0].endswith('; did you mean "openai"?') and said[5].endswith('; did you mean "anthropic"?')
    assert not [it for it in said if "`msg " in it or "jq" in it]
    assert "repair=True" in said[2] and "budget" in said[3] and "max_tokens" in said[4]
    assert said[0].startswith("profile: ") and said[1].startswith("orphans: ")


def test_why_it_cannot_fit() -> None:
    long = [{"role": r, "content": "word " * 200} for _ in range(3) for r in ("user", "assistant")]
    with pytest.raises(msg.CannotFit, match="tokens, the budget leaves 3"):
        msg.fit(long, budget=3)
    with pytest.raises(msg.CannotFit, match="tokens, the budget leaves") as raised:
        msg.fit([*BROKEN, *long], budget=3, repair=True)
    assert pickle.loads(pickle.dumps(raised.value)).fitted == raised.value.fitted


def test_answers_show_what_they_are() -> None:
    assert repr(msg.stats([{"role": "user", "content": "hi"}])).startswith("Stats(messages=1, bytes=")
    assert repr(msg.fit([{"role": "user", "content": "hi"}], budget=99)).startswith("Fitted(status='not-needed', tokens=")
    converted = msg.convert([{"role": "user", "name": "Ada", "content": "hi"}], "gemini")
    assert repr(converted).endswith("edits=1)") and pickle.loads(pickle.dumps(converted)) == converted
    found = msg.check(BROKEN).diagnostics[0]
    assert repr(found).startswith("Diagnostic(code='chain::missing-tool-result', severity='error', message=")
    assert "at=Position(message=1" in repr(found) and pickle.loads(pickle.dumps(found)) == found
    assert hash(found) == hash(msg.check(BROKEN).diagnostics[0])
    assert msg.Diagnostic("a::b", "error", "c", msg.Position(message=1)) != found
    with pytest.raises(ValueError, match="error, warning or info"):
        msg.Diagnostic("a::b", "bad", "c")


def test_the_module_shows_its_names_alone() -> None:
    shown = {it for it in dir(msg) if not it.startswith("__")}
    assert shown == set(msg.__all__) and all(getattr(msg, it) is not None for it in shown)
    for name in ("check", "repair", "convert", "fit", "stats", "tokens", "key", "messages", "tools", "stream", "doctor"):
        assert "Options:\n" in (getattr(msg, name).__doc__ or ""), name


def test_pieces_are_texts() -> None:
    parser, assembler = msg.ToolParser(), msg.StreamAssembler()
    assert parser.feed(None) == [] == assembler.feed(None)
    pieces: list[Any] = [3, [1], {}, 1.5, True]
    for piece in pieces:
        with pytest.raises(TypeError, match="expected str or bytes"):
            parser.feed(piece)
    for chunk in (it for it in pieces if it != {}):
        with pytest.raises(TypeError, match="expected str, bytes, dict or an object with model_dump"):
            assembler.feed(chunk)
    for piece in (*pieces, None):
        with pytest.raises(TypeError):
            msg.tools(piece)


def test_streams_of_objects() -> None:
    class Chunk:
        def __init__(self, members: dict[str, Any]) -> None:
            self.members = members

        def model_dump(self, **_: Any) -> dict[str, Any]:
            return self.members

    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": "Hel"}}]},
        {"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]},
    ]
    whole = "".join(f"data: {json.dumps(it)}\n\n" for it in chunks)
    for kind in (dict, Chunk):
        assembler = msg.StreamAssembler()
        for it in chunks:
            assembler.feed(kind(it))
        final = assembler.finish()
        assert final.pop("events") and final == msg.stream(whole)


def test_other_collections() -> None:
    from collections import UserDict, deque
    from types import MappingProxyType

    question = {"role": "user", "content": "hi"}
    for document in (deque([question]), (question,), MappingProxyType({"messages": [question]}), [UserDict(question)]):
        assert msg.check(document).messages == 1, document


def test_sessions_are_mended() -> None:
    def record(id: str, parent: str | None, kind: str, content: Any) -> dict[str, Any]:
        at = f"2026-11-20T10:00:0{id}.000Z"
        message = {"role": kind, "content": content}
        return {"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "timestamp": at, "message": message}

    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    records = [record("1", None, "user", "hi"), record("2", "1", "assistant", [call]), record("3", "2", "user", "well?")]
    report = msg.doctor(records)
    assert report.agent == "claude-code" and report.changed and not report
    assert report.document[0] is records[0] and len(report.document) > len(records)
    lines = "".join(json.dumps(it) + "\n" for it in records)
    by_text = msg.doctor(lines, agent="claude-code")
    assert [it.code for it in by_text.findings] == [it.code for it in report.findings]
    assert [json.loads(it) for it in by_text.document.splitlines()] == report.document
    again = msg.doctor(report.document)
    assert again and not again.changed and again.document is report.document
    with pytest.raises(msg.OptionError, match='no agent is called "codeks", expected .*did you mean "codex"'):
        msg.doctor(records, agent="codeks")  # type: ignore[arg-type]


def test_what_judged_a_row() -> None:
    one = msg.options_key("check", profile="openai")
    assert len(one) == 16 and one == msg.options_key("check", open=None, profile="openai")
    assert one != msg.options_key("check") and one != msg.options_key("repair", profile="openai")


def test_models() -> None:
    class Model:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return {"role": "user", "content": "hi"}

    assert msg.check([Model()])


def test_half_a_surrogate_pair() -> None:
    assert msg.check([{"role": "user", "content": "\ud800"}]).messages == 1


def test_half_a_surrogate_pair_is_kept_beside_a_mend() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call, {**call, "own": {"a\udc00": "\ud800"}}], "said": "𝄞\ud834"}
    given: Any = {"model": "m", "messages": [asked], "user": "\ud800"}
    mended = msg.repair(given).document
    [again] = (it for it in mended["messages"] if it["role"] == "assistant")
    assert mended["user"] == "\ud800" and again is not asked and again["said"] == "𝄞\ud834"
    assert again["tool_calls"][1]["own"] == {"a\udc00": "\ud800"}


def test_errors_of_objects_are_those_of_objects() -> None:
    with pytest.raises(msg.ParseError) as raised:
        msg.check([{"role": "user", "content": "a"}, 3])
    assert str(raised.value) == "message 1: expected a message, which is an object" and raised.value.start is None
    assert raised.value.diagnostic and raised.value.diagnostic.at.message == 1
    with pytest.raises(msg.ParseError, match='`field="request"` reads its conversation'):
        msg.check({"request": [{"role": "user", "content": "a"}]})
    circle: dict[str, Any] = {"role": "user"}
    circle["content"] = [circle]
    with pytest.raises(msg.ParseError, match=r"^\[0\].content\[0\].content.*… nests more than 256 deep"):
        msg.check([circle])
    with pytest.raises(TypeError, match=r"\[0\].content is collections.UserString, which JSON cannot hold; `str\(it\)`"):
        msg.check([{"role": "user", "content": UserString("a")}])

    class Model:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return {"role": "user", "content": "hi"}

    with pytest.raises(TypeError, match="found type; take an object of this class"):
        msg.check(Model)  # type: ignore[arg-type]


def test_values_of_options_are_named_in_words_of_python() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"field": [1]}, "field: expected a path, or a list of paths"),
        ({"budget": 10**30}, "budget: expected a smaller number, found 1e\\+30"),
        ({"budget": 1, "tool_caps": {"a": "b"}}, 'tool_caps: expected an int, found "b"'),
    ]
    for options, text in wrong:
        with pytest.raises(msg.OptionError, match=f"^{text}"):
            msg.fit([], **options)


def test_checker_pickles() -> None:
    checker = msg.Checker(profile="openai")
    again = pickle.loads(pickle.dumps(checker))
    assert repr(again) == repr(checker) and not again(BROKEN)


def test_streams() -> None:
    body = b'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\ndata: {"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n'
    for size in (1, 7, len(body)):
        assembler = msg.StreamAssembler()
        events = [e for at in range(0, len(body), size) for e in assembler.feed(body[at : at + size])]
        assert "".join(e["text"] for e in events if e["type"] == "text-delta") == "Hello"
        final = assembler.finish()
        assert final.pop("events")[-1]["type"] == "finish" and final == msg.stream(body)
    with pytest.raises(RuntimeError):
        assembler.feed(b"")


def test_recognise() -> None:
    assert msg.recognise(BROKEN) == "openai"
    assert msg.recognise("nothing") is None
    assert "anthropic" in msg.formats()


def test_a_log_is_compared_request_by_request() -> None:
    ask = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}
    told = [*ask["messages"], {"role": "assistant", "content": "hello"}, {"role": "user", "content": "and now?"}]
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    log: list[Any] = [ask, {"request": {**ask, "messages": told}, "usage": usage}, json.dumps({**ask, "model": "gpt-5-mini"}), "{"]
    answer = msg.cache(*log, from_="openai")
    assert [it.get("relation") for it in answer["rows"]] == [None, "growth", "break", None]
    assert answer["rows"][2]["changes"][0]["code"] == "cache::model-changed"
    assert answer["rows"][3]["error"]["code"] == "cache::bad-line"
    assert answer["totals"]["requests"] == 3 and answer["totals"]["input"] == 9
    assert answer == msg.cache(log, from_="openai") == msg.cache(iter(log), from_="openai") and msg.cache([])["rows"] == []
    ledger = msg.CacheLedger(from_="openai")
    assert [ledger.push(it) for it in log] == answer["rows"] and ledger.totals() == answer["totals"]
    with pytest.raises(TypeError, match="did you mean 'provider'"):
        msg.cache(ask, provder="openai")  # type: ignore[call-arg]
    with pytest.raises(msg.OptionError):
        msg.cache(ask, prices={"m": []})


def test_summaries_are_a_list() -> None:
    for answers in ("they talked", b"they talked", {"they": "talked"}):
        with pytest.raises(TypeError, match="'answers' expects a list of texts, found"):
            msg.fit_apply(BROKEN, answers, budget=99)  # type: ignore[arg-type]


def test_answers_of_deep_documents() -> None:
    deep = '{"a":' * 1200 + "1" + "}" * 1200
    for document in (f'[{{"role":"user","content":"x","z":{deep}}}]', f'{{"model":"m","messages":[{{"role":"user","content":"x","z":{deep}}}]}}'):
        fitted = msg.fit(document, budget=9999)
        assert fitted.report["status"] == fitted.status == "not-needed" and "Fitted" in repr(fitted)
        assert not fitted.report.keys() & {"messages", "document"}
