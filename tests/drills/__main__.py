"""`make drills`: perform the faults that docs/operations.md describes on real processes, and check the page.

Disks are small tmpfs mounts in a mount namespace of this program, so they vanish with it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.drills import blobs, jobs, keys, restore, store
from tests.drills.lab import Lab
from tests.support.paths import ROOT

DRILLS = {
    "disk of the blobs": blobs.full_disk,
    "disk of the store": store.full_disk,
    "memory of the store": store.full_memory,
    "lost blobs": blobs.lost_folder,
    "wrong keys": keys.wrong_keys,
    "clock": store.clock_jump,
    "poison job": jobs.poison,
    "restore": restore.beside_running_workers,
}
BUCKET_DRILL = "bucket"
_INSIDE = "LITERATI_DRILLS_NAMESPACE"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make drills", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join([*DRILLS, BUCKET_DRILL])}")
    parser.add_argument("--record", action="store_true", help="only show what is seen; do not check the page")
    arguments = parser.parse_args()
    if _INSIDE not in os.environ:
        words = ["unshare", "--mount", *(["--user", "--map-root-user"] if os.geteuid() else [])]
        os.execvpe(
            words[0],
            [*words, sys.executable, "-m", "tests.drills", *sys.argv[1:]],
            {**os.environ, _INSIDE: "1"},
        )
    names = arguments.names or [*DRILLS, BUCKET_DRILL]
    results: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="drills-", dir="/tmp") as folder:
        chosen = [name for name in names if name in DRILLS]
        if chosen:
            with Lab(Path(folder), check=not arguments.record) as lab:
                for name in chosen:
                    results[name] = lab.drill(name, DRILLS[name])
        if BUCKET_DRILL in names:
            start = time.monotonic()
            seen = blobs.lost_bucket(Path(folder) / "bucket", check=not arguments.record)
            results[BUCKET_DRILL] = {"seconds": round(time.monotonic() - start, 1), "seen": seen}
    report = ROOT / "build" / "drills.json"
    report.parent.mkdir(exist_ok=True)
    report.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    print(f"{len(results)} drills passed; {report.relative_to(ROOT)} has what was seen.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
