/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that would overwrite each other, or an input, are refused before a job begins. */
#include "job_output.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], in[] = "in", other[] = "other", null[] = "/dev/null", nowhere[] = "not there";

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/hacctl-deliver-XXXXXX");
    if (mkdtemp(folder) == NULL || chdir(folder) < 0)
        return -1;
    FILE *file = fopen("in", "we"), *second = fopen("other", "we");
    return file == NULL || second == NULL || fclose(file) != 0 || fclose(second) != 0 ||
           link("in", "hard") < 0 || symlink("in", "soft") < 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"in", "other", "hard", "soft"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (unlink(names[i]) < 0)
            return -1;
    return chdir("/") < 0 || rmdir(folder) < 0;
}

/* Checks the message; NULL: the outputs are allowed. */
static void check(const hac_args *args, const char *says)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_job_output_check(args, true, &err);
    if (status != (says == NULL ? HAC_OK : HAC_INVALID) || (says != NULL && strcmp(err.message, says) != 0))
        fail_msg("%d: %s\nand not: %s", status, err.message, says != NULL ? says : "no error");
}

static void inputs_are_kept(void **state)
{
    static const hac_option_id beside[] = {HAC_OPT_RECEIPT, HAC_OPT_TRACE};
    char *words[] = {other, in};
    char expected[200];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static const char *const names[] = {"in", "./in", "hard", "soft"};
        hac_args args = {.words = words, .n_words = 2};
        for (size_t k = 0; k < 4; k++) {
            args.values[beside[i]] = names[k];
            snprintf(expected, sizeof expected, "--%s names the input in, which it would overwrite",
                     i == 0 ? "receipt" : "trace");
            check(&args, expected);
        }
        args.values[beside[i]] = "new";
        check(&args, NULL);
        args.values[beside[i]] = "/dev/null";
        check(&args, NULL);
        args.words[1] = null;
        check(&args, NULL); /* only regular files are overwritten */
        args.words[1] = nowhere;
        args.values[beside[i]] = "in";
        check(&args, NULL); /* the input is reported later */
        args.words[1] = in;
        args.values[beside[i]] = NULL;
        args.values[HAC_OPT_OUTPUT] = "in"; /* sort's -o may name IN */
        check(&args, NULL);
    }
}

/* Inputs are words and values of options: `opsplit run --input edges=in`, `matrix-multiply --with in`,
 * `k-means --centroids in`. */
static void inputs_of_options_are_kept(void **state)
{
    char *words[] = {other};
    (void)state;
    hac_args args = {.words = words, .n_words = 1, .inputs = {"a=other", "edges=in"}, .n_inputs = 2};
    args.values[HAC_OPT_RECEIPT] = "soft";
    check(&args, "--receipt names the input in, which it would overwrite");
    args.inputs[1] = "edges=not there";
    check(&args, NULL);
    args.inputs[1] = "in"; /* not NAME=FILE, which is refused elsewhere */
    check(&args, NULL);
    args.n_inputs = 0;
    args.values[HAC_OPT_WITH] = "in";
    check(&args, "--receipt names the input in, which it would overwrite");
    args.values[HAC_OPT_WITH] = NULL;
    args.values[HAC_OPT_CENTROIDS] = "./in";
    check(&args, "--receipt names the input ./in, which it would overwrite");
}

static void outputs_differ(void **state)
{
    (void)state;
    hac_args args = {.n_words = 0};
    args.values[HAC_OPT_OUTPUT] = args.values[HAC_OPT_RECEIPT] = "out";
    check(&args, "--output and --receipt name the same file, out");
    args.values[HAC_OPT_RECEIPT] = NULL;
    args.values[HAC_OPT_TRACE] = "out";
    check(&args, "--output and --trace name the same file, out");
    args.values[HAC_OPT_OUTPUT] = NULL;
    args.values[HAC_OPT_RECEIPT] = "out";
    check(&args, "--receipt and --trace name the same file, out");
    args.values[HAC_OPT_TRACE] = "out2";
    check(&args, NULL);
    args.values[HAC_OPT_TRACE] = args.values[HAC_OPT_RECEIPT] = "/dev/null";
    check(&args, NULL);
    args.values[HAC_OPT_TRACE] = args.values[HAC_OPT_RECEIPT] = "/dev/stdout";
    args.values[HAC_OPT_OUTPUT] = "out3";
    check(&args, "--receipt and --trace would both go to standard output; name another file for one of them");
}

