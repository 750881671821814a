# SPDX-License-Identifier: Apache-2.0
"""hac as a data source of Spark 4: what a task reads comes from the hacd of its node, as Arrow batches.

    from hac.spark import HacDataSource
    spark.dataSource.register(HacDataSource)
    spark.read.format("hac").load("/data/sales/*.parquet").where("qty > 5").show()

docs/hadoop-spark.md has the options. Every node needs the package hac, and pyarrow, where its Python finds them.
"""
import glob
import os
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from pyspark.sql import datasource
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from ._connection import RECEIPT, ask
from ._errors import Error, InvalidError
from ._literal import Unknown, literal, quoted
from ._query import FORMATS, query
from ._query import _format_of as format_of  # a suffix, or the first bytes

SPLIT_BYTES = 128 << 20  # of a Parquet file that a task reads, if row groups allow

# Types of results by those of Spark, which has no unsigned ones.
TYPES = {"i8": "tinyint", "u8": "smallint", "i16": "smallint", "u16": "int", "i32": "int", "u32": "bigint", "i64": "bigint",
         "u64": "decimal(20,0)", "f32": "float", "f64": "double", "bool": "boolean", "date": "date", "timestamp": "timestamp_ntz",
         "string": "string", "bytes": "binary"}
# The kinds of _literal by Spark's types
KINDS = {**dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"), "float": "f32", "double": "f64", "string": "string",
         "date": "date", "timestamp_ntz": "timestamp"}


def _arrow_type(kind: str) -> Any:
    import pyarrow
    if kind.startswith("decimal("):
        precision, scale = kind[8:-1].split(",")
        return pyarrow.decimal128(int(precision), int(scale))
    types = {"tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64", "float": "float32", "double": "float64",
             "boolean": "bool", "date": "date32", "string": "string", "binary": "binary"}
    if kind == "timestamp_ntz":
        return pyarrow.timestamp("us")
    if kind == "timestamp":
        return pyarrow.timestamp("us", "UTC")
    if kind not in types:
        raise InvalidError(f"hac has no columns of Spark's type {kind}; there are {', '.join(sorted({*types, *TYPES.values()}))}")
    return pyarrow.type_for_alias(types[kind])


class HacDataSource(DataSource):
    """The source "hac" of spark.read."""

    @classmethod
    def name(cls) -> str:
        return "hac"

    def schema(self) -> str:
        read = _Read(self.options)
        columns = query(read.files, limit=0, progress=False, **read.query(None)).columns
        columns += [(name, "string") for name in read.device_column]
        return ", ".join(f"`{name.replace('`', '``')}` {TYPES.get(kind, kind)}" for name, kind in columns)

    def reader(self, schema: StructType) -> DataSourceReader:
        read = _Read(self.options)
        columns = [(field.name, field.dataType.simpleString()) for field in schema]
        return _FilteringReader(read, columns) if read.push_filters else _Reader(read, columns)


class _Read:
    """What is read: the options of the source."""

    def __init__(self, options: Any):
        given = {name.lower(): value for name, value in dict(options).items()}
        path = given.pop("path", None)
        if not path:
            raise InvalidError("which files? load(path), a path or a pattern on every node")
        self.files: List[str] = self.find(path)
        device = given.pop("devicecolumn", None)
        self.device_column = [device] if device else []
        self.push_filters = given.pop("pushfilters", "false").lower() == "true"
        self.split_bytes = int(given.pop("splitbytes", SPLIT_BYTES))
        self.given: Dict[str, Any] = {}
        for name, word in (("select", "select"), ("where", "where"), ("groupBy", "group_by"), ("types", "schema"),
                           ("format", "format"), ("engine", "engine"), ("devices", "devices")):
            value = given.pop(name.lower(), None)
            if value is not None:
                self.given[word] = value.split(",") if word == "devices" else value
        if given:
            raise InvalidError(f"the source hac has no option {next(iter(given))}; there are path, select, where, groupBy, types, format, "
                               "engine, devices, splitBytes, deviceColumn, pushFilters")

    @staticmethod
    def find(path: str) -> List[str]:
        places = sorted(glob.glob(path)) if any(c in path for c in "*?[") else [path]
        files: List[str] = []
        for place in places:
            inside = sorted(os.listdir(place)) if os.path.isdir(place) else None
            files += [place] if inside is None else [os.path.join(place, name) for name in inside if name[0] not in "._"]
        if not files:
            raise FileNotFoundError(f"no file matches {path}")
        return files

    def query(self, columns: Optional[List[str]]) -> Dict[str, Any]:
        """The arguments of hac.query. columns: those that are wanted; None: all."""
        own = "select" in self.given or "group_by" in self.given
        select = {} if own else {"select": "*" if columns is None else [quoted(name) for name in columns]}
        return {**select, **self.given}


