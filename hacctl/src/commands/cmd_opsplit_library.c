/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl opsplit op, subop: lists the operators, and changes the user's own. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cmd.h"
#include "config/yaml_tree.h"
#include "opsplit/library.h"
#include "opsplit/logic.h"
#include "text/text_table.h"

HAC_DEFINE_CLEANUP(hac_library *, hac_library_free)

/* One run of the command, for OPs or for sub-operators. */
typedef struct request {
    hac_cli *cli;
    hac_library_kind kind;
    hac_library *library;
    const char *what; /* "opsplit subop" */
    char name[HAC_LIBRARY_NAME_MAX];
    unsigned version; /* 0: no version was given */
} request;

static bool is_newest(const request *r, size_t i)
{
    const hac_library_entry *entry = hac_library_at(r->library, i);
    return entry->kind == r->kind && hac_library_find(r->library, r->kind, entry->name, 0) == entry;
}

static hac_status print(hac_text *text, hac_error *err)
{
    hac_autofree char *all = NULL;
    hac_status status = hac_text_finish(text, &all, NULL, err);
    return status == HAC_OK ? hac_cli_print(all, err) : status;
}

static void json_versions(hac_text *text, const request *r, const char *name)
{
    hac_json_open(text, "versions", '[');
    for (size_t i = 0; i < hac_library_count(r->library); i++) {
        const hac_library_entry *entry = hac_library_at(r->library, i);
        if (entry->kind == r->kind && strcmp(entry->name, name) == 0)
            hac_json_unsigned(text, NULL, entry->version);
    }
    hac_json_close(text, ']');
}

/* Adds the damage of all versions; adds nothing if no version is damaged. */
static void json_damage(hac_text *text, const request *r, const char *name)
{
    bool open = false;
    for (size_t i = 0; i < hac_library_count(r->library); i++) {
        const hac_library_entry *entry = hac_library_at(r->library, i);
        if (entry->kind != r->kind || strcmp(entry->name, name) != 0 || entry->damage == NULL)
            continue;
        if (!open)
            hac_json_open(text, "damaged", '[');
        open = true;
        hac_json_open(text, NULL, '{');
        hac_json_unsigned(text, "version", entry->version);
        hac_json_string(text, "message", entry->damage);
        hac_json_close(text, '}');
    }
    if (open)
        hac_json_close(text, ']');
}

/* ---- list ---- */

static const hac_subop_info *built_in(const request *r, int i)
{
    return r->kind == HAC_LIBRARY_SUBOP ? hac_subop_get((hac_subop_id)i) : NULL;
}

static void list_json(const request *r, hac_text *text)
{
    hac_json_open(text, NULL, '{');
    hac_json_open(text, r->kind == HAC_LIBRARY_SUBOP ? "sub_operators" : "ops", '[');
    for (int i = HAC_SUBOP_NONE + 1; built_in(r, i) != NULL; i++) {
        hac_json_open(text, NULL, '{');
        hac_json_string(text, "name", built_in(r, i)->name);
        hac_json_bool(text, "built_in", true);
        hac_json_string(text, "text", built_in(r, i)->text);
        hac_json_close(text, '}');
    }
    for (size_t i = 0; i < hac_library_count(r->library); i++) {
        const hac_library_entry *entry = hac_library_at(r->library, i);
        if (!is_newest(r, i))
            continue;
        hac_json_open(text, NULL, '{');
        hac_json_string(text, "name", entry->name);
        hac_json_bool(text, "built_in", false);
        json_versions(text, r, entry->name);
        hac_json_string(text, "text", entry->about);
        json_damage(text, r, entry->name);
        hac_json_close(text, '}');
    }
    hac_json_close(text, ']');
    hac_json_close(text, '}');
}

