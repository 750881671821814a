/* SPDX-License-Identifier: Apache-2.0 */
/* Accounting of users and pools: limits to the byte, recycling, and that everything is released. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test_support.h"
#include "pool.h"

#define MIB (UINT64_C(1) << 20)

typedef struct forgotten {
    unsigned count;
    uint32_t last;
} forgotten;

static void forget(void *context, hac_pool_buffer *buffer)
{
    forgotten *f = context;
    f->count++;
    f->last = buffer->id;
}

static const hac_user_limits limits = {
    .memory = 16 * MIB, .connections = 4, .jobs = 4, .descriptors = 8, .share = 1};
static const uint64_t total[HAC_SLOTS] = {64 * MIB, 64, 64, 64, 64};

static hac_user *start(hac_users *users, forgotten *f)
{
    hac_user *user = NULL;
    hac_users_init(users, total, &limits, forget, f);
    assert_int_equal(hac_user_get(users, (hac_user_key){.uid = 1000}, &user, NULL), HAC_OK);
    return user;
}

static void end(hac_users *users, hac_user *user)
{
    hac_user_unref(user);
    assert_int_equal(hac_pool_trim(users, 0), 0);
    hac_users_deinit(users);
}

static void test_limit_to_the_byte(void **state)
{
    (void)state;
    hac_users users;
    forgotten f = {0, 0};
    hac_user *user = start(&users, &f);
    hac_pool_buffer *a = NULL, *b = NULL, *c = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_pool_alloc(user, 12 * MIB, false, &a, &err), HAC_OK);
    assert_int_equal(hac_pool_alloc(user, 4 * MIB, false, &b, &err), HAC_OK);
    assert_int_equal(user->held[HAC_SLOT_MEMORY], 16 * MIB);
    assert_int_equal(hac_pool_available(user), 0);
    assert_int_equal(hac_pool_alloc(user, 1, false, &c, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, "limit of 16 MiB"));
    hac_pool_release(b);
    assert_int_equal(hac_pool_available(user), 4 * MIB); /* idle buffers do not count */
    /* the idle buffer is recycled */
    assert_int_equal(hac_pool_alloc(user, 4 * MIB, false, &c, &err), HAC_OK);
    assert_int_equal(f.count, 0);
    hac_pool_release(c);
    /* the idle buffer is freed for this one */
    assert_int_equal(hac_pool_alloc(user, 1, false, &c, &err), HAC_OK);
    assert_int_equal(f.count, 1);
    assert_int_equal(user->held[HAC_SLOT_MEMORY], 12 * MIB + 4096);
    hac_pool_release(a);
    hac_pool_release(c);
    end(&users, user);
}

static void test_recycled_within_a_user_only(void **state)
{
    (void)state;
    hac_users users;
    forgotten f = {0, 0};
    hac_user *user = start(&users, &f), *other = NULL;
    hac_pool_buffer *a = NULL, *b = NULL;
    assert_int_equal(hac_user_get(&users, (hac_user_key){.uid = 1001}, &other, NULL), HAC_OK);
    assert_ptr_not_equal(user, other);
    assert_int_equal(hac_pool_alloc(user, MIB, false, &a, NULL), HAC_OK);
    uint32_t id = a->id;
    hac_pool_release(a);
    assert_int_equal(hac_pool_alloc(other, MIB, false, &b, NULL), HAC_OK);
    assert_int_not_equal(b->id, id);
    assert_null(hac_pool_find(user, b->id));
    hac_pool_release(b);
    assert_int_equal(hac_pool_alloc(user, MIB - 5, false, &a, NULL), HAC_OK);
    assert_int_equal(a->id, id);
    hac_pool_release(a);
    hac_user_unref(other);
    end(&users, user);
}