class _Part(InputPartition):
    """A file, or some row groups of one."""

    def __init__(self, file: str, first: int, count: int):
        super().__init__((file, first, count))


class _Reader(DataSourceReader):
    def __init__(self, read: _Read, columns: List[Tuple[str, str]]):
        self.source, self.columns = read, columns
        self.pushed: List[str] = []

    # ---- parts ----

    def partitions(self) -> List[_Part]:
        return [part for file in self.source.files for part in self.parts_of(file)]

    def parts_of(self, file: str) -> Iterator[_Part]:
        if format_of(file) != FORMATS["parquet"] or self.source.given.get("format", "parquet") != "parquet":
            yield _Part(file, 0, 0)
            return
        import pyarrow.parquet
        footer = pyarrow.parquet.read_metadata(file)
        first, size = 0, 0
        if footer.num_row_groups == 0:
            yield _Part(file, 0, 0)
        for i in range(footer.num_row_groups):
            size += footer.row_group(i).total_byte_size
            if size >= self.source.split_bytes or i == footer.num_row_groups - 1:
                yield _Part(file, first, i + 1 - first)
                first, size = i + 1, 0

    # ---- a task ----

    def read(self, partition: InputPartition) -> Iterator[Any]:
        import pyarrow
        file, first, count = partition.value
        wanted = [name for name, _ in self.columns if name not in self.source.device_column]
        arguments = self.source.query(wanted)
        conditions = [f"({arguments.pop('where')})"] if "where" in arguments else []
        conditions += self.pushed
        if conditions:
            arguments["where"] = " and ".join(conditions)
        if count:
            arguments["input"] = {"first_row_group": str(first), "row_groups": str(count)}
        result = query(file, progress=False, **arguments)
        table = result.to_arrow().select(wanted)
        for name in self.source.device_column:
            table = table.append_column(name, pyarrow.array([_devices_of(result.job)] * len(table), "string"))
        schema = pyarrow.schema([(name, _arrow_type(kind)) for name, kind in self.columns])
        yield from table.select(schema.names).cast(schema).to_batches(max_chunksize=1 << 16)


class _FilteringReader(_Reader):
    """With the option pushFilters. Spark refuses a source with this method unless its own setting allows filters, and 4.3 keeps
    what was pushed for a frame's next query if that query has no filter to push."""

    def condition(self, one: Any) -> str:
        name = type(one).__name__
        if isinstance(one, datasource.Not):
            return f"not ({self.condition(one.child)})"
        if len(one.attribute) != 1 or one.attribute[0] in self.source.device_column:
            raise Unknown
        kind = dict(self.columns).get(one.attribute[0], "")
        kind = KINDS.get(kind, "decimal" if kind.startswith("decimal") else "")
        column = quoted(one.attribute[0])
        if name in ("IsNull", "IsNotNull"):
            return f"{column} is {'not ' if name == 'IsNotNull' else ''}null"
        if name == "In" and one.value:
            return f"{column} in ({', '.join(literal(value, kind) for value in one.value)})"
        words = {"EqualTo": "=", "GreaterThan": ">", "GreaterThanOrEqual": ">=", "LessThan": "<", "LessThanOrEqual": "<="}
        calls = {"StringStartsWith": "starts_with", "StringEndsWith": "ends_with", "StringContains": "contains"}
        if name in words:
            return f"{column} {words[name]} {literal(one.value, kind)}"
        if name in calls and kind == "string":
            return f"{calls[name]}({column}, {literal(one.value, kind)})"
        raise Unknown

    def pushFilters(self, filters: List[Any]) -> Iterable[Any]:
        for one in filters:
            try:
                if "select" in self.source.given or "group_by" in self.source.given:
                    raise Unknown  # the filter is of the result
                self.pushed.append(f"({self.condition(one)})")
            except (Unknown, AttributeError):
                yield one


def _devices_of(job: int) -> str:
    """The names of the devices that worked for a job."""
    try:
        devices = ask(RECEIPT, job)["devices"]
    except Error:  # hacd has forgotten it
        return ""
    return " ".join(device["name"] for device in devices if device["tasks"])
