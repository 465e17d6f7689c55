"""Upload options, and the plan that they give for the columns of a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, get_args

from literati.suggestions import did_you_mean, nearest
from service.ingest.errors import IngestError, Issue, listed, option_issue
from service.ingest.fixes import WITHOUT_WEIGHTS, Fix, Kind, as_options, quoted, read_column_as, set_option

Role = Literal["feature", "target", "weight"]
TARGET_NAMES = frozenset({"target", "label", "class", "y", "outcome"})  # common names
KINDS: tuple[Kind, ...] = get_args(Kind)
_KIND_WORDS: dict[str, Kind] = {  # with the names in other tools
    **{kind: kind for kind in KINDS},
    **dict.fromkeys(("int", "integer", "float", "double", "numeric", "real"), "number"),
    **dict.fromkeys(("text", "string", "str", "object", "categorical", "factor"), "category"),
    "bool": "boolean",
}
_MAX_SUGGESTIONS = 3  # columns with a similar name
INGEST_VERSION = 2  # increase it when the same bytes and options give a different table


@dataclass(frozen=True)
class TableLimits:
    """The limits of an uploaded table."""

    max_rows: int = 10_000_000
    max_columns: int = 10_000
    max_cell_bytes: int = 65_536
    max_categories: int = 100_000
    max_table_bytes: int = 4 << 30  # of the table in memory
    max_upload_bytes: int = 1 << 30  # of the decompressed file


@dataclass(frozen=True)
class Options:
    """The options of the request, before they are checked against the columns."""

    target: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()  # each a name, or several separated by commas
    types: tuple[str, ...] = ()  # each `name:kind`, or several separated by commas
    delimiter: str | None = None
    decimal: str | None = None
    null_values: tuple[str, ...] | None = None
    name: str | None = None


@dataclass(frozen=True)
class Plan:
    """The options applied to the columns of one upload."""

    target: str
    weight: str | None
    kept: tuple[str, ...]  # in the order of the upload
    dropped: tuple[str, ...]
    kinds: dict[str, Kind]  # the types that the options give

    def role(self, name: str) -> Role:
        return "target" if name == self.target else "weight" if name == self.weight else "feature"

    def is_optional(self, name: str) -> bool:
        """Return whether the column is a feature whose type the options do not give."""
        return self.role(name) == "feature" and name not in self.kinds

    def without(self, names: Sequence[str]) -> Plan:
        """Return the plan that leaves out these columns too."""
        kept = tuple(name for name in self.kept if name not in set(names))
        return replace(self, kept=kept, dropped=(*self.dropped, *names))


def with_fix(options: Options, fix: Fix) -> Options:
    """Return the options with the fix applied."""
    changed = as_options(fix, options.drop, options.types)
    for name in changed.keys() & {"drop", "types"}:
        changed[name] = tuple(changed[name] or ())
    return replace(options, **changed)


def content_key(
    sha256: str, file_format: str | None, charset: str, coding: str | None, options: Options
) -> str:
    """Return a key that is equal for equal bytes that are read with equal options."""
    given = asdict(options)
    given["drop"] = sorted(given["drop"])
    given["types"] = sorted(given["types"])
    if options.null_values is not None:
        given["null_values"] = sorted(set(options.null_values))
    text = json.dumps([INGEST_VERSION, sha256, file_format, charset, coding, given], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def make_plan(options: Options, names: Sequence[str]) -> Plan:
    """Apply the options to these columns. Raise IngestError with every option that does not fit."""
    issues: list[Issue] = []
    dropped = _split_names(options.drop, names)
    kinds = _kinds(options.types, names, issues)
    for option, wanted in (
        ("target", [options.target] if options.target is not None else []),
        ("weight", [options.weight] if options.weight is not None else []),
        ("drop", dropped),
        ("types", list(kinds)),
    ):
        issues += [_unknown_column(option, name, names, kinds) for name in wanted if name not in names]
    if options.target is None:
        issues.insert(0, _no_target(names))
    else:
        issues += _conflicts(options.target, options.weight, dropped)
    kept = tuple(name for name in names if name not in set(dropped))
    if not issues and not [name for name in kept if name not in (options.target, options.weight)]:
        text = "No column besides the target is left"
        fixes = [set_option("Keep all columns", drop=None)] if dropped else []
        issues.append(option_issue("drop", "NO_FEATURES", f"{text}; the table has {listed(names)}.", *fixes))
    if issues:
        raise IngestError(*issues)
    assert options.target is not None
    return Plan(options.target, options.weight, kept, tuple(n for n in names if n in set(dropped)), kinds)


def _unknown_column(option: str, name: str, names: Sequence[str], kinds: Mapping[str, Kind]) -> Issue:
    """Return the issue of an option that names a column which does not exist. `kinds` are the given types."""
    close = nearest(name, names, _MAX_SUGGESTIONS)
    guess = did_you_mean(map(quoted, close))
    message = f"There is no column {quoted(name)}.{guess} The columns are {listed(names)}."
    fixes: list[Fix] = []
    match option:
        case "drop":
            fixes = [Fix(f"Leave out {quoted(meant)}", drop=(meant,), keep=(name,)) for meant in close]
            fixes.append(Fix(f"Remove {quoted(name)} from `drop`", keep=(name,)))
        case "types":
            fixes = [replace(read_column_as(meant, kinds[name]), untyped=(name,)) for meant in close]
            fixes.append(_without_type(name))
        case "target":
            fixes = [_as_target(meant) for meant in close or _likely_targets(names)]
        case "weight":
            fixes = [set_option(f"Use {quoted(meant)} as the weight", weight=meant) for meant in close]
            fixes.append(WITHOUT_WEIGHTS)
    return option_issue(option, "UNKNOWN_COLUMN", message, *fixes)


def _as_target(name: str) -> Fix:
    return set_option(f"Use {quoted(name)} as the target", target=name)


def _without_type(name: str) -> Fix:
    return Fix(f"Remove {quoted(name)} from `types`", untyped=(name,))


def _likely_targets(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.strip().casefold() in TARGET_NAMES]


def _no_target(names: Sequence[str]) -> Issue:
    example = names[-1] if len(names[-1]) <= 40 else "…"
    message = (
        "Name the column with the classes to predict, for example ?target="
        f"{example}. The columns are {listed(names)}."
    )
    fixes = [_as_target(name) for name in dict.fromkeys([*_likely_targets(names), names[-1]])]
    return option_issue("target", "TARGET_REQUIRED", message, *fixes)


def _conflicts(target: str, weight: str | None, dropped: Iterable[str]) -> list[Issue]:
    issues = []
    if weight == target:
        message = f"Column {quoted(target)} cannot be both the target and the weight."
        issues.append(option_issue("weight", "COLUMN_USED_TWICE", message, WITHOUT_WEIGHTS))
    for role, name in (("target", target), ("weight", weight)):
        if name is not None and name in set(dropped):
            message = f"Column {quoted(name)} is the {role} and cannot be dropped."
            fix = Fix(f"Keep {quoted(name)}", keep=(name,))
            issues.append(option_issue("drop", "COLUMN_USED_TWICE", message, fix))
    return issues


def _split_names(items: Iterable[str], names: Sequence[str]) -> list[str]:
    """Split items at commas, unless the whole item is a column's name."""
    found: list[str] = []
    for item in items:
        parts = [item] if item in names else [part.strip() for part in item.split(",")]
        found += [part for part in parts if part]
    return found


