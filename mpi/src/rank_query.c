/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/text.h"
#include "expr/partial.h"

typedef struct answers {
    hac_job *jobs[HAC_MPI_PIECES];
    size_t n;
    int fds[HAC_QUERY_FILES_MAX]; /* rank 0: all of them, in the input's order */
    size_t n_fds;
    bool joined; /* rank 0: they are one text */
} answers;

static void answers_clear(answers *a)
{
    for (size_t i = 0; i < a->n; i++)
        hac_job_free(a->jobs[i]);
    for (size_t i = 0; i < a->n_fds; i++)
        hac_close(a->fds[i]);
    *a = (answers){.n = 0};
}

typedef struct asking {
    hac_mpi *mpi;
    hac_client *client;
    const hac_mpi_input *input;
    const hac_query_options *options;
    void (*say)(void *context, const char *remark);
    void *context;
    hac_mpi_part part;
    hac_job *result; /* on rank 0 */
} asking;

static bool is_first(const asking *a)
{
    return hac_mpi_rank(a->mpi) == 0;
}

/* ---- parts ---- */

/* Whether all values that are added up have a type whose sum does not depend on the parts. */
static hac_status check_types(const hac_partial *partial, const hac_job *job, hac_error *err)
{
    const char *name, *type;
    for (size_t i = 0; hac_job_column(job, i, &name, &type) != 0; i++) {
        unsigned long value = name[0] == '#' ? strtoul(name + 1, NULL, 10) : HAC_PARTIAL_VALUES;
        hac_partial_use use = value < partial->n_values ? partial->uses[value] : HAC_PARTIAL_EXACT;
        if (use != HAC_PARTIAL_EXACT && type[0] == 'f')
            return hac_fail(err, HAC_UNSUPPORTED, "the sum would depend on the number of ranks");
    }
    return HAC_OK;
}

static hac_status ask_parts(const asking *a, const hac_query_options *options, const hac_partial *partial,
                            answers *ret, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < a->part.n && status == HAC_OK; i++, ret->n++) {
        status = hac_mpi_query_piece(a->client, a->input, &a->part.pieces[i], options, &ret->jobs[i], err);
        if (status == HAC_OK && partial != NULL)
            status = check_types(partial, ret->jobs[i], err);
        if (status == HAC_OK && a->say != NULL && *hac_job_text(ret->jobs[i]) != '\0')
            a->say(a->context, hac_job_text(ret->jobs[i]));
    }
    return hac_mpi_agree(a->mpi, status, err);
}

/* A number for the names of an answer's columns: FNV-1a. 0 stands for no answer. */
static uint64_t number_of_names(const hac_job *job)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    const char *name, *type;
    for (size_t i = 0; hac_job_column(job, i, &name, &type) != 0; i++)
        for (const char *at = name;; at++) {
            h = (h ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
            if (*at == '\0')
                break;
        }
    return h != 0 ? h : 1;
}

/* Answers are joined by the places of their columns, which must have the same names in all of them. */
static hac_status check_names(const asking *a, const answers *own, hac_error *err)
{
    unsigned n = hac_mpi_size(a->mpi);
    uint64_t one = 0;
    bool same = true;
    hac_autofree uint64_t *numbers = calloc(n, sizeof *numbers);
    hac_status status = hac_mpi_agree(a->mpi, numbers == NULL ? hac_fail_no_memory(err) : HAC_OK, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < own->n; i++) {
        uint64_t number = number_of_names(own->jobs[i]);
        same &= one == 0 || one == number;
        one = number;
    }
    numbers[hac_mpi_rank(a->mpi)] = one;
    status = hac_mpi_share_numbers(a->mpi, numbers, err);
    one = 0;
    for (unsigned r = 0; r < n && status == HAC_OK; r++) {
        same &= numbers[r] == 0 || one == 0 || one == numbers[r];
        one = numbers[r] != 0 ? numbers[r] : one;
    }
    if (status == HAC_OK && !same)
        status = hac_fail(err, HAC_FAILED, "the files' columns differ; name the wanted ones with --schema");
    return hac_mpi_agree(a->mpi, status, err);
}

