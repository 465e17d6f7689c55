"""`python -m service.backup`: make, check and restore backups of the store and the blobs.

A backup is made while everything runs. It contains all records, trees, models, API keys (as SHA-256),
tables and saved searches. Passwords, key files and settings are not part of it. Repeated backups into one
folder copy only new blobs.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import redis
from pydantic import ValidationError

from service.commands import command
from service.settings import Settings
from worker.backup.create import create_backup
from worker.backup.folder import Backup, BackupError, BackupFolder
from worker.backup.restore import check_backup, check_targets, describe_damage, restore_backup
from worker.blobs.open import open_blobs
from worker.domain.errors import StoreFormatError
from worker.settings import explain
from worker.store import open_store

_LINE_SECONDS = 10.0  # between two lines of progress where there is no terminal


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    arguments = _parser().parse_args(words)
    try:
        return int(arguments.run(arguments))
    except ValidationError as error:
        print(explain(error), file=sys.stderr)
    except (BackupError, StoreFormatError) as error:
        print(error, file=sys.stderr)
    except redis.RedisError as error:
        # The URL may contain a password, so the message does not show it.
        print(
            f"The store cannot be used ({type(error).__name__}: {error}); start it, or correct REDIS_URL.",
            file=sys.stderr,
        )
    except OSError as error:
        print(f"The files cannot be read or written ({error}).", file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=command("backup"), description=__doc__.partition(": ")[2])
    commands = parser.add_subparsers(required=True)

    def add(name: str, run: object, text: str) -> argparse.ArgumentParser:
        part = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        part.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of the backups")
        part.set_defaults(run=run)
        return part

    create = add("create", _create, "make a backup while everything runs")
    create.add_argument(
        "--keep", type=_count, metavar="N", help="afterwards delete all backups but the newest N"
    )
    add("list", _list, "list the backups in a folder")
    verify = add("verify", _verify, "read a whole backup and check every digest")
    restore = add("restore", _restore, "restore a backup into an empty state folder")
    for part in (verify, restore):
        part.add_argument(
            "--name", metavar="NAME", help="the backup to use (default: the newest complete one)"
        )
    restore.add_argument(
        "--state-dir", type=Path, metavar="FOLDER", help="the state folder (default: LITERATI_STATE_DIR)"
    )
    restore.add_argument(
        "--store-dir",
        type=Path,
        metavar="FOLDER",
        help="the data folder of your own Redis, which must not run (default: `valkey` in the state folder)",
    )
    restore.add_argument(
        "--only-blobs", action="store_true", help="add missing blobs and leave the store alone, which may run"
    )
    restore.add_argument(
        "--existing-blobs", action="store_true", help="add blobs to those that are there already"
    )
    restore.add_argument(
        "--without-damaged",
        action="store_true",
        help="restore without blobs that are missing or damaged",
    )
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("expected at least 1")
    return number


class Progress:
    """One line that tells how many blobs were handled: replaced in a terminal, else repeated now and then."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._interactive = sys.stderr.isatty()
        self._next_at = 0.0 if self._interactive else time.monotonic() + _LINE_SECONDS

    def __call__(self, done: int, total: int, size: int) -> None:
        if time.monotonic() < self._next_at and not (self._interactive and done == total):
            return
        self._next_at = time.monotonic() + (0.1 if self._interactive else _LINE_SECONDS)
        line = f"{self._verb}: {done} of {total} blobs, {size / 1e6:.1f} MB"
        if self._interactive:
            end = "\n" if done == total else ""
            print(f"\r{line}", end=end, file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)


def _create(arguments: argparse.Namespace) -> int:
    settings = Settings()
    folder = BackupFolder(arguments.folder)
    blobs = open_blobs(settings)
    store = open_store(settings, blobs)
    store.format.check_only()
    backup, manifest = create_backup(store, blobs, folder, Progress("copied"), keep=arguments.keep)
    found, seconds = manifest.blobs, (manifest.finished_at - manifest.started_at).total_seconds()
    print(
        f"Backup {backup.name} is complete after {seconds:.1f} s: "
        f"{manifest.store.bytes / 1e6:.1f} MB of records, {found.count} blobs ({found.bytes / 1e6:.1f} MB), "
        f"of which {found.copied} are new ({found.copied_bytes / 1e6:.1f} MB)."
    )
    if arguments.keep is not None:
        print(f"Kept: the newest {len(folder.backups())}.")
    if found.missing:
        print(
            f"{describe_damage(list(found.missing))}. They could not be read and are not in the backup; "
            "everything else is (docs/operations.md).",
            file=sys.stderr,
        )
        return 1
    return 0


def _list(arguments: argparse.Namespace) -> int:
    for backup in BackupFolder(arguments.folder).backups():
        if not backup.is_complete:
            print(f"{backup.name}  incomplete")
            continue
        manifest = backup.manifest()
        size = (manifest.store.bytes + manifest.blobs.bytes) / 1e6
        missing = f", {len(manifest.blobs.missing)} missing" if manifest.blobs.missing else ""
        print(f"{backup.name}  {size:.1f} MB, {manifest.blobs.count} blobs{missing}, {manifest.store.server}")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    folder = BackupFolder(arguments.folder)
    backup = folder.choose(arguments.name)
    damaged = check_backup(folder, backup, Progress("checked"))
    if damaged:
        raise BackupError(f"In the backup {backup.name}, {describe_damage(damaged)}.")
    print(f"Backup {backup.name} is intact: {backup.manifest().blobs.count} blobs and the records.")
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    settings = Settings() if arguments.state_dir is None else Settings(state_dir=arguments.state_dir)
    store_folder = None if arguments.only_blobs else _store_folder(arguments, settings)
    folder = BackupFolder(arguments.folder)
    backup = folder.choose(arguments.name)
    _say_what_is_skipped(folder, backup)
    blobs = open_blobs(settings)
    check_targets(store_folder, blobs, existing_blobs=arguments.existing_blobs or arguments.only_blobs)
    damaged = check_backup(folder, backup, Progress("checked"))
    if damaged and not arguments.without_damaged:
        raise BackupError(
            f"In the backup {backup.name}, {describe_damage(damaged)}. Nothing was restored. "
            "Use another backup, or say --without-damaged to restore everything else."
        )
    restore_backup(folder, backup, store_folder, blobs, damaged, Progress("restored"))
    if store_folder is None:
        print(f"The blobs of backup {backup.name} are in {settings.blobs or settings.blobs_dir}.")
        return 0
    age = datetime.now(UTC) - backup.manifest().started_at
    print(
        f"Backup {backup.name}, made {age.total_seconds() / 3600:.1f} hours ago, is restored into "
        f"{store_folder} and {settings.blobs or settings.blobs_dir}. What happened since then is lost."
    )
    return 0


def _store_folder(arguments: argparse.Namespace, settings: Settings) -> Path:
    if arguments.store_dir is not None:
        found: Path = arguments.store_dir
        return found
    if settings.redis_url is not None:
        raise BackupError(
            "REDIS_URL is set. Say --store-dir with the data folder of that server, which must not run; "
            "or unset REDIS_URL to restore into a state folder."
        )
    return settings.state_dir / "valkey"


def _say_what_is_skipped(folder: BackupFolder, backup: Backup) -> None:
    for other in folder.backups():
        if other.name > backup.name and not other.is_complete:
            print(f"The newer backup {other.name} is incomplete and is not used.", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
