"""Between a server and its clients: passes everything on, until it goes silent on the connections it has.

What is silent stays open: nobody is told that nothing will ever come, as when a router forgets a connection.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

_BLOCK = 65536


class Wire:
    """A client's connection, and the one to the server that stands for it."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.ends = (client, server)
        self.silent = False
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_BLOCK):
                if not self.silent:
                    target.sendall(data)
            if not self.silent:
                target.shutdown(socket.SHUT_WR)


class Middleman:
    def __init__(self, server: Path) -> None:
        self._server = str(server)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._wires: list[Wire] = []
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._wires.append(Wire(client, server))

    def go_silent(self) -> int:
        """On all connections there are; those made from now on are like any other. How many there were."""
        wires = [wire for wire in self._wires if not wire.silent]
        for wire in wires:
            wire.silent = True
        return len(wires)

    def close(self) -> None:
        self._listener.close()
        for wire in self._wires:
            for end in wire.ends:
                end.close()
