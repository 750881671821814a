/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 32 };

/* Parses "sort a --b c", cut at blanks, into *args, which points into `line`. */
static hac_status parse(hac_args *args, char *line, hac_error *err)
{
    static char *argv[WORDS + 1];
    int argc = 0;
    for (char *word = strtok(line, " "); word != NULL && argc < WORDS; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    argv[argc] = NULL;
    *args = (hac_args){.n_words = 0};
    return hac_args_parse(args, argv[0], argc, argv, hac_options_for(HAC_FOR_SORT), err);
}

static void options_and_words_mix(void **state)
{
    char line[] = "sort --type u32 in.bin -o out.bin --descending --fold=3,6 second";
    hac_error err = HAC_ERROR_NONE;
    hac_args args;
    (void)state;
    assert_int_equal(parse(&args, line, &err), HAC_OK);
    assert_string_equal(args.values[HAC_OPT_TYPE], "u32");
    assert_string_equal(args.values[HAC_OPT_OUTPUT], "out.bin");
    assert_string_equal(args.values[HAC_OPT_FOLD], "3,6");
    assert_true(hac_args_has(&args, HAC_OPT_DESCENDING));
    assert_false(hac_args_has(&args, HAC_OPT_ARGSORT));
    assert_int_equal(args.n_words, 2);
    assert_string_equal(args.words[0], "in.bin");
    assert_string_equal(args.words[1], "second");
}

static void dashes(void **state)
{
    char standard[] = "sort - --type u32", after[] = "sort --type u32 -- --type";
    hac_args args;
    (void)state;
    assert_int_equal(parse(&args, standard, NULL), HAC_OK);
    assert_int_equal(args.n_words, 1);
    assert_string_equal(args.words[0], "-");
    assert_int_equal(parse(&args, after, NULL), HAC_OK);
    assert_int_equal(args.n_words, 1);
    assert_string_equal(args.words[0], "--type");
}

static void values_of_all_kinds(void **state)
{
    char line[] = "sort --type f64 -oy --priority -5 --quiet -q";
    hac_args args;
    (void)state;
    assert_int_equal(parse(&args, line, NULL), HAC_OK);
    assert_string_equal(args.values[HAC_OPT_TYPE], "f64");
    assert_string_equal(args.values[HAC_OPT_OUTPUT], "y");
    assert_string_equal(args.values[HAC_OPT_PRIORITY], "-5");
}

static void repeats(void **state)
{
    hac_args args;
    (void)state;
    char line[] = "mapreduce a.csv --null NA --null=NULL,-";
    assert_int_equal(parse(&args, line, NULL), HAC_OK);
    assert_int_equal(args.n_nulls, 2);
    assert_string_equal(args.nulls[0], "NA");
    assert_string_equal(args.nulls[1], "NULL,-");
}

static void refuses(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"sort --nonsense", "sort: unknown option --nonsense; see `hacctl help`"},
        {"sort --desending", "sort: unknown option --desending; did you mean --descending?"},
        {"sort a b --desending=1 c", "sort: unknown option --desending; did you mean --descending?"},
        {"sort --de u32", "sort: option --de is ambiguous; write more of its name"},
        {"sort -x", "sort: unknown option -x; see `hacctl help`"},
        {"sort -qx", "sort: unknown option -x; see `hacctl help`"},
        {"sort --type", "sort: option --type needs a value: TYPE"},
        {"sort -o", "sort: option --output needs a value: OUT"},
        {"sort -o ''", "sort: option --output needs a value: OUT"},
        {"sort --quiet=yes", "sort: option --quiet takes no value"},
        {"sort --type u16", "sort: --type cannot be 'u16'; allowed: u32, i32, f32, u64, i64, f64"},
        {"sort --type u3", "sort: --type cannot be 'u3'; allowed: u32, i32, f32, u64, i64, f64"},
        {"sort --scheme half",
         "sort: --scheme cannot be 'half'; allowed: auto, proportional, lower, upper, none"},
        {"sort --type u32 a --type u32", "sort: option --type is given twice"},
        {"sort -o x --output y", "sort: option --output is given twice"},
        {"sort --items 3", "sort: unknown option --items; see `hacctl help`"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[128];
        hac_error err = HAC_ERROR_NONE;
        hac_args args;
        snprintf(line, sizeof line, "%s", cases[i].line);
        assert_int_equal(parse(&args, line, &err), HAC_INVALID);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void front_ends_at_the_command(void **state)
{
    char program[] = "hacctl", json[] = "--json", command[] = "sort", quiet[] = "--quiet", type[] = "--type";
    char *argv[] = {program, json, command, quiet, type, NULL};
    hac_args args = {.n_words = 0};
    (void)state;
    assert_int_equal(hac_args_parse_front(&args, 5, argv, hac_options_in(HAC_SECTION_GLOBAL), NULL), HAC_OK);
    assert_true(hac_args_has(&args, HAC_OPT_JSON));
    assert_false(hac_args_has(&args, HAC_OPT_QUIET));
    assert_int_equal(args.n_words, 3);
    assert_string_equal(args.words[0], "sort");
}

static void comments_are_words(void **state)
{
    static const struct {
        const char *word; /* what getopt might take for an option */
        bool is_word;
    } cases[] = {
        {"-- all rows\nselect 1", true},
        {"--all rows = 1\nselect 1", true},
        {"--\nselect 1", true},
        {"--x\nselect 1", true},
        {"--scheme half\nselect 1", true},
        {"--nonsense=a b", false},
        {"--nonsense", false},
        {"--quiet", false},
        {"--scheme=half\nof it", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char program[] = "sort", type[] = "--type", kind[] = "u32", key[] = "--key", word[64];
        char *argv[] = {program, type, kind, word, key, word, NULL};
        hac_args args = {.n_words = 0};
        snprintf(word, sizeof word, "%s", cases[i].word);
        hac_status status = hac_args_parse(&args, "sort", 6, argv, hac_options_for(HAC_FOR_SORT), NULL);
        if (!cases[i].is_word) {
            if (status == HAC_OK && args.n_words != 0)
                fail_msg("%zu", i);
            continue;
        }
        assert_int_equal(status, HAC_OK);
        assert_int_equal(args.n_words, 1);
        assert_string_equal(args.words[0], word);
        assert_string_equal(args.values[HAC_OPT_KEY], word);
        assert_string_equal(args.values[HAC_OPT_TYPE], "u32");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_words_mix),
        cmocka_unit_test(dashes),
        cmocka_unit_test(values_of_all_kinds),
        cmocka_unit_test(repeats),
        cmocka_unit_test(refuses),
        cmocka_unit_test(front_ends_at_the_command),
        cmocka_unit_test(comments_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
