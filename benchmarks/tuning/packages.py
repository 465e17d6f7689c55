"""The packages that random search tunes, each with its own hyperparameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.runners.base import load_module
from benchmarks.tuning.search import Build, Grid, Parameters

MODEL_SEED = 0
COSTS = (0.0, 0.0003, 0.001, 0.002, 0.005, 0.01)  # of a split, as a share of the rows


@dataclass(frozen=True)
class Package:
    """An estimator and what is tuned. `leaves` returns the leaves of a model, and is None for ensembles."""

    distribution: str
    module: str
    estimator: str
    grid: Grid
    leaves: Callable[[Any], int] | None
    fixed: Parameters = field(default_factory=dict)
    has_time_limit: bool = False  # whether the estimator has a parameter `time_limit`

    def load(self) -> Build:
        """Import the package, and return a function that makes an estimator."""
        estimator = getattr(load_module(self.module), self.estimator)

        def build(parameters: Parameters, seconds: float) -> Any:
            limits = {"time_limit": seconds} if self.has_time_limit else {}
            return estimator(**self.fixed, **limits, **parameters)

        return build


def _occupied_leaves(model: Any) -> int:
    """Return the leaves of a shape-generalized tree that rows reach; TAO may leave others without rows."""
    return sum(node["is_leaf"] and node["n_samples"] > 0 for node in model.tree_export()["nodes"])


PACKAGES = {
    "cart": Package(
        "scikit-learn",
        "sklearn.tree",
        "DecisionTreeClassifier",
        {
            "max_depth": (None, *range(2, 13)),
            "min_samples_leaf": (1, 2, 5, 10, 20, 50),
            "ccp_alpha": (0.0, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02),
        },
        lambda model: int(model.get_n_leaves()),
        {"random_state": MODEL_SEED},
    ),
    "shapecart+tao": Package(
        "sgtlearn",
        "sgtlearn",
        "SGTClassifier",
        {
            "max_depth": (2, 3, 4, 5, 6),
            "num_partitions": (2, 3),  # branches of a split
            "inner_max_leaf_nodes": (2, 4, 8),  # 1, 3 and 7 change points
            "min_samples_leaf": (1, 5, 20),
            "tao_lambda": (0.0, 0.003, 0.01, 0.03),
        },
        _occupied_leaves,
        {"random_state": MODEL_SEED},
    ),
    "streed": Package(
        "pystreed",
        "pystreed",
        "STreeDClassifier",
        {
            "max_depth": (2, 3, 4, 5),
            "cost_complexity": COSTS,
            "min_leaf_node_size": (1, 5, 20),
            "n_thresholds": (8, 15, 30),
        },
        lambda model: int(model.get_n_leaves()),
        {"optimization_task": "cost-complex-accuracy", "continuous_binarize_strategy": "quantile"},
        has_time_limit=True,
    ),
    "contree": Package(
        "pycontree",
        "pycontree",
        "ConTree",
        {"max_depth": (2, 3, 4, 5), "complexity_cost": COSTS},
        lambda model: int(model.get_num_leaf_nodes()),
        {"max_gap": 0, "use_upper_bound": True, "sort_gini": True},
        has_time_limit=True,
    ),
    "forest": Package(
        "scikit-learn",
        "sklearn.ensemble",
        "RandomForestClassifier",
        {
            "max_depth": (None, 8, 16),
            "max_features": ("sqrt", 0.3, 0.6, 1.0),
            "min_samples_leaf": (1, 2, 5, 10),
        },
        None,
        {"random_state": MODEL_SEED, "n_jobs": 1},
    ),
    "boosting": Package(
        "scikit-learn",
        "sklearn.ensemble",
        "HistGradientBoostingClassifier",
        {
            "learning_rate": (0.03, 0.1, 0.2),
            "max_iter": (50, 100, 200),
            "max_leaf_nodes": (7, 15, 31, 63),
            "min_samples_leaf": (5, 20, 50),
            "l2_regularization": (0.0, 0.1, 1.0),
        },
        None,
        {"random_state": MODEL_SEED},
    ),
}
