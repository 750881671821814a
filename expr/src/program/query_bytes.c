/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query as bytes, little-endian:
 *
 *   "hacq" version(1)
 *   format(1) flags(1) length(2) of the input options, and their bytes (base/input_options.h)
 *   output format(1) compression(1) row group bytes(8) rows(8) block bytes(8)
 *   limit(8) offset(8) limit each(8) limit after(8)
 *   schema columns(2), lengths: their widths(1) …;
 *   columns(2): position(2) type(3) flags(1), version 9: part of a list(1), its argument, like a name;
 *   name …
 *   outputs(2), visible(2), having(2): type(3) name …
 *   keys(2), aggregates(2): function(1) argument(2) second(2) type(3) k(4) low(8) high(8) …
 *   order(2): column(2) descending(1) …
 *   limit by(2): column(2) …
 *   the programs: filter, if any; rows; finals, if any
 *
 * A name is its length(1) and its bytes. Every count is checked before memory is allocated for it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/input_options.h"
#include "query_verify.h"

#define MAGIC   "hacq"
#define VERSION 8
#define PARTS   9 /* the version of queries that read parts of lists */

enum { FIELD_INFERRED = 1, FIELD_IN_PATH = 2, FIELD_MEMBER = 4, FIELD_LACKING = 8, ALL_FIELD_FLAGS = 15 };
enum { AGGREGATES = 1, FILTER = 2, FINALS = 4, INFERRED = 8, ALL_NAMES = 16, ALL_FLAGS = 31 };

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)

/* ---- writing ---- */

static void put(hac_text *text, uint64_t value, size_t bytes)
{
    char le[8];
    for (size_t i = 0; i < bytes; i++)
        le[i] = (char)(value >> (8 * i));
    hac_text_add_bytes(text, le, bytes);
}

static void put_name(hac_text *text, const char *name)
{
    size_t bytes = strlen(name);
    put(text, bytes, 1);
    hac_text_add_bytes(text, name, bytes);
}

static void put_type(hac_text *text, hac_value_type type)
{
    put(text, type.kind, 1);
    put(text, type.precision, 1);
    put(text, type.scale, 1);
}

static void put_real(hac_text *text, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(text, bits, 8);
}

static void put_constant(hac_text *text, const hac_constant_number *number)
{
    put(text, number->scale, 1);
    if (number->scale == HAC_CONSTANT_REAL) {
        put_real(text, number->real);
    } else {
        put(text, (uint64_t)number->digits, 8);
        put(text, (uint64_t)(number->digits >> 64), 8);
    }
}

static void put_options(hac_text *text, const hac_input_options *options)
{
    hac_cleanup(hac_text_clear) hac_text bytes = HAC_TEXT_NONE;
    hac_input_options_write(options, &bytes);
    put(text, bytes.bytes, 2);
    hac_text_add_bytes(text, bytes.data, bytes.bytes);
    text->broken |= bytes.broken;
}

static void put_source(const hac_query *query, hac_text *text)
{
    unsigned flags = (query->aggregates ? AGGREGATES : 0) | (query->filter != NULL ? FILTER : 0) |
                     (query->finals != NULL ? FINALS : 0) | (query->source.inferred ? INFERRED : 0) |
                     (query->source.all_names ? ALL_NAMES : 0);
    put(text, query->source.format, 1);
    put(text, flags, 1);
    put_options(text, &query->source.options);
    put(text, query->output, 1);
    put(text, query->parquet.compression, 1);
    put(text, query->parquet.group_bytes, 8);
    put(text, query->parquet.group_rows, 8);
    put(text, query->parquet.block_bytes, 8);
    put(text, query->limit, 8);
    put(text, query->offset, 8);
    put(text, query->limit_each, 8);
    put(text, query->limit_after, 8);
}

static bool has_parts(const hac_query *query)
{
    bool ret = false;
    for (size_t i = 0; i < query->columns.n_fields; i++)
        ret |= query->columns.fields[i].part != HAC_LIST_WHOLE;
    return ret;
}

