/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_entries.h"

#include <stdlib.h>
#include <string.h>

#define SPAN       (UINT32_C(1) << 16) /* of the offsets of a dictionary's entries, in steps */
#define STEP_MAX   8                   /* bits: offsets of strings of one length are multiples of 2^step */
#define ALIGNMENT  8u                  /* of results that are strings */
#define MEMORY_MAX (UINT32_C(4) << 20) /* bytes that all steps of a machine remember */
#define ROWS_MIN   64                  /* a smaller batch is not worth its look-ups */
#define TRIED      (UINT32_C(1) << 17) /* rows after which most entries must have been known */
#define LIST_MIN   5                   /* a shorter list of IN is not worth a look-up */

/* The rows' strings, of which every one is an entry. */
typedef struct entry_rows {
    const hac_string_ref *refs;
    size_t n;
    hac_string_ref copy[HAC_BATCH_ROWS];
} entry_rows;

/* A step's results for the entries of one dictionary. */
typedef struct hac_entries {
    hac_step_run run; /* runs the operation a row at a time */
    uint64_t dictionary;
    uint64_t serial; /* of the results as a dictionary; changes when they are forgotten */
    bool off;        /* the current dictionary is not remembered */
    bool never;      /* no dictionary is: too few rows share an entry */
    bool marked;     /* some state is not HAC_ROW_OK */
    bool more;       /* the last rows had entries without results, and the next ones may */
    uint32_t low;    /* the offset that codes[0] is of */
    unsigned step;   /* offsets differ from `low` by multiples of 2^step */
    uint32_t n, capacity;
    uint64_t rows, fresh;     /* of all dictionaries: rows, and entries that had no result yet */
    uint16_t *codes;          /* SPAN codes + 1; 0: the entry has no result yet */
    uint16_t *places;         /* n indices of the codes that are not 0 */
    uint8_t *values, *states; /* n of each; values have step->size bytes */
    uint8_t *bytes;           /* of strings; each has an offset of its own */
    size_t used, bytes_capacity;
} hac_entries;

/* ---- memory -------------------------------------------------------------------------------------------- */

static void forget(hac_entries *e, uint64_t dictionary)
{
    for (uint32_t i = 0; i < e->n; i++)
        e->codes[e->places[i]] = 0;
    e->dictionary = dictionary;
    e->serial++;
    e->off = e->never;
    e->marked = false;
    e->n = 0;
    e->used = 0;
}

/* False: the machine remembers enough. */
static bool charge(hac_machine_c *machine, size_t bytes)
{
    if (bytes > MEMORY_MAX - machine->entries_bytes)
        return false;
    machine->entries_bytes += bytes;
    return true;
}

static bool reserve_codes(hac_machine_c *machine, hac_entries *e)
{
    if (e->codes == NULL && charge(machine, SPAN * sizeof *e->codes))
        e->codes = calloc(SPAN, sizeof *e->codes);
    return e->codes != NULL;
}

static bool reserve_entries(hac_machine_c *machine, hac_entries *e, size_t size, uint32_t more)
{
    if (more > UINT16_MAX - e->n) /* a code + 1 has 16 bits */
        return false;
    if (e->n + more <= e->capacity)
        return true;
    uint32_t capacity = 2 * (e->n + more);
    if (!charge(machine, (capacity - e->capacity) * (size + sizeof *e->states + sizeof *e->places)))
        return false;
    uint8_t *values = realloc(e->values, capacity * size);
    e->values = values != NULL ? values : e->values;
    uint8_t *states = realloc(e->states, capacity);
    e->states = states != NULL ? states : e->states;
    uint16_t *places = realloc(e->places, capacity * sizeof *places);
    e->places = places != NULL ? places : e->places;
    if (values == NULL || states == NULL || places == NULL)
        return false;
    e->capacity = capacity;
    return true;
}

