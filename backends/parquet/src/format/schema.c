/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include <string.h>

#define DEPTH_MAX     200 /* groups around a column; levels fit a byte */
#define ELEMENT_BYTES 3   /* the shortest one: an empty name */

/* A group whose children are being read. */
typedef struct schema_level {
    hac_parquet_slice name;
    int32_t children, left; /* left: the remaining ones */
    uint8_t definition, repetition;
    uint8_t logical; /* hac_parquet_logical */
    bool repeated;
    size_t key; /* of a repeated group: 1 + the leaf of its first child, if that is a leaf; else 0 */
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

/* Whether the name of a repeated group is one of those that old writers give to the elements of lists, not to
 * the group that the format needs around them. */
static bool names_element(hac_parquet_slice list, hac_parquet_slice name)
{
    static const char suffix[] = "_tuple";
    if (name.bytes == strlen("array") && memcmp(name.data, "array", name.bytes) == 0)
        return true;
    return name.bytes == list.bytes + strlen(suffix) && memcmp(name.data, list.data, list.bytes) == 0 &&
           memcmp(name.data + list.bytes, suffix, strlen(suffix)) == 0;
}

/* The number of levels, from the repeated one `at` on, that the format needs to write a list or a map: they
 * are not in the names of columns. Level w->depth is the leaf. */
static size_t scaffold_at(const schema_walk *w, size_t at)
{
    const schema_level *list = &w->levels[at - 1], *repeated = at < w->depth ? &w->levels[at] : NULL;
    bool is_list = list->logical == HAC_PARQUET_LOGICAL_LIST;
    if (at < 2 || !(is_list || (list->logical == HAC_PARQUET_LOGICAL_MAP && repeated != NULL)))
        return 0;
    return is_list && repeated != NULL && repeated->children == 1 &&
                   !names_element(list->name, repeated->name)
               ? 2
               : 1;
}

/* The path of an element below the root, joined by dots. */
static const char *join_path(schema_walk *w, hac_parquet_slice name, bool repeated)
{
    uint64_t bytes = name.bytes + UINT64_C(1);
    bool begun = false;
    size_t scaffold = 0;
    for (size_t i = 1; i < w->depth; i++)
        bytes += w->levels[i].name.bytes + UINT64_C(1);
    char *ret = hac_arena_alloc(w->arena, bytes), *at = ret;
    if (ret == NULL)
        return NULL;
    for (size_t i = 1; i <= w->depth; i++) {
        if (scaffold == 0 && (i < w->depth ? w->levels[i].repeated : repeated))
            scaffold = scaffold_at(w, i);
        if (scaffold > 0) {
            scaffold--;
            continue;
        }
        if (begun)
            *at++ = '.';
        add_bytes(&at, i < w->depth ? w->levels[i].name : name);
        begun = true;
    }
    *at = '\0';
    return ret;
}

static hac_status fail_element(schema_walk *w, const hac_parquet_element *element, const char *what)
{
    const char *path = join_path(w, element->name, false);
    return hac_fail(w->err, HAC_FAILED, "the footer is damaged: column '%.80s' %s", path != NULL ? path : "?",
                    what);
}

/* ---- lists and maps ---- */

/* Makes one column of the map's keys and its values, which are the last two leaves. */
static bool pair_map(schema_walk *w, size_t at)
{
    hac_parquet_leaf *values = &w->file->leaves[w->file->n_leaves - 1], *keys = values - 1;
    schema_level *repeated = &w->levels[at];
    if (keys->type.kind == HAC_KIND_NONE || values->type.kind == HAC_KIND_NONE)
        return true;
    size_t depth = w->depth;
    w->depth = at - 1;
    keys->name = join_path(w, w->levels[at - 1].name, false);
    w->depth = depth;
    keys->nested =
        (hac_nested){.kind = HAC_NESTED_MAP, .key = keys->nested.element, .element = values->nested.element};
    values->type.kind = HAC_KIND_NONE;
    values->map_values = true;
    values->why = "it has the values of a map, which are read with its keys";
    repeated->key = 0;
    return keys->name != NULL;
}

/* Completes the leaf that was added last, which is in one list: `own` are its levels. False: no memory. */
static bool take_list(schema_walk *w, const schema_level *own)
{
    hac_parquet_leaf *leaf = &w->file->leaves[w->file->n_leaves - 1];
    size_t at = 1;
    while (at < w->depth && !w->levels[at].repeated)
        at++;
    schema_level *repeated = &w->levels[at];
    leaf->list_definition = at < w->depth ? repeated->definition : own->definition;
    if (at < 2 || at + 1 != w->depth || repeated[-1].logical != HAC_PARQUET_LOGICAL_MAP ||
        repeated->children != 2)
        return true;
    bool first = repeated->left == 1;
    if (first)
        repeated->key = w->file->n_leaves;
    return first || repeated->key + 1 != w->file->n_leaves || pair_map(w, at);
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
        .name = join_path(w, element->name, own->repeated),
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
    if (!deep && own->repetition == 1 && !take_list(w, own))
        return hac_fail(w->err, HAC_FAILED, "the names of the columns take too much memory");
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
                        .children = element->children,
                        .left = element->children,
                        .logical = element->logical,
                        .repeated = element->repetition == 2,
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
