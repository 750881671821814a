/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the end of handles and exported columns: from several threads, in a forked child, and after
 * hac_client_free. The fake daemon counts the memory that it has lent. */
#include "fake_daemon.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static fake_daemon *the_daemon;
static hac_client *client;

static int start(void **state)
{
    return fake_setup(state, NULL, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

enum { KEYS = 50000, FEW_KEYS = 10 }; /* the result of KEYS does not fit into a message */

/* A sort of n, n - 1 … 1 that is done. */
static hac_job *sort_keys(hac_client *with, uint32_t n)
{
    uint32_t *keys = malloc(n * sizeof(*keys));
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_job *job = NULL;
    assert_non_null(keys);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = n - i;
    options.type = HAC_TYPE_U32;
    assert_int_equal(hac_sort_memory(with, keys, n, &options, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    free(keys);
    return job;
}

static hac_job *sort_with(hac_client *with)
{
    return sort_keys(with, KEYS);
}

static struct ArrowArray export(hac_job *job)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    assert_int_equal(hac_job_export_arrow(job, &schema, &array, NULL), HAC_OK);
    schema.release(&schema);
    return array;
}

static void assert_sorted(const struct ArrowArray *array)
{
    const uint32_t *values = array->buffers[1];
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(values[i], i + 1);
}

/* hacd takes messages that nobody waits for when it comes to them: within 10 s. */
static void assert_in_use(unsigned expected)
{
    for (int i = 0; i < 10000 && fake_in_use(the_daemon) != expected; i++)
        usleep(1000);
    assert_int_equal(fake_in_use(the_daemon), expected);
}

static void assert_child_succeeds(pid_t child)
{
    int status = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- forked children ---- */

/* What a child does with what it has inherited. `array` is still readable afterwards in the parent. */
static int free_inherited(hac_client *with, hac_job *job, struct ArrowArray *array)
{
    hac_error err = HAC_ERROR_NONE;
    hac_buffer *buffer = NULL;
    if (((const uint32_t *)array->buffers[1])[1] != 2)
        return 1;
    if (with != NULL && hac_buffer_alloc(with, 1, &buffer, &err) != HAC_INVALID)
        return 2;
    if (with != NULL && strstr(err.message, "fork") == NULL)
        return 3;
    array->release(array);
    hac_job_free(job);
    hac_client_free(with);
    return 0;
}

static void test_forked_child(void **state)
{
    (void)state;
    hac_job *job = sort_with(client);
    struct ArrowArray array = export(job);
    hac_buffer *buffer = NULL;
    assert_int_equal(hac_buffer_alloc(client, 100, &buffer, NULL), HAC_OK);
    unsigned in_use = fake_in_use(the_daemon);
    pid_t child = fork();
    if (child == 0) {
        hac_buffer_free(buffer);
        _exit(free_inherited(client, job, &array));
    }
    assert_child_succeeds(child);
    assert_int_equal(hac_client_dispatch(client, NULL), HAC_OK);
    hac_job_free(sort_with(client));
    assert_in_use(in_use);
    assert_sorted(&array);
    hac_buffer_free(buffer);
    hac_job_free(job);
    array.release(&array);
    assert_int_equal(hac_client_dispatch(client, NULL), HAC_OK);
    assert_in_use(0);
}

/* The child has the only client and columns that are left of it. */
static void test_forked_after_free(void **state)
{
    (void)state;
    hac_client *first = fake_connect(the_daemon);
    hac_job *job = sort_with(first);
    struct ArrowArray array = export(job);
    hac_job_free(job);
    hac_client_free(first);
    pid_t child = fork();
    if (child == 0)
        _exit(free_inherited(NULL, NULL, &array));
    assert_child_succeeds(child);
    hac_job_free(sort_with(client)); /* takes the memory if hacd has it */
    assert_in_use(1);
    assert_sorted(&array);
    array.release(&array); /* hacd hears of this only if the child has not shut the connection down */
    assert_in_use(0);
}

/* Without columns, a child frees all that it has of a client. */
static void test_forked_without_columns(void **state)
{
    (void)state;
    hac_job *job = sort_with(client);
    pid_t child = fork();
    if (child == 0) {
        int before = (int)hac_test_open_descriptors();
        hac_client_free(client);
        hac_job_free(job);
        _exit((int)hac_test_open_descriptors() == before - 1 ? 0 : 1);
    }
    assert_child_succeeds(child);
    hac_job_free(job);
    hac_job_free(sort_with(client));
}

/* ---- after hac_client_free ---- */

/* Memory returns to the pool with each array, not with the last one. */
static void test_memory_of_a_freed_client(void **state)
{
    (void)state;
    hac_client *first = fake_connect(the_daemon);
    hac_job *jobs[] = {sort_with(first), sort_with(first), sort_with(first)};
    struct ArrowArray a = export(jobs[0]), b = export(jobs[1]);
    hac_job_free(jobs[0]);
    hac_job_free(jobs[1]);
    assert_in_use(3);
    hac_client_free(first);
    assert_int_equal(fake_in_use(the_daemon), 3);
    hac_job_free(jobs[2]);
    assert_in_use(2);
    a.release(&a);
    assert_in_use(1);
    assert_sorted(&b);
    b.release(&b);
    assert_in_use(0);
}

static atomic_bool go;

static void *release_array(void *context)
{
    struct ArrowArray *array = context;
    atomic_store(&go, true);
    array->release(array);
    return NULL;
}

/* One thread frees the jobs of a freed client while another one releases the last array. */
static void test_threads_after_free(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        hac_client *first = fake_connect(the_daemon);
        hac_job *jobs[3];
        hac_buffer *buffer = NULL;
        for (int i = 0; i < 3; i++)
            jobs[i] = sort_keys(first, FEW_KEYS);
        assert_int_equal(hac_buffer_alloc(first, 100, &buffer, NULL), HAC_OK);
        struct ArrowArray array = export(jobs[0]);
        hac_client_free(first);
        pthread_t thread;
        atomic_store(&go, false);
        assert_int_equal(pthread_create(&thread, NULL, release_array, &array), 0);
        while (!atomic_load(&go))
            sched_yield();
        for (int i = 0; i < 3; i++)
            hac_job_free(jobs[i]);
        hac_buffer_free(buffer);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_forked_child),           TEST(test_forked_after_free),
        TEST(test_forked_without_columns), TEST(test_memory_of_a_freed_client),
        TEST(test_threads_after_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
