"""MeMo in Hugging Face's transformers: a memory as a causal language model, and a memory beside one that you have.

    import memo_lm.hf
    from transformers import AutoModelForCausalLM, pipeline

    memo_lm.hf.MemoForCausalLM.from_pretrained("notes.memo").save_pretrained("notes-hf")
    model = AutoModelForCausalLM.from_pretrained("notes-hf")
    pipeline("text-generation", model="notes-hf")("The owl reads")

`MemoForCausalLM`, `MemoConfig` and `MemoTokenizer` are known to the Auto classes once this is imported.

    both = memo_lm.hf.WithMemory(lm, memo)          # a causal language model whose logits are the mixture
    lm.generate(**batch, logits_processor=[memo_lm.hf.MemoryProcessor(memo)])
    memo_lm.hf.draft_generate(lm, memo, **batch)    # the model's own greedy text, sooner

`memo` must have the tokenizer of `lm`: `Memo.create(path, tokenizer=AutoTokenizer.from_pretrained(…))`.
"""

from .drafts import Drafted, Drafts, draft_generate
from .files import MEMORY
from .model import MemoConfig, MemoForCausalLM
from .partner import MemoryProcessor, WithMemory
from .tokenizers import MemoTokenizer, tokenizer
from .weight import AUTO, Auto

__all__ = [
    "AUTO",
    "MEMORY",
    "Auto",
    "Drafted",
    "Drafts",
    "MemoConfig",
    "MemoForCausalLM",
    "MemoTokenizer",
    "MemoryProcessor",
    "WithMemory",
    "draft_generate",
    "tokenizer",
]
