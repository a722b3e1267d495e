"""`msg.litellm` in the SDK of LiteLLM and in its proxy, which is started with a configuration that names the hook."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
import msg.litellm
from endpoint import BLOCKS_ORPHAN, ITEMS_KEPT, ITEMS_ORPHAN, ORPHAN, UNANSWERED, cases, started

URL = started()
KEY = "sk-loopback"
CHAT: dict[str, Any] = {"model": "openai/echo", "api_base": f"{URL}/v1", "api_key": "x", "num_retries": 0}


def hooks(hooked: bool) -> None:
    litellm.callbacks = [msg.litellm.Repair()] if hooked else []


def completion(hooked: bool, messages: Any) -> Any:
    act = msg.litellm.completion if hooked else litellm.completion
    return act(messages=messages, **CHAT).choices[0].message.content


async def acompletion(hooked: bool, messages: Any) -> Any:
    hooks(hooked)
    return (await litellm.acompletion(messages=messages, **CHAT)).choices[0].message.content


async def streamed(hooked: bool, messages: Any) -> Any:
    hooks(hooked)
    stream: Any = await litellm.acompletion(messages=messages, stream=True, **CHAT)
    return "".join([it.choices[0].delta.content or "" async for it in stream])


async def router(hooked: bool, messages: Any) -> Any:
    hooks(hooked)
    models: Any = [{"model_name": "e", "litellm_params": CHAT}]
    answer: Any = await litellm.Router(model_list=models, num_retries=0).acompletion(model="e", messages=messages)
    return answer.choices[0].message.content


async def aresponses(hooked: bool, items: Any, **kept: Any) -> Any:
    hooks(hooked)
    answer: Any = await litellm.aresponses(input=items, **kept, **CHAT)
    return answer.output[0].content[0].text


async def anthropic(hooked: bool, messages: Any) -> Any:
    hooks(hooked)
    anthropic: dict[str, Any] = {"model": "anthropic/claude-x", "api_base": URL, "api_key": "x", "max_tokens": 9}
    answer: Any = await litellm.anthropic_messages(messages=messages, **anthropic)
    return answer["content"][0]["text"]


def proxy(hooked: bool) -> str:
    """The address of a proxy of this endpoint."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="msg-litellm-"))
    settings: dict[str, Any] = {"callbacks": ["msg.litellm.hook"]} if hooked else {}
    models = [{"model_name": "echo", "litellm_params": {"model": "openai/echo", "api_base": f"{URL}/v1", "api_key": "x"}}]
    config = folder / "config.yaml"  # JSON is YAML
    whole = {"model_list": models, "litellm_settings": {**settings, "num_retries": 0}, "general_settings": {"master_key": KEY}}
    config.write_text(json.dumps(whole), encoding="utf-8")
    program = Path(sys.executable).with_name("litellm")
    log = open(folder / "log", "wb")  # noqa: SIM115 - the proxy writes until it ends
    command = [program, "--config", config, "--port", str(port), "--host", "127.0.0.1", "--telemetry", "False"]
    PROXIES.append(subprocess.Popen(command, stdout=log, stderr=log))
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/health/liveliness", timeout=1).read()
            return address
        except OSError:
            if PROXIES[-1].poll() is not None:
                break
            time.sleep(0.2)
    raise RuntimeError((folder / "log").read_text()[-2000:])


PROXIES: list[subprocess.Popen[bytes]] = []


def through(address: str, path: str, body: dict[str, Any]) -> Any:
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
    try:
        answer = json.load(urllib.request.urlopen(request, timeout=60))
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{error.code} {error.read()!r}") from error
    return answer["choices"][0]["message"]["content"] if "choices" in answer else answer["output"][0]["content"][0]["text"]


def main() -> None:
    ways: list[tuple[Any, Any]] = [
        (completion, UNANSWERED), (completion, ORPHAN), (acompletion, UNANSWERED), (acompletion, ORPHAN), (streamed, ORPHAN),
        (router, ORPHAN), (aresponses, ITEMS_ORPHAN), (anthropic, BLOCKS_ORPHAN),
    ]
    all: Any = {
        f"{act.__name__} {at}": (lambda act=act, it=it: act(False, it), lambda act=act, it=it: act(True, it))
        for at, (act, it) in enumerate(ways)
    }
    bare, hooked = proxy(False), proxy(True)
    for path, body in (
        ("/v1/chat/completions", {"model": "echo", "messages": ORPHAN}),
        ("/v1/chat/completions", {"model": "echo", "messages": UNANSWERED}),
        ("/v1/responses", {"model": "echo", "input": ITEMS_ORPHAN}),
    ):
        name = f"proxy {path} {len(all)}"
        all[name] = (lambda p=path, b=body: through(bare, p, b), lambda p=path, b=body: through(hooked, p, b))
    kept: dict[str, Any] = {"model": "echo", "input": ITEMS_KEPT, "previous_response_id": "r1"}
    sound: Any = {
        "result of a call that is kept": (
            lambda: aresponses(False, ITEMS_KEPT, previous_response_id="r1"),
            lambda: aresponses(True, ITEMS_KEPT, previous_response_id="r1"),
        ),
        "result of a call that is kept, proxy": (
            lambda: through(bare, "/v1/responses", kept), lambda: through(hooked, "/v1/responses", kept),
        ),
    }
    try:
        cases(all, sound)
    finally:
        for it in PROXIES:
            it.terminate()


main()
