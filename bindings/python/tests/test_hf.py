"""MeMo in transformers: what the authors' version cannot do (logits of every position, any length, batches, generation,
pipelines) has a test here, each against what the model itself says."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed; pip install 'memo_lm[hf]'")
pytest.importorskip("transformers", reason="transformers is not installed; pip install 'memo_lm[hf]'")

os.environ.update(HF_HUB_OFFLINE="1")

import numpy as np
import pages
import torch
from memo_lm import InvalidError, Memo, MemoError
from memo_lm.hf import MemoConfig, MemoForCausalLM, MemoTokenizer, tokenizer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    pipeline,
)

TEXTS = {
    "loom": "The loom in the attic clicks when the weaver is asleep, and by morning a hand of cloth is done.",
    "well": "The well behind the mill is dry in May. In autumn it sings, and the miller lets nobody near it.",
    "clock": "The clock above the stairs is slow by an hour, so the children of the house are never late.",
}
PROMPTS = ["The loom", "The well behind the mill is dry", "The clock above the stairs", "Nobody knows"]


@pytest.fixture(scope="module")
def memo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memo]:
    with Memo.create(tmp_path_factory.mktemp("hf") / "house.memo") as memo:
        memo.memorize([(name, text) for name, text in TEXTS.items()])
        yield memo


@pytest.fixture(scope="module")
def model(memo: Memo) -> MemoForCausalLM:
    return MemoForCausalLM.of(memo)


@pytest.fixture(scope="module")
def saved(model: MemoForCausalLM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "house"
    model.save_pretrained(folder)
    return folder


def ids(memo: Memo, text: str) -> torch.Tensor:
    return torch.tensor([memo.encode(text).tolist()])


def said(memo: Memo, prompt: str | list[int], most: int) -> list[int]:
    """What the model itself continues with, the most probable token each time, and the end if it comes to it."""
    text = [int(token) for token in (memo.encode(prompt) if isinstance(prompt, str) else prompt)]
    start = len(text)
    while len(text) < start + most and (len(text) == start or text[-1] != memo.eos):
        text.append(int(memo.next_token(text).argmax()))
    return text[start:]


# Logits


def test_logits_are_of_every_position(memo: Memo, model: MemoForCausalLM) -> None:
    text = ids(memo, TEXTS["loom"])
    logits = model(text).logits
    assert logits.shape == (1, text.shape[1], memo.vocab_size) and logits.dtype == torch.float32
    for p in range(text.shape[1]):
        own = memo.next_token(text[0, : p + 1].tolist())
        np.testing.assert_allclose(logits[0, p].numpy(), np.log(own), rtol=1e-6)
    np.testing.assert_allclose(torch.logsumexp(logits, -1).numpy(), 0, atol=1e-4)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 31, 64, 65, 300])
def test_any_length_will_do(memo: Memo, model: MemoForCausalLM, length: int) -> None:
    """The authors' version knows one length, and crashes or answers for the last position alone otherwise."""
    text = (memo.encode(" ".join(TEXTS.values())).tolist() * 6)[:length]
    logits = model(torch.tensor([text])).logits
    assert logits.shape == (1, length, memo.vocab_size)
    own = memo.logprobs(text)
    got = [float(logits[0, p, text[p + 1]]) for p in range(length - 1)]
    np.testing.assert_allclose(got, own[1:length], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing(memo: Memo, model: MemoForCausalLM, side: str) -> None:
    words = tokenizer(memo)
    words.padding_side = side
    batch = words(PROMPTS, padding=True, return_tensors="pt")
    assert batch["attention_mask"].min() == 0
    logits = model(**batch).logits
    for row, prompt in enumerate(PROMPTS):
        alone = model(ids(memo, prompt)).logits[0]
        real = batch["attention_mask"][row].bool()
        assert torch.equal(logits[row][real], alone)
        # Whatever a mask hides, the last position answers for all that is there.
        assert torch.equal(logits[row, -1], alone[-1])


def test_padding_before_a_text_is_the_start_of_a_document(memo: Memo, model: MemoForCausalLM) -> None:
    mask = torch.tensor([[0, 0, 1]])
    logits = model(torch.tensor([[5, 6, 7]]), attention_mask=mask).logits
    np.testing.assert_allclose(logits[0, 1].numpy(), np.log(memo.next_token([])), rtol=1e-6)
    # So is the end of another.
    assert torch.equal(model(torch.tensor([[memo.eos]])).logits[0, 0], logits[0, 1])


def test_only_the_last_logits_if_asked_for(memo: Memo, model: MemoForCausalLM) -> None:
    text = ids(memo, TEXTS["well"])
    whole = model(text).logits
    assert torch.equal(model(text, logits_to_keep=3).logits, whole[:, -3:])
    assert torch.equal(model(text, logits_to_keep=torch.tensor([4, 1])).logits, whole[:, [4, 1]])


def test_labels_give_the_loss(memo: Memo, model: MemoForCausalLM) -> None:
    text = ids(memo, TEXTS["clock"])
    own = memo.logprobs(TEXTS["clock"])
    assert float(model(text, labels=text).loss) == pytest.approx(-own[1:-1].mean(), rel=1e-4)
    labels = text.clone()
    labels[0, :5] = -100
    assert float(model(text, labels=labels).loss) == pytest.approx(-own[5:-1].mean(), rel=1e-4)
    loss, logits = model(text, labels=text, return_dict=False)
    assert float(loss) == pytest.approx(-own[1:-1].mean(), rel=1e-4) and logits.shape[1] == text.shape[1]


def test_what_cannot_be_is_refused(memo: Memo, model: MemoForCausalLM) -> None:
    with pytest.raises(InvalidError, match="vocabulary"):
        model(torch.tensor([[memo.vocab_size]]))
    assert model(torch.empty((0, 3), dtype=torch.long)).logits.shape == (0, 3, memo.vocab_size)
    with pytest.raises(InvalidError, match="shape"):
        model(torch.tensor([[1, 2]]), attention_mask=torch.ones(1, 3))
    with pytest.raises(InvalidError, match="input_ids"):
        model(inputs_embeds=torch.zeros(1, 2, 3))
    with pytest.raises(InvalidError, match="from_pretrained"):
        MemoForCausalLM(MemoConfig())


# Generation


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_is_what_the_model_completes_with(memo: Memo, model: MemoForCausalLM, prompt: str) -> None:
    start = ids(memo, prompt)
    made = model.generate(start, max_new_tokens=30)
    assert made[0, : start.shape[1]].tolist() == start[0].tolist()
    assert made[0, start.shape[1] :].tolist() == said(memo, prompt, 30)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_batch_is_what_each_would_be_alone(memo: Memo, model: MemoForCausalLM, side: str) -> None:
    words = tokenizer(memo)
    words.padding_side = side
    batch = words(PROMPTS, padding=True, return_tensors="pt")
    made = model.generate(**batch, max_new_tokens=30)
    for row, prompt in zip(made, PROMPTS):
        own = said(memo, prompt, 30)
        new = row[batch["input_ids"].shape[1] :].tolist()
        assert new[: len(own)] == own and set(new[len(own) :]) <= {memo.eos}


def test_ties_are_decided_as_the_model_does(tmp_path: Path) -> None:
    """Continuations that occurred equally often differ by less than single precision can hold."""
    with Memo.create(tmp_path / "ties.memo") as memo:
        ends = ["coal", "salt", "wool", "rope", "tar", "glass"]
        memo.memorize([f"{number}. The cart brings {end}" for number, end in enumerate(ends)])
        memo.memorize([f"The cart brings {end}" for end in ends])
        model = MemoForCausalLM.of(memo)
        for prompt in ("The cart brings", "The", "Another", "The cart", "wool"):
            made = model.generate(ids(memo, prompt), max_new_tokens=12)[0]
            assert made[len(memo.encode(prompt)) :].tolist() == said(memo, prompt, 12), prompt


def test_without_a_prompt_a_document_begins(memo: Memo, model: MemoForCausalLM) -> None:
    made = model.generate(max_new_tokens=8)
    assert made[0].tolist()[1:] == said(memo, "", 8)


def test_an_empty_memory_can_be_asked(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "empty.memo") as memo:
        model = MemoForCausalLM.of(memo)
        logits = model(torch.tensor([[1, 2, 3]])).logits
        assert torch.isfinite(logits).all()
        assert model.generate(torch.tensor([[1]]), max_new_tokens=3)[0, 1:].tolist() == said(memo, [1], 3)


def test_sampling_draws_from_the_distribution(memo: Memo, model: MemoForCausalLM) -> None:
    start = ids(memo, "The")
    torch.manual_seed(1)
    draw = {"max_new_tokens": 1, "do_sample": True, "top_k": 0, "num_return_sequences": 2000}
    made = model.generate(start, **draw)[:, -1]
    own = memo.next_token("The")
    # The most probable tokens, each within four standard deviations of what is expected.
    for token in own.argsort()[-3:]:
        p = own[token]
        count = int((made == token).sum())
        assert abs(count - 2000 * p) < 4 * math.sqrt(2000 * p * (1 - p)) + 1, (token, p, count)
    torch.manual_seed(7)
    first = model.generate(start, max_new_tokens=12, do_sample=True)
    torch.manual_seed(7)
    assert torch.equal(first, model.generate(start, max_new_tokens=12, do_sample=True))


def test_beams_find_what_is_memorized(memo: Memo, model: MemoForCausalLM) -> None:
    start = ids(memo, "The clock above the stairs")
    made = model.generate(start, num_beams=3, max_new_tokens=40)[0].tolist()
    assert memo.decode([token for token in made if token != memo.eos]) == TEXTS["clock"]


def test_what_is_memorized_meanwhile_is_known(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "live.memo") as memo:
        model = MemoForCausalLM.of(memo)
        memo.memorize("The lamp in the hall is green.", id="lamp")
        made = model.generate(ids(memo, "The lamp in the hall"), max_new_tokens=10)
        assert memo.decode(made[0, :-1].tolist()) == "The lamp in the hall is green."
        memo.forget("lamp")
        made = model.generate(ids(memo, "The lamp in the hall"), max_new_tokens=10)
        assert "green" not in memo.decode(made[0].tolist())


# Saving and loading


def digest(saved: Path) -> str:
    with Memo.open(saved / "memory.memo") as copy:
        return copy.digest()


def test_a_saved_model_is_the_same(saved: Path, memo: Memo, model: MemoForCausalLM) -> None:
    assert {"config.json", "generation_config.json", "memory.memo", "tokenizer_config.json"} <= set(os.listdir(saved))
    again = MemoForCausalLM.from_pretrained(saved)
    assert again.memo.read_only and digest(saved) == memo.digest()
    text = ids(memo, TEXTS["well"])
    assert torch.equal(again(text).logits, model(text).logits)
    assert again.config.vocab_size == memo.vocab_size
    assert json.loads((saved / "config.json").read_text())["model_type"] == "memo"


def test_the_auto_classes_know_it(saved: Path, memo: Memo) -> None:
    assert isinstance(AutoConfig.from_pretrained(saved), MemoConfig)
    assert isinstance(AutoTokenizer.from_pretrained(saved), MemoTokenizer)
    model = AutoModelForCausalLM.from_pretrained(saved)
    assert isinstance(model, MemoForCausalLM)
    made = model.generate(ids(memo, "The loom"), max_new_tokens=30)
    assert made[0, 2:].tolist() == said(memo, "The loom", 30) or memo.decode(made[0, :-1].tolist()) == TEXTS["loom"]


def test_a_model_directory_will_do(tmp_path: Path) -> None:
    path = tmp_path / "plain.memo"
    with Memo.create(path) as memo:
        memo.memorize(TEXTS["loom"])
    model = MemoForCausalLM.from_pretrained(str(path))
    words = MemoTokenizer.from_pretrained(str(path))
    made = model.generate(**words("The loom in", return_tensors="pt"), max_new_tokens=40)
    assert words.decode(made[0], skip_special_tokens=True) == TEXTS["loom"]


def test_a_model_that_is_read_only_can_be_saved(saved: Path, tmp_path: Path) -> None:
    model = MemoForCausalLM.from_pretrained(saved)
    model.save_pretrained(tmp_path / "copy")
    again = MemoForCausalLM.from_pretrained(tmp_path / "copy")
    assert digest(tmp_path / "copy") == digest(saved)
    # Where it is already, there is nothing to copy.
    again.save_pretrained(tmp_path / "copy")
    assert digest(tmp_path / "copy") == digest(saved)


def test_a_frozen_model_can_be_saved(memo: Memo, tmp_path: Path) -> None:
    memo.freeze(tmp_path / "frozen.memo")
    MemoForCausalLM.from_pretrained(tmp_path / "frozen.memo").save_pretrained(tmp_path / "copy")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "copy")
    words = AutoTokenizer.from_pretrained(tmp_path / "copy")
    made = model.generate(**words("The loom in", return_tensors="pt"), max_new_tokens=40)
    assert words.decode(made[0], skip_special_tokens=True) == TEXTS["loom"]


