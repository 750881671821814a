/* SPDX-License-Identifier: Apache-2.0 */
#include "splits.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/split_layout.h"
#include "base/text.h"
#include "fill.h"
#include "flight.h"
#include "options.h"

enum {
    PAUSE_MS = 10,    /* of an input, until what is there of a query for rows is handed over */
    MEMORY_PART = 16, /* of the query's memory, for a split: five of them are there */
};
#define SPLIT_LEAST   (UINT64_C(1) << 20)
#define SPLIT_SLACK   (UINT64_C(1) << 16) /* a header and a record more: the last set is to fit in whole */
#define SPLIT_MOST    (UINT64_C(32) << 20)
#define SPLIT_ALLOWED (UINT64_C(1) << 30)

/* ---- inputs ---- */

void hac_turn_clear(hac_turn *turn)
{
    hac_input_free(hac_steal_ptr(turn->input));
    hac_close(hac_steal_fd(&turn->fd));
}

hac_status hac_turn_next(hac_turn *turn, hac_error *err)
{
    const hac_splits *splits = turn->splits;
    bool first = turn->fd < 0;
    const char *name = NULL;
    hac_turn_clear(turn);
    turn->index = first ? 0 : turn->index + 1;
    if (turn->index >= splits->n_inputs)
        return HAC_NOT_FOUND;
    hac_error local = HAC_ERROR_NONE; /* *err may hold an old message */
    hac_status status = splits->open(splits->context, turn->index, &turn->fd, &name, &local);
    if (status != HAC_OK) {
        turn->fd = -1;
        if (local.message[0] == '\0')
            (void)hac_fail(&local, status, "input %zu cannot be opened", turn->index + 1);
        return hac_fail(err, status, "%s", local.message);
    }
    bool named = name != NULL && hac_is_packed_name(name);
    bool raw = splits->uncompressed == 2 ? !named : splits->uncompressed != 0;
    return hac_input_open(turn->fd, name, raw, &turn->input, err);
}

hac_status hac_splits_rule(const hac_query_options *options, uint64_t set_bytes, hac_cut_rule *ret,
                           hac_error *err)
{
    hac_cut_rule rule = {
        .format = options->input_format, .big_endian = options->big_endian != 0, .set_bytes = set_bytes};
    hac_status status = HAC_OK;
    if (rule.format == HAC_INPUT_FIXED)
        status = hac_record_bytes(options->schema, &rule.record_bytes, err);
    if (status == HAC_OK)
        *ret = rule;
    return status;
}

hac_status hac_fail_ragged(const char *name, uint64_t bytes, const hac_cut_rule *rule, hac_error *err)
{
    return hac_fail(err, HAC_FAILED,
                    "%s: %" PRIu64 " bytes are no whole number of records of %" PRIu64 " bytes", name, bytes,
                    rule->record_bytes);
}

/* ---- one run ---- */

typedef struct run {
    hac_turn turn;
    hac_fill fill;
    hac_flight flight;
    bool early;      /* splits end where the input pauses */
    bool idle;       /* nothing has come since that was done */
    uint64_t range;  /* bytes of a split that stays in its file, if more than usual */
    uint64_t begins; /* bytes of the next split: small at first, so that work begins at once; 0: usual */
} run;

/* The next split is filled in flight.filling, which may be larger than is usual; at least `bytes` of it. */
static void fill_memory(run *r, uint64_t bytes)
{
    hac_buffer *buffer = r->flight.filling->buffer;
    uint64_t there = hac_buffer_bytes(buffer), room = r->flight.usual;
    uint64_t begins = r->begins == 0 ? room : hac_fill_bytes(r->begins + SPLIT_SLACK);
    r->begins = begins < room ? 2 * r->begins : 0;
    room = begins < room ? begins : room;
    room = room > bytes ? room : bytes;
    hac_fill_memory(&r->fill, hac_buffer_data(buffer), room < there ? room : there);
}

/* Memory for the next split; what is left over goes there. */
static hac_status next_memory(run *r, uint64_t bytes, hac_error *err)
{
    hac_status status = hac_flight_buffer(&r->flight, bytes, err);
    if (status != HAC_OK)
        return status;
    fill_memory(r, bytes);
    return HAC_OK;
}

static hac_status send_split(run *r, bool last, hac_error *err)
{
    hac_fill_split split = hac_fill_close(&r->fill);
    hac_status status = hac_flight_send(&r->flight, &split, NULL, hac_input_name(r->turn.input), last, err);
    if (status != HAC_OK || last || r->flight.enough)
        return status;
    return next_memory(r, hac_fill_needs(&r->fill), err);
}

/* A record is longer than the buffer, or a header fills it. */
static hac_status grow(run *r, hac_error *err)
{
    uint64_t left = r->fill.end - r->fill.cut.start, most = HAC_CUT_RECORD_MAX + HAC_SPLIT_SET_BYTES;
    uint64_t text = r->fill.header_bytes + (2 * left < most ? 2 * left + 1 : most);
    hac_slot *before = r->flight.filling;
    hac_status status = next_memory(r, hac_fill_bytes(text), err);
    if (status == HAC_OK && before != r->flight.filling)
        hac_buffer_free(hac_steal_ptr(before->buffer));
    return status;
}

