/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/column_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/format.h"

/* A hash table of the names, with open addressing. */
typedef struct name_set {
    const hac_schema *schema;
    uint32_t *slots; /* index of a field + 1; 0: free */
    size_t mask;
} name_set;

static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

/* The slot of the name, or the free slot where it would be. */
static uint32_t *find(const name_set *set, const char *name)
{
    size_t at = (size_t)hash_of(name) & set->mask;
    while (set->slots[at] != 0 && strcmp(set->schema->fields[set->slots[at] - 1].name, name) != 0)
        at = (at + 1) & set->mask;
    return &set->slots[at];
}

/* Writes `name` with the suffix _number. A name that is too long is cut between characters, which makes equal
 * names of different ones: the number of the field keeps them apart without a long search. */
static void with_suffix(const char *name, uint32_t number, size_t field, char ret[HAC_FIELD_NAME_MAX])
{
    char suffix[40];
    int n = snprintf(suffix, sizeof suffix, "_%u", number);
    if (strlen(name) + (size_t)n >= HAC_FIELD_NAME_MAX)
        n = snprintf(suffix, sizeof suffix, "_%zu_%u", field + 1, number);
    hac_utf8_copy(ret, HAC_FIELD_NAME_MAX - (size_t)n, name);
    strcat(ret, suffix);
}

/* Makes the name of field `i`, whose own name is empty or that of field `first`. `next` counts the names that
 * were made of each field's name. */
static void make_name(name_set *set, size_t i, size_t first, uint32_t *next)
{
    hac_field *field = &set->schema->fields[i];
    char base[HAC_FIELD_NAME_MAX], name[HAC_FIELD_NAME_MAX];
    bool empty = field->name[0] == '\0';
    if (empty)
        snprintf(base, sizeof base, "column%zu", i + 1);
    else
        memcpy(base, field->name, sizeof base);
    memcpy(name, base, sizeof name);
    uint32_t *slot = find(set, name);
    while (*slot != 0) {
        with_suffix(base, ++next[empty ? i : first], i, name);
        slot = find(set, name);
    }
    memcpy(field->name, name, sizeof name);
    field->made = true;
    *slot = (uint32_t)i + 1;
}

hac_status hac_column_names_complete(hac_schema *schema, hac_error *err)
{
    size_t capacity = 16;
    while (capacity < 2 * schema->n_fields)
        capacity *= 2;
    hac_autofree uint32_t *slots = calloc(capacity, sizeof *slots);
    hac_autofree uint32_t *next = calloc(schema->n_fields + 1, sizeof *next);
    hac_autofree uint32_t *first = calloc(schema->n_fields + 1, sizeof *first); /* of the same name, + 1 */
    if (slots == NULL || next == NULL || first == NULL)
        return hac_fail_no_memory(err);
    name_set set = {.schema = schema, .slots = slots, .mask = capacity - 1};
    for (size_t i = 0; i < schema->n_fields; i++) {
        if (schema->fields[i].name[0] == '\0')
            continue;
        uint32_t *slot = find(&set, schema->fields[i].name);
        first[i] = *slot != 0 ? *slot : (uint32_t)i + 1;
        *slot = first[i];
    }
    for (size_t i = 0; i < schema->n_fields; i++)
        if (first[i] != i + 1)
            make_name(&set, i, first[i] == 0 ? i : first[i] - 1, next);
    return HAC_OK;
}

void hac_column_names_note(const hac_schema *schema, char *ret, size_t capacity)
{
    static const char begin[] = "the columns without a name, or with one that repeats, are called ";
    size_t made = 0, shown = 0, used = 0;
    for (size_t i = 0; i < schema->n_fields; i++)
        made += schema->fields[i].made;
    ret[0] = '\0';
    for (size_t i = 0; i < schema->n_fields && shown < 4; i++) {
        const char *name = schema->fields[i].name;
        if (!schema->fields[i].made || used + strlen(name) + sizeof begin + 32 > capacity)
            continue;
        used += (size_t)snprintf(ret + used, capacity - used, "%s%s", shown == 0 ? begin : ", ", name);
        shown++;
    }
    if (shown > 0 && shown < made)
        snprintf(ret + used, capacity - used, " and so on (%zu)", made);
}

const char *hac_format_columns(hac_input_format format)
{
    if (format == HAC_INPUT_LENGTHS)
        return "record:bytes";
    return format == HAC_INPUT_TYPEDBYTES ? "key:string,value:string" : hac_formats[format].columns;
}
