"""Changes to archives of ended jobs, to backups and to the wait for replicas."""

from __future__ import annotations

from tests.mutants.engine import Changes

ARCHIVE = "tests/worker/store/test_archive.py::"
BACKUP = "tests/worker/backup/test_backup.py::"
FAILOVER = "tests/worker/store/test_failover.py::"

SCRIPTS: Changes = {
    "archive.lua": [
        (
            " or job.revision ~= revision then",
            " then",
            ARCHIVE + "TestFaults::test_a_change_meanwhile[rename]",
        ),
        (
            "call('HLEN', key .. ':models') ~= tonumber(models)",
            "false",
            ARCHIVE + "TestFaults::test_a_change_meanwhile[model]",
        ),
        (
            "job.sweep ~= '' and call('SISMEMBER', sweep_key(job.sweep) .. ':live', id) == 1",
            "false",
            ARCHIVE + "TestSweeps::test_a_job_whose_end_its_sweep_has_not_seen",
        ),
        (
            "if call('ZREM', ARCHIVES_PENDING, name) == 0 then",
            "call('ZREM', ARCHIVES_PENDING, name)\nif false then",
            ARCHIVE + "TestFaults::test_a_slow_process_is_refused",
        ),
        (
            "    remove_archive(name)\n",
            "",
            ARCHIVE + "TestFaults::test_a_change_meanwhile[rename]",
        ),
    ],
    "begin_archive.lua": [
        (
            "    remove_archive(old)\n",
            "",
            ARCHIVE + "TestFaults::test_a_killed_process[archive]",
        ),
        (
            "if add_archive(name) then",
            "add_archive(name)\nif true then",
            ARCHIVE + "TestFaults::test_a_repetition_that_comes_late",
        ),
    ],
    "take_archivable.lua": [
        (
            "if tonumber(now) < tonumber(since) + tonumber(age) then",
            "if false then",
            ARCHIVE + "test_a_store_of_an_earlier_version_waits",
        ),
        (
            "before + tonumber(retry)",
            "before",
            ARCHIVE + "TestFaults::test_a_killed_process[archive]",
        ),
    ],
    "take_back.lua": [
        (
            "call('ZADD', ARCHIVABLE, now, id)",
            "",
            ARCHIVE + "TestChanges::test_settings",
        ),
        (
            "call('HSET', key, 'blob', found[2] or '')\n",
            "",
            ARCHIVE + "TestDeletion::test_by_age",
        ),
        (
            "call('ZADD', ARCHIVES_PENDING, now, archive_name(name))",
            "remove_archive(archive_name(name))",
            ARCHIVE + "TestDeletion::test_by_age",
        ),
    ],
}

PYTHON: Changes = {
    "store/archives.py": [
        (
            " and hashlib.sha256(content).digest() == name",
            "",
            ARCHIVE + "TestFaults::test_a_lost_or_damaged_blob[<lambda>]",
        ),
        (
            "            raise ArchiveMovedError\n",
            "            pass\n",
            ARCHIVE + "TestFaults::test_a_read_while_a_job_comes_back",
        ),
    ],
    "reconciler.py": [
        (
            "if time.monotonic() > deadline or self._stop.is_set():",
            "if self._stop.is_set():",
            "tests/worker/test_reconciler.py::test_a_round_deletes_blobs_for_a_limited_time",
        ),
    ],
    "backup/create.py": [
        (
            "referenced | set(store.blobs.all_unreferenced())",
            "referenced",
            BACKUP + "test_a_blob_that_loses_its_record_during_the_backup_is_part_of_it",
        ),
        (
            "        hold.check()\n",
            "",
            BACKUP + "test_a_hold_that_was_lost_is_no_backup",
        ),
    ],
    "store/replication.py": [
        (
            '        pipeline.set("literati:ready", 1)\n',
            "        pipeline.ping()\n",
            FAILOVER + "test_too_few_replicas",
        ),
        (
            " or confirmed < replicas",
            "",
            FAILOVER + "test_too_few_replicas",
        ),
    ],
}
