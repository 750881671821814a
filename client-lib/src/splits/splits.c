/* SPDX-License-Identifier: Apache-2.0 */

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/foreign_format.h"
#include "base/format.h"
#include "base/split_layout.h"
#include "base/text.h"
#include "collect_input.h"
#include "connection/options.h"
#include "first_records.h"
#include "input_list.h"
#include "query/query.h"
#include "split_queue.h"
#include "split_writer.h"

enum {
    PAUSE_MS = 10,    /* pause of the input after which a query for rows sends an early split */
    MEMORY_PART = 16, /* a split takes at most this part of the query's memory; up to five splits exist */
};
#define SPLIT_MIN     (UINT64_C(1) << 20)
#define SPLIT_SLACK   (UINT64_C(1) << 16) /* extra bytes for a header and for the whole last record */
#define SPLIT_MAX     (UINT64_C(32) << 20)
#define SPLIT_ALLOWED (UINT64_C(1) << 30)

/* ---- one run ---- */

typedef struct splits_run {
    hac_input_list inputs;
    hac_split_writer writer;
    hac_split_queue queue;
    bool early;      /* splits end when the input pauses */
    bool idle;       /* no bytes have arrived since the last early split */
    uint64_t range;  /* size of a split that stays in its file, if larger than usual */
    uint64_t begins; /* size of the next split: small at first, so that work starts early; 0: usual */
} splits_run;

/* Starts the next split in queue.filling, which may be larger than the preferred size. Uses min `bytes` of
 * it. */
static void fill_memory(splits_run *r, uint64_t bytes)
{
    hac_buffer *buffer = r->queue.filling->buffer;
    uint64_t there = hac_buffer_bytes(buffer), capacity = r->queue.usual;
    uint64_t begins = r->begins == 0 ? capacity : hac_split_writer_bytes(r->begins + SPLIT_SLACK);
    r->begins = begins < capacity ? 2 * r->begins : 0;
    capacity = begins < capacity ? begins : capacity;
    capacity = capacity > bytes ? capacity : bytes;
    hac_split_writer_memory(&r->writer, hac_buffer_data(buffer), capacity < there ? capacity : there);
}

/* Gets memory for the next split, and moves the leftover bytes there. */
static hac_status next_memory(splits_run *r, uint64_t bytes, hac_error *err)
{
    hac_status status = hac_split_queue_buffer(&r->queue, bytes, err);
    if (status != HAC_OK)
        return status;
    fill_memory(r, bytes);
    return HAC_OK;
}

static hac_status send_split(splits_run *r, bool last, hac_error *err)
{
    hac_split_sizes split = hac_split_writer_close(&r->writer);
    hac_status status =
        hac_split_queue_send(&r->queue, &split, NULL, hac_input_name(r->inputs.input), last, err);
    if (status != HAC_OK || last || r->queue.enough)
        return status;
    return next_memory(r, hac_split_writer_needs(&r->writer), err);
}

/* Gets a larger buffer, because a record is longer than the buffer, or a header fills it. */
static hac_status grow(splits_run *r, hac_error *err)
{
    uint64_t left = r->writer.end - r->writer.cut.start, max = HAC_RECORD_MAX + HAC_SPLIT_SET_BYTES;
    uint64_t text = r->writer.header_bytes + (2 * left < max ? 2 * left + 1 : max);
    hac_split_slot *before = r->queue.filling;
    hac_status status = next_memory(r, hac_split_writer_bytes(text), err);
    if (status == HAC_OK && before != r->queue.filling)
        hac_buffer_free(hac_steal_ptr(before->buffer));
    return status;
}

/* True if a pause of the input ends the split, because the split has bytes to send. */
static bool may_end_early(const splits_run *r)
{
    return r->early && !r->idle && !hac_split_queue_full(&r->queue) && r->writer.end > r->writer.base;
}

static hac_status pause_comes(splits_run *r, hac_error *err)
{
    r->idle = true;
    return hac_split_writer_early(&r->writer) ? send_split(r, false, err) : HAC_OK;
}

