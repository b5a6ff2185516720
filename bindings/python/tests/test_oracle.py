"""The oracle and the single memory: the paper's numbers, exactly and within their noise."""

from __future__ import annotations

import numpy as np
import pytest
from memo_lm import DenseMemo, InvalidError, Oracle, Prediction, SingleMemory
from texts import CAT, OWL

SENTENCE = list(range(10))
NUMBERS = list(range(1, 10))


def test_the_oracle_is_exact() -> None:
    """Fig. 2: each of three layers has stored that 9 follows."""
    oracle = Oracle(20, 2, 3)
    oracle.memorize(NUMBERS)
    assert oracle.predict(NUMBERS[:8]) == Prediction(9, 3.0)
    weights = oracle.weights(NUMBERS[:8])
    assert weights.shape == (20,)
    assert weights[9] == 3
    assert oracle.layer_weights([0, 8], 1)[9] == 0.5
    assert [oracle.layer_weights(NUMBERS[:8], layer)[9] for layer in (1, 2, 3)] == [1, 1, 1]
    tokens, best = oracle.predict_all([NUMBERS[:8], NUMBERS[:2], []])
    assert (tokens.tolist(), best.tolist()) == ([9, 3, 0], [3, 1, 0])
    assert oracle.weights_all([]).shape == (0, 20)
    oracle.memorize_all([[1, 2, 3], [4, 5, 6]])
    oracle.forget_all([[1, 2, 3], [4, 5, 6]])
    oracle.forget(NUMBERS, completely=True)
    assert not oracle.weights(NUMBERS[:8]).any()


def test_a_dense_model_agrees_with_its_oracle() -> None:
    memo = DenseMemo(100, 2048, 2, 2, composition="bind", recall=0.5, distiller="exact", edges="padded")
    oracle = memo.oracle()
    texts = np.random.default_rng(1).integers(0, 100, (3, 12))
    for model in (memo, oracle):
        model.memorize_all(texts)
    contexts = texts[:, :8]
    np.testing.assert_allclose(memo.weights_all(contexts), oracle.weights_all(contexts), atol=0.4)


def test_an_oracle_has_the_tokenizer_of_its_model() -> None:
    memo = DenseMemo(tokenizer="gpt2", dim=64, heads=2, layers=2, codes="hadamard")
    oracle = memo.oracle()
    assert oracle.tokenizer == "gpt2"
    oracle.memorize(OWL)
    assert oracle.predict("The owl reads").token == memo.encode(" at")[0]
    # It ends where the text does.
    assert oracle.predict(OWL).token == memo.eos
    words = Oracle(words_from=[CAT], heads=2, layers=1)
    words.memorize(CAT)
    assert words.decode([words.predict("spare key").token]) == "under"


def test_a_sentence_in_a_single_memory() -> None:
    """Fig. 1: four words predict the fifth; three of four count 3/4."""
    memory = SingleMemory(11, 4096, 4, seed=1)
    memory.memorize(SENTENCE)
    for window, weight in (([2, 3, 4, 5], 1.0), ([2, 3, 4, 10], 0.75)):
        prediction = memory.predict(window)
        assert isinstance(prediction, Prediction)
        assert prediction.token == 6
        assert prediction.weight == pytest.approx(weight, abs=0.15)
        assert memory.weights(window).argmax() == 6
    assert memory.C.shape == (4096, 4096)
    assert memory.parameters == 4096 * 4096
    view = memory.C
    memory.forget(SENTENCE)
    assert abs(view).max() < 1e-4
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1


def test_pairs_fill_a_single_memory() -> None:
    """Recall of random pairs is what the load predicts."""
    draw = np.random.default_rng(1)
    memory = SingleMemory(500, 256, 4, head_dim=32, codes="hadamard")
    assert memory.C.shape == (128, 256)
    assert memory.expected_recall() == 1
    windows, following = draw.integers(0, 500, (1000, 4)), draw.integers(0, 500, 1000)
    memory.memorize_pairs(windows, following)
    tokens, _ = memory.predict_all(windows)
    assert np.mean(tokens == following) == pytest.approx(memory.expected_recall(), abs=0.05)
    assert memory.weights_all(windows[:3]).argmax(axis=1).tolist() == tokens[:3].tolist()
    memory.forget_pairs(windows[500:].tolist(), following[500:])
    more = np.mean(memory.predict_all(windows[:500])[0] == following[:500])
    assert more > np.mean(tokens[:500] == following[:500])
    memory.memorize_all([range(10), range(10, 20)])
    memory.forget_all([range(10), range(10, 20)])
    assert [array.shape for array in memory.predict_all([])] == [(0,), (0,)]


def test_vectors_of_ones_own() -> None:
    symbols = np.random.default_rng(1).normal(0, 512**-0.5, (11, 512))
    memory = SingleMemory(11, 2048, 4, symbols=symbols)
    memory.memorize(SENTENCE)
    assert memory.predict([2, 3, 4, 5]).token == 6
    with pytest.raises(InvalidError, match=r"symbols of shape \(512, 11\): those of all tokens are \(11, 512\)"):
        SingleMemory(11, 2048, 4, symbols=symbols.T)


def test_a_single_memory_of_text() -> None:
    memory = SingleMemory(tokenizer="gpt2", dim=1024, heads=2, codes="hadamard")
    memory.memorize(OWL)
    assert memory.decode([memory.predict(" by the").token]) == " light"
    tokens, _ = memory.predict_all([" by the", memory.encode(" the light")])
    assert memory.decode(tokens) == " light of"


def test_what_makes_no_sense_is_refused() -> None:
    oracle, memory = Oracle(10, 2, 2), SingleMemory(10, 64, 4)
    for call, says in (
        (lambda: Oracle(10, 1, 2), "h = 1: layers need at least 2 heads"),
        (lambda: Oracle(10, 2, 30), "the longest window, h^l tokens, overflows"),
        (lambda: Oracle(10, 2, 2, recall="vague"), 'recall "vague": choose stored or computed'),  # type: ignore[arg-type]
        (lambda: oracle.memorize("text"), "an Oracle has no tokenizer"),
        (lambda: oracle.memorize([10]), "token 10 at position 0 is outside the vocabulary of 10"),
        (lambda: oracle.layer_weights([1], 3), "there is no layer 3: layers are 1 to 2"),
        (lambda: SingleMemory(10, 64, 0), "h = 0: a window needs at least 1 token"),
        (lambda: SingleMemory(10, 64, 3), "d = 64 is not a multiple of h = 3"),
        (lambda: memory.predict([1, 2, 3]), "3 tokens were given; a window has 4"),
        (lambda: memory.predict_all([[1, 2, 3, 4], [1]]), "window 1: 1 tokens were given; a window has 4"),
        (lambda: memory.memorize_pairs([[1, 2, 3, 4]], [1, 2]), "windows of 4"),
        (lambda: memory.predict_all(np.full((2, 4), 10)), "token 10 at position 0 is outside the vocabulary of 10"),
    ):
        with pytest.raises(InvalidError) as refused:
            call()
        assert says in str(refused.value)
