"""Requests that no good client makes: malformed, huge, slow, or from elsewhere. Each gets an answer that says what is
wrong, or is given up; and the server is as well as before."""

import json
from typing import Any

import pytest
import requests

from conftest import WRITE_KEY, Server
from wire import Answer, ask, connect, send

JSON = {"Content-Type": "application/json"}
KEY = {"Authorization": f"Bearer {WRITE_KEY}"}


def is_well(server: Server) -> bool:
    return requests.get(f"{server.url}/readyz").text == "ready\n"


def refusal(response: requests.Response) -> dict[str, Any]:
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"} and error["message"]
    return error


@pytest.fixture(scope="session")
def operations(server: Server) -> list[tuple[str, str, dict[str, Any]]]:
    """All operations, as OpenAPI lists them: method, path, description."""
    paths = requests.get(f"{server.url}/openapi.json").json()["paths"]
    return [(method, path, what) for path, methods in paths.items() for method, what in methods.items()]


# Malformed.


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nno colon here\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nbad name: 1\r\n\r\n",
        b"GET /healthz\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=[
        "words",
        "tls",
        "no-colon",
        "bad-name",
        "nul",
        "negative-length",
        "two-lengths",
        "no-host",
        "two-hosts",
        "other-host",
    ],
)
def test_what_is_not_http_is_refused(server: Server, data: bytes) -> None:
    answer = send(server.port, data)
    assert answer.status == 400
    assert is_well(server)


def test_two_requests_cannot_hide_in_one(server: Server) -> None:
    """A length and chunks contradict each other: whoever believes the wrong one reads a second request."""
    body = b"0\r\n\r\nGET /tokenizer_info HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connect(server.port) as connection:
        connection.sendall(head % len(body) + body)
        assert Answer(connection).status >= 400
        assert connection.recv(1) == b""


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"prompt": }',
        b'{"prompt": "\xff"}',
        b'{"prompt": "\\ud800"}',
        b'{"prompt": null}',
        b'{"prompt": 1}',
        b"[]",
        b'["a list of fields"]',
        b"{}",
        b"[" * 100_000,
        b'{"prompt": "x", "prompt": "y"}',
        b'{"prompt": "x"} {"prompt": "y"}',
    ],
    ids=lambda body: body[:24].decode("latin-1") or "nothing",
)
def test_bodies_that_are_not_what_they_should_be(server: Server, body: bytes) -> None:
    response = requests.post(f"{server.url}/tokenize", data=body, headers=JSON)
    assert response.status_code == 400
    assert refusal(response)["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "path",
    [
        "/api/documents/%FF",
        "/api/documents/%00",
        "/api/documents/a/b",
        "/api/tasks/t-99999999999999999999",
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/%2e%2e/Cargo.toml",
        "//v1/models",
    ],
)
def test_paths_that_lead_nowhere(server: Server, path: str) -> None:
    answer = ask(server.port, f"GET {path}", "Host: localhost")
    assert answer.status in (400, 404)
    assert answer.error()["message"]


# Huge. The server that wants keys takes a megabyte.

HUGE = ("POST /tokenize", "Host: localhost", "Content-Type: application/json", "Content-Length: 1000000000000")


@pytest.mark.parametrize("path", ["/tokenize", "/v1/completions", "/api/documents"])
def test_a_body_that_is_too_large(keyed: Server, path: str) -> None:
    body = json.dumps({"prompt": "x" * (2 << 20)})
    response = requests.post(f"{keyed.url}{path}", data=body, headers=JSON | KEY)
    assert response.status_code == 413
    refusal(response)
    # Without a length it is counted as it comes.
    response = requests.post(f"{keyed.url}{path}", data=iter([body.encode()]), headers=JSON | KEY)
    assert response.status_code == 413


def test_a_length_that_nobody_waits_for(keyed: Server) -> None:
    key = f"Authorization: Bearer {WRITE_KEY}"
    assert ask(keyed.port, *HUGE, key).status == 413
    assert is_well(keyed)


def test_an_upload_that_is_too_large(keyed: Server) -> None:
    headers = {"Content-Type": "application/octet-stream"} | KEY
    response = requests.post(f"{keyed.url}/api/upload", data=b"x" * (2 << 20), headers=headers)
    assert response.status_code == 413


def test_who_has_no_key_sends_nothing_large(keyed: Server) -> None:
    assert ask(keyed.port, *HUGE).status == 401


def test_heads_that_are_too_large(server: Server) -> None:
    assert ask(server.port, f"GET /{'x' * (1 << 20)}", "Host: localhost").status in (414, 431)
    assert ask(server.port, "GET /healthz", "Host: localhost", f"X: {'x' * (1 << 20)}").status == 431
    assert ask(server.port, "GET /healthz", "Host: localhost", *(f"X{i}: 1" for i in range(1000))).status == 431
    assert is_well(server)


def test_a_prompt_that_is_too_long(server: Server) -> None:
    body = {"prompt": [0] * 65_537}
    response = requests.post(f"{server.url}/v1/completions", json=body)
    assert response.status_code == 400
    assert refusal(response)["code"] == "context_length_exceeded"


# Of the wrong kind.


def test_every_operation_wants_its_content_type(server: Server, operations: list[Any]) -> None:
    """A page elsewhere can post a form without asking; it cannot post this."""
    tried = 0
    for method, path, what in operations:
        if "requestBody" in what:
            tried += 1
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None):
                url, headers = server.url + path.replace("{id}", "1"), {"Content-Type": kind}
                response = requests.request(method, url, data=b"{}", headers=headers)
                assert response.status_code == 415, (method, path, kind)
                refusal(response)
    assert tried > 10


def test_every_path_says_which_methods_it_has(server: Server, operations: list[Any]) -> None:
    for path in {path for _, path, _ in operations}:
        own = {method.upper() for method, its, _ in operations if its == path}
        for method in {"GET", "POST", "DELETE", "PUT", "PATCH"} - own:
            response = requests.request(method, server.url + path, json={})
            assert response.status_code == 405, (method, path)
            assert own <= set(response.headers["allow"].replace(" ", "").split(",")), (method, path)
            refusal(response)


# From elsewhere.


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", ""])
def test_other_names_of_this_machine_are_refused(server: Server, host: str) -> None:
    """A page whose name was made to lead here would otherwise read the memory."""
    for path in ("/healthz", "/v1/models", "/", "/openapi.json"):
        answer = ask(server.port, f"GET {path}", f"Host: {host}")
        assert answer.status == 403, path
        assert answer.error()["type"] == "permission_error"


def test_a_name_in_the_request_line_counts(server: Server) -> None:
    assert ask(server.port, "GET http://evil.example/v1/models", "Host: evil.example").status == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null", ""])
def test_pages_from_elsewhere_are_refused(server: Server, origin: str) -> None:
    response = requests.post(f"{server.url}/tokenize", json={"prompt": "x"}, headers={"Origin": origin})
    assert response.status_code == 403
    refusal(response)
    response = requests.get(f"{server.url}/v1/models", headers={"Origin": origin})
    assert "access-control-allow-origin" not in response.headers


def test_our_own_page_is_not(server: Server) -> None:
    response = requests.post(f"{server.url}/tokenize", json={"prompt": "x"}, headers={"Origin": server.url})
    assert response.status_code == 200


def test_answers_tell_browsers_to_be_careful(server: Server) -> None:
    for path in ("/", "/docs", "/healthz", "/v1/models", "/nowhere"):
        headers = requests.get(server.url + path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"]
