/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_json.h"

#include "base/json_value.h"
#include "base/value_text.h"
#include "string_rows.h"

static void set_state(hac_machine_slot *slot, size_t row, uint8_t state)
{
    hac_writable_states(slot)[row] = state;
}

/* The value of the row's text; a null if it has none. */
static bool read_row(const hac_machine_c *machine, const hac_step *step, hac_machine_slot *slot, size_t row,
                     hac_json_value *ret)
{
    hac_string_view a = hac_string_at(&machine->slots[step->a], row);
    if (!hac_row_ok(slot->states, row))
        return false;
    if (hac_json_read(a.at, a.bytes, ret))
        return true;
    set_state(slot, row, HAC_ROW_JSON);
    return false;
}

/* The value at the path that is the second operand; the row is null if there is none. */
static bool find_row(const hac_machine_c *machine, const hac_step *step, hac_machine_slot *slot, size_t row,
                     hac_json_value *ret)
{
    hac_json_value whole;
    if (!read_row(machine, step, slot, row, &whole))
        return false;
    hac_string_view path = hac_string_at(&machine->slots[step->b], row);
    if (hac_json_find(&whole, path.at, path.bytes, ret))
        return true;
    set_state(slot, row, HAC_ROW_NULL);
    return false;
}

/* The rows that unnest makes of one row of the source have the same text, which may be long. Gives the row
 * the result of the row before it if all operands are the same. */
static bool repeat_row(const hac_machine_c *machine, const hac_step *step, hac_machine_slot *slot, size_t row)
{
    const hac_op_info *info = &hac_op_table[step->op];
    const uint16_t operands[] = {step->a, step->b, step->c};
    const uint8_t reprs[] = {info->a, info->b, info->c};
    if (row == 0)
        return false;
    for (unsigned i = 0; i < step->operands; i++) {
        const hac_machine_slot *from = &machine->slots[operands[i]];
        size_t size = hac_repr_size(reprs[i]);
        const uint8_t *value = (const uint8_t *)from->values + row * size;
        if (!hac_row_ok(from->states, row) || !hac_row_ok(from->states, row - 1) ||
            memcmp(value, value - size, size) != 0)
            return false;
    }
    uint8_t *result = (uint8_t *)slot->own_values + row * step->size;
    memcpy(result, result - step->size, step->size);
    if (!hac_row_ok(slot->states, row - 1))
        set_state(slot, row, slot->states[row - 1]);
    return true;
}

/* ---- results that are strings ---- */

static bool has_space(hac_machine_c *machine, hac_machine_slot *slot, size_t row, size_t bytes)
{
    return hac_string_reserve(machine, slot, row, bytes) != NULL;
}

static void put_json(hac_machine_c *machine, hac_machine_slot *slot, size_t row, const hac_json_value *value)
{
    uint8_t *to = machine->arena + machine->arena_used;
    size_t n = hac_json_compact(value, to, machine->arena_capacity - machine->arena_used);
    if (n == SIZE_MAX)
        set_state(slot, row, HAC_ROW_OVERFLOW);
    else
        hac_string_commit(machine, slot, row, n);
}

/* The characters of a string, the JSON of other values; null for null. */
static void put_text(hac_machine_c *machine, hac_machine_slot *slot, size_t row, const hac_json_value *value)
{
    if (value->kind == HAC_JSON_NULL)
        set_state(slot, row, HAC_ROW_NULL);
    else if (value->kind != HAC_JSON_STRING)
        put_json(machine, slot, row, value);
    else if (has_space(machine, slot, row, value->bytes))
        hac_string_commit(machine, slot, row, hac_json_text(value, machine->arena + machine->arena_used));
}

void hac_run_json_extract(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    hac_json_value value;
    for (size_t i = 0; i < rows; i++)
        if (!repeat_row(machine, step, slot, i) && find_row(machine, step, slot, i, &value))
            put_json(machine, slot, i, &value);
}

void hac_run_json_string(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    hac_json_value value;
    for (size_t i = 0; i < rows; i++)
        if (!repeat_row(machine, step, slot, i) && find_row(machine, step, slot, i, &value))
            put_text(machine, slot, i, &value);
}

void hac_run_json_element(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    const int64_t *number = machine->slots[step->b].values;
    hac_json_value array, value;
    for (size_t i = 0; i < rows; i++) {
        if (repeat_row(machine, step, slot, i) || !read_row(machine, step, slot, i, &array))
            continue;
        if (hac_json_element(&array, number[i], &value))
            put_text(machine, slot, i, &value);
        else
            set_state(slot, i, HAC_ROW_NULL);
    }
}

/* The place of an element that is counted from the end. */
static int64_t from_front(int64_t number, size_t n)
{
    return number < 0 ? number + (int64_t)n + 1 : number;
}

/* A list that is written at the arena's end. */
typedef struct list_writer {
    uint8_t *to;
    size_t used, capacity;
    bool full;
} list_writer;

static list_writer begin_list(const hac_machine_c *machine)
{
    size_t space = machine->arena_capacity - machine->arena_used;
    list_writer w = {machine->arena + machine->arena_used, 1, space < 2 ? 0 : space - 1, space < 2};
    if (!w.full)
        w.to[0] = '[';
    return w;
}

static void put_element(list_writer *w, const hac_json_value *value)
{
    bool comma = w->used > 1;
    if (w->full || w->capacity - w->used <= comma) {
        w->full = true;
        return;
    }
    if (comma)
        w->to[w->used] = ',';
    size_t n = hac_json_compact(value, w->to + w->used + comma, w->capacity - w->used - comma);
    w->full = n == SIZE_MAX;
    w->used += w->full ? 0 : n + comma;
}

