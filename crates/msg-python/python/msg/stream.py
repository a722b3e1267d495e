"""What comes in pieces: model text with tool calls, and streams of providers. No I/O: asynchronous code feeds them too.

>>> parser = ToolParser()
>>> [event["type"] for piece in ("I look.<to", "ol><tool_name>ls</tool_name></tool>") for event in parser.feed(piece)]
['text-delta', 'tool-call-begin', 'tool-call-delta', 'tool-call']
"""

from __future__ import annotations

from . import _msg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
    from typing import Any

    from typing_extensions import Unpack

    from .options import StreamOptions, ToolsOptions
    from .schema import StreamEvent
    from .types import Dumps

    Bytes = bytes | bytearray | memoryview
    Piece = str | bytes | bytearray | memoryview | None

__all__ = ["StreamAssembler", "ToolParser", "stream", "tools"]


def tools(text: str | Bytes, /, **options: Unpack[ToolsOptions]) -> dict[str, Any]:
    """Thinking, text and tool calls of a model's answer: the line of ``msg tools --jsonl``.

    Options:
        thinking: How to handle thinking
        implicit_thinking: The text begins inside thinking, because the template opened the tag
        fenced_tools: How to handle calls in code fences
        dialects: Read only calls of these dialects and `<tool>` blocks: invoke, hermes, glm, qwen, cline, dsml, minimax, harmony, kimi, deepseek, llama, pythonic, mistral, fenced; or all, or none [default: none]
        tools: The registered tools: names, or definitions
        schema: Types of parameters: tool definitions, or an object from tool to JSON Schema
        finish_reason: Why the model stopped; `length` and the like mean that the text was cut off
        chunk: Feed N bytes at a time; 0 feeds everything at once. The result is the same
        max_tool_bytes: The largest block that is kept, in bytes
        max_depth: The deepest nesting of parameters
        max_retries: The number of blocks and fences that may be read twice
        events: Add the events of the stream to the JSON form
    """
    answer: dict[str, Any] = _msg.tools(text, options)
    return answer


def stream(body: str | Bytes, /, **options: Unpack[StreamOptions]) -> dict[str, Any]:
    """The final message of a captured stream: the line of ``msg stream --jsonl``.

    Options:
        provider: The provider of the stream
        chunk: Feed N bytes at a time; 0 feeds everything at once. The result is the same
        to: Write the stream that this API would send, instead of the message
        events: Also return the events
        split_concatenated: Treat concatenated JSON objects as separate events
        max_event_bytes: The maximum size of an event, in bytes
        interrupt_after: Cut the stream off after this many bytes
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
    """
    answer: dict[str, Any] = _msg.stream(body, options)
    return answer


class ToolParser:
    """Reads model text while it arrives; any cutting gives the same events.

    Options:
        thinking: How to handle thinking
        implicit_thinking: The text begins inside thinking, because the template opened the tag
        fenced_tools: How to handle calls in code fences
        dialects: Read only calls of these dialects and `<tool>` blocks: invoke, hermes, glm, qwen, cline, dsml, minimax, harmony, kimi, deepseek, llama, pythonic, mistral, fenced; or all, or none [default: none]
        tools: The registered tools: names, or definitions
        schema: Types of parameters: tool definitions, or an object from tool to JSON Schema
        finish_reason: Why the model stopped; `length` and the like mean that the text was cut off
        chunk: Feed N bytes at a time; 0 feeds everything at once. The result is the same
        max_tool_bytes: The largest block that is kept, in bytes
        max_depth: The deepest nesting of parameters
        max_retries: The number of blocks and fences that may be read twice
        events: Add the events of the stream to the JSON form
    """

    def __init__(self, **options: Unpack[ToolsOptions]) -> None:
        self._parser = _msg.ToolParser(options)

    def feed(self, piece: Piece) -> list[StreamEvent]:
        """The events that this piece completes; ``None`` is read as no text, as providers send it."""
        return self._parser.feed(piece)

    def finish(self) -> list[StreamEvent]:
        """The remaining events, at the end of the text."""
        return self._parser.finish()

    def events(self, pieces: Iterable[Piece]) -> Iterator[StreamEvent]:
        """All events of some pieces, each as soon as it is known."""
        for piece in pieces:
            yield from self.feed(piece)
        yield from self.finish()

    async def aevents(self, pieces: AsyncIterable[Piece]) -> AsyncIterator[StreamEvent]:
        """As :meth:`events`, of pieces that are awaited."""
        async for piece in pieces:
            for event in self.feed(piece):
                yield event
        for event in self.finish():
            yield event


class StreamAssembler:
    """Assembles a provider's stream; any chunking gives the same message.

    Options:
        provider: The provider of the stream
        chunk: Feed N bytes at a time; 0 feeds everything at once. The result is the same
        to: Write the stream that this API would send, instead of the message
        events: Also return the events
        split_concatenated: Treat concatenated JSON objects as separate events
        max_event_bytes: The maximum size of an event, in bytes
        interrupt_after: Cut the stream off after this many bytes
        max_bytes: Refuse documents larger than this many bytes [default: 256 MiB]
    """

    def __init__(self, **options: Unpack[StreamOptions]) -> None:
        self._assembler = _msg.StreamAssembler(options)

    def feed(self, chunk: Piece | Mapping[str, Any] | Dumps) -> list[StreamEvent]:
        """The events that this chunk completes: bytes of the stream, or one event as a client has parsed it."""
        return self._assembler.feed(chunk)

    def finish(self) -> dict[str, Any]:
        """The final message, and the problems of the stream; ``events`` are those that the end completes."""
        answer: dict[str, Any] = self._assembler.finish()
        return answer
