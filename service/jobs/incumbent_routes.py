"""Routes of a job's trees: the best one so far, an earlier one, and the scores of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service.dependencies import CallerDep, NotificationsDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.http.etags import (
    json_response,
    matches,
    matches_in_essence,
    not_modified,
    strong_tag,
    weak_tag,
)
from service.http.long_polling import LongPoll
from service.http.problems import Problem, not_found
from service.http.strict_queries import CHECKED_OPTIONS
from service.jobs.routes import ETAG, PREFERENCE_APPLIED, RETRY_SECONDS, stored_job
from service.jobs.schemas import Incumbent, IncumbentScores, NoIncumbentYet, ScoreSeries
from service.jobs.views import current_incumbent, frozen_incumbent
from service.schemas.parameters import NOT_MODIFIED, JobId, NoneMatch, Prefer
from service.schemas.problems import problems
from worker.domain import jobs as domain
from worker.store import Store

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED_OPTIONS])
_HEADERS = {"ETag": examples.header("A strong entity tag of the tree and its bounds."), **PREFERENCE_APPLIED}


@dataclass(frozen=True)
class Snapshot:
    """A job and the requested tree, if it exists, at one point in time."""

    job: domain.Job
    found: domain.Incumbent | None
    frozen: bool  # the request names the revision

    @property
    def tag(self) -> str | None:
        """Return the strong entity tag of the tree and its bounds."""
        if self.found is None:
            return None
        if self.frozen:
            return strong_tag(self.found.revision)
        progress = self.job.progress
        bounds = (progress.upper_bound, progress.lower_bound, progress.stage, self.job.proven_optimal)
        explored = (progress.explored, progress.seconds_left, self.job.proven_space)
        return strong_tag(self.found.revision, *bounds, minor=explored)


def _read(store: Store, tenant: str, job_id: str, revision: int | None, max_incumbents: int) -> Snapshot:
    """Read the job and then its tree, so that the bounds are not newer than the tree."""
    job = stored_job(store, tenant, job_id)
    chosen = job.progress.incumbents if revision is None else revision
    found = None
    if 0 < chosen <= job.progress.incumbents:
        found = store.jobs.incumbent(tenant, job_id, chosen)
        if found is None:
            limit = f"the last {max_incumbents:,} trees of a job are (LITERATI_MAX_INCUMBENTS)"
            raise Problem(404, f"This tree is not kept any more; only {limit}.", kind="not-found")
    return Snapshot(job, found, revision is not None)


@router.get(
    "/{job_id}/incumbent",
    operation_id="get_incumbent",
    summary="Get the best tree so far",
    response_model=Incumbent,
    responses={
        200: examples.answer("The tree and its bounds.", examples.INCUMBENT, headers=_HEADERS),
        202: examples.answer(
            "There is no tree yet, or not the requested one.",
            examples.NO_INCUMBENT,
            headers={"Retry-After": examples.header("Seconds to wait.", "integer"), **PREFERENCE_APPLIED},
            model=NoIncumbentYet,
        ),
        304: {"description": NOT_MODIFIED, "headers": _HEADERS},
        **problems(404, 422, s404="There is no such job, or it has no such tree."),
    },
)
async def get_incumbent(
    request: Request,
    job_id: JobId,
    caller: CallerDep,
    store: StoreDep,
    notifications: NotificationsDep,
    settings: SettingsDep,
    revision: Annotated[
        int | None,
        Query(
            ge=1,
            le=1 << 53,
            description="The revision of the tree, which is returned with the bounds of the time when it was "
            "found. By default the best tree with the current bounds.",
        ),
    ] = None,
    if_none_match: NoneMatch = None,
    prefer: Prefer = None,
) -> Response:
    """Get the tree, its cost and its bounds, which limit how far it is from the best tree of its space.

    With `Prefer: wait` the response is sent as soon as the tree or its bounds differ from those of
    `If-None-Match`; a change of the explored share alone is not awaited. With `revision=N` as well, it is
    sent when tree N exists: request 1, 2, 3, ... to get every tree. If the tree does not exist in time, the
    status is 202.
    """
    wait = LongPoll(request, notifications, job_id, caller.tenant)

    def read() -> Snapshot:
        return _read(store, caller.tenant, job_id, revision, settings.max_incumbents)

    def is_done(snapshot: Snapshot) -> bool:
        tag = snapshot.tag
        found = tag is not None and (snapshot.frozen or not matches_in_essence(request, tag))
        return found or snapshot.job.state.terminal

    snapshot = await wait.until(read, is_done)
    found, tag = snapshot.found, snapshot.tag
    if found is None or tag is None:
        return _no_incumbent(snapshot, wait)
    if matches(request, tag):
        return not_modified(tag, wait.headers)
    view = frozen_incumbent(found) if snapshot.frozen else current_incumbent(found, snapshot.job)
    return json_response(view, tag=tag, headers=wait.headers)


@router.get(
    "/{job_id}/scores",
    operation_id="get_scores",
    summary="Get the scores of all trees",
    response_model=ScoreSeries,
    responses={
        200: examples.answer("The scores, the oldest tree first.", examples.SCORES, headers=ETAG),
        304: {"description": NOT_MODIFIED, "headers": ETAG},
        **problems(404),
    },
)
def get_scores(
    request: Request,
    job_id: JobId,
    caller: CallerDep,
    store: StoreDep,
    settings: SettingsDep,
    if_none_match: NoneMatch = None,
) -> Response:
    """Get how good each tree of the job is on training rows and on held-out rows, for a plot over time.

    The first trees of a job that has found very many are no longer kept.
    """
    tag = weak_tag(stored_job(store, caller.tenant, job_id).progress.incumbents)
    if matches(request, tag):
        return not_modified(tag)
    found = store.jobs.incumbent_scores(caller.tenant, job_id, settings.max_incumbents)
    points = [IncumbentScores(**{**dict(point), **dict(point.scores)}) for point in found]
    return json_response(ScoreSeries(job_id=job_id, points=points), tag=tag)


def _no_incumbent(snapshot: Snapshot, wait: LongPoll) -> Response:
    """Respond with 202 if the tree may still be found, else with 404."""
    job = snapshot.job
    if job.state.terminal or (snapshot.frozen and not wait.preferred):
        raise not_found("tree")
    body = NoIncumbentYet(job_id=job.spec.id, state=job.state, revision=job.progress.incumbents)
    return json_response(body, status=202, headers={**wait.headers, "Retry-After": str(RETRY_SECONDS)})
