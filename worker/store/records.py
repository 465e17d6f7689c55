"""Between what the server keeps (hashes of bytes) and the messages."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from worker.messages import (
    Checkpoint,
    Event,
    Incumbent,
    Job,
    JobError,
    JobSettings,
    JobSpec,
    JobState,
    Model,
    NewIncumbent,
    NewJob,
    Progress,
    StopReason,
    TracePoint,
    Transition,
    Wish,
)

Hash = Mapping[bytes, bytes]


def pairs(flat: Sequence[bytes]) -> dict[bytes, bytes]:
    """A hash as a script answers it."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def moment(milliseconds: bytes | str) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def _moment(record: Hash, name: bytes) -> datetime | None:
    value = record.get(name)
    return moment(value) if value else None


def _number(record: Hash, name: bytes) -> float | None:
    value = record.get(name)
    return float(value) if value else None


def _text(record: Hash, name: bytes) -> str | None:
    value = record.get(name)
    return value.decode() if value else None


def gaps(upper: float, lower: float) -> tuple[float, float]:
    return upper - lower, (upper - lower) / upper if upper > 0 else 0.0


def job(record: Hash) -> Job:
    stop_reason, error, metrics = (record.get(name) for name in (b"stop_reason", b"error", b"metrics"))
    spec, settings = _parts(record)
    return Job(
        spec=spec,
        settings=settings,
        limits_revision=int(record.get(b"limits_revision") or 0),
        state=JobState(record[b"state"].decode()),
        revision=int(record[b"revision"]),
        progress=_progress(record),
        wish=Wish(record[b"wish"].decode()),
        stop_reason=StopReason(stop_reason.decode()) if stop_reason else None,
        proven_optimal=record.get(b"proven_optimal") == b"1",
        model_id=_text(record, b"model_id"),
        metrics=json.loads(metrics) if metrics else None,
        error=JobError.model_validate_json(error) if error else None,
        blob=_text(record, b"blob"),
        epoch=int(record[b"epoch"]),
        attempts=int(record[b"attempts"]),
        request_id=_text(record, b"request_id"),
        created_at=moment(record[b"created_at"]),
        queued_at=moment(record[b"queued_at"]),
        started_at=_moment(record, b"started_at"),
        first_incumbent_at=_moment(record, b"first_incumbent_at"),
        finished_at=_moment(record, b"finished_at"),
        heartbeat_at=_moment(record, b"heartbeat_at"),
        transitions=[_transition(line) for line in record[b"transitions"].decode().splitlines()],
    )


def spec_json(job: NewJob) -> str:
    return job.model_dump_json(include=set(JobSpec.model_fields))


def settings_json(settings: JobSettings) -> str:
    return settings.model_dump_json(include=set(JobSettings.model_fields))


def _parts(record: Hash) -> tuple[JobSpec, JobSettings]:
    """Read both parts of a job. Records of version 0.1.0 hold the settings inside the spec."""
    spec = json.loads(record[b"spec"])
    older = {name: spec.pop(name) for name in JobSettings.model_fields if name in spec}
    settings = record.get(b"settings")
    if settings:
        return JobSpec.model_validate(spec), JobSettings.model_validate_json(settings)
    return JobSpec.model_validate(spec), JobSettings.model_validate(older)


def _progress(record: Hash) -> Progress:
    upper, lower = _number(record, b"upper"), _number(record, b"lower")
    absolute, relative = (None, None) if upper is None or lower is None else gaps(upper, lower)
    return Progress(
        objective=_number(record, b"objective"),
        upper_bound=upper,
        lower_bound=lower,
        gap_absolute=absolute,
        gap_relative=relative,
        expansions=int(record[b"expansions"]),
        states_live=int(record[b"states_live"]),
        incumbents=int(record[b"incumbents"]),
        elapsed_seconds=float(record[b"elapsed"]),
        memory_bytes=int(record[b"memory"]),
    )


def _transition(line: str) -> Transition:
    state, at, reason = line.split(" ", 2)
    return Transition(state=JobState(state), at=moment(at), reason=reason or None)


