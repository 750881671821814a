/* SPDX-License-Identifier: Apache-2.0 */
/* The splicer's rule: examples, then random sequences of blocks with invariants. */
#include <string.h>

#include "base/limits.h"
#include "base/random.h"
#include "splice/splicer.h"

/* cmocka.h comes last */
#include "base/test_support.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t dice(uint64_t sides)
{
    return hac_random_u64(&random_state) % sides;
}

static hac_splicer splicer_of(uint64_t first, uint64_t capacity, uint64_t elements)
{
    hac_error err = HAC_ERROR_NONE;
    hac_splicer s;
    assert_int_equal(hac_splicer_init(&s, first, capacity, elements, &err), HAC_OK);
    return s;
}

static void test_example(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_splicer s = splicer_of(128, 128 + 1000, 10);
    uint64_t at = 0;
    assert_int_equal(hac_splicer_put(&s, 400, 4, &at, &err), HAC_OK);
    assert_int_equal(at, 128);
    assert_int_equal(hac_splicer_put(&s, 500, 4, &at, &err), HAC_OK);
    assert_int_equal(at, 128 + 448); /* aligned */
    /* a pause: asking again changes nothing and is not a second pause */
    assert_int_equal(hac_splicer_put(&s, 90, 1, &at, &err), HAC_AGAIN);
    assert_int_equal(hac_splicer_put(&s, 90, 1, &at, &err), HAC_AGAIN);
    assert_int_equal(s.pauses, 1);
    assert_int_equal(s.triggers, 0);
    /* no other block may overtake it, even if it fits */
    assert_int_equal(hac_splicer_put(&s, 10, 1, &at, &err), HAC_INTERNAL);
    assert_true(hac_splicer_trigger(&s));
    assert_int_equal(s.cursor, 128);
    assert_int_equal(hac_splicer_put(&s, 90, 1, &at, &err), HAC_OK);
    assert_int_equal(at, 128);
    assert_int_equal(s.blocks, 3);
    assert_int_equal(s.highest, 128 + 448 + 500);
    /* the end of the split: the blocks run once */
    assert_true(hac_splicer_trigger(&s));
    assert_false(hac_splicer_trigger(&s));
    assert_int_equal(s.triggers, 2);
}

static void test_index_full(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_splicer s = splicer_of(0, 1000, 3);
    uint64_t at;
    assert_int_equal(hac_splicer_put(&s, 1, 2, &at, &err), HAC_OK);
    assert_int_equal(hac_splicer_put(&s, 1, 2, &at, &err), HAC_AGAIN);
    assert_true(hac_splicer_trigger(&s));
    assert_int_equal(hac_splicer_put(&s, 1, 2, &at, &err), HAC_OK);
    assert_int_equal(at, 0);
    /* an empty block has its element, too */
    assert_int_equal(hac_splicer_put(&s, 0, 1, &at, &err), HAC_OK);
    assert_int_equal(hac_splicer_put(&s, 0, 1, &at, &err), HAC_AGAIN);
}

static void test_too_large(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_splicer s = splicer_of(64, 164, 5), bad;
    uint64_t at;
    assert_int_equal(hac_splicer_put(&s, 101, 1, &at, &err), HAC_UNSUPPORTED);
    assert_int_equal(hac_splicer_put(&s, 1, 6, &at, &err), HAC_UNSUPPORTED);
    assert_int_equal(s.pauses, 0);
    assert_int_equal(hac_splicer_put(&s, 100, 5, &at, &err), HAC_OK);
    assert_int_equal(hac_splicer_put(&s, 101, 1, &at, &err), HAC_UNSUPPORTED);
    assert_int_equal(s.pauses, 0);
    assert_int_equal(hac_splicer_init(&bad, 10, 100, 1, &err), HAC_INVALID);
    assert_int_equal(hac_splicer_init(&bad, 128, 128, 1, &err), HAC_INVALID);
    assert_int_equal(hac_splicer_init(&bad, 0, 128, 0, &err), HAC_INVALID);
    assert_int_equal(hac_splicer_init(&bad, 0, UINT64_MAX, 1, &err), HAC_INVALID);
}

/* What the device sees: the blocks of one buffer, and all blocks so far. */
typedef struct device {
    uint64_t begins[64], ends[64]; /* for the blocks in the buffer */
    uint64_t n, elements;
    uint64_t done; /* blocks that it has run */
    uint64_t triggers, pauses;
} device;

static void trigger(hac_splicer *s, device *d)
{
    assert_int_equal(hac_splicer_trigger(s), d->n != 0);
    d->triggers += d->n != 0;
    d->done += d->n;
    d->n = d->elements = 0;
    assert_int_equal(s->cursor, s->first);
}

/* Checks block `number` at offset `at`: after all others, within the buffer, in order. */
static void note_block(const hac_splicer *s, device *d, uint64_t number, uint64_t at, uint64_t bytes,
                       uint64_t elements)
{
    assert_int_equal(d->done + d->n, number);
    assert_int_equal(at % HAC_ALIGNMENT, 0);
    assert_true(at >= s->first && bytes <= s->capacity && at <= s->capacity - bytes);
    assert_true(d->n == 0 ? at == s->first : at >= d->ends[d->n - 1]);
    d->begins[d->n] = at;
    d->ends[d->n++] = at + bytes;
    d->elements += elements;
    assert_true(d->elements <= s->elements);
}

static void run_sequence(void)
{
    hac_error err = HAC_ERROR_NONE;
    uint64_t first = 64 * dice(4), capacity = first + 1 + dice(dice(2) ? 5000 : 300), refused = 0;
    hac_splicer s = splicer_of(first, capacity, 1 + dice(60));
    device d = {0};
    uint64_t blocks = dice(40), largest = dice(3) ? capacity - first : 2 * (capacity - first);
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t bytes = dice(largest + 1), elements = 1 + dice(dice(4) ? 2 : s.elements + 2), at;
        bool fits = bytes <= capacity - first && elements <= s.elements;
        bool fits_now = fits && s.cursor + bytes <= capacity && s.used + elements <= s.elements;
        hac_status status = hac_splicer_put(&s, bytes, elements, &at, &err);
        if (!fits) {
            assert_int_equal(status, HAC_UNSUPPORTED);
            refused++;
            continue;
        }
        assert_int_equal(status, fits_now ? HAC_OK : HAC_AGAIN);
        if (status == HAC_AGAIN) {
            d.pauses++;
            trigger(&s, &d);
            assert_int_equal(hac_splicer_put(&s, bytes, elements, &at, &err), HAC_OK);
        }
        note_block(&s, &d, i - refused, at, bytes, elements);
    }
    trigger(&s, &d);
    assert_int_equal(d.done, blocks - refused); /* none lost, none twice */
    assert_int_equal(s.blocks, blocks - refused);
    assert_int_equal(s.pauses, d.pauses);
    assert_int_equal(s.triggers, d.triggers);
    assert_true(s.triggers == s.pauses + (s.blocks != 0));
}

static void test_sequences(void **state)
{
    (void)state;
    for (int i = 0; i < 120000; i++)
        run_sequence();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_index_full),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
