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
 * - Ownership: what a function returns through a `ret_` pointer is the caller's, to be freed with the free
 *   function of its type; free functions accept NULL. Freeing a client ends its connection: what was made
 *   from it may still be freed, in any order, but must not be read any more.
 * - Inputs are never modified.
 * - Callbacks run inside calls of this library only: hac_client_dispatch, and those that wait for hacd. They
 *   may call the library, and free their own job, but not the client.
 * - Options: begin with the INIT macro of the type, or with all zeros where there is none, and set what
 *   should be otherwise. Where an argument is a pointer to options, NULL is as good as untouched ones unless
 *   a member has to be set.
 *
 * ABI: types are opaque or versioned by their `size` member; functions are only ever added.
 */
#ifndef HAC_HAC_H
#define HAC_HAC_H

#include <stddef.h>
#include <stdint.h>

#include <hac/error.h>
#include <hac/type.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAC_API __attribute__((visibility("default")))

/* Version of the library that is loaded, "0.1.0". */
HAC_API const char *hac_version(void);

/* ---- client -------------------------------------------------------------------------------------- */

typedef struct hac_client hac_client;

enum { HAC_CONNECT_NO_AUTOSTART = 1 }; /* do not start a private daemon */

typedef struct hac_connect_options {
    size_t size;        /* sizeof(hac_connect_options): set by the INIT macro */
    const char *socket; /* NULL: $HAC_SOCKET, else the system daemon's socket, else the private one's */
    unsigned flags;
    const char *software; /* who connects, for the daemon's log; NULL: "libhac" */
    /* Called while a private daemon is being started; may be NULL. */
    void (*starting)(void *context, const char *socket);
    void *context;
} hac_connect_options;

#define HAC_CONNECT_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(hac_connect_options), NULL, 0, NULL, NULL, NULL                                               \
    }

/*
 * Connects and shakes hands. Without a system daemon (/run/hac/hacd.sock) a private one is started for this
 * user, at $XDG_RUNTIME_DIR/hac/hacd.sock or in a 0700 directory below /tmp; it leaves when idle, logs to
 * $XDG_STATE_HOME/hac/hacd.log, and inherits nothing of its starter but a few environment variables. A daemon
 * that is named, by `socket` or $HAC_SOCKET, is never started. $HAC_LIBEXEC is where hacd is looked for
 * instead of where it was installed. options may be NULL. HAC_NO_DAEMON: none, or one of another protocol
 * version (the message names both), or another kind of socket that was named. HAC_REFUSED: the place of the
 * private socket, or who listens there, is not to be trusted; the user may not connect there, or nobody takes
 * the connection: no other daemon is started then; or hacd takes no more connections of this user.
 */
HAC_API HAC_MUST_USE hac_status hac_client_connect(const hac_connect_options *options,
                                                   hac_client **ret_client, hac_error *err);
HAC_API void hac_client_free(hac_client *client);

/* The socket this client is connected to; valid as long as the client. */
HAC_API const char *hac_client_socket(const hac_client *client);

/*
 * Event-loop form: poll the descriptor for reading and call hac_client_dispatch when it is readable. It takes
 * in what has arrived without blocking and calls the jobs' callbacks. HAC_NO_DAEMON when the daemon is gone,
 * or has closed the connection: it does when messages that do not fit into the socket wait for 10 s.
 */
HAC_API int hac_client_fd(const hac_client *client);
HAC_API HAC_MUST_USE hac_status hac_client_dispatch(hac_client *client, hac_error *err);

/* ---- buffers: pool memory, shared with the devices without a copy -------------------------------- */

typedef struct hac_buffer hac_buffer;

/* A zeroed-or-recycled (contents undefined) buffer of at least `bytes` bytes, 64-byte aligned. Pool memory
 * is recycled and stays mapped: allocate, free and allocate again is cheap. From 4 MiB on the
 * call takes the memory at once, as far as the kernel has large pages (64 MiB: 13 ms, or 200 in some virtual
 * machines): what you may not fill, ask for with hac_buffer_alloc_growable. HAC_REFUSED: over quota. */
HAC_API HAC_MUST_USE hac_status hac_buffer_alloc(hac_client *client, uint64_t bytes, hac_buffer **ret_buffer,
                                                 hac_error *err);
/* A buffer that hac_buffer_grow can make larger until it is first used by a job. */
HAC_API HAC_MUST_USE hac_status hac_buffer_alloc_growable(hac_client *client, uint64_t bytes,
                                                          hac_buffer **ret_buffer, hac_error *err);
/* May move the mapping: ask hac_buffer_data again. */
HAC_API HAC_MUST_USE hac_status hac_buffer_grow(hac_buffer *buffer, uint64_t bytes, hac_error *err);
HAC_API void *hac_buffer_data(hac_buffer *buffer);
HAC_API uint64_t hac_buffer_bytes(const hac_buffer *buffer);
/* Gives the memory back to the pool. Must not be called while a job uses it. */
HAC_API void hac_buffer_free(hac_buffer *buffer);

