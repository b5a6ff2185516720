"""Tokenizers: those of the program, of words, objects of `tokenizers` and `transformers`, and none at all."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memo_lm import InvalidError, Memo
from texts import CAT, OWL

needs_tokenizers = pytest.mark.skipif(
    importlib.util.find_spec("tokenizers") is None, reason="the library tokenizers is not installed"
)
needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="the library transformers is not installed"
)


@pytest.mark.parametrize(
    ("name", "vocabulary"), [("gpt2", 50_257), ("cl100k", 100_277), ("o200k", 200_019), ("bytes", 257)]
)
def test_tokenizers_that_come_with_the_program_keep_every_character(tmp_path: Path, name: str, vocabulary: int) -> None:
    text = OWL + " 🦉 Ünïcödé\n\t<|endoftext|>"
    with Memo.create(tmp_path / "a.memo", tokenizer=name) as memo:
        assert (memo.tokenizer, memo.vocab_size, memo.tokenizer_json) == (name, vocabulary, None)
        assert memo.eos not in memo.encode(text)
        assert memo.decode(memo.encode(text)) == text
        memo.memorize(text)
        assert "The owl" + memo.complete("The owl", 500) == text


@pytest.mark.parametrize("texts", [[OWL, CAT], iter([OWL, CAT]), OWL + " " + CAT])
def test_words_of_texts_make_a_tokenizer(tmp_path: Path, texts: list[str]) -> None:
    with Memo.create(tmp_path / "a.memo", words_from=texts) as memo:
        assert memo.tokenizer == "words"
        assert memo.decode(memo.encode("The owl sleeps")) == "The owl sleeps"
        assert memo.decode(memo.encode("The dog sleeps")) == "The \ufffd sleeps"
        assert len(memo.encode("The owl reads")) == 3


def made_tokenizer() -> Any:
    """Byte pairs of our own texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator([OWL, CAT], trainer)
    return tokenizer


def check(memo: Memo, tokenizer: Any) -> None:
    assert memo.tokenizer == "huggingface"
    for text in (OWL, CAT, "Other words, 🦉"):
        assert memo.encode(text).tolist() == tokenizer.encode(text).ids
        assert memo.decode(memo.encode(text)) == text
    memo.memorize(OWL)
    assert "The owl" + memo.complete("The owl", 200) == OWL


@needs_tokenizers
def test_an_object_of_tokenizers_is_kept_in_the_model(tmp_path: Path) -> None:
    tokenizer = made_tokenizer()
    path = tmp_path / "a.memo"
    with Memo.create(path, tokenizer=tokenizer) as memo:
        check(memo, tokenizer)
    with Memo.open(path) as memo:
        assert memo.encode(CAT).tolist() == tokenizer.encode(CAT).ids
        assert memo.tokenizer_json is not None
        from tokenizers import Tokenizer

        assert Tokenizer.from_str(memo.tokenizer_json).encode(OWL).ids == tokenizer.encode(OWL).ids


@needs_tokenizers
@pytest.mark.parametrize("kind", [str, Path])
def test_a_tokenizer_is_read_from_its_file(tmp_path: Path, kind: type[str]) -> None:
    tokenizer = made_tokenizer()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    with Memo.create(tmp_path / "a.memo", tokenizer=kind(tmp_path / "tokenizer.json")) as memo:
        check(memo, tokenizer)


@needs_tokenizers
@needs_transformers
def test_a_fast_tokenizer_of_transformers_is_kept_in_the_model(tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    fast = PreTrainedTokenizerFast(tokenizer_object=made_tokenizer(), eos_token="<|endoftext|>")
    with Memo.create(tmp_path / "a.memo", tokenizer=fast) as memo:
        check(memo, fast.backend_tokenizer)


@needs_tokenizers
def test_what_holds_a_tokenizer_as_transformers_does_is_one(tmp_path: Path) -> None:
    """What counts is `backend_tokenizer`: transformers itself is not looked for."""

    class Fast:
        backend_tokenizer = made_tokenizer()

    with Memo.create(tmp_path / "a.memo", tokenizer=Fast()) as memo:
        check(memo, Fast.backend_tokenizer)


def test_a_tokenizer_that_does_not_serialize_is_refused(tmp_path: Path) -> None:
    class Slow:
        def encode(self, text: str) -> list[int]:
            return [ord(each) for each in text]

    with pytest.raises(InvalidError, match="a model cannot keep a Slow as its tokenizer; give a name"):
        Memo.create(tmp_path / "a.memo", tokenizer=Slow())  # type: ignore[arg-type]


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "tokenizer.json"
    wrong.write_text("{}")
    with pytest.raises(InvalidError, match=r"tokenizer\.json: this is not a"):
        Memo.create(tmp_path / "a.memo", tokenizer=wrong)
    with pytest.raises(InvalidError, match="cannot read the tokenizer file"):
        Memo.create(tmp_path / "a.memo", tokenizer=tmp_path / "nowhere.json")


def test_token_ids_need_no_tokenizer(tmp_path: Path) -> None:
    """Numbers of any origin below 257: the model never asks what they mean."""
    rng = np.random.default_rng(5)
    series = rng.integers(0, 256, 500)
    with Memo.create(tmp_path / "a.memo", tokenizer="bytes") as memo:
        memo.memorize(series, "series")
        assert memo.recall(series).recall == 1
        assert memo.next_token(series[100:140]).argmax() == series[140]
        done = memo.completion(series[:20], 1000)
        assert [token.token for token in done.tokens] == series[20:].tolist()
