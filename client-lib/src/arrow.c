/* SPDX-License-Identifier: Apache-2.0 */
/* Imports and exports columns of the Arrow C Data Interface, and imports streams of keys
 * (https://arrow.apache.org/docs/format/CDataInterface.html). */
#include <inttypes.h>
#include <string.h>

#include "arrow/arrow_batches.h"
#include "base/limits.h"
#include "base/type.h"
#include "jobs/job_input.h"
#include "query/query.h"
#include "sort/sort.h"

/* ---- in ---- */

/* The values of a fixed-width column without nulls. */
typedef struct primitive_column {
    const char *format;
    uint64_t items;
    uint32_t width; /* bytes of a value */
    const uint8_t *values;
} primitive_column;

static const struct {
    char format;
    hac_type type;
} key_formats[] = {{'i', HAC_TYPE_I32}, {'I', HAC_TYPE_U32}, {'f', HAC_TYPE_F32},
                   {'l', HAC_TYPE_I64}, {'L', HAC_TYPE_U64}, {'g', HAC_TYPE_F64}};

static hac_type key_type(const char *format)
{
    for (size_t i = 0; i < sizeof(key_formats) / sizeof(key_formats[0]); i++)
        if (format[0] == key_formats[i].format && format[1] == '\0')
            return key_formats[i].type;
    return HAC_TYPE_NONE;
}

static const char *format_of(hac_type type)
{
    static const char formats[HAC_TYPE_COUNT][2] = {"", "I", "i", "f", "L", "l", "g"};
    return formats[type];
}

/* Returns the width of the formats "w:12" and "d:19,10[,256]". */
static uint32_t parametric_width(const char *format)
{
    if (strncmp(format, "w:", 2) == 0) {
        char *end;
        unsigned long width = strtoul(format + 2, &end, 10);
        return *end == '\0' && width <= UINT32_MAX ? (uint32_t)width : 0;
    }
    if (strncmp(format, "d:", 2) != 0)
        return 0;
    const char *comma = strchr(format, ',');
    const char *bits = comma == NULL ? NULL : strchr(comma + 1, ',');
    if (bits == NULL)
        return 16;
    return (uint32_t)strtoul(bits + 1, NULL, 10) / 8;
}

/* Returns the size in bytes of a value of `format`. 0: the size is not fixed. */
static uint32_t format_width(const char *format)
{
    static const struct {
        const char *prefix;
        uint32_t width;
    } temporal[] = {{"tdD", 4}, {"tdm", 8}, {"tts", 4}, {"ttm", 4}, {"ttu", 8}, {"ttn", 8},
                    {"ts", 8},  {"tD", 8},  {"tiM", 4}, {"tiD", 8}, {"tin", 16}};
    static const struct {
        char format;
        uint32_t width;
    } plain[] = {{'c', 1}, {'C', 1}, {'s', 2}, {'S', 2}, {'i', 4}, {'I', 4},
                 {'l', 8}, {'L', 8}, {'e', 2}, {'f', 4}, {'g', 8}};
    if (format[0] == 'w' || format[0] == 'd')
        return parametric_width(format);
    for (size_t i = 0; i < sizeof(temporal) / sizeof(temporal[0]); i++)
        if (strncmp(format, temporal[i].prefix, strlen(temporal[i].prefix)) == 0)
            return temporal[i].width;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (format[0] == plain[i].format && format[1] == '\0')
            return plain[i].width;
    return 0;
}

/* True if the validity bitmap has nulls in [offset, offset + items). */
static bool has_nulls(const struct ArrowArray *array)
{
    if (array->null_count == 0 || array->buffers[0] == NULL)
        return array->null_count > 0;
    const uint8_t *valid = array->buffers[0];
    for (int64_t i = array->offset; i < array->offset + array->length; i++)
        if ((valid[i / 8] >> (i % 8) & 1) == 0)
            return true;
    return false;
}

