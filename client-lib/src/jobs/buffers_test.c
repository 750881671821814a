/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the mapping cache alone, and buffers with a scripted daemon. */
#include "fake_daemon.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memfd.h"
#include "buffers.h"
#include "connection/connection.h"

#define FDS(test) cmocka_unit_test_setup_teardown(test, hac_test_fds_setup, hac_test_fds_teardown)

/* Handles a Buffer message with the descriptor `fd`, and takes ownership of it. -1: the client has the memfd.
 * */
static hac_status take(hac_mappings *mappings, uint32_t id, uint64_t bytes, int fd, bool lend,
                       hac_mapping **ret)
{
    Hac__Client__Buffer buffer = HAC__CLIENT__BUFFER__INIT;
    buffer.buffer = id;
    buffer.bytes = bytes;
    buffer.attached = fd >= 0;
    hac_frame frame = {.fds = {fd}, .n_fds = fd >= 0};
    hac_status status = hac_mappings_take(mappings, &buffer, &frame, lend, ret, NULL);
    hac_frame_clear(&frame);
    return status;
}

static int memfd(uint64_t bytes, bool growable)
{
    int fd = -1;
    assert_int_equal(hac_memfd_create("test", bytes, growable, &fd, NULL), HAC_OK);
    return fd;
}

static void test_kept_mapped(void **state)
{
    (void)state;
    hac_mappings mappings;
    hac_mapping *a = NULL, *again = NULL;
    hac_mappings_init(&mappings);
    assert_int_equal(take(&mappings, 0, 100000, memfd(100000, false), true, &a), HAC_OK);
    assert_int_equal(hac_mapping_id(a), 0);
    assert_int_equal((uintptr_t)a->address % 64, 0);
    assert_int_equal(a->fd, -1); /* the size is final, so no descriptor is kept */
    memset(a->address, 7, 100000);
    uint8_t *address = a->address;
    hac_mappings_drop(&mappings, a);
    assert_int_equal(mappings.n_idle, 1);
    assert_int_equal(take(&mappings, 0, 100000, -1, true, &again), HAC_OK);
    assert_ptr_equal(again->address, address);
    assert_int_equal(again->address[99999], 7);
    assert_int_equal(mappings.n_idle, 0);
    hac_mappings_drop(&mappings, again);
    hac_mappings_clear(&mappings);
}

static void test_id_recycled_for_other_memory(void **state)
{
    (void)state;
    hac_mappings mappings;
    hac_mapping *a = NULL;
    hac_mappings_init(&mappings);
    assert_int_equal(take(&mappings, 3, 4096, memfd(4096, false), true, &a), HAC_OK);
    a->address[0] = 1;
    /* hacd must not replace a buffer in use */
    assert_int_equal(take(&mappings, 3, 8192, memfd(8192, false), true, &a), HAC_PROTOCOL);
    hac_mappings_drop(&mappings, a);
    assert_int_equal(take(&mappings, 3, 8192, memfd(8192, false), true, &a), HAC_OK);
    assert_int_equal(a->bytes, 8192);
    assert_int_equal(a->address[0], 0);
    assert_int_equal(mappings.by_id.count, 1);
    hac_mappings_clear(&mappings);
}

static void test_hostile(void **state)
{
    (void)state;
    hac_mappings mappings;
    hac_mapping *a = NULL, *b = NULL;
    hac_mappings_init(&mappings);
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    close(pipes[1]);
    assert_int_equal(take(&mappings, 1, 4096, -1, true, &a), HAC_PROTOCOL);               /* never seen */
    assert_int_not_equal(take(&mappings, 1, 4096, pipes[0], true, &a), HAC_OK);           /* no memfd */
    assert_int_not_equal(take(&mappings, 1, 8192, memfd(4096, false), true, &a), HAC_OK); /* short */
    assert_int_not_equal(take(&mappings, 1, INT64_MAX, memfd(4096, false), true, &a), HAC_OK);
    assert_null(a);
    assert_int_equal(mappings.by_id.count, 0);
    assert_int_equal(take(&mappings, 1, 4096, memfd(4096, false), true, &a), HAC_OK);
    assert_int_equal(take(&mappings, 1, 4096, -1, true, &b), HAC_PROTOCOL);  /* lent twice */
    assert_int_equal(take(&mappings, 1, 4096, -1, false, &b), HAC_PROTOCOL); /* lent, and a result */
    hac_mappings_drop(&mappings, a);
    assert_int_equal(take(&mappings, 1, 8192, -1, true, &b), HAC_PROTOCOL); /* grown, though final */
    /* two handles of one job may use the result, but the result must not grow meanwhile */
    assert_int_equal(take(&mappings, 1, 4096, -1, false, &a), HAC_OK);
    assert_int_equal(take(&mappings, 1, 4096, -1, false, &b), HAC_OK);
    assert_ptr_equal(a, b);
    assert_int_equal(take(&mappings, 1, 8192, -1, false, &b), HAC_PROTOCOL);
    hac_mappings_clear(&mappings);
}

