"""A tour of the paper's model, in cells: run it as a script, or cell by cell in an editor that knows `# %%`.

1. A sentence in a single memory (the paper's Fig. 1)
2. Numbers in three layers (Fig. 2)
3. What C is: the same matrix by numpy
4. An experiment: how much fits into a memory, by its dimension
"""

# %% A sentence in a single memory
# Windows of four words predict the fifth. Ten words make six pairs of a key and a value, and all six are added up in
# one matrix C.
import time

import numpy as np
from memo_lm import DenseMemo

START = time.perf_counter()
WORDS = ["He", "enrolled", "in", "the", "mathematics", "and", "physics", "teaching", "diploma", "program", "or"]

memo = DenseMemo(len(WORDS), dim=4096, heads=4, layers=1, seed=1)
memo.memorize(range(10))

print("A sentence in a single memory")
for query in ("in the mathematics and", "in the mathematics or"):
    token, weight = memo.predict([WORDS.index(word) for word in query.split()])
    print(f"  {query} → {WORDS[token]}, weight {weight:.2f}")
print("  The second was never seen: three of its four words agree, and so the weight is about 3/4.")

# %% Numbers in three layers
# With h = 2 and l = 3, layer 1 sees 7 8, layer 2 sees 56 78 and layer 3 sees 1234 5678. Each has stored that 9 follows.
numbers = list(range(1, 10))
memo = DenseMemo(10, dim=4096, heads=2, layers=3, stride="block", seed=1)
memo.memorize(numbers)

print("\nNumbers in three layers")
token, weight = memo.predict(numbers[:8])
print(f"  after 1 … 8 comes {token}, weight {weight:.2f}; the paper says 3")
trace = memo.trace(numbers[:8], top=2)
for layer in trace.layers:
    seen = " ".join("".join(map(str, block.tokens)) for block in layer.blocks)
    best, second = layer.candidates
    print(f"  layer {layer.layer} sees {seen}: {best.token} with {best.weight:.2f}, then {second.token}", end=" ")
    print(f"with {second.weight:.2f} (noise {layer.noise:.2f})")

# %% What C is
# C = Σ key · valueᵀ, where a key is W_V of each head's code, side by side, and a value is the code of what follows.
memo = DenseMemo(len(WORDS), dim=512, heads=4, layers=1, seed=1)
C = memo.C(1)  # a view: it changes as the model memorizes
print("\nWhat C is")
print(f"  before: {np.count_nonzero(C)} cells of {C.size:,} are not zero")
memo.memorize(range(10))
print(f"  after:  {np.count_nonzero(C):,} are not")

E, W_V = memo.E, memo.W_V(1)
by_hand = np.zeros_like(C)
for p in range(4, 10):
    key = np.concatenate([W_V @ E[token] for token in range(p - 4, p)])
    by_hand += np.outer(key, E[p])
print(f"  the same sum by numpy differs by at most {abs(C - by_hand).max():.1e}")

memo.forget(range(10))
print(f"  forgotten: the largest cell is {abs(C).max():.1e}")

# %% How much fits into a memory
# Random tokens are memorized, and the model is asked for each of them. The paper's law: what a memory holds grows with
# its cells, d². With four times the cells, recall should fall at about four times the tokens.
VOCABULARY, SIZES = 1000, [1000, 2000, 4000, 8000, 16000, 32000]


def recall(dim: int, tokens: int) -> float:
    """The share of random tokens that a memory of this dimension says right."""
    model = DenseMemo(VOCABULARY, dim, 4, 2, recall="computed", distiller="off", codes="hadamard", seed=1)
    text = np.random.default_rng(tokens).integers(0, VOCABULARY, tokens)
    model.memorize(text)
    said, _ = model.predict_along(text)
    # The first windows are not whole.
    return float(np.mean(said[model.window - 1 : -1] == text[model.window :]))


print("\nRecall by number of random tokens")
print("  tokens   " + "".join(f"{tokens:>8}" for tokens in SIZES))
halves = {}
for dim in (256, 512):
    shares = [recall(dim, tokens) for tokens in SIZES]
    print(f"  d = {dim:<5}" + "".join(f"{100 * share:>7.1f}%" for share in shares))
    # Between which sizes recall falls below one half, on a logarithmic scale.
    halves[dim] = float(np.exp(np.interp(-0.5, [-share for share in shares], np.log(SIZES))))
for dim, half in halves.items():
    print(f"  d = {dim}: half of {half:,.0f} tokens is recalled, at {dim * dim / half:.0f} cells a token")
print(f"  four times the cells hold {halves[512] / halves[256]:.1f} times the tokens")
print(f"\n{time.perf_counter() - START:.1f} s in all")
