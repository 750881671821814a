/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs: the query engine reads the files, and their columns become vectors. */
#include "load.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "given_vectors.h"
#include "input_files.h"
#include "input_job.h"
#include "load_by_rank.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"

#define FILES_MAX 65536 /* of a folder */

HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)

static void loading_clear(hac_run_loading *l)
{
    for (size_t i = 0; i < l->n_files; i++) {
        if (l->files[i].columns.release != NULL)
            l->files[i].columns.release(&l->files[i].columns);
        if (l->files[i].schema.release != NULL)
            l->files[i].schema.release(&l->files[i].schema);
    }
    for (size_t i = 0; i < l->n_paths; i++)
        free(l->paths[i]);
    free(l->paths);
    free(l->sizes);
    free(l->files);
    free(l->texts);
    free(l->firsts);
    hac_close(l->fd);
}

/* ---- which files ---- */

static hac_status add_path(hac_run_loading *l, const char *folder, const char *name, hac_error *err)
{
    char **grown = reallocarray(l->paths, l->n_paths + 1, sizeof *grown);
    if (grown == NULL)
        return hac_fail_no_memory(err);
    l->paths = grown;
    if ((folder == NULL ? (l->paths[l->n_paths] = strdup(name)) == NULL
                        : asprintf(&l->paths[l->n_paths], "%s/%s", folder, name) < 0))
        return hac_fail_no_memory(err);
    l->n_paths++;
    return HAC_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the regular files of a folder by name, without hidden ones. */
static hac_status list_folder(hac_run_loading *l, const char *folder, hac_error *err)
{
    DIR *dir = opendir(folder);
    struct stat st;
    hac_status status = HAC_OK;
    if (dir == NULL)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s cannot be read as a folder", folder);
    for (struct dirent *entry; status == HAC_OK && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &st, 0) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        status = l->n_paths < FILES_MAX
                     ? add_path(l, folder, entry->d_name, err)
                     : hac_fail(err, HAC_REFUSED, "%s has more than %d files", folder, FILES_MAX);
    }
    closedir(dir);
    if (status == HAC_OK && l->n_paths > 1)
        qsort(l->paths, l->n_paths, sizeof *l->paths, by_name);
    return status;
}

/* The file or vector that is given for an input; NULL: none, which a dry run allows. */
static const hac_run_input *given(const hac_logic_run_state *run, const hac_logic_input *input)
{
    for (size_t i = 0; i < run->options->n_inputs; i++)
        if (strcmp(run->options->inputs[i].name, input->name) == 0)
            return &run->options->inputs[i];
    return NULL;
}

static hac_status find_paths(hac_run_loading *l, const char *path, hac_error *err)
{
    if (path == NULL)
        return hac_fail(err, HAC_INVALID,
                        "input %s is a file in the logic file, and the program passes in a vector",
                        l->input->name);
    return l->input->directory ? list_folder(l, path, err) : add_path(l, NULL, path, err);
}

/* ---- reading ---- */

static hac_status ask_file(hac_logic_run_state *run, const char *path, const hac_query_options *options,
                           bool by_client, hac_job **ret, hac_error *err)
{
    hac_autoclose int fd = -1;
    struct stat st;
    hac_status status = HAC_OK;
    if (hac_run_is_job(path)) {
        status = hac_run_query_job(run, path, options, ret, err);
        return status == HAC_OK ? hac_run_wait_for_job(run, *ret, err) : status;
    }
    status = hac_run_open_file(run, path, &fd, &st, err);
    if (status != HAC_OK)
        return status;
    status = by_client || !S_ISREG(st.st_mode)
                 ? hac_query_stream(run->client, fd, path, options, ret, err)
                 : hac_query_files(run->client, &fd, &path, 1, options, ret, err);
    return status == HAC_OK ? hac_run_wait_for_job(run, *ret, err) : status;
}

typedef struct taker {
    hac_run_loading *loading;
    size_t path;
} taker;

static hac_status take_answer(void *context, hac_job *job, hac_error *err)
{
    hac_run_loading *l = ((const taker *)context)->loading;
    hac_run_loaded *grown = reallocarray(l->files, l->n_files + 1, sizeof *grown);
    if (grown == NULL)
        return hac_fail_no_memory(err);
    l->files = grown;
    hac_run_loaded *file = &l->files[l->n_files];
    file->path = ((const taker *)context)->path;
    hac_status status = hac_job_export_arrow_raw(job, &file->schema, &file->columns, err);
    l->n_files += status == HAC_OK;
    l->here += status == HAC_OK ? (uint64_t)file->columns.length : 0;
    return status;
}