static hac_status read_column(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              const char *what, primitive_column *ret, hac_error *err)
{
    if (schema == NULL || array == NULL || schema->release == NULL || array->release == NULL ||
        schema->format == NULL)
        return hac_fail(err, HAC_INVALID, "the %s column has been released", what);
    uint32_t width = format_width(schema->format);
    if (width == 0 || schema->dictionary != NULL || array->dictionary != NULL || array->n_children != 0)
        return hac_fail(err, HAC_UNSUPPORTED,
                        "the %s column has Arrow format \"%.40s\", not one of fixed width", what,
                        schema->format);
    int64_t end;
    uint64_t bytes;
    if (array->n_buffers != 2 || array->buffers == NULL || array->length < 0 || array->offset < 0 ||
        __builtin_add_overflow(array->length, array->offset, &end) ||
        __builtin_mul_overflow((uint64_t)end, width, &bytes) || bytes > INT64_MAX ||
        (array->length > 0 && array->buffers[1] == NULL))
        return hac_fail(err, HAC_INVALID, "the %s column is no valid Arrow array", what);
    if (has_nulls(array))
        return hac_fail(err, HAC_UNSUPPORTED, "the %s column has nulls", what);
    const uint8_t *values = array->buffers[1];
    *ret = (primitive_column){schema->format, (uint64_t)array->length, width,
                              values == NULL ? NULL : values + (uint64_t)array->offset * width};
    return HAC_OK;
}

/* If hacd can read the values in place, refers `ret` to the pool buffer that contains them. */
static bool in_place(hac_client *client, const uint8_t *values, uint64_t bytes, Hac__Client__Input *ret)
{
    const hac_mapping *mapping =
        bytes == 0 ? NULL : hac_mappings_containing(&client->mappings, values, bytes);
    uint64_t offset = mapping == NULL ? 0 : (uint64_t)(values - mapping->address);
    if (mapping == NULL || offset % HAC_ALIGNMENT != 0)
        return false;
    hac_job_input_buffer(mapping, offset, bytes, ret);
    return true;
}

static hac_status refuse_keys(const char *format, hac_error *err)
{
    return hac_fail(err, HAC_UNSUPPORTED,
                    "keys of Arrow format \"%.40s\" cannot be sorted: one of i I f l L g", format);
}

static hac_status read_keys(const struct ArrowSchema *schema, const struct ArrowArray *keys,
                            const hac_sort_options *options, hac_sort_options *known, primitive_column *ret,
                            hac_error *err)
{
    hac_status status = hac_sort_options_read(options, known, err);
    if (status == HAC_OK)
        status = read_column(schema, keys, "key", ret, err);
    if (status != HAC_OK)
        return status;
    hac_type type = key_type(ret->format);
    if (type == HAC_TYPE_NONE)
        return refuse_keys(ret->format, err);
    if (known->type != HAC_TYPE_NONE && known->type != type)
        return hac_fail(err, HAC_INVALID, "the key column is %s, but the options say %s", hac_type_name(type),
                        hac_type_name(known->type));
    known->type = type;
    return HAC_OK;
}

hac_status hac_sort_arrow(hac_client *client, const struct ArrowSchema *schema, const struct ArrowArray *keys,
                          const hac_sort_options *options, hac_job **ret_job, hac_error *err)
{
    hac_sort_options known;
    primitive_column key;
    hac_status status = read_keys(schema, keys, options, &known, &key, err);
    if (status != HAC_OK)
        return status;
    hac_sort_call call = {.options = &known, .items = key.items, .fd = -1};
    uint64_t bytes = key.items * key.width;
    if (!in_place(client, key.values, bytes, &call.keys))
        status = hac_sort_copy_in(client, key.values, bytes, &call, err);
    return status != HAC_OK ? status : hac_sort_submit(client, &call, ret_job, err);
}

/* Copies the keys and then the payloads into one buffer. */
static hac_status copy_pairs(hac_client *client, const primitive_column *key, const primitive_column *payload,
                             hac_sort_call *call, hac_error *err)
{
    uint64_t key_bytes = key->items * key->width, payload_bytes = payload->items * payload->width;
    uint64_t payload_at = (key_bytes + HAC_ALIGNMENT - 1) / HAC_ALIGNMENT * HAC_ALIGNMENT, bytes;
    if (__builtin_add_overflow(payload_at, payload_bytes, &bytes))
        return hac_fail(err, HAC_INVALID, "%" PRIu64 " items are more than can be", key->items);
    hac_buffer *buffer = NULL;
    hac_status status = hac_buffer_alloc(client, bytes > 0 ? bytes : 1, &buffer, err);
    if (status != HAC_OK)
        return status;
    uint8_t *data = hac_buffer_data(buffer);
    if (key->items > 0) {
        memcpy(data, key->values, (size_t)key_bytes);
        memcpy(data + payload_at, payload->values, (size_t)payload_bytes);
    }
    call->owned = hac_buffer_take(buffer);
    hac_job_input_buffer(call->owned, 0, key_bytes, &call->keys);
    hac_job_input_buffer(call->owned, payload_at, payload_bytes, &call->payload);
    return HAC_OK;
}

