/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs. The query engine prints columns as csv, JSON and Parquet; raw and XML (xml.h) are written here. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "base/io.h"
#include "base/limits.h"
#include "run/state/exchange.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"
#include "write.h"
#include "xml.h"

#define NAMES_MAX 100 /* other names that are tried if a file has the name */

HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)

/* The columns of an output, as an Arrow array of format +s. */
typedef struct output_table {
    struct ArrowSchema schema, fields[HAC_COLUMNS_MAX], *field_list[HAC_COLUMNS_MAX];
    struct ArrowArray array, columns[HAC_COLUMNS_MAX], *column_list[HAC_COLUMNS_MAX];
    const void *parts[HAC_COLUMNS_MAX][3];
    char names[HAC_COLUMNS_MAX][128];
    void *made[HAC_COLUMNS_MAX]; /* values that had to be copied */
    size_t n;
    uint64_t rows;
} output_table;

static void no_release_array(struct ArrowArray *array)
{
    array->release = NULL;
}

static void no_release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void table_free(output_table *t)
{
    for (size_t i = 0; t != NULL && i < t->n; i++)
        free(t->made[i]);
    free(t);
}
HAC_DEFINE_CLEANUP(output_table *, table_free)

static const char *format_of(hac_kind kind)
{
    switch (kind) {
    case HAC_KIND_BOOL:
        return "b";
    case HAC_KIND_I32:
        return "i";
    case HAC_KIND_I64:
        return "l";
    case HAC_KIND_U32:
        return "I";
    case HAC_KIND_U64:
        return "L";
    case HAC_KIND_F32:
        return "f";
    case HAC_KIND_F64:
        return "g";
    default:
        return "U";
    }
}

/* ---- columns ---- */

/* Adds a column. `values` and `offsets` are those of texts; of bool, `values` are bits. Frees `made` in
 * the end. */
static hac_status add_column(output_table *t, const char *name, hac_kind kind, const void *values,
                             const void *offsets, void *made, hac_error *err)
{
    if (t->n == HAC_COLUMNS_MAX) {
        free(made);
        return hac_fail(err, HAC_INVALID, "an output has at most %d columns", HAC_COLUMNS_MAX);
    }
    size_t c = t->n++;
    bool text = hac_kind_is_text(kind);
    snprintf(t->names[c], sizeof t->names[c], "%s", name);
    t->made[c] = made;
    t->parts[c][0] = NULL;
    t->parts[c][1] = text ? offsets : values;
    t->parts[c][2] = text ? values : NULL;
    t->fields[c] =
        (struct ArrowSchema){.format = format_of(kind), .name = t->names[c], .release = no_release_schema};
    t->columns[c] = (struct ArrowArray){.length = (int64_t)t->rows,
                                        .n_buffers = text ? 3 : 2,
                                        .buffers = t->parts[c],
                                        .release = no_release_array};
    t->field_list[c] = &t->fields[c];
    t->column_list[c] = &t->columns[c];
    return HAC_OK;
}

/* Copies one column of a dense matrix; of bools to bits. */
static void *strided(const hac_run_vector *v, uint64_t column, uint64_t rows)
{
    size_t size = hac_op_element_size(v->operand.kind);
    bool bits = v->operand.kind == HAC_KIND_BOOL;
    uint8_t *made = calloc(rows + 64, size);
    const uint8_t *from = hac_run_data(v) + v->operand.values + column * size;
    for (uint64_t i = 0; made != NULL && i < rows; i++) {
        const uint8_t *at = from + i * v->operand.columns * size;
        if (bits)
            made[i / 8] |= (uint8_t)((*at & 1) << (i % 8));
        else
            memcpy(made + i * size, at, size);
    }
    return made;
}

/* Adds a dense vector. A vector that the file calls a matrix has numbered columns even if there is only
 * one. */
static hac_status add_dense(output_table *t, const char *name, const hac_run_vector *v, bool matrix,
                            hac_error *err)
{
    hac_kind kind = (hac_kind)v->operand.kind;
    hac_status status = HAC_OK;
    if (!matrix && kind != HAC_KIND_BOOL)
        return add_column(t, name, kind, hac_run_data(v) + v->operand.values, NULL, NULL, err);
    for (uint64_t c = 0; c < v->operand.columns && status == HAC_OK; c++) {
        char numbered[128];
        void *made = strided(v, c, t->rows);
        if (made == NULL)
            return hac_fail_no_memory(err);
        snprintf(numbered, sizeof numbered, matrix ? "%.100s%llu" : "%s", name, (unsigned long long)c);
        status = add_column(t, numbered, kind, made, NULL, made, err);
    }
    return status;
}

