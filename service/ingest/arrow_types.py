"""Check Arrow types: a column holds numbers, booleans or text, or its type is not supported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from service.ingest.errors import IngestError, Issue, column_issue
from service.ingest.fixes import Fix, combined, leave_out, quoted, read_column_as, without_weights
from service.ingest.options import Plan

_BINARY = (
    *(pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_fixed_size_binary, pa.types.is_binary_view),
)


def is_binary(kind: Any) -> bool:
    return any(test(kind) for test in _BINARY)


def is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def value_type(kind: Any) -> Any:
    """Return the type of a column's values; of a dictionary-encoded column, that of the dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def check_schema(schema: Any, plan: Plan) -> None:
    """Raise IngestError with an issue for every kept column of an unsupported type."""
    issues = [
        issue for name in plan.kept if (issue := type_issue(name, schema.field(name).type, plan)) is not None
    ]
    if issues:
        raise IngestError(*issues, fixes=useful_fixes(issues, plan))


def type_issue(name: str, kind: Any, plan: Plan) -> Issue | None:
    value = value_type(kind)
    if is_text(value) or is_number(value) or pa.types.is_boolean(value) or pa.types.is_null(value):
        return None
    if pa.types.is_temporal(value):
        return None if plan.kinds.get(name) == "category" else dates_issue(name, plan)
    return unsupported(name, kind, plan)


def unsupported(name: str, kind: Any, plan: Plan) -> Issue:
    value = value_type(kind)
    what = "bytes" if is_binary(value) else f"values of the type {str(value)[:60]}"
    message = (
        f"Column {quoted(name)} holds {what}, which are not supported. Leave it out with "
        f"drop={name[:80]}, or convert it to numbers, text or booleans."
    )
    return column_issue(name, "UNSUPPORTED_TYPE", message, *column_fixes(name, plan))


def column_fixes(name: str, plan: Plan, *others: Fix) -> tuple[Fix, ...]:
    """Return the fixes for a column that cannot be used: leave it out unless it is the target, and others."""
    if name == plan.target:
        return others
    return (without_weights(name) if name == plan.weight else leave_out(name), *others)


def useful_fixes(issues: Sequence[Issue], plan: Plan) -> tuple[Fix, ...]:
    """Return the combined fixes that keep at least one feature."""
    features = {name for name in plan.kept if name not in (plan.target, plan.weight)}
    return tuple(fix for fix in combined([issue.fixes for issue in issues]) if features - set(fix.drop))


def dates_issue(name: str, plan: Plan) -> Issue:
    """Return the issue of a column of dates that is a target or a weight, or has the type number."""
    message = (
        f"Column {quoted(name)} holds dates or times. Leave it out with drop={name[:80]}, use each date as a "
        f"category with types={name[:80]}:category, or convert it to a number, such as days since an event."
    )
    others = [] if name == plan.weight else [read_column_as(name, "category")]
    return column_issue(name, "DATES", message, *column_fixes(name, plan, *others))


def dates_omitted(name: str) -> str:
    """Return the warning about a column of dates."""
    return (
        f"Column {quoted(name)} holds dates or times and was left out. Convert it to a number, such as days "
        f"since an event, or use each date as a category with types={name[:80]}:category."
    )