/* ---- jobs ---------------------------------------------------------------------------------------- */

typedef struct hac_job hac_job;

typedef enum hac_job_state {
    HAC_JOB_QUEUED = 0,
    HAC_JOB_PLANNED = 1,
    HAC_JOB_RUNNING = 2,
    HAC_JOB_DONE = 3,
    HAC_JOB_FAILED = 4,
    HAC_JOB_CANCELLED = 5
} hac_job_state;

typedef struct hac_progress {
    hac_job_state state;
    double fraction;    /* 0 … 1 */
    const char *stage;  /* "scatter", "merge 17" …; valid during the callback */
    const char *device; /* the device that reported last */
    double items_per_second;
    double eta_seconds; /* from the performance model; < 0: unknown */
    const char *note;   /* "building kernels for cpu (2 of 5)" …, or "" */
} hac_progress;

/* What every job may say; part of the job kinds' options. All zeros: nothing special. */
typedef struct hac_job_options {
    const char *const *devices; /* names, as `hacctl devices` lists them; NULL: all */
    size_t n_devices;
    int detach;              /* the job outlives this connection; find it again by its id */
    int priority;            /* higher first, -100 … 100 */
    double deadline_seconds; /* 0: none */
    uint64_t memory_limit;   /* bytes; 0: the user's quota */
    int fast;                /* 0: devices change nothing in the result; 1: in sums of floats they may */
    /* Called from hac_client_dispatch and from blocking calls; NULL: no progress is sent at all. */
    void (*progress)(void *context, hac_job *job, const hac_progress *progress);
    /* Called once when the job has ended, maybe before the submitting call returns; NULL allowed. */
    void (*done)(void *context, hac_job *job);
    void *context;
} hac_job_options;

/* The number that `hacctl show` and hac_client_query take. 0 until hacd has answered: for a small sort, whose
 * keys went in the message, that is when it has ended; for others it is known at once. */
HAC_API uint64_t hac_job_id(const hac_job *job);
/* What the last message of hacd said. Only a job with a progress callback gets messages on its way: without
 * one this is HAC_JOB_QUEUED until the job has ended. */
HAC_API hac_job_state hac_job_get_state(const hac_job *job);

/*
 * Waits until the job has ended, at most timeout_ms (-1: without limit). HAC_OK: done, the result is there.
 * HAC_AGAIN: the time is up. HAC_NOT_FOUND: it is done, but its result was released or has expired.
 * HAC_CANCELLED, or the job's own error otherwise.
 */
HAC_API HAC_MUST_USE hac_status hac_job_wait(hac_job *job, int timeout_ms, hac_error *err);

/* The result of a job that is done: mapped pool memory (or the message's bytes), read-only, 64-byte aligned,
 * valid until hac_job_free. NULL before the job is done. */
HAC_API const void *hac_job_data(const hac_job *job);
HAC_API uint64_t hac_job_bytes(const hac_job *job);
/* Report of calibrate and tune; of a query what one should know of its result (records that were left out);
 * "" for other jobs. */
HAC_API const char *hac_job_text(const hac_job *job);

/* Asks to cancel: takes effect within one chunk of work; hac_job_wait then says HAC_CANCELLED. Nothing
 * happens to a job that has ended. */
HAC_API HAC_MUST_USE hac_status hac_job_cancel(hac_job *job, hac_error *err);

/* The job has ended and its result is not needed any more, by nobody: its memory, and its place among the
 * user's jobs, are free from here on, also of a job that was attached to. Nothing of hac_job_data may be
 * looked at afterwards, nor exported columns; the job's record stays. HAC_INVALID: it has not ended, or it is
 * the job of another connection, which is still there. */
HAC_API HAC_MUST_USE hac_status hac_job_release(hac_job *job, hac_error *err);

/*
 * For programs that write a job's output out of hacd's sight: after hac_output_begin the job `job`, which
 * this connection has submitted, ends for everybody else when hac_output_end says so. `how` HAC_OK: all is
 * written. Another one with `message`: it is not, and the job ends as failed with that (HAC_CANCELLED: as
 * cancelled). If the connection is closed before, it ends as failed, too.
 */
