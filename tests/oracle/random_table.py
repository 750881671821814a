# SPDX-License-Identifier: Apache-2.0
"""Random tables: every type, the values where mistakes hide, and their spellings in the text formats.

A column has a name and a type as hac's schemas know them, and a name (c0, c1 …) and a type in SQL. Values are Python's:
int, float, bool, str, bytes, Decimal as its text, date and timestamp as their text, None.
"""
import json
import struct
from dataclasses import dataclass, field

NAMES = ("a", "b", "unit price", "sum", "date", "größe", 'say "hi"', "x,y", "i64", "Count", "e1", "_", "v2", "line")
INTEGERS = {"i8": (-2**7, 2**7 - 1), "i16": (-2**15, 2**15 - 1), "i32": (-2**31, 2**31 - 1),
            "i64": (-2**63, 2**63 - 1), "u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1),
            "u64": (0, 2**64 - 1)}
SQL_TYPES = {"i8": "TINYINT", "i16": "SMALLINT", "i32": "INTEGER", "i64": "BIGINT", "u8": "UTINYINT",
             "u16": "USMALLINT", "u32": "UINTEGER", "u64": "UBIGINT", "f32": "FLOAT", "f64": "DOUBLE",
             "bool": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMP", "string": "VARCHAR", "bytes": "BLOB"}
DECIMALS = ((5, 2), (9, 4), (15, 3), (18, 0), (18, 18), (20, 2), (30, 10), (38, 6))
STRINGS = ("", "a", "A", "b", "ab", "abc", "Abc", "aab", " ", " a ", "a b", 'q"q', '"', '""', "it's", "x,y", ",", ";",
           "\t", "a\tb", "a\nb", "\n", "a\r\nb", "\\", "\\N", "a\\tb", "null", "NULL", "NA", "0", "12", "-7", "1.5",
           "nan", "true", "2020-01-31", "ä", "Zoë", "日本語", "🙂", "e\u0301", "%", "_", "50%", "a_b", "z" * 12,
           "z" * 13, "0123456789abcdef", "0123456789abcdefg", "#", "{}", "[1]", "\x01", "\x7f")
FLOATS = ("nan", "inf", "-inf", "0.0", "-0.0", "5e-324", "-5e-324", "2.2250738585072014e-308", "1.7976931348623157e308",
          "-1.7976931348623157e308", "1e22", "1e23", "0.1", "-1.5", "1e-5", "1e16", "9007199254740993")
FLOATS_32 = ("nan", "inf", "-inf", "0.0", "-0.0", "1e-45", "3.4028235e38", "-3.4028235e38", "0.1", "16777217", "-1.5")
DATES = ("0001-01-01", "9999-12-31", "1970-01-01", "1969-12-31", "2000-02-29", "1900-03-01", "2020-12-31")
TIMES = ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999",
         "2000-02-29 12:34:56.789", "2020-12-31 23:59:59.5")


