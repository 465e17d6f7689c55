"""Certificates for tests, and an endpoint with TLS for a server that has none, as managed services have."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Certificate:
    """A certificate of this machine's own names, signed by its own key."""

    file: Path
    key: Path

    @classmethod
    def make(cls, folder: Path) -> Self:
        made = cls(folder / "certificate.pem", folder / "key.pem")
        names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        files: list[str | Path] = ["-addext", names, "-keyout", made.key, "-out", made.file]
        subprocess.run(["openssl", *words, *files], check=True, capture_output=True)
        return made


class TlsEndpoint:
    """A context manager that passes on what it receives on an encrypted port to a Unix socket."""

    def __init__(self, socket: Path, certificate: Certificate) -> None:
        self._socket = socket
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate.file, certificate.key)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.port = 0

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._forward, "127.0.0.1", 0, ssl=self._context)
        self.port = server.sockets[0].getsockname()[1]
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._stopped.wait()
        server.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_unix_connection(self._socket)
        await asyncio.gather(_copy(reader, to_server), _copy(from_server, writer))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    writer.close()
