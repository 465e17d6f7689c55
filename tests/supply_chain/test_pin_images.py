"""`make pin-images` with a small program in place of the one that asks a registry."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from supply_chain.image_names import FILES, named_images
from tests.support.paths import ROOT

MANIFEST = '{\n  "schemaVersion": 2, "of": "%s"\n}'
ANSWER = """#!/bin/sh
echo "$@" >> "$ASKED"
[ -z "$REFUSES" ] || case "$*" in *"$REFUSES"*) echo "no route to the registry" >&2; exit 1;; esac
for last; do true; done
printf '{\\n  "schemaVersion": %s, "of": "%s"\\n}' "${SCHEMA:-2}" "$last"
"""


class Checkout:
    """Copies of the files that name images, and a program that answers for a registry."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        for name in FILES:
            shutil.copy(ROOT / name, folder / name)
        (folder / "bin").mkdir()
        path = folder / "bin" / program
        path.write_text(ANSWER)
        path.chmod(0o755)

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        code = "import sys; from pathlib import Path; from supply_chain.pin_images import main; "
        code += f"sys.exit(main(Path({str(self.folder)!r})))"
        environment = {"PATH": str(self.folder / "bin"), "ASKED": str(self.folder / "asked"), **variables}
        return subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
        )

    def texts(self) -> list[str]:
        return [(self.folder / name).read_text() for name in FILES]


@pytest.mark.parametrize(
    ("program", "prefix", "words"),
    [("skopeo", "docker://", "inspect --raw"), ("docker", "", "buildx imagetools inspect --raw")],
)
def test_every_image_of_others_gets_its_digest(tmp_path: Path, program: str, prefix: str, words: str) -> None:
    checkout = Checkout(tmp_path, program)
    before = checkout.texts()
    done = checkout.run()
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    assert f"{words} {prefix}docker.io/library/redis:7-bookworm" in asked
    assert f"{words} {prefix}docker.io/prom/prometheus:v3.5.0" in asked
    images = {str(image).partition("@")[0]: image for _, image in named_images(tmp_path)}
    assert len(asked) == len(images) == 4
    digest = hashlib.sha256((MANIFEST % f"{prefix}docker.io/library/redis:7-bookworm").encode()).hexdigest()
    assert images["redis:7-bookworm"].digest == f"sha256:{digest}"
    assert all(image.digest for image in images.values())
    for text, old in zip(checkout.texts(), before, strict=True):
        restored = text
        for image in images.values():
            restored = restored.replace(f"@{image.digest}", "")
        assert restored == old
        assert text != old


def test_a_second_run_asks_for_the_tags_again(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path, "skopeo")
    checkout.run()
    once = checkout.texts()
    checkout.run()
    assert checkout.texts() == once
    assert "@" not in (tmp_path / "asked").read_text()


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"REFUSES": "redis"}, "`skopeo` says: no route to the registry. Nothing was changed."),
        ({"SCHEMA": "1"}, "is not a manifest of version 2. Nothing was changed."),
        ({"PATH": os.devnull}, "Install skopeo (Debian: skopeo) or Docker with buildx"),
    ],
)
def test_nothing_is_changed_if_a_digest_is_not_known(
    tmp_path: Path, variables: dict[str, str], sentence: str
) -> None:
    checkout = Checkout(tmp_path, "skopeo")
    before = checkout.texts()
    done = checkout.run(**variables)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert checkout.texts() == before
