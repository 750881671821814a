/* SPDX-License-Identifier: Apache-2.0 */
/* Native methods: jobs, from a query to its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

/* ---- options: the order is that of HacQuery.texts() and HacQuery.numbers() ---- */

enum { SCHEMA, WHERE, GROUP_BY, SELECT, ORDER_BY, TEXTS };

enum {
    LIMIT, /* -1: all */
    INPUT_FORMAT,
    PRIORITY,
    DEADLINE, /* ms; 0: none */
    MEMORY_LIMIT,
    FAST,
    ENGINE, /* hac_engine */
    RESULT, /* hac_result_format */
    /* Numbers of texts behind those of the query: options of the input format, each a name and a value; then
     * the names of devices. The sources follow them. */
    OPTIONS,
    DEVICES,
    NUMBERS
};

typedef struct call {
    hac_query_options options;
    hacjni_texts texts;         /* owned; options point into them */
    const char *const *sources; /* the texts behind the devices */
    size_t n_sources;
} call;

static void call_free(call *c)
{
    hacjni_texts_free(&c->texts);
}

static hac_status fill_options(call *c, const jlong *number, size_t n_options, size_t devices, hac_error *err)
{
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    const char **text = c->texts.text;
    options.schema = text[SCHEMA];
    options.where = text[WHERE];
    options.group_by = text[GROUP_BY];
    options.select = text[SELECT];
    options.order_by = text[ORDER_BY];
    options.limit = (uint64_t)number[LIMIT];
    options.result_format = (hac_result_format)number[RESULT];
    options.input_format = (hac_input_format)number[INPUT_FORMAT];
    options.engine = (hac_engine)number[ENGINE];
    options.job.priority = (int)number[PRIORITY];
    options.job.deadline_seconds = (double)number[DEADLINE] / 1e3;
    options.job.memory_limit = (uint64_t)number[MEMORY_LIMIT];
    options.job.fast = number[FAST] != 0;
    size_t front = TEXTS + 2 * n_options;
    options.job.devices = devices > 0 ? text + front : NULL;
    options.job.n_devices = devices;
    hac_status status = HAC_OK;
    for (size_t i = TEXTS; i < front && status == HAC_OK; i += 2)
        status = hac_query_set_option(&options, text[i], text[i + 1], err);
    c->options = options;
    c->sources = text + front + devices;
    c->n_sources = c->texts.n - front - devices;
    return status;
}

/* Whether the texts of the query, of its options and of its devices are there. */
static bool is_sound(const call *c, const jlong *number)
{
    size_t n = c->texts.n;
    if (n < TEXTS || number[OPTIONS] < 0 || (size_t)number[OPTIONS] > (n - TEXTS) / 2)
        return false;
    size_t front = TEXTS + 2 * (size_t)number[OPTIONS];
    for (size_t i = TEXTS; i < front; i++)
        if (c->texts.text[i] == NULL)
            return false;
    return number[DEVICES] >= 0 && (size_t)number[DEVICES] <= n - front;
}

/* false: an exception is pending and there is nothing to free. */
static bool call_read(JNIEnv *env, jbyteArray packed, jlongArray numbers, call *ret)
{
    jlong number[NUMBERS];
    call c = {0};
    (*env)->GetLongArrayRegion(env, numbers, 0, NUMBERS, number);
    if ((*env)->ExceptionCheck(env) || !hacjni_texts_read(env, packed, &c.texts))
        return false;
    hac_error err = {HAC_INTERNAL, "a query for libhacjni is damaged"};
    if (!is_sound(&c, number) ||
        fill_options(&c, number, (size_t)number[OPTIONS], (size_t)number[DEVICES], &err) != HAC_OK) {
        hacjni_throw(env, &err);
        call_free(&c);
        return false;
    }
    *ret = c;
    return true;
}

/* The hac_input_format of a file's suffix. */
static jint format_of(JNIEnv *env, jclass class, jbyteArray packed)
{
    (void)class;
    hacjni_texts texts;
    if (!hacjni_texts_read(env, packed, &texts))
        return HAC_INPUT_NONE;
    hac_input_format format = hac_input_format_of(texts.text[0]);
    hacjni_texts_free(&texts);
    return (jint)format;
}

/* ---- files ---- */

/* -1: see *err. O_NONBLOCK, because opening a pipe without a writer must not block. */
static int open_file(const char *path, hac_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        err->code = HAC_FAILED;
        snprintf(err->message, sizeof(err->message), "cannot open %.300s: %s", path, strerror(errno));
    }
    return fd;
}