static bool reserve_bytes(hac_machine_c *machine, hac_entries *e, size_t more)
{
    if (more > MEMORY_MAX)
        return false;
    if (e->used + more <= e->bytes_capacity)
        return true;
    size_t capacity = 2 * (e->used + more);
    if (!charge(machine, capacity - e->bytes_capacity))
        return false;
    uint8_t *bytes = realloc(e->bytes, capacity);
    if (bytes == NULL)
        return false;
    e->bytes = bytes;
    e->bytes_capacity = capacity;
    return true;
}

/* ---- results of entries -------------------------------------------------------------------------------- */

/* The index of the code of an entry's offset; SPAN or more: it has none. Rotated right, so that an offset
 * between two steps has bits at the top. */
static inline uint32_t place_of(const hac_entries *e, hac_string_ref ref)
{
    uint32_t place = ref.offset - e->low;
    return place >> e->step | place << (-e->step & 31);
}

/* The number of rows whose entries have no results. */
static uint32_t count_unknown(const hac_entries *e, const hac_string_ref *refs, size_t rows)
{
    uint32_t known = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t place = place_of(e, refs[i]);
        known += (place < SPAN) & (e->codes[place & (SPAN - 1)] != 0);
    }
    return (uint32_t)rows - known;
}

/* Whether the offsets of all rows' entries are in the span of the codes. */
static bool is_inside(const hac_entries *e, const hac_string_ref *refs, size_t rows)
{
    uint32_t inside = 1;
    for (size_t i = 0; i < rows; i++)
        inside &= place_of(e, refs[i]) < SPAN;
    return inside != 0;
}

/* Chooses the range of the codes by the offsets of rows; all results are forgotten then. False: there is
 * one, and no offset lies between two steps. */
static bool choose_range(hac_entries *e, const hac_string_ref *refs, size_t rows)
{
    uint32_t differ = 0, origin = e->n == 0 ? refs[0].offset : e->low;
    for (size_t i = 0; i < rows; i++)
        differ |= refs[i].offset ^ origin;
    if (e->n != 0 && (differ & ((UINT32_C(1) << e->step) - 1)) == 0)
        return false;
    if (e->n != 0)
        forget(e, e->dictionary);
    e->step = (unsigned)__builtin_ctz(differ | UINT32_C(1) << STEP_MAX);
    e->low = refs[0].offset - (SPAN / 2 << e->step);
    return true;
}

/* Gives codes to the entries that have none, and lists them. Returns their number. */
static size_t number_entries(hac_entries *e, const hac_string_ref *refs, size_t rows, hac_string_ref *fresh)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t place = place_of(e, refs[i]);
        if (e->codes[place] != 0)
            continue;
        fresh[n++] = refs[i];
        e->codes[place] = (uint16_t)(e->n + n);
        e->places[e->n + n - 1] = (uint16_t)place;
    }
    return n;
}

/* The bytes between the offset of a result and that of the next one. */
static size_t stride_of(uint32_t length)
{
    return (length / ALIGNMENT + UINT64_C(1)) * ALIGNMENT;
}

/* Copies the strings that are results of `n` entries. Each has an offset of its own, even if it is empty. */
static bool keep_strings(hac_machine_c *machine, hac_entries *e, const hac_machine_slot *r, size_t n)
{
    const hac_string_ref *made = r->own_values;
    hac_string_ref *to = (hac_string_ref *)(void *)e->values + e->n;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += stride_of(made[i].length);
    if (!reserve_bytes(machine, e, bytes))
        return false;
    for (size_t i = 0; i < n; i++) {
        to[i] = (hac_string_ref){(uint32_t)e->used, made[i].length};
        if (made[i].length > 0)
            memcpy(e->bytes + e->used, r->bytes + made[i].offset, made[i].length);
        e->used += stride_of(made[i].length);
    }
    return true;
}

