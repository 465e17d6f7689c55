"""Predictions as CSV or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from literati.cli.labels import label_text
from literati.cli.output_files import OUTPUT_FILE, note_written, open_output

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PREDICTION_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(["--probabilities"], is_flag=True, help="Also write the probability of each class."),
    OUTPUT_FILE,
)


def write_predictions(
    labels: npt.NDArray[Any],
    probabilities: npt.NDArray[np.float64] | None,
    classes: Sequence[Any],
    output: str,
    as_json: bool,
) -> None:
    """Write one prediction for each row: CSV with a header, or a JSON object of lists."""
    names = [label_text(label) for label in classes]
    shares = None if probabilities is None else probabilities.tolist()
    found = labels.tolist()
    with open_output(output, "w") as file:
        if as_json:
            data = {"predictions": found}
            if shares is not None:
                data["probabilities"] = [dict(zip(names, row, strict=True)) for row in shares]
            json.dump(data, file, ensure_ascii=False)
            file.write("\n")
        else:
            writer = csv.writer(file, lineterminator="\n")
            if shares is None:
                writer.writerow(["prediction"])
                writer.writerows([label_text(label)] for label in found)
            else:
                writer.writerow(["prediction", *(f"probability_{name}" for name in names)])
                rows = zip(found, shares, strict=True)
                writer.writerows([label_text(label), *row] for label, row in rows)
    note_written(f"{len(found):,} predictions to ", output)
