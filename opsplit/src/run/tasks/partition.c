/* SPDX-License-Identifier: Apache-2.0 */
/* How the rows of a sub-operator are divided between components, where these are not ranges of equal
 * length. */
#include "partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"
#include "task_parts.h"

/* Components of single rows begin at multiples of this, the coarsest grain of a sub-operator that takes
 * single rows. */
#define PLACES_GRAIN HAC_OP_BLOCK

static void release(hac_logic_run_state *run, hac_run_partition *p)
{
    for (size_t i = 0; i < p->n_sources; i++)
        hac_run_vector_clear(run, &p->sources[i]);
    if (p->order.memory != NULL)
        hac_run_vector_clear(run, &p->order);
    free(p->sums);
    free(p->parts);
    free(p);
}

void hac_run_partitions_clear(hac_logic_run_state *run)
{
    for (hac_run_partition *p = run->partitions, *older; p != NULL; p = older) {
        older = p->older;
        release(run, p);
    }
    run->partition = run->partitions = NULL;
}

/* ---- what it is made of ---- */

/* The vectors that decide where a row belongs. */
typedef struct sources {
    int vectors[HAC_OP_OPERANDS_MAX];
    size_t n;
} sources;

static sources sources_of(const hac_logic_run_state *run)
{
    const hac_logic_vector *v = &run->logic->vectors[run->cut.vector];
    sources s = {{0}, 0};
    if (run->cut.files || run->cut.partitioner == HAC_PARTITION_HASH ||
        run->cut.partitioner == HAC_PARTITION_WEIGHT)
        s.vectors[s.n++] = run->cut.files || v->partition_by < 0 ? run->cut.vector : v->partition_by;
    for (size_t i = 0; run->cut.partitioner == HAC_PARTITION_EXPRESSION && i < v->partition->n_vectors; i++)
        s.vectors[s.n++] = v->partition->vectors[i];
    return s;
}

/* Whether the vectors have values. Otherwise rows are divided as if no partitioner were stated. */
static bool have_values(const hac_logic_run_state *run, const sources *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (run->vectors[s->vectors[i]].memory == NULL)
            return false;
    return true;
}

/* Makes the values readable. All ranks do the same. */
static hac_status bring(hac_logic_run_state *run, const sources *s, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < s->n && status == HAC_OK; i++) {
        hac_run_vector *v = &run->vectors[s->vectors[i]];
        if (hac_run_is_pending(run, v))
            status = hac_run_flush(run, err);
        if (status == HAC_OK)
            status = v->unknown ? hac_run_wait(err) : hac_run_gather(run, v, err);
    }
    return status;
}

/* The number of rows: of an operand that has as many rows as the vector that states the partitioner. */
static uint64_t rows_of(const hac_logic_run_state *run, const hac_logic_piece *piece)
{
    int rows = run->logic->vectors[run->cut.vector].rows;
    for (size_t i = 0; rows >= 0 && i < piece->n_reads; i++) {
        const hac_run_vector *v = &run->vectors[piece->reads[i]];
        if (run->logic->vectors[piece->reads[i]].rows == rows && v->memory != NULL)
            return v->operand.rows;
    }
    return 0;
}

/* ---- by weight ---- */

static double number_at(const hac_run_vector *v, uint64_t i)
{
    const uint8_t *at = hac_run_data(v) + v->operand.values + i * hac_op_element_size(v->operand.kind);
    switch (v->operand.kind) {
    case HAC_KIND_F64:
        return *(const double *)(const void *)at;
    case HAC_KIND_F32:
        return *(const float *)(const void *)at;
    case HAC_KIND_I64:
        return (double)*(const int64_t *)(const void *)at;
    case HAC_KIND_U64:
        return (double)*(const uint64_t *)(const void *)at;
    case HAC_KIND_I32:
        return *(const int32_t *)(const void *)at;
    case HAC_KIND_U32:
        return *(const uint32_t *)(const void *)at;
    default:
        return *at;
    }
}

