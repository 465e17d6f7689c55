"""Convert between the records of the domain and the hashes of bytes that the server stores."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from literati.tree.model_json import with_bounds
from literati.tree.nodes import is_beyond_space
from worker.domain import jobs
from worker.domain.models import Model, ModelSummary
from worker.domain.parameters import WIDENING, unused_additions
from worker.domain.progress import Progress, ProgressUpdate, TracePoint
from worker.domain.sweeps import SweepSettings

Hash = Mapping[bytes, bytes]
Value = TypeVar("Value")
Settings = TypeVar("Settings", jobs.JobSettings, SweepSettings)


def to_dict(flat: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return a hash from the list of names and values that a script returns."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def to_datetime(milliseconds: bytes | str) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def _optional(record: Hash, name: bytes, convert: Callable[[bytes], Value]) -> Value | None:
    """Return a converted field; None if the record lacks it or it is empty."""
    value = record.get(name)
    return convert(value) if value else None


def gaps(upper: float, lower: float) -> tuple[float, float]:
    return upper - lower, (upper - lower) / upper if upper > 0 else 0.0


# The fields that lists read: not the metrics and transitions, which may be large.
JOB_SUMMARY = (
    *(b"tenant", b"spec", b"settings", b"state", b"revision", b"stop_reason", b"proven_optimal", b"model_id"),
    *(b"error", b"created_at", b"queued_at", b"started_at", b"first_incumbent_at", b"finished_at"),
    *(b"scores", b"objective", b"upper", b"lower", b"expansions", b"states_live", b"incumbents", b"elapsed"),
    *(b"memory", b"model_revision", b"chosen", b"explored", b"seconds_left", b"stage", b"space"),
    *(b"proven_space", b"priority", b"notes"),
)
INCUMBENT_SCORES = ("objective", "found_seconds", "scores")
MODEL_SUMMARY = (
    *(b"tenant", b"spec", b"settings", b"name", b"notes", b"job", b"incumbent", b"objective", b"upper"),
    *(b"lower", b"proven_optimal", b"stop_reason", b"scores", b"created_at", b"explored", b"space"),
    *(b"proven_space", b"tags"),
)


def job(record: Hash) -> jobs.Job:
    return jobs.Job(
        **_job_summary(record),
        limits_revision=int(record.get(b"limits_revision") or 0),
        control_request=jobs.ControlRequest(record[b"wish"].decode()),
        metrics=_optional(record, b"metrics", json.loads),
        snapshot=_optional(record, b"blob", bytes.decode),
        epoch=int(record[b"epoch"]),
        attempts=int(record[b"attempts"]),
        threads=_optional(record, b"threads", int),
        request_id=_optional(record, b"request_id", bytes.decode),
        heartbeat_at=_optional(record, b"heartbeat_at", to_datetime),
        transitions=[_transition(line) for line in record[b"transitions"].decode().splitlines()],
    )


def job_summary(record: Hash) -> jobs.JobSummary:
    return jobs.JobSummary(**_job_summary(record))


def _job_summary(record: Hash) -> dict[str, Any]:
    spec, settings = _spec_and_settings(record)
    settings = with_notes(settings, record)
    if spec.sweep is not None:  # whose priority may have changed since the job was planned
        settings = settings.model_copy(update={"priority": int(record[b"priority"])})
    return {
        "spec": spec,
        "settings": settings,
        "state": jobs.JobState(record[b"state"].decode()),
        "revision": int(record[b"revision"]),
        "progress": _progress(record, spec),
        "proven_space": _space(record, b"proven_space", spec),
        "stop_reason": _optional(record, b"stop_reason", _stop_reason),
        "proven_optimal": record.get(b"proven_optimal") == b"1",
        "model_id": _optional(record, b"model_id", bytes.decode),
        "model_revision": _model_revision(record),
        "scores": _scores(record) if int(record[b"incumbents"]) else None,
        "error": _optional(record, b"error", jobs.JobError.model_validate_json),
        "created_at": to_datetime(record[b"created_at"]),
        "queued_at": to_datetime(record[b"queued_at"]),
        "started_at": _optional(record, b"started_at", to_datetime),
        "first_incumbent_at": _optional(record, b"first_incumbent_at", to_datetime),
        "finished_at": _optional(record, b"finished_at", to_datetime),
    }


def _stop_reason(value: bytes) -> jobs.StopReason:
    return jobs.StopReason(value.decode())


def _model_revision(record: Hash) -> int | None:
    """Return the revision of the model's tree. In version 0.1.0 it was always the last one."""
    if not record.get(b"model_id"):
        return None
    return int(record.get(b"model_revision") or record.get(b"chosen") or record[b"incumbents"])