/* ---- to rank 0 ---- */

static hac_status keep_answer(answers *ret, const uint8_t *bytes, uint64_t n, hac_error *err)
{
    bool more = ret->joined && ret->n_fds > 0;
    if (ret->n_fds == HAC_QUERY_FILES_MAX)
        return hac_fail(err, HAC_REFUSED, "the ranks give more than %d answers; use fewer ranks or files",
                        HAC_QUERY_FILES_MAX);
    int fd = more ? ret->fds[0] : memfd_create("hac-mpi-answer", MFD_CLOEXEC);
    if (fd < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "no memory for the ranks' answers");
    if (!more)
        ret->fds[ret->n_fds++] = fd;
    int errnum = hac_write_all(fd, bytes, n, NULL);
    return errnum == 0 ? HAC_OK : hac_fail_errno(err, HAC_FAILED, errnum, "no memory for the ranks' answers");
}

/* What is exchanged: numbers of ranks + 1, and the size of each answer, HAC_MPI_PIECES for each rank. */
typedef struct transfer {
    uint64_t *offsets, *to, *from, *sizes;
    uint8_t *mine, *all;
} transfer;

static void transfer_clear(transfer *t)
{
    free(t->offsets);
    free(t->to);
    free(t->from);
    free(t->sizes);
    free(t->mine);
    free(t->all);
}

static hac_status transfer_begin(transfer *t, size_t ranks, hac_error *err)
{
    t->offsets = calloc(ranks + 1, sizeof *t->offsets);
    t->to = calloc(ranks + 1, sizeof *t->to);
    t->from = calloc(ranks + 1, sizeof *t->from);
    t->sizes = calloc(ranks * HAC_MPI_PIECES, sizeof *t->sizes);
    bool all = t->offsets != NULL && t->to != NULL && t->from != NULL && t->sizes != NULL;
    return all ? HAC_OK : hac_fail_no_memory(err);
}

/* Shares the sizes of all answers, and finds which bytes go from which rank to rank 0. */
static hac_status share_sizes(const asking *a, const answers *own, transfer *t, hac_error *err)
{
    unsigned n = hac_mpi_size(a->mpi), rank = hac_mpi_rank(a->mpi);
    for (unsigned r = 0; r <= n; r++)
        t->offsets[r] = (uint64_t)r * HAC_MPI_PIECES * sizeof *t->sizes;
    for (size_t i = 0; i < own->n; i++)
        t->sizes[rank * HAC_MPI_PIECES + i] = hac_job_bytes(own->jobs[i]);
    hac_status status = hac_mpi_share(a->mpi, t->sizes, t->offsets, err);
    for (unsigned r = 0; r < n; r++) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < HAC_MPI_PIECES; i++)
            bytes += t->sizes[r * HAC_MPI_PIECES + i];
        t->from[r + 1] = t->from[r] + (rank == 0 ? bytes : 0);
        for (unsigned later = r == rank ? 1 : n + 1; later <= n; later++) /* rank 0 gets all of it */
            t->to[later] = bytes;
    }
    return status;
}

/* The answers of all ranks, in one piece of memory on rank 0. */
static hac_status send_answers(const asking *a, const answers *own, transfer *t, hac_error *err)
{
    unsigned n = hac_mpi_size(a->mpi);
    hac_status status = share_sizes(a, own, t, err);
    t->mine = malloc(t->to[n] + 1);
    t->all = malloc(t->from[n] + 1);
    if (status == HAC_OK && (t->mine == NULL || t->all == NULL))
        status = hac_fail_no_memory(err);
    status = hac_mpi_agree(a->mpi, status, err);
    if (status != HAC_OK)
        return status;
    uint64_t at = 0;
    for (size_t i = 0; i < own->n; at += hac_job_bytes(own->jobs[i++]))
        memcpy(t->mine + at, hac_job_data(own->jobs[i]), hac_job_bytes(own->jobs[i]));
    return hac_mpi_exchange(a->mpi, t->mine, t->to, t->all, t->from, err);
}