/* Reads a file. If ranks read parts of it, this rank's part may be empty. */
static hac_status read_file(hac_logic_run_state *run, hac_run_loading *l, size_t path, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    const hac_ranks *ranks = run->options->ranks;
    taker to = {l, path};
    hac_query_options options;
    bool by_client;
    hac_status status = hac_run_query_options(run, l->input, l->paths[path], &options, &by_client, err);
    if (status != HAC_OK)
        return status;
    if (l->fd >= 0 && l->firsts != NULL)
        return ranks->query(ranks->context, run->client, l->fd, l->paths[path], l->sizes[path], &options,
                            take_answer, &to, err);
    status = ask_file(run, l->paths[path], &options, by_client, &job, err);
    return status == HAC_OK ? take_answer(&to, job, err) : status;
}

/* ---- columns to vectors ---- */

static bool is_valid(const struct ArrowArray *column, int64_t row)
{
    const uint8_t *bits = column->buffers[0];
    int64_t at = row + column->offset;
    return column->null_count == 0 || bits == NULL || (bits[at / 8] >> (at % 8) & 1) != 0;
}

/* Fails if a column has nulls. `before`: the rows of the file before the first one that is here. */
static hac_status check_nulls(const struct ArrowArray *column, uint64_t before, const char *path,
                              const char *name, hac_error *err)
{
    for (int64_t row = 0; row < column->length && column->null_count != 0; row++)
        if (!is_valid(column, row))
            return hac_fail(
                err, HAC_FAILED,
                "%s: row %lld of the input has no value in column %s; vectors have no nulls: leave "
                "such rows out with `where`, or give them a value in `select`",
                path, (long long)before + row + 1, name);
    return HAC_OK;
}

/* The element type of an Arrow column of that format; HAC_KIND_NONE: vectors do not have it. */
static hac_kind kind_of(const char *format)
{
    static const struct {
        char letter;
        hac_kind kind;
    } kinds[] = {{'b', HAC_KIND_BOOL}, {'i', HAC_KIND_I32},    {'l', HAC_KIND_I64},
                 {'I', HAC_KIND_U32},  {'L', HAC_KIND_U64},    {'f', HAC_KIND_F32},
                 {'g', HAC_KIND_F64},  {'u', HAC_KIND_STRING}, {'U', HAC_KIND_STRING}};
    for (size_t i = 0; format[0] != '\0' && format[1] == '\0' && i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].letter == format[0])
            return kinds[i].kind;
    return HAC_KIND_NONE;
}

/* Copies a column to column `place` of a dense vector, from row `first` on. */
static void copy_values(const struct ArrowArray *column, hac_run_vector *to, uint64_t first, unsigned place)
{
    size_t size = hac_op_element_size(to->operand.kind);
    uint64_t stride = to->operand.columns * size;
    uint8_t *at = hac_run_data(to) + to->operand.values + first * stride + place * size;
    const uint8_t *from = column->buffers[1];
    for (int64_t i = 0; to->operand.kind == HAC_KIND_BOOL && i < column->length; i++) {
        int64_t bit = i + column->offset;
        at[(uint64_t)i * stride] = from[bit / 8] >> (bit % 8) & 1;
    }
    if (to->operand.kind == HAC_KIND_BOOL || column->length == 0)
        return;
    from += (uint64_t)column->offset * size;
    if (stride == size)
        memcpy(at, from, (uint64_t)column->length * size);
    for (int64_t i = 0; stride != size && i < column->length; i++)
        memcpy(at + (uint64_t)i * stride, from + (uint64_t)i * size, size);
}

static uint64_t text_offset(const struct ArrowArray *column, bool large, int64_t row)
{
    int64_t at = row + column->offset;
    return large ? (uint64_t)((const int64_t *)column->buffers[1])[at]
                 : (uint64_t)((const int32_t *)column->buffers[1])[at];
}

