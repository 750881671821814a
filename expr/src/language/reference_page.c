/* SPDX-License-Identifier: Apache-2.0 */
/* docs/expressions.md: an introduction to the language, and the table of functions. */
#include <string.h>

#include "expr/query.h"
#include "functions.h"
#include "syntax/other_names.h"
#include "syntax/texts_call.h"

static const char *const introduction =
    /* clang-format off */
    "# Expressions\n"
    "\n"
    "<!-- Generated from the table in expr/src/language/functions.c by `cmake --build . --target hac_expr_docs`; do not edit. -->\n"
    "\n"
    "This page describes the language of `--where`, `--group-by`, `--having`, `--select` and `--order-by`. It is the language of\n"
    "SQL expressions, with the types and functions below. Keywords, functions and types are not case-sensitive. A\n"
    "name of a column may be written in other case if only one column has the name then.\n"
    "\n"
    "    hacctl mapreduce sales.csv --schema 'city:string,price:decimal(10,2)' --where 'price > 10' \\\n"
    "        --group-by city --select 'count() as n, avg(price) as mean' --order-by 'n desc'\n"
    "\n"
    "There are no window functions, no subqueries and no joins. [sql.md](sql.md) describes whole statements.\n"
    "\n"
    "## A query\n"
    "\n"
    "| Option | Value |\n"
    "|---|---|\n"
    "| `--where` | a condition; rows for which it is false or null are left out |\n"
    "| `--group-by` | expressions, separated by commas |\n"
    "| `--select` | expressions, separated by commas, with or without aggregates; `*` is all columns, `* exclude (a)` all others, `* replace (f(a) as a)` all with another a, `* rename (a as b)` all with another name of a |\n"
    "| `--having` | a condition; groups for which it is false or null are left out |\n"
    "| `--distinct` | rows of the result that are equal appear once |\n"
    "| `--order-by` | names of output columns, or expressions, each with `asc` (the default) or `desc`, and `nulls first` |\n"
    "| `--limit` | the number of rows |\n"
    "| `--limit-by` | expressions, separated by commas: `--limit` is for each combination of their values |\n"
    "| `--offset` | how many of the first rows are left out |\n"
    "\n"
    "- An item of `--group-by` and `--select` may have `as name`. Otherwise its own text is its name.\n"
    "- A name that is not a column may be the name of an item of `--select`, or of an item before it.\n"
    "- A number in `--group-by` is the place of an item of `--select`; in `--order-by` that of an output column.\n"
    "- `--group-by all` groups by all items of `--select` without aggregates; `--order-by all` orders by all columns.\n"
    "- `--order-by` sorts nulls last in both directions unless `nulls first` follows, and NaN above all numbers.\n"
    "- With `--group-by` or `--having`, or with an aggregate in `--select` or `--order-by`, rows become groups. The output\n"
    "  has the keys, then the items of `--select`; repeated items appear once. A column that is not a key must stand in an\n"
    "  aggregate. With keys and without aggregates, the output is the distinct keys.\n"
    "- `sum(a) filter (where c)` is the aggregate of the rows for which c is true; any aggregate may have it.\n"
    "\n"
    "## Values and names\n"
    "\n"
    "| Written | Meaning |\n"
    "|---|---|\n"
    "| `price`, `edges.a`, `\"unit price\"` | a column |\n"
    "| `42`, `-7` | i64; u64 or decimal if it is larger |\n";

