"""The benchmark harness, on a toy table and without any peer."""

from __future__ import annotations

import gzip
import io
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from benchmarks import __main__ as command
from benchmarks import criteria, datasets, encoding, process, report, time_left, widening
from benchmarks.claims import Claim, claims_table, judge, needed_runs
from benchmarks.progress import Progress
from benchmarks.runners.quantiles import Quantiles
from benchmarks.runs import Results, RunResult, RunSpec
from benchmarks.service import predict as service_predict
from benchmarks.service import results as service_results

MIB = 2**20

# Solvers of a module that only the child process imports.
MISBEHAVING = """
import os, time
import numpy as np
from benchmarks.runners.base import Fit, Solver

def prepare_with(action):
    def prepare(depth, time_limit, options):
        def fit(X, y):
            action()
            return Fit(lambda rows: np.zeros(len(rows), dtype=int), proven=True)
        return fit
    return prepare

def fail():
    raise RuntimeError("no tree today")

def use_memory():
    np.ones(200 * 2**20, dtype=np.uint8).sum()

hangs = Solver("numpy", prepare_with(lambda: time.sleep(600)))
dies = Solver("numpy", prepare_with(lambda: os._exit(3)))
fails = Solver("numpy", prepare_with(fail))
hungry = Solver("numpy", prepare_with(use_memory))

def prepare_boasting(depth, time_limit, options):
    return lambda X, y: Fit(lambda rows: np.zeros(len(rows), dtype=int), claimed_errors=0)

boasts = Solver("numpy", prepare_boasting)
absent = Solver("no-such-distribution-anywhere", prepare_with(fail))
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a toy table; the child process can import the misbehaving solvers from it."""
    random = np.random.default_rng(5)
    rows = [
        f"{a:.3f},{b:.3f},{c},{int(a + b > 1)}"
        for a, b, c in zip(*random.random((2, 60)), "xyz" * 20, strict=True)
    ]
    with gzip.open(tmp_path / "toy.csv.gz", "wt") as stream:
        stream.write("\n".join(["a,b,c,target", *rows]) + "\n")
    (tmp_path / "misbehaving.py").write_text(MISBEHAVING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def result(solver: str, status: str = "proven", errors: int | None = 5, seconds: float = 1.0) -> RunResult:
    return RunResult(
        RunSpec(solver, "toy", 4),
        status,  # type: ignore[arg-type]
        objective=errors,
        error=None if errors is not None else "no tree",
        seconds=seconds,
        seconds_to_proof=seconds if status == "proven" else None,
    )


def test_the_split_is_four_fifths_without_overlap_and_always_the_same() -> None:
    train, test = datasets.split_rows(1372)
    assert len(train) == 1097
    assert sorted([*train, *test]) == list(range(1372))
    # The first rows of NumPy's frozen legacy stream: published numbers depend on them.
    assert train[:3].tolist() == np.random.RandomState(0).permutation(1372)[:3].tolist()


def test_text_columns_become_one_hot_numbers_or_stay_objects(data: Path) -> None:
    numbers = datasets.load("toy", data)
    assert numbers.X_train.shape == (48, 5)
    assert numbers.X_train.dtype == np.float64
    assert set(numbers.X_train[:, 2:].sum(axis=1)) == {1.0}
    native = datasets.load("toy", data, categories="native")
    assert native.X_train.shape == (48, 3)
    assert set(native.X_train[:, 2]) == {"x", "y", "z"}
    assert native.X_train[:, :2].tolist() == numbers.X_train[:, :2].tolist()


def test_a_table_without_target_is_refused(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bad.csv.gz", "wt") as stream:
        stream.write("a,b\n1,2\n")
    with pytest.raises(ValueError, match="'target'"):
        datasets.load("bad", tmp_path)


def test_made_tables_have_the_training_rows_their_name_says() -> None:
    split = datasets.load("made:800", Path())
    assert split.X_train.shape == (800, 20)
    assert set(split.y_train) == {0, 1}


def test_a_run_counts_errors_from_predictions_and_measures(data: Path) -> None:
    measured = process.run(RunSpec("cart", "toy", 2), data, process.default_core())
    split = datasets.load("toy", data)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(split.X_train, split.y_train)
    assert (measured.status, measured.error) == ("finished", None)
    assert measured.objective == int(np.sum(tree.predict(split.X_train) != split.y_train))
    assert measured.test_accuracy == pytest.approx(tree.score(split.X_test, split.y_test))
    assert measured.seconds is not None
    assert 0 < measured.seconds < 5
    assert measured.seconds_to_proof is None
    assert measured.n_train == 48
    assert measured.seconds == min(measured.details["fits"])
    assert len(measured.details["fits"]) == 3  # short, so repeated


@pytest.mark.slow
def test_a_hanging_run_is_killed_soon_after_its_limit(data: Path) -> None:
    ticks: list[float] = []
    start = time.monotonic()
    measured = process.run(RunSpec("misbehaving:hangs", "toy", 2, 1.0, grace=3.0), data, tick=ticks.append)
    assert measured.status == "killed"
    assert 4 <= time.monotonic() - start < 8
    assert measured.objective is None
    assert ticks == sorted(ticks)
    assert len(ticks) > 5


def test_a_run_that_raises_dies_or_is_absent_is_a_result_too(data: Path) -> None:
    raised = process.run(RunSpec("misbehaving:fails", "toy", 2), data)
    assert raised.status == "failed"
    assert "no tree today" in (raised.error or "")
    died = process.run(RunSpec("misbehaving:dies", "toy", 2), data)
    assert (died.status, died.error) == ("failed", "exit code 3")
    absent = process.run(RunSpec("misbehaving:absent", "toy", 2), data)
    assert absent.status == "absent"
    unknown = process.run(RunSpec("nobody", "toy", 2), data)
    assert "unknown solver 'nobody'" in (unknown.error or "")


def test_a_solver_that_misstates_its_errors_is_marked(data: Path) -> None:
    measured = process.run(RunSpec("misbehaving:boasts", "toy", 2), data)
    assert measured.objective is not None
    assert measured.objective > 0
    assert measured.error == f"says 0 errors, but its predictions have {measured.objective}"
    assert measured.error in report.results_table([measured])


@pytest.mark.skipif(process.resident_memory() is None, reason="memory is read from /proc")
def test_peak_memory_is_that_of_the_fit(data: Path) -> None:
    measured = process.run(RunSpec("misbehaving:hungry", "toy", 2), data)
    assert measured.memory_before is not None
    assert measured.peak_memory is not None
    grown = measured.peak_memory - measured.memory_before
    assert 195 * MIB < grown < 260 * MIB


def test_the_results_table_is_well_formed_whatever_the_cells_hold() -> None:
    odd = RunResult(RunSpec("cart", "toy", 3, 5.0, {"note": "a|b\nc"}), "killed")
    table = report.results_table([result("cart"), odd])
    lines = table.splitlines()
    assert len(lines) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(report.COLUMNS) + 1}
    assert len({len(line) for line in lines}) == 1
    assert "killed (5 s allowed)" in lines[2]
    with pytest.raises(ValueError, match="2 cells"):
        report.markdown_table(("a", "b"), [("only one",)])


def test_a_run_that_shared_its_core_is_marked() -> None:
    shared, alone = result("cart", seconds=2.0), result("cart", seconds=2.0)
    shared.cpu_seconds, alone.cpu_seconds = 1.2, 1.95
    assert "only 1.2 s of CPU in 2 s" in report.results_table([shared])
    assert "CPU" not in report.results_table([alone])


def test_results_survive_the_json_file(tmp_path: Path) -> None:
    first = result("cart")
    first.details = {"trace": [[0.1, 1.0, 5.0, 2.0]]}
    report.write_json(tmp_path / "r.json", [first, result("streed", "killed", None)])
    assert report.read_json(tmp_path / "r.json") == [first, result("streed", "killed", None)]


@pytest.mark.parametrize(
    ("mine", "peer", "word"),
    [
        (result("literati", seconds=1), result("streed", seconds=20), "pass"),
        (result("literati", seconds=1), result("streed", seconds=19), "FAIL"),
        (result("literati", seconds=1, errors=6), result("streed", seconds=50), "FAIL"),
        (result("literati", "limit"), result("streed", "limit"), "FAIL"),
        (result("literati", seconds=3), result("streed", "limit", seconds=60), "pass"),
        (result("literati", seconds=4), result("streed", "limit", seconds=60), "FAIL"),
        (result("literati", seconds=3), result("streed", "killed", None), "pass"),
        (result("literati", "failed", None), result("streed"), "FAIL"),
        (result("literati"), result("streed", "absent", None), "–"),
        (result("literati"), None, "–"),
    ],
)
def test_the_first_speed_claim_is_judged_as_written(
    mine: RunResult, peer: RunResult | None, word: str
) -> None:
    claim = next(claim for claim in criteria.speed(criteria.FULL) if claim.section == "3.1")
    results = Results()
    for spec, found in zip(claim.needs, (mine, peer), strict=True):
        if found is not None:
            found.spec = spec
            results.add(found)
    (judgement,) = judge([claim], results)
    assert judgement.word == word, judgement.measured
    assert claims_table([judgement]).count("\n") == 3


def test_every_claim_needs_runs_and_each_run_is_wanted_once() -> None:
    for scope in (criteria.FULL, criteria.QUICK):
        claims: list[Claim] = [claim for make in command.CLAIMS.values() for claim in make(scope)]
        assert {claim.section for claim in claims} >= {"3.2", "3.3", "3.4", "3.5", "4", "5", "6"}
        specs = needed_runs(claims)
        assert len({spec.key for spec in specs}) == len(specs) > 20
        assert all(claim.needs[0].solver.startswith("literati") for claim in claims)


@pytest.mark.parametrize(
    ("encode", "predict", "word"), [(3.0, 0.1, "pass"), (3.1, 0.1, "FAIL"), (0.1, 3.1, "FAIL")]
)
def test_the_claims_about_encoding_are_judged_as_written(encode: float, predict: float, word: str) -> None:
    text, *_, numbers = criteria.encoding(criteria.FULL)
    assert (text.dataset, numbers.dataset) == ("text:300000", "numbers:300000")
    details = {"reference_seconds": 2.0, "encode_seconds": 2 * encode, "predict_seconds": 2 * predict}
    found = Results([RunResult(claim.needs[0], "finished", details=details) for claim in (text, numbers)])
    judgements = judge([text, numbers], found)
    assert [judgement.word for judgement in judgements] == [word, "FAIL"]
    assert f"encode {2 * encode:.3g} s = {encode:.2f} times" in judgements[0].measured


def test_every_container_of_the_claims_about_encoding_is_measured() -> None:
    for claim in criteria.encoding(replace(criteria.QUICK, encoding_rows=300)):
        measured = encoding.measure(claim.needs[0])
        assert measured.n_train == 300
        assert all(seconds >= 0 for seconds in measured.details.values())
        assert len(measured.details) == 3
    columns = encoding.text_columns(100)
    kinds = [cells.dtype.kind for cells in columns.values()]
    assert (kinds.count("O"), kinds.count("i")) == (28, 12)
    assert any(cell is None for cell in columns["text0"])


@pytest.mark.slow
def test_the_encoding_form_needs_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LITERATI_BENCH_DATA", raising=False)
    claims = criteria.encoding(replace(criteria.QUICK, encoding_rows=200))[:1]
    monkeypatch.setitem(command.CLAIMS, "encoding", lambda _: claims)
    command.main(["encoding", "--out", str(tmp_path)])
    assert "pandas.factorize" in capsys.readouterr().out
    (measured,) = report.read_json(tmp_path / "encoding.json")
    assert measured.details["encode_seconds"] > 0


@pytest.mark.slow
def test_the_command_writes_results_and_a_page(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "_specs", lambda *_: [RunSpec("cart", "toy", 2), RunSpec("cart", "toy", 3)])
    out = tmp_path / "out"
    assert command.main(["ablations", "--data", str(data), "--out", str(out)]) == 0
    assert len(report.read_json(out / "ablations.json")) == 2
    assert "| cart " in (out / "ablations.md").read_text()
    assert command.REUSED not in (out / "ablations.md").read_text()
    said = capsys.readouterr()
    assert "| cart " in said.out
    assert said.err.count("cart on toy") == 2
    before = report.read_json(out / "ablations.json")
    again = ["ablations", "--data", str(data), "--out", str(out), "--reuse", str(out / "ablations.json")]
    assert command.main(again) == 0
    assert report.read_json(out / "ablations.json") == before  # not run again, and the page says so
    assert command.REUSED in (out / "ablations.md").read_text()


def test_without_data_the_command_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LITERATI_BENCH_DATA", raising=False)
    with pytest.raises(SystemExit, match="LITERATI_BENCH_DATA"):
        command.main(["quick"])


def test_the_progress_line_is_redrawn_in_place_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    progress = Progress(2, stream)
    progress.running(RunSpec("cart", "a-long-name-of-a-dataset", 3), 1.0)
    progress.finished(result("cart"))
    progress.close()
    first, second = stream.getvalue().lstrip("\r").rstrip("\n").split("\r")
    assert "0/2" in first
    assert "1/2" in second
    assert len(second) >= len(first)  # nothing of the longer line stays visible


def test_quantile_columns_are_those_of_the_peers() -> None:
    few = np.array([0.0, 1.0, 1.0, 3.0])
    many = np.arange(100.0)[[0, 33, 66, 99]]
    binary = Quantiles(np.column_stack([few, many]))
    assert binary.thresholds[0].tolist() == [0.5, 2.0]
    assert binary(np.array([[0.7, 0.0]])).tolist() == [[0.0, 1.0, 1.0, 1.0, 1.0]]
    assert len(Quantiles(np.arange(1000.0)[:, None]).thresholds[0]) == 15


def test_the_page_of_the_service_says_what_was_measured() -> None:
    measured = [
        service_predict.Measured(server, rows, connections, speed / rows, 1.5, 4.0, 0.99, 0.3)
        for server, speed in (("Literati, records", 3000.0), ("MLServer, flat", 1000.0))
        for rows in service_predict.SIZES
        for connections in service_predict.CONNECTIONS
    ]
    job = {"rows": 1000, "trials": 9, "p50_ms": 42.0, "worst_ms": 51.0}
    upload = {"bytes": 10**8, "upload_seconds": 2.0, "parse_seconds": 0.5, "ratio": 4.0, "ratio_limit": 5.0}
    upload |= {"memory_beyond_table_bytes": 65 << 20, "memory_beyond_table_limit": 128 << 20}
    page = service_results.page(measured, job, upload)
    assert "3000 / 1000 = 3.0 times" in page
    assert "does not hold" not in page
    slow = service_results.page(measured, {**job, "p50_ms": 301.0}, upload)
    assert slow.count("does not hold") == 1


# Widening


def test_the_runs_of_widening_are_on_all_rows_and_each_has_its_own_key(data: Path) -> None:
    specs = widening.specs(widening.dataset_names(data), 2.0)
    assert len({spec.key for spec in specs}) == len(specs) == 20  # two depths: 7 runs with K=1, 3 with K=3
    assert {spec.dataset for spec in specs} == {"toy"}
    assert RunSpec("cart", "toy", 3, train_share=1.0).key != RunSpec("cart", "toy", 3).key
    split = datasets.load("toy", data, train_share=1.0)
    assert (len(split.y_train), len(split.y_test)) == (60, 0)
    measured = process.run(specs[0], data, process.default_core())
    assert (measured.status, measured.error, measured.test_accuracy) == ("proven", None, None)
    assert (measured.n_train, measured.details["space"]) == (60, "all")


def widening_result(name: str, errors: int | None, changepoints: int = 1) -> RunResult:
    spec = widening.spec_of(name, "toy", 3, changepoints, 2.0)
    return RunResult(spec, "limit", objective=errors, details={"space": "shape 17", "proven_space": ""})


def test_the_table_of_widening_marks_every_loss() -> None:
    found = [("widening", 5), ("adaptive", 5), ("shape", 4), ("all", 6), ("contree", None), ("streed", 3)]
    results = Results([widening_result(name, errors) for name, errors in found])
    results.add(widening_result("widening", 7, changepoints=3))
    shown = widening.table(results, ["toy", "other"], 2.0)
    assert (
        "| toy     | 3 | 1 | 5        | 5        | **4** |          | 6   | limit   | **3**  | none" in shown
    )
    assert "2 losses in 2 rows" in shown
    assert "- toy D=3 K=1: shape 4; widening 5, which ended in the space shape 17" in shown
    assert "- toy D=3 K=1: streed 3; widening 5" in shown
    assert widening.table(Results(), ["toy"], 2.0).endswith("None.\n")


def test_the_form_widening_goes_on_where_it_was(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run(spec: RunSpec, *_: object) -> RunResult:
        ran.append(spec.key)
        if len(ran) == 8:
            raise KeyboardInterrupt
        return RunResult(spec, "proven", objective=1, seconds=0.1)

    monkeypatch.setattr(process, "run", run)
    arguments = ["widening", "--data", str(data), "--out", str(tmp_path / "out"), "--limit", "2"]
    with pytest.raises(KeyboardInterrupt):
        command.main(arguments)
    assert command.main(arguments) == 0
    assert len(ran) == 21  # the run that was interrupted is repeated
    assert len(set(ran)) == 20
    assert command.main([*arguments, "--only", "absent"]) == 0
    assert len(ran) == 21
    assert len(report.read_json(tmp_path / "out" / "widening-2s.json")) == 20
    assert "0 losses in 4 rows" in capsys.readouterr().out
    assert "| toy " in (tmp_path / "out" / "widening-2s.md").read_text()


def test_made_tables_of_any_size(tmp_path: Path) -> None:
    wide = datasets.load("made:80x30x7", tmp_path)
    assert wide.X_train.shape == (80, 30)
    assert set(np.r_[wide.y_train, wide.y_test].tolist()) == set(range(7))
    usual, same = datasets.load("made:800", tmp_path), datasets.load("made:800x20x2", tmp_path)
    assert usual.X_train.shape == (800, 20)
    np.testing.assert_array_equal(usual.X_train, same.X_train)
    np.testing.assert_array_equal(usual.y_train, same.y_train)


@pytest.mark.parametrize(
    ("seconds", "peak", "word"), [(2.9, 230, "pass"), (3.1, 230, "FAIL"), (2.9, 250, "FAIL")]
)
def test_growth_is_judged_by_processor_time_and_memory(seconds: float, peak: int, word: str) -> None:
    claim = criteria.growth(criteria.FULL)[0]
    twice, once = (RunResult(spec, "finished", objective=1) for spec in claim.needs)
    assert (twice.spec.dataset, once.spec.dataset) == ("made:8000x250x250", "made:4000x250x250")
    once.cpu_seconds, once.memory_before, once.peak_memory = 1.0, 0, 100 * 2**20
    twice.cpu_seconds, twice.memory_before, twice.peak_memory = seconds, 0, peak * 2**20
    (judgement,) = judge([claim], Results([twice, once]))
    assert judgement.word == word, judgement.measured


def test_the_form_time_left_draws_a_plot(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(time_left, "PROBLEMS", (("toy", 3, 1), ("absent", 3, 1)))
    assert command.main(["time-left", "--data", str(data), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "time-left.svg").exists()
    assert "toy D=3 K=1: " in capsys.readouterr().out


def test_two_threads_are_compared_with_one() -> None:
    claims = criteria.threads(criteria.FULL)
    assert [claim.dataset for claim in claims] == ["rice", "page", "magic", "magic"]
    runs = [RunResult(spec, "proven", objective=1) for spec in claims[0].needs]

    def word(two: float, two_processes: float) -> str:
        """Judge these seconds beside two seconds of one thread."""
        for run in runs:
            threads, copies = run.spec.options["n_threads"], run.spec.copies
            run.seconds = run.seconds_to_proof = (
                two if threads == 2 else two_processes if copies == 2 else 2.0
            )
        (judgement,) = judge(claims[:1], Results(runs))
        return judgement.word

    assert word(two=1.0, two_processes=2.0) == "pass"
    assert word(two=1.5, two_processes=2.0) == "FAIL"
    assert word(two=1.5, two_processes=2.8) == "pass"  # the cores are not twice as fast as one
    runs[-1].objective = 2
    assert word(two=1.0, two_processes=2.0) == "FAIL"
