"""Compare predictions of one row with the Open Inference Protocol and with our own predict call.

    python -m benchmarks.service.protocols [--seconds N] [--rounds N]

Both are measured on one server in turn, in every round. The result is the median of the ratios of the rounds,
so that other load on the machine changes it little. It is written to `results/protocols.md`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import machine, markdown_table
from benchmarks.service import predict, servers
from benchmarks.service.predict import DEPTH, FEATURES, NAMES, Case, Measured

GOAL = 0.9
OWN, OTHER = "predict", "infer"
SPEED, EFFICIENCY = "requests_per_second", "requests_per_cpu_second"  # of Measured
RESULTS = Path(__file__).resolve().parents[1] / "results"
PAGE = """\
# One row with the Open Inference Protocol

{processor}, {cores} cores, Python {python}; {rounds} rounds of `python -m benchmarks.service.protocols`.

{table}
The server predicts one row with a tree of depth {depth} over {features} numbers. It has one core together
with its Valkey, and the load generator has another. All cases are measured in turn in every round. A ratio is
the median of the ratios to the best form of our own call, `POST /v1/models/{{model}}/predict`, in the same
round. Ratios by CPU time are requests per second of the server's CPU time; if other programs use the cores,
they are more reliable. Here the server got {share:.0f} % of its core with {most} connections.

{verdict}
"""


class Form(NamedTuple):
    """A form of a request."""

    call: str
    name: str

    def __str__(self) -> str:
        return f"{self.call}, {self.name}"


Round = dict[tuple[Form, int], Measured]  # by form and number of connections


def bodies() -> dict[Form, bytes]:
    """Return a request in each form."""
    row = predict.sample(1, seed=1)[0].tolist()
    columns = [
        {"name": name, "shape": [1], "datatype": "FP64", "data": [cell]}
        for name, cell in zip(NAMES, row, strict=True)
    ]
    return {
        **{Form(OWN, name): body for name, body in predict.our_bodies(1).items()},
        **{Form(OTHER, f"matrix, {name}"): body for name, body in predict.v2_bodies(1).items()},
        Form(OTHER, "a tensor for each column"): json.dumps({"inputs": columns}).encode(),
    }


def rounds_of(seconds: float, rounds: int) -> list[Round]:
    """Measure every form with every number of connections in every round."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        predict.write_rows(folder / "predict.csv")
        with servers.ours(folder / "ours") as (server, client, start_worker):
            model = predict.train(client, folder / "predict.csv", start_worker)
            paths = {OWN: f"/v1/models/{model}/predict", OTHER: f"/v2/models/{model}/infer"}
            found = []
            for turn in range(rounds):
                found.append(
                    {
                        (form, connections): predict.measure(
                            Case(str(form), server, paths[form.call], body, 1, connections), seconds
                        )
                        for form, body in bodies().items()
                        for connections in predict.CONNECTIONS
                    }
                )
                print(f"round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
    return found


def median(rounds: list[Round], form: Form, connections: int, what: str) -> float:
    return statistics.median(float(getattr(measured[form, connections], what)) for measured in rounds)


def ratio(rounds: list[Round], form: Form, connections: int, what: str) -> float:
    """Return the median of the ratios to the form of our own call that has the best median."""
    own = [other for other in bodies() if other.call == OWN]
    best = max(own, key=lambda other: median(rounds, other, connections, what))
    return statistics.median(
        float(getattr(measured[form, connections], what) / getattr(measured[best, connections], what))
        for measured in rounds
    )


def page(rounds: list[Round]) -> tuple[str, bool]:
    """Return the page, and whether every form reaches the goal with every number of connections."""
    lines = [
        (
            str(form),
            str(connections),
            f"{median(rounds, form, connections, SPEED):.0f}",
            f"{median(rounds, form, connections, 'p50_ms'):.2f}",
            f"{ratio(rounds, form, connections, SPEED):.2f}",
            f"{ratio(rounds, form, connections, EFFICIENCY):.2f}",
        )
        for connections in predict.CONNECTIONS
        for form in bodies()
    ]
    verdicts, reached = [], True
    for connections in predict.CONNECTIONS:
        speed, efficiency = (
            min(ratio(rounds, form, connections, what) for form in bodies() if form.call == OTHER)
            for what in (SPEED, EFFICIENCY)
        )
        reached &= efficiency >= GOAL
        verdicts.append(f"{speed:.2f} with {connections} connections ({efficiency:.2f} by CPU time)")
    outcome = "reached" if reached else "missed"
    most = max(predict.CONNECTIONS)
    text = PAGE.format(
        **machine(),
        rounds=len(rounds),
        table=markdown_table(("form", "connections", "requests/s", "p50 ms", "ratio", "by CPU time"), lines),
        depth=DEPTH,
        features=FEATURES,
        most=most,
        share=100 * max(median(rounds, form, most, "server_cpu") for form in bodies()),
        verdict=f"Worst form of `infer`: {', '.join(verdicts)}. The goal of {GOAL} by CPU time is {outcome}.",
    )
    return text, reached


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service.protocols", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="duration of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the result")
    options = parser.parse_args()
    text, reached = page(rounds_of(options.seconds, options.rounds))
    (options.out / "protocols.md").write_text(text)
    print(text)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
