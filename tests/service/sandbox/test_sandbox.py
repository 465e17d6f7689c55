"""The sandbox: a hostile file affects only the process that reads it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from service.ingest.errors import IngestError
from service.ingest.file_format import FileFormat
from service.ingest.options import Options, TableLimits
from service.ingest.pipeline import ParseTask, Upload
from service.ingest.sandbox_task import parse_small_upload, parse_upload
from service.predict import sandbox_task as predict
from service.predict.predictor import PredictOptions, Predictor
from service.predict.row_errors import MalformedError, RowsError
from service.sandbox.client import Sandbox
from tests.support.http import hostile
from tests.support.records.model_maker import mixed_tree
from tests.support.stack.memory_watch import MemoryWatch
from tests.support.stack.stack import poll

MEBIBYTE = 1 << 20
LONG = b"x,label\n" + b"1.25,a\n2.5,b\n" * MEBIBYTE  # takes a moment


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    client = Sandbox(base_memory=400 * MEBIBYTE)
    client.start()
    yield client
    client.stop()


def parse_task(folder: Path, data: bytes, form: FileFormat = "csv", **given: Any) -> ParseTask:
    path = folder / "upload"
    path.write_bytes(data)
    upload = Upload(path, form, "utf-8", hashlib.sha256(data).hexdigest(), len(data))
    limits: dict[str, Any] = {"seconds": 60.0, "min_free_bytes": 0}
    table = TableLimits(max_table_bytes=given.pop("max_table_bytes", 50 * MEBIBYTE))
    options = Options(target="label")
    return ParseTask(upload, options, table, folder / "blobs", "ds_1", "default", **{**limits, **given})


def code(sandbox: Sandbox, wanted: ParseTask) -> str:
    with pytest.raises(IngestError) as caught:
        parse_upload(sandbox, wanted)
    return caught.value.issues[0].code


@pytest.mark.parametrize(("name", "most"), [("SMALL_MAX_SECONDS", 0.01), ("SMALL_MAX_MEMORY", 1 << 20)])
def test_a_small_upload_beyond_its_limits_is_read_as_a_large_one(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: float
) -> None:
    """A small file may hold a large table, so small uploads have limits of their own."""
    wanted = parse_task(tmp_path, LONG, max_table_bytes=1 << 30)
    monkeypatch.setattr(f"service.ingest.sandbox_task.{name}", most)
    if name == "SMALL_MAX_MEMORY":
        sandbox = Sandbox(base_memory=100 * MEBIBYTE)
    try:
        assert parse_small_upload(sandbox, wanted) is None
        assert parse_upload(sandbox, wanted).rows == 2 * MEBIBYTE
    finally:
        if name == "SMALL_MAX_MEMORY":
            sandbox.stop()


def test_small_uploads(sandbox: Sandbox, tmp_path: Path) -> None:
    dataset = parse_small_upload(sandbox, parse_task(tmp_path, b"x,label\n1,a\n2,b\n"))
    assert dataset is not None
    assert dataset.rows == 2
    with pytest.raises(IngestError):
        parse_small_upload(sandbox, parse_task(tmp_path, b"x,other\n1,a\n2,b\n"))


def forks() -> list[psutil.Process]:
    """Return the processes that read a file now."""
    own = psutil.Process()
    return [reader for process in own.children() if _is_ours(process) for reader in process.children()]


def _is_ours(process: psutil.Process) -> bool:
    try:
        return "service.sandbox.fork_server" in process.cmdline()
    except psutil.NoSuchProcess:
        return False


def test_a_table(sandbox: Sandbox, tmp_path: Path) -> None:
    dataset = parse_upload(sandbox, parse_task(tmp_path, b"x,z,label\n1,u,a\n2,v,b\n3,,a\n"))
    assert (dataset.id, dataset.rows, dataset.target) == ("ds_1", 3, "label")
    assert [(entry.label, entry.count) for entry in dataset.classes] == [("a", 2), ("b", 1)]
    assert (tmp_path / "blobs" / dataset.blob[:2] / dataset.blob).exists()


def test_an_error_in_the_data(sandbox: Sandbox, tmp_path: Path) -> None:
    assert code(sandbox, parse_task(tmp_path, b"x,label\n1,a\n")) == "ONE_CLASS"


def test_parquet_that_unpacks_to_more_than_it_says(sandbox: Sandbox, tmp_path: Path) -> None:
    """The file has 20 kB and the table has hundreds of megabytes."""
    bomb = hostile.long_words(2, 192 * MEBIBYTE)
    assert len(bomb) < 200_000
    with MemoryWatch(os.getpid()) as memory:
        before = memory.peak
        assert code(sandbox, parse_task(tmp_path, bomb, "parquet")) in ("TABLE_TOO_LARGE", "UNREADABLE")
    assert memory.peak - before < 600 * MEBIBYTE
    poll(lambda: not forks(), what="the end of the reader")


def test_a_reader_that_takes_too_long(sandbox: Sandbox, tmp_path: Path) -> None:
    assert code(sandbox, parse_task(tmp_path, LONG, seconds=0.05)) == "TABLE_TOO_SLOW"
    poll(lambda: not forks(), what="the end of the reader")


def test_a_task_is_tried_again_if_its_process_is_killed(sandbox: Sandbox, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(parse_upload, sandbox, parse_task(tmp_path, LONG))
        for reader in poll(forks, what="a reader"):
            reader.kill()
        assert found.result().rows == LONG.count(b"\n") - 1


def test_a_file_that_crashes_every_process(sandbox: Sandbox, tmp_path: Path) -> None:
    broken = set()
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(code, sandbox, parse_task(tmp_path, LONG))
        while not found.done():
            for reader in forks():
                broken.add(reader.pid)
                with suppress(psutil.NoSuchProcess):
                    reader.kill()
        assert found.result() == "UNREADABLE"
    assert len(broken) >= 2  # more, if one was killed before it had begun


def test_a_fork_server_that_dies_is_restarted(sandbox: Sandbox, tmp_path: Path) -> None:
    parse_upload(sandbox, parse_task(tmp_path, b"x,label\n1,a\n2,b\n"))
    (process,) = (process for process in psutil.Process().children() if _is_ours(process))
    os.kill(process.pid, signal.SIGKILL)
    assert parse_upload(sandbox, parse_task(tmp_path, b"x,label\n1,a\n2,b\n")).rows == 2


def test_a_full_disk(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space"):
        parse_upload(sandbox, parse_task(tmp_path, b"x,label\n1,a\n2,b\n", min_free_bytes=1 << 60))
    assert not list((tmp_path / "blobs" / "incoming").iterdir())


def test_two_tasks_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda folder: parse_upload(sandbox, parse_task(folder, LONG)).rows, folders))
    assert found == [LONG.count(b"\n") - 1] * 2


class TestRowsToPredict:
    def test_the_result_is_that_of_the_server(self, sandbox: Sandbox) -> None:
        predictor = Predictor(mixed_tree(), {"model_id": "m"})
        rows = [{"size": 0.5, "age": age, "colour": "mauve", "member": True, "zone": 1} for age in range(200)]
        body = json.dumps({"records": rows}).encode()
        for wanted in (PredictOptions(), PredictOptions(explain=True), PredictOptions(response_format="csv")):
            here = predictor.predict(body, wanted, 1000)
            assert predict.predict_in_sandbox(sandbox, predictor, body, wanted, 1000, 60.0) == here
            assert here.warnings

    @pytest.mark.parametrize(
        ("body", "error"), [(b"{", MalformedError), (b'{"records": [{}]}', RowsError), (b"[]", RowsError)]
    )
    def test_errors_are_those_of_the_server(
        self, sandbox: Sandbox, body: bytes, error: type[RowsError]
    ) -> None:
        predictor = Predictor(mixed_tree(), {"model_id": "m"})
        with pytest.raises(error) as here:
            predictor.predict(body, PredictOptions(), 1000)
        with pytest.raises(error) as there:
            predict.predict_in_sandbox(sandbox, predictor, body, PredictOptions(), 1000, 60.0)
        assert (there.value.detail, there.value.errors) == (here.value.detail, here.value.errors)

    def test_memory_that_is_only_reserved_is_not_counted(self) -> None:
        """Arrow's allocator reserves a gibibyte at once, about what a process may have."""
        line = b"0.5,30,red,true,1\n"
        predictor = Predictor(mixed_tree(), {"model_id": "m"})
        wanted = PredictOptions(body_format="csv", response_format="csv")
        processes = Sandbox()
        try:
            for mebibytes in (3, 4, 5):  # where there was room for that gibibyte, and for little else
                rows = mebibytes * MEBIBYTE // len(line)
                body = b"size,age,colour,member,zone\n" + rows * line
                found = predict.predict_in_sandbox(processes, predictor, body, wanted, rows, 60.0)
                assert found.content.count(b"\n") == rows + 1
        finally:
            processes.stop()