def scores_of(metrics: Mapping[str, Any], tree: Mapping[str, Any] | None = None) -> jobs.Scores:
    """Return the scores of a tree from its metrics."""
    parts = {part: metrics.get(part) or {} for part in ("train", "validation")}
    names = ("accuracy", "balanced_accuracy", "log_loss", "macro_f1", "roc_auc")
    found = {f"{part}_{name}": scores.get(name) for part, scores in parts.items() for name in names}
    found |= {name: metrics[name] for name in ("train_accuracy", "validation_accuracy") if name in metrics}
    if tree is not None:
        splits = [node.get("split") for node in tree.get("nodes", ())]
        found["leaves"] = sum(split is None for split in splits)
        found["changepoints"] = sum(split.get("changepoints", 1) - 1 for split in splits if split is not None)
    return jobs.Scores(**found)


def incumbent_scores(revision: int, fields: Sequence[bytes | None]) -> jobs.IncumbentScores | None:
    """Return a point of a series from the fields INCUMBENT_SCORES of a tree; None if it is not kept."""
    objective, found_seconds, scores = fields
    if objective is None:
        return None
    return jobs.IncumbentScores(
        revision=revision,
        objective=float(objective),
        found_seconds=float(found_seconds) if found_seconds else None,
        scores=jobs.Scores.model_validate_json(scores) if scores else jobs.Scores(),
    )


def _scores(record: Hash) -> jobs.Scores:
    """Return the scores, which version 0.1.0 stored only among the metrics."""
    scores = record.get(b"scores")
    if scores:
        return jobs.Scores.model_validate_json(scores)
    return scores_of(json.loads(record.get(b"metrics") or b"{}"))


def spec_json(job: jobs.NewJob) -> str:
    unused: dict[str, Any] = {"parameters": unused_additions(job.parameters)}
    if job.sweep is None:
        unused["sweep"] = True
    return job.model_dump_json(include=set(jobs.JobSpec.model_fields), exclude=unused)


def settings_json(settings: jobs.JobSettings) -> str:
    """Return the settings without the notes, which have a field of their own."""
    unused: dict[str, Any] = {"limits": unused_additions(settings.limits), "notes": True}
    return settings.model_dump_json(include=set(jobs.JobSettings.model_fields), exclude=unused)


def with_notes(settings: Settings, record: Hash) -> Settings:
    """Add the notes of a job or a sweep.

    They are a field of the record, because programs without notes refuse settings with an unknown name. For
    some time they were among the settings.
    """
    notes = record.get(b"notes")
    return settings if notes is None else settings.model_copy(update={"notes": json.loads(notes)})


def notes_json(notes: str | None, record: Hash) -> str:
    """Return new notes as a script's argument: empty if the record had none, and has none now."""
    return "" if notes is None and b"notes" not in record else json.dumps(notes)


def _spec_and_settings(record: Hash) -> tuple[jobs.JobSpec, jobs.JobSettings]:
    """Read both parts of a job. In version 0.1.0 the settings were a part of the spec."""
    spec = json.loads(record[b"spec"])
    older = {name: spec.pop(name) for name in jobs.JobSettings.model_fields if name in spec}
    settings = record.get(b"settings")
    if settings:
        return jobs.JobSpec.model_validate(spec), jobs.JobSettings.model_validate_json(settings)
    return jobs.JobSpec.model_validate(spec), jobs.JobSettings.model_validate(older)


def _space(record: Hash, name: bytes, spec: jobs.JobSpec) -> str:
    """Return a search space of a record. Before the first tree, and in version 0.1.0, it is not stored."""
    candidates = spec.parameters.candidates
    stored = record.get(name)
    if stored or candidates == WIDENING:
        return (stored or b"").decode()
    return candidates


