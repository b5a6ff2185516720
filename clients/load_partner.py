"""Twenty clients of a memory beside a neural model for half a minute; then the same while it is killed in the middle.

    python clients/load_partner.py target/release/memo MODEL.gguf [SECONDS]

MODEL.gguf may be `tiny`, the one that the tests make, or `smollm2`, a real one that is a package. A request that does
not end, or ends in another way than the documentation says, fails the run.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import requests

from llama import Llama, smollm2, tiny

CLIENTS = 20
HANGS = 300
"""Seconds without a word after which a request counts as one that hangs."""
TOKENS = 32
NOTE = "The spare key of the mill is under the blue stone by the well. Marta keeps nine hives of bees on its roof.\n"
PROMPTS = ["The spare key of the mill is", "Marta keeps nine", "Once upon a time there was", "The weather in the north"]


class Client(threading.Thread):
    """Asks one thing after the other until its time is over."""

    def __init__(self, url: str, number: int, until: float) -> None:
        super().__init__()
        self.url, self.number, self.until = url, number, until
        self.whole: list[float] = []
        self.first: list[float] = []
        self.tokens = self.refused = 0
        self.longest = 0.0
        self.faults: list[str] = []

    def run(self) -> None:
        while time.monotonic() < self.until and not self.faults:
            start = time.monotonic()
            try:
                if self.ask(start):
                    self.whole.append(time.monotonic() - start)
                else:
                    self.refused += 1
                    time.sleep(0.2)
            except Exception as error:
                self.faults.append(repr(error))
            self.longest = max(self.longest, time.monotonic() - start)

    def ask(self, start: float) -> bool:
        """Whether it was answered; that the partner is gone is the one other answer."""
        body = {"prompt": PROMPTS[self.number % len(PROMPTS)], "max_tokens": TOKENS, "stream": True}
        with requests.post(f"{self.url}/api/complete", json=body, stream=True, timeout=HANGS) as response:
            if response.status_code != 200:
                return refused(response.json())
            lines = (line for line in response.iter_lines() if line.startswith(b"data: "))
            for number, line in enumerate(lines):
                event = json.loads(line[6:])
                if "error" in event:
                    return refused(event)
                if number == 0:
                    self.first.append(time.monotonic() - start)
                self.tokens += "token" in event
                if "finish_reason" in event:
                    return True
        raise RuntimeError("the stream broke off")


def refused(answer: dict[str, Any]) -> bool:
    if answer["error"]["code"] != "partner":
        raise RuntimeError(answer)
    return False


def measure(memo: str, model: Path, weights: Path, seconds: float, failure: str, kill: bool) -> None:
    llama = Llama(weights)
    command = [memo, "serve", str(model), "--addr", "127.0.0.1:0", "--partner", llama.url, "--partner-failure", failure]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout
    url = server.stdout.readline().removeprefix("listening on ").strip()
    if not url:
        llama.kill()
        sys.exit(f"the server did not start; this says why: {' '.join(command)}")
    begun = time.monotonic()
    clients = [Client(url, number, begun + seconds) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    if kill:
        time.sleep(seconds / 2)
        llama.kill()
    for client in clients:
        client.join()
    over = time.monotonic() - begun
    llama.kill()
    server.terminate()
    server.wait()
    whole = [each for client in clients for each in client.whole]
    first = sorted(each for client in clients for each in client.first)
    name = f"killed after {seconds / 2:.0f} s, --partner-failure {failure}" if kill else "undisturbed"
    faults = [fault for client in clients for fault in client.faults]
    if faults or (not kill and any(client.refused for client in clients)):
        sys.exit(f"{name}: {len(faults)} requests did not end as they should: {faults[:3]}")
    print(
        f"| {name} | {len(whole)} | {sum(client.refused for client in clients)} "
        f"| {sum(client.tokens for client in clients) / over:.1f} | {statistics.median(first):.2f} s "
        f"| {first[int(len(first) * 0.99)]:.2f} s | {max(client.longest for client in clients):.1f} s "
        f"| {over:.1f} s |",
        flush=True,
    )


def main(memo: str, weights: str, seconds: str = "30") -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        path = {"tiny": lambda: tiny(home / "tiny.gguf"), "smollm2": smollm2}.get(weights, lambda: Path(weights))()
        if not path.is_file():
            sys.exit(f"{path}: no such file; give a model as .gguf, or tiny, or smollm2")
        (home / "note.txt").write_text(NOTE)
        model = home / "notes.memo"
        for command in (
            ["init", str(model), "--tokenizer", str(path)],
            ["memorize", str(model), str(home / "note.txt")],
        ):
            # It says itself what is wrong, such as a file that is no model.
            if code := subprocess.run([memo, *command], stdout=subprocess.DEVNULL).returncode:
                sys.exit(code)
        print("| partner | answered | refused | tokens/s | first token, median | 99 % | longest request | all ended |")
        print("|---|---|---|---|---|---|---|---|")
        for failure, kill in (("error", False), ("error", True), ("memory", True)):
            measure(memo, model, path, float(seconds), failure, kill)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    if not Path(sys.argv[1]).is_file():
        sys.exit(f"{sys.argv[1]}: no such program; cargo build --bin memo makes target/debug/memo")
    main(*sys.argv[1:])
