/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of dates and timestamps. */
#include "emit.h"
#include "program/date_units.h"
#include "syntax/literal.h"

/* 0001-01-01 and 9999-12-31 in days since 1970. */
#define FIRST_DAY (-719162)
#define LAST_DAY  2932896

static hac_value_id op(hac_emitter *e, hac_op operation, hac_value_id a, hac_value_id b)
{
    return hac_program_builder_op(e->builder, operation, a, b, 0, 0);
}

static hac_value_id constant(hac_emitter *e, int64_t value)
{
    return hac_program_builder_constant(e->builder, HAC_REPR_I64, (uint64_t)value, 0);
}

/* Days outside of the years 1 … 9999 are an error: they cannot be written as text. */
static hac_value_id calendar(hac_emitter *e, hac_value_id days)
{
    return hac_program_builder_range(e->builder, HAC_OP_RANGE_I64, days, FIRST_DAY, LAST_DAY);
}

/* k: 0: date + days, 1: days + date, 2: date - days */
hac_value_id hac_emit_add_days(hac_emitter *e, const hac_node *node)
{
    hac_value_id a = hac_emit_argument(e, node, 0), b = hac_emit_argument(e, node, 1);
    hac_value_id sum = op(e, node->function->k == 2 ? HAC_OP_SUB_I64 : HAC_OP_ADD_I64, a, b);
    return calendar(e, sum);
}

static hac_value_id days_of(hac_emitter *e, hac_value_id timestamp)
{
    return op(e, HAC_OP_TIMESTAMP_TO_DATE, timestamp, 0);
}

static hac_value_id timestamp_of(hac_emitter *e, hac_value_id days)
{
    return op(e, HAC_OP_DATE_TO_TIMESTAMP, days, 0);
}

hac_value_id hac_emit_timestamp_part(hac_emitter *e, const hac_node *node)
{
    hac_value_id days = days_of(e, hac_emit_argument(e, node, 0));
    return hac_program_builder_op(e->builder, HAC_OP_DATE_PART, days, 0, 0, node->function->k);
}

static hac_date_unit unit_of(const hac_node *node)
{
    hac_date_unit unit = HAC_UNIT_DAY;
    const hac_literal *name = &node->args[0]->literal;
    (void)hac_unit_find(name->bytes, name->n_bytes, &unit); /* the checker knows that the unit exists */
    return unit;
}

static hac_value_id trunc_days(hac_emitter *e, hac_value_id days, hac_date_unit unit)
{
    return unit == HAC_UNIT_DAY ? days
                                : hac_program_builder_op(e->builder, HAC_OP_DATE_TRUNC, days, 0, 0, unit);
}

hac_value_id hac_emit_trunc_date(hac_emitter *e, const hac_node *node)
{
    return trunc_days(e, hac_emit_argument(e, node, 1), unit_of(node));
}

hac_value_id hac_emit_trunc_timestamp(hac_emitter *e, const hac_node *node)
{
    hac_date_unit unit = unit_of(node);
    hac_value_id value = hac_emit_argument(e, node, 1);
    if (unit >= HAC_UNIT_HOUR)
        return hac_program_builder_op(e->builder, HAC_OP_TIME_TRUNC, value, 0, 0, unit);
    return timestamp_of(e, trunc_days(e, days_of(e, value), unit));
}

/* The date moves, and the time of day stays. */
static hac_value_id add_months(hac_emitter *e, hac_value_id timestamp, hac_value_id months)
{
    hac_value_id days = days_of(e, timestamp);
    hac_value_id later = calendar(e, op(e, HAC_OP_ADD_MONTHS, days, months));
    hac_value_id time = op(e, HAC_OP_SUB_I64, timestamp, timestamp_of(e, days));
    return op(e, HAC_OP_ADD_I64, timestamp_of(e, later), time);
}

hac_value_id hac_emit_add_months(hac_emitter *e, const hac_node *node)
{
    hac_value_id value = hac_emit_argument(e, node, 0), months = hac_emit_argument(e, node, 1);
    return node->function->k != 0 ? add_months(e, value, months)
                                  : calendar(e, op(e, HAC_OP_ADD_MONTHS, value, months));
}

/* Times outside of the years 1 … 9999 are an error. */
static hac_value_id clock_time(hac_emitter *e, hac_value_id timestamp)
{
    return hac_program_builder_range(e->builder, HAC_OP_RANGE_I64, timestamp, FIRST_DAY * HAC_US_PER_DAY,
                                     LAST_DAY * HAC_US_PER_DAY + (HAC_US_PER_DAY - 1));
}

/* k: 1: of a date */
hac_value_id hac_emit_add_interval(hac_emitter *e, const hac_node *node)
{
    hac_value_id value = hac_emit_argument(e, node, 0);
    if (node->function->k == 1)
        value = timestamp_of(e, value);
    if (node->args[1]->literal.integer != 0)
        value = add_months(e, value, hac_emit_argument(e, node, 1));
    return clock_time(e, op(e, HAC_OP_ADD_I64, value, hac_emit_argument(e, node, 2)));
}

