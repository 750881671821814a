/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhac: give work to hacd, the service that lends a machine's accelerators.
 *
 *     #include <hac/hac.h>
 *
 *     hac_error err = HAC_ERROR_NONE;
 *     hac_client *client = NULL;
 *     hac_buffer *keys = NULL;
 *     hac_job *job = NULL;
 *
 *     if (hac_client_connect(NULL, &client, &err) != HAC_OK || // may start a private daemon
 *         hac_buffer_alloc(client, n * sizeof(uint32_t), &keys, &err) != HAC_OK)
 *         die(err.message);
 *     fill(hac_buffer_data(keys), n); // devices work on this very memory
 *     hac_sort_options options = HAC_SORT_OPTIONS_INIT;
 *     options.type = HAC_TYPE_U32;
 *     if (hac_sort_buffer(client, keys, 0, n, &options, &job, &err) != HAC_OK || // submits
 *         hac_job_wait(job, -1, &err) != HAC_OK)                                 // waits for its end
 *         die(err.message);
 *     const uint32_t *sorted = hac_job_data(job); // mapped, read-only
 *     ...
 *     hac_job_free(job); // the result's memory goes back to the pool
 *     hac_buffer_free(keys);
 *     hac_client_free(client);
 *
 * Build with `pkg-config --cflags --libs hac` or CMake's find_package(hac).
 *
 * Rules that hold for every function
 * - Threads: a hac_client and everything made from it belong to one thread at a time. Several clients in
 *   several threads are fine. Nothing here starts threads or handles signals.
 * - Errors: see <hac/error.h>. Outputs are written on success only.
 * - Ownership: the caller owns what a function returns through a `ret_` pointer, and frees it with the free
 *   function of its type. Free functions accept NULL. Freeing a client ends its connection, or, if columns
 *   were exported, leaves that to their release. Other objects made from the client may still be freed
 *   afterwards, in any order, but must not be read.
 * - Processes: a client belongs to the process that connected. In a forked child, calls that need hacd fail
 *   with HAC_INVALID, and the child connects anew. The child may free what it inherited, and release columns:
 *   the parent's connection, jobs and columns stay as they are. hac_client_free closes the descriptor of the
 *   child. The memory behind columns stays mapped in the child until the child ends.
 * - Inputs are never modified.
 * - Callbacks run only inside calls of this library: hac_client_dispatch, and calls that wait for hacd. A
 *   callback may call the library and free its own job. It must not free the client.
 * - Options: start with the INIT macro of the type, or with all zeros if there is none, and change members. A
 *   NULL pointer to options means the defaults, unless a member must be set.
 *
 * ABI: types are opaque, or versioned by their `size` member. Functions are only ever added.
 */
#ifndef HAC_HAC_H
#define HAC_HAC_H

#include <stddef.h>
#include <stdint.h>

#include <hac/error.h>
#include <hac/job.h>
#include <hac/query.h>
#include <hac/sort.h>
#include <hac/type.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAC_API __attribute__((visibility("default")))

/* The version of the loaded library, such as "0.1.0". */
HAC_API const char *hac_version(void);

/* ---- client -------------------------------------------------------------------------------------- */

typedef struct hac_client hac_client;

enum { HAC_CONNECT_NO_AUTOSTART = 1 }; /* do not start a private daemon */

/* How hac_client_connect finds a daemon. */
typedef struct hac_connect_options {
    size_t size;        /* sizeof(hac_connect_options): set by the INIT macro */
    const char *socket; /* NULL: $HAC_SOCKET, else the system daemon's socket, else the private one's */
    unsigned flags;
    const char *software; /* name of the program, for the daemon's log; NULL: "libhac" */
    /* Called while a private daemon is being started; may be NULL. */
    void (*starting)(void *context, const char *socket);
    void *context;
} hac_connect_options;

#define HAC_CONNECT_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(hac_connect_options), NULL, 0, NULL, NULL, NULL                                               \
    }

/* Connects to a daemon. If there is no system daemon (/run/hac/hacd.sock, for root /run/hac/admin.sock), a
 * private daemon is started for this user, with a socket at $XDG_RUNTIME_DIR/hac/hacd.sock or in a
 * directory of mode 0700 below /tmp. The private daemon exits when idle, logs to
 * $XDG_STATE_HOME/hac/hacd.log, and inherits only a few environment variables. A daemon named by `socket`
 * or $HAC_SOCKET is never started. hacd is looked for in $HAC_LIBEXEC; without it in the libexec folder of
 * this library's own installation or build tree, wherever that is, then of the configured prefix. options
 * may be NULL.
 *
 * HAC_NO_DAEMON: there is no daemon, the daemon has another protocol version (the message names both), or
 * the named socket is of another kind. HAC_REFUSED: the directory of the private socket, or its listener,
 * cannot be trusted; this user may not connect; nobody accepts the connection; or hacd takes no more
 * connections of this user. No other daemon is started in these cases. */
HAC_API HAC_MUST_USE hac_status hac_client_connect(const hac_connect_options *options,
                                                   hac_client **ret_client, hac_error *err);
HAC_API void hac_client_free(hac_client *client);

/* The path of the socket that this client is connected to. It is valid as long as the client. */
HAC_API const char *hac_client_socket(const hac_client *client);

/*
 * For event loops: poll the descriptor for reading, and call hac_client_dispatch when it is readable.
 * hac_client_dispatch receives what has arrived, does not block, and calls the jobs' callbacks.
 * HAC_NO_DAEMON: the daemon is gone or has closed the connection. hacd closes a connection if messages that
 * do not fit into the socket are not read for 10 s.
 */
HAC_API int hac_client_fd(const hac_client *client);
HAC_API HAC_MUST_USE hac_status hac_client_dispatch(hac_client *client, hac_error *err);

/* ---- buffers: pool memory, shared with the devices without a copy -------------------------------- */

typedef struct hac_buffer hac_buffer;

/*
 * Allocates a buffer of at least `bytes` bytes, aligned to 64 bytes. Its content is undefined. Pool memory is
 * recycled and stays mapped, so freeing and allocating again is cheap. A buffer of 4 MiB or more is populated
 * at once if the kernel has large pages (64 MiB take 13 ms, or 200 ms in some virtual machines). For memory
 * that may stay unused call hac_buffer_alloc_growable. HAC_REFUSED: over quota.
 */
