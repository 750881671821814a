# SPDX-License-Identifier: Apache-2.0
"""hac.sql and hac.query."""
import glob
import itertools
import os
import stat
import sys
import warnings
from typing import Any, Dict, List, Optional, Union

from . import _hac
from ._connection import connection, finish, job_options, lent_connection, run_aside
from ._errors import InvalidError, JobError, UnsupportedError
from ._progress import Bar, bar_of
from ._result import Result
from ._table import columns_of_dict, columns_of_structured, is_array

FORMATS = _hac.FORMATS
TEXT_WITH_TYPES = (FORMATS["csv"], FORMATS["tsv"], FORMATS["jsonl"])
STATEMENT_OPTIONS = ("select", "where", "group_by", "having", "order_by", "limit", "limit_by", "offset", "distinct")
QUERY_OPTIONS = (*STATEMENT_OPTIONS, "format", "schema", "input", "engine")
FIND_DELIMITER, FIND_HEADER, FIND_FORMS = 1, 2, 4


# ---- options ----

def _options(options: Dict[str, Any]) -> Dict[str, Any]:
    """libhac's options from the arguments of hac.query and the dict of hac.sql, without those that are not set."""
    known = {}
    for name in ("select", "where", "group_by", "having", "order_by", "limit_by", "schema", "offset"):
        value = options.pop(name, None)
        if value is not None:
            known[name] = _joined(value) if name != "offset" else value
    limit = options.pop("limit", None)
    if limit is not None:
        known["limit_each" if "limit_by" in known else "limit"] = limit
    if options.pop("distinct", False):
        known["distinct"] = 1
    engine = options.pop("engine", None)
    if engine is not None:
        known["engine"] = _word(_hac.ENGINES, engine, "engine")
    form = options.pop("format", None)
    if form is not None:
        known["input_format"] = _word(FORMATS, form, "format")
    known["input_options"] = {str(k): str(v) if not isinstance(v, bool) else str(v).lower()
                              for k, v in (options.pop("input", None) or {}).items()}
    known.update(job_options(f"{', '.join(QUERY_OPTIONS)}, ", **options))
    return known


def _joined(value: Any) -> str:
    """Several expressions may be a list."""
    return value if isinstance(value, str) else ", ".join(value)


def _word(words: Dict[str, int], word: Any, what: str) -> int:
    if word not in words:
        raise InvalidError(f"{what} cannot be {word!r}; allowed: {', '.join(words)}")
    return words[word]


# ---- files ----

def _files_of(place: str) -> List[Optional[str]]:
    """The files that a name stands for: a file, a folder, a pattern; None: standard input."""
    if place == "-":
        return [None]
    if os.path.exists(place) and not os.path.isdir(place):
        return [place]
    if not os.path.exists(place) and not glob.has_magic(place):
        return [place]  # opening it says what is wrong
    return list(_hac.find_files(os.fsencode(place)))


def _format_of(name: Optional[str]) -> int:
    if name is None:
        return 0
    path = os.fspath(name)
    if os.path.isfile(path):
        form, assumed = _hac.input_format_of(path, -1)
    else:  # a pipe may stay silent
        form, assumed = run_aside(lambda stop: _hac.input_format_of(path, stop), None)
    if assumed:
        warnings.warn(f"{name}: read as {next(word for word, n in FORMATS.items() if n == form)}, which its first bytes look like; "
                      "format= says another format", stacklevel=2)
    return form


def _choose_format(files: List[Optional[str]], options: Dict[str, Any]) -> int:
    given = options.get("input_format", 0)
    if given:
        return given
    found = {_format_of(name): name for name in reversed(files)}
    if len(found) > 1:
        first, other = list(found.values())[:2]
        raise InvalidError(f"{first or 'standard input'} and {other or 'standard input'} have different formats: say which with "
                           "format=")
    form, name = next(iter(found.items()))
    if not form:
        raise InvalidError(f"how is {name or 'standard input'} to be read? Its name does not say: format= is one of "
                           f"{', '.join(FORMATS)}")
    return form


