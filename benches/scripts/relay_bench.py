"""The example gateway beside other proxies: `python relay_bench.py GATEWAY [LITELLM [CCR]]`.

LITELLM is the program of LiteLLM's proxy, CCR that of claude-code-router.

A fake upstream of Chat Completions on 127.0.0.1 writes the time of sending into each event; the load program asks for
Anthropic Messages through a proxy and reads that time back. Prints, for each proxy and for the upstream without one:

- the delay of an event (50 events, 5 ms apart, one client): median and 99th percentile
- the time to the first event
- requests a second of 8 clients at an upstream without pauses, and the processor time of the proxy for each
- the resident memory of the proxy after that
"""

import http.client
import http.server
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

EVENTS = 50
# LiteLLM refuses to start with a key that it knows from examples.
KEY = "sk-" + secrets.token_hex(32)
TICK = os.sysconf("SC_CLK_TCK")


class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # As servers of providers do: else an event waits 40 ms for the acknowledgement of the headers by a kept connection.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        pause = 0.005 if b"slowly" in body else 0
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        head = '{"id":"c1","object":"chat.completion.chunk","created":1,"model":"big","choices":[{"index":0,"delta":'
        for _ in range(EVENTS):
            if pause:
                time.sleep(pause)
            self.chunk(f'data: {head}{{"content":"<{time.monotonic_ns()}>"}},"finish_reason":null}}]}}\n\n')
        self.chunk(f'data: {head}{{}},"finish_reason":"stop"}}]}}\n\n')
        self.chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that went away."""


def free():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def ask(port, path, word, delays=None, connection=None):
    """One request; the delays of its events, and the time to the first."""
    body = {"model": "big", "max_tokens": 100, "stream": True, "messages": [{"role": "user", "content": word}]}
    own = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    start, first, seen = time.monotonic_ns(), None, 0
    own.request("POST", path, json.dumps(body), {"content-type": "application/json", "x-api-key": KEY, "authorization": f"Bearer {KEY}"})
    answer = own.getresponse()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {answer.read()[:300]}")
    rest = b""
    while True:
        data = answer.read1(65536)
        if not data:
            break
        now = time.monotonic_ns()
        rest += data
        while b">" in rest:
            piece, rest = rest.split(b">", 1)
            sent = piece.rsplit(b"<", 1)[-1]
            if sent.isdigit():
                seen += 1
                first = first or now - start
                if delays is not None:
                    delays.append(now - int(sent))
    if seen != EVENTS:
        raise RuntimeError(f"{seen} events instead of {EVENTS}")
    return first


def cpu(pid):
    """Seconds of processor time of a process and its children."""
    total = 0
    for it in [pid, *children(pid)]:
        with open(f"/proc/{it}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICK


def children(pid):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(it) for it in done.stdout.split() if os.path.exists(f"/proc/{it}")]


def memory(pid):
    total = 0
    for it in [pid, *children(pid)]:
        with open(f"/proc/{it}/status") as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return total / 1024


def measure(name, port, path, pid, requests):
    for _ in range(3):
        ask(port, path, "hi")
    delays, firsts = [], []
    for _ in range(10):
        firsts.append(ask(port, path, "slowly", delays))
    before, start, done = cpu(pid) if pid else 0, time.monotonic(), []

    def load():
        for _ in range(requests // 8):
            ask(port, path, "hi")
            done.append(1)

    threads = [threading.Thread(target=load) for _ in range(8)]
    for it in threads:
        it.start()
    for it in threads:
        it.join()
    seconds = time.monotonic() - start
    used = f"{(cpu(pid) - before) / len(done) * 1e3:.1f} ms" if pid else "-"
    held = f"{memory(pid):.0f} MB" if pid else "-"
    delays.sort()
    print(f"{name:22} | {statistics.median(delays) / 1e3:8.0f} us | {delays[int(len(delays) * 0.99)] / 1e3:8.0f} us | {statistics.median(firsts) / 1e6:7.1f} ms | {len(done) / seconds:8.1f} | {used:>9} | {held:>7}", flush=True)


def wait(port, process, limit):
    end = time.monotonic() + limit
    while time.monotonic() < end and process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the proxy did not start")


def main(gateway, litellm=None, router=None):
    upstream = Server(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    upstream_url = f"http://127.0.0.1:{upstream.server_address[1]}"
    print(f"{'':22} | {'delay p50':>11} | {'p99':>11} | {'first':>10} | {'req/s':>8} | {'CPU/req':>9} | {'memory':>7}")
    measure("direct", upstream.server_address[1], "/v1/chat/completions", None, 400)
    port = free()
    proxy("msg-relay (axum)", port, [gateway, f"127.0.0.1:{port}", "chat", "big", upstream_url], {"KEY": "k"}, 400)
    if litellm:
        measure_litellm(litellm, upstream_url)
    if router:
        measure_router(router, upstream_url)


def proxy(name, port, command, env, requests):
    """Starts a proxy, measures it and ends it."""
    env = {**os.environ, "NO_PROXY": "*", **env}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait(port, process, 120)
        measure(name, port, "/v1/messages", process.pid, requests)
    finally:
        process.terminate()
        process.wait()


def measure_litellm(program, upstream_url):
    port = free()
    model = {"model_name": "big", "litellm_params": {"model": "openai/big", "api_base": upstream_url + "/v1", "api_key": "k"}}
    # Without this it asks for `/responses`.
    settings = {"use_chat_completions_url_for_anthropic_messages": True}
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        json.dump({"model_list": [model], "litellm_settings": settings}, config)
        config.flush()
        command = [program, "--config", config.name, "--host", "127.0.0.1", "--port", str(port)]
        env = {"LITELLM_MASTER_KEY": KEY, "LITELLM_LOG": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        proxy("litellm proxy", port, command, env, 80)


def measure_router(program, upstream_url):
    port = free()
    provider = {"name": "up", "api_base_url": upstream_url + "/v1/chat/completions", "api_key": "k", "models": ["big"]}
    config = {"LOG": False, "HOST": "127.0.0.1", "PORT": port, "NON_INTERACTIVE_MODE": True, "Providers": [provider], "Router": {"default": "up,big"}}
    with tempfile.TemporaryDirectory() as home:
        os.mkdir(os.path.join(home, ".claude-code-router"))
        with open(os.path.join(home, ".claude-code-router/config.json"), "w") as file:
            json.dump(config, file)
        proxy("claude-code-router", port, ["node", program, "start"], {"HOME": home}, 80)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
