"""Options of commands, made from the definitions of the library's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from literati.cli.errors import InputError
from literati.search.options import SearchLimits, SolverOptions
from literati.search.parameters import (
    Accepted,
    Choice,
    ClassWeights,
    CountOrAll,
    LeafCounts,
    Parameter,
    Range,
    Values,
)

NONE = "none"  # no limit
ALIASES = {"max_depth": ("--depth",)}
DEFINITIONS: dict[str, Parameter] = {**SolverOptions.definitions(), **SearchLimits.definitions()}


def parameter_options(*, lists: tuple[str, ...] = ()) -> list[click.Parameter]:
    """Return an option for each parameter of a search. Those in `lists` also take several values."""
    return [_option(definition, several=name in lists) for name, definition in DEFINITIONS.items()]


def given_parameters(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters among the arguments of a command that the user gave. `none` is None."""
    given = {name: arguments[name] for name in DEFINITIONS if arguments.get(name) is not None}
    return {name: None if value == NONE else value for name, value in given.items()}


def _option(definition: Parameter, *, several: bool) -> click.Option:
    flag = "--" + definition.name.replace("_", "-")
    names = [definition.name, flag, *ALIASES.get(definition.name, ())]
    if isinstance(definition.values, Accepted):  # the only ones are True and False
        names[1] = f"{flag}/--no-{flag[2:]}"
    shown = NONE if definition.default is None else str(definition.default).lower()
    return click.Option(
        names,
        type=None if isinstance(definition.values, Accepted) else ParameterType(definition, several),
        default=None,  # the command passes on what the user gave
        help=f"{definition.sentences(none=f'`{NONE}`').replace('`', '')}  [default: {shown}]",
    )


class ParameterType(click.ParamType):  # type: ignore[type-arg] # generic only in recent versions of click
    """The values of a parameter as text."""

    def __init__(self, definition: Parameter, several: bool = False) -> None:
        self.name = definition.name
        self._values, self._several = definition.values, several

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        if isinstance(self._values, Choice):
            return "[" + "|".join(map(str, self._values.meanings)) + "]"
        word = _METAVARS[type(self._values)]
        return f"{word}[,{word}...]" if self._several else word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        if value.lower() == NONE and isinstance(self._values, Range) and self._values.optional:
            return NONE
        words = value.split(",") if self._several else [value]
        try:
            found = [self._convert_word(word.strip()) for word in words]
        except (TypeError, ValueError):
            expected = str(self._values).replace("None", NONE)
            self.fail(f"expected {expected}, got {value!r}", param, ctx)
        return found if len(found) > 1 else found[0]

    def _convert_word(self, word: str) -> Any:
        found = _READERS[type(self._values)](word)
        self._values.check(self.name, found)
        return found

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        if not isinstance(self._values, Choice):
            return []
        known = {str(word): text for word, text in self._values.meanings.items()}
        return [
            CompletionItem(word, help=text) for word, text in known.items() if word.startswith(incomplete)
        ]


def _number(word: str) -> float | int:
    """Return an integer if the word is one: `Range.check` turns it into a float where that is the type."""
    try:
        return int(word)
    except ValueError:
        return float(word)


def _integers(text: str) -> int | list[int]:
    found = [int(word) for word in text.split(",")]
    return found[0] if len(found) == 1 else found


def _class_weights(text: str) -> str | dict[str, float]:
    """Return `balanced`, or the weights of `label=weight,label=weight`."""
    if text == "balanced":
        return text
    weights = {}
    for part in text.split(","):
        label, sign, weight = part.rpartition("=")
        if not sign:
            raise ValueError(text)
        if label.strip() in weights:
            raise InputError(f"--class-weight: class {label.strip()} has two weights; give it one.")
        weights[label.strip()] = float(weight)
    return weights


_READERS: dict[type[Values], Callable[[str], Any]] = {
    Range: _number,
    CountOrAll: _number,
    Choice: str,
    LeafCounts: _integers,
    ClassWeights: _class_weights,
}
_METAVARS: dict[type[Values], str] = {
    Range: "NUMBER",
    CountOrAll: "NUMBER",
    LeafCounts: "N[,N...]",
    ClassWeights: "balanced|LABEL=WEIGHT,...",
}