static void copy_texts(const struct ArrowArray *column, bool large, hac_run_vector *to, uint64_t first,
                       uint64_t *bytes)
{
    uint64_t *offsets = (uint64_t *)(void *)(hac_run_data(to) + to->operand.offsets);
    if (column->length == 0)
        return;
    uint64_t from = text_offset(column, large, 0), end = text_offset(column, large, column->length);
    for (int64_t i = 0; i <= column->length; i++)
        offsets[first + (uint64_t)i] = *bytes + text_offset(column, large, i) - from;
    memcpy(hac_run_data(to) + to->operand.values + *bytes, (const uint8_t *)column->buffers[2] + from,
           end - from);
    *bytes += end - from;
}

static uint64_t text_bytes(const hac_run_loading *l, size_t column)
{
    uint64_t bytes = 0;
    for (size_t f = 0; f < l->n_files; f++) {
        const struct ArrowArray *a = l->files[f].columns.children[column];
        bool large = l->files[f].schema.children[column]->format[0] == 'U';
        bytes += a->length == 0 ? 0 : text_offset(a, large, a->length) - text_offset(a, large, 0);
    }
    return bytes;
}

static const hac_logic_vector *vector_of(const hac_logic_run_state *run, const hac_run_loading *l,
                                         size_t column)
{
    int vector = l->input->columns[column].vector;
    return vector >= 0 ? &run->logic->vectors[vector] : NULL;
}

static hac_status check_columns(const hac_logic_run_state *run, const hac_run_loading *l, hac_error *err)
{
    for (size_t f = 0; f < l->n_files; f++) {
        const char *path = l->paths[l->files[f].path];
        if ((uint64_t)l->files[f].columns.n_children < l->input->n_columns)
            return hac_fail(err, HAC_FAILED, "%s has %lld columns, input %s wants %zu", path,
                            (long long)l->files[f].columns.n_children, l->input->name, l->input->n_columns);
        for (size_t c = 0; c < l->input->n_columns; c++) {
            const hac_logic_vector *to = vector_of(run, l, c);
            if (to != NULL && kind_of(l->files[f].schema.children[c]->format) != to->kind)
                return hac_fail(err, HAC_FAILED,
                                "%s: column %s is not %s, as vector %s has to be; give it in `schema`", path,
                                l->input->columns[c].name, hac_element_name(to->kind), to->name);
        }
    }
    return HAC_OK;
}

static hac_status measure_texts(const hac_logic_run_state *run, hac_run_loading *l, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t c = 0; c < l->input->n_columns && status == HAC_OK; c++) {
        const hac_logic_vector *to = vector_of(run, l, c);
        if (to == NULL || !hac_kind_is_text(to->kind))
            continue;
        l->texts[c].here = l->texts[c].all = text_bytes(l, c);
        if (l->firsts != NULL)
            status = hac_run_rank_texts(run, &l->texts[c], err);
    }
    return status;
}

/* The number of columns of the input that make up a vector. */
static uint64_t places_of(const hac_logic_input *input, int vector)
{
    uint64_t n = 0;
    for (size_t c = 0; c < input->n_columns; c++)
        n += input->columns[c].vector == vector;
    return n;
}

/* Makes a vector for all rows of the input, including those that other ranks read. */
static hac_status make_vector(hac_logic_run_state *run, const hac_run_loading *l, size_t column,
                              hac_error *err)
{
    int index = l->input->columns[column].vector;
    const hac_logic_vector *named = &run->logic->vectors[index];
    bool text = hac_kind_is_text(named->kind);
    hac_run_shape shape = {named->form, named->kind, l->rows, text ? 1 : places_of(l->input, index),
                           text ? l->texts[column].all : 0};
    hac_run_vector_clear(run, &run->vectors[index]);
    hac_status status = hac_run_vector_new(run, &shape, &run->vectors[index], err);
    if (status == HAC_OK && text)
        memset(hac_run_data(&run->vectors[index]) + run->vectors[index].operand.offsets, 0, sizeof(uint64_t));
    return status;
}

/* The first row that this rank has read. */
static uint64_t first_row(const hac_logic_run_state *run, const hac_run_loading *l)
{
    return l->firsts != NULL ? l->firsts[run->options->ranks->rank] : 0;
}

