/* SPDX-License-Identifier: Apache-2.0 */
#include "job_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "admin/job_parts.h"
#include "admin/job_why.h"
#include "admin/state.h"
#include "admin/status_json.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "job_record.h"
#include "loop/blocking_work.h"

/* How long the loop may make records at each of its four ticks a second. */
#define BUSY_NS 2500000u
#define IDLE_NS 10000000u
/* Records that wait to be written; of one account they fit into its folder. */
#define BATCH_RECORDS_MAX HAC_JOB_FILES_MAX
#define BATCH_BYTES_MAX   (8u << 20)
/* Larger plans and traces take too long to print on the loop; they do not fit into a record anyhow. */
#define PLAN_TASKS_MAX    1024u
#define TRACE_RECORDS_MAX 2048u
/* Job numbers are reserved in the file before they are given out: a number is never given out twice, even if
 * hacd is killed. More are reserved when a quarter is used up: a tick can use up no more than the rest. */
#define NUMBERS_AHEAD 4000u
/* How often old records of all accounts are removed, of those too that have no new jobs. */
#define TRIM_SECONDS (24.0 * 60 * 60)

typedef struct saved_record {
    hac_job_account account;
    uint64_t id;
    char *bytes;
    size_t n;
    bool again;         /* replaces an earlier record of the job */
    bool tried;         /* it could not be written before */
    bool written;       /* only while the batch is written */
    int account_errnum; /* of the account's first record in the batch: why the rest must wait */
} saved_record;

struct hac_job_store {
    hac_server *server;
    int lock; /* -1: not taken yet */
    saved_record *batch;
    size_t n_batch, batch_bytes;
    uint64_t trimmed_ns; /* when all accounts were trimmed; 0: not yet */
    uint64_t next;       /* as it stands in the file: the first number that is not reserved */
    /* While `writing`, the thread pool has all that is above, and the following. */
    bool writing;
    uv_work_t work;
    uint64_t put_next;                       /* to be written */
    uint64_t last;                           /* the largest number found when the lock was taken */
    int errnum;                              /* why something could not be written; 0: all was */
    char failing[HAC_JOB_ACCOUNT_NAME_SIZE]; /* the folder below `jobs` that it was for; empty: all of them */
    bool failed;                             /* the last batch was not written as a whole */
};

hac_job_account hac_job_store_account(const hac_user *user)
{
    return (hac_job_account){user->uid, user->place, user->administers};
}

/* ---- on the thread pool ------------------------------------------------------------------------------- */

/* The account's first record in the batch. */
static saved_record *first_of(hac_job_store *store, hac_job_account account)
{
    saved_record *first = store->batch;
    while (!hac_job_account_equal(first->account, account))
        first++;
    return first;
}

/* Makes room for the account's records before they are written, so that a full file system is no reason to
 * write nothing more. */
static void trim_account(hac_job_store *store, hac_job_account account)
{
    size_t n = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < store->n_batch; i++) {
        const saved_record *r = &store->batch[i];
        if (r->again || !hac_job_account_equal(r->account, account))
            continue;
        n++;
        bytes += r->n;
    }
    hac_job_files_trim(store->server->options.state_directory, account, n, bytes);
}

/* After a failure the account's further records wait, not those of others. */
static void write_record(hac_job_store *store, saved_record *record)
{
    const char *folder = store->server->options.state_directory;
    saved_record *first = first_of(store, record->account);
    if (first == record) {
        first->account_errnum = 0;
        trim_account(store, record->account);
    }
    if (first->account_errnum == 0)
        first->account_errnum =
            hac_job_files_write(folder, record->account, record->id, record->bytes, record->n);
    record->written = first->account_errnum == 0;
    if (record->written || store->errnum != 0)
        return;
    store->errnum = first->account_errnum;
    hac_job_files_account_name(record->account, store->failing);
}

static void take_lock(hac_job_store *store)
{
    store->lock = hac_job_files_lock(store->server->options.state_directory);
    store->errnum = store->lock < 0 ? errno : 0;
    store->last = hac_job_files_last(store->server->options.state_directory);
    if (store->last + 1 + NUMBERS_AHEAD > store->put_next)
        store->put_next = store->last + 1 + NUMBERS_AHEAD;
}

