"""Processes that are kept running, without the service: shells stand for its parts."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from service import children
from service.children import Child
from stack import poll

TRAP = "trap 'echo asked; exit 0' TERM; "
WAIT = "while true; do sleep 0.05; done"


class Shell(Child):
    def __init__(self, folder: Path, script: str) -> None:
        super().__init__("shell", lambda: ["/bin/sh", "-c", script], dict(os.environ), folder / "shell.log")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = set(psutil.Process().children(recursive=True))
    yield tmp_path
    assert set(psutil.Process().children(recursive=True)) <= before, "nothing is left behind"


def stop(child: Child, seconds: float = 10.0) -> float:
    before = time.monotonic()
    child.stop(seconds, lambda: False)
    return time.monotonic() - before


def test_a_child_is_asked_to_end(folder: Path) -> None:
    child = Shell(folder, TRAP + "echo up; " + WAIT)
    child.start()
    poll(lambda: "up" in child.output())
    assert stop(child) < 5
    assert child.output() == "up\nasked\n"
    stop(child)


def test_a_child_that_will_not_is_killed_with_its_own(folder: Path) -> None:
    child = Shell(folder, f"trap '' TERM; (trap '' TERM; {WAIT}) & echo up; {WAIT}")
    child.start()
    poll(lambda: "up" in child.output())
    family = psutil.Process(child.process.pid).children(recursive=True)
    assert len(family) >= 1
    assert 0.2 <= stop(child, 0.2) < 5
    poll(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in family))


def test_a_hurry_does_not_wait(folder: Path) -> None:
    child = Shell(folder, "trap '' TERM; echo up; " + WAIT)
    child.start()
    poll(lambda: "up" in child.output())
    before = time.monotonic()
    child.stop(60.0, lambda: True)
    assert time.monotonic() - before < 10


def test_stopping_what_was_never_started(folder: Path) -> None:
    stop(Shell(folder, "true"))


def test_a_child_that_dies_comes_back_ever_more_slowly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "FIRST_DELAY", 0.05)
    monkeypatch.setattr(children, "LONGEST_DELAY", 0.2)
    child = Shell(folder, "echo run; exit 3")
    child.start()
    sentences: list[str] = []

    def four() -> bool:
        sentences.extend(filter(None, [child.tend()]))
        return child.restarts == 4

    poll(four)
    stop(child)
    assert [sentence.split(" in ")[1].split(" s")[0] for sentence in sentences[:4]] == [
        "0.05",
        "0.1",
        "0.2",
        "0.2",
    ]
    assert "shell ended (with code 3)" in sentences[0]
    assert str(child.log) in sentences[0]
    assert child.log.read_text().count("run") >= 4


def test_a_killed_child_leaves_nobody_behind(folder: Path) -> None:
    child = Shell(folder, f"({WAIT}) & echo up; {WAIT}")
    child.start()
    poll(lambda: "up" in child.output())
    left = psutil.Process(child.process.pid).children(recursive=True)
    child.process.kill()
    sentence = poll(child.tend)
    assert "by SIGKILL" in sentence
    poll(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in left))
    stop(child)


def test_the_output_is_of_this_run(folder: Path) -> None:
    child = Shell(folder, "echo $$")
    child.start()
    child.process.wait()
    first = child.output()
    child.start()
    child.process.wait()
    assert child.output() != first
    assert child.log.read_text() == first + child.output()


def test_logs_stay_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "LOG_BYTES", 10_000)
    writer = "import time\nwhile True: print('x' * 99, flush=True); time.sleep(0.0002)"
    child = Child("writer", lambda: [sys.executable, "-c", writer], dict(os.environ), folder / "writer.log")
    child.start()
    sizes: list[int] = []

    def thrice() -> bool:
        child.tend()
        sizes.append(child.log.stat().st_size)
        return sum(later < earlier for earlier, later in pairwise(sizes)) >= 3

    poll(thrice)
    stop(child)
    assert (folder / "writer.log.1").stat().st_size > 10_000
    assert child.log.read_bytes().lstrip(b"x\n") == b"", "no holes where the file was emptied"