/* In two parts: ISO C compilers need not take a string of more than 4095 bytes. */
static const char *const introduction_of_values =
    "| `1.5` | decimal(2,1); beside an f64 it is an f64 |\n"
    "| `1e3` | f64 |\n"
    "| `'text'` | string; `''` stands for one quote |\n"
    "| `x'00ff'` | bytes, two hexadecimal digits each |\n"
    "| `true`, `false`, `null` | |\n"
    "| `date '2020-01-31'` | date |\n"
    "| `timestamp '2020-01-31 12:34:56.789'` | timestamp |\n"
    "| `timestamptz '2020-01-31 12:34:56+02:00'` | timestamptz: an instant |\n"
    "| `interval '1 year 2 hours'`, `interval 90 day` | behind the `+` or `-` of a date or timestamp, or before the `+` |\n"
    "\n"
    "Names of letters, digits and `_`, also joined by dots, need no quotes. Other names stand in double quotes, in which\n"
    "`\"\"` stands for one double quote. `and or not in is like between case when then else as null true false` are words\n"
    "of the language: a column of such a name needs double quotes. A column may have the name of a function or a type.\n"
    "\n"
    "Operators, in ascending order of precedence: `or`, `and`, `not`, comparisons with `is`, `between`, `in` and `like`,\n"
    "`|| & | << >>`, `+ -`, `* / // %`, `^`, unary `-`, `::` and `at time zone`.\n"
    "\n"
    "## Types\n"
    "\n"
    "`bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 date timestamp decimal(p,s) string bytes`\n"
    "\n"
    "- **Integers** are computed in 64 bits. If all operands are unsigned, the result is u64, else i64. A number literal\n"
    "  beside a u64 is a u64. A result that does not fit is an error of the row.\n"
    "- **Floats** follow IEEE 754. f32 with f32 is f32; any other operation with a float is f64. NaN equals NaN and is\n"
    "  above all numbers.\n"
    "- **Decimals** are exact, with at most 38 digits. `+` and `-` give the larger scale and one more digit; `*` adds up\n"
    "  digits and scales; `/` gives f64. A result type with more than 38 digits behind the point is refused: cast an\n"
    "  operand to fewer digits. A value that needs more than 38 digits is an error of its row. With an integer the result\n"
    "  is a decimal, with a float it is f64.\n"
    "- **Comparisons** compare values: -1 is less than any u64, and an i64 compares with 1.5 without rounding. An i64 or\n"
    "  decimal compares with a float as f64. A text literal beside a date, a timestamp, a bool or a number is read as a\n"
    "  value of that type: `day >= '2024-01-01'`; a text that is none is refused. Columns of text are not: cast them.\n"
    "- **Bytes** are not text. They are read and written as two hexadecimal digits a byte, and compare byte by byte. A text\n"
    "  literal beside them stands for its bytes: `b = 'abc'`, `b in (x'00ff', 'abc')`. Only functions that say so take\n"
    "  bytes. For the others, `cast(b as string)` gives the same bytes as text, and `cast(s as bytes)` converts back.\n"
    "- **Null**: an operation on a null is null, unless its description says otherwise.\n"
    "- **Errors of a row** (an overflow, a cast that fails) count only if the value is used: `if(b <> 0, a // b, 0)` and\n"
    "  rows that `--where` leaves out are fine. Otherwise the job fails, and its message names the row, and of a cast the\n"
    "  value.\n"
    "- `cast(x as type)` converts; a value that the type cannot represent is an error of the row. `try_cast(x as type)`\n"
    "  gives null instead. Numbers convert to each other and to bool (0 is false), dates and timestamps to each other, and\n"
    "  everything except bytes to and from string. Floats become integers by rounding half to even, decimals by rounding\n"
    "  half away from zero.\n"
    "- A cast of text takes other spellings than files have: blanks on both sides, `1_000`, for integers also `0x1f`,\n"
    "  `0b101` and a fraction, which is rounded as a decimal, and for times `2024/1/2` and `2024-01-02 3:04`. A cast to\n"
    "  date leaves a time of day out.\n";