static void put_columns(const hac_query *query, hac_text *text)
{
    bool parts = has_parts(query);
    put(text, query->schema_columns, 2);
    for (size_t i = 0; query->widths != NULL && i < query->schema_columns; i++)
        put(text, query->widths[i], 1);
    put(text, query->columns.n_fields, 2);
    for (size_t i = 0; i < query->columns.n_fields; i++) {
        put(text, query->positions[i], 2);
        put_type(text, query->columns.fields[i].type);
        put(text,
            (query->columns.fields[i].inferred ? FIELD_INFERRED : 0u) |
                (query->columns.fields[i].in_path ? FIELD_IN_PATH : 0u) |
                (query->columns.fields[i].member ? FIELD_MEMBER : 0u) |
                (query->columns.fields[i].lacking ? FIELD_LACKING : 0u),
            1);
        if (parts) {
            put(text, query->columns.fields[i].part, 1);
            put_name(text, query->columns.fields[i].argument);
        }
        put_name(text, query->columns.fields[i].name);
    }
    put(text, query->outputs.n_fields, 2);
    put(text, query->n_visible, 2);
    put(text, query->having, 2);
    for (size_t i = 0; i < query->outputs.n_fields; i++) {
        put_type(text, query->outputs.fields[i].type);
        put_name(text, query->outputs.fields[i].name);
    }
}

static void put_groups(const hac_query *query, hac_text *text)
{
    put(text, query->n_keys, 2);
    put(text, query->n_aggregates, 2);
    for (size_t i = 0; i < query->n_aggregates; i++) {
        const hac_aggregate *a = &query->aggregate[i];
        put(text, a->function, 1);
        put(text, (uint16_t)a->argument, 2);
        put(text, (uint16_t)a->second, 2);
        put_type(text, a->type);
        put(text, a->k, 4);
        put_constant(text, &a->low);
        put_constant(text, &a->high);
    }
    put(text, query->n_order, 2);
    for (size_t i = 0; i < query->n_order; i++) {
        put(text, query->order[i].column, 2);
        put(text, query->order[i].descending, 1);
    }
    put(text, query->n_limit_by, 2);
    for (size_t i = 0; i < query->n_limit_by; i++)
        put(text, query->limit_by[i], 2);
}

hac_status hac_query_write(const hac_query *query, hac_text *ret, hac_error *err)
{
    size_t before = ret->bytes;
    hac_text_add_bytes(ret, MAGIC, strlen(MAGIC));
    put(ret, has_parts(query) ? PARTS : VERSION, 1);
    put_source(query, ret);
    put_columns(query, ret);
    put_groups(query, ret);
    if (query->filter != NULL)
        hac_program_write(query->filter, ret);
    hac_program_write(query->rows, ret);
    if (query->finals != NULL)
        hac_program_write(query->finals, ret);
    if (ret->broken)
        return hac_fail_no_memory(err);
    if (ret->bytes - before > HAC_QUERY_BYTES_MAX)
        return hac_fail(err, HAC_INVALID, "the query is too large: %zu bytes compiled, and the limit is %d",
                        ret->bytes - before, HAC_QUERY_BYTES_MAX);
    return HAC_OK;
}

/* ---- reading ---- */

typedef struct query_reader {
    const uint8_t *data;
    size_t bytes, at;
    bool broken;    /* a read beyond the end, or an impossible value */
    bool no_memory; /* the bytes may be valid */
    bool parts;     /* of version 9 */
} query_reader;

/* Zeroed memory for n + 1 elements. NULL: no memory, or the reader is broken already. */
static void *zeroed(query_reader *r, size_t n, size_t size)
{
    void *memory = r->broken ? NULL : calloc(n + 1, size);
    r->no_memory |= !r->broken && memory == NULL;
    return memory;
}

static uint64_t take(query_reader *r, size_t bytes)
{
    uint64_t value = 0;
    if (r->broken || bytes > r->bytes - r->at) {
        r->broken = true;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)r->data[r->at + i] << (8 * i);
    r->at += bytes;
    return value;
}

/* Reads a count. A count above `max` breaks the reader and gives 0. */
static size_t take_count(query_reader *r, size_t max)
{
    uint64_t value = take(r, 2);
    if (value <= max)
        return (size_t)value;
    r->broken = true;
    return 0;
}

static bool take_bool(query_reader *r)
{
    uint64_t value = take(r, 1);
    r->broken |= value > 1;
    return value == 1;
}