HAC_API HAC_MUST_USE hac_status hac_buffer_alloc(hac_client *client, uint64_t bytes, hac_buffer **ret_buffer,
                                                 hac_error *err);
/* Allocates a buffer that hac_buffer_grow can enlarge until a job first uses it. */
HAC_API HAC_MUST_USE hac_status hac_buffer_alloc_growable(hac_client *client, uint64_t bytes,
                                                          hac_buffer **ret_buffer, hac_error *err);
/* Enlarges a growable buffer. The address may change: call hac_buffer_data again. */
HAC_API HAC_MUST_USE hac_status hac_buffer_grow(hac_buffer *buffer, uint64_t bytes, hac_error *err);
HAC_API void *hac_buffer_data(hac_buffer *buffer);
HAC_API uint64_t hac_buffer_bytes(const hac_buffer *buffer);
/* Returns the memory to the pool. No job may be using the buffer. */
HAC_API void hac_buffer_free(hac_buffer *buffer);

/* ---- jobs ---------------------------------------------------------------------------------------- */

typedef struct hac_job hac_job;

/* What a job has done so far. */
typedef struct hac_progress {
    hac_job_state state;
    double fraction;    /* 0 … 1 */
    const char *stage;  /* "scatter", "merge 17" …; valid during the callback */
    const char *device; /* the device that reported last */
    double items_per_second;
    double eta_seconds; /* from the performance model; < 0: unknown */
    const char *note;   /* "building kernels for cpu (2 of 5)" …, or "" */
} hac_progress;

/* Options of every job; part of the options of each job kind. All zeros are the defaults. */
typedef struct hac_job_options {
    const char *const *devices; /* names, as `hacctl devices` lists them; NULL: all */
    size_t n_devices;
    int detach;              /* the job outlives this connection; hac_job_attach finds it by its id */
    int priority;            /* higher first, -100 … 100 */
    double deadline_seconds; /* 0: none */
    uint64_t memory_limit;   /* bytes; 0: the user's quota */
    int fast;                /* without effect: results never depend on the devices */
    /* Called from hac_client_dispatch and from blocking calls. NULL: hacd sends no progress. */
    void (*progress)(void *context, hac_job *job, const hac_progress *progress);
    /* Called once, when the job has ended; possibly before the submitting call returns. May be NULL. */
    void (*done)(void *context, hac_job *job);
    void *context;
} hac_job_options;

/* The id that `hacctl show` and hac_client_query take. It is 0 until hacd has answered. hacd answers a small
 * sort, whose keys are sent in the message, when the sort has ended, and every other job at once. */
HAC_API uint64_t hac_job_id(const hac_job *job);
/* The state in hacd's last message. Only a job with a progress callback gets messages before its end: without
 * the callback the state is HAC_JOB_QUEUED until the job has ended. */
HAC_API hac_job_state hac_job_get_state(const hac_job *job);

/*
 * Waits until the job has ended, for at most timeout_ms milliseconds (-1: without limit). HAC_OK: the job is
 * done and its result is there. HAC_AGAIN: the time is up. HAC_NOT_FOUND: the job is done, but its result was
 * released or has expired. HAC_CANCELLED: the job was cancelled. Other codes are the job's own error.
 */
HAC_API HAC_MUST_USE hac_status hac_job_wait(hac_job *job, int timeout_ms, hac_error *err);

/* The result of a job that is done: read-only, aligned to 64 bytes, valid until hac_job_free. NULL: the job
 * is not done. */
HAC_API const void *hac_job_data(const hac_job *job);
HAC_API uint64_t hac_job_bytes(const hac_job *job);
/* The report of calibrate and tune; for a query remarks about its result, such as the number of skipped
 * records; "" for other jobs. */
HAC_API const char *hac_job_text(const hac_job *job);
/* If types were inferred: the columns that the query reads, as `schema` takes them, cut at 1 KiB. Else "". */
HAC_API const char *hac_job_assumed(const hac_job *job);
/* A column of the result of a query that this process submitted, known from the submission on: 1, its name
 * and its type as in a schema, valid until hac_job_free. 0: there is no column of that index, which counts
 * from 0. */
HAC_API int hac_job_column(const hac_job *job, size_t index, const char **ret_name, const char **ret_type);

/* Requests cancellation, which takes effect within one chunk of work. hac_job_wait then returns
 * HAC_CANCELLED. A job that has ended is not affected. */
HAC_API HAC_MUST_USE hac_status hac_job_cancel(hac_job *job, hac_error *err);

/*
 * Releases the result of a job that has ended, for everybody, also if this connection has only attached to
 * the job. The memory and the job's place among the user's jobs become free; the job's record stays.
 * hac_job_data and exported columns must not be read afterwards. HAC_INVALID: the job has not ended, or it
 * belongs to another connection that still exists.
 */
HAC_API HAC_MUST_USE hac_status hac_job_release(hac_job *job, hac_error *err);

/*
 * For programs that write a job's output themselves. After hac_output_begin, a job that this connection has
 * submitted ends for everybody else only when hac_output_end is called. `how` is HAC_OK if the whole output
 * was written; any other code, with `message`, makes the job fail (HAC_CANCELLED: makes it cancelled). The
 * job also fails if the connection is closed before hac_output_end.
 */