HAC_API HAC_MUST_USE hac_status hac_output_begin(hac_client *client, uint64_t job, hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_output_end(hac_client *client, uint64_t job, hac_status how,
                                               const char *message, hac_error *err);

/* A handle for a job by its id, of this user (detached, or of another connection). HAC_NOT_FOUND: none, or no
 * longer known. Its result stays with hacd when the handle is freed. */
HAC_API HAC_MUST_USE hac_status hac_job_attach(hac_client *client, uint64_t id, hac_job **ret_job,
                                               hac_error *err);

/* Drops the handle. The result's memory goes back to the pool, when exported columns are released, too; a job
 * that has not ended is cancelled, unless it is detached or was attached to. No callback follows. */
HAC_API void hac_job_free(hac_job *job);

/* ---- sort ---------------------------------------------------------------------------------------- */

typedef enum hac_sort_algorithm {
    HAC_SORT_AUTO = 0,
    HAC_SORT_BITONIC = 1,
    HAC_SORT_RADIX = 2
} hac_sort_algorithm;

/* How a bitonic sort is shared by devices of different speed; docs/flows/sort-planning.md. */
typedef enum hac_sort_scheme {
    HAC_SCHEME_AUTO = 0,
    HAC_SCHEME_PROPORTIONAL = 1,
    HAC_SCHEME_LOWER = 2,
    HAC_SCHEME_UPPER = 3,
    HAC_SCHEME_NONE = 4
} hac_sort_scheme;

/* For plans of sorts that are not run: where the keys will be. */
typedef enum hac_plan_input {
    HAC_PLAN_INPUT_BUFFER = 0, /* hac_sort_buffer, or a stream */
    HAC_PLAN_INPUT_MEMORY = 1, /* hac_sort_memory */
    HAC_PLAN_INPUT_FILE = 2    /* hac_sort_fd with a file */
} hac_plan_input;

/* Which steps of a bitonic sort, done side by side otherwise, the strongest device does alone. */
typedef enum hac_sort_fold { HAC_FOLD_AUTO = 0, HAC_FOLD_NONE = 1, HAC_FOLD_STEPS = 2 } hac_sort_fold;

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
} hac_sort_options;

#define HAC_SORT_OPTIONS_INIT                                                                                \
    {                                                                                                        \
        sizeof(hac_sort_options), HAC_TYPE_NONE, 0, 0, HAC_SORT_AUTO, HAC_SCHEME_AUTO, HAC_FOLD_AUTO, NULL,  \
            0, {NULL, 0, 0, 0, 0.0, 0, 0, NULL, NULL, NULL}, HAC_PLAN_INPUT_BUFFER                           \
    }

/* Sorts `items` keys that lie at byte `offset` (a multiple of 64) of a pool buffer. No copy is made on a
 * device that works in host memory. The buffer must stay allocated until the job has ended. */
HAC_API HAC_MUST_USE hac_status hac_sort_buffer(hac_client *client, hac_buffer *keys, uint64_t offset,
                                                uint64_t items, const hac_sort_options *options,
                                                hac_job **ret_job, hac_error *err);

/* Keys in the caller's own memory, which may be reused as soon as this returns: up to 32 KiB travel in the
 * message, more is copied into the pool. Many small jobs may be under way at once; beyond 192 KiB of their
 * results this waits for some of them. A small job that is refused says so in hac_job_wait. */
HAC_API HAC_MUST_USE hac_status hac_sort_memory(hac_client *client, const void *keys, uint64_t items,
                                                const hac_sort_options *options, hac_job **ret_job,
                                                hac_error *err);

/* Keys in a file: `items` keys from byte `offset` on, or as many as there are with items = UINT64_MAX (the
 * rest must then be a multiple of the type's size). A pipe or socket is read to its end, into the pool,
 * before this returns, and up to 32 KiB of a file into the message, unless algorithm, scheme or fold are
 * chosen; else the descriptor is read by the devices' processes, never mapped. It may be closed at once.
 * `name` is used in messages; NULL allowed. */
HAC_API HAC_MUST_USE hac_status hac_sort_fd(hac_client *client, int fd, uint64_t offset, uint64_t items,
                                            const char *name, const hac_sort_options *options,
                                            hac_job **ret_job, hac_error *err);

/* Keys with a payload of `payload_bytes` (1 … 256) each: the result is the sorted keys followed, from the
 * next multiple of 64 bytes on (hac_job_payload), by the payloads in the keys' order. */
HAC_API HAC_MUST_USE hac_status hac_sort_pairs(hac_client *client, hac_buffer *keys, hac_buffer *payload,
                                               uint32_t payload_bytes, uint64_t items,
                                               const hac_sort_options *options, hac_job **ret_job,
                                               hac_error *err);
/* The payloads of a hac_sort_pairs that is done; valid as long as hac_job_data. NULL for other jobs. */
HAC_API const void *hac_job_payload(const hac_job *job);

/* ---- queries -------------------------------------------------------------------------------------- */

