"""`python -m service.cleanup`: permanently delete old jobs, saved searches or unused datasets.

Running and queued jobs, their datasets, and models are never deleted. Records that their owner deleted are
removed after LITERATI_KEEP_DELETED_HOURS, or earlier with --deleted-before.
"""

from __future__ import annotations

import argparse
import re
import sys
from functools import partial

import redis
from pydantic import ValidationError

from service.commands import command
from service.settings import Settings
from worker.blobs.local import Blobs
from worker.blobs.open import open_blobs
from worker.domain.errors import StoreFormatError
from worker.settings import explain
from worker.store import Store, open_store
from worker.store.retention import RetentionKind

_BATCH = 1000
_NAMES: dict[RetentionKind, tuple[str, str]] = {
    "jobs": ("ended job", "ended jobs"),
    "searches": ("saved search", "saved searches"),
    "datasets": ("unused dataset", "unused datasets"),
    "deleted": ("deleted record", "deleted records"),
}
_OPTIONS: dict[RetentionKind, tuple[str, str]] = {  # the option, and what it deletes
    "jobs": ("--ended-before", "jobs that ended at least this long ago; their models are kept"),
    "searches": ("--searches-ended-before", "the saved searches of jobs that ended at least this long ago"),
    "datasets": ("--datasets-unused-for", "datasets that no job has used for this long"),
    "deleted": ("--deleted-before", "records that their owner deleted at least this long ago, for good"),
}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    arguments = _parser().parse_args(words)
    ages = {kind: getattr(arguments, kind) for kind in _OPTIONS}
    if not any(age is not None for age in ages.values()):
        print("Choose what to delete, for example with --ended-before 30d; see --help.", file=sys.stderr)
        return 2
    try:
        settings = Settings()
    except ValidationError as error:
        print(explain(error), file=sys.stderr)
        return 1
    blobs = open_blobs(settings)
    store = open_store(settings, blobs)
    try:
        store.format.check()
        for kind, age in ages.items():
            if age is not None:
                _delete(store, kind, age, dry_run=arguments.dry_run)
        if not arguments.dry_run:
            _delete_blobs(store, blobs)
    except redis.RedisError as error:
        # The URL may contain a password, so the message does not show it.
        print(
            f"The store does not answer ({type(error).__name__}); start it, or correct REDIS_URL.",
            file=sys.stderr,
        )
        return 1
    except StoreFormatError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=command("cleanup"), description=__doc__.partition(": ")[2])
    for kind, (option, what) in _OPTIONS.items():
        parser.add_argument(option, dest=kind, type=age_seconds, metavar="AGE", help=f"delete {what}")
    parser.add_argument("--dry-run", action="store_true", help="only count what would be deleted")
    return parser


def age_seconds(text: str) -> float:
    """Return the seconds of an age such as 30d or 12h."""
    found = _AGE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError("expected a number and s, m, h, d or w, such as 30d")
    return float(found[1]) * _SECONDS[found[2]]


def _delete(store: Store, kind: RetentionKind, age: float, *, dry_run: bool) -> None:
    if dry_run:
        count = store.retention.count(kind, age)
        print(f"{count} {_NAMES[kind][count != 1]} would be deleted.")
        return
    count = 0
    while deleted := store.retention.expire(kind, age, _BATCH):
        count += deleted
    print(f"{count} {_NAMES[kind][count != 1]} deleted.")


def _delete_blobs(store: Store, blobs: Blobs) -> None:
    """Delete the blobs of deleted records now, not in the next round of the reconciler."""
    for name in store.blobs.unreferenced():
        blobs.delete_unless(name, partial(store.blobs.is_referenced, name))


if __name__ == "__main__":
    sys.exit(main())
