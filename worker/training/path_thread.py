"""The thread of a sweep's job that finds the best trees of a fold for all penalties."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import structlog

from literati import StopReason as SearchStopReason
from literati.data.table import build
from literati.errors import DataWarning
from literati.search.options import SearchLimits
from literati.tuning.path import PathProgress, RegularizationPath, exact_ratio, path_of_table, path_options
from worker.domain.jobs import StopReason
from worker.domain.parameters import Limits
from worker.domain.progress import ProgressUpdate
from worker.domain.sweeps import FoldScores, Metric, ScoredTree
from worker.training.path_trees import pack_trees
from worker.training.training_task import TrainingTask
from worker.training.training_thread import FoldResult, TrainingThread
from worker.training.tree_evaluator import TreeEvaluator

log = structlog.get_logger(__name__)
_CHOSEN_BY_PATH = ("split_penalty", "changepoint_penalty", "polish")


class PathThread(TrainingThread):
    """Compute a regularization path, and score its trees on both parts of the rows.

    A path that is interrupted begins again in the next attempt, so its result does not depend on faults.
    """

    def stop(self, save: bool = True) -> None:
        """Ask the path to end, which takes about a quarter of a second. Nothing is saved."""
        self._stopping = True

    def change_limits(self, limits: Limits) -> None:
        """Do nothing: the jobs of a sweep keep their limits."""

    def seconds_over_limit(self) -> float:
        """Return 0: the searches of a path obey the time limit by themselves, and scores have none."""
        return 0.0

    def _work(self) -> None:
        place = self._job.spec.sweep
        assert place is not None
        assert place.changepoint_ratio is not None
        task = self._load()
        parameters = task.parameters
        options = path_options({name: v for name, v in parameters.items() if name not in _CHOSEN_BY_PATH})
        train = task.train
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # a fold may have constant columns
            table = build(
                train.X, train.y, train.weights, options.class_weight, options.categories, task.poll
            )
        path = path_of_table(
            table,
            options,
            exact_ratio(place.changepoint_ratio),
            SearchLimits(**self._limits.model_dump()),
            callback=self._report,
        )
        if path.stop_reason is SearchStopReason.USER_STOP:
            return
        result = fold_scores(path, task, TreeEvaluator(task, table))  # may be interrupted, too
        self.messages.put(self._last_update(path))
        self.messages.put(FoldResult(result.model_dump_json(), StopReason(path.stop_reason)))

    def _report(self, progress: PathProgress) -> bool:
        self.messages.put(_update(progress.expansions, progress.elapsed_seconds, progress.memory_bytes))
        return self._stopping

    def _last_update(self, path: RegularizationPath) -> ProgressUpdate:
        """Return the last update, with the trees in a blob."""
        data = pack_trees(self._job.spec.id, path)
        update = _update(path.expansions, path.seconds, 0)
        try:
            return update.model_copy(update={"snapshot": self._blobs.put(data), "snapshot_bytes": len(data)})
        except OSError as error:
            log.warning("trees not saved", error=repr(error))
            return update.model_copy(update={"log": "the trees could not be saved; their scores are known"})


def _update(expansions: int, seconds: float, memory: int) -> ProgressUpdate:
    """Return an update without a tree, whose bounds are not stored."""
    return ProgressUpdate(
        upper_bound=0.0,
        lower_bound=0.0,
        expansions=expansions,
        states_live=0,
        elapsed_seconds=seconds,
        memory_bytes=memory,
    )


def fold_scores(path: RegularizationPath, task: TrainingTask, evaluator: TreeEvaluator) -> FoldScores:
    """Score every tree of a path on the training rows and on the held-out rows."""
    segments = []
    for segment in path:
        if task.poll is not None:
            task.poll()
        scores = evaluator.scores(segment.tree)
        segments.append(
            ScoredTree(
                penalty_from=segment.penalty_from,
                penalty_to=None if segment is path[-1] else segment.penalty_to,
                found_penalty=segment.found_penalty,
                leaves=segment.leaves,
                changepoints=segment.changepoints,
                proven=segment.proven,
                gap=segment.gap,
                train=_metrics(scores["train"]),
                validation=_metrics(scores["validation"]),
            )
        )
    return FoldScores(
        weight=task.weight_share,
        segments=segments,
        stop_reason=path.stop_reason,
        seconds=path.seconds,
    )


def _metrics(scores: Mapping[str, Any]) -> dict[str, float | None]:
    return {metric.value: scores[metric.value] for metric in Metric}