def incumbent(job_id: str, revision: int, record: Hash) -> Incumbent:
    return Incumbent(
        job_id=job_id,
        revision=revision,
        objective=float(record[b"objective"]),
        upper_bound=float(record[b"upper"]),
        lower_bound=float(record[b"lower"]),
        tree=unpack(record[b"tree"]),
        metrics=json.loads(record[b"metrics"]),
        found_at=moment(record[b"found_at"]),
    )


def trace_point(line: bytes) -> TracePoint:
    seconds, expansions, upper, lower = line.split()
    return TracePoint(
        seconds=float(seconds), expansions=int(expansions), upper=float(upper), lower=float(lower)
    )


def event(stream_id: bytes, fields: Hash) -> Event:
    name, kind = stream_id.decode(), fields[b"type"].decode()
    data = json.loads(fields[b"data"])
    if kind == "bound":
        data["gap_absolute"], data["gap_relative"] = gaps(data["upper_bound"], data["lower_bound"])
    return Event.model_validate({"id": name, "type": kind, "at": moment(name.split("-")[0]), "data": data})


def model(model_id: str, record: Hash) -> Model:
    spec, settings = _parts(record)
    return Model(
        id=model_id,
        tenant=spec.tenant,
        name=settings.name,
        job_id=spec.id,
        incumbent_revision=int(record[b"incumbent"]),
        dataset_id=spec.dataset_id,
        dataset_sha256=spec.dataset_sha256,
        parameters=spec.parameters,
        objective=float(record[b"objective"]),
        upper_bound=float(record[b"upper"]),
        lower_bound=float(record[b"lower"]),
        proven_optimal=record[b"proven_optimal"] == b"1",
        proven_space=spec.parameters.candidates,
        stop_reason=StopReason(record[b"stop_reason"].decode()),
        metrics=json.loads(record[b"metrics"]),
        engine_version=spec.engine_version,
        created_at=moment(record[b"created_at"]),
    )


def final_tree(record: Hash) -> dict[str, Any]:
    """The model's tree as it was found, with what was known at the end."""
    tree = unpack(record[b"tree"])
    lower, proven = float(record[b"lower"]), record[b"proven_optimal"] == b"1"
    tree["proof"].update(upper_bound=float(record[b"upper"]), lower_bound=lower, proven_optimal=proven)
    tree["nodes"][0].update(bound=lower, proven=proven)
    return tree


def pack(tree: dict[str, Any]) -> bytes:
    return zlib.compress(json.dumps(tree, separators=(",", ":"), allow_nan=False).encode())


def unpack(data: bytes) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(zlib.decompress(data))
    return tree


def checkpoint_arguments(checkpoint: Checkpoint | None) -> tuple[str, bytes, str, str]:
    """For a script: JSON whose numbers are text, so that no digit is lost, then tree, metrics, log."""
    if checkpoint is None:
        return "", b"", "", ""
    found = checkpoint.incumbent
    given = {
        "upper": repr(checkpoint.upper_bound),
        "lower": repr(checkpoint.lower_bound),
        "expansions": str(checkpoint.expansions),
        "states_live": str(checkpoint.states_live),
        "elapsed": repr(checkpoint.elapsed_seconds),
        "memory": str(checkpoint.memory_bytes),
        "blob": checkpoint.blob or "",
        "blob_bytes": str(checkpoint.blob_bytes),
        "objective": "" if found is None else repr(found.objective),
        "trace": [
            [repr(point.seconds), str(point.expansions), repr(point.upper), repr(point.lower)]
            for point in checkpoint.trace
        ],
    }
    log = "" if checkpoint.log is None else json.dumps(checkpoint.log)
    return json.dumps(given), *_incumbent_arguments(found), log


def _incumbent_arguments(found: NewIncumbent | None) -> tuple[bytes, str]:
    if found is None:
        return b"", ""
    return pack(found.tree), json.dumps(found.metrics, allow_nan=False)
