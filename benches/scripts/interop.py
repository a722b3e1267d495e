"""Whether the libraries of providers accept what `msg` writes: `python interop.py MSG ORACLE FILE...`.

ORACLE is `botocore` (Converse requests, by the validator that every AWS client runs before it sends), `google-genai`
(requests of the Interactions API, by the types of its client) or `ai` (UI messages, by `convertToModelMessages` of the
AI SDK; it runs `interop.mjs` with node), `ai-sdk` (messages for a model, by `modelMessageSchema`), `ag-ui` (by the
schemas of `@ag-ui/core`), `ai-sent` (what the AI SDK makes of UI messages, and what its providers would send, against
what `msg convert` writes) or a framework of `frameworks.py`. Each file has one document per line: `{"format":"openai","messages":[…]}`, or
a case of a wire crate with `from` and `input_text`. A document that `msg check` finds an error in, or that
`msg convert` refuses, is skipped.

Prints a line for each refusal, then `ORACLE: ACCEPTED of WRITTEN accepted, SKIPPED skipped`. The status is 1 if there
is a refusal, or if nothing was written.
"""

import base64
import itertools
import json
import os
import subprocess
import sys

import frameworks

TARGETS = {
    "botocore": ["--to", "bedrock", "--request", "--model", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    "google-genai": ["--to", "interactions", "--request", "--model", "gemini-3.5-flash"],
    "ai": ["--to", "vercel-ui"],
    "ai-sdk": ["--to", "ai-sdk"],
    "ag-ui": ["--to", "ag-ui"],
    "ai-sent": ["--to", "vercel-ui"],
    **{name: ["--to", name, "--context", "keep"] for name in frameworks.ORACLES},
}


def documents(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for n, line in enumerate(lines, 1):
                row = json.loads(line)
                if "input_text" in row:
                    yield f"{path}:{n}", row["from"], row["input_text"]
                elif "messages" in row:
                    yield f"{path}:{n}", row.get("format", "openai"), json.dumps(row["messages"])


def run(msg, args, text):
    done = subprocess.run([msg, *args], input=text.encode("utf-8", "surrogatepass"), capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode("utf-8")


def written(msg, oracle, paths):
    """What is written of each document; None for a document that has an error or is refused."""
    for place, form, text in documents(paths):
        named = [] if form == "auto" else ["--from", form]
        sound, _ = run(msg, ["check", "-", "--quiet", *named], text)
        status, out = run(msg, ["convert", "-", "--quiet", *named, *TARGETS[oracle]], text) if sound == 0 else (2, "")
        yield place, json.loads(out) if status != 2 and out.strip() else None


def botocore():
    import botocore.session
    from botocore.exceptions import ParamValidationError
    from botocore.validate import validate_parameters

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    shape = service.operation_model("Converse").input_shape

    def decoded(value, shape):
        """The value with bytes in place of base64, as callers of the library give them."""
        if shape.type_name == "blob" and isinstance(value, str):
            return base64.b64decode(value, validate=True)
        if shape.type_name == "structure" and isinstance(value, dict) and not getattr(shape, "is_document_type", False):
            return {k: decoded(v, shape.members[k]) if k in shape.members else v for k, v in value.items()}
        if shape.type_name == "list" and isinstance(value, list):
            return [decoded(it, shape.member) for it in value]
        return value

    def accepts(body):
        try:
            validate_parameters(decoded(body, shape), shape)
        except (ParamValidationError, ValueError) as refusal:
            return str(refusal)

    return accepts


def google_genai():
    import pydantic
    from google.genai._gaos.types.interactions.createmodelinteraction import CreateModelInteraction

    def accepts(body):
        try:
            CreateModelInteraction.model_validate(body)
        except pydantic.ValidationError as refusal:
            return str(refusal)

    return accepts


def framework(msg, name):
    def native(form, body):
        """A document as `msg` reads it; None if it refuses it, or takes it for another format."""
        named = ["--from", form] if form else []
        status, out = run(msg, ["convert", "-", "--quiet", "--to", "native", *named], json.dumps(body))
        return json.loads(out) if status != 2 and out.strip() else None

    # Items of the Agents SDK alone are items of an API, which is what they are recognised as.
    return lambda body: frameworks.judge(name, body, native)


def as_sent(form, said):
    """What a provider of the SDK makes of a conversation: the two differences that it means to make."""
    if form not in ("openai", "anthropic"):
        return said
    # An answer has its texts before its calls.
    res = []
    for role, turn in itertools.groupby(said, key=lambda it: it[0]):
        turn = list(turn)
        texts = [it[2] for it in turn if it[1] == "text"] if role == "assistant" else []
        if texts:
            turn = [(role, "text", "".join(texts)), *(it for it in turn if it[1] != "text")]
        res += turn
    if form == "anthropic" and res[-1][:2] == ("assistant", "text"):
        # The API refuses an answer that ends in white space.
        res[-1] = (*res[-1][:2], res[-1][2].rstrip())
    return res


def results_alone(body):
    """A body for Gemini without the object that the SDK puts around a result: `{"name":…,"content":…}`."""
    for message in body["contents"]:
        for response in (it["functionResponse"] for it in message["parts"] if "functionResponse" in it):
            if response["response"].keys() == {"name", "content"}:
                content = response["response"]["content"]
                response["response"] = content if isinstance(content, dict) else {"output": content}
            elif response["response"].keys() == {"name", "error"}:
                response["response"] = {"error": response["response"]["error"]}
    return body


def errors_alone(said):
    """What was read, without the object that the SDK puts around a failure: `{"error":…}`."""

    def alone(text):
        value = json.loads(text) if text.startswith('{"error"') else None
        return value["error"] if isinstance(value, dict) and value.keys() == {"error"} else text

    return [(*it[:-1], alone(it[-1])) if it[:2] == ("tool", "result") else it for it in said]


def ai_sent(msg, node):
    """Compares what the SDK and its providers send with what `msg` makes of the same messages."""

    def native(form, body):
        status, out = run(msg, ["convert", "-", "--quiet", "--from", form, "--to", "native"], json.dumps(body))
        return frameworks.meaning(json.loads(out)) if status != 2 and out.strip() else None

    def accepts(body):
        answer = node(body, whole=True)
        if answer["refusal"]:
            return answer["refusal"]
        said = native("vercel-ui", body)
        for form, sent in answer["sent"].items():
            read = native(form, results_alone(sent) if form == "gemini" else sent)
            read = read and errors_alone(read)
            if said and read != as_sent(form, said):
                return f"{form} is sent otherwise: {json.dumps(read)[:150]} and not {json.dumps(said)[:150]}"

    return accepts


def ai(node_modules, mode="ui"):
    """A function that asks one process of node for each document."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interop.mjs")
    node = subprocess.Popen(["node", script, node_modules, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def accepts(body, whole=False):
        node.stdin.write(json.dumps(body) + "\n")
        node.stdin.flush()
        answer = json.loads(node.stdout.readline())
        return answer if whole else answer["refusal"]

    return accepts


def main():
    msg, oracle, *paths = sys.argv[1:]
    modules = os.environ.get("NODE_MODULES", "")
    oracles = {
        "botocore": botocore,
        "google-genai": google_genai,
        "ai": lambda: ai(modules),
        "ai-sdk": lambda: ai(modules, "model"),
        "ag-ui": lambda: ai(modules, "ag-ui"),
        "ai-sent": lambda: ai_sent(msg, ai(modules, "sent")),
    }
    accepts = oracles.get(oracle, lambda: framework(msg, oracle))()
    accepted = total = skipped = 0
    for place, body in written(msg, oracle, paths):
        if body is None:
            skipped += 1
            continue
        total += 1
        refusal = accepts(body)
        accepted += refusal is None
        if refusal is not None:
            print(f"{place}: {refusal}".replace("\n", " ")[:400])
    print(f"{oracle}: {accepted} of {total} accepted, {skipped} skipped")
    return 0 if accepted == total > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
