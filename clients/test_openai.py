"""OpenAI's own client, against a memory whose continuations are known."""

import asyncio
import math
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI

from conftest import CAT, OWL, READ_KEY, WRITE_KEY, Server, memo

PROMPT, REST = "The owl reads", OWL.removeprefix("The owl reads")


def complete(client: OpenAI, prompt: Any = PROMPT, **options: Any) -> Any:
    return client.completions.create(model="notes", prompt=prompt, **{"max_tokens": 64} | options)


def chat(client: OpenAI, *contents: Any, **options: Any) -> Any:
    messages: Any = [{"role": "user", "content": content} for content in contents]
    return client.chat.completions.create(model="notes", messages=messages, **options)


def tokens(client: OpenAI, text: str) -> list[int]:
    body = {"prompt": text}
    return client.post("../tokenize", body=body, cast_to=dict[str, Any])["tokens"]


def test_models(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["notes"]
    assert client.models.retrieve("notes").object == "model"
    assert client.models.retrieve("gpt").id == "notes"


def test_a_completion_is_what_was_memorized(client: OpenAI) -> None:
    answer = complete(client)
    assert answer.object == "text_completion" and answer.model == "notes"
    [choice] = answer.choices
    assert (choice.text, choice.finish_reason, choice.logprobs) == (REST, "stop", None)
    used = answer.usage
    assert (used.prompt_tokens, used.completion_tokens) == (3, len(tokens(client, REST)))
    assert used.total_tokens == used.prompt_tokens + used.completion_tokens


def test_length_ends_a_completion(client: OpenAI) -> None:
    answer = complete(client, max_tokens=2)
    assert (answer.choices[0].text, answer.choices[0].finish_reason) == (" at night", "length")
    assert answer.usage.completion_tokens == 2
    assert complete(client, max_tokens=0).choices[0].text == ""


def test_prompts_in_all_four_forms(client: OpenAI) -> None:
    owl, cat = tokens(client, PROMPT), tokens(client, "The cat sleeps")
    for one in (PROMPT, owl):
        assert [choice.text for choice in complete(client, one).choices] == [REST]
    for two in ([PROMPT, "The cat sleeps"], [owl, cat]):
        choices = complete(client, two, max_tokens=2).choices
        assert [(c.index, c.text) for c in choices] == [(0, " at night"), (1, " all day")]


def test_n_counts_on_for_each_prompt(client: OpenAI) -> None:
    answer = complete(client, [PROMPT, "The cat"], n=3, max_tokens=1)
    assert [choice.index for choice in answer.choices] == list(range(6))
    assert [choice.text for choice in answer.choices] == [" at"] * 3 + [" sleeps"] * 3
    # A prompt is read once, however often it is continued.
    assert answer.usage.completion_tokens == 6
    assert answer.usage.prompt_tokens == 5


@pytest.mark.parametrize("stop", [" moon", ["never", "oon", " moon"]])
def test_stop_is_not_part_of_the_text(client: OpenAI, stop: str | list[str]) -> None:
    [choice] = complete(client, stop=stop).choices
    assert (choice.text, choice.finish_reason) == (" at night by the light of the", "stop")
    streamed = [piece.choices[0] for piece in complete(client, stop=stop, stream=True)]
    assert "".join(piece.text for piece in streamed) == choice.text
    assert streamed[-1].finish_reason == "stop"


def test_the_same_seed_draws_the_same_text(client: OpenAI) -> None:
    def drawn(seed: int) -> list[str]:
        answer = complete(client, "The", temperature=2.0, seed=seed, n=2, max_tokens=8)
        return [choice.text for choice in answer.choices]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(1)[0] != drawn(1)[1]


def test_echo_gives_every_token_its_log_probability(client: OpenAI) -> None:
    [choice] = complete(client, OWL, echo=True, logprobs=3, max_tokens=1).choices
    seen, ids = choice.logprobs, tokens(client, OWL)
    assert choice.text.startswith(OWL)
    # One entry for each token of the prompt, and one for the token after it, which here is the end.
    assert len(seen.tokens) == len(seen.token_logprobs) == len(seen.top_logprobs) == len(ids) + 1
    assert "".join(seen.tokens[: len(ids)]) == OWL
    assert all(OWL[at:].startswith(token) for at, token in zip(seen.text_offset, seen.tokens[: len(ids)], strict=False))
    assert seen.token_logprobs[0] is None and seen.top_logprobs[0] is None
    for token, logprob, top in zip(seen.tokens[1:], seen.token_logprobs[1:], seen.top_logprobs[1:], strict=True):
        # What was memorized is the likeliest, and both places say so with the same bits.
        assert top[token] == logprob == max(top.values())
        assert len(top) == 3 and sum(map(math.exp, top.values())) <= 1 + 1e-9


def test_logprobs_do_not_depend_on_who_asked_for_them(client: OpenAI) -> None:
    """A token has one probability: generated, echoed, streamed, or in a chat."""
    made = complete(client, logprobs=0, max_tokens=5).choices[0].logprobs
    assert made.tokens == [" at", " night", " by", " the", " light"]
    echoed = complete(client, OWL, echo=True, logprobs=0, max_tokens=0).choices[0].logprobs
    assert echoed.token_logprobs[3:8] == made.token_logprobs
    pieces = list(complete(client, logprobs=0, max_tokens=5, stream=True))
    streamed = [p for piece in pieces for p in piece.choices[0].logprobs.token_logprobs]
    assert streamed == made.token_logprobs
    said = chat(client, PROMPT, logprobs=True, top_logprobs=2, max_tokens=5).choices[0].logprobs.content
    assert [token.logprob for token in said] == made.token_logprobs
    assert [token.token for token in said] == made.tokens
    for token in said:
        assert bytes(token.bytes).decode() == token.token == token.top_logprobs[0].token
        assert token.logprob == token.top_logprobs[0].logprob > token.top_logprobs[1].logprob


def test_streaming_gives_the_same_text_in_pieces(client: OpenAI) -> None:
    pieces = list(complete(client, stream=True))
    assert "".join(piece.choices[0].text for piece in pieces) == REST
    assert len(pieces) > 10
    assert {piece.id for piece in pieces} == {pieces[0].id}
    assert [piece.choices[0].finish_reason for piece in pieces] == [None] * (len(pieces) - 1) + ["stop"]
    assert all(piece.usage is None for piece in pieces)
    echoed = complete(client, stream=True, echo=True)
    assert "".join(piece.choices[0].text for piece in echoed) == OWL


def test_streams_of_several_choices(client: OpenAI) -> None:
    texts = {0: "", 1: "", 2: "", 3: ""}
    for piece in complete(client, [PROMPT, "The cat"], n=2, max_tokens=3, stream=True):
        texts[piece.choices[0].index] += piece.choices[0].text
    assert texts == {0: " at night by", 1: " at night by", 2: " sleeps all day", 3: " sleeps all day"}


def test_a_stream_ends_with_usage_if_asked(client: OpenAI) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}, "max_tokens": 3}
    *pieces, last = complete(client, **options)
    assert all(piece.usage is None for piece in pieces)
    assert last.choices == []
    assert (last.usage.prompt_tokens, last.usage.completion_tokens, last.usage.total_tokens) == (3, 3, 6)
    *pieces, last = chat(client, PROMPT, **options)
    assert all(piece.usage is None for piece in pieces)
    assert (last.choices, last.usage.total_tokens) == ([], 6)