/* Whether a pause is waited for: something is there that could be handed over. */
static bool may_end_early(const run *r)
{
    return r->early && !r->idle && !hac_flight_full(&r->flight) && r->fill.end > r->fill.base;
}

static hac_status pause_comes(run *r, hac_error *err)
{
    r->idle = true;
    return hac_fill_early(&r->fill) ? send_split(r, false, err) : HAC_OK;
}

/* An input has failed. What was read before counts: its rows are written, and its failure is the first one.
 * If hacd has enough then, this one does not matter. */
static hac_status input_failed(run *r, hac_status status, hac_error *err)
{
    hac_flight *flight = &r->flight;
    hac_error local = HAC_ERROR_NONE;
    hac_status before = HAC_OK;
    if (status == HAC_CANCELLED)
        return status;
    if (r->turn.input != NULL && hac_fill_rescue(&r->fill)) {
        hac_fill_split split = hac_fill_close(&r->fill);
        before = hac_flight_send(flight, &split, NULL, hac_input_name(r->turn.input), false, &local);
    }
    while (before == HAC_OK && flight->n_flying > 0) {
        hac_flight_event event;
        before = hac_flight_wait(flight, -1, -1, &event, &local);
    }
    if (before != HAC_OK)
        return hac_fail(err, before, "%s", local.message);
    return flight->enough ? HAC_OK : status;
}

/* Waits for the input and takes some of it. */
static hac_status read_more(run *r, hac_error *err)
{
    int wants = hac_input_wants(r->turn.input);
    int timeout_ms = wants < 0 ? 0 : may_end_early(r) ? PAUSE_MS : -1;
    hac_flight_event event;
    hac_status status = hac_flight_wait(&r->flight, wants, timeout_ms, &event, err);
    if (status != HAC_OK || r->flight.enough)
        return status;
    if (wants >= 0 && !event.readable)
        return event.quiet && timeout_ms > 0 ? pause_comes(r, err) : HAC_OK;
    uint64_t room, n = 0;
    uint8_t *at = hac_fill_room(&r->fill, &room);
    status = hac_input_read(r->turn.input, at, room, &n, err);
    if (status != HAC_OK)
        return status == HAC_AGAIN ? HAC_OK : input_failed(r, status, err);
    if (n == 0)
        hac_fill_end(&r->fill);
    hac_fill_read(&r->fill, n);
    r->idle = false;
    return HAC_OK;
}

static hac_status ends_ragged(run *r, uint64_t bytes, hac_error *err)
{
    return input_failed(r, hac_fail_ragged(hac_input_name(r->turn.input), bytes, &r->fill.rule, err), err);
}

static hac_status end_input(run *r, hac_error *err)
{
    if (r->fill.cut.ragged && r->fill.rule.format == HAC_INPUT_FIXED)
        return ends_ragged(r, r->fill.end, err);
    return hac_fill_due(&r->fill) ? send_split(r, hac_turn_is_last(&r->turn), err) : HAC_OK;
}

static hac_status read_input(run *r, hac_error *err)
{
    hac_status status = HAC_OK;
    hac_fill_begin(&r->fill);
    while (status == HAC_OK && !r->flight.enough) {
        hac_fill_state state;
        status = hac_fill_cut(&r->fill, &state, err);
        if (status != HAC_OK) {
            (void)hac_error_prefix(err, "%s", hac_input_name(r->turn.input));
            return input_failed(r, status, err);
        }
        if (state == HAC_FILL_ENDED)
            return end_input(r, err);
        if (state == HAC_FILL_MORE)
            status = read_more(r, err);
        else
            status = state == HAC_FILL_FULL ? send_split(r, false, err) : grow(r, err);
    }
    return status;
}

/* Records of fixed width are cut without a look at them: in a file they stay where they are, and the devices
 * read it. */
static hac_status hand_over_file(run *r, uint64_t offset, uint64_t bytes, hac_error *err)
{
    const hac_cut_rule *rule = &r->fill.rule;
    uint64_t set = hac_cut_fixed_set(rule), whole = bytes - bytes % rule->record_bytes, at = 0;
    uint64_t text = r->flight.usual - hac_fill_bytes(0), sets = (text > r->range ? text : r->range) / set;
    sets = sets == 0 ? 1 : sets < HAC_SPLIT_SETS_MAX ? sets : HAC_SPLIT_SETS_MAX;
    hac_status status = HAC_OK;
    while (status == HAC_OK && at < whole && !r->flight.enough) {
        uint64_t n = whole - at < sets * set ? whole - at : sets * set;
        const hac_fill_split split = {.bytes = n,
                                      .largest = set < n ? set : n,
                                      .input_bytes = n,
                                      .sets = (uint32_t)((n - 1) / set + 1)};
        const hac_flight_range range = {.fd = r->turn.fd, .offset = offset + at, .bytes_before = at};
        bool last = at + n == bytes && hac_turn_is_last(&r->turn);
        status = hac_flight_send(&r->flight, &split, &range, hac_input_name(r->turn.input), last, err);
        at += n;
    }
    (void)lseek(r->turn.fd, (off_t)(offset + at), SEEK_SET); /* as if it had been read: others may share it */
    return status == HAC_OK && whole < bytes && !r->flight.enough ? ends_ragged(r, bytes, err) : status;
}