static void test_bounded(void **state)
{
    (void)state;
    enum { N = 20, BYTES = 1 << 20 };
    hac_mappings mappings;
    hac_mapping *m[N];
    hac_mappings_init(&mappings);
    mappings.max_idle_mapped = 5 * BYTES;
    mappings.max_idle = 10;
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(take(&mappings, i, BYTES, memfd(BYTES, false), true, &m[i]), HAC_OK);
        memset(m[i]->address, (int)i, BYTES);
    }
    for (uint32_t i = 0; i < N; i++)
        hac_mappings_drop(&mappings, m[i]);
    assert_int_equal(mappings.n_idle, 10);
    assert_int_equal(mappings.by_id.count, 10);
    assert_true(mappings.idle_mapped <= 5 * BYTES);
    /* mappings that were shrunk to a page grow again without a descriptor */
    for (uint32_t i = N - 10; i < N; i++) {
        hac_mapping *again = NULL;
        assert_int_equal(take(&mappings, i, BYTES, -1, true, &again), HAC_OK);
        assert_int_equal(again->mapped, BYTES);
        assert_int_equal(again->address[0], i);
        assert_int_equal(again->address[BYTES - 1], i);
        hac_mappings_drop(&mappings, again);
    }
    hac_mappings_clear(&mappings);
}

static void test_containing(void **state)
{
    (void)state;
    hac_mappings mappings;
    hac_mapping *a = NULL;
    hac_mappings_init(&mappings);
    assert_int_equal(take(&mappings, 1, 8192, memfd(8192, false), true, &a), HAC_OK);
    assert_ptr_equal(hac_mappings_containing(&mappings, a->address, 8192), a);
    assert_ptr_equal(hac_mappings_containing(&mappings, a->address + 8191, 1), a);
    assert_null(hac_mappings_containing(&mappings, a->address + 1, 8192));
    assert_null(hac_mappings_containing(&mappings, a->address - 1, 1));
    assert_null(hac_mappings_containing(&mappings, a->address, UINT64_MAX));
    hac_mappings_drop(&mappings, a);
    assert_null(hac_mappings_containing(&mappings, a->address, 1)); /* no longer lent */
    hac_mappings_clear(&mappings);
}

/* ---- with a daemon ---- */

static void test_alloc_free_alloc(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_buffer *buffer = NULL, *other = NULL;
    assert_int_equal(hac_buffer_alloc(client, 0, &buffer, NULL), HAC_INVALID);
    assert_int_equal(hac_buffer_alloc(client, 1 << 20, &buffer, NULL), HAC_OK);
    assert_int_equal(hac_buffer_bytes(buffer), 1 << 20);
    void *data = hac_buffer_data(buffer);
    memset(data, 5, 1 << 20);
    hac_buffer_free(buffer);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(hac_buffer_alloc(client, 1 << 20, &buffer, NULL), HAC_OK);
        assert_ptr_equal(hac_buffer_data(buffer), data);
        hac_buffer_free(buffer);
    }
    assert_int_equal(hac_buffer_alloc(client, 1 << 20, &buffer, NULL), HAC_OK);
    assert_int_equal(hac_buffer_alloc(client, 1 << 20, &other, NULL), HAC_OK);
    assert_ptr_not_equal(hac_buffer_data(buffer), hac_buffer_data(other));
    hac_buffer_free(buffer);
    hac_buffer_free(other);
    hac_client_free(client);
    fake_stop(daemon);
}

static void test_grow(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_buffer *buffer = NULL;
    assert_int_equal(hac_buffer_alloc_growable(client, 1000, &buffer, NULL), HAC_OK);
    for (uint64_t bytes = 1000; bytes <= 64000000; bytes *= 4) {
        assert_int_equal(hac_buffer_grow(buffer, bytes, NULL), HAC_OK);
        assert_int_equal(hac_buffer_bytes(buffer), bytes);
        uint8_t *data = hac_buffer_data(buffer);
        assert_int_equal(data[0], bytes == 1000 ? 0 : 9);
        data[0] = data[bytes - 1] = 9;
    }
    assert_int_equal(hac_buffer_grow(buffer, 10, NULL), HAC_OK); /* large enough: nothing to do */
    hac_buffer_free(buffer);
    hac_client_free(client);
    fake_stop(daemon);
}

