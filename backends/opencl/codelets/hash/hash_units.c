/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units of the windows (base/exact.h) in which kernels add floats. The first unit is a guess. Kernels note
 * the exponents of values that do not fit; the units follow, and the chunk is run again. Units stay for
 * later chunks. A chunk whose values fit no common window, or that has infinities or NaN, is left to the C
 * engine.
 */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "hash_job.h"

#define FIRST_UNIT (-72) /* full mantissas from 2^-20 to 2^24 */
#define MARGIN     3

static size_t misfit_ints(const hac_hash_shape *shape)
{
    return MISFIT_INTS * shape->words[SHAPE_N_ACCS] + 1;
}

static void clear(const hac_hash_shape *shape, int32_t *ints)
{
    for (size_t i = 0; i + 1 < misfit_ints(shape); i += MISFIT_INTS) {
        ints[i + MISFIT_LOW] = INT32_MAX;
        ints[i + MISFIT_HIGH] = INT32_MIN;
    }
    ints[misfit_ints(shape) - 1] = 0;
}

static void set_unit(hac_hash_shape *shape, size_t accumulator, int32_t unit)
{
    shape->units[accumulator].of[0] = unit;
    shape->words[shape->words[SHAPE_ACCS] + 4 * accumulator + 3] = (uint64_t)(int64_t)unit;
}

hac_status hac_hash_units_init(hac_hash_shape *shape)
{
    size_t n = shape->words[SHAPE_N_ACCS];
    shape->units = calloc(n + 1, sizeof *shape->units);
    shape->needed = calloc(misfit_ints(shape), sizeof *shape->needed);
    shape->misfits = hac_hash_alloc(misfit_ints(shape) * sizeof *shape->misfits);
    if (shape->units == NULL || shape->needed == NULL || shape->misfits == NULL)
        return HAC_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        if (shape->words[shape->words[SHAPE_ACCS] + 4 * i] == ACC_SUM_F64)
            set_unit(shape, i, FIRST_UNIT);
    return HAC_OK;
}

void hac_hash_units_begin(hac_hash_shape *shape)
{
    clear(shape, shape->needed);
    clear(shape, shape->misfits);
}

hac_status hac_hash_units_open(hac_hash_job *job, hac_error *err)
{
    return hac_windows_open(&job->windows, job->shape.misfits, misfit_ints(&job->shape) * sizeof(int32_t),
                            HAC_READ_WRITE, &job->shape.misfits_window, err);
}

bool hac_hash_units_misfit(const hac_hash_shape *shape)
{
    bool misfit = shape->misfits[misfit_ints(shape) - 1] != 0;
    for (size_t i = 0; i + 1 < misfit_ints(shape); i += MISFIT_INTS)
        misfit |= shape->misfits[i + MISFIT_LOW] <= shape->misfits[i + MISFIT_HIGH];
    return misfit;
}

/* The unit for values from `low` to `high` and, if possible, for most that fit `unit`. */
static int32_t next_unit(int32_t unit, int32_t low, int32_t high)
{
    int32_t next = unit;
    if (low < unit)
        next = low - MARGIN;
    else if (high > unit + HAC_EXACT_SUM_REACH)
        next = high + MARGIN - HAC_EXACT_SUM_REACH;
    if (next > low || next + HAC_EXACT_SUM_REACH < high)
        next = low;
    return next < HAC_EXACT_EXPONENT_MIN ? HAC_EXACT_EXPONENT_MIN : next;
}

bool hac_hash_units_move(hac_hash_shape *shape)
{
    bool moved = false;
    for (size_t i = 0; i < shape->words[SHAPE_N_ACCS]; i++) {
        int32_t *needed = shape->needed + MISFIT_INTS * i;
        const int32_t *misfits = shape->misfits + MISFIT_INTS * i;
        needed[MISFIT_LOW] =
            needed[MISFIT_LOW] < misfits[MISFIT_LOW] ? needed[MISFIT_LOW] : misfits[MISFIT_LOW];
        needed[MISFIT_HIGH] =
            needed[MISFIT_HIGH] > misfits[MISFIT_HIGH] ? needed[MISFIT_HIGH] : misfits[MISFIT_HIGH];
        int64_t reach = (int64_t)needed[MISFIT_HIGH] - needed[MISFIT_LOW];
        if (reach < 0 || reach > HAC_EXACT_SUM_REACH)
            continue;
        int32_t unit = next_unit(shape->units[i].of[0], needed[MISFIT_LOW], needed[MISFIT_HIGH]);
        moved |= unit != shape->units[i].of[0];
        set_unit(shape, i, unit);
    }
    if (moved)
        clear(shape, shape->misfits);
    return moved;
}
