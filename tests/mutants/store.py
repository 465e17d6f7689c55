"""Changes to the store's scripts."""

from __future__ import annotations

from .engine import Changes

WORKER = "tests/worker/"

MUTANTS: Changes = {
    "turns.lua": [
        (
            "(running[group] or 0) < share and order or satisfied",
            "order",
            WORKER + "test_store_turns.py::test_long_jobs_do_not_take_every_core",
        ),
        (
            "local next_turn = turn + cores_of(job) * DEFAULT_WEIGHT / weight_of(group)",
            "local next_turn = turn",
            WORKER + "test_store_turns.py::test_tenants_take_turns",
        ),
        (
            "* DEFAULT_WEIGHT / weight_of(group)",
            "",
            WORKER + "test_store_turns.py::test_weights",
        ),
        (
            "job.kept_by ~= '' and job.kept_by ~= worker and call('GET', kept_key(job.kept_by)) == job.id",
            "false",
            WORKER + "test_store_turns.py::test_the_others_start_narrow_jobs_while_one_worker_keeps_cores",
        ),
        (
            "call('GET', kept_key(job.kept_by)) == job.id",
            "true",
            WORKER + "test_store_turns.py::test_another_worker_keeps_cores_when_the_one_that_did_is_gone",
        ),
        (
            "if not (job and job.state == 'QUEUED') then",
            "if not job then",
            WORKER + "test_store_faults.py::test_a_damaged_job_does_not_block_the_queue[expansions]",
        ),
    ],
    "reconcile.lua": [
        (
            "try_to_settle(call('ZDIFF', 3, ACTIVE, WAITING, LEASES), 'neither queued nor leased')",
            "",
            WORKER
            + "test_store_faults.py::test_a_job_that_a_failed_script_left_without_a_lease_is_queued_again",
        ),
        (
            "pcall(settle_one, id, what, model_id)",
            "true, settle_one(id, what, model_id)",
            WORKER
            + "test_store_faults.py::test_one_job_that_cannot_be_settled_does_not_keep_back_the_others",
        ),
        (
            "if not active_is_complete() then\n    try_to_settle",
            "if true then\n    try_to_settle",
            WORKER + "test_store_faults.py::test_jobs_that_are_where_they_should_be_cost_nothing",
        ),
    ],
    "change_job.lua": [
        (
            "requeue(job)",
            "local none",
            WORKER + "test_store_changes.py::test_a_new_priority_moves_a_queued_job",
        ),
        (
            "limits_changed == '1' and TERMINAL[job.state]",
            "false",
            WORKER + "test_store_changes.py::test_the_limits_of_an_ended_job_are_past_changing",
        ),
        (
            "present ~= expected",
            "false",
            WORKER + "test_store_changes.py::test_two_clients_at_once_lose_nothing",
        ),
    ],
    "restore.lua": [
        (
            "KINDS[kind].list(id, tenant, key)",
            "",
            WORKER + "test_store_restore.py::test_a_job_comes_back_as_it_was",
        ),
        (
            "most ~= '' and count >= tonumber(most)",
            "false",
            WORKER + "test_store_restore.py::test_there_must_be_room_to_restore",
        ),
    ],
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
        (
            "settle(job, 'WORKER_LOST', model_id)",
            "local none",
            WORKER
            + "test_store_control.py::test_a_pause_whose_worker_is_gone_is_done_before_the_job_is_resumed",
        ),
        (
            "settle(job, 'WORKER_LOST', model_id)",
            "detach(job)",
            WORKER
            + "test_store_control.py::test_a_finish_whose_worker_is_gone_is_done_before_the_job_is_cancelled",
        ),
    ],
    "forget.lua": [
        (
            "call('HINCRBY', 'literati:states', state, -1)",
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
            "if wrong then",
            "if false then",
            WORKER + "test_store_faults.py::test_a_damaged_job_is_failed_when_its_worker_speaks[trace]",
        ),
        (
            "model_id = job.model_id ~= '' and job.model_id or model_id",
            "model_id = model_id",
            WORKER
            + "test_store_faults.py::test_a_job_that_a_failed_script_left_without_a_lease_is_queued_again",
        ),
        (
            "stop_reason, proven = 'PROVEN_OPTIMAL', '1'",
            "proven = '1'",
            WORKER + "test_store_control.py::test_a_worker_that_ends_a_job_with_equal_bounds_has_proven_it",
        ),
        (
            "stop_reason = 'USER_FINISH'",
            "",
            WORKER + "test_store_revisions.py::test_a_running_job_is_finished_with_an_earlier_tree",
        ),
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
