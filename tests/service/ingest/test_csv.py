"""CSV files: delimiters, encodings, quotation marks, missing cells, types, and common mistakes."""

from __future__ import annotations

import codecs
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.ingest.csv_reader import BLOCK_BYTES, BLOCKS
from service.ingest.csv_segments import segments
from tests.support.http.uploads import PLAIN, all_issues, cells, info, issue, kind, made, parsed


def test_types(tmp_path: Path) -> None:
    result = parsed(tmp_path, "whole,part,flag,word,label\n1,1,true,a,1\n2,2.5,false,b,0\n")
    assert [column.kind for column in result.columns] == ["number", "number", "boolean", "category", "number"]
    assert str(result.columns[0].array.type) == "int64"
    assert str(result.columns[1].array.type) == "double"


def test_types_are_inferred_over_all_rows(tmp_path: Path) -> None:
    """The last row determines the types, 20 MB after the first."""
    filler = "".join(f"{i},{i},{i % 1000},,true,w{i % 3},{i % 2},{'z' * 180}\n" for i in range(100_000))
    data = f"whole,part,word,late,flag,text,label,rest\n{filler}7,7.5,seven,9,false,?,1,z\n"
    assert len(data) > 2 * BLOCKS * BLOCK_BYTES
    result = parsed(tmp_path, data)
    kinds = {column.name: str(column.array.type) for column in result.columns}
    text = "dictionary<values=string, indices=int32, ordered=0>"
    assert kinds == {
        "whole": "int64",
        "part": "double",
        "word": text,
        "late": "int64",
        "flag": "bool",
        "text": text,
        "label": "int64",
        "rest": text,
    }
    assert cells(result, "part")[-2:] == [99_999.0, 7.5]
    assert cells(result, "word")[-2:] == ["999", "seven"]
    assert cells(result, "late")[-2:] == [None, 9]
    assert cells(result, "text")[-2:] == ["w0", "?"]
    assert cells(result, "rest")[-2:] == ["z" * 180, "z"]


row = st.lists(st.sampled_from(["1", "ab", '"x\ny"', '"say ""hi"""', '""', ""]), min_size=2, max_size=2)


@settings(deadline=None)
@given(st.lists(row, min_size=1, max_size=60), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_segments_are_whole_rows(rows: list[list[str]], end: str, last: bool) -> None:
    if end == "\r":
        rows = [[cell.replace("\n", "") for cell in cells] for cells in rows]
    data = (end.join(",".join(cells) for cells in rows) + (end if last else "")).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        path.write_bytes(data)
        pieces = [bytes(piece) for piece in segments(path, quoted=True, size=128)]
    assert b"".join(pieces) == data
    for piece in pieces[:-1]:
        assert piece.endswith(end[-1:].encode())
        assert piece.count(b'"') % 2 == 0


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.rstrip("\n"),
        "\n\n" + PLAIN,
        PLAIN.replace("\n", "\n\n"),
        codecs.BOM_UTF8 + PLAIN.encode(),
        PLAIN.replace("age,colour,label", ' age , "colour" ,label'),
        PLAIN.replace("red", '"red"'),
    ],
)
def test_the_same_table_in_many_spellings(tmp_path: Path, data: bytes | str) -> None:
    result = parsed(tmp_path, data)
    assert result.columns[0].name == "age"
    assert cells(result, "age") == [30, 40, 50, 61]
    assert cells(result, "label") == ["no", "yes", "no", "yes"]


