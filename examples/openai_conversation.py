"""Keep one conversation with a model behind the proxy. Needs mondegreen[serve], openai.

The model is a stub in this process: it answers, and keeps what it was asked.
"""

import http.server
import json
import re
import subprocess
import sys
import threading

import openai

HEADER = "x-mondegreen-conversation"
ASKED = []


class Model(http.server.BaseHTTPRequestHandler):
    """Says the last message again."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ASKED.append([message["content"] for message in asked["messages"]])
        said = {"role": "assistant", "content": f"You wrote: {ASKED[-1][-1]}"}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *parts: object) -> None:
        """Print nothing."""


model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()

command = [sys.executable, "-m", "mondegreen", "proxy", "--quiet", "--port", "0"]
command += ["--upstream", f"http://127.0.0.1:{model.server_port}/v1"]
proxy = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
address = re.search(r"http://\S+", proxy.stderr.readline()).group()

try:
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="sk-any")
    chat = client.chat.completions
    turns = [{"role": "user", "content": "My name is Okonkwo."}]

    # The first answer names the conversation in a header, so read the raw response.
    first = chat.with_raw_response.create(model="stub", messages=turns)
    token = first.headers[HEADER]
    answer = first.parse().choices[0].message.content
    turns.append({"role": "assistant", "content": answer})

    # Later requests send the header back: the name keeps its surrogate.
    turns.append({"role": "user", "content": "Write to Okonkwo."})
    second = chat.create(model="stub", messages=turns, extra_headers={HEADER: token})
    again = second.choices[0].message.content
    client.close()
finally:
    proxy.terminate()
    print("exit code:   ", proxy.wait(60))
    proxy.stderr.close()
    model.shutdown()
    model.server_close()

print("answer:      ", answer)
print("and then:    ", again)
print("the model got", ASKED[0])
print("and then     ", ASKED[1])
assert answer == "You wrote: My name is Okonkwo."
assert again == "You wrote: Write to Okonkwo."
assert "Okonkwo" not in json.dumps(ASKED)
assert ASKED[1][0] == ASKED[0][0]  # one conversation: the same surrogate
