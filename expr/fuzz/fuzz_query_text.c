/* SPDX-License-Identifier: Apache-2.0 */
/* Queries from hostile text. The lines of the input are schema, where, group by, select and order by. A query
 * that compiles can be written, reads back the same, and runs. The whole input is also a SQL statement. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expr/partial.h"
#include "expr/sql.h"
#include "run_on_zeros.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        abort();
}

static void check_query(const hac_query *query)
{
    hac_text bytes = HAC_TEXT_NONE, again = HAC_TEXT_NONE;
    hac_error err = HAC_ERROR_NONE;
    hac_query *read = NULL;
    if (hac_query_write(query, &bytes, &err) == HAC_OK) {
        check(hac_query_read((const uint8_t *)bytes.data, bytes.bytes, &read, &err) == HAC_OK);
        check(hac_query_write(read, &again, &err) == HAC_OK);
        check(bytes.bytes == again.bytes && memcmp(bytes.data, again.data, bytes.bytes) == 0);
    }
    hac_text_clear(&bytes);
    hac_text_clear(&again);
    hac_query_free(read);
    run_query_on_zeros(query);
}

/* A statement is split, or refused with a place. */
static void check_sql(const char *text)
{
    hac_sql_select select;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_sql_select_parse(text, &select, &err);
    check(status == HAC_OK || status == HAC_INVALID || status == HAC_NO_MEMORY);
    check(status != HAC_OK || (select.n_sources > 0 && select.clauses[HAC_SQL_SELECT].text != NULL));
    check(status != HAC_INVALID || strncmp(err.message, "SQL: character ", 15) == 0);
    hac_sql_select_clear(&select);
}

/* The texts of a query in two steps may compile or not. */
static void check_partial(char *const *parts)
{
    hac_partial partial;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_partial_make(
        &(hac_partial_texts){
            .group_by = parts[2], .having = parts[5], .select = parts[3], .order_by = parts[4]},
        &partial, &err);
    check(status == HAC_OK || status == HAC_UNSUPPORTED || status == HAC_INVALID || status == HAC_NO_MEMORY);
    if (status == HAC_OK) {
        hac_query_text text = {.schema = parts[0],
                               .where = parts[1],
                               .group_by = partial.part_group_by,
                               .select = partial.part_select,
                               .order_by = partial.part_order_by,
                               .limit = 10,
                               .source = {.format = HAC_INPUT_JSONL}};
        hac_query *query = NULL;
        if (hac_query_compile(&text, NULL, &query, &err) == HAC_OK)
            check(query->aggregates == !partial.rows ||
                  (partial.n_values == 0 && (parts[2] != NULL || parts[5] != NULL)));
        hac_query_free(query);
    }
    hac_partial_clear(&partial);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + 1), *parts[6] = {NULL}, *rest = text;
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    check_sql(text);
    for (size_t i = 0; i < 6 && rest != NULL; i++)
        parts[i] = strsep(&rest, "\n");
    hac_query_text query_text = {.schema = parts[0],
                                 .where = parts[1],
                                 .group_by = parts[2],
                                 .select = parts[3],
                                 .order_by = parts[4],
                                 .having = parts[5],
                                 .limit = 10,
                                 .source = {.format = HAC_INPUT_JSONL}};
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_query_compile(&query_text, NULL, &query, &err);
    check(status == HAC_OK || ((status == HAC_INVALID || status == HAC_NO_MEMORY) && query == NULL));
    check(status == HAC_OK ||
          (err.message[0] != '\0' && strncmp(err.message, "a compiled query is not valid", 29) != 0));
    if (status == HAC_OK)
        check_query(query);
    hac_query_free(query);
    check_partial(parts);
    free(text);
    return 0;
}
