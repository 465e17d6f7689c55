"""Drills on blobs: a full disk, a lost folder, a bucket that does not answer or refuses the credentials."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.drills.lab import CSV, RESERVED_BYTES, Lab, wait
from tests.drills.page import Page
from tests.support.stack.s3_server import BUCKET, S3Server
from tests.support.stack.stack import Stack


def full_disk(lab: Lab) -> None:
    dataset = lab.dataset()
    lab.blob_disk.fill(leave=RESERVED_BYTES // 2)
    lab.refusal(lab.upload(CSV.replace("x", "w", 1)), 503)
    lab.log("api", "the disk would have too little free space")
    lab.blob_disk.fill()
    lab.refusal(
        wait(lambda: (answer := lab.client.get("/readyz")).status_code == 503 and answer, "no readiness"), 503
    )
    lab.metric("literati_blobs_writable", lambda value: value == 0)
    lab.metric("literati_blobs_free_bytes", lambda value: value < 4096)
    lab.alert("LiteratiStoreNotWritable")
    lab.alert("LiteratiDiskAlmostFull")
    job_id = lab.submit(dataset)
    lab.succeeds(job_id)  # it needs no space
    lab.blob_disk.free()
    lab.metric("literati_blobs_writable", lambda value: value == 1)
    lab.dataset(CSV.replace("x", "w", 1))


def lost_folder(lab: Lab) -> None:
    dataset = lab.dataset()
    folder, backups = lab.cluster.blobs.folder, str(lab.folder / "backups")
    assert lab.backup("create", backups).returncode == 0
    shutil.rmtree(folder)
    job_id = lab.submit(dataset, parameters={"max_depth": 3})
    job = wait(lambda: (job := lab.job(job_id))["state"] == "FAILED" and job, "the failure")
    lab.page.sees(f"{job['error']['code']}: {job['error']['message']}")
    lab.log("worker-0", '"code": "DATASET_GONE"')
    lab.refusal(lab.client.get(f"/v1/datasets/{dataset}/preview"), 404)
    lab.log("api", '"message": "blob missing"')
    lab.metric('literati_blob_errors_total{error="missing"}', lambda value: value >= 2)
    lab.alert("LiteratiBlobsUnreadable")
    incomplete = lab.backup("create", str(lab.folder / "incomplete"))
    assert incomplete.returncode == 1
    lab.page.sees(re.sub(r"^\d+ blobs? (is|are) missing or damaged: [^.]*\. ", "", incomplete.stderr))
    lab.alert("LiteratiBackupIncomplete")
    restored = lab.backup("restore", backups, "--only-blobs")
    assert restored.returncode == 0, restored.stderr
    again = lab.submit(dataset, parameters={"max_depth": 3}, priority=1)
    lab.succeeds(again)
    assert lab.backup("create", backups).returncode == 0


def lost_bucket(folder: Path, *, check: bool) -> list[str]:
    page = Page(check=check)
    print("bucket:", flush=True)
    folder.mkdir()
    headers = {"content-type": "text/csv"}
    with S3Server(folder / "s3") as server:
        settings = {**server.environment, "LITERATI_BLOBS": f"s3://{BUCKET}/drills"}
        with Stack.with_api(folder / "stack", server=None, **settings) as stack, stack.client() as client:
            assert client.post("/v1/datasets?target=y", content=CSV, headers=headers).status_code == 201
            server.stop()
            answer = client.post("/v1/datasets?target=y", content=CSV.replace("x", "w", 1), headers=headers)
            page.sees(f"{answer.status_code}: {answer.json()['detail']}")
            wait(lambda: client.get("/readyz").status_code == 503, "no readiness")
            page.sees(f"503: {client.get('/readyz').json()['detail']}")
            wait(lambda: "literati_blobs_writable 0.0" in client.get("/metrics").text, "the metric")
            _sees_log(page, stack, "Could not connect to the endpoint URL")
            assert 'literati_blob_errors_total{error="unavailable"} 1.0' in client.get("/metrics").text
            server.start()
            assert client.post("/v1/datasets?target=y", content=CSV, headers=headers).status_code == 200
        settings["AWS_SECRET_ACCESS_KEY"] = "wrong"
        with Stack.with_api(folder / "wrong", server=None, **settings) as stack, stack.client() as client:
            answer = client.post("/v1/datasets?target=y", content=CSV, headers=headers)
            page.sees(f"{answer.status_code}: {answer.json()['detail']}")
            _sees_log(page, stack, "SignatureDoesNotMatch")
            assert "literati_blobs_writable 0.0" in client.get("/metrics").text
    return page.seen


def _sees_log(page: Page, stack: Stack, text: str) -> None:
    logs = [line for line in stack.log_lines("api") if text in str(line.get("error"))]
    assert logs, text
    page.sees(f'"message": "{logs[0]["message"]}"')
    page.sees(text)