/* Adds row, column and value of each entry of a sparse matrix; row and value for rows of varying length. */
static hac_status add_sparse(output_table *t, const char *name, const hac_run_vector *v, hac_error *err)
{
    const uint64_t *offsets = (const uint64_t *)(const void *)(hac_run_data(v) + v->operand.offsets);
    uint64_t *rows = malloc((t->rows + 1) * sizeof *rows);
    if (rows == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t r = 0; r < v->operand.rows; r++)
        for (uint64_t e = offsets[r]; e < offsets[r + 1] && e < t->rows; e++)
            rows[e] = r;
    hac_status status = add_column(t, "row", HAC_KIND_U64, rows, NULL, rows, err);
    if (status == HAC_OK &&
        hac_vector_template_get((hac_vector_template)v->operand.form)->entry_columns == HAC_ENTRY_ROW_COLUMN)
        status = add_column(t, "column", HAC_KIND_U32, hac_run_data(v) + v->operand.indices, NULL, NULL, err);
    return status == HAC_OK ? add_column(t, name, (hac_kind)v->operand.kind,
                                         hac_run_data(v) + v->operand.values, NULL, NULL, err)
                            : status;
}

static bool is_sparse(const hac_run_vector *v)
{
    return hac_vector_template_get((hac_vector_template)v->operand.form)->entry_columns != HAC_ENTRY_NONE;
}

static uint64_t rows_of(const hac_run_vector *v)
{
    return is_sparse(v) ? v->operand.entries : v->operand.rows;
}

static hac_status make_table(hac_logic_run_state *run, const hac_logic_output *output, output_table **ret,
                             hac_error *err)
{
    hac_cleanup(table_free_cleanup) output_table *t = calloc(1, sizeof *t);
    hac_status status = t == NULL ? hac_fail_no_memory(err) : HAC_OK;
    for (size_t i = 0; i < output->n_columns && status == HAC_OK; i++) {
        const hac_logic_output_column *column = &output->columns[i];
        const hac_run_vector *v = &run->vectors[column->vector];
        if (v->memory == NULL)
            return hac_fail(err, HAC_FAILED, "vector %s has no value",
                            run->logic->vectors[column->vector].name);
        if (i > 0 && rows_of(v) != t->rows)
            return hac_fail(err, HAC_FAILED, "column %s has %llu rows, those before have %llu", column->name,
                            (unsigned long long)rows_of(v), (unsigned long long)t->rows);
        t->rows = rows_of(v);
        if (hac_kind_is_text((hac_kind)v->operand.kind))
            status = add_column(t, column->name, HAC_KIND_STRING, hac_run_data(v) + v->operand.values,
                                hac_run_data(v) + v->operand.offsets, NULL, err);
        else
            status = is_sparse(v)
                         ? add_sparse(t, column->name, v, err)
                         : add_dense(t, column->name, v,
                                     run->logic->vectors[column->vector].columns != HAC_DIMENSION_ONE, err);
    }
    if (status != HAC_OK)
        return status;
    t->schema = (struct ArrowSchema){.format = "+s",
                                     .name = "",
                                     .n_children = (int64_t)t->n,
                                     .children = t->field_list,
                                     .release = no_release_schema};
    t->array = (struct ArrowArray){.length = (int64_t)t->rows,
                                   .n_buffers = 1,
                                   .n_children = (int64_t)t->n,
                                   .children = t->column_list,
                                   .release = no_release_array};
    static const void *none[1];
    t->array.buffers = none;
    *ret = hac_steal_ptr(t);
    return HAC_OK;
}

/* ---- files ---- */

/* A file that gets its name when all outputs are complete. Until then it has no name, so that nothing is
 * left if this process is killed. On a file system without such files it has a temporary name. */
typedef struct output_file {
    char *path, *temporary; /* NULL: it has no name, or its final one */
    int fd;                 /* open until it gets its name */
} output_file;

static hac_status fail_file(const output_file *file, int errnum, hac_error *err)
{
    return hac_fail_errno(err, HAC_FAILED, errnum, "%s cannot be written", file->path);
}

/* The path by which a file without a name gets one. */
static void name_descriptor(int fd, char ret[32])
{
    snprintf(ret, 32, "/proc/self/fd/%d", fd);
}

