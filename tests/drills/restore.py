"""Restore an older backup while the API and the workers go on running."""

from __future__ import annotations

import shutil

from tests.drills.lab import NOISE, Lab, wait


def beside_running_workers(lab: Lab) -> None:
    cluster, backups = lab.cluster, str(lab.folder / "yesterday")
    noise, easy = lab.dataset(NOISE), lab.dataset()
    ended = lab.submit(easy, parameters={"max_depth": 3}, priority=5)
    model = wait(lambda: lab.job(ended).get("model_id"), "a model")
    (worker,) = cluster.workers
    worker.keep_stopped()
    worker.kill()
    known = lab.submit(noise, parameters={"max_depth": 6}, limits={"time_limit": 3001})
    made = lab.backup("create", backups)
    assert made.returncode == 0, made.stderr
    worker.allow_restart()
    wait(lambda: lab.job(known)["state"] == "RUNNING", "the job, after the backup")
    later = lab.submit(easy, parameters={"max_depth": 2})
    epoch = int(cluster.fields(known, "epoch")[0] or 0)

    cluster.valkey.keep_stopped()
    cluster.valkey.kill()
    (lab.folder / "old").mkdir()
    for path in list(cluster.server.folder.iterdir()):
        shutil.move(path, lab.folder / "old") if not path.is_socket() else path.unlink()
    restored = lab.backup("restore", backups, "--store-dir", str(cluster.server.folder), "--existing-blobs")
    assert restored.returncode == 0, restored.stderr
    cluster.valkey.allow_restart()
    cluster.await_ready()

    lab.refusal(
        wait(lambda: (answer := lab.client.get(f"/v1/jobs/{later}")).status_code == 404 and answer, "404"),
        404,
    )
    lab.log("worker-0", "lease lost: another worker has the job")
    lab.alert("LiteratiFencedWrites")
    wait(lambda: int(cluster.fields(known, "epoch")[0] or 0) > epoch + 1_000_000, "a new epoch")
    lab.goes_on(known)
    rows = {"records": [{"x": 3}]}
    assert lab.client.post(f"/v1/models/{model}/predict", json=rows).status_code == 200
    lab.end(known)
