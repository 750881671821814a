/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on strings, row by row; rows that are not OK are left out. New strings go into the machine's
 * arena. */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/cast_text.h"
#include "base/text.h"
#include "base/value_text.h"
#include "machine_json.h"
#include "machine_strings.h"
#include "machine_texts.h"
#include "string_edits.h"
#include "string_rows.h"

typedef hac_string_view view;

static inline int compare(view a, view b)
{
    size_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    int order = memcmp(a.at, b.at, common);
    return order != 0 ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

static inline bool equal(view a, view b)
{
    return a.bytes == b.bytes && memcmp(a.at, b.at, a.bytes) == 0;
}

/* ---- strings to other values --------------------------------------------------------------------------- */

/* The body sees the operands a and b, the result's values r and the immediate k, and sets the row's value
 * `z`. */
#define ROWS(name, R, ...)                                                                                   \
    static void name(hac_machine_c *machine, const hac_step *step, size_t rows)                              \
    {                                                                                                        \
        hac_combine_states(machine, step, rows);                                                             \
        hac_machine_slot *slot = &machine->slots[step->r];                                                   \
        const hac_machine_slot *slot_a = &machine->slots[step->a], *slot_b = &machine->slots[step->b];       \
        const hac_argument *k = &step->k;                                                                    \
        R *r = slot->own_values;                                                                             \
        for (size_t i = 0; i < rows; i++) {                                                                  \
            R z = 0;                                                                                         \
            if (hac_row_ok(slot->states, i)) {                                                               \
                view a = hac_string_at(slot_a, i);                                                           \
                __VA_ARGS__                                                                                  \
            }                                                                                                \
            r[i] = z;                                                                                        \
        }                                                                                                    \
        (void)slot_b;                                                                                        \
        (void)k;                                                                                             \
    }

#define B hac_string_at(slot_b, i)

ROWS(run_equal, uint8_t, z = equal(a, B);)
ROWS(run_less, uint8_t, z = compare(a, B) < 0;)
ROWS(run_less_equal, uint8_t, z = compare(a, B) <= 0;)
ROWS(run_in, uint8_t, z = hac_string_in(a.at, a.bytes, k);)
ROWS(run_like, uint8_t, z = hac_like(a.at, a.bytes, k->bytes, k->n_list);)
ROWS(run_length, int64_t, z = (int64_t)hac_utf8_length(a.at, a.bytes);)
ROWS(run_bytes, int64_t, z = (int64_t)a.bytes;)
ROWS(run_starts_with, uint8_t, view b = B; z = a.bytes >= b.bytes && memcmp(a.at, b.at, b.bytes) == 0;)
ROWS(run_ends_with, uint8_t, view b = B;
     z = a.bytes >= b.bytes && memcmp(a.at + a.bytes - b.bytes, b.at, b.bytes) == 0;)
ROWS(run_contains, uint8_t, view b = B; z = memmem(a.at, a.bytes, b.at, b.bytes) != NULL;)
ROWS(run_position, int64_t, view b = B; const uint8_t *found = memmem(a.at, a.bytes, b.at, b.bytes);
     z = found == NULL ? 0 : (int64_t)hac_utf8_length(a.at, (size_t)(found - a.at)) + 1;)

ROWS(run_hash, uint64_t, z = XXH64(a.at, a.bytes, 0);)

/* Sets the row's state by the result of a parser. */
static void note(hac_machine_slot *slot, size_t row, hac_text_status status)
{
    if (status != HAC_TEXT_OK)
        hac_writable_states(slot)[row] = status == HAC_TEXT_RANGE       ? HAC_ROW_RANGE
                                         : status == HAC_TEXT_PRECISION ? HAC_ROW_PRECISION
                                                                        : HAC_ROW_MALFORMED;
}

#define PARSE(name, R, T, call) ROWS(name, R, T value = 0; note(slot, i, call); z = (R)value;)
#define TEXT                    (const char *)a.at, a.bytes

PARSE(run_to_bool, uint8_t, bool, hac_cast_bool(TEXT, &value))
PARSE(run_to_i64, int64_t, int64_t, hac_cast_i64(TEXT, &value))
PARSE(run_to_u64, uint64_t, uint64_t, hac_cast_u64(TEXT, &value))
PARSE(run_to_f32, float, float, hac_cast_f32(TEXT, &value))
PARSE(run_to_f64, double, double, hac_cast_f64(TEXT, &value))
PARSE(run_to_date, int64_t, int32_t, hac_cast_date(TEXT, &value))
PARSE(run_to_timestamp, int64_t, int64_t, hac_cast_timestamp(TEXT, &value))
PARSE(run_to_decimal, __int128, __int128, hac_cast_decimal(TEXT, HAC_DIGITS_MAX, k->number, &value))

/* ---- parts of strings: the bytes stay where they are --------------------------------------------------- */

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim(hac_machine_c *machine, const hac_step *step, size_t rows, bool left, bool right)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    const hac_machine_slot *a = &machine->slots[step->a];
    hac_string_ref *r = slot->own_values;
    slot->bytes = a->bytes;
    for (size_t i = 0; i < rows; i++) {
        r[i] = (hac_string_ref){0, 0};
        if (!hac_row_ok(slot->states, i))
            continue;
        view v = hac_string_at(a, i);
        size_t first = 0, end = v.bytes;
        while (left && first < end && is_space(v.at[first]))
            first++;
        while (right && end > first && is_space(v.at[end - 1]))
            end--;
        r[i] = hac_string_part(a, i, first, end - first);
    }
}

