"""A Prometheus server reads a real stack; every rule and every panel of the dashboard has data."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.listen_address import free_port
from tests.support.http.service_client import submit
from tests.support.paths import ROOT
from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.backup.create import create_backup
from worker.backup.folder import BackupFolder
from worker.processes.parent_death import kill_with_parent

FOLDER = ROOT / "service" / "observability"
ALERT_TESTS = Path(__file__).with_name("alerts.yml")
DASHBOARD = json.loads((FOLDER / "grafana-dashboard.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RULES = re.findall(r"^ +- (record|alert): (\S+)$", (FOLDER / "rules.yml").read_text(), re.MULTILINE)
RECORDED = [name for kind, name in RULES if kind == "record"]
ALERTS = [name for kind, name in RULES if kind == "alert"]

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="no prometheus (Debian: apt-get install prometheus)",
)


class Prometheus:
    def __init__(self, folder: Path, target: str) -> None:
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{free_port('127.0.0.1', 0)}/api/v1")
        settings = (FOLDER / "prometheus.yml").read_text()
        for before, after in (
            ("_interval: 15s", "_interval: 500ms"),
            ("127.0.0.1:8000", httpx.URL(target).netloc.decode()),
            ("- rules.yml", f"- {FOLDER / 'rules.yml'}"),
        ):
            assert before in settings
            settings = settings.replace(before, after)
        config = folder / "prometheus.yml"
        config.write_text(settings)
        address = self.client.base_url.netloc.decode()
        words = [f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"]
        self.log = folder / "prometheus.log"
        with self.log.open("wb") as log:
            command = ["prometheus", *words, f"--web.listen-address={address}"]
            self.process = subprocess.Popen(kill_with_parent(command), stdout=log, stderr=log)

    def ask(self, path: str, **parameters: str) -> Any:
        answer = self.client.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return found

    def is_filled(self) -> bool:
        """Wait until there are enough samples for rates and the rules were evaluated."""
        assert self.process.poll() is None, self.log.read_text()[-4000:]
        try:
            if self.client.get("query", params={"query": "up"}).status_code == 503:
                return False  # it answers, but it has not read its files yet
            seen = self.query('count_over_time(literati_running_gap_gcount{job="literati"}[1m])')
            return bool(seen) and float(seen[0]["value"][1]) >= 4 and bool(self.query(RECORDED[-1]))
        except httpx.TransportError:
            return False


@pytest.fixture(scope="module")
def prometheus(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Provide a Prometheus server of a stack with an ended and a running job, a backup and a memory limit."""
    easy, endless = (jobs.add_dataset(stack.store, stack.blobs, rows) for rows in (jobs.easy(), jobs.noise()))
    backups = BackupFolder(tmp_path_factory.mktemp("backups"))
    create_backup(stack.store, stack.blobs, backups, lambda *_: None)
    stack.store.client.config_set("maxmemory", "4gb")
    prometheus = Prometheus(tmp_path_factory.mktemp("prometheus"), stack.url)
    try:
        with stack.client() as client:
            ended = submit(client, easy)["id"]
            running = submit(client, endless, parameters={"max_depth": 6}, limits={"time_limit": 600})["id"]
            try:
                poll(lambda: client.get(f"/v1/jobs/{ended}").json()["state"] == "SUCCEEDED", what="the end")
                poll(
                    lambda: client.get(f"/v1/jobs/{running}").json()["progress"]["incumbents"], what="a tree"
                )
                poll(prometheus.is_filled, seconds=60, what="Prometheus' view of the stack")
                yield prometheus
            finally:  # other tests use the same worker
                client.post(f"/v1/jobs/{running}/cancel")
    finally:
        stack.store.client.config_set("maxmemory", 0)
        prometheus.process.kill()
        prometheus.process.wait()
        prometheus.client.close()


@needs_prometheus
@pytest.mark.parametrize(
    "words",
    [
        ["check", "config", str(FOLDER / "prometheus.yml")],
        ["check", "rules", "--lint=all", "--lint-fatal", str(FOLDER / "rules.yml")],
        ["test", "rules", str(ALERT_TESTS)],
    ],
    ids=["config", "rules", "alerts"],
)
def test_promtool(words: list[str]) -> None:
    done = subprocess.run(["promtool", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested() -> None:
    tested = re.findall(r"alertname: (\w+)\n +eval_time: \w+\n +exp_alerts:\n", ALERT_TESTS.read_text())
    assert set(tested) == set(ALERTS)


def test_every_alert_is_documented() -> None:
    page = (ROOT / "docs" / "observability.md").read_text()
    assert [alert for alert in ALERTS if f"`{alert}`" not in page] == []


@needs_prometheus
def test_metrics_are_well_formed(stack: Stack, prometheus: Prometheus) -> None:
    with stack.client() as client:
        text = client.get("/metrics").text
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (ROOT / "docs" / "observability.md").read_text()
    told = set(re.findall(r"^# TYPE (literati_\w+)", text, re.MULTILINE))
    assert [name for name in sorted(told) if f"`{re.sub('_g(sum|count)$', '', name)}`" not in page] == []


@needs_prometheus
@pytest.mark.parametrize("name", RECORDED)
def test_recorded(prometheus: Prometheus, name: str) -> None:
    assert prometheus.query(name)


@needs_prometheus
def test_every_rule_is_evaluated_without_error(prometheus: Prometheus) -> None:
    [group] = prometheus.ask("rules")["groups"]
    assert [rule["name"] for rule in group["rules"]] == [*RECORDED, *ALERTS]
    assert [(rule["name"], rule.get("lastError")) for rule in group["rules"] if rule["health"] != "ok"] == []
    assert {rule["name"] for rule in group["rules"] if rule.get("state") == "firing"} == set()


@needs_prometheus
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: f"{panel['id']} {panel['title']}")
def test_panel(prometheus: Prometheus, panel: dict[str, Any]) -> None:
    assert panel["description"]
    for target in panel["targets"]:
        expression = target["expr"].replace("$__rate_interval", "1m").replace("$job", "literati")
        assert "$" not in expression
        found = prometheus.query(expression)
        assert found, expression
        assert any(sample["value"][1] != "NaN" for sample in found), expression


@needs_prometheus
def test_job_metrics_in_prometheus(prometheus: Prometheus) -> None:
    def value(expression: str) -> float:
        [sample] = prometheus.query(expression)
        return float(sample["value"][1])

    assert value('up{job="literati"}') == 1
    assert value("literati_workers") == value("literati_worker_slots") == 1
    assert value("literati_running_gap_gcount") == 1
    assert value('literati_running_gap_bucket{le="1.0"}') == 1
    assert value("literati_search_memory_bytes") > 0
    assert value("literati_saved_search_bytes") > 0
    assert value("literati_checkpoints_total") > 1
    assert value("literati_expansions_total") > 0
    assert value('literati_jobs_ended_total{stop_reason="PROVEN_OPTIMAL"}') >= 1


def test_the_dashboard_is_laid_out() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
