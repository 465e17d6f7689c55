"""A stack of containers as an operator has it: compose, the engine under it, the API on its port."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "literati-walk"
Seen = TypeVar("Seen")


def say(sentence: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {sentence}", flush=True)


def until(look: Callable[[], Seen | None], seconds: float, what: str) -> Seen:
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise SystemExit(f"FAILED: {what} did not happen in {seconds:g} s")
        time.sleep(0.2)
    return seen


class Containers:
    """A project of its own, so that a stack that runs here for real is left alone."""

    def __init__(self, compose: str, engine: str) -> None:
        self._compose = shlex.split(compose)
        self._engine = engine
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._environment = {
            **os.environ,
            "COMPOSE_PROJECT_NAME": PROJECT,
            "LITERATI_IMAGE": "literati:walk",
            "LITERATI_PORT": str(self.port),
        }

    def compose(self, *words: str, seconds: float = 300.0) -> str:
        """What it prints; an error ends the walk with what it said."""
        return self._run([*self._compose, *words], seconds)

    def engine(self, *words: str) -> str:
        return self._run([self._engine, *words], 120.0)

    def _run(self, words: list[str], seconds: float) -> str:
        done = subprocess.run(
            words, cwd=ROOT, env=self._environment, capture_output=True, text=True, timeout=seconds
        )
        if done.returncode:
            raise SystemExit(f"FAILED: {shlex.join(words)}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def down(self, *words: str) -> None:
        """Twice: podman-compose takes those added by scaling away last, when others hang on them."""
        for _ in range(2):
            self.compose("down", "--remove-orphans", *words)

    def of(self, service: str) -> list[str]:
        """Its containers that run."""
        labels = {"project": PROJECT, "service": service}
        filters = [f"--filter=label=com.docker.compose.{name}={value}" for name, value in labels.items()]
        return self.engine("ps", "--quiet", *filters).split()

    def started(self, container: str) -> str:
        return self.engine("inspect", "--format", "{{.State.StartedAt}}", container)

    def logs(self, container: str) -> str:
        words = [self._engine, "logs", container]
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def shown_keys(self) -> list[str]:
        return re.findall(r"lit_[0-9a-f]{8}_[\w-]{43}", self.compose("logs", "init"))


class Api:
    def __init__(self, port: int, key: str) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.key = key
        self._direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def call(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Text is CSV, anything else JSON."""
        table = isinstance(body, str)
        data = body.encode() if table else None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {key or self.key}"}
        headers["Content-Type"] = "text/csv" if table else "application/json"
        request = urllib.request.Request(f"{self.address}{path}", data, headers, method=method)
        with self._direct.open(request, timeout=60) as answer:
            text = answer.read().decode()
        return json.loads(text) if "json" in answer.headers.get("Content-Type", "") else text

    def status(self, path: str, key: str | None = None) -> int | None:
        """None: nobody answers."""
        try:
            self.call("GET", path, key=key)
        except urllib.error.HTTPError as error:
            return error.code
        except (OSError, http.client.HTTPException):
            return None
        return 200

    def ready(self) -> bool:
        return self.status("/readyz") == 200

    def job(self, job_id: str) -> dict[str, Any]:
        """Asked again while a part of the stack is away."""

        def look() -> dict[str, Any] | None:
            try:
                found: dict[str, Any] = self.call("GET", f"/v1/jobs/{job_id}")
            except (OSError, http.client.HTTPException):
                return None
            return found

        return until(look, 60, "an answer")

    def submit(self, dataset: str, parameters: dict[str, Any], **limits: Any) -> str:
        body = {"dataset_id": dataset, "parameters": parameters, "limits": limits}
        job_id: str = self.call("POST", "/v1/jobs", body)["id"]
        return job_id