/* Handles a failure of an input. The bytes before the failure count: their rows are written, and an error in
 * them is reported first. The failure is ignored if hacd needs no more splits after these bytes. */
static hac_status input_failed(splits_run *r, hac_status status, hac_error *err)
{
    hac_split_queue *queue = &r->queue;
    hac_error local = HAC_ERROR_NONE;
    hac_status before = HAC_OK;
    if (status == HAC_CANCELLED)
        return status;
    if (r->inputs.input != NULL && hac_split_writer_rescue(&r->writer)) {
        hac_split_sizes split = hac_split_writer_close(&r->writer);
        before = hac_split_queue_send(queue, &split, NULL, hac_input_name(r->inputs.input), false, &local);
    }
    while (before == HAC_OK && queue->n_in_flight > 0) {
        hac_split_queue_event event;
        before = hac_split_queue_wait(queue, -1, -1, &event, &local);
    }
    if (before != HAC_OK)
        return hac_fail(err, before, "%s", local.message);
    return queue->enough ? HAC_OK : status;
}

/* Waits for the input and reads some bytes. */
static hac_status read_more(splits_run *r, hac_error *err)
{
    int wants = hac_input_wants(r->inputs.input);
    int timeout_ms = wants < 0 ? 0 : may_end_early(r) ? PAUSE_MS : -1;
    hac_split_queue_event event;
    hac_status status = hac_split_queue_wait(&r->queue, wants, timeout_ms, &event, err);
    if (status != HAC_OK || r->queue.enough)
        return status;
    if (wants >= 0 && !event.readable)
        return event.quiet && timeout_ms > 0 ? pause_comes(r, err) : HAC_OK;
    uint64_t capacity, n = 0;
    uint8_t *at = hac_split_writer_space(&r->writer, &capacity);
    status = hac_input_read(r->inputs.input, at, capacity, &n, err);
    if (status != HAC_OK)
        return status == HAC_AGAIN ? HAC_OK : input_failed(r, status, err);
    if (n == 0)
        hac_split_writer_end(&r->writer);
    hac_split_writer_read(&r->writer, n);
    r->idle = false;
    return HAC_OK;
}

static hac_status ends_ragged(splits_run *r, uint64_t bytes, hac_error *err)
{
    return input_failed(r, hac_fail_ragged(hac_input_name(r->inputs.input), bytes, &r->writer.rule, err),
                        err);
}

static hac_status end_input(splits_run *r, hac_error *err)
{
    if (r->writer.cut.ragged && r->writer.rule.format == HAC_INPUT_FIXED)
        return ends_ragged(r, r->writer.end, err);
    return hac_split_writer_due(&r->writer) ? send_split(r, hac_input_list_is_last(&r->inputs), err) : HAC_OK;
}

static hac_status read_input(splits_run *r, hac_error *err)
{
    hac_status status = HAC_OK;
    hac_split_writer_begin(&r->writer);
    while (status == HAC_OK && !r->queue.enough) {
        hac_split_writer_state state;
        status = hac_split_writer_cut(&r->writer, &state, err);
        if (status != HAC_OK) {
            (void)hac_error_prefix(err, "%s", hac_input_name(r->inputs.input));
            return input_failed(r, status, err);
        }
        if (state == HAC_SPLIT_WRITER_ENDED)
            return end_input(r, err);
        if (state == HAC_SPLIT_WRITER_MORE)
            status = read_more(r, err);
        else
            status = state == HAC_SPLIT_WRITER_FULL ? send_split(r, false, err) : grow(r, err);
    }
    return status;
}

/* Sends the records of a file as ranges of the file. Records of fixed width are cut without reading them, so
 * the devices read the file. */
