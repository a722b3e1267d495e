"""`msg.httpx` in the clients of OpenAI and Anthropic: synchronous, asynchronous and streamed."""

from __future__ import annotations

from typing import Any

import anthropic
import msg.httpx
import openai
from endpoint import BLOCKS_ORPHAN, BLOCKS_UNANSWERED, ITEMS_ORPHAN, ITEMS_UNANSWERED, ORPHAN, UNANSWERED, cases, started

URL = started()
OPENAI: dict[str, Any] = {"base_url": f"{URL}/v1", "api_key": "x", "max_retries": 0}
ANTHROPIC: dict[str, Any] = {"base_url": URL, "api_key": "x", "max_retries": 0}


def sync(kind: Any, arguments: dict[str, Any], hooked: bool) -> Any:
    library = openai if kind is openai.OpenAI else anthropic
    return kind(**arguments, **({"http_client": library.DefaultHttpxClient(transport=msg.httpx.Transport())} if hooked else {}))


def later(kind: Any, arguments: dict[str, Any], hooked: bool) -> Any:
    library = openai if kind is openai.AsyncOpenAI else anthropic
    client = {"http_client": library.DefaultAsyncHttpxClient(transport=msg.httpx.AsyncTransport())} if hooked else {}
    return kind(**arguments, **client)


def chat(hooked: bool, messages: Any) -> str:
    return sync(openai.OpenAI, OPENAI, hooked).chat.completions.create(model="echo", messages=messages).choices[0].message.content


def chat_stream(hooked: bool, messages: Any) -> str:
    stream = sync(openai.OpenAI, OPENAI, hooked).chat.completions.create(model="echo", messages=messages, stream=True)
    return "".join(it.choices[0].delta.content or "" for it in stream)


async def chat_later(hooked: bool, messages: Any) -> str:
    client = later(openai.AsyncOpenAI, OPENAI, hooked)
    return (await client.chat.completions.create(model="echo", messages=messages)).choices[0].message.content


def response(hooked: bool, items: Any) -> str:
    return sync(openai.OpenAI, OPENAI, hooked).responses.create(model="echo", input=items).output_text


def message(hooked: bool, messages: Any) -> str:
    return sync(anthropic.Anthropic, ANTHROPIC, hooked).messages.create(model="echo", max_tokens=9, messages=messages).content[0].text


def message_stream(hooked: bool, messages: Any) -> str:
    with sync(anthropic.Anthropic, ANTHROPIC, hooked).messages.stream(model="echo", max_tokens=9, messages=messages) as stream:
        return "".join(stream.text_stream)


async def message_later(hooked: bool, messages: Any) -> str:
    client = later(anthropic.AsyncAnthropic, ANTHROPIC, hooked)
    return (await client.messages.create(model="echo", max_tokens=9, messages=messages)).content[0].text


print("openai", openai.__version__, "anthropic", anthropic.__version__)
WAYS: list[tuple[Any, Any, Any]] = [
    (chat, UNANSWERED, ORPHAN), (chat_stream, UNANSWERED, ORPHAN), (chat_later, UNANSWERED, ORPHAN),
    (response, ITEMS_UNANSWERED, ITEMS_ORPHAN), (message, BLOCKS_UNANSWERED, BLOCKS_ORPHAN),
    (message_stream, BLOCKS_UNANSWERED, BLOCKS_ORPHAN), (message_later, BLOCKS_UNANSWERED, BLOCKS_ORPHAN),
]
cases({
    f"{act.__name__}, {name}": (lambda act=act, it=it: act(False, it), lambda act=act, it=it: act(True, it))
    for act, unanswered, orphan in WAYS
    for name, it in (("call without result", unanswered), ("result without call", orphan))
})
