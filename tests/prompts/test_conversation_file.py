"""Conversations in a file: sealed, kept over restarts, and forgotten in time."""

from __future__ import annotations

import functools
import json
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest

pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from click.testing import CliRunner  # noqa: E402
from echo_model import EchoModel  # noqa: E402
from language_model import WAIT, running  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402
from test_proxy_command import started  # noqa: E402

import mondegreen as mg  # noqa: E402
from mondegreen.cli.main import cli  # noqa: E402
from mondegreen.prompts.conversation_file import (  # noqa: E402
    ConversationFile,
    ConversationFileError,
)
from mondegreen.prompts.conversation_guard import ConversationGuard  # noqa: E402
from mondegreen.prompts.conversations import (  # noqa: E402
    HEADER,
    Conversations,
    UnknownConversationError,
)
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.upstream import Upstream  # noqa: E402
from waiting import wait_until  # noqa: E402

KEY = bytes(range(32))
SAID = "I am Chukwudi Okonkwo of Ibadan, account 4711-0815."
OWNER = "owner-digest-canary"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="module")
def guard():
    return ConversationGuard()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "conversations"


@contextmanager
def opened(path, guard, clock=None, key=KEY, seconds=100.0, most=10):
    """Start anew on a file, as a process does."""
    with closing(ConversationFile(path, mg.KeyedNoise(key), guard)) as file:
        yield Conversations(guard.begin, seconds, most, clock or Clock(), file=file)


def begin(kept, said=SAID, owner=OWNER):
    token, dialog = kept.open(None, owner)
    sent = dialog.conversation.hide(said)
    kept.keep(token)
    return token, sent


def is_open(kept, token, owner=OWNER):
    try:
        kept.open(token, owner)
    except UnknownConversationError:
        return False
    return True


def everything(path):
    """All bytes on the disk; the file must be closed, or its lock would be lost."""
    return b"".join(
        each.read_bytes() for each in path.parent.iterdir() if each.is_file()
    )


def change(path, statement, *values):
    with closing(sqlite3.connect(path, isolation_level=None)) as rows:
        rows.execute(statement, values)


def test_a_restart_keeps_surrogates_and_the_way_back(path, guard):
    with opened(path, guard) as kept:
        token, sent = begin(kept)
    with opened(path, guard) as kept:
        _, dialog = kept.open(token, OWNER)
        assert dialog.conversation.hide(SAID) == sent != SAID
        assert dialog.conversation.restore(sent) == SAID
        with pytest.raises(UnknownConversationError):
            kept.open(token, "you")
        another, _ = begin(kept)
        assert another != token


def test_a_turn_of_the_model_goes_back_as_it_was_said_after_a_restart(path, guard):
    first = {"role": "user", "content": SAID}
    with opened(path, guard) as kept:
        token, dialog = kept.open(None, OWNER)
        sent, answers = guard.request("chat/completions", {"messages": [first]}, dialog)
        said = "Malacca said: " + sent["messages"][0]["content"]
        message = {"role": "assistant", "content": said}
        shown = answers.whole({"choices": [{"message": message}]})
        kept.keep(token)
    turn = shown["choices"][0]["message"]
    assert SAID in turn["content"]
    again = {"messages": [first, turn, first]}
    with opened(path, guard) as kept:
        _, dialog = kept.open(token, OWNER)
        sent, _ = guard.request("chat/completions", again, dialog)
    assert sent["messages"][1]["content"] == said


def test_time_and_room_hold_over_restarts(path, guard, clock):
    with opened(path, guard, clock) as kept:
        old, _ = begin(kept)
        clock.now += 60
        new, _ = begin(kept)
    clock.now += 60
    with opened(path, guard, clock) as kept:
        assert len(kept) == 1
        assert not is_open(kept, old)
        assert is_open(kept, new)
        kept.keep(new)
    clock.now += 90  # counted from the last request
    with opened(path, guard, clock) as kept:
        assert is_open(kept, new)
        begin(kept)
        begin(kept)
    with opened(path, guard, clock, most=2) as kept:
        assert len(kept) == 2
    with opened(path, guard, clock, most=10) as kept:
        assert len(kept) == 2


def test_a_clock_that_was_put_back_prolongs_nothing(path, guard, clock):
    with opened(path, guard, clock) as kept:
        token, _ = begin(kept)
    clock.now -= 500
    with opened(path, guard, clock) as kept:
        clock.now += 101
        assert not is_open(kept, token)