HAC_API HAC_MUST_USE hac_status hac_output_begin(hac_client *client, uint64_t job, hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_output_end(hac_client *client, uint64_t job, hac_status how,
                                               const char *message, hac_error *err);

/* Returns a handle for a job of this user by its id: a detached job, or a job of another connection. hacd
 * keeps the result when the handle is freed. HAC_NOT_FOUND: there is no such job, or hacd no longer knows
 * it. */
HAC_API HAC_MUST_USE hac_status hac_job_attach(hac_client *client, uint64_t id, hac_job **ret_job,
                                               hac_error *err);

/* Frees the handle. The result's memory returns to the pool as soon as exported columns have been released as
 * well. A job that has not ended is cancelled, unless it is detached or was attached to. No callback
 * follows. */
HAC_API void hac_job_free(hac_job *job);

/*
 * The result of a job that is done, as a buffer: the input of another job, of whatever kind. The first
 * hac_job_bytes(job) bytes of the buffer are the result: items of hac_sort_*, or the rows of a query in its
 * result_format. For HAC_RESULT_TABLE use hac_job_export_arrow and hac_query_arrow, which find the columns in
 * this buffer.
 *
 * The memory of the result is the buffer, nothing is copied. Only a result so small that it came in a message
 * (up to 32 KiB) is copied into a new buffer. The buffer must not be written. It keeps the memory when the
 * job is freed or released. `job` may be an attached one (hac_job_attach) of this user.
 *
 * HAC_AGAIN: the job has not ended. HAC_NOT_FOUND: hacd does not know the job any more, or the result was
 * released. HAC_INVALID: the job has failed, or its result has no bytes.
 */
HAC_API HAC_MUST_USE hac_status hac_job_as_input(hac_job *job, hac_buffer **ret_buffer, hac_error *err);

/* ---- sort ---------------------------------------------------------------------------------------- */

/* Where the keys of a planned sort will be. */
typedef enum hac_plan_input {
    HAC_PLAN_INPUT_BUFFER = 0, /* hac_sort_buffer, or a stream */
    HAC_PLAN_INPUT_MEMORY = 1, /* hac_sort_memory */
    HAC_PLAN_INPUT_FILE = 2    /* hac_sort_fd with a file */
} hac_plan_input;

/*
 * Order: unsigned and signed integers by value; floats in total order with -0.0 before +0.0 and all NaNs
 * after +infinity; `descending` is the reverse. Ties keep their input order.
 */
typedef struct hac_sort_options {
    size_t size; /* sizeof(hac_sort_options): set by the INIT macro */
    hac_type type;
    int descending;
    int argsort; /* the result is the sorted order as indices: u32, u64 from 2^32 items */
    hac_sort_algorithm algorithm;
    hac_sort_scheme scheme;
    hac_sort_fold fold;
    const uint32_t *fold_steps; /* HAC_FOLD_STEPS: network steps given to the strongest device, at most 64 */
    size_t n_fold_steps;
    hac_job_options job;
    hac_plan_input plan_input; /* for hac_explain_sort and hac_simulate_sort */
    /* hac_sort_fd: take the bytes as keys even if they begin like another format: a zip archive, .npy */
    int raw;
} hac_sort_options;

#define HAC_SORT_OPTIONS_INIT                                                                                \
    {                                                                                                        \
        sizeof(hac_sort_options), HAC_TYPE_NONE, 0, 0, HAC_SORT_AUTO, HAC_SCHEME_AUTO, HAC_FOLD_AUTO, NULL,  \
            0, {NULL, 0, 0, 0, 0.0, 0, 0, NULL, NULL, NULL}, HAC_PLAN_INPUT_BUFFER, 0                        \
    }

/* Sorts `items` keys at byte `offset` (a multiple of 64) of a pool buffer. A device that works in host memory
 * makes no copy. The buffer must stay allocated until the job has ended. */
HAC_API HAC_MUST_USE hac_status hac_sort_buffer(hac_client *client, hac_buffer *keys, uint64_t offset,
                                                uint64_t items, const hac_sort_options *options,
                                                hac_job **ret_job, hac_error *err);

/* Sorts keys in the caller's memory, which may be reused when the call returns. Up to 32 KiB are sent in the
 * message; more is copied into the pool. Many small jobs may run at once; with more than 192 KiB of results
 * outstanding, the call waits for some of them. If a small job is refused, hac_job_wait returns the error. */
HAC_API HAC_MUST_USE hac_status hac_sort_memory(hac_client *client, const void *keys, uint64_t items,
                                                const hac_sort_options *options, hac_job **ret_job,
                                                hac_error *err);

/*
 * Sorts `items` keys of a file, from byte `offset` on. UINT64_MAX: all keys to the end of the file, whose
 * rest must be a multiple of the type's size. The executors read a file from the descriptor, and do not map
 * it. Up to 32 KiB of a file are read into the message, unless algorithm, scheme or fold are chosen. A pipe
 * or socket is read to its end into the pool before the call returns. The descriptor may be closed when the
 * call returns. `name` is used in messages; it may be NULL.
 */
HAC_API HAC_MUST_USE hac_status hac_sort_fd(hac_client *client, int fd, uint64_t offset, uint64_t items,
                                            const char *name, const hac_sort_options *options,
                                            hac_job **ret_job, hac_error *err);

/* Sorts keys that have a payload of `payload_bytes` (1 to 256) bytes each. The result is the sorted keys and,
 * from the next multiple of 64 bytes on (hac_job_payload), the payloads in the order of the keys. */
HAC_API HAC_MUST_USE hac_status hac_sort_pairs(hac_client *client, hac_buffer *keys, hac_buffer *payload,
                                               uint32_t payload_bytes, uint64_t items,
                                               const hac_sort_options *options, hac_job **ret_job,
                                               hac_error *err);
/* The payloads of a hac_sort_pairs job that is done, valid as long as hac_job_data. NULL for other jobs. */
HAC_API const void *hac_job_payload(const hac_job *job);

/* ---- queries -------------------------------------------------------------------------------------- */

/* How a result becomes a Parquet file. */
typedef struct hac_parquet_output {
    hac_compression compression;
    /* Maximum size of a row group in the file; all but the last have at least 95 % of it. 0: 128 MiB, and
     * rows in an order have smaller row groups, which devices write side by side. */
    uint64_t group_bytes;
    uint64_t group_rows;  /* maximum number of rows of a row group; 0: no limit */
    uint64_t block_bytes; /* no row group crosses a multiple of this in the file; 0: row groups may */
} hac_parquet_output;

/*
 * A query takes the rows of the source for which `where` is true, groups them by `group_by`, and returns
 * `select`. docs/expressions.md describes the language. With group_by the result has the columns of the
 * group, then those of select; a column that appears twice is returned once. Without `order_by` the order of
 * rows is unspecified. Texts are UTF-8 of at most 30 KiB each, and the compiled query has at most 32 KiB.
 * NULL: no text.
 *
 * libhac compiles the query. HAC_INVALID from a submitting call: the query is wrong, and the message names
 * the option and the character. If the columns are known only from the source (Parquet, infer_schema), the
 * call waits until an executor has read them.
 */
typedef struct hac_query_options {
    size_t size; /* sizeof(hac_query_options): set by the INIT macro */
    /* name:type,...; NULL: the columns that the header or the format names, as strings; of a Parquet file all
     * columns with their types. */
    const char *schema;
    const char *where;    /* such as: total > 10 and name like 'a%' */
    const char *group_by; /* such as: day, upper(city) as c */
    const char *select;   /* such as: sum(x * y) as s, count() as n; * is all columns */
    const char *order_by; /* such as: s desc, name */
    uint64_t limit;       /* rows; UINT64_MAX: all */
    hac_result_format result_format;
    hac_input_format input_format; /* of files and text */
    hac_hot_keys hot_keys;
    uint32_t sample;      /* per mille of the rows that are sampled for hot keys; 0: the planner decides */
    uint32_t hot_share;   /* per mille of the sample's keys that count as hot; 0: the planner decides */
    uint32_t work_groups; /* of the device's kernels; 0: as tuned */
    uint32_t work_items;  /* of a work-group; 0: as tuned */
    hac_job_options job;
    hac_engine engine;
    hac_parquet_output parquet; /* HAC_RESULT_PARQUET */
    /* csv, tsv, jsonl without a schema: the types of the first records. A later record that does not have
     * them is an error. */
    int infer_schema;
    int plan_splits; /* hac_explain_query, hac_simulate_query: plan it as hac_query_splits would run it */
    int sort_rows;   /* plans, receipts and metrics call the query a sort of rows */
    int stop_fd;     /* hac_query_stream gives up when this descriptor becomes readable; -1: none */
    int distinct;    /* rows of the result that are equal appear once */
    int select_only; /* the columns of the result are those of select, in its order, as in SQL; 0: the keys of
                      * group_by come first */
    hac_input_options input_options; /* of input_format */
    const char *having;              /* groups for which this is true, such as: count() > 1 */
    uint64_t offset;                 /* rows of the result that are left out, from the first one on */
    /* Of the rows that have the same values of these expressions, the result has the first limit_each in its
     * order, before limit and offset. NULL: all. */
    const char *limit_by;
    uint64_t limit_each; /* UINT64_MAX: limit_by is NULL */
    /* HAC_FIND_… bits of what is found in the first records: DELIMITER and HEADER of csv and tsv, and FORMS
     * of the columns whose types are inferred: the options decimal, thousands and dates. input_options
     * says the rest; its members must be 0 where they are to be found. hac_job_text says what was found,
     * unless it is the default. */
    int find;
    /* Instead of a query, a summary of the source's columns; `where` limits its rows, and no other text may
     * be set. hac_job_column tells the columns of the source. HAC_SUMMARY_VALUES has one row: "rows", and for
     * the columns from summary_first on, counted from 0, as many as a query has room for, their values:
     * "3:count", "3:distinct", "3:min", "3:max", and of numbers "3:mean", "3:stddev", "3:q25", "3:median",
     * "3:q75"; a column that cannot be read has "3:none". */
    int summary;
    unsigned summary_first;
    /* As in WITH t AS (SELECT with_select FROM source WHERE with_where): the other texts see the columns that
     * with_select names and computes in place of the source's. NULL: the source itself. */
    const char *with_select;
    const char *with_where;
    /* Columns whose values are in the names of folders, as a schema: "year:i64,city:string" for the name
     * sales/year=2024/city=Rome/a.parquet, which hac_query_files and hac_query_splits then get with each
     * file. A file whose name lacks a column has null. hac_files_apply (<hac/files.h>) finds them. NULL:
     * none. csv, tsv, jsonl, logfmt, parquet. */
    const char *path_columns;
    uint64_t files_left_out; /* files that need not be read; plans and receipts say so */
    /* Refuses files whose columns are in another order than those of the first one, as in UNION ALL without
     * BY NAME: columns have the places of the first file there. */
    int by_position;
    /* Columns that hac_query_find_columns has found; NULL: they are found in this source. */
    const void *columns;
    uint64_t columns_bytes;
} hac_query_options;

enum {
    HAC_SUMMARY_NONE = 0,
    HAC_SUMMARY_COLUMNS = 1, /* no rows */
    HAC_SUMMARY_VALUES = 2
};

/* What hac_query_options.find asks for. */
enum { HAC_FIND_DELIMITER = 1, HAC_FIND_HEADER = 2, HAC_FIND_FORMS = 4 };

#define HAC_QUERY_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(hac_query_options), NULL, NULL, NULL, NULL, NULL, UINT64_MAX, HAC_RESULT_CSV, HAC_INPUT_NONE, \
            HAC_HOT_KEYS_AUTO, 0, 0, 0, 0, {NULL, 0, 0, 0, 0.0, 0, 0, NULL, NULL, NULL}, HAC_ENGINE_AUTO,    \
            {HAC_COMPRESSION_ZSTD, 0, 0, 0}, 0, 0, 0, -1, 0, 0, HAC_INPUT_OPTIONS_INIT, NULL, 0, NULL,       \
            UINT64_MAX, 0, 0, 0, NULL, NULL, NULL, 0, 0, NULL, 0                                             \
    }