/* How the bytes of a source become rows. */
typedef enum hac_input_format {
    HAC_INPUT_NONE = 0,
    HAC_INPUT_CSV = 2,
    HAC_INPUT_TSV = 3,        /* TAB between fields, \t \n \\ \N escaped, no quotes */
    HAC_INPUT_JSONL = 4,      /* one object a line */
    HAC_INPUT_LINES = 5,      /* one column `line` */
    HAC_INPUT_WORDS = 6,      /* one column `word`: maximal runs of bytes other than space, \t \n \v \f \r */
    HAC_INPUT_KV = 7,         /* columns `key` and `value`, cut at the first TAB */
    HAC_INPUT_FIXED = 8,      /* records of fixed-width values, as the schema has them */
    HAC_INPUT_PARQUET = 9,    /* columns by name, types as the file has them; options->schema names those that
                               * are wanted and what they have to be */
    HAC_INPUT_LENGTHS = 10,   /* records with their length, 4 bytes, in front (docs/flows/splice.md) */
    HAC_INPUT_TYPEDBYTES = 11 /* Hadoop's typed bytes: a key and a value a record */
} hac_input_format;

typedef enum hac_result_format {
    HAC_RESULT_CSV = 0,       /* a header line, RFC 4180; null is an empty field, an empty string is "" */
    HAC_RESULT_JSON = 1,      /* one object a line */
    HAC_RESULT_TABLE = 2,     /* columns: hac_job_export_arrow */
    HAC_RESULT_PARQUET = 3,   /* a Parquet file */
    HAC_RESULT_TSV = 4,       /* columns joined by TAB, no header, null as \N */
    HAC_RESULT_TYPEDBYTES = 5 /* Hadoop's typed bytes: the first column, then the second, or a vector of the
                               * others */
} hac_result_format;

typedef enum hac_compression {
    HAC_COMPRESSION_ZSTD = 0,
    HAC_COMPRESSION_NONE = 1,
    HAC_COMPRESSION_SNAPPY = 2,
    HAC_COMPRESSION_GZIP = 3,
    HAC_COMPRESSION_LZ4 = 4 /* LZ4_RAW in the file */
} hac_compression;

/* How a result becomes a Parquet file. */
typedef struct hac_parquet_output {
    hac_compression compression;
    uint64_t group_bytes; /* most bytes of a row group in the file; all but the last have at least 95 %
                           * of them; 0: 128 MiB */
    uint64_t group_rows;  /* most rows of a row group; 0: any number */
    uint64_t block_bytes; /* no row group lies across a multiple of this in the file; 0: any may */
} hac_parquet_output;

/* Whether flow C's kernels (docs/flows/mapreduce.md) keep frequent keys in local memory; `on` has them run
 * also where others are faster. */
typedef enum hac_hot_keys { HAC_HOT_KEYS_AUTO = 0, HAC_HOT_KEYS_ON = 1, HAC_HOT_KEYS_OFF = 2 } hac_hot_keys;

/* Which codelets aggregate: as it pays, the host's, or flow C's kernels. Where those cannot, the host's do,
 * and hac_job_text and `why` say so. */
typedef enum hac_query_way {
    HAC_QUERY_WAY_AUTO = 0,
    HAC_QUERY_WAY_HOST = 1,
    HAC_QUERY_WAY_FLOW_C = 2
} hac_query_way;

/*
 * A query: rows of the source for which `where` is true, grouped by `group_by`, give `select`.
 * docs/expressions.md is the language. With group_by the columns of the result are the group's, then those of
 * select, one that is there twice once. The order of rows without `order_by` is unspecified. Texts are UTF-8
 * of at most 30 KiB each and 32 KiB in all; NULL is none.
 */
typedef struct hac_query_options {
    size_t size;        /* sizeof(hac_query_options): set by the INIT macro */
    const char *schema; /* name:type,…; NULL: columns as the header or the format names them, as strings; of
                         * Parquet files all, as the file has them */
    const char *where;  /* such as: total > 10 and name like 'a%' */
    const char *group_by; /* such as: day, upper(city) as c */
    const char *select;   /* such as: sum(x * y) as s, count() as n; * is all columns */
    const char *order_by; /* such as: s desc, name */
    uint64_t limit;       /* rows; UINT64_MAX: all */
    hac_result_format result_format;
    hac_input_format input_format; /* of files and text */
    int delimiter;                 /* csv: a byte; 0: the comma */
    int no_header;         /* csv, tsv: the first line is data, columns are the schema's by position */
    int skip_errors;       /* leave out what cannot be read instead of failing; hac_job_text counts */
    const char *null_text; /* csv: this text, unquoted, is null, as an empty field is; 31 bytes */
    hac_hot_keys hot_keys;
    uint32_t sample;      /* per mille of the rows that are looked at to find the hot keys; 0: as it pays */
    uint32_t hot_share;   /* per mille of the sample's keys that count as hot; 0: as it pays */
    uint32_t work_groups; /* of flow C's kernels; 0: as tuned */
    uint32_t work_items;  /* of a work-group; 0: as tuned */
    hac_job_options job;
    hac_query_way way;
    hac_parquet_output parquet; /* HAC_RESULT_PARQUET */
    uint64_t first_row_group;   /* HAC_INPUT_PARQUET, one file: where to begin, from 0 … */
    uint64_t row_groups;        /* … and how many to read; 0: all that are left */
    int infer_schema; /* csv, tsv, jsonl without a schema: types as the first records look like. A later
                       * one that does not is an error */
    int big_endian;   /* HAC_INPUT_FIXED, HAC_INPUT_LENGTHS: byte order of numbers and lengths */
    int plan_splits;  /* for hac_explain_query and hac_simulate_query: as hac_query_splits does it */
    int sort_rows;    /* it is a sort of rows: plans, receipts and metrics have it as one */
} hac_query_options;