/* -1: the file system has no such files, or the machine has no /proc. */
static int open_unnamed(const char *folder)
{
    char name[32];
    hac_autoclose int fd =
        HAC_FAILPOINT("opsplit.unnamed", -1, open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    name_descriptor(fd, name);
    return fd >= 0 && access(name, F_OK) == 0 ? hac_steal_fd(&fd) : -1;
}

static hac_status begin_file(const hac_logic_run_state *run, const hac_logic_output *output, output_file *ret,
                             hac_error *err)
{
    hac_autofree char *temporary = NULL;
    struct stat there;
    if (asprintf(&ret->path, "%s/%s.%s", run->options->output, output->name, output->suffix) < 0 ||
        asprintf(&temporary, "%s.XXXXXX", ret->path) < 0)
        return hac_fail_no_memory(err);
    if (stat(ret->path, &there) == 0 && S_ISDIR(there.st_mode)) /* before another output gets its name */
        return fail_file(ret, EISDIR, err);
    ret->fd = open_unnamed(run->options->output);
    if (ret->fd >= 0)
        return HAC_OK;
    ret->fd = mkostemp(temporary, O_CLOEXEC);
    if (ret->fd < 0)
        return fail_file(ret, errno, err);
    ret->temporary = hac_steal_ptr(temporary);
    return HAC_OK;
}

/* Some file systems only report a full disk now. */
static hac_status end_file(output_file *file, hac_error *err)
{
    if (file->temporary == NULL)
        return HAC_OK;
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file->fd, 0666 & ~mask) != 0 || (close(hac_steal_fd(&file->fd)) != 0 && errno != EINTR))
        return fail_file(file, errno, err);
    return HAC_OK;
}

static hac_status add_bytes(const output_file *file, const void *data, uint64_t bytes, hac_error *err)
{
    int errnum = hac_write_all(file->fd, data, bytes, HAC_FAILPOINT_NAME("opsplit.write"));
    return errnum == 0 ? HAC_OK : fail_file(file, errnum, err);
}

/* Gives a file its name. If another file has the name, this one first gets a temporary name. */
static hac_status link_file(output_file *file, hac_error *err)
{
    char from[32];
    name_descriptor(file->fd, from);
    for (unsigned attempt = 0;; attempt++) {
        hac_autofree char *name = NULL;
        if (asprintf(&name, attempt == 0 ? "%s" : "%s.%ld-%u", file->path, (long)getpid(), attempt) < 0)
            return hac_fail_no_memory(err);
        if (HAC_FAILPOINT("opsplit.link", -1, linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW)) ==
            0) {
            file->temporary = attempt == 0 ? NULL : hac_steal_ptr(name);
            return HAC_OK;
        }
        if (errno != EEXIST || attempt == NAMES_MAX)
            return fail_file(file, errno, err);
    }
}

static hac_status keep_file(output_file *file, hac_error *err)
{
    hac_status status = file->fd >= 0 ? link_file(file, err) : HAC_OK;
    if (status != HAC_OK || file->temporary == NULL)
        return status;
    if (HAC_FAILPOINT("opsplit.rename", -1, rename(file->temporary, file->path)) != 0)
        return fail_file(file, errno, err);
    free(file->temporary);
    file->temporary = NULL;
    return HAC_OK;
}

/* Removes the files that did not get their name. */
static void discard_file(output_file *file)
{
    if (file->temporary != NULL)
        (void)unlink(file->temporary);
    hac_close(file->fd);
    free(file->temporary);
    free(file->path);
}

static hac_status write_file(const hac_logic_run_state *run, const hac_logic_output *output, const void *data,
                             uint64_t bytes, output_file *file, hac_error *err)
{
    hac_status status = begin_file(run, output, file, err);
    if (status == HAC_OK)
        status = add_bytes(file, data, bytes, err);
    return status == HAC_OK ? end_file(file, err) : status;
}

/* ---- XML ---- */

static hac_status write_block(void *context, const void *data, size_t bytes, hac_error *err)
{
    const output_file *file = context;
    return add_bytes(file, data, bytes, err);
}

static hac_status write_xml(const hac_logic_run_state *run, const hac_logic_output *output, hac_job *job,
                            output_file *file, hac_error *err)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    hac_status status = hac_job_export_arrow_raw(job, &schema, &array, err);
    if (status != HAC_OK)
        return status;
    status = begin_file(run, output, file, err);
    if (status == HAC_OK)
        status = hac_xml_write(&schema, &array, write_block, file, err);
    array.release(&array);
    schema.release(&schema);
    return status == HAC_OK ? end_file(file, err) : status;
}

/* ---- outputs ---- */

