"""SQL exports in DuckDB and in a PostgreSQL server of Debian."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from literati.data.schema import Column
from literati.tree.export.conditions import ExportError
from tests.interop.expected import ONE_TYPE, Expected, Key, expected, infinite, with_nan

TABLE = 'my "rows"'


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def column_type(column: Column, cells: list[Any], names: dict[str, str]) -> str:
    """Return the type of a database column that holds all cells."""
    known = [cell for cell in cells if cell is not None]
    if column.kind == "boolean":
        return "BOOLEAN"
    if any(isinstance(cell, str) for cell in known):
        return names["text"]
    return "BIGINT" if all(isinstance(cell, int) for cell in known) else names["double"]


def prepared(problem: Expected, names: dict[str, str]) -> tuple[str, list[tuple[Any, ...]]]:
    """Return the statement that creates the table, and its rows."""
    convert = {"BOOLEAN": bool, names["double"]: float}
    columns = problem.tree.schema.columns
    cells = [[row[column.name] for row in problem.rows] for column in columns]
    types = [column_type(column, values, names) for column, values in zip(columns, cells, strict=True)]
    parts = [f"{quoted(column.name)} {kind}" for column, kind in zip(columns, types, strict=True)]
    converted = [
        [None if cell is None else convert.get(kind, lambda x: x)(cell) for cell in values]
        for kind, values in zip(types, cells, strict=True)
    ]
    create = f"CREATE TABLE {quoted(TABLE)} (place INTEGER, {', '.join(parts)})"
    return create, [(place, *row) for place, row in enumerate(zip(*converted, strict=True))]


def check(problem: Expected, found: list[tuple[Any, ...]]) -> None:
    width = len(problem.names) + 2  # the leaf, the place and the columns come first
    answers = zip(found, problem.leaves, problem.labels, problem.probabilities, strict=True)
    for row, leaf, label, shares in answers:
        assert (row[0], row[width], list(row[width + 1 :])) == (leaf, label, shares)


def check_duckdb(problem: Expected) -> None:
    create, rows = prepared(problem, {"text": "VARCHAR", "double": "DOUBLE"})
    with duckdb.connect() as database:
        database.execute(create)
        database.executemany(f"INSERT INTO {quoted(TABLE)} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        query = problem.tree.to_sql("duckdb", TABLE).rstrip().removesuffix(";")
        check(problem, database.execute(f"{query} ORDER BY place").fetchall())


@pytest.mark.parametrize("key", ONE_TYPE)
def test_duckdb(key: Key) -> None:
    check_duckdb(expected(key, exact=False))


@pytest.mark.parametrize("problem", [infinite, with_nan])
def test_duckdb_takes_infinity_for_a_large_number_and_nan_for_null(problem: Callable[[], Expected]) -> None:
    check_duckdb(problem())


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    """Start a server; PostgreSQL refuses to run as root, so it runs as the user of Debian's package then.

    Its folder is not below pytest's, which every run of pytest closes to other users.
    """
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not binaries:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []

    def call(name: str, *arguments: str) -> None:
        subprocess.run([*as_user, str(binaries[-1] / name), *arguments], check=True, capture_output=True)

    with tempfile.TemporaryDirectory(prefix="literati-") as folder:
        if as_user:
            shutil.chown(folder, "postgres")
        data, options = f"{folder}/data", f"-k {folder} -c listen_addresses=''"
        call("initdb", "-D", data, "-U", "tester", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8")
        call("pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", options, "start")
        yield f"host={folder} user=tester dbname=postgres"
        call("pg_ctl", "-D", data, "-m", "immediate", "stop")


@pytest.mark.parametrize("dialect", ["postgresql", "ansi"])
@pytest.mark.parametrize("key", ONE_TYPE)
def test_postgresql(postgresql: str, key: Key, dialect: str) -> None:
    """The ANSI form has no test for NaN, which these rows do not contain, and refuses backslashes."""
    if (key, dialect) == ("odd_names", "ansi"):
        with pytest.raises(ExportError, match="backslash"):
            check_postgresql(postgresql, expected(key, exact=False), dialect)
        return
    check_postgresql(postgresql, expected(key, exact=False), dialect)


@pytest.mark.parametrize("problem", [infinite, with_nan])
def test_postgresql_takes_infinity_for_a_large_number_and_nan_for_null(
    postgresql: str, problem: Callable[[], Expected]
) -> None:
    check_postgresql(postgresql, problem(), "postgresql")


def check_postgresql(postgresql: str, problem: Expected, dialect: str) -> None:
    create, rows = prepared(problem, {"text": "TEXT", "double": "DOUBLE PRECISION"})
    with psycopg.connect(postgresql) as database, database.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {quoted(TABLE)}".encode())
        cursor.execute(create.encode())
        marks = ", ".join(["%s"] * len(rows[0]))
        cursor.executemany(f"INSERT INTO {quoted(TABLE)} VALUES ({marks})".encode(), rows)
        query = problem.tree.to_sql(dialect, TABLE).rstrip().removesuffix(";")
        found = cursor.execute(f"{query} ORDER BY place".encode()).fetchall()
    check(problem, found)
