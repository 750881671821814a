/* SPDX-License-Identifier: Apache-2.0 */
/* Loading one input: its files, and what was read of them. Ranks read an input apart where they can. */
#ifndef OPSPLIT_RUN_LOAD_H
#define OPSPLIT_RUN_LOAD_H

#include <sys/stat.h>

#include "run_internal.h"

/* What one query gave: columns, until they are copied. */
typedef struct hac_run_loaded {
    struct ArrowSchema schema;
    struct ArrowArray columns;
    size_t path; /* of which file */
} hac_run_loaded;

/* Bytes of a column of texts. */
typedef struct hac_run_texts {
    uint64_t here;        /* of `files` */
    uint64_t before, all; /* those of the ranks in front of this one; of the whole input */
} hac_run_texts;

typedef struct hac_run_loading {
    const hac_logic_input *input;
    char **paths;
    uint64_t *sizes; /* of the files, where there are ranks */
    size_t n_paths;
    hac_run_loaded *files; /* in the order of the paths; of a part perhaps several */
    size_t n_files;
    hac_run_texts *texts; /* by column */
    uint64_t here, rows;  /* rows of `files`; of the whole input */
    /* Ranks read it apart: rank r has rows [firsts[r], firsts[r + 1]). NULL: each reads all of it. */
    uint64_t *firsts;
    int fd;                      /* of the file that is read apart; -1 */
    size_t first_path, end_path; /* what this rank reads, of a file that is read apart a part */
} hac_run_loading;

HAC_MUST_USE hac_status hac_run_open_file(const char *path, int *ret_fd, struct stat *ret_stat,
                                          hac_error *err);
/* How a file is asked for. */
HAC_MUST_USE hac_status hac_run_query_options(const hac_logic_run *run, const hac_logic_input *input,
                                              const char *path, hac_query_options *ret, bool *ret_compressed,
                                              hac_error *err);
/* Whether a regular file of that kind can be read in parts. */
bool hac_run_is_apart(const hac_logic_input *input, const hac_query_options *options);

/* ---- run_deal.c: collective ---- */

/*
 * `status` is whether the paths are known. Fails alike on all ranks, also where one has other files than
 * rank 0. Sets which paths this rank reads, and `firsts` where the input is read apart.
 */
HAC_MUST_USE hac_status hac_run_deal(const hac_logic_run *run, hac_run_loading *l, hac_status status,
                                     hac_error *err);
/* After reading, `status` of which is whether it went well: `rows` and all of `firsts`. */
HAC_MUST_USE hac_status hac_run_deal_rows(const hac_logic_run *run, hac_run_loading *l, hac_status status,
                                          hac_error *err);
/* The last two of an input that is read apart. */
HAC_MUST_USE hac_status hac_run_deal_texts(const hac_logic_run *run, hac_run_texts *texts, hac_error *err);
/* Rows of an input that was read apart, each at its place in the vector, go to the ranks that need them:
 * texts to all. */
HAC_MUST_USE hac_status hac_run_deal_out(hac_logic_run *run, const hac_run_loading *l, hac_run_vector *vector,
                                         hac_error *err);
/* Whether an input that every rank has read is the same for all. */
HAC_MUST_USE hac_status hac_run_check_same(const hac_logic_run *run, const hac_logic_input *input,
                                           hac_error *err);

#endif
