"""Whether agents resume what `msg` wrote: `python agent_programs.py MSG PREFIX [AGENT...]`.

PREFIX is a folder with `node_modules/.bin`, in which the agents are. Each agent first has a conversation of its own
with a fake provider on 127.0.0.1: it calls its shell once, twice at the same time, and ends. Its session is then moved to
each other agent with `msg convert --install`, resumed there, and the request that the program sends is compared with
the view of the session that `msg convert --to native` gives. The fake provider answers 400 to calls and results that
do not fit together. `mended` is the agent's own session from which the last result was cut, after `msg doctor --fix`.

Cline's program resumes in a terminal only, so that it is given one and typed at.

`usage` says whether `msg stats` counts what its answers used.
`too long` is a session that the provider refuses for its length, after the command that `msg doctor` printed.

Prints the matrix: `=` the request is the view, `+` the request says the view and more, `~` something of the view is
missing, `x` refused or not resumed, `-` not written. The status is 1 if a pair is `~` or `x`.
"""

import fcntl
import http.server
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

PROMPT, AGAIN = "please look around", "and now tell me more"
SHELLS = {
    "Bash": lambda it: {"command": f"echo {it}", "description": "say it"},
    "bash": lambda it: {"command": f"echo {it}", "description": "say it"},
    "exec_command": lambda it: {"cmd": f"echo {it}"},
    "shell": lambda it: {"command": ["echo", it]},
    "run_commands": lambda it: {"commands": [f"echo {it}"]},
    "shell_command": lambda it: {"command": f"echo {it}"},
    "run_shell_command": lambda it: {"command": f"echo {it}", "description": "say it", "is_background": False},
}
# What agents add by themselves, which does not move (SE-131).
CONTEXT = re.compile(r"(\s*<([a-z_-]+)>.*?</\2>)+\s*|\s*# AGENTS.md instructions.*", re.S)
ROUNDS = [("Looking.", ["one"]), ("Twice.", ["two", "three"]), ("Done.", [])]


def text_of(content):
    """The text of a content in any provider's form."""
    if isinstance(content, list):
        return "".join(text_of(it) for it in content)
    if isinstance(content, dict):
        return text_of(content.get("text", content.get("content", "")))
    return content if isinstance(content, str) else ""