static hac_status copy_column(hac_logic_run_state *run, const hac_run_loading *l, size_t column,
                              hac_error *err)
{
    const hac_logic_column *named = &l->input->columns[column];
    hac_run_vector *to = &run->vectors[named->vector];
    hac_status status = HAC_OK;
    uint64_t first = first_row(run, l), bytes = l->texts[column].before;
    for (size_t f = 0; f < l->n_files && status == HAC_OK; f++) {
        const struct ArrowArray *a = l->files[f].columns.children[column];
        status = check_nulls(a, l->fd >= 0 ? first : 0, l->paths[l->files[f].path], named->name, err);
        if (status == HAC_OK && hac_kind_is_text((hac_kind)to->operand.kind))
            copy_texts(a, l->files[f].schema.children[column]->format[0] == 'U', to, first, &bytes);
        else if (status == HAC_OK)
            copy_values(a, to, first, named->place);
        first += (uint64_t)a->length;
    }
    return status;
}

static hac_status make_vectors(hac_logic_run_state *run, const hac_run_loading *l, hac_error *err)
{
    const hac_logic_input *input = l->input;
    hac_status status = HAC_OK;
    for (size_t c = 0; c < input->n_columns && status == HAC_OK; c++)
        if (input->columns[c].vector >= 0 && input->columns[c].place == 0)
            status = make_vector(run, l, c, err);
    for (size_t c = 0; c < input->n_columns && status == HAC_OK; c++)
        if (input->columns[c].vector >= 0)
            status = copy_column(run, l, c, err);
    return status;
}

/* Gives each rank the rows of a vector that it works on. */
static hac_status spread(hac_logic_run_state *run, const hac_run_loading *l, hac_error *err)
{
    const hac_logic_input *input = l->input;
    hac_status status = HAC_OK;
    for (size_t c = 0; c < input->n_columns && status == HAC_OK; c++)
        if (input->columns[c].vector >= 0 && input->columns[c].place == 0)
            status = hac_run_rank_spread(run, l, &run->vectors[input->columns[c].vector], err);
    return status == HAC_OK && input->file_vector >= 0
               ? hac_run_rank_spread(run, l, &run->vectors[input->file_vector], err)
               : status;
}

/* Makes the vectors of file numbers and file names. */
static hac_status name_files(hac_logic_run_state *run, const hac_run_loading *l, hac_error *err)
{
    hac_status status = HAC_OK;
    if (l->input->file_vector >= 0) {
        hac_run_vector *to = &run->vectors[l->input->file_vector];
        status = hac_run_vector_new(run, &(hac_run_shape){HAC_VECTOR_FIX_VALUE, HAC_KIND_U32, l->rows, 1, 0},
                                    to, err);
        uint64_t row = first_row(run, l);
        for (size_t f = 0; f < l->n_files && status == HAC_OK; f++)
            for (int64_t i = 0; i < l->files[f].columns.length; i++)
                ((uint32_t *)(void *)(hac_run_data(to) + to->operand.values))[row++] =
                    (uint32_t)l->files[f].path;
    }
    if (status != HAC_OK || l->input->name_vector < 0)
        return status;
    uint64_t bytes = 0;
    for (size_t f = 0; f < l->n_paths; f++)
        bytes += strlen(basename(l->paths[f]));
    hac_run_vector *to = &run->vectors[l->input->name_vector];
    status = hac_run_vector_new(
        run, &(hac_run_shape){HAC_VECTOR_SPARSE_TEXT, HAC_KIND_STRING, l->n_paths, 1, bytes}, to, err);
    if (status != HAC_OK)
        return status;
    uint64_t *offsets = (uint64_t *)(void *)(hac_run_data(to) + to->operand.offsets);
    offsets[0] = 0;
    for (size_t f = 0; f < l->n_paths; f++) {
        size_t n = strlen(basename(l->paths[f]));
        memcpy(hac_run_data(to) + to->operand.values + offsets[f], basename(l->paths[f]), n);
        offsets[f + 1] = offsets[f] + n;
    }
    return HAC_OK;
}

static hac_status read_files(hac_logic_run_state *run, hac_run_loading *l, hac_error *err)
{
    hac_status status = HAC_OK;
    l->texts = calloc(l->input->n_columns + 1, sizeof *l->texts);
    if (l->texts == NULL)
        status = hac_fail_no_memory(err);
    /* All ranks read parts together, so a lack of memory does not stop one of them. */
    if (l->firsts != NULL)
        status = hac_run_agree(run, status, err);
    for (size_t i = l->first_path; i < l->end_path && status == HAC_OK; i++)
        status = read_file(run, l, i, err);
    return status == HAC_OK ? check_columns(run, l, err) : status;
}

