"""Read the files of a container image, with docker or podman."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager


class EngineError(Exception):
    """Why the container engine could not do what was asked, in a sentence."""


def ask(*words: str) -> str:
    """Return the output of a command of the engine."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise EngineError(f"`{words[0]}` is not installed.") from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise EngineError(f"`{' '.join(words)}` failed and says: {said}")
    return done.stdout.strip()


@contextmanager
def opened(engine: str, image: str) -> Iterator[tarfile.TarFile]:
    """Open the file system of an image as an archive that is read once, from its beginning to its end."""
    container = ask(engine, "create", "--pull=never", image)
    try:
        with subprocess.Popen([engine, "export", container], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                    yield archive
                # podman waits for ever if what follows the last file is not read, too.
                shutil.copyfileobj(process.stdout, io.BytesIO())
            except BaseException:
                process.kill()
                raise
    finally:
        ask(engine, "rm", container)
    if process.returncode:
        raise EngineError(f"`{engine} export` of {image} failed.")


def variables(engine: str, image: str) -> dict[str, str]:
    """Return the environment variables that an image sets."""
    text = ask(engine, "image", "inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", image)
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def layers(engine: str, image: str) -> list[str]:
    """Return the digests of the layers of an image, the lowest first."""
    return ask(engine, "image", "inspect", "--format", "{{range .RootFS.Layers}}{{.}} {{end}}", image).split()
