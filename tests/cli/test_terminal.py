"""The command in a real terminal: one live line, Ctrl-C, the width of the window, colours, completion."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pandas as pd
import pytest

from literati import ShapeTree
from literati.cli.interrupts import SAME_SECONDS
from tests.support.paths import ROOT
from tests.support.records import jobs
from tests.support.stack.stack import poll

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(which("tmux") is None, reason="tmux is not installed"),
]
LINE = re.compile(r"upper \d+  lower \d+  gap [\d.]+ %  explored [\d.]+ %  ([\d.]+) s")


class Terminal:
    """A terminal of tmux with bash in it, and a command `literati`."""

    def __init__(self, folder: Path, columns: int = 100) -> None:
        self._socket = str(folder / "tmux")
        (folder / "bin").mkdir()
        script = folder / "bin" / "literati"
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m literati "$@"\n')
        script.chmod(0o755)
        (folder / "bashrc").write_text("PS1='$ '\n")
        environment = {
            **os.environ,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "core"), os.environ.get("PYTHONPATH", "")]),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        shell = f"bash --rcfile {folder / 'bashrc'}"
        size = ["-x", str(columns), "-y", "30"]
        self._tmux(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            *size,
            shell,
            env=environment,
        )
        poll(lambda: self.lines() == ["$"], what="the prompt")

    def _tmux(self, *words: str, env: dict[str, str] | None = None) -> str:
        command = ["tmux", "-S", self._socket, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env, timeout=20).stdout

    def type(self, text: str, *keys: str) -> None:
        if text:
            self._tmux("send-keys", "-l", text)
        if keys:
            self._tmux("send-keys", *keys)

    def resize(self, columns: int) -> None:
        self._tmux("resize-window", "-x", str(columns))

    def lines(self, *options: str) -> list[str]:
        """Return the lines of the screen down to the last that is not empty."""
        return self._tmux("capture-pane", "-p", *options).rstrip().split("\n")

    def wait_for(self, pattern: str) -> re.Match[str]:
        return poll(lambda: re.search(pattern, "\n".join(self.lines()), re.MULTILINE), what=pattern)

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    pd.DataFrame(jobs.noise()).to_csv(tmp_path / "noise.csv", index=False)
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.close()


# A search that does not notice that it shall stop.
SLOW = """
import time
from literati.cli import main
from literati.estimator import LiteratiClassifier

def run(self, search):
    self.callback(search.run(0.0))
    time.sleep(60)

LiteratiClassifier._run = run
main()
"""
FIT = "literati fit noise.csv --target label --depth 6 --time-limit 600"


def test_the_live_line_and_ctrl_c(terminal: Terminal, tmp_path: Path) -> None:
    """The line stays one line, also in a narrow window, and Ctrl-C ends with the best tree so far."""
    terminal.type(f"{FIT} > tree.txt; echo code $?", "Enter")
    first = terminal.wait_for(LINE.pattern)
    poll(
        lambda: (found := LINE.search("\n".join(terminal.lines()))) and found[1] != first[1],
        what="a new line",
    )
    assert len(terminal.lines()) == 2  # the command and the live line
    terminal.resize(40)
    poll(lambda: re.search(r"^(tree \d+  )?upper \d+  lower", terminal.lines()[-1]), what="a short line")
    rows = len(terminal.lines())
    seconds = 1.0
    with pytest.raises(AssertionError, match="did not happen"):
        poll(lambda: len(terminal.lines()) != rows, seconds=seconds, what="another line")
    terminal.type("", "C-c")
    terminal.wait_for("^Finishing with the best tree so far")
    terminal.wait_for("^code 0$")
    assert "Stopped after" in "\n".join(terminal.lines())
    tree = ShapeTree.from_json((tmp_path / "model.json").read_text())
    assert (tmp_path / "tree.txt").read_text() == tree.to_text()
    assert not tree.proof.proven_optimal


def test_a_second_ctrl_c_ends_at_once(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    terminal.type(f"{sys.executable} slow.py {FIT.removeprefix('literati ')}; echo code $?", "Enter")
    terminal.wait_for(LINE.pattern)
    terminal.type("", "C-c")
    terminal.wait_for("^Finishing with the best tree so far")
    time.sleep(SAME_SECONDS)
    terminal.type("", "C-c")
    terminal.wait_for("^code 130$")
    assert not (tmp_path / "model.json").exists()


def test_colours_and_completion(terminal: Terminal) -> None:
    terminal.type(
        "literati nothing; literati fit noise.csv -t lable; NO_COLOR=1 literati fit noise.csv -t lable",
        "Enter",
    )
    terminal.wait_for(r"(?s)Did you mean 'label'.*Did you mean 'label'")
    errors = [line for line in terminal.lines("-e") if "--target: there is no column" in line]
    assert ["\x1b[31m" in line for line in errors] == [True, False]
    terminal.type('clear; eval "$(literati completion bash)"', "Enter")
    poll(lambda: terminal.lines() == ["$"], what="an empty screen")
    terminal.type("literati fit --candidates ad", "Tab")
    terminal.wait_for(r"^\$ literati fit --candidates adaptive")
