"""The Model Context Protocol's own client, over standard streams and over HTTP, in today's and last year's revision."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from conftest import MEMO, READ_KEY, WRITE_KEY, Server, memo

READING = {"recall", "complete", "explain", "history", "stats"}
CHANGING = {"remember", "forget", "correct", "undo"}
KEY = "Marta keeps the spare key under the blue stone."

Steps = Callable[[Client], Awaitable[None]]


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> str:
    """How the client speaks: as of today if it can, or as of last year."""
    return request.param


@pytest.fixture(params=["stdio", "http"])
def run(
    request: pytest.FixtureRequest, mode: str, tmp_path: Path, serve: Callable[..., Server]
) -> Callable[[Steps], None]:
    """Runs steps with a client of an empty memory."""
    model = tmp_path / "agent.memo"

    async def steps(ask: Steps) -> None:
        if request.param == "http":
            memo("init", model)
            server: Any = f"{serve(model).url}/mcp"
        else:
            server = StdioServerParameters(command=str(MEMO), args=["mcp", str(model)])
        # The client checks every structured result against the schema that the tool promises.
        async with Client(server, mode=mode) as client:
            assert client.protocol_version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
            await ask(client)

    return lambda ask: asyncio.run(steps(ask))


async def call(client: Client, tool: str, /, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refused(client: Client, tool: str, /, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


def test_tools_say_what_they_do(run: Callable[[Steps], None]) -> None:
    async def ask(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == READING | CHANGING
        for name, tool in tools.items():
            assert tool.description and tool.output_schema
            assert tool.annotations.read_only_hint == (name in READING)
            assert tool.annotations.destructive_hint == (name in {"forget", "correct", "undo"})
            assert tool.annotations.idempotent_hint == (name not in {"forget", "undo"})
        assert "recall" in (client.instructions or "recall")

    run(ask)


def test_a_memory_from_the_first_note_to_its_end(run: Callable[[Steps], None]) -> None:
    async def ask(client: Client) -> None:
        kept = await call(client, "remember", text=KEY, source="a letter", labels={"of": "Marta"})
        assert kept["outcome"] == "remembered" and kept["transaction"] == 1
        again = await call(client, "remember", text=f"  {KEY}\n")
        assert (again["outcome"], again["transaction"]) == ("already known", None)
        assert again["known"] == [{"document": kept["document"], "line": 1}]
        part = await call(client, "remember", text="the spare key under the blue stone")
        assert part["outcome"] == "already known"

        [passage] = (await call(client, "recall", text="Where is the spare key?"))["passages"]
        assert passage["document"] == kept["document"] and passage["excerpt"] == KEY
        assert passage["labels"] == {"of": "Marta", "source": "a letter"}

        completion = await call(client, "complete", prompt="Marta keeps the")
        assert completion["completion"] == " spare key under the blue stone."
        assert completion["matched"]["kind"] == "verbatim"
        assert (await call(client, "complete", prompt="Nobody wrote of giraffes"))["finish_reason"] == "unknown"
        explained = await call(client, "explain", prompt="Marta keeps the", candidates=1)
        assert explained["candidates"][0]["sources"][0]["document"] == kept["document"]

        wrong = "Marta keeps the spare key under the blue"
        edit = await call(client, "correct", prompt=wrong, target=" pot.", reason="moved")
        assert (await call(client, "complete", prompt="Marta keeps the"))["completion"].endswith(" pot.")
        await call(client, "undo", transaction=edit["transaction"])
        changes = (await call(client, "history"))["transactions"]
        assert [change["kind"] for change in changes] == ["rollback", "edit", "memorize"]
        assert (await call(client, "stats"))["documents"] == 1

        resources = (await client.list_resources()).resources
        assert [resource.name for resource in resources] == [kept["document"]]
        [content] = (await client.read_resource(resources[0].uri)).contents
        assert content.text == KEY

        shown = await call(client, "forget", source="a letter")
        assert shown["dry_run"] and shown["preview"]["documents"][0]["document"] == kept["document"]
        assert (await call(client, "stats"))["documents"] == 1
        receipt = (await call(client, "forget", source="a letter", dry_run=False))["receipt"]
        assert receipt["documents"] == [kept["document"]] and len(receipt["digest_after"]) == 64
        assert (await call(client, "stats"))["documents"] == 0
        assert (await call(client, "recall", text="spare key"))["passages"] == []

    run(ask)


def test_junk_is_refused_with_what_to_do(run: Callable[[Steps], None]) -> None:
    async def ask(client: Client) -> None:
        assert "no text" in await refused(client, "remember", text=" \n ")
        assert "whole sentence" in await refused(client, "remember", text="ok")
        assert "one by one" in await refused(client, "remember", text="A long text. " * 6000)
        assert "`text` is missing" in await refused(client, "remember")
        assert "ids" in await refused(client, "forget")
        assert "no document" in await refused(client, "forget", ids=["nothing"])
        with pytest.raises(Exception, match="nonsense"):
            await client.call_tool("nonsense", {})
        assert (await call(client, "stats"))["documents"] == 0

    run(ask)


@pytest.mark.parametrize("key", [READ_KEY, WRITE_KEY])
def test_keys_decide_what_is_there(keyed: Server, key: str, mode: str) -> None:
    async def ask() -> None:
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport: Any = streamable_http_client(f"{keyed.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                names = {tool.name for tool in (await client.list_tools()).tools}
                assert names == (READING if key == READ_KEY else READING | CHANGING)
                assert (await call(client, "stats"))["model"] == "keyed"
                if key == READ_KEY:
                    assert "may read" in await refused(client, "remember", text=KEY)

    asyncio.run(ask())


def test_no_key_no_answer(keyed: Server) -> None:
    answer = httpx2.post(f"{keyed.url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert answer.status_code == 401 and answer.json()["error"]["code"] == "missing_api_key"