#define HAC_QUERY_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(hac_query_options), NULL, NULL, NULL, NULL, NULL, UINT64_MAX, HAC_RESULT_CSV, HAC_INPUT_NONE, \
            0, 0, 0, NULL, HAC_HOT_KEYS_AUTO, 0, 0, 0, 0, {NULL, 0, 0, 0, 0.0, 0, 0, NULL, NULL, NULL},      \
            HAC_QUERY_WAY_AUTO, {HAC_COMPRESSION_ZSTD, 0, 0, 0}, 0, 0, 0, 0, 0, 0                            \
    }

#define HAC_QUERY_FILES_MAX 253

/* Queries regular files, from their beginnings to the ends they have now, as one source in that order. The
 * descriptors are read by the devices' processes, never mapped, and may be closed at once. `names` are used
 * in messages; it, and any of them, may be NULL. HAC_INVALID: the query is wrong; the message says at which
 * character, maybe only hac_job_wait's. */
HAC_API HAC_MUST_USE hac_status hac_query_files(hac_client *client, const int *fds, const char *const *names,
                                                size_t n_files, const hac_query_options *options,
                                                hac_job **ret_job, hac_error *err);

/* What a Parquet file holds, as JSON (docs/flows/parquet.md): rows, columns, row groups, where each column's
 * pages are, statistics. The result (hac_job_data) is the text. */
HAC_API HAC_MUST_USE hac_status hac_describe_parquet(hac_client *client, int fd, const char *name,
                                                     const hac_job_options *options, hac_job **ret_job,
                                                     hac_error *err);

/* Queries text (or a Parquet file) in the caller's memory, which may be reused as soon as this returns: up to
 * 16 KiB travel in the message, more is copied into the pool. */
HAC_API HAC_MUST_USE hac_status hac_query_memory(hac_client *client, const void *text, uint64_t bytes,
                                                 const hac_query_options *options, hac_job **ret_job,
                                                 hac_error *err);

/* Queries text at byte `offset` (a multiple of 64) of a pool buffer, which must stay allocated until the job
 * has ended. */
HAC_API HAC_MUST_USE hac_status hac_query_buffer(hac_client *client, hac_buffer *buffer, uint64_t offset,
                                                 uint64_t bytes, const hac_query_options *options,
                                                 hac_job **ret_job, hac_error *err);

/* Queries what a pipe, a socket or a terminal gives: it is read to its end, from where it is, into the pool
 * before this returns, decompressed if it begins like gzip or zstd. At most options->job.memory_limit bytes,
 * and what the user's quota has: HAC_REFUSED. The descriptor may be any that can be read, also a compressed
 * file's; `name` is used in messages, NULL allowed. */
HAC_API HAC_MUST_USE hac_status hac_query_stream(hac_client *client, int fd, const char *name,
                                                 const hac_query_options *options, hac_job **ret_job,
                                                 hac_error *err);

/* ---- queries over splits (flow B) ----------------------------------------------------------------- */

/*
 * The input of hac_query_splits, and where rows go. Inputs are read one after another, each from where its
 * descriptor is to its end: of a file that is what it has when its turn comes, later growth is not looked at;
 * one that is truncated while it is read is an error. Each csv and tsv input with a header has its own, and
 * the columns may be in another order. A last line without its end is a record. Messages name the input.
 */
typedef struct hac_splits {
    size_t size;     /* sizeof(hac_splits): set by the INIT macro */
    size_t n_inputs; /* files, pipes, sockets …; any number */
    /* Opens input `index` when it is its turn; libhac closes it. *ret_name is used in messages and valid
     * until the next call; NULL: none. An error ends the query, as one of reading does: when all that was
     * read before is through, and its rows are written. */
    hac_status (*open)(void *context, size_t index, int *ret_fd, const char **ret_name, hac_error *err);
    /* Takes bytes of the result as they come, in order; while it takes its time, nothing is read. An error
     * cancels the query. May be NULL for queries that aggregate. */
    hac_status (*write)(void *context, const void *bytes, size_t n, hac_error *err);
    void *context;
    const char *name;     /* of the whole input, for display; NULL allowed */
    uint64_t split_bytes; /* of a split, at most 1 GiB; 0: what suits the devices, 4 to 32 MiB, or less, a
                           * sixteenth of options->job.memory_limit, and less where the quota has less. Below
                           * 1 MiB data sets are smaller, too, and floats may be summed in another order */
    int stop_fd;          /* becomes readable: the query is cancelled; -1: none */
    int uncompressed; /* 0: inputs that begin like gzip or zstd are decompressed, and those whose names end in
                       * .gz or .zst have to be; 1: none; 2: only the latter, as numbers may begin so, too */
} hac_splits;

