"""Claims about wide and tall data: one dimension is doubled at a time, and large tables get a first tree."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.claims import Claim, Verdict
from benchmarks.criteria.scope import Scope
from benchmarks.report import MIB
from benchmarks.runs import RunResult, RunSpec

DIMENSIONS = ("rows", "columns", "classes")
MODES = ("adaptive", "shape", "quantile", "all")
DEPTH = 4
CHANGEPOINTS = 3
TIME_RATIO = 3.0  # of the CPU seconds when a dimension is doubled: n log n, and the caches of the processor
MEMORY_RATIO = 2.4
BYTES_A_CELL = 64  # above the table itself, at most, where a table has many cells
CLASS_BYTES = 64 * MIB  # allowed on top: buffers that depend on classes and depth, and the cache
GRACE = 240.0


def growth(scope: Scope) -> list[Claim]:
    """Return a claim for each mode and dimension, and one for each of the largest sizes."""
    doubled = [_doubled(scope, mode, place) for mode in MODES for place in range(len(DIMENSIONS))]
    return [*doubled, *(_largest(scope, size) for size in scope.largest)]


def _spec(scope: Scope, size: Sequence[int], mode: str, changepoints: int) -> RunSpec:
    options = {"max_changepoints": changepoints, "candidates": mode}
    name = "made:" + "x".join(map(str, size))
    return RunSpec("literati-first", name, DEPTH, scope.limit, options, grace=GRACE)


def _grown(run: RunResult) -> float:
    return float((run.peak_memory or 0) - (run.memory_before or 0))


def _doubled(scope: Scope, mode: str, place: int) -> Claim:
    size = scope.doubled
    larger = tuple(n * (2 if i == place else 1) for i, n in enumerate(size))

    def judge(runs: Sequence[RunResult]) -> Verdict:
        twice, once = runs
        seconds = (twice.cpu_seconds or 0.0) / (once.cpu_seconds or 1.0)
        memory = _grown(twice) / max(_grown(once), float(MIB))
        text = f"seconds times {seconds:.2f}, memory times {memory:.2f}"
        return text, seconds <= TIME_RATIO and memory <= MEMORY_RATIO

    return Claim(
        "8",
        " x ".join(map(str, size)),
        f"K={CHANGEPOINTS}, D={DEPTH}, {mode}, first incumbent, {DIMENSIONS[place]} doubled",
        "–",
        f"CPU seconds grow at most {TIME_RATIO:g} times, memory {MEMORY_RATIO:g} times",
        (_spec(scope, larger, mode, CHANGEPOINTS), _spec(scope, size, mode, CHANGEPOINTS)),
        judge,
    )


def _largest(scope: Scope, size: tuple[int, int, int]) -> Claim:
    rows, columns, _ = size
    cells = rows * columns

    def judge(runs: Sequence[RunResult]) -> Verdict:
        (run,) = runs
        details = run.details
        text = (
            f"encoding {details['encode_seconds']:.3g} s, first tree "
            f"{details['first_incumbent_seconds']:.3g} s, {_grown(run) / cells:.0f} bytes a cell"
        )
        return text, _grown(run) <= BYTES_A_CELL * cells + CLASS_BYTES

    return Claim(
        "8",
        " x ".join(f"{n:,}" for n in size),
        f"K=1, D={DEPTH}, adaptive, first incumbent",
        "–",
        f"at most {BYTES_A_CELL} bytes a cell and {CLASS_BYTES // MIB} MiB",
        (_spec(scope, size, "adaptive", 1),),
        judge,
    )
