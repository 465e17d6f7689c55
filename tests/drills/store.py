"""Drills on the store: its disk is full, its memory is full, its clock jumps."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from tests.drills.lab import CSV, NOISE, Lab, wait
from tests.support.paths import ROOT


def full_disk(lab: Lab) -> None:
    dataset = lab.dataset()
    accepted = [lab.submit(dataset)]
    lab.store_disk.fill()

    def refused() -> Any:
        answer = lab.client.post("/v1/jobs", json={"dataset_id": dataset})
        if answer.status_code == 202:
            accepted.append(answer.json()["id"])
            return None
        return answer

    lab.refusal(wait(refused, "a refusal"), 503)
    lab.metric("literati_store_up", lambda value: value == 0)
    lab.alert("LiteratiStoreAway")
    lab.log("valkey", "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...")
    lab.log("api", '"error": "ConnectionError"')
    lab.store_disk.free()
    lab.cluster.await_ready()
    for job_id in accepted:
        lab.succeeds(job_id)
    lab.metric("literati_store_up", lambda value: value == 1)


def full_memory(lab: Lab) -> None:
    admin: Any = lab.cluster.connection
    lab.command("cleanup", "--ended-before", "0s")
    lab.succeeds(lab.submit(lab.dataset(), parameters={"max_depth": 2}))
    dataset = lab.dataset(NOISE)
    job_id = lab.running(dataset)
    admin.config_set("maxmemory", int(admin.info("memory")["used_memory"]) * 9 // 10)
    wait(lambda: lab.client.post("/v1/jobs", json={"dataset_id": dataset}).status_code == 503, "a refusal")
    lab.refusal(lab.client.post("/v1/jobs", json={"dataset_id": dataset}), 503)
    lab.refusal(lab.upload(CSV.replace("x", "z", 1)), 503)
    lab.refusal(lab.client.get("/readyz"), 503)
    assert lab.client.get(f"/v1/jobs/{job_id}").status_code == 200, "reading works"
    lab.metric("literati_store_writable", lambda value: value == 0)
    lab.alert("LiteratiStoreNotWritable")
    lab.alert("LiteratiStoreMemoryAlmostFull")
    lab.log("api", '"error": "OutOfMemoryError"')
    lab.log("worker-0", "command not allowed when used memory > 'maxmemory'")
    cleaned = lab.command("cleanup", "--ended-before", "0s")
    assert cleaned.stdout.startswith("1 ended job deleted"), (cleaned.stdout, cleaned.stderr)
    admin.config_set("maxmemory", 0)
    lab.metric("literati_store_writable", lambda value: value == 1)
    lab.goes_on(job_id)
    lab.end(job_id)


def clock_jump(lab: Lab) -> None:
    shim = lab.folder / "clock_shift.so"
    source = ROOT / "tests" / "chaos" / "clock_shift.c"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True
    )
    job_id = lab.running(lab.dataset(NOISE))
    lab.metric("literati_store_clock_jumps_total", lambda value: value == 0)
    unit = lab.cluster.valkey
    holder = lab.cluster.holder(job_id)
    assert holder is not None
    holder.suspend()  # otherwise it might renew its lease before a reconciler sees that it has expired
    unit.environment["LD_PRELOAD"] = str(shim)
    unit.kill()
    lab.cluster.await_ready()
    lab.log("*", "the lease of a job ran out")
    holder.resume()
    lab.metric("literati_store_clock_offset_seconds", lambda value: abs(value - 86400) < 60)
    lab.metric("literati_store_clock_jumps_total", lambda value: value == 1)
    lab.metric("literati_lease_losses_total", lambda value: value >= 1)
    lab.alert("LiteratiStoreClockJumped")
    lab.alert("LiteratiClockOffset")
    lab.goes_on(job_id)
    # The worker is lost at the moment at which the clock is set back, so nobody renews the lease.
    (worker,) = lab.cluster.workers
    worker.keep_stopped()
    worker.kill()
    del unit.environment["LD_PRELOAD"]
    unit.kill()
    lab.cluster.await_ready(unit)
    lab.log("*", "the clock of the store was set back")
    worker.allow_restart()
    lab.cluster.await_ready()
    lab.goes_on(job_id)
    lab.end(job_id)
