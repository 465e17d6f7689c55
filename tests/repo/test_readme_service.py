"""The README's way through the service: every command in it, run as a new user would, on the real thing."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pandas
import pytest

from literati import LiteratiClassifier, StopReason
from service.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
WALK = "Five minutes with the service"
READY = re.compile(r"Literati is ready at (http://\S+)")


def section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def commands(title: str) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", section(title), re.MULTILINE | re.DOTALL)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as far as the commands look at it, in a folder that they may write to."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("examples", "service", "worker", ".venv"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture(scope="module")
def address(place: Path) -> Iterator[str]:
    first = commands(WALK)[0]
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
        found = next(filter(None, map(READY.search, serving.stdout)))  # what make says comes first
        yield found[1]
        os.killpg(serving.pid, signal.SIGINT)  # Ctrl-C
        serving.wait(60)
    finally:
        if serving.poll() is None:
            os.killpg(serving.pid, signal.SIGKILL)
        serving.stdout.close()


def run(script: str, place: Path) -> str:
    shell = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(shell, cwd=place, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_walk(address: str, place: Path) -> None:
    blocks = commands(WALK)[1:]
    assert len(blocks) == 6
    said = "\necho ======\n".join(blocks)
    assert said.count("http://127.0.0.1:8000") == 1
    whole = run(said.replace("http://127.0.0.1:8000", address), place)
    upload, watched, tree, why, finished, changed = whole.split("======\n")
    assert upload == ""
    bounds = [json.loads(line) for line in re.findall(r"event: bound\ndata: (.*)", watched)]
    assert bounds[0]["lower_bound"] < bounds[0]["upper_bound"]
    assert bounds[-1]["lower_bound"] == bounds[-1]["upper_bound"]
    assert '"stop_reason":"PROVEN_OPTIMAL"' in watched
    assert tree.startswith("Shape tree of depth 4")
    assert "Proven" in tree
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
    answers = json.loads((place / "answers.json").read_text())
    table = (place / "examples" / "loans.csv").read_text().splitlines()[1:]
    right = sum(row.endswith(f",{said}") for row, said in zip(table, answers["predictions"], strict=True))
    assert right > 0.85 * len(table)


def test_the_longer_search_is_one_to_finish_by_hand() -> None:
    """However slowly the commands are typed: `finish` is an error once the job has ended by itself."""
    (found,) = re.findall(r'"parameters": (.*),\n  "limits": {"time_limit": 3600}', commands(WALK)[-2])
    rows = pandas.read_csv(ROOT / "examples" / "loans.csv")
    search = LiteratiClassifier(**json.loads(found), time_limit=None, max_expansions=20_000)
    search.fit(rows.drop(columns="repaid"), rows["repaid"])
    assert search.stop_reason_ is StopReason.EXPANSION_LIMIT
    assert search.lower_bound_ < 0.5 * search.upper_bound_


def test_a_key(place: Path) -> None:
    (block,) = commands("Running the service")
    assert "lit_" in run(block, place)
    assert (place / "keys.json").stat().st_mode & 0o077 == 0


def test_every_setting_is_in_the_table_with_its_default() -> None:
    rows = [
        line.strip("| ").split(" | ")
        for line in section("Running the service").splitlines()
        if line[:2] == "| "
    ]
    told = {cells[0].strip("`"): cells[1].strip("` |") for cells in rows if cells[0].startswith("`")}
    expected = {}
    for name, field in Settings.model_fields.items():
        variable = str(field.validation_alias or f"LITERATI_{name.upper()}")
        expected[variable] = "" if field.default is None else str(field.default)
        assert type(None) in get_args(field.annotation) or field.default is not None
    expected["LITERATI_WORKER_CONCURRENCY"] = "cores"
    assert told == expected