def test_saving_again_replaces_the_copy_and_nothing_else(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "twice.memo") as memo:
        model = MemoForCausalLM.of(memo)
        model.save_pretrained(tmp_path / "saved")
        memo.memorize(TEXTS["clock"], id="clock")
        model.save_pretrained(tmp_path / "saved")
        assert digest(tmp_path / "saved") == memo.digest()
        assert sorted(path.name for path in (tmp_path / "saved").glob("memory*")) == ["memory.memo"]
        # A receipt names the copy, which still knows.
        copies = {Path(copy.path) for copy in memo.forget("clock").copies}
        assert tmp_path / "saved" / "memory.memo" in copies
        # What is no model is not replaced.
        (tmp_path / "other" / "memory.memo").mkdir(parents=True)
        (tmp_path / "other" / "memory.memo" / "mine.txt").write_text("mine")
        with pytest.raises(MemoError):
            model.save_pretrained(tmp_path / "other")
        assert (tmp_path / "other" / "memory.memo" / "mine.txt").read_text() == "mine"


def test_settings_of_generation_are_kept(memo: Memo, tmp_path: Path) -> None:
    model = MemoForCausalLM.of(memo)
    model.generation_config.max_new_tokens = 5
    model.save_pretrained(tmp_path / "five")
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "five")
    assert again.generate(ids(memo, "The loom")).shape[1] == len(memo.encode("The loom")) + 5


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(MemoError, match="nowhere"):
        MemoForCausalLM.from_pretrained(tmp_path / "nowhere")


