"""Start the service, ask it for releases, and stop it. Needs mondegreen[serve]."""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request


def post(address: str, body: object) -> dict:
    """Send JSON and read JSON; an error of the service is JSON too."""
    data = json.dumps(body).encode()
    request = urllib.request.Request(address, data)
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


command = [sys.executable, "-m", "mondegreen", "serve", "--epsilon", "12"]
command += ["--port", "0", "--quiet"]
service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
address = re.search(r"http://\S+", service.stderr.readline()).group()

answer = post(f"{address}/v1/privatize", {"texts": ["I met Ann in Oslo.", None]})
print("released:", answer["texts"])
print("promised:", answer["guarantee"]["mechanism"], answer["guarantee"]["epsilon"])

explained = post(f"{address}/v1/explain", {"word": "doctor"})
print(f"of 100 times, 'doctor' stays {100 * explained['stay']:.1f}")

print("refused: ", post(f"{address}/v1/privatize", {"texts": "not a list"})["error"])

service.terminate()
print("exit code:", service.wait(60))
service.stderr.close()