def _kinds(items: Iterable[str], names: Sequence[str], issues: list[Issue]) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for item in items:
        whole = item.rpartition(":")[0] in names
        for part in [item] if whole else [part for part in item.split(",") if part.strip()]:
            name, _, word = part.rpartition(":")
            word = word.strip().lower()
            kind = next((kind for kind in KINDS if kind == word), None)
            name = name if name in names else name.strip()
            if not name or kind is None:
                issues.append(_bad_type(name, word))
            elif kinds.get(name, kind) != kind:
                message = f"Column {quoted(name)} has two types; give it one."
                both = [read_column_as(name, kinds[name]), read_column_as(name, kind)]
                issues.append(option_issue("types", "COLUMN_USED_TWICE", message, *both))
            else:
                kinds[name] = kind
    return kinds


def _bad_type(name: str, word: str) -> Issue:
    """Return the issue of a type that is unknown or has no column."""
    meant = _KIND_WORDS.get(word) or next(map(_KIND_WORDS.get, nearest(word, _KIND_WORDS)), None)
    guess, fixes = "", []
    if name and meant is not None:
        guess, fixes = did_you_mean([f"{name[:80]}:{meant}"]), [read_column_as(name, meant)]
    if name:
        fixes.append(_without_type(name))
    message = f"Expected name:number, name:category or name:boolean; separate several by commas.{guess}"
    return option_issue("types", "BAD_TYPE", message, *fixes)