static hac_status hand_over_file(splits_run *r, uint64_t offset, uint64_t bytes, hac_error *err)
{
    const hac_record_rule *rule = &r->writer.rule;
    uint64_t set = hac_record_cut_fixed_set(rule), whole = bytes - bytes % rule->record_bytes, at = 0;
    uint64_t text = r->queue.usual - hac_split_writer_bytes(0),
             sets = (text > r->range ? text : r->range) / set;
    sets = sets == 0 ? 1 : sets < HAC_SPLIT_SETS_MAX ? sets : HAC_SPLIT_SETS_MAX;
    hac_status status = HAC_OK;
    while (status == HAC_OK && at < whole && !r->queue.enough) {
        uint64_t n = whole - at < sets * set ? whole - at : sets * set;
        const hac_split_sizes split = {.bytes = n,
                                       .largest = set < n ? set : n,
                                       .input_bytes = n,
                                       .sets = (uint32_t)((n - 1) / set + 1)};
        const hac_split_range range = {.fd = r->inputs.fd, .offset = offset + at, .bytes_before = at};
        bool last = at + n == bytes && hac_input_list_is_last(&r->inputs);
        status = hac_split_queue_send(&r->queue, &split, &range, hac_input_name(r->inputs.input), last, err);
        at += n;
    }
    (void)lseek(r->inputs.fd, (off_t)(offset + at),
                SEEK_SET); /* as a read does, for processes that share it */
    return status == HAC_OK && whole < bytes && !r->queue.enough ? ends_ragged(r, bytes, err) : status;
}

static hac_status take_input(splits_run *r, hac_error *err)
{
    uint64_t offset, bytes;
    const char *name = hac_input_name(r->inputs.input);
    if (r->writer.rule.format != HAC_INPUT_FIXED || !hac_input_in_file(r->inputs.input, &offset, &bytes))
        return read_input(r, err);
    hac_status status = hac_foreign_refuse_file(r->inputs.fd, offset, HAC_FOREIGN_RECORDS,
                                                hac_formats[HAC_INPUT_FIXED].name, name, err);
    return status == HAC_OK ? hand_over_file(r, offset, bytes, err) : input_failed(r, status, err);
}

static hac_status read_inputs(splits_run *r, hac_error *err)
{
    hac_status status = hac_split_queue_first(&r->queue, hac_split_writer_bytes(SPLIT_MIN), err);
    if (status != HAC_OK)
        return status;
    fill_memory(r, 0);
    while (status == HAC_OK && !r->queue.enough) {
        status = hac_input_list_next(&r->inputs, err);
        if (status == HAC_OK)
            status = take_input(r, err);
        else if (status != HAC_NOT_FOUND)
            status = input_failed(r, status, err);
    }
    if (status != HAC_OK && status != HAC_NOT_FOUND)
        return status;
    status = HAC_OK;
    if (!r->queue.last_sent && r->queue.job->flying)
        status = hac_split_queue_send(&r->queue, NULL, NULL, "", true, err);
    return status == HAC_OK ? hac_split_queue_finish(&r->queue, err) : status;
}

/* ---- submission ---- */

static hac_status submit(hac_client *client, const hac_splits *splits, const hac_query_options *options,
                         const hac_compiled_query *compiled, hac_job **ret_job, hac_error *err)
{
    char line[256];
    hac_utf8_copy_line(line, sizeof(line), splits->name != NULL ? splits->name : "the input");
    hac_query_call call = {.options = options, .compiled = compiled, .splits = true, .name = line};
    return hac_query_submit(client, &call, ret_job, err);
}

/* Chooses the size of a split. `advised` is hacd's preferred size for its devices; 0: hacd has no preference.
 * */
static uint64_t split_bytes(const hac_splits *splits, const hac_query_options *options, uint64_t advised)
{
    uint64_t part = options->job.memory_limit / MEMORY_PART;
    uint64_t max = advised == 0 || advised > SPLIT_MAX ? SPLIT_MAX : advised;
    if (splits->split_bytes != 0)
        return splits->split_bytes;
    if (part == 0 || part > max)
        part = max;
    return (part < SPLIT_MIN ? SPLIT_MIN : part) + SPLIT_SLACK;
}

