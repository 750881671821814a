/* SPDX-License-Identifier: Apache-2.0 */
#include "job_history.h"

#include <stdlib.h>
#include <string.h>

#include "admin/state.h"
#include "admin/status_json.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "job_files.h"
#include "job_record.h"
#include "job_store.h"
#include "loop/blocking_work.h"

/* A list holds the newest jobs, and so many bytes of them. */
#define LIST_BYTES_MAX (HAC_TEXT_MAX / 2)

typedef struct listed_job {
    uint64_t id;
    hac_job_account account;
    char *line;
} listed_job;

typedef struct question {
    hac_link link; /* in hac_server.history */
    uv_work_t work;
    hac_server *server;
    hac_session *session; /* NULL: it has ended */
    uint64_t serial, id;
    hac_job_account account;
    bool sees_all, reading;
    Hac__Client__Topic topic;
    Hac__Client__PlanFormat format;
    hac_status status;
    hac_error err;
    char *text; /* the answer about a job */
    size_t bytes;
    listed_job *jobs; /* the answer about all jobs, by number */
    size_t n_jobs;
} question;

static void free_question(question *q)
{
    for (size_t i = 0; i < q->n_jobs; i++)
        free(q->jobs[i].line);
    free(q->jobs);
    free(q->text);
    hac_list_remove(&q->link);
    free(q);
}

/* ---- on the thread pool: one job ---------------------------------------------------------------------- */

static hac_status no_job(uint64_t id, hac_error *err)
{
    return id == 0
               ? hac_fail(err, HAC_NOT_FOUND, "you have no jobs")
               : hac_fail(err, HAC_NOT_FOUND, "there is no job %llu of yours; `hacctl jobs --all` lists them",
                          (unsigned long long)id);
}

static hac_status read_record(const question *q, hac_job_account account, uint64_t id, char **ret_bytes,
                              hac_job_record *ret, hac_error *err)
{
    hac_error why = HAC_ERROR_NONE;
    size_t n = 0;
    hac_status status =
        hac_job_files_read(q->server->options.state_directory, account, id, ret_bytes, &n, &why);
    if (status == HAC_OK)
        status = hac_job_record_read(*ret_bytes, n, ret, &why);
    if (status == HAC_OK && ret->id != id)
        status = hac_fail(&why, HAC_INVALID, "it is the record of another job");
    if (status == HAC_OK || status == HAC_NOT_FOUND)
        return status;
    return hac_fail(err, HAC_NOT_FOUND, "the record of job %llu cannot be used: %s", (unsigned long long)id,
                    why.message);
}

static void add_part(hac_text *text, const hac_job_record *record, hac_record_part part)
{
    if (record->parts[part].text != NULL)
        hac_text_add_bytes(text, record->parts[part].text, record->parts[part].bytes);
    else
        hac_text_add(text, "null");
}

/* The line, with receipt and plan as further members. */
static void show(const hac_job_record *record, hac_text *text)
{
    hac_text_add_bytes(text, record->parts[HAC_RECORD_LINE].text, record->parts[HAC_RECORD_LINE].bytes - 1);
    hac_text_add(text, ",\"receipt\":");
    add_part(text, record, HAC_RECORD_RECEIPT);
    hac_text_add(text, ",\"plan\":");
    add_part(text, record, HAC_RECORD_PLAN_JSON);
    hac_text_add(text, "}");
}

static hac_record_part part_of(const question *q)
{
    switch (q->topic) {
    case HAC__CLIENT__TOPIC__TOPIC_RECEIPT:
        return HAC_RECORD_RECEIPT;
    case HAC__CLIENT__TOPIC__TOPIC_WHY:
        return HAC_RECORD_WHY;
    case HAC__CLIENT__TOPIC__TOPIC_LOG:
        return HAC_RECORD_LOG;
    case HAC__CLIENT__TOPIC__TOPIC_TRACE:
        return HAC_RECORD_TRACE;
    case HAC__CLIENT__TOPIC__TOPIC_PLAN:
        return q->format == HAC__CLIENT__PLAN_FORMAT__PLAN_JSON ? HAC_RECORD_PLAN_JSON : HAC_RECORD_PLAN;
    default:
        return HAC_RECORD_LINE;
    }
}

