"""Changes to the store's scripts."""

from __future__ import annotations

from .engine import Changes

WORKER = "tests/worker/"

MUTANTS: Changes = {
    "beat.lua": [
        (
            "lease(job, lease_ms)\n",
            "",
            WORKER + "test_store_claims.py::test_beats_keep_the_lease",
        ),
    ],
    "checkpoint.lua": [
        (
            "job.wish == '' and 'RUNNING' or 'STOPPING'",
            "'RUNNING'",
            WORKER + "test_store_control.py::test_a_pending_finish_without_a_tree_goes_to_the_next_worker",
        ),
    ],
    "merge.lua": [
        (
            "upper = greater(lesser(old_upper, upper), old_lower)",
            "upper = upper",
            WORKER + "test_store_bounds.py::test_worse_bounds_change_nothing",
        ),
        (
            "lesser(greater(old_lower, lower), upper)",
            "lesser(lower, upper)",
            WORKER + "test_store_bounds.py::test_worse_bounds_change_nothing",
        ),
        (
            "tonumber(objective) >= tonumber(job.objective)",
            "tonumber(objective) > tonumber(job.objective)",
            WORKER + "test_store_bounds.py::test_incumbents_are_numbered_and_frozen",
        ),
        (
            "greater(given.upper, job.objective), given.lower",
            "given.upper, given.lower",
            WORKER + "test_store_bounds.py::test_each_bound_moves_on_its_own",
        ),
        (
            "lower = lesser(lower, upper)",
            "lower = lower",
            WORKER + "test_store_bounds.py::test_whatever_is_said_nothing_gets_worse",
        ),
        (
            "if more > 0 then",
            "if true then",
            WORKER + "test_store_bounds.py::test_worse_bounds_change_nothing",
        ),
        (
            "greater(job.elapsed, given.elapsed)",
            "given.elapsed",
            WORKER + "test_store_bounds.py::test_worse_bounds_change_nothing",
        ),
        (
            "tonumber(point[1]) >= tonumber(seconds) and",
            "",
            WORKER + "test_store_bounds.py::test_whatever_is_said_nothing_gets_worse",
        ),
    ],
    "finish.lua": [
        (
            "if job and job.ended_epoch == epoch then",
            "if false then",
            WORKER + "test_store_claims.py::test_finishing_twice_is_harmless",
        ),
        (
            "if job.wish == 'cancel' then",
            "if false then",
            WORKER + "test_store_control.py::test_a_pending_cancel_wins[outcome0]",
        ),
        (
            "tree == '' and not has_tree(job)",
            "false",
            WORKER + "test_store_claims.py::test_success_needs_a_tree",
        ),
    ],
    "control.lua": [
        (
            "if job.state == 'CANCELLED' or job.wish == 'cancel' then",
            "if job.state == 'CANCELLED' then",
            WORKER + "test_store_control.py::test_every_verb_in_every_state[3-starting-cancel]",
        ),
    ],
    "forget.lua": [
        (
            "call('HINCRBY', 'literati:states', job.state, -1)",
            "",
            WORKER + "test_store_retention.py::test_ended_jobs_go_and_their_models_stay",
        ),
        (
            "return call('SCARD', 'literati:dataset-live:' .. id) > 0",
            "return false",
            WORKER + "test_store_retention.py::test_a_paused_job_keeps_its_search",
        ),
    ],
    "release.lua": [
        (
            "tonumber(job.stalls) - 1",
            "tonumber(job.stalls)",
            WORKER + "test_store_claims.py::test_soft_shutdowns_and_pauses_are_not_failures",
        ),
    ],
    "set_alias.lua": [
        (
            "~= tenant then",
            "== nil then",
            WORKER + "test_store_models.py::test_other_tenants_see_nothing",
        ),
    ],
    "prelude.lua": [
        (
            "call('HINCRBY', REFERENCES, name, -1) > 0",
            "call('HINCRBY', REFERENCES, name, -1) > 1",
            WORKER + "test_store_datasets.py::test_a_shared_blob_is_garbage_when_the_last_one_goes",
        ),
        (
            "call('SREM', 'literati:dataset-live:' .. job.dataset, job.id)",
            "",
            WORKER + "test_store_retention.py::test_nothing_is_left_of_a_job",
        ),
    ],
}

EXPLAINED: Changes = {
    "merge.lua": [
        (
            "given.blob ~= '' and given.blob ~= job.blob",
            "given.blob ~= ''",
            "the same blob is held once more before it is dropped once, which changes nothing",
        ),
    ],
}