static const char *const introduction_of_texts =
    "\n"
    "## Time zones\n"
    "\n"
    "A timestamp is what some clock shows, without a zone. A timestamptz is an instant, a timestamp with zone; its values are\n"
    "in UTC, and its text ends with +00. Both are as in DuckDB, where TimeZone is UTC. `a at time zone 'Europe/Berlin'`\n"
    "goes from one to the other: of a timestamp it is the instant at which clocks in Berlin show a, of a timestamptz it is\n"
    "the timestamp that clocks in Berlin show at that instant.\n"
    "\n"
    "- A column is a timestamptz if its type says so: in a schema (`t:timestamptz`), in Parquet (adjusted to UTC), in Arrow\n"
    "  (with a zone), or because one of the texts from which its type is inferred has a zone (`Z`, `+02:00`). So is\n"
    "  `a::timestamptz`, for which a is in UTC, `strptime` with a `%z`, and what functions make of such values. Results in\n"
    "  Parquet and Arrow keep the type, with the zone UTC.\n"
    "- Where a timestamp meets a timestamptz, in a comparison or in `coalesce`, it is in UTC. A text with a zone that is read\n"
    "  as a timestamp, because a schema or a cast says so, becomes UTC. Functions of the parts of a time (`hour`, `date_trunc`,\n"
    "  `strftime`, `::date`) take UTC.\n"
    "- Zones are those of the tz database in `/usr/share/zoneinfo`, or in the folder TZDIR, of the machine on which the\n"
    "  query is written; upper and lower case are the same. The rules of a zone hold for all years.\n"
    "- A time that clocks show twice is the later of the two instants. A time that they leave out counts as if the clocks\n"
    "  had not been set yet: 02:30 becomes 03:30.\n"
    "\n"
    "## Formats of times\n"
    "\n"
    "| Code | Stands for | Code | Stands for |\n"
    "|---|---|---|---|\n"
    "| `%Y` | year, four digits | `%y` | year, two digits: 69 … 99 are 1969 … 1999, 00 … 68 are 2000 … 2068 |\n"
    "| `%m` | month, 01 … 12 | `%b`, `%B` | Jan, January |\n"
    "| `%d` | day, 01 … 31 | `%e` | day, with a blank before one digit |\n"
    "| `%j` | day of the year, 001 … 366 | `%a`, `%A` | Mon, Monday |\n"
    "| `%H` | hour, 00 … 23 | `%I`, `%p` | hour, 01 … 12; AM, PM |\n"
    "| `%M`, `%S` | minute, second | `%f` | microseconds of the second, six digits |\n"
    "| `%F`, `%T` | `%Y-%m-%d`, `%H:%M:%S` | `%z`, `%Z` | +0000, UTC |\n"
    "| `%%` | a % | | |\n"
    "\n"
    "Names are English. `strptime` also takes numbers with fewer digits, and names in any case; blanks of the format\n"
    "stand for one blank or more. It reads one to nine digits for `%f` (those below a microsecond have to be 0), and\n"
    "`Z`, `+hh`, `+hhmm` or `+hh:mm` for `%z`: the result is UTC. Weekdays are read and play no part. What the format\n"
    "lacks is taken from 1900-01-01 00:00:00.\n"
    "\n"
    "## Regular expressions\n"
    "\n"
    "They have the syntax and the meaning of [RE2](https://github.com/google/re2/wiki/Syntax): a search takes time linear\n"
    "in the text, and there are neither lookarounds nor references back. Backslashes stand for themselves in text:\n"
    "`'\\d+'`. A match may begin anywhere; `^` and `$` stand for the ends of the text. A byte that is not UTF-8 matches\n"
    "nothing, not even `.`. A query has at most 32 of them, of up to 8 MiB memory each.\n";
/* clang-format on */

const char *hac_section_title(hac_section section)
{
    static const char *const titles[HAC_SECTIONS] = {
        "Arithmetic", "Comparison", "Logic", "Conditions", "Math", "Strings", "JSON", "Dates", "Aggregates"};
    return titles[section];
}

/* A vertical bar would end the cell. */
static void add_cell(hac_text *ret, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            hac_text_add(ret, "\\");
        hac_text_add_bytes(ret, text, 1);
    }
}

static void add_call(hac_text *ret, const hac_function *f)
{
    hac_text_add(ret, "| `");
    if (f->syntax != NULL) {
        add_cell(ret, f->syntax);
    } else {
        bool repeats = strchr(f->args, '+') != NULL;
        size_t n = strlen(f->args) - repeats;
        hac_text_addf(ret, "%s(", f->name);
        for (size_t i = 0; i < n; i++)
            hac_text_addf(ret, "%s%c", i > 0 ? ", " : "", (char)('a' + i));
        hac_text_add(ret, repeats ? ", …)" : ")");
    }
    hac_text_add(ret, "` | ");
}

static void add_arguments(hac_text *ret, const hac_function *f)
{
    if (hac_texts_name(f->name) != NULL) { /* the table has what the checker makes of them */
        hac_text_add(ret, f->name[0] == 's' ? "any, constant text, any | " : "any, any | ");
        return;
    }
    size_t n = strcmp(f->args, "C") == 0 ? 2 : strlen(f->args) - (strchr(f->args, '+') != NULL);
    for (size_t i = 0; i < n; i++)
        hac_text_addf(ret, "%s%s", i > 0 ? ", " : "", hac_letter_text(hac_function_letter(f, i, n)));
    hac_text_add(ret, " | ");
}