/* If it fails, the next batch tries again. */
static void write_next(hac_job_store *store)
{
    if (store->lock >= 0 && store->put_next != store->next &&
        hac_job_files_put_next(store->lock, store->put_next))
        store->next = store->put_next;
}

static bool wants_trim(const hac_job_store *store)
{
    return store->lock >= 0 &&
           (store->trimmed_ns == 0 || hac_seconds_since(store->trimmed_ns) > TRIM_SECONDS);
}

static void trim_all(hac_job_store *store)
{
    store->trimmed_ns = hac_now_ns();
    hac_job_files_trim_all(store->server->options.state_directory);
}

static void write_batch(uv_work_t *work)
{
    hac_job_store *store = hac_container_of(work, hac_job_store, work);
    store->errnum = 0;
    store->failing[0] = '\0';
    if (store->lock < 0)
        take_lock(store);
    if (wants_trim(store))
        trim_all(store);
    for (size_t i = 0; store->lock >= 0 && i < store->n_batch; i++)
        write_record(store, &store->batch[i]);
    write_next(store);
}

/* ---- on the loop -------------------------------------------------------------------------------------- */

/* Drops records that were written, and of the others the first `n` that were tried before. */
static void drop_records(hac_job_store *store, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < store->n_batch; i++) {
        saved_record *r = &store->batch[i];
        bool old = !r->written && r->tried && n > 0;
        n -= old;
        if (!r->written && !old) {
            store->batch[kept++] = *r;
            continue;
        }
        store->batch_bytes -= r->n;
        free(r->bytes);
    }
    store->n_batch = kept;
}

static void end_batch(hac_job_store *store)
{
    hac_server *server = store->server;
    bool failed = store->errnum != 0;
    if (failed && !store->failed)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_STATE, NULL,
                       "cannot write %s/jobs%s%s: %s; ended jobs are remembered when it can be written again",
                       server->options.state_directory, store->failing[0] != '\0' ? "/" : "", store->failing,
                       store->errnum == EWOULDBLOCK ? "another hacd writes there" : strerror(store->errnum));
    store->failed = failed;
    for (size_t i = 0; i < store->n_batch; i++)
        store->batch[i].tried = true;
    drop_records(store, 0);
    if (store->last >= server->jobs.next_id)
        server->jobs.next_id = store->last + 1;
    store->last = 0;
}

static void batch_written(uv_work_t *work, int status)
{
    hac_job_store *store = hac_container_of(work, hac_job_store, work);
    store->writing = false;
    if (status != 0)
        store->errnum = ECANCELED;
    end_batch(store);
}

static void put(hac_job_record *record, hac_record_part part, const char *text)
{
    record->parts[part].text = text;
    record->parts[part].bytes = text != NULL ? strlen(text) : 0;
}

/* The answers about the job. What cannot be made is left out. */
static void make_record(const hac_server *server, const hacd_job *job, hac_text *ret)
{
    hac_autofree char *line = NULL, *receipt = NULL, *why = NULL, *plan = NULL, *json = NULL, *trace = NULL;
    size_t bytes = 0;
    char name[32];
    hac_job_record record = {.id = job->id};
    snprintf(name, sizeof name, "job %llu", (unsigned long long)job->id);
    bool small = job->plan != NULL && job->plan->n_tasks <= PLAN_TASKS_MAX;
    if (hac_status_json_line(job, &line, &bytes, NULL) == HAC_OK)
        put(&record, HAC_RECORD_LINE, line);
    if (hac_status_json_receipt(job, &receipt, &bytes, NULL) == HAC_OK)
        put(&record, HAC_RECORD_RECEIPT, receipt);
    if (hac_job_why(server, job, &why, &bytes, NULL) == HAC_OK)
        put(&record, HAC_RECORD_WHY, why);
    put(&record, HAC_RECORD_LOG, job->log.data);
    if (small && hac_plan_to_text(job->plan, &plan, NULL) == HAC_OK)
        put(&record, HAC_RECORD_PLAN, plan);
    if (small && hac_plan_to_json(job->plan, &json, NULL) == HAC_OK)
        put(&record, HAC_RECORD_PLAN_JSON, json);
    if (small && job->run.n_records <= TRACE_RECORDS_MAX && hacd_job_trace(job, name, &trace, NULL) == HAC_OK)
        put(&record, HAC_RECORD_TRACE, trace);
    hac_job_record_write(&record, ret);
}