static double take_real(query_reader *r)
{
    uint64_t bits = take(r, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static hac_constant_number take_constant(query_reader *r)
{
    uint8_t scale = (uint8_t)take(r, 1);
    if (scale == HAC_CONSTANT_REAL)
        return hac_constant_real(take_real(r));
    if (scale > HAC_DECIMAL_DIGITS_MAX)
        r->broken = true;
    uint64_t low = take(r, 8), high = take(r, 8);
    return hac_constant_decimal((hac_int128)((unsigned __int128)high << 64 | low), r->broken ? 0 : scale);
}

static hac_value_type take_type(query_reader *r)
{
    hac_value_type type = {(uint8_t)take(r, 1), 0, 0};
    type.precision = (uint8_t)take(r, 1);
    type.scale = (uint8_t)take(r, 1);
    return type;
}

/* `ret` has `size` bytes, all 0. */
static void take_name(query_reader *r, char *ret, size_t size)
{
    size_t bytes = (size_t)take(r, 1);
    if (r->broken || bytes >= size || bytes > r->bytes - r->at ||
        (bytes > 0 && memchr(r->data + r->at, '\0', bytes) != NULL)) {
        r->broken = true;
        return;
    }
    if (bytes > 0)
        memcpy(ret, r->data + r->at, bytes);
    r->at += bytes;
}

static void take_options(query_reader *r, hac_source_options *ret)
{
    size_t bytes = take_count(r, HAC_INPUT_OPTIONS_BYTES_MAX);
    bool format = ret->format > HAC_INPUT_NONE && ret->format < HAC_INPUT_END;
    if (r->broken || !format || bytes > r->bytes - r->at ||
        hac_input_options_read(r->data + r->at, bytes, ret->format, &ret->options, NULL) != HAC_OK)
        r->broken = true;
    else
        r->at += bytes;
}

static bool take_source(query_reader *r, hac_query *query, unsigned *ret_flags)
{
    query->source.format = (hac_input_format)take(r, 1);
    unsigned flags = (unsigned)take(r, 1);
    query->source.inferred = (flags & INFERRED) != 0;
    query->source.all_names = (flags & ALL_NAMES) != 0;
    query->aggregates = (flags & AGGREGATES) != 0;
    take_options(r, &query->source);
    query->output = (hac_result_format)take(r, 1);
    query->parquet.compression = (uint8_t)take(r, 1);
    query->parquet.group_bytes = take(r, 8);
    query->parquet.group_rows = take(r, 8);
    query->parquet.block_bytes = take(r, 8);
    query->limit = take(r, 8);
    query->offset = take(r, 8);
    query->limit_each = take(r, 8);
    query->limit_after = take(r, 8);
    *ret_flags = flags;
    return !r->broken && flags <= ALL_FLAGS;
}

static bool take_widths(query_reader *r, hac_query *query)
{
    size_t n = query->schema_columns;
    if (query->source.format != HAC_INPUT_LENGTHS)
        return true;
    if (n > HAC_COLUMNS_MAX || (query->widths = zeroed(r, n, 1)) == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        query->widths[i] = (uint8_t)take(r, 1);
    return !r->broken;
}

static bool take_columns(query_reader *r, hac_query *query)
{
    query->schema_columns = take_count(r, HAC_RECORD_BYTES_MAX);
    if (!take_widths(r, query))
        return false;
    size_t n = take_count(r, HAC_COLUMNS_MAX);
    query->columns.fields = zeroed(r, n, sizeof *query->columns.fields);
    query->positions = zeroed(r, n, sizeof *query->positions);
    if (query->columns.fields == NULL || query->positions == NULL)
        return false;
    query->columns.n_fields = n;
    for (size_t i = 0; i < n; i++) {
        query->positions[i] = (uint16_t)take(r, 2);
        query->columns.fields[i].type = take_type(r);
        unsigned flags = (unsigned)take(r, 1);
        r->broken |= flags > ALL_FIELD_FLAGS;
        query->columns.fields[i].inferred = (flags & FIELD_INFERRED) != 0;
        query->columns.fields[i].in_path = (flags & FIELD_IN_PATH) != 0;
        query->columns.fields[i].member = (flags & FIELD_MEMBER) != 0;
        query->columns.fields[i].lacking = (flags & FIELD_LACKING) != 0;
        if (r->parts) {
            query->columns.fields[i].part = (uint8_t)take(r, 1);
            take_name(r, query->columns.fields[i].argument, HAC_LIST_ARGUMENT_MAX);
        }
        take_name(r, query->columns.fields[i].name, HAC_FIELD_NAME_MAX);
    }
    return !r->broken;
}

static bool take_outputs(query_reader *r, hac_query *query)
{
    size_t n = take_count(r, HAC_PROGRAM_OUTPUTS_MAX);
    query->n_visible = take_count(r, n);
    query->having = (uint16_t)take(r, 2);
    query->outputs.fields = zeroed(r, n, sizeof *query->outputs.fields);
    if (query->outputs.fields == NULL)
        return false;
    query->outputs.n_fields = n;
    for (size_t i = 0; i < n; i++) {
        query->outputs.fields[i].type = take_type(r);
        take_name(r, query->outputs.fields[i].name, HAC_FIELD_NAME_MAX);
    }
    return !r->broken;
}

static bool take_groups(query_reader *r, hac_query *query)
{
    query->n_keys = take_count(r, HAC_QUERY_KEYS_MAX);
    size_t n = take_count(r, HAC_PROGRAM_INPUTS_MAX);
    query->aggregate = zeroed(r, n, sizeof *query->aggregate);
    if (query->aggregate == NULL)
        return false;
    query->n_aggregates = n;
    for (size_t i = 0; i < n; i++) {
        hac_aggregate *a = &query->aggregate[i];
        a->function = (uint8_t)take(r, 1);
        a->argument = (int16_t)take(r, 2);
        a->second = (int16_t)take(r, 2);
        a->type = take_type(r);
        a->k = (uint32_t)take(r, 4);
        a->low = take_constant(r);
        a->high = take_constant(r);
    }
    return !r->broken;
}

static bool take_order(query_reader *r, hac_query *query)
{
    size_t n = take_count(r, HAC_ORDER_MAX);
    query->order = zeroed(r, n, sizeof *query->order);
    if (query->order == NULL)
        return false;
    query->n_order = n;
    for (size_t i = 0; i < n; i++) {
        query->order[i].column = (uint16_t)take(r, 2);
        query->order[i].descending = take_bool(r);
    }
    return !r->broken;
}

static bool take_limit_by(query_reader *r, hac_query *query)
{
    size_t n = take_count(r, HAC_QUERY_KEYS_MAX);
    query->limit_by = zeroed(r, n, sizeof *query->limit_by);
    if (query->limit_by == NULL)
        return false;
    query->n_limit_by = n;
    for (size_t i = 0; i < n; i++)
        query->limit_by[i] = (uint16_t)take(r, 2);
    return !r->broken;
}

static hac_status take_program(query_reader *r, hac_program **ret, hac_error *err)
{
    size_t used = 0;
    hac_status status = hac_program_read(r->data + r->at, r->bytes - r->at, &used, ret, err);
    r->at += status == HAC_OK ? used : 0;
    return status;
}

static hac_status take_programs(query_reader *r, hac_query *query, unsigned flags, hac_error *err)
{
    hac_status status = HAC_OK;
    if ((flags & FILTER) != 0)
        status = take_program(r, &query->filter, err);
    if (status == HAC_OK)
        status = take_program(r, &query->rows, err);
    if (status == HAC_OK && (flags & FINALS) != 0)
        status = take_program(r, &query->finals, err);
    return status;
}

static bool take_magic(query_reader *r)
{
    bool magic = r->bytes >= strlen(MAGIC) && memcmp(r->data, MAGIC, strlen(MAGIC)) == 0;
    r->at = magic ? strlen(MAGIC) : 0;
    uint64_t version = magic ? take(r, 1) : 0;
    r->parts = version == PARTS;
    return version == VERSION || version == PARTS;
}

hac_status hac_query_read(const uint8_t *data, size_t bytes, hac_query **ret, hac_error *err)
{
    query_reader r = {.data = data, .bytes = bytes};
    unsigned flags = 0;
    if (bytes > HAC_QUERY_BYTES_MAX || !take_magic(&r))
        return hac_fail(err, HAC_INVALID, "not a compiled query of this version");
    hac_cleanup(hac_query_free_cleanup) hac_query *query = calloc(1, sizeof *query);
    if (query == NULL)
        return hac_fail_no_memory(err);
    bool taken = take_source(&r, query, &flags) && take_columns(&r, query) && take_outputs(&r, query) &&
                 take_groups(&r, query) && take_order(&r, query) && take_limit_by(&r, query);
    if (r.no_memory)
        return hac_fail_no_memory(err);
    if (!taken || r.parts != has_parts(query))
        return hac_fail(err, HAC_INVALID, "not a valid query: malformed at byte %zu", r.at);
    hac_status status = take_programs(&r, query, flags, err);
    if (status != HAC_OK)
        return status;
    if (r.at != bytes)
        return hac_fail(err, HAC_INVALID, "not a valid query: %zu bytes behind its end", bytes - r.at);
    status = hac_query_verify(query, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(query);
    return status;
}
