"""Files that are nearly right: valid ones with some bytes, cells or values changed, as hypothesis
draws them.
"""

import copy
import csv
import io
import itertools
import re
from contextlib import contextmanager

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from recuse.base.errors import RecuseError

# The same examples every time, however slow the machine is; what serves all examples of a test need
# not be made for each.
SEEDED = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SHORT, share = 1 / 10, 1.0  # of the examples: in the ordinary run, and in this one


def examples(number):
    """The settings of a test with so many examples, of which the ordinary run takes the share
    SHORT.
    """
    return settings(SEEDED, max_examples=max(5, round(share * number)))


PLACE = st.integers(0, 2**20)  # of a byte, a cell or a value: modulo how many there are
PIECES = [
    b"\x00",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b'"',
    b'""',
    b",",
    b";",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\t",
    b" ",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"- ",
    b"#",
    b"'",
    b"\\",
    b"\\u0000",
    b"%",
    b"*a ",
    b"&a ",
    b"!!python/object:os.system ",
    b"!!int ",
    b"---\n",
    b"2024-13-45",
    b"null",
    b"NaN",
    b"1e999",
    b"-1",
    b"9" * 30,
    b"\xe6\x95\xb0",
    b"x" * 3000,
]
CELLS = [
    "",
    " ",
    "\t",
    "NA",
    "nan",
    "None",
    "null",
    "inf",
    "-inf",
    "1e308",
    "1e309",
    "-0",
    "-0.0",
    "0x10",
    "1_000",
    "1,5",
    "4.0",
    "4.5",
    "4.0000000000000001",
    "99",
    "-3",
    "9" * 25,
    "9" * 400,
    "1e-400",
    "true",
    "2024-01-01",
    "'",
    '"',
    "''",
    "\\",
    "a\nb",
    "a\r\nb",
    "a;b",
    "é",
    "数据",
    "\u202eabc",
    "\u00a0",
    "🙂",
    "\ufeff",
    "x\x00y",
    "\x1b[31m",
    "%s",
    "{x}",
    "{{x}}",
    "$(id)",
    "*",
    "[a]",
    "../../x",
    "/etc/passwd",
    "<b>&amp;",
    "Human",
    "gpt-4o",
    "GPT-4o",
    "Tone",
    "t0",
    "x" * 3000,
    "a",
    "b",
    "tie",
    "error",
    "ab",
    "ba",
    "0",
    "1",
    "5",
    "1e2",
    "main",
    "ERROR",
]
NUMBERS = [
    0,
    1,
    -1,
    2,
    5,
    0.5,
    -0.5,
    1.5,
    10**6,
    10**30,
    1e308,
    float("inf"),
    float("nan"),
    -(10**19),
]
OTHERS = [
    None,
    True,
    False,
    [],
    {},
    [[]],
    ["a", "a"],
    {"a": 1},
    [1, 2],
    {"": ""},
    "x",
    3,
    "\ud800",
    "a\n",
]
KINDS = {  # of columns of a parquet file -> SQL for a text as one
    **{
        kind: f"try_cast({{0}} as {kind})"
        for kind in ("double", "bigint", "decimal(9, 3)", "boolean", "date", "hugeint")
    },
    "varchar[]": "[{0}]",
    "struct(a varchar)": "{{'a': {0}}}",
    "blob": "encode({0})",
    "json": "to_json({0})",
}


OF_WHOLE_FILE = (
    "cannot be read|not YAML|no file holds a row|holds no settings|its scorers|found no rows"
)
OF_WHOLE_FILE += "|the file (is empty|holds no rows)"
PLACE_IN_FILE = rf", (line|row|entry) \d+|, column |: ({OF_WHOLE_FILE})"


@contextmanager
def done_or_refused(*names, made):
    """Within, all goes well, or one of the project's own errors names the place, and none of the
    files is `made`.

    It begins with one of `names`, a file or `config: `, and goes on with a line or a column, or
    with what is wrong with the whole file.
    """
    try:
        yield
    except RecuseError as error:
        text = str(error)
    else:
        return
    of_file = next(text.removeprefix(name) for name in names if text.startswith(name))
    assert text.startswith("config: ") or re.match(PLACE_IN_FILE, of_file)
    assert not re.match(r"\w+\.csv.*(Invalid|CSV Error|Not implemented)", text)  # DuckDB's words
    assert [path for path in made if path.exists()] == []