static bool is_full(const hac_job_store *store)
{
    return store->n_batch == BATCH_RECORDS_MAX || store->batch_bytes >= BATCH_BYTES_MAX;
}

/* If the batch is full, the oldest records that could not be written make room for newer ones. */
static bool reserve(hac_job_store *store)
{
    if (store->batch == NULL)
        store->batch = calloc(BATCH_RECORDS_MAX, sizeof *store->batch);
    for (size_t before = 0; is_full(store) && store->n_batch != before;) {
        before = store->n_batch;
        drop_records(store, 1);
    }
    return store->batch != NULL && !is_full(store);
}

/* Returns false if there is no memory for the record now. */
static bool add_record(hac_job_store *store, hacd_job *job)
{
    hac_text text = HAC_TEXT_NONE;
    saved_record record = {.account = hac_job_store_account(job->user), .id = job->id, .again = job->saved};
    if (!reserve(store))
        return false;
    make_record(store->server, job, &text);
    if (hac_text_finish(&text, &record.bytes, &record.n, NULL) != HAC_OK)
        return false;
    store->batch[store->n_batch++] = record;
    store->batch_bytes += record.n;
    job->unsaved = false;
    job->saving = true;
    if (!job->saved)
        hac_job_parts_renew(job);
    job->saved = true;
    return true;
}

/* Makes records, the oldest job's first, until the time is up. Returns whether there may be more. */
static bool add_records(hac_job_store *store, uint64_t until_ns)
{
    hacd_job *job = NULL;
    hac_list_for_each (job, &store->server->jobs.list, hacd_job, link) {
        if (!job->unsaved || !hacd_job_ended_for_all(job))
            continue;
        if (!add_record(store, job) || hac_now_ns() > until_ns)
            return true;
    }
    return false;
}

/* The last batch was written at an earlier tick: by now whoever reads the folder has seen its records, so the
 * jobs need not be in memory any more. */
static void let_go(hac_jobs *jobs)
{
    hacd_job *job = NULL;
    hac_list_for_each (job, &jobs->list, hacd_job, link)
        job->saving = false;
}

void hac_job_store_open(hac_server *server)
{
    hac_job_store *store = calloc(1, sizeof *store);
    server->remembered = store;
    if (store == NULL)
        return;
    store->server = server;
    store->lock = -1;
    take_lock(store);
    write_next(store);
    server->jobs.next_id = store->last + 1;
    store->last = 0;
}

void hac_job_store_save(hac_server *server)
{
    hac_job_store *store = server->remembered;
    if (store == NULL || store->writing)
        return;
    let_go(&server->jobs);
    bool idle = hac_jobs_unfinished(&server->jobs) == 0;
    (void)add_records(store, hac_now_ns() + (idle ? IDLE_NS : BUSY_NS));
    bool numbers = store->lock >= 0 && server->jobs.next_id + NUMBERS_AHEAD / 4 * 3 > store->next;
    if (store->n_batch == 0 && !numbers && !wants_trim(store))
        return;
    store->put_next = numbers ? server->jobs.next_id + NUMBERS_AHEAD : store->next;
    store->writing = true;
    int r = hac_blocking_work_queue(&server->loop, &store->work, write_batch, batch_written);
    if (r != 0)
        batch_written(&store->work, r);
}

void hac_job_store_close(hac_server *server)
{
    hac_job_store *store = server->remembered;
    bool more = true;
    if (store == NULL)
        return;
    while (more) {
        more = add_records(store, UINT64_MAX);
        store->put_next = server->jobs.next_id; /* the rest of the reserved ones is given back */
        if (store->n_batch == 0 && store->put_next == store->next)
            break;
        more = more && store->n_batch > 0;
        write_batch(&store->work);
        end_batch(store);
        more = more && store->lock >= 0;
        drop_records(store, SIZE_MAX);
    }
    free(store->batch);
    hac_close(store->lock);
    free(store);
    server->remembered = NULL;
}
