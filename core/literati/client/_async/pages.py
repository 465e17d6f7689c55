"""Iterate over lists of any length."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from literati.client._async.transport import AsyncTransport
from literati.client.call import Call, Query


async def pages(transport: AsyncTransport, path: str, query: Query) -> AsyncIterator[dict[str, Any]]:
    """Yield the items of all pages. A page is requested when the one before is used up."""
    token: str | None = None
    while True:
        page = await transport.json(Call("GET", path, {**query, "page_token": token}))
        for item in page["items"]:
            yield item
        token = page["next_page_token"]
        if token is None:
            return
