"""Text in SVG: estimated widths, shortening, wrapping, number labels and escaping."""

from __future__ import annotations

import math
import unicodedata
from html import escape

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
# Advance widths in em of DejaVu Sans Bold, the widest of these fonts.
_WIDTHS = {
    0.40: "ijlIJ',./:;\\| ",
    0.48: "ft!()-[]",
    0.53: 'r"*_`',
    0.60: "csz?",
    0.70: "0123456789aekovxyEFLT$£€",
    0.74: "bdghnpquCPSYZ{}",
    0.80: "ABKRVX",
    0.84: "DGHNU#+<=>^~±",
    0.88: "OQ&",
    1.11: "mwMW%@…",
}
_WIDTH_OF = {character: width for width, characters in _WIDTHS.items() for character in characters}


def width(text: str, size: float) -> float:
    """Return an upper bound of the width in any of the fonts."""
    return size * sum(_advance(character) for character in text)


def _advance(character: str) -> float:
    if character in _WIDTH_OF:
        return _WIDTH_OF[character]
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn"):
        return 0.0
    return 1.2 if unicodedata.east_asian_width(character) in "WF" else 1.0


def fit(text: str, size: float, room: float) -> str:
    """Return the text, without its middle if it does not fit: names often differ at their ends."""
    if width(text, size) <= room:
        return text
    for kept in range(len(text) - 1, 1, -1):
        short = text[: (kept + 1) // 2] + "…" + text[len(text) - kept // 2 :]
        if width(short, size) <= room:
            return short
    return "…"


def wrap(text: str, size: float, room: float) -> list[str]:
    """Return lines of words that fit the room."""
    lines: list[str] = []
    for word in text.split():
        if lines and width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(fit(word, size, room))
    return lines


def clean(text: str) -> str:
    """Escape text for XML, and replace control characters that XML does not allow."""
    kept = (
        c if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff" else " " for c in text
    )
    return escape("".join(kept), quote=True)


def number_labels(numbers: list[float], span: float) -> list[str]:
    """Return short decimals that differ and are precise enough for the span."""
    for digits in range(3, 17):
        texts = [_decimal(f"{number:.{digits}g}") for number in numbers]
        near = all(abs(float(text) - x) <= span / 500 for text, x in zip(texts, numbers, strict=True))
        if near and len(set(texts)) == len(set(numbers)):
            return texts
    return [_decimal(repr(number)) for number in numbers]


def _decimal(text: str) -> str:
    """Write 1.26e+03 as 1260, and shorten the exponent of very large and very small numbers."""
    if "e" not in text:
        return text
    if 1e-4 <= abs(float(text)) < 1e7:
        return f"{float(text):.10f}".rstrip("0").rstrip(".")
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent)}"


def spread(places: list[float], widths: list[float], low: float, high: float, gap: float) -> list[float]:
    """Return centres near `places` so that labels of these widths do not overlap, within low..high."""
    centres = places.copy()
    edge = low
    for i, w in enumerate(widths):
        centres[i] = max(centres[i], edge + w / 2)
        edge = centres[i] + w / 2 + gap
    edge = high
    for i in range(len(widths) - 1, -1, -1):
        centres[i] = min(centres[i], edge - widths[i] / 2)
        edge = centres[i] - widths[i] / 2 - gap
    return centres


def count_text(weight: float) -> str:
    """Return a count as an integer, or a weight with a few digits."""
    if weight == math.floor(weight) and weight < 1e15:
        return f"{int(weight)}"
    return f"{weight:.4g}"