/* Sets an option of the input format by the name and the value that logic files have for it
 * (docs/formats.md): ("delimiter", ";"), ("header", "false"), ("null_text", "NA,NULL"), ("byte_order",
 * "big"), ("on_error", "skip"), ("quote", "'"), ("first_row_group", "2"), ("row_groups", "1"). For programs
 * that pass on what a user wrote. HAC_INVALID: there is no such option or value; the message lists those that
 * exist. */
HAC_API HAC_MUST_USE hac_status hac_query_set_option(hac_query_options *options, const char *name,
                                                     const char *value, hac_error *err);

/* The format that the suffix of a file's name stands for: "a.csv.gz" is csv. HAC_INPUT_NONE: none. */
HAC_API hac_input_format hac_input_format_of(const char *path);

/*
 * A SELECT statement of SQL over files (docs/sql.md), split into the texts of hac_query_options:
 *
 *     hac_sql *sql = NULL;
 *     hac_query_options options = HAC_QUERY_OPTIONS_INIT;
 *     if (hac_sql_read("SELECT day, sum(price) FROM 'sales.csv' GROUP BY day", &sql, &err) == HAC_OK)
 *         hac_sql_apply(sql, &options);
 *
 * The caller opens the sources, of which hac_sql_source(sql, 0) is the first, and submits the query by any of
 * the functions below.
 */