def _explored(record: Hash) -> float | None:
    """Return the explored share, which version 0.1.0 did not store; a proof tells it all the same."""
    if record.get(b"explored"):
        return float(record[b"explored"])
    if not record.get(b"upper"):
        return 0.0
    return explored_by_bounds(float(record[b"upper"]), float(record[b"lower"]))


def explored_by_bounds(upper: float, lower: float) -> float | None:
    """Return 1 if the bounds are a proof; None if the share cannot be known from them."""
    return 1.0 if lower >= upper else None


def _progress(record: Hash, spec: jobs.JobSpec) -> Progress:
    objective, upper, lower = (_optional(record, name, float) for name in (b"objective", b"upper", b"lower"))
    absolute, relative = (None, None) if upper is None or lower is None else gaps(upper, lower)
    return Progress(
        objective=objective,
        upper_bound=upper,
        lower_bound=lower,
        gap_absolute=absolute,
        gap_relative=relative,
        beyond_space=objective is not None and upper is not None and is_beyond_space(objective, upper),
        explored=_explored(record),
        seconds_left=_optional(record, b"seconds_left", float),
        stage=int(record.get(b"stage") or 0),
        space=_space(record, b"space", spec),
        expansions=int(record[b"expansions"]),
        states_live=int(record[b"states_live"]),
        incumbents=int(record[b"incumbents"]),
        elapsed_seconds=float(record[b"elapsed"]),
        memory_bytes=int(record[b"memory"]),
    )


def _transition(line: str) -> jobs.Transition:
    state, at, reason = line.split(" ", 2)
    return jobs.Transition(state=jobs.JobState(state), at=to_datetime(at), reason=reason or None)


def incumbent(job_id: str, revision: int, record: Hash) -> jobs.Incumbent:
    return jobs.Incumbent(
        job_id=job_id,
        revision=revision,
        objective=float(record[b"objective"]),
        upper_bound=float(record[b"upper"]),
        lower_bound=float(record[b"lower"]),
        explored=_explored(record),
        seconds_left=_optional(record, b"seconds_left", float),
        stage=int(record.get(b"stage") or 0),
        tree_stage=int(record.get(b"tree_stage") or 0),
        space=record.get(b"space", b"").decode(),
        proven_space=record[b"proven_space"].decode() if b"proven_space" in record else None,
        tree=decompress_tree(record[b"tree"]),
        metrics=json.loads(record[b"metrics"]),
        found_at=to_datetime(record[b"found_at"]),
        found_seconds=float(record[b"found_seconds"]) if b"found_seconds" in record else None,
    )


def trace_point(line: bytes) -> TracePoint:
    seconds, expansions, upper, lower, *more = line.split()
    point = TracePoint(
        seconds=float(seconds), expansions=int(expansions), upper=float(upper), lower=float(lower)
    )
    if more:
        return point.model_copy(update={"explored": float(more[0]), "stage": int(more[1])})
    return point.model_copy(update={"explored": explored_by_bounds(point.upper, point.lower)})


def event(stream_id: bytes, fields: Hash) -> jobs.Event:
    name, kind = stream_id.decode(), fields[b"type"].decode()
    data = json.loads(fields[b"data"])
    if kind == "bound":
        data["gap_absolute"], data["gap_relative"] = gaps(data["upper_bound"], data["lower_bound"])
    if kind in ("bound", "incumbent"):
        data["beyond_space"] = is_beyond_space(data["objective"], data["upper_bound"])
        known = explored_by_bounds(data["upper_bound"], data["lower_bound"])
        data = {"explored": known, "seconds_left": None, "stage": 0, "space": "", **data}
    return jobs.Event.model_validate(
        {"id": name, "type": kind, "at": to_datetime(name.split("-")[0]), "data": data}
    )


def model(model_id: str, record: Hash) -> Model:
    spec, _ = _spec_and_settings(record)
    metrics = json.loads(record[b"metrics"])
    return Model(
        **_model_summary(model_id, record),
        metrics=metrics,
        validation=spec.validation,
        sweep=spec.sweep,
        csv_style=spec.csv_style,
    )


