"""Supervised processes, with shells in place of the processes of the service."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from service.supervisor import supervised_process
from service.supervisor.supervised_process import SupervisedProcess
from tests.support.stack.stack import poll

TRAP = "trap 'echo asked; exit 0' TERM; "
WAIT = "while true; do sleep 0.05; done"


class Shell(SupervisedProcess):
    def __init__(self, folder: Path, script: str) -> None:
        super().__init__("shell", ["/bin/sh", "-c", script], dict(os.environ), folder / "shell.log")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = set(psutil.Process().children(recursive=True))
    yield tmp_path
    assert set(psutil.Process().children(recursive=True)) <= before, "nothing is left behind"


def stop(child: SupervisedProcess, seconds: float = 10.0) -> float:
    before = time.monotonic()
    child.stop(seconds, lambda: False)
    return time.monotonic() - before


def test_a_process_is_terminated(folder: Path) -> None:
    child = Shell(folder, TRAP + "echo up; " + WAIT)
    child.start()
    poll(lambda: "up" in child.output())
    assert stop(child) < 5
    assert child.output() == "up\nasked\n"
    stop(child)


def test_a_process_that_ignores_sigterm_is_killed_with_its_children(folder: Path) -> None:
    child = Shell(folder, f"trap '' TERM; (trap '' TERM; {WAIT}) & echo up; {WAIT}")
    child.start()
    poll(lambda: "up" in child.output())
    family = psutil.Process(child.process.pid).children(recursive=True)
    assert len(family) >= 1
    assert 0.2 <= stop(child, 0.2) < 5
    poll(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in family))


def test_stop_without_waiting(folder: Path) -> None:
    child = Shell(folder, "trap '' TERM; echo up; " + WAIT)
    child.start()
    poll(lambda: "up" in child.output())
    before = time.monotonic()
    child.stop(60.0, lambda: True)
    assert time.monotonic() - before < 10


def test_stop_before_start(folder: Path) -> None:
    stop(Shell(folder, "true"))


def test_restarts_with_backoff(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised_process, "MIN_DELAY", 0.05)
    monkeypatch.setattr(supervised_process, "MAX_DELAY", 0.2)
    child = Shell(folder, "echo run; exit 3")
    child.start()
    sentences: list[str] = []

    def four() -> bool:
        sentences.extend(filter(None, [child.poll()]))
        return child.restarts == 4

    poll(four)
    stop(child)
    assert [sentence.split(" in ")[1].split(" s")[0] for sentence in sentences[:4]] == [
        "0.05",
        "0.1",
        "0.2",
        "0.2",
    ]
    assert "shell exited with code 3" in sentences[0]
    assert str(child.log) in sentences[0]
    assert child.log.read_text().count("run") >= 4


def test_the_group_of_a_killed_process_is_killed(folder: Path) -> None:
    child = Shell(folder, f"({WAIT}) & echo up; {WAIT}")
    child.start()
    poll(lambda: "up" in child.output())
    left = psutil.Process(child.process.pid).children(recursive=True)
    child.process.kill()
    sentence = poll(child.poll)
    assert "by SIGKILL" in sentence
    poll(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in left))
    stop(child)


def test_the_output_of_the_current_run(folder: Path) -> None:
    child = Shell(folder, "echo $$")
    child.start()
    child.process.wait()
    first = child.output()
    child.start()
    child.process.wait()
    assert child.output() != first
    assert child.log.read_text() == first + child.output()


def test_logs_are_rotated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised_process, "MAX_LOG_BYTES", 10_000)
    writer = "import time\nwhile True: print('x' * 99, flush=True); time.sleep(0.0002)"
    child = SupervisedProcess(
        "writer", [sys.executable, "-c", writer], dict(os.environ), folder / "writer.log"
    )
    child.start()
    sizes: list[int] = []

    def thrice() -> bool:
        child.poll()
        sizes.append(child.log.stat().st_size)
        return sum(later < earlier for earlier, later in pairwise(sizes)) >= 3

    poll(thrice)
    stop(child)
    assert (folder / "writer.log.1").stat().st_size > 10_000
    assert child.log.read_bytes().lstrip(b"x\n") == b"", "no holes where the file was emptied"
