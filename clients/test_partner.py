"""A memory beside a neural model behind llama.cpp's real server. The model is tiny, random and made here;
the tests marked `real` have the weights of SmolLM2, and run with `cargo xtask test --all`."""

import asyncio
import json
import math
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
from mcp import Client

from conftest import CAT, MEMO, OWL, Server, memo
from llama import END, Llama, smollm2, tiny

QUESTION = [{"role": "user", "content": "Where is the spare key?"}]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="module")
def llama(weights: Path) -> Iterator[Llama]:
    llama = Llama(weights)
    yield llama
    llama.kill()


def notebook(folder: Path, weights: Path, **texts: str) -> Path:
    """A model with the vocabulary of a `.gguf` that has read some texts."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "notes.memo"
    memo("init", model, "--tokenizer", weights)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
        memo("memorize", model, folder / f"{name}.txt")
    return model


@pytest.fixture(scope="module")
def both(serve: Callable[..., Server], llama: Llama, weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server of two notes beside the tiny model."""
    model = notebook(tmp_path_factory.mktemp("both"), weights, owl=OWL, cat=CAT)
    return serve(model, "--partner", llama.url)


def post(server: Server, path: str, **body: Any) -> Any:
    response = requests.post(server.url + path, json=body, timeout=60)
    assert response.status_code == 200, response.text
    return response.json()


def complete(server: Server, prompt: str, **body: Any) -> str:
    return post(server, "/v1/completions", prompt=prompt, **body)["choices"][0]["text"]


def test_the_tokenizer_of_a_gguf_is_that_of_llama_cpp(both: Server, llama: Llama) -> None:
    for text in (OWL, CAT, "naïve — 12 345\n\n\tthe  end; the then", "the" * 50):
        own = post(both, "/tokenize", prompt=text)["tokens"]
        theirs = requests.post(f"{llama.url}/tokenize", json={"content": text}, timeout=60).json()["tokens"]
        assert own == theirs


def test_the_model_alone_says_what_it_says_without_a_memory(both: Server, llama: Llama) -> None:
    """Greedy texts, raw and by the model's own chat template, are those of llama.cpp itself."""
    for prompt in ("The owl reads", "Once upon a time", "the"):
        own = complete(both, prompt, mode="model", max_tokens=24)
        body = {"prompt": prompt, "n_predict": 24, "temperature": 0}
        theirs = requests.post(f"{llama.url}/completion", json=body, timeout=60).json()["content"]
        assert same(own, theirs)
    own = post(both, "/v1/chat/completions", messages=QUESTION, mode="model", max_tokens=24)
    body = {"messages": QUESTION, "max_tokens": 24, "temperature": 0}
    theirs = requests.post(f"{llama.url}/v1/chat/completions", json=body, timeout=60).json()
    assert same(own["choices"][0]["message"]["content"], theirs["choices"][0]["message"]["content"])


def same(ours: str, theirs: str) -> bool:
    """Random weights seldom write whole characters, and both write what is none as they like."""
    bare = [text.replace("\ufffd", "") for text in (ours, theirs)]
    return bool(bare[0]) and bare[0] == bare[1]


def test_a_fixed_weight_is_the_mixture_of_both(both: Server, llama: Llama) -> None:
    prompt = post(both, "/tokenize", prompt="The owl reads at")["tokens"]
    body = {"prompt": prompt, "n_predict": 1, "n_probs": 300, "logit_bias": [[97, 1000.0]]}
    told = requests.post(f"{llama.url}/completion", json=body, timeout=60).json()
    told = told["completion_probabilities"][0]["top_logprobs"]
    model = {each["id"]: math.exp(each["logprob"]) for each in told}
    for weight in (0.0, 0.25, 0.5, 0.9, 1.0):
        made = post(both, "/api/complete", prompt="The owl reads at", max_tokens=1, weight=weight)["tokens"][0]
        shares = made["mixture"]
        assert shares["weight"] == weight
        assert shares["model"] == pytest.approx(model[made["token"]], rel=1e-4)
        expected = weight * shares["memory"] + (1 - weight) * shares["model"]
        assert made["probability"] == pytest.approx(expected, rel=1e-9)