def test_what_is_deleted_leaves_the_file(path, guard):
    with opened(path, guard) as kept:
        token, _ = begin(kept)
        other, _ = begin(kept)
    with closing(sqlite3.connect(path)) as rows:
        bodies = [each for (each,) in rows.execute("SELECT body FROM kept") if each]
    assert len(bodies) == 2

    def shares():
        """How much of each body is on the disk: pages cut a few of the pieces."""
        data = everything(path)
        pieces = [[b[i : i + 64] for i in range(0, len(b), 64)] for b in bodies]
        return sorted(sum(x in data for x in each) / len(each) for each in pieces)

    assert shares()[0] > 0.9
    with opened(path, guard) as kept:
        kept.open(token, OWNER)
        kept.delete(token, OWNER)
        kept.keep(token)  # an answer that is on its way
        assert not is_open(kept, token)
        assert shares()[0] == 0
    assert shares()[0] == 0
    assert shares()[1] > 0.9
    with opened(path, guard) as kept:
        assert not is_open(kept, token)
        assert is_open(kept, other)


def test_a_sweep_empties_memory_and_the_file(path, guard, clock):
    with opened(path, guard, clock) as kept:
        begin(kept)
        clock.now += 100.0
        kept.sweep()
        assert (len(kept), kept.forgotten) == (0, 1)
        assert not list(kept._file.heads())
        assert (path.parent / f"{path.name}-wal").stat().st_size == 0


