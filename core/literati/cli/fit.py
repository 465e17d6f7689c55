"""`literati fit`: a search on this machine, without a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from literati.cli.errors import InputError, NotProvenError, library_sentence
from literati.cli.labels import weights_by_label
from literati.cli.model_files import ModelFiles
from literati.cli.output import JSON, REQUIRE_PROOF, note, print_json
from literati.cli.parameters import given_parameters, parameter_options
from literati.cli.search_run import run_search
from literati.cli.table_options import COLUMN_OPTIONS, CSV_OPTIONS, INPUT_FILE, checked_types
from literati.cli.tables.sources import open_source
from literati.cli.tables.training import TrainingFile, read_training
from literati.cli.tune import LISTS, TUNE_OPTIONS, check_tune_options, tune

FIT_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(
        ["--output", "-o"],
        type=click.Path(file_okay=False),
        default=".",
        show_default=True,
        metavar="FOLDER",
        help="Folder for model.json and tree.svg.",
    ),
    REQUIRE_PROOF,
    JSON,
)


@click.command(
    "fit",
    params=[*COLUMN_OPTIONS, *FIT_OPTIONS, *TUNE_OPTIONS, *parameter_options(lists=LISTS), *CSV_OPTIONS],
)
@click.argument("data", type=INPUT_FILE)
def command(data: str, output: str, require_proof: bool, as_json: bool, tuned: bool, **options: Any) -> None:
    """Find an optimal tree for the table DATA, print it, and write it to model.json and tree.svg.

    DATA is a CSV with a header line, also compressed with gzip, or a Parquet or Arrow file, or - for standard
    input. Missing values and categories need no preparation.

    A line shows the progress: the bounds, their gap and the explored share of the search space. Ctrl-C ends
    the search with the best tree so far, and a second Ctrl-C ends the program at once.
    """
    parameters = given_parameters(options)
    check_tune_options(tuned, parameters, options)
    table = _read(data, options)
    parameters = _with_labels(parameters, table)
    files = ModelFiles.prepare(output)
    try:
        fitted = tune(table, parameters, options) if tuned else run_search(table, parameters)
    except (TypeError, ValueError) as error:  # how the library refuses data and combinations of parameters
        raise InputError(library_sentence(error)) from None
    files.write(fitted.tree)
    note(fitted.summary)
    note(f"Wrote {files.model} and {files.drawing}.")
    if as_json:
        print_json({**fitted.facts, "model": str(files.model), "drawing": str(files.drawing)})
    else:
        click.echo(fitted.tree.to_text(), nl=False)
    if require_proof and not fitted.tree.proof.proven_optimal:
        raise NotProvenError("The tree is not proven optimal; give the search more time or a smaller depth.")


def _read(data: str, options: Mapping[str, Any]) -> TrainingFile:
    reading = ("encoding", "delimiter", "decimal", "null_values")
    source = open_source(data, **{name: options[name] for name in reading})
    columns = {name: options[name] for name in ("target", "weight", "drop")}
    return read_training(source, types=checked_types(options["types"]), **columns)


def _with_labels(parameters: dict[str, Any], table: TrainingFile) -> dict[str, Any]:
    """Return the parameters with class weights by label instead of its text."""
    weights = parameters.get("class_weight")
    if not isinstance(weights, dict):
        return parameters
    return {**parameters, "class_weight": weights_by_label(weights, set(table.y.tolist()))}