def test_what_is_memorized_is_said_and_explained(both: Server) -> None:
    assert complete(both, "The owl reads", max_tokens=300) == OWL.removeprefix("The owl reads")
    # By itself, the model has no idea.
    assert "moon" not in complete(both, "The owl reads", max_tokens=100, mode="model")
    why = post(both, "/api/explain", prompt="The owl reads")
    assert why["candidates"][0]["sources"][0]["document"] == "owl.txt"
    assert why["partner"]["weight"] > 0.9
    assert len(why["partner"]["model"]) == 5
    assert why["partner"]["both"][0]["token"] == why["candidates"][0]["token"]


def test_streams_say_the_same(both: Server) -> None:
    client = both.openai()
    ask: dict[str, Any] = {"model": "notes", "prompt": "Marta keeps", "max_tokens": 60, "extra_body": {"mode": "both"}}
    whole = client.completions.create(**ask).choices[0].text
    pieces = [event.choices[0].text for event in client.completions.create(**ask, stream=True)]
    assert "".join(pieces) == whole
    chat: dict[str, Any] = {"model": "notes", "messages": QUESTION, "max_tokens": 20, "temperature": 0.7, "seed": 3}
    said = client.chat.completions.create(**chat).choices[0].message.content
    events = client.chat.completions.create(**chat, stream=True)
    assert "".join(event.choices[0].delta.content or "" for event in events) == said


def test_a_question_that_was_memorized_is_answered_in_a_chat(
    serve: Callable[..., Server], llama: Llama, weights: Path, tmp_path: Path
) -> None:
    """For the memory, each message is a line, so that a note of a question and its answer fits."""
    text = "Where is the spare key?\nUnder the blue stone by the well."
    server = serve(notebook(tmp_path, weights, key=text), "--partner", llama.url)
    answer = server.openai().chat.completions.create(model="notes", messages=QUESTION, max_tokens=80)  # type: ignore[arg-type]
    assert answer.choices[0].message.content == "Under the blue stone by the well."
    server.stop()


def test_a_response_is_that_of_a_chat(both: Server) -> None:
    """`/v1/responses` asks both too: by the model's own template, with instructions as the system's message."""
    client = both.openai()
    for mode in ("both", "model", "memory"):
        ask: dict[str, Any] = {"model": "notes", "extra_body": {"mode": mode}}
        chat: Any = [{"role": "system", "content": "Be brief."}, *QUESTION]
        said = client.chat.completions.create(messages=chat, max_tokens=20, **ask).choices[0].message.content
        plain = client.responses.create(
            input=QUESTION[0]["content"], instructions="Be brief.", max_output_tokens=20, **ask
        )
        assert plain.output_text == said
        messages: Any = QUESTION
        with client.responses.stream(input=messages, instructions="Be brief.", max_output_tokens=20, **ask) as events:
            pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
        assert "".join(pieces) == said
    wrong = requests.post(f"{both.url}/v1/responses", json={"input": "a", "weight": 2}, timeout=60)
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "weight")


def repeated(tokens: list[dict[str, Any]]) -> float:
    """The share of tokens that were said before."""
    return 1 - len({each["token"] for each in tokens}) / len(tokens)


def test_penalties_are_those_of_the_mixture(both: Server) -> None:
    """What was said is said less often, by both together and by the model alone."""
    body: dict[str, Any] = {"prompt": "the", "max_tokens": 60}
    for mode in ("both", "model"):
        plain = post(both, "/api/complete", mode=mode, **body)["tokens"]
        for name in ("frequency_penalty", "presence_penalty"):
            same = post(both, "/api/complete", mode=mode, **{name: 0.0}, **body)["tokens"]
            assert [each["token"] for each in same] == [each["token"] for each in plain]
            penalized = post(both, "/v1/completions", mode=mode, **{name: 2.0}, **body)["choices"][0]["text"]
            assert penalized != complete(both, mode=mode, **body)
        varied = post(both, "/api/complete", mode=mode, frequency_penalty=2.0, **body)["tokens"]
        assert repeated(varied) < repeated(plain)