hac_value_id hac_emit_make_timestamp(hac_emitter *e, const hac_node *node)
{
    return clock_time(e, hac_emit_argument(e, node, 0));
}

/* k: 1: of a date */
hac_value_id hac_emit_epoch(hac_emitter *e, const hac_node *node)
{
    hac_value_id value = hac_emit_argument(e, node, 0);
    if (node->function->k == 1)
        value = timestamp_of(e, value);
    uint64_t million = UINT64_C(0x412e848000000000); /* 1e6 */
    return op(e, HAC_OP_DIV_F64, op(e, HAC_OP_I64_TO_F64, value, 0),
              hac_program_builder_constant(e->builder, HAC_REPR_F64, million, 0));
}

/* The number of the year, quarter or month of a day. */
static hac_value_id calendar_number(hac_emitter *e, hac_value_id days, hac_date_unit unit)
{
    hac_value_id year = hac_program_builder_op(e->builder, HAC_OP_DATE_PART, days, 0, 0, HAC_UNIT_YEAR);
    if (unit == HAC_UNIT_YEAR)
        return year;
    hac_value_id units = constant(e, unit == HAC_UNIT_QUARTER ? 4 : 12);
    return op(e, HAC_OP_ADD_I64, op(e, HAC_OP_MUL_I64, year, units),
              hac_program_builder_op(e->builder, HAC_OP_DATE_PART, days, 0, 0, unit));
}

static hac_value_id formatted(hac_emitter *e, hac_op operation, hac_value_id value, const hac_node *node)
{
    const hac_literal *format = &node->args[1]->literal;
    return hac_program_builder_text(e->builder, operation, value, 0, (const uint8_t *)format->bytes,
                                    format->n_bytes);
}

/* k: 1: of a date */
hac_value_id hac_emit_strftime(hac_emitter *e, const hac_node *node)
{
    hac_value_id value = hac_emit_argument(e, node, 0);
    return formatted(e, HAC_OP_STRFTIME, node->function->k == 1 ? timestamp_of(e, value) : value, node);
}

/* k: 1: null for another text */
hac_value_id hac_emit_strptime(hac_emitter *e, const hac_node *node)
{
    hac_value_id value = formatted(e, HAC_OP_STRPTIME, hac_emit_argument(e, node, 0), node);
    return node->function->k == 1 ? op(e, HAC_OP_NULL_IF_ERROR, value, 0) : value;
}

/* k: 0: the local time of an instant; 1: the instant of a local time, 2: of a date. The checker has put the
 * rules of the zone in the place of its name. */
hac_value_id hac_emit_zone(hac_emitter *e, const hac_node *node)
{
    hac_value_id value = hac_emit_argument(e, node, 0);
    if (node->function->k == 2)
        value = timestamp_of(e, value);
    return formatted(e, node->function->k == 0 ? HAC_OP_ZONE_LOCAL : HAC_OP_ZONE_UTC, value, node);
}

static int64_t unit_length(hac_date_unit unit)
{
    return unit == HAC_UNIT_HOUR     ? HAC_US_PER_HOUR
           : unit == HAC_UNIT_MINUTE ? HAC_US_PER_MINUTE
                                     : HAC_US_PER_SECOND;
}

/* A number for the unit in which the time lies: the difference of two is the result. */
static hac_value_id unit_number(hac_emitter *e, hac_value_id value, bool timestamp, hac_date_unit unit)
{
    if (unit >= HAC_UNIT_HOUR) {
        hac_value_id time = timestamp ? value : timestamp_of(e, value);
        return hac_program_builder_op(e->builder, HAC_OP_TIME_TRUNC, time, 0, 0, unit);
    }
    hac_value_id days = timestamp ? days_of(e, value) : value;
    return unit == HAC_UNIT_DAY || unit == HAC_UNIT_WEEK ? days : calendar_number(e, days, unit);
}

/* Weeks are seven days, wherever they begin, as DuckDB has it. k: 1: of timestamps */
hac_value_id hac_emit_date_diff(hac_emitter *e, const hac_node *node)
{
    hac_date_unit unit = unit_of(node);
    bool timestamp = node->function->k == 1;
    hac_value_id a = unit_number(e, hac_emit_argument(e, node, 1), timestamp, unit);
    hac_value_id b = unit_number(e, hac_emit_argument(e, node, 2), timestamp, unit);
    hac_value_id difference = op(e, HAC_OP_SUB_I64, b, a);
    if (unit < HAC_UNIT_HOUR && unit != HAC_UNIT_WEEK)
        return difference;
    return op(e, HAC_OP_DIV_I64, difference, constant(e, unit == HAC_UNIT_WEEK ? 7 : unit_length(unit)));
}
