"""Put a proxy before a language model, and see what it gets. Needs mondegreen[serve].

The model is a stub in this process: it answers, and keeps what it was asked.
"""

import http.server
import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request

ASKED = []


class Model(http.server.BaseHTTPRequestHandler):
    """Says the same to everybody."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ASKED.append([message["content"] for message in asked["messages"]])
        said = {"role": "assistant", "content": "Ask somebody who knows you."}
        body = json.dumps({"choices": [{"message": said}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *parts: object) -> None:
        """Print nothing."""


def ask(address: str, *contents: object) -> tuple[str, str]:
    """Send a conversation; return the answer, or why there is none, and the promise."""
    messages = [{"role": "user", "content": content} for content in contents]
    body = json.dumps({"model": "stub", "messages": messages}).encode()
    head = {"Content-Type": "application/json", "Authorization": "Bearer sk-any"}
    request = urllib.request.Request(f"{address}/v1/chat/completions", body, head)
    try:
        with urllib.request.urlopen(request, timeout=60) as found:
            promise = found.headers["x-mondegreen-guarantee"]
            return json.load(found)["choices"][0]["message"]["content"], promise
    except urllib.error.HTTPError as error:
        with error:
            promise = error.headers["x-mondegreen-guarantee"]
            return json.load(error)["error"]["message"], promise


model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()

command = [sys.executable, "-m", "mondegreen", "proxy", "--epsilon", "12", "--quiet"]
command += ["--upstream", f"http://127.0.0.1:{model.server_port}/v1", "--port", "0"]
proxy = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
address = re.search(r"http://\S+", proxy.stderr.readline()).group()

first = "I am Ann from Oslo, and my doctor says I have diabetes."
picture = [{"type": "image_url", "image_url": {"url": "data:..."}}]
try:
    answer, promise = ask(address, first)
    ask(address, first, "What can I eat?")
    refusal, _ = ask(address, picture)
finally:
    proxy.terminate()
    print("exit code:   ", proxy.wait(60))
    proxy.stderr.close()
    model.shutdown()
    model.server_close()

print("answer:      ", answer)
print("promise:     ", promise)
print("the model got", ASKED[0])
print("and then     ", ASKED[1])
print("a picture:   ", refusal)
assert first not in ASKED[0]
assert ASKED[1][0] == ASKED[0][0]  # the history is released once
assert len(ASKED) == 2  # the picture was not sent
