"""Claims about the first seconds, the memory limit and many rows."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.claims import Claim, Verdict
from benchmarks.criteria.scope import Scope, below, each
from benchmarks.report import MIB
from benchmarks.runs import RunResult, RunSpec

FIRST_INCUMBENT_SECONDS = 0.5
MEMORY_SLACK = 64 * MIB
GROWTH_SLACK = 1.5  # allowed growth of time and memory, relative to the growth of the rows


def anytime(scope: Scope) -> list[Claim]:
    """Return the claims about the first tree and the tree after some seconds."""
    depth, options = 6, {"max_changepoints": 3}

    def judge_first(runs: Sequence[RunResult]) -> Verdict:
        mine, cart = runs
        seconds, upper = mine.details["first_incumbent_seconds"], mine.details["upper_bound"]
        assert cart.objective is not None
        text = f"{seconds:.3f} s after encoding; errors {upper:g}, CART {cart.objective}"
        return text, seconds <= FIRST_INCUMBENT_SECONDS and upper <= cart.objective

    def judge_later(runs: Sequence[RunResult]) -> Verdict:
        mine, *peers = runs
        return f"errors {mine.objective}; {each(peers)}", below(mine, peers)

    peers = ("shapecart", "shapecart+tao", "streed", "contree")
    return [
        Claim(
            "4",
            "magic",
            f"K=3, D={depth}, first incumbent",
            "CART",
            f"within {FIRST_INCUMBENT_SECONDS} s after encoding, errors not above",
            (
                RunSpec("literati-first", "magic", depth, scope.limit, options),
                RunSpec("cart", "magic", depth, scope.limit),
            ),
            judge_first,
        ),
        Claim(
            "4",
            "magic",
            f"K=3, D={depth}, after {scope.anytime_seconds:g} s",
            f"ShapeCART, STreeD, ConTree given {scope.limit:g} s",
            "errors below each",
            (
                RunSpec("literati", "magic", depth, scope.anytime_seconds, options),
                *(RunSpec(peer, "magic", depth, scope.limit) for peer in peers),
            ),
            judge_later,
        ),
    ]


def memory(scope: Scope) -> list[Claim]:
    """Return the claim about the memory limit."""

    def judge(runs: Sequence[RunResult]) -> Verdict:
        mine = runs[0]
        if mine.memory_before is None or mine.peak_memory is None:
            return "memory cannot be measured on this system", False
        allowed = mine.memory_before + scope.memory_limit + MEMORY_SLACK
        used, details = mine.peak_memory - mine.memory_before, mine.details
        bounds = f"bounds {details['lower_bound']:g} to {details['upper_bound']:g}, {details['stop_reason']}"
        text = f"grew by {used / MIB:.0f} MiB; errors {mine.objective}, {bounds}"
        return text, mine.peak_memory <= allowed and details["lower_bound"] <= details["upper_bound"]

    options = {"max_changepoints": 3, "memory_limit": scope.memory_limit}
    return [
        Claim(
            "5",
            "magic",
            f"K=3, D=8, {scope.memory_seconds:g} s, memory_limit={scope.memory_limit // MIB} MiB",
            "–",
            f"peak below memory before + limit + {MEMORY_SLACK // MIB} MiB; incumbent and bounds returned",
            (RunSpec("literati", "magic", 8, scope.memory_seconds, options, grace=60.0),),
            judge,
        )
    ]


def scale(scope: Scope) -> list[Claim]:
    """Return the claims about many rows."""
    depth, options, grace = 4, {"max_changepoints": 2}, 240.0
    sizes = scope.rows
    largest = f"made:{sizes[-1]}"

    def judge_growth(runs: Sequence[RunResult]) -> Verdict:
        seconds = [
            run.cpu_seconds or 0.0 for run in runs
        ]  # CPU time does not depend on the load of the machine
        grown = [((run.peak_memory or 0) - (run.memory_before or 0)) / MIB for run in runs]
        steps = list(zip(sizes, sizes[1:], seconds, seconds[1:], grown, grown[1:], strict=False))
        time_ok = all(t1 <= GROWTH_SLACK * n1 / n0 * t0 for n0, n1, t0, t1, _, _ in steps)
        # Growth below one MiB is not significant.
        memory_ok = all(m1 <= GROWTH_SLACK * n1 / n0 * max(m0, 1.0) for n0, n1, _, _, m0, m1 in steps)
        text = "; ".join(
            f"{rows:.0e} rows {t:.3g} s, {m:.0f} MiB"
            for rows, t, m in zip(sizes, seconds, grown, strict=True)
        )
        return text, time_ok and memory_ok

    def judge_cart(runs: Sequence[RunResult]) -> Verdict:
        mine, cart = runs
        assert mine.seconds is not None
        text = f"errors {mine.objective} in {mine.seconds:.3g} s, CART {cart.objective}"
        return text, mine.seconds <= 60 and below(mine, [cart])

    return [
        Claim(
            "6",
            "made, 20 columns",
            f"K=2, D={depth}, first incumbent",
            "–",
            f"time and memory grow at most {GROWTH_SLACK:g} times the rows' growth",
            tuple(
                RunSpec("literati-first", f"made:{rows}", depth, scope.limit, options, grace=grace)
                for rows in sizes
            ),
            judge_growth,
        ),
        Claim(
            "6",
            largest,
            f"K=2, D={depth}, one minute",
            "CART",
            "errors below, within 60 s",
            (
                # Encoding and the last polish need a part of the time.
                RunSpec("literati", largest, depth, scope.limit * 0.75, options, grace=grace),
                RunSpec("cart", largest, depth, scope.limit, grace=grace),
            ),
            judge_cart,
        ),
    ]
