/* SPDX-License-Identifier: Apache-2.0 */
#include "model_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/test_support.h"
#include "state.h"

typedef struct fixture {
    hac_server *server;
    char folder[64], models[80], blocker[80];
    int log[2], before; /* a pipe in place of standard error */
} fixture;

static fixture f;

static int set_up(void **state)
{
    (void)state;
    strcpy(f.folder, "/tmp/hac-models-XXXXXX");
    f.server = calloc(1, sizeof *f.server);
    if (f.server == NULL || mkdtemp(f.folder) == NULL || pipe2(f.log, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    snprintf(f.models, sizeof f.models, "%s/models", f.folder);
    snprintf(f.blocker, sizeof f.blocker, "%s/models.new", f.folder);
    strcpy(f.server->options.state_directory, f.folder);
    return uv_loop_init(&f.server->loop) != 0 || hac_model_set_new(&f.server->models, NULL) != HAC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    uv_run(&f.server->loop, UV_RUN_DEFAULT);
    hac_model_set_free(f.server->models);
    int r = uv_loop_close(&f.server->loop);
    free(f.server);
    close(f.log[0]);
    close(f.log[1]);
    unlink(f.models);
    return r != 0 || rmdir(f.folder) != 0;
}

static void learn(double seconds)
{
    hac_model_record(f.server->models, "device", "radix.leaf", HAC_TYPE_U32, 1e6, seconds, false);
}

/* Saves as the loop's timer does. Returns what was logged meanwhile. */
static const char *save(void)
{
    static char text[1024];
    int before = dup(STDERR_FILENO);
    assert_true(dup2(f.log[1], STDERR_FILENO) >= 0);
    hac_model_store_write(f.server);
    uv_run(&f.server->loop, UV_RUN_DEFAULT);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    ssize_t n = read(f.log[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static bool saved(void)
{
    struct stat info;
    return stat(f.models, &info) == 0 && info.st_size > 0;
}

static void test_only_what_was_learnt(void **state)
{
    (void)state;
    save();
    assert_false(saved());
    learn(1e-3);
    assert_string_equal(save(), "");
    assert_true(saved());
    assert_int_equal(unlink(f.models), 0);
    save();
    assert_false(saved());
}

static void test_a_failed_write_is_tried_again(void **state)
{
    (void)state;
    hac_log_init("test", HAC_LOG_INFO);
    learn(1e-3);
    assert_int_equal(mkdir(f.blocker, 0700), 0);
    assert_non_null(strstr(save(), "cannot write")); /* once */
    assert_string_equal(save(), "");
    assert_false(saved());
    assert_int_equal(rmdir(f.blocker), 0);
    assert_string_equal(save(), ""); /* nothing new was learnt */
    assert_true(saved());
}

/* What the next hacd finds. */
static void test_read_back(void **state)
{
    (void)state;
    learn(1e-3);
    save();
    hac_model_set_free(f.server->models);
    assert_int_equal(hac_model_set_new(&f.server->models, NULL), HAC_OK);
    hac_model_store_read(f.server);
    hac_prediction p = hac_model_predict(f.server->models, "device", "radix.leaf", HAC_TYPE_U32, 1e6, false);
    assert_int_equal(p.samples, 1);
    assert_true(p.seconds > 0.9e-3 && p.seconds < 1.1e-3);
    assert_false(hac_model_set_dirty(f.server->models));
}

/* A file of another version, or that is no models file, is reported and not changed. */
static void test_not_ours(void **state)
{
    (void)state;
    FILE *file = fopen(f.models, "we");
    assert_non_null(file);
    fputs("something else\n", file);
    fclose(file);
    hac_model_store_read(f.server);
    assert_int_equal(
        hac_model_predict(f.server->models, "device", "radix.leaf", HAC_TYPE_U32, 1e6, false).samples, 0);
}

static void test_the_last_save(void **state)
{
    (void)state;
    learn(1e-3);
    assert_int_equal(mkdir(f.blocker, 0700), 0);
    save();
    assert_int_equal(rmdir(f.blocker), 0);
    hac_model_store_write_now(f.server);
    assert_true(saved());
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_only_what_was_learnt),
        TEST(test_a_failed_write_is_tried_again),
        TEST(test_the_last_save),
        TEST(test_read_back),
        TEST(test_not_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
