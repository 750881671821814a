/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet: rows of a file's row groups, one *unit* of up to HAC_BATCH_ROWS after the other. The filter is
 * applied here as far as possible, conjunct by conjunct, so that most rows that do not count are never
 * decoded: row groups and pages by their statistics, codes by a verdict on each entry of their dictionary,
 * rows by the columns that a conjunct reads. The other columns are decoded only for the remaining rows. Rows
 * of several units form a batch. A row for which a conjunct fails is kept: the query's own filter reports the
 * error. A cut (hac_source_set_cut) is one more conjunct, which changes between batches.
 *
 * With a column that is unnested, a unit's rows are repeated for the elements of their lists. The filter,
 * which may read the elements, then only spares row groups and pages; the query applies it to the batches.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "parquet_state.h"
#include "path_values.h"
#include "query_machine.h"

#define GOOD_ROWS (HAC_BATCH_ROWS / 2) /* a smaller batch is filled further */
#define STRINGS_MAX                                                                                          \
    (UINT32_C(16) << 20) /* of a batch that is assembled; a unit with more is returned as it is */
#define PAGES_MAX   (UINT64_C(512) << 20) /* memory for large pages of all columns */
#define ENTRIES_MAX (UINT32_C(1) << 16)   /* entries of a dictionary that is judged */

enum { DROP = 0, KEEP = 1, UNKNOWN = 2 };

/* ---- opening ---- */

static hac_status find_leaf(const hac_source_column *column, parquet_source *p, column_reader *r,
                            hac_error *err)
{
    char here[HAC_VALUE_TYPE_NAME_MAX], there[HAC_VALUE_TYPE_NAME_MAX];
    int leaf = hac_parquet_find(p->file, column->name, column->name_bytes);
    r->leaf = SIZE_MAX;
    r->group = SIZE_MAX;
    if (leaf == -1 && column->lacking)
        return HAC_OK; /* all values are null */
    if (leaf < 0)
        return hac_fail(err, HAC_INVALID, "the file has %s '%s'",
                        leaf == HAC_PARQUET_TWICE ? "two columns" : "no column", column->name);
    const hac_parquet_leaf *found = &p->file->leaves[leaf];
    hac_parquet_leaf as;
    if (found->type.kind == HAC_KIND_NONE)
        return hac_fail(err, HAC_INVALID, "column '%s' cannot be read: %s", column->name, found->why);
    bool text = column->part == HAC_LIST_UNNEST && found->nested.kind == HAC_NESTED_NONE;
    if (!hac_parquet_leaf_as(found, column->type, text ? HAC_LIST_WHOLE : (hac_list_part)column->part,
                             column->argument, &as))
        return hac_fail(err, HAC_INVALID, "column '%s' is %s in the file, not %s", column->name,
                        hac_value_type_name(found->type, there), hac_value_type_name(column->type, here));
    r->leaf = (size_t)leaf;
    r->group = SIZE_MAX;
    r->prunes = as.conversion == found->conversion && hac_repr_of(as.type) == hac_repr_of(found->type) &&
                found->nested.kind == HAC_NESTED_NONE && !text;
    r->unnests_text = text;
    if (found->only_nulls)
        return HAC_OK;
    hac_status status = hac_parquet_column_new(p->file, r->leaf, &as, &r->column, err);
    if (status == HAC_OK)
        hac_parquet_column_share(r->column, &p->pages);
    return status;
}

static hac_status make_readers(hac_source *source, parquet_source *p, hac_error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < source->n_columns; i++)
        bytes += HAC_BATCH_ROWS * (hac_repr_size(source->columns[i].repr) + 1 + 2 * sizeof(uint32_t));
    p->readers = calloc(source->n_columns + 1, sizeof *p->readers);
    p->inputs = calloc(source->query->columns.n_fields + 1, sizeof *p->inputs);
    uint8_t *memory = p->memory = aligned_alloc(64, bytes + 64);
    if (p->readers == NULL || p->inputs == NULL || memory == NULL)
        return hac_fail_no_memory(err);
    p->n_readers = source->n_columns;
    memset(memory, 0, bytes + 64);
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        column_reader *r = &p->readers[i];
        r->unit = (hac_column){.type = column->type, .values = memory};
        r->states = memory + HAC_BATCH_ROWS * hac_repr_size(column->repr);
        r->codes = (uint32_t *)(void *)(r->states + HAC_BATCH_ROWS);
        column->codes = r->codes + HAC_BATCH_ROWS;
        memory = (uint8_t *)(column->codes + HAC_BATCH_ROWS);
        hac_status status = find_leaf(column, p, r, err);
        if (status == HAC_OK && column->part == HAC_LIST_UNNEST && hac_parquet_unnests(source))
            status = hac_fail(err, HAC_INVALID, "two columns are unnested");
        if (status != HAC_OK)
            return status;
        if (r->unnests_text) {
            source->unnested = i; /* whose rows source.c makes */
        } else if (column->part == HAC_LIST_UNNEST) {
            p->unnest = i;
            source->repeats = true;
        }
    }
    return HAC_OK;
}

