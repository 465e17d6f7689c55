"""Headers that every response carries."""

from __future__ import annotations

from collections.abc import Iterable

Header = tuple[bytes, bytes]

_CSP = b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_DEFAULTS: tuple[Header, ...] = (
    (b"content-security-policy", _CSP),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


def add_default_headers(given: Iterable[Header], request_id: str) -> list[Header]:
    """Return the headers with the request's id and with the defaults that a route has not set itself."""
    headers = list(given)
    names = {name for name, _ in headers}
    headers += [pair for pair in _DEFAULTS if pair[0] not in names]
    headers.append((b"x-request-id", request_id.encode()))
    return headers
