"""The paper's model: its worked examples, its equations by numpy, and its matrices as views."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from memo_lm import DenseMemo, InvalidError, Prediction

WORDS = ["He", "enrolled", "in", "the", "mathematics", "and", "physics", "teaching", "diploma", "program", "or"]
SENTENCE = list(range(10))
NUMBERS = list(range(1, 10))


def words(text: str) -> list[int]:
    return [WORDS.index(word) for word in text.split()]


def test_a_sentence_in_a_single_memory() -> None:
    """Fig. 1: one layer, windows of four words."""
    memo = DenseMemo(len(WORDS), 4096, 4, 1, seed=1)
    memo.memorize(SENTENCE)
    for query, weight in (("in the mathematics and", 1.0), ("in the mathematics or", 0.75)):
        weights = memo.weights(words(query))
        assert WORDS[weights.argmax()] == "physics"
        assert weights.max() == pytest.approx(weight, abs=0.15)


def test_numbers_in_three_layers() -> None:
    """Fig. 2: h = 2 and l = 3; each layer has stored that 9 follows, and their answers add up to 3."""
    memo = DenseMemo(10, 2048, 2, 3, stride="block", seed=1)
    memo.memorize(NUMBERS)
    assert memo.window == 8
    prediction = memo.predict(NUMBERS[:8])
    assert isinstance(prediction, Prediction)
    assert prediction.token == 9
    assert prediction.weight == pytest.approx(3, abs=0.5)
    trace = memo.trace(NUMBERS[:8], 3)
    assert [layer.layer for layer in trace.layers] == [1, 2, 3]
    for layer in trace.layers:
        assert layer.candidates[0].token == 9
        assert layer.candidates[0].weight == pytest.approx(1, abs=0.3)
    assert [block.tokens for block in trace.layers[1].blocks] == [[5, 6], [7, 8]]
    assert trace.candidates[0].weight == pytest.approx(prediction.weight, rel=1e-4)
    assert 0 < trace.noise < 0.5


def test_c_is_what_the_equations_say() -> None:
    """C = Σ s·yᵀ with s = W_V·x of each head, side by side, and y the code of what follows."""
    memo = DenseMemo(len(WORDS), 256, 4, 1, seed=3)
    memo.memorize(SENTENCE)
    E, W_V = memo.E, memo.W_V(1)
    assert (E.shape, W_V.shape, memo.C(1).shape) == ((11, 256), (64, 256), (256, 256))
    expected = np.zeros((256, 256), np.float32)
    for p in range(4, 10):
        key = np.concatenate([W_V @ E[token] for token in SENTENCE[p - 4 : p]])
        expected += np.outer(key, E[SENTENCE[p]])
    np.testing.assert_allclose(memo.C(1), expected, atol=1e-5)
    key = np.concatenate([W_V @ E[token] for token in SENTENCE[2:6]])
    np.testing.assert_allclose(memo.weights(SENTENCE[2:6]), E @ (key @ memo.C(1)), atol=1e-4)


@pytest.mark.parametrize("codes", ["gaussian", "hadamard"])
def test_prj_composes(codes: Any) -> None:
    memo = DenseMemo(64, 128, 2, 3, codes=codes)
    blocks = memo.codes(5, 7)
    assert memo.Prj(1).shape == (128, 256)
    np.testing.assert_allclose(memo.compose(1, blocks), memo.Prj(1) @ blocks.ravel(), atol=1e-5)


def test_hadamard_codes_are_orthogonal() -> None:
    E = DenseMemo(128, 128, 2, 2, codes="hadamard").E
    np.testing.assert_allclose(E @ E.T, np.eye(128), atol=1e-5)


def test_matrices_are_views_of_the_model() -> None:
    memo = DenseMemo(100, 64, 2, 2)
    C = memo.C(2)
    assert not C.any()
    memo.memorize(NUMBERS)
    assert C.any()
    once = C.copy()
    memo.memorize(NUMBERS)
    np.testing.assert_allclose(C, 2 * once, atol=1e-5)
    first, second = ((memo.C(1), memo.C(2), memo.E, memo.W_V(1), memo.Prj(1)) for _ in range(2))
    for one, other in zip(first, second):
        assert np.shares_memory(one, other)
        with pytest.raises(ValueError, match="read-only"):
            one[0, 0] = 1


def test_a_view_keeps_the_model_alive() -> None:
    memo = DenseMemo(100, 64, 2, 2)
    memo.memorize(NUMBERS)
    C = memo.C(2)
    before = C.copy()
    del memo
    gc.collect()
    np.testing.assert_array_equal(C, before)


def test_a_memory_can_be_set() -> None:
    memo, other = DenseMemo(100, 64, 2, 2, seed=4), DenseMemo(100, 64, 2, 2, seed=4)
    memo.memorize(NUMBERS)
    C = other.C(2)
    for layer in (1, 2):
        other.set_C(layer, memo.C(layer))
    np.testing.assert_array_equal(C, memo.C(2))
    np.testing.assert_array_equal(other.weights([1, 2, 3, 4]), memo.weights([1, 2, 3, 4]))
    other.set_C(2, np.zeros((64, 64)))
    assert not other.weights([1, 2, 3, 4]).any()


def test_forgetting_subtracts() -> None:
    memo = DenseMemo(100, 512, 2, 2, distiller="exact")
    memo.memorize([20, 21, 22, 23, 24])
    before = [memo.C(layer).copy() for layer in (1, 2)]
    memo.memorize(NUMBERS)
    assert memo.predict([1, 2, 3, 4]).token == 5
    memo.forget(NUMBERS, completely=True)
    for layer in (1, 2):
        np.testing.assert_allclose(memo.C(layer), before[layer - 1], atol=1e-4)
    with pytest.raises(InvalidError, match="this text of 9 tokens is not memorized, or has been forgotten already"):
        memo.forget(NUMBERS, completely=True)


def test_predictions_along_a_text_are_the_single_ones() -> None:
    memo = DenseMemo(100, 1024, 2, 2)
    memo.memorize_all([NUMBERS, range(30, 40)])
    tokens, weights = memo.predict_along(NUMBERS)
    for p in range(len(NUMBERS)):
        token, weight = memo.predict(NUMBERS[: p + 1])
        assert weights[p] == pytest.approx(weight, abs=1e-3)
        if p >= 1:
            assert tokens[p] == token
    assert tokens[3:8].tolist() == NUMBERS[4:9]


def test_what_a_model_is() -> None:
    memo = DenseMemo(100, 64, 2, 2, seed=9, recall=0.25, distiller="off", edges="padded")
    config = memo.config
    assert config == {
        "vocab": 100,
        "dim": 64,
        "heads": 2,
        "layers": 2,
        "seed": 9,
        "codes": "gaussian",
        "composition": "jlt",
        "recall": 0.25,
        "distiller": "off",
        "stride": "token",
        "edges": "padded",
        "update_rows": 1024,
    }
    assert memo.parameters == 2 * 64 * 64
    assert memo.nbytes >= 4 * memo.parameters
    assert repr(memo) == "<memo_lm.DenseMemo vocab=100, dim=64, heads=2, layers=2>"
    np.testing.assert_array_equal(DenseMemo(**config).E, memo.E)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dim": 250, "heads": 4}, "d = 250 is not a multiple of h = 4: each head takes d/h dimensions of a key"),
        ({"heads": 1}, "h = 1: layers need at least 2 heads"),
        ({"layers": 0}, "l = 0: a model needs at least 1 layer"),
        ({"codes": "morse"}, 'codes "morse": choose gaussian or hadamard'),
        ({"recall": 1.5}, "blend α = 1.5 must be between 0 (computed) and 1 (stored)"),
        ({"recall": "vague"}, 'recall "vague": choose stored or computed'),
        ({"dim": 4096, "memory_limit": "1MiB"}, "the model needs"),
        ({"dim": -1}, "dim=-1 must be a whole number that is not negative"),
    ],
)
def test_a_model_that_cannot_be_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidError) as refused:
        DenseMemo(**{"vocab": 100, "dim": 64, "heads": 2, "layers": 2, **options})
    assert says in str(refused.value)


def test_what_there_is_not_is_refused() -> None:
    memo = DenseMemo(100, 64, 2, 2, recall="computed")
    for call, says in (
        (lambda: memo.memorize([1, 100]), "token 100 at position 1 is outside the vocabulary of 100"),
        (lambda: memo.predict([-1]), "token -1 at position 0 is negative"),
        (lambda: memo.weights("text"), "a DenseMemo has no tokenizer; give token ids"),  # type: ignore[arg-type]
        (lambda: memo.C(1), "there is no C of layer 1: with recall='computed' only the last layer has a memory"),
        (lambda: memo.Prj(2), "there is no Prj of layer 2: the last layer has none"),
        (lambda: memo.C(0), "layers are 1 to 2"),
        (lambda: memo.W_V(3), "layers are 1 to 2"),
        (lambda: memo.codes(5, 101), "rows 5 to 101 of 100"),
        (lambda: memo.set_C(2, np.zeros((2, 2))), "C is (64, 64)"),
        (lambda: memo.set_C(2, np.zeros(4)), "a matrix is needed; this array has 1 dimensions: (4,)"),
        (lambda: memo.compose(1, np.zeros((3, 64))), "a block is (2, 64)"),
    ):
        with pytest.raises(InvalidError) as refused:
            call()
        assert says in str(refused.value)
    with pytest.raises(InvalidError, match="composition='bind' is not linear"):
        DenseMemo(100, 64, 2, 2, composition="bind").Prj(1)
    with pytest.raises(InvalidError, match="composition='product' is not linear"):
        DenseMemo(100, 64, 2, 2, composition="product").Prj(1)
    with pytest.raises(InvalidError, match="the product composition needs Gaussian codes"):
        DenseMemo(100, 64, 2, 2, codes="hadamard", composition="product")
    with pytest.raises(InvalidError, match="forgetting completely needs the `exact` distiller"):
        DenseMemo(100, 64, 2, 2).forget(NUMBERS, completely=True)