#define HAC_SPLITS_INIT                                                                                      \
    {                                                                                                        \
        sizeof(hac_splits), 0, NULL, NULL, NULL, NULL, 0, -1, 0                                              \
    }

/*
 * Queries inputs as one source, in *splits*: whole records, read here while the devices work on those before,
 * with a bounded memory however long the input is (docs/flows/splice.md): at most five splits, four of them
 * handed over. While other jobs of this user have the memory it waits for a split. A record has at most 64
 * MiB. Blocks until the query has ended; no callback may free the job. options->job.detach is not possible;
 * Parquet and tables are no such sources.
 *
 * Files of HAC_INPUT_FIXED of 1 MiB or more are not read here, where `uncompressed` says that they are none:
 * executors read them where they lie. Their descriptor then stands behind what was handed over.
 *
 * A query for rows, one without a group-by and without an aggregate in select, gives them to `write` split by
 * split, and a split ends where the input pauses for 10 ms, so that first results do not wait for more input.
 * What a query that aggregates gives is the job's when this returns (hac_job_data); it does not depend on how
 * the bytes came. Rows that are ordered, or that are to be columns or a Parquet file, are the job's as well,
 * and need the whole input in memory: HAC_REFUSED if it has more than options->job.memory_limit bytes.
 * Several inputs must then have the same header.
 *
 * *ret_job is set also when it fails, if it got so far, for questions about it; set it to NULL before.
 * HAC_CANCELLED: stop_fd.
 */
HAC_API HAC_MUST_USE hac_status hac_query_splits(hac_client *client, const hac_splits *splits,
                                                 const hac_query_options *options, hac_job **ret_job,
                                                 hac_error *err);

/* ---- graphs of sub-operators (flow D); their vectors: <hac/vector.h> -------------------------------- */

/* A part of a vector that lies in one of the graph's buffers, as <hac/op.h> has it: offset is a
 * multiple of 64. */
typedef struct hac_op_span {
    uint32_t buffer; /* index into hac_ops.buffers */
    int written;     /* else it is read */
    uint64_t offset, bytes;
    uint64_t touch_first,
        touch_bytes; /* bytes of the buffer that the task looks at, or writes: tasks on parts
                      * of one vector may run side by side; 0 bytes: all of the span */
} hac_op_span;

/* A sub-operator over its vectors, or over one component of these. */
typedef struct hac_op_task {
    const char *codelet;          /* "op.map" */
    const char *name;             /* for plans, logs and messages; NULL: the codelet's */
    hac_type type;                /* of its elements: models are kept by it; NONE: no number */
    uint64_t first, count, grain; /* its range, and where it may be cut; grain 0: it is not cut */
    const hac_op_span *spans;     /* at most 16 */
    size_t n_spans;
    const void *call; /* a hac_op_call and what follows it: <hac/op.h>; at most 16 KiB */
    size_t call_bytes;
    const uint32_t *after; /* earlier tasks that must be done before */
    size_t n_after;
    double units;    /* its work, for models: elements, or multiplications */
    uint64_t memory; /* bytes that it works on: what the rule of placement asks for */
    const char *pin; /* a processor type (cpu, gpu, fpga, dsp, arm) or a device; NULL: none */
    int host; /* not by kernels: its host codelet, on a CPU if there is one (exp, sin, pow …, texts) */
} hac_op_task;

typedef enum hac_op_policy {
    HAC_OP_POLICY_MEASURED = 0, /* where the models say that it ends first */
    HAC_OP_POLICY_RULE = 1      /* by type and size: docs/flows/opsplit.md */
} hac_op_policy;

/* At most 32 buffers and 512 tasks; all of it is at most 64 KiB in a message. */
typedef struct hac_ops {
    size_t size; /* sizeof(hac_ops): set by the INIT macro */
    const char *name;
    hac_buffer *const *buffers;
    const uint64_t *sizes; /* for hac_explain_ops and hac_simulate_ops: bytes of each, in place of buffers */
    size_t n_buffers;
    const hac_op_task *tasks;
    size_t n_tasks;
    hac_op_policy policy;
    uint64_t threshold; /* bytes; of the rule; 0: 3 GiB */
    int kernels;        /* OpenCL kernels also where host codelets could run */
    hac_job_options job;
    /* So many of the last tasks may fail of their data: the others, and those that come after them, run all
     * the same, and hac_job_op_values says which have failed. For work that may turn out not to be wanted. 0:
     * the graph fails with any. */
    size_t n_tentative;
} hac_ops;

