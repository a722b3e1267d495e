"""Whether `msg` knows every kind that the current SDKs have: `python interop_kinds.py MSG SHAPES`.

SHAPES is the folder of the tables by which `check --profile` judges requests. The types of the official SDKs (anthropic
with its beta, openai, google-genai, the service model of botocore) are walked: each block, item, part and member that a
request may have there must be in its table where the table refuses what it does not have, and each event of a stream of
the Responses API must be known to `msg stream`.

Prints `API: N kinds known`, a line for each that is not, and ends with 1 if there is one.
"""

import collections.abc
import gzip
import inspect
import json
import pathlib
import subprocess
import sys
import types
import typing

import typing_extensions

# No model of the Responses API answers in sound: `msg stream` reports these as unknown.
UNUSED = "response.audio."


def bare(kind):
    """A type without Annotated, Required and NotRequired."""
    wrappers = (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired)
    while typing.get_origin(kind) in wrappers:
        kind = typing.get_args(kind)[0]
    return kind


def members(kind):
    if typing_extensions.is_typeddict(kind):
        return typing.get_type_hints(kind, include_extras=True)
    if inspect.isclass(kind) and hasattr(kind, "model_fields"):
        return {it.alias or name: it.annotation for name, it in kind.model_fields.items()}
    return None


def union(kind):
    """The objects that a type may be, those in lists too."""
    kind = bare(kind)
    if members(kind) is not None:
        return [kind]
    if typing.get_origin(kind) in (typing.Union, types.UnionType, list, collections.abc.Iterable):
        return [it for one in typing.get_args(kind) for it in union(one)]
    return []


def words(kind, name="type"):
    """The words that the member of this name may be."""
    kind = bare(members(kind).get(name))
    options = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else [kind]
    return [word for it in options if typing.get_origin(bare(it)) is typing.Literal for word in typing.get_args(bare(it))]


def kinds_of(kind):
    return {word for it in union(kind) for word in words(it)}


def table(shapes, api):
    return json.loads((shapes / f"{api}.json").read_text())["types"]


def anthropic(shapes):
    from anthropic.types import beta

    known = table(shapes, "anthropic")
    for message in (beta.BetaUserMessageParam, beta.BetaAssistantMessageParam):
        role = words(message, "role")[0]
        blocks = kinds_of(members(message)["content"])
        yield from ((f"{role} block {it}", it in known[f"{role}_block"]["kinds"]) for it in blocks)
    for it in kinds_of(members(beta.BetaToolResultBlockParam)["content"]):
        yield f"block of a result {it}", it in known["result_block"]["kinds"]
    for name, param in (("image", beta.BetaImageBlockParam), ("document", beta.BetaRequestDocumentBlockParam)):
        for it in kinds_of(members(param)["source"]):
            yield f"source of a {name} {it}", it in known[f"{name}_source"]["kinds"]


def responses(shapes):
    from openai.types.responses import response_create_params, response_input_message_content_list_param

    known = table(shapes, "responses")
    items = members(response_create_params.ResponseCreateParamsNonStreaming)["input"]
    for it in kinds_of(items):
        yield f"item {it}", it in known["item"]["kinds"]
    contents = response_input_message_content_list_param.ResponseInputMessageContentListParam
    for it in kinds_of(contents):
        yield f"part {it}", it in known["part"]["kinds"]


def openai(shapes):
    from openai.types import chat

    known = table(shapes, "openai")
    parts = next(it for it in known.values() if "image_url" in it.get("kinds", {}))
    for it in kinds_of(members(chat.ChatCompletionUserMessageParam)["content"]):
        yield f"part {it}", it in parts["kinds"]


def gemini(shapes):
    from google.genai import types as genai

    known = table(shapes, "gemini")
    closed = {
        "content": genai.Content,
        "part": genai.Part,
        "blob": genai.Blob,
        "file_data": genai.FileData,
        "function_call": genai.FunctionCall,
        "function_response": genai.FunctionResponse,
    }
    for name, kind in closed.items():
        shape = known[name]
        names = {it.split("!")[0] for it in shape.get("members", {})} | set(shape.get("one_of", {}))
        yield from ((f"{name}.{it}", it in names) for it in members(kind))


def bedrock(shapes):
    import botocore

    known = table(shapes, "bedrock")
    folder = pathlib.Path(botocore.__file__).parent / "data/bedrock-runtime"
    model = json.loads(gzip.open(next(folder.glob("*/service-2.json.gz"))).read())["shapes"]
    for name, shape in (("block", "ContentBlock"), ("result_block", "ToolResultContentBlock"), ("tool", "Tool")):
        yield from ((f"{name}.{it}", it in known[name]["one_of"]) for it in model[shape]["members"])


def events(msg):
    """The events of a stream of Responses, each alone."""
    from openai.types.responses import ResponseStreamEvent

    begun = {"type": "response.created", "response": {"id": "r", "model": "m", "status": "in_progress", "output": []}}
    for kind in (it for it in kinds_of(ResponseStreamEvent) if not it.startswith(UNUSED)):
        capture = "".join(f"data: {json.dumps(it)}\n\n" for it in (begun, {"type": kind, "output_index": 0, "item_id": "i"}))
        done = subprocess.run([msg, "stream", "--json", "-"], input=capture.encode(), capture_output=True, timeout=60)
        yield f"event {kind}", b"unknown event" not in done.stdout


def main(msg, folder):
    shapes, status = pathlib.Path(folder), 0
    for judge in (anthropic, openai, responses, gemini, bedrock):
        status |= report(judge.__name__, judge(shapes))
    return status | report("events", events(msg))


def report(api, found):
    found = dict(found)
    unknown = sorted(name for name, is_known in found.items() if not is_known)
    for name in unknown:
        print(f"{api}: {name} is not known")
    print(f"{api}: {len(found) - len(unknown)} of {len(found)} kinds known")
    return int(bool(unknown) or not found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
