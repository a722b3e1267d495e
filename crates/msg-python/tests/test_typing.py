"""What type checkers say about the file of intended mistakes: an error on each marked line, and on no other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import msg
import msg.options
import pytest

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests/typing/mistakes.py"


def marked() -> set[int]:
    lines = enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1)
    return {at for at, line in lines if "# mistake:" in line}


@pytest.mark.parametrize("command", [["mypy", "--strict"], ["pyright", "--pythonpath", sys.executable]])
def test_mistakes_are_found(command: list[str]) -> None:
    pytest.importorskip(command[0])
    done = subprocess.run([sys.executable, "-m", *command, str(FILE)], cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout)
    found = {int(it) for it in re.findall(r"mistakes\.py:(\d+)(?::\d+)?(?: -)?:? error", done.stdout)}
    assert found == marked(), done.stdout + done.stderr
    assert len(found) > 20


def test_lists_of_names_are_those_of_the_module() -> None:
    assert list(get_args(msg.options.Format)) == msg.formats()
    assert {*get_args(msg.options.ListFormat), *get_args(msg.options.ObjectFormat)} == set(msg.formats())
    for name in get_args(msg.options.Profile):
        assert msg.check([], profile=name).format == "openai"


def test_formats_are_written_as_they_are_typed() -> None:
    question = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    for name in msg.formats():
        try:
            document = msg.convert(question, name).document  # type: ignore[call-overload]
        except msg.MsgError:
            continue  # it is only read
        expected = dict if name in get_args(msg.options.ObjectFormat) else list
        assert isinstance(document, expected), (name, document)


def test_every_option_is_known_to_the_module() -> None:
    """An option of the types is refused for its value, never for its name."""
    groups = {
        msg.check: msg.options.CheckOptions, msg.repair: msg.options.RepairOptions, msg.stats: msg.options.StatsOptions,
        msg.key: msg.options.KeyOptions, msg.messages: msg.options.ReadOptions, msg.tools: msg.options.ToolsOptions,
        msg.stream: msg.options.StreamOptions, msg.fit: msg.options.FitOptions,
    }
    for act, options in groups.items():
        for name in get_type_hints(options):
            with pytest.raises((TypeError, msg.MsgError)) as raised:
                act("x", **{name: object()})  # type: ignore[operator]
            assert "unexpected" not in str(raised.value), (act, name)
            assert f"{name}: " in (act.__doc__ or "") or act in (msg.key,), (act, name)