static hac_status take_filter_apart(const hac_source *source, parquet_source *p, hac_error *err)
{
    const hac_query *query = source->query;
    hac_status status = HAC_OK;
    if (query->filter != NULL)
        status = hac_conjuncts_find(query->filter, &p->found, err);
    if (status != HAC_OK)
        return status == HAC_INVALID ? HAC_OK : status; /* then the filter is not applied here */
    p->applied = !hac_parquet_unnests(source);
    p->fails = hac_conjuncts_fail(&p->found);
    p->n_filter = p->found.n;
    p->n_filter_bounds = p->found.n_bounds;
    p->conjuncts = calloc(p->n_filter + 1, sizeof *p->conjuncts);
    p->leaves = calloc(query->columns.n_fields + 1, sizeof *p->leaves);
    hac_conjunct *with_cut = realloc(p->found.conjuncts, (p->n_filter + 1) * sizeof *with_cut);
    if (with_cut != NULL)
        p->found.conjuncts = with_cut;
    if (p->conjuncts == NULL || p->leaves == NULL || with_cut == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < p->n_filter && status == HAC_OK; i++) {
        p->conjuncts[i].conjunct = &p->found.conjuncts[i];
        status = hac_query_machine(p->found.conjuncts[i].program, &p->conjuncts[i].machine, err);
    }
    for (size_t i = 0; i < query->columns.n_fields; i++)
        p->leaves[i] = i < p->n_readers && p->readers[i].prunes ? p->readers[i].leaf : SIZE_MAX;
    return status;
}

/* Finds the row groups that the source's options select. */
static hac_status find_groups(const hac_input_options *options, parquet_source *p, hac_error *err)
{
    uint64_t all = p->file->n_groups, first = options->first_row_group;
    uint64_t n = options->row_groups != 0 ? options->row_groups : first < all ? all - first : 0;
    if (first > all || n > all - first || (first == all && options->row_groups != 0))
        return hac_fail(err, HAC_INVALID, "row groups %llu … %llu are wanted, and the file has %llu",
                        (unsigned long long)first, (unsigned long long)(first + n - (n > 0)),
                        (unsigned long long)all);
    p->first_group = (size_t)first;
    p->end_group = (size_t)(first + n);
    p->first_row = first < all ? p->file->groups[first].first_row : p->file->rows;
    return HAC_OK;
}

static hac_status open_parquet(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    p->file = source->place.parquet;
    p->pages.max = PAGES_MAX;
    p->group = p->unnest = SIZE_MAX;
    if (p->file == NULL)
        return hac_fail(err, HAC_INVALID, "the file's footer was not read");
    hac_status status = find_groups(&source->query->source.options, p, err);
    if (status == HAC_OK)
        status = make_readers(source, p, err);
    if (status == HAC_OK && source->path != NULL)
        hac_path_values_give(source->path, p->inputs + p->n_readers);
    return status == HAC_OK ? take_filter_apart(source, p, err) : status;
}

static void close_parquet(hac_source *source)
{
    parquet_source *p = source->state;
    for (size_t i = 0; p->readers != NULL && i < source->n_columns; i++) {
        hac_parquet_column_free(p->readers[i].column);
        free(p->readers[i].characters);
    }
    for (size_t i = 0; p->conjuncts != NULL && i <= p->n_filter; i++) {
        hac_machine_c_free(p->conjuncts[i].machine);
        free(p->conjuncts[i].verdicts.of);
    }
    hac_parquet_leave_cut(p);
    hac_conjuncts_clear(&p->found);
    hac_parquet_ranges_clear(&p->ranges);
    free(p->answered);
    free(p->wants);
    free(p->conjuncts);
    free(p->leaves);
    free(p->readers);
    free(p->inputs);
    free(p->memory);
}

/* ---- where to read ---- */

