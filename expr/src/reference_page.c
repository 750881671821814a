/* SPDX-License-Identifier: Apache-2.0 */
/* docs/expressions.md: words about the language, and the table of functions as tables. */
#include <string.h>

#include "functions.h"

static const char *const introduction =
    "# Expressions\n"
    "\n"
    "<!-- Generated from the table in expr/src/functions.c by `cmake --build . --target hac_expr_docs`; do "
    "not "
    "edit. -->\n"
    "\n"
    "The language of `--where`, `--group-by`, `--select` and `--order-by`. Keywords, functions and types are "
    "taken in\n"
    "any case; names of columns are not.\n"
    "\n"
    "## A query\n"
    "\n"
    "| Option | Takes |\n"
    "|---|---|\n"
    "| `--where` | a condition; only rows for which it is true count (not those for which it is null) |\n"
    "| `--group-by` | expressions, separated by commas; an item may have `as name`. A name that is no column "
    "may be one of "
    "`--select` |\n"
    "| `--select` | expressions with aggregates, or without; an item may have `as name`, else its own text "
    "is its name. "
    "`*` is all columns |\n"
    "| `--order-by` | names of output columns, or expressions; `asc` (the default) or `desc` behind each. "
    "Nulls come last "
    "in both directions, NaN is above all numbers |\n"
    "| `--limit` | the number of rows |\n"
    "\n"
    "With `--group-by`, or with an aggregate in `--select` or `--order-by`, rows become groups. The output "
    "is the keys, then "
    "the\nitems of `--select`; one that is repeated appears once. A column that is no key must stand inside "
    "an aggregate. "
    "With keys\nand without aggregates the output is the different keys.\n"
    "\n"
    "## Values and names\n"
    "\n"
    "| Written | Is |\n"
    "|---|---|\n"
    "| `price`, `\"unit price\"` | a column; letters, digits and `_` may stand bare, also joined by dots "
    "(`edges.a`), everything else goes in double quotes (`\"\"` for one inside) |\n"
    "| `42`, `-7` | i64; u64 or decimal when it is larger |\n"
    "| `1.5` | decimal(2,1); beside an f64 it is an f64 |\n"
    "| `1e3` | f64 |\n"
    "| `'text'` | string; `''` is one quote inside |\n"
    "| `x'00ff'` | bytes, two hexadecimal digits each |\n"
    "| `true`, `false`, `null` | |\n"
    "| `date '2020-01-31'` | date |\n"
    "| `timestamp '2020-01-31 12:34:56.789'` | timestamp, UTC |\n"
    "\n"
    "`and or not in is like between case when then else as null true false` are words of the language; a "
    "column of such a\n"
    "name goes in double quotes. A column may have the name of a function or a type.\n"
    "\n"
    "Operators, the weakest first: `or`, `and`, `not`, comparisons with `is`, `between`, `in` and `like`, "
    "`||`, `+ -`,\n"
    "`* / // %`, unary `-`.\n"
    "\n"
    "## Types\n"
    "\n"
    "`bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 date timestamp decimal(p,s) string bytes`\n"
    "\n"
    "- **Integers** are worked with in 64 bits: of unsigned ones only (and number literals beside a u64) the "
    "result is u64,\n"
    "  else i64. A result that does not fit is an error of the row; the job fails when such a row counts, "
    "and says which.\n"
    "- **Floats**: f32 with f32 is f32, everything else with a float is f64. IEEE 754; NaN equals NaN and is "
    "above all "
    "numbers.\n"
    "- **Decimals** are exact. `+ -`: the larger scale, one digit more; `*`: digits and scales add up; at "
    "most 38 digits.\n"
    "  More than 38 digits behind the point is refused: cast to fewer. A value that needs more than 38 "
    "digits is an error\n"
    "  of its row. With an integer the result is a decimal, with a float f64. `/` gives f64.\n"
    "- **Comparisons** are of values: -1 is less than any u64, and an i64 compares with 1.5 without "
    "rounding. An i64 or a\n"
    "  decimal compares with a float as f64. A date or timestamp compares with `date '…'` or `timestamp "
    "'…'`, not with "
    "text.\n"
    "- **Bytes** are no text: they are read and written as hexadecimal digits, two a byte, and compare byte "
    "by "
    "byte. A text\n"
    "  literal beside them is taken as its bytes: `b = 'abc'`, `b in (x'00ff', 'abc')`. Functions of strings "
    "that say so\n"
    "  take them; for the others `cast(b as string)` gives the bytes as they are, and `cast(s as bytes)` "
    "back.\n"
    "- **Null**: an operation on a null is null, unless its description says otherwise.\n"
    "- **Errors of a row** (an overflow, a cast that fails) count only where their value does: `if(b <> 0, a "
    "// b, 0)` and\n"
    "  rows that `--where` leaves out are fine.\n"
    "- `cast(x as type)` converts; a value that the type does not have is an error of the row. `try_cast(x "
    "as type)` gives\n"
    "  null instead. Numbers convert to each other and to bool (0 is false), dates and timestamps to each "
    "other, everything\n"
    "  but bytes from and to string. Floats become integers by rounding to even, decimals by rounding half "
    "away "
    "from zero.\n";

static const char *section_title(hac_section section)
{
    static const char *const titles[HAC_SECTIONS] = {"Arithmetic", "Comparison", "Logic", "Conditions",
                                                     "Math",       "Strings",    "Dates", "Aggregates"};
    return titles[section];
}

/* Vertical bars would end the cell. */
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
    hac_text_addf(ret, "%s | ", result);
}

static void add_row(hac_text *ret, const hac_function *f)
{
    static const char *const nulls[] = {[HAC_NULLS_STRICT] = "null",
                                        [HAC_NULLS_OWN] = "see there",
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

void hac_expression_reference(hac_text *ret)
{
    size_t n = 0;
    const hac_function *rows = hac_functions(&n);
    hac_text_add(ret, introduction);
    hac_text_add(ret, "\n## Functions\n\n"
                      "*Null*: what a null argument gives. *Exact*: every device gives the same bits. A row "
                      "without words is "
                      "the one\nabove it for other types.\n");
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || rows[i].section != rows[i - 1].section)
            hac_text_addf(ret,
                          "\n### %s\n\n| Written | Arguments | Result | Is | Null | Exact | Example |\n"
                          "|---|---|---|---|---|---|---|\n",
                          section_title(rows[i].section));
        add_row(ret, &rows[i]);
    }
}
