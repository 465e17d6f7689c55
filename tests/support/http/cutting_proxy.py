"""A TCP proxy between a client and a server that cuts a connection at a chosen moment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_SIZE = 1 << 16


class CuttingProxy:
    """Forward bytes to the server at `target` and back.

    `on_request` and `on_answer` are called with the first bytes of each request or answer, before these are
    forwarded. If one returns True, the connection is closed and the bytes are lost.
    """

    def __init__(
        self,
        target: Callable[[], str],
        *,
        on_request: Callable[[bytes], bool] = lambda data: False,
        on_answer: Callable[[bytes], bool] = lambda data: False,
    ) -> None:
        self._target, self._on_request, self._on_answer = target, on_request, on_answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._connections: list[threading.Thread] = []

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            connection = threading.Thread(target=self._serve, args=(client,), daemon=True)
            self._connections.append(connection)
            connection.start()

    def _serve(self, client: socket.socket) -> None:
        parts = urlsplit(self._target())
        with client:
            try:
                server = socket.create_connection((str(parts.hostname), int(parts.port or 80)))
            except OSError:
                return
            with server:
                ways = ((client, server, self._on_request), (server, client, self._on_answer))
                threads = [threading.Thread(target=self._pass_on, args=way, daemon=True) for way in ways]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()

    def _pass_on(self, source: socket.socket, sink: socket.socket, cut: Callable[[bytes], bool]) -> None:
        try:
            while data := source.recv(_SIZE):
                if cut(data):
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in (self._thread, *self._connections):
            thread.join(10)