static hac_status begin_parquet(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                hac_error *err)
{
    parquet_source *p = source->state;
    (void)inside_quotes;
    (void)err;
    uint64_t max = 0;
    if (p->end_group > p->first_group) {
        const hac_parquet_group *last = &p->file->groups[p->end_group - 1];
        max = last->first_row + last->rows - p->first_row;
    }
    end = end < max ? end : max;
    p->row = p->first_row + (first < end ? first : end);
    p->end = p->first_row + end;
    p->group = SIZE_MAX;
    if (p->pending && p->unnest != SIZE_MAX)
        p->readers[p->unnest].group = SIZE_MAX; /* it may be inside a row */
    p->pending = false;
    p->n_answered = p->answers_given = 0;
    p->wanted = NULL;
    return HAC_OK;
}

static void want_parquet(hac_source *source, const uint64_t *numbers, size_t n)
{
    parquet_source *p = source->state;
    p->wanted = numbers;
    p->n_wanted = n;
}

/* All row groups are there for a query without columns, so the rest of the chunk is what the footer says. */
static uint64_t take_parquet_rows(hac_source *source)
{
    parquet_source *p = source->state;
    uint64_t rows = p->end - p->row;
    p->row = p->end;
    return rows;
}

/* The row group that row `row` of the file is in. */
static size_t group_of(const parquet_source *p, uint64_t row)
{
    size_t low = p->first_group, high = p->end_group;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->file->groups[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The wanted rows of the current row group, each as a range, or several that follow each other. */
static hac_status find_wanted(parquet_source *p, hac_error *err)
{
    const hac_parquet_group *group = &p->file->groups[p->group];
    size_t first = 0, end;
    while (first < p->n_wanted && p->wanted[first] < p->row)
        first++;
    for (end = first; end < p->n_wanted && p->wanted[end] - group->first_row < group->rows;)
        end++;
    p->ranges.ranges = malloc((end - first + 1) * sizeof *p->ranges.ranges);
    if (p->ranges.ranges == NULL)
        return hac_fail_no_memory(err);
    for (; first < end; first++) {
        uint64_t row = p->wanted[first] - group->first_row;
        hac_parquet_range *last = &p->ranges.ranges[p->ranges.n];
        if (p->ranges.n > 0 && last[-1].first + last[-1].rows == row)
            last[-1].rows++;
        else
            p->ranges.ranges[p->ranges.n++] = (hac_parquet_range){.first = row, .rows = 1};
    }
    return HAC_OK;
}

static hac_status begin_group(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    const hac_parquet_group *group;
    hac_parquet_pruned pruned = {0};
    p->group = group_of(p, p->row);
    while (p->row >= p->file->groups[p->group].first_row + p->file->groups[p->group].rows)
        p->group++; /* groups without rows */
    group = &p->file->groups[p->group];
    hac_parquet_ranges_clear(&p->ranges);
    p->range = 0;
    if (p->wanted != NULL)
        return find_wanted(p, err);
    if (hac_parquet_is_answered(source, p->group))
        return hac_parquet_note_answer(p, err);
    hac_status status = hac_parquet_prune(p->file, p->group, &p->found, p->leaves, &p->ranges, &pruned, err);
    if (status != HAC_OK || p->row != group->first_row)
        return status; /* counted by the chunk that reads its first row */
    p->pruned.groups_by_statistics += pruned.groups_by_statistics;
    p->pruned.groups_by_bloom += pruned.groups_by_bloom;
    p->pruned.groups_by_pages += pruned.groups_by_pages;
    for (size_t i = 0; p->ranges.n == 0 && i < source->n_columns; i++)
        p->bytes_pruned += p->readers[i].leaf == SIZE_MAX ? 0 : group->chunks[p->readers[i].leaf].bytes;
    return HAC_OK;
}

/* Goes to the next unit of at most `max` rows. HAC_NOT_FOUND: the chunk has no more rows. */
static hac_status next_unit(hac_source *source, size_t max, hac_error *err)
{
    parquet_source *p = source->state;
    while (p->row < p->end) {
        if (p->group == SIZE_MAX ||
            p->row >= p->file->groups[p->group].first_row + p->file->groups[p->group].rows) {
            hac_status status = begin_group(source, err);
            if (status != HAC_OK)
                return status;
        }
        const hac_parquet_group *group = &p->file->groups[p->group];
        uint64_t at = p->row - group->first_row, end = group->first_row + group->rows;
        end = end < p->end ? end : p->end;
        while (p->range < p->ranges.n &&
               at >= p->ranges.ranges[p->range].first + p->ranges.ranges[p->range].rows)
            p->range++;
        uint64_t next = p->range < p->ranges.n ? group->first_row + p->ranges.ranges[p->range].first : end;
        if (next > p->row) { /* skipped */
            next = next < end ? next : end;
            p->passed_over += p->wanted == NULL ? next - p->row : 0;
            p->pruned.rows += p->wanted == NULL ? next - p->row : 0;
            p->row = next;
            continue;
        }
        uint64_t left = group->first_row + p->ranges.ranges[p->range].first + p->ranges.ranges[p->range].rows;
        left = (left < end ? left : end) - p->row;
        p->n = left < max ? (size_t)left : max;
        p->unit = at;
        return HAC_OK;
    }
    return HAC_NOT_FOUND;
}

/* Moves a column to the unit. */
static hac_status go_to_unit(const parquet_source *p, column_reader *r, hac_error *err)
{
    hac_status status = HAC_OK;
    if (r->group != p->group || r->at > p->unit) { /* columns only move forward */
        status = hac_parquet_column_begin(r->column, p->group, err);
        r->group = p->group;
        r->at = 0;
    }
    if (status == HAC_OK && r->at < p->unit)
        status = hac_parquet_column_skip(r->column, p->unit - r->at, err);
    if (status == HAC_OK)
        r->at = p->unit;
    return status;
}

/* NULL: all rows of the unit. */
static const uint16_t *selection_of(const parquet_source *p)
{
    return p->n_selected == p->n ? NULL : p->selection;
}

static hac_status decode(const parquet_source *p, column_reader *r, hac_error *err)
{
    hac_status status = r->decoded || r->column == NULL ? HAC_OK : go_to_unit(p, r, err);
    if (status != HAC_OK || r->decoded)
        return status;
    r->unit.states = r->states;
    if (r->column == NULL) {
        memset(r->unit.values, 0, p->n_selected * hac_repr_size(hac_repr_of(r->unit.type)));
        memset(r->states, HAC_ROW_NULL, p->n_selected);
        r->marked = r->decoded = true;
        return HAC_OK;
    }
    r->unit.codes = r->codes;
    status =
        hac_parquet_column_read(r->column, p->n, selection_of(p), p->n_selected, &r->unit, &r->marked, err);
    r->unit.states = r->marked ? r->states : NULL;
    r->at = p->unit + p->n;
    r->decoded = true;
    return status;
}

/* ---- what counts ---- */

static uint8_t verdict_on(const parquet_source *p, const hac_column *v, size_t row)
{
    uint8_t state = v->states == NULL ? HAC_ROW_OK : v->states[row];
    if (state == HAC_ROW_OK)
        return ((const uint8_t *)v->values)[row] != 0 ? KEEP : DROP;
    return state == HAC_ROW_NULL && !p->fails ? DROP : UNKNOWN;
}

/* Runs a conjunct over `rows` rows of the inputs of its columns. */
static void judge(parquet_source *p, const conjunct *c, size_t rows, hac_column *ret)
{
    for (size_t i = 0; i < c->conjunct->n_columns; i++) {
        size_t column = c->conjunct->columns[i];
        hac_column *v = &p->inputs[column];
        if (column >= p->n_readers) /* in paths */
            continue;
        *v = p->readers[column].unit;
        if (hac_repr_of(v->type) == HAC_REPR_STRING) /* machines read whole batches */
            memset((hac_string_ref *)v->values + rows, 0, (HAC_BATCH_ROWS - rows) * sizeof(hac_string_ref));
    }
    hac_batch batch = {.rows = rows, .n_columns = c->conjunct->program->n_inputs, .columns = p->inputs};
    hac_machine_c_run(c->machine, &batch, ret);
}

static uint8_t judge_null(parquet_source *p, const conjunct *c, column_reader *r)
{
    hac_column verdict;
    memset(r->unit.values, 0, hac_repr_size(hac_repr_of(r->unit.type)));
    r->states[0] = HAC_ROW_NULL;
    r->unit.states = r->states;
    r->unit.dictionary = 0;
    r->unit.codes = NULL;
    judge(p, c, 1, &verdict);
    return verdict_on(p, &verdict, 0);
}

/* Judges all entries of the column's dictionary. */
static hac_status judge_dictionary(parquet_source *p, conjunct *c, column_reader *r, uint32_t entries,
                                   uint64_t serial, hac_error *err)
{
    verdicts *v = &c->verdicts;
    uint8_t *of = realloc(v->of, entries < HAC_PARQUET_JUDGED_MIN ? HAC_PARQUET_JUDGED_MIN : entries);
    if (of == NULL)
        return hac_fail_no_memory(err);
    memset(of, DROP, HAC_PARQUET_JUDGED_MIN); /* including the padding behind the entries */
    v->of = of;
    v->known = false;
    v->null = judge_null(p, c, r);
    for (uint32_t first = 0; first < entries; first += HAC_BATCH_ROWS) {
        size_t rows = entries - first < HAC_BATCH_ROWS ? entries - first : HAC_BATCH_ROWS;
        hac_column verdict;
        bool marked;
        r->unit.states = r->states;
        hac_status status = hac_parquet_column_entries(r->column, first, rows, &r->unit, &marked, err);
        if (status != HAC_OK)
            return status;
        r->unit.states = marked ? r->states : NULL;
        judge(p, c, rows, &verdict);
        for (size_t i = 0; i < rows; i++)
            of[first + i] = verdict_on(p, &verdict, i);
    }
    v->serial = serial;
    v->entries = entries;
    v->known = true;
    return HAC_OK;
}

/* Removes rows whose verdict is DROP from the selection, and from the columns that are decoded. */
static void keep_rows(hac_source *source, uint8_t *verdicts_of_rows)
{
    parquet_source *p = source->state;
    hac_column decoded[HAC_COLUMNS_MAX];
    uint16_t kept[HAC_BATCH_ROWS + 3];
    size_t n = 0, rows = p->n_selected;
    uint8_t seen = 0, lowest = UINT8_MAX;
    for (size_t i = 0; i < rows; i++) {
        seen |= verdicts_of_rows[i];
        lowest = verdicts_of_rows[i] < lowest ? verdicts_of_rows[i] : lowest;
    }
    p->undecided |= (seen & UNKNOWN) != 0;
    if (lowest != DROP)
        return;
    for (size_t i = 0; (seen & UNKNOWN) != 0 && i < rows; i++)
        verdicts_of_rows[i] = verdicts_of_rows[i] != DROP;
    size_t left = hac_rows_kept(verdicts_of_rows, rows, kept);
    if (rows == p->n)
        memcpy(p->selection, kept, left * sizeof *kept);
    else
        for (size_t i = 0; i < left; i++)
            p->selection[i] = p->selection[kept[i]];
    p->n_selected = left;
    for (size_t i = 0; i < source->n_columns; i++)
        if (p->readers[i].decoded)
            decoded[n++] = p->readers[i].unit;
    hac_batch_gather(&(hac_batch){.rows = rows, .n_columns = n, .columns = decoded}, kept, left);
}

/* Judges rows by the codes of a column that is not decoded. HAC_NOT_FOUND: it has no codes here, or too many
 * entries. */
static hac_status judge_codes(parquet_source *p, conjunct *c, uint8_t *ret, hac_error *err)
{
    column_reader *r = &p->readers[c->conjunct->columns[0]];
    const uint32_t *codes;
    const uint8_t *states;
    uint32_t entries;
    uint64_t serial;
    if (r->column == NULL)
        return HAC_NOT_FOUND;
    hac_status status = go_to_unit(p, r, err);
    if (status == HAC_OK)
        status = hac_parquet_column_codes(r->column, p->n, &codes, &states, err);
    if (status != HAC_OK)
        return status;
    hac_parquet_column_dictionary(r->column, &entries, &serial);
    if (entries > ENTRIES_MAX)
        return HAC_NOT_FOUND;
    if (!c->verdicts.known || c->verdicts.serial != serial || c->verdicts.entries != entries) {
        status = judge_dictionary(p, c, r, entries, serial, err);
        if (status == HAC_OK) /* reading the entries was another call: asks for the codes again */
            status = hac_parquet_column_codes(r->column, p->n, &codes, &states, err);
        if (status != HAC_OK)
            return status;
    }
    const uint8_t *of = c->verdicts.of;
    uint8_t nulls = 0;
    for (size_t i = 0; i < p->n; i++)
        nulls |= states[i];
    if (nulls == 0 && p->n_selected == p->n) {
        hac_parquet_column_judge(r->column, of, codes, p->n, ret);
        return HAC_OK;
    }
    const uint16_t *selection = selection_of(p);
    for (size_t i = 0; i < p->n_selected; i++) {
        size_t row = selection == NULL ? i : selection[i];
        ret[i] = states[row] == HAC_ROW_OK ? of[codes[row]] : c->verdicts.null;
    }
    return HAC_OK;
}

static hac_status judge_rows(parquet_source *p, conjunct *c, uint8_t *ret, hac_error *err)
{
    hac_column verdict;
    for (size_t i = 0; i < c->conjunct->n_columns; i++) {
        size_t column = c->conjunct->columns[i];
        hac_status status = column < p->n_readers ? decode(p, &p->readers[column], err) : HAC_OK;
        if (status != HAC_OK)
            return status;
    }
    judge(p, c, p->n_selected, &verdict);
    if (verdict.states == NULL) {
        memcpy(ret, verdict.values, p->n_selected); /* KEEP is 1 */
        return HAC_OK;
    }
    for (size_t i = 0; i < p->n_selected; i++)
        ret[i] = verdict_on(p, &verdict, i);
    return HAC_OK;
}

static hac_status select_rows(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    _Alignas(64) uint8_t keep[HAC_BATCH_ROWS];
    hac_status status = HAC_OK;
    p->n_selected = p->n;
    p->undecided = false;
    for (size_t i = 0; i < source->n_columns; i++)
        p->readers[i].decoded = false;
    for (size_t i = 0; p->applied && i < p->found.n && p->n_selected > 0 && status == HAC_OK; i++) {
        conjunct *c = &p->conjuncts[i];
        bool codes = c->conjunct->n_columns == 1 && c->conjunct->columns[0] < p->n_readers &&
                     !p->readers[c->conjunct->columns[0]].decoded;
        status = codes ? judge_codes(p, c, keep, err) : HAC_NOT_FOUND;
        if (status == HAC_NOT_FOUND)
            status = judge_rows(p, c, keep, err);
        if (status == HAC_OK)
            keep_rows(source, keep);
    }
    return status;
}

/* ---- batches ---- */

/* Whether the column is decoded for the unit; a column that only the filter reads may not be. */
static bool is_there(const parquet_source *p, const column_reader *r)
{
    return !r->only_filter || p->undecided;
}

/* Makes the unit the batch, by exchanging its arrays with the source's. */
static void hand_out(hac_source *source)
{
    parquet_source *p = source->state;
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        column_reader *r = &p->readers[i];
        if (!is_there(p, r))
            continue;
        void *values = column->values;
        uint8_t *states = column->states;
        uint32_t *codes = column->codes;
        column->values = r->unit.values;
        column->states = r->states;
        column->marked = r->marked;
        column->bytes = r->unit.bytes;
        column->dictionary = r->unit.dictionary;
        column->codes = r->codes;
        column->entries = r->unit.entries;
        r->unit.values = values;
        r->states = states;
        r->codes = codes;
        r->used = 0;
    }
    source->rows = p->n_selected;
}

static uint64_t strings_of_unit(const hac_source *source)
{
    const parquet_source *p = source->state;
    uint64_t bytes = 0;
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].repr == HAC_REPR_STRING && is_there(p, &p->readers[i]))
            bytes += p->readers[i].used + hac_column_string_bytes(&p->readers[i].unit, p->n_selected);
    return bytes;
}