static hac_status submit_files(hac_client *client, const call *c, hac_job **ret, hac_error *err)
{
    int fds[HAC_QUERY_FILES_MAX];
    size_t n = 0;
    hac_status status = HAC_OK;
    if (c->n_sources > HAC_QUERY_FILES_MAX) { /* libhac refuses 0 sources */
        err->code = HAC_INVALID;
        snprintf(err->message, sizeof(err->message), "%zu files are given, 1 to %d can be", c->n_sources,
                 HAC_QUERY_FILES_MAX);
        return err->code;
    }
    for (; n < c->n_sources && status == HAC_OK; n += fds[n] >= 0) {
        fds[n] = open_file(c->sources[n], err);
        status = fds[n] < 0 ? err->code : HAC_OK;
    }
    if (status == HAC_OK)
        status = hac_query_files(client, fds, c->sources, n, &c->options, ret, err);
    while (n > 0)
        close(fds[--n]);
    return status;
}

static jlong query_files(JNIEnv *env, jclass class, jlong client, jbyteArray packed, jlongArray numbers)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    call c;
    if (!call_read(env, packed, numbers, &c))
        return 0;
    if (submit_files(hacjni_pointer(client), &c, &job, &err) != HAC_OK)
        hacjni_throw(env, &err);
    call_free(&c);
    return hacjni_handle(job);
}

static jlong describe_parquet(JNIEnv *env, jclass class, jlong client, jbyteArray packed)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    hac_job_options options = {0};
    hac_job *job = NULL;
    hacjni_texts texts;
    if (!hacjni_texts_read(env, packed, &texts))
        return 0;
    int fd = open_file(texts.text[0], &err);
    if (fd < 0 ||
        hac_describe_parquet(hacjni_pointer(client), fd, texts.text[0], &options, &job, &err) != HAC_OK)
        hacjni_throw(env, &err);
    if (fd >= 0)
        close(fd);
    hacjni_texts_free(&texts);
    return hacjni_handle(job);
}

/* ---- memory ---- */

static jlong query_memory(JNIEnv *env, jclass class, jlong client, jbyteArray packed, jlongArray numbers,
                          jlong address, jlong bytes)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    call c;
    if (!call_read(env, packed, numbers, &c))
        return 0;
    if (hac_query_memory(hacjni_pointer(client), hacjni_pointer(address), (uint64_t)bytes, &c.options, &job,
                         &err) != HAC_OK)
        hacjni_throw(env, &err);
    call_free(&c);
    return hacjni_handle(job);
}

/* ---- columns: the order is that of HacTable ---- */

enum { VALIDITY, VALUES, BYTES, N_BYTES, PARTS }; /* addresses, 0: none; N_BYTES: capacity at BYTES */

typedef struct column {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void *buffers[3];
} column;

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

/* A Java buffer may begin at any address. */
static int32_t offset_at(const uint8_t *offsets, jlong row)
{
    int32_t at;
    memcpy(&at, offsets + (size_t)row * sizeof(at), sizeof(at));
    return at;
}

/* The number of bytes of the strings is known only here. */
static bool text_is_sound(const uint8_t *offsets, jlong rows, jlong n_bytes)
{
    for (jlong i = 0; i < rows; i++)
        if (offset_at(offsets, i + 1) < offset_at(offsets, i))
            return false;
    return offset_at(offsets, 0) >= 0 && offset_at(offsets, rows) <= n_bytes;
}

static hac_status fill_column(column *c, const char *const *texts, const jlong *part, jlong rows,
                              hac_error *err)
{
    bool text = strcmp(texts[1], "u") == 0 || strcmp(texts[1], "z") == 0;
    for (int i = VALIDITY; i <= BYTES; i++)
        c->buffers[i] = hacjni_pointer(part[i]);
    if (text && !text_is_sound(c->buffers[1], rows, part[N_BYTES])) {
        err->code = HAC_INVALID;
        snprintf(err->message, sizeof(err->message),
                 "the offsets of column %.200s are not in order, or lie outside of its bytes", texts[0]);
        return err->code;
    }
    c->schema =
        (struct ArrowSchema){.name = texts[0], .format = texts[1], .flags = 2, .release = keep_schema};
    c->array = (struct ArrowArray){.length = rows,
                                   .null_count = c->buffers[VALIDITY] != NULL ? -1 : 0,
                                   .n_buffers = text ? 3 : 2,
                                   .buffers = c->buffers,
                                   .release = keep_array};
    return HAC_OK;
}

typedef struct table {
    size_t n;
    column *columns;
    struct ArrowSchema **schemas;
    struct ArrowArray **arrays;
    jlong *parts;
} table;

static void table_free(table *t)
{
    free(t->columns);
    free(t->schemas);
    free(t->arrays);
    free(t->parts);
}