class Request:
    """A request as (who, what) pairs, and what does not fit together in it."""

    def __init__(self, path, body):
        self.items, self.faults, self.tools = [], [], []
        self.calls, self.results = [], set()
        # Tools whose command is a text, where agents call different tools the same.
        self.plain = set()
        if "/messages" in path:
            self.form = "anthropic"
            self.anthropic(body)
        elif "/responses" in path:
            self.form = "responses"
            self.responses(body)
        elif "generateContent" in path or "GenerateContent" in path:
            self.form = "gemini"
            self.gemini(body)
        else:
            self.form = "chat"
            self.chat(body)

    def call(self, id, name):
        if id in self.calls:
            self.faults.append(f"call id {id} twice")
        self.calls.append(id)
        self.items.append(("call", name))

    def result(self, id, content):
        if id not in self.calls:
            self.faults.append(f"result of {id} without its call")
        if id in self.results:
            self.faults.append(f"second result of {id}")
        self.results.add(id)
        self.items.append(("result", text_of(content).strip()))

    def say(self, who, text):
        if text.strip():
            self.items.append((who, text.strip()))

    def end(self):
        for id in self.calls:
            if id not in self.results:
                self.faults.append(f"no result of {id}")

    def anthropic(self, body):
        self.tools = [it.get("name") for it in body.get("tools", [])]
        before = None
        for message in body.get("messages", []):
            role, content = message["role"], message["content"]
            if role == before == "assistant":
                self.faults.append("roles do not alternate")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            here = {it["tool_use_id"] for it in blocks if it["type"] == "tool_result"}
            if self.calls and before == "assistant" and set(open_calls) - here:
                self.faults.append("tool_use ids were found without tool_result blocks immediately after")
            open_calls = [it["id"] for it in blocks if it["type"] == "tool_use"]
            for it in blocks:
                if it["type"] == "tool_use":
                    self.call(it["id"], it["name"])
                elif it["type"] == "tool_result":
                    self.result(it["tool_use_id"], it.get("content", ""))
                elif it["type"] == "text":
                    if not it["text"]:
                        self.faults.append("text content blocks must be non-empty")
                    self.say(role, it["text"])
            before = role
        self.end()

    def responses(self, body):
        self.tools = [it.get("name") for it in body.get("tools", [])]
        for item in body.get("input", []):
            kind = item.get("type", "message")
            if kind in ("function_call", "custom_tool_call"):
                self.call(item["call_id"], item["name"])
            elif kind in ("function_call_output", "custom_tool_call_output"):
                self.result(item["call_id"], item["output"])
            elif kind == "message":
                self.say(item["role"], text_of(item["content"]))
        self.end()

    def gemini(self, body):
        body = body.get("request", body)
        for tool in body.get("tools", []):
            self.tools += [it["name"] for it in tool.get("functionDeclarations", [])]
        waiting, n = [], 0
        for content in body.get("contents", []):
            role = "assistant" if content.get("role") == "model" else "user"
            results = [it for it in content["parts"] if "functionResponse" in it]
            if waiting and role == "user" and len(results) != len(waiting):
                self.faults.append("the number of function responses is not that of the function calls")
            if role == "user":
                waiting_now, waiting = waiting, []
                for it in results:
                    name = it["functionResponse"]["name"]
                    if name not in [x[1] for x in waiting_now]:
                        self.faults.append(f"response of {name} without its call")
                        continue
                    id = next(x for x in waiting_now if x[1] == name)
                    waiting_now = [x for x in waiting_now if x is not id]
                    said = it["functionResponse"].get("response") or {}
                    self.result(id[0], said.get("output", said.get("error", json.dumps(said))))
            for it in content["parts"]:
                if "functionCall" in it:
                    n += 1
                    waiting.append((f"c{n}", it["functionCall"]["name"]))
                    self.call(f"c{n}", it["functionCall"]["name"])
                elif "text" in it and not it.get("thought"):
                    self.say(role, it["text"])
        self.end()

    def chat(self, body):
        for it in (it["function"] for it in body.get("tools", [])):
            self.tools.append(it["name"])
            command = it.get("parameters", {}).get("properties", {}).get("command", {})
            if command.get("type") == "string":
                self.plain.add(it["name"])
        for message in body.get("messages", []):
            role = message["role"]
            if role == "tool":
                self.result(message["tool_call_id"], message["content"])
            elif role != "system":
                self.say(role, text_of(message.get("content")))
            for it in message.get("tool_calls") or []:
                self.call(it["id"], it["function"]["name"])
        self.end()