hac_status hac_sort_arrow_pairs(hac_client *client, const struct ArrowSchema *key_schema,
                                const struct ArrowArray *keys, const struct ArrowSchema *payload_schema,
                                const struct ArrowArray *payload, const hac_sort_options *options,
                                hac_job **ret_job, hac_error *err)
{
    hac_sort_options known;
    primitive_column key, other;
    hac_status status = read_keys(key_schema, keys, options, &known, &key, err);
    if (status == HAC_OK)
        status = read_column(payload_schema, payload, "payload", &other, err);
    if (status != HAC_OK)
        return status;
    if (other.width > HAC_PAYLOAD_MAX)
        return hac_fail(err, HAC_INVALID, "a payload of %" PRIu32 " bytes is wider than %d", other.width,
                        HAC_PAYLOAD_MAX);
    if (key.items != other.items)
        return hac_fail(err, HAC_INVALID, "%" PRIu64 " keys, but %" PRIu64 " payloads", key.items,
                        other.items);
    hac_sort_call call = {.options = &known,
                          .items = key.items,
                          .fd = -1,
                          .payload_bytes = other.width,
                          .payload_format = other.format};
    if (!in_place(client, key.values, key.items * key.width, &call.keys) ||
        !in_place(client, other.values, other.items * other.width, &call.payload))
        status = copy_pairs(client, &key, &other, &call, err);
    return status != HAC_OK ? status : hac_sort_submit(client, &call, ret_job, err);
}

/* ---- streams in ---- */

/* Finds the type of the keys, which all batches have. */
static hac_status stream_key_type(const hac_arrow_batches *b, hac_sort_options *known, hac_error *err)
{
    const hac_arrow_type *column = &b->types[0];
    bool plain = column->layout == HAC_ARROW_FIXED && column->conversion == HAC_ARROW_AS_IS &&
                 column->index_width == 0;
    hac_type type = plain ? key_type(hac_kinds[column->type.kind].arrow) : HAC_TYPE_NONE;
    if (type == HAC_TYPE_NONE)
        return refuse_keys(b->bare ? b->schema.format : b->schema.children[0]->format, err);
    if (known->type != HAC_TYPE_NONE && known->type != type)
        return hac_fail(err, HAC_INVALID, "the key column is %s, but the options say %s", hac_type_name(type),
                        hac_type_name(known->type));
    for (size_t i = 0; i < b->n_batches; i++)
        if (hac_arrow_column_has_nulls(&b->batches[i].columns[0]))
            return hac_fail(err, HAC_UNSUPPORTED, "the key column has nulls");
    known->type = type;
    return HAC_OK;
}

/* Copies the keys of all batches into one buffer. */
static hac_status copy_stream(hac_client *client, const hac_arrow_batches *b, hac_sort_call *call,
                              hac_error *err)
{
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    hac_status status = hac_buffer_alloc(client, b->bytes > 0 ? b->bytes : 1, &buffer, err);
    if (status != HAC_OK)
        return status;
    hac_arrow_target target = {.values = hac_buffer_data(buffer)};
    for (size_t i = 0; i < b->n_batches && status == HAC_OK; i++)
        status = hac_arrow_column_copy(&b->batches[i].columns[0], &target, err);
    if (status != HAC_OK)
        return status;
    call->owned = hac_buffer_take(hac_steal_ptr(buffer));
    hac_job_input_buffer(call->owned, 0, b->bytes, &call->keys);
    return HAC_OK;
}