def model_summary(model_id: str, record: Hash) -> ModelSummary:
    return ModelSummary(**_model_summary(model_id, record))


def _model_summary(model_id: str, record: Hash) -> dict[str, Any]:
    spec, settings = _spec_and_settings(record)
    name, tags = record.get(b"name"), record.get(b"tags")
    return {
        "id": model_id,
        "tenant": spec.tenant,
        "name": json.loads(name) if name else settings.name,
        "notes": _optional(record, b"notes", json.loads),
        "tags": json.loads(tags) if tags else settings.tags,
        "job_id": spec.id,
        "incumbent_revision": int(record[b"incumbent"]),
        "dataset_id": spec.dataset_id,
        "dataset_sha256": spec.dataset_sha256,
        "target": spec.target,
        "parameters": spec.parameters,
        "objective": float(record[b"objective"]),
        "upper_bound": float(record[b"upper"]),
        "lower_bound": float(record[b"lower"]),
        "explored": _explored(record),
        "space": _space(record, b"space", spec),
        "proven_optimal": record[b"proven_optimal"] == b"1",
        "proven_space": _space(record, b"proven_space", spec),
        "stop_reason": _stop_reason(record[b"stop_reason"]),
        "scores": _scores(record),
        "engine_version": spec.engine_version,
        "created_at": to_datetime(record[b"created_at"]),
    }


def final_tree(record: Hash) -> dict[str, Any]:
    """Return the model's tree with the bounds that were known at the end of its job.

    If they are about a wider space than the proof in the tree, the tree keeps its own.
    """
    if (record.get(b"stage") or b"0") != (record.get(b"tree_stage") or b"0"):
        return decompress_tree(record[b"tree"])
    upper, lower = float(record[b"upper"]), float(record[b"lower"])
    return with_bounds(decompress_tree(record[b"tree"]), upper, lower, record[b"proven_optimal"] == b"1")


def compress_tree(tree: dict[str, Any]) -> bytes:
    return zlib.compress(json.dumps(tree, separators=(",", ":"), allow_nan=False).encode())


def decompress_tree(data: bytes) -> dict[str, Any]:
    """Return a tree. In an archive it is not compressed by itself."""
    tree: dict[str, Any] = json.loads(data if data[:1] == b"{" else zlib.decompress(data))
    return tree


def _trace_line(point: TracePoint) -> list[str]:
    numbers = (point.seconds, point.expansions, point.upper, point.lower, point.explored or 0.0, point.stage)
    return [repr(number) for number in numbers]


def progress_arguments(update: ProgressUpdate | None) -> tuple[str, bytes, str, str]:
    """Return a script's arguments: JSON, tree, metrics and log. Numbers are text, to keep every digit."""
    if update is None:
        return "", b"", "", ""
    fields = {
        "upper": repr(update.upper_bound),
        "lower": repr(update.lower_bound),
        "expansions": str(update.expansions),
        "states_live": str(update.states_live),
        "elapsed": repr(update.elapsed_seconds),
        "memory": str(update.memory_bytes),
        "explored": repr(update.explored),
        "seconds_left": "" if update.seconds_left is None else repr(update.seconds_left),
        "stage": str(update.stage),
        "space": update.space,
        "proven_space": update.proven_space,
        "last_stage": str(int(update.last_stage)),
        "blob": update.snapshot or "",
        "blob_bytes": str(update.snapshot_bytes),
        "objective": "",
        "trace": [_trace_line(point) for point in update.trace],
    }
    tree, metrics = b"", ""
    if update.incumbent is not None:
        fields["objective"] = repr(update.incumbent.objective)
        fields["found_seconds"] = repr(update.incumbent.found_seconds)
        fields["tree_stage"] = str(update.incumbent.stage)
        scores = scores_of(update.incumbent.metrics, update.incumbent.tree)
        fields["scores"] = scores.model_dump_json()
        tree = compress_tree(update.incumbent.tree)
        metrics = json.dumps(update.incumbent.metrics, allow_nan=False)
    return json.dumps(fields), tree, metrics, "" if update.log is None else json.dumps(update.log)
