"""Two APIs and four workers, each as on its own machine; they share one Redis and one bucket."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path

import httpx

from tests.compose.api import Api
from tests.compose.engine import Containers, say, until
from tests.compose.walk import LONG, noise
from tests.support.http.event_client import Seen

FILES = ("docker-compose.yml", "docker-compose.s3.yml", "tests/compose/hosts.yml")
CREDENTIALS = "[default]\naws_access_key_id = hosts\naws_secret_access_key = only-for-tests\n"
APIS, WORKERS = 2, 4  # as in hosts.yml
JOBS = 12
SEARCH_SECONDS = 2.0


class Hosts:
    def __init__(self, compose: str, engine: str, folder: Path) -> None:
        credentials = folder / "s3-credentials"
        credentials.write_text(CREDENTIALS)
        credentials.chmod(0o644)
        self.containers = Containers(
            compose,
            engine,
            "literati-hosts",
            COMPOSE_FILE=":".join(FILES),
            LITERATI_PORT="",  # a free one for each
            LITERATI_WORKER_CONCURRENCY="1",
            LITERATI_BLOBS="s3://literati/hosts",
            LITERATI_S3_CREDENTIALS_FILE=str(credentials),
            AWS_ENDPOINT_URL="http://s3:9000",
            RCLONE=str(Path(sys.executable).with_name("rclone")),
        )

    def run(self, _folder: Path) -> None:
        one, two = self.up()
        dataset = one.call("POST", "/v1/datasets?target=label", noise())["id"]
        self.nothing_is_shared()
        self.jobs_spread(one, two, dataset)
        self.streams(one, two, dataset)

    def up(self) -> list[Api]:
        self.containers.compose("up", "-d")
        (key,) = self.containers.shown_keys()
        self.api_containers = self.containers.of("api")
        apis = [Api(self.containers.address(container), key) for container in self.api_containers]
        assert len({api.address for api in apis}) == APIS
        for api in apis:
            until(api.ready, 120, "readiness")
        workers = self.containers.of("worker")
        assert len(workers) == WORKERS
        say(f"{APIS} APIs and {WORKERS} workers are up")
        return apis

    def nothing_is_shared(self) -> None:
        """Check that a table that was sent to one API is in the bucket and in no other container."""
        everyone = [*self.api_containers, *self.containers.of("worker")]
        names = {self.containers.execute(container, "hostname") for container in everyone}
        assert len(names) == len(everyone)
        having = [here for here in everyone if self.files(here, "/tmp/state/cache /var/lib/literati")]
        assert set(having) <= set(self.api_containers), having
        (store,) = self.containers.of("s3")
        assert self.files(store, "/tmp/buckets/literati/hosts")

    def files(self, container: str, folders: str) -> list[str]:
        """Return the larger files in folders that may not exist."""
        find = f"find {folders} -type f -size +1k 2>/dev/null || true"
        return self.containers.execute(container, "sh", "-c", find).split()

    def jobs_spread(self, one: Api, two: Api, dataset: str) -> None:
        apis = [one, two]
        submitted = [
            apis[number % APIS].submit(dataset, LONG, time_limit=SEARCH_SECONDS) for number in range(JOBS)
        ]
        for number, job_id in enumerate(submitted):
            job = apis[(number + 1) % APIS].ended(job_id, 180)  # not the one that accepted it
            assert (job["state"], job["stop_reason"]) == ("SUCCEEDED", "TIME_LIMIT"), job
            assert one.call("GET", f"/v1/jobs/{job_id}") == two.call("GET", f"/v1/jobs/{job_id}")
            answers = [
                api.call("POST", f"/v1/models/{job['model_id']}/predict", noise(rows=50)) for api in apis
            ]
            assert answers[0] == answers[1]
        spread = Counter(worker for job_id in submitted for worker in self.containers.holders(job_id))
        assert len(spread) == WORKERS, spread
        assert spread.total() == JOBS, "a job was with two workers"
        say(f"{JOBS} jobs, spread {sorted(spread.values())}; each API answers for all of them")

    def streams(self, one: Api, two: Api, dataset: str) -> None:
        """Read the events of a job through both APIs; kill one API, and continue at the other."""
        job_id = one.submit(dataset, LONG, time_limit=600)
        first, second = Watcher(one, job_id), Watcher(two, job_id)
        until(lambda: min(len(first.seen), len(second.seen)) >= 5, 60, "events through both APIs")
        self.containers.engine("kill", "--signal", "KILL", self.api_containers[0])
        first.join()
        assert first.cut_off
        assert first.seen[-1].event != "done"
        again = Watcher(two, job_id, first.seen[-1].id)
        two.call("POST", f"/v1/jobs/{job_id}/finish")
        two.ended(job_id)
        for watcher in (second, again):
            watcher.join()
            assert not watcher.cut_off
        assert first.seen + again.seen == second.seen, "events were lost or came twice"
        assert second.seen[-1].event == "done"
        say(f"{len(second.seen)} events through either API; after {len(first.seen)} of them one was killed")


class Watcher(threading.Thread):
    """Read the events of a job until they end."""

    def __init__(self, api: Api, job_id: str, last: str | None = None) -> None:
        super().__init__(daemon=True)
        self.seen: list[Seen] = []
        self.cut_off = False
        self._events = api.events(job_id, last)
        self.start()

    def run(self) -> None:
        try:
            for event in self._events:
                self.seen.append(event)
        except httpx.TransportError:
            self.cut_off = True

    def join(self, timeout: float | None = 60.0) -> None:
        super().join(timeout)
        assert not self.is_alive()
