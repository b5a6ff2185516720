"""MeMo in EleutherAI's evaluation harness: the model `memo` of lm_eval.

Scores come from the memory itself, many requests at a time, in Rust; no server, no torch. They are those that lm_eval
gets from `memo serve` by `local-completions`: the same tokens, and the same numbers.

    python -m memo_lm.lm_eval --model_args path=notes.memo --tasks memo_lambada --metadata lambada=lambada_test.jsonl

is lm_eval's own command line with this model and the tasks of `memo_lm.tasks`. In Python::

    import lm_eval
    from memo_lm.lm_eval import MemoLM
    from memo_lm.tasks import tasks

    lm_eval.simple_evaluate(MemoLM("notes.memo"), tasks=tasks(lambada="lambada_test.jsonl"))
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from lm_eval.api.model import TemplateLM
from lm_eval.api.registry import register_model
from lm_eval.models.utils import handle_stop_sequences, normalize_gen_kwargs

from memo_lm import Memo
from memo_lm.inputs import completion_options
from memo_lm.progress import watching

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance
    from numpy.typing import NDArray

    from memo_lm._memo import CompletionOptions

Scored = tuple[float, bool]
Encoded = tuple[Any, list[int], list[int]]

# How tokens are picked where a task does not say; the seed is the one that lm_eval sends to servers.
SAMPLING: dict[str, Any] = {"temperature": 0.0, "top_k": 0, "top_p": 1.0, "seed": 1234}


class MemoLM(TemplateLM):
    """A memory that lm_eval asks.

    `path` names a model directory, which is opened to be read only unless `read_only=False` says otherwise; or it is
    an open `memo_lm.Memo`, which stays open. `max_gen_toks` is how many tokens are generated where a task does not say,
    and `generalize` how much the model's lexicon counts, from 0 to 1.
    What lm_eval says of batches and devices is passed over: all requests are one batch, on all cores.
    """

    def __init__(
        self,
        path: str | PathLike[str] | Memo,
        read_only: bool = True,
        max_gen_toks: int = 256,
        batch_size: object = None,
        max_batch_size: object = None,
        device: object = None,
        generalize: float = 1.0,
    ) -> None:
        super().__init__()
        self.memo = path if isinstance(path, Memo) else Memo.open(path, read_only=read_only)
        self.max_gen_toks = int(max_gen_toks)
        self.generalize = float(generalize)

    @property
    def eot_token_id(self) -> int:
        """The end of a document, which before a text stands for its beginning."""
        return self.memo.eos

    @property
    def tokenizer_name(self) -> str:
        """What requests that lm_eval keeps are told apart by."""
        return self.memo.tokenizer

    def tok_encode(self, string: str, add_special_tokens: bool | None = None, **_: object) -> list[int]:
        """The tokens of a text. The name of the end alone is that token, as for the server; in a text it is text."""
        if string == self.memo.eos_text:
            return [self.memo.eos]
        return cast("list[int]", self.memo.encode(string).tolist())

    def _loglikelihood_tokens(
        self, requests: Sequence[Encoded], disable_tqdm: bool = False, **_: object
    ) -> list[Scored]:
        pairs = [(_tokens(context + continuation), len(context)) for _, context, continuation in requests]
        with watching(False if disable_tqdm else None) as callback:
            scored = self.memo.core.score_many(pairs, callback, self.generalize)
        answers = [(float(logs.sum()), bool(greedy)) for logs, greedy in scored]
        for (asked, _context, _continuation), answer in zip(requests, answers):
            self.cache_hook.add_partial("loglikelihood", asked, answer)
        return answers

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """How probable texts are, each from the start of a document, whatever its length; without its end."""
        texts = [request.args[0] for request in requests]
        tokens = self.memo.core.encode_many(texts)
        with watching(False if disable_tqdm else None) as callback:
            scored = self.memo.core.score_many([(each, 0) for each in tokens], callback, self.generalize)
        answers = [float(logs.sum()) for logs, _ in scored]
        for text, answer in zip(texts, answers):
            self.cache_hook.add_partial("loglikelihood_rolling", (text,), answer)
        return answers

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """What follows prompts, each up to a text that stops it, the end of a document, or enough tokens."""
        options = [self._options(normalize_gen_kwargs(request.args[1], self.max_gen_toks)) for request in requests]
        prompts = [_tokens(self.tok_encode(request.args[0])) for request in requests]
        with watching(False if disable_tqdm else None) as callback:
            made = self.memo.core.complete_many(prompts, options, callback)
        for request, (_, text) in zip(requests, made):
            self.cache_hook.add_partial("generate_until", request.args, text)
        return [text for _, text in made]

    def _options(self, given: dict[str, Any]) -> CompletionOptions:
        sampling = {name: type(default)(given.get(name, default)) for name, default in SAMPLING.items()}
        stops = handle_stop_sequences(given["until"], self.memo.eos_text)
        # lm_eval sends tokens to servers too, where tokens are meant as they are.
        return completion_options(
            given["max_gen_toks"],
            **sampling,
            stop=[stop for stop in stops if stop],
            text=False,
            generalize=self.generalize,
        )


def _tokens(tokens: list[int]) -> NDArray[np.uint32]:
    return np.array(tokens, dtype=np.uint32)


def main() -> None:
    """lm_eval's command line, which then knows this model and its tasks."""
    from lm_eval.__main__ import cli_evaluate

    from memo_lm.tasks import task_dir

    asked = sys.argv[1:]
    if len(asked) > 1 and asked[0] not in ("ls", "validate"):
        for option, short, value in (("--model", "-M", "memo"), ("--include_path", None, str(task_dir()))):
            if not any(word in (option, short) or word.startswith(f"{option}=") for word in asked):
                sys.argv += [option, value]
    cli_evaluate()


if __name__ == "__main__":
    # Run as a program, this file is another module than the one that lm_eval is to know.
    from memo_lm.lm_eval import main as run

    run()
else:
    register_model("memo")(MemoLM)
