"""How well a memory knows the positions of a text, and texts that are read as they grow: what a language model beside
it leans on. Without torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from memo_lm import InvalidError, Memo, _memo
from texts import CAT, OWL


def test_a_memorized_text_is_known_further_and_further_back(notes: Memo) -> None:
    ids = notes.encode(OWL)
    found = notes.matches(OWL)
    assert all(len(each) == len(ids) + 1 for each in found)
    # Contexts of 1, 2, 3, 4, 5, 6, 8 … tokens are kept; the beginning of a document is one of its own.
    assert found.matched[:7].tolist() == [1, 1, 2, 3, 4, 5, 6] and found.times[0] == 2
    assert (np.diff(found.matched[1:].astype(int)) >= 0).all() and found.times[5:].max() == 1
    assert found.best[5:-1].tolist() == ids[5:].tolist() and found.best[-1] == notes.eos
    assert found.quote[-1] > 0.9 and found.probability[-1] > 0.9
    p = notes.next_token(ids)
    assert found.best[-1] == p.argmax() and found.probability[-1] == p.max()
    # Of what nobody wrote nothing is known.
    strange = notes.matches("Quarterly xylophone tariffs")
    assert strange.matched[1:].max() == 0 and strange.times[1:].max() == 0 and strange.quote.max() == 0.0
    assert strange.familiarity[-1] < found.familiarity[-1]


def test_support_is_counted(memo: Memo) -> None:
    memo.memorize([f"{n}: the cart brings {load}" for n, load in enumerate(["coal", "salt", "coal"])])
    found = memo.matches(" the cart brings")
    assert found.times[-1] == 3 and found.kinds[-1] == 2
    memo.forget(text=" the cart brings")
    assert memo.matches(" the cart brings").times[-1] == 0


def test_forgetting_leaves_no_trace(memo: Memo, tmp_path: Path) -> None:
    memo.memorize([("owl", OWL), ("cat", CAT)])
    memo.forget("owl")
    with Memo.create(tmp_path / "never.memo") as never:
        never.memorize([("cat", CAT)])
        for one, other in zip(memo.matches(OWL + CAT), never.matches(OWL + CAT)):
            assert one.tobytes() == other.tobytes()


def test_a_text_that_grows_is_read_as_if_it_were_new(notes: Memo) -> None:
    """However it was come by, token by token, in one piece or beside others, a position is the same bits."""
    text = np.concatenate([notes.encode(OWL), notes.encode("Some other words. "), notes.encode(CAT)] * 4)
    whole = _memo.Follower(notes.core)
    ((rows, seen),) = whole.read([(text, 0, len(text) + 1)])
    assert rows.shape == (len(text) + 1, notes.vocab_size) and len(text) > 80
    public = notes.matches(text)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(seen, public))
    np.testing.assert_allclose(rows, notes.log_distributions(text), rtol=1e-6)
    grown = _memo.Follower(notes.core)
    for p in range(0, len(text), 3):
        # Two texts at a time, one of which goes back now and then.
        other = text[: p // 2]
        read = grown.read([(text[:p], p, p + 1), (other, len(other), len(other) + 1)])
        assert read[0][0][0].tobytes() == rows[p].tobytes()
        assert read[1][0][0].tobytes() == rows[len(other)].tobytes()
        assert [each[0] for each in read[0][1]] == [each[p] for each in seen]


def test_what_is_memorized_meanwhile_is_read(notes: Memo) -> None:
    follower = _memo.Follower(notes.core)
    ids = notes.encode("Marta keeps bees on")
    follower.read([(ids, len(ids), len(ids) + 1)])
    notes.memorize("Marta keeps bees on the roof of the mill.")
    ((rows, _),) = follower.read([(ids, len(ids), len(ids) + 1)])
    assert int(rows[0].argmax()) == int(notes.next_token(ids).argmax()) == int(notes.encode(" the")[0])


def test_a_memory_proposes_what_it_would_say(notes: Memo) -> None:
    follower = _memo.Follower(notes.core)
    ids = notes.encode(OWL)
    tokens, probabilities = follower.propose(ids[:4], 5, 0.1)
    assert tokens.tolist() == ids[4:9].tolist() and (probabilities >= 0.1).all()
    # Never past the end of a document, and nothing that it is not sure of.
    assert follower.propose(ids[:4], 500, 0.1)[0].tolist() == ids[4:].tolist()
    assert len(follower.propose(notes.encode("Quarterly xylophone"), 5, 0.5)[0]) == 0


def test_what_cannot_be_read_is_refused(notes: Memo) -> None:
    follower = _memo.Follower(notes.core)
    ids = notes.encode("The owl")
    for request in ((ids, 2, 4), (ids, 2, 1), (np.array([60_000], np.uint32), 0, 1)):
        with pytest.raises(InvalidError, match=r"tokens|vocabulary"):
            follower.read([request])
    with pytest.raises(InvalidError):
        _memo.Follower(notes.core, 1.5)
