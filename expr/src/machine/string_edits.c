/* SPDX-License-Identifier: Apache-2.0 */
#include "string_edits.h"

#include "machine_strings.h"
#include "string_rows.h"
#include "utf8_case.h"

static size_t room_of(const hac_machine_c *machine)
{
    return machine->arena_capacity - machine->arena_used;
}

/* ---- case and order ------------------------------------------------------------------------------------ */

static void change_case(hac_machine_c *machine, const hac_step *step, size_t rows, bool upper)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    for (size_t i = 0; i < rows; i++) {
        if (!hac_row_ok(slot->states, i))
            continue;
        hac_string_view a = hac_string_at(&machine->slots[step->a], i);
        size_t made =
            hac_utf8_case(a.at, a.bytes, upper, machine->arena + machine->arena_used, room_of(machine));
        if (made == SIZE_MAX)
            hac_writable_states(slot)[i] = HAC_ROW_OVERFLOW;
        else
            hac_string_commit(machine, slot, i, made);
    }
}

void hac_run_lower(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    change_case(machine, step, rows, false);
}

void hac_run_upper(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    change_case(machine, step, rows, true);
}

void hac_run_reverse(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    for (size_t i = 0; i < rows; i++) {
        if (!hac_row_ok(slot->states, i))
            continue;
        hac_string_view a = hac_string_at(&machine->slots[step->a], i);
        uint8_t *to = hac_string_reserve(machine, slot, i, a.bytes);
        if (to == NULL)
            continue;
        for (size_t at = 0; at < a.bytes;) {
            size_t length = hac_utf8_skip(a.at + at, a.bytes - at, 1);
            memcpy(to + a.bytes - at - length, a.at + at, length);
            at += length;
        }
        hac_string_commit(machine, slot, i, a.bytes);
    }
}

/* ---- padding ------------------------------------------------------------------------------------------- */

/* How a string becomes one of a given number of characters. */
typedef struct padding {
    size_t kept;        /* bytes of the string */
    size_t whole, rest; /* how often the filling stands there whole, and the bytes of a last part of it */
    size_t bytes;       /* of the result */
} padding;

static bool measure(hac_string_view a, int64_t wanted, hac_string_view fill, padding *ret, uint8_t *ret_state)
{
    size_t characters = wanted < 0 ? 0 : (size_t)wanted, have = hac_utf8_length(a.at, a.bytes);
    *ret = (padding){.kept = a.bytes};
    if (have >= characters) {
        ret->bytes = ret->kept = hac_utf8_skip(a.at, a.bytes, characters);
        return true;
    }
    size_t unit = hac_utf8_length(fill.at, fill.bytes), missing = characters - have;
    *ret_state = unit == 0 ? HAC_ROW_RANGE : HAC_ROW_OVERFLOW;
    if (unit == 0)
        return false;
    ret->whole = missing / unit;
    ret->rest = hac_utf8_skip(fill.at, fill.bytes, missing % unit);
    return !__builtin_mul_overflow(ret->whole, fill.bytes, &ret->bytes) &&
           !__builtin_add_overflow(ret->bytes, ret->rest + ret->kept, &ret->bytes);
}

static void write_padded(const padding *p, hac_string_view a, hac_string_view fill, bool left, uint8_t *to)
{
    if (!left) {
        memcpy(to, a.at, p->kept);
        to += p->kept;
    }
    for (size_t i = 0; i < p->whole; i++, to += fill.bytes)
        memcpy(to, fill.at, fill.bytes);
    memcpy(to, fill.at, p->rest);
    if (left)
        memcpy(to + p->rest, a.at, p->kept);
}

static void pad(hac_machine_c *machine, const hac_step *step, size_t rows, bool left)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    const int64_t *wanted = machine->slots[step->b].values;
    for (size_t i = 0; i < rows; i++) {
        if (!hac_row_ok(slot->states, i))
            continue;
        hac_string_view a = hac_string_at(&machine->slots[step->a], i),
                        fill = hac_string_at(&machine->slots[step->c], i);
        padding p;
        uint8_t state = HAC_ROW_OK, *to = NULL;
        if (!measure(a, wanted[i], fill, &p, &state)) {
            hac_writable_states(slot)[i] = state;
            continue;
        }
        to = hac_string_reserve(machine, slot, i, p.bytes);
        if (to == NULL)
            continue;
        write_padded(&p, a, fill, left, to);
        hac_string_commit(machine, slot, i, p.bytes);
    }
}

void hac_run_lpad(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    pad(machine, step, rows, true);
}

void hac_run_rpad(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    pad(machine, step, rows, false);
}

/* ---- parts --------------------------------------------------------------------------------------------- */

/* The end of the part that begins at `from`: where a separator begins, or the end. An empty separator stands
 * between all characters. */
static size_t part_end(hac_string_view a, size_t from, hac_string_view separator)
{
    if (separator.bytes == 0)
        return from + hac_utf8_skip(a.at + from, a.bytes - from, 1);
    const uint8_t *found = memmem(a.at + from, a.bytes - from, separator.at, separator.bytes);
    return found == NULL ? a.bytes : (size_t)(found - a.at);
}

/* Whether another part follows the one that ends at `end`. */
static bool follows(hac_string_view a, size_t end, hac_string_view separator)
{
    return end < a.bytes && (separator.bytes == 0 || end + separator.bytes <= a.bytes);
}

static uint64_t count_parts(hac_string_view a, hac_string_view separator)
{
    uint64_t n = 1;
    size_t end = part_end(a, 0, separator);
    for (; follows(a, end, separator); n++)
        end = part_end(a, end + separator.bytes, separator);
    return n;
}

/* Finds part `n`, counted from 1, or from the end for negative n. False: there is none. */
static bool find_part(hac_string_view a, hac_string_view separator, int64_t n, size_t *ret_from,
                      size_t *ret_end)
{
    uint64_t wanted = (uint64_t)n;
    if (n < 0) {
        uint64_t parts = count_parts(a, separator), back = 0 - (uint64_t)n;
        wanted = back > parts ? 0 : parts - back + 1;
    }
    *ret_from = 0;
    *ret_end = part_end(a, 0, separator);
    for (; wanted > 1 && follows(a, *ret_end, separator); wanted--) {
        *ret_from = *ret_end + separator.bytes;
        *ret_end = part_end(a, *ret_from, separator);
    }
    return wanted == 1;
}

void hac_run_split_part(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    const hac_machine_slot *a = &machine->slots[step->a];
    const int64_t *wanted = machine->slots[step->c].values;
    hac_string_ref *r = slot->own_values;
    slot->bytes = a->bytes;
    for (size_t i = 0; i < rows; i++) {
        size_t from, end;
        r[i] = (hac_string_ref){0, 0};
        if (hac_row_ok(slot->states, i) &&
            find_part(hac_string_at(a, i), hac_string_at(&machine->slots[step->b], i), wanted[i], &from,
                      &end))
            r[i] = hac_string_part(a, i, from, end - from);
    }
}