static hac_status add_strings(column_reader *r, hac_string_ref *to, size_t rows, hac_error *err)
{
    const hac_string_ref *from = r->unit.values;
    size_t needed = r->used + (size_t)hac_column_string_bytes(&r->unit, rows);
    if (needed > r->capacity) {
        uint8_t *characters = realloc(r->characters, 2 * needed);
        if (characters == NULL)
            return hac_fail_no_memory(err);
        r->characters = characters;
        r->capacity = 2 * needed;
    }
    for (size_t i = 0; i < rows; i++) {
        bool there = r->unit.states == NULL || r->unit.states[i] == HAC_ROW_OK;
        to[i] = (hac_string_ref){(uint32_t)r->used, there ? from[i].length : 0};
        if (to[i].length > 0)
            memcpy(r->characters + r->used, r->unit.bytes + from[i].offset, to[i].length);
        r->used += to[i].length;
    }
    return HAC_OK;
}

/* Appends the unit's codes. A batch has codes if all its units have those of one dictionary. Strings of a
 * batch that is assembled have other offsets in each batch, so they are from no dictionary. */
static void append_codes(const hac_source *source, hac_source_column *column, const column_reader *r,
                         size_t n)
{
    if (column->repr == HAC_REPR_STRING)
        column->dictionary = 0;
    else if (source->rows == 0)
        column->dictionary = r->unit.dictionary;
    else if (column->dictionary != r->unit.dictionary)
        column->dictionary = 0;
    column->entries = r->unit.entries;
    if (column->dictionary != 0)
        memcpy(column->codes + source->rows, r->unit.codes, n * sizeof *column->codes);
}

