"""The progress line of `wait`, on standard error."""

from __future__ import annotations

from typing import Any

from literati.progress_line import ProgressLine, bounds_text


def job_line(data: dict[str, Any]) -> str:
    """Return the state of a job in one line."""
    progress = data["progress"]
    parts = [data["state"]]
    if progress["objective"] is not None:
        parts.append(
            bounds_text(
                objective=progress["objective"],
                upper=progress["upper_bound"],
                lower=progress["lower_bound"],
                gap=progress["gap_relative"],
                explored=progress["explored"],
                beyond_space=progress["beyond_space"],
            )
        )
    parts.append(f"{progress['elapsed_seconds']:.1f} s")
    return "  ".join(parts)


def sweep_line(data: dict[str, Any]) -> str:
    """Return the state of a sweep in one line."""
    progress, best = data["progress"], data.get("best")
    parts = [data["state"], f"{progress['done']} of {progress['jobs']} jobs"]
    if progress["failed"]:
        parts.append(f"{progress['failed']} failed")
    if best is not None and best.get("mean") is not None:
        parts.append(f"{data['metric']} {best['mean']:.4f} with {best['leaves']:g} leaves")
    parts.append(f"{data['seconds']:.1f} s")
    return "  ".join(parts)


class Progress:
    """Show the lines of a record while the context lasts, if `shown` is true."""

    def __init__(self, shown: bool) -> None:
        self._line = ProgressLine() if shown else None

    def show(self, text: str) -> None:
        if self._line is not None:
            self._line.show(text)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._line is not None:
            self._line.close()
