"""What a model says: completions, streams, probabilities, recall, explanations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from memo_lm import InvalidError, Memo
from texts import CAT, OWL

REST = OWL[len("The owl reads") :]
# A character of several tokens, so that pieces end in the middle of one.
SIGNS = "The sign says 🦉🌙, and below it: ✨ 静かに ✨."


def test_a_prompt_is_completed_from_memory(notes: Memo) -> None:
    assert notes.complete("The owl reads") == REST
    assert notes.complete("The owl reads", 3) == " at night by"
    assert notes.complete("The owl reads", 0) == ""
    assert notes.generate("The owl reads", 3) == " at night by"


def test_token_ids_are_a_prompt_too(notes: Memo) -> None:
    ids = notes.encode("The owl reads")
    assert notes.complete(ids) == notes.complete(ids.tolist()) == notes.complete(ids.astype(np.int64)) == REST


@pytest.mark.parametrize("tokens", [0, 1, 5, 64])
@pytest.mark.parametrize("prompt", ["The owl reads", "The sign says", "", "Words that nobody wrote"])
def test_a_stream_is_the_completion_in_pieces(notes: Memo, prompt: str, tokens: int) -> None:
    notes.memorize(SIGNS)
    assert "".join(notes.generate(prompt, tokens, stream=True)) == notes.complete(prompt, tokens)


def test_a_stream_comes_piece_by_piece(notes: Memo) -> None:
    stream = notes.generate("The owl reads", stream=True)
    assert [next(stream) for _ in range(3)] == [" at", " night", " by"]
    # A model may change between two pieces.
    notes.memorize("More.")
    assert next(stream) == " the"


def test_a_stream_never_shows_half_a_character(notes: Memo) -> None:
    notes.memorize(SIGNS)
    pieces = list(notes.generate("The sign says", stream=True))
    assert "".join(pieces) == SIGNS[len("The sign says") :]
    assert not any("\ufffd" in piece for piece in pieces)


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        (".", " at night by the light of the moon"),
        ("night", " at "),
        ("ght by the li", " at ni"),
        (["tower", "moon"], " at night by the light of the "),
        (" at", ""),
        ("moon. In the evening", REST),
        ([], REST),
    ],
)
def test_a_stop_ends_a_completion_before_it(notes: Memo, stop: str | list[str], text: str) -> None:
    assert notes.complete("The owl reads", stop=stop) == text
    pieces = list(notes.generate("The owl reads", stop=stop, stream=True))
    assert "".join(pieces) == text
    assert "" not in pieces


def test_drawing_is_decided_by_the_seed(notes: Memo) -> None:
    def drawn(seed: int, **options: float) -> str:
        return notes.complete("The", 12, temperature=1.0, seed=seed, **options)  # type: ignore[arg-type]

    assert [drawn(seed) for seed in range(8)] == [drawn(seed) for seed in range(8)]
    assert len({drawn(seed) for seed in range(8)}) > 1
    # The likeliest alone is left.
    assert drawn(1, top_k=1) == notes.complete("The", 12) == drawn(2, top_p=0)
    assert "".join(notes.generate("The", 12, stream=True, temperature=1.0, seed=3)) == drawn(3)
    # Without one, each is drawn anew, and can be drawn again.
    anew = [notes.completion("The", 12, temperature=2.0) for _ in range(8)]
    assert len({each.completion for each in anew}) > 1
    assert all(
        notes.completion("The", 12, temperature=2.0, seed=each.seed).completion == each.completion for each in anew
    )
    assert notes.completion("The", 12).seed is None


def test_penalties_change_what_is_said_and_zero_nothing(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "ping.memo") as memo:
        memo.memorize("ping pong ping pong ping pong ping done. " * 8)
        for temperature in (0.0, 1.0):
            options = {"temperature": temperature, "seed": 3, "guess": True}
            plain = memo.complete("ping", 40, **options)
            assert memo.complete("ping", 40, frequency_penalty=0, presence_penalty=0, **options) == plain
            assert memo.complete("ping", 40, frequency_penalty=2, **options) != plain
            assert "".join(memo.generate("ping", 40, stream=True, presence_penalty=2, **options)) == memo.complete(
                "ping", 40, presence_penalty=2, **options
            )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"temperature": -1}, "temperature must be between 0 and 100"),
        ({"temperature": float("nan")}, "temperature must be between 0 and 100"),
        ({"temperature": "hot"}, "temperature='hot' must be a number"),
        ({"top_p": 1.5}, "top_p must be between 0 and 1"),
        ({"frequency_penalty": 3}, "frequency_penalty must be between -2 and 2"),
        ({"presence_penalty": "much"}, "presence_penalty='much' must be a number"),
        ({"top_k": -1}, "top_k=-1 must be a whole number that is not negative"),
        ({"seed": 1.5}, "seed=1.5 must be a whole number that is not negative"),
        ({"max_tokens": -1}, "max_tokens=-1 must be a whole number that is not negative"),
        ({"seed": 2**70}, f"seed={2**70} is too large; it must be below 2**63"),
        ({"stop": ""}, "stop must be a text that is not empty"),
        ({"stop": [1]}, "stop must be a str, not int"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_senseless_options_are_refused(notes: Memo, options: dict[str, float], says: str, stream: bool) -> None:
    with pytest.raises(InvalidError) as refused:
        notes.generate("The", stream=stream, **options)  # type: ignore[call-overload]
    assert str(refused.value) == says


def test_a_completion_has_tokens_and_why_it_ended(notes: Memo) -> None:
    done = notes.completion("The owl reads", 3)
    assert (str(done), done.completion, done.finish_reason) == (" at night by", " at night by", "length")
    assert [token.token for token in done.tokens] == notes.encode(" at night by").tolist()
    assert [token.text for token in done.tokens] == [" at", " night", " by"]
    assert all(token.probability is None and token.context_tokens is None for token in done.tokens)
    assert notes.completion("The owl reads").finish_reason == "end"
    stopped = notes.completion("The owl reads", stop="ght by the li")
    assert ([token.text for token in stopped.tokens], stopped.finish_reason) == ([" at", " ni"], "stop")


def test_tokens_of_a_completion_have_probabilities_and_contexts_if_asked_for(notes: Memo) -> None:
    done = notes.completion("The owl reads", 64, probabilities=True, contexts=True)
    assert done.completion == notes.complete("The owl reads")
    for n, token in enumerate(done.tokens[:5]):
        context = "The owl reads" + "".join(before.text for before in done.tokens[:n])
        assert token.probability == pytest.approx(notes.next_token(context)[token.token])
        assert (token.best, token.context_tokens) == (True, len(notes.encode(context)))


# Many at once, and asynchronously


def test_many_are_what_each_is_alone(notes: Memo) -> None:
    prompts = ["The owl reads", notes.encode("The cat"), "", "Words that nobody wrote"]
    for options in ({}, {"temperature": 1.0, "seed": 3}, {"stop": "."}):
        alone = [notes.complete(prompt, 9, **options) for prompt in prompts]  # type: ignore[arg-type]
        assert notes.complete_all(prompts, 9, **options) == alone  # type: ignore[arg-type]
    for text, logs in zip(prompts, notes.logprobs_all(prompts)):
        np.testing.assert_array_equal(logs, notes.logprobs(text))
    for text, ids in zip([OWL, "", CAT], notes.encode_all(text for text in (OWL, "", CAT))):
        np.testing.assert_array_equal(ids, notes.encode(text))
    assert notes.complete_all([]) == notes.logprobs_all([]) == notes.encode_all([]) == []


def test_one_is_not_taken_for_many(notes: Memo) -> None:
    for one in ("The owl", notes.encode("The owl"), [464, 39610]):
        with pytest.raises(InvalidError, match="must be several"):
            notes.complete_all(one)  # type: ignore[arg-type]
        with pytest.raises(InvalidError, match="must be several"):
            notes.logprobs_all(one)  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="must be several"):
        notes.encode_all("The owl")
    with pytest.raises(InvalidError, match="text 1: text must be a str or token ids, not NoneType"):
        notes.complete_all(["The owl", None])  # type: ignore[list-item]


def test_an_asynchronous_stream_is_the_stream(notes: Memo) -> None:
    async def listen() -> tuple[list[str], int]:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        busy = asyncio.create_task(others())
        pieces = [piece async for piece in notes.generate_async("The owl reads")]
        busy.cancel()
        return pieces, turns

    pieces, turns = asyncio.run(listen())
    assert pieces == list(notes.generate("The owl reads", stream=True))
    # The loop was not held up meanwhile.
    assert turns > len(pieces)


def test_an_asynchronous_stream_can_be_left(notes: Memo) -> None:
    async def first(stream: AsyncIterator[str]) -> str:
        async for piece in stream:
            return piece
        return ""

    assert asyncio.run(first(notes.generate_async("The owl reads"))) == " at"
    # What is wrong is said at once.
    with pytest.raises(InvalidError, match="temperature must be between 0 and 100"):
        notes.generate_async("The", temperature=-1)


# Probabilities


def test_a_distribution_sums_to_one_and_its_best_is_what_is_said(notes: Memo) -> None:
    for prompt in ("The owl reads", "The", "", "Nobody wrote", CAT):
        p = notes.next_token(prompt)
        assert (p.dtype, p.shape) == (np.dtype("float64"), (notes.vocab_size,))
        assert p.sum() == pytest.approx(1, abs=1e-9)
        assert (p > 0).all()
        best = int(p.argmax())
        said = [token.token for token in notes.completion(prompt, 1, guess=True).tokens]
        assert said == ([] if best == notes.eos else [best])


def test_log_probabilities_are_those_of_the_distributions(notes: Memo) -> None:
    ids = notes.encode(OWL[:30])
    logs = notes.logprobs(OWL[:30])
    assert (logs.dtype, logs.shape) == (np.dtype("float64"), (len(ids) + 1,))
    after = [*ids.tolist(), notes.eos]
    expected = [np.log(notes.next_token(ids[:p])[token]) for p, token in enumerate(after)]
    np.testing.assert_allclose(logs, expected, rtol=1e-9)
    np.testing.assert_array_equal(notes.logprobs(ids), logs)


def test_the_probability_of_a_text_is_the_product_of_its_tokens(notes: Memo) -> None:
    """What is memorized is far more probable than what is not, and a text's score is the sum of its parts'."""
    known, other = notes.logprobs(OWL).sum(), notes.logprobs(OWL[::-1]).sum()
    assert known > 0.2 * other
    ids = notes.encode(OWL)
    ((first, _), (second, greedy)) = notes.core.score_many([(ids[:9], 0), (ids, 9)])
    assert greedy
    assert first.sum() + second.sum() == pytest.approx(notes.logprobs(ids)[:-1].sum())


def test_distributions_of_all_positions_agree_with_single_ones(notes: Memo) -> None:
    ids = notes.encode(OWL)
    logs = notes.log_distributions(OWL)
    assert (logs.dtype, logs.shape) == (np.dtype("float32"), (len(ids) + 1, notes.vocab_size))
    for p in (0, 1, len(ids) // 2, len(ids)):
        np.testing.assert_allclose(logs[p], np.log(notes.next_token(ids[:p])), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(notes.log_distributions(ids, 3, 5), logs[3:5])
    assert notes.log_distributions(ids, 4, 4).shape == (0, notes.vocab_size)
    np.testing.assert_allclose(
        logs[np.arange(len(ids) + 1), [*ids, notes.eos]], notes.logprobs(ids), rtol=1e-5, atol=1e-6
    )


def test_a_score_is_the_sum_of_log_probabilities(notes: Memo) -> None:
    one, both = notes.score(OWL), notes.score([OWL, CAT])
    assert one.tokens == len(notes.encode(OWL)) + 1
    assert one.log_likelihood == pytest.approx(notes.logprobs(OWL).sum())
    assert both.log_likelihood == pytest.approx(notes.logprobs(OWL).sum() + notes.logprobs(CAT).sum())
    assert both.perplexity == pytest.approx(np.exp(-both.log_likelihood / both.tokens))


@pytest.mark.parametrize(("start", "end"), [(-1, 1), (2, 1), (0, 10**15)])
def test_positions_that_are_not_there_are_refused(notes: Memo, start: int, end: int) -> None:
    with pytest.raises(InvalidError, match=f"positions {start} to {end} were asked of a text that has 4"):
        notes.log_distributions("The owl reads", start, end)


def test_only_the_window_matters(notes: Memo) -> None:
    ids = np.random.default_rng(1).integers(0, 50_000, 3 * notes.window)
    np.testing.assert_array_equal(notes.next_token(ids), notes.next_token(ids[-notes.window :]))


# Recall and explanations


def test_recall_counts_what_is_said_right(memo: Memo) -> None:
    memo.memorize(OWL)
    known = memo.recall(OWL)
    assert known.tokens == len(memo.encode(OWL))
    assert known.evaluated == known.correct == known.tokens - 1
    assert known.recall == 1
    assert memo.recall(memo.encode(OWL).tolist()).correct == known.correct
    other = memo.recall(memo.encode(CAT))
    assert other.recall == other.correct / other.evaluated < 0.5
    both = memo.recall(text for text in (OWL, memo.encode(CAT)))
    assert (both.evaluated, both.correct) == (known.evaluated + other.evaluated, known.correct + other.correct)


def test_an_explanation_names_evidence_and_sources(notes: Memo) -> None:
    why = notes.explain("The owl reads", 2)
    assert why.prediction == " at"
    first, second = why.candidates
    assert first.text == " at"
    assert first.token == notes.encode(" at")[0]
    assert first.probability == pytest.approx(notes.next_token("The owl reads").max())
    assert first.probability > second.probability
    (source,) = first.sources
    assert (source.document, source.version, source.offset, source.match_tokens) == ("owl", 1, 3, 3)
    excerpt = source.excerpt
    assert (excerpt.before, excerpt.match, excerpt.token) == ("", "The owl reads", " at")
    assert OWL.startswith(excerpt.match + excerpt.token + excerpt.after)
    # The last three tokens are also all that the document began with.
    seen = [(slot.unit, slot.length, slot.from_start) for slot in first.evidence]
    tokens = [("tokens", 1, False), ("tokens", 2, False), ("tokens", 3, False), ("tokens", 3, True)]
    assert seen == [*tokens, ("words", 2, False)]
    assert all((slot.count, slot.total) == (1, 1) for slot in first.evidence)


def test_an_explanation_can_be_printed(notes: Memo) -> None:
    lines = str(notes.explain("The owl reads", 1)).splitlines()
    assert lines[0].startswith('" at"')
    assert lines[0].endswith(" %")
    assert "    last 2 tokens: 1 of 1" in lines and "    last 3 tokens, from the start: 1 of 1" in lines
    assert lines[-1] == "    owl, token 3: 3 tokens match"
    # After a last token that is new, what followed the token before it is expected.
    new = str(notes.explain("The owl dog", 10)).splitlines()
    at = next(i for i, line in enumerate(new) if line.startswith('" at"'))
    assert new[at + 1] == "    last token but one, whatever the last is: 1 of 1"


def test_an_explanation_is_a_table_in_a_notebook(memo: Memo) -> None:
    memo.memorize("A <b>bold</b> owl & a cat.", "<owl>")
    table = memo.explain("A <b>bold</b> owl", 1)._repr_html_()
    assert table.startswith("<table>")
    for part in (
        "<code>&quot; &amp;&quot;</code>",
        "last 8 tokens: 1 of 1",
        "&lt;owl&gt;, token",
        "<b> &amp;</b> a cat.",
    ):
        assert part in table
    assert "<b>bold" not in table


def test_a_breakdown_adds_up(notes: Memo) -> None:
    """Every probability is the sum of what is shown, and a context of one token has no noise."""
    parts = notes.breakdown("The owl reads", 2)
    for each in parts.candidates:
        terms = [each.prior, *each.contexts, each.quote, each.general, each.recent]
        assert sum(terms) == pytest.approx(each.probability)
    assert [each.text for each in parts.tokens] == ["The", " owl", " reads"]
    pairs, *others = notes.fill().slots
    assert pairs.false_match == 0
    assert all(0 < slot.false_match < 1e-6 for slot in others if slot.cells)
