# Written by `make client` from "_async/pages.py". Change that file instead.
"""Iterate over lists of any length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from literati.client._sync.transport import Transport
from literati.client.call import Call, Query


def pages(transport: Transport, path: str, query: Query) -> Iterator[dict[str, Any]]:
    """Yield the items of all pages. A page is requested when the one before is used up."""
    token: str | None = None
    while True:
        page = transport.json(Call("GET", path, {**query, "page_token": token}))
        yield from page["items"]
        token = page["next_page_token"]
        if token is None:
            return
