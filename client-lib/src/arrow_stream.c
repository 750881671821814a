/* SPDX-License-Identifier: Apache-2.0 */
/* Exports results as streams of the Arrow C Stream Interface
 * (https://arrow.apache.org/docs/format/CStreamInterface.html). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "jobs/jobs.h"

/* ---- copies of a schema, because a stream may be asked for it any number of times ---- */

typedef struct schema_copy {
    char *format, *name;
    struct ArrowSchema *children, **children_at;
} schema_copy;

static void schema_copy_free(schema_copy *own)
{
    free(own->format);
    free(own->name);
    free(own->children);
    free(own->children_at);
    free(own);
}

static void release_schema_copy(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    schema_copy_free(schema->private_data);
    schema->release = NULL;
}

/* Copies a schema without its children, for which there is space. False: there is no memory. */
static bool copy_field(const struct ArrowSchema *from, struct ArrowSchema *ret)
{
    size_t n = (size_t)from->n_children;
    schema_copy *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return false;
    own->format = strdup(from->format);
    own->name = strdup(from->name);
    own->children = calloc(n + 1, sizeof(*own->children));
    own->children_at = calloc(n + 1, sizeof(struct ArrowSchema *));
    if (own->format == NULL || own->name == NULL || own->children == NULL || own->children_at == NULL) {
        schema_copy_free(own);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        own->children_at[i] = &own->children[i];
    *ret = (struct ArrowSchema){.format = own->format,
                                .name = own->name,
                                .flags = from->flags,
                                .n_children = from->n_children,
                                .children = own->children_at,
                                .release = release_schema_copy,
                                .private_data = own};
    return true;
}

/* Copies a schema and its children, which have no children. */
static bool copy_schema(const struct ArrowSchema *from, struct ArrowSchema *ret)
{
    if (!copy_field(from, ret))
        return false;
    for (int64_t i = 0; i < from->n_children; i++)
        if (!copy_field(from->children[i], ret->children[i])) {
            ret->release(ret);
            return false;
        }
    return true;
}

/* ---- the columns of a sort as a batch ---- */

enum { SORTED_MAX = 2 }; /* keys and payloads */

typedef struct sorted_schema {
    struct ArrowSchema child[SORTED_MAX], *child_at[SORTED_MAX];
} sorted_schema;

typedef struct sorted_array {
    struct ArrowArray child[SORTED_MAX], *child_at[SORTED_MAX];
    const void *buffers[1];
} sorted_array;

static void release_sorted_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    schema->release = NULL;
}

static void release_sorted_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    free(array->private_data);
    array->release = NULL;
}

static hac_status export_sorted(hac_job *job, struct ArrowSchema *ret_schema, struct ArrowArray *ret_array,
                                hac_error *err)
{
    hac_autofree sorted_schema *schema = calloc(1, sizeof(*schema));
    hac_autofree sorted_array *array = calloc(1, sizeof(*array));
    if (schema == NULL || array == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_job_export_arrow(job, &schema->child[0], &array->child[0], err);
    if (status != HAC_OK)
        return status;
    int64_t n = job->shape.payload_bytes > 0 ? 2 : 1;
    if (n == 2)
        status = hac_job_export_arrow_payload(job, &schema->child[1], &array->child[1], err);
    if (status != HAC_OK) {
        schema->child[0].release(&schema->child[0]);
        array->child[0].release(&array->child[0]);
        return status;
    }
    schema->child[0].name = job->shape.argsort ? "index" : "key";
    schema->child[1].name = "payload";
    for (int64_t i = 0; i < n; i++) {
        schema->child_at[i] = &schema->child[i];
        array->child_at[i] = &array->child[i];
    }
    *ret_schema = (struct ArrowSchema){.format = "+s",
                                       .name = "",
                                       .n_children = n,
                                       .children = schema->child_at,
                                       .release = release_sorted_schema,
                                       .private_data = schema};
    *ret_array = (struct ArrowArray){.length = (int64_t)job->shape.items,
                                     .n_buffers = 1,
                                     .n_children = n,
                                     .buffers = array->buffers,
                                     .children = array->child_at,
                                     .release = release_sorted_array,
                                     .private_data = array};
    (void)hac_steal_ptr(schema);
    (void)hac_steal_ptr(array);
    return HAC_OK;
}

/* ---- streams ---- */

typedef struct exported_stream {
    struct ArrowSchema schema;
    struct ArrowArray batch; /* its release is NULL when the batch has been taken */
    const char *error;       /* what the last call said, or NULL */
} exported_stream;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    exported_stream *own = stream->private_data;
    bool copied = copy_schema(&own->schema, ret);
    own->error = copied ? NULL : "out of memory";
    return copied ? 0 : ENOMEM;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    exported_stream *own = stream->private_data;
    *ret = own->batch;
    own->batch.release = NULL;
    own->error = NULL;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    return ((exported_stream *)stream->private_data)->error;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    exported_stream *own = stream->private_data;
    own->schema.release(&own->schema);
    if (own->batch.release != NULL)
        own->batch.release(&own->batch);
    free(own);
    stream->release = NULL;
}

hac_status hac_job_export_arrow_stream(hac_job *job, struct ArrowArrayStream *ret_stream, hac_error *err)
{
    hac_autofree exported_stream *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return hac_fail_no_memory(err);
    hac_status status = job->shape.known ? export_sorted(job, &own->schema, &own->batch, err)
                                         : hac_job_export_arrow(job, &own->schema, &own->batch, err);
    if (status != HAC_OK)
        return status;
    *ret_stream = (struct ArrowArrayStream){.get_schema = get_schema,
                                            .get_next = get_next,
                                            .get_last_error = get_last_error,
                                            .release = release_stream,
                                            .private_data = own};
    (void)hac_steal_ptr(own);
    return HAC_OK;
}
