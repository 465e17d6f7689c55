"""Changes to the store's scripts."""

from __future__ import annotations

from tests.mutants.engine import Changes

WORKER = "tests/worker/"

MUTANTS: Changes = {
    "shared/queue.lua": [
        (
            "tonumber(job.threads) or tonumber(job.cores) or 1",
            "tonumber(job.cores) or 1",
            WORKER + "store/test_fair_queue.py::test_all_cores_of_whichever_worker_takes_the_job",
        ),
    ],
    "shared/fair_queue.lua": [
        (
            "math.min(wanted, math.max(all, largest_worker()))",
            "wanted",
            WORKER + "store/test_fair_queue.py::test_no_job_waits_for_more_cores_than_the_largest_worker_has",
        ),
        (
            " and cores_needed(job, all) <= all then",
            " then",
            WORKER + "store/test_fair_queue.py::test_cores_are_not_reserved_for_a_job_of_a_larger_worker",
        ),
        (
            "(running[tenant] or 0) < share and order or satisfied",
            "order",
            WORKER + "store/test_fair_queue.py::test_long_jobs_do_not_take_every_core",
        ),
        (
            "local next_start_time = start_time + cores_of(job) * DEFAULT_WEIGHT / weight",
            "local next_start_time = start_time",
            WORKER + "store/test_fair_queue.py::test_tenants_take_turns",
        ),
        (
            "* DEFAULT_WEIGHT / weight",
            "",
            WORKER + "store/test_fair_queue.py::test_weights",
        ),
        (
            "job.kept_by ~= '' and job.kept_by ~= worker and "
            "call('GET', reservation_key(job.kept_by)) == job.id",
            "false",
            WORKER
            + "store/test_fair_queue.py::test_the_others_start_narrow_jobs_while_one_worker_keeps_cores",
        ),
        (
            "call('GET', reservation_key(job.kept_by)) == job.id",
            "true",
            WORKER
            + "store/test_fair_queue.py::test_another_worker_keeps_cores_when_the_one_that_did_is_gone",
        ),
        (
            "if not (job and job.state == 'QUEUED') then",
            "if not job then",
            WORKER + "store/test_faults.py::test_a_damaged_job_does_not_block_the_queue[expansions]",
        ),
    ],
    "reconcile.lua": [
        (
            "try_to_handle(call('ZDIFF', 3, ACTIVE, WAITING, LEASES), 'a job was neither queued nor leased')",
            "",
            WORKER
            + "store/test_faults.py::test_a_job_that_a_failed_script_left_without_a_lease_is_queued_again",
        ),
        (
            "pcall(handle, id, what, model_id)",
            "true, handle(id, what, model_id)",
            WORKER
            + "store/test_faults.py::test_one_job_that_cannot_be_settled_does_not_keep_back_the_others",
        ),
        (
            "if not active_is_complete() then\n    try_to_handle",
            "if true then\n    try_to_handle",
            WORKER + "store/test_faults.py::test_jobs_that_are_where_they_should_be_cost_nothing",
        ),
    ],
    "change_job.lua": [
        (
            "place_in_queue(job)",
            "local none",
            WORKER + "store/test_changes.py::test_a_new_priority_moves_a_queued_job",
        ),
        (
            "limits_changed == '1' and TERMINAL[job.state]",
            "false",
            WORKER + "store/test_changes.py::test_the_limits_of_an_ended_job_are_past_changing",
        ),
        (
            "present ~= expected",
            "false",
            WORKER + "store/test_changes.py::test_two_clients_at_once_lose_nothing",
        ),
        (
            "present_notes ~= expected_notes",
            "false",
            WORKER + "store/test_changes.py::test_notes_and_a_name_at_once_lose_nothing",
        ),
    ],
    "change_sweep.lua": [
        (
            "place_in_queue(job)",
            "local none",
            WORKER + "store/test_sweep_changes.py::test_a_priority_applies_to_the_jobs_that_wait[5-sweep]",
        ),
        (
            "put(job, 'priority', priority)",
            "local none",
            WORKER + "store/test_sweep_changes.py::test_a_priority_applies_to_paused_jobs",
        ),
        (
            "put(sweep, 'priority', priority)",
            "local none",
            WORKER + "store/test_sweep_changes.py::test_a_priority_applies_to_the_jobs_that_wait[5-sweep]",
        ),
        (
            "present ~= expected",
            "false",
            WORKER + "store/test_sweep_changes.py::test_two_clients_at_once_lose_nothing",
        ),
        (
            "revision ~= '' and call('HGET', sweep.key, 'revision') ~= revision",
            "false",
            WORKER + "store/test_sweep_changes.py::test_a_change_may_depend_on_the_revision",
        ),
    ],
    "change_model.lua": [
        (
            "present ~= expected and present ~= ARGV[i + 1]",
            "false",
            WORKER + "store/test_models.py::test_two_who_change_the_tags_at_once_lose_nothing[None]",
        ),
        (
            "if found[1] ~= tenant then",
            "if not found[1] then",
            WORKER + "store/test_models.py::test_another_tenants_model_cannot_be_changed",
        ),
    ],
    "make_model.lua": [
        (
            "if known then",
            "if false then",
            WORKER + "store/test_tree_models.py::test_a_model_of_any_tree_in_any_state[None]",
        ),
        (
            "known == model_id and 'MADE' or 'KNOWN'",
            "'KNOWN'",
            WORKER + "store/test_tree_models.py::test_a_lost_answer_is_no_second_model",
        ),
        (
            "has_max_models(tenant, max_models)",
            "false",
            WORKER + "store/test_tree_models.py::test_the_number_of_models_is_limited",
        ),
        (
            "add_model(job,",
            "make_model(job,",
            WORKER + "store/test_tree_models.py::test_a_model_of_any_tree_in_any_state[None]",
        ),
    ],
    "restore.lua": [
        (
            "KINDS[kind].list(id, tenant, key)",
            "",
            WORKER + "store/test_restore.py::test_a_job_comes_back_as_it_was",
        ),
        (
            "max_records ~= '' and records >= tonumber(max_records)",
            "false",
            WORKER + "store/test_restore.py::test_there_must_be_room_to_restore",
        ),
    ],
    "renew_lease.lua": [
        (
            "lease(job, lease_ms)\n",
            "",
            WORKER + "store/test_leases.py::test_beats_keep_the_lease",
        ),
    ],
    "publish_progress.lua": [
        (
            "job.wish == '' and 'RUNNING' or 'STOPPING'",
            "'RUNNING'",
            WORKER + "store/test_control.py::test_a_pending_finish_without_a_tree_goes_to_the_next_worker",
        ),
    ],
    "shared/progress.lua": [
        (
            "upper = greater(lesser(old_upper, upper), old_lower)",
            "upper = upper",
            WORKER + "store/test_bounds.py::test_worse_bounds_change_nothing",
        ),
        (
            "lesser(greater(old_lower, lower), upper)",
            "lesser(lower, upper)",
            WORKER + "store/test_bounds.py::test_worse_bounds_change_nothing",
        ),
        (
            "tonumber(objective) >= tonumber(job.objective)",
            "tonumber(objective) > tonumber(job.objective)",
            WORKER + "store/test_bounds.py::test_incumbents_are_numbered_and_frozen",
        ),
        (
            "greater(update.upper, job.objective), lower",
            "update.upper, lower",
            WORKER + "store/test_bounds.py::test_each_bound_moves_on_its_own",
        ),
        (
            "lesser(new.lower, new.upper)",
            "new.lower",
            WORKER + "store/test_bounds.py::test_whatever_is_said_nothing_gets_worse",
        ),
        (
            "tonumber(new.stage) < stage and known.upper ~= ''",
            "false",
            WORKER + "store/test_stages.py::test_an_earlier_stage_changes_no_bounds_but_may_bring_a_tree",
        ),
        (
            "known.upper == '' or tonumber(new.stage) > stage",
            "known.upper == ''",
            WORKER + "store/test_stages.py::test_a_later_stage_replaces_the_bounds",
        ),
        (
            "elseif tonumber(new.explored) < 1 then",
            "else",
            WORKER + "store/test_stages.py::test_it_is_1_exactly_if_the_bounds_are_equal",
        ),
        (
            "explored = greater(explored, new.explored)",
            "explored = new.explored",
            WORKER + "store/test_stages.py::test_the_explored_share_never_falls_within_a_stage",
        ),
        (
            "or more >= EXPLORED_STEP",
            "or more > 0",
            WORKER + "store/test_stages.py::test_an_event_for_each_hundredth_that_is_explored",
        ),
        (
            "if more > 0 then",
            "if true then",
            WORKER + "store/test_bounds.py::test_worse_bounds_change_nothing",
        ),
        (
            "greater(job.elapsed, update.elapsed)",
            "update.elapsed",
            WORKER + "store/test_bounds.py::test_worse_bounds_change_nothing",
        ),
        (
            "tonumber(point[1]) >= tonumber(seconds) and",
            "",
            WORKER + "store/test_bounds.py::test_whatever_is_said_nothing_gets_worse",
        ),
    ],
    "finish.lua": [
        (
            "if job and job.ended_epoch == epoch then",
            "if false then",
            WORKER + "store/test_leases.py::test_finishing_twice_is_harmless",
        ),
        (
            "if job.wish == 'cancel' then",
            "if false then",
            WORKER + "store/test_control.py::test_a_pending_cancel_wins[outcome0]",
        ),
        (
            "tree == '' and result == '' and not has_tree(job)",
            "false",
            WORKER + "store/test_leases.py::test_success_needs_a_tree",
        ),
    ],
    "control.lua": [
        (
            "if job.state == 'CANCELLED' or job.wish == 'cancel' then",
            "if job.state == 'CANCELLED' then",
            WORKER + "store/test_control.py::test_every_verb_in_every_state[3-starting-cancel]",
        ),
        (
            "end_or_requeue(job, 'WORKER_LOST', model_id)",
            "local none",
            WORKER
            + "store/test_control.py::test_a_pause_whose_worker_is_gone_is_done_before_the_job_is_resumed",
        ),
        (
            "end_or_requeue(job, 'WORKER_LOST', model_id)",
            "unassign(job)",
            WORKER
            + "store/test_control.py::test_a_finish_whose_worker_is_gone_is_done_before_the_job_is_cancelled",
        ),
    ],
    "shared/deletion.lua": [
        (
            "call('HINCRBY', 'literati:states', state, -1)",
            "",
            WORKER + "store/test_retention.py::test_ended_jobs_go_and_their_models_stay",
        ),
        (
            "return call('SCARD', 'literati:dataset-live:' .. id) > 0",
            "return false",
            WORKER + "store/test_retention.py::test_a_paused_job_keeps_its_search",
        ),
    ],
    "release.lua": [
        (
            "tonumber(job.stalls) - 1",
            "tonumber(job.stalls)",
            WORKER + "store/test_leases.py::test_soft_shutdowns_and_pauses_are_not_failures",
        ),
    ],
    "set_alias.lua": [
        (
            "~= tenant then",
            "== nil then",
            WORKER + "store/test_models.py::test_other_tenants_see_nothing",
        ),
    ],
    "shared/job_record.lua": [
        (
            "if damage then",
            "if false then",
            WORKER + "store/test_faults.py::test_a_damaged_job_is_failed_when_its_worker_speaks[trace]",
        ),
    ],
    "shared/job_end.lua": [
        (
            "model_id = job.model_id ~= '' and job.model_id or model_id",
            "model_id = model_id",
            WORKER
            + "store/test_faults.py::test_a_job_that_a_failed_script_left_without_a_lease_is_queued_again",
        ),
        (
            "stop_reason, proven = 'PROVEN_OPTIMAL', '1'",
            "proven = '1'",
            WORKER + "store/test_control.py::test_a_worker_that_ends_a_job_with_equal_bounds_has_proven_it",
        ),
        (
            "call('SREM', 'literati:dataset-live:' .. job.dataset, job.id)",
            "",
            WORKER + "store/test_retention.py::test_nothing_is_left_of_a_job",
        ),
    ],
    "shared/models.lua": [
        (
            "and job.last_stage ~= '0'",
            "",
            WORKER + "store/test_stages.py::test_a_proof_of_an_early_stage_does_not_prove_the_job",
        ),
        (
            "stop_reason = 'USER_FINISH'",
            "",
            WORKER + "store/test_revisions.py::test_a_running_job_is_finished_with_an_earlier_tree",
        ),
        (
            "read_model(job, 'USER_FINISH', is_proven(job, job.objective))",
            "read_model(job, 'USER_FINISH', '0')",
            WORKER + "store/test_tree_models.py::test_only_a_tree_that_meets_the_bound_is_proven",
        ),
    ],
    "shared/store_format.lua": [
        (
            "or 0) < tonumber(number)",
            "or 0) ~= tonumber(number)",
            WORKER + "store/test_store_format.py::test_the_mark_never_falls",
        ),
    ],
    "shared/blob_references.lua": [
        (
            "call('HINCRBY', REFERENCES, name, -1) > 0",
            "call('HINCRBY', REFERENCES, name, -1) > 1",
            WORKER + "store/test_datasets.py::test_a_shared_blob_is_garbage_when_the_last_one_goes",
        ),
    ],
}

EXPLAINED: Changes = {
    "shared/progress.lua": [
        (
            "update.blob ~= '' and update.blob ~= job.blob",
            "update.blob ~= ''",
            "the same blob is held once more before it is dropped once, which changes nothing",
        ),
    ],
}