def _apply(files: List[Optional[str]], options: Dict[str, Any], sql: Optional[_hac.Sql]) -> List[Optional[str]]:
    """The files that the query has to read; sets the columns in names of folders."""
    if None in files or not all(os.path.exists(name) for name in files):  # type: ignore
        return files
    names = tuple(os.fsencode(name) for name in files)  # type: ignore
    left, columns, left_out = _hac.apply_files(names, options, sql)
    if columns is not None:
        options.update(path_columns=columns, files_left_out=left_out)
    return list(left)


def _read_here(files: List[Optional[str]], form: int) -> bool:
    """Whether this process reads the files, and not hacd's executors: what is packed, what has no size, JSON, many files."""
    if form == FORMATS["parquet"]:
        return False
    if len(files) > _hac.FILES_MAX or form == FORMATS["jsonl"] or None in files:
        return True
    return any(not stat.S_ISREG(os.stat(name).st_mode) or _hac.is_compressed(name, form) for name in files)  # type: ignore


def _find_dialect(files: List[Optional[str]], options: Dict[str, Any]) -> bool:
    """Sets what the first bytes of the first file show of another dialect of csv. Whether there is one, which this process
    has to read."""
    name = files[0]
    if options["input_format"] not in (FORMATS["csv"], FORMATS["tsv"]) or name is None or not os.path.isfile(name):
        return any(key in options["input_options"] for key in ("quote", "escape", "comment"))
    found, note, here = _hac.find_dialect(os.fsencode(name), options)
    options["input_options"] = {**options["input_options"], **found}
    if note:
        warnings.warn(f"{name}: {note}", stacklevel=2)
    return here


def _run_splits(files: List[Optional[str]], options: Dict[str, Any], sql: Optional[_hac.Sql], bar: Optional[Bar]) -> _hac.Job:
    names = tuple(None if name is None else os.fsencode(name) for name in files)
    with lent_connection() as mine:
        job = run_aside(lambda stop: mine.query_splits(names, stop, options, sql), bar)
        job.wait()  # it has run; nobody is to wait for it when the connection is lent again
        return job


def _submit_files(places: List[str], options: Dict[str, Any], sql: Optional[_hac.Sql], bar: Optional[Bar]) -> _hac.Job:
    files = [name for place in places for name in _files_of(place)]
    if not files:
        raise InvalidError("no file is named")
    form = options["input_format"] = _choose_format(files, options)
    files = _apply(files, options, sql)
    named = options["input_options"]
    if form in TEXT_WITH_TYPES and "schema" not in options:
        options["infer_schema"] = 1
    options["find"] = (FIND_FORMS | (0 if "delimiter" in named else FIND_DELIMITER) |
                       (0 if "header" in named else FIND_HEADER))
    here = _find_dialect(files, options)
    if here or _read_here(files, form):
        return _run_splits(files, options, sql, bar)
    if len(files) > _hac.FILES_MAX:
        with lent_connection() as mine:
            job = mine.query_file_list(tuple(os.fsencode(name) for name in files), options, sql)  # type: ignore
            job.wait()  # nobody is to wait for it when the connection is lent again
            return job
    fds = []
    try:
        for name in files:
            fds.append(os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY))  # type: ignore
        names = tuple(os.fsencode(name) for name in files)  # type: ignore
        return connection().query_files(tuple(fds), names, options, sql)
    finally:
        for fd in fds:
            os.close(fd)


# ---- tables ----

def _is_place(table: Any) -> bool:
    return isinstance(table, (str, os.PathLike))


def _places(table: Any) -> Optional[List[str]]:
    """The names of files, if the table is one name or a list of names."""
    if _is_place(table):
        return [os.fspath(table)]
    if isinstance(table, (list, tuple)) and table and all(map(_is_place, table)):
        return [os.fspath(place) for place in table]
    return None


