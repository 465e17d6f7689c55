"""A TCP proxy that can stop forwarding on its connections while it keeps them open.

Neither end is told that nothing will ever come, as when a router forgets a connection.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

_BLOCK = 65536


class ProxiedConnection:
    """A connection of a client, and the connection to the server that belongs to it."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.ends = (client, server)
        self.silent = False
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_BLOCK):
                if not self.silent:
                    target.sendall(data)
            if not self.silent:
                target.shutdown(socket.SHUT_WR)


class SilentProxy:
    """Forward connections to a server that listens on a Unix socket."""

    def __init__(self, server: Path) -> None:
        self._server = str(server)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[ProxiedConnection] = []
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._connections.append(ProxiedConnection(client, server))

    def go_silent(self) -> int:
        """Stop forwarding on the connections that are open now; return their number. New ones work."""
        connections = [connection for connection in self._connections if not connection.silent]
        for connection in connections:
            connection.silent = True
        return len(connections)

    def close(self) -> None:
        self._listener.close()
        for connection in self._connections:
            for end in connection.ends:
                end.close()
