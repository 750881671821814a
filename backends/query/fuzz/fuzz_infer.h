/* SPDX-License-Identifier: Apache-2.0 */
/* A schema inferred from a source is valid, and no value of the source contradicts it. */
#ifndef FUZZ_INFER_H
#define FUZZ_INFER_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/infer.h"

static inline void fuzz_read_inferred(const hac_query *query, const hac_source_place *place)
{
    hac_source *source = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_batch batch;
    hac_status status = hac_source_open(query, place, NULL, &source, &err);
    if (status == HAC_OK)
        status = hac_source_begin(source, 0, place->bytes, false, &err);
    while (status == HAC_OK)
        status = hac_source_next(source, &batch, &err);
    if (status == HAC_FAILED && strstr(err.message, "the type that its first values have") != NULL)
        abort();
    hac_source_free(source);
}

/* Leaves out columns without a type: arrays. */
static inline void fuzz_drop_untyped(hac_schema *schema)
{
    size_t kept = 0;
    for (size_t i = 0; i < schema->n_fields; i++)
        if (schema->fields[i].type.kind != HAC_KIND_NONE)
            schema->fields[kept++] = schema->fields[i];
    schema->n_fields = kept;
}

static inline void fuzz_infer(const hac_source_options *options, const hac_source_place *place)
{
    hac_query query = {.source = *options};
    hac_schema again;
    hac_text text = HAC_TEXT_NONE;
    uint16_t positions[HAC_COLUMNS_MAX];
    if (hac_infer_schema(options, place, &query.columns, NULL) != HAC_OK)
        return;
    fuzz_drop_untyped(&query.columns);
    if (query.columns.n_fields == 0 || query.columns.n_fields > HAC_COLUMNS_MAX) {
        hac_schema_clear(&query.columns);
        return;
    }
    hac_schema_print(&query.columns, &text);
    if (hac_schema_parse(text.data, &again, NULL) != HAC_OK || again.n_fields != query.columns.n_fields)
        abort();
    for (size_t i = 0; i < again.n_fields; i++) {
        positions[i] = (uint16_t)i;
        if (strcmp(again.fields[i].name, query.columns.fields[i].name) != 0)
            abort();
    }
    query.positions = positions;
    query.schema_columns = again.n_fields;
    for (size_t i = 0; i < query.columns.n_fields; i++)
        query.columns.fields[i].inferred = true;
    query.source.options.skip_errors = false;
    fuzz_read_inferred(&query, place);
    hac_text_clear(&text);
    hac_schema_clear(&again);
    hac_schema_clear(&query.columns);
}

#endif
