/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a Parquet source, which parquet_source.c and parquet_shortcuts.c share. */
#ifndef QUERY_PARQUET_STATE_H
#define QUERY_PARQUET_STATE_H

#include "cut_filter.h"
#include "expr/machine.h"
#include "parquet/prune.h"
#include "source_parts.h"

/* A conjunct's result for each entry of its column's current dictionary. */
typedef struct verdicts {
    uint64_t serial;
    uint8_t *of; /* one for each entry */
    uint32_t entries;
    uint8_t null;
    bool known;
} verdicts;

typedef struct conjunct {
    const hac_conjunct *conjunct;
    hac_machine_c *machine;
    verdicts verdicts; /* used if the conjunct reads one column */
} conjunct;

typedef struct column_reader {
    hac_parquet_column *column; /* NULL: the column has only nulls */
    bool prunes;                /* statistics of the leaf are those of the column's type */
    size_t leaf, group;         /* group SIZE_MAX: none is begun */
    uint64_t at;                /* row of the group */
    bool unnests_text;          /* source.c makes rows of the arrays that are its texts */
    bool decoded;               /* the unit's rows are in `unit` */
    bool only_filter;           /* only the filter reads it: not decoded where the filter has been applied */
    bool marked;
    hac_column unit; /* the rows of the current unit */
    uint8_t *states;
    uint32_t *codes;
    uint8_t *characters; /* of the batch's strings */
    size_t capacity, used;
} column_reader;

typedef struct parquet_source {
    const hac_parquet_file *file;
    hac_parquet_memory pages;
    size_t first_group, end_group; /* row groups of the source */
    uint64_t first_row;            /* their first row in the file */
    column_reader *readers;
    size_t n_readers; /* columns that are read from the file; those in paths follow */
    uint8_t *memory;
    hac_column *inputs;  /* the columns as input of machines */
    hac_conjuncts found; /* the filter's, then the cut's, which `cut` owns */
    size_t n_filter, n_filter_bounds;
    hac_cut_filter cut;
    conjunct *conjuncts;
    size_t *leaves; /* of the columns */
    bool fails;     /* some conjunct can fail: the rows for which another one is null are then undecided */
    bool applied;   /* the filter is applied here, or there is none */

    size_t group; /* the one being read; SIZE_MAX: none */
    hac_parquet_ranges ranges;
    size_t range;
    uint64_t row, end;      /* the next row and the chunk's end, in the file */
    const uint64_t *wanted; /* hac_source_want; NULL: all rows */
    size_t n_wanted;

    /* The column whose lists make the rows (HAC_LIST_UNNEST); SIZE_MAX: none. Its element i belongs to row
     * `unnested` + rows_of[i] of the unit, which is `pending` while it has rows left. */
    size_t unnest, unnested;
    uint16_t rows_of[HAC_BATCH_ROWS];

    uint64_t unit; /* first row of the unit in the group */
    size_t n;      /* rows of the unit */
    uint16_t selection[HAC_BATCH_ROWS + 3];
    size_t n_selected; /* rows that are left; if all are, `selection` is not filled in */
    bool undecided;    /* the filter of some row of the unit is undecided */
    bool pending;      /* the unit has not been returned yet */
    bool unknown;      /* the batch is an undecided unit */
    uint64_t passed_over, bytes_pruned;
    uint8_t *wants;   /* hac_source_answer; NULL: nothing */
    size_t *answered; /* row groups of the chunk that are left out, as their statistics say all */
    size_t n_answered, answers_given, answers_capacity;
    uint64_t groups_answered;
    hac_parquet_pruned pruned;
} parquet_source;

/* Whether lists make the rows, so that rows of the file are not rows of the query. */
static inline bool hac_parquet_unnests(const hac_source *source)
{
    const parquet_source *p = source->state;
    return p->unnest != SIZE_MAX || source->unnested != SIZE_MAX;
}

/* ---- parquet_shortcuts.c: what the statistics of row groups and a cut spare ---- */

/* As hac_source_may_cut, hac_source_rank and hac_source_set_cut. */
bool hac_parquet_may_cut(const hac_source *source, size_t column);
bool hac_parquet_source_rank(const hac_source *source, size_t column, bool descending, uint64_t rows,
                             hac_constant *ret, const uint8_t **ret_bytes);
hac_status hac_parquet_set_cut(hac_source *source, const hac_source_cut *cut, hac_error *err);
/* Removes the cut. */
void hac_parquet_leave_cut(parquet_source *p);

/* As hac_source_answer, hac_source_is_answered and hac_source_next_answer. */
hac_status hac_parquet_let_answer(hac_source *source, const uint8_t *wants, hac_error *err);
bool hac_parquet_is_answered(const hac_source *source, size_t group);
bool hac_parquet_next_answer(hac_source *source, uint64_t *ret_rows, uint64_t *ret_nulls);
/* Leaves out the rows of the current row group, for which the chunk that has the first of them gives the
 * answer. */
HAC_MUST_USE hac_status hac_parquet_note_answer(parquet_source *p, hac_error *err);

#endif