def test_chat_continues_the_last_message(client: OpenAI) -> None:
    answer = chat(client, PROMPT)
    assert answer.object == "chat.completion"
    [choice] = answer.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", REST, "stop")
    assert answer.usage.prompt_tokens == 3
    parts = [{"type": "text", "text": "The owl "}, {"type": "text", "text": "reads"}]
    assert chat(client, parts).choices[0].message.content == REST
    assert chat(client, PROMPT, max_completion_tokens=2).choices[0].message.content == " at night"
    assert [c.message.content for c in chat(client, PROMPT, n=2, stop="night").choices] == [" at ", " at "]
    longer = chat(client, "Something else.", PROMPT)
    assert longer.choices[0].message.content == REST
    assert longer.usage.prompt_tokens > answer.usage.prompt_tokens


def test_chat_streams(client: OpenAI) -> None:
    pieces = list(chat(client, PROMPT, stream=True))
    assert {piece.object for piece in pieces} == {"chat.completion.chunk"}
    first, *_, last = [piece.choices[0] for piece in pieces]
    assert first.delta.role == "assistant"
    assert last.finish_reason == "stop"
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == REST


def test_many_at_once(server: Server) -> None:
    async def one(client: openai.AsyncOpenAI, prompt: str) -> str:
        stream = await client.completions.create(model="notes", prompt=prompt, max_tokens=5, stream=True)
        return "".join([piece.choices[0].text async for piece in stream])

    async def all_of_them() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
            return await asyncio.gather(*(one(client, prompt) for prompt in [PROMPT, "The cat"] * 16))

    assert asyncio.run(all_of_them()) == [" at night by the light", " sleeps all day on the"] * 16