static hac_status write_table(hac_logic_run_state *run, const hac_logic_output *output, output_file *file,
                              hac_error *err)
{
    static const hac_result_format formats[] = {[HAC_LOGIC_CSV] = HAC_RESULT_CSV,
                                                [HAC_LOGIC_JSON] = HAC_RESULT_JSON,
                                                [HAC_LOGIC_XML] = HAC_RESULT_TABLE,
                                                [HAC_LOGIC_PARQUET] = HAC_RESULT_PARQUET};
    hac_cleanup(table_free_cleanup) output_table *t = NULL;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_status status = make_table(run, output, &t, err);
    if (status != HAC_OK)
        return status;
    options.select = "*";
    options.where = output->where;
    options.order_by = output->order_by;
    options.limit = output->limit;
    options.result_format = formats[output->format];
    options.job = run->options->job;
    status = hac_query_arrow(run->client, &t->schema, &t->array, &options, &job, err);
    if (status == HAC_OK)
        status = hac_run_wait_for_job(run, job, err);
    if (status != HAC_OK)
        return status;
    return output->format == HAC_LOGIC_XML
               ? write_xml(run, output, job, file, err)
               : write_file(run, output, hac_job_data(job), hac_job_bytes(job), file, err);
}

static hac_status write_raw(hac_logic_run_state *run, const hac_logic_output *output, output_file *file,
                            hac_error *err)
{
    const hac_run_vector *v = &run->vectors[output->columns[0].vector];
    bool text = hac_kind_is_text((hac_kind)v->operand.kind);
    uint64_t n = text ? v->operand.entries : v->operand.rows * v->operand.columns;
    return write_file(run, output, hac_run_data(v) + v->operand.values,
                      n * (text ? 1 : hac_op_element_size(v->operand.kind)), file, err);
}

/* Gathers what rank 0 writes. All ranks do this before rank 0 begins, because writing may fail. */
static hac_status collect_columns(hac_logic_run_state *run, const hac_logic_output *output, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < output->n_columns && status == HAC_OK; i++) {
        if (run->vectors[output->columns[i].vector].memory == NULL)
            return hac_fail(err, HAC_FAILED, "vector %s has no value",
                            run->logic->vectors[output->columns[i].vector].name);
        if (run->options->output != NULL)
            status = hac_run_collect(run, &run->vectors[output->columns[i].vector], err);
    }
    return status;
}

/* Adds the name of the output to the message. */
static hac_status named(const hac_logic_output *output, hac_status status, hac_error *err)
{
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "output %s", output->name);
    return status;
}

static hac_status write_output(hac_logic_run_state *run, const hac_logic_output *output, output_file *file,
                               hac_error *err)
{
    return named(output,
                 output->format == HAC_LOGIC_RAW ? write_raw(run, output, file, err)
                                                 : write_table(run, output, file, err),
                 err);
}

/* All outputs are complete before the first one gets its name, so that the outputs in the folder are of
 * one run. */
static hac_status write_files(hac_logic_run_state *run, output_file *files, hac_error *err)
{
    const hac_logic *logic = run->logic;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < logic->n_outputs && status == HAC_OK; i++)
        status = write_output(run, &logic->outputs[i], &files[i], err);
    for (size_t i = 0; i < logic->n_outputs && status == HAC_OK; i++)
        status = named(&logic->outputs[i], keep_file(&files[i], err), err);
    return status;
}

static hac_status write_outputs(hac_logic_run_state *run, hac_error *err)
{
    size_t n = run->logic->n_outputs;
    if (mkdir(run->options->output, 0777) != 0 && errno != EEXIST)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s cannot be made", run->options->output);
    hac_autofree output_file *files = calloc(n + 1, sizeof *files);
    if (files == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++)
        files[i].fd = -1;
    hac_status status = write_files(run, files, err);
    for (size_t i = 0; i < n; i++)
        discard_file(&files[i]);
    return status;
}

hac_status hac_run_write(hac_logic_run_state *run, hac_error *err)
{
    uint64_t start = hac_now_ns();
    hac_status status = HAC_OK;
    for (size_t i = 0; i < run->logic->n_outputs && status == HAC_OK; i++)
        status = collect_columns(run, &run->logic->outputs[i], err);
    if (status == HAC_OK && run->options->output != NULL &&
        (hac_run_is_single_rank(run) || run->options->ranks->rank == 0))
        status = write_outputs(run, err);
    run->report->writing_seconds = hac_seconds_since(start);
    return hac_run_agree(run, status, err);
}