static void list_table(const request *r, hac_text *text)
{
    static const hac_text_column columns[] = {{"name", false}, {"version", false}, {"what", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    for (int i = HAC_SUBOP_NONE + 1; built_in(r, i) != NULL; i++) {
        hac_text_table_add(&table, built_in(r, i)->name);
        hac_text_table_add(&table, "built in");
        hac_text_table_add(&table, built_in(r, i)->text);
    }
    for (size_t i = 0; i < hac_library_count(r->library); i++) {
        const hac_library_entry *entry = hac_library_at(r->library, i);
        bool damaged = entry->kind == r->kind && entry->damage != NULL; /* older versions, too */
        if (!damaged && !is_newest(r, i))
            continue;
        hac_text_table_add(&table, entry->name);
        hac_text_table_addf(&table, "%u", entry->version);
        if (damaged) {
            char advice[HAC_LIBRARY_ADVICE_MAX];
            hac_library_advise(entry, advice);
            hac_text_table_addf(&table, "DAMAGED: %s; %s", entry->damage, advice);
        } else {
            hac_text_table_add(&table, entry->about);
        }
    }
    if (hac_text_table_rows(&table) == 0)
        hac_text_add(text, "none; `hacctl opsplit op add FILE.yaml` adds one\n");
    else
        hac_text_table_write(&table, text);
    hac_text_table_clear(&table);
}

static hac_status list(request *r, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    if (r->cli->json)
        list_json(r, &text);
    else
        list_table(r, &text);
    return print(&text, err);
}

/* ---- show ---- */

static const char *name_at(const void *context, size_t i)
{
    const request *r = context;
    size_t built = r->kind == HAC_LIBRARY_SUBOP ? HAC_SUBOP_END - 1 : 0;
    return i < built ? hac_subop_get((hac_subop_id)(i + 1))->name
                     : hac_library_at(r->library, i - built)->name;
}

static hac_status unknown(const request *r, hac_error *err)
{
    size_t built = r->kind == HAC_LIBRARY_SUBOP ? HAC_SUBOP_END - 1 : 0;
    const char *near = hac_suggest(r->name, r, built + hac_library_count(r->library), name_at);
    const char *what = r->kind == HAC_LIBRARY_SUBOP ? "sub-operator" : "OP";
    if (hac_library_find(r->library, r->kind, r->name, 0) != NULL)
        return hac_fail(err, HAC_INVALID, "%s: %s has no version %u; `%s list --json` has them all", r->what,
                        r->name, r->version, r->what);
    return hac_fail(err, HAC_INVALID, "%s: no %s is called %s%s%s%s; `hacctl %s list` has them all", r->what,
                    what, r->name, near != NULL ? " (did you mean " : "", near != NULL ? near : "",
                    near != NULL ? "?)" : "", r->what);
}

static void show_built_in_json(const hac_subop_info *s, hac_text *text)
{
    hac_json_open(text, NULL, '{');
    hac_json_string(text, "name", s->name);
    hac_json_bool(text, "built_in", true);
    hac_json_string(text, "text", s->text);
    hac_json_string(text, "codelets", s->codelets);
    hac_json_string(text, "runs_on", s->kinds);
    hac_json_string(text, "cost", s->unit);
    hac_json_open(text, "arguments", '[');
    for (const hac_subop_argument *a = s->arguments; a->name != NULL; a++) {
        if ((a->flags & HAC_ARGUMENT_MADE) != 0)
            continue;
        hac_json_open(text, NULL, '{');
        hac_json_string(text, "name", a->name);
        hac_json_bool(text, "needed", (a->flags & HAC_ARGUMENT_REQUIRED) != 0);
        hac_json_bool(text, "result", a->kind == HAC_ARGUMENT_RESULT || a->kind == HAC_ARGUMENT_RESULTS);
        hac_json_string(text, "words", a->words);
        hac_json_string(text, "text", a->text);
        hac_json_close(text, '}');
    }
    hac_json_close(text, ']');
    hac_json_string(text, "example", s->example);
    hac_json_close(text, '}');
}

static void show_built_in(const hac_subop_info *s, hac_text *text)
{
    static const hac_text_column columns[] = {{"argument", false}, {"needed", false}, {"what", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    hac_text_addf(text, "%s: %s\n", s->name, s->text);
    if (s->codelets[0] != '\0')
        hac_text_addf(text, "becomes %s; runs on %s; cost counts %s\n", s->codelets, s->kinds, s->unit);
    for (const hac_subop_argument *a = s->arguments; a->name != NULL; a++) {
        if ((a->flags & HAC_ARGUMENT_MADE) != 0)
            continue;
        hac_text_table_add(&table, a->name);
        hac_text_table_add(&table, (a->flags & HAC_ARGUMENT_REQUIRED) != 0 ? "yes" : "");
        hac_text_table_addf(&table, "%s%s%s", a->words != NULL ? a->words : "",
                            a->words != NULL && a->text != NULL ? ": " : "", a->text != NULL ? a->text : "");
    }
    if (hac_text_table_rows(&table) > 0) {
        hac_text_add(text, "\n");
        hac_text_table_write(&table, text);
    }
    hac_text_table_clear(&table);
    hac_text_addf(text, "\n%s\n", s->example);
}

static hac_status show(request *r, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    const hac_subop_info *s =
        r->kind == HAC_LIBRARY_SUBOP && r->version == 0 ? hac_subop_find(r->name) : NULL;
    const hac_library_entry *entry = hac_library_find(r->library, r->kind, r->name, r->version);
    if (s == NULL && entry == NULL)
        return unknown(r, err);
    if (s == NULL && entry->damage != NULL) {
        char advice[HAC_LIBRARY_ADVICE_MAX];
        hac_library_advise(entry, advice);
        return hac_fail(err, HAC_FAILED, "%.300s; %s", entry->damage, advice);
    }
    if (s != NULL && r->cli->json)
        show_built_in_json(s, &text);
    else if (s != NULL)
        show_built_in(s, &text);
    else if (!r->cli->json)
        hac_text_add(&text, entry->text);
    else {
        hac_json_open(&text, NULL, '{');
        hac_json_string(&text, "name", entry->name);
        hac_json_bool(&text, "built_in", false);
        hac_json_unsigned(&text, "version", entry->version);
        json_versions(&text, r, entry->name);
        hac_json_string(&text, "text", entry->about);
        hac_json_string(&text, "definition", entry->text);
        hac_json_close(&text, '}');
    }
    return print(&text, err);
}

/* ---- add, remove ---- */

static hac_status print_version(const request *r, const hac_library_added *added, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    if (!r->cli->json) {
        hac_text_addf(&text, "%s@%u", added->name, added->version);
        return print(&text, err);
    }
    hac_json_open(&text, NULL, '{');
    hac_json_string(&text, "name", added->name);
    hac_json_unsigned(&text, "version", added->version);
    hac_json_bool(&text, "added", added->is_new);
    hac_json_close(&text, '}');
    return print(&text, err);
}

static hac_status add(request *r, const char *file, hac_error *err)
{
    hac_autofree char *text = NULL;
    hac_logic_problems problems = HAC_LOGIC_PROBLEMS_NONE;
    size_t length = 0;
    hac_library_added added = {.version = 0};
    hac_status status = hac_yaml_read_file(file, &text, &length, err);
    if (status == HAC_NOT_FOUND)
        return hac_fail(err, HAC_FAILED, "%s: there is no such file", file);
    if (status != HAC_OK)
        return status;
    status = hac_library_add(r->library, r->kind, file, text, length, &added, &problems, err);
    for (size_t i = 0; status != HAC_OK && i + 1 < problems.n; i++) {
        hac_error one = {HAC_INVALID, ""};
        snprintf(one.message, sizeof one.message, "%s", problems.messages[i]);
        hac_cli_report(&one);
    }
    if (status == HAC_INVALID && problems.n > 0)
        (void)hac_fail(err, HAC_INVALID, "%s", problems.messages[problems.n - 1]);
    hac_logic_problems_clear(&problems);
    if (status != HAC_OK)
        return status;
    if (!added.is_new)
        hac_cli_say(r->cli, "%s@%u has the same definition; nothing was added", added.name, added.version);
    return print_version(r, &added, err);
}

static hac_status remove_it(request *r, hac_error *err)
{
    hac_status status = hac_library_remove(r->library, r->kind, r->name, r->version, err);
    if (status == HAC_NOT_FOUND)
        return unknown(r, err);
    if (status == HAC_OK && r->version == 0)
        hac_cli_note(r->cli, "%s is removed, with all its versions", r->name);
    else if (status == HAC_OK)
        hac_cli_note(r->cli, "%s@%u is removed", r->name, r->version);
    return status;
}

/* ---- the command line ---- */

/* Parses NAME or NAME@VERSION. */
static hac_status parse_name(request *r, const char *word, hac_error *err)
{
    const char *at = strchr(word, '@');
    size_t length = at != NULL ? (size_t)(at - word) : strlen(word);
    if (length == 0 || length >= sizeof r->name ||
        (at != NULL &&
         (at[1] < '1' || at[1] > '9' || strlen(at) > 7 || at[1 + strspn(at + 1, "0123456789")] != '\0')))
        return hac_fail(err, HAC_INVALID, "%s: '%.100s' is not NAME or NAME@VERSION", r->what, word);
    memcpy(r->name, word, length);
    r->name[length] = '\0';
    r->version = at != NULL ? (unsigned)strtoul(at + 1, NULL, 10) : 0;
    return HAC_OK;
}

static hac_status dispatch(request *r, const hac_args *args, hac_error *err)
{
    const char *action = args->words[0], *word = args->n_words > 1 ? args->words[1] : NULL;
    if (strcmp(action, "list") == 0)
        return word == NULL
                   ? list(r, err)
                   : hac_fail(err, HAC_INVALID, "%s list: '%.64s' is one argument too many", r->what, word);
    bool adds = strcmp(action, "add") == 0, shows = strcmp(action, "show") == 0;
    if (!adds && !shows && strcmp(action, "remove") != 0)
        return hac_fail(err, HAC_INVALID, "%s: '%.64s' is not one of list, show, add, remove", r->what,
                        action);
    if (word == NULL)
        return hac_fail(err, HAC_INVALID, "%s %s: which one? Usage: hacctl %s %s %s", r->what, action,
                        r->what, action, adds ? "FILE.yaml" : "NAME[@VERSION]");
    if (adds)
        return add(r, word, err);
    hac_status status = parse_name(r, word, err);
    if (status != HAC_OK)
        return status;
    return shows ? show(r, err) : remove_it(r, err);
}

static hac_status run(hac_cli *cli, const hac_args *args, hac_library_kind kind, const char *what,
                      hac_error *err)
{
    hac_cleanup(hac_library_free_cleanup) hac_library *library = NULL;
    request r = {.cli = cli, .kind = kind, .what = what};
    hac_status status = hac_library_open_own(&library, err);
    if (status != HAC_OK)
        return status;
    r.library = library;
    return dispatch(&r, args, err);
}

hac_status hac_cmd_opsplit_op(hac_cli *cli, const hac_args *args, hac_error *err)
{
    return run(cli, args, HAC_LIBRARY_OP, "opsplit op", err);
}

hac_status hac_cmd_opsplit_subop(hac_cli *cli, const hac_args *args, hac_error *err)
{
    return run(cli, args, HAC_LIBRARY_SUBOP, "opsplit subop", err);
}