/* Appends the unit's remaining rows to the batch. */
static hac_status append(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        column_reader *r = &p->readers[i];
        if (!is_there(p, r))
            continue;
        size_t size = hac_repr_size(column->repr);
        uint8_t *to = (uint8_t *)column->values + source->rows * size;
        if (r->marked)
            memcpy(column->states + source->rows, r->states, p->n_selected);
        column->marked |= r->marked;
        append_codes(source, column, r, p->n_selected);
        if (column->repr != HAC_REPR_STRING) {
            memcpy(to, r->unit.values, p->n_selected * size);
            continue;
        }
        hac_status status = add_strings(r, (void *)to, p->n_selected, err);
        if (status != HAC_OK)
            return status;
        column->bytes = r->characters;
    }
    source->rows += p->n_selected;
    return HAC_OK;
}

static void note_rows(hac_source *source, size_t at)
{
    const parquet_source *p = source->state;
    uint64_t first = p->file->groups[p->group].first_row + p->unit;
    const uint16_t *selection = selection_of(p);
    for (size_t i = 0; i < p->n_selected; i++)
        source->starts[at + i] = first + (selection == NULL ? i : selection[i]);
}

/* Puts the unit into the batch, or aside for the next one. *ret_full: the batch is complete. An undecided
 * unit is a batch of its own, because only such batches have all columns. */
