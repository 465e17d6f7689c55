"""Every command of the README's tour of the service, run on a real service."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas
import pytest

from literati import LiteratiClassifier, StopReason
from service.cli import write_settings
from service.settings import Settings
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
WALK = "Five minutes with the service"
READY = re.compile(r"Literati is ready at (http://\S+)")


def commands(page: str, title: str) -> list[str]:
    """Return the shell commands of a section."""
    section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder to which the commands may write, with links to the parts of the repository they use."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("examples", "service", "worker", ".venv"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture(scope="module")
def address(place: Path) -> Iterator[str]:
    first = commands(README, WALK)[0]
    assert first.strip() == "make serve"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment |= {"LITERATI_PORT": str(free_port()), "LITERATI_STATE_DIR": str(place / "state")}
    serving = subprocess.Popen(
        ["bash", "-c", f"exec {first}"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert serving.stdout is not None
    try:
        found = next(filter(None, map(READY.search, serving.stdout)))  # after the output of make
        yield found[1]
        os.killpg(serving.pid, signal.SIGINT)  # Ctrl-C
        serving.wait(60)
    finally:
        if serving.poll() is None:
            os.killpg(serving.pid, signal.SIGKILL)
        serving.stdout.close()


def run(script: str, place: Path) -> str:
    shell = ["bash", "-euo", "pipefail", "-c", script]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    done = subprocess.run(shell, cwd=place, env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_walk(address: str, place: Path) -> None:
    blocks = [
        *commands(README, WALK)[1:],
        *commands(PAGE, "Jobs"),
        *commands(PAGE, "Looking into a tree"),
    ]
    assert len(blocks) == 7
    said = "\necho ======\n".join(blocks)
    assert said.count("http://127.0.0.1:8000") == 1
    assert said.count('"limits": {"time_limit": 60}') == 1
    shorter = said.replace('"limits": {"time_limit": 60}', '"limits": {"time_limit": 25}')
    whole = run(shorter.replace("http://127.0.0.1:8000", address), place)
    upload, watched, tree, why, finished, changed, scored = whole.split("======\n")
    assert upload == ""
    trials = [json.loads(line) for line in re.findall(r"event: trial\ndata: (.*)", watched)]
    assert len(trials) >= 10
    assert {trial["state"] for trial in trials} == {"SUCCEEDED"}
    assert '"state":"SUCCEEDED"' in watched.split("event: done")[1]
    reason, rules = tree.split("\n", 1)
    assert re.match(r"Of \d+ candidates, depth \d with \d change points? and a penalty of", reason)
    assert rules.startswith("Shape tree of depth")
    assert "Proven" in rules
    assert (place / "tree.svg").read_text().startswith("<svg")
    answer = json.loads(why)
    assert answer["predictions"][0] in ("yes", "no")
    assert len(answer["explanations"][0]["steps"]) >= 2
    objective, state, alias = finished.split("\n", 2)
    assert float(objective) > 0
    assert state in ("STOPPING", "SUCCEEDED")
    assert json.loads(alias)["name"] == "production"
    *deletion, restored, limits, revision, stopped, listed, notes = changed.splitlines()
    assert restored.startswith("job_"), deletion  # refused if the job had not quite ended
    assert "'time_limit': 120.0" in limits
    assert int(revision) >= 1
    assert stopped in ("STOPPING", "SUCCEEDED")
    assert "'tags': {'team': 'risk'}" in listed
    assert notes == "the first one"
    histogram, scores = scored.splitlines()
    assert "'bins'" in histogram or "'categories'" in histogram
    assert "'accuracy'" in scores
    answers = json.loads((place / "answers.json").read_text())
    table = (place / "examples" / "loans.csv").read_text().splitlines()[1:]
    right = sum(row.endswith(f",{said}") for row, said in zip(table, answers["predictions"], strict=True))
    assert right > 0.8 * len(table)


def test_the_longer_search_is_one_to_finish_by_hand() -> None:
    """However slowly the commands are typed: `finish` is an error once the job has ended by itself."""
    (found,) = re.findall(
        r'"parameters": (.*),\n  "limits": {"time_limit": 3600}', commands(README, WALK)[-1]
    )
    rows = pandas.read_csv(ROOT / "examples" / "loans.csv")
    search = LiteratiClassifier(**json.loads(found), time_limit=None, max_expansions=20_000)
    search.fit(rows.drop(columns="repaid"), rows["repaid"])
    assert search.stop_reason_ is StopReason.EXPANSION_LIMIT
    assert search.lower_bound_ < 0.5 * search.upper_bound_


def test_a_key(place: Path) -> None:
    (block,) = commands(PAGE, "API keys")
    assert "lit_" in run(block, place)
    assert (place / "keys.json").stat().st_mode & 0o077 == 0


def settings_table(page: str) -> dict[str, str]:
    """Return the defaults of the settings in a page, by variable."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| `[A-Z_]+` ", line)]
    return {cells[0].strip("` "): cells[1].strip("` |") for cells in rows}


def test_the_page_of_settings_is_up_to_date() -> None:
    assert write_settings.TARGET.read_text() == write_settings.text(), "run `make settings`"


def test_the_settings_in_the_readme_are_right() -> None:
    shown, page = settings_table(README), settings_table(write_settings.text())
    assert len(shown) == 8
    assert shown.items() <= page.items()
    assert set(page) == {write_settings.variable(*item) for item in Settings.model_fields.items()}
