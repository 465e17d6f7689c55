"""Headers that every answer carries, whoever gives it."""

from __future__ import annotations

from collections.abc import Iterable

Header = tuple[bytes, bytes]

_CSP = b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_SECURITY: tuple[Header, ...] = (
    (b"content-security-policy", _CSP),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


def completed(given: Iterable[Header], request_id: str) -> list[Header]:
    """What the route says itself stands: a picture has another policy than a page, a tag another cache."""
    headers = list(given)
    names = {name for name, _ in headers}
    headers += [pair for pair in _SECURITY if pair[0] not in names]
    headers.append((b"x-request-id", request_id.encode()))
    return headers