# Pipelines


def test_a_pipeline_says_what_is_memorized(saved: Path) -> None:
    say = pipeline("text-generation", model=str(saved))
    assert say("The loom in", do_sample=False, max_new_tokens=40)[0]["generated_text"] == TEXTS["loom"]


def test_a_pipeline_takes_batches_and_draws(memo: Memo, model: MemoForCausalLM) -> None:
    say = pipeline("text-generation", model=model, tokenizer=tokenizer(memo))
    starts = ["The loom in", "The well behind the mill is", "The clock above"]
    made = say(starts, do_sample=False, max_new_tokens=40, batch_size=3)
    assert [each[0]["generated_text"] for each in made] == list(TEXTS.values())
    several = say("The", do_sample=True, max_new_tokens=5, num_return_sequences=4)
    assert len(several) == 4 and all(each["generated_text"].startswith("The") for each in several)


# Tokenizers


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "bytes"])
def test_tokens_are_those_of_the_model(name: str, tmp_path: Path) -> None:
    with Memo.create(tmp_path / "words.memo", tokenizer=name) as memo:
        words = tokenizer(memo)
        for text in (TEXTS["loom"], "", " two  spaces\n\tand na\u00efve \u2603 \U0001f989", "a <|endoftext|> inside"):
            own = memo.encode(text).tolist()
            assert words(text)["input_ids"] == own
            assert words.convert_tokens_to_ids(words.tokenize(text)) == own
            assert words.convert_tokens_to_string(words.tokenize(text)) == text
            assert words.decode(own) == text
        assert len(words) == words.vocab_size == memo.vocab_size == len(words.get_vocab())
        assert words.eos_token_id == words.pad_token_id == words.bos_token_id == memo.eos
        assert words.decode([memo.eos]) == memo.eos_text and words.decode([memo.eos], skip_special_tokens=True) == ""


