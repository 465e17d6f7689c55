"""`python -m service.keys`: make, list and revoke API keys.

Keys are kept in the store, where every API process sees a change at once. Where no store runs, as before the
first start on one machine, and with --file, they are kept in a file. The API imports the file when it starts
and whenever it changes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service import keyring
from service.key_store import KeyStore
from service.keyring import DEFAULT_TENANT, TENANT, KeyEntry, Scope
from service.settings import Settings

_USUAL_SCOPES = "read,train"
_SECONDS = 5.0  # that the store may take
_AWAY = "The store does not answer. Start the service, or correct REDIS_URL if the store is elsewhere."


@dataclass(frozen=True)
class Places:
    """Where keys are kept: in the store if it answers, in a file if one is named."""

    store: KeyStore | None
    file: Path | None
    only_file: bool  # as --file says


def main(words: list[str] | None = None) -> int:
    arguments = _parser().parse_args(words)
    try:
        with _places(arguments.file) as places:
            if places.store is None and places.file is None:
                print(
                    f"{_AWAY} Or say where the keys are kept: set LITERATI_API_KEYS_FILE, or give --file.",
                    file=sys.stderr,
                )
                return 2
            return int(arguments.run(places, arguments))
    except OSError as error:
        print(error, file=sys.stderr)
    except ValueError as error:
        print(f"{arguments.file or Settings().api_keys_file}: {error}", file=sys.stderr)
    except redis.RedisError as error:
        print(f"The store cannot be used ({type(error).__name__}: {error}).", file=sys.stderr)
    return 1


@contextmanager
def _places(file: Path | None) -> Iterator[Places]:
    if file is not None:
        yield Places(None, file, only_file=True)
        return
    settings = Settings()
    client = redis.Redis.from_url(
        settings.store_url,
        protocol=2,
        socket_timeout=_SECONDS,
        socket_connect_timeout=_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    with client:
        store: KeyStore | None = KeyStore(client)
        try:
            client.ping()
        except (redis.AuthenticationError, redis.BusyLoadingError):
            raise
        except redis.ConnectionError:  # nothing listens there
            store = None
        yield Places(store, settings.api_keys_file, only_file=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m service.keys", description=__doc__)
    parser.add_argument("--file", type=Path, help="a key file to work on, instead of the store")
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


def _add(places: Places, arguments: argparse.Namespace) -> int:
    given = (arguments.name, arguments.tenant, arguments.scopes)
    if places.store is not None:
        key, entry = keyring.new_key(*given)
        places.store.add(entry)
        where = "the store"
    else:
        assert places.file is not None
        key, entry = keyring.add(places.file, *given)
        where = str(places.file)
    print(f"Key {entry.id} for {entry.name}, kept in {where}. It is shown only now:", file=sys.stderr)
    print(key)
    return 0


def _list(places: Places, arguments: argparse.Namespace) -> int:
    in_file = keyring.read(places.file).keys if places.file is not None and places.file.exists() else ()
    found: dict[str, tuple[KeyEntry, str]] = {entry.id: (entry, "file") for entry in in_file}
    if places.store is not None:
        stored = places.store.read()
        for entry in (*stored.imported, *stored.made):
            found[entry.id] = (entry, "store")
        for identity in stored.revoked:
            found.pop(identity, None)
    for entry, where in found.values():
        scopes = ",".join(sorted(entry.scopes))
        print(f"{entry.id}  {entry.created_at:%Y-%m-%d}  {where:5}  {entry.tenant}  {scopes}  {entry.name}")
    if places.store is None and not places.only_file:
        print(f"{_AWAY} Until then only the keys in {places.file} can be listed.", file=sys.stderr)
    if not found:
        print(f"There are no keys{_known_places(places)}.", file=sys.stderr)
    return 0


def _known_places(places: Places) -> str:
    names = ["the store"] if places.store is not None else []
    if places.file is not None:
        names.append(f"{places.file}{'' if places.file.exists() else ', which does not exist'}")
    return f" in {' and '.join(names)}"


def _revoke(places: Places, arguments: argparse.Namespace) -> int:
    """In the store first: from then on no API takes the key, whatever files say."""
    identity: str = arguments.id
    in_file = places.file is not None and places.file.exists() and _is_in(places.file, identity)
    found = in_file
    if places.store is not None:
        found = places.store.revoke(identity, in_file=in_file) or found
    if places.file is not None and in_file:
        try:
            keyring.revoke(places.file, identity)
        except OSError as error:  # a file that this process may only read
            if places.store is None:
                raise
            print(f"{places.file} still has it ({error.strerror}); that does no harm.", file=sys.stderr)
    if found:
        print(f"Key {identity} is revoked.")
        return 0
    away = not places.only_file and places.store is None
    more = " in the file; the store does not answer, and may have it" if away else ""
    print(f"There is no key {identity}{more}.", file=sys.stderr)
    return 1


def _is_in(path: Path, identity: str) -> bool:
    return any(entry.id == identity for entry in keyring.read(path).keys)


if __name__ == "__main__":
    sys.exit(main())
