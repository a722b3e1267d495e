"""Whether the loaders of frameworks take what `msg` writes, and whether what they dump is read as the same conversation.

An oracle is a function that loads a document and gives the documents that the framework dumps of it; it raises where
the framework refuses. `meaning` says of a document what is said in it, as `msg convert --to native` reads it.
"""

import functools
import json
import warnings

warnings.filterwarnings("ignore")


def langchain(body):
    from langchain_core.load import dumpd, load
    from langchain_core.messages import messages_from_dict, messages_to_dict

    messages = messages_from_dict(body)
    constructors = dumpd(messages)
    assert messages_to_dict(load(constructors)) == messages_to_dict(messages)
    flat = [json.loads(it.model_dump_json()) for it in messages]
    state = {"values": {"messages": flat}, "next": []}
    checkpoint = {"v": 4, "channel_values": {"messages": constructors}, "channel_versions": {"messages": "1.0"}}
    return [messages_to_dict(messages), constructors, flat, state, checkpoint]


def pydantic_ai(body):
    from pydantic_ai.messages import ModelMessagesTypeAdapter as adapter

    return [json.loads(adapter.dump_json(adapter.validate_python(body)))]


def agents_sdk(body):
    import asyncio

    from agents import SQLiteSession, TResponseInputItem
    from pydantic import TypeAdapter

    TypeAdapter(list[TResponseInputItem]).validate_python(body)

    async def stored():
        session = SQLiteSession("s")
        await session.add_items(body)
        return await session.get_items()

    return [asyncio.run(stored())]


def adk(body):
    from google.adk.sessions import Session

    session = Session.model_validate(body)
    camel, snake = session.model_dump_json(by_alias=True, exclude_none=True), session.model_dump_json()
    return [json.loads(camel), json.loads(snake), json.loads(camel)["events"], json.loads(snake)["events"]]


def haystack(body):
    from haystack.dataclasses import ChatMessage

    return [[ChatMessage.from_dict(it).to_dict() for it in body]]


def llama_index(body):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.storage.chat_store import SimpleChatStore

    messages = [ChatMessage.model_validate(it) for it in body]
    dumped = [json.loads(it.model_dump_json()) for it in messages]
    store = SimpleChatStore()
    store.set_messages("user", messages)
    # A store with media is not JSON in this version, nor with pydantic 2.14.
    has_media = any(hasattr(block, "image") or hasattr(block, "data") for it in messages for block in it.blocks)
    return [dumped] if has_media or not dumps_stores() else [dumped, json.loads(store.json())]


@functools.cache
def dumps_stores():
    """Whether a store of LlamaIndex can dump a message of its own."""
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.storage.chat_store import SimpleChatStore
    from pydantic_core import PydanticSerializationError

    store = SimpleChatStore()
    store.set_messages("user", [ChatMessage(role="user", content="hi")])
    try:
        return bool(store.json())
    except PydanticSerializationError:
        return False


# A picture of one pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="


def autogen(body):
    from autogen_core.models import LLMMessage
    from pydantic import TypeAdapter

    # The library opens images, and those of the cases are no pictures: it gets one in place of each.
    for image in (it for message in body for it in message.get("content") or [] if isinstance(it, dict) and "data" in it):
        image["data"] = PIXEL
    adapter = TypeAdapter(list[LLMMessage])
    messages = json.loads(adapter.dump_json(adapter.validate_python(body)))
    return [messages, {"type": "AssistantAgentState", "version": "1.0.0", "llm_context": {"messages": messages}}]


def agent_framework(body):
    from agent_framework import Message

    return [[json.loads(json.dumps(Message.from_dict(it).to_dict())) for it in body]]


# The format of each, and the libraries that judge it.
ORACLES = {
    "langchain": (langchain, ["langchain-core"]),
    "pydantic-ai": (pydantic_ai, ["pydantic-ai-slim"]),
    "agents-sdk": (agents_sdk, ["openai-agents"]),
    "adk": (adk, ["google-adk"]),
    "haystack": (haystack, ["haystack-ai"]),
    "llama-index": (llama_index, ["llama-index-core"]),
    "autogen": (autogen, ["autogen-core"]),
    "agent-framework": (agent_framework, ["agent-framework-core"]),
}


def meaning(native):
    """What is said, in order: texts by role, calls with their arguments, results; neighbours of one role are one."""
    said = []
    for message in native or []:
        role = "system" if message["role"] == "developer" else message["role"]
        content = message.get("parts", message.get("content"))
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for part in parts:
            if part["type"] == "text" and part["text"].strip():
                before = said[-1] if said else ()
                if before[:2] == (role, "text"):
                    said[-1] = (role, "text", before[2] + part["text"])
                else:
                    said.append((role, "text", part["text"]))
            elif part["type"] == "tool_call":
                said.append((role, "call", part.get("id"), part["name"], value(part["arguments"])))
            elif part["type"] == "tool_result":
                content = part.get("content", "")
                # JSON that is no text says what its text says.
                text = lambda it: json.dumps(it["value"]) if it.get("format") == "json" else it.get("text", "")
                texts = [content] if isinstance(content, str) else [text(it) for it in content]
                said.append(("tool", "result", part.get("call_id"), value("".join(texts))))
    return said


def value(text):
    """JSON by its value, anything else as text. Of a number that is whole no decimal point counts."""
    try:
        whole = lambda it: int(float(it)) if float(it).is_integer() else float(it)
        return json.dumps(json.loads(text, parse_float=whole), sort_keys=True)
    except (TypeError, ValueError):
        return text


def judge(name, body, native):
    """Why the framework refuses a document, or reads another conversation in it; None if it does neither."""
    try:
        dumps = ORACLES[name][0](body)
    except Exception as refusal:  # Each framework has exceptions of its own.
        return f"{type(refusal).__name__}: {refusal}"
    own = native(name, body)
    for n, dump in enumerate(dumps):
        read = native(None, dump)
        if meaning(read) != meaning(own):
            return f"dump {n} is read otherwise: {json.dumps(read)[:150]} and not {json.dumps(own)[:150]}"
    return None