static void add_result(hac_text *ret, const hac_function *f)
{
    static const char *const results[] = {
        [HAC_RESULT_BOOL] = "bool",
        [HAC_RESULT_I64] = "i64",
        [HAC_RESULT_U64] = "u64",
        [HAC_RESULT_F64] = "f64",
        [HAC_RESULT_STRING] = "string",
        [HAC_RESULT_DATE] = "date",
        [HAC_RESULT_TIMESTAMP] = "timestamp",
        [HAC_RESULT_SAME] = "that type",
        [HAC_RESULT_VALUE] = "their type",
        [HAC_RESULT_DECIMAL_SUM] = "decimal",
        [HAC_RESULT_DECIMAL_PRODUCT] = "decimal",
        [HAC_RESULT_DECIMAL_WHOLE] = "decimal(…,0)",
        [HAC_RESULT_DECIMAL_ROUND] = "decimal(…,digits)",
        [HAC_RESULT_DECIMAL_TOTAL] = "decimal(38,scale)",
    };
    const char *result = results[f->result];
    if (f->result == HAC_RESULT_SAME && f->args[0] == 'I')
        result = "i64 or u64";
    else if (f->result == HAC_RESULT_SAME && f->args[0] == 'i')
        result = "i64";
    else if (f->result == HAC_RESULT_SAME && f->args[0] == 'F')
        result = "f32";
    else if (strchr(f->args, 'z') != NULL && f->args[0] != 'T')
        result = "timestamptz";
    else if (f->result == HAC_RESULT_TIMESTAMP && strchr(f->args, 'f') != NULL)
        result = "timestamp; with `%z` timestamptz";
    hac_text_addf(ret, "%s | ", result);
}

static void add_row(hac_text *ret, const hac_function *f)
{
    static const char *const nulls[] = {[HAC_NULLS_STRICT] = "null",
                                        [HAC_NULLS_OWN] = "see description",
                                        [HAC_NULLS_NEVER] = "not null",
                                        [HAC_NULLS_SKIPPED] = "left out"};
    add_call(ret, f);
    add_arguments(ret, f);
    add_result(ret, f);
    add_cell(ret, f->text);
    hac_text_addf(ret, " | %s | %s | `", nulls[f->nulls], hac_function_exact(f) ? "yes" : "no");
    add_cell(ret, f->example);
    if (f->gives != NULL) {
        hac_text_add(ret, "` is `");
        add_cell(ret, f->gives);
    }
    hac_text_add(ret, "` |\n");
}

static void add_other_names(hac_text *ret)
{
    static const char *const calls[] = {"", "a", "a, b", "a, b, c"};
    size_t n = 0;
    const hac_other_name *names = hac_other_names(&n);
    hac_text_add(ret, "\n### Other names\n\n"
                      "Each stands for the expression beside it.\n\n"
                      "| Call | Stands for |\n|---|---|\n"
                      "| `date_part('unit', a)`, `extract(unit from a)` | `year(a)` and so on: also month, "
                      "quarter, week, day, "
                      "hour, minute, second, isodow, doy, isoyear, decade, century, epoch; as in SQL, dow "
                      "counts from Sunday, 0, "
                      "and millisecond and microsecond include the seconds |\n"
                      "| `concat_ws(separator, a, …)` | a and the others, with the separator between those "
                      "that are not null |\n"
                      "| `trim(a, 'xy')`, `ltrim`, `rtrim`; `trim([both \\| leading \\| trailing] 'xy' from "
                      "a)` | a without the "
                      "characters x and y at its ends |\n"
                      "| `substring(a from n for count)` | `substr(a, n, count)` |\n"
                      "| `position(part in a)` | `position(a, part)` |\n"
                      "| `a is [not] distinct from b` | `a <> b`, where nulls equal each other |\n"
                      "| `a is [not] true`, `false`, `unknown` | a test that is never null |\n"
                      "| `a ^ b`, `a ** b` | `pow(a, b)` |\n");
    for (size_t i = 0; i < n; i++) {
        hac_text_addf(ret, "| `%s(%s)` | `", names[i].name, calls[names[i].n_args]);
        add_cell(ret, names[i].expression);
        hac_text_add(ret, "` |\n");
    }
}

void hac_expression_reference(hac_text *ret)
{
    size_t n = 0;
    const hac_function *rows = hac_functions(&n);
    hac_text_add(ret, introduction);
    hac_text_add(ret, introduction_of_values);
    hac_text_add(ret, introduction_of_texts);
    hac_text_add(ret,
                 "\n## Functions\n\n"
                 "*Null*: the result for a null argument. *Exact*: every device gives the same bits. A row\n"
                 "without description is the function above it for other types.\n");
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || rows[i].section != rows[i - 1].section)
            hac_text_addf(ret,
                          "\n### %s\n\n| Call | Arguments | Result | Description | Null | Exact | Example |\n"
                          "|---|---|---|---|---|---|---|\n",
                          hac_section_title(rows[i].section));
        add_row(ret, &rows[i]);
    }
    add_other_names(ret);
}
