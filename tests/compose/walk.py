"""The whole stack in containers on one machine.

Build the image, start the stack, run the commands of the README against the published port, scale the
workers, kill one of them during a job, stop all of them, restart Redis, stop and start everything, and
restore a backup into new volumes.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.compose import hardening
from tests.compose.api import Api
from tests.compose.engine import Containers, say, until
from tests.support.paths import ROOT

SECTION = "Five minutes with the service"
LONG = {"max_depth": 7, "max_changepoints": 3}
LEASE = 30.0
LOST_VOLUMES = ("state", "redis-data", "secrets", "redis-access", "metrics-key", "backup-password")
GRACE = "45"  # the workers' stop_grace_period


def readme_commands() -> str:
    """Return the commands of the README without the first, which starts the service in another way."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(f"\n## {SECTION}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert blocks[0].strip() == "make serve", blocks[0]
    return "\n".join(blocks[1:])


def noise(rows: int = 1_000, columns: int = 8) -> str:
    """Return a table whose search does not end by itself during the tests."""
    draw = random.Random(0)
    names = ",".join(f"x{column}" for column in range(columns))
    lines = [
        ",".join([*(f"{draw.gauss(0, 1):.6f}" for _ in range(columns)), draw.choice("abc")])
        for _ in range(rows)
    ]
    return "\n".join([f"{names},label", *lines, ""])


def follow_readme(api: Api, folder: Path) -> None:
    """Run the commands of the README unchanged, with the key in a header."""
    (folder / "examples").symlink_to(ROOT / "examples")
    script = readme_commands()
    assert script.count("http://127.0.0.1:8000") == 1
    script = script.replace("http://127.0.0.1:8000", api.address)
    prelude = 'curl() { command curl --noproxy "*" -H "Authorization: Bearer $LITERATI_KEY" "$@"; }\n'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{prelude}{script}"],
        cwd=folder,
        env={**os.environ, "LITERATI_KEY": api.key},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise SystemExit(f"FAILED: the README's commands\n{done.stdout}\n{done.stderr}")
    print(re.sub(r"(?m)^(?=.)", "    ", done.stdout[-1500:]))
    assert '"state":"SUCCEEDED"' in done.stdout.split("event: done")[1]  # of the sweep
    assert "Shape tree of depth" in done.stdout
    assert (folder / "tree.svg").read_text().startswith("<svg")
    answers = json.loads((folder / "answers.json").read_text())
    assert set(answers["predictions"]) == {"yes", "no"}


