"""Routes of sweeps: list, start, get, trials, leaderboard, paths, delete and restore."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from service.dependencies import BlobsDep, CallerDep, NotificationsDep, SettingsDep, StoreDep
from service.examples import sweeps as examples
from service.http.etags import json_response, matches, not_modified, weak_tag
from service.http.long_polling import LongPoll
from service.http.media_types import strict_json
from service.http.problems import FieldError, invalid, not_found, request_id_of
from service.http.strict_queries import CHECKED_OPTIONS
from service.schemas.fields import DATASET_ID
from service.schemas.parameters import (
    NOT_MODIFIED,
    IdempotencyKey,
    NoneMatch,
    PageSize,
    PageToken,
    Prefer,
    SweepId,
    body_of,
)
from service.schemas.problems import problems, restore_problems
from service.sweeps import submission
from service.sweeps.schemas import Leaderboard, Paths, Sweep, SweepPage, SweepRequest, TrialList
from service.sweeps.views import (
    complete_view,
    leaderboard,
    setting_paths,
    sorted_trials,
    sweep_summary,
    sweep_view,
    table_of,
)
from service.wake_workers import wake_workers
from worker.domain import sweeps as domain
from worker.domain.sweeps import SweepState, TrialState
from worker.store import Store

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/v1/sweeps", tags=["sweeps"], dependencies=[CHECKED_OPTIONS])
RETRY_SECONDS = 1

ETAG = {"ETag": examples.header("The entity tag of the sweep's current state.")}
_PREFERENCE_APPLIED = {"Preference-Applied": examples.header("The wait that applies: `wait=N`.")}
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": NOT_MODIFIED, "headers": {**ETAG, **_PREFERENCE_APPLIED}}
}


@router.get(
    "",
    operation_id="list_sweeps",
    summary="List sweeps",
    response_model=SweepPage,
    responses={
        200: examples.answer(
            "A page of sweeps.", {"items": [examples.SWEEP_SUMMARY], "next_page_token": None}
        ),
        **problems(422),
    },
)
def list_sweeps(
    caller: CallerDep,
    store: StoreDep,
    state: Annotated[
        list[SweepState] | None, Query(description="Only sweeps in one of these states.")
    ] = None,
    dataset_id: Annotated[
        str | None, Query(pattern=DATASET_ID, description="Only sweeps over this dataset.")
    ] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """List summaries of the sweeps, the newest first. `next_page_token` leads to the next page.

    With `dataset_id`, at most 5,000 sweeps are searched for one page. So a page may have fewer items than
    `page_size`, or none, although there is a next page.
    """
    page = store.sweeps.list(
        caller.tenant,
        states=tuple(state or ()),
        dataset_id=dataset_id,
        page_size=page_size,
        page_token=page_token,
    )
    items = [sweep_summary(store, sweep) for sweep in page.items]
    return json_response(SweepPage.model_construct(items=items, next_page_token=page.next_page_token))


@router.post(
    "",
    operation_id="create_sweep",
    summary="Start a sweep",
    status_code=202,
    response_model=Sweep,
    openapi_extra=body_of(SweepRequest, best_tree=examples.SHORTEST_REQUEST, flowers=examples.SWEEP_REQUEST),
    responses={
        200: examples.answer("The validated sweep (`validate_only`).", examples.SWEEP, model=Sweep),
        202: examples.answer(
            "The sweep is accepted.",
            examples.SWEEP,
            headers={
                **ETAG,
                "Location": examples.header("The URL of the sweep."),
                "Retry-After": examples.header(
                    "Seconds to wait before the first request for the sweep.", "integer"
                ),
                "Idempotency-Replayed": examples.header("`true`: the key created this sweep before."),
            },
        ),
        **problems(
            409,
            415,
            422,
            429,
            s409="The maximum number of sweeps or models is reached; delete some.",
            s429="The maximum number of jobs and sweeps that have not ended is reached, or there are too "
            "many calls.",
        ),
    },
)
async def create_sweep(
    request: Request,
    body: Annotated[SweepRequest, Depends(strict_json(SweepRequest))],
    caller: CallerDep,
    store: StoreDep,
    blobs: BlobsDep,
    settings: SettingsDep,
    idempotency_key: IdempotencyKey = None,
    validate_only: Annotated[
        bool,
        Query(description="Check the request and return the sweep with its defaults, but do not start it."),
    ] = False,
) -> Response:
    """Find the tree of a dataset that is best on new rows: try settings by cross-validation, choose, refit.

    With nothing but a dataset, depths 2 to 5 with 1 to 3 change points are tried, each with all penalties.
    Requests with the same `Idempotency-Key` start only one sweep. With `validate_only` no sweep is started,
    and the returned sweep has an id of zeros.
    """
    if validate_only:
        planned = await run_in_threadpool(submission.plan_sweep, body, caller.tenant, store, blobs, settings)
        return json_response(complete_view(*submission.preview_sweep(planned), None))
    submitted = await run_in_threadpool(
        submission.submit,
        *(body, caller.tenant, store, blobs, settings, idempotency_key, request_id_of(request)),
    )
    sweep = submitted.sweep
    if submitted.created:
        log.info("sweep accepted", sweep_id=sweep.spec.id, dataset_id=sweep.spec.dataset_id)
        await run_in_threadpool(wake_workers, store)
    headers = {
        "Location": f"/v1/sweeps/{sweep.spec.id}",
        "Retry-After": str(RETRY_SECONDS),
        "ETag": weak_tag(sweep.revision),
    }
    if not submitted.created:
        headers["Idempotency-Replayed"] = "true"
    view = await run_in_threadpool(sweep_view, store, sweep)
    return json_response(view, status=202, headers=headers)


@router.get(
    "/{sweep_id}",
    operation_id="get_sweep",
    summary="Get a sweep",
    response_model=Sweep,
    responses={
        200: examples.answer("The sweep.", examples.SWEEP, headers={**ETAG, **_PREFERENCE_APPLIED}),
        **_NOT_MODIFIED,
        **problems(404),
    },
)
async def get_sweep(
    request: Request,
    sweep_id: SweepId,
    caller: CallerDep,
    store: StoreDep,
    notifications: NotificationsDep,
    if_none_match: NoneMatch = None,
    prefer: Prefer = None,
) -> Response:
    """Get the state, the progress and the best trial of a sweep, and links to the next actions.

    With `Prefer: wait=30` the response is sent when the revision changes: from the one in `If-None-Match`, or
    from the current one. The revision changes when a job of the sweep starts or ends. A sweep that has ended
    does not change, so its response is immediate.
    """
    wait = LongPoll(request, notifications, sweep_id, caller.tenant)
    first: list[int] = []

    def changed(sweep: domain.Sweep) -> bool:
        first[:] = first or [sweep.revision]
        if sweep.state.terminal or sweep.revision != first[0]:
            return True
        return if_none_match is not None and not matches(request, weak_tag(sweep.revision))

    sweep = await wait.until(lambda: stored_sweep(store, caller.tenant, sweep_id), changed)
    tag = weak_tag(sweep.revision)
    if matches(request, tag):
        return not_modified(tag, wait.headers)
    view = await run_in_threadpool(sweep_view, store, sweep)
    return json_response(view, tag=tag, headers=wait.headers)


def stored_sweep(store: Store, tenant: str, sweep_id: str) -> domain.Sweep:
    """Return the sweep; raise the problem 404 if there is none."""
    sweep = store.sweeps.get(tenant, sweep_id)
    if sweep is None:
        raise not_found("sweep")
    return sweep


@router.get(
    "/{sweep_id}/trials",
    operation_id="list_trials",
    summary="List the trials of a sweep",
    response_model=TrialList,
    responses={200: examples.answer("The trials.", examples.TRIALS), **problems(404, 422)},
)
def list_trials(
    sweep_id: SweepId,
    caller: CallerDep,
    store: StoreDep,
    sort: Annotated[
        Literal["number", "mean", "leaves", "seconds"],
        Query(description="Trials in which it is not known come last."),
    ] = "number",
    order: Annotated[Literal["asc", "desc"], Query(description="Ascending or descending.")] = "asc",
    state: Annotated[
        list[TrialState] | None, Query(description="Only trials in one of these states.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="The maximum number of trials.")] = 1000,
    offset: Annotated[int, Query(ge=0, le=1_000_000, description="Skip so many trials.")] = 0,
) -> Response:
    """List the trials: the settings, or with `path` the intervals of penalties of each complete setting.

    A trial has a number when all settings before it are complete.
    """
    sweep = stored_sweep(store, caller.tenant, sweep_id)
    table, _ = table_of(store, sweep)
    trials = [trial for trial in table.trials if not state or trial.state in state]
    ordered = sorted_trials(trials, sort, descending=order == "desc")
    return json_response(
        TrialList.model_construct(
            sweep_id=sweep_id,
            metric=sweep.spec.metric,
            items=ordered[offset : offset + limit],
            total=len(trials),
        )
    )


@router.get(
    "/{sweep_id}/leaderboard",
    operation_id="get_leaderboard",
    summary="Get the best trials of a sweep",
    response_model=Leaderboard,
    responses={
        200: examples.answer("The best trials.", examples.LEADERBOARD, headers=ETAG),
        304: {"description": NOT_MODIFIED, "headers": ETAG},
        **problems(404, 422),
    },
)
def get_leaderboard(
    request: Request,
    sweep_id: SweepId,
    caller: CallerDep,
    store: StoreDep,
    limit: Annotated[int, Query(ge=1, le=1000, description="The maximum number of trials.")] = 20,
    if_none_match: NoneMatch = None,
) -> Response:
    """Get the complete trials by rank, then leaves, and the trial that is chosen, with the reason.

    Before the choice is made, `chosen` is what would be chosen now.
    """
    sweep = stored_sweep(store, caller.tenant, sweep_id)
    tag = weak_tag(sweep.revision)
    if matches(request, tag):
        return not_modified(tag)
    table, _ = table_of(store, sweep)
    return json_response(leaderboard(sweep, table, limit), tag=tag)


@router.get(
    "/{sweep_id}/paths",
    operation_id="get_paths",
    summary="Get the scores of a sweep by penalty",
    response_model=Paths,
    responses={
        200: examples.answer("The series of each setting.", examples.PATHS, headers=ETAG),
        304: {"description": NOT_MODIFIED, "headers": ETAG},
        **problems(404, 422),
    },
)
def get_paths(
    request: Request,
    sweep_id: SweepId,
    caller: CallerDep,
    store: StoreDep,
    setting: Annotated[
        int | None, Query(ge=0, le=1_000_000, description="Only the setting with this number.")
    ] = None,
    if_none_match: NoneMatch = None,
) -> Response:
    """Get series for charts: the mean and the size of the trials by penalty, and the trees of each fold.

    All penalties are meant for all rows.
    """
    sweep = stored_sweep(store, caller.tenant, sweep_id)
    tag = weak_tag(sweep.revision)
    if matches(request, tag):
        return not_modified(tag)
    table, results = table_of(store, sweep)
    numbers = range(len(results.units))
    if setting is not None and setting not in numbers:
        message = f"The sweep has {len(numbers)} settings, which are counted from 0."
        raise invalid(FieldError("/query/setting", "NOT_FOUND", message))
    chosen = numbers if setting is None else [setting]
    return json_response(setting_paths(sweep, table, results, chosen), tag=tag)


@router.delete(
    "/{sweep_id}",
    operation_id="delete_sweep",
    summary="Delete a sweep that has ended",
    status_code=204,
    response_class=Response,
    responses={
        204: {"description": "The sweep is deleted."},
        **problems(404, 409, s409="The sweep has not ended; cancel it first."),
    },
)
def delete_sweep(sweep_id: SweepId, caller: CallerDep, store: StoreDep, settings: SettingsDep) -> Response:
    """Delete a sweep with its jobs and results. Its models are kept.

    The sweep can be restored for LITERATI_KEEP_DELETED_HOURS, a day by default.
    """
    store.sweeps.delete(caller.tenant, sweep_id, keep=settings.keep_deleted_hours > 0)
    return Response(status_code=204)


@router.post(
    "/{sweep_id}/restore",
    operation_id="restore_sweep",
    summary="Restore a deleted sweep",
    response_model=Sweep,
    responses={
        200: examples.answer("The restored sweep.", examples.SWEEP),
        **restore_problems("sweep", "number of sweeps"),
    },
)
def restore_sweep(sweep_id: SweepId, caller: CallerDep, store: StoreDep, settings: SettingsDep) -> Response:
    """Restore a deleted sweep with everything that belongs to it. Other sweeps are returned unchanged."""
    sweep = store.sweeps.restore(caller.tenant, sweep_id, max_sweeps=settings.max_sweeps)
    return json_response(sweep_view(store, sweep))
