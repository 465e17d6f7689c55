"""A stack of containers, controlled by compose and by the container engine."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

from tests.support.paths import ROOT

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
    """The containers of a compose project that is only for the tests."""

    def __init__(self, compose: str, engine: str, project: str, **environment: str) -> None:
        self._compose = shlex.split(compose)
        self._engine = engine
        self._project = project
        named = {"COMPOSE_PROJECT_NAME": project, "LITERATI_IMAGE": "literati:walk"}
        self._environment = {**os.environ, **named, **environment}

    def compose(self, *words: str, seconds: float = 300.0) -> str:
        """Run a command and return its output; an error ends the program with the command's messages."""
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
        """Stop the stack. Podman-compose needs it twice when the workers were scaled."""
        for _ in range(2):
            self.compose("down", "--remove-orphans", *words)

    def back_up(self) -> str:
        """Make a backup while everything runs, and return what the command says."""
        return self.compose("--profile", "backup", "run", "--rm", "-T", "backup")

    def restore(self) -> str:
        return self.compose("--profile", "backup", "run", "--rm", "-T", "restore")

    def save_secrets(self, file: Path) -> None:
        with file.open("wb") as stream:
            self._init_service("tar", "-C", "/run/literati", "-cz", ".", stdout=stream)

    def restore_secrets(self, file: Path) -> None:
        with file.open("rb") as stream:
            self._init_service("tar", "-C", "/run/literati", "-xz", stdin=stream)

    def remove_volumes(self, *names: str) -> None:
        self.engine("volume", "rm", *(f"{self._project}_{name}" for name in names))

    def _init_service(
        self, *words: str, stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None
    ) -> None:
        command = [*self._compose, "run", "--rm", "-T", "init", *words]
        subprocess.run(
            command, cwd=ROOT, env=self._environment, stdin=stdin, stdout=stdout, check=True, timeout=300
        )

    def of(self, service: str) -> list[str]:
        """Return the running containers of a service."""
        labels = {"project": self._project, "service": service}
        filters = [f"--filter=label=com.docker.compose.{name}={value}" for name, value in labels.items()]
        return self.engine("ps", "--quiet", *filters).split()

    def holders(self, job_id: str) -> list[str]:
        """Return the workers whose log mentions a job."""
        return [container for container in self.of("worker") if f'"{job_id}"' in self.logs(container)]

    def inspect(self, container: str) -> dict[str, Any]:
        (found,) = json.loads(self.engine("inspect", container))
        return dict(found)

    def execute(self, container: str, *words: str) -> str:
        return self.engine("exec", container, *words)

    def address(self, container: str) -> str:
        """Return the address at which the API of a container is published."""
        return f"http://{self.engine('port', container, '8000').split()[0]}"

    def logs(self, container: str) -> str:
        words = [self._engine, "logs", container]
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def shown_keys(self) -> list[str]:
        return re.findall(r"lit_[0-9a-f]{8}_[\w-]{43}", self.compose("logs", "init"))

    def say_last_words(self) -> None:
        for service in ("init", "redis", "api", "worker"):
            for container in self.of(service):
                print(f"--- {service} {container}\n{self.logs(container)[-3000:]}", file=sys.stderr)