static hac_status gather(const asking *a, answers *own, hac_error *err)
{
    unsigned n = hac_mpi_size(a->mpi);
    hac_cleanup(transfer_clear) transfer t = {.mine = NULL};
    hac_status status = hac_mpi_agree(a->mpi, transfer_begin(&t, n, err), err);
    if (status == HAC_OK)
        status = send_answers(a, own, &t, err);
    uint64_t at = 0;
    for (size_t i = 0; is_first(a) && status == HAC_OK && i < (size_t)n * HAC_MPI_PIECES; at += t.sizes[i++])
        if (t.sizes[i] > 0)
            status = keep_answer(own, t.all + at, t.sizes[i], err);
    if (is_first(a) && own->joined && own->n_fds == 0 && status == HAC_OK) /* no rows at all */
        status = keep_answer(own, t.all, 0, err);
    return status;
}

/* ---- the whole ---- */

static hac_status ask_whole(asking *a, const hac_query_options *options, const answers *from, hac_error *err)
{
    hac_job_free(a->result);
    a->result = NULL;
    hac_status status = hac_query_files(a->client, from->fds, NULL, from->n_fds, options, &a->result, err);
    return status == HAC_OK ? hac_job_wait(a->result, -1, err) : status;
}

/* The queries of the parts and of the whole. */
static hac_status ask(asking *a, const hac_query_options *part, const hac_query_options *whole,
                      const hac_partial *partial, hac_error *err)
{
    hac_cleanup(answers_clear) answers own = {.joined = part->result_format == HAC_RESULT_TSV};
    hac_status status = ask_parts(a, part, partial, &own, err);
    if (status == HAC_OK)
        status = check_names(a, &own, err);
    if (status == HAC_OK)
        status = hac_mpi_agree(a->mpi, gather(a, &own, err), err);
    if (status != HAC_OK)
        return status;
    if (is_first(a))
        status = ask_whole(a, whole, &own, err);
    return hac_mpi_agree(a->mpi, status, err);
}

/* ---- methods ---- */

static void prepare(const asking *a, hac_query_options *part, hac_query_options *whole)
{
    *part = *whole = *a->options;
    part->limit = UINT64_MAX;
    part->result_format = HAC_RESULT_PARQUET;
    part->parquet = (hac_parquet_output){.compression = HAC_COMPRESSION_NONE}; /* it is read only once */
    part->offset = 0;
    part->limit_by = NULL;
    part->limit_each = UINT64_MAX;
    part->group_by = part->having = part->order_by = NULL;
    part->select = "*";
    part->distinct = 0; /* the rows of different parts may be equal */
    whole->input_format = HAC_INPUT_PARQUET;
    whole->schema = NULL;
    whole->input_options = (hac_input_options){0};
    whole->find = 0;
    whole->columns = NULL;
    whole->where = whole->with_select = whole->with_where = NULL;
}

static hac_status ask_in_two_steps(asking *a, hac_error *err)
{
    const hac_query_options *asked = a->options;
    hac_cleanup(hac_partial_clear) hac_partial partial = {.rows = false};
    hac_query_options part, whole;
    prepare(a, &part, &whole);
    hac_status status = hac_partial_make(&(hac_partial_texts){.group_by = asked->group_by,
                                                              .having = asked->having,
                                                              .select = asked->select,
                                                              .order_by = asked->order_by,
                                                              .limit_by = asked->limit_by},
                                         &partial, err);
    status = hac_mpi_agree(a->mpi, status, err);
    if (status != HAC_OK)
        return status;
    part.group_by = partial.part_group_by;
    part.select = partial.part_select;
    part.order_by = partial.part_order_by;
    bool first = partial.rows && !asked->distinct && asked->limit_by == NULL;
    if (!first || __builtin_add_overflow(asked->limit, asked->offset, &part.limit))
        part.limit = UINT64_MAX;
    whole.group_by = partial.group_by;
    whole.having = partial.having;
    whole.select = partial.select;
    whole.order_by = partial.order_by;
    whole.limit_by = partial.limit_by;
    return ask(a, &part, &whole, &partial, err);
}

