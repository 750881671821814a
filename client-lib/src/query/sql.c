/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "expr/query.h"
#include "expr/sql.h"

struct hac_sql {
    hac_sql_select select;
};

/* The rows of UNION ALL are those of all files; aggregates would be of each file. */
static hac_status check_union(const hac_sql_select *select, hac_error *err)
{
    const hac_query_text text = {.select = select->clauses[HAC_SQL_SELECT].text,
                                 .select_only = true,
                                 .source = {.format = HAC_INPUT_CSV}};
    if (select->union_character == 0 || !hac_query_text_aggregates(&text))
        return HAC_OK;
    return hac_fail(
        err, HAC_INVALID,
        "SQL: character %zu: UNION ALL is of rows, not of aggregates; write WITH t AS (SELECT * FROM "
        "'a.csv' UNION ALL SELECT * FROM 'b.csv') SELECT … FROM t",
        select->union_character);
}

hac_status hac_sql_read(const char *text, hac_sql **ret, hac_error *err)
{
    hac_sql *sql = calloc(1, sizeof *sql);
    if (sql == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_sql_select_parse(text, &sql->select, err);
    if (status == HAC_OK)
        status = check_union(&sql->select, err);
    if (status == HAC_OK)
        *ret = sql;
    else
        hac_sql_free(sql);
    return status;
}

void hac_sql_free(hac_sql *sql)
{
    if (sql == NULL)
        return;
    hac_sql_select_clear(&sql->select);
    free(sql);
}

const char *hac_sql_source(const hac_sql *sql, size_t index)
{
    return index < sql->select.n_sources ? sql->select.sources[index] : NULL;
}

hac_input_format hac_sql_format(const hac_sql *sql)
{
    const char *name = sql->select.format;
    return name != NULL ? hac_format_named(name, strlen(name)) : HAC_INPUT_NONE;
}

void hac_sql_apply(const hac_sql *sql, hac_query_options *options)
{
    const hac_sql_select *select = &sql->select;
    options->select = select->clauses[HAC_SQL_SELECT].text;
    options->where = select->clauses[HAC_SQL_WHERE].text;
    options->group_by = select->clauses[HAC_SQL_GROUP_BY].text;
    options->having = select->clauses[HAC_SQL_HAVING].text;
    options->order_by = select->clauses[HAC_SQL_ORDER_BY].text;
    options->limit = select->limit;
    options->offset = select->offset;
    options->limit_by = select->clauses[HAC_SQL_LIMIT_BY].text;
    options->limit_each = select->limit_each;
    options->distinct = select->distinct;
    options->select_only = 1;
    options->by_position = select->by_position;
    options->with_select = select->clauses[HAC_SQL_WITH_SELECT].text;
    options->with_where = select->clauses[HAC_SQL_WITH_WHERE].text;
}

void hac_sql_reword(const hac_sql *sql, hac_error *err)
{
    hac_sql_select_reword(&sql->select, err);
}
