/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"
#include "config/profile.h"
#include "units.h"

enum { ALLOWED_SIZE = 256 };

/* Paths --------------------------------------------------------------------------------------------- */

/* The path of a key as written in this scope ("threads" in an entry of executors). NULL: the key is not
 * allowed in this scope. */
static const char *path_in_scope(const hac_scope *scope, const hac_key *key)
{
    const char *entries = scope->schema->entries;
    bool of_entry = entries != NULL && strncmp(key->path, entries, strlen(entries)) == 0;
    if (!scope->entry)
        return of_entry ? NULL : key->path;
    if (of_entry)
        return key->path + strlen(entries);
    return (key->flags & HAC_KEY_OVERRIDE) != 0 ? key->path : NULL;
}

/* The rest of `path` after `section` ("memory." or ""). NULL: the path is not in the section. */
static const char *below(const char *path, const char *section)
{
    size_t length = strlen(section);
    return path != NULL && strncmp(path, section, length) == 0 ? path + length : NULL;
}

static const hac_key *find_key(const hac_scope *scope, const char *section, const char *name)
{
    if (strchr(name, '.') != NULL)
        return NULL; /* "memory.limit: 4GiB" is not "memory: {limit: 4GiB}" */
    for (size_t i = 0; i < scope->schema->n_keys; i++) {
        const hac_key *key = &scope->schema->keys[i];
        const char *rest = below(path_in_scope(scope, key), section);
        if (rest != NULL && strcmp(rest, name) == 0)
            return key;
    }
    return NULL;
}

/* Whether `name` is a section, that is, the first part of some key. */
static bool is_section(const hac_scope *scope, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < scope->schema->n_keys; i++) {
        const char *path = path_in_scope(scope, &scope->schema->keys[i]);
        if (path != NULL && strncmp(path, name, length) == 0 && path[length] == '.')
            return true;
    }
    return false;
}

/* Messages ------------------------------------------------------------------------------------------ */

static hac_status fail_at(const hac_scope *scope, const hac_yaml_node *node, unsigned line, const char *what,
                          const char *allowed)
{
    char path[HAC_YAML_PATH_SIZE];
    return hac_yaml_fail(scope->file, line, scope->err, "key `%s`: %s; allowed: %s",
                         hac_yaml_path(node, path), what, allowed);
}

