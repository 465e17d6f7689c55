"""Fit a tree for MLServer with the packages of its environment.

Run it with the Python of that environment: `python fit_sklearn.py ROWS.csv DEPTH MODEL.joblib`.
"""

from __future__ import annotations

import sys

import joblib
import numpy as np
from sklearn.tree import DecisionTreeClassifier


def main(rows: str, depth: str, model: str) -> None:
    table = np.genfromtxt(rows, delimiter=",", skip_header=1, dtype=str)
    tree = DecisionTreeClassifier(max_depth=int(depth), random_state=0)
    tree.fit(table[:, :-1].astype(float), np.unique(table[:, -1], return_inverse=True)[1])
    joblib.dump(tree, model)


if __name__ == "__main__":
    main(*sys.argv[1:])
