"""`python -m service.cleanup`: delete ended jobs, their saved searches or unused datasets by age, for good.

Jobs that have not ended, datasets that such jobs use, and models are never touched. What its owner deleted
goes by itself after LITERATI_KEEP_DELETED_HOURS, or earlier by --deleted-before.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

import redis

from service.ages import age_seconds
from service.settings import Settings
from worker.blobs import Blobs
from worker.open_blobs import open_blobs
from worker.open_store import open_store
from worker.store import Store
from worker.store.retention import What

_BATCH = 1000
_NAMES: dict[What, tuple[str, str]] = {
    "jobs": ("ended job", "ended jobs"),
    "searches": ("saved search", "saved searches"),
    "datasets": ("unused dataset", "unused datasets"),
    "deleted": ("deleted record", "deleted records"),
}


def main(words: list[str] | None = None) -> int:
    arguments = _parser().parse_args(words)
    ages: dict[What, float | None] = {
        "jobs": arguments.ended_before,
        "searches": arguments.searches_ended_before,
        "datasets": arguments.datasets_unused_for,
        "deleted": arguments.deleted_before,
    }
    if not any(age is not None for age in ages.values()):
        print("Say what to delete: --ended-before 30d, for example. See --help.", file=sys.stderr)
        return 2
    settings = Settings()
    store = open_store(settings)
    try:
        for what, age in ages.items():
            if age is not None:
                _clean(store, what, age, dry_run=arguments.dry_run)
        if not arguments.dry_run:
            _sweep(store, open_blobs(settings))
    except redis.RedisError as error:
        # Not the address itself: it may hold a password.
        print(f"The store does not answer ({type(error).__name__}); is REDIS_URL right?", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m service.cleanup", description=__doc__)
    parser.add_argument(
        "--ended-before",
        type=_age,
        metavar="AGE",
        help="jobs that ended at least so long ago, with all but their models",
    )
    parser.add_argument(
        "--searches-ended-before", type=_age, metavar="AGE", help="only the saved searches of such jobs"
    )
    parser.add_argument(
        "--datasets-unused-for", type=_age, metavar="AGE", help="datasets that no job has used for so long"
    )
    parser.add_argument(
        "--deleted-before",
        type=_age,
        metavar="AGE",
        help="what its owner deleted at least so long ago: it cannot be restored any more",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say how many there are")
    return parser


def _age(text: str) -> float:
    try:
        return age_seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _clean(store: Store, what: What, age: float, *, dry_run: bool) -> None:
    if dry_run:
        count = store.retention.count(what, age)
        print(f"{count} {_NAMES[what][count != 1]} would be deleted.")
        return
    count = 0
    while deleted := store.retention.expire(what, age, _BATCH):
        count += deleted
    print(f"{count} {_NAMES[what][count != 1]} deleted.")


def _sweep(store: Store, blobs: Blobs) -> None:
    """The files behind them, now rather than at the reconciler's next round."""
    for name in store.blobs.garbage():
        blobs.discard(name, partial(store.blobs.wanted, name))


if __name__ == "__main__":
    sys.exit(main())
