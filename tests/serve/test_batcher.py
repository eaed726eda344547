"""Requests share laws and calls, and never noise or errors."""

import asyncio
import threading

import pytest
from clients import CANARY

import mondegreen as mg
from mondegreen.errors import (
    ConfigurationError,
    DataError,
    InvalidParameterError,
    OutOfVocabularyError,
    PrivacyError,
)
from mondegreen.sampling.noise import OSNoise
from mondegreen.serve.batcher import Batcher, has_more_words
from strategies import WORDS

TEXT = " ".join(WORDS[:40])


class Counting:
    """Fresh noise, and how often it was asked for, and for how many texts."""

    is_secret = True

    def __init__(self):
        self.asked = []

    def describe(self):
        return "counted"

    def streams(self, batch):
        self.asked.append(len(batch.texts))
        yield from OSNoise().streams(batch)


class Gate:
    """A privatizer whose first call waits, so that requests come together behind it."""

    def __init__(self, privatizer):
        self._privatizer = privatizer
        self.is_open = threading.Event()
        self.is_reached = threading.Event()
        self.noise = privatizer.noise

    def with_noise(self, noise):
        self.is_reached.set()
        assert self.is_open.wait(60)
        return self._privatizer.with_noise(noise)


@pytest.fixture
def batch():
    """Return what asks a batcher for several requests at once, behind a first one."""
    made = []

    def ask(privatizer, *requests, **options):
        gate = Gate(privatizer)
        batcher = Batcher(gate, **options)
        made.append(batcher)

        async def all_of_them():
            loop = asyncio.get_running_loop()
            ids = ["0"] if isinstance(privatizer.noise, mg.KeyedNoise) else None
            first = asyncio.ensure_future(batcher.privatize(["bad"], ids=ids))
            await loop.run_in_executor(None, gate.is_reached.wait, 60)
            tasks = [
                asyncio.ensure_future(batcher.privatize(*request))
                for request in requests
            ]
            await asyncio.sleep(0)  # all of them are in the queue
            await asyncio.sleep(0)
            gate.is_open.set()
            await first
            return await asyncio.gather(*tasks, return_exceptions=True)

        return asyncio.run(all_of_them())

    yield ask
    for batcher in made:
        batcher.close()


def test_64_requests_of_one_text_share_a_call_and_no_noise(batch, privatizer):
    calls, noise = [], Counting()
    counted = privatizer.with_noise(noise)
    requests = [([TEXT, TEXT],)] * 64
    found = batch(counted, *requests, observe=lambda *seen: calls.append(seen))
    assert len({text for texts in found for text in texts}) == 128
    assert calls == [(1, 1, 1), (64, 128, 128 * 40)]
    assert noise.asked == [1, *[2] * 64]


def test_a_generator_that_is_copied_would_be_found(batch, privatizer):
    class Copied(Counting):
        def streams(self, batch):
            yield from mg.Seeded(1).streams(
                type(batch)(0, b"", batch.texts, batch.ids, batch.places)
            )

    found = batch(privatizer.with_noise(Copied()), *[([TEXT],)] * 4)
    assert len({texts[0] for texts in found}) == 1


def test_keyed_requests_have_together_what_each_has_alone(batch, privatizer, key_file):
    keyed = privatizer.with_noise(mg.KeyedNoise.from_file(key_file))
    requests = [
        (texts, ids, column)
        for column in ("text", "other")
        for texts, ids in [([TEXT, None, ""], [1, 2, 3]), ([TEXT], ["9"])]
    ]
    alone = [
        [release and release.text for release in keyed.batch(t, i, column=c)]
        for t, i, c in requests
    ]
    assert batch(keyed, *requests) == alone
    assert alone[1] != alone[3]


@pytest.mark.parametrize("read", ["words", "sentence"])
def test_what_is_read_does_not_depend_on_the_neighbours(batch, key_file, read):
    keyed = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0),
        read=read,
        noise=mg.KeyedNoise.from_file(key_file),
    )
    requests = [([f"I met Ann in Oslo. We ate {i} fish."], [i]) for i in range(8)]
    alone = [[keyed(texts[0], id=ids[0]).text] for texts, ids in requests]
    assert batch(keyed, *requests) == alone


