"""Changes to the scores of trees, and to what records of jobs and models show."""

from __future__ import annotations

from tests.mutants.engine import Changes

METRICS = "tests/worker/training/test_metrics.py::"
STORE = "tests/worker/store/"

MUTANTS: Changes = {
    "training/ranking.py": [
        ("self.positives / 2", "self.positives", METRICS + "test_every_operating_point_is_on_the_curve[2]"),
        (
            "np.flatnonzero(positives + negatives)[::-1]",
            "np.arange(len(distinct))[::-1]",
            METRICS + "test_rows_of_one_class_have_points_but_no_area[0]",
        ),
        (
            "np.concatenate(([0], ends[:-1] + 1))",
            "ends",
            METRICS + "test_every_operating_point_is_on_the_curve[4000]",
        ),
        (
            "np.append(np.searchsorted(place, wanted), n - 1)",
            "np.searchsorted(place, wanted)",
            METRICS + "test_every_operating_point_is_on_the_curve[4000]",
        ),
        (
            "if not (all_positives > 0 and all_negatives > 0):",
            "if not all_positives > 0:",
            METRICS + "test_rows_of_one_class_have_points_but_no_area[1]",
        ),
    ],
    "store/codecs.py": [
        (
            "json.loads(tags) if tags else settings.tags",
            "json.loads(tags) if tags else {}",
            STORE + "test_models.py::test_tags_are_those_of_the_job_until_they_change",
        ),
        (
            ', "notes": True}',
            "}",
            STORE + "test_changes.py::test_notes_and_a_name_at_once_lose_nothing",
        ),
        (
            'settings.model_copy(update={"priority": int(record[b"priority"])})',
            "settings",
            STORE + "test_sweep_changes.py::test_a_priority_applies_to_the_jobs_that_wait[5-sweep]",
        ),
    ],
}