static void test_sort_in_place(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon), *stranger = fake_connect(daemon);
    hac_buffer *buffer = NULL, *foreign = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    assert_int_equal(hac_buffer_alloc(client, 4096, &buffer, NULL), HAC_OK);
    assert_int_equal(hac_buffer_alloc(stranger, 4096, &foreign, NULL), HAC_OK);
    uint32_t *keys = hac_buffer_data(buffer);
    for (uint32_t i = 0; i < 1024; i++)
        keys[i] = 5000 - i;
    hac_job *job = NULL;
    assert_int_equal(hac_sort_buffer(client, buffer, 64, 100, &options, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    const uint32_t *sorted = hac_job_data(job);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(sorted[i], 5000 - 16 - 99 + i);
    assert_int_equal(keys[16], 5000 - 16); /* inputs are not modified */
    hac_job_free(job);
    job = NULL;
    /* the client refuses ranges outside the buffer */
    assert_int_equal(hac_sort_buffer(client, buffer, 32, 10, &options, &job, &err), HAC_INVALID);
    assert_int_equal(hac_sort_buffer(client, buffer, 0, 1025, &options, &job, &err), HAC_INVALID);
    assert_int_equal(hac_sort_buffer(client, buffer, 4160, 0, &options, &job, &err), HAC_INVALID);
    assert_int_equal(hac_sort_buffer(client, buffer, 0, UINT64_MAX / 4 + 2, &options, &job, &err),
                     HAC_INVALID);
    assert_int_equal(hac_sort_buffer(client, foreign, 0, 10, &options, &job, &err), HAC_INVALID);
    assert_null(job);
    hac_buffer_free(buffer);
    hac_buffer_free(foreign);
    hac_client_free(client);
    hac_client_free(stranger);
    fake_stop(daemon);
}

static void test_pairs(void **state)
{
    (void)state;
    enum { N = 100, WIDTH = 3 };
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_buffer *keys = NULL, *payload = NULL;
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_buffer_alloc(client, N * 4, &keys, NULL), HAC_OK);
    assert_int_equal(hac_buffer_alloc(client, N * WIDTH, &payload, NULL), HAC_OK);
    memset(hac_buffer_data(payload), 'p', N * WIDTH);
    hac_job *job = NULL;
    assert_int_equal(hac_sort_pairs(client, keys, payload, 0, N, &options, &job, &err), HAC_INVALID);
    assert_int_equal(hac_sort_pairs(client, keys, payload, 257, 1, &options, &job, &err), HAC_INVALID);
    assert_int_equal(hac_sort_pairs(client, keys, payload, WIDTH, N + 1, &options, &job, &err), HAC_INVALID);
    options.argsort = 1;
    assert_int_equal(hac_sort_pairs(client, keys, payload, WIDTH, N, &options, &job, &err), HAC_INVALID);
    options.argsort = 0;
    assert_int_equal(hac_sort_pairs(client, keys, payload, WIDTH, N, &options, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_bytes(job), 448 + N * WIDTH); /* 400 rounded up to 64 */
    assert_ptr_equal(hac_job_payload(job), (const char *)hac_job_data(job) + 448);
    assert_int_equal(*(const char *)hac_job_payload(job), 'p');
    hac_job_free(job);
    hac_buffer_free(keys);
    hac_buffer_free(payload);
    hac_client_free(client);
    fake_stop(daemon);
}

static bool over_quota(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC)
        return false;
    fake_send_failure(session, request->serial, HAC_REFUSED, "over quota");
    return true;
}

static void test_refused(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    fake_daemon *daemon = fake_start(over_quota, NULL);
    hac_client *client = fake_connect(daemon);
    hac_buffer *buffer = NULL;
    assert_int_equal(hac_buffer_alloc(client, 1, &buffer, &err), HAC_REFUSED);
    assert_string_equal(err.message, "over quota");
    assert_null(buffer);
    hac_client_free(client);
    fake_stop(daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FDS(test_kept_mapped), FDS(test_id_recycled_for_other_memory),
        FDS(test_hostile),     FDS(test_bounded),
        FDS(test_containing),  FDS(test_alloc_free_alloc),
        FDS(test_grow),        FDS(test_sort_in_place),
        FDS(test_pairs),       FDS(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