/* Runs the operation on `n` entries, and keeps the results. False: they cannot be kept. */
static bool make_results(hac_machine_c *machine, const hac_step *step, hac_string_ref *fresh, size_t n)
{
    hac_entries *e = step->entries;
    hac_machine_slot *a = &machine->slots[step->text], *r = &machine->slots[step->r], before = *a;
    size_t arena = machine->arena_used;
    bool strings = machine->program->registers[step->r] == HAC_REPR_STRING, kept = true;
    a->values = fresh;
    a->states = NULL;
    e->run(machine, step, n);
    *a = before;
    for (size_t i = 0; i < n; i++) {
        uint8_t state = r->states == NULL ? HAC_ROW_OK : r->states[i];
        e->states[e->n + i] = state;
        e->marked |= state != HAC_ROW_OK;
        kept &= state != HAC_ROW_OVERFLOW; /* it may be the arena that is full */
    }
    if (kept && strings)
        kept = keep_strings(machine, e, r, n);
    else if (kept)
        memcpy(e->values + (size_t)e->n * step->size, r->own_values, n * step->size);
    machine->arena_used = arena;
    e->n += (uint32_t)n;
    return kept;
}

/* False: the dictionary is not remembered. */
static bool know(hac_machine_c *machine, const hac_step *step, const hac_string_ref *refs, size_t rows)
{
    hac_entries *e = step->entries;
    hac_string_ref fresh[HAC_BATCH_ROWS];
    bool inside = e->n != 0 && is_inside(e, refs, rows);
    inside = inside || (choose_range(e, refs, rows) && is_inside(e, refs, rows));
    if (!inside || !reserve_codes(machine, e))
        return false;
    uint32_t unknown = count_unknown(e, refs, rows);
    if (!reserve_entries(machine, e, step->size, unknown))
        return false;
    size_t n = unknown == 0 ? 0 : number_entries(e, refs, rows, fresh);
    e->fresh += n;
    e->more = n > 0;
    e->never = e->rows > TRIED && e->fresh > e->rows / 2;
    return (n == 0 || make_results(machine, step, fresh, n)) && !e->never;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static inline size_t index_of(const hac_entries *e, hac_string_ref ref)
{
    return e->codes[place_of(e, ref) & (SPAN - 1)] - (size_t)1;
}

static void look_up(const hac_entries *e, const hac_string_ref *refs, size_t rows, size_t size, void *ret)
{
    if (size == 8) {
        const uint64_t *values = (const uint64_t *)(const void *)e->values;
        for (size_t i = 0; i < rows; i++)
            ((uint64_t *)ret)[i] = values[index_of(e, refs[i])];
    } else if (size == 1) {
        for (size_t i = 0; i < rows; i++)
            ((uint8_t *)ret)[i] = e->values[index_of(e, refs[i])];
    } else {
        for (size_t i = 0; i < rows; i++)
            memcpy((uint8_t *)ret + i * size, e->values + index_of(e, refs[i]) * size, size);
    }
}

/* Rows that are not HAC_ROW_OK have no entry: they get that of another row. False: there is none. */
static bool take_rows(const hac_machine_slot *a, entry_rows *rows)
{
    size_t first = 0;
    rows->refs = a->values;
    if (a->states == NULL)
        return true;
    while (first < rows->n && a->states[first] != HAC_ROW_OK)
        first++;
    if (first == rows->n)
        return false;
    for (size_t i = 0; i < rows->n; i++)
        rows->copy[i] = ((const hac_string_ref *)a->values)[a->states[i] == HAC_ROW_OK ? i : first];
    rows->refs = rows->copy;
    return true;
}

/* Whether all rows have entries with results. */
static bool take(hac_machine_c *machine, const hac_step *step, entry_rows *rows)
{
    hac_entries *e = step->entries;
    const hac_machine_slot *a = &machine->slots[step->text];
    if (a->dictionary == 0 || rows->n < ROWS_MIN)
        return false;
    if (e->dictionary != a->dictionary)
        forget(e, a->dictionary);
    if (e->off || !take_rows(a, rows))
        return false;
    e->rows += rows->n;
    if ((e->n == 0 || e->more || count_unknown(e, rows->refs, rows->n) > 0) &&
        !know(machine, step, rows->refs, rows->n)) {
        e->off = true;
        return false;
    }
    return true;
}

/* The states of the operand, and in rows where it is HAC_ROW_OK those of the entries. */
static void set_states(const hac_machine_slot *a, const hac_entries *e, const hac_string_ref *refs,
                       size_t rows, hac_machine_slot *r)
{
    r->states = NULL;
    if (!e->marked && a->states == NULL)
        return;
    uint8_t *states = hac_writable_states(r), any = HAC_ROW_OK;
    for (size_t i = 0; i < rows; i++) {
        uint8_t own = a->states == NULL ? HAC_ROW_OK : a->states[i];
        states[i] = own != HAC_ROW_OK ? own : e->states[index_of(e, refs[i])];
        any |= states[i];
    }
    if (any == HAC_ROW_OK) /* the entries that failed are in none of these rows */
        r->states = NULL;
}

/* Strings of rows without a value are empty. */
static void clear_strings(const hac_machine_slot *r, size_t rows)
{
    hac_string_ref *refs = r->own_values;
    for (size_t i = 0; r->states != NULL && i < rows; i++)
        if (r->states[i] != HAC_ROW_OK)
            refs[i].length = 0;
}

static void run_by_entry(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    const hac_entries *e = step->entries;
    const hac_machine_slot *a = &machine->slots[step->text];
    hac_machine_slot *r = &machine->slots[step->r];
    entry_rows taken;
    taken.n = rows;
    if (!take(machine, step, &taken)) {
        e->run(machine, step, rows);
        return;
    }
    look_up(e, taken.refs, rows, step->size, r->own_values);
    set_states(a, e, taken.refs, rows, r);
    if (machine->program->registers[step->r] == HAC_REPR_STRING) {
        clear_strings(r, rows);
        r->bytes = e->bytes;
        r->dictionary = e->serial;
        r->codes = a->codes;
        r->entries = a->entries;
    }
}

/* ---- life ---------------------------------------------------------------------------------------------- */

/* Operations that cost no more than looking up their result. */
static bool is_cheap(const hac_step *step)
{
    switch (step->op) {
    case HAC_OP_BYTES:
    case HAC_OP_EQ_STRING:
    case HAC_OP_LT_STRING:
    case HAC_OP_LE_STRING:
    case HAC_OP_STARTS_WITH:
    case HAC_OP_ENDS_WITH:
        return true;
    case HAC_OP_IN_STRING:
        return step->k.n_list < LIST_MIN;
    default:
        return false;
    }
}

/* The string operand, if all others are constant; UINT16_MAX: there is none. */
static uint16_t text_of(const hac_machine_c *machine, const hac_step *step)
{
    const hac_op_info *info = &hac_op_table[step->op];
    const uint8_t reprs[] = {info->a, info->b, info->c};
    const uint16_t slots[] = {step->a, step->b, step->c};
    const size_t constants = machine->first_input + machine->program->n_inputs;
    uint16_t found = UINT16_MAX;
    for (size_t i = 0; i < step->operands; i++) {
        if (slots[i] >= constants)
            continue;
        if (found != UINT16_MAX || reprs[i] != HAC_REPR_STRING)
            return UINT16_MAX;
        found = slots[i];
    }
    return found;
}

void hac_machine_entries(hac_machine_c *machine)
{
    for (size_t i = 0; i < machine->n_steps; i++) {
        hac_step *step = &machine->steps[i];
        uint16_t text =
            hac_string_step(step->op) != NULL && !is_cheap(step) ? text_of(machine, step) : UINT16_MAX;
        if (text == UINT16_MAX || text == step->r) /* builders give a result another register */
            continue;
        hac_entries *e = calloc(1, sizeof *e);
        if (e == NULL)
            continue; /* the operation then runs a row at a time */
        e->run = step->run;
        step->entries = e;
        step->text = text;
        step->run = run_by_entry;
    }
}

void hac_machine_entries_free(hac_machine_c *machine)
{
    for (size_t i = 0; machine->steps != NULL && i < machine->n_steps; i++) {
        hac_entries *e = machine->steps[i].entries;
        if (e != NULL) {
            free(e->codes);
            free(e->places);
            free(e->values);
            free(e->states);
            free(e->bytes);
        }
        free(e);
    }
}
