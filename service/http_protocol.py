"""HTTP as the server reads it: what is none never gets to the app, and is answered with a problem too."""

from __future__ import annotations

import secrets

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.errors import Problem, problem_response


class Protocol(HttpToolsProtocol):
    def send_400_response(self, msg: str) -> None:
        problem = Problem(400, "This is not HTTP that can be read here.", kind="malformed-request")
        request_id = secrets.token_hex(8)
        response = problem_response(problem, request_id)
        headers = [*response.raw_headers, (b"x-request-id", request_id.encode()), (b"connection", b"close")]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + lines + b"\r\n" + bytes(response.body))
        self.transport.close()