def test_what_a_full_disk_keeps_in_the_file_leaves_it_later(
    path, guard, clock, monkeypatch
):
    with opened(path, guard, clock) as kept:
        for _ in range(2):
            begin(kept)
        clock.now += 100.0

        def fail(name):
            raise ConversationFileError(path, "the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(ConversationFile, "remove", lambda self, name: fail(name))
            with pytest.raises(ConversationFileError):
                kept.sweep()
        assert len(kept) == 0
        assert len(list(kept._file.heads())) == 2
        kept.sweep()
        assert not list(kept._file.heads())


@pytest.mark.parametrize("service", ["proxy", "service"])
def test_conversations_are_forgotten_while_nobody_calls(
    path, guard, monkeypatch, service
):
    from mondegreen.serve import conversation_paths
    from mondegreen.serve.app import create_app
    from mondegreen.serve.service_settings import ServiceSettings

    with closing(ConversationFile(path, mg.KeyedNoise(KEY), guard)) as file:
        if service == "proxy":
            settings = ProxySettings(
                guard,
                Upstream("http://127.0.0.1:9"),
                conversation_seconds=0.05,
                conversation_file=file,
            )
            app = create_proxy(settings)
            call = ("/v1/chat/completions", {"messages": [user(SAID)]})
        else:
            short = functools.partial(Conversations, seconds=0.05)
            monkeypatch.setattr(conversation_paths, "Conversations", short)
            privatizer = mg.Privatizer(
                mg.mechanism("urr", epsilon=10.0), policy="names"
            )
            app = create_app(
                ServiceSettings(privatizer, conversations=guard, conversation_file=file)
            )
            call = ("/v1/privatize", {"texts": [SAID], "scope": "conversation"})
        with TestClient(app, base_url="http://127.0.0.1") as client:
            client.post(call[0], json=call[1])
            wait_until(lambda: not list(file.heads()))


@pytest.mark.slow("a process of the command starts")
def test_an_idle_proxy_forgets(tmp_path, guard):
    key, path = tmp_path / "key", tmp_path / "conversations"
    key.write_bytes(KEY)
    key.chmod(0o600)
    with opened(path, guard) as kept:
        begin(kept)
    options = ["--restore", "--conversations", str(path), "--key-file", str(key)]
    options += ["--conversation-ttl", "0.5", "--upstream", "http://127.0.0.1:9/v1"]
    with started(*options) as (_, address, _), httpx.Client(timeout=WAIT) as client:
        body = {"messages": [user(SAID)]}
        assert client.post(f"{address}/chat/completions", json=body).status_code == 502
        metrics = address.removesuffix("/v1") + "/metrics"
        wait_until(lambda: "forgotten_total 2.0" in client.get(metrics).text)
        assert "mondegreen_conversations_kept 0.0" in client.get(metrics).text


def user(text):
    return {"role": "user", "content": text}


def test_what_is_deleted_while_it_is_written_stays_deleted(path, guard, monkeypatch):
    with opened(path, guard) as kept:
        token, _ = begin(kept)
        seal = kept._file.seal

        def late(dialog):
            kept.delete(token, OWNER)
            return seal(dialog)

        monkeypatch.setattr(kept._file, "seal", late)
        kept.keep(token)
    with opened(path, guard) as kept:
        assert len(kept) == 0


def test_nothing_on_the_disk_is_readable(path, guard):
    with opened(path, guard) as kept:
        token, sent = begin(kept)
    data = everything(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secrets = {*SAID.split(), *sent.split(), "Chukwudi", "Okonkwo", "4711", token}
    secrets |= {OWNER, "names", "surrogates", "1000.0"}
    for each in secrets:
        if len(each) > 3:
            assert each.encode() not in data, each
            assert each.encode().hex().encode() not in data, each
    assert KEY not in data


def test_another_key_opens_nothing_and_changes_nothing(path, guard):
    with opened(path, guard) as kept:
        token, _ = begin(kept)
    with (
        pytest.raises(ConversationFileError, match="key is another"),
        opened(path, guard, key=bytes(range(1, 33))),
    ):
        pass
    with opened(path, guard) as kept:
        assert is_open(kept, token)


@pytest.mark.parametrize("column", ["head", "body"])
@pytest.mark.parametrize("where", [30, 100, -1])
def test_a_changed_record_is_unknown_and_others_live(path, guard, column, where):
    with opened(path, guard) as kept:
        token, _ = begin(kept)
        name = kept._find_name(token)
        other, _ = begin(kept)
    with closing(sqlite3.connect(path)) as rows:
        query = f"SELECT {column} FROM kept WHERE name = ?"
        data = bytearray(rows.execute(query, (name,)).fetchone()[0])
    data[where] ^= 1
    change(path, f"UPDATE kept SET {column} = ? WHERE name = ?", bytes(data), name)
    with opened(path, guard) as kept:
        assert not is_open(kept, token)
        assert is_open(kept, other)
        assert kept._file.lost == (column == "head")


@pytest.mark.parametrize("columns", [("body",), ("head",), ("head", "body")])
def test_records_do_not_take_the_place_of_others(path, guard, columns):
    with opened(path, guard) as kept:
        mine, _ = begin(kept)
        other, _ = begin(kept, "I am Nkechi.")
        names = kept._find_name(mine), kept._find_name(other)
    for each in columns:
        taken = f"(SELECT {each} FROM kept WHERE name = ?)"
        change(path, f"UPDATE kept SET {each} = {taken} WHERE name = ?", *names[::-1])
    with opened(path, guard) as kept:
        assert not is_open(kept, mine)
        assert is_open(kept, other)


def test_other_settings_do_not_go_on_with_a_conversation(path, guard):
    with opened(path, guard) as kept:
        token, _ = begin(kept)
    with opened(path, ConversationGuard({"policy": "sensitive"})) as kept:
        assert not is_open(kept, token)
    with opened(path, guard) as kept:
        assert is_open(kept, token)


def test_two_processes_do_not_share_a_file(path, guard):
    code = (
        "import sys, mondegreen as mg\n"
        "from mondegreen.prompts.conversation_file import *\n"
        "from mondegreen.prompts.conversation_guard import ConversationGuard\n"
        f"noise = mg.KeyedNoise(bytes({list(KEY)}))\n"
        "try:\n"
        "    ConversationFile(sys.argv[1], noise, ConversationGuard())\n"
        "except ConversationFileError as error:\n"
        "    print(error)\n"
    )
    with opened(path, guard) as kept:
        begin(kept)
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert "another process has it open" in done.stdout
        begin(kept)


@pytest.mark.parametrize(
    "content", [b"not a database", b"SQLite format 3\0" + b"x" * 99]
)
def test_a_file_of_another_kind_is_left_alone(path, guard, content):
    path.write_bytes(content)
    with pytest.raises(ConversationFileError), opened(path, guard):
        pass
    assert path.read_bytes() == content


def test_a_database_of_others_is_left_alone(path, guard):
    with closing(sqlite3.connect(path)) as rows:
        rows.execute("CREATE TABLE bookmarks (name TEXT)")
    content = path.read_bytes()
    with (
        pytest.raises(ConversationFileError, match="no file of conversations"),
        opened(path, guard),
    ):
        pass
    assert path.read_bytes() == content


def test_a_write_that_was_cut_off_leaves_the_state_before(path, guard):
    """A process ends without closing; then the end of its log of writes is torn."""
    code = (
        "import os, sys, mondegreen as mg\n"
        "from mondegreen.prompts.conversation_file import *\n"
        "from mondegreen.prompts.conversation_guard import ConversationGuard\n"
        "from mondegreen.prompts.conversations import Conversations\n"
        f"noise = mg.KeyedNoise(bytes({list(KEY)}))\n"
        "guard = ConversationGuard()\n"
        "file = ConversationFile(sys.argv[1], noise, guard)\n"
        "kept = Conversations(guard.begin, file=file)\n"
        f"token, dialog = kept.open(None, {OWNER!r})\n"
        "sent = dialog.conversation.hide('I am Okonkwo.')\n"
        "kept.keep(token)\n"
        "dialog.conversation.hide('I am Nkechi.')\n"
        "kept.keep(token)\n"
        "print(token, sent, flush=True)\n"
        "os._exit(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True
    )
    token, sent = done.stdout.strip().split(" ", 1)
    log = path.with_name(f"{path.name}-wal")
    os.truncate(log, log.stat().st_size - 100)
    with closing(ConversationFile(path, mg.KeyedNoise(KEY), guard)) as file:
        kept = Conversations(guard.begin, file=file)
        _, dialog = kept.open(token, OWNER)
        assert len(dialog.conversation) == 1
        assert dialog.conversation.restore(sent) == "I am Okonkwo."


def test_nothing_is_sent_when_the_file_cannot_be_written(path, guard):
    model = EchoModel()
    file = ConversationFile(path, mg.KeyedNoise(KEY), guard)
    with running(model.app) as upstream:
        app = create_proxy(
            ProxySettings(guard, Upstream(upstream), conversation_file=file)
        )
        body = {"messages": [{"role": "user", "content": SAID}]}
        with TestClient(app, base_url="http://127.0.0.1") as client:
            file.close()
            found = client.post("/v1/chat/completions", json=body)
    assert found.status_code == 503
    assert "Nothing was sent" in found.text
    assert not model.bodies


@pytest.mark.slow("three processes of the command start")
@pytest.mark.parametrize("is_stream", [False, True])
def test_a_kill_between_two_requests_changes_nothing_for_the_user(tmp_path, is_stream):
    model = EchoModel()
    first = {"role": "user", "content": SAID}
    second = {"role": "user", "content": "Write to Okonkwo and Nkechi."}
    options = ["--restore", "--key-env", "CONVERSATION_KEY"]
    options += ["--conversations", str(tmp_path / "kept")]
    env = {"CONVERSATION_KEY": KEY.hex()}

    def ask(address, messages, token=None):
        answer = httpx.post(
            f"{address}/chat/completions",
            json={"messages": messages, "stream": is_stream},
            headers={HEADER: token} if token else {},
            timeout=WAIT,
        )
        assert answer.status_code == 200, answer.text
        if not is_stream:
            return answer.json()["choices"][0]["message"], answer.headers[HEADER]
        events = [x[6:] for x in answer.text.splitlines() if x.startswith("data: {")]
        pieces = [c["delta"] for x in events for c in json.loads(x)["choices"]]
        text = "".join(each.get("content") or "" for each in pieces)
        return {"role": "assistant", "content": text}, answer.headers[HEADER]

    with running(model.app) as upstream:
        told = ["--upstream", upstream, *options]
        with started(*told, env=env) as (process, address, lines):
            turn, token = ask(address, [first])
            process.kill()
            process.wait(WAIT)
        left = everything(tmp_path / "kept")
        assert len(left) > 10_000
        surrogates = model.bodies[0]["messages"][0]["content"].split()
        for each in (*SAID.split(), *surrogates, token, "assistant"):
            assert len(each) < 4 or each.encode() not in left
        with started(*told, env=env) as (process, address, lines):
            shown, again = ask(address, [first, turn, second], token)
            base = address.removesuffix("/v1")
            gone = httpx.delete(f"{base}/v1/conversations/{token}", timeout=WAIT)
            process.kill()
            process.wait(WAIT)
        with started(*told, env=env) as (process, address, lines):
            answer = httpx.post(
                f"{address}/chat/completions", json={"messages": [first]},
                headers={HEADER: token}, timeout=WAIT,
            )  # fmt: skip
    assert turn["content"] == SAID
    assert again == token
    assert shown["content"] == second["content"]
    sent = [each["messages"] for each in model.bodies]
    assert sent[1][0] == sent[0][0]  # the same surrogates
    assert sent[1][1]["content"] == sent[0][0]["content"]  # the turn as it was said
    assert gone.status_code == 204
    assert answer.status_code == 404
    assert len(model.bodies) == 2
    assert "Okonkwo" not in json.dumps(model.bodies) + "".join(lines)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--conversations", "F"], "--key-file or --key-env"),
        (["--conversations", "F", "--epsilon", "9"], "needs --restore"),
        (["--conversations", "F", "--fresh"], "--fresh"),
        (["--restore", "--key-env", "X"], "--conversations"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, monkeypatch, options, says):
    monkeypatch.chdir(tmp_path)
    told = ["proxy", "--upstream", "http://127.0.0.1:9/v1", *options]
    done = CliRunner().invoke(cli, told)
    assert done.exit_code in (2, 4)
    assert says in done.output
    assert not (tmp_path / "F").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER DELETE ON kept BEGIN INSERT OR REPLACE INTO kept "
        "VALUES (old.name, old.head, old.body); END",
        "CREATE TRIGGER t BEFORE INSERT ON kept BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TABLE other (x)",
        "CREATE VIEW v AS SELECT 1",
    ],
)
def test_a_file_with_another_schema_is_refused(path, guard, statement):
    with opened(path, guard):
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as rows:
        rows.execute(statement)
    with (
        pytest.raises(ConversationFileError, match="no file of conversations"),
        opened(path, guard),
    ):
        pass