/* The weight of a row: its number of entries; of a dense vector the sum of its elements. */
static double row_weight(const hac_run_vector *v, uint64_t row)
{
    const hac_op_operand *o = &v->operand;
    double sum = 0;
    if (hac_op_layout_of(o->form)->offsets) {
        const uint64_t *offsets = (const uint64_t *)(const void *)(hac_run_data(v) + o->offsets);
        return (double)(offsets[row + 1] - offsets[row]);
    }
    if (!hac_op_form_is_dense(o->form))
        return 1;
    for (uint64_t c = 0; c < o->columns; c++)
        sum += number_at(v, row * o->columns + c);
    return sum;
}

/* The weight of a row for DirMap: all rows of a file weigh in its last row, so that ranges of equal weight
 * end where a file ends. */
static double file_weight(const hac_run_vector *files, uint64_t row, uint64_t *begin)
{
    const uint32_t *file = (const uint32_t *)(const void *)(hac_run_data(files) + files->operand.values);
    if (row + 1 < files->operand.rows && file[row + 1] == file[row])
        return 0;
    double rows = (double)(row + 1 - *begin);
    *begin = row + 1;
    return rows;
}

static hac_status weigh(hac_logic_run_state *run, hac_run_partition *p, hac_error *err)
{
    const hac_run_vector *v = &p->sources[0];
    uint64_t rows = v->operand.rows, begin = 0;
    double *weights = calloc(rows + 1, sizeof *weights);
    p->sums = calloc(rows + 1, sizeof *p->sums);
    p->rows = rows;
    for (uint64_t i = 0; weights != NULL && i < rows; i++)
        weights[i] = run->cut.files ? file_weight(v, i, &begin) : row_weight(v, i);
    if (weights != NULL && p->sums != NULL)
        hac_weight_sums(weights, rows, p->sums);
    free(weights);
    return p->sums != NULL && weights != NULL ? HAC_OK : hac_fail_no_memory(err);
}

/* ---- row by row ---- */

/* Gives equal values equal bits. */
static uint64_t canonical(uint64_t bits, unsigned kind)
{
    double wide;
    float narrow;
    if (kind == HAC_KIND_F64) {
        memcpy(&wide, &bits, sizeof wide);
        wide = wide != wide ? (double)NAN : wide + 0.0; /* -0.0 becomes 0.0 */
        memcpy(&bits, &wide, sizeof bits);
    } else if (kind == HAC_KIND_F32) {
        memcpy(&narrow, &bits, sizeof narrow);
        narrow = narrow != narrow ? NAN : narrow + 0.0F;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    return bits;
}

/* A hash of the elements of a row, or of its text. */
static uint64_t row_value(const hac_run_vector *v, uint64_t row)
{
    const hac_op_operand *o = &v->operand;
    const uint8_t *at = hac_run_data(v) + o->values;
    uint64_t size = hac_op_element_size(o->kind), n = o->columns, first = row * n, value = 0;
    if (hac_op_layout_of(o->form)->text) {
        const uint64_t *offsets = (const uint64_t *)(const void *)(hac_run_data(v) + o->offsets);
        size = 1;
        first = offsets[row];
        n = offsets[row + 1] - first;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, at + (first + i) * size, size);
        value = (value ^ canonical(bits, o->kind)) * UINT64_C(0x9e3779b97f4a7c15);
        value ^= value >> 29;
    }
    return value;
}

/* Sets the component of each row. `by`: the values of the expression, one for all rows or one for each. */
static void choose(const hac_logic_run_state *run, const hac_run_partition *p, const hac_run_vector *by,
                   uint32_t *component)
{
    const int64_t *given =
        by->memory != NULL ? (const int64_t *)(const void *)(hac_run_data(by) + by->operand.values) : NULL;
    for (uint64_t row = 0; row < p->rows; row++) {
        uint64_t value = 0;
        if (given != NULL)
            value = (uint64_t)given[by->operand.rows == 1 ? 0 : row];
        else if (run->cut.partitioner == HAC_PARTITION_HASH)
            value = row_value(&p->sources[0], row);
        component[row] = hac_component_of_row(run->cut.partitioner, row, value, p->n_parts);
    }
}

