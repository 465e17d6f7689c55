"""Write a tree as a C file without dependencies (C99)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from literati.data.labels import plain
from literati.tree.export.code import Syntax, category_tables, conditions, leaves, used_columns
from literati.tree.export.conditions import ExportError
from literati.tree.export.names import utf8
from literati.tree.export.provenance import comment_lines

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

MIN_INTEGER, MAX_INTEGER = -(1 << 63) + 1, (1 << 63) - 1
SYNTAX = Syntax(entry="literati_right_{node}[(int){cell} + 1]", if_line="if ({condition}) {{ /* {name} */")

TYPES = """
#include <math.h>
#include <stddef.h>
#include <string.h>

/* A row is an array of doubles in the order of literati_columns, which has the columns that the tree uses
   and then NULL: a number, 0 or 1 for a boolean, the result of literati_category_... for a category, and NAN
   for a missing cell. A tree of one leaf uses no column, and its row may be NULL. Infinity is taken for a
   very large number, which Literati itself refuses. Do not compile with -ffast-math, which removes the tests
   for NAN. Other files declare what they use:

   extern const char *const literati_columns[], *const literati_classes[];
   int literati_predict(const double *x);
   const double *literati_predict_proba(const double *x);
   int literati_leaf_id(const double *x);
   double literati_category_text(int column, const char *text);
   double literati_category_integer(int column, long long value);
   double literati_category_number(int column, double value); */

enum literati_type { LITERATI_TEXT, LITERATI_INTEGER, LITERATI_DOUBLE };

typedef struct {
    int column;
    enum literati_type type;
    const char *text; /* UTF-8 */
    long long integer;
    double number;
} literati_category;
"""

FUNCTIONS = """
/* Return the place of the row's leaf in literati_leaf_ids. */
static int literati_leaf(const double *x) {{
    (void)x; /* a tree of one leaf does not read it */
{conditions}
}}

/* Return the place of the row's class in literati_classes. */
int literati_predict(const double *x) {{ return literati_labels[literati_leaf(x)]; }}

/* Return the probabilities of the classes. */
const double *literati_predict_proba(const double *x) {{ return literati_probabilities[literati_leaf(x)]; }}

/* Return the id of the leaf, as Literati counts it. */
int literati_leaf_id(const double *x) {{ return literati_leaf_ids[literati_leaf(x)]; }}

/* Return the cell of a category that is a text; NULL is a missing cell. */
double literati_category_text(int column, const char *text) {{
    int code = 0;
    if (text == NULL) return NAN;
    for (size_t i = 0; i < literati_n_categories; ++i) {{
        const literati_category *category = &literati_categories[i];
        if (category->column != column) continue;
        if (category->type == LITERATI_TEXT && strcmp(category->text, text) == 0) return code;
        ++code;
    }}
    return -1.0; /* unknown */
}}

/* Return the cell of a category that is an integer. */
double literati_category_integer(int column, long long value) {{
    int code = 0;
    for (size_t i = 0; i < literati_n_categories; ++i) {{
        const literati_category *category = &literati_categories[i];
        if (category->column != column) continue;
        if (category->type == LITERATI_INTEGER && category->integer == value) return code;
        if (category->type == LITERATI_DOUBLE && fabs(category->number) < 9.2e18 &&
            category->number == floor(category->number) && (long long)category->number == value) return code;
        ++code;
    }}
    return -1.0;
}}

/* Return the cell of a category that is a floating-point number; NAN is a missing cell. */
double literati_category_number(int column, double value) {{
    int code = 0;
    if (isnan(value)) return NAN;
    for (size_t i = 0; i < literati_n_categories; ++i) {{
        const literati_category *category = &literati_categories[i];
        if (category->column != column) continue;
        if (category->type == LITERATI_DOUBLE && category->number == value) return code;
        if (category->type == LITERATI_INTEGER && fabs(value) < 9.2e18 && value == floor(value) &&
            (long long)value == category->integer) return code;
        ++code;
    }}
    return -1.0;
}}
"""


def to_c(tree: ShapeTree, model_id: str | None = None) -> str:
    """Return a C file with functions for one row, whose names begin with `literati_`."""
    ends = leaves(tree)
    columns = used_columns(tree).values()
    probabilities = tree.probabilities.tolist()
    categories = [
        f"{{{index}, {_category(category)}}}"
        for index, column in enumerate(columns)
        for category in column.categories
    ]
    names = [_text(column.name) for column in columns]
    classes = [_text(str(plain(label))) for label in tree.classes]
    rows = [f"{{{', '.join(map(repr, probabilities[index]))}}}" for index in ends]
    lines = ["/*", *(f" * {line}" for line in comment_lines(tree, model_id)), " */", TYPES]
    lines += SYNTAX.table("const char *const literati_columns[] = {...};", [*names, "NULL"])
    lines += SYNTAX.table(f"const char *const literati_classes[{len(classes)}] = {{...}};", classes)
    lines.append(f"static const size_t literati_n_categories = {len(categories)};")
    lines += SYNTAX.table(
        "static const literati_category literati_categories[] = {...};",
        categories or ['{-1, LITERATI_TEXT, "", 0, 0.0}'],
    )
    for node, table in category_tables(tree).items():
        lines.append(f"static const char literati_right_{node}[] = {{{','.join(table)}}};")
    lines += SYNTAX.table("static const int literati_leaf_ids[] = {...};", [str(index) for index in ends])
    lines += SYNTAX.table(
        "static const int literati_labels[] = {...};", [str(tree.nodes[index].label) for index in ends]
    )
    lines += SYNTAX.table(f"static const double literati_probabilities[][{len(classes)}] = {{...}};", rows)
    return "\n".join(lines) + "\n" + FUNCTIONS.format(conditions="\n".join(conditions(tree, SYNTAX)))


def _category(category: Any) -> str:
    category = plain(category)
    if isinstance(category, str):
        return f"LITERATI_TEXT, {_text(category)}, 0, 0.0"
    if isinstance(category, bool | int):
        if not MIN_INTEGER <= category <= MAX_INTEGER:
            raise ExportError(f"C cannot hold the category {category} in 64 bits; export to Python instead")
        return f'LITERATI_INTEGER, "", {int(category)}LL, 0.0'
    if isinstance(category, float):
        return f'LITERATI_DOUBLE, "", 0, {category!r}'
    raise ExportError(f"C has no literal for the category {category!r}; export to Python instead")


def _text(text: str) -> str:
    """Return a string literal in ASCII with the UTF-8 bytes of the text."""
    plain_bytes = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain_bytes else f"\\{b:03o}" for b in utf8(text, "C")) + '"'