typedef struct hac_sql hac_sql;

/* Reads a statement. HAC_INVALID: the message begins with "SQL: character 7: "; for SQL that hac does not
 * have, such as joins, it names what to use instead. */
HAC_API HAC_MUST_USE hac_status hac_sql_read(const char *text, hac_sql **ret, hac_error *err);
HAC_API void hac_sql_free(hac_sql *sql);
/* What follows FROM: a file, a folder, a pattern such as logs/2*.csv, or "-"; several of these with UNION
 * ALL. NULL: there is no source `index`. */
HAC_API const char *hac_sql_source(const hac_sql *sql, size_t index);
/* The format that FROM names, as read_csv('…') does; HAC_INPUT_NONE: it names none. */
HAC_API hac_input_format hac_sql_format(const hac_sql *sql);
/* Sets the texts, the limit, distinct and select_only of the options. The texts are valid as long as `sql`.
 */
HAC_API void hac_sql_apply(const hac_sql *sql, hac_query_options *options);
/* Rewords the message of a query that has failed with HAC_INVALID for the statement: "--where: character 3:
 * …" becomes "SQL: character 29: …". */
HAC_API void hac_sql_reword(const hac_sql *sql, hac_error *err);

/* Queries regular files as one source, in the given order, from their beginnings to their current ends. The
 * executors read the descriptors, and do not map them; the descriptors may be closed when the call returns.
 * `names` are used in messages; the array and each name may be NULL. */
HAC_API HAC_MUST_USE hac_status hac_query_files(hac_client *client, const int *fds, const char *const *names,
                                                size_t n_files, const hac_query_options *options,
                                                hac_job **ret_job, hac_error *err);

/* Describes a Parquet file in JSON (docs/flows/parquet.md): rows, columns, row groups, the places of each
 * column's pages, statistics. The result (hac_job_data) is the text. */
HAC_API HAC_MUST_USE hac_status hac_describe_parquet(hac_client *client, int fd, const char *name,
                                                     const hac_job_options *options, hac_job **ret_job,
                                                     hac_error *err);

/* Queries text, or a Parquet file, in the caller's memory, which may be reused when the call returns. Up to
 * 16 KiB are sent in the message; more is copied into the pool. */
HAC_API HAC_MUST_USE hac_status hac_query_memory(hac_client *client, const void *text, uint64_t bytes,
                                                 const hac_query_options *options, hac_job **ret_job,
                                                 hac_error *err);

/* Queries text at byte `offset` (a multiple of 64) of a pool buffer, which must stay allocated until the job
 * has ended. */
HAC_API HAC_MUST_USE hac_status hac_query_buffer(hac_client *client, hac_buffer *buffer, uint64_t offset,
                                                 uint64_t bytes, const hac_query_options *options,
                                                 hac_job **ret_job, hac_error *err);

/* Queries a pipe, a socket, a terminal or any other readable descriptor. The call reads it to its end into
 * the pool before it returns, and decompresses input that begins like gzip or zstd. HAC_REFUSED: the input
 * has more than options->job.memory_limit bytes, or more than the user's quota. HAC_CANCELLED:
 * options->stop_fd became readable. `name` is used in messages; it may be NULL. */
HAC_API HAC_MUST_USE hac_status hac_query_stream(hac_client *client, int fd, const char *name,
                                                 const hac_query_options *options, hac_job **ret_job,
                                                 hac_error *err);

/* ---- queries over splits -------------------------------------------------------------------------- */

/*
 * The inputs of hac_query_splits, and the destination of rows. Inputs are read one after another, each from
 * the current position of its descriptor to its end. The end of a file is the one that it has when it is
 * opened; a file that is truncated while it is read is an error. Each csv or tsv input with a header has its
 * own header, and its columns may be in another order. A last line without a line end is a record. Messages
 * name the input.
 */
typedef struct hac_splits {
    size_t size;     /* sizeof(hac_splits): set by the INIT macro */
    size_t n_inputs; /* files, pipes, sockets …; any number */
    /* Opens input `index` when the inputs before it have been read; libhac closes it. *ret_name is used in
     * messages, must be valid until the next call, and may be NULL. An error ends the query after everything
     * that was read before has been processed and its rows have been written; so does an error of reading. */
    hac_status (*open)(void *context, size_t index, int *ret_fd, const char **ret_name, hac_error *err);
    /* Called with the bytes of the result, in order. Nothing is read while it runs. An error cancels the
     * query. May be NULL for queries that aggregate. */
    hac_status (*write)(void *context, const void *bytes, size_t n, hac_error *err);
    void *context;
    const char *name; /* of the whole input, for display; NULL allowed */
    /* Size of a split, at most 1 GiB. 0: 4 to 32 MiB, as suits the devices, but at most a sixteenth of
     * options->job.memory_limit, and less if the quota has less. Below 1 MiB data sets are smaller as well,
     * and floats may be added up in another order. */
    uint64_t split_bytes;
    int stop_fd; /* the query is cancelled when this descriptor becomes readable; -1: none */
    /* 0: inputs that begin like gzip or zstd are decompressed, and inputs whose names end in .gz or .zst must
     * be compressed; for HAC_INPUT_FIXED and HAC_INPUT_LENGTHS the same as 2. 1: nothing is decompressed, and
     * text may begin like another format. 2: only inputs with such names are decompressed, as binary numbers
     * may begin like gzip. */
    int uncompressed;
} hac_splits;

#define HAC_SPLITS_INIT                                                                                      \
    {                                                                                                        \
        sizeof(hac_splits), 0, NULL, NULL, NULL, NULL, 0, -1, 0                                              \
    }

/*
 * Queries all inputs as one source, in *splits*. A split holds whole records; libhac reads the next split
 * while the devices work on the ones before. The memory is bounded however long the input is
 * (docs/flows/splice.md): at most five splits, of which four have been handed over. If other jobs of this
 * user hold the memory, the call waits for it. A record has at most 64 MiB. The call blocks until the query
 * has ended; no callback may free the job. options->job.detach is not possible, and Parquet files and tables
 * are not possible as inputs.
 *
 * Files of HAC_INPUT_FIXED of 1 MiB or more are read by the executors, not here, if `uncompressed` says that
 * they are not compressed. Their descriptor is then positioned behind the bytes that were handed over.
 *
 * A query for rows has no group_by and no aggregate in select. Its rows go to `write` split by split, and a
 * split ends when the input pauses for 10 ms, so that first results do not wait for more input. The result of
 * a query that aggregates is the job's (hac_job_data) when the call returns; it does not depend on the timing
 * of the input. Rows that are ordered, and rows as columns or as a Parquet file, are the job's result as
 * well. They need the whole input in memory: HAC_REFUSED if it has more than options->job.memory_limit bytes.
 * All inputs must then have the same header.
 *
 * *ret_job is also set on failure if the job was submitted; set it to NULL before the call. HAC_CANCELLED:
 * stop_fd became readable.
 */