static hac_status answer_from(const question *q, const hac_job_record *record, char **ret, size_t *ret_bytes,
                              hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_record_part part = part_of(q);
    bool log = part == HAC_RECORD_LOG; /* jobs without a line in it have none */
    if (part == HAC_RECORD_LINE)
        show(record, &text);
    else if (record->parts[part].text == NULL && !log)
        return hac_fail(err, HAC_NOT_FOUND,
                        "of job %llu no such thing is remembered: it had none, or a large one (--receipt and "
                        "--trace keep what a job did)",
                        (unsigned long long)record->id);
    else if (record->parts[part].text != NULL)
        add_part(&text, record, part);
    return hac_text_finish(&text, ret, ret_bytes, err);
}

/* The number of the run in "part_of":N of a line; 0: null. */
static uint64_t run_of(const hac_job_record *record)
{
    static const char member[] = "\"part_of\":";
    const char *line = record->parts[HAC_RECORD_LINE].text;
    const char *at = memmem(line, record->parts[HAC_RECORD_LINE].bytes, member, sizeof member - 1);
    return at == NULL ? 0 : strtoull(at + sizeof member - 1, NULL, 10);
}

/* The account's newest job; of a run of a logic file the run. */
static uint64_t newest(const question *q)
{
    hac_autofree uint64_t *ids = NULL;
    hac_autofree char *bytes = NULL;
    hac_job_record record;
    size_t n = 0;
    if (hac_job_files_list(q->server->options.state_directory, q->account, &ids, &n, NULL) != HAC_OK ||
        n == 0)
        return 0;
    uint64_t run =
        read_record(q, q->account, ids[n - 1], &bytes, &record, NULL) == HAC_OK ? run_of(&record) : 0;
    return run != 0 ? run : ids[n - 1];
}

static hac_status find_record(const question *q, uint64_t id, char **ret_bytes, hac_job_record *ret,
                              hac_error *err)
{
    hac_autofree hac_job_account *accounts = NULL;
    size_t n = 0;
    hac_status status = read_record(q, q->account, id, ret_bytes, ret, err);
    if (status != HAC_NOT_FOUND || !q->sees_all || (err != NULL && err->message[0] != '\0'))
        return status;
    status = hac_job_files_accounts(q->server->options.state_directory, &accounts, &n, err);
    for (size_t i = 0; i < n && status == HAC_OK; i++) {
        free(*ret_bytes);
        *ret_bytes = NULL;
        if (read_record(q, accounts[i], id, ret_bytes, ret, err) == HAC_OK)
            return HAC_OK;
    }
    return status == HAC_OK ? HAC_NOT_FOUND : status;
}

static hac_status read_job(question *q, hac_error *err)
{
    hac_autofree char *bytes = NULL;
    hac_job_record record;
    uint64_t id = q->id != 0 ? q->id : newest(q);
    if (id == 0)
        return no_job(0, err);
    hac_status status = find_record(q, id, &bytes, &record, err);
    if (status != HAC_OK)
        return err->message[0] != '\0' ? status : no_job(id, err);
    return answer_from(q, &record, &q->text, &q->bytes, err);
}

/* ---- on the thread pool: all jobs --------------------------------------------------------------------- */

static int newest_first(const void *a, const void *b)
{
    const listed_job *x = a, *y = b;
    return x->id > y->id ? -1 : x->id < y->id;
}

static hac_status add_account(question *q, hac_job_account account, hac_error *err)
{
    hac_autofree uint64_t *ids = NULL;
    size_t n = 0;
    hac_status status = hac_job_files_list(q->server->options.state_directory, account, &ids, &n, err);
    if (status != HAC_OK || n == 0)
        return status;
    listed_job *jobs = reallocarray(q->jobs, q->n_jobs + n, sizeof *jobs);
    if (jobs == NULL)
        return hac_fail_no_memory(err);
    q->jobs = jobs;
    for (size_t i = 0; i < n; i++)
        q->jobs[q->n_jobs++] = (listed_job){ids[i], account, NULL};
    return HAC_OK;
}

static hac_status add_accounts(question *q, hac_error *err)
{
    hac_autofree hac_job_account *accounts = NULL;
    size_t n = 0;
    if (!q->sees_all)
        return add_account(q, q->account, err);
    hac_status status = hac_job_files_accounts(q->server->options.state_directory, &accounts, &n, err);
    for (size_t i = 0; i < n && status == HAC_OK; i++)
        status = add_account(q, accounts[i], err);
    return status;
}

