/* SPDX-License-Identifier: Apache-2.0 */
#include "sort_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void counts(void **state)
{
    static const struct {
        const char *text;
        uint64_t items;
    } good[] = {{"0", 0},
                {"1", 1},
                {"16777216", 16777216},
                {"16Mi", 16777216},
                {"2^24", 16777216},
                {"2^0", 1},
                {"3k", 3000},
                {"3K", 3000},
                {"5M", 5000000},
                {"2Gi", 1u << 31},
                {"2^62", UINT64_C(1) << 62},
                {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {"",
                                      "-1",
                                      "1.5",
                                      "x",
                                      "16 Mi",
                                      "3^2",
                                      "2^63",
                                      "2^-1",
                                      "2^ 1",
                                      "1T",
                                      "1e6",
                                      "9223372036854775808",
                                      "99999999999999999999",
                                      "9223372036854775807k",
                                      "+1"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t items = 99;
        assert_int_equal(hac_parse_count(good[i].text, &items, NULL), HAC_OK);
        assert_true(items == good[i].items);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t items = 99;
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_parse_count(bad[i], &items, &err), HAC_INVALID);
        assert_true(items == 99 && err.message[0] != '\0');
    }
}

static void everything(void **state)
{
    hac_args args = {.values = {[HAC_OPT_TYPE] = "f64",
                                [HAC_OPT_DESCENDING] = "",
                                [HAC_OPT_ARGSORT] = "",
                                [HAC_OPT_ALGORITHM] = "bitonic",
                                [HAC_OPT_SCHEME] = "upper",
                                [HAC_OPT_FOLD] = "3,6,10",
                                [HAC_OPT_DEVICES] = "cpu.0,gpu",
                                [HAC_OPT_DETACH] = "",
                                [HAC_OPT_PRIORITY] = "-7",
                                [HAC_OPT_DEADLINE] = "500ms",
                                [HAC_OPT_MEMORY] = "512MiB",
                                [HAC_OPT_DETERMINISM] = "fast"}};
    hac_sort_request request;
    (void)state;
    assert_int_equal(hac_sort_request_parse(&request, "sort", &args, NULL), HAC_OK);
    const hac_sort_options *o = &request.options;
    assert_int_equal(o->size, sizeof *o);
    assert_int_equal(o->type, HAC_TYPE_F64);
    assert_true(o->descending && o->argsort && o->job.detach && o->job.fast);
    assert_int_equal(o->algorithm, HAC_SORT_BITONIC);
    assert_int_equal(o->scheme, HAC_SCHEME_UPPER);
    assert_int_equal(o->fold, HAC_FOLD_STEPS);
    assert_int_equal(o->n_fold_steps, 3);
    assert_int_equal(o->fold_steps[2], 10);
    assert_int_equal(o->job.n_devices, 2);
    assert_string_equal(o->job.devices[0], "cpu.0");
    assert_string_equal(o->job.devices[1], "gpu");
    assert_int_equal(o->job.priority, -7);
    assert_true(o->job.deadline_seconds == 0.5);
    assert_int_equal(o->job.memory_limit, 512 << 20);
    hac_sort_request_clear(&request);
}

static void defaults(void **state)
{
    hac_args args = {.values = {[HAC_OPT_TYPE] = "u32"}};
    hac_sort_request request;
    (void)state;
    assert_int_equal(hac_sort_request_parse(&request, "sort", &args, NULL), HAC_OK);
    hac_sort_options plain = HAC_SORT_OPTIONS_INIT;
    plain.type = HAC_TYPE_U32;
    assert_memory_equal(&request.options, &plain, sizeof plain);
    hac_sort_request_clear(&request);
    args.values[HAC_OPT_FOLD] = "none";
    assert_int_equal(hac_sort_request_parse(&request, "sort", &args, NULL), HAC_OK);
    assert_int_equal(request.options.fold, HAC_FOLD_NONE);
    hac_sort_request_clear(&request);
    args.values[HAC_OPT_DEADLINE] = "30";
    args.values[HAC_OPT_MEMORY] = "1000000";
    assert_int_equal(hac_sort_request_parse(&request, "sort", &args, NULL), HAC_OK);
    assert_true(request.options.job.deadline_seconds == 30);
    assert_int_equal(request.options.job.memory_limit, 1000000);
    hac_sort_request_clear(&request);
}

static void refuses(void **state)
{
    static const struct {
        hac_option_id id;
        const char *value, *said; /* expected in the message */
    } cases[] = {
        {HAC_OPT_FOLD, "3,", "--fold cannot be '3,'"},
        {HAC_OPT_FOLD, "0", "--fold cannot be '0'"},
        {HAC_OPT_FOLD, "3,-6", "--fold"},
        {HAC_OPT_FOLD, "4294967296", "--fold"},
        {HAC_OPT_FOLD, "both", "auto, none, or steps like 3,6"},
        {HAC_OPT_PRIORITY, "101", "-100 to 100"},
        {HAC_OPT_PRIORITY, "high", "-100 to 100"},
        {HAC_OPT_DEADLINE, "-1s", "--deadline"},
        {HAC_OPT_DEADLINE, "0", "--deadline"},
        {HAC_OPT_DEADLINE, "nan", "--deadline"},
        {HAC_OPT_DEADLINE, "soon", "--deadline"},
        {HAC_OPT_MEMORY, "much", "--memory"},
        {HAC_OPT_MEMORY, "0", "--memory"},
        {HAC_OPT_MEMORY, "-5", "--memory"},
        {HAC_OPT_DEVICES, "cpu,,gpu", "a name is empty"},
        {HAC_OPT_DEVICES, ",", "a name is empty"},
        {HAC_OPT_INPUT_FORMAT, "csv", "--input-format is for whole rows"},
        {HAC_OPT_SCHEMA, "a:i8", "--schema is for whole rows"},
        {HAC_OPT_CODEC, "none", "--codec is for whole rows"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_args args = {.values = {[HAC_OPT_TYPE] = "u32"}};
        hac_sort_request request;
        hac_error err = HAC_ERROR_NONE;
        args.values[cases[i].id] = cases[i].value;
        assert_int_equal(hac_sort_request_parse(&request, "sort", &args, &err), HAC_INVALID);
        if (strstr(err.message, cases[i].said) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, cases[i].said);
        hac_sort_request_clear(&request);
    }
}

static void lists_have_an_end(void **state)
{
    char list[1024] = "1";
    hac_args args = {.values = {[HAC_OPT_TYPE] = "u32", [HAC_OPT_FOLD] = list}};
    hac_sort_request request;
    (void)state;
    for (int i = 2; i <= HAC_FOLD_STEPS_MAX; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ",%d", i);
    assert_int_equal(hac_sort_request_parse(&request, "sort", &args, NULL), HAC_OK);
    assert_int_equal(request.options.n_fold_steps, HAC_FOLD_STEPS_MAX);
    hac_sort_request_clear(&request);
    snprintf(list + strlen(list), sizeof list - strlen(list), ",65");
    assert_int_equal(hac_sort_request_parse(&request, "sort", &args, NULL), HAC_INVALID);
    hac_sort_request_clear(&request);
}

static void inputs(void **state)
{
    char path[] = "/tmp/hacctl-input-XXXXXX";
    hac_error err = HAC_ERROR_NONE;
    hac_sort_source input;
    (void)state;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "0123456789abcdef", 16), 16);
    assert_int_equal(hac_sort_source_open(path, &(hac_sort_options){.type = HAC_TYPE_U64}, &input, NULL),
                     HAC_OK);
    assert_true(input.sized && input.offset == 0 && input.items == 2);
    close(input.fd);
    assert_int_equal(ftruncate(fd, 10), 0);
    assert_int_equal(hac_sort_source_open(path, &(hac_sort_options){.type = HAC_TYPE_U32}, &input, &err),
                     HAC_FAILED);
    assert_non_null(strstr(err.message, "10 bytes are not a whole number of u32 items of 4 bytes"));
    assert_int_equal(hac_sort_source_open("/tmp", &(hac_sort_options){.type = HAC_TYPE_U32}, &input, &err),
                     HAC_FAILED);
    assert_string_equal(err.message, "/tmp: is a directory");
    assert_int_equal(
        hac_sort_source_open("/nonexistent", &(hac_sort_options){.type = HAC_TYPE_U32}, &input, &err),
        HAC_FAILED);
    assert_string_equal(err.message, "/nonexistent: No such file or directory");
    assert_int_equal(
        hac_sort_source_open("/dev/null", &(hac_sort_options){.type = HAC_TYPE_U32}, &input, NULL), HAC_OK);
    assert_false(input.sized);
    close(input.fd);
    /* part of standard input was read before */
    int saved = dup(STDIN_FILENO);
    assert_int_equal(lseek(fd, 2, SEEK_SET), 2);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(hac_sort_source_open("-", &(hac_sort_options){.type = HAC_TYPE_U32}, &input, NULL),
                     HAC_OK);
    assert_true(input.sized && input.offset == 2 && input.items == 2);
    assert_string_equal(input.name, "standard input");
    close(input.fd);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),  cmocka_unit_test(everything),        cmocka_unit_test(defaults),
        cmocka_unit_test(refuses), cmocka_unit_test(lists_have_an_end), cmocka_unit_test(inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
