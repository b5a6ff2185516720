"""Schemathesis: the server does what its description says, whatever it is asked."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import requests

from conftest import CAT, WRITE_KEY, Server, memo

KEY = {"Authorization": f"Bearer {WRITE_KEY}"}


def test_the_server_is_as_described(serve: Callable[..., Server], tmp_path: Path) -> None:
    model = tmp_path / "asked.memo"
    memo("init", model)
    server = serve(model, "--api-key", WRITE_KEY, "--max-body", "1")
    for number in range(1, 7):
        document = {"id": str(number), "text": f"{CAT} That was note {number}."}
        assert requests.post(f"{server.url}/api/documents", json=document, headers=KEY).ok
    here = Path(__file__).parent
    command = [sys.executable, "-m", "schemathesis.cli", f"--config-file={here}/schemathesis.toml", "run", "--no-color"]
    command += ["--header", f"Authorization: Bearer {WRITE_KEY}", f"{server.url}/openapi.json"]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": f"{here}/hooks.py"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert requests.get(f"{server.url}/readyz").text == "ready\n"
    server.stop()
    memo("verify", model)


def test_an_upload_takes_all_its_options(keyed: Server) -> None:
    """What schemathesis cannot see: that a good request is not refused."""
    headers, asked = KEY | {"Content-Type": "application/octet-stream"}, {"id": "cat.txt", "reason": "a test"}
    for options, status in (({}, 200), ({"wait": "true"}, 200), ({"wait": "false"}, 202)):
        params = asked | options
        response = requests.post(f"{keyed.url}/api/upload", params=params, data=CAT.encode(), headers=headers)
        assert response.status_code == status, response.text
    shown = f"{keyed.url}/api/documents/cat.txt"
    assert requests.get(shown, headers=KEY).json()["text"] == CAT
    assert requests.get(shown, {"version": 7}, headers=KEY).status_code == 404
