"""Download the datasets of the benchmarks: `python -m benchmarks.download DIR`.

The values are not scaled, because trees do not depend on the scale of a column.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.runners.base import load_module

OPENML = {
    "bank": 1462,
    "bidding": 42889,
    "fault": 40982,
    "htru": 45558,
    "magic": 1120,  # all 19020 rows; 44125 is a subset with balanced classes
    "mushroom": 24,
    "page": 30,
    "pendigits": 32,
    "segment": 40984,
    "wilt": 40983,
}
UCI = {"raisin": 850, "rice": 545, "room": 864}  # these have no stable number on OpenML
UCI_ADDRESS = "https://archive.ics.uci.edu/static/public/{}/data.csv"
NOT_FEATURES = ["Date", "Time"]  # columns of room


def main(folder: Path) -> None:
    fetch_openml = load_module("sklearn.datasets").fetch_openml
    pandas = load_module("pandas")
    folder.mkdir(parents=True, exist_ok=True)
    for name, number in OPENML.items():
        X, y = fetch_openml(data_id=number, return_X_y=True, as_frame=True)
        X.assign(target=y.to_numpy()).to_csv(folder / f"{name}.csv.gz", index=False)
        print(name, X.shape)
    for name, number in UCI.items():
        frame = pandas.read_csv(UCI_ADDRESS.format(number)).drop(columns=NOT_FEATURES, errors="ignore")
        label = frame.columns[-1]
        frame.rename(columns={label: "target"}).to_csv(folder / f"{name}.csv.gz", index=False)
        print(name, frame.shape)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.download DIR")
    main(Path(sys.argv[1]))