@pytest.mark.parametrize(("sign", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
def test_the_delimiter_is_detected_with_a_warning(tmp_path: Path, sign: str, word: str) -> None:
    dataset = made(tmp_path, PLAIN.replace(",", sign))
    assert dataset.rows == 4
    assert any(word in warning for warning in dataset.warnings)


@pytest.mark.parametrize("given", [";", "semicolon"])
def test_a_delimiter_in_the_options_is_used(tmp_path: Path, given: str) -> None:
    dataset = made(tmp_path, "a,b;label\n1;x\n2;y\n", delimiter=given)
    assert [column.name for column in dataset.columns] == ["a,b", "label"]
    assert not any("semicolons" in warning for warning in dataset.warnings)


@pytest.mark.parametrize("given", ["ab", '"', "é", "a", "\n", "5"])
def test_a_delimiter_must_be_one_character(tmp_path: Path, given: str) -> None:
    assert issue(tmp_path, PLAIN, delimiter=given).location == ("query", "delimiter")


def test_quoted_cells_hold_delimiters_quotation_marks_and_line_breaks(tmp_path: Path) -> None:
    data = 'x,"a ""name""\nof two lines",label\n1,"one, two",no\n2,"say ""hi""\nthere",yes\n'
    result = parsed(tmp_path, data)
    assert result.columns[1].name == 'a "name"\nof two lines'
    assert cells(result, result.columns[1].name) == ["one, two", 'say "hi"\nthere']


def test_line_breaks_in_cells_across_blocks(tmp_path: Path) -> None:
    rows = [f'{i},"word {i % 7}\nline two",{"yes" if i % 2 else "no"}' for i in range(300_000)]
    result = parsed(tmp_path, "x,text,label\n" + "\n".join(rows) + "\n")
    assert result.rows == 300_000
    assert cells(result, "x") == list(range(300_000))


def test_a_decimal_comma(tmp_path: Path) -> None:
    data = "x;label\n1,5;no\n2,25;yes\n3;no\n"
    assert cells(parsed(tmp_path, data, decimal=","), "x") == [1.5, 2.25, 3.0]
    dataset = made(tmp_path, data)
    assert info(dataset, "x").type == "number"
    assert any("'x' was read as numbers with a decimal comma" in warning for warning in dataset.warnings)
    assert cells(parsed(tmp_path, data, decimal=",", types="x:number"), "x") == [1.5, 2.25, 3.0]
    assert issue(tmp_path, data, decimal=";").code == "BAD_DECIMAL"
    assert issue(tmp_path, data, decimal="x").code == "BAD_DECIMAL"


def test_missing_cells(tmp_path: Path) -> None:
    data = 'x,word,label\n1,NA,a\n,"",b\nnan,n/a,a\n4,?,b\n'
    result = parsed(tmp_path, data)
    assert cells(result, "x") == [1, None, None, 4]
    assert cells(result, "word") == [None, None, None, "?"]
    result = parsed(tmp_path, data, null_values=("?", "nan"))
    assert cells(result, "x") == [1, None, None, 4]
    assert cells(result, "word") == ["NA", None, "n/a", None]


def test_a_number_column_with_a_word_in_it_is_explained(tmp_path: Path) -> None:
    rows = "".join(f"{i / 10},{'yes' if i % 2 else 'no'}\n" for i in range(50))
    dataset = made(tmp_path, f"x,label\n{rows}unknown,no\n")
    assert info(dataset, "x").type == "category"
    assert any(
        "row 51 is not a number" in warning and "null_values" in warning for warning in dataset.warnings
    )
    assert info(made(tmp_path, f"x,label\n{rows}unknown,no\n", null_values="unknown"), "x").type == "number"
    rows = "".join(f"{i},{i % 2}\n" for i in range(3000))
    found = issue(tmp_path, f"x,label\n{rows}unknown,0\n", limits={"max_categories": 3000})
    assert found.code == "TOO_MANY_CATEGORIES"
    assert "row 3,001 is not a number" in found.message


# Encodings


@pytest.mark.parametrize(
    ("codec", "charset"), [("latin-1", "iso8859-1"), ("cp1252", "cp1252"), ("utf-16", "utf-16")]
)
def test_declared_encodings(tmp_path: Path, codec: str, charset: str) -> None:
    data = "größe,label\n1,ähnlich\n2,anders\n".encode(codec)
    result = parsed(tmp_path, data, charset=charset)
    assert cells(result, "größe") == [1, 2]
    assert cells(result, "label") == ["ähnlich", "anders"]


def test_undeclared_latin_1_is_rejected_with_its_line(tmp_path: Path) -> None:
    good = "".join(f"{i},plain,no\n" for i in range(200_000))
    data = f"x,word,label\n{good}1,caf".encode() + b"\xe9,yes\n"
    found = issue(tmp_path, data)
    assert found.code == "BAD_ENCODING"
    assert "Line 200,002" in found.message
    assert f"byte {data.index(0xE9):,}" in found.message
    assert "charset=windows-1252" in found.message


@pytest.mark.parametrize(
    "data", [b"caf\xe9,label\n1,a\n2,b\n", b"x,label\n1,caf\xe9\n2,b\n", b"x,label\n1,\xc3"]
)
def test_bad_bytes_anywhere(tmp_path: Path, data: bytes) -> None:
    assert issue(tmp_path, data).code == "BAD_ENCODING"


def test_bad_bytes_in_a_dropped_column_are_ignored(tmp_path: Path) -> None:
    result = parsed(tmp_path, b"x,word,label\n1,caf\xe9,a\n2,b,b\n", drop="word")
    assert cells(result, "x") == [1, 2]


def test_undeclared_utf_16_is_rejected_with_advice(tmp_path: Path) -> None:
    found = issue(tmp_path, PLAIN.encode("utf-16"))
    assert found.code == "NOT_UTF8"
    assert "charset=utf-16" in found.message
    assert issue(tmp_path, PLAIN.encode("utf-16-le")).code == "NOT_TEXT"


# Files that are not tables


@pytest.mark.parametrize("data", ["", "\n", "  \r\n \n", codecs.BOM_UTF8])
def test_an_empty_file(tmp_path: Path, data: bytes | str) -> None:
    assert issue(tmp_path, data).code == "EMPTY"


@pytest.mark.parametrize("data", ["a,label", "a,label\n", "a,label\n\n\n", "a,label\r\n"])
def test_a_header_without_rows(tmp_path: Path, data: str) -> None:
    assert issue(tmp_path, data).code == "NO_ROWS"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("Dear all\nplease find attached\n", "only one column"),
        ('{"a": 1}\n', "JSON"),
        ("<html>\n<body>\n", "HTML"),
    ],
)
def test_a_text_file(tmp_path: Path, data: str, words: str) -> None:
    found = issue(tmp_path, data)
    assert found.code == "NOT_A_TABLE"
    assert words in found.message