hac_status hac_key_fail(const hac_scope *scope, const hac_key *key, const hac_yaml_node *node,
                        const char *fmt, ...)
{
    char what[160], allowed[ALLOWED_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return fail_at(scope, node, node->line, what, hac_key_allowed(key, allowed, sizeof allowed));
}

hac_status hac_key_need(const hac_scope *scope, const hac_key *key, const hac_yaml_node *node,
                        hac_yaml_kind kind)
{
    static const char *const kinds[] = {
        [HAC_YAML_SCALAR] = "a single value", [HAC_YAML_LIST] = "a list", [HAC_YAML_MAP] = "a map"};
    if (hac_yaml_is_null(node))
        return hac_key_fail(scope, key, node, "has no value");
    if (node->kind != kind)
        return hac_key_fail(scope, key, node, "is %s, not %s", kinds[node->kind], kinds[kind]);
    return HAC_OK;
}

/* Unknown keys -------------------------------------------------------------------------------------- */

/* The first part of the path after the section: "memory" of "memory.limit". false: the key is not in the
 * section. */
static bool sibling(const hac_scope *scope, const hac_key *key, const char *section, char *ret, size_t size)
{
    const char *rest = below(path_in_scope(scope, key), section);
    if (rest == NULL)
        return false;
    snprintf(ret, size, "%.*s", (int)strcspn(rest, "."), rest);
    return true;
}

/* Iterates over the names in a section. `buffer`: HAC_NAME_MAX bytes for a name. */
typedef struct {
    const hac_scope *scope;
    const char *section;
    char *buffer;
} siblings;

/* Keys of other scopes have no name in this one. */
static const char *sibling_at(const void *list, size_t i)
{
    const siblings *s = list;
    return sibling(s->scope, &s->scope->schema->keys[i], s->section, s->buffer, HAC_NAME_MAX) ? s->buffer
                                                                                              : "";
}

/* A suggestion for an unknown key: a key with a similar name, or the same name in another section. */
static bool find_meant(const hac_scope *scope, const char *section, const char *name, char *ret, size_t size)
{
    char buffer[HAC_NAME_MAX];
    const siblings list = {scope, section, buffer};
    size_t n = scope->schema->n_keys,
           near = name[0] != '\0' ? hac_suggest_index(name, &list, n, sibling_at) : n;
    snprintf(ret, size, "%s", near < n ? sibling_at(&list, near) : "");
    for (size_t i = 0; ret[0] == '\0' && i < scope->schema->n_keys; i++) {
        const char *path = scope->schema->keys[i].path, *dot = strrchr(path, '.');
        if (strcmp(dot != NULL ? dot + 1 : path, name) == 0)
            snprintf(ret, size, "%s", path);
    }
    return ret[0] != '\0';
}

/* Lists the names that a section may have, as many as fit into a message: "name, match, kind". */
static void list_siblings(const hac_scope *scope, const char *section, char *ret, size_t size)
{
    char name[HAC_NAME_MAX], last[HAC_NAME_MAX] = "";
    static const char more[] = ", …";
    size_t used = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < scope->schema->n_keys; i++) {
        if (!sibling(scope, &scope->schema->keys[i], section, name, sizeof name) || strcmp(name, last) == 0)
            continue; /* keys of one section stand together in the table */
        if (used + strlen(name) + sizeof ", " + sizeof more > size) {
            strcpy(ret + used, more);
            return;
        }
        used += (size_t)snprintf(ret + used, size - used, "%s%s", used > 0 ? ", " : "", name);
        strcpy(last, name);
    }
}

static hac_status unknown_key(const hac_scope *scope, const char *section, const hac_yaml_node *node)
{
    char allowed[ALLOWED_SIZE], meant[HAC_NAME_MAX], what[HAC_NAME_MAX + 64];
    hac_scope root = *scope;
    root.entry = false;
    list_siblings(scope, section, allowed, sizeof allowed);
    if (scope->entry && (find_key(&root, section, node->key) != NULL || is_section(&root, node->key)))
        snprintf(what, sizeof what, "cannot be given in an entry of a list, only for the whole file");
    else if (find_meant(scope, section, node->key, meant, sizeof meant))
        snprintf(what, sizeof what, "unknown key, did you mean `%s`?", meant);
    else
        snprintf(what, sizeof what, "unknown key");
    return fail_at(scope, node, node->key_line, what, allowed);
}

/* Scalars ------------------------------------------------------------------------------------------- */