class Walk:
    def __init__(self, containers: Containers, address: str) -> None:
        self.containers = containers
        self.api = Api(address, "")

    def run(self, folder: Path) -> None:
        self.build()
        self.up()
        (key,) = self.containers.shown_keys()
        self.api = Api(self.api.address, key)
        say(f"up; the key {self.api.key[:12]}... was shown once")
        self.refuses_wrong_keys()
        hardening.look(self.containers)
        follow_readme(self.api, folder)
        say("the README's commands did what it says")
        dataset = self.api.call("POST", "/v1/datasets?target=label", noise())["id"]
        self.scale(3)
        self.kill_worker(dataset)
        self.stop_workers(dataset)
        self.restart_redis(dataset)
        self.down_and_up(dataset)
        self.back_up_and_restore(folder)

    def build(self) -> None:
        start = time.monotonic()
        self.containers.compose("build", seconds=3600)
        say(f"built in {time.monotonic() - start:.0f} s")

    def up(self, *words: str) -> None:
        start = time.monotonic()
        self.containers.compose("up", "-d", *words)
        until(self.api.ready, 120, "readiness")
        say(f"ready {time.monotonic() - start:.0f} s after `up`")

    def refuses_wrong_keys(self) -> None:
        for key in ("nobody", f"lit_{'0' * 8}_{'x' * 43}"):
            assert self.api.status("/v1/jobs", key) == 401

    def scale(self, count: int) -> None:
        self.containers.compose("up", "-d", "--scale", f"worker={count}")
        key = self.containers.compose("run", "--rm", "-T", "init", "cat", "/run/literati/prometheus/key")
        admin = key.split()[-1]

        def workers() -> bool:
            page = self.api.call("GET", "/metrics", key=admin)
            return f"literati_workers {count}.0" in page

        until(workers, 60, f"{count} workers")
        assert len(self.containers.of("worker")) == count
        say(f"{count} workers, told by the metrics")

    def kill_worker(self, dataset: str) -> None:
        job_id = self.running(dataset)
        (worker,) = self.containers.holders(job_id)
        before = self.api.job(job_id)
        self.containers.engine("kill", "--signal", "KILL", worker)
        killed = time.monotonic()
        say(f"killed worker {worker[:12]} with {job_id[:12]}... at {_bounds(before)}")
        taken = until(
            lambda: _running_again(self.api.job(job_id), before), LEASE + 30, "the job on another worker"
        )
        say(f"another worker has it after {time.monotonic() - killed:.0f} s at {_bounds(taken)}")
        self.finish(job_id, before)

    def stop_workers(self, dataset: str) -> None:
        """Stop the workers, which return their jobs to the queue, so that no lease has to expire."""
        job_id = self.running(dataset)
        before = self.api.job(job_id)
        start = time.monotonic()
        # With the engine, since podman-compose would stop only one of them.
        self.containers.engine("stop", "-t", GRACE, *self.containers.of("worker"))
        stopped = time.monotonic() - start
        left = self.api.job(job_id)
        assert (left["state"], left["transitions"][-1]["reason"]) == ("QUEUED", "WORKER_STOPPED"), left
        assert left["progress"]["expansions"] >= before["progress"]["expansions"]
        say(f"the workers stopped in {stopped:.0f} s and handed their job back at {_bounds(left)}")
        self.up("--scale", "worker=3")
        until(lambda: _running_again(self.api.job(job_id), left), LEASE, "the job on another worker")
        self.finish(job_id, left)

    def restart_redis(self, dataset: str) -> None:
        job_id = self.running(dataset)
        before, kept = self.api.job(job_id), self.everything()
        (container,) = self.containers.of("redis")
        started = self.containers.inspect(container)["State"]["StartedAt"]
        self.containers.engine("kill", "--signal", "KILL", container)
        self.up("--scale", "worker=3")
        (container,) = self.containers.of("redis")
        assert self.containers.inspect(container)["State"]["StartedAt"] > started
        assert self.everything() == kept, "something was lost"
        until(
            lambda: self.api.job(job_id)["progress"]["expansions"] > before["progress"]["expansions"] or None,
            60,
            "progress after the restart of Redis",
        )
        say("Redis was killed and started again under a running job, which went on; nothing is lost")
        self.finish(job_id, before)

    def down_and_up(self, dataset: str) -> None:
        job_id = self.running(dataset)
        before, kept = self.api.job(job_id), self.everything()
        start = time.monotonic()
        self.containers.down()
        assert not any(map(self.containers.of, ("redis", "api", "worker")))
        say(f"down in {time.monotonic() - start:.0f} s")
        self.up()
        assert self.everything() == kept, "something was lost"
        assert self.containers.shown_keys() == [], "the key was shown a second time"
        after = until(
            lambda: _running_again(self.api.job(job_id), before), LEASE + 60, "the job's second life"
        )
        reasons = [transition.get("reason") for transition in after["transitions"]]
        say(f"up again with everything; the running job goes on ({reasons[-3:]}) at {_bounds(after)}")
        self.finish(job_id, before)

    def back_up_and_restore(self, folder: Path) -> None:
        """Back up while everything runs, and restore into new volumes, as docs/operations.md describes."""
        kept, secrets = self.everything(), folder / "secrets.tar.gz"
        said = self.containers.back_up().strip()
        self.containers.save_secrets(secrets)
        self.containers.down()
        self.containers.remove_volumes(*LOST_VOLUMES)
        self.containers.compose("run", "--rm", "-T", "redis", "true")  # gives the new volume to its user
        self.containers.restore_secrets(secrets)
        self.containers.restore()
        self.up()
        assert self.everything() == kept, "something was lost"
        say(f"everything is there again from a backup, the key included ({said})")

    def running(self, dataset: str) -> str:
        """Submit a long job; wait until it has a tree and a saved search."""
        job_id = self.api.submit(dataset, LONG, time_limit=3600)
        until(lambda: self.api.job(job_id)["progress"]["elapsed_seconds"] > 5, 90, "a running job")
        return job_id

    def finish(self, job_id: str, before: dict[str, Any]) -> None:
        self.api.call("POST", f"/v1/jobs/{job_id}/finish")
        job = self.api.ended(job_id)
        assert (job["state"], job["stop_reason"]) == ("SUCCEEDED", "USER_FINISH"), job
        assert job["progress"]["upper_bound"] <= before["progress"]["upper_bound"]
        assert job["progress"]["lower_bound"] >= before["progress"]["lower_bound"]
        say(f"finished at {_bounds(job)}")

    def everything(self) -> dict[str, Any]:
        """Return all ids, and the model of the alias."""
        found = {
            kind: [item["id"] for item in self.api.call("GET", f"/v1/{kind}")["items"]]
            for kind in ("datasets", "jobs", "models")
        }
        assert all(found.values())
        return {**found, "production": self.api.call("GET", "/v1/models/production")["id"]}


def _bounds(job: dict[str, Any]) -> str:
    progress = job["progress"]
    return f"[{progress['lower_bound']:g}, {progress['upper_bound']:g}], {progress['expansions']} expansions"


def _running_again(job: dict[str, Any], before: dict[str, Any]) -> dict[str, Any] | None:
    again = job["state"] == "RUNNING" and len(job["transitions"]) > len(before["transitions"])
    return job if again else None
