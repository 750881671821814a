/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hac-mpi mapreduce and hac-mpi parquet query. The daemon of each rank queries the rank's part of the input.
 * The answers, small Parquet files in memory, go to rank 0, whose daemon combines them.
 *
 * A query that can be split (expr/partial.h) aggregates in its parts. For any other query rank 0 gets all
 * rows, as one tab-separated text that does not depend on the ranks. It also gets all rows where floats are
 * added up, because a sum of rounded sums is not the exact one.
 */
#include <string.h>
#include <sys/mman.h>

#include "commands.h"
#include "expr/partial.h"
#include "rank_query_parts.h"
#include "ranks.h"
#include "report/report_parquet.h"
#include "request/query_request.h"
#include "run/job_output.h"
#include "text/json_fields.h"

#define PIECE_MAX ((uint64_t)1 << 30)

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
    hac_cli *cli;
    hac_query_request *request;
    hac_mpi_part part;
    hac_job_output outputs; /* on rank 0 */
} asking;

static bool is_first(const asking *a)
{
    return hac_mpi_ranks(a->mpi)->rank == 0;
}

/* ---- parts ---- */

static hac_status ask_parts(const asking *a, const hac_query_options *options, answers *ret, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < a->part.n && status == HAC_OK; i++, ret->n++) {
        status =
            hac_mpi_query_piece(a->cli->client, a->request, &a->part.pieces[i], options, &ret->jobs[i], err);
        if (status == HAC_OK && *hac_job_text(ret->jobs[i]) != '\0')
            hac_cli_say(a->cli, "%s", hac_job_text(ret->jobs[i]));
    }
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
    while (n > 0) {
        ssize_t done = write(fd, bytes, n < PIECE_MAX ? n : PIECE_MAX);
        if (done < 0 && errno != EINTR)
            return hac_fail_errno(err, HAC_FAILED, errno, "no memory for the ranks' answers");
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (uint64_t)done : 0;
    }
    return HAC_OK;
}

/* The answers of all ranks in one piece of memory, with the size of each: HAC_MPI_PIECES for each rank. */
static hac_status send_answers(const asking *a, const answers *own, uint64_t *sizes, uint8_t **ret_all,
                               hac_error *err)
{
    unsigned n = hac_mpi_ranks(a->mpi)->ranks, rank = hac_mpi_ranks(a->mpi)->rank;
    hac_autofree uint64_t *offsets = calloc(n + 1, sizeof *offsets);
    hac_autofree uint64_t *to = calloc(n + 1, sizeof *to);
    hac_autofree uint64_t *from = calloc(n + 1, sizeof *from);
    hac_autofree uint8_t *mine = NULL;
    if (offsets == NULL || to == NULL || from == NULL)
        return hac_fail_no_memory(err);
    for (unsigned r = 0; r <= n; r++)
        offsets[r] = (uint64_t)r * HAC_MPI_PIECES * sizeof *sizes;
    for (size_t i = 0; i < own->n; i++)
        sizes[rank * HAC_MPI_PIECES + i] = hac_job_bytes(own->jobs[i]);
    hac_status status = hac_mpi_share(a->mpi, sizes, offsets, err);
    for (unsigned r = 0; r < n; r++) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < HAC_MPI_PIECES; i++)
            bytes += sizes[r * HAC_MPI_PIECES + i];
        from[r + 1] = from[r] + (rank == 0 ? bytes : 0);
        for (unsigned later = r == rank ? 1 : n + 1; later <= n; later++) /* rank 0 gets all of it */
            to[later] = bytes;
    }
    mine = malloc(to[n] + 1);
    *ret_all = malloc(from[n] + 1);
    if (status == HAC_OK)
        status =
            hac_mpi_agree(a->mpi, mine == NULL || *ret_all == NULL ? hac_fail_no_memory(err) : HAC_OK, err);
    if (status != HAC_OK)
        return status;
    uint64_t at = 0;
    for (size_t i = 0; i < own->n; at += hac_job_bytes(own->jobs[i++]))
        memcpy(mine + at, hac_job_data(own->jobs[i]), hac_job_bytes(own->jobs[i]));
    return hac_mpi_exchange(a->mpi, mine, to, *ret_all, from, err);
}