/* false: an exception is pending and there is nothing to free. */
static bool table_new(JNIEnv *env, size_t n, jlongArray parts, table *ret)
{
    table t = {n, calloc(n + 1, sizeof(*t.columns)), calloc(n + 1, sizeof(struct ArrowSchema *)),
               calloc(n + 1, sizeof(struct ArrowArray *)), calloc(n + 1, PARTS * sizeof(jlong))};
    bool good = t.columns != NULL && t.schemas != NULL && t.arrays != NULL && t.parts != NULL;
    if (!good)
        hacjni_throw_no_memory(env);
    else
        (*env)->GetLongArrayRegion(env, parts, 0, (jsize)(n * PARTS), t.parts);
    if ((*env)->ExceptionCheck(env)) {
        table_free(&t);
        return false;
    }
    *ret = t;
    return true;
}

static hac_status submit_table(hac_client *client, const call *c, table *t, jlong rows, hac_job **ret,
                               hac_error *err)
{
    const void *none[1] = {NULL};
    hac_status status = HAC_OK;
    for (size_t i = 0; i < t->n && status == HAC_OK; i++) {
        status = fill_column(&t->columns[i], c->sources + 2 * i, t->parts + PARTS * i, rows, err);
        t->schemas[i] = &t->columns[i].schema;
        t->arrays[i] = &t->columns[i].array;
    }
    if (status != HAC_OK)
        return status;
    struct ArrowSchema schema = {.format = "+s",
                                 .name = "",
                                 .n_children = (int64_t)t->n,
                                 .children = t->schemas,
                                 .release = keep_schema};
    struct ArrowArray array = {.length = rows,
                               .n_buffers = 1,
                               .buffers = none,
                               .n_children = (int64_t)t->n,
                               .children = t->arrays,
                               .release = keep_array};
    return hac_query_arrow(client, &schema, &array, &c->options, ret, err);
}

/* Sources are a name and an Arrow format for each column. */
static jlong query_columns(JNIEnv *env, jclass class, jlong client, jbyteArray packed, jlongArray numbers,
                           jlong rows, jlongArray parts)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    call c;
    table t;
    if (!call_read(env, packed, numbers, &c))
        return 0;
    if (table_new(env, c.n_sources / 2, parts, &t)) {
        if (submit_table(hacjni_pointer(client), &c, &t, rows, &job, &err) != HAC_OK)
            hacjni_throw(env, &err);
        table_free(&t);
    }
    call_free(&c);
    return hacjni_handle(job);
}

/* ---- jobs ---- */

/* true: the job is done. false: the time is up, or an exception is pending. */
static jboolean await(JNIEnv *env, jclass class, jlong job, jint milliseconds)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_job_wait(hacjni_pointer(job), milliseconds, &err);
    if (status != HAC_OK && status != HAC_AGAIN)
        hacjni_throw(env, &err);
    return status == HAC_OK;
}

static void free_job(JNIEnv *env, jclass class, jlong job)
{
    (void)env;
    (void)class;
    hac_job_free(hacjni_pointer(job));
}

static jlong job_id(JNIEnv *env, jclass class, jlong job)
{
    (void)env;
    (void)class;
    return (jlong)hac_job_id(hacjni_pointer(job));
}

static jbyteArray job_text(JNIEnv *env, jclass class, jlong job)
{
    (void)class;
    return hacjni_text(env, hac_job_text(hacjni_pointer(job)));
}

static jbyteArray job_data(JNIEnv *env, jclass class, jlong job)
{
    (void)class;
    return hacjni_bytes(env, hac_job_data(hacjni_pointer(job)), hac_job_bytes(hacjni_pointer(job)));
}

/* The result of a job that is done, as it lies in memory until the job is freed. */
static jlong job_address(JNIEnv *env, jclass class, jlong job)
{
    (void)env;
    (void)class;
    return hacjni_handle(hac_job_data(hacjni_pointer(job)));
}

static jlong job_bytes(JNIEnv *env, jclass class, jlong job)
{
    (void)env;
    (void)class;
    return (jlong)hac_job_bytes(hacjni_pointer(job));
}

hacjni_methods hacjni_query_methods(void)
{
    static const JNINativeMethod methods[] = {
        {"formatOf", "([B)I", (void *)format_of},
        {"queryFiles", "(J[B[J)J", (void *)query_files},
        {"queryMemory", "(J[B[JJJ)J", (void *)query_memory},
        {"queryColumns", "(J[B[JJ[J)J", (void *)query_columns},
        {"describeParquet", "(J[B)J", (void *)describe_parquet},
        {"await", "(JI)Z", (void *)await},
        {"freeJob", "(J)V", (void *)free_job},
        {"jobId", "(J)J", (void *)job_id},
        {"jobText", "(J)[B", (void *)job_text},
        {"jobData", "(J)[B", (void *)job_data},
        {"jobAddress", "(J)J", (void *)job_address},
        {"jobBytes", "(J)J", (void *)job_bytes},
    };
    return (hacjni_methods){methods, sizeof(methods) / sizeof(methods[0])};
}