def test_an_agent_is_told_what_is_remembered_unless_it_asks_for_the_model(both: Server, server: Server) -> None:
    async def complete(url: str, **arguments: Any) -> Any:
        async with Client(f"{url}/mcp") as client:
            return await client.call_tool("complete", {"prompt": "The owl reads", "max_tokens": 40, **arguments})

    own = OWL.removeprefix("The owl reads")
    said: dict[str | None, str] = {}
    for mode in (None, "memory", "both", "model"):
        result = asyncio.run(complete(both.url, **({"mode": mode} if mode else {})))
        assert not result.is_error, result.content
        said[mode] = result.structured_content["completion"]
    assert said[None] == said["memory"] and own.startswith(said["memory"].rstrip())
    assert own.startswith(said["both"]) and not own.startswith(said["model"])
    refused = asyncio.run(complete(server.url, mode="both"))
    assert refused.is_error and "--partner" in refused.content[0].text


def test_after_forgetting_answers_are_those_of_a_memory_that_never_knew(
    serve: Callable[..., Server], llama: Llama, weights: Path, tmp_path: Path
) -> None:
    """Up to what llama.cpp rounds differently each time; for the same answers, the library's tests compare bits."""
    forgot = notebook(tmp_path / "forgot", weights, owl=OWL, cat=CAT)
    memo("forget", forgot, "--doc", "cat.txt", "--yes")
    never = notebook(tmp_path / "never", weights, owl=OWL)
    servers = [serve(model, "--partner", llama.url) for model in (forgot, never)]
    for prompt in ("Marta keeps", "The cat sleeps all", "The owl reads", "the"):
        for weight in ("auto", 0.5):
            body = {"prompt": prompt, "max_tokens": 12, "logprobs": 20, "weight": weight}
            first, second = (post(server, "/v1/completions", **body)["choices"][0] for server in servers)
            assert first["text"] == second["text"]
            logs = [each["logprobs"]["token_logprobs"] for each in (first, second)]
            assert logs[0] == pytest.approx(logs[1], abs=1e-3)
    assert complete(servers[0], "Marta keeps", max_tokens=40) != CAT.split("Marta keeps")[1]
    for server in servers:
        server.stop()


def test_another_vocabulary_is_refused(llama: Llama, tmp_path: Path) -> None:
    memo("init", tmp_path / "gpt2.memo")
    with pytest.raises(AssertionError, match=r"50256.*--tokenizer"):
        memo("serve", tmp_path / "gpt2.memo", "--addr", "127.0.0.1:0", "--partner", llama.url)


@pytest.mark.parametrize("failure", ["error", "memory"])
def test_a_partner_that_is_killed(serve: Callable[..., Server], weights: Path, tmp_path: Path, failure: str) -> None:
    """What was begun ends, with an error or by the memory alone, and so does what comes after."""
    llama = Llama(weights)
    model = notebook(tmp_path, weights, owl=OWL, cat=CAT)
    server = serve(model, "--partner", llama.url, "--partner-failure", failure)
    body = {"prompt": "Once upon a time", "max_tokens": 4000, "weight": 0.0, "temperature": 1.0, "stream": True}
    with requests.post(f"{server.url}/api/complete", json=body, stream=True, timeout=60) as response:
        events = (json.loads(line[6:]) for line in response.iter_lines() if line.startswith(b"data: "))
        first = next(events)
        assert first["mixture"]["model"] is not None
        llama.kill()
        *_, last = events
    again = requests.post(
        f"{server.url}/v1/completions", json={"prompt": "The owl reads", "max_tokens": 300}, timeout=60
    )
    chat = requests.post(f"{server.url}/v1/chat/completions", json={"messages": QUESTION}, timeout=60)
    if failure == "error":
        assert (chat.status_code, chat.json()["error"]["code"]) == (502, "partner")
        # The context of the tiny model may have been filled before it was killed.
        assert last.get("error", {}).get("code") == "partner" or last.get("finish_reason") == "length"
        assert (again.status_code, again.json()["error"]["code"]) == (502, "partner")
    else:
        assert chat.status_code == 200
        assert last["finish_reason"] in ("end", "length")
        assert again.json()["choices"][0]["text"] == OWL.removeprefix("The owl reads")
    server.stop()