static hac_status take_input(run *r, hac_error *err)
{
    uint64_t offset, bytes;
    if (r->fill.rule.format == HAC_INPUT_FIXED && hac_input_in_file(r->turn.input, &offset, &bytes))
        return hand_over_file(r, offset, bytes, err);
    return read_input(r, err);
}

static hac_status read_inputs(run *r, hac_error *err)
{
    hac_status status = hac_flight_first(&r->flight, hac_fill_bytes(SPLIT_LEAST), err);
    if (status != HAC_OK)
        return status;
    fill_memory(r, 0);
    while (status == HAC_OK && !r->flight.enough) {
        status = hac_turn_next(&r->turn, err);
        if (status == HAC_OK)
            status = take_input(r, err);
        else if (status != HAC_NOT_FOUND)
            status = input_failed(r, status, err);
    }
    if (status != HAC_OK && status != HAC_NOT_FOUND)
        return status;
    status = HAC_OK;
    if (!r->flight.last_sent && r->flight.job->flying)
        status = hac_flight_send(&r->flight, NULL, NULL, "", true, err);
    return status == HAC_OK ? hac_flight_land(&r->flight, err) : status;
}

/* ---- submission ---- */

static hac_status submit(hac_client *client, const hac_splits *splits, const hac_query_options *options,
                         hac_job **ret_job, hac_error *err)
{
    char line[256];
    hac_utf8_copy_line(line, sizeof(line), splits->name != NULL ? splits->name : "the input");
    hac_query_call call = {.options = options, .splits = true, .name = line};
    return hac_query_submit(client, &call, ret_job, err);
}

/* `advised` by hacd, which knows the devices; 0: it does not say. */
static uint64_t split_bytes(const hac_splits *splits, const hac_query_options *options, uint64_t advised)
{
    uint64_t part = options->job.memory_limit / MEMORY_PART;
    uint64_t most = advised == 0 || advised > SPLIT_MOST ? SPLIT_MOST : advised;
    if (splits->split_bytes != 0)
        return splits->split_bytes;
    if (part == 0 || part > most)
        part = most;
    return (part < SPLIT_LEAST ? SPLIT_LEAST : part) + SPLIT_SLACK;
}

static hac_status run_splits(hac_client *client, const hac_splits *splits, const hac_query_options *options,
                             hac_job **ret_job, hac_error *err)
{
    hac_cut_rule rule;
    uint64_t set_bytes = HAC_SPLIT_SET_BYTES;
    if (splits->split_bytes != 0 && splits->split_bytes < set_bytes)
        set_bytes = splits->split_bytes;
    hac_status status = hac_splits_rule(options, set_bytes, &rule, err);
    hac_job *job = NULL;
    if (status == HAC_OK)
        status = submit(client, splits, options, &job, err);
    if (status != HAC_OK)
        return status;
    uint64_t bytes = split_bytes(splits, options, job->split_bytes);
    run r = {.turn = {.splits = splits, .fd = -1}, .early = hac_query_gives_rows(options)};
    r.flight = (hac_flight){.client = client,
                            .job = job,
                            .write = splits->write,
                            .context = splits->context,
                            .stop_fd = splits->stop_fd,
                            .usual = hac_fill_bytes(bytes),
                            .times = {.mark = hac_now_ns()}};
    r.begins = splits->split_bytes != 0 ? 0 : SPLIT_LEAST;
    r.range = splits->split_bytes != 0 || r.early ? 0 : job->range_bytes;
    hac_fill_init(&r.fill, &rule, options->no_header == 0);
    hac_job_ref(job); /* its callbacks may free it */
    status = read_inputs(&r, err);
    if (status != HAC_OK)
        hac_flight_abandon(&r.flight);
    hac_flight_clear(&r.flight);
    hac_fill_clear(&r.fill);
    hac_turn_clear(&r.turn);
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
    bool rows = hac_query_gives_rows(&known);
    bool ordered = known.order_by != NULL && known.order_by[0] != '\0';
    bool columns = known.result_format == HAC_RESULT_TABLE || known.result_format == HAC_RESULT_PARQUET;
    if (rows && (ordered || columns))
        return hac_query_whole(client, &given, &known, ret_job, err);
    if (rows && given.write == NULL)
        return hac_fail(err, HAC_INVALID,
                        "the query gives rows as they come, and there is no way to write them");
    return run_splits(client, &given, &known, ret_job, err);
}