def test_prose_with_commas(tmp_path: Path) -> None:
    data = "Dear all, hello\nplease find it attached, signed, and sealed\n"
    assert issue(tmp_path, data, target="hello").code == "RAGGED_ROW"


def test_a_wrong_delimiter(tmp_path: Path) -> None:
    assert "with this `delimiter`" in issue(tmp_path, PLAIN, delimiter="|").message


def test_a_ragged_row_is_named(tmp_path: Path) -> None:
    for bad, cells_ in (("5,6", "2 cells"), ("5,6,7,8", "4 cells"), ("5", "1 cell")):
        rows = "".join(f"{i},b,c\n" for i in range(400_000))
        found = issue(tmp_path, f"x,y,label\n{rows}{bad}\n1,2,3\n")
        assert found.code == "RAGGED_ROW"
        assert found.location == ("body", "rows", 400_001)
        assert f"Row 400,001 has {cells_}, but the header has 3" in found.message


def test_a_quotation_mark_that_is_never_closed(tmp_path: Path) -> None:
    found = issue(tmp_path, 'x,label\n1,a\n2,"b\n3,c\n4,d\n')
    assert found.code == "OPEN_QUOTE"
    assert found.location == ("body", "rows", 2, "label")
    rows = "".join(f"{i},b\n" for i in range(1_000_000))
    assert issue(tmp_path, f'x,label\n1,"a\n{rows}').code in ("ROW_TOO_LONG", "OPEN_QUOTE", "CELL_TOO_LONG")


def test_a_stray_quotation_mark_is_text(tmp_path: Path) -> None:
    assert cells(parsed(tmp_path, 'x,label\n5" pipe,a\n6,b\n'), "x") == ['5" pipe', "6"]


def test_a_row_that_is_too_long(tmp_path: Path) -> None:
    found = issue(tmp_path, "x,label\n" + "y" * (9 << 20) + ",a\n")
    assert found.code == "ROW_TOO_LONG"


def test_a_cell_that_is_too_long(tmp_path: Path) -> None:
    data = f"x,label\nshort,a\n{'y' * 101},b\n"
    found = issue(tmp_path, data, limits={"max_cell_bytes": 100})
    assert found.code == "CELL_TOO_LONG"
    assert found.location == ("body", "rows", 2, "x")
    assert parsed(tmp_path, data, limits={"max_cell_bytes": 101}).rows == 2


