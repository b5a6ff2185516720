"""The Model Context Protocol's own inspector, a program of npm: it starts `memo mcp`, and prints what that answers."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import MEMO

INSPECTOR = os.environ.get("MEMO_INSPECTOR")
KEY = "Marta keeps the spare key under the blue stone."

pytestmark = pytest.mark.skipif(not INSPECTOR, reason="`cargo xtask clients` installs it, and names it MEMO_INSPECTOR")


def inspect(*args: str | Path) -> Any:
    """What the inspector prints."""
    assert INSPECTOR
    done = subprocess.run([INSPECTOR, "--cli", *args], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def call(*at: str | Path, tool: str, **arguments: str) -> Any:
    given = [f"{name}={value}" for name, value in arguments.items()]
    return inspect(*at, "--method", "tools/call", "--tool-name", tool, *(["--tool-arg", *given] if given else []))


def test_a_memory_through_the_inspector(tmp_path: Path) -> None:
    memory = (MEMO, "mcp", tmp_path / "agent.memo")
    tools = {tool["name"] for tool in inspect(*memory, "--method", "tools/list")["tools"]}
    assert {"remember", "recall", "complete", "explain", "forget", "correct", "history", "undo", "stats"} == tools
    kept = call(*memory, tool="remember", text=KEY, source="a letter")
    assert not kept["isError"] and kept["structuredContent"]["outcome"] == "remembered"
    document = kept["structuredContent"]["document"]
    assert json.loads(kept["content"][0]["text"]) == kept["structuredContent"]
    # Each is a process of its own: what one was told, the next one knows.
    (passage,) = call(*memory, tool="recall", text="where is the spare key")["structuredContent"]["passages"]
    assert (passage["document"], passage["excerpt"], passage["labels"]) == (document, KEY, {"source": "a letter"})
    (resource,) = inspect(*memory, "--method", "resources/list")["resources"]
    assert resource["uri"] == f"memo://documents/{document}"
    gone = call(*memory, tool="forget", ids=json.dumps([document]), dry_run="false")["structuredContent"]
    assert gone["receipt"]["documents"] == [document]
    assert call(*memory, tool="recall", text="where is the spare key")["structuredContent"]["passages"] == []
    refused = call(*memory, tool="remember", text="ok")
    assert refused["isError"] and "too short" in refused["content"][0]["text"]
