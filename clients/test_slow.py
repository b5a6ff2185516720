"""Requests that come too slowly, begun before all other tests because these wait."""

from concurrent.futures import Future

import pytest
import requests

from conftest import Server
from wire import PATIENCE, SLOW, Answer


@pytest.mark.parametrize("name", SLOW)
def test_slow_requests_are_given_up(slow: dict[str, "Future[Answer | None]"], server: Server, name: str) -> None:
    answer = slow[name].result(PATIENCE)
    assert answer is None or answer.status == 408
    assert requests.get(f"{server.url}/readyz").text == "ready\n"
