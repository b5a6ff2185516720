"""Requests by the byte, for what no library would send."""

import json
import socket
import threading
from http.client import HTTPResponse
from typing import Any

# Seconds after which a connection that was not given up counts as a failure.
PATIENCE = 180


class Answer:
    """What a server said to bytes that were sent to it."""

    def __init__(self, connection: socket.socket) -> None:
        response = HTTPResponse(connection)
        response.begin()
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def error(self) -> dict[str, Any]:
        return json.loads(self.body)["error"]


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def send(port: int, data: bytes) -> Answer:
    with connect(port) as connection:
        connection.sendall(data)
        return Answer(connection)


def ask(port: int, what: str, *headers: str) -> Answer:
    """Asks for something as in `GET /docs`, with no headers but these."""
    return send(port, "".join(f"{line}\r\n" for line in [f"{what} HTTP/1.1", *headers, ""]).encode())


# Of slow requests, what comes at once, and what comes every second.
SLOW = {
    "silent": (b"", b""),
    "head": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"X: 1\r\n"),
    "body": (
        b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100000\r\n\r\n",
        b" ",
    ),
}


def drip(port: int, head: bytes, drop: bytes) -> Answer | None:
    """Sends a request slowly until there is an answer; None if the server hangs up without a word."""
    with connect(port) as connection:
        connection.sendall(head)
        done = threading.Event()

        def drops() -> None:
            while not done.wait(1):
                try:
                    connection.sendall(drop)
                except OSError:
                    return

        threading.Thread(target=drops, daemon=True).start()
        try:
            return Answer(connection)
        except ConnectionError:
            return None
        finally:
            done.set()
