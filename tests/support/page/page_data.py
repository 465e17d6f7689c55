"""Tables, jobs and models for tests of the page, made over HTTP."""

from __future__ import annotations

import csv
import io
import random
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from tests.support.stack.stack import poll

COLUMNS = ("length", "width", "zip", "colour", "fresh", "kind")


def flowers(rows: int = 240, seed: int = 5) -> list[list[Any]]:
    """Return rows of numbers, numeric categories, texts and booleans; all but `zip` affect the kind."""
    rng = random.Random(seed)
    found = []
    for _ in range(rows):
        length, width = round(rng.uniform(1, 7), 1), round(rng.gauss(3, 1), 2)
        colour, fresh = rng.choice(["red", "blue", "white", "yellow"]), rng.random() < 0.5
        rose = (2.5 < length < 5) if colour in ("red", "white") else (width > 3.2) != fresh
        kind = "rose" if rose != (rng.random() < 0.06) else "tulip"
        shown: list[Any] = [length, "" if rng.random() < 0.05 else width]
        found.append([*shown, rng.choice([10115, 20095, 80331]), colour, str(fresh).lower(), kind])
    return found


def as_csv(rows: list[list[Any]], header: tuple[str, ...] = COLUMNS) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def write_csv(folder: Path, name: str = "flowers.csv", **options: Any) -> Path:
    path = folder / name
    path.write_text(as_csv(flowers(**options)))
    return path


@dataclass
class Service:
    """Make datasets, jobs and models for the page to show."""

    client: httpx.Client
    _models: dict[int, str] = field(default_factory=dict)

    @cached_property
    def dataset(self) -> str:
        return self.upload(as_csv(flowers()), name="flowers")

    def upload(self, text: str, target: str = "kind", **options: Any) -> str:
        answer = self.client.post(
            "/v1/datasets",
            params={"target": target, **options},
            content=text.encode(),
            headers={"Content-Type": "text/csv"},
        )
        assert answer.status_code in (200, 201), answer.text
        return str(answer.json()["id"])

    def job(self, name: str, dataset: str | None = None, **fields: Any) -> str:
        body = {"dataset_id": dataset or self.dataset, "name": name, **fields}
        answer = self.client.post("/v1/jobs", json=body)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def look(self, job: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/v1/jobs/{job}").json()
        return found

    def state(self, job: str) -> str:
        return str(self.look(job)["state"])

    def wait(self, job: str, *states: str) -> dict[str, Any]:
        wanted = states or ("SUCCEEDED",)
        poll(lambda: self.state(job) in wanted, what=f"{job} to be {' or '.join(wanted)}")
        return self.look(job)

    def model(self, depth: int = 3) -> str:
        """Return the id of a model of this depth, which is made once."""
        if depth not in self._models:
            job = self.job(
                f"flowers {depth}", parameters={"max_depth": depth}, validation={"fraction": 0.25, "seed": 1}
            )
            self._models[depth] = str(self.wait(job)["model_id"])
        return self._models[depth]

    def aliases(self) -> dict[str, str]:
        found = self.client.get("/v1/models/aliases").json()["items"]
        return {alias["name"]: alias["model_id"] for alias in found}

    def tree(self, model: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/v1/models/{model}").json()["tree"]
        return found
