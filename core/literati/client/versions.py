"""Compare the version of the client with that of the server."""

from __future__ import annotations

import re
from typing import Any

API = "v1"


def difference(client: str, answer: dict[str, Any]) -> str | None:
    """Return a sentence if the versions differ in a way that matters; None if they do not.

    Releases with the same first two numbers understand each other.
    """
    server, api = str(answer.get("version", "")), answer.get("api")
    if answer.get("name") != "literati":
        return "The server does not seem to be Literati."
    if api != API:
        return f"The server speaks the API {api!r} and this client {API!r}; install the client of {server}."
    mine, its = _release(client), _release(server)
    if mine is None or its is None or mine == its:
        return None
    if its < mine:
        risk = "it may not know parameters and calls of this client"
    else:
        risk = "it may have parameters and trees that this client does not know"
    return f"The server has version {server} and this client {client}: {risk}. Install the same version."


def _release(version: str) -> tuple[int, int] | None:
    found = re.match(r"(\d+)\.(\d+)", version)
    return None if found is None else (int(found[1]), int(found[2]))
