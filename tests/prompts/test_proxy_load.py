"""The load test of the proxy, in short."""

import pytest

pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from benchmarks.measure import proxy_load


@pytest.mark.slow("two processes of the command under load", seconds=14)
def test_nothing_is_in_clear_and_no_request_is_lost_whatever_stops():
    found = proxy_load.measure(clients=16, seconds=3.0)
    assert found["requests"] > 20
    assert found["texts_in_clear"] == 0
    assert found["changed_history"] == 0
    assert found["equal_noise"] == 0
    assert found["lost"] == 0
    down = found["ends_with_the_model_stopped"]
    assert down["502"] > 0
    assert set(down) <= {"200", "502"}
    assert found["ends_with_the_proxy_stopped"]["ConnectError"] > 0