static void run_trim(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    trim(machine, step, rows, true, true);
}

static void run_ltrim(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    trim(machine, step, rows, true, false);
}

static void run_rtrim(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    trim(machine, step, rows, false, true);
}

static void run_substr(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    const hac_machine_slot *a = &machine->slots[step->a];
    const int64_t *from = machine->slots[step->b].values, *count = machine->slots[step->c].values;
    hac_string_ref *r = slot->own_values;
    slot->bytes = a->bytes;
    for (size_t i = 0; i < rows; i++) {
        r[i] = (hac_string_ref){0, 0};
        int64_t end;
        if (!hac_row_ok(slot->states, i) || count[i] <= 0)
            continue;
        if (__builtin_add_overflow(from[i], count[i], &end))
            end = INT64_MAX;
        if (end <= 1)
            continue;
        view v = hac_string_at(a, i);
        size_t skip = from[i] > 1 ? (size_t)from[i] - 1 : 0;
        size_t first = hac_utf8_skip(v.at, v.bytes, skip);
        size_t bytes = hac_utf8_skip(v.at + first, v.bytes - first, (size_t)end - 1 - skip);
        r[i] = hac_string_part(a, i, first, bytes);
    }
}

/* ---- new strings --------------------------------------------------------------------------------------- */

static void run_concat(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    for (size_t i = 0; i < rows; i++) {
        if (!hac_row_ok(slot->states, i))
            continue;
        view a = hac_string_at(&machine->slots[step->a], i), b = hac_string_at(&machine->slots[step->b], i);
        uint8_t *to = hac_string_reserve(machine, slot, i, a.bytes + b.bytes);
        if (to == NULL)
            continue;
        memcpy(to, a.at, a.bytes);
        memcpy(to + a.bytes, b.at, b.bytes);
        hac_string_commit(machine, slot, i, a.bytes + b.bytes);
    }
}

/* The output of replace. With `to` NULL, bytes are only counted; else at most `capacity` are written. */
typedef struct replaced {
    uint8_t *to;
    size_t capacity, used;
} replaced;