static void test_recycling_wastes_little(void **state)
{
    (void)state;
    hac_users users;
    forgotten f = {0, 0};
    hac_user *user = start(&users, &f);
    hac_pool_buffer *large = NULL, *small = NULL;
    assert_int_equal(hac_pool_alloc(user, 4 * MIB, false, &large, NULL), HAC_OK);
    uint32_t id = large->id;
    hac_pool_release(large);
    assert_int_equal(hac_pool_alloc(user, 2 * MIB, false, &small, NULL), HAC_OK);
    assert_int_not_equal(small->id, id); /* half of the buffer would be wasted */
    hac_pool_release(small);
    assert_int_equal(hac_pool_alloc(user, 3 * MIB, false, &large, NULL), HAC_OK);
    assert_int_equal(large->id, id); /* wasting a quarter is allowed */
    hac_pool_release(large);
    end(&users, user);
}

static void test_growing(void **state)
{
    (void)state;
    hac_users users;
    forgotten f = {0, 0};
    hac_user *user = start(&users, &f);
    hac_pool_buffer *buffer = NULL;
    struct stat info;
    assert_int_equal(hac_pool_alloc(user, MIB, true, &buffer, NULL), HAC_OK);
    assert_int_equal(hac_pool_grow(buffer, 8 * MIB, NULL), HAC_OK);
    assert_int_equal(user->held[HAC_SLOT_MEMORY], 8 * MIB);
    assert_int_equal(hac_pool_grow(buffer, 16 * MIB + 1, NULL), HAC_REFUSED);
    assert_int_equal(user->held[HAC_SLOT_MEMORY], 8 * MIB);
    assert_int_equal(fstat(buffer->fd, &info), 0);
    assert_int_equal(info.st_size, 8 * MIB);
    assert_int_equal(hac_pool_seal(buffer, NULL), HAC_OK);
    assert_int_equal(hac_pool_grow(buffer, 9 * MIB, NULL), HAC_INVALID);
    /* the seal keeps clients from changing the size, too */
    assert_int_not_equal(ftruncate(buffer->fd, 9 * MIB), 0);
    hac_pool_release(buffer);
    end(&users, user);
}

