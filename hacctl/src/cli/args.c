/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { LONG = 256 }; /* getopt returns LONG + id for a long option */

typedef struct tables {
    struct option longs[HAC_OPT_COUNT + 1];
    char shorts[3 + 2 * HAC_OPT_COUNT + 1];
} tables;

static void fill_tables(tables *t, hac_option_set set, const char *mode)
{
    size_t n_longs = 0;
    size_t n_shorts = (size_t)snprintf(t->shorts, sizeof t->shorts, "%s:", mode);
    for (size_t i = 0; i < HAC_OPT_COUNT; i++) {
        if (!hac_option_set_has(set, i))
            continue;
        const hac_option *o = hac_option_get((hac_option_id)i);
        int has = o->argument != NULL ? required_argument : no_argument;
        t->longs[n_longs++] = (struct option){o->name, has, NULL, LONG + (int)i};
        if (o->letter != 0) {
            t->shorts[n_shorts++] = o->letter;
            if (o->argument != NULL)
                t->shorts[n_shorts++] = ':';
        }
    }
    t->longs[n_longs] = (struct option){NULL, 0, NULL, 0};
    t->shorts[n_shorts] = '\0';
}

static hac_option_id by_letter(hac_option_set set, int letter)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if (hac_option_set_has(set, i) && hac_option_get((hac_option_id)i)->letter == letter)
            return (hac_option_id)i;
    return HAC_OPT_COUNT;
}

/* Who parses: for messages, and for the names that are known. */
typedef struct context {
    const char *command; /* "sort: ", or "" before the command */
    hac_option_set set;
} context;

static hac_status unknown_long(const context *c, const char *word, hac_error *err)
{
    char name[64];
    const char *text = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    const char *nearest = hac_option_nearest(c->set, name);
    size_t matches = 0;
    for (size_t i = 0; i < HAC_OPT_COUNT && *name != '\0'; i++)
        matches += hac_option_set_has(c->set, i) &&
                   strncmp(name, hac_option_get((hac_option_id)i)->name, strlen(name)) == 0;
    if (matches > 1)
        return hac_fail(err, HAC_INVALID, "%soption --%s is ambiguous; write more of its name", c->command,
                        name);
    if (nearest != NULL)
        return hac_fail(err, HAC_INVALID, "%sunknown option --%s; did you mean --%s?", c->command, name,
                        nearest);
    return hac_fail(err, HAC_INVALID, "%sunknown option --%s; see `hacctl help`", c->command, name);
}

static hac_status bad_option(const context *c, int found, const char *word, hac_error *err)
{
    if (found == ':') {
        hac_option_id id = optopt >= LONG ? (hac_option_id)(optopt - LONG) : by_letter(c->set, optopt);
        const hac_option *o = hac_option_get(id);
        return hac_fail(err, HAC_INVALID, "%soption --%s needs a value: %s", c->command, o->name,
                        o->argument);
    }
    if (optopt >= LONG)
        return hac_fail(err, HAC_INVALID, "%soption --%s takes no value", c->command,
                        hac_option_get((hac_option_id)(optopt - LONG))->name);
    if (optopt != 0)
        return hac_fail(err, HAC_INVALID, "%sunknown option -%c; see `hacctl help`", c->command, optopt);
    return unknown_long(c, word, err);
}

/* "u32 i32 f64" → "u32, i32, f64" */
static void list_choices(const char *choices, char *ret, size_t bytes)
{
    size_t n = 0;
    for (const char *p = choices; *p != '\0' && n + 3 < bytes; p++) {
        if (*p == ' ')
            ret[n++] = ',';
        ret[n++] = *p;
    }
    ret[n] = '\0';
}

enum { REPEATED_MAX = sizeof(((hac_args *)NULL)->inputs) / sizeof(const char *) };
_Static_assert(sizeof(((hac_args *)NULL)->nulls) / sizeof(const char *) == REPEATED_MAX,
               "one bound for both");

