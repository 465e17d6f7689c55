"""An S3 server on loopback: rclone's, which checks signatures and stores objects as files in a folder."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from worker.processes.parent_death import kill_with_parent

ACCESS_KEY, SECRET_KEY = "tests", "only-for-tests"
BUCKET = "literati"
START_SECONDS = 30.0


class S3Server:
    """An S3 server. `environment` configures a client; tests use different prefixes of one bucket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bucket = folder / "buckets" / BUCKET
        self._bucket.mkdir(parents=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.url = f"http://{self._address}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        rclone = Path(sys.executable).parent / "rclone"
        words = [str(rclone), "serve", "s3", "--addr", self._address, "--config", os.devnull]
        words += ["--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", "--vfs-cache-mode", "off"]
        with open(self.folder / "s3.log", "ab") as log:
            self._process = subprocess.Popen(
                kill_with_parent([*words, str(self._bucket.parent)]), stdout=log, stderr=log
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, (self.folder / "s3.log").read_text()
            assert time.monotonic() < deadline, "the S3 server does not answer"
            time.sleep(0.01)

    def _answers(self) -> bool:
        host, _, port = self._address.partition(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def objects(self, prefix: str) -> dict[str, Path]:
        """Return the files of objects by key, for reading only, because the server caches them."""
        root = self._bucket / prefix
        return {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file()}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
