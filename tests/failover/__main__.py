"""`make failover`: kill the primary of a replicated store under load, and count lost acknowledged writes."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.failover.campaign import run
from tests.support.paths import ROOT
from worker.processes.valkey import find_binary, inspect_binary

RESULTS = {False: ROOT / "build" / "failover.json", True: ROOT / "build" / "failover-alive.json"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="kills for each number of replicas")
    parser.add_argument("--wait", type=int, nargs="*", default=[0, 1, 2], help="LITERATI_REDIS_WAIT_REPLICAS")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of the kills")
    parser.add_argument("--binary", help="the server (default: redis-server of the system, or else Valkey)")
    parser.add_argument(
        "--alive", action="store_true", help="let the sentinels replace the primary while it lives"
    )
    parser.add_argument("--tls", action="store_true", help="encrypt all connections (Debian: openssl)")
    parser.add_argument("--result", type=Path, help="default: build/failover.json, or failover-alive.json")
    options = parser.parse_args()
    binary = options.binary or shutil.which("redis-server") or find_binary(Path("none")).path
    server = inspect_binary(binary)
    if server is None:
        sys.exit(f"{binary} is no Redis or Valkey server.")
    figures: dict[str, Any] = {"server": server.text, "replicas": 2, "sentinels": 3}
    figures |= {"alive": options.alive, "tls": options.tls, "results": {}}
    written: Path = options.result or RESULTS[options.alive]
    written.parent.mkdir(exist_ok=True)
    for wait_replicas in options.wait:
        with tempfile.TemporaryDirectory(prefix="literati-failover-") as folder:
            store = Path(folder) / "store"
            for result in run(
                store,
                wait_replicas,
                options.kills,
                options.seed,
                binary,
                alive=options.alive,
                tls=options.tls,
            ):
                figures["results"][str(wait_replicas)] = result.summary()
                written.write_text(json.dumps(figures, indent=1) + "\n")
        print(json.dumps(figures["results"][str(wait_replicas)], indent=1), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