static hac_status take_unit(hac_source *source, bool *ret_full, hac_error *err)
{
    parquet_source *p = source->state;
    bool alone = source->rows == 0 && p->n_selected >= GOOD_ROWS;
    bool large = !alone && strings_of_unit(source) > STRINGS_MAX;
    *ret_full = true;
    if (source->rows > 0 && (large || p->undecided)) {
        p->pending = true;
        return HAC_OK;
    }
    note_rows(source, source->rows);
    p->pending = false;
    p->unknown = p->undecided;
    if (alone || (source->rows == 0 && (large || p->undecided))) {
        hand_out(source);
        return HAC_OK;
    }
    hac_status status = append(source, err);
    *ret_full = source->rows >= GOOD_ROWS;
    return status;
}

static hac_status read_unit(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    hac_status status = next_unit(source, HAC_BATCH_ROWS - source->rows, err);
    if (status == HAC_OK)
        status = select_rows(source, err);
    for (size_t i = 0; status == HAC_OK && p->n_selected > 0 && i < source->n_columns; i++)
        if (is_there(p, &p->readers[i]))
            status = decode(p, &p->readers[i], err);
    if (status != HAC_OK)
        return status;
    p->row += p->n;
    p->passed_over += p->n - p->n_selected;
    return HAC_OK;
}

