# SPDX-License-Identifier: Apache-2.0
"""hac.scan_hac: hac as a source of polars' lazy frames.

Polars says which columns it needs, and its filter. Columns, and the parts of the filter that the query language says in the same
words, go into the query; polars then applies the whole filter to what is left. A part that is not understood is therefore slower,
and never wrong.
"""
import json
import warnings
from typing import Any, Dict, Iterator, List, Optional

from ._errors import InvalidError
from ._literal import Unknown, literal, quoted
from ._query import query

COMPARISONS = {"Eq": "=", "NotEq": "<>", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
KINDS = {"Float32": "f32", "Float64": "f64", "String": "string", "Date": "date", "Datetime": "timestamp", "Boolean": "bool",
         **dict.fromkeys(("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"), "integer")}
CLOSED = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
REFUSED = ("select", "where", "group_by", "having", "order_by", "limit", "limit_by", "offset", "distinct")


# ---- filters: polars' expressions, as its serialisation has them ----

def _value_of(node: Any) -> Any:
    """The value of a literal, which polars itself decodes."""
    import polars
    scalar = node["Literal"].get("Scalar") if isinstance(node, dict) and "Literal" in node else None
    if not isinstance(scalar, dict) or scalar.get("Datetime", [0, "Microseconds", None])[1:] != ["Microseconds", None]:
        raise Unknown
    try:
        return polars.select(polars.Expr.deserialize(json.dumps(node).encode(), format="json")).item()
    except polars.exceptions.PolarsError:  # JSON has no NaN, for example
        raise Unknown from None


class _Filter:
    def __init__(self, schema: Any):
        self.kinds = {name: KINDS.get(str(kind.base_type()), "") for name, kind in schema.items()}

    def column(self, node: Any) -> str:
        name = node.get("Column") if isinstance(node, dict) else None
        if name not in self.kinds:
            raise Unknown
        return name

    def compare(self, left: Any, word: str, right: Any) -> str:
        if isinstance(left, dict) and "Literal" in left:
            left, word, right = right, TURNED.get(word, word), left
        name = self.column(left)
        return f"{quoted(name)} {word} {literal(_value_of(right), self.kinds[name])}"

    def function(self, inputs: List[Any], what: Any) -> str:
        if what == {"Boolean": "Not"}:
            return f"not ({self.condition(inputs[0])})"
        name = self.column(inputs[0])
        kind, column = self.kinds[name], quoted(name)
        if what in ({"Boolean": "IsNull"}, {"Boolean": "IsNotNull"}):
            return f"{column} is {'not ' if 'Not' in what['Boolean'] else ''}null"
        boolean = what.get("Boolean") if isinstance(what, dict) else None
        if isinstance(boolean, dict) and "IsBetween" in boolean:
            words = CLOSED[boolean["IsBetween"]["closed"]]
            return " and ".join(f"{column} {word} {literal(_value_of(node), kind)}" for word, node in zip(words, inputs[1:]))
        if isinstance(boolean, dict) and "IsIn" in boolean:
            values = _value_of(inputs[1]).to_list()
            if not 0 < len(values) <= 100:
                raise Unknown
            return f"{column} in ({', '.join(literal(value, kind) for value in values)})"
        if what == {"StringExpr": "StartsWith"}:
            return f"starts_with({column}, {literal(_value_of(inputs[1]), kind)})"
        raise Unknown

    def condition(self, node: Any) -> str:
        """The expression that is true, false and null for the same rows."""
        if "Column" in node and self.kinds.get(node["Column"]) == "bool":
            return quoted(node["Column"])
        if "Function" in node:
            return self.function(node["Function"]["input"], node["Function"]["function"])
        if "BinaryExpr" not in node:
            raise Unknown
        left, word, right = (node["BinaryExpr"][part] for part in ("left", "op", "right"))
        if word in ("And", "Or"):
            return f"({self.condition(left)}) {word.lower()} ({self.condition(right)})"
        if word not in COMPARISONS:
            raise Unknown
        return self.compare(left, COMPARISONS[word], right)

    def parts(self, node: Any) -> List[str]:
        """The conditions that a row has to meet, among them none that is not understood."""
        pair = node.get("BinaryExpr", {}) if isinstance(node, dict) else {}
        if pair.get("op") == "And":
            return self.parts(pair["left"]) + self.parts(pair["right"])
        try:
            return [f"({self.condition(node)})"]
        except (Unknown, KeyError, TypeError, AttributeError, ValueError, IndexError):  # another version's serialisation
            return []


def _where(predicate: Any, schema: Any) -> Optional[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JSON is no format that polars keeps stable; what has changed is not understood
        try:
            tree = json.loads(predicate.meta.serialize(format="json"))
        except Exception:  # of which there are several; functions of Python cannot be written, for example
            return None
        return " and ".join(_Filter(schema).parts(tree)) or None


# ---- the source ----

def _without_refused(table: Any) -> Any:
    """A frame of polars without the columns that queries do not have."""
    import polars
    if not isinstance(table, polars.DataFrame):
        return table
    return table.select([name for name, kind in table.schema.items() if not kind.is_nested() and kind not in (polars.Time, polars.Duration)])


def scan_hac(table: Any, **options: Any) -> Any:
    """A polars.LazyFrame of a table, or of files that hac reads: the columns and the filter that polars needs go into the query.

        hac.scan_hac("sales/*.parquet").filter(polars.col("qty") > 1).select("city", "price").collect()

    A frame's columns of lists, structs, times of day and durations are not in it.

    table and options: as for hac.query (format, schema, input, engine, devices, priority, deadline, memory_limit, progress). The
    query runs when polars collects; the names and the types of the columns are read at once. The rows are in no particular order.

    Parts of a filter that hac takes: comparisons of a column with a number, text, date or time, is_in, is_between, is_null,
    str.starts_with, a bool column, and these with and, or, not. Polars applies the rest.
    """
    for name in REFUSED:
        if name in options:
            raise InvalidError(f"{name} is said to polars, or else to hac.query: its result is a table for polars.DataFrame")
    from polars.io.plugins import register_io_source
    table = _without_refused(table)
    schema = query(table, select="*", limit=0, **options).to_polars().schema

    def source(with_columns: Optional[List[str]], predicate: Any, n_rows: Optional[int], batch_size: Optional[int]) -> Iterator[Any]:
        names = list(schema) if with_columns is None else with_columns
        needed = list(dict.fromkeys([*names, *(predicate.meta.root_names() if predicate is not None else ())]))
        asked: Dict[str, Any] = {"select": [quoted(name) for name in needed or list(schema)[:1]]}
        if n_rows is not None:
            asked["limit"] = n_rows  # polars filters afterwards
        elif predicate is not None:
            asked["where"] = _where(predicate, schema)
        frame = query(table, **asked, **options).to_polars()
        if predicate is not None:
            frame = frame.filter(predicate)
        yield from frame.select(names).iter_slices(batch_size or max(len(frame), 1))
    return register_io_source(source, schema=schema)
