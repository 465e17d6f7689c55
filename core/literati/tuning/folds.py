"""The folds of a cross-validation."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

Indices = npt.NDArray[np.intp]
Fold = tuple[Indices, Indices]  # training rows and held-out rows


def split_rows(
    cv: Any, random_state: Any, X: Any, codes: npt.NDArray[np.int32], groups: Any = None
) -> list[Fold]:
    """Return the folds of a number of folds, a splitter or pairs of rows, for rows of these classes."""
    rows = X
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(int(cv), shuffle=True, random_state=random_state)
        rows = codes
    splitter = check_cv(cv, codes, classifier=True)
    folds = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(rows, codes, groups)]
    if not folds:
        raise ValueError("cv: expected one fold or more, got none")
    for number, (train, test) in enumerate(folds):
        if len(np.unique(codes[train])) < 2 or not len(test):
            raise ValueError(
                f"cv: fold {number} has training rows of one class only, or no test rows; use fewer folds"
            )
    return folds
