"""A memory beside a language model of transformers, on a tiny model with random weights that is made here."""

from __future__ import annotations

import copy
import math
import os
import re
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed; pip install 'memo_lm[hf]'")
pytest.importorskip("transformers", reason="transformers is not installed; pip install 'memo_lm[hf]'")

os.environ.update(HF_HUB_OFFLINE="1")

import numpy as np
import pages
import torch
from memo_lm import InvalidError, Memo
from memo_lm.hf import AUTO, Auto, Drafts, MemoForCausalLM, MemoryProcessor, WithMemory, draft_generate
from memo_lm.matches import Matches
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, pipeline

TEXTS = {
    "loom": "The loom in the attic clicks when the weaver is asleep, and by morning a hand of cloth is done.",
    "well": "The well behind the mill is dry in May. In autumn it sings, and the miller lets nobody near it.",
    "clock": "The clock above the stairs is slow by an hour, so the children of the house are never late.",
}
PROMPTS = ["The loom", "The well behind the mill is dry", "The clock above the stairs", "Nobody knows"]
OTHER = "Salt is carried over the pass in spring, and wool comes back before the snow."


def words(special: tuple[str, ...] = ("</s>", "<pad>", "<s>"), more: int = 0) -> PreTrainedTokenizerFast:
    """A tokenizer of the words of the texts above, and of as many more as are wanted."""
    found: dict[str, int] = {"?": 0}
    for text in (*TEXTS.values(), OTHER, "Nobody knows"):
        for word in text.replace(",", " ,").replace(".", " .").split():
            found.setdefault(word, len(found))
    found.update({f"word{n}": len(found) + n for n in range(more)})
    made = Tokenizer(models.WordLevel(found, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.Fuse()
    made.add_special_tokens(list(special))
    names = {"eos_token": "</s>", "pad_token": "<pad>", "bos_token": "<s>"}
    given = {role: name for role, name in names.items() if name in special}
    return PreTrainedTokenizerFast(tokenizer_object=made, padding_side="left", **given)


def tiny(tokenizer: PreTrainedTokenizerFast, rows: int | None = None, seed: int = 3) -> Any:
    """A Llama of two small layers with random weights, sharp enough to have an opinion."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=rows or len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        initializer_range=0.3,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return words()


@pytest.fixture(scope="module")
def lm(tokenizer: PreTrainedTokenizerFast) -> Any:
    return tiny(tokenizer)


@pytest.fixture(scope="module")
def memo(tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memo]:
    with Memo.create(tmp_path_factory.mktemp("partner") / "house.memo", tokenizer=tokenizer) as memo:
        memo.memorize([(name, text) for name, text in TEXTS.items()])
        yield memo


def ids(tokenizer: PreTrainedTokenizerFast, text: str) -> torch.Tensor:
    return tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]


def expected(lm: Any, memo: Memo, text: torch.Tensor, weight: float) -> torch.Tensor:
    """The mixture by its definition, position by position."""
    model = torch.softmax(lm(text).logits.double(), -1)
    rows = [memo.next_token(text[0, : p + 1].numpy()) for p in range(text.shape[1])]
    memory = torch.from_numpy(np.stack(rows))[:, : model.shape[-1]]
    return torch.log(weight * memory + (1 - weight) * model[0])


# What the mixture is


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_a_fixed_weight_is_the_mixture_of_both(lm: Any, memo: Memo, tokenizer: Any, weight: float) -> None:
    text = ids(tokenizer, TEXTS["well"])
    with torch.no_grad():
        logits = WithMemory(lm, memo, weight)(text).logits
        np.testing.assert_allclose(logits[0], expected(lm, memo, text, weight), rtol=1e-4, atol=1e-5)
    assert torch.allclose(logits.exp().sum(-1), torch.ones(1, text.shape[1]), atol=1e-4)


def test_the_rule_trusts_a_quote_and_not_a_stranger(lm: Any, memo: Memo, tokenizer: Any) -> None:
    both = WithMemory(lm, memo)
    with torch.no_grad():
        both(ids(tokenizer, TEXTS["loom"]))
        quoted = both.last_weights
        both(ids(tokenizer, OTHER))
        strange = both.last_weights
    assert quoted is not None and strange is not None
    assert quoted[0, 4:].min() > 0.8
    assert strange.max() < 0.2
    # A rule of one's own.
    both.weight = Auto(offset=-30.0)
    with torch.no_grad():
        both(ids(tokenizer, TEXTS["loom"]))
    assert both.last_weights is not None and both.last_weights.max() < 1e-6
    assert both.weight != AUTO


def test_the_rule_is_the_documented_one() -> None:
    """Its constants are those of docs/partner.md, and its weights are the sum that the page says."""
    page = (Path(__file__).parents[3] / "docs/partner.md").read_text(encoding="utf-8")
    constants = [float(value.replace("−", "-")) for value in re.findall(r"^\| .* \| (−?\d+\.\d+) \|$", page, re.M)]
    assert list(astuple(AUTO)) == constants
    whole, real = (np.array([5, 0]), np.array([0.7, 1.0]))
    seen = Matches(whole.astype(np.uint32), whole, whole, real, -real, whole.astype(np.uint32), np.array([0.6, 1.0]))
    model, agreed = np.log([0.3, 0.5]), np.array([math.log(0.05), -math.inf])
    counts = np.log1p(whole)
    quote = np.clip(real, 1e-4, 1 - 1e-4)
    known = [1.0, counts, counts, counts, np.log(quote / (1 - quote)), -real]
    known += [np.log(1.001 - seen.probability), np.log(1.001 - np.exp(model)), np.maximum(agreed, -15)]
    odds = sum(constant * value for constant, value in zip(constants, known))
    np.testing.assert_allclose(AUTO.weights(seen, model, agreed), 1 / (1 + np.exp(-np.minimum(odds, 9.0))), rtol=1e-12)


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing(lm: Any, memo: Memo, tokenizer: Any, side: str) -> None:
    both = WithMemory(lm, memo)
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.padding_side = side
    batch = tokenizer(PROMPTS, padding=True, return_tensors="pt", add_special_tokens=False)
    mask = batch["attention_mask"]
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        logits = both(batch["input_ids"], attention_mask=mask, position_ids=positions).logits
        for row, prompt in enumerate(PROMPTS):
            alone = both(ids(tokenizer, prompt)).logits[0]
            torch.testing.assert_close(logits[row][mask[row].bool()], alone, rtol=1e-4, atol=1e-4)


def test_labels_give_the_loss_and_only_some_logits_can_be_asked_for(lm: Any, memo: Memo, tokenizer: Any) -> None:
    both = WithMemory(lm, memo)
    text = ids(tokenizer, TEXTS["clock"])
    with torch.no_grad():
        whole = both(text, labels=text)
        picked = -whole.logits[0, :-1].gather(1, text[0, 1:, None]).mean()
        assert float(whole.loss) == pytest.approx(float(picked), rel=1e-5)
        torch.testing.assert_close(both(text, logits_to_keep=3).logits, whole.logits[:, -3:])
        loss, logits = both(text, labels=text, return_dict=False)[:2]
    assert float(loss) == pytest.approx(float(whole.loss)) and logits.shape == whole.logits.shape
    # Both together know what is memorized; the model alone knows nothing.
    assert float(whole.loss) < 0.7 < float(lm(text, labels=text).loss)


# Generation


def test_memorized_text_is_said_by_both_together(lm: Any, memo: Memo, tokenizer: Any) -> None:
    both = WithMemory(lm, memo)
    for text in TEXTS.values():
        start = ids(tokenizer, text)[:, :4]
        made = both.generate(start, max_new_tokens=40, do_sample=False)
        assert made[0].tolist() == [*ids(tokenizer, text)[0].tolist(), memo.eos]


def test_a_processor_is_the_same_as_the_model_with_a_memory(lm: Any, memo: Memo, tokenizer: Any) -> None:
    batch = tokenizer(PROMPTS, padding=True, return_tensors="pt", add_special_tokens=False)
    for weight in ("auto", 0.5):
        both = WithMemory(lm, memo, weight, tokenizer=tokenizer)
        processor = MemoryProcessor(memo, weight, tokenizer=tokenizer)
        options: dict[str, Any] = {"max_new_tokens": 12, "do_sample": False, "eos_token_id": memo.eos}
        made = both.generate(**batch, **options)
        assert torch.equal(made, lm.generate(**batch, **options, logits_processor=[processor]))


@pytest.mark.parametrize(
    "options", [{"num_beams": 3}, {"do_sample": True, "top_k": 0}, {"num_beams": 2, "use_cache": False}]
)
def test_a_cache_changes_nothing(lm: Any, memo: Memo, tokenizer: Any, options: dict[str, Any]) -> None:
    """Each step reads the new token only, with whatever search; without a cache it reads all."""
    both = WithMemory(lm, memo, 0.5)
    batch = tokenizer(PROMPTS, padding=True, return_tensors="pt", add_special_tokens=False)
    made = []
    for cache in (True, False):
        torch.manual_seed(5)
        made.append(both.generate(**batch, max_new_tokens=10, **{**options, "use_cache": cache}))
    assert torch.equal(*made)


def test_a_loop_of_ones_own_can_use_the_cache(lm: Any, memo: Memo, tokenizer: Any) -> None:
    both = WithMemory(lm, memo)
    text = ids(tokenizer, TEXTS["well"])
    with torch.no_grad():
        whole = both(text).logits
        first = both(text[:, :7], use_cache=True)
        cache, parts = first.past_key_values, [first.logits]
        for p in range(7, text.shape[1]):
            parts.append(both(text[:, p : p + 1], past_key_values=cache, use_cache=True).logits)
        torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=1e-4, atol=1e-4)
        other = lm(text[:, :7], use_cache=True).past_key_values
        with pytest.raises(InvalidError, match="memory_ids"):
            both(text[:, 7:8], past_key_values=other)
        again = both(text[:, 7:8], past_key_values=other, memory_ids=text[:, :8]).logits
        torch.testing.assert_close(again, whole[:, 7:8], rtol=1e-4, atol=1e-4)


def test_a_pipeline_takes_it(lm: Any, memo: Memo, tokenizer: Any) -> None:
    say = pipeline("text-generation", model=WithMemory(lm, memo), tokenizer=tokenizer)
    (made,) = say("The loom in the attic", do_sample=False, max_new_tokens=40)
    assert (
        made["generated_text"].endswith("hand of cloth is done .".replace(" ", "")) or "cloth" in made["generated_text"]
    )


def test_the_evaluation_harness_takes_it(lm: Any, memo: Memo, tokenizer: Any) -> None:
    harness = pytest.importorskip("lm_eval.models.huggingface", reason="lm_eval is not installed")
    from lm_eval.api.instance import Instance

    both = WithMemory(lm, memo)
    judged = harness.HFLM(pretrained=both, tokenizer=tokenizer, batch_size=2, device="cpu")
    pairs = [("The loom in the attic", " clicks when the weaver"), ("The well behind", " the loom")]
    requests = [Instance("loglikelihood", {}, pair, n) for n, pair in enumerate(pairs)]
    (known, greedy), (unknown, _) = judged.loglikelihood(requests, disable_tqdm=True)
    assert greedy and known > -3 and unknown < known


# Forgetting


def test_after_forgetting_the_mixture_is_that_of_a_memory_that_never_knew(
    lm: Any, tokenizer: Any, tmp_path: Path
) -> None:
    text = ids(tokenizer, f"{TEXTS['well']} {TEXTS['loom']}")
    with torch.no_grad():
        alone = lm(text)
    with (
        Memo.create(tmp_path / "a.memo", tokenizer=tokenizer) as forgot,
        Memo.create(tmp_path / "b.memo", tokenizer=tokenizer) as never,
    ):
        forgot.memorize([(name, each) for name, each in TEXTS.items()])
        never.memorize([("loom", TEXTS["loom"]), ("clock", TEXTS["clock"])])
        for weight in ("auto", 0.5):
            both = [WithMemory(lm, each, weight) for each in (forgot, never)]
            with torch.no_grad():
                before = both[0](text).logits
                known = both[0].generate(text[:, :5], max_new_tokens=8, do_sample=False)
            if "well" in forgot:
                forgot.forget("well")
                with torch.no_grad():
                    assert not torch.equal(before, both[0](text).logits)
            with torch.no_grad():
                assert torch.equal(both[0](text).logits, both[1](text).logits)
                made = [each.generate(text[:, :5], max_new_tokens=8, do_sample=False) for each in both]
            assert torch.equal(*made)
            if weight == "auto":
                assert not torch.equal(known, made[0])
            # The same for a processor, on the logits of the model as they are.
            scores = alone.logits[:, -1]
            processed = [MemoryProcessor(each, weight)(text, scores) for each in (forgot, never)]
            assert torch.equal(*processed)


# Vocabularies


def test_another_vocabulary_is_refused(lm: Any, tokenizer: Any, tmp_path: Path) -> None:
    with Memo.create(tmp_path / "gpt2.memo") as memo:
        with pytest.raises(InvalidError, match=r"50,257.*tokenizer=AutoTokenizer"):
            WithMemory(lm, memo)
        with pytest.raises(InvalidError, match="50,257"):
            MemoryProcessor(memo)(torch.tensor([[1]]), torch.zeros(1, 60))
        with pytest.raises(InvalidError, match="more than padding"):
            WithMemory(tiny(tokenizer, 60_000), memo)
    # As many tokens, but others.
    other = words(("</s>", "<pad>", "<s>"))
    turned = {name: token for token, name in enumerate(reversed(list(other.get_vocab())[:-3]))}
    turned = {"?": 0, **{name: token for token, name in enumerate(list(turned), 1) if name != "?"}}
    made = Tokenizer(models.WordLevel(turned, unk_token="?"))
    made.add_special_tokens(["</s>", "<pad>", "<s>"])
    with Memo.create(tmp_path / "turned.memo", tokenizer=made) as memo:
        for given, why in (
            ({"tokenizer": tokenizer}, r"token \d+ is"),
            ({"weight": 1.5}, "weight"),
            ({"weight": "much"}, "auto"),
        ):
            with pytest.raises(InvalidError, match=why):
                WithMemory(lm, memo, **given)


def test_a_model_may_have_more_rows_and_tokens(tokenizer: Any, memo: Memo) -> None:
    """Embeddings are padded to a round size, and tokens were added after the memory was made."""
    lm = tiny(tokenizer, 192)
    both = WithMemory(lm, memo, tokenizer=tokenizer)
    text = torch.cat([torch.tensor([[180, 150]]), ids(tokenizer, TEXTS["loom"])], 1)
    with torch.no_grad():
        logits = both(text).logits
        alone = torch.log_softmax(lm(text).logits, -1)
    assert logits.shape[-1] == 192 and torch.isfinite(logits).all()
    # What the memory does not know has what the model gives it, less the memory's part.
    assert both.last_weights is not None
    left = torch.log1p(-both.last_weights)[..., None]
    torch.testing.assert_close(logits[..., 100:], (alone + left)[..., 100:], rtol=1e-4, atol=1e-4)
    # A token that the memory does not have is where a text begins anew.
    start = both(ids(tokenizer, TEXTS["loom"])[:, :3]).logits[0, -1]
    assert both(text[:, :5]).logits[0, -1].argmax() == start.argmax()
    assert (
        "appended"
        not in both.generate(ids(tokenizer, "The loom in the"), max_new_tokens=3, do_sample=False)[0].tolist()
    )


def test_large_vocabularies_work(tmp_path: Path) -> None:
    tokenizer = words(more=70_000)
    lm = tiny(tokenizer)
    with Memo.create(tmp_path / "large.memo", tokenizer=tokenizer) as memo:
        text = "The loom word69999 the word66000 and word65536 done"
        memo.memorize(text)
        both = WithMemory(lm, memo, tokenizer=tokenizer)
        start = ids(tokenizer, text)
        assert int(start.max()) > 65_535
        made = both.generate(start[:, :3], max_new_tokens=6, do_sample=False)
        assert made[0, : start.shape[1]].tolist() == start[0].tolist()


@pytest.mark.parametrize("rows", [None, 128])
def test_an_end_of_the_memorys_own_is_the_models(tmp_path: Path, rows: int | None) -> None:
    """A tokenizer without an end of a text: the memory has one past the vocabulary, which stands for the model's."""
    tokenizer = words(("<stop>",))
    lm = tiny(tokenizer, rows)
    lm.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids("<stop>")
    with Memo.create(tmp_path / "own.memo", tokenizer=tokenizer) as memo:
        assert memo.eos == len(tokenizer)
        memo.memorize(TEXTS["loom"])
        both = WithMemory(lm, memo, tokenizer=tokenizer)
        whole = ids(tokenizer, TEXTS["loom"])
        made = both.generate(whole[:, :4], max_new_tokens=40, do_sample=False, pad_token_id=0)
        assert made[0].tolist() == [*whole[0].tolist(), tokenizer.convert_tokens_to_ids("<stop>")]
        logits = both(whole).logits
        assert torch.allclose(logits.exp().sum(-1), torch.ones(1, whole.shape[1]), atol=1e-4)


def test_a_token_that_begins_a_text_is_no_part_of_it(lm: Any, memo: Memo, tokenizer: Any) -> None:
    both = WithMemory(lm, memo, 1.0)
    text = ids(tokenizer, TEXTS["loom"])
    begun = torch.cat([torch.tensor([[tokenizer.bos_token_id]]), text], 1)
    with torch.no_grad():
        torch.testing.assert_close(both(begun).logits[:, 1:], both(text).logits)


# Drafts


@pytest.mark.parametrize("prompt", [*PROMPTS, TEXTS["clock"][:40], "?"])
def test_drafts_change_nothing_but_the_number_of_passes(lm: Any, memo: Memo, tokenizer: Any, prompt: str) -> None:
    start = ids(tokenizer, prompt)
    for model in (lm, WithMemory(lm, memo), WithMemory(lm, memo, 0.3)):
        options: dict[str, Any] = {"max_new_tokens": 30, "do_sample": False}
        for more in ({}, {"repetition_penalty": 1.3}, {"eos_token_id": None}):
            own = model.generate(start, **options, **more)
            drafted = draft_generate(model, memo, start, **options, **more)
            assert torch.equal(drafted.sequences, own)
            assert drafted.tokens == own.shape[1] - start.shape[1] <= drafted.steps + drafted.accepted
            assert torch.equal(model.generate(start, **options, **more, custom_generate=Drafts(memo)), own)


def test_drafts_save_passes_where_text_is_memorized(lm: Any, memo: Memo, tokenizer: Any) -> None:
    start = ids(tokenizer, TEXTS["well"])[:, :4]
    drafted = draft_generate(WithMemory(lm, memo), memo, start, max_new_tokens=40)
    assert drafted.tokens > 2 * drafted.steps and drafted.accepted_per_step > 1
    # A memory that knows nothing proposes nothing but what the text repeats.
    none = draft_generate(lm, memo, ids(tokenizer, "Salt"), max_new_tokens=3, repeats=False)
    assert none.steps <= 3


def test_what_drafts_cannot_do_is_said(lm: Any, memo: Memo, tokenizer: Any) -> None:
    batch = tokenizer(PROMPTS, padding=True, return_tensors="pt", add_special_tokens=False)
    with pytest.raises(InvalidError, match="one prompt"):
        lm.generate(**batch, max_new_tokens=3, custom_generate=Drafts(memo))
    with pytest.raises(InvalidError, match="greedy"):
        draft_generate(lm, memo, ids(tokenizer, "The loom"), max_new_tokens=3, do_sample=True)


def test_a_memory_can_assist(lm: Any, memo: Memo, tokenizer: Any) -> None:
    """transformers' own assisted generation, with the memory as the smaller model."""
    for prompt in PROMPTS[:3]:
        start = ids(tokenizer, prompt)
        own = lm.generate(start, max_new_tokens=15, do_sample=False)
        assisted = lm.generate(start, max_new_tokens=15, do_sample=False, assistant_model=MemoForCausalLM.of(memo))
        assert torch.equal(own, assisted)


# Other models


def test_a_model_of_another_family(tokenizer: Any, memo: Memo) -> None:
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=64)
    config.eos_token_id = config.bos_token_id = tokenizer.eos_token_id
    both = WithMemory(GPT2LMHeadModel(config).eval(), memo)
    start = ids(tokenizer, TEXTS["clock"])[:, :5]
    made = both.generate(start, max_new_tokens=30, do_sample=False, pad_token_id=1)
    assert made[0, :-1].tolist() == ids(tokenizer, TEXTS["clock"])[0].tolist()
    assert math.isfinite(float(both(start, labels=start).loss))


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/partner.md, with a tiny model that reads bytes."""
    monkeypatch.chdir(tmp_path)
    alphabet = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    made = Tokenizer(models.BPE(alphabet, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["</s>", "<pad>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>", pad_token="<pad>")
    tiny(tokenizer).save_pretrained("model")
    tokenizer.save_pretrained("model")
    pages.run_page("partner.md")