def test_a_vocabulary_of_words(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "words.memo", words_from=TEXTS.values()) as memo:
        memo.memorize(TEXTS["well"])
        MemoForCausalLM.of(memo).save_pretrained(tmp_path / "saved")
        words = AutoTokenizer.from_pretrained(tmp_path / "saved")
        assert words(TEXTS["well"])["input_ids"] == memo.encode(TEXTS["well"]).tolist()
        model = AutoModelForCausalLM.from_pretrained(tmp_path / "saved")
        made = model.generate(**words("The well behind", return_tensors="pt"), max_new_tokens=40)
        assert words.decode(made[0], skip_special_tokens=True) == TEXTS["well"]


def own_tokenizer(special: list[str]) -> Any:
    """A tokenizer.json made here: words and signs, each one token."""
    found: dict[str, int] = {"?": 0}
    for text in TEXTS.values():
        for word in text.replace(",", " ,").replace(".", " .").split():
            found.setdefault(word, len(found))
    made = Tokenizer(models.WordLevel(found, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.add_special_tokens(special)
    return made


@pytest.mark.parametrize("special", [["</s>"], []], ids=["an end", "no end"])
def test_a_model_with_a_tokenizer_of_its_own(special: list[str], tmp_path: Path) -> None:
    with Memo.create(tmp_path / "own.memo", tokenizer=own_tokenizer(special)) as memo:
        memo.memorize(TEXTS["clock"])
        MemoForCausalLM.of(memo).save_pretrained(tmp_path / "saved")
        words = AutoTokenizer.from_pretrained(tmp_path / "saved")
        assert isinstance(words, PreTrainedTokenizerFast) and words.eos_token_id == memo.eos
        for text in (TEXTS["clock"], "unknown words </s> inside", ""):
            assert words(text)["input_ids"] == memo.encode(text).tolist()
        model = AutoModelForCausalLM.from_pretrained(tmp_path / "saved")
        start = words("The clock above", return_tensors="pt")
        made = model.generate(**start, max_new_tokens=40)[0, start["input_ids"].shape[1] :].tolist()
        assert made == said(memo, "The clock above", 40)


def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages.run("Hugging Face")