class Provider(http.server.ThreadingHTTPServer):
    """A provider of four wire formats that answers by the number of results in the request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.number = [], 0
        # The longest request so far, and the longest that is taken, in bytes.
        self.longest, self.limit, self.refused = 0, None, None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A program that ended closed its connection."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


def events(items, named=True):
    out = ""
    for it in items:
        out += (f"event: {it['type']}\n" if named else "") + f"data: {json.dumps(it)}\n\n"
    return out.encode()


def answer(request, body, number):
    """What the model says: the next round of the conversation."""
    said = sum(1 for who, what in request.items if who == "assistant" and what in dict(ROUNDS))
    shell = next((it for it in request.tools if it in SHELLS), None)
    again = any(who == "user" and AGAIN in what for who, what in request.items)
    text, words = ROUNDS[min(said, 2)] if shell and not again else ("Fine.", [])
    command = SHELLS["Bash"] if shell in request.plain else SHELLS.get(shell)
    calls = [(f"call_{number}_{word}", shell, command(word)) for word in words] if shell else []
    return {"anthropic": anthropic, "responses": responses, "gemini": gemini, "chat": chat}[request.form](text, calls, body, number)


def anthropic(text, calls, body, number):
    blocks = [{"type": "text", "text": text}]
    blocks += [{"type": "tool_use", "id": "toolu_" + id, "name": name, "input": args} for id, name, args in calls]
    stop = "tool_use" if calls else "end_turn"
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model"), "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": usage}
    if not body.get("stream"):
        return "application/json", json.dumps(message).encode()
    out = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for n, it in enumerate(blocks):
        empty, delta = (({**it, "text": ""}, {"type": "text_delta", "text": it["text"]}) if it["type"] == "text" else ({**it, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(it["input"])}))
        out += [{"type": "content_block_start", "index": n, "content_block": empty}, {"type": "content_block_delta", "index": n, "delta": delta}, {"type": "content_block_stop", "index": n}]
    out += [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}, {"type": "message_stop"}]
    return "text/event-stream", events(out)


def responses(text, calls, body, number):
    items = [{"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}]
    items += [{"type": "function_call", "id": f"fc_{number}_{n}", "status": "completed", "call_id": id, "name": name, "arguments": json.dumps(args)} for n, (id, name, args) in enumerate(calls)]
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}
    whole = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": body.get("model"), "output": items, "usage": usage}
    if not body.get("stream"):
        return "application/json", json.dumps(whole).encode()
    out = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    for n, it in enumerate(items):
        out += [{"type": "response.output_item.added", "output_index": n, "item": it}, {"type": "response.output_item.done", "output_index": n, "item": it}]
    out.append({"type": "response.completed", "response": whole})
    return "text/event-stream", events(out)


def gemini(text, calls, body, number):
    parts = [{"text": text}] + [{"functionCall": {"id": id, "name": name, "args": args}} for id, name, args in calls]
    whole = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, "modelVersion": "gemini-2.5-pro", "responseId": f"r{number}"}
    return "text/event-stream", events([whole], named=False)


def chat(text, calls, body, number):
    tools = [{"index": n, "id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}} for n, (id, name, args) in enumerate(calls)]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    head = {"id": f"chatcmpl-{number}", "created": 1, "model": body.get("model")}
    message, stop = {"role": "assistant", "content": text, **({"tool_calls": tools} if tools else {})}, "tool_calls" if tools else "stop"
    if not body.get("stream"):
        return "application/json", json.dumps({**head, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": stop}], "usage": usage}).encode()
    chunk = {**head, "object": "chat.completion.chunk"}
    # Text and calls are never in one chunk: goose reads only the calls of such a chunk.
    deltas = [{"role": "assistant", "content": text}, *([{"tool_calls": tools}] if tools else [])]
    out = [{**chunk, "choices": [{"index": 0, "delta": it, "finish_reason": None}]} for it in deltas]
    out += [{**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}, {**chunk, "choices": [], "usage": usage}]
    return "text/event-stream", events(out, named=False) + b"data: [DONE]\n\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, kind, data):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200, "application/json", b'{"data":[],"models":[]}')

    do_HEAD = do_GET

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            import gzip

            data = gzip.decompress(data)
        try:
            body = json.loads(data)
        except ValueError:
            return self.reply(400, "application/json", b"{}")
        if "count" in self.path.lower() and "token" in self.path.lower():
            return self.reply(200, "application/json", b'{"input_tokens":10,"totalTokens":10}')
        if not any(it in body or it in body.get("request", {}) for it in ("messages", "input", "contents")):
            return self.reply(200, "application/json", b"{}")
        server = self.server
        server.number += 1
        request = Request(self.path, body)
        server.requests.append(request)
        server.longest = max(server.longest, len(data))
        if server.limit and len(data) > server.limit:
            tokens, limit = len(data) // 4, server.limit // 4
            said = {
                "anthropic": f"prompt is too long: {tokens} tokens > {limit} maximum",
                "gemini": f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit}).",
            }
            server.refused = said.get(request.form, "Your input exceeds the context window of this model. Please adjust your input and try again.")
            error = {"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": server.refused}}
            return self.reply(400, "application/json", json.dumps(error).encode())
        if request.faults:
            error = {"type": "error", "error": {"type": "invalid_request_error", "code": 400, "message": "; ".join(request.faults)}}
            return self.reply(400, "application/json", json.dumps(error).encode())
        self.reply(200, *answer(request, body, server.number))


class Agent:
    """How an agent is run with its home in a folder of its own."""

    def __init__(self, name, bins, url, home):
        self.name, self.bins, self.url, self.home = name, bins, url, home
        self.project = os.path.join(home, "project")
        os.makedirs(self.project, exist_ok=True)
        keep = {it: os.environ[it] for it in ("PATH", "LANG", "TERM", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS") if it in os.environ}
        self.env = {**keep, "HOME": home, "USERPROFILE": home, "NO_PROXY": "*", "no_proxy": "*", "CI": "1", **getattr(self, name.replace("-", "_") + "_env")()}

    def run(self, args, limit=150):
        try:
            done = subprocess.run(args, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)
            return done.returncode, done.stdout.decode("utf-8", "replace")
        except subprocess.TimeoutExpired as e:
            return 124, (e.stdout or b"").decode("utf-8", "replace") + "\n(timed out)"
        except OSError as e:
            return 127, str(e)

    def in_terminal(self, args, typed, is_done, limit=60):
        """Runs a program in a terminal and types, until something is done."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.project)
            os.execve(args[0], args, {**self.env, "TERM": "xterm-256color"})
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        out, start, ready, typed = b"", time.monotonic(), None, list(typed)
        count = len(typed)
        while time.monotonic() - start < limit and not is_done():
            if select.select([terminal], [], [], 0.3)[0]:
                try:
                    new = os.read(terminal, 65536)
                except OSError:
                    break
                out += new
                # What a terminal answers when it is asked what it is, and where.
                for asked, reply in ((b"\x1b[c", b"\x1b[?62;c"), (b"\x1b[6n", b"\x1b[1;1R")):
                    if asked in new:
                        os.write(terminal, reply)
            # It reads what is typed once it has drawn its input line and the old conversation.
            if b"Auto-approve" in out and ready is None:
                ready = time.monotonic()
            if typed and ready and time.monotonic() - ready > 4 + 1.5 * (count - len(typed)):
                os.write(terminal, typed.pop(0))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
        return 0, out.decode("utf-8", "replace")

    def write(self, path, text):
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def ask(self, prompt, id=None, is_done=lambda: False):
        if self.name == "cline":
            self.run([self.bin("cline"), "auth", "-p", "openai", "-k", "sk-fake", "-m", "gpt-4.1", "-b", f"{self.url}/v1"])
            if id:
                args = [self.bin("cline"), "--id", id, "-P", "openai", "-m", "gpt-4.1"]
                return self.in_terminal(args, [prompt.encode(), b"\r", b"\r", b"\r"], is_done)
        return self.run(getattr(self, self.name.replace("-", "_"))(prompt, id))

    def bin(self, name):
        packaged = os.path.join(self.bins, "..", "@aaif", "goose-binary-linux-x64", "bin", name)
        return packaged if name == "goose" else os.path.join(self.bins, name)

    def claude_code_env(self):
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "sk-fake", "CLAUDE_CONFIG_DIR": f"{self.home}/.claude", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}

    def claude_code(self, prompt, id):
        return [self.bin("claude"), "-p", prompt, "--model", "claude-sonnet-4-5", "--allowedTools", "Bash", *(["--resume", id] if id else [])]

    def codex_env(self):
        self.write(".codex/config.toml", f'model = "gpt-5"\nmodel_provider = "loop"\n[model_providers.loop]\nname = "loop"\nbase_url = "{self.url}/v1"\nwire_api = "responses"\nenv_key = "LOOP_KEY"\n')
        return {"CODEX_HOME": f"{self.home}/.codex", "LOOP_KEY": "sk-fake"}

    def codex(self, prompt, id):
        flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        return [self.bin("codex"), "exec", *(["resume", *flags, id, prompt] if id else [*flags, prompt])]

    def gemini_cli_env(self):
        self.write(".gemini/settings.json", '{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}')
        return {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": self.url, "GEMINI_CLI_HOME": self.home, "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}

    def gemini_cli(self, prompt, id):
        return [self.bin("gemini"), "-p", prompt, "-m", "gemini-2.5-pro", "--skip-trust", "--yolo", *(["--resume", id] if id else [])]

    def qwen_code_env(self):
        self.write(".qwen/settings.json", '{"security":{"auth":{"selectedType":"openai"}},"privacy":{"usageStatisticsEnabled":false}}')
        return {"OPENAI_API_KEY": "sk-fake", "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_MODEL": "gpt-5", "QWEN_HOME": f"{self.home}/.qwen"}

    def qwen_code(self, prompt, id):
        return [self.bin("qwen"), "-p", prompt, "-m", "gpt-5", "--yolo", "--auth-type", "openai", *(["--resume", id] if id else [])]

    def opencode_env(self):
        options = {"provider": {"loop": {"npm": "@ai-sdk/openai-compatible", "name": "loop", "options": {"baseURL": f"{self.url}/v1", "apiKey": "sk-fake"}, "models": {"m": {"name": "m", "tool_call": True, "limit": {"context": 100000, "output": 8000}}}}}, "model": "loop/m", "small_model": "loop/m", "autoupdate": False, "share": "disabled", "permission": {"bash": "allow"}}
        self.write(".config/opencode/opencode.json", json.dumps(options))
        return {"XDG_DATA_HOME": f"{self.home}/.local/share", "XDG_CONFIG_HOME": f"{self.home}/.config", "XDG_STATE_HOME": f"{self.home}/.local/state", "XDG_CACHE_HOME": f"{self.home}/.cache", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def opencode(self, prompt, id):
        return [self.bin("opencode"), "run", prompt, "-m", "loop/m", *(["-s", id] if id else [])]

    def pi_env(self):
        models = {"providers": {"loop": {"baseUrl": self.url, "apiKey": "sk-fake", "api": "anthropic-messages", "models": [{"id": "claude-x", "name": "x", "reasoning": False, "input": ["text", "image"], "contextWindow": 200000, "maxTokens": 8000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}
        self.write(".pi/agent/models.json", json.dumps(models))
        return {"PI_CODING_AGENT_DIR": f"{self.home}/.pi/agent", "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}

    def pi(self, prompt, id):
        return [self.bin("pi"), "-p", prompt, "--provider", "loop", "--model", "claude-x", *(["--session", id] if id else [])]

    def goose_env(self):
        return {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "gpt-4.1", "OPENAI_API_KEY": "sk-fake", "OPENAI_HOST": self.url, "GOOSE_DISABLE_KEYRING": "1", "GOOSE_MODE": "auto"}

    def goose(self, prompt, id):
        return [self.bin("goose"), "run", "-t", prompt, "--with-builtin", "developer", *(["--resume", "--session-id", id] if id else [])]

    def cline_env(self):
        return {"CLINE_TELEMETRY_DISABLED": "1"}

    def cline(self, prompt, id):
        return [self.bin("cline"), prompt, "-P", "openai", "-m", "gpt-4.1"]

    def end(self):
        """Ends what the agent left running for this home: the daemon of Cline."""
        try:
            with open(f"{self.home}/.cline/data/locks/hub/production.json", encoding="utf-8") as file:
                os.kill(json.load(file)["pid"], signal.SIGTERM)
        except (OSError, KeyError, ValueError):
            pass

    def copilot_cli_env(self):
        return {"COPILOT_PROVIDER_BASE_URL": f"{self.url}/v1", "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_API_KEY": "sk-fake", "COPILOT_MODEL": "gpt-4.1", "COPILOT_HOME": f"{self.home}/.copilot", "COPILOT_AUTO_UPDATE": "false", "COPILOT_OFFLINE": "true"}

    def copilot_cli(self, prompt, id):
        return [self.bin("copilot"), *(["--resume=" + id] if id else []), "-p", prompt, "--allow-all-tools", "--no-color"]


AGENTS = ["claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "pi", "copilot-cli", "goose", "cline"]
# Those whose sessions `msg fit --in-session` shortens.
IN_SESSION = ["claude-code", "codex", "gemini-cli"]


class Run:
    def __init__(self, msg, prefix, agents):
        self.msg, self.bins, self.agents = msg, os.path.join(prefix, "node_modules", ".bin"), agents
        self.provider, self.root = Provider(), tempfile.mkdtemp(prefix="agents-")

    def agent(self, name, what):
        return Agent(name, self.bins, self.provider.url, os.path.join(self.root, what, name))

    def call(self, agent, args, data=None):
        done = subprocess.run([self.msg, *args], cwd=agent.project, env=agent.env, input=data, capture_output=True, timeout=120)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def session(self, agent):
        """The file of the session that the agent just wrote."""
        if agent.name == "opencode":
            status, out = agent.run([agent.bin("opencode"), "session", "list", "--format", "json"])
            found = re.findall(r"ses_\w+", out)
            status, out = agent.run([agent.bin("opencode"), "export", found[0]]) if found else (1, out)
            path = os.path.join(agent.home, "export.json")
            agent.write("export.json", out[out.find("{"):])
            return path if status == 0 else None
        if agent.name == "goose":
            found = re.findall(r"\d{8}_\d+", agent.run([agent.bin("goose"), "session", "list"])[1])
            args = ["session", "export", "--session-id", found[0], "--format", "json", "-o", f"{agent.home}/export.json"]
            status, out = agent.run([agent.bin("goose"), *args]) if found else (1, "")
            return f"{agent.home}/export.json" if status == 0 else None
        status, out, _ = self.call(agent, ["list", "--json", "--dialect", agent.name, "--quiet"])
        lines = [json.loads(it) for it in out.splitlines()]
        return lines[0]["path"] if lines else None

    def record(self, name):
        """Lets an agent have its conversation."""
        agent = self.agent(name, "own")
        self.provider.requests.clear()
        status, out = agent.ask(PROMPT)
        path = self.session(agent)
        if not path or not any(("assistant", "Twice.") in it.items for it in self.provider.requests):
            print(f"{name}: no session of its own: {out.strip()[-600:]}")
            return None
        if name not in ("opencode", "goose"):
            # Gemini CLI stores results twice in a run without a screen.
            self.call(agent, ["doctor", path, "--fix", "--force", "--quiet"])
        return path

    def view(self, agent, path, name):
        _, out, err = self.call(agent, ["convert", path, "--from", name, "--to", "native", "--quiet"])
        try:
            messages = json.loads(out)
        except ValueError:
            return None
        items = []
        for message in messages["messages"] if isinstance(messages, dict) else messages:
            for part in message.get("parts", []):
                if part["type"] == "text" and CONTEXT.fullmatch(part["text"]):
                    continue
                if part["type"] == "text" and message["role"] in ("user", "assistant") and part["text"].strip():
                    items.append((message["role"], part["text"].strip()))
                elif part["type"] == "tool_call":
                    items.append(("call", part["name"]))
                elif part["type"] == "tool_result":
                    items.append(("result", text_of(part["content"]).strip()))
        return items

    def resume(self, agent, id, wanted):
        """How the request of a resumed session compares with the view."""
        self.provider.requests.clear()
        is_asked = lambda: any(AGAIN in what for it in self.provider.requests for who, what in it.items if who == "user")
        status, out = agent.ask(AGAIN, id, is_asked)
        asked = [it for it in self.provider.requests if any(AGAIN in what for who, what in it.items if who == "user")]
        if not asked:
            out = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[^\x20-\x7e]", "", out)
            return "x", f"not resumed: {out.strip()[-500:]}"
        asked = [it for it in asked if ("assistant", "Fine.") not in it.items] or asked
        request = max(asked, key=lambda it: len(it.items))
        if request.faults:
            return "x", "; ".join(request.faults)
        sent = [it for it in request.items if it[0] != "developer" and it[1] != "Got it. Thanks for the context!"]
        missing = [it for it in wanted if not take(sent, it)]
        if missing:
            return "~", f"missing {missing[:3]}; sent {request.items[:9]}"
        more = [it for it in sent if it[0] != "user"]
        return ("+", f"more {more[:3]}") if more else ("=", "")

    def moved(self, source, path, target):
        agent = self.agent(target, f"from-{source}")
        wanted = self.view(agent, path, source)
        if not wanted:
            return "x", "empty view"
        args = ["convert", path, "--from", source, "--to", target, "--cwd", agent.project, "--quiet"]
        if target == "goose":
            file = os.path.join(agent.home, "moved.json")
            status, out, err = self.call(agent, [*args, "-o", file])
            status, out = agent.run([agent.bin("goose"), "session", "import", file])
            found = re.search(r"\d{8}_\d+", out)
            if not found or status:
                return "x", f"not imported: {err[-200:]} {out.strip()[-300:]}"
            return self.resume(agent, found.group(), wanted)
        if target == "opencode":
            file = os.path.join(agent.home, "moved.json")
            status, out, err = self.call(agent, [*args, "-o", file])
            text = open(file, encoding="utf-8").read() if os.path.exists(file) else ""
            found = re.search(r"ses_\w+", text)
            status, out = agent.run([agent.bin("opencode"), "import", file])
            if not found or status:
                return "x", f"not imported: {err[-200:]} {out.strip()[-300:]}"
            return self.resume(agent, found.group(), wanted)
        status, out, err = self.call(agent, [*args, "--install"])
        if status == 2:
            return "-", err.strip()[-200:]
        installed, command = out.strip().splitlines()[-2:]
        status, out, err = self.call(agent, ["doctor", installed, "--json"])
        if any(it["severity"] == "error" for it in json.loads(out)["findings"]):
            return "x", f"doctor finds {out[:300]}"
        try:
            return self.resume(agent, re.split(r"[ =]", command)[-1], wanted)
        finally:
            agent.end()

    def mended(self, name, path):
        """The agent's own session, of which the last but one line was lost, mended."""
        if name == "opencode":
            return "-", "its store is mended by the SQL that doctor prints"
        agent = self.agent(name, "own")
        if name in ("cline", "goose"):
            return self.mended_document(agent, path)
        lines = open(path, "rb").read().splitlines(keepends=True)
        if name == "gemini-cli":
            return self.mended_records(agent, path, lines)
        results = [n for n, it in enumerate(lines) if b"three" in it and (b"tool_result" in it or b"function_call_output" in it or b"toolResult" in it or b"execution_complete" in it)]
        if not results:
            return "-", "no record of its own holds a result"
        del lines[results[-1]]
        with open(path, "wb") as file:
            file.writelines(lines)
        status, out, err = self.call(agent, ["doctor", path, "--fix", "--force", "--json"])
        wanted = self.view(agent, path, name)
        if status == 2 or not wanted:
            return "x", (out + err)[-300:]
        id = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}(?!.*[0-9a-f]{8}-[0-9a-f-]{27})", path).group()
        return self.resume(agent, id, wanted)

    def mended_document(self, agent, path):
        """A session of Cline or an export of goose of which the last result was lost, mended."""
        with open(path, encoding="utf-8") as file:
            session = json.load(file)
        messages = session["conversation" if agent.name == "goose" else "messages"]
        kinds = ("tool_result", "toolResponse")
        messages.remove([it for it in messages if any(b["type"] in kinds for b in it["content"])][-1])
        with open(path, "w", encoding="utf-8") as file:
            json.dump(session, file)
        status, out, err = self.call(agent, ["doctor", path, "--fix", "--force", "--json"])
        wanted = self.view(agent, path, agent.name)
        if status == 2 or not wanted:
            return "x", (out + err)[-300:]
        if agent.name == "cline":
            return self.resume(agent, session["sessionId"], wanted)
        status, out = agent.run([agent.bin("goose"), "session", "import", path])
        found = re.search(r"\d{8}_\d+", out)
        return self.resume(agent, found.group(), wanted) if found else ("x", out[-300:])

    def mended_records(self, agent, path, lines):
        """A session of Gemini CLI, whose results are in the record of their call, one of which was lost, mended."""
        records = [json.loads(it) for it in lines]
        calls = [call for it in records for call in it.get("toolCalls", []) if call.get("result")]
        if not calls:
            return "-", "no record of its own holds a result"
        del calls[-1]["result"]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(it) + "\n" for it in records)
        status, out, err = self.call(agent, ["doctor", path, "--fix", "--force", "--json"])
        wanted = self.view(agent, path, agent.name)
        if status == 2 or not wanted:
            return "x", (out + err)[-300:]
        return self.resume(agent, next(it["sessionId"] for it in records if "sessionId" in it), wanted)

    def usage(self, name, path):
        """Whether the recorded usage is that of the three answers of the agent's own conversation."""
        status, out, err = self.call(self.agent(name, "own"), ["stats", path, "--from", name, "--json"])
        try:
            models = json.loads(out)["usage"]["models"].values()
        except (ValueError, KeyError):
            return "x", f"no usage: {(out + err)[-200:]}"
        sums = {it: sum(model[it] for model in models) for it in ("responses", "input", "cache_read", "cache_write", "output")}
        found = (sums["responses"], sums["input"] + sums["cache_read"] + sums["cache_write"], sums["output"])
        return ("=", "") if found == (3, 30, 15) else ("x", f"{found}, expected 3 responses, 30 and 15 tokens")

    def too_long(self, name):
        """A session that the provider refuses for its length, after the command that `msg doctor` prints."""
        agent, provider = self.agent(name, "long"), self.provider
        # What the agent adds by itself is a third of the limit at most, as with real models.
        provider.longest = 0
        agent.ask(PROMPT)
        limit = max(3 * provider.longest, 200_000)
        turn = [
            {"role": "user", "parts": [{"type": "text", "text": "and then? " + "why not? " * 220}]},
            {"role": "assistant", "parts": [{"type": "text", "text": "so it is. " * 200}]},
        ]
        messages = turn * (limit * 6 // 5 // 4000)
        file = os.path.join(agent.home, "long.json")
        agent.write("long.json", json.dumps(messages))
        status, out, err = self.call(agent, ["convert", file, "--from", "native", "--to", name, "--cwd", agent.project, "--install", "--quiet"])
        path, command = out.strip().splitlines()[-2:]
        id = re.split(r"[ =]", command)[-1]
        provider.limit = limit
        try:
            agent.ask(AGAIN, id)
            said, provider.refused = provider.refused, None
            if not said:
                return "x", "it was not refused"
            status, out, err = self.call(agent, ["doctor", path, "--error", said])
            found = re.search(r"msg (fit --in-session '.*' --budget \d+)", out)
            if not found:
                return "x", f"no command in {out[-300:]}"
            print(f"{name}: {said}\n    msg doctor SESSION --error '{said}'\n    msg {found.group(1).replace(path, 'SESSION')}")
            args = [it.strip("'") for it in found.group(1).split()]
            # A session that changed just now counts as in use.
            time.sleep(6)
            status, out, err = self.call(agent, args)
            if status:
                return "x", (out + err)[-300:]
            provider.requests.clear()
            status, out = agent.ask(AGAIN, id)
            answered = [it for it in provider.requests if not it.faults]
            if provider.refused or "Fine." not in out or not answered:
                return "x", f"{provider.refused} {out[-300:]}"
            return "=", ""
        finally:
            provider.limit = None

    def all(self):
        paths = {it: self.record(it) for it in self.agents}
        bad, rows = 0, {}
        for source in self.agents:
            if not paths[source]:
                continue
            row = rows[source] = {}
            row["usage"], why = self.usage(source, paths[source])
            bad += row["usage"] in "~x"
            if why:
                print(f"{source} usage: {why}")
            for target in self.agents:
                mark, why = self.moved(source, paths[source], target)
                row[target] = mark
                bad += mark in "~x"
                if why and mark != "=":
                    print(f"{source} -> {target}: {mark} {why}")
            row["mended"], why = self.mended(source, paths[source])
            bad += row["mended"] in "~x"
            if why:
                print(f"{source} mended: {row['mended']} {why}")
            row["too long"] = "-"
            if source in IN_SESSION:
                row["too long"], why = self.too_long(source)
                bad += row["too long"] in "~x"
                if why:
                    print(f"{source} too long: {why}")
            print(f"{source}: {row}", flush=True)
        columns = [*self.agents, "mended", "too long", "usage"]
        print("\n" + " ".join([" " * 12, *[f"{it:>12}" for it in columns]]))
        for source, row in rows.items():
            print(" ".join([f"{source:12}", *[f"{row[it]:>12}" for it in columns]]))
        lost = [it for it in self.agents if not paths[it]]
        print(f"without a session of its own: {', '.join(lost) or 'none'}")
        return 1 if bad or lost else 0


def take(sent, item):
    """Whether the request says it, before or after what is left; earlier text is ignored."""
    who, what = item
    for n, (other, text) in enumerate(sent):
        if other == who and (text == what or who in ("user", "result") and what and what in text or who == "user" and text in what):
            del sent[n]
            return True
    return False


if __name__ == "__main__":
    run = Run(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:] or AGENTS)
    try:
        sys.exit(run.all())
    finally:
        shutil.rmtree(run.root, ignore_errors=True)
