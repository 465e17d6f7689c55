"""`python -m service.keys`: make, list and revoke API keys in LITERATI_API_KEYS_FILE."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from service import keyring
from service.keyring import DEFAULT_TENANT, TENANT, Scope
from service.settings import Settings

_USUAL_SCOPES = "read,train"


def main(words: list[str] | None = None) -> int:
    arguments = _parser().parse_args(words)
    path: Path | None = arguments.file or Settings().api_keys_file
    if path is None:
        print("Say where the keys are kept: set LITERATI_API_KEYS_FILE, or give --file.", file=sys.stderr)
        return 2
    try:
        return int(arguments.run(path, arguments))
    except (OSError, ValueError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m service.keys", description=__doc__)
    parser.add_argument("--file", type=Path, help="the file of keys (default: LITERATI_API_KEYS_FILE)")
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("add", help="make a key; it is shown once")
    add.add_argument("name", type=_name, metavar="NAME", help="whose key it is, or what for")
    add.add_argument("--tenant", type=_tenant, default=DEFAULT_TENANT, help="whose data it opens")
    add.add_argument(
        "--scopes",
        type=_scopes,
        default=_scopes(_USUAL_SCOPES),
        help=f"some of {','.join(Scope)} (default: {_USUAL_SCOPES})",
    )
    add.set_defaults(run=_add)
    show = commands.add_parser("list", help="what is kept of each key")
    show.set_defaults(run=_list)
    revoke = commands.add_parser("revoke", help="make a key worthless, at once")
    revoke.add_argument("id", metavar="ID", help="the eight characters after lit_")
    revoke.set_defaults(run=_revoke)
    return parser


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > 200:
        raise argparse.ArgumentTypeError("some letters on one line, at most 200")
    return text


def _tenant(text: str) -> str:
    if not re.fullmatch(TENANT, text):
        raise argparse.ArgumentTypeError("small letters, digits, - and _, at most 64")
    return text


def _scopes(text: str) -> frozenset[Scope]:
    try:
        return frozenset(Scope(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"some of {','.join(Scope)}, parted by commas") from None


def _add(path: Path, arguments: argparse.Namespace) -> int:
    key, entry = keyring.add(path, arguments.name, arguments.tenant, arguments.scopes)
    print(f"Key {entry.id} for {entry.name}. It is shown only now:", file=sys.stderr)
    print(key)
    return 0


def _list(path: Path, arguments: argparse.Namespace) -> int:
    entries = keyring.read(path).keys if path.exists() else ()
    for entry in entries:
        scopes = ",".join(sorted(entry.scopes))
        print(f"{entry.id}  {entry.created_at:%Y-%m-%d}  {entry.tenant}  {scopes}  {entry.name}")
    return 0


def _revoke(path: Path, arguments: argparse.Namespace) -> int:
    if keyring.revoke(path, arguments.id):
        print(f"Key {arguments.id} is revoked.")
        return 0
    print(f"There is no key {arguments.id}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