# Headers


@pytest.mark.parametrize("data", ["1,2\n3,4\n5,6\n", "5.1,3.5,-1e3\n4.9,3.0,2\n"])
def test_a_missing_header_of_numbers(tmp_path: Path, data: str) -> None:
    assert issue(tmp_path, data).code == "NO_HEADER"


def test_a_missing_header_of_numbers_and_a_word(tmp_path: Path) -> None:
    found = issue(tmp_path, "5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,setosa\n", target="species")
    assert found.code == "NO_HEADER"
    assert "'species' among them" in found.message


def test_a_missing_header_of_numbers_and_a_word_without_a_target(tmp_path: Path) -> None:
    """The error does not propose a cell of the first row as the target."""
    found = issue(tmp_path, "5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,setosa\n", target=None)
    assert found.code == "NO_HEADER"
    assert "?target=" in found.message


def test_a_header_of_column_numbers_is_accepted(tmp_path: Path) -> None:
    assert cells(parsed(tmp_path, "0,1,2\n7,8,a\n9,7,b\n", target="2"), "0") == [7, 9]


def test_years_as_names_are_accepted_with_a_warning(tmp_path: Path) -> None:
    result = parsed(tmp_path, "2020,2021,label\n7,8,a\n9,7,b\n")
    assert result.rows == 2
    assert result.warnings == [
        "The first row looks like data; if it is, add a header line with the column names."
    ]


def test_duplicate_names(tmp_path: Path) -> None:
    found = all_issues(tmp_path, "a,b,a,b,label\n1,2,3,4,x\n")
    assert [f.code for f in found] == ["DUPLICATE_COLUMN"] * 2
    assert [f.location[-1] for f in found] == ["a", "b"]
    assert "rename" in found[0].message


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 3},{'yes' if i % 2 else 'no'}\n" for i in range(30))
    dataset = made(tmp_path, f",x,label\n{rows}")
    assert dataset.columns[0].name == "column_1"
    assert any("drop=column_1" in warning for warning in dataset.warnings)
    assert any("looks like an id" in warning for warning in dataset.warnings)


def test_limits_of_the_header(tmp_path: Path) -> None:
    wide = ",".join(f"c{i}" for i in range(11)) + ",label\n" + "1," * 11 + "a\n"
    assert issue(tmp_path, wide, limits={"max_columns": 11}).code == "TOO_MANY_COLUMNS"
    long = f"{'n' * 2000},label\n1,a\n"
    assert issue(tmp_path, long).code == "LONG_NAME"
    assert issue(tmp_path, "n" * (2 << 20)).code == "NOT_A_TABLE"


def test_a_wide_table(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(5000)]
    lines = [",".join(str((i * j) % 97) for j in range(5000)) + f",{i % 2}\n" for i in range(40)]
    result = parsed(tmp_path, ",".join(names) + ",label\n" + "".join(lines))
    assert result.rows == 40
    assert cells(result, "c4999") == [(i * 4999) % 97 for i in range(40)]


def test_too_many_rows(tmp_path: Path) -> None:
    found = issue(tmp_path, PLAIN, limits={"max_rows": 3})
    assert found.code == "TOO_MANY_ROWS"
    assert "4 rows; the limit is 3" in found.message


# Column types in the options


def test_types_by_name(tmp_path: Path) -> None:
    data = "zip,size,flag,label\n01234,1,yes,a\n99999,2,no,b\n01234,3,YES,a\n"
    result = parsed(tmp_path, data, types="zip:category,size:category,flag:boolean")
    assert cells(result, "zip") == ["01234", "99999", "01234"]
    assert cells(result, "size") == [1, 2, 3]
    assert kind(result, "size") == "category"
    assert cells(result, "flag") == [True, False, True]
    result = parsed(tmp_path, data, types=("flag:category", "zip:number"))
    assert cells(result, "flag") == ["yes", "no", "YES"]
    assert cells(result, "zip") == [1234, 99999, 1234]


