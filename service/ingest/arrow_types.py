"""Arrow types and what they are here: numbers, booleans, categories, or nothing that can be learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from .errors import Fault, IngestError, column_fault, shown
from .fixes import Fix, combined, leave_out, take_as, without_weights
from .options import Plan

_TIMES = (
    *(pa.types.is_date, pa.types.is_time, pa.types.is_timestamp),
    *(pa.types.is_duration, pa.types.is_interval),
)
_BYTES = (
    *(pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_fixed_size_binary, pa.types.is_binary_view),
)


def is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_time(kind: Any) -> bool:
    return any(test(kind) for test in _TIMES)


def value_type(kind: Any) -> Any:
    """The type of the values, of a dictionary or of the column itself."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def check_schema(schema: Any, plan: Plan) -> None:
    """IngestError that names every kept column of a type that cannot be used."""
    faults = [
        fault for name in plan.kept if (fault := type_fault(name, schema.field(name).type, plan)) is not None
    ]
    if faults:
        raise IngestError(*faults, fixes=useful_fixes(faults, plan))


def type_fault(name: str, kind: Any, plan: Plan) -> Fault | None:
    value = value_type(kind)
    if is_text(value) or is_number(value) or pa.types.is_boolean(value) or pa.types.is_null(value):
        return None
    if is_time(value):
        return None if plan.kinds.get(name) == "category" else dates_fault(name, plan)
    return unsupported(name, kind, plan)


def unsupported(name: str, kind: Any, plan: Plan) -> Fault:
    value = value_type(kind)
    what = "bytes" if any(test(value) for test in _BYTES) else f"values of the type {str(value)[:60]}"
    message = (
        f"Column {shown(name)} holds {what}, from which no tree can learn. Leave it out with "
        f"drop={name[:80]}, or turn it into numbers, text or booleans."
    )
    return column_fault(name, "UNSUPPORTED_TYPE", message, *remedies(name, plan))


def remedies(name: str, plan: Plan, *others: Fix) -> tuple[Fix, ...]:
    """What can be done about a column that cannot be used as it is: leave it out, unless it is the target."""
    if name == plan.target:
        return others
    return (without_weights(name) if name == plan.weight else leave_out(name), *others)


def useful_fixes(faults: Sequence[Fault], plan: Plan) -> tuple[Fix, ...]:
    """The remedies that leave a column to learn from."""
    features = {name for name in plan.kept if name not in (plan.target, plan.weight)}
    return tuple(fix for fix in combined([fault.fixes for fault in faults]) if features - set(fix.drop))


def dates_fault(name: str, plan: Plan) -> Fault:
    """Of a column of dates that has a role, or that is to be numbers."""
    message = (
        f"Column {shown(name)} holds dates or times. Leave it out with drop={name[:80]}, take each as a word "
        f"with types={name[:80]}:category, or turn it into a number, such as days since an event."
    )
    others = [] if name == plan.weight else [take_as(name, "category")]
    return column_fault(name, "DATES", message, *remedies(name, plan, *others))


def dates_left_out(name: str) -> str:
    """The warning about a column of dates."""
    return (
        f"Column {shown(name)} holds dates or times and is left out. Turn it into a number, such as days "
        f"since an event, or take each as a word with types={name[:80]}:category."
    )
