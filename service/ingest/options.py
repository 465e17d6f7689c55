"""What a client says about an upload, and what that means for the columns found in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import get_args

from service.near_names import did_you_mean, nearest

from .errors import Fault, IngestError, listed, option_fault, shown
from .fixes import LEARN_WITHOUT_WEIGHTS, Fix, as_options, set_option, take_as
from .fixes import Kind as Kind

TARGET_NAMES = frozenset({"target", "label", "class", "y", "outcome"})  # by custom
KINDS: tuple[Kind, ...] = get_args(Kind)
_KIND_WORDS: dict[str, Kind] = {  # what other tools call them
    **{kind: kind for kind in KINDS},
    **dict.fromkeys(("int", "integer", "float", "double", "numeric", "real"), "number"),
    **dict.fromkeys(("text", "string", "str", "object", "categorical", "factor"), "category"),
    "bool": "boolean",
}
_NEAR_COLUMNS = 3  # that are proposed for one that is not there
INGEST_VERSION = 2  # rises when the same bytes and options give another table
# Words for a missing cell in a CSV, unless the client says which; an empty cell always is one.
NULL_WORDS = (
    *("NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null"),
    *("1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)


@dataclass(frozen=True)
class TableLimits:
    max_rows: int = 10_000_000
    max_columns: int = 10_000
    max_cell_bytes: int = 65_536
    max_categories: int = 100_000
    max_table_bytes: int = 4 << 30  # of the table in memory
    max_upload_bytes: int = 1 << 30  # of the file, when it is unpacked


@dataclass(frozen=True)
class Options:
    """As given: names are not checked against the columns yet."""

    target: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()  # each a name, or names with commas between them
    types: tuple[str, ...] = ()  # each `name:kind`, or several with commas between them
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
    kinds: dict[str, Kind]  # where the client decides

    def may_leave_out(self, name: str) -> bool:
        """Whether nobody asks for this column: it has no role and no type is given."""
        return name not in (self.target, self.weight) and name not in self.kinds

    def without(self, names: Sequence[str]) -> Plan:
        """The same, with these columns left out as well."""
        kept = tuple(name for name in self.kept if name not in set(names))
        return replace(self, kept=kept, dropped=(*self.dropped, *names))


def with_fix(options: Options, fix: Fix) -> Options:
    """The options as a client sends them with the remedy."""
    changed = as_options(fix, options.drop, options.types)
    for name in changed.keys() & {"drop", "types"}:
        changed[name] = tuple(changed[name] or ())
    return replace(options, **changed)


def content_key(sha256: str, form: str | None, charset: str, coding: str | None, options: Options) -> str:
    """Equal for the same bytes read in the same way."""
    given = asdict(options)
    given["drop"] = sorted(given["drop"])
    given["types"] = sorted(given["types"])
    if options.null_values is not None:
        given["null_values"] = sorted(set(options.null_values))
    text = json.dumps([INGEST_VERSION, sha256, form, charset, coding, given], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def plan(options: Options, names: Sequence[str]) -> Plan:
    """IngestError with everything that does not fit these columns."""
    faults: list[Fault] = []
    dropped = _split_names(options.drop, names)
    kinds = _kinds(options.types, names, faults)
    for option, wanted in (
        ("target", [options.target] if options.target is not None else []),
        ("weight", [options.weight] if options.weight is not None else []),
        ("drop", dropped),
        ("types", list(kinds)),
    ):
        faults += [unknown_column(option, name, names, kinds) for name in wanted if name not in names]
    if options.target is None:
        faults.insert(0, _no_target(names))
    else:
        faults += _conflicts(options.target, options.weight, dropped)
    kept = tuple(name for name in names if name not in set(dropped))
    if not faults and not [name for name in kept if name not in (options.target, options.weight)]:
        text = "No column is left to learn from besides the target"
        fixes = [set_option("Leave out no column", drop=None)] if dropped else []
        faults.append(option_fault("drop", "NO_FEATURES", f"{text}; the table has {listed(names)}.", *fixes))
    if faults:
        raise IngestError(*faults)
    assert options.target is not None
    return Plan(options.target, options.weight, kept, tuple(n for n in names if n in set(dropped)), kinds)


def unknown_column(
    option: str, name: str, names: Sequence[str], kinds: Mapping[str, Kind] | None = None
) -> Fault:
    """`kinds`: the types that are given, by column."""
    close = nearest(name, names, _NEAR_COLUMNS)
    guess = did_you_mean(map(shown, close))
    message = f"There is no column {shown(name)}.{guess} The columns are {listed(names)}."
    fixes: list[Fix] = []
    match option:
        case "drop":
            fixes = [Fix(f"Leave out {shown(meant)}", drop=(meant,), keep=(name,)) for meant in close]
            fixes.append(Fix(f"Do not leave out {shown(name)}", keep=(name,)))
        case "types":
            kind = (kinds or {})[name]
            fixes = [replace(take_as(meant, kind), untyped=(name,)) for meant in close]
            fixes.append(Fix(f"Give no type for {shown(name)}", untyped=(name,)))
        case "target":
            fixes = [_as_target(meant) for meant in close or _likely_targets(names)]
        case "weight":
            fixes = [set_option(f"Take {shown(meant)} as the weight", weight=meant) for meant in close]
            fixes.append(LEARN_WITHOUT_WEIGHTS)
    return option_fault(option, "UNKNOWN_COLUMN", message, *fixes)


def _as_target(name: str) -> Fix:
    return set_option(f"Take {shown(name)} as the target", target=name)


def _likely_targets(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.strip().casefold() in TARGET_NAMES]


def _no_target(names: Sequence[str]) -> Fault:
    example = names[-1] if len(names[-1]) <= 40 else "…"
    message = (
        "Say which column holds the classes to learn, for example ?target="
        f"{example}. The columns are {listed(names)}."
    )
    fixes = [_as_target(name) for name in dict.fromkeys([*_likely_targets(names), names[-1]])]
    return option_fault("target", "TARGET_REQUIRED", message, *fixes)


def _conflicts(target: str, weight: str | None, dropped: Iterable[str]) -> list[Fault]:
    faults = []
    if weight == target:
        message = f"Column {shown(target)} cannot be both the target and the weight."
        faults.append(option_fault("weight", "COLUMN_USED_TWICE", message, LEARN_WITHOUT_WEIGHTS))
    for role, name in (("target", target), ("weight", weight)):
        if name is not None and name in set(dropped):
            message = f"Column {shown(name)} is the {role} and cannot be dropped."
            fix = Fix(f"Keep {shown(name)}", keep=(name,))
            faults.append(option_fault("drop", "COLUMN_USED_TWICE", message, fix))
    return faults


def _split_names(items: Iterable[str], names: Sequence[str]) -> list[str]:
    """A whole item that is a column's name is one, commas and all."""
    found: list[str] = []
    for item in items:
        parts = [item] if item in names else [part.strip() for part in item.split(",")]
        found += [part for part in parts if part]
    return found