def _alike(batches: Any, first: Any, schema: Any) -> Any:
    """Record batches of what an iterator gives: tables of any library, with the columns of the first one."""
    import pyarrow
    for n, batch in enumerate(itertools.chain([first], batches)):
        try:
            table = pyarrow.table(batch).cast(schema)
        except ValueError as error:  # pyarrow's own errors are kinds of it
            raise InvalidError(f"batch {n} of the iterator has not the columns of the first one: {error}") from error
        yield from table.to_batches()


def _submit_batches(schema: Any, batches: Any, options: Dict[str, Any], sql: Optional[_hac.Sql]) -> _hac.Job:
    """A query of what an iterator of record batches gives. Its own exceptions get through, KeyboardInterrupt too: Arrow's
    streams only have a text for them."""
    import pyarrow
    failures: list = []

    def noted() -> Any:
        try:
            yield from batches
        except GeneratorExit:
            raise
        except BaseException as error:
            failures.append(error)
            raise
    reader = pyarrow.RecordBatchReader.from_batches(schema, noted())
    try:
        return connection().query_stream(reader.__arrow_c_stream__(), options, sql)
    except JobError:
        if not failures:
            raise
    raise failures[0]


def _submit_iterator(tables: Any, options: Dict[str, Any], sql: Optional[_hac.Sql]) -> _hac.Job:
    import pyarrow
    first = next(tables, None)
    if first is None:
        raise InvalidError("the iterator has no batch, so there are no columns")
    schema = pyarrow.table(first).schema
    return _submit_batches(schema, _alike(tables, first, schema), options, sql)