def test_a_given_type_that_does_not_fit(tmp_path: Path) -> None:
    data = "x,y,label\n1,0,a\n2.5,1,b\nmany,2,a\n"
    found = all_issues(tmp_path, data, types=("x:number", "y:boolean"))
    assert [f.code for f in found] == ["NOT_A_NUMBER", "NOT_A_BOOLEAN"]
    assert [f.location for f in found] == [("body", "rows", 3, "x"), ("body", "rows", 3, "y")]
    assert "many" not in found[0].message, "a cell is not echoed"


@pytest.mark.parametrize("types", ["x", "x:text", ":number", "x:"])
def test_an_invalid_type(tmp_path: Path, types: str) -> None:
    assert issue(tmp_path, "x,label\n1,a\n2,b\n", types=types).code == "BAD_TYPE"


def test_names_with_commas_and_colons(tmp_path: Path) -> None:
    data = '"a,b","c:d",e,label\n1,2,3,x\n4,5,6,y\n'
    result = parsed(tmp_path, data, drop=("a,b", "e"), types="c:d:category")
    assert [column.name for column in result.columns] == ["c:d", "label"]
    assert kind(result, "c:d") == "category"


@pytest.mark.parametrize(
    "when",
    ["2024-01-05", "2024-01-05 10:30:00", "10:30:00", "05/01/2024", "5.1.2024", "2024-01-05T10:00:00Z"],
)
def test_dates(tmp_path: Path, when: str) -> None:
    data = f"when,x,label\n{when},1,a\n{when},2,b\n"
    dataset = made(tmp_path, data)
    assert [column.name for column in dataset.columns] == ["x", "label"]
    assert dataset.dropped == ["when"]
    (warning,) = [warning for warning in dataset.warnings if "'when'" in warning]
    assert "holds dates or times and was left out" in warning
    assert "types=when:category" in warning
    found = issue(tmp_path, f"when,label\n{when},a\n{when},b\n")
    assert found.code == "NO_FEATURES"
    found = issue(tmp_path, data, target="when")
    assert found.code in ("DATES", "ONE_CLASS")
    assert cells(parsed(tmp_path, data, types="when:category"), "when") == [when, when]
    assert parsed(tmp_path, data, drop="when").rows == 2


def test_dates_with_a_word_among_them(tmp_path: Path) -> None:
    days = [*(f"2024-03-{day:02}" for day in range(1, 20)), "unknown"]
    data = "day,x,label\n" + "".join(f"{day},{i % 7},{'ab'[i % 2]}\n" for i, day in enumerate(days))
    assert made(tmp_path, data).dropped == ["day"]
    assert kind(parsed(tmp_path, data, types=("day:category",)), "day") == "category"


def test_infinity(tmp_path: Path) -> None:
    for word in ("inf", "-Infinity", "1e999"):
        found = issue(tmp_path, f"x,label\n1.5,a\n2,b\n{word},a\n")
        assert found.code == "INFINITE"
        assert found.location == ("body", "rows", 3, "x")


def test_too_many_categories(tmp_path: Path) -> None:
    rows = "".join(f"word{i},{i % 2}\n" for i in range(300))
    found = issue(tmp_path, f"x,label\n{rows}", limits={"max_categories": 299})
    assert found.code == "TOO_MANY_CATEGORIES"
    assert "300 different values" in found.message
    assert "drop=x" in found.message
    dataset = made(tmp_path, f"x,label\n{rows}", limits={"max_categories": 300})
    assert any("looks like an id" in warning for warning in dataset.warnings)


def test_a_column_of_half_a_million_categories_is_rejected(tmp_path: Path) -> None:
    rows = "".join(f"{i:x}q,{i % 2}\n" for i in range(500_000))
    assert issue(tmp_path, f"x,label\n{rows}").code == "TOO_MANY_CATEGORIES"


def test_every_column_with_an_error_is_named(tmp_path: Path) -> None:
    data = "a,b,c,label\ninf,2024-01-01,1,x\n1,2024-01-02,2,y\n"
    found = all_issues(tmp_path, data, types="b:number")
    assert [(f.location[-1], f.code) for f in found] == [("a", "INFINITE"), ("b", "NOT_A_NUMBER")]
