"""Files that commands read from pipes and in other encodings, and files that they replace."""

from __future__ import annotations

import codecs
import errno
import gzip
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
from click.testing import CliRunner

from literati import ShapeTree
from literati.cli.app import COMMANDS, app
from literati.cli.errors import InputError
from literati.cli.output_files import open_output
from literati.cli.parameters import DEFINITIONS
from literati.cli.tables.input_files import file_to_send
from tests.cli.conftest import LOANS, Run
from tests.support.http.scripted_server import Answer, ScriptedServer


@pytest.fixture
def model(run: Run, loans: Path) -> str:
    run("fit", loans, "-t", "repaid", "-o", "fitted")
    return "fitted/model.json"


def filled_pipe(path: Path, content: bytes) -> Path:
    """Return a named pipe, into which a thread writes."""
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes(content), daemon=True).start()
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_tables_and_models_from_pipes(
    run: Run, model: str, loans: Path, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    expected, predicted = Path(model).read_bytes(), run("predict", model, loans).stdout
    table = pack(LOANS.encode())
    words = ["fit", "-", "--target", "repaid", "-o", "again"]
    assert CliRunner().invoke(app, words, input=table).exit_code == 0
    assert Path("again/model.json").read_bytes() == expected
    run("fit", filled_pipe(tmp_path / "pipe", table), "--target", "repaid", "-o", "piped")
    assert Path("piped/model.json").read_bytes() == expected
    result = CliRunner().invoke(app, ["predict", "-", str(loans)], input=expected)
    assert result.stdout == predicted
    result = CliRunner().invoke(app, ["predict", model, "-"], input=table)
    assert result.stdout == predicted


def test_pipes_that_hold_nothing_or_no_model(model: str, loans: Path) -> None:
    result = CliRunner().invoke(app, ["fit", "-", "-t", "y"], input=b"")
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: Standard input is empty; expected a header line and rows.\n",
    )
    result = CliRunner().invoke(app, ["predict", "-", str(loans)], input=b"{}")
    assert result.exit_code == 2
    assert "Standard input is not a model" in result.stderr


def test_standard_input_of_a_process(run: Run, model: str, loans: Path) -> None:
    command = f"cat {loans} | {sys.executable} -m literati predict {model} /dev/stdin"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, run("predict", model, loans).stdout), done.stderr


def test_damaged_gzip_files(run: Run, model: str) -> None:
    whole = gzip.compress(LOANS.encode(), mtime=0)
    damaged = [whole[:2], whole[: len(whole) // 2], whole[:2] + b"\7" * 20]
    damaged += [
        whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :] for place in range(10, len(whole), 9)
    ]
    for content in damaged:
        Path("t.csv.gz").write_bytes(content)
        for words in (("fit", "t.csv.gz", "-t", "repaid"), ("predict", model, "t.csv.gz")):
            assert run(*words, code=2).stderr == (
                "Error: t.csv.gz is not a complete gzip file; compress it again.\n"
            )


def test_infinite_cells_of_rows_to_predict(run: Run, model: str) -> None:
    rows = {"age": [20.0, float("inf")], "job": ["clerk", "nurse"]}
    pl.DataFrame(rows).write_parquet("new.parquet")
    assert run("predict", model, "new.parquet", code=2).stderr == (
        "Error: Column 'age' contains infinity; expected finite numbers (NaN where missing).\n"
    )
    pl.DataFrame(rows).write_csv("new.csv")
    assert "'age' is infinite in row 2" in run("predict", model, "new.csv", code=2).stderr


def test_a_reader_that_leaves() -> None:
    """`literati jobs list | head -1` ends without a message."""
    job = {
        "name": "a job",
        "state": "SUCCEEDED",
        "proven_optimal": True,
        "created_at": "2024-01-01T00:00:00Z",
        "model_id": None,
        "progress": {"objective": 1.0, "gap_relative": 0.0},
    }
    jobs = {"items": [{"id": f"job_{number}", **job} for number in range(3000)], "next_page_token": None}
    with ScriptedServer(Answer(200, jobs)) as server:
        command = f"{sys.executable} -m literati jobs list --limit 3000 --url {server.url} | head -1"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout.split()[:2], done.stderr) == (["ID", "NAME"], "")


def test_encodings(run: Run, loans: Path, model: str) -> None:
    text = LOANS.replace("nurse", "Krankenpfleger für Ältere €")
    for name in ("windows-1252", "utf-16", "utf-8", "utf-16-le"):
        for pack in (bytes, gzip.compress):
            mark = codecs.BOM_UTF16_LE if name == "utf-16-le" else b""
            loans.write_bytes(pack(mark + text.encode(name)))
            run("fit", loans, "-t", "repaid", "--encoding", name)
            tree = ShapeTree.from_json(Path("model.json").read_text())
            assert "Krankenpfleger für Ältere €" in tree.schema.columns[1].categories
            told = run("predict", "model.json", loans, "--encoding", name).stderr
            assert told == ""
    loans.write_bytes(text.encode("windows-1252"))
    for words in (("fit", loans, "-t", "repaid"), ("predict", model, loans)):
        assert run(*words, code=2).stderr == (
            f"Error: {loans} is not UTF-8 text; name its encoding, such as --encoding windows-1252, or save "
            "it as UTF-8.\n"
        )
        assert "is not text in the encoding utf-16" in run(*words, "--encoding", "utf-16", code=2).stderr
        for name in ("klingon", "hex", "a\0"):
            assert "there is no encoding" in run(*words, "--encoding", name, code=2).stderr


