/* SPDX-License-Identifier: Apache-2.0 */
/* The page of the words that the parser knows, those that it refuses among them. */
#include <string.h>

#include "expr/query.h"
#include "expr/sql.h"
#include "foreign_names.h"
#include "functions.h"
#include "syntax/other_names.h"
#include "syntax/parser.h"
#include "syntax/sql_refused.h"

/* clang-format off */
static const char introduction[] =
    "# Words of SQL\n"
    "\n"
    "<!-- Generated from the tables that the parser reads by `cmake --build . --target hac_expr_docs`; do not edit. -->\n"
    "\n"
    "These are the words that `hacctl query` knows: clauses, operators, types, functions, and words of other databases with what to write\n"
    "in their place. [sql.md](sql.md#grammar) has the grammar, [expressions.md](expressions.md) describes each function.\n"
    "\n"
    "    hacctl query \"SELECT city, list(item ORDER BY price DESC) AS items FROM 'sales.csv' GROUP BY city\"\n";
/* clang-format on */

/* A vertical bar would end the cell. */
static void add_cell(hac_text *ret, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            hac_text_add(ret, "\\");
        hac_text_add_bytes(ret, text, 1);
    }
}

static void add_clauses(hac_text *ret)
{
    hac_text_add(ret, "\n## Clauses\n\n| Clause | The same as an option |\n|---|---|\n");
    for (unsigned i = 0; i < HAC_SQL_WITH_SELECT; i++)
        hac_text_addf(ret, "| %s | `--%s` |\n", hac_sql_clause_name((hac_sql_clause)i),
                      hac_sql_clause_option((hac_sql_clause)i));
    hac_text_add(ret, "| LIMIT, OFFSET | `--limit`, `--offset` |\n| SELECT DISTINCT | `--distinct` |\n"
                      "| FROM, WITH, UNION ALL | the files of the command |\n");
}

static void add_readers(hac_text *ret)
{
    const char *const *reader;
    hac_text_add(ret, "\n## Functions of FROM\n\n| Function | The same as an option |\n|---|---|\n");
    for (size_t i = 0; (reader = hac_sql_reader(i)) != NULL; i++)
        hac_text_addf(ret, "| `%s('file')` | `--parse %s` |\n", reader[0], reader[1]);
}

static void add_operators(hac_text *ret)
{
    enum { LEVELS = 16 };
    const char *symbol;
    hac_text_add(
        ret,
        "\n## Operators\n\nIn ascending order of precedence; `not` is above `and`. Those of a row have one "
        "precedence, and comparisons also are\n`is`, `between`, `in`, `like` and `ilike`.\n\n"
        "| Operators |\n|---|\n");
    for (unsigned wanted = 0; wanted < LEVELS; wanted++) {
        unsigned level = 0, n = 0;
        for (size_t i = 0; (symbol = hac_operator_symbol(i, &level)) != NULL; i++) {
            if (level != wanted)
                continue;
            hac_text_add(ret, n++ == 0 ? "| `" : "  `");
            add_cell(ret, symbol);
            hac_text_add(ret, "`");
        }
        hac_text_add(ret, n > 0 ? " |\n" : "");
    }
}

static void add_words(hac_text *ret)
{
    const char *word;
    hac_text_add(ret, "\n## Words that need double quotes as names\n\n");
    for (size_t i = 0; (word = hac_reserved_word(i)) != NULL; i++)
        hac_text_addf(ret, "%s`%s`", i > 0 ? " " : "", word);
    hac_text_add(ret, "\n");
}

static void add_types(hac_text *ret)
{
    char name[HAC_VALUE_TYPE_NAME_MAX];
    const char *alias;
    hac_value_type type, other;
    hac_text_add(ret, "\n## Types\n\n| Type | Other names |\n|---|---|\n");
    for (unsigned kind = HAC_KIND_NONE + 1; kind < HAC_KIND_END; kind++) {
        bool decimal = kind == HAC_KIND_DECIMAL;
        size_t n = 0;
        hac_text_addf(ret, "| `%s%s` |", hac_kind_name((hac_kind)kind), decimal ? "(p,s)" : "");
        hac_text_add(ret, decimal ? " `numeric(p,s)`, `decimal(p)`, and" : "");
        for (size_t i = 0; (alias = hac_value_type_alias(i, &type)) != NULL; i++) {
            other = (hac_value_type){.kind = (uint8_t)kind};
            if (type.kind != kind)
                continue;
            hac_text_addf(ret, "%s `%s`", n++ > 0 ? "," : "", alias);
            if (!hac_value_type_equal(type, other))
                hac_text_addf(ret, ": `%s`", hac_value_type_name(type, name));
        }
        hac_text_add(ret, " |\n");
    }
}

static void add_functions(hac_text *ret)
{
    size_t n = 0, others = 0;
    const hac_function *rows = hac_functions(&n);
    const hac_other_name *names = hac_other_names(&others);
    hac_text_add(ret, "\n## Functions\n\nThose of [expressions.md](expressions.md#functions), by section:\n");
    for (size_t i = 0; i < n; i++) {
        bool word = rows[i].name[0] >= 'a' && rows[i].name[0] <= 'z';
        if (i == 0 || rows[i].section != rows[i - 1].section)
            hac_text_addf(ret, "\n- %s:", hac_section_title(rows[i].section));
        if (word && (i == 0 || strcmp(rows[i].name, rows[i - 1].name) != 0))
            hac_text_addf(ret, " `%s`", rows[i].name);
    }
    hac_text_add(ret, "\n- [Other names](expressions.md#other-names):");
    for (size_t i = 0; i < others; i++)
        if (i == 0 || strcmp(names[i].name, names[i - 1].name) != 0)
            hac_text_addf(ret, " `%s`", names[i].name);
    hac_text_add(ret, "\n");
}

static void add_refused(hac_text *ret)
{
    const char *row[3];
    const char *const *name;
    hac_text_add(ret, "\n## Words that are refused\n\nThe message has the place of the word, and this:\n\n"
                      "| Word | Message |\n|---|---|\n");
    for (size_t i = 0; hac_sql_refused_row(i, row); i++) {
        hac_text_addf(ret, "| `%s%s%s` | ", row[0], row[1] != NULL ? " " : "", row[1] != NULL ? row[1] : "");
        add_cell(ret, row[2]);
        hac_text_add(ret, " |\n");
    }
    hac_text_add(ret, "\n## Functions of other databases\n\n| Function | In its place |\n|---|---|\n");
    for (size_t i = 0; (name = hac_foreign_names_row(i)) != NULL; i++) {
        const char *instead = name[1] + strspn(name[1], "=; ");
        hac_text_addf(ret, "| `%s` | ", name[0]);
        add_cell(ret, instead);
        hac_text_add(ret, " |\n");
    }
}

void hac_sql_words_page(hac_text *ret)
{
    hac_text_add(ret, introduction);
    add_clauses(ret);
    add_readers(ret);
    add_operators(ret);
    add_words(ret);
    add_types(ret);
    add_functions(ret);
    add_refused(ret);
}
