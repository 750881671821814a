/* SPDX-License-Identifier: Apache-2.0 */
/* What is inferred from a source is a schema, and no value of the source contradicts it. */
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
    if (status == HAC_FAILED && strstr(err.message, "which the records before it looked like") != NULL)
        abort();
    hac_source_free(source);
}

static inline void fuzz_infer(const hac_source_options *options, const hac_source_place *place)
{
    hac_query query = {.source = *options};
    hac_schema again;
    hac_text text = HAC_TEXT_NONE;
    uint16_t positions[HAC_FIELDS_MAX];
    if (hac_infer_schema(options, place, &query.columns, NULL) != HAC_OK)
        return;
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
    query.source.inferred = true;
    query.source.skip_errors = false;
    fuzz_read_inferred(&query, place);
    hac_text_clear(&text);
    hac_schema_clear(&again);
    hac_schema_clear(&query.columns);
}

#endif
