"""Changes to regularization paths: envelopes of depth 2, and bounds at other penalties."""

from __future__ import annotations

from tests.mutants.engine import Changes

PATH = "tests/core/tuning/test_path.py::"
OPTIMUM = PATH + "test_equals_the_optimum_at_every_penalty[0]"
LARGER = PATH + "test_larger_problems"
DEEPER = PATH + "test_deeper_problems[0]"

MUTANTS: Changes = {
    "_envelope.pyx": [
        ("max(a - 1, 0) + max(b - 1, 0)", "max(a - 1, 0)", LARGER),
        ("splits = 1 + (a > 0) + (b > 0)", "splits = 1 + (a > 0)", LARGER),
        (
            "(before.error - point.error) * (complexity(data, after) - c)",
            "0 * (before.error - point.error) * (complexity(data, after) - c)",
            LARGER,
        ),
        (
            "if point_cost(data, &envelope.points[i]) < point_cost(data, best):",
            "if envelope.points[i].error < best.error:",
            LARGER,
        ),
        (
            "seen += n\n    sweep.by_size",
            "pass\n    sweep.by_size",
            PATH + "test_more_shape_functions_than_one_sweep_takes",
        ),
    ],
    "_cache.pyx": [
        (
            "return free + divide_up(rise * new.split, old.split) if rise > 0 else free",
            "return divide_up(<int128_t>entry.lower * new.weight, old.weight)",
            DEEPER,
        ),
        (
            "return <cost_t>((numerator + divisor - 1) // divisor)",
            "return <cost_t>(numerator // divisor + 1)",
            DEEPER,
        ),
        ("        entry.exact = False\n        if old.split == 0:", "        if old.split == 0:", DEEPER),
    ],
    "_depth2_sweep.pyx": [
        (
            "sweep.totals[child] - sweep.errors[child * (<int64_t>data.max_k + 1) + 2]",
            "sweep.totals[child]",
            LARGER,
        ),
        ("errors[k + 1] = min(errors[k], total - right)", "errors[k + 1] = total - right + 1", LARGER),
    ],
    "_ao.pyx": [
        (
            "if ao.in_warm_up:\n        cache_clear",
            "if False:\n        cache_clear",
            PATH + "test_the_warm_up_proves_nothing_at_another_penalty",
        ),
        (
            "ao.saved_upper, ao.saved_lower = tree, n, upper, 0",
            "ao.saved_upper, ao.saved_lower = tree, n, upper, upper",
            LARGER,
        ),
    ],
}