/* Orders the rows by component. The last row of a component fills the places up to the next component. */
static hac_status place_rows(hac_logic_run_state *run, hac_run_partition *p, const uint32_t *component,
                             hac_error *err)
{
    uint64_t places = 0;
    for (uint64_t row = 0; row < p->rows; row++)
        p->parts[component[row]].count++;
    for (unsigned c = 0; c < p->n_parts; c++) {
        p->parts[c].first = places;
        places += hac_run_blocks(p->parts[c].count, PLACES_GRAIN) * PLACES_GRAIN;
    }
    hac_status status = hac_run_dense(run, HAC_KIND_U64, places, 1, &p->order, err);
    if (status != HAC_OK)
        return status;
    uint64_t *order = (uint64_t *)(void *)hac_run_data(&p->order);
    for (unsigned c = 0; c < p->n_parts; c++)
        p->parts[c].count = 0;
    for (uint64_t row = 0; row < p->rows; row++) {
        hac_component_range *part = &p->parts[component[row]];
        order[part->first + part->count++] = row;
    }
    for (unsigned c = 0; c < p->n_parts; c++)
        for (hac_component_range *part = &p->parts[c]; part->count % PLACES_GRAIN != 0; part->count++)
            order[part->first + part->count] = order[part->first + part->count - 1];
    return HAC_OK;
}

static hac_status assign_rows(hac_logic_run_state *run, const hac_logic_piece *piece, hac_run_partition *p,
                              hac_error *err)
{
    const hac_logic_expression *expression = run->logic->vectors[run->cut.vector].partition;
    hac_run_vector by = {.memory = NULL};
    hac_status status = HAC_OK;
    p->rows = rows_of(run, piece);
    p->n_parts = run->components;
    p->parts = calloc(p->n_parts, sizeof *p->parts);
    uint32_t *component = calloc(p->rows + 1, sizeof *component);
    if (component == NULL || p->parts == NULL)
        status = hac_fail_no_memory(err);
    if (status == HAC_OK && run->cut.partitioner == HAC_PARTITION_EXPRESSION) {
        status = run->dry_run != NULL && expression->copy < 0
                     ? hac_run_wait(err)
                     : hac_run_map_rows(run, piece, expression, &by, err);
        if (status == HAC_OK)
            status = hac_run_flush(run, err);
        if (status == HAC_OK)
            status = hac_run_gather(run, &by, err);
        if (status == HAC_OK && by.operand.rows != 1 && by.operand.rows != p->rows)
            status = hac_fail(err, HAC_FAILED, "the partitioner's '%s' has %llu rows, %s has %llu",
                              expression->text, (unsigned long long)by.operand.rows,
                              run->logic->vectors[run->cut.vector].name, (unsigned long long)p->rows);
    }
    if (status == HAC_OK) {
        choose(run, p, &by, component);
        status = place_rows(run, p, component, err);
    }
    if (by.memory != NULL)
        hac_run_vector_clear(run, &by);
    free(component);
    return status;
}

/* ---- found again ---- */

/* Whether the partition was made from the current values. It holds them, and the values in a memory never
 * change. */
static bool is_of(const hac_logic_run_state *run, const hac_run_partition *p, const sources *s, uint64_t rows)
{
    bool placed = p->parts != NULL;
    if (p->vector != run->cut.vector || p->n_sources != s->n ||
        (placed && (p->n_parts != run->components || p->rows != rows)))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (p->sources[i].memory != run->vectors[s->vectors[i]].memory)
            return false;
    return true;
}