def test_twenty_clients_at_once(both: Server) -> None:
    """More than the model reads at a time: all are answered, and alike."""
    barrier = threading.Barrier(20)

    def ask(number: int) -> str:
        barrier.wait()
        return complete(both, "The owl reads" if number % 2 else "Marta keeps", max_tokens=60)

    with ThreadPoolExecutor(20) as pool:
        said = list(pool.map(ask, range(20)))
    assert set(said[1::2]) == {OWL.removeprefix("The owl reads")[: len(said[1])]}
    assert len(set(said[::2])) == 1


def typed(page: str) -> Iterator[tuple[str, str]]:
    """The commands of a page, as they are printed, with what they print."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.M | re.S):
        for each in block.split("$ ")[1:]:
            command, _, printed = each.partition("\n")
            yield command, printed


@pytest.mark.real
def test_the_page_typed_as_it_is_printed(tmp_path: Path) -> None:
    """docs/partner.md in a new folder; … stands for what differs each time."""
    page = (Path(__file__).parents[1] / "docs/partner.md").read_text()
    (tmp_path / "model.gguf").symlink_to(smollm2())
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "memo").symlink_to(MEMO)
    # llama.cpp's own program, as the wheel has it: the words after it are -m, the model, --port and the port.
    here = Path(__file__).parent
    (programs / "llama-server").write_text(f'#!/bin/sh\nexec {sys.executable} {here}/llama.py "$2" "$4"\n')
    (programs / "llama-server").chmod(0o755)
    commands = list(typed(page))
    assert len(commands) == 8
    # A shell that is told one command after the other, as by hand; what serves has a moment to say so.
    script = "".join(f"{command}\n{'sleep 20; ' if command.endswith('&') else ''}echo END\n" for command, _ in commands)
    shell = ["bash", "-c", f"trap 'kill $(jobs -p)' EXIT\n{script}"]
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    printed = done.stdout.split("END\n")
    for (command, expected), output in zip(commands, printed[:-1], strict=True):
        pattern = re.escape(expected.strip()).replace("…", ".*")
        assert re.fullmatch(pattern, output.strip()), (command, output, done.stderr)


@pytest.mark.real
def test_the_real_thing(serve: Callable[..., Server], tmp_path: Path) -> None:
    """SmolLM2 with its weights: fluent by itself, and with the memory it knows the note."""
    weights = smollm2()
    llama = Llama(weights)
    key = "The spare key of the mill is under the blue stone by the well.\n"
    server = serve(notebook(tmp_path, weights, key=key), "--partner", llama.url)
    texts = [OWL, CAT, key, 'fn main() {\n    println!("{}", 12 + 345);\n}\n', "naïve — “quoted” 日本語 🦉"]
    for text in texts:
        theirs = requests.post(f"{llama.url}/tokenize", json={"content": text}, timeout=60).json()["tokens"]
        assert post(server, "/tokenize", prompt=text)["tokens"] == theirs
    prompt = "The spare key of the mill is"
    assert complete(server, prompt, max_tokens=40) == key.removeprefix(prompt)
    assert "blue stone" not in complete(server, prompt, max_tokens=40, mode="model")
    for question in ("What is the capital of France?", "Say hello."):
        messages = [{"role": "user", "content": question}]
        answers = [
            post(server, "/v1/chat/completions", messages=messages, max_tokens=24, mode=mode)["choices"][0]["message"]
            for mode in ("model", "both")
        ]
        # The memory has nothing to say there, and changes nothing.
        assert answers[0] == answers[1]
        assert END not in answers[0]["content"]
    server.stop()
    llama.kill()
