"""A strict parser of Server-Sent Events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class Seen:
    event: str
    id: str | None
    data: dict[str, Any]


def listen(client: httpx.Client, path: str, last: str | None = None, **options: Any) -> Iterator[Seen]:
    """Yield events until the server closes the stream."""
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
    with client.stream("GET", path, headers=headers, **options) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        for line in answer.iter_lines():
            name, _, value = line.partition(":")
            if line and name:
                fields[name] = fields.get(name, "") + value.removeprefix(" ")
            elif not line and "data" in fields:
                yield Seen(fields.get("event", "message"), fields.get("id"), json.loads(fields["data"]))
                fields = {}
            elif not line:
                fields = {}