/* Damaged records are left out. */
static hac_status read_jobs(question *q, hac_error *err)
{
    size_t bytes = 0;
    hac_status status = add_accounts(q, err);
    if (status != HAC_OK || q->n_jobs == 0)
        return status;
    qsort(q->jobs, q->n_jobs, sizeof *q->jobs, newest_first);
    for (size_t i = 0; i < q->n_jobs && bytes < LIST_BYTES_MAX; i++) {
        hac_autofree char *file = NULL;
        hac_job_record record;
        listed_job *job = &q->jobs[i];
        if (read_record(q, job->account, job->id, &file, &record, NULL) != HAC_OK)
            continue;
        job->line = strndup(record.parts[HAC_RECORD_LINE].text, record.parts[HAC_RECORD_LINE].bytes);
        if (job->line == NULL)
            return hac_fail_no_memory(err);
        bytes += record.parts[HAC_RECORD_LINE].bytes;
    }
    return HAC_OK;
}

static void read_answer(uv_work_t *work)
{
    question *q = hac_container_of(work, question, work);
    q->status = q->topic == HAC__CLIENT__TOPIC__TOPIC_ALL_JOBS ? read_jobs(q, &q->err) : read_job(q, &q->err);
}

/* ---- on the loop -------------------------------------------------------------------------------------- */

/* Remembered jobs and those in memory, by number. A job that is both is shown as it is in memory. */
static hac_status list_all(question *q, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    const hacd_job *job = NULL;
    size_t left = q->n_jobs; /* the oldest is the last one */
    hac_json_open(&text, NULL, '{');
    hac_json_open(&text, "jobs", '[');
    hac_list_for_each (job, &q->server->jobs.list, hacd_job, link) {
        if (job->by_itself || (job->user != q->session->user && !q->sees_all))
            continue;
        for (; left > 0 && q->jobs[left - 1].id < job->id; left--)
            if (q->jobs[left - 1].line != NULL)
                hac_json_raw(&text, NULL, q->jobs[left - 1].line);
        left -= left > 0 && q->jobs[left - 1].id == job->id;
        hac_status_json_add_job(&text, job);
    }
    for (; left > 0; left--)
        if (q->jobs[left - 1].line != NULL)
            hac_json_raw(&text, NULL, q->jobs[left - 1].line);
    hac_json_close(&text, ']');
    hac_json_close(&text, '}');
    return hac_text_finish(&text, &q->text, &q->bytes, err);
}

static void start_reading(hac_server *server, const question *after);

static void answer_read(uv_work_t *work, int status)
{
    question *q = hac_container_of(work, question, work);
    if (status != 0)
        q->status = hac_fail(&q->err, HAC_FAILED, "hacd is leaving");
    if (q->session != NULL) {
        q->session->pending--;
        if (q->status == HAC_OK && q->topic == HAC__CLIENT__TOPIC__TOPIC_ALL_JOBS)
            q->status = list_all(q, &q->err);
        if (q->status == HAC_OK)
            hac_session_send_text(q->session, q->serial, q->text, q->bytes);
        else
            hac_session_send_failure(q->session, q->serial, &q->err, 0);
    }
    start_reading(q->server, q);
    free_question(q);
}

/* Reads for the first question of another account than that of `after`, if there is one. */
static void start_reading(hac_server *server, const question *after)
{
    question *q = NULL, *next = NULL;
    hac_list_for_each (q, &server->history, question, link) {
        if (q == after)
            continue;
        if (next == NULL || (after != NULL && hac_job_account_equal(next->account, after->account) &&
                             !hac_job_account_equal(q->account, after->account)))
            next = q;
    }
    if (next == NULL)
        return;
    next->reading = true;
    int r = hac_blocking_work_queue(&server->loop, &next->work, read_answer, answer_read);
    if (r != 0)
        answer_read(&next->work, r);
}

hac_status hac_job_history_ask(hac_server *server, hac_session *session, uint64_t serial,
                               const Hac__Client__Query *query, hac_error *err)
{
    if (session->pending >= HAC_SESSION_PENDING_MAX)
        return hac_fail(err, HAC_REFUSED, "this connection already waits for %u answers", session->pending);
    question *q = calloc(1, sizeof *q);
    if (q == NULL)
        return hac_fail_no_memory(err);
    session->pending++;
    q->server = server;
    q->session = session;
    q->serial = serial;
    q->id = query->job;
    q->account = hac_job_store_account(session->user);
    q->sees_all = hac_user_is_administrator(session->user);
    q->topic = query->topic;
    q->format = query->format;
    bool first = hac_list_empty(&server->history);
    hac_list_append(&server->history, &q->link);
    if (first)
        start_reading(server, NULL);
    return HAC_OK;
}

void hac_job_history_forget_session(hac_server *server, const hac_session *session)
{
    question *q = NULL;
    hac_list_for_each (q, &server->history, question, link) {
        if (q->session != session)
            continue;
        q->session = NULL;
        if (!q->reading)
            free_question(q);
    }
}
