"""Predictions as CSV or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from literati.cli.output import note

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PREDICTION_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(["--probabilities"], is_flag=True, help="Also write the probability of each class."),
    click.Option(
        ["--output", "-o"],
        type=click.Path(dir_okay=False, writable=True),
        help="File to write. Default: standard output.",
    ),
)


def write_predictions(
    labels: npt.NDArray[Any],
    probabilities: npt.NDArray[np.float64] | None,
    classes: Sequence[Any],
    output: str | None,
    as_json: bool,
) -> None:
    """Write one prediction for each row: CSV with a header, or a JSON object of lists."""
    names = [str(name).lower() if isinstance(name, bool) else str(name) for name in classes]
    shares = None if probabilities is None else probabilities.tolist()
    found = labels.tolist()
    with click.open_file(output or "-", "w", encoding="utf-8") as file:
        if as_json:
            data = {"predictions": found}
            if shares is not None:
                data["probabilities"] = [dict(zip(names, row, strict=True)) for row in shares]
            json.dump(data, file, ensure_ascii=False)
            file.write("\n")
            return
        writer = csv.writer(file, lineterminator="\n")
        if shares is None:
            writer.writerow(["prediction"])
            writer.writerows([_cell(label)] for label in found)
        else:
            writer.writerow(["prediction", *(f"probability_{name}" for name in names)])
            rows = zip(found, shares, strict=True)
            writer.writerows([_cell(label), *row] for label, row in rows)
    if output is not None:
        note(f"Wrote {len(found):,} predictions to {output}.")


def _cell(label: Any) -> Any:
    return str(label).lower() if isinstance(label, bool) else label