def _kinds(items: Iterable[str], names: Sequence[str], faults: list[Fault]) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for item in items:
        whole = item.rpartition(":")[0] in names
        for part in [item] if whole else [part for part in item.split(",") if part.strip()]:
            name, _, word = part.rpartition(":")
            word = word.strip().lower()
            kind = next((kind for kind in KINDS if kind == word), None)
            name = name if name in names else name.strip()
            if not name or kind is None:
                faults.append(_bad_type(name, word))
            elif kinds.get(name, kind) != kind:
                message = f"Column {shown(name)} is given two types."
                both = [take_as(name, kinds[name]), take_as(name, kind)]
                faults.append(option_fault("types", "COLUMN_USED_TWICE", message, *both))
            else:
                kinds[name] = kind
    return kinds


def _bad_type(name: str, word: str) -> Fault:
    """The fault of a type that is none, or that stands alone."""
    meant = _KIND_WORDS.get(word) or next(map(_KIND_WORDS.get, nearest(word, _KIND_WORDS)), None)
    guess, fixes = "", []
    if name and meant is not None:
        guess, fixes = did_you_mean([f"{name[:80]}:{meant}"]), [take_as(name, meant)]
    if name:
        fixes.append(Fix(f"Give no type for {shown(name)}", untyped=(name,)))
    message = f"Expected name:number, name:category or name:boolean, with commas between several.{guess}"
    return option_fault("types", "BAD_TYPE", message, *fixes)