/* The columns of the input, in the syntax of --schema: those of the first rows, of which none is wanted. */
static hac_status find_schema(const asking *a, const hac_query_options *part, char **ret, hac_error *err)
{
    hac_query_options options = *part;
    hac_mpi_piece head;
    hac_cleanup(answers_clear) answers own = {.n = 1};
    hac_text text = HAC_TEXT_NONE;
    const char *name, *type;
    options.where = "false";
    hac_status status = hac_mpi_head(a->input, &head, err);
    if (status == HAC_OK)
        status = hac_mpi_query_piece(a->client, a->input, &head, &options, &own.jobs[0], err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; hac_job_column(own.jobs[0], i, &name, &type) != 0; i++) {
        hac_text_add(&text, i > 0 ? "," : "");
        hac_text_add_name(&text, name);
        hac_text_addf(&text, ":%s", type);
    }
    return hac_text_finish(&text, ret, NULL, err);
}

static hac_status ask_for_rows(asking *a, hac_error *err)
{
    hac_query_options part, whole;
    hac_autofree char *schema = NULL;
    prepare(a, &part, &whole);
    hac_status status = is_first(a) ? find_schema(a, &part, &schema, err) : HAC_OK;
    status = hac_mpi_agree(a->mpi, status, err);
    part.result_format = HAC_RESULT_TSV;
    whole.input_format = HAC_INPUT_TSV;
    whole.input_options.no_header = 1;
    whole.schema = schema;
    return status == HAC_OK ? ask(a, &part, &whole, NULL, err) : status;
}

/* A query that fails in two steps may succeed as a whole, or fail with a message of its own. */
static hac_status ask_either(asking *a, hac_error *err)
{
    hac_status status = ask_in_two_steps(a, err);
    bool again = status == HAC_UNSUPPORTED || status == HAC_INVALID || status == HAC_FAILED;
    if (!again)
        return status;
    *err = (hac_error)HAC_ERROR_NONE;
    return ask_for_rows(a, err);
}

/* Takes rank 0's day for times of syslog, which have no year: midnight may pass between two ranks. */
static hac_status share_today(hac_mpi *mpi, hac_query_options *options, hac_error *err)
{
    hac_autofree uint64_t *days = calloc(hac_mpi_size(mpi), sizeof *days);
    if (options->input_format != HAC_INPUT_SYSLOG)
        return HAC_OK;
    hac_status status = hac_mpi_agree(mpi, days == NULL ? hac_fail_no_memory(err) : HAC_OK, err);
    if (status != HAC_OK)
        return status;
    days[hac_mpi_rank(mpi)] = (uint64_t)time(NULL) / 86400;
    status = hac_mpi_share_numbers(mpi, days, err);
    options->input_options.today = days[0];
    return status;
}

hac_status hac_mpi_query_input(hac_mpi *mpi, hac_client *client, const hac_mpi_input *input,
                               const hac_query_options *options,
                               void (*say)(void *context, const char *remark), void *context,
                               hac_status status, hac_job **ret, hac_error *err)
{
    asking a = {.mpi = mpi, .client = client, .input = input, .say = say, .context = context};
    hac_query_options own;
    status = hac_mpi_agree(mpi, status, err);
    if (status != HAC_OK)
        return status;
    own = *options;
    own.path_columns = NULL; /* ranks read parts of files, which have no names */
    hac_mpi_input asked = *input;
    asked.options = &own;
    status = hac_mpi_divide(mpi, client, &asked, &a.part, err); /* all ranks have one format after it */
    a.options = &a.part.options;
    if (status == HAC_OK)
        status = share_today(mpi, &a.part.options, err);
    if (status == HAC_OK)
        status = ask_either(&a, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(a.result);
    hac_job_free(a.result);
    hac_mpi_part_clear(&a.part);
    return status;
}
