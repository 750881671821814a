/* SPDX-License-Identifier: Apache-2.0 */
#include "value_column.h"

#include <string.h>

#define FIRST_VALUES UINT64_C(1024)

hac_status hac_value_column_reserve(hac_value_column *c, uint64_t rows, hac_error *err)
{
    uint64_t capacity = c->capacity == 0 ? FIRST_VALUES : c->capacity;
    while (capacity - c->n < rows)
        capacity *= 2;
    if (capacity == c->capacity)
        return HAC_OK;
    uint32_t *groups =
        hac_budget_resize(c->budget, c->groups, c->capacity * sizeof *groups, capacity * sizeof *groups, err);
    if (groups == NULL)
        return HAC_NO_MEMORY;
    c->groups = groups;
    uint8_t *values = hac_budget_resize(c->budget, c->values, c->capacity * c->size, capacity * c->size, err);
    if (values == NULL) { /* the budget counts both with one capacity */
        c->budget->used -= (capacity - c->capacity) * sizeof *groups;
        return HAC_NO_MEMORY;
    }
    c->values = values;
    c->capacity = capacity;
    return HAC_OK;
}

hac_status hac_value_column_append(hac_value_column *c, uint64_t group, const uint8_t *values, uint64_t rows,
                                   hac_error *err)
{
    hac_status status = hac_value_column_reserve(c, rows, err);
    if (status != HAC_OK || rows == 0)
        return status;
    for (uint64_t i = 0; i < rows; i++)
        c->groups[c->n + i] = (uint32_t)group;
    memcpy(c->values + c->n * c->size, values, rows * c->size);
    c->n += rows;
    return HAC_OK;
}

static void forget_sorted(hac_value_column *c)
{
    hac_budget_free(c->budget, c->sorted, (c->n_sorted + 1) * c->size);
    hac_budget_free(c->budget, c->starts, (c->n_groups + 2) * sizeof *c->starts);
    c->sorted = NULL;
    c->starts = NULL;
    c->n_sorted = c->n_groups = 0;
}

/* Counting sort. While it runs, starts[g + 1] is where the next value of group g goes. The values of a single
 * group stay where they are. */
hac_status hac_value_column_sort(hac_value_column *c, uint64_t groups, hac_error *err)
{
    if (c->starts != NULL && c->n_sorted == c->n && c->n_groups == groups)
        return HAC_OK;
    forget_sorted(c);
    if (groups != 1) {
        c->sorted = hac_budget_resize(c->budget, NULL, 0, (c->n + 1) * c->size, err);
        if (c->sorted == NULL)
            return HAC_NO_MEMORY;
    }
    c->n_sorted = c->n;
    c->starts = hac_budget_zeros(c->budget, groups + 2, sizeof *c->starts, err);
    if (c->starts == NULL)
        return HAC_NO_MEMORY;
    c->n_groups = groups;
    if (groups == 1) {
        c->starts[1] = c->n;
        return HAC_OK;
    }
    uint64_t *next = c->starts + 1, sum = 0;
    for (uint64_t i = 0; i < c->n; i++)
        next[c->groups[i]]++;
    for (uint64_t g = 0; g < groups; g++) {
        uint64_t n = next[g];
        next[g] = sum;
        sum += n;
    }
    if (c->size == 8) {
        for (uint64_t i = 0; i < c->n; i++)
            memcpy(c->sorted + next[c->groups[i]]++ * 8, c->values + i * 8, 8);
    } else if (c->size == 16) {
        for (uint64_t i = 0; i < c->n; i++)
            memcpy(c->sorted + next[c->groups[i]]++ * 16, c->values + i * 16, 16);
    } else {
        for (uint64_t i = 0; i < c->n; i++)
            memcpy(c->sorted + next[c->groups[i]]++ * c->size, c->values + i * c->size, c->size);
    }
    return HAC_OK;
}

uint8_t *hac_value_column_of(const hac_value_column *c, uint64_t group, uint64_t *ret_n)
{
    *ret_n = c->starts[group + 1] - c->starts[group];
    return (c->sorted != NULL ? c->sorted : c->values) + c->starts[group] * c->size;
}

void hac_value_column_reset(hac_value_column *c)
{
    forget_sorted(c);
    c->n = 0;
}

void hac_value_column_clear(hac_value_column *c)
{
    forget_sorted(c);
    hac_budget_free(c->budget, c->groups, c->capacity * sizeof *c->groups);
    hac_budget_free(c->budget, c->values, c->capacity * c->size);
    *c = (hac_value_column){0};
}
