"""Where the server is, and the API key: from arguments, the environment or a configuration file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from literati.client.errors import ConfigurationError

DEFAULT_URL = "http://127.0.0.1:8000"
_KEYS = {"url", "api_key"}


@dataclass(frozen=True)
class Connection:
    """The address of a server, where it was found, and the API key."""

    url: str
    source: str
    api_key: str | None = field(default=None, repr=False)


def find_connection(
    url: str | None = None,
    api_key: str | None = None,
    profile: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Connection:
    """Return the connection of the first source that has one: arguments, environment, configuration file.

    The key of a configuration file is only sent to the address that stands beside it.
    """
    profile = profile or environment.get("LITERATI_PROFILE") or None
    path = config_path(environment)
    needed = url is None or api_key is None or profile is not None
    section = _read_section(path, profile, required=profile is not None) if needed else {}
    found, source = url, "the argument `url`"
    if found is None and profile is None and (found := environment.get("LITERATI_URL") or None):
        source = "LITERATI_URL"
    if found is None and (found := section.get("url")):
        source = str(path)
    if found is None:
        found, source = DEFAULT_URL, "the default"
    found = _checked_url(found, source)
    key = api_key or (None if profile else environment.get("LITERATI_API_KEY")) or None
    if key is None and _checked_url(section.get("url") or DEFAULT_URL, str(path)) == found:
        key = section.get("api_key")
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigurationError("The API key contains characters that no key has; copy it again.")
    return Connection(found, source, key)


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return LITERATI_CONFIG, or `literati/config.toml` in the folder of the user's configuration."""
    if named := environment.get("LITERATI_CONFIG"):
        return Path(named)
    home = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "literati" / "config.toml"


def _read_section(path: Path, profile: str | None, *, required: bool) -> dict[str, str]:
    """Return the address and the key of a profile, or those at the top of the file."""
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if required:
            raise ConfigurationError(f"There is no configuration file {path} for {profile!r}.") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"The configuration file {path} cannot be read: {error}") from None
    profiles = data.get("profiles", {})
    if not isinstance(profiles, dict) or not all(isinstance(part, dict) for part in profiles.values()):
        raise ConfigurationError(
            f"{path}: `profiles` must consist of tables; write [profiles.NAME], and below it the `url` "
            "and the `api_key`."
        )
    section = data if profile is None else profiles.get(profile)
    if section is None:
        known = ", ".join(profiles) or "none"
        raise ConfigurationError(f"{path} has no profile {profile!r}; it has {known}.")
    for name in _KEYS & section.keys():
        if not isinstance(section[name], str):
            raise ConfigurationError(f"{path}: {name!r} must be text.")
    return {name: section[name] for name in _KEYS & section.keys()}


def _checked_url(url: str, source: str) -> str:
    """Return the address without a slash at its end, or `/v1`, which the client adds."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # this and the encoding of the host raise ValueError if they are not valid
        (parts.hostname or "").encode("idna")
        if not url.isprintable():
            raise ValueError("it contains characters that cannot be printed")
        httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL) as error:
        raise ConfigurationError(
            f"The address from {source} cannot be used: {error}. Expected one such as {DEFAULT_URL}."
        ) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigurationError(f"Expected an address such as {DEFAULT_URL}, got {url!r} from {source}.")
    if parts.username or parts.password:
        raise ConfigurationError(f"The address from {source} contains a password; pass `api_key` instead.")
    return url.rstrip("/").removesuffix("/v1")