def test_what_is_sent_to_a_server(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    text = "größe\ty\n1\tä\n"
    path.write_bytes(text.encode("latin-1"))
    with file_to_send(str(path), None) as sent:
        assert sent == path
    with file_to_send(str(path), "latin-1") as sent:
        assert (sent.read_bytes(), sent.suffix) == (text.encode(), ".tsv")
    assert not sent.exists()
    path.write_bytes(text.encode("utf-16"))
    with file_to_send(str(path), None) as sent:
        assert sent.read_bytes() == text.encode()
    pl.DataFrame({"a": ["ä"]}).write_parquet(path)
    with file_to_send(str(path), "latin-1") as sent:
        assert sent.read_bytes() == path.read_bytes()
    with file_to_send(str(filled_pipe(tmp_path / "pipe", b"a,y\n")), None) as sent:
        assert sent.read_bytes() == b"a,y\n"
    path.write_bytes(b"\x28\xb5\x2f\xfd....")
    with pytest.raises(InputError, match="is compressed with zstd"), file_to_send(str(path), "latin-1"):
        pass


def test_a_column_called_pk_is_no_zip_archive(run: Run) -> None:
    Path("t.csv").write_text("PK,y\n1,a\n2,b\n")
    run("fit", "t.csv", "-t", "y")


@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")

    def write() -> None:
        with open_output(path, "w") as file:
            file.write("ne")
            file.flush()
            raise error

    with pytest.raises(type(error)):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "out.txt", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with open_output(link) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)
    assert link.is_symlink()
    (tmp_path / "usual").touch()
    with open_output(tmp_path / "fresh") as file:
        file.write(b"new")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "fresh")]
    assert modes[0] == modes[1]


def test_commands_replace_their_files(
    run: Run, loans: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command that writes a file leaves the old one if it cannot put the new one in its place."""
    outputs = {
        "fitted/model.json": ("fit", loans, "-t", "repaid", "-o", "fitted"),
        "out.csv": ("predict", model, loans, "-o", "out.csv"),
        "tree.py": ("export", model, "-f", "python", "-o", "tree.py"),
    }
    for path, words in outputs.items():
        run(*words)
        before = Path(path).read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", fails)
            assert "no space" in run(*words, code=1).stderr
        assert Path(path).read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["fitted", "loans.csv", "out.csv", "tree.py"]
    told = run("predict", model, loans, "-o", "gone/out.csv", code=2).stderr
    assert "gone/out.csv cannot be written, because no file can be created in its folder" in told


def fails(self: Path, target: Path) -> Path:
    raise OSError("no space left")


def test_a_file_that_cannot_be_replaced_gets_the_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example a file that is mounted into a container, which has no other place."""

    def is_busy(self: Path, target: Path) -> Path:
        raise OSError(errno.EBUSY, "Device or resource busy")

    path = tmp_path / "out.txt"
    path.write_text("something longer")
    number = path.stat().st_ino
    monkeypatch.setattr(Path, "replace", is_busy)
    with open_output(path, "w") as file:
        file.write("new")
    assert (path.read_text(), path.stat().st_ino) == ("new", number)
    assert list(tmp_path.iterdir()) == [path]


def test_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.touch(mode=0o600)
    with open_output(path, "w"):
        assert {stat.S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir()} == {0o600}


def test_other_names_of_standard_output(model: str, loans: Path) -> None:
    """What is written later to the same file is not lost."""
    command = (
        f"{{ {sys.executable} -m literati predict {model} {loans} -o /dev/stdout; echo END; }} > both.txt"
    )
    subprocess.run(["bash", "-c", command], check=True)
    lines = Path("both.txt").read_text().splitlines()
    assert len(lines) > 2
    assert lines[-1] == "END"


def test_a_closed_standard_input(model: str) -> None:
    command = f"{sys.executable} -m literati predict {model} - <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "Error: Standard input is closed; name a file.\n")


def test_a_folder_in_the_place_of_a_file_is_told_before_the_search(run: Run, loans: Path) -> None:
    Path("fitted/model.json").mkdir(parents=True)
    told = run("fit", loans, "-t", "repaid", "-o", "fitted", code=2).stderr
    assert told.endswith("Error: fitted/model.json is a folder; choose another --output.\n")


def test_what_is_not_a_regular_file_is_written_directly(
    run: Run, loans: Path, model: str, tmp_path: Path
) -> None:
    expected = run("predict", model, loans).stdout
    assert run("predict", model, loans, "-o", "-").stdout == expected
    assert run("predict", model, loans, "-o", "/dev/null").stderr.endswith("to /dev/null.\n")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    run("predict", model, loans, "-o", pipe)
    reader.join(10)
    assert read == [expected]


def test_every_option_is_defined_once() -> None:
    """Options of several commands that say the same are one object, except those made from parameters."""
    seen: dict[tuple[Any, ...], click.Option] = {}
    for option in options(app):
        if option.name not in DEFINITIONS:
            key = (*option.opts, option.help)
            assert seen.setdefault(key, option) is option, option.opts
    assert len(seen) > 30


def options(group: click.Group) -> Iterator[click.Option]:
    context = click.Context(group)
    for name in COMMANDS if group is app else group.commands:
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from options(command)
        else:
            yield from (param for param in command.params if isinstance(param, click.Option))
