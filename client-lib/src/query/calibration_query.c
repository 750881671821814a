/* SPDX-License-Identifier: Apache-2.0 */
#include "calibration_query.h"

#include "base/calibrate_layout.h"

/* Compiles the query that hacd measures on a generated table. */
hac_status hac_calibration_query_compile(hac_compiled_query **ret, hac_error *err)
{
    hac_field fields[] = {{.name = "k", .type = {.kind = HAC_KIND_U32}},
                          {.name = "v", .type = {.kind = HAC_KIND_I32}}};
    hac_table_column places[] = {
        {.type = fields[0].type, .validity = HAC_TABLE_NONE, .bytes = HAC_TABLE_NONE},
        {.type = fields[1].type,
         .validity = HAC_TABLE_NONE,
         .values = 4 * HAC_CALIBRATE_ITEMS,
         .bytes = HAC_TABLE_NONE}};
    const hac_source_columns columns = {.schema = {.fields = fields, .n_fields = 2},
                                        .table = {.n_columns = 2, .columns = places}};
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.group_by = HAC_CALIBRATE_GROUP;
    options.select = HAC_CALIBRATE_SELECT;
    return hac_query_compile_options(&options, &columns, ret, err);
}