/* Memory whose pages a client can keep stays charged. */
static void test_kept_pages(void **state)
{
    (void)state;
    hac_users users;
    forgotten f = {0, 0};
    hac_user *user = start(&users, &f);
    hac_pool_buffer *buffer = NULL;
    assert_int_equal(hac_pool_alloc(user, 4 * MIB, false, &buffer, NULL), HAC_OK);
    assert_int_not_equal(fcntl(buffer->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
    hac_pool_release(buffer);
    hac_pool_trim(&users, 0);
    assert_int_equal(user->held[HAC_SLOT_MEMORY], 0);

    assert_int_equal(hac_pool_alloc(user, 4 * MIB, true, &buffer, NULL), HAC_OK);
    assert_int_equal(fcntl(buffer->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
    assert_int_equal(hac_pool_seal(buffer, NULL), HAC_INVALID);
    hac_pool_release(buffer);
    hac_pool_trim(&users, 0);
    assert_int_equal(user->held[HAC_SLOT_MEMORY], 4 * MIB);
    assert_int_equal(user->held[HAC_SLOT_DESCRIPTORS], 0);
    assert_int_equal(users.holders[HAC_SLOT_MEMORY], 0); /* nobody's part is less for it */
    assert_int_equal(hac_pool_alloc(user, MIB, false, &buffer, NULL), HAC_OK);
    assert_int_equal(users.holders[HAC_SLOT_MEMORY], 1);
    hac_pool_release(buffer);
    hac_pool_trim(&users, 0);
    assert_int_equal(users.holders[HAC_SLOT_MEMORY], 0);
    hac_user_unref(user);
    hac_users_deinit(&users);
}

/* Others do not get what is reserved, used or not. The holder gets it, and what nobody has reserved. */
static void test_reservations(void **state)
{
    (void)state;
    hac_users users;
    forgotten f = {0, 0};
    hac_error err = HAC_ERROR_NONE;
    hac_user *user = start(&users, &f);
    hac_pool_buffer *a = NULL, *b = NULL, *c = NULL;
    hac_reservation one, two;
    hac_reservation_begin(user, &one);
    hac_reservation_begin(user, &two);
    one.bytes = 6 * MIB;
    two.bytes = 4 * MIB;
    assert_int_equal(hac_pool_available(user), 6 * MIB);
    assert_int_equal(hac_pool_available_to(user, &one), 12 * MIB);
    assert_int_equal(hac_pool_alloc(user, 7 * MIB, false, &a, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, "10 MiB kept for jobs that read streams"));
    assert_false(user->refusal.hopeless);
    assert_int_equal(hac_pool_alloc(user, 6 * MIB, false, &a, NULL), HAC_OK);
    assert_int_equal(hac_pool_charge(user, HAC_SLOT_MEMORY, 1, NULL), HAC_REFUSED);
    assert_int_equal(hac_pool_alloc_on(user, &one, 5 * MIB, false, &b, NULL), HAC_OK);
    assert_int_equal(hac_pool_aside(user), 5 * MIB);
    assert_int_equal(hac_pool_available_to(user, &one), MIB);
    assert_int_equal(hac_pool_alloc_on(user, &one, MIB + 1, false, &c, NULL), HAC_REFUSED);
    hac_pool_release(b); /* idle, and still part of the reservation */
    assert_int_equal(hac_pool_available(user), 0);
    assert_int_equal(hac_pool_alloc_on(user, &two, 4 * MIB, false, &b, NULL), HAC_OK);
    /* exactly as asked: the idle buffer is larger, and the excess would come out of `one` */
    assert_int_equal(two.held, 4 * MIB);
    hac_reservation_end(user, &two);
    assert_null(b->reservation);
    assert_int_equal(hac_pool_aside(user), 6 * MIB);
    hac_pool_release(b);
    hac_reservation_end(user, &one);
    assert_int_equal(hac_pool_available(user), 10 * MIB);
    hac_pool_release(a);
    end(&users, user);
}

static void test_absurd_sizes(void **state)
{
    (void)state;
    hac_users users;
    forgotten f = {0, 0};
    hac_user *user = start(&users, &f);
    hac_pool_buffer *buffer = NULL;
    assert_int_equal(hac_pool_alloc(user, UINT64_MAX, false, &buffer, NULL), HAC_INVALID);
    assert_int_equal(hac_pool_alloc(user, UINT64_MAX / 2, false, &buffer, NULL), HAC_REFUSED);
    assert_null(buffer);
    assert_int_equal(hac_pool_alloc(user, 0, false, &buffer, NULL), HAC_OK);
    assert_true(buffer->bytes > 0);
    hac_pool_release(buffer);
    end(&users, user);
}

/* Random holds and releases. hac_users_deinit asserts that every account balances afterwards; user_test.c has
 * more. */
static void test_random_use(void **state)
{
    (void)state;
    hac_users users;
    forgotten f = {0, 0};
    hac_user *user = start(&users, &f);
    hac_pool_buffer *held[8] = {NULL};
    unsigned seed = 1;
    for (int i = 0; i < 20000; i++) {
        unsigned at = (unsigned)rand_r(&seed) % 8;
        if (held[at] != NULL) {
            hac_pool_release(held[at]);
            held[at] = NULL;
        } else if (hac_pool_alloc(user, (uint64_t)rand_r(&seed) % (3 * MIB), rand_r(&seed) % 7 == 0,
                                  &held[at], NULL) != HAC_OK) {
            held[at] = NULL;
        }
        assert_true(user->held[HAC_SLOT_MEMORY] <= limits.memory &&
                    user->held[HAC_SLOT_DESCRIPTORS] <= limits.descriptors);
    }
    for (int i = 0; i < 8; i++)
        if (held[i] != NULL)
            hac_pool_release(held[i]);
    end(&users, user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_limit_to_the_byte, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_recycled_within_a_user_only, hac_test_fds_setup,
                                        hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_recycling_wastes_little, hac_test_fds_setup,
                                        hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_kept_pages, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_growing, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_reservations, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_absurd_sizes, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_random_use, hac_test_fds_setup, hac_test_fds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