static hac_status gather(const asking *a, answers *own, hac_error *err)
{
    unsigned n = hac_mpi_ranks(a->mpi)->ranks;
    hac_autofree uint64_t *sizes = calloc((size_t)n * HAC_MPI_PIECES, sizeof *sizes);
    hac_autofree uint8_t *all = NULL;
    if (sizes == NULL)
        return hac_fail_no_memory(err);
    hac_status status = send_answers(a, own, sizes, &all, err);
    uint64_t at = 0;
    for (size_t i = 0; is_first(a) && i < (size_t)n * HAC_MPI_PIECES && status == HAC_OK; at += sizes[i++])
        if (sizes[i] > 0)
            status = keep_answer(own, all + at, sizes[i], err);
    if (is_first(a) && own->joined && own->n_fds == 0 && status == HAC_OK) /* no rows at all */
        status = keep_answer(own, all, 0, err);
    return status;
}

/* ---- the whole ---- */

/* The description of a Parquet file, as JSON. */
static hac_status describe(const asking *a, int fd, cJSON **ret, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_autofree char *text = NULL;
    hac_status status = hac_describe_parquet(a->cli->client, fd, NULL, NULL, &job, err);
    if (status == HAC_OK)
        status = hac_job_wait(job, -1, err);
    if (status != HAC_OK)
        return status;
    text = strndup(hac_job_data(job), hac_job_bytes(job));
    return text == NULL ? hac_fail_no_memory(err) : hac_json_parse_object(text, "the answer", ret, err);
}

/* Whether all values that are added up have a type whose sum does not depend on the parts. */
static hac_status check_types(const asking *a, const hac_partial *partial, const answers *from,
                              hac_error *err)
{
    hac_autojson cJSON *json = NULL;
    const cJSON *column;
    if (partial->n_values == 0)
        return HAC_OK;
    hac_status status = describe(a, from->fds[0], &json, err);
    if (status != HAC_OK)
        return status;
    cJSON_ArrayForEach(column, hac_json_get_array(json, "columns"))
    {
        const char *name = hac_json_get_string(column, "name"), *type = hac_json_get_string(column, "type");
        unsigned long value =
            name != NULL && name[0] == '#' ? strtoul(name + 1, NULL, 10) : HAC_PARTIAL_VALUES;
        hac_partial_use use = value < partial->n_values ? partial->uses[value] : HAC_PARTIAL_EXACT;
        if (use != HAC_PARTIAL_EXACT && (type == NULL || type[0] == 'f'))
            return hac_fail(err, HAC_UNSUPPORTED, "the sum would depend on the number of ranks");
    }
    return HAC_OK;
}

static hac_status ask_whole(asking *a, const hac_query_options *options, const answers *from, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_status status = hac_query_files(a->cli->client, from->fds, NULL, from->n_fds, options, &job, err);
    if (status == HAC_OK)
        status = hac_job_wait(job, -1, err);
    return status == HAC_OK ? hac_job_output_write(&a->outputs, a->cli, job, err) : status;
}

/* The queries of the parts and of the whole. */
static hac_status ask(asking *a, const hac_query_options *part, const hac_query_options *whole,
                      const hac_partial *partial, hac_error *err)
{
    hac_cleanup(answers_clear) answers own = {.joined = part->result_format == HAC_RESULT_TSV};
    hac_status status = ask_parts(a, part, &own, err);
    if (status == HAC_OK)
        status = hac_mpi_agree(a->mpi, gather(a, &own, err), err);
    if (status != HAC_OK)
        return status;
    if (is_first(a) && partial != NULL)
        status = check_types(a, partial, &own, err);
    if (is_first(a) && status == HAC_OK)
        status = ask_whole(a, whole, &own, err);
    return hac_mpi_agree(a->mpi, status, err);
}

/* ---- ways ---- */