#define HAC_OPS_INIT                                                                                         \
    {                                                                                                        \
        sizeof(hac_ops), NULL, NULL, NULL, 0, NULL, 0, HAC_OP_POLICY_MEASURED, 0, 0,                         \
            {NULL, 0, 0, 0, 0.0, 0, 0, NULL, NULL, NULL}, 0                                                  \
    }

/* Runs a graph. The buffers stay the caller's and must not change, or be freed, until the job has ended; what
 * a task writes no other one may have read before. */
HAC_API HAC_MUST_USE hac_status hac_ops_submit(hac_client *client, const hac_ops *ops, hac_job **ret_job,
                                               hac_error *err);
/*
 * A run of graphs of which each follows from what the one before gave back (rounds, conditions): one job, in
 * one list, with one log. Of `ops` the name, policy, threshold, kernels and job are taken; it has no buffers
 * and no tasks. hac_ops_run runs the next graph (NULL: none, only the log grows) and returns when it is done:
 * its values are then those of hac_job_op_values. `log`: lines for the job's log, at most 16 KiB, or NULL.
 * hac_ops_finish ends the job; a handle that is freed before cancels it. Such a job cannot be detached; it
 * has no result.
 */
HAC_API HAC_MUST_USE hac_status hac_ops_begin(hac_client *client, const hac_ops *ops, hac_job **ret_job,
                                              hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_ops_run(hac_job *job, const hac_ops *graph, const char *log,
                                            hac_error *err);
/*
 * hac_ops_run in two: a graph may be sent while another one is on its way, so that devices do not wait for
 * the program between the two. It runs when that one has ended, and may read what it writes. hac_ops_await
 * waits for the one that was sent first; the values are its then.
 */
#define HAC_OPS_UNANSWERED_MAX 2
HAC_API HAC_MUST_USE hac_status hac_ops_send(hac_job *job, const hac_ops *graph, const char *log,
                                             hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_ops_await(hac_job *job, hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_ops_finish(hac_job *job, const char *log, hac_error *err);
/* What task `task` of a graph that is done has given back: at most 4 numbers; *ret_n says how many.
 * HAC_FAILED: it has failed, which a tentative one may; what it writes is undefined then, and what reads
 * that. */
#define HAC_OP_VALUES_MAX 4
HAC_API HAC_MUST_USE hac_status hac_job_op_values(const hac_job *job, size_t task,
                                                  uint64_t ret_values[HAC_OP_VALUES_MAX], size_t *ret_n,
                                                  hac_error *err);
/* ---- Arrow C Data Interface ---------------------------------------------------------------------- */

/* The standard's own structures (https://arrow.apache.org/docs/format/CDataInterface.html), with its guard.
 */
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

/* Sorts a primitive column without nulls (formats i I f l L g). One copy into the pool, or none when its
 * values lie in a hac_buffer of this client. The column stays the caller's. options->type may be NONE. */
HAC_API HAC_MUST_USE hac_status hac_sort_arrow(hac_client *client, const struct ArrowSchema *schema,
                                               const struct ArrowArray *keys, const hac_sort_options *options,
                                               hac_job **ret_job, hac_error *err);

/* The same with a fixed-width payload column of the same length. */
HAC_API HAC_MUST_USE hac_status hac_sort_arrow_pairs(hac_client *client, const struct ArrowSchema *key_schema,
                                                     const struct ArrowArray *keys,
                                                     const struct ArrowSchema *payload_schema,
                                                     const struct ArrowArray *payload,
                                                     const hac_sort_options *options, hac_job **ret_job,
                                                     hac_error *err);

/*
 * Queries columns: an array of format +s whose children are bool, integers, f32, f64, date32 (tdD),
 * timestamps in microseconds (tsu:), decimals of 64 or 128 bits, strings (u U) and binaries (z Z: columns of
 * bytes), with or without nulls, sliced or not. One copy into the pool, or none when every part lies in one
 * hac_buffer of this client, each at a multiple of 64 bytes. options->schema and input_format are not used.
 * The columns stay the caller's.
 */
HAC_API HAC_MUST_USE hac_status hac_query_arrow(hac_client *client, const struct ArrowSchema *schema,
                                                const struct ArrowArray *columns,
                                                const hac_query_options *options, hac_job **ret_job,
                                                hac_error *err);

/* Result columns: a sort's single column, or a query's HAC_RESULT_TABLE as an array of format +s with its
 * columns as children. Without a copy (but decimals of up to 18 digits become 128 bits wide); they own the
 * job's memory from here on (hac_job_free may follow). Release them before the client is freed. */
HAC_API HAC_MUST_USE hac_status hac_job_export_arrow(hac_job *job, struct ArrowSchema *ret_schema,
                                                     struct ArrowArray *ret_array, hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_job_export_arrow_payload(hac_job *job, struct ArrowSchema *ret_schema,
                                                             struct ArrowArray *ret_array, hac_error *err);

/* ---- plans, questions, administration ------------------------------------------------------------ */

typedef enum hac_plan_format { HAC_PLAN_TEXT = 0, HAC_PLAN_JSON = 1, HAC_PLAN_SVG = 2 } hac_plan_format;

/* The plan of a sort of `items` keys on this machine, before it runs; options->plan_input says where they
 * will be. *ret_text is malloc'ed. */
HAC_API HAC_MUST_USE hac_status hac_explain_sort(hac_client *client, uint64_t items,
                                                 const hac_sort_options *options, hac_plan_format format,
                                                 char **ret_text, hac_error *err);

/* A device of a machine one does not have; docs/profiles.md has what the members mean in a profile. */
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

/* The plan of a query of `n_sources` files of these sizes in bytes, before it runs: what can be told without
 * compiling it. *ret_text is malloc'ed. */
HAC_API HAC_MUST_USE hac_status hac_explain_query(hac_client *client, const uint64_t *sources,
                                                  size_t n_sources, const hac_query_options *options,
                                                  hac_plan_format format, char **ret_text, hac_error *err);
/* The same on a machine one does not have; its devices state the capability "mapreduce.none", bytes a second.
 */
HAC_API HAC_MUST_USE hac_status hac_simulate_query(hac_client *client, const hac_simulated_device *devices,
                                                   size_t n_devices, const uint64_t *sources,
                                                   size_t n_sources, const hac_query_options *options,
                                                   hac_plan_format format, char **ret_text, hac_error *err);

/* The plan of a graph of sub-operators before it runs, here or on a machine one does not have; `sizes` stand
 * for its buffers. *ret_text is malloc'ed. */
HAC_API HAC_MUST_USE hac_status hac_explain_ops(hac_client *client, const hac_ops *ops,
                                                hac_plan_format format, char **ret_text, hac_error *err);
HAC_API HAC_MUST_USE hac_status hac_simulate_ops(hac_client *client, const hac_simulated_device *devices,
                                                 size_t n_devices, const hac_ops *ops, hac_plan_format format,
                                                 char **ret_text, hac_error *err);

typedef enum hac_topic {
    HAC_TOPIC_STATUS = 0,   /* JSON: version, daemon pid and socket */
    HAC_TOPIC_DEVICES = 1,  /* JSON */
    HAC_TOPIC_JOBS = 2,     /* JSON */
    HAC_TOPIC_SHOW = 3,     /* JSON of one job */
    HAC_TOPIC_WHY = 4,      /* text of one job */
    HAC_TOPIC_RECEIPT = 5,  /* JSON of one job */
    HAC_TOPIC_LOG = 6,      /* text of one job */
    HAC_TOPIC_TRACE = 7,    /* Chrome/Perfetto trace JSON of one job */
    HAC_TOPIC_PLAN = 8,     /* plan of one job, in `format` */
    HAC_TOPIC_MODELS = 9,   /* JSON */
    HAC_TOPIC_METRICS = 10, /* OpenMetrics text */
    HAC_TOPIC_PROBLEMS = 11 /* JSON: what is wrong with this machine's set-up */
} hac_topic;

/* Asks; `job` is 0 where the topic is not about one, `format` is looked at for HAC_TOPIC_PLAN only. *ret_text
 * is malloc'ed, NUL-terminated. */
HAC_API HAC_MUST_USE hac_status hac_client_query(hac_client *client, hac_topic topic, uint64_t job,
                                                 hac_plan_format format, char **ret_text, hac_error *err);

/* Measures performance models (tune = 0) or searches settings (tune = 1) of the named devices, all if none.
 * A job; hac_job_text is its report (JSON). */
HAC_API HAC_MUST_USE hac_status hac_calibrate(hac_client *client, int tune, const hac_job_options *options,
                                              hac_job **ret_job, hac_error *err);

/* Builds the kernels of a device ahead of time and writes them as one image to `fd`, an empty memfd or
 * regular file: for a profile's `program: {binary: …}`. Waits until it is whole. *ret_text is malloc'ed JSON:
 * {"device", "bytes", "programs", "left_out": why a program is not in it, or null}. */
HAC_API HAC_MUST_USE hac_status hac_build_kernels(hac_client *client, const char *device, int fd,
                                                  char **ret_text, hac_error *err);

/* The daemon finishes what runs, takes nothing new, and leaves. */
HAC_API HAC_MUST_USE hac_status hac_client_drain(hac_client *client, hac_error *err);
/* The daemon reads its configuration and profiles again; a bad one keeps the old and is the error. */
HAC_API HAC_MUST_USE hac_status hac_client_reload(hac_client *client, hac_error *err);

#ifdef __cplusplus
}
#endif
#endif
