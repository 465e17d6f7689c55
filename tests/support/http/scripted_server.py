"""A small HTTP server that answers as a test says, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import literati

VERSION = {"name": "literati", "version": literati.__version__, "api": "v1", "python": "3"}


@dataclass(frozen=True)
class Answer:
    """One response. Without a status, the connection is closed instead."""

    status: int | None = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0  # between the headers and the body


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float


class ScriptedServer:
    """Answer requests with `answers` one after the other, and `/version` with `version`."""

    def __init__(self, *answers: Answer, version: dict[str, Any] | None = None) -> None:
        self.answers = list(answers)
        self.asked: list[Asked] = []
        self.versions_asked = 0
        self.version = VERSION if version is None else version
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path == "/version":
                    script.versions_asked += 1
                    self._send(Answer(200, script.version))
                    return
                asked = Asked(self.command, self.path, dict(self.headers), body, time.monotonic())
                script.asked.append(asked)
                self._send(script.answers.pop(0))

            def _send(self, answer: Answer) -> None:
                self.close_connection = answer.status is None
                if answer.status is None:
                    return
                content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.status != 204:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                time.sleep(answer.seconds)
                if answer.status != 204:
                    self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

            def log_message(self, format: str, *arguments: Any) -> None:
                """Write nothing."""

        return Handler

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