HAC_API HAC_MUST_USE hac_status hac_query_splits(hac_client *client, const hac_splits *splits,
                                                 const hac_query_options *options, hac_job **ret_job,
                                                 hac_error *err);

/* ---- graphs of sub-operators; their vectors: <hac/vector.h> ------------------------------------------ */

/* A part of a vector in one of the graph's buffers (<hac/op.h>). offset is a multiple of 64. */
typedef struct hac_op_span {
    uint32_t buffer; /* index into hac_ops.buffers */
    int written;     /* else it is read */
    uint64_t offset, bytes;
    /* Bytes of the buffer that the task reads or writes, so that tasks on parts of one vector may run side by
     * side. touch_bytes 0: the whole span. */
    uint64_t touch_first, touch_bytes;
} hac_op_span;

/* A sub-operator over its vectors, or over one component of them. */
typedef struct hac_op_task {
    const char *codelet;          /* "op.map" */
    const char *name;             /* for plans, logs and messages; NULL: the codelet's */
    hac_type type;                /* of its elements, for performance models; NONE: they are no numbers */
    uint64_t first, count, grain; /* its range, which may be split at multiples of grain; 0: not split */
    const hac_op_span *spans;     /* at most 16 */
    size_t n_spans;
    const void *call; /* a hac_op_call and what follows it: <hac/op.h>; at most 16 KiB */
    size_t call_bytes;
    const uint32_t *after; /* indices of earlier tasks that this task depends on */
    size_t n_after;
    double units;    /* its work, for models: elements, or multiplications */
    uint64_t memory; /* bytes that it works on, for HAC_OP_POLICY_RULE */
    const char *pin; /* a processor type (cpu, gpu, fpga, dsp, arm) or a device; NULL: none */
    int host;        /* run the host codelet, not kernels (exp, sin, pow, texts); on a CPU if there is one */
} hac_op_task;

/* How the tasks of a graph are placed. */
typedef enum hac_op_policy {
    HAC_OP_POLICY_MEASURED = 0, /* where the performance models predict the earliest end */
    HAC_OP_POLICY_RULE = 1      /* by type and size: docs/flows/opsplit.md */
} hac_op_policy;

/* A graph has at most 32 buffers and 512 tasks, and takes at most 64 KiB in a message. */
typedef struct hac_ops {
    size_t size; /* sizeof(hac_ops): set by the INIT macro */
    const char *name;
    hac_buffer *const *buffers;
    const uint64_t *sizes; /* hac_explain_ops, hac_simulate_ops: size of each buffer, instead of `buffers` */
    size_t n_buffers;
    const hac_op_task *tasks;
    size_t n_tasks;
    hac_op_policy policy;
    uint64_t threshold; /* bytes, for HAC_OP_POLICY_RULE; 0: 3 GiB */
    int kernels;        /* use OpenCL kernels even if host codelets could run */
    hac_job_options job;
    /* Number of tasks at the end that may fail because of their data: other tasks still run, and
     * hac_job_op_values says which failed. For speculative work. 0: the graph fails with any task. */
    size_t n_tentative;
} hac_ops;

#define HAC_OPS_INIT                                                                                         \
    {                                                                                                        \
        sizeof(hac_ops), NULL, NULL, NULL, 0, NULL, 0, HAC_OP_POLICY_MEASURED, 0, 0,                         \
            {NULL, 0, 0, 0, 0.0, 0, 0, NULL, NULL, NULL}, 0                                                  \
    }

/* Runs a graph. The caller must not change or free the buffers until the job has ended. A task must not write
 * what an earlier task reads. */
HAC_API HAC_MUST_USE hac_status hac_ops_submit(hac_client *client, const hac_ops *ops, hac_job **ret_job,
                                               hac_error *err);
/*
 * Runs graphs one after another as one job, for loops and conditions whose next graph depends on the values
 * of the one before. hac_ops_begin takes the name, policy, threshold, kernels and job of `ops`, which has no
 * buffers and no tasks. hac_ops_run runs the next graph and returns when it is done; hac_job_op_values then
 * has its values. graph NULL: only the log is appended. `log` holds lines for the job's log, at most 16 KiB;
 * it may be NULL. hac_ops_finish ends the job; freeing the handle before cancels the job. The job cannot be
 * detached and has no result.
 */
