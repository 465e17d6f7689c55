"""`literati predict`: predictions with a model file, without a server."""

from __future__ import annotations

from typing import Any

import click

from literati.cli.errors import InputError, library_sentence
from literati.cli.output import JSON, warn
from literati.cli.predictions import PREDICTION_OPTIONS, write_predictions
from literati.cli.table_options import CSV_OPTIONS, INPUT_FILE
from literati.cli.tables.input_files import open_input, shown_name
from literati.cli.tables.rows import read_rows
from literati.cli.tables.sources import open_source
from literati.errors import ModelFormatError
from literati.tree.model import ShapeTree


@click.command("predict", params=[*PREDICTION_OPTIONS, *CSV_OPTIONS, JSON])
@click.argument("model", type=INPUT_FILE)
@click.argument("data", type=INPUT_FILE)
def command(
    model: str, data: str, output: str, probabilities: bool, as_json: bool, **csv_options: Any
) -> None:
    """Predict the rows of the table DATA with the file MODEL that `literati fit` wrote.

    Columns are found by their names; those that the tree does not use may be absent.
    """
    tree = read_model(model)
    rows = read_rows(open_source(data, **csv_options), tree)
    try:
        encoded = tree.encode(rows)
    except (TypeError, ValueError) as error:  # how the library refuses cells, such as infinite ones
        raise InputError(library_sentence(error)) from None
    for name, categories in encoded.unknown.items():
        shown = ", ".join(map(repr, categories[:5])) + (", ..." if len(categories) > 5 else "")
        warn(f"Column {name!r} has categories that were not in the training data: {shown}.")
    shares = tree.predict_proba(encoded) if probabilities else None
    write_predictions(tree.predict(encoded), shares, tree.classes.tolist(), output, as_json)


def read_model(path: str) -> ShapeTree:
    """Read a model file. Raise InputError if it is none."""
    try:
        with open_input(path) as file:
            return ShapeTree.from_json(file.read())
    except ModelFormatError as error:
        raise InputError(f"{shown_name(path)} is not a model that `literati fit` wrote: {error}") from None
