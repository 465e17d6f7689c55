"""`python -m service.provision`: the secrets of a stack of containers, made once and kept in its volumes.

Every container sees the folder that it needs and no other. The first API key is told here, and only once.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

from service import keyring
from service.keyring import DEFAULT_TENANT, Scope

ROOT = Path("/run/literati")
USER = "literati"
# What the service, Celery and their client call; nothing that reads or changes the server itself.
COMMANDS = "+@all -@admin -@dangerous"
KEYS = ("literati*", "_kombu.*", "unacked*", "celery*", "*.pidbox*")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m service.provision", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help=f"where the volumes are (default: {ROOT})")
    root: Path = parser.parse_args(words).root
    try:
        _provide(root)
    except (OSError, ValueError) as error:
        print(f"The secrets cannot be made: {error}", file=sys.stderr)
        return 1
    return 0


def _provide(root: Path) -> None:
    password = _kept(root / "secrets" / "redis-password", lambda: secrets.token_urlsafe(32), 0o600)
    _write(root / "redis" / "users.acl", access_list(password), 0o644)  # it holds the password's digest only
    keys = root / "secrets" / "keys.json"
    # Prometheus and Grafana are other users, each the only one that its volume is mounted for.
    _kept(root / "prometheus" / "key", lambda: _add_key(keys, "prometheus", {Scope.ADMIN}), 0o644)
    _kept(root / "grafana" / "password", lambda: secrets.token_urlsafe(18), 0o644)
    if any(entry.name != "prometheus" for entry in keyring.read(keys).keys):
        print("The secrets are there. The first API key was shown when it was made.")
        return
    key = _add_key(keys, "first", {Scope.READ, Scope.TRAIN})
    print(f"The secrets are made. Your API key, shown only now:\n\n    {key}\n", flush=True)


def access_list(password: str) -> str:
    """For `aclfile`: nobody but this user gets in.

    The default user is off and keeps its rights all the same: at its start the server reads its own file
    under that name, and many versions drop every transaction and script for which the rights are missing
    (valkey-io/valkey#3983).
    """
    digest = hashlib.sha256(password.encode()).hexdigest()
    patterns = " ".join(f"~{pattern}" for pattern in KEYS)
    return f"user default off ~* &* +@all\nuser {USER} on #{digest} {patterns} &* {COMMANDS}\n"


def _add_key(path: Path, name: str, scopes: set[Scope]) -> str:
    key, _ = keyring.add(path, name, DEFAULT_TENANT, frozenset(scopes))
    return key


def _kept(path: Path, make: Callable[[], str], mode: int) -> str:
    """What the file holds; it is made first if it is not there."""
    if not path.exists():
        _write(path, make(), mode)
    return path.read_text(encoding="utf-8").strip()


def _write(path: Path, text: str, mode: int) -> None:
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text if text.endswith("\n") else f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


if __name__ == "__main__":
    sys.exit(main())