static bool put(replaced *r, const uint8_t *at, size_t bytes)
{
    if (r->to != NULL && bytes > r->capacity - r->used)
        return false;
    if (r->to != NULL && bytes > 0)
        memcpy(r->to + r->used, at, bytes);
    r->used += bytes;
    return true;
}

static size_t replace(view a, view from, view with, uint8_t *to, size_t capacity)
{
    replaced r = {.to = to, .capacity = capacity};
    const uint8_t *end = a.at + a.bytes, *p = a.at;
    while (p < end) {
        const uint8_t *found = from.bytes == 0 ? NULL : memmem(p, (size_t)(end - p), from.at, from.bytes);
        if (!put(&r, p, (size_t)((found != NULL ? found : end) - p)) || found == NULL ||
            !put(&r, with.at, with.bytes))
            break;
        p = found + from.bytes;
    }
    return r.used;
}

static void run_replace(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    for (size_t i = 0; i < rows; i++) {
        if (!hac_row_ok(slot->states, i))
            continue;
        view a = hac_string_at(&machine->slots[step->a], i),
             from = hac_string_at(&machine->slots[step->b], i),
             with = hac_string_at(&machine->slots[step->c], i);
        size_t bytes = replace(a, from, with, NULL, 0);
        uint8_t *to = hac_string_reserve(machine, slot, i, bytes);
        /* the owner of a table may have changed the characters since they were counted */
        if (to != NULL)
            hac_string_commit(machine, slot, i, replace(a, from, with, to, bytes));
    }
}

#define PRINT(name, A, call)                                                                                 \
    static void name(hac_machine_c *machine, const hac_step *step, size_t rows)                              \
    {                                                                                                        \
        hac_machine_slot *slot = hac_strings_start(machine, step, rows);                                     \
        const A *a = machine->slots[step->a].values;                                                         \
        const hac_argument *k = &step->k;                                                                    \
        for (size_t i = 0; i < rows; i++) {                                                                  \
            char text[HAC_PRINT_MAX];                                                                        \
            if (!hac_row_ok(slot->states, i))                                                                \
                continue;                                                                                    \
            size_t bytes = call;                                                                             \
            if (bytes == 0) {                                                                                \
                hac_writable_states(slot)[i] = HAC_ROW_RANGE;                                                \
                continue;                                                                                    \
            }                                                                                                \
            uint8_t *to = hac_string_reserve(machine, slot, i, bytes);                                       \
            if (to == NULL)                                                                                  \
                continue;                                                                                    \
            memcpy(to, text, bytes);                                                                         \
            hac_string_commit(machine, slot, i, bytes);                                                      \
        }                                                                                                    \
        (void)k;                                                                                             \
    }

static size_t print_bool(bool value, char *ret)
{
    memcpy(ret, value ? "true" : "false", value ? 4 : 5);
    return value ? 4 : 5;
}

/* 0: the year has no text. */
static size_t print_date(int64_t days, char *ret)
{
    return hac_date_has_text((int32_t)days) ? hac_print_date((int32_t)days, ret) : 0;
}

static size_t print_timestamp(int64_t microseconds, char *ret)
{
    return hac_timestamp_has_text(microseconds) ? hac_print_timestamp(microseconds, ret) : 0;
}

PRINT(run_print_bool, uint8_t, print_bool((a[i] & 1) != 0, text))
PRINT(run_print_i64, int64_t, hac_print_i64(a[i], text))
PRINT(run_print_u64, uint64_t, hac_print_u64(a[i], text))
PRINT(run_print_f32, float, hac_print_f32(a[i], text))
PRINT(run_print_f64, double, hac_print_f64(a[i], text))
PRINT(run_print_date, int64_t, print_date(a[i], text))
PRINT(run_print_timestamp, int64_t, print_timestamp(a[i], text))
PRINT(run_print_decimal, __int128, hac_print_decimal(a[i], k->number, text))