def f32(value):
    """The nearest f32, as a float."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


@dataclass
class Column:
    name: str
    sql: str
    type: str
    mild: bool  # values that arithmetic does not overflow with; floats: sums are exact
    kind: str = ""  # of the expressions: i u f32 f64 b d t s y (bytes) dec
    p: int = 0
    s: int = 0
    values: list = field(default_factory=list)

    @property
    def sql_type(self):
        return f"DECIMAL({self.p},{self.s})" if self.kind == "dec" else SQL_TYPES[self.type]

    @property
    def schema(self):
        bare = self.name.isidentifier() and self.name.isascii()
        return (self.name if bare else '"' + self.name.replace('"', '""') + '"') + ":" + self.type


def days_text(rng, first, last):
    import datetime
    return str(datetime.date.fromordinal(rng.randint(first, last)))


def decimal_text(rng, p, s, mild):
    digits = rng.randint(1, min(p, s + 3) if mild else p)
    number = rng.choice((0, 1, 10**digits - 1, rng.randrange(10**digits), rng.randrange(10**digits)))
    text = str(number).rjust(s + 1, "0")
    text = f"{text[:-s]}.{text[-s:]}" if s else text
    return ("-" if number and rng.random() < 0.5 else "") + text


def one_value(rng, column, pool):
    kind, mild = column.kind, column.mild
    if kind in "iu":
        low, high = INTEGERS[column.type]
        if mild:
            return rng.randint(max(low, -50), min(high, 50))
        return rng.choice((low, high, 0, 1, rng.randint(low, high), rng.randint(low, high)))
    if kind in ("f32", "f64"):
        if mild:
            return rng.randint(-4000, 4000) / 64
        special = FLOATS if kind == "f64" else FLOATS_32
        value = float(rng.choice(special)) if rng.random() < 0.5 else rng.choice((
            rng.uniform(-1000, 1000), round(rng.uniform(-1000, 1000), 2), rng.uniform(-1, 1) * 10**rng.randint(-30, 30)))
        return f32(value) if kind == "f32" else value
    if kind == "b":
        return rng.random() < 0.5
    if kind == "d":
        return days_text(rng, 726000, 738000) if mild or rng.random() < 0.5 else rng.choice(DATES)
    if kind == "t":
        if not mild and rng.random() < 0.5:
            return rng.choice(TIMES)
        text = f"{days_text(rng, 726000, 738000)} {rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
        return text + rng.choice(("", "", ".5", ".123456", ".000001"))
    if kind == "dec":
        return decimal_text(rng, column.p, column.s, mild)
    if kind == "y":
        return rng.choice(pool).encode() if mild else rng.choice((b"", b"\0", b"\xff", b"\xff\0", rng.randbytes(rng.randint(0, 20))))
    if mild:  # strings that are numbers
        return str(rng.randint(-500, 500)) if rng.random() < 0.8 else rng.choice(("x", "1x", "--1", "99999999999999999999"))
    return rng.choice(pool) if rng.random() < 0.8 else "".join(rng.choice(STRINGS) for _ in range(rng.randint(0, 4)))


def make_column(rng, sql, name, kind, mild):
    column = Column(name, sql, kind, mild)
    if kind == "decimal":
        column.p, column.s = rng.choice(DECIMALS)
        column.type = f"decimal({column.p},{column.s})"
        column.kind = "dec"
    else:
        column.kind = {"bool": "b", "date": "d", "timestamp": "t", "string": "s", "bytes": "y"}.get(
            kind, kind if kind[0] == "f" else kind[0])
    return column


class Table:
    def __init__(self, rng, rows, most_columns=14):
        kinds = [*INTEGERS, "f32", "f64", "f64", "bool", "date", "timestamp", "decimal", "decimal", "string", "string",
                 "bytes"]
        wanted = rng.sample(kinds, rng.randint(5, most_columns - 1))
        names = rng.sample(NAMES, len(wanted))
        self.rows = rows
        self.columns = [Column("rid", "rid", "i64", True, "i", values=list(range(rows)))]
        for i, (kind, name) in enumerate(zip(wanted, names)):
            self.columns.append(self.fill(rng, make_column(rng, f"c{i}", name, kind, rng.random() < 0.6)))

    def fill(self, rng, column):
        nulls = rng.choice((0, 0, 0.1, 0.1, 0.5, 1 if rng.random() < 0.2 else 0.02))
        pool = rng.sample(STRINGS, rng.randint(2, len(STRINGS)))
        if rng.random() < 0.1:  # one that does not fit where short ones do
            pool.append("long " * rng.randint(10, 3000))
        few = [one_value(rng, column, pool) for _ in range(rng.choice((1, 3, 10)))] if rng.random() < 0.4 else None
        for _ in range(self.rows):
            null = rng.random() < nulls
            column.values.append(None if null else rng.choice(few) if few else one_value(rng, column, pool))
        return column

    def schema(self, rng):
        """The schema, in any order; the caller may drop some columns that no query needs."""
        return ",".join(c.schema for c in rng.sample(self.columns, len(self.columns)))

    # ---- for the oracle ----

    def load(self, connection, path):
        """Into table t of DuckDB, through a file in which nothing can be misread: strings and bytes are hexadecimal."""
        with open(path, "w") as out:
            for row in zip(*(c.values for c in self.columns)):
                out.write(",".join("" if v is None else "x" + v.encode().hex() if c.kind == "s" else
                                   "x" + v.hex() if c.kind == "y" else repr(v) if isinstance(v, float) else str(v)
                                   for c, v in zip(self.columns, row)) + "\n")
        names = {c.sql: "VARCHAR" for c in self.columns}
        casts = ", ".join(f"decode(unhex(substr({c.sql}, 2))) AS {c.sql}" if c.kind == "s" else
                          f"unhex(substr({c.sql}, 2)) AS {c.sql}" if c.kind == "y" else
                          f"CAST({c.sql} AS {c.sql_type}) AS {c.sql}" for c in self.columns)
        connection.execute("DROP TABLE IF EXISTS t")
        if self.rows == 0:
            connection.execute("CREATE TABLE t(" + ", ".join(f"{c.sql} {c.sql_type}" for c in self.columns) + ")")
            return
        connection.execute(f"CREATE TABLE t AS SELECT {casts} FROM read_csv('{path}', header=false, delim=',', quote='', "
                           f"escape='', auto_detect=false, nullstr='', parallel=false, max_line_size=4000000, "
                           f"columns={names})")

    # ---- for hac ----

    def write(self, rng, folder, name, form):
        """Files of that form; returns them, with the options that say how to read them."""
        parts = 1 if rng.random() < 0.7 or self.rows < 2 else rng.randint(2, 5)
        cuts = sorted(rng.randint(0, self.rows) for _ in range(parts - 1))
        options = ["--parse", form]
        style = {"end": rng.choice(("\n", "\n", "\r\n")), "all": rng.random() < 0.3, "delimiter": ",", "null": "",
                 "header": True, "loose": rng.random() < 0.3}
        if form == "csv" and rng.random() < 0.3:
            style["delimiter"] = rng.choice(";|\t:")
            options += ["--delimiter", style["delimiter"]]
        if form == "csv" and rng.random() < 0.2:
            style["null"] = rng.choice(("NA", "null", "\\N"))
            options += ["--null", style["null"]]
        order = rng.sample(self.columns, len(self.columns))
        if form != "jsonl" and rng.random() < 0.2:
            style["header"] = False
            options += ["--no-header"]
        options += ["--schema", ",".join(c.schema for c in order) if not style["header"] else self.schema(rng)]
        paths = []
        for i, (first, end) in enumerate(zip([0, *cuts], [*cuts, self.rows])):
            path = f"{name}.{i}.{form}"
            if style["header"] and i > 0:
                order = rng.sample(self.columns, len(self.columns))
            with open(folder / path, "wb") as out:
                out.write(PRINTERS[form](rng, order, first, end, style).encode())
            paths.append(path)
        return paths, options


class FileTable(Table):
    """An existing CSV file, as hac is told to read it: `types` by the names of its header."""

    def __init__(self, rows, types):
        names, *rows = rows
        self.rows = len(rows)
        self.columns = [Column("rid", "rid", "i64", True, "i", values=list(range(self.rows)))]
        for i, (name, kind) in enumerate(types.items()):
            texts = [row[names.index(name)] for row in rows]
            self.columns.append(self.read(f"c{i}", name, kind, texts))

    @staticmethod
    def read(sql, name, kind, texts):
        column = Column(name, sql, kind, False)
        column.kind = {"date": "d", "timestamp": "t", "string": "s"}.get(kind, kind if kind[0] == "f" else kind[0])
        if kind.startswith("decimal"):
            column.kind = "dec"
            column.p, column.s = map(int, kind[8:-1].split(","))
        make = int if column.kind in "iu" else float if column.kind == "f64" else \
            (lambda t: t.replace("T", " ")) if column.kind == "t" else str
        column.values = [None if t is None else make(t) for t in texts]
        column.mild = column.kind in "iu" and max((abs(v) for v in column.values if v is not None), default=0) < 10**6
        return column


def spell(rng, column, value, loose):
    """A value as text; loose: in another of its spellings."""
    if isinstance(value, bool):
        return rng.choice(("true", "TRUE", "t", "1", "yes")) if loose and value else \
            rng.choice(("false", "F", "0", "no")) if loose else "true" if value else "false"
    if isinstance(value, float):
        return repr(value).upper() if loose and rng.random() < 0.3 else repr(value)
    if isinstance(value, int):
        return rng.choice((f"+{value}", f"00{value}")) if loose and value >= 0 and rng.random() < 0.3 else str(value)
    if isinstance(value, bytes):
        return value.hex().upper() if loose and rng.random() < 0.5 else value.hex()
    if column.kind == "t" and loose and rng.random() < 0.5:
        return value.replace(" ", "T") + rng.choice(("", "Z", "+00:00"))
    return value


def csv_text(rng, columns, first, end, style):
    delimiter = style["delimiter"]

    def quote(text):
        return '"' + text.replace('"', '""') + '"'

    def must(text):
        return text == "" or text == style["null"] or any(c in text for c in f'"\r\n{delimiter}')

    def cell(column, row):
        value = column.values[row]
        if value is None:
            return style["null"] if rng.random() < 0.5 else ""
        text = spell(rng, column, value, style["loose"])
        return quote(text) if must(text) or style["all"] and rng.random() < 0.7 else text
    lines = [delimiter.join(quote(c.name) if must(c.name) or style["all"] else c.name for c in columns)] \
        if style["header"] else []
    lines += [delimiter.join(cell(c, row) for c in columns) for row in range(first, end)]
    text = "".join(line + style["end"] for line in lines)
    return text[:-len(style["end"])] if text and rng.random() < 0.2 else text


def tsv_text(rng, columns, first, end, style):
    def escape(text):
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    lines = ["\t".join(escape(c.name) for c in columns)] if style["header"] else []
    lines += ["\t".join("\\N" if c.values[row] is None else escape(spell(rng, c, c.values[row], style["loose"]))
                        for c in columns) for row in range(first, end)]
    return "".join(line + "\n" for line in lines)


def jsonl_text(rng, columns, first, end, style):
    def cell(column, value):
        if value is None or isinstance(value, (bool, int)):
            return json.dumps(value)
        if isinstance(value, float):
            return json.dumps(value) if rng.random() < 0.7 else json.dumps(repr(value))
        if column.kind == "dec" and rng.random() < 0.5:
            return value
        if column.kind == "y":
            return json.dumps(spell(rng, column, value, style["loose"]))
        return json.dumps(value, ensure_ascii=style["all"])
    lines = []
    for row in range(first, end):
        cells = [f"{json.dumps(c.name)}:{' ' * (not style['all'])}{cell(c, c.values[row])}" for c in columns
                 if c.values[row] is not None or rng.random() < 0.5]
        if rng.random() < 0.1:
            cells.append('"other": {"a": [1, "]", {}]}')
        if style["loose"]:
            rng.shuffle(cells)
        lines.append("{" + ",".join(cells) + "}")
    return "".join(line + style["end"] for line in lines)


PRINTERS = {"csv": csv_text, "tsv": tsv_text, "jsonl": jsonl_text}
