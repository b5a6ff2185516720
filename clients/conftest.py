"""Real servers for the tests: the program that MEMO_BIN names, on a port of its own, with models that its own command
line made. Nothing here reaches beyond loopback."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import openai
import pytest

from wire import SLOW, Answer, drip

if "MEMO_BIN" not in os.environ:
    pytest.exit("MEMO_BIN must name the program, as in MEMO_BIN=target/debug/memo", 2)
MEMO = Path(os.environ["MEMO_BIN"]).absolute()

# Before any library that would look for its caches, a hub or a proxy.
_CACHES = tempfile.TemporaryDirectory(prefix="memo-clients-")
os.environ |= {
    "HF_HOME": _CACHES.name,
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
    "TOKENIZERS_PARALLELISM": "false",
}
for name in ("MEMO_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
    os.environ.pop(name, None)

OWL = "The owl reads at night by the light of the moon. In the morning she sleeps in the old tower."
CAT = "The cat sleeps all day on the warm red roof. Marta keeps the spare key under the blue stone."
READ_KEY, WRITE_KEY = "a-key-that-reads-only", "a-key-that-also-writes"


def memo(*args: str | Path) -> str:
    """Runs the program, which must succeed, and gives what it printed."""
    done = subprocess.run([MEMO, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Server:
    """A server that runs."""

    def __init__(self, model: Path, *options: str) -> None:
        command = [MEMO, "serve", model, "--addr", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.url = self.process.stdout.readline().removeprefix("listening on ").strip()
        assert self.url.startswith("http://127.0.0.1:"), self.url
        self.port = int(self.url.rsplit(":", 1)[1])
        self.model, self.name = model, model.stem

    def openai(self, key: str = "none is needed") -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=key, max_retries=0)

    def stop(self) -> None:
        self.process.terminate()
        said, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        assert said.endswith("stopped; everything is saved\n")


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[..., Server]]:
    """Starts servers. Those that a test does not stop are stopped at the end."""
    servers: list[Server] = []

    def start(model: Path, *options: str) -> Server:
        servers.append(Server(model, *options))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.returncode is None:
            server.stop()


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has read two notes."""
    folder = tmp_path_factory.mktemp("notes")
    (folder / "owl.txt").write_text(OWL)
    (folder / "cat.txt").write_text(CAT)
    memo("memorize", folder / "notes.memo", folder / "owl.txt", folder / "cat.txt")
    return folder / "notes.memo"


@pytest.fixture(scope="session")
def server(serve: Callable[..., Server], notes: Path) -> Server:
    """A server of two notes, which no test changes."""
    return serve(notes)


@pytest.fixture(scope="session")
def keyed(serve: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server of an empty model that wants a key, and no large requests."""
    model = tmp_path_factory.mktemp("keyed") / "keyed.memo"
    memo("init", model)
    return serve(model, "--api-key", f"read:{READ_KEY}", "--api-key", WRITE_KEY, "--max-body", "1")


@pytest.fixture(scope="session")
def client(server: Server) -> openai.OpenAI:
    return server.openai()


@pytest.fixture(scope="session", autouse=True)
def slow(server: Server) -> Iterator[dict[str, "Future[Answer | None]"]]:
    """Slow requests: they are begun before all tests, so that nobody has to wait for their end."""
    pool = ThreadPoolExecutor(len(SLOW))
    yield {name: pool.submit(drip, server.port, *parts) for name, parts in SLOW.items()}
    pool.shutdown(wait=False)
