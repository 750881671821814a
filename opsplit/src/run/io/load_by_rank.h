/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of a run on several ranks. Ranks read an input in parts where they can. */
#ifndef OPSPLIT_RUN_LOAD_BY_RANK_H
#define OPSPLIT_RUN_LOAD_BY_RANK_H

#include "run/state/run_types.h"

/* The columns that one query gave, until they are copied. */
typedef struct hac_run_loaded {
    struct ArrowSchema schema;
    struct ArrowArray columns;
    size_t path; /* index of the file */
} hac_run_loaded;

/* Bytes of a text column. */
typedef struct hac_run_texts {
    uint64_t here;        /* of `files` */
    uint64_t before, all; /* of the lower ranks; of the whole input */
} hac_run_texts;

typedef struct hac_run_loading {
    const hac_logic_input *input;
    char **paths;
    uint64_t *sizes; /* of the files, if there are ranks */
    size_t n_paths;
    hac_run_loaded *files; /* in the order of the paths; a part of a file may be several */
    size_t n_files;
    hac_run_texts *texts; /* by column */
    uint64_t here, rows;  /* rows of `files`; of the whole input */
    /* Ranks read parts: rank r has rows [firsts[r], firsts[r + 1]). NULL: every rank reads the whole input.
     */
    uint64_t *firsts;
    int fd;                      /* of the one file that ranks read parts of; -1: none */
    size_t first_path, end_path; /* the files that this rank reads, whole or a part */
} hac_run_loading;

/* The functions below are collective: all ranks call them. */

/*
 * Sets which files this rank reads, and `firsts` if ranks read parts. `status` is whether the paths are
 * known. Fails with the same status on all ranks, also if the files of a rank differ from those of rank 0.
 */
HAC_MUST_USE hac_status hac_run_rank_files(const hac_logic_run_state *run, hac_run_loading *l,
                                           hac_status status, hac_error *err);
/* Sets `rows` and all of `firsts` after reading. `status` is whether reading succeeded. */
HAC_MUST_USE hac_status hac_run_rank_rows(const hac_logic_run_state *run, hac_run_loading *l,
                                          hac_status status, hac_error *err);
/* Sets `before` and `all` of an input that ranks read parts of. */
HAC_MUST_USE hac_status hac_run_rank_texts(const hac_logic_run_state *run, hac_run_texts *texts,
                                           hac_error *err);
/* Sends the rows that this rank has read, each at its place in the vector, to the ranks that need them. Texts
 * go to all ranks. */
HAC_MUST_USE hac_status hac_run_rank_spread(hac_logic_run_state *run, const hac_run_loading *l,
                                            hac_run_vector *vector, hac_error *err);
/* Fails if ranks have read different values of an input that every rank reads whole. */
HAC_MUST_USE hac_status hac_run_check_same(const hac_logic_run_state *run, const hac_logic_input *input,
                                           hac_error *err);

#endif