/* Keeps the newest partition of each vector. */
static void forget_older(hac_logic_run_state *run, int vector)
{
    for (hac_run_partition **at = &run->partitions; *at != NULL; at = &(*at)->older)
        if ((*at)->vector == vector) {
            hac_run_partition *old = *at;
            *at = old->older;
            release(run, old);
            return;
        }
}

static hac_status make(hac_logic_run_state *run, const hac_logic_piece *piece, const sources *s,
                       hac_error *err)
{
    hac_run_partition *p = calloc(1, sizeof *p);
    if (p == NULL)
        return hac_fail_no_memory(err);
    p->vector = run->cut.vector;
    p->number = ++run->n_partitions;
    for (; p->n_sources < s->n; p->n_sources++)
        hac_run_vector_copy(run, &run->vectors[s->vectors[p->n_sources]], &p->sources[p->n_sources]);
    hac_status status = run->cut.files || run->cut.partitioner == HAC_PARTITION_WEIGHT
                            ? weigh(run, p, err)
                            : assign_rows(run, piece, p, err);
    if (status != HAC_OK) {
        release(run, p);
        return status;
    }
    forget_older(run, p->vector);
    p->older = run->partitions;
    run->partition = run->partitions = p;
    return HAC_OK;
}

/* Whether the values apply to the rows of the piece. They do not if the piece reads no rows (fill, range),
 * or if they have other rows, for example those of the previous round of a loop. Whether a value is single
 * is stated by the file, because a vector may have one row by chance. A SparseValueVector is never divided
 * by its rows: it may have more of them than memory has bytes. */
static bool speak_for(const hac_logic_run_state *run, const sources *s, uint64_t rows)
{
    if (run->cut.files || run->cut.partitioner == HAC_PARTITION_WEIGHT)
        return run->vectors[s->vectors[0]].operand.form != HAC_VECTOR_SPARSE_VALUE;
    const hac_logic_expression *expression = run->logic->vectors[run->cut.vector].partition;
    for (size_t i = 0; i < s->n; i++) {
        bool one = run->cut.partitioner == HAC_PARTITION_EXPRESSION && (expression->ones >> i & 1) != 0;
        if (run->vectors[s->vectors[i]].operand.rows != rows && !one)
            return false;
    }
    return rows > 1;
}

/* Sets run->partition as run->cut says; NULL: ranges of equal length, also as long as the values that the
 * partition needs are missing. Flushes the graph if need be. */
static hac_status find_partition(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    bool plain = run->cut.partitioner == HAC_PARTITION_RANGE && !run->cut.files;
    run->partition = NULL;
    if (plain || (run->components == 1 && run->options->ranks == NULL))
        return HAC_OK;
    sources s = sources_of(run);
    if (!have_values(run, &s))
        return HAC_OK;
    hac_status status = bring(run, &s, err);
    if (status != HAC_OK)
        return status;
    uint64_t rows = rows_of(run, piece);
    if (!speak_for(run, &s, rows))
        return HAC_OK;
    for (hac_run_partition *p = run->partitions; p != NULL; p = p->older)
        if (is_of(run, p, &s, rows)) {
            run->partition = p;
            return HAC_OK;
        }
    return make(run, piece, &s, err);
}

hac_status hac_run_choose_cut(hac_logic_run_state *run, const hac_logic_step *step,
                              const hac_logic_piece *piece, hac_error *err)
{
    hac_decompose_options options = {run->options->components, run->threads};
    hac_operation operation = step != NULL ? step->operation : HAC_OPERATION_NONE;
    run->cut = hac_piece_cut_of(run->logic, operation, piece, &options);
    if (step != NULL && step->whole)
        run->cut.components = 1;
    run->components = run->cut.components;
    return find_partition(run, piece, err);
}

void hac_run_clear_cut(hac_logic_run_state *run)
{
    run->partition = NULL;
    run->cut.everywhere = false;
}