hac_step_run hac_string_step(hac_op op)
{
    static const hac_step_run runs[HAC_OP_END] = {
        [HAC_OP_EQ_STRING] = run_equal,
        [HAC_OP_LT_STRING] = run_less,
        [HAC_OP_LE_STRING] = run_less_equal,
        [HAC_OP_IN_STRING] = run_in,
        [HAC_OP_LENGTH] = run_length,
        [HAC_OP_BYTES] = run_bytes,
        [HAC_OP_LOWER] = hac_run_lower,
        [HAC_OP_UPPER] = hac_run_upper,
        [HAC_OP_TRIM] = run_trim,
        [HAC_OP_LTRIM] = run_ltrim,
        [HAC_OP_RTRIM] = run_rtrim,
        [HAC_OP_SUBSTR] = run_substr,
        [HAC_OP_CONCAT] = run_concat,
        [HAC_OP_REPLACE] = run_replace,
        [HAC_OP_POSITION] = run_position,
        [HAC_OP_STARTS_WITH] = run_starts_with,
        [HAC_OP_ENDS_WITH] = run_ends_with,
        [HAC_OP_CONTAINS] = run_contains,
        [HAC_OP_LIKE] = run_like,
        [HAC_OP_REGEXP_MATCHES] = hac_run_regexp_matches,
        [HAC_OP_REGEXP_EXTRACT] = hac_run_regexp_extract,
        [HAC_OP_REGEXP_REPLACE] = hac_run_regexp_replace,
        [HAC_OP_STRFTIME] = hac_run_strftime,
        [HAC_OP_STRPTIME] = hac_run_strptime,
        [HAC_OP_ZONE_LOCAL] = hac_run_zone,
        [HAC_OP_ZONE_UTC] = hac_run_zone,
        [HAC_OP_REVERSE] = hac_run_reverse,
        [HAC_OP_LPAD] = hac_run_lpad,
        [HAC_OP_RPAD] = hac_run_rpad,
        [HAC_OP_SPLIT_PART] = hac_run_split_part,
        [HAC_OP_JSON_EXTRACT] = hac_run_json_extract,
        [HAC_OP_JSON_STRING] = hac_run_json_string,
        [HAC_OP_JSON_ELEMENT] = hac_run_json_element,
        [HAC_OP_JSON_SLICE] = hac_run_json_slice,
        [HAC_OP_JSON_TYPE] = hac_run_json_type,
        [HAC_OP_JSON_KEYS] = hac_run_json_keys,
        [HAC_OP_JSON_LENGTH] = hac_run_json_length,
        [HAC_OP_JSON_CONTAINS] = hac_run_json_contains,
        [HAC_OP_JSON_VALID] = hac_run_json_valid,
        [HAC_OP_HASH] = run_hash,
        [HAC_OP_STRING_TO_BOOL] = run_to_bool,
        [HAC_OP_STRING_TO_I64] = run_to_i64,
        [HAC_OP_STRING_TO_U64] = run_to_u64,
        [HAC_OP_STRING_TO_F32] = run_to_f32,
        [HAC_OP_STRING_TO_F64] = run_to_f64,
        [HAC_OP_STRING_TO_DATE] = run_to_date,
        [HAC_OP_STRING_TO_TIMESTAMP] = run_to_timestamp,
        [HAC_OP_STRING_TO_DECIMAL] = run_to_decimal,
        [HAC_OP_BOOL_TO_STRING] = run_print_bool,
        [HAC_OP_I64_TO_STRING] = run_print_i64,
        [HAC_OP_U64_TO_STRING] = run_print_u64,
        [HAC_OP_F32_TO_STRING] = run_print_f32,
        [HAC_OP_F64_TO_STRING] = run_print_f64,
        [HAC_OP_DATE_TO_STRING] = run_print_date,
        [HAC_OP_TIMESTAMP_TO_STRING] = run_print_timestamp,
        [HAC_OP_DECIMAL_TO_STRING] = run_print_decimal,
    };
    return runs[op];
}
