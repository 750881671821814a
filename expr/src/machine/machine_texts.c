/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_texts.h"

#include <stdlib.h>

#include "program/op_text.h"
#include "program/regexp_text.h"
#include "program/time_format.h"
#include "program/time_zone.h"
#include "string_rows.h"

/* ---- making a machine ---------------------------------------------------------------------------------- */

static hac_status compile_regexp(hac_machine_c *machine, hac_step *step, hac_error *err)
{
    char problem[HAC_REGEXP_PROBLEM_MAX];
    hac_regexp_text text;
    (void)hac_regexp_text_read((const char *)step->k.bytes, step->k.n_list, &text); /* verified */
    hac_regexp *regexp = hac_regexp_new(text.pattern, text.bytes, text.flags, problem);
    if (regexp == NULL)
        return hac_fail_no_memory(err);
    machine->regexps[machine->n_regexps++] = regexp;
    step->k.regexp = regexp;
    step->k.group = text.group;
    step->k.all = text.all;
    return HAC_OK;
}

static hac_status add_regexp(hac_machine_c *machine, hac_step *step, hac_error *err)
{
    if (machine->regexps == NULL)
        machine->regexps = calloc(HAC_PROGRAM_REGEXPS_MAX, sizeof *machine->regexps);
    return machine->regexps != NULL ? compile_regexp(machine, step, err) : hac_fail_no_memory(err);
}

static hac_status add_zone(hac_machine_c *machine, hac_step *step, hac_error *err)
{
    if (machine->zones == NULL)
        machine->zones = calloc(HAC_PROGRAM_ZONES_MAX, sizeof *machine->zones);
    if (machine->zones == NULL)
        return hac_fail_no_memory(err);
    hac_zone **zone = &machine->zones[machine->n_zones];
    hac_status status = hac_zone_new(step->k.bytes, step->k.n_list, zone, err);
    machine->n_zones += status == HAC_OK;
    step->k.zone = *zone;
    return status;
}

hac_status hac_machine_texts(hac_machine_c *machine, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < machine->n_steps; i++) {
        hac_step *step = &machine->steps[i];
        if (hac_op_is_regexp(step->op))
            status = add_regexp(machine, step, err);
        else if (hac_op_is_zone(step->op))
            status = add_zone(machine, step, err);
    }
    return status;
}

void hac_machine_texts_free(hac_machine_c *machine)
{
    for (size_t i = 0; i < machine->n_regexps; i++)
        hac_regexp_free(machine->regexps[i]);
    free(machine->regexps);
    for (size_t i = 0; i < machine->n_zones; i++)
        hac_zone_free(machine->zones[i]);
    free(machine->zones);
}

/* ---- regular expressions ------------------------------------------------------------------------------- */

static void note_memory(hac_machine_slot *slot, size_t row, hac_regexp_found found)
{
    if (found == HAC_REGEXP_NO_MEMORY)
        hac_writable_states(slot)[row] = HAC_ROW_OVERFLOW;
}

void hac_run_regexp_matches(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    uint8_t *r = slot->own_values;
    for (size_t i = 0; i < rows; i++) {
        r[i] = 0;
        if (!hac_row_ok(slot->states, i))
            continue;
        hac_string_view a = hac_string_at(&machine->slots[step->a], i);
        hac_regexp_found found = hac_regexp_matches(step->k.regexp, (const char *)a.at, a.bytes);
        r[i] = found == HAC_REGEXP_FOUND;
        note_memory(slot, i, found);
    }
}

void hac_run_regexp_extract(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    const hac_machine_slot *a = &machine->slots[step->a];
    hac_string_ref *r = slot->own_values;
    slot->bytes = a->bytes;
    for (size_t i = 0; i < rows; i++) {
        size_t first = 0, bytes = 0;
        r[i] = (hac_string_ref){0, 0};
        if (!hac_row_ok(slot->states, i))
            continue;
        hac_string_view text = hac_string_at(a, i);
        note_memory(slot, i,
                    hac_regexp_extract(step->k.regexp, (const char *)text.at, text.bytes, step->k.group,
                                       &first, &bytes));
        r[i] = hac_string_part(a, i, first, bytes);
    }
}

void hac_run_regexp_replace(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    for (size_t i = 0; i < rows; i++) {
        if (!hac_row_ok(slot->states, i))
            continue;
        size_t made = 0;
        hac_string_view a = hac_string_at(&machine->slots[step->a], i),
                        by = hac_string_at(&machine->slots[step->b], i);
        hac_regexp_found found =
            hac_regexp_replace(step->k.regexp, (const char *)a.at, a.bytes, (const char *)by.at, by.bytes,
                               step->k.all, (char *)machine->arena + machine->arena_used,
                               machine->arena_capacity - machine->arena_used, &made);
        if (found == HAC_REGEXP_NO_MEMORY)
            note_memory(slot, i, found);
        else
            hac_string_commit(machine, slot, i, made);
    }
}

/* ---- times --------------------------------------------------------------------------------------------- */

void hac_run_strftime(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_machine_slot *slot = hac_strings_start(machine, step, rows);
    const int64_t *a = machine->slots[step->a].values;
    const char *format = (const char *)step->k.bytes;
    for (size_t i = 0; i < rows; i++) {
        if (!hac_row_ok(slot->states, i))
            continue;
        if (!hac_timestamp_has_text(a[i])) {
            hac_writable_states(slot)[i] = HAC_ROW_RANGE;
            continue;
        }
        uint8_t *to = hac_string_reserve(machine, slot, i, step->k.n_list * HAC_TIME_FORMAT_GROWTH);
        if (to != NULL)
            hac_string_commit(machine, slot, i, hac_time_print(a[i], format, step->k.n_list, (char *)to));
    }
}

static uint8_t state_of(hac_text_status status)
{
    return status == HAC_TEXT_OK          ? HAC_ROW_OK
           : status == HAC_TEXT_PRECISION ? HAC_ROW_PRECISION
           : status == HAC_TEXT_RANGE     ? HAC_ROW_RANGE
                                          : HAC_ROW_FORMAT;
}

void hac_run_strptime(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    int64_t *r = slot->own_values;
    const char *format = (const char *)step->k.bytes;
    for (size_t i = 0; i < rows; i++) {
        r[i] = 0;
        if (!hac_row_ok(slot->states, i))
            continue;
        hac_string_view a = hac_string_at(&machine->slots[step->a], i);
        uint8_t state = state_of(hac_time_parse((const char *)a.at, a.bytes, format, step->k.n_list, &r[i]));
        if (state != HAC_ROW_OK)
            hac_writable_states(slot)[i] = state;
    }
}

void hac_run_zone(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    const int64_t *a = machine->slots[step->a].values;
    int64_t *r = slot->own_values;
    for (size_t i = 0; i < rows; i++) {
        r[i] = 0;
        if (!hac_row_ok(slot->states, i))
            continue;
        bool fits = step->op == HAC_OP_ZONE_LOCAL ? hac_zone_local(step->k.zone, a[i], &r[i])
                                                  : hac_zone_utc(step->k.zone, a[i], &r[i]);
        if (!fits || !hac_timestamp_has_text(r[i]))
            hac_writable_states(slot)[i] = HAC_ROW_RANGE;
    }
}