/* ---- lists that make rows ---- */

/* Reads the next unit; the lists are left for later. */
static hac_status read_listed_unit(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    hac_status status = next_unit(source, HAC_BATCH_ROWS, err);
    if (status != HAC_OK)
        return status;
    p->n_selected = p->n;
    p->unnested = 0;
    for (size_t i = 0; i < source->n_columns && status == HAC_OK; i++) {
        column_reader *r = &p->readers[i];
        r->decoded = false;
        if (i != p->unnest)
            status = decode(p, r, err);
        else if (r->column != NULL)
            status = go_to_unit(p, r, err);
    }
    p->row += p->n;
    p->pending = status == HAC_OK && p->readers[p->unnest].column != NULL; /* else no row has a list */
    return status;
}

/* Gives each of the batch's `n` elements the values of its row. */
static void repeat_values(hac_source_column *column, const column_reader *r, const uint16_t *rows_of,
                          size_t first, size_t n)
{
    size_t size = hac_repr_size(column->repr);
    const uint8_t *from = (const uint8_t *)r->unit.values + first * size;
    uint8_t *to = column->values;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * size, from + rows_of[i] * size, size);
    for (size_t i = 0; r->marked && i < n; i++)
        column->states[i] = r->states[first + rows_of[i]];
    column->marked = r->marked;
    column->bytes = r->unit.bytes;
    column->dictionary = r->unit.dictionary;
    column->entries = r->unit.entries;
    for (size_t i = 0; column->dictionary != 0 && i < n; i++)
        column->codes[i] = r->unit.codes[first + rows_of[i]];
}