HAC_API HAC_MUST_USE hac_status hac_ops_begin(hac_client *client, const hac_ops *ops, hac_job **ret_job,
                                              hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_ops_run(hac_job *job, const hac_ops *graph, const char *log,
                                            hac_error *err);
/*
 * hac_ops_run in two steps. A graph may be sent while another one runs, so that devices do not wait for the
 * program in between; it runs when the other graph has ended, and may read what that one writes.
 * hac_ops_await waits for the graph that was sent first; hac_job_op_values then has the values of that graph.
 */
#define HAC_OPS_UNANSWERED_MAX 2
HAC_API HAC_MUST_USE hac_status hac_ops_send(hac_job *job, const hac_ops *graph, const char *log,
                                             hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_ops_await(hac_job *job, hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_ops_finish(hac_job *job, const char *log, hac_error *err);
/* The values that task `task` of a finished graph has returned: *ret_n numbers, at most 4. HAC_FAILED: the
 * task was tentative and has failed; what it writes, and what depends on that, is undefined. */
#define HAC_OP_VALUES_MAX 4
HAC_API HAC_MUST_USE hac_status hac_job_op_values(const hac_job *job, size_t task,
                                                  uint64_t ret_values[HAC_OP_VALUES_MAX], size_t *ret_n,
                                                  hac_error *err);
/* ---- Arrow C Data Interface ---------------------------------------------------------------------- */

/* The standard's own structures (https://arrow.apache.org/docs/format/CDataInterface.html and
 * CStreamInterface.html), with its guards. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* Sorts a primitive column without nulls (formats i I f l L g). The values are copied into the pool once, or
 * not at all if they lie in a hac_buffer of this client. The caller keeps the column. options->type may be
 * HAC_TYPE_NONE. */
HAC_API HAC_MUST_USE hac_status hac_sort_arrow(hac_client *client, const struct ArrowSchema *schema,
                                               const struct ArrowArray *keys, const hac_sort_options *options,
                                               hac_job **ret_job, hac_error *err);

/*
 * Sorts all values of a stream of one such column: its batches are arrays of the column's format, or of
 * format +s with the column as the only child. The call reads the stream to its end, copies the values into
 * the pool once, and releases the stream, also on failure. HAC_FAILED: the stream returned an error.
 */
HAC_API HAC_MUST_USE hac_status hac_sort_arrow_stream(hac_client *client, struct ArrowArrayStream *stream,
                                                      const hac_sort_options *options, hac_job **ret_job,
                                                      hac_error *err);

/* Sorts a column as above, with a fixed-width payload column of the same length. */
HAC_API HAC_MUST_USE hac_status hac_sort_arrow_pairs(hac_client *client, const struct ArrowSchema *key_schema,
                                                     const struct ArrowArray *keys,
                                                     const struct ArrowSchema *payload_schema,
                                                     const struct ArrowArray *payload,
                                                     const hac_sort_options *options, hac_job **ret_job,
                                                     hac_error *err);

/*
 * Queries columns: an array of format +s whose children have, with or without nulls, sliced or not,
 *
 *   these Arrow formats                         the type
 *   b, c C s S i I l L, f g, tdD                bool, i8 … u64, f32 and f64, date
 *   e                                           f32
 *   tdm                                         date; all values must be whole days
 *   tss: tsm: tsu: tsn:, with any zone          timestamp (UTC); all values must be whole microseconds
 *   d:p,s of 32, 64 or 128 bits, p up to 38     decimal(p,s)
 *   u U vu                                      string
 *   z Z vz w:N                                  bytes
 *   n                                           string; all rows are null
 *   integers with a dictionary of one of these  the type of the dictionary
 *
 * A second and third column called n are called n_1 and n_2, as those of a CSV header.
 * HAC_UNSUPPORTED: a column has another format (lists, structs, times of a day …); the message names both.
 * HAC_INVALID: an array is none, or a value does not fit; the message names the column, and the row, counted
 * from 1. The columns are copied into the pool once, or not at all if every part lies in one hac_buffer of
 * this client at a multiple of 64 bytes, and no value has to be converted. options->schema and input_format
 * are ignored. The caller keeps the columns; those that are not copied must stay until the job has ended.
 */
HAC_API HAC_MUST_USE hac_status hac_query_arrow(hac_client *client, const struct ArrowSchema *schema,
                                                const struct ArrowArray *columns,
                                                const hac_query_options *options, hac_job **ret_job,
                                                hac_error *err);

/*
 * Queries all batches of a stream, of any number, also none, as one table. The call reads the stream to its
 * end and releases it, also on failure. Batches are released when the call returns; the only batch of a
 * stream that is not copied, when the job has ended. HAC_FAILED: the stream returned an error; the message
 * has its text. HAC_REFUSED: the batches have more than options->job.memory_limit bytes, or more than the
 * user's quota.
 */
HAC_API HAC_MUST_USE hac_status hac_query_arrow_stream(hac_client *client, struct ArrowArrayStream *stream,
                                                       const hac_query_options *options, hac_job **ret_job,
                                                       hac_error *err);

/* Exports the result: the column of a sort, or a query's HAC_RESULT_TABLE as an array of format +s with its
 * columns as children. Nothing is copied, except that decimals of up to 18 digits are widened to 128 bits.
 * The exported columns hold the job's memory and the connection, so hac_job_free and hac_client_free may
 * follow. Any thread may release them, also while another one uses or frees the client, its jobs or its
 * buffers. The memory returns to the pool with the next call of hac_client_dispatch, or of a function that
 * waits, submits or allocates; after hac_client_free, at once.
 *
 * Readers of Arrow trust that strings are UTF-8, and inputs need not be. A string column with a value that is
 * not UTF-8 is exported as binary (formats z and Z in place of u and U); hac_job_column still calls it
 * string. In names, each byte that is not UTF-8 becomes U+FFFD. */
HAC_API HAC_MUST_USE hac_status hac_job_export_arrow(hac_job *job, struct ArrowSchema *ret_schema,
                                                     struct ArrowArray *ret_array, hac_error *err);
/* Exports the result as above, but every string column as u or U: for readers that take any bytes. */
HAC_API HAC_MUST_USE hac_status hac_job_export_arrow_raw(hac_job *job, struct ArrowSchema *ret_schema,
                                                         struct ArrowArray *ret_array, hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_job_export_arrow_payload(hac_job *job, struct ArrowSchema *ret_schema,
                                                             struct ArrowArray *ret_array, hac_error *err);

/* Exports the result as a stream of one batch, as above: the columns of a query's HAC_RESULT_TABLE; of a sort
 * "key" ("index" of an argsort) and, if there is one, "payload". The stream holds the job's memory until it
 * and every array that came from it have been released. */
HAC_API HAC_MUST_USE hac_status hac_job_export_arrow_stream(hac_job *job, struct ArrowArrayStream *ret_stream,
                                                            hac_error *err);

/* ---- plans, questions, administration ------------------------------------------------------------ */

/* The form of a plan. */
typedef enum hac_plan_format {
    HAC_PLAN_TEXT = 0,
    HAC_PLAN_JSON = 1
} hac_plan_format; /* hacctl draws plans */

/* Returns the plan of a sort of `items` keys on this machine, without running it. options->plan_input says
 * where the keys will be. *ret_text is malloc'ed. */
HAC_API HAC_MUST_USE hac_status hac_explain_sort(hac_client *client, uint64_t items,
                                                 const hac_sort_options *options, hac_plan_format format,
                                                 char **ret_text, hac_error *err);

/* A device of a simulated machine; docs/profiles.md describes the members. */
typedef struct hac_simulated_capability {
    const char *key; /* "sort.u32" */
    double items_per_second;
} hac_simulated_capability;
typedef struct hac_simulated_device {
    size_t size;
    const char *name, *group, *kind;
    int simt;
    uint32_t threads, max_loop_iterations, block_items;
    uint64_t memory, max_allocation, local_memory; /* bytes; 0: unlimited */
    double link_bandwidth, link_latency;           /* bytes/s, seconds; 0: none */
    const hac_simulated_capability *capability;
    size_t n_capability;
} hac_simulated_device;
HAC_API HAC_MUST_USE hac_status hac_simulate_sort(hac_client *client, const hac_simulated_device *devices,
                                                  size_t n_devices, uint64_t items,
                                                  const hac_sort_options *options, hac_plan_format format,
                                                  char **ret_text, hac_error *err);

/* A query that is planned, not run. */
typedef struct hac_planned_query {
    size_t size;             /* sizeof(hac_planned_query): set by the INIT macro */
    const uint64_t *sources; /* size of each input file in bytes */
    size_t n_sources;
    /* A file that has the query's columns, for a query without schema whose format does not determine them;
     * -1: none. */
    int fd;
    const hac_query_options *options;
    /* Descriptors of the files, as for hac_query_files, instead of `fd`; NULL: the files need not exist. An
     * executor reads the footers of Parquet files then, and the plan is that of a job. */
    const int *fds;
    const char *const *names; /* of the files, or NULL */
} hac_planned_query;

#define HAC_PLANNED_QUERY_INIT                                                                               \
    {                                                                                                        \
        sizeof(hac_planned_query), NULL, 0, -1, NULL, NULL, NULL                                             \
    }

/* Returns the plan of a query on this machine, without running it. *ret_text is malloc'ed. HAC_INVALID: the
 * query is wrong, as for hac_query_files. */
HAC_API HAC_MUST_USE hac_status hac_explain_query(hac_client *client, const hac_planned_query *query,
                                                  hac_plan_format format, char **ret_text, hac_error *err);
/* Returns the plan of a query on a machine that need not exist. The devices state the capability
 * "mapreduce.none" in bytes per second. */
HAC_API HAC_MUST_USE hac_status hac_simulate_query(hac_client *client, const hac_simulated_device *devices,
                                                   size_t n_devices, const hac_planned_query *query,
                                                   hac_plan_format format, char **ret_text, hac_error *err);

/* Return the plan of a graph of sub-operators, on this machine or a simulated one, without running it.
 * ops->sizes take the place of its buffers. *ret_text is malloc'ed. */
HAC_API HAC_MUST_USE hac_status hac_explain_ops(hac_client *client, const hac_ops *ops,
                                                hac_plan_format format, char **ret_text, hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_simulate_ops(hac_client *client, const hac_simulated_device *devices,
                                                 size_t n_devices, const hac_ops *ops, hac_plan_format format,
                                                 char **ret_text, hac_error *err);

/* What hac_client_query asks for. */
typedef enum hac_topic {
    HAC_TOPIC_STATUS = 0,    /* JSON: version, daemon pid and socket */
    HAC_TOPIC_DEVICES = 1,   /* JSON */
    HAC_TOPIC_JOBS = 2,      /* JSON */
    HAC_TOPIC_SHOW = 3,      /* JSON of one job */
    HAC_TOPIC_WHY = 4,       /* text of one job */
    HAC_TOPIC_RECEIPT = 5,   /* JSON of one job */
    HAC_TOPIC_LOG = 6,       /* text of one job */
    HAC_TOPIC_TRACE = 7,     /* Chrome/Perfetto trace JSON of one job */
    HAC_TOPIC_PLAN = 8,      /* plan of one job, in `format` */
    HAC_TOPIC_MODELS = 9,    /* JSON */
    HAC_TOPIC_METRICS = 10,  /* OpenMetrics text */
    HAC_TOPIC_PROBLEMS = 11, /* JSON: what is wrong with this machine's set-up */
    HAC_TOPIC_TUNING = 12,   /* JSON: settings of the devices, and where each comes from */
    HAC_TOPIC_ALL_JOBS = 13  /* JSON: as HAC_TOPIC_JOBS, with the ended jobs that are remembered */
} hac_topic;

/* Queries the daemon's state. `job` is 0 if the topic is not about a job; of a topic that is about one job, 0
 * is the user's newest job. Of each user the last 1,000 ended jobs are remembered, also by the next daemon.
 * `format` is for HAC_TOPIC_PLAN. *ret_text is malloc'ed and NUL-terminated. */
HAC_API HAC_MUST_USE hac_status hac_client_query(hac_client *client, hac_topic topic, uint64_t job,
                                                 hac_plan_format format, char **ret_text, hac_error *err);

/* Submits a job that measures performance models (tune = 0) or searches for settings (tune = 1) of the named
 * devices, or of all devices if none is named. hac_job_text is its report in JSON. */
HAC_API HAC_MUST_USE hac_status hac_calibrate(hac_client *client, int tune, const hac_job_options *options,
                                              hac_job **ret_job, hac_error *err);

/* Goes back to the settings that devices had before the last search that changed them (all = 0), or before
 * all searches (all = 1). No device is named: all devices. For administrators, like the search itself. */
HAC_API HAC_MUST_USE hac_status hac_tuning_revert(hac_client *client, const char *const *devices,
                                                  size_t n_devices, int all, hac_error *err);

/* Builds the kernels of a device ahead of time, writes them as one image to `fd` (an empty memfd or regular
 * file), and returns when the image is complete. A profile's `program: {binary: ...}` takes the image.
 * *ret_text is malloc'ed JSON: {"device", "bytes", "programs", "left_out": why a program is missing, or
 * null}. */
HAC_API HAC_MUST_USE hac_status hac_build_kernels(hac_client *client, const char *device, int fd,
                                                  char **ret_text, hac_error *err);

/* The daemon finishes its jobs, accepts no new ones, and exits. */
HAC_API HAC_MUST_USE hac_status hac_client_drain(hac_client *client, hac_error *err);
/* The daemon reads its configuration and profiles again. If one is invalid, the old ones stay, and the call
 * returns the error. */
HAC_API HAC_MUST_USE hac_status hac_client_reload(hac_client *client, hac_error *err);

#ifdef __cplusplus
}
#endif
#endif