def _is_reader(table: Any) -> bool:
    """Whether it is pyarrow's RecordBatchReader, behind which there may be a generator."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(table, pyarrow.RecordBatchReader)


def _run(table: Any, options: Dict[str, Any], sql: Optional[_hac.Sql], progress: Optional[bool]) -> Result:
    bar = bar_of(progress)
    if bar is not None:
        options["progress"] = bar.record
    places = _places(table)
    job = _submit(table, options, sql) if places is None else _submit_files(places, options, sql, bar)
    return Result(finish(job, bar))


def _submit(table: Any, options: Dict[str, Any], sql: Optional[_hac.Sql]) -> _hac.Job:
    for name in ("schema", "input_format"):
        if name in options:
            raise InvalidError(f"{'format' if name == 'input_format' else name}= is for files; a table has columns with types")
    if options.pop("input_options"):
        raise InvalidError("input= is for files; a table has columns with types")
    if is_array(table):
        if table.dtype.names is None:
            raise UnsupportedError("a NumPy array is no table: give a dict of arrays, {'x': array}, or a structured array")
        return connection().query_columns(*columns_of_structured(table), options, sql)
    if isinstance(table, dict):
        return connection().query_columns(*columns_of_dict(table), options, sql)
    if _is_reader(table):
        return _submit_batches(table.schema, table, options, sql)
    if hasattr(table, "__arrow_c_stream__"):
        return connection().query_stream(table.__arrow_c_stream__(), options, sql)
    if hasattr(table, "__arrow_c_array__"):
        pair = table.__arrow_c_array__()
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"__arrow_c_array__ gave {type(pair).__name__}, not a pair of capsules")
        return connection().query_arrow(*pair, options, sql)
    if hasattr(table, "__next__"):
        return _submit_iterator(table, options, sql)
    hint = "; collect() it first" if type(table).__name__ == "LazyFrame" else ""
    raise UnsupportedError(f"a {type(table).__name__} is no table: one is something with __arrow_c_stream__ (a frame of pandas or "
                           f"polars, a pyarrow.Table, a DuckDB relation), a dict of arrays, or the name of a file{hint}")


def sql(text: str, options: Optional[Dict[str, Any]] = None, /, **tables: Any) -> Result:
    """The result of a SELECT statement (docs/sql.md) over tables, which are named by keywords, or over files.

        hac.sql("SELECT city, sum(price) AS s FROM t GROUP BY city ORDER BY s DESC", t=frame)
        hac.sql("SELECT count(*) FROM 'sales/*.parquet'")

    A table is anything with `__arrow_c_stream__` or `__arrow_c_array__` (a frame of pandas or polars, a pyarrow.Table or
    RecordBatchReader, a DuckDB relation, a hac.Result), an iterator of such tables, a dict of NumPy arrays, a structured NumPy
    array, or the name of a file, folder or pattern, or a list of names. A name behind FROM that is no keyword is a file. Tables are copied once, into memory
    that the devices share, unless all of their columns lie in one array of hac.empty.

    options: a dict of hac.query's options of files and of jobs: format, schema, input, engine, devices, priority, deadline,
    memory_limit, progress.

    Raises InvalidError if the statement is wrong, with the character; UnsupportedError if the query uses a column of
    a type that queries do not have (lists, structs, times of day, durations); JobError if an input cannot be read; OSError if a file cannot be opened.
    """
    statement = _hac.Sql(text)
    given = dict(options or {})
    refused = sorted(set(given) & set(STATEMENT_OPTIONS))
    if refused:
        raise InvalidError(f"{refused[0]} is said in the statement")
    progress = given.pop("progress", None)
    known = _options(given)
    if statement.format:
        known["input_format"] = statement.format
    table = _table_of(statement, tables)
    return _run(table, known, statement, progress)


def _table_of(statement: _hac.Sql, tables: Dict[str, Any]) -> Any:
    sources = statement.sources
    if len(sources) == 1 and sources[0] in tables:
        return tables[sources[0]]
    places: List[str] = []
    for source in sources:
        if source in tables:
            named = _places(tables[source])
            if named is None:
                raise UnsupportedError(f"UNION ALL is of files; {source} is a table: concatenate the tables beforehand")
            places += named
        elif source.isidentifier() and not os.path.exists(source):
            known = f"the tables are {', '.join(sorted(tables))}" if tables else f"give it as a keyword: hac.sql(…, {source}=table)"
            raise InvalidError(f"FROM {source}: there is neither such a table nor such a file; {known}")
        else:
            places.append(source)
    return places


Texts = Union[str, List[str], None]


def query(table: Any, *, select: Texts = None, where: Optional[str] = None, group_by: Texts = None, having: Optional[str] = None,
          order_by: Texts = None, limit: Optional[int] = None, offset: Optional[int] = None, limit_by: Texts = None,
          distinct: bool = False, format: Optional[str] = None, schema: Texts = None, input: Optional[Dict[str, Any]] = None,
          engine: Optional[str] = None, progress: Optional[bool] = None, **job: Any) -> Result:
    """The result of a query of a table, in the language of docs/expressions.md.

        hac.query(frame, where="qty > 1", group_by="city", select="sum(price) as s", order_by="s desc", limit=10)

    table: as for hac.sql. With group_by, the keys of the groups come first in the result. `limit_by` makes `limit` that of each
    group of rows with the same values. Several expressions may be a list.

    Of files: `format` (csv, tsv, jsonl, lines, words, kv, fixed, parquet …), `schema` ("name:type,…"; without one the types are
    found in the first records), `input` (options of the format by their names in docs/formats.md: {"delimiter": ";"}).
    `engine`: auto, host or device. job: `devices`, `priority`, `deadline`, `memory_limit`, and `progress`, as for hac.sort.

    Raises what hac.sql raises.
    """
    given = dict(job, select=select, where=where, group_by=group_by, having=having, order_by=order_by, limit=limit, offset=offset,
                 limit_by=limit_by, distinct=distinct, format=format, schema=schema, input=input, engine=engine)
    return _run(table, _options(given), None, progress)