static void prepare(const asking *a, hac_query_options *part, hac_query_options *whole)
{
    *part = *whole = a->request->options;
    part->limit = UINT64_MAX;
    part->result_format = HAC_RESULT_PARQUET;
    part->parquet = (hac_parquet_output){.compression = HAC_COMPRESSION_NONE}; /* it is read only once */
    part->offset = 0;
    part->limit_by = NULL;
    part->limit_each = UINT64_MAX;
    part->group_by = part->having = part->order_by = NULL;
    part->select = "*";
    part->distinct = 0; /* the rows of different parts may be equal */
    hac_query_reads_parquet(whole);
    whole->where = whole->with_select = whole->with_where = NULL;
}

static hac_status ask_in_two_steps(asking *a, hac_error *err)
{
    const hac_query_options *asked = &a->request->options;
    hac_cleanup(hac_partial_clear) hac_partial partial = {.rows = false};
    hac_query_options part, whole;
    prepare(a, &part, &whole);
    hac_status status = hac_partial_make(&(hac_partial_texts){.group_by = asked->group_by,
                                                              .having = asked->having,
                                                              .select = asked->select,
                                                              .order_by = asked->order_by,
                                                              .limit_by = asked->limit_by},
                                         &partial, err);
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

/* The columns of the input, in the syntax of --schema. */
static hac_status find_schema(const asking *a, const hac_query_options *part, char **ret, hac_error *err)
{
    hac_query_options options = *part;
    hac_mpi_piece head;
    hac_cleanup(answers_clear) answers own = {.n = 1};
    hac_autojson cJSON *json = NULL;
    hac_text text = HAC_TEXT_NONE;
    options.where = "false";
    hac_status status = hac_mpi_head(a->request, &head, err);
    if (status == HAC_OK)
        status = hac_mpi_query_piece(a->cli->client, a->request, &head, &options, &own.jobs[0], err);
    if (status == HAC_OK)
        status = keep_answer(&own, hac_job_data(own.jobs[0]), hac_job_bytes(own.jobs[0]), err);
    if (status == HAC_OK)
        status = describe(a, own.fds[0], &json, err);
    if (status != HAC_OK)
        return status;
    hac_report_parquet_schema(json, &text);
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

/* ---- the commands ---- */

static hac_status open_output(asking *a, const hac_args *args, hac_error *err)
{
    hac_status status = is_first(a) ? hac_job_output_open(&a->outputs, args, true, err) : HAC_OK;
    if (status == HAC_OK && is_first(a))
        status = hac_job_output_take(&a->outputs, a->request->form, a->request->arrow_file, err);
    return status == HAC_OK ? hac_cli_connect(a->cli, err) : status;
}

static hac_status run(hac_cli *cli, const hac_args *args, const char *command, hac_query_request *request,
                      hac_status parsed, hac_error *err)
{
    asking a = {.mpi = cli->ranks->context, .cli = cli, .request = request};
    request->options.find = 0; /* a rank sees only its part of the input */
    const hac_option_set refused = HAC_OPTION_SET(HAC_OPT_DETACH, HAC_OPT_TRACE, HAC_OPT_RECEIPT);
    hac_status status = parsed;
    if (status == HAC_OK)
        status = hac_args_refuse(args, command, refused,
                                 "not possible: each rank has its own job and waits for it", err);
    if (status == HAC_OK)
        status = open_output(&a, args, err);
    status = hac_mpi_agree(a.mpi, status, err);
    if (status == HAC_OK)
        status = hac_mpi_divide(a.mpi, cli->client, request, &a.part, err);
    if (status == HAC_OK)
        status = ask_either(&a, err);
    if (status == HAC_INVALID)
        hac_query_request_reword(request, args, err);
    hac_job_output_close(&a.outputs);
    return status;
}

hac_status hac_mpi_mapreduce(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_parse(&request, "mapreduce", args, 0, err);
    request.options.path_columns = NULL; /* ranks read parts of files, which have no names */
    return run(cli, args, "mapreduce", &request, status, err);
}

hac_status hac_mpi_parquet(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_parquet(&request, "parquet query", args, 0, err);
    request.options.path_columns = NULL; /* as above */
    return run(cli, args, "parquet query", &request, status, err);
}
