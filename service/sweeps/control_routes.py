"""Routes that control a sweep: update, finish, cancel, pause, resume and extend."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response

from service.checks.labels import patched_fields
from service.dependencies import CallerDep, SettingsDep, StoreDep
from service.examples import sweeps as examples
from service.http.etags import expected_revision, json_response, weak_tag
from service.http.media_types import MERGE_PATCH, strict_json
from service.schemas.parameters import SweepId, body_of
from service.schemas.problems import problems
from service.sweeps.extension import extend
from service.sweeps.routes import ETAG, stored_sweep
from service.sweeps.schemas import ExtendRequest, Sweep, SweepPatch
from service.sweeps.views import sweep_view
from service.wake_workers import wake_workers
from worker.domain import sweeps as domain
from worker.domain.sweeps import SweepState
from worker.store import Store
from worker.sweeps.advance import advance

router = APIRouter(prefix="/v1/sweeps", tags=["sweeps"])

_RESPONSES = {
    200: examples.answer("The sweep. This was requested before.", examples.SWEEP, model=Sweep),
    202: examples.answer(
        "The sweep. The request is accepted, or has been carried out.", examples.SWEEP, headers=ETAG
    ),
    **problems(404, 409),
}
_CONTROL: dict[str, Any] = {"status_code": 202, "response_model": Sweep, "responses": _RESPONSES}


def _response(store: Store, sweep: domain.Sweep, status: int) -> Response:
    headers = {"ETag": weak_tag(sweep.revision), "Location": f"/v1/sweeps/{sweep.spec.id}"}
    return json_response(sweep_view(store, sweep), status=status, headers=headers)


# These functions are not asynchronous, so FastAPI runs them in its threadpool.


@router.patch(
    "/{sweep_id}",
    operation_id="update_sweep",
    summary="Change a sweep's name, notes, tags or priority",
    response_model=Sweep,
    openapi_extra=body_of(
        SweepPatch,
        MERGE_PATCH,
        "application/json",
        labels={"name": "flowers, second try", "tags": {"team": None, "for": "the paper"}},
        sooner={"priority": 10},
    ),
    responses={
        200: examples.answer("The changed sweep.", examples.SWEEP, headers=ETAG),
        **problems(404, 412, 415, 422),
    },
)
def update_sweep(
    request: Request,
    sweep_id: SweepId,
    patch: Annotated[SweepPatch, Depends(strict_json(SweepPatch, MERGE_PATCH))],
    caller: CallerDep,
    store: StoreDep,
    if_match: Annotated[
        str | None, Header(alias="If-Match", description="The ETag that the sweep must have; otherwise 412.")
    ] = None,
) -> Response:
    """Apply a JSON merge patch (RFC 7396): fields that are left out do not change, null removes a value.

    The priority also applies to the jobs of the sweep that have not started. Jobs that were created before
    keep their names and tags.
    """
    sweep = store.sweeps.change(
        caller.tenant,
        sweep_id,
        lambda current: current.model_copy(update=patched_fields(patch, current.tags, "sweep")),
        revision=expected_revision(request),
    )
    return json_response(sweep_view(store, sweep), tag=weak_tag(sweep.revision))


@router.post(
    "/{sweep_id}/finish", operation_id="finish_sweep", summary="Finish a sweep and choose", **_CONTROL
)
def finish_sweep(sweep_id: SweepId, caller: CallerDep, store: StoreDep) -> Response:
    """Stop trying, choose among the complete trials, and fit the choice to all rows.

    While the choice is being fitted to all rows, its best tree so far is taken.
    """
    done = store.sweeps.control(caller.tenant, sweep_id, "finish")
    if advance(store, sweep_id):
        wake_workers(store)
    sweep = stored_sweep(store, caller.tenant, sweep_id)
    return _response(store, sweep, 200 if done.repeated else 202)


@router.post("/{sweep_id}/cancel", operation_id="cancel_sweep", summary="Cancel a sweep", **_CONTROL)
def cancel_sweep(sweep_id: SweepId, caller: CallerDep, store: StoreDep) -> Response:
    """Stop the sweep without a choice or a model. The trials that are complete are kept."""
    done = store.sweeps.control(caller.tenant, sweep_id, "cancel")
    return _response(store, done.sweep, 200 if done.repeated else 202)


@router.post("/{sweep_id}/pause", operation_id="pause_sweep", summary="Pause a sweep", **_CONTROL)
def pause_sweep(sweep_id: SweepId, caller: CallerDep, store: StoreDep) -> Response:
    """Start no more jobs of the sweep. Those that are running continue to their end."""
    done = store.sweeps.control(caller.tenant, sweep_id, "pause")
    return _response(store, done.sweep, 200 if done.repeated else 202)


@router.post("/{sweep_id}/resume", operation_id="resume_sweep", summary="Resume a paused sweep", **_CONTROL)
def resume_sweep(sweep_id: SweepId, caller: CallerDep, store: StoreDep) -> Response:
    """Start jobs of a paused sweep again."""
    done = store.sweeps.control(caller.tenant, sweep_id, "resume")
    wake_workers(store)
    return _response(store, done.sweep, 200 if done.repeated else 202)


@router.post(
    "/{sweep_id}/extend",
    operation_id="extend_sweep",
    summary="Continue a sweep that has ended",
    status_code=202,
    response_model=Sweep,
    openapi_extra=body_of(ExtendRequest, more_trials={"max_trials": 400, "time_limit": 1800}),
    responses={
        202: examples.answer("The sweep, which is queued again.", examples.SWEEP, headers=ETAG),
        **problems(
            404,
            409,
            415,
            422,
            429,
            s409="The sweep has not ended, or its dataset was deleted.",
            s422="The body cannot be used, or there would be nothing to do.",
            s429="The maximum number of jobs and sweeps that have not ended is reached, or there are too "
            "many calls.",
        ),
    },
)
def extend_sweep(
    sweep_id: SweepId,
    body: Annotated[ExtendRequest, Depends(strict_json(ExtendRequest))],
    caller: CallerDep,
    store: StoreDep,
    settings: SettingsDep,
) -> Response:
    """Add trials or time to a sweep that has ended. What is done is kept, and failed jobs are tried again.

    If only the last fit failed or was cancelled, it is done again.

    When it ends again, it chooses among all trials. Its earlier model is kept, too.
    """
    sweep = extend(store, caller.tenant, sweep_id, body, settings.max_live_jobs)
    if sweep.state is SweepState.CHOOSING:  # everything was done but the last fit
        advance(store, sweep_id)
        sweep = stored_sweep(store, caller.tenant, sweep_id)
    wake_workers(store)
    return _response(store, sweep, 202)
