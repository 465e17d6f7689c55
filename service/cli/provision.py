"""`python -m service.provision`: create the secrets of a stack of containers in its volumes.

Each container mounts only the folder that it needs. The first API key is printed once.
"""

from __future__ import annotations

import argparse
import hashlib
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

from service.auth import key_file
from service.auth.key_file import DEFAULT_TENANT, Scope

ROOT = Path("/run/literati")
USER = "literati"
# The commands that the service and Celery need, without those that administer the server.
COMMANDS = "+@all -@admin -@dangerous +info"  # INFO is for metrics of memory and files
KEYS = ("literati*", "_kombu.*", "unacked*", "celery*", "*.pidbox*")
# A second user makes backups, so that a process that serves requests cannot ask for all data at once.
BACKUP_USER = "backup"
BACKUP_COMMANDS = "+@read +@write +@connection +time -@dangerous +sync +psync +replconf"


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m service.provision", description=__doc__)
    parser.add_argument(
        "--root", type=Path, default=ROOT, help=f"the folder of the volumes (default: {ROOT})"
    )
    root: Path = parser.parse_args(words).root
    try:
        _provision(root)
    except (OSError, ValueError) as error:
        print(f"The secrets cannot be created: {error}", file=sys.stderr)
        return 1
    return 0


def _provision(root: Path) -> None:
    password = _read_or_create(root / "secrets" / "redis-password", lambda: secrets.token_urlsafe(32), 0o600)
    backup = _read_or_create(root / "backup" / "redis-password", lambda: secrets.token_urlsafe(32), 0o600)
    key_file.replace_file(root / "redis" / "users.acl", access_list(password, backup), 0o644)  # with digests
    keys = root / "secrets" / "keys.json"
    # Prometheus and Grafana run as other users, and each volume is mounted only for one of them.
    _read_or_create(root / "prometheus" / "key", lambda: _add_key(keys, "prometheus", {Scope.ADMIN}), 0o644)
    _read_or_create(root / "grafana" / "password", lambda: secrets.token_urlsafe(18), 0o644)
    if any(entry.name != "prometheus" for entry in key_file.read(keys).keys):
        print("The secrets exist. The first API key was shown when it was created.")
        return
    key = _add_key(keys, "first", {Scope.READ, Scope.TRAIN})
    print(
        f"The secrets are created. This is your API key, which is not shown again:\n\n    {key}\n", flush=True
    )


def access_list(password: str, backup_password: str) -> str:
    """Return the content of `aclfile`, which allows only the users of the service and of backups.

    The default user is off but keeps its rights: the server reads its own file as that user when it starts,
    and many versions drop every transaction and script for which rights are missing (valkey-io/valkey#3983).
    """
    digest, backup = (hashlib.sha256(word.encode()).hexdigest() for word in (password, backup_password))
    patterns = " ".join(f"~{pattern}" for pattern in KEYS)
    return (
        "user default off ~* &* +@all\n"
        f"user {USER} on #{digest} {patterns} &* {COMMANDS}\n"
        f"user {BACKUP_USER} on #{backup} ~literati* &* {BACKUP_COMMANDS}\n"
    )


def _add_key(path: Path, name: str, scopes: set[Scope]) -> str:
    key, _ = key_file.add(path, name, DEFAULT_TENANT, frozenset(scopes))
    return key


def _read_or_create(path: Path, create: Callable[[], str], mode: int) -> str:
    """Return the content of a file, which is created if it does not exist."""
    if not path.exists():
        key_file.replace_file(path, f"{create()}\n", mode)
    return path.read_text(encoding="utf-8").strip()


if __name__ == "__main__":
    sys.exit(main())