static void say_loaded(hac_logic_run_state *run, const hac_run_loading *l)
{
    char here[64] = "";
    if (l->firsts != NULL)
        snprintf(here, sizeof here, ", %llu read here", (unsigned long long)l->here);
    hac_run_log(run, "input %s: %llu rows of %zu file%s%s", l->input->name, (unsigned long long)l->rows,
                l->n_paths, l->n_paths == 1 ? "" : "s", here);
}

/* Loads an input. Ranks load in step; one that fails says so where the others expect an answer. */
static hac_status load_input(hac_logic_run_state *run, const hac_logic_input *input, const char *path,
                             hac_error *err)
{
    hac_cleanup(loading_clear) hac_run_loading l = {.input = input, .fd = -1};
    hac_status status = hac_run_rank_files(run, &l, find_paths(&l, path, err), err);
    if (status == HAC_OK)
        status = hac_run_rank_rows(run, &l, read_files(run, &l, err), err);
    if (status == HAC_OK)
        status = measure_texts(run, &l, err);
    if (status != HAC_OK)
        return status;
    status = make_vectors(run, &l, err);
    if (status == HAC_OK)
        status = name_files(run, &l, err);
    status = hac_run_agree(run, status, err);
    if (status == HAC_OK && l.firsts != NULL)
        status = spread(run, &l, err);
    else if (status == HAC_OK && !hac_run_is_single_rank(run))
        status = hac_run_check_same(run, input, err);
    if (status != HAC_OK)
        return status;
    run->report->rows_loaded += l.rows;
    say_loaded(run, &l);
    status =
        hac_run_check_extent(run, (size_t)(input - run->logic->inputs), input->rows, l.rows, "rows", err);
    return status == HAC_INVALID ? HAC_FAILED : status; /* the program passed in wrong data */
}

/* ---- values ---- */

static hac_status load_value(hac_logic_run_state *run, size_t index, hac_error *err)
{
    const hac_logic_vector *named = &run->logic->vectors[index];
    const hac_logic_value *value = named->value;
    hac_run_vector *to = &run->vectors[index];
    hac_run_shape shape = {named->form, named->kind, value->rows, value->columns, value->entries};
    hac_status status = hac_run_vector_new(run, &shape, to, err);
    if (status != HAC_OK)
        return status;
    memcpy(hac_run_data(to) + to->operand.values, value->values, value->value_bytes);
    if (value->offsets != NULL)
        memcpy(hac_run_data(to) + to->operand.offsets, value->offsets,
               (value->rows + 1) * sizeof *value->offsets);
    bool narrow = named->form == HAC_VECTOR_SPARSE_MATRIX; /* its columns are u32 */
    for (uint64_t i = 0; value->indices != NULL && i < value->entries; i++) {
        uint8_t *at = hac_run_data(to) + to->operand.indices;
        uint32_t column = (uint32_t)value->indices[i];
        memcpy(at + i * (narrow ? 4 : 8), narrow ? (const void *)&column : (const void *)&value->indices[i],
               narrow ? 4 : 8);
    }
    return HAC_OK;
}

static void learn_dimensions(hac_logic_run_state *run)
{
    for (size_t i = 0; i < run->logic->n_vectors; i++) {
        const hac_logic_vector *named = &run->logic->vectors[i];
        if (run->vectors[i].memory == NULL)
            continue;
        if (named->rows >= 0)
            run->dimensions[named->rows] = run->vectors[i].operand.rows;
        if (named->columns >= 0)
            run->dimensions[named->columns] = run->vectors[i].operand.columns;
    }
}

hac_status hac_run_load(hac_logic_run_state *run, hac_error *err)
{
    uint64_t start = hac_now_ns();
    hac_status status = HAC_OK;
    for (size_t i = 0; i < run->logic->n_inputs && status == HAC_OK; i++) {
        const hac_logic_input *input = &run->logic->inputs[i];
        const hac_run_input *found = given(run, input);
        if (found != NULL)
            status = input->is_vector ? hac_run_load_given(run, i, found, err)
                                      : load_input(run, input, found->path, err);
    }
    for (size_t i = 0; i < run->logic->n_vectors && status == HAC_OK; i++)
        if (run->logic->vectors[i].origin == HAC_ORIGIN_VALUE)
            status = load_value(run, i, err);
    learn_dimensions(run);
    run->report->loading_seconds = hac_seconds_since(start);
    return status;
}