/* Notes the value of an option if it may be repeated, else refuses the second one. */
static hac_status store_repeated(hac_args *args, const context *c, hac_option_id id, const char *value,
                                 hac_error *err)
{
    const hac_option *o = hac_option_get(id);
    size_t *n = id == HAC_OPT_INPUT ? &args->n_inputs : id == HAC_OPT_NULL_TEXT ? &args->n_nulls : NULL;
    if (n == NULL && o->argument != NULL && hac_args_has(args, id))
        return hac_fail(err, HAC_INVALID, "%soption --%s is given twice", c->command, o->name);
    if (n == NULL)
        return HAC_OK;
    if (*n == REPEATED_MAX)
        return hac_fail(err, HAC_INVALID, "%sat most %d --%s are possible", c->command, REPEATED_MAX,
                        o->name);
    (id == HAC_OPT_INPUT ? args->inputs : args->nulls)[(*n)++] = value;
    return HAC_OK;
}

static hac_status store(hac_args *args, const context *c, hac_option_id id, const char *value, hac_error *err)
{
    const hac_option *o = hac_option_get(id);
    hac_status status = store_repeated(args, c, id, value, err);
    if (status != HAC_OK)
        return status;
    args->values[id] = value != NULL ? value : "";
    if (o->argument == NULL || value == NULL)
        return HAC_OK;
    /* an expression of blanks would count as none; a delimiter may be a blank */
    bool expression = strncmp(o->argument, "EXPR", 4) == 0 || strcmp(o->argument, "SCHEMA") == 0;
    if (value[expression ? strspn(value, " \t\r\n") : 0] == '\0')
        return hac_fail(err, HAC_INVALID, "%soption --%s needs a value: %s", c->command, o->name,
                        o->argument);
    /* --fold also takes numbers; hac_sort_request_parse reads them */
    if (o->choices != NULL && *o->choices != '<' && id != HAC_OPT_FOLD && hac_option_choice(id, value) < 0) {
        char allowed[128];
        list_choices(o->choices, allowed, sizeof allowed);
        return hac_fail(err, HAC_INVALID, "%s--%s cannot be '%.64s'; allowed: %s", c->command, o->name, value,
                        allowed);
    }
    return HAC_OK;
}

/* Whether the word is SQL that begins with a comment, and no option: an option has no blank before '='. */
static bool is_comment(const char *word)
{
    const char *end = word + strcspn(word, "= \t\r\n");
    return strncmp(word, "--", 2) == 0 && *end != '\0' && *end != '=';
}

static hac_status parse(hac_args *args, int argc, char **argv, const context *c, const char *mode,
                        hac_error *err)
{
    static char stand_in[] = "statement"; /* getopt would take the comment for an option */
    char *statement = NULL;
    for (int i = 1; i < argc && statement == NULL; i++)
        if (is_comment(argv[i])) {
            statement = argv[i];
            argv[i] = stand_in;
        }
    tables t;
    fill_tables(&t, c->set, mode);
    optind = 0; /* GNU getopt: start over */
    opterr = 0;
    for (;;) {
        optopt = 0;
        int found = getopt_long(argc, argv, t.shorts, t.longs, NULL);
        if (found == -1)
            break;
        if (found == '?' || found == ':')
            return bad_option(c, found, argv[optind - 1], err);
        hac_option_id id = found >= LONG ? (hac_option_id)(found - LONG) : by_letter(c->set, found);
        hac_status status = store(args, c, id, optarg == stand_in ? statement : optarg, err);
        if (status != HAC_OK)
            return status;
    }
    for (int i = 1; i < argc; i++)
        if (argv[i] == stand_in)
            argv[i] = statement;
    args->words = argv + optind;
    args->n_words = (size_t)(argc - optind);
    return HAC_OK;
}

hac_status hac_args_parse_front(hac_args *args, int argc, char **argv, hac_option_set set, hac_error *err)
{
    context c = {"", set};
    return parse(args, argc, argv, &c, "+", err);
}

hac_status hac_args_parse(hac_args *args, const char *command, int argc, char **argv, hac_option_set set,
                          hac_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.32s: ", command);
    context c = {name, set};
    return parse(args, argc, argv, &c, "", err);
}

hac_status hac_args_refuse(const hac_args *args, const char *command, hac_option_set set, const char *whose,
                           hac_error *err)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if (hac_option_set_has(set, i) && hac_args_has(args, (hac_option_id)i))
            return hac_fail(err, HAC_INVALID, "%s: --%s is %s", command,
                            hac_option_get((hac_option_id)i)->name, whose);
    return HAC_OK;
}
