"""Programs that use a model run as they are shown, and exports are what the API returns."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from literati import ShapeTree
from service.auth import key_file
from service.auth.key_file import Scope
from tests.support.page.browser import Tab, saved
from tests.support.page.page_data import COLUMNS, Service, as_csv, flowers
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack

LANGUAGES = ("curl", "Python", "JavaScript")
NODE = shutil.which("node")


@pytest.fixture
def use(tab: Tab, service: Service) -> Page:
    return open_use(tab, service.model())


def open_use(tab: Tab, model: str) -> Page:
    page = tab.go(f"/models/{model}?part=use")
    expect(page.locator(".code pre")).to_be_visible()
    return page


def program(page: Page, task: str, language: str) -> str:
    page.get_by_label("What to do").select_option(task)
    page.get_by_role("tab", name=language).click()
    return page.locator(".code pre").inner_text()


def run(language: str, text: str, folder: Path, **environment: str) -> str:
    """Run a program as a user would who has copied it, and return what it prints."""
    if language == "curl":
        command = ["bash", "-c", text]
    elif language == "Python":
        command = [sys.executable, "-c", text]
    else:
        if NODE is None:
            pytest.skip("Node is not installed")
        command = [NODE, "--input-type=module", "-e", text]
    paths = os.pathsep.join([str(ROOT / "core"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout


def answer(language: str, printed: str) -> Any:
    return ast.literal_eval(printed) if language == "Python" else json.loads(printed)


def first_row(service: Service, columns: list[str]) -> dict[str, Any]:
    row = service.client.get(f"/v1/datasets/{service.dataset}/preview?rows=1").json()["records"][0]
    return {name: row[name] for name in columns}


def used_columns(tree: dict[str, Any]) -> list[str]:
    used = {node["split"]["column"] for node in tree["nodes"] if node["split"]}
    return [tree["columns"][i]["name"] for i in sorted(used)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_predict_rows(use: Page, service: Service, tmp_path: Path, language: str) -> None:
    text = program(use, "Predict rows", language)
    if language == "JavaScript":  # JavaScript prints objects in its own way
        text = text.replace("console.log(await response.json())", "console.log(await response.text())")
    model = service.model()
    assert model in text
    row = first_row(service, used_columns(service.tree(model)))
    expected = service.client.post(f"/v1/models/{model}/predict", json={"records": [row]}).json()
    assert answer(language, run(language, text, tmp_path)) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_predict_and_score_a_file(use: Page, service: Service, tmp_path: Path, language: str) -> None:
    rows = flowers(40, seed=3)
    (tmp_path / "rows.csv").write_text(as_csv(rows))
    model, body = service.model(), {"content": as_csv(rows), "headers": {"Content-Type": "text/csv"}}
    printed = run(language, program(use, "Predict a file", language), tmp_path)
    expected = service.client.post(f"/v1/models/{model}/predict", **body).json()["predictions"]  # type: ignore[arg-type]
    assert [line["prediction"] for line in csv.DictReader(io.StringIO(printed.strip()))] == expected
    printed = run(language, program(use, "Score a file", language), tmp_path)
    scored = service.client.post(f"/v1/models/{model}/score", **body).json()  # type: ignore[arg-type]
    if language == "JavaScript":
        assert f"accuracy: {scored['scores']['accuracy']:g}," in printed
    else:
        assert answer(language, printed) == scored


def test_predict_with_the_library(use: Page, service: Service, tmp_path: Path) -> None:
    use.get_by_label("What to do").select_option("Predict without the server")
    expect(use.get_by_role("tab", name="curl")).to_have_count(0)
    text = use.locator(".code pre").inner_text()
    model = service.model()
    row = first_row(service, used_columns(service.tree(model)))
    expected = service.client.post(f"/v1/models/{model}/predict", json={"records": [row]}).json()
    printed = run("Python", text, tmp_path)
    assert f"['{expected['predictions'][0]}']" in printed
    for share in expected["probabilities"][0].values():
        assert f"{share:.4f}"[:5] in printed


def test_the_program_is_copied_and_the_choice_is_in_the_link(use: Page, tab: Tab) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = program(use, "Score a file", "Python")
    use.get_by_role("button", name="Copy the program").click()
    assert use.evaluate("navigator.clipboard.readText()").strip() == text.strip()
    use.reload()
    expect(use.get_by_label("What to do")).to_have_value("Score a file")
    expect(use.get_by_role("tab", name="Python")).to_have_attribute("aria-selected", "true")
    use.get_by_role("tab", name="Python").focus()
    use.keyboard.press("ArrowRight")
    expect(use.get_by_role("tab", name="JavaScript")).to_be_focused()
    expect(use.locator(".code pre")).to_contain_text("await fetch(")
    use.set_viewport_size({"width": 320, "height": 700})
    assert use.evaluate("document.documentElement.scrollWidth") <= 320


def test_cells_with_quotes_and_odd_names_are_escaped(tab: Tab, service: Service, tmp_path: Path) -> None:
    words = ["it's", 'so "called"', "a\\b", "$HOME `x` ${y}", "élan"]
    rows = "".join(
        f'{i},"{words[i % 5].replace(chr(34), 2 * chr(34))}",{"ab"[i % 5 < 2]}\n' for i in range(60)
    )
    dataset = service.upload(f'"the size, of it","what\'s it?",kind\n{rows}', name="odd")
    model = service.wait(service.job("odd", dataset, parameters={"max_depth": 2}))["model_id"]
    page = open_use(tab, str(model))
    columns = used_columns(service.tree(str(model)))
    assert "what's it?" in columns
    row = service.client.get(f"/v1/datasets/{dataset}/preview?rows=1").json()["records"][0]
    row = {name: row[name] for name in columns}
    expected = service.client.post(f"/v1/models/{model}/predict", json={"records": [row]}).json()
    for language in LANGUAGES:
        text = program(page, "Predict rows", language).replace(
            "await response.json()", "await response.text()"
        )
        assert answer(language, run(language, text, tmp_path)) == expected


def test_downloads(use: Page, service: Service) -> None:
    model = service.model()
    found = service.client.get(f"/v1/models/{model}").json()

    def download(name: str) -> tuple[str, str]:
        region = use.get_by_role("region", name="Downloads")
        return saved(use, lambda: region.get_by_role("button", name=name, exact=True).click())

    name, text = download("JSON model")
    assert name == "flowers-3.json"
    assert json.loads(text) == found["tree"]
    assert ShapeTree.from_json(text).n_leaves == sum(node["split"] is None for node in found["tree"]["nodes"])
    assert download("Rules") == ("flowers-3-rules.txt", service.client.get(f"/v1/models/{model}/rules").text)
    assert download("SVG") == ("flowers-3.svg", service.client.get(f"/v1/models/{model}/tree.svg").text)
    exported = service.client.get(f"/v1/models/{model}/export?format=java").text
    assert download("Java") == ("Literati.java", exported)
    name, text = download("Metrics")
    assert name == "flowers-3-metrics.json"
    assert json.loads(text) == found["metrics"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, str]]:
    """Yield a stack that requires an API key, and the key."""
    folder = tmp_path_factory.mktemp("guarded")
    keys = folder / "keys.json"
    key, _ = key_file.add(keys, "test", "default", frozenset(Scope))
    with Stack.with_worker_and_api(folder, LITERATI_API_KEYS_FILE=str(keys)) as stack:
        yield stack, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_key_is_a_placeholder(
    browser: Browser, guarded: tuple[Stack, str], tmp_path: Path, language: str
) -> None:
    stack, key = guarded
    with stack.client(headers={"Authorization": f"Bearer {key}"}) as client:
        service = Service(client)
        model = service.model(1)
        row = first_row(service, used_columns(service.tree(model)))
        expected = client.post(f"/v1/models/{model}/predict", json={"records": [row]}).json()
    tab = Tab(browser, stack.url)
    tab.refusals.add(401)
    page = tab.go(f"/models/{model}?part=use")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".code pre")).to_be_visible()
    for task in ("Predict rows", "Predict without the server") if language == "Python" else ("Predict rows",):
        text = program(page, task, language)
        assert key not in page.content()
        assert "LITERATI_API_KEY" in text
        text = text.replace("await response.json()", "await response.text()")
        printed = run(language, text, tmp_path, LITERATI_API_KEY=key)
        if task == "Predict rows":
            assert answer(language, printed) == expected
        else:
            assert expected["predictions"][0] in printed
    tab.close()
    assert tab.complaints == []


def open_folded(page: Page) -> None:
    page.get_by_text("Use it from a program").click()
    expect(page.locator(".code pre")).to_be_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_train_on_a_dataset(tab: Tab, service: Service, tmp_path: Path, language: str) -> None:
    page = tab.go(f"/datasets/{service.dataset}")
    open_folded(page)
    text = program(page, "Train a tree", language)
    assert service.dataset in text
    printed = run(
        language,
        text.replace('max_depth": 4', 'max_depth": 2').replace("max_depth: 4", "max_depth: 2"),
        tmp_path,
    )
    if language == "curl":  # it does not wait
        job = json.loads(printed)
        service.wait(job["id"])
    else:
        state, model = printed.split()
        assert state == "SUCCEEDED"
        job = service.look(service.client.get(f"/v1/models/{model}").json()["job_id"])
    assert job["parameters"]["max_depth"] == 2
    assert job["validation"]["fraction"] == 0.2
    rows = run("Python", program(page, "Read the first rows", "Python"), tmp_path)
    assert (
        ast.literal_eval(rows) == service.client.get(f"/v1/datasets/{service.dataset}/preview?rows=5").json()
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_wait_for_a_job_and_predict_with_it(
    tab: Tab, service: Service, tmp_path: Path, language: str
) -> None:
    model = service.client.get(f"/v1/models/{service.model()}").json()
    page = tab.go(f"/jobs/{model['job_id']}")
    open_folded(page)
    printed = run(language, program(page, "Wait for the model", language), tmp_path)
    if language == "curl":
        assert json.loads(printed)["model_id"] == model["id"]
    else:
        assert printed.split() == ["SUCCEEDED", model["id"]]
    row = first_row(service, list(COLUMNS[:-1]))
    expected = service.client.post(f"/v1/jobs/{model['job_id']}/predict", json={"records": [row]}).json()
    text = program(page, "Predict rows", language).replace("await response.json()", "await response.text()")
    assert answer(language, run(language, text, tmp_path)) == expected


def test_columns_of_the_example(use: Page, service: Service) -> None:
    """The example has the columns that the tree uses, and not the target."""
    text = program(use, "Predict rows", "Python")
    used = set(used_columns(service.tree(service.model())))
    assert {name for name in COLUMNS if f'"{name}":' in text} == used