/* Makes a batch of the next elements of the unit. */
static hac_status unnest_some(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    hac_source_column *column = &source->columns[p->unnest];
    column_reader *r = &p->readers[p->unnest];
    hac_column elements = {.values = column->values, .states = column->states};
    size_t n = 0, rows = 0, first = p->unnested;
    uint64_t row = p->file->groups[p->group].first_row + p->unit + first;
    hac_status status = hac_parquet_column_unnest(r->column, p->n - first, &elements, p->rows_of, &n, &rows,
                                                  &column->marked, err);
    if (status != HAC_OK)
        return status;
    column->bytes = elements.bytes;
    for (size_t i = 0; i < source->n_columns; i++)
        if (i != p->unnest)
            repeat_values(&source->columns[i], &p->readers[i], p->rows_of, first, n);
    for (size_t i = 0; i < n; i++)
        source->starts[i] = row + p->rows_of[i];
    source->rows = n;
    p->unnested += rows;
    r->at = p->unit + p->unnested;
    p->pending = p->unnested < p->n;
    return HAC_OK;
}

static hac_status next_unnested(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    hac_status status = HAC_OK;
    source->filtered = false;
    while (status == HAC_OK && source->rows == 0) {
        if (!p->pending)
            status = read_listed_unit(source, err);
        if (status == HAC_OK && p->pending)
            status = unnest_some(source, err);
    }
    return status;
}

static hac_status next_parquet(hac_source *source, hac_error *err)
{
    parquet_source *p = source->state;
    bool full = false;
    if (p->unnest != SIZE_MAX)
        return next_unnested(source, err);
    hac_status status = HAC_OK;
    p->unknown = false;
    for (size_t i = 0; i < source->n_columns; i++)
        p->readers[i].used = 0;
    while (!full && status == HAC_OK) {
        if (!p->pending)
            status = read_unit(source, err);
        if (status == HAC_OK && p->n_selected > 0)
            status = take_unit(source, &full, err);
    }
    for (size_t i = 0; i < source->n_columns; i++)
        source->columns[i].missing = p->readers[i].only_filter && !p->unknown;
    source->filtered = p->applied && !p->unknown;
    return status == HAC_NOT_FOUND && source->rows > 0 ? HAC_OK : status;
}

static void parquet_reads(hac_source *source, const hac_program *program)
{
    parquet_source *p = source->state;
    bool reads[HAC_PROGRAM_INPUTS_MAX] = {false};
    hac_program_reads(program, reads);
    for (size_t i = 0; i < source->n_columns; i++)
        p->readers[i].only_filter = p->applied && !reads[i];
}

static void count_parquet(const hac_source *source, hac_source_counters *counters)
{
    const parquet_source *p = source->state;
    counters->passed_over += p->passed_over;
    counters->pruned.groups_by_statistics += p->pruned.groups_by_statistics;
    counters->pruned.groups_by_bloom += p->pruned.groups_by_bloom;
    counters->pruned.groups_by_pages += p->pruned.groups_by_pages;
    counters->pruned.rows += p->pruned.rows;
    counters->groups_answered += p->groups_answered;
    counters->bytes_pruned += p->bytes_pruned;
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_parquet_counters c = {0};
        if (p->readers[i].column != NULL)
            hac_parquet_column_counters(p->readers[i].column, &c);
        counters->columns.pages += c.pages;
        counters->columns.pages_skipped += c.pages_skipped;
        counters->columns.bytes_skipped += c.bytes_skipped;
        counters->columns.bytes_read += c.bytes_read;
        counters->columns.bytes_decompressed += c.bytes_decompressed;
        counters->columns.bytes_decoded += c.bytes_decoded;
        counters->columns.read_seconds += c.read_seconds;
        counters->columns.decompress_seconds += c.decompress_seconds;
        counters->columns.decode_seconds += c.decode_seconds;
    }
}

const hac_source_format hac_format_parquet = {.state_bytes = sizeof(parquet_source),
                                              .open = open_parquet,
                                              .begin = begin_parquet,
                                              .next = next_parquet,
                                              .take_rows = take_parquet_rows,
                                              .reads = parquet_reads,
                                              .answer = hac_parquet_let_answer,
                                              .is_answered = hac_parquet_is_answered,
                                              .next_answer = hac_parquet_next_answer,
                                              .may_cut = hac_parquet_may_cut,
                                              .rank = hac_parquet_source_rank,
                                              .set_cut = hac_parquet_set_cut,
                                              .want = want_parquet,
                                              .counters = count_parquet,
                                              .close = close_parquet};