def test_any_name_is_that_of_the_one_model(client: OpenAI) -> None:
    answer = client.completions.create(model="gpt", prompt=PROMPT, max_tokens=1)
    assert answer.model == "notes" and answer.choices[0].text


def test_a_response_has_the_id_of_its_request(client: OpenAI) -> None:
    raw = client.completions.with_raw_response.create(
        model="notes", prompt=PROMPT, extra_headers={"X-Request-Id": "mine-7"}
    )
    assert raw.headers["x-request-id"] == "mine-7"
    assert complete(client)._request_id.startswith("req-")


def test_much_at_once_is_refused(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="16 completions of 16384 tokens are too much"):
        client.completions.create(model="notes", prompt=PROMPT, n=16, max_tokens=16_384)


UNSUPPORTED: list[dict[str, Any]] = [
    {"suffix": "."},
    {"best_of": 2},
    {"logit_bias": {"1": 5}},
]
OUT_OF_RANGE: list[dict[str, Any]] = [
    {"n": 0},
    {"n": 1000},
    {"temperature": -1},
    {"top_p": 2},
    {"frequency_penalty": 2.5},
    {"presence_penalty": -2.5},
    {"max_tokens": 10**9},
    {"logprobs": 21},
    {"stop": ["x"] * 17},
]


