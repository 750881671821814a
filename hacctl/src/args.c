/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { LONG = 256 }; /* getopt's values of long options begin here: options[value - LONG] */

typedef struct tables {
    struct option longs[HAC_OPT_COUNT + 1];
    char shorts[3 + 2 * HAC_OPT_COUNT + 1];
} tables;

static void fill_tables(tables *t, uint64_t set, const char *mode)
{
    size_t n_longs = 0;
    size_t n_shorts = (size_t)snprintf(t->shorts, sizeof t->shorts, "%s:", mode);
    for (size_t i = 0; i < HAC_OPT_COUNT; i++) {
        if ((set & HAC_OPT_BIT(i)) == 0)
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

static hac_option_id by_letter(uint64_t set, int letter)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if ((set & HAC_OPT_BIT(i)) != 0 && hac_option_get((hac_option_id)i)->letter == letter)
            return (hac_option_id)i;
    return HAC_OPT_COUNT;
}

/* "sort: ", or "" before the command. */
typedef struct context {
    const char *command;
    uint64_t set;
} context;

static hac_status unknown_long(const context *c, const char *word, hac_error *err)
{
    char name[64];
    const char *text = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    const char *nearest = hac_option_nearest(c->set, name);
    size_t matches = 0;
    for (size_t i = 0; i < HAC_OPT_COUNT && *name != '\0'; i++)
        matches += (c->set & HAC_OPT_BIT(i)) != 0 &&
                   strncmp(name, hac_option_get((hac_option_id)i)->name, strlen(name)) == 0;
    if (matches > 1)
        return hac_fail(err, HAC_INVALID, "%soption --%s is short for several; write more of it", c->command,
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

static hac_status store(hac_args *args, const context *c, hac_option_id id, const char *value, hac_error *err)
{
    const hac_option *o = hac_option_get(id);
    size_t most = sizeof args->inputs / sizeof *args->inputs;
    if (id == HAC_OPT_INPUT && args->n_inputs == most)
        return hac_fail(err, HAC_INVALID, "%sat most %zu --%s are possible", c->command, most, o->name);
    if (id == HAC_OPT_INPUT)
        args->inputs[args->n_inputs++] = value;
    if (o->argument != NULL && hac_args_has(args, id) && id != HAC_OPT_INPUT)
        return hac_fail(err, HAC_INVALID, "%soption --%s is given twice", c->command, o->name);
    args->values[id] = value != NULL ? value : "";
    if (o->argument == NULL || value == NULL)
        return HAC_OK;
    /* of blanks only, an expression would count as none; a delimiter may be one */
    bool expression = strncmp(o->argument, "EXPR", 4) == 0 || strcmp(o->argument, "SCHEMA") == 0;
    if (value[expression ? strspn(value, " \t\r\n") : 0] == '\0')
        return hac_fail(err, HAC_INVALID, "%soption --%s needs a value: %s", c->command, o->name,
                        o->argument);
    /* --fold takes numbers as well; hac_sort_request_parse reads them */
    if (o->choices != NULL && *o->choices != '<' && id != HAC_OPT_FOLD && hac_option_choice(id, value) < 0) {
        char allowed[128];
        list_choices(o->choices, allowed, sizeof allowed);
        return hac_fail(err, HAC_INVALID, "%s--%s cannot be '%.64s'; allowed: %s", c->command, o->name, value,
                        allowed);
    }
    return HAC_OK;
}

static hac_status parse(hac_args *args, int argc, char **argv, const context *c, const char *mode,
                        hac_error *err)
{
    tables t;
    fill_tables(&t, c->set, mode);
    optind = 0; /* GNU: begin anew */
    opterr = 0;
    for (;;) {
        optopt = 0;
        int found = getopt_long(argc, argv, t.shorts, t.longs, NULL);
        if (found == -1)
            break;
        if (found == '?' || found == ':')
            return bad_option(c, found, argv[optind - 1], err);
        hac_option_id id = found >= LONG ? (hac_option_id)(found - LONG) : by_letter(c->set, found);
        hac_status status = store(args, c, id, optarg, err);
        if (status != HAC_OK)
            return status;
    }
    args->words = argv + optind;
    args->n_words = (size_t)(argc - optind);
    return HAC_OK;
}

hac_status hac_args_parse_front(hac_args *args, int argc, char **argv, uint64_t set, hac_error *err)
{
    context c = {"", set};
    return parse(args, argc, argv, &c, "+", err);
}

hac_status hac_args_parse(hac_args *args, const char *command, int argc, char **argv, uint64_t set,
                          hac_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.32s: ", command);
    context c = {name, set};
    return parse(args, argc, argv, &c, "", err);
}

hac_status hac_args_refuse(const hac_args *args, const char *command, uint64_t set, const char *whose,
                           hac_error *err)
{
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if ((set & HAC_OPT_BIT(i)) != 0 && hac_args_has(args, (hac_option_id)i))
            return hac_fail(err, HAC_INVALID, "%s: --%s is %s", command,
                            hac_option_get((hac_option_id)i)->name, whose);
    return HAC_OK;
}
