"""`python -m service.cleanup`: permanently delete old jobs, saved searches or unused datasets.

Running and queued jobs, their datasets, and models are never deleted. Records that their owner deleted are
removed after LITERATI_KEEP_DELETED_HOURS, or earlier with --deleted-before.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

import redis

from service.cli.ages import age_seconds
from service.settings import Settings
from worker.blobs.local import Blobs
from worker.blobs.open import open_blobs
from worker.store import Store
from worker.store.open import open_store
from worker.store.retention import RetentionKind

_BATCH = 1000
_NAMES: dict[RetentionKind, tuple[str, str]] = {
    "jobs": ("ended job", "ended jobs"),
    "searches": ("saved search", "saved searches"),
    "datasets": ("unused dataset", "unused datasets"),
    "deleted": ("deleted record", "deleted records"),
}


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    arguments = _parser().parse_args(words)
    ages: dict[RetentionKind, float | None] = {
        "jobs": arguments.ended_before,
        "searches": arguments.searches_ended_before,
        "datasets": arguments.datasets_unused_for,
        "deleted": arguments.deleted_before,
    }
    if not any(age is not None for age in ages.values()):
        print("Choose what to delete, for example with --ended-before 30d; see --help.", file=sys.stderr)
        return 2
    settings = Settings()
    store = open_store(settings)
    try:
        for what, age in ages.items():
            if age is not None:
                _delete(store, what, age, dry_run=arguments.dry_run)
        if not arguments.dry_run:
            _delete_blobs(store, open_blobs(settings))
    except redis.RedisError as error:
        # The URL may contain a password, so the message does not show it.
        print(
            f"The store does not answer ({type(error).__name__}); start it, or correct REDIS_URL.",
            file=sys.stderr,
        )
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m service.cleanup", description=__doc__)
    parser.add_argument(
        "--ended-before",
        type=_age,
        metavar="AGE",
        help="delete jobs that ended at least this long ago; their models are kept",
    )
    parser.add_argument(
        "--searches-ended-before",
        type=_age,
        metavar="AGE",
        help="delete the saved searches of jobs that ended at least this long ago",
    )
    parser.add_argument(
        "--datasets-unused-for",
        type=_age,
        metavar="AGE",
        help="delete datasets that no job has used for this long",
    )
    parser.add_argument(
        "--deleted-before",
        type=_age,
        metavar="AGE",
        help="remove records that were deleted at least this long ago; they cannot be restored then",
    )
    parser.add_argument("--dry-run", action="store_true", help="only count what would be deleted")
    return parser


def _age(text: str) -> float:
    try:
        return age_seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _delete(store: Store, what: RetentionKind, age: float, *, dry_run: bool) -> None:
    if dry_run:
        count = store.retention.count(what, age)
        print(f"{count} {_NAMES[what][count != 1]} would be deleted.")
        return
    count = 0
    while deleted := store.retention.expire(what, age, _BATCH):
        count += deleted
    print(f"{count} {_NAMES[what][count != 1]} deleted.")


def _delete_blobs(store: Store, blobs: Blobs) -> None:
    """Delete the blobs of deleted records now, not in the next round of the reconciler."""
    for name in store.blobs.unreferenced():
        blobs.delete_unless(name, partial(store.blobs.is_referenced, name))


if __name__ == "__main__":
    sys.exit(main())
