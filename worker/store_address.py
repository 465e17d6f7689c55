"""The address of the store: one server, or sentinels that know which server is the primary.

This is the only place that reads the parts of REDIS_URL. The store, Celery and the asynchronous connections
use what it returns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlencode

SENTINEL_PORT = 26379
FORM = "redis+sentinel://user:password@host1:26379,host2:26379,host3:26379/mymaster/0"
_SERVER_SCHEMES = ("redis", "rediss", "unix")
_SENTINEL_SCHEMES = ("redis+sentinel", "rediss+sentinel")
_URL = re.compile(
    r"(?P<scheme>[a-z+]+)://(?:(?P<user>[^/]*)@)?(?P<hosts>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?"
)
_HOST = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:\s]+))(?::(?P<port>\d{1,5}))?")
_SENTINEL_USER, _SENTINEL_PASSWORD = "sentinel_username", "sentinel_password"
_TLS_OPTIONS = ("ssl_ca_certs", "ssl_ca_path", "ssl_cert_reqs", "ssl_certfile", "ssl_keyfile")


class StoreAddressError(ValueError):
    """The address cannot be used; the message says why, without a password."""


@dataclass(frozen=True)
class SentinelAddress:
    """Sentinels, and the name by which they know the primary."""

    hosts: tuple[tuple[str, int], ...]
    primary: str
    database: int = 0
    credentials: dict[str, str] = field(default_factory=dict)  # username and password of the servers
    sentinel_credentials: dict[str, str] = field(default_factory=dict)  # those of the sentinels
    tls: dict[str, str] | None = None  # options of TLS for servers and sentinels; None without TLS


def sentinel_address(url: str) -> SentinelAddress | None:
    """Return the sentinels of a URL; None for a URL of one server.

    Raise StoreAddressError if the URL is malformed.
    """
    parts = _split(url)
    if parts["scheme"] in _SERVER_SCHEMES:
        return None
    primary, _, database = parts["path"].removeprefix("/").partition("/")
    if not primary:
        raise StoreAddressError(f"the URL must name the primary after the hosts, as in {FORM}")
    if not re.fullmatch(r"\d*", database):
        raise StoreAddressError(f"the part after the name of the primary must be a number, as in {FORM}")
    user, _, password = parts["user"].partition(":")
    options = dict(parse_qsl(parts["query"], keep_blank_values=True))
    sentinel_user, sentinel_password = options.pop(_SENTINEL_USER, ""), options.pop(_SENTINEL_PASSWORD, "")
    return SentinelAddress(
        hosts=tuple(_host(text) for text in parts["hosts"].split(",")),
        primary=unquote(primary),
        database=int(database or 0),
        credentials=_credentials(unquote(user), unquote(password)),
        sentinel_credentials=_credentials(sentinel_user, sentinel_password),
        tls=_tls(parts["scheme"] == "rediss+sentinel", options),
    )


def check(url: str) -> str:
    """Return the URL. Raise StoreAddressError if it is malformed."""
    sentinel_address(url)
    return url


def with_passwords(url: str, password: str | None, sentinel_password: str | None) -> str:
    """Return the URL with these passwords in place of its own."""
    parts = _split(url)
    user, query = parts["user"], parts["query"]
    if password is not None:
        user = f"{user.partition(':')[0]}:{quote(password, safe='')}"
    if sentinel_password is not None and parts["scheme"] in _SENTINEL_SCHEMES:
        options = [(name, value) for name, value in parse_qsl(query) if name != _SENTINEL_PASSWORD]
        query = urlencode([*options, (_SENTINEL_PASSWORD, sentinel_password)])
    before, after = f"{user}@" if user else "", f"?{query}" if query else ""
    return f"{parts['scheme']}://{before}{parts['hosts']}{parts['path']}{after}"


def _split(url: str) -> dict[str, str]:
    match = _URL.fullmatch(url)
    schemes = (*_SERVER_SCHEMES, *_SENTINEL_SCHEMES)
    if match is None or match["scheme"] not in schemes:
        known = ", ".join(f"{scheme}://" for scheme in schemes)
        raise StoreAddressError(f"the URL must begin with one of {known}")
    return {name: value or "" for name, value in match.groupdict().items()}


def _host(text: str) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    port = int(match["port"] or SENTINEL_PORT) if match else 0
    if match is None or not 0 < port < 65_536:
        raise StoreAddressError(f"the hosts must be names with ports, separated by commas, as in {FORM}")
    return match["ipv6"] or match["name"], port


def _credentials(user: str, password: str) -> dict[str, str]:
    return {name: value for name, value in (("username", user), ("password", password)) if value}


def _tls(encrypted: bool, options: dict[str, str]) -> dict[str, str] | None:
    allowed = (_SENTINEL_USER, _SENTINEL_PASSWORD, *(_TLS_OPTIONS if encrypted else ()))
    for name in options:
        if name not in allowed:
            raise StoreAddressError(f"the URL has the option {name!r}; it may have {', '.join(allowed)}")
    return {"ssl_cert_reqs": "required", **options} if encrypted else None
