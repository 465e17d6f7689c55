"""`make load`: submit jobs of many tenants to APIs and workers in containers, and kill some of these."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.compose.engine import Containers, say
from tests.compose.hosts import Hosts
from tests.load.faults import Faults
from tests.load.report import summarize, table
from tests.load.requests import Addresses, Measurements, TenantClient
from tests.load.tenants import Tenant, shares, submit_at_rate
from tests.support.paths import ROOT

RESULT = ROOT / "build" / "load.json"


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        hosts = Hosts(options.compose, options.engine, Path(folder))
        containers = hosts.containers
        containers.down("--volumes")  # what an interrupted test left behind
        try:
            containers.compose("build", "init", seconds=1800)
            hosts.up()
            figures = asyncio.run(_load(containers, options))
        except BaseException:
            containers.say_last_words()
            raise
        finally:
            containers.down("--volumes")
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(figures, indent=1) + "\n")
    print(table(figures))
    print(json.dumps({name: value for name, value in figures.items() if not name.endswith("ms")}, indent=1))
    return 1 if figures["lost"] or figures["made_twice"] or figures["problems"] else 0


async def _load(containers: Containers, options: argparse.Namespace) -> dict[str, Any]:
    measurements = Measurements()
    addresses = Addresses([containers.address(api) for api in containers.of("api")])
    tenants = _tenants(containers, addresses, measurements, options.tenants)
    for seed, tenant in enumerate(tenants):
        await tenant.upload(seed)
    say(f"{len(tenants)} tenants have their datasets")
    faults = Faults(containers, addresses, options.pause, options.seed)
    if options.pause:
        faults.start()
    try:
        problems = await submit_at_rate(tenants, options.rate, 60 * options.minutes, options.seed)
    finally:
        if options.pause:
            await asyncio.to_thread(faults.stop)
    for tenant in tenants:
        await tenant.list_jobs()
        await tenant.client.close()
    return {
        "rate": options.rate,
        "minutes": options.minutes,
        "tenants": options.tenants,
        **summarize(tenants, measurements, faults.kills, [*problems, *faults.problems]),
    }


def _tenants(
    containers: Containers, addresses: Addresses, measurements: Measurements, count: int
) -> list[Tenant]:
    api = containers.of("api")[0]
    made = []
    for number, share in enumerate(shares(count)):
        name = f"tenant-{number}"
        words = ("python", "-m", "service.keys", "add", name, "--tenant", name)
        key = containers.execute(api, *words).split()[-1]
        made.append(Tenant(name, TenantClient(addresses, key, measurements), share))
    return made


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("compose", help="the command of compose, such as 'docker compose'")
    parser.add_argument("engine", help="the command of the container engine, such as docker")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long jobs are submitted")
    parser.add_argument("--rate", type=float, default=500.0, help="jobs per minute")
    parser.add_argument("--tenants", type=int, default=20)
    parser.add_argument("--pause", type=float, default=45.0, help="seconds between two kills; 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