@pytest.mark.parametrize("option", UNSUPPORTED + OUT_OF_RANGE, ids=lambda option: next(iter(option)))
def test_what_cannot_be_done_is_refused_by_name(client: OpenAI, option: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        complete(client, **option)
    assert refused.value.param == next(iter(option))
    assert refused.value.type == "invalid_request_error"


CHAT_ONLY: list[dict[str, Any]] = [
    {"tools": [{"type": "function", "function": {"name": "look"}}]},
    {"response_format": {"type": "json_object"}},
    {"top_logprobs": 5},
    {"modalities": ["audio"]},
]


@pytest.mark.parametrize("option", CHAT_ONLY, ids=lambda option: next(iter(option)))
def test_a_chat_refuses_by_name_too(client: OpenAI, option: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        chat(client, PROMPT, **option)
    assert refused.value.param == next(iter(option))


def test_pictures_are_refused(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="image_url") as refused:
        chat(client, [{"type": "image_url", "image_url": {"url": "data:,"}}])
    assert refused.value.param == "messages"


def test_what_changes_nothing_is_accepted(client: OpenAI) -> None:
    harmless: dict[str, Any] = {"best_of": 1, "frequency_penalty": 0, "presence_penalty": 0, "logit_bias": {}}
    assert complete(client, user="someone", **harmless).choices[0].text == REST


def test_penalties(client: OpenAI) -> None:
    # What they change is tested with the server; here, that the client's own fields reach it.
    assert complete(client, frequency_penalty=0, presence_penalty=0).choices[0].text == REST
    assert complete(client, frequency_penalty=0.01, presence_penalty=-0.01).choices[0].text == REST
    assert chat(client, PROMPT, frequency_penalty=2, presence_penalty=2).choices[0].message.content


def test_responses(client: OpenAI) -> None:
    answer = client.responses.create(model="notes", input=PROMPT)
    assert (answer.output_text, answer.status, answer.model) == (REST, "completed", "notes")
    assert answer.usage and answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens
    messages: Any = [{"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}]
    short = client.responses.create(model="notes", input=messages, instructions="Quote.", max_output_tokens=2)
    assert (short.output_text, short.status) == (" at night", "incomplete")
    assert short.incomplete_details and short.incomplete_details.reason == "max_output_tokens"
    # What it said can be sent back.
    [said] = short.output
    again = client.responses.create(model="notes", input=[*messages, said.model_dump()], max_output_tokens=2)
    assert again.status in ("completed", "incomplete")


def test_responses_are_streamed(client: OpenAI) -> None:
    with client.responses.stream(model="notes", input=PROMPT) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    assert text == final.output_text == REST
    assert final.status == "completed"


@pytest.mark.parametrize("field", ["tools", "previous_response_id", "store", "background"])
def test_responses_without_tools_and_state(client: OpenAI, field: str) -> None:
    given: dict[str, Any] = {
        "tools": [{"type": "function", "name": "look", "parameters": {}, "strict": True}],
        "previous_response_id": "resp-1",
        "store": True,
        "background": True,
    }
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(model="notes", input=PROMPT, **{field: given[field]})
    assert refused.value.param == field


def test_several_models(serve: Any, tmp_path: Path) -> None:
    for name, text in (("owl", OWL), ("cat", CAT)):
        (tmp_path / f"{name}.txt").write_text(text)
        memo("memorize", tmp_path / "models" / f"{name}.memo", tmp_path / f"{name}.txt")
    client = serve(tmp_path / "models").openai()
    assert [model.id for model in client.models.list()] == ["cat", "owl"]
    asked = {"prompt": "The", "max_tokens": 2}
    said = {name: client.completions.create(model=name, **asked).choices[0].text for name in ("owl", "cat")}
    assert said == {"owl": " owl reads", "cat": " cat sleeps"}
    with pytest.raises(openai.NotFoundError, match='there is no model "dog"; this server has "cat", "owl"') as refused:
        client.completions.create(model="dog", **asked)
    assert (refused.value.code, refused.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("dog")


def test_tokens_that_are_none(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="vocabulary"):
        complete(client, [10**9])


def test_a_wrong_key(keyed: Server) -> None:
    with pytest.raises(openai.AuthenticationError) as refused:
        keyed.openai("a-key-that-is-wrong").models.list()
    assert refused.value.code == "invalid_api_key"
    assert refused.value.response.headers["www-authenticate"] == "Bearer"


def test_a_key_that_reads_may_not_write(keyed: Server) -> None:
    reader, writer = keyed.openai(READ_KEY), keyed.openai(WRITE_KEY)
    assert [model.id for model in reader.models.list()] == ["keyed"]
    body = {"text": OWL, "id": "owl"}
    with pytest.raises(openai.PermissionDeniedError) as refused:
        reader.post("../api/documents", body=body, cast_to=object)
    assert refused.value.code == "read_only_key"
    assert reader.completions.create(model="keyed", prompt=PROMPT, max_tokens=64).choices[0].text != REST
    writer.post("../api/documents", body=body, cast_to=object)
    assert reader.completions.create(model="keyed", prompt=PROMPT, max_tokens=64).choices[0].text == REST


def test_too_many_requests(serve: Any, tmp_path: Any) -> None:
    hasty = serve(tmp_path / "hasty.memo", "--rate", "1").openai()
    with pytest.raises(openai.RateLimitError) as refused:
        for _ in range(50):
            hasty.models.list()
    assert refused.value.response.headers["retry-after"] == "1"