static void end_list(hac_machine_c *machine, hac_machine_slot *slot, size_t row, const list_writer *w)
{
    if (w->full) {
        set_state(slot, row, HAC_ROW_OVERFLOW);
        return;
    }
    w->to[w->used] = ']';
    hac_string_commit(machine, slot, row, w->used + 1);
}

void hac_run_json_slice(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    const int64_t *from = machine->slots[step->b].values, *to = machine->slots[step->c].values;
    hac_json_value array, name, value;
    for (size_t i = 0; i < rows; i++) {
        if (repeat_row(machine, step, slot, i) || !read_row(machine, step, slot, i, &array))
            continue;
        if (array.kind != HAC_JSON_ARRAY) {
            set_state(slot, i, HAC_ROW_NULL);
            continue;
        }
        size_t n = hac_json_count(&array);
        int64_t first = from_front(from[i], n), last = from_front(to[i], n), at = 0;
        hac_json_items items = hac_json_items_of(&array);
        list_writer w = begin_list(machine);
        while (at++ < last && hac_json_next(&items, &name, &value))
            if (at >= first)
                put_element(&w, &value);
        end_list(machine, slot, i, &w);
    }
}

/* A whole number is BIGINT if it is negative, else UBIGINT, as DuckDB has it. */
static const char *type_of(const hac_json_value *value)
{
    static const char *const names[] = {[HAC_JSON_NULL] = "NULL",
                                        [HAC_JSON_BOOL] = "BOOLEAN",
                                        [HAC_JSON_STRING] = "VARCHAR",
                                        [HAC_JSON_ARRAY] = "ARRAY",
                                        [HAC_JSON_OBJECT] = "OBJECT"};
    if (value->kind != HAC_JSON_NUMBER)
        return names[value->kind];
    size_t sign = value->at[0] == '-';
    for (size_t i = sign; i < value->bytes; i++)
        if (value->at[i] < '0' || value->at[i] > '9')
            return "DOUBLE";
    return sign ? "BIGINT" : "UBIGINT";
}

void hac_run_json_type(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    hac_json_value value;
    for (size_t i = 0; i < rows; i++) {
        if (repeat_row(machine, step, slot, i) || !find_row(machine, step, slot, i, &value))
            continue;
        const char *name = type_of(&value);
        size_t n = strlen(name);
        if (!has_space(machine, slot, i, n))
            continue;
        memcpy(machine->arena + machine->arena_used, name, n);
        hac_string_commit(machine, slot, i, n);
    }
}

void hac_run_json_keys(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    hac_json_value object, name, value;
    for (size_t i = 0; i < rows; i++) {
        if (repeat_row(machine, step, slot, i) || !find_row(machine, step, slot, i, &object))
            continue;
        hac_json_items items = hac_json_items_of(&object);
        list_writer w = begin_list(machine);
        while (object.kind == HAC_JSON_OBJECT && hac_json_next(&items, &name, &value))
            put_element(&w, &name);
        end_list(machine, slot, i, &w);
    }
}

/* ---- other results ---- */

void hac_run_json_length(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    int64_t *r = slot->own_values;
    hac_json_value value;
    for (size_t i = 0; i < rows; i++) {
        r[i] = 0;
        if (!repeat_row(machine, step, slot, i) && find_row(machine, step, slot, i, &value) &&
            value.kind == HAC_JSON_ARRAY)
            r[i] = (int64_t)hac_json_count(&value);
    }
}

/* Whether both texts are numbers, and equal ones. */
static bool equal_numbers(hac_string_view a, hac_string_view b)
{
    int64_t whole_a, whole_b;
    double real_a, real_b;
    const char *text_a = (const char *)a.at, *text_b = (const char *)b.at;
    if (hac_parse_i64(text_a, a.bytes, &whole_a) == HAC_TEXT_OK &&
        hac_parse_i64(text_b, b.bytes, &whole_b) == HAC_TEXT_OK)
        return whole_a == whole_b;
    return hac_parse_f64(text_a, a.bytes, &real_a) == HAC_TEXT_OK &&
           hac_parse_f64(text_b, b.bytes, &real_b) == HAC_TEXT_OK && real_a == real_b;
}

/* Whether the element is the text: the characters of a string, a number, true or false. */
static bool is_element(const hac_json_value *element, hac_string_view wanted)
{
    hac_string_view text = {element->at, element->bytes};
    if (element->kind == HAC_JSON_STRING)
        return hac_json_text_is(element, wanted.at, wanted.bytes);
    return (text.bytes == wanted.bytes && memcmp(text.at, wanted.at, wanted.bytes) == 0) ||
           (element->kind == HAC_JSON_NUMBER && equal_numbers(text, wanted));
}

void hac_run_json_contains(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    uint8_t *r = slot->own_values;
    hac_json_value array, name, value;
    for (size_t i = 0; i < rows; i++) {
        r[i] = 0;
        if (repeat_row(machine, step, slot, i) || !read_row(machine, step, slot, i, &array))
            continue;
        hac_string_view wanted = hac_string_at(&machine->slots[step->b], i);
        hac_json_items items = hac_json_items_of(&array);
        while (array.kind == HAC_JSON_ARRAY && r[i] == 0 && hac_json_next(&items, &name, &value))
            r[i] = value.kind != HAC_JSON_NULL && is_element(&value, wanted);
    }
}

void hac_run_json_valid(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    uint8_t *r = slot->own_values;
    hac_json_value value;
    for (size_t i = 0; i < rows; i++) {
        hac_string_view a = hac_string_at(&machine->slots[step->a], i);
        if (!repeat_row(machine, step, slot, i))
            r[i] = hac_row_ok(slot->states, i) && hac_json_read(a.at, a.bytes, &value);
    }
}