def test_the_error_of_one_is_not_that_of_another(batch, space_file):
    law = mg.mechanism("tem", epsilon=0.01)
    strict = mg.Privatizer(law, mg.load_space(space_file), unknown="fail")
    good, bad = ([TEXT],), ([f"{TEXT} {CANARY}"],)
    found = batch(strict, good, bad, good)
    assert isinstance(found[1], OutOfVocabularyError)
    assert len({found[0][0], found[2][0], TEXT}) == 3


def test_a_large_request_lets_the_small_ones_pass(batch, privatizer):
    calls = []
    large = [TEXT] * 5000
    found = batch(
        privatizer,
        (large,),
        *[([TEXT],)] * 3,
        observe=lambda *seen: calls.append(seen),
    )
    assert len(set(found[0])) == 5000
    assert all(len(call) == 1 for call in found[1:])
    callers = [callers for callers, _, _ in calls]
    assert callers[:2] == [1, 4]  # not behind thirteen pieces of the first
    assert sum(texts for _, texts, _ in calls) == 5004


def test_who_has_gone_takes_no_more_time(privatizer):
    calls = []
    batcher = Batcher(privatizer, observe=lambda *seen: calls.append(seen[1]))

    async def give_up():
        task = asyncio.ensure_future(batcher.privatize([TEXT] * 40_000))
        async with asyncio.timeout(120):
            while not calls:
                await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await batcher.privatize([TEXT])

    assert len(asyncio.run(give_up())) == 1
    batcher.close()
    assert sum(calls) < 40_000


def test_texts_have_so_many_words_at_most(privatizer):
    batcher = Batcher(privatizer, words=5)
    ok, spaced = "a b c d e", "a" + " " * 50 + "b"
    assert len(asyncio.run(batcher.privatize([ok, spaced]))) == 2
    with pytest.raises(DataError, match="texts\\[1\\] has more than 5 words"):
        asyncio.run(batcher.privatize([ok, f"{CANARY} b c d e f"]))
    batcher.close()


@pytest.mark.parametrize("texts", ["one string", [3], [b"x"], [["a"]]])
def test_what_is_no_text_is_refused(privatizer, texts):
    batcher = Batcher(privatizer)
    with pytest.raises(InvalidParameterError):
        asyncio.run(batcher.privatize(texts))


def test_keyed_noise_needs_ids(privatizer, key_file):
    batcher = Batcher(privatizer.with_noise(mg.KeyedNoise.from_file(key_file)))
    with pytest.raises(ConfigurationError, match="ids"):
        asyncio.run(batcher.privatize([TEXT]))


def test_several_loops_may_ask_one_batcher(privatizer):
    batcher, found = Batcher(privatizer), []
    threads = [
        threading.Thread(
            target=lambda: found.extend(asyncio.run(batcher.privatize([TEXT] * 50)))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    batcher.close()
    assert len(set(found)) == 400


def test_words_are_counted_as_they_are_privatized_however_long_the_text():
    text = "word " * 40_000  # more than one slice
    assert not has_more_words([text], 40_000)
    assert has_more_words([text], 39_999)
    assert not has_more_words(["a" * 200_000], 4)
    assert not has_more_words(["x"] * 500, 500)
    assert has_more_words(["x"] * 501, 500)
    assert not has_more_words([], 0)


def test_a_short_request_comes_before_longer_ones(batch, privatizer):
    calls = []

    class Kept(Counting):
        def streams(self, batch):
            calls.append(batch.texts)
            yield from super().streams(batch)

    long = " ".join(WORDS[:40] * 300)
    batch(privatizer.with_noise(Kept()), ([long],), ([long],), (["bad"],))
    assert calls[1] == ["bad"]


def test_what_has_no_release_is_an_error_and_nobody_elses_text(batch, privatizer):
    class Short:
        noise = privatizer.noise

        def with_noise(self, noise):
            return self

        def texts(self, texts, ids, column):
            return ["of another"] * (len(texts) + 1), 1

    batcher = Batcher(Short())
    with pytest.raises(PrivacyError):
        asyncio.run(batcher.privatize(["bad"]))
    batcher.close()
