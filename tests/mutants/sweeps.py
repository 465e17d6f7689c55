"""Changes to the scripts and the choice of sweeps."""

from __future__ import annotations

from tests.mutants.engine import Changes

STORE = "tests/worker/store/test_sweeps.py::"
RUNS = "tests/worker/sweeps/test_sweep_runs.py::"

SCRIPTS: Changes = {
    "shared/sweeps.lua": [
        (
            "local MAX_QUEUED = 32",
            "local MAX_QUEUED = 64",
            STORE + "test_few_jobs_are_created_at_a_time",
        ),
        (
            "        drop_unit(sweep, unit_of(job.place))\n",
            "",
            STORE + "test_a_dropped_setting_gets_no_more_jobs",
        ),
        (
            "        set_sweep_state(sweep, 'PAUSED', '')\n    elseif",
            "    elseif",
            STORE + "test_pause_lets_running_jobs_end_and_resume_continues",
        ),
        (
            "failed > tonumber(sweep.max_failed)",
            "false",
            RUNS + "test_too_many_failed_settings_fail_the_sweep",
        ),
        (
            "    call('ZREM', SWEEP_DEADLINES, sweep.id)\n    if",
            "    if",
            STORE + "test_the_time_limit_counts_running_time",
        ),
        (
            "    call('SREM', 'literati:dataset-live:' .. sweep.dataset, sweep.id)\n",
            "",
            STORE + "test_cancel",
        ),
        (
            "if call('SISMEMBER', sweep.key .. ':dropped', unit) == 0 then",
            "if true then",
            STORE + "test_a_dropped_setting_gets_no_more_jobs",
        ),
    ],
    "shared/fair_queue.lua": [
        (
            "call('ZADD', owners_key(job.tenant), call('INCR', 'literati:seq'), owner_of(job))",
            "",
            STORE + "test_a_single_job_does_not_wait_behind_a_sweep",
        ),
        (
            "        if a.rank ~= b.rank then\n            return a.rank < b.rank\n        end\n",
            "",
            STORE + "test_priorities_come_before_turns",
        ),
    ],
    "choose_sweep.lua": [
        (
            "if not sweep or sweep.state ~= 'CHOOSING' or sweep.round ~= round then",
            "if not sweep or sweep.round ~= round then",
            STORE + "test_only_the_first_choice_counts",
        ),
    ],
    "control_sweep.lua": [
        (
            "if call('HGET', sweep.key, 'revision') ~= revision then",
            "if false then",
            STORE + "test_extend_adds_settings_and_repeats_what_did_not_end",
        ),
    ],
    "shared/job_end.lua": [
        (
            "return job.sweep == '' or job.place == 'refit'",
            "return true",
            RUNS + "test_the_jobs_of_a_sweep_are_hidden_and_make_no_models",
        ),
    ],
}

PYTHON: Changes = {
    "sweeps/advance.py": [
        (
            "place[0] <= last",
            "True",
            STORE + "test_settings_after_the_end_of_patience_are_not_chosen",
        ),
    ],
    "training/training_task.py": [
        (
            "            parameters[name] *= self.weight_share\n",
            "            pass\n",
            RUNS + "test_a_sweep_of_penalties_equals_separate_searches",
        ),
    ],
    "training/folds.py": [
        (
            "np.bincount(codes)[codes[order]] > 1",
            "np.bincount(codes)[codes[order]] > 0",
            "tests/worker/training/test_folds.py::test_every_row_is_held_out_once[2-True]",
        ),
    ],
}
