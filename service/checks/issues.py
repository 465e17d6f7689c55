"""Errors of a request body that were found together, with fixes that are tried before they are offered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from service.http.problems import FieldError, invalid, pointer
from service.http.remedies import Place, Remedy, working


@dataclass(frozen=True)
class Issue:
    """An error of a request and possible fixes, which `raise_issues` tries."""

    error: FieldError
    fixes: tuple[Remedy, ...] = ()


def issue(path: Sequence[str | int], code: str, message: str, *fixes: Remedy) -> Issue:
    """Return the issue of a field of the body."""
    return Issue(FieldError(pointer("body", *path), code, message), fixes)


def sentence(message: str) -> str:
    """Return a message of the library as a sentence."""
    return f"{message[:1].upper()}{message[1:]}."


def raise_issues(issues: Sequence[Issue], remaining: Callable[[Remedy], Sequence[Issue]]) -> NoReturn:
    """Raise the problem 422 with the fixes that work. `remaining` returns the issues after a fix."""

    def places(found: Sequence[Issue]) -> set[Place]:
        return {issue.error.pointer for issue in found}

    groups = [issue.fixes for issue in issues]
    fixes = working(groups, places(issues), lambda remedy: places(remaining(remedy)))
    raise invalid(*(issue.error for issue in issues), fixes=fixes)
