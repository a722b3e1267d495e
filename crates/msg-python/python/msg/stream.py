"""What comes in pieces: model text with tool calls, and streams of providers. No I/O: asynchronous code feeds them too.

>>> parser = ToolParser()
>>> [event["type"] for piece in ("I look.<to", "ol><tool_name>ls</tool_name></tool>") for event in parser.feed(piece)]
['text-delta', 'tool-call-begin', 'tool-call-delta', 'tool-call']
"""

from __future__ import annotations

from . import _msg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
    from typing import Any

__all__ = ["StreamAssembler", "ToolParser", "stream", "tools"]


def tools(text: str | bytes, /, **options: Any) -> dict[str, Any]:
    """Thinking, text and tool calls of a model's answer: the line of ``msg tools --jsonl``."""
    answer: dict[str, Any] = _msg.tools(text, options or None)
    return answer


def stream(body: str | bytes, /, **options: Any) -> dict[str, Any]:
    """A captured stream as its final message: the line of ``msg stream --jsonl``."""
    answer: dict[str, Any] = _msg.stream(body, options or None)
    return answer


class ToolParser:
    """Reads model text while it arrives; any cutting gives the same events."""

    def __init__(self, **options: Any) -> None:
        self._parser = _msg.ToolParser(options or None)

    def feed(self, piece: str | bytes | memoryview) -> list[dict[str, Any]]:
        """The events that this piece completes."""
        return self._parser.feed(piece)

    def finish(self) -> list[dict[str, Any]]:
        """The rest: the text has ended."""
        return self._parser.finish()

    def events(self, pieces: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
        """All events of some pieces, each as soon as it is known."""
        for piece in pieces:
            yield from self.feed(piece)
        yield from self.finish()

    async def aevents(self, pieces: AsyncIterable[str | bytes]) -> AsyncIterator[dict[str, Any]]:
        """As :meth:`events`, of pieces that are awaited."""
        async for piece in pieces:
            for event in self.feed(piece):
                yield event
        for event in self.finish():
            yield event


class StreamAssembler:
    """Assembles a provider's stream; any chunking gives the same message."""

    def __init__(self, **options: Any) -> None:
        self._assembler = _msg.StreamAssembler(options or None)

    def feed(self, chunk: str | bytes | memoryview) -> list[dict[str, Any]]:
        """The events that this chunk completes."""
        return self._assembler.feed(chunk)

    def finish(self) -> dict[str, Any]:
        """The final message, and what was odd; ``events`` are those that the end completes."""
        answer: dict[str, Any] = self._assembler.finish()
        return answer
