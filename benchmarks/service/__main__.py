"""Compare the service with MLServer: `python -m benchmarks.service --mlserver PYTHON [--seconds N]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.service import jobs, predict, results, servers, upload

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    start = time.monotonic()

    def note(text: str) -> None:
        print(f"[{time.monotonic() - start:5.0f} s] {text}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        predict.write_rows(folder / "predict.csv")
        jobs.write_rows(folder / "job.csv")
        with servers.ours(folder / "ours") as (server, client, start_worker):
            note("training a model")
            model = predict.train(client, folder / "predict.csv", start_worker)
            rows = folder / "predict.csv"
            measured = predict.compare(
                options.mlserver, server, model, rows, options.seconds, options.rounds, note
            )
            job = jobs.overhead(client, folder / "job.csv", start_worker, note)
    uploaded = upload.run(note)
    results.write(options.out, measured, job, uploaded)
    failed = False
    for what, goal, measurement, holds in results.verdicts(measured, job, uploaded):
        failed |= not holds
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {what}: {measurement} (goal: {goal})")
    return int(failed)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    # The path is not resolved, because the Python of a virtual environment is a symbolic link.
    parser.add_argument(
        "--mlserver",
        type=lambda text: Path(text).absolute(),
        required=True,
        help="Python of MLServer's environment",
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="duration of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds, of which the best counts")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