/* Runs the splits. Takes ownership of the open input in `inputs`. */
static hac_status run_splits(hac_client *client, hac_input_list *inputs, const hac_query_options *options,
                             const hac_compiled_query *compiled, hac_job **ret_job, hac_error *err)
{
    const hac_splits *splits = inputs->splits;
    hac_record_rule rule;
    uint64_t set_bytes = HAC_SPLIT_SET_BYTES;
    if (splits->split_bytes != 0 && splits->split_bytes < set_bytes)
        set_bytes = splits->split_bytes;
    hac_status status = hac_input_list_rule(options, set_bytes, &rule, err);
    hac_job *job = NULL;
    if (status == HAC_OK)
        status = submit(client, splits, options, compiled, &job, err);
    if (status != HAC_OK)
        return status;
    uint64_t bytes = split_bytes(splits, options, job->split_bytes);
    splits_run r = {.inputs = *inputs, .early = !compiled->aggregates};
    *inputs = (hac_input_list){.splits = splits, .fd = -1}; /* the run closes the open input */
    r.queue = (hac_split_queue){.client = client,
                                .job = job,
                                .path = &r.inputs.keys,
                                .write = splits->write,
                                .context = splits->context,
                                .stop_fd = splits->stop_fd,
                                .usual = hac_split_writer_bytes(bytes),
                                .times = {.mark = hac_now_ns()}};
    r.begins = splits->split_bytes != 0 ? 0 : SPLIT_MIN;
    r.range = splits->split_bytes != 0 || r.early ? 0 : job->range_bytes;
    hac_split_writer_init(&r.writer, &rule, options->input_options.no_header == 0);
    hac_job_ref(job); /* the job's callbacks may free the job */
    status = read_inputs(&r, err);
    if (status != HAC_OK)
        hac_split_queue_abandon(&r.queue);
    hac_split_queue_clear(&r.queue);
    hac_split_writer_clear(&r.writer);
    hac_input_list_clear(&r.inputs);
    hac_job_unref(job);
    *ret_job = job;
    return status;
}

/* ---- the call ---- */

static hac_status check(const hac_splits *splits, const hac_query_options *options, hac_error *err)
{
    if (splits->n_inputs == 0 || splits->open == NULL)
        return hac_fail(err, HAC_INVALID, "there is no input");
    if (options->input_format == HAC_INPUT_PARQUET)
        return hac_fail(err, HAC_UNSUPPORTED,
                        "a Parquet file has its index at its end: query it with hac_query_files");
    if (options->job.detach != 0)
        return hac_fail(err, HAC_INVALID,
                        "a query over splits cannot be detached: its input comes from here");
    if (splits->split_bytes > SPLIT_ALLOWED)
        return hac_fail(err, HAC_INVALID, "splits of %" PRIu64 " bytes are too large; 1 GiB is possible",
                        splits->split_bytes);
    return HAC_OK;
}

static hac_status run(hac_client *client, hac_input_list *inputs, const hac_query_options *options,
                      const hac_compiled_query *compiled, hac_job **ret_job, hac_error *err)
{
    bool columns = options->result_format == HAC_RESULT_TABLE || options->result_format == HAC_RESULT_PARQUET;
    if (!compiled->aggregates && (hac_query_needs_all_rows(options) || columns))
        return hac_collect_input(client, inputs, options, compiled, ret_job, err);
    if (!compiled->aggregates && inputs->splits->write == NULL)
        return hac_fail(err, HAC_INVALID,
                        "the query gives rows as they come, and there is no way to write them");
    return run_splits(client, inputs, options, compiled, ret_job, err);
}

hac_status hac_query_splits(hac_client *client, const hac_splits *splits, const hac_query_options *options,
                            hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_splits given = HAC_SPLITS_INIT;
    hac_status status = hac_query_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_options_read(splits, "splits", "HAC_SPLITS_INIT", &given, sizeof(given), err);
    if (status == HAC_OK)
        status = check(&given, &known, err);
    if (status != HAC_OK)
        return status;
    hac_input_list inputs = {.splits = &given, .options = &known, .fd = -1};
    hac_autofree hac_compiled_query *compiled = NULL;
    status = hac_first_records_compile(client, &inputs, &known, &compiled, err);
    if (status == HAC_OK) {
        known.input_options = compiled->input_options;
        known.find = 0;
    }
    if (status == HAC_OK)
        status = run(client, &inputs, &known, compiled, ret_job, err);
    hac_input_list_clear(&inputs);
    return status;
}