hac_status hac_sort_arrow_stream(hac_client *client, struct ArrowArrayStream *stream,
                                 const hac_sort_options *options, hac_job **ret_job, hac_error *err)
{
    hac_cleanup(hac_arrow_batches_clear) hac_arrow_batches b = {0};
    hac_sort_options known;
    hac_status status = hac_sort_options_read(options, &known, err);
    if (status != HAC_OK) {
        hac_arrow_stream_release(stream);
        return status;
    }
    status = hac_arrow_batches_read_column(stream, known.job.memory_limit, &b, err);
    if (status == HAC_OK)
        status = stream_key_type(&b, &known, err);
    hac_sort_call call = {.options = &known, .items = b.rows, .fd = -1};
    if (status == HAC_OK)
        status = copy_stream(client, &b, &call, err);
    return status == HAC_OK ? hac_sort_submit(client, &call, ret_job, err) : status;
}

/* ---- out ---- */

typedef struct exported_schema {
    char format[HAC_ARROW_FORMAT_MAX];
} exported_schema;

typedef struct exported_array {
    hac_export export; /* comes first */
    const void *buffers[2];
} exported_array;

static void release_schema(struct ArrowSchema *schema)
{
    free(schema->private_data);
    schema->private_data = NULL;
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    exported_array *own = array->private_data;
    hac_export_end(&own->export);
    array->private_data = NULL;
    array->release = NULL;
}

static hac_status export_column(hac_job *job, const char *format, const void *values,
                                struct ArrowSchema *ret_schema, struct ArrowArray *ret_array, hac_error *err)
{
    hac_autofree exported_schema *schema = calloc(1, sizeof(*schema));
    hac_autofree exported_array *array = calloc(1, sizeof(*array));
    if (schema == NULL || array == NULL)
        return hac_fail_no_memory(err);
    snprintf(schema->format, sizeof(schema->format), "%s", format);
    hac_export_begin(&array->export, job);
    array->buffers[1] = values;
    *ret_schema = (struct ArrowSchema){
        .format = schema->format, .name = "", .release = release_schema, .private_data = schema};
    *ret_array = (struct ArrowArray){.length = (int64_t)job->shape.items,
                                     .n_buffers = 2,
                                     .buffers = array->buffers,
                                     .release = release_array,
                                     .private_data = array};
    (void)hac_steal_ptr(schema);
    (void)hac_steal_ptr(array);
    return HAC_OK;
}

static hac_status check_exportable(const hac_job *job, hac_error *err)
{
    if (job->state != HAC_JOB_DONE)
        return hac_fail(err, HAC_INVALID, "the job is not done: there is no result to export");
    if (!job->shape.known)
        return hac_fail(err, HAC_UNSUPPORTED,
                        "only tables, and results of this client's own sorts, are columns that have a type");
    return HAC_OK;
}

static hac_status export_job(hac_job *job, bool raw, struct ArrowSchema *ret_schema,
                             struct ArrowArray *ret_array, hac_error *err)
{
    if (job->state == HAC_JOB_DONE && !job->shape.known && hac_result_is_table(job))
        return hac_result_export(job, raw, ret_schema, ret_array, err);
    hac_status status = check_exportable(job, err);
    if (status != HAC_OK)
        return status;
    hac_type type = job->shape.type;
    if (job->shape.argsort)
        type = job->shape.items >> 32 != 0 ? HAC_TYPE_U64 : HAC_TYPE_U32;
    return export_column(job, format_of(type), job->data, ret_schema, ret_array, err);
}

hac_status hac_job_export_arrow(hac_job *job, struct ArrowSchema *ret_schema, struct ArrowArray *ret_array,
                                hac_error *err)
{
    return export_job(job, false, ret_schema, ret_array, err);
}

hac_status hac_job_export_arrow_raw(hac_job *job, struct ArrowSchema *ret_schema,
                                    struct ArrowArray *ret_array, hac_error *err)
{
    return export_job(job, true, ret_schema, ret_array, err);
}

hac_status hac_job_export_arrow_payload(hac_job *job, struct ArrowSchema *ret_schema,
                                        struct ArrowArray *ret_array, hac_error *err)
{
    hac_status status = check_exportable(job, err);
    if (status != HAC_OK)
        return status;
    if (job->shape.payload_bytes == 0)
        return hac_fail(err, HAC_INVALID, "the job has no payload");
    char format[HAC_ARROW_FORMAT_MAX];
    snprintf(format, sizeof(format), "w:%" PRIu32, job->shape.payload_bytes);
    if (job->shape.payload_format[0] != '\0')
        snprintf(format, sizeof(format), "%s", job->shape.payload_format);
    return export_column(job, format, hac_job_payload(job), ret_schema, ret_array, err);
}
