"""`python -m service.keys`: create, list and revoke API keys.

Keys are kept in the store, where every API process sees a change at once. If no store runs, as before the
first start on one machine, or with --file, they are kept in a key file. The API imports that file when it
starts and whenever it changes.
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
from pydantic import ValidationError
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.auth import key_file
from service.auth.key_file import DEFAULT_TENANT, TENANT, KeyEntry, Scope
from service.auth.key_store import KeyStore
from service.commands import command
from service.settings import Settings
from worker.domain.errors import StoreFormatError
from worker.settings import explain
from worker.store import Store
from worker.store.connections import open_client

_DEFAULT_SCOPES = "read,train"
_STORE_SECONDS = 5.0  # time limit of an answer of the store
_NO_STORE = "The store does not answer. Start the service, or correct REDIS_URL if the store is elsewhere."


@dataclass(frozen=True)
class Places:
    """Where keys are kept: in the store if it answers, in a file if there is one."""

    store: KeyStore | None
    file: Path | None
    only_file: bool  # --file was given


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    arguments = _parser().parse_args(words)
    try:
        with _places(arguments.file) as places:
            if places.store is None and places.file is None:
                more = "To use a key file instead, set LITERATI_API_KEYS_FILE or give --file."
                print(_NO_STORE, more, file=sys.stderr)
                return 2
            return int(arguments.run(places, arguments))
    except (OSError, StoreFormatError) as error:
        print(error, file=sys.stderr)
    except ValidationError as error:
        print(explain(error), file=sys.stderr)
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
    client = open_client(
        settings.store_url,
        protocol=2,
        socket_timeout=_STORE_SECONDS,
        socket_connect_timeout=_STORE_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    with client:
        records = Store(client, wait_replicas=settings.redis_wait_replicas)
        store: KeyStore | None = KeyStore(records)
        try:
            records.format.check()
        except (redis.AuthenticationError, redis.BusyLoadingError):
            raise
        except redis.ConnectionError:  # nothing listens at this address
            store = None
        yield Places(store, settings.api_keys_file, only_file=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=command("keys"), description=__doc__.partition(": ")[2])
    parser.add_argument("--file", type=Path, help="use this key file instead of the store")
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("add", help="create a key; it is shown once")
    add.add_argument("name", type=_name, metavar="NAME", help="the owner or purpose of the key")
    add.add_argument(
        "--tenant", type=_tenant, default=DEFAULT_TENANT, help="the tenant whose data the key gives access to"
    )
    add.add_argument(
        "--scopes",
        type=_scopes,
        default=_scopes(_DEFAULT_SCOPES),
        help=f"a list of {', '.join(Scope)}, separated by commas (default: {_DEFAULT_SCOPES})",
    )
    add.set_defaults(run=_add)
    show = commands.add_parser("list", help="list the keys without their secrets")
    show.set_defaults(run=_list)
    revoke = commands.add_parser("revoke", help="revoke a key immediately")
    revoke.add_argument("id", metavar="ID", help="the eight characters after lit_")
    revoke.set_defaults(run=_revoke)
    return parser


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > 200:
        raise argparse.ArgumentTypeError("expected 1 to 200 printable characters")
    return text


def _tenant(text: str) -> str:
    if not re.fullmatch(TENANT, text):
        raise argparse.ArgumentTypeError("expected at most 64 lowercase letters, digits, - and _")
    return text


def _scopes(text: str) -> frozenset[Scope]:
    try:
        return frozenset(Scope(word) for word in text.split(","))
    except ValueError:
        expected = f"expected a list of {', '.join(Scope)}, separated by commas"
        raise argparse.ArgumentTypeError(expected) from None


def _add(places: Places, arguments: argparse.Namespace) -> int:
    given = (arguments.name, arguments.tenant, arguments.scopes)
    if places.store is not None:
        key, entry = key_file.new_key(*given)
        places.store.add(entry)
        where = "the store"
    else:
        assert places.file is not None
        key, entry = key_file.add(places.file, *given)
        where = str(places.file)
    print(f"Key {entry.id} for {entry.name}, kept in {where}. It is shown only once:", file=sys.stderr)
    print(key)
    return 0


def _list(places: Places, arguments: argparse.Namespace) -> int:
    in_file = key_file.read_or_empty(places.file).keys
    found: dict[str, tuple[KeyEntry, str]] = {entry.id: (entry, "file") for entry in in_file}
    if places.store is not None:
        stored = places.store.read()
        found |= {entry.id: (entry, "store") for entry in (*stored.imported, *stored.created)}
        for identity in stored.revoked:
            found.pop(identity, None)
    for entry, where in found.values():
        scopes = ",".join(sorted(entry.scopes))
        print(f"{entry.id}  {entry.created_at:%Y-%m-%d}  {where:5}  {entry.tenant}  {scopes}  {entry.name}")
    if places.store is None and not places.only_file:
        print(f"{_NO_STORE} Only the keys in {places.file} are listed.", file=sys.stderr)
    if not found:
        names = ["the store"] if places.store is not None else []
        if places.file is not None:
            names.append(f"{places.file}{'' if places.file.exists() else ', which does not exist'}")
        print(f"There are no keys in {' and '.join(names)}.", file=sys.stderr)
    return 0


def _revoke(places: Places, arguments: argparse.Namespace) -> int:
    """Revoke a key, in the store first, because then no API accepts it whatever a file contains."""
    identity: str = arguments.id
    in_file = any(entry.id == identity for entry in key_file.read_or_empty(places.file).keys)
    found = in_file
    if places.store is not None:
        found = places.store.revoke(identity, in_file=in_file) or found
    if places.file is not None and in_file:
        try:
            key_file.revoke(places.file, identity)
        except OSError as error:  # the file may be read-only
            if places.store is None:
                raise
            message = f"{places.file} still contains the key ({error.strerror}), which has no effect."
            print(message, file=sys.stderr)
    if found:
        print(f"Key {identity} is revoked.")
        return 0
    unknown = not places.only_file and places.store is None
    more = " in the file; the store, which may have it, does not answer" if unknown else ""
    print(f"There is no key {identity}{more}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