bool hac_name_is_valid(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= HAC_NAME_MAX || !isalnum((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("_-.", name[i]) == NULL)
            return false;
    return true;
}

static hac_status read_name(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value, void *at)
{
    char show[HAC_YAML_SHOW_SIZE];
    if (!hac_name_is_valid(value->text))
        return hac_key_fail(scope, key, value, "`%s` is not a name", hac_yaml_show(value->text, show));
    strcpy(at, value->text);
    return HAC_OK;
}

static hac_status read_text(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value, void *at)
{
    if (value->text[0] == '\0')
        return hac_key_fail(scope, key, value, "is empty");
    char **text = at, *copy = strdup(value->text);
    if (copy == NULL)
        return hac_fail_no_memory(scope->err);
    free(*text);
    *text = copy;
    return HAC_OK;
}

static hac_status read_choice(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                              void *at)
{
    char show[HAC_YAML_SHOW_SIZE];
    for (const hac_choice *choice = key->choices; choice->name != NULL; choice++) {
        if (strcmp(choice->name, value->text) == 0) {
            memcpy(at, &choice->value, sizeof choice->value);
            return HAC_OK;
        }
    }
    return hac_key_fail(scope, key, value, "`%s` is not known", hac_yaml_show(value->text, show));
}

static hac_status read_bool(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value, void *at)
{
    char show[HAC_YAML_SHOW_SIZE];
    bool yes = strcmp(value->text, "true") == 0;
    if (!yes && strcmp(value->text, "false") != 0)
        return hac_key_fail(scope, key, value, "`%s` is not a truth value", hac_yaml_show(value->text, show));
    *(bool *)at = yes;
    return HAC_OK;
}

/* Parses a quantity of the key's type. Types that are stored as integers use `ret_whole`, others `ret_real`.
 */
static hac_status parse_quantity(hac_key_type type, const char *text, uint64_t *ret_whole, double *ret_real,
                                 hac_error *err)
{
    switch (type) {
    case HAC_KEY_INTEGER:
        return hac_units_integer(text, ret_whole, err);
    case HAC_KEY_SIZE:
        return hac_units_size(text, ret_whole, err);
    case HAC_KEY_RATE:
        return hac_units_rate(text, ret_real, err);
    case HAC_KEY_DURATION:
        return hac_units_duration(text, ret_real, err);
    default:
        return hac_units_number(text, ret_real, err);
    }
}

/* Whether the value is below the minimum (side -1) or above the maximum (side 1). */
static bool beyond(const hac_key *key, const char *bound, int side, uint64_t whole, double real)
{
    uint64_t whole_bound = 0;
    double real_bound = 0;
    if (bound == NULL || parse_quantity(key->type, bound, &whole_bound, &real_bound, NULL) != HAC_OK)
        return false;
    return side < 0 ? whole < whole_bound || real < real_bound : whole > whole_bound || real > real_bound;
}

static void store_quantity(hac_key_type type, uint64_t whole, double real, void *at)
{
    if (type == HAC_KEY_INTEGER)
        *(uint32_t *)at = (uint32_t)whole; /* every INTEGER key has a max below 2^32 */
    else if (type == HAC_KEY_SIZE)
        *(uint64_t *)at = whole;
    else
        *(double *)at = real;
}

static hac_status read_quantity(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value,
                                void *at)
{
    char show[HAC_YAML_SHOW_SIZE];
    uint64_t whole = 0;
    double real = 0;
    hac_error reason = HAC_ERROR_NONE;
    hac_status status = parse_quantity(key->type, value->text, &whole, &real, &reason);
    if (status == HAC_INVALID)
        return hac_key_fail(scope, key, value, "%.120s", reason.message);
    if (status != HAC_OK)
        return hac_fail(scope->err, status, "%s", reason.message);
    hac_yaml_show(value->text, show);
    if (beyond(key, key->min, -1, whole, real))
        return hac_key_fail(scope, key, value, "`%s` is too small", show);
    if (beyond(key, key->max, 1, whole, real) || (key->type == HAC_KEY_INTEGER && whole > UINT32_MAX))
        return hac_key_fail(scope, key, value, "`%s` is too large", show);
    store_quantity(key->type, whole, real, at);
    return HAC_OK;
}

/* The name of a type, its parser, and the number of bytes that the special word of a key sets to 0. */
static const struct {
    const char *name;
    hac_key_reader *read;
    bool plain; /* the value must not be quoted */
    size_t zero;
} types[] = {
    [HAC_KEY_NAME] = {"name", read_name, false, 1},
    [HAC_KEY_TEXT] = {"text", read_text, false, 0},
    [HAC_KEY_CHOICE] = {"word", read_choice, false, 0},
    [HAC_KEY_BOOL] = {"truth value", read_bool, true, sizeof(bool)},
    [HAC_KEY_INTEGER] = {"whole number", read_quantity, true, sizeof(uint32_t)},
    [HAC_KEY_NUMBER] = {"number", read_quantity, true, sizeof(double)},
    [HAC_KEY_SIZE] = {"size", read_quantity, false, sizeof(uint64_t)},
    [HAC_KEY_RATE] = {"rate", read_quantity, false, sizeof(double)},
    [HAC_KEY_DURATION] = {"duration", read_quantity, false, sizeof(double)},
    [HAC_KEY_OTHER] = {"", NULL, false, 0},
};

hac_status hac_key_read(const hac_scope *scope, const hac_key *key, const hac_yaml_node *value, void *at)
{
    char show[HAC_YAML_SHOW_SIZE];
    if (key->read != NULL)
        return key->read(scope, key, value, at);
    hac_status status = hac_key_need(scope, key, value, HAC_YAML_SCALAR);
    if (status != HAC_OK)
        return status;
    if (key->word != NULL && strcmp(value->text, key->word) == 0) {
        memset(at, 0, types[key->type].zero);
        return HAC_OK;
    }
    if (types[key->type].plain && !value->plain)
        return hac_key_fail(scope, key, value, "\"%s\" is a text, as it stands in quotes",
                            hac_yaml_show(value->text, show));
    return types[key->type].read(scope, key, value, at);
}

/* Maps ---------------------------------------------------------------------------------------------- */

static hac_status read_map(const hac_scope *scope, const char *section, const hac_yaml_node *map,
                           void *target);

static hac_status read_section(const hac_scope *scope, const hac_yaml_node *node, void *target)
{
    char section[HAC_NAME_MAX], allowed[ALLOWED_SIZE];
    snprintf(section, sizeof section, "%s.", node->key); /* fits: the name is one of the table's */
    if (node->kind == HAC_YAML_MAP)
        return read_map(scope, section, node, target);
    list_siblings(scope, section, allowed, sizeof allowed);
    return fail_at(scope, node, node->line,
                   hac_yaml_is_null(node) ? "has no value; write {} for nothing" : "is not a map of keys",
                   allowed);
}

/* Sections lie at the top level only, so that this recursion is two calls deep. */
static hac_status read_map(const hac_scope *scope, const char *section, const hac_yaml_node *map,
                           void *target)
{
    for (const hac_yaml_node *node = map->first; node != NULL; node = node->next) {
        const hac_key *key = find_key(scope, section, node->key);
        hac_status status;
        if (key != NULL)
            status = hac_key_read(scope, key, node, (char *)target + key->offset);
        else if (section[0] == '\0' && is_section(scope, node->key))
            status = read_section(scope, node, target);
        else
            status = unknown_key(scope, section, node);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

hac_status hac_schema_read(const hac_scope *scope, const hac_yaml_node *map, void *target)
{
    hac_status status = read_map(scope, "", map, target);
    for (size_t i = 0; status == HAC_OK && !scope->entry && i < scope->schema->n_keys; i++) {
        const hac_key *key = &scope->schema->keys[i];
        char allowed[ALLOWED_SIZE];
        if ((key->flags & HAC_KEY_REQUIRED) != 0 && hac_yaml_get(map, key->path) == NULL)
            return hac_yaml_fail(scope->file, map->line, scope->err, "key `%s`: is missing; allowed: %s",
                                 key->path, hac_key_allowed(key, allowed, sizeof allowed));
    }
    return status;
}

hac_status hac_schema_defaults(const hac_config_schema *schema, void *target, hac_error *err)
{
    const hac_scope scope = {.schema = schema, .file = "default", .err = err};
    for (size_t i = 0; i < schema->n_keys; i++) {
        const hac_key *key = &schema->keys[i];
        if (path_in_scope(&scope, key) == NULL || key->fallback == NULL ||
            strchr("[{", key->fallback[0]) != NULL)
            continue; /* a key of entries, a required key, or an empty collection */
        char text[HAC_NAME_MAX];
        snprintf(text, sizeof text, "%s", key->fallback);
        const hac_yaml_node value = {.kind = HAC_YAML_SCALAR, .plain = true, .line = 1, .text = text};
        hac_status status = hac_key_read(&scope, key, &value, (char *)target + key->offset);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* The table, in words ------------------------------------------------------------------------------- */

const char *hac_key_type_name(const hac_key *key)
{
    return key->type_name != NULL ? key->type_name : types[key->type].name;
}

static void add(char *buffer, size_t size, const char *before, const char *text)
{
    size_t used = strlen(buffer);
    if (text != NULL)
        snprintf(buffer + used, size - used, "%s%s", before, text);
}

static void add_range(const hac_key *key, char *buffer, size_t size)
{
    if (key->min != NULL && key->max != NULL) {
        add(buffer, size, " from ", key->min);
        add(buffer, size, " to ", key->max);
    } else {
        add(buffer, size, " of at least ", key->min);
        add(buffer, size, " of at most ", key->max);
    }
}

static const char *units_of(hac_key_type type)
{
    switch (type) {
    case HAC_KEY_SIZE:
        return HAC_UNITS_SIZE;
    case HAC_KEY_RATE:
        return HAC_UNITS_RATE;
    case HAC_KEY_DURATION:
        return HAC_UNITS_DURATION;
    default:
        return NULL;
    }
}

static void add_quantity(const hac_key *key, char *buffer, size_t size)
{
    const char *units = units_of(key->type);
    add(buffer, size, "", hac_key_type_name(key));
    add_range(key, buffer, size);
    add(buffer, size, " (", units);
    add(buffer, size, "", units != NULL ? ")" : NULL);
    add(buffer, size, ", ", key->unit);
}

static void add_choices(const hac_key *key, char *buffer, size_t size)
{
    for (const hac_choice *choice = key->choices; choice->name != NULL; choice++) {
        add(buffer, size, choice == key->choices ? "`" : ", `", choice->name);
        add(buffer, size, "`", "");
    }
}

const char *hac_key_allowed(const hac_key *key, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (key->allowed != NULL)
        add(buffer, size, "", key->allowed);
    else if (key->type == HAC_KEY_NAME)
        add(buffer, size, "", "letters, digits, `_`, `-`, `.`, at most 63, a letter or digit first");
    else if (key->type == HAC_KEY_BOOL)
        add(buffer, size, "", "`true`, `false`");
    else if (key->type == HAC_KEY_CHOICE)
        add_choices(key, buffer, size);
    else
        add_quantity(key, buffer, size);
    if (key->word != NULL) {
        add(buffer, size, ", or `", key->word);
        add(buffer, size, "`", "");
    }
    return buffer;
}

/* A text within a Markdown table: | would end the cell. */
static void cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

void hac_schema_table(const hac_config_schema *schema, FILE *out)
{
    char allowed[ALLOWED_SIZE];
    bool entries = schema->entries != NULL;
    fprintf(out, "| Key | Type | Allowed | Default | %sMeaning |\n|---|---|---|---|%s---|\n",
            entries ? "Per executor | " : "", entries ? "---|" : "");
    for (size_t i = 0; i < schema->n_keys; i++) {
        const hac_key *key = &schema->keys[i];
        bool own = entries && strncmp(key->path, schema->entries, strlen(schema->entries)) == 0;
        fprintf(out, "| `%s` | %s | ", key->path, hac_key_type_name(key));
        cell(out, hac_key_allowed(key, allowed, sizeof allowed));
        if (key->fallback != NULL)
            fprintf(out, " | `%s` | ", key->fallback);
        else
            fputs(" | required | ", out);
        if (entries)
            fprintf(out, "%s | ", own ? "only" : (key->flags & HAC_KEY_OVERRIDE) != 0 ? "yes" : "no");
        cell(out, key->help);
        fputs(" |\n", out);
    }
}

void hac_schema_example(const hac_config_schema *schema, FILE *out)
{
    char allowed[ALLOWED_SIZE];
    for (size_t i = 0; i < schema->n_keys; i++) {
        const hac_key *key = &schema->keys[i];
        fprintf(out, "\n# %s\n# Allowed: %s.\n#%s: %s\n", key->help,
                hac_key_allowed(key, allowed, sizeof allowed), key->path, key->fallback);
    }
}
