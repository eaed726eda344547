"""The options of ``mondegreen serve``, and what it refuses to start with."""

import json
import shutil
import socket
import ssl
import subprocess
import sys

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("uvicorn")

from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError
from mondegreen.serve import server
from mondegreen.serve.server import Listen


@pytest.fixture
def run(monkeypatch):
    """Return what runs the command without listening, and gives what it would serve."""
    served = []
    monkeypatch.setattr(server, "run", lambda *given: served.append(given))

    def call(*options):
        served.clear()
        done = CliRunner().invoke(cli, ["serve", *map(str, options)])
        return done, served[0] if served else None

    return call


@pytest.fixture
def certificate(tmp_path):
    """A certificate that this machine signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("makes a certificate with openssl")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"]
    command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


def test_the_promise_is_printed_before_it_listens(run):
    done, served = run("-e", 10)
    assert done.exit_code == 0, done.output
    law = mg.mechanism("urr", epsilon=10.0)
    assert mg.Privatizer(law).guarantee.summary() in done.stderr
    app, listen, _ = served
    assert listen == Listen("127.0.0.1", 8000)
    assert app.args[0].limits.body == 4 << 20
    assert not app.args[0].api_keys


def test_options_reach_the_privatizer_and_the_limits(
    run, space_file, key_file, api_keys
):
    options = ["-m", "tem", "-e", 2, "--set", "beta=0.01", "--space", space_file]
    options += ["--unknown", "mask", "--structure", "plain", "--print-all"]
    options += ["--case", "truecase", "--key-file", key_file, "--api-keys", api_keys]
    options += ["--max-body", 1000, "--max-texts", 7, "--max-words", 8]
    options += ["--timeout", 9, "--rate", 0.5, "--max-concurrent", 3]
    options += ["--host", "::1", "--port", 0, "--workers", 2, "--max-per-address", 5]
    done, served = run(*options)
    assert done.exit_code == 0, done.output
    app, listen, _ = served
    (settings,) = app.args
    spec = settings.privatizer.to_dict()
    assert spec["parameters"]["beta"] == 0.01
    assert (spec["unknown"], spec["structure"], spec["print_all"], spec["case"]) == (
        *("mask", "plain", True, "truecase"),
    )
    assert settings.privatizer.noise == mg.KeyedNoise.from_file(key_file)
    found = settings.limits
    assert (found.body, found.texts, found.words) == (1000, 7, 8)
    assert (found.seconds, found.rate, found.concurrent) == (9, 0.5, 3)
    assert found.per_address == 5
    assert listen == Listen("::1", 0, workers=2, seconds=9, waiting_per_address=5)
    assert len(settings.api_keys) == 2


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org", ""])
def test_other_machines_need_keys_and_tls(run, api_keys, host):
    done, served = run("-e", 10, "--host", host)
    assert (done.exit_code, served) == (2, None)
    assert "without API keys (anyone who reaches it can use it)" in done.stderr
    assert " and without TLS (the network can read every text). See" in done.stderr
    done, served = run("-e", 10, "--host", host, "--api-keys", api_keys)
    assert (done.exit_code, served) == (2, None)
    assert "API keys" not in done.stderr
    assert "machines without TLS" in done.stderr
    done, served = run("-e", 10, "--host", host, "--allow-exposed", "-q")
    assert done.exit_code == 0
    assert "WARNING" in done.stderr
    assert served[1].host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_this_machine_needs_neither(host):
    assert Listen(host).check_exposure(has_keys=False, allowed=False) == ""


def test_keyed_noise_without_api_keys_is_warned_of(run, key_file, api_keys):
    done, _ = run("-e", 10, "--key-file", key_file, "-q")
    assert "can test guesses" in done.stderr
    done, _ = run("-e", 10, "--key-file", key_file, "-q", "--api-keys", api_keys)
    assert "can test guesses" not in done.stderr


def test_laws_that_tell_by_their_time_which_words_occurred_are_warned_of(
    run, space_file
):
    done, _ = run("-e", 1, "-m", "tem", "--space", space_file, "-q")
    assert "whether a word was sent before" in done.stderr
    done, _ = run("-e", 10, "-q")
    assert "whether a word was sent before" not in done.stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["-e", 10, "--port", 70_000], 2),
        (["-e", 10, "--workers", 0], 2),
        (["-e", 10, "--timeout", 0], 2),
        (["-e", 10, "--seed", 1], 2),
        (["-e", 10, "--key-file", "absent"], 2),
        (["-e", 10, "--key-env", "ABSENT"], 2),
        (["-e", 10, "--key-file", "a", "--key-env", "B"], 2),
        (["-e", 10, "--api-keys", "absent"], 2),
        (["-e", 1, "-m", "custext"], 4),
        ([], 2),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(run, options, code):
    done, served = run(*options)
    assert (done.exit_code, served) == (code, None), done.output


def test_an_address_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port}"):
            server.run(lambda: None, Listen(port=port), print)


def test_a_name_that_is_none_is_refused():
    with pytest.raises(ConfigurationError, match="--host"):
        server.run(lambda: None, Listen("no.such.host.invalid"), print)


def test_a_certificate_that_is_none_is_refused(tmp_path, certificate):
    cert, key = map(str, certificate)
    other = tmp_path / "text"
    other.write_text("no certificate")
    for given in [(cert, None), (None, key), (str(other), key), (cert, str(other))]:
        with pytest.raises(ConfigurationError):
            server.run(lambda: None, Listen("127.0.0.1", 0, *given), print)
    with pytest.raises(ConfigurationError, match="No such file"):
        server.run(lambda: None, Listen("127.0.0.1", 0, "absent", key), print)


@pytest.mark.slow("starts a service")
def test_it_speaks_tls(start, certificate):
    cert, key = certificate
    service = start("--tls-cert", cert, "--tls-key", key)
    assert "Listening on https://" in service.log()
    context = ssl.create_default_context(cafile=cert)
    body = json.dumps({"texts": ["bad"]}).encode()
    head = "POST /v1/privatize HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with context.wrap_socket(service.connect(), server_hostname="127.0.0.1") as tls:
        tls.sendall(head.encode() + body)
        assert b" 200 " in tls.recv(20)
    assert b"HTTP/1.1 200" not in service.raw(head.encode() + body)
    assert service.stop() == 0


def test_without_its_libraries_it_says_how_to_install_them():
    code = (
        "import sys; sys.modules['fastapi'] = None; "
        "sys.argv = ['mondegreen', 'serve', '-e', '10']; "
        "from mondegreen.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "pip install '.[serve]'" in done.stderr


def test_the_promise_of_the_guardrail_is_printed_too(run):
    done, served = run("-e", 10, "--guardrail")
    guard = served[0].args[0].guardrail
    assert guard.guarantee.summary() in done.stderr
    assert "form of requests, repeats" in done.stderr
    assert "repeats" not in run("-e", 10)[0].stderr
