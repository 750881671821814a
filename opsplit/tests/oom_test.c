/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of the checker fails once: in logic files, their decomposition, users' definitions and
 * their folder. Allocations of libyaml are not covered. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/test_oom.h"
#include "opsplit/decompose.h"
#include "opsplit/library.h"

#define CORPUS HAC_SOURCE_DIR "/tests/fuzz/corpus/logic/"

static hac_status check(void *context, hac_error *err)
{
    const hac_decompose_options options = {.components = 3};
    hac_logic *logic = NULL;
    hac_logic_problems problems = HAC_LOGIC_PROBLEMS_NONE;
    hac_decomposition *decomposition = NULL;
    hac_status status = hac_logic_read(context, NULL, &logic, &problems, err);
    hac_logic_problems_clear(&problems);
    if (status == HAC_OK)
        status = hac_decompose(logic, &options, &decomposition, err);
    hac_decomposition_free(decomposition);
    hac_logic_free(logic);
    return status;
}

/* Texts report at their end whether they are complete. */
static hac_status show(void *context, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE, json = HAC_TEXT_NONE;
    hac_decomposition_print(context, NULL, NULL, &text);
    hac_decomposition_json(context, NULL, NULL, NULL, &json);
    hac_status status = text.broken || json.broken ? hac_fail_no_memory(err) : HAC_OK;
    hac_text_clear(&text);
    hac_text_clear(&json);
    return status;
}

static void test_logic(void **state)
{
    (void)state;
    static const char *const names[] = {"kmeans", "loops", "pagerank", "tfidf", "logistic"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, CORPUS "%s.yaml", names[i]);
        hac_test_exhaust(check, path, 100);
    }
}

static void test_show(void **state)
{
    (void)state;
    const hac_decompose_options options = {.components = 3};
    hac_logic *logic = NULL;
    hac_decomposition *decomposition = NULL;
    assert_int_equal(hac_logic_read(CORPUS "kmeans.yaml", NULL, &logic, NULL, NULL), HAC_OK);
    assert_int_equal(hac_decompose(logic, &options, &decomposition, NULL), HAC_OK);
    hac_test_exhaust(show, decomposition, 3);
    hac_decomposition_free(decomposition);
    hac_logic_free(logic);
}

/* ---- definitions ---- */

static const char subop[] = "subop: damp\n"
                            "text: PageRank's damping\n"
                            "arguments: {spread: f64, damping: f64, n: u64}\n"
                            "expr: \"(1 - damping) / n + damping * spread\"\n";

static char directory[] = "/tmp/hac-oom-XXXXXX";

static void path_of(char path[static 128])
{
    snprintf(path, 128, "%s/subop/damp@1.yaml", directory);
}

/* A definition is added or not: a failure leaves no file, and no file is incomplete. */
static hac_status add(void *context, hac_error *err)
{
    (void)context;
    hac_library *library = NULL;
    hac_library_added added;
    hac_logic_problems problems = HAC_LOGIC_PROBLEMS_NONE;
    char path[128];
    path_of(path);
    hac_status status = hac_library_open(directory, &library, err);
    if (status == HAC_OK)
        status = hac_library_add(library, HAC_LIBRARY_SUBOP, "damp.yaml", subop, strlen(subop), &added,
                                 &problems, err);
    assert_true(library == NULL || hac_library_count(library) == (status == HAC_OK));
    assert_int_equal(access(path, F_OK), status == HAC_OK ? 0 : -1);
    unlink(path);
    hac_logic_problems_clear(&problems);
    hac_library_free(library);
    return status;
}

static hac_status drop(void *context, hac_error *err)
{
    (void)context;
    hac_library *library = NULL;
    hac_status status = hac_library_open(directory, &library, err);
    if (status == HAC_OK)
        status = hac_library_remove(library, HAC_LIBRARY_SUBOP, "damp", 0, err);
    hac_library_free(library);
    return status;
}

static void write_definition(void)
{
    char path[128];
    path_of(path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(subop, file) >= 0 && fclose(file) == 0);
}

static hac_status drop_again(void *context, hac_error *err)
{
    hac_status status = drop(context, err);
    if (status == HAC_OK)
        write_definition();
    return status;
}

static void test_library(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    hac_test_exhaust(add, NULL, 30);
    write_definition();
    hac_test_exhaust(drop_again, NULL, 5);
    char path[128];
    path_of(path);
    unlink(path);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0); /* nothing else is left there */
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logic),
        cmocka_unit_test(test_show),
        cmocka_unit_test(test_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