def altered(content, edits):
    """Bytes with each edit, (what, place, piece), made."""
    for what, place, piece in edits:
        at = place % (len(content) + 1)
        if what == "cut":
            content = content[:at]
        elif what == "insert":
            content = content[:at] + piece + content[at:]
        elif what == "replace":
            content = content[:at] + piece + content[at + len(piece) :]
        elif what == "drop":
            content = content[:at] + content[at + len(piece) :]
        elif what == "twice":
            content = content[:at] + content[at // 2 :]
        elif at < len(content):
            content = (
                content[:at] + bytes([content[at] ^ (1 << len(piece) % 8)]) + content[at + 1 :]
            )
    return content


def bytes_like(content):
    """The content with one to three of its bytes, or runs of them, changed."""
    edit = st.tuples(
        st.sampled_from(["flip", "insert", "replace", "drop", "twice", "cut"]),
        PLACE,
        st.sampled_from(PIECES),
    )
    return st.lists(edit, min_size=1, max_size=3).map(lambda edits: altered(content, edits))


def rewritten(table, edits):
    """A table, its header the first row, with each edit, (what, row, column, cell), made."""
    table = copy.deepcopy(table)
    for what, row, column, cell in edits:
        row, column = row % len(table), column % len(table[0]) if table[0] else 0
        if what == "row twice":
            table.append(list(table[row]))
        elif what == "row dropped":
            table[1:] = [line for place, line in enumerate(table) if place and place != row]
        elif what == "no rows":
            del table[1:]
        for line in (
            table
            if what.startswith("column")
            else table[:1]
            if what == "header"
            else table[row : row + 1]
        ):
            if what == "column dropped":
                del line[column : column + 1]
            elif what == "column twice":
                line.append(line[column] if column < len(line) else cell)
            elif what == "row cut":
                del line[column:]
            elif what in ("header", "cell") or (what == "column filled" and line is not table[0]):
                line[column : column + 1] = [cell]
    return table


def tables_like(table):
    """The table with one or two of its cells, rows or columns changed."""
    rarely = [
        "header",
        "column dropped",
        "column twice",
        "row twice",
        "row dropped",
        "row cut",
        "no rows",
    ]
    what = st.sampled_from([*["cell"] * 9, *["column filled"] * 2, *rarely])
    edit = st.tuples(what, PLACE, PLACE, st.sampled_from(CELLS))
    return st.lists(edit, min_size=1, max_size=2).map(lambda edits: rewritten(table, edits))


def as_csv(table, separator=","):
    """A table as a CSV file."""
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator="\n").writerows(table)
    return file.getvalue().encode()


def parquet_kinds():
    """Which columns of a parquet file are of another type than text."""
    return st.lists(st.tuples(PLACE, st.sampled_from(list(KINDS))), max_size=3)


def write_parquet(connection, table, kinds, path):
    """Write a table as parquet; a column of no name, or of one that is taken, gets another, since
    the format has no such.
    """
    names = []
    for column in table[0] or ["none"]:
        name = next(
            n
            for n in itertools.chain([column], (f"{column} {k}" for k in itertools.count()))
            if n and n.lower() not in names
        )
        names.append(name.lower() if name.lower() != column.lower() else column)
    quoted = ['"' + name.replace('"', '""').replace("\x00", "0") + '"' for name in names]
    lines = [[*line, *[None] * len(names)][: len(names)] for line in table[1:]]
    columns = {f"c{place}": [line[place] for line in lines] for place in range(len(names))}
    chosen = {place % len(names): KINDS[kind] for place, kind in kinds}
    source = ", ".join(f"unnest(?::varchar[]) as {column}" for column in columns)
    picked = ", ".join(
        f"{chosen.get(k, '{0}').format(f'c{k}')} as {name}" for k, name in enumerate(quoted)
    )
    connection.execute(
        f"copy (select {picked} from (select {source})) to '{path}' (format parquet)",
        [*columns.values()],
    )


def edited(document, edits):
    """Lists and mappings with each edit, (what, place, value), made; a value is mostly of the kind
    it replaces.
    """
    document = copy.deepcopy(document)
    for what, place, value in edits:
        places = list(_places(document))
        if not places:
            return document
        holder, key = places[place % len(places)]
        if what == "drop":
            del holder[key]
        elif what == "rename" and isinstance(holder, dict):
            holder[CELLS[value % len(CELLS)]] = holder.pop(key)
        elif what == "twice" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            alike = (
                CELLS
                if isinstance(holder[key], str)
                else NUMBERS
                if isinstance(holder[key], (int, float))
                else OTHERS
            )
            values = OTHERS if what == "other" else alike
            holder[key] = copy.deepcopy(values[value % len(values)])
    return document


def _places(node):
    for key in (
        list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    ):
        yield node, key
        yield from _places(node[key])


def documents_like(document):
    """The document with one or two of its values, keys or entries changed."""
    what = st.sampled_from([*["set"] * 6, "drop", "rename", "rename", "twice", "other"])
    edit = st.tuples(what, PLACE, PLACE)
    return st.lists(edit, min_size=1, max_size=2).map(lambda edits: edited(document, edits))
