"""Write a notebook with its outputs for each script of this folder.

The scripts are divided into cells by lines that begin with `# %%`, so editors can run them cell by cell, too.
Run it with `make notebooks` while the service runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

FOLDER = Path(__file__).parent
SCRIPTS = tuple(FOLDER / f"{name}.py" for name in ("library", "client", "serving"))
CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_SECONDS = 300


def notebook_of(script: Path) -> Any:
    """Return the cells of a script as a notebook without outputs."""
    _, *parts = CELL.split(script.read_text(encoding="utf-8"))
    cells = []
    for place, (markdown, text) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        if markdown:
            cell = nbformat.v4.new_markdown_cell(re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE))
        else:
            # A notebook runs in its own folder and has no __file__.
            cell = nbformat.v4.new_code_cell(text.strip().replace("Path(__file__).with_name(", "Path("))
        cell["id"] = f"cell-{place}"
        cells.append(cell)
    return nbformat.v4.new_notebook(cells=cells, metadata=METADATA)


def run(notebook: Any, folder: Path) -> Any:
    """Run a notebook in a folder and return it with its outputs. A progress line is kept as it ended."""
    with TemporaryDirectory() as sockets:  # of the kernel, which needs no ports then
        connection = {"transport": "ipc", "connection_file": f"{sockets}/kernel.json"}
        NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            record_timing=False,
            coalesce_streams=True,
            config=Config({"KernelManager": connection}),
            resources={"metadata": {"path": str(folder)}},
        ).execute()
    notebook["metadata"] = METADATA  # without the version of Python
    return notebook


def main() -> None:
    for script in SCRIPTS:
        notebook = run(notebook_of(script), FOLDER)
        nbformat.write(notebook, script.with_suffix(".ipynb"))
        print(f"wrote {script.stem}.ipynb")


if __name__ == "__main__":
    main()