/* Without --output the result goes to standard output, which has several names. */
static void standard_output_is_one_output(void **state)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hac_args args = {.n_words = 0};
        hac_error err = HAC_ERROR_NONE;
        args.values[HAC_OPT_TRACE] = names[i];
        check(&args,
              "the result and --trace would both go to standard output; name another file for one of them");
        assert_int_equal(hac_job_output_check(&args, false, &err), HAC_OK); /* without a result */
        args.values[HAC_OPT_OUTPUT] = "out";
        check(&args, NULL);
        args.values[HAC_OPT_OUTPUT] = names[(i + 1) % 4];
        check(&args,
              "the result and --trace would both go to standard output; name another file for one of them");
    }
}

/* `hacctl sort in … >other --receipt other`: the receipt would replace the result. */
static void redirected_output_is_a_file(void **state)
{
    hac_args args = {.n_words = 0};
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    args.values[HAC_OPT_RECEIPT] = "other";
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), file = open("other", O_WRONLY | O_CLOEXEC);
    assert_true(kept >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    hac_status status = hac_job_output_check(&args, true, &err);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    close(file);
    assert_int_equal(status, HAC_INVALID);
    assert_string_equal(err.message,
                        "the result and --receipt would both go to other; name another file for one of them");
}

/* A file may have several names, whether it exists already or not. */
static void outputs_differ_by_more_than_their_names(void **state)
{
    static const struct {
        const char *output, *receipt;
        bool same;
    } cases[] = {
        {"out", "./out", true}, {"./out", "out", true},     {"out", ".//out", true},
        {"in", "hard", true},   {"in", "soft", true},       {"out", "out2", false},
        {"in", "other", false}, {"none/out", "out", false}, {"none/a", "none/a/", false},
    };
    char whole[200], expected[300];
    (void)state;
    snprintf(whole, sizeof whole, "%s/out", folder);
    for (size_t i = 0; i <= sizeof cases / sizeof *cases; i++) {
        hac_args args = {.n_words = 0};
        bool last = i == sizeof cases / sizeof *cases;
        args.values[HAC_OPT_OUTPUT] = last ? "out" : cases[i].output;
        args.values[HAC_OPT_RECEIPT] = last ? whole : cases[i].receipt;
        snprintf(expected, sizeof expected, "--output and --receipt name the same file, %s",
                 args.values[HAC_OPT_RECEIPT]);
        check(&args, last || cases[i].same ? expected : NULL);
    }
}

static void detached_jobs_deliver_later(void **state)
{
    (void)state;
    hac_args args = {.n_words = 0};
    args.values[HAC_OPT_DETACH] = "";
    check(&args, NULL);
    args.values[HAC_OPT_OUTPUT] = "out";
    check(&args, "--detach does not wait for what --output writes; use `hacctl result JOB -o OUT` later");
    args.values[HAC_OPT_OUTPUT] = NULL;
    args.values[HAC_OPT_RECEIPT] = "out";
    check(&args,
          "--detach does not wait for what --receipt writes; use `hacctl show JOB --receipt FILE` later");
    args.values[HAC_OPT_RECEIPT] = NULL;
    args.values[HAC_OPT_TRACE] = "out";
    check(&args, "--detach does not wait for what --trace writes; use `hacctl trace JOB -o FILE` later");
}

/* A detached command has printed the job's id on standard output. */
static void the_job_id_stands_alone(void **state)
{
    static const hac_option_id ids[] = {HAC_OPT_OUTPUT, HAC_OPT_RECEIPT, HAC_OPT_TRACE};
    static const char *const what[] = {"the result", "--receipt", "--trace"};
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1"};
    char expected[200];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        hac_args args = {.n_words = 0};
        hac_error err = HAC_ERROR_NONE;
        for (size_t k = 0; k < 3; k++) {
            args.values[ids[i]] = names[k];
            snprintf(
                expected, sizeof expected,
                "--detach prints the job's id on standard output, where %s would go, too; name a file for it",
                what[i]);
            assert_int_equal(hac_job_output_check_detached(&args, true, &err), HAC_INVALID);
            assert_string_equal(err.message, expected);
        }
        /* without a result, --output is a folder of any name */
        assert_int_equal(hac_job_output_check_detached(&args, false, &err), i == 0 ? HAC_OK : HAC_INVALID);
        args.values[ids[i]] = "out";
        assert_int_equal(hac_job_output_check_detached(&args, true, &err), HAC_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_kept),
        cmocka_unit_test(inputs_of_options_are_kept),
        cmocka_unit_test(outputs_differ),
        cmocka_unit_test(outputs_differ_by_more_than_their_names),
        cmocka_unit_test(standard_output_is_one_output),
        cmocka_unit_test(redirected_output_is_a_file),
        cmocka_unit_test(detached_jobs_deliver_later),
        cmocka_unit_test(the_job_id_stands_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
