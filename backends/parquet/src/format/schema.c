/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include <string.h>

#define DEPTH_MAX     200 /* groups around a column; levels fit a byte */
#define ELEMENT_BYTES 3   /* the shortest one: an empty name */

/* A group whose children are being read. */
typedef struct schema_level {
    hac_parquet_slice name;
    int32_t left; /* remaining children */
    uint8_t definition, repetition;
} schema_level;

typedef struct schema_walk {
    hac_parquet_file *file;
    hac_arena *arena;
    hac_error *err;
    schema_level levels[DEPTH_MAX];
    size_t depth;       /* number of levels in use */
    uint64_t deep_left; /* remaining elements in a group that is nested too deep */
} schema_walk;

static void add_bytes(char **at, hac_parquet_slice slice)
{
    for (uint32_t i = 0; i < slice.bytes; i++)
        *(*at)++ = slice.data[i] == 0 ? '?' : (char)slice.data[i];
}

/* The path of an element below the root, joined by dots. */
static const char *join_path(schema_walk *w, hac_parquet_slice name)
{
    uint64_t bytes = name.bytes + UINT64_C(1);
    for (size_t i = 1; i < w->depth; i++)
        bytes += w->levels[i].name.bytes + UINT64_C(1);
    char *ret = hac_arena_alloc(w->arena, bytes), *at = ret;
    if (ret == NULL)
        return NULL;
    for (size_t i = 1; i < w->depth; i++) {
        add_bytes(&at, w->levels[i].name);
        *at++ = '.';
    }
    add_bytes(&at, name);
    *at = '\0';
    return ret;
}

static hac_status fail_element(schema_walk *w, const hac_parquet_element *element, const char *what)
{
    const char *path = join_path(w, element->name);
    return hac_fail(w->err, HAC_FAILED, "the footer is damaged: column '%.80s' %s", path != NULL ? path : "?",
                    what);
}

/* Adds a column; `own` NULL: it is nested too deep for its levels to be known. */
static hac_status add_leaf(schema_walk *w, const hac_parquet_element *element, const schema_level *own)
{
    static const schema_level unknown = {.left = 0};
    bool deep = own == NULL;
    own = deep ? &unknown : own;
    if (element->type < HAC_PARQUET_BOOLEAN || element->type > HAC_PARQUET_FIXED)
        return fail_element(w, element, "has a physical type that does not exist");
    hac_parquet_leaf *leaf = &w->file->leaves[w->file->n_leaves];
    *leaf = (hac_parquet_leaf){
        .name = join_path(w, element->name),
        .physical = (uint8_t)element->type,
        .type_length = element->type_length > 0 ? (uint32_t)element->type_length : 0,
        .max_definition = own->definition,
        .max_repetition = own->repetition,
    };
    if (leaf->name == NULL || !hac_parquet_element_type(element, leaf, w->arena))
        return hac_fail(w->err, HAC_FAILED, "the names of the columns take too much memory");
    if (deep) {
        leaf->type = (hac_value_type){.kind = HAC_KIND_NONE};
        leaf->why = "it is nested in more than 200 groups";
    }
    leaf->order = hac_parquet_element_ordered(element, leaf) ? HAC_PARQUET_ORDERED : HAC_PARQUET_UNORDERED;
    w->file->n_leaves++;
    return HAC_OK;
}

/* An element of a group that is nested too deep. */
static hac_status add_deep_element(schema_walk *w, const hac_parquet_element *element)
{
    w->deep_left--;
    if (element->children < 0)
        return fail_element(w, element, "has less than no children");
    w->deep_left += (uint32_t)element->children;
    return element->children > 0 || element->type == -1 ? HAC_OK : add_leaf(w, element, NULL);
}

static hac_status add_element(schema_walk *w, const hac_parquet_element *element)
{
    if (w->deep_left > 0)
        return add_deep_element(w, element);
    while (w->depth > 0 && w->levels[w->depth - 1].left == 0)
        w->depth--;
    if (w->depth == 0)
        return fail_element(w, element, "belongs to no group");
    schema_level *parent = &w->levels[w->depth - 1];
    parent->left--;
    if (element->repetition < 0 || element->repetition > 2)
        return fail_element(w, element, "has a repetition that does not exist");
    schema_level own = {.name = element->name,
                        .left = element->children,
                        .definition = (uint8_t)(parent->definition + (element->repetition != 0)),
                        .repetition = (uint8_t)(parent->repetition + (element->repetition == 2))};
    if (element->children < 0)
        return fail_element(w, element, "has less than no children");
    if (element->children == 0) /* a group without columns has no type */
        return element->type == -1 ? HAC_OK : add_leaf(w, element, &own);
    if (w->depth == DEPTH_MAX) {
        w->deep_left = (uint32_t)element->children;
        return HAC_OK;
    }
    w->levels[w->depth++] = own;
    return HAC_OK;
}

hac_status hac_parquet_schema_read(hac_thrift *t, size_t n, hac_parquet_file *file, hac_arena *arena,
                                   hac_error *err)
{
    if (n == 0 || n > (size_t)(t->end - t->at) / ELEMENT_BYTES)
        return hac_fail(err, HAC_FAILED, "the footer is damaged: its schema has no root, or is cut off");
    file->leaves = hac_arena_alloc(arena, n * sizeof *file->leaves);
    if (file->leaves == NULL)
        return hac_fail_no_memory(err);
    schema_walk w = {.file = file, .arena = arena, .err = err};
    for (size_t i = 0; i < n; i++) {
        hac_parquet_element element;
        hac_parquet_element_read(t, &element);
        if (t->broken != NULL)
            return hac_fail(err, HAC_FAILED, "the footer is damaged: element %zu of its schema: %s", i,
                            t->broken);
        hac_status status = HAC_OK;
        if (i == 0)
            w.levels[w.depth++] = (schema_level){.left = element.children};
        else
            status = add_element(&w, &element);
        if (status != HAC_OK)
            return status;
    }
    for (size_t i = 0; i < w.depth; i++)
        if (w.levels[i].left != 0 || w.deep_left > 0)
            return hac_fail(err, HAC_FAILED, "the footer is damaged: its schema lacks %d columns",
                            (int)w.levels[i].left);
    return HAC_OK;
}
