/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: rounds of calls (base/op_while.h) over memory with arbitrary contents, to which the
 * rounds themselves write: the operands of calls, the condition's operands, the carries. Nothing outside of
 * the spans may be touched (AddressSanitizer watches).
 *
 * The input: a byte that says whether the following bytes describe a task (0 ... 127: parts lie where they
 * should) or are the task; a byte that memory is filled with; these bytes. The rest fills memory, repeatedly.
 * A described call is like fuzz_op's, with a byte for where its spans are.
 */
#include "base/op_while.h"
#include "fuzz_calls.h"

#define ROUNDS_MAX 6
#define VARS_MAX   3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The task's inline data so far. */
typedef struct while_maker {
    fuzz_source *s;
    uint8_t *to;
    size_t at;
} while_maker;

static void add(while_maker *m, const void *data, size_t bytes)
{
    if (bytes > HAC_OP_CALL_MAX - 8 - m->at)
        return; /* it is truncated */
    memcpy(m->to + m->at, data, bytes);
    m->at = (size_t)hac_op_while_up(m->at + bytes);
}

static hac_op_part part_of(while_maker *m, uint64_t bytes)
{
    uint8_t where = next(m->s);
    return (hac_op_part){.span = where % 8u, .offset = where / 8u * UINT64_C(128), .bytes = bytes};
}

static void add_condition(while_maker *m)
{
    uint8_t what = next(m->s), text[1024];
    size_t vars = 1 + what % VARS_MAX, at = 0;
    hac_text program = HAC_TEXT_NONE;
    add_program(&program, 2 | (what >> 2 & 1));
    hac_op_call call = {
        .magic = HAC_OP_MAGIC, .n_operands = (uint32_t)vars + 1, .program_bytes = (uint32_t)program.bytes};
    memcpy(text, &call, sizeof call);
    at += sizeof call;
    for (size_t i = 0; i <= vars; i++, at += sizeof(hac_op_operand)) {
        hac_op_part part = part_of(m, 0);
        hac_op_operand o = {.form = HAC_VECTOR_FIX_VALUE,
                            .kind = what >> 2 & 1 ? HAC_KIND_F64 : HAC_KIND_I64,
                            .span = (uint8_t)part.span,
                            .rows = 1,
                            .columns = 1,
                            .values = part.offset};
        if (i == 0) {
            o.kind = HAC_KIND_U64;
            o.rows = next(m->s) % (ROUNDS_MAX + 1u);
            o.columns = vars;
        }
        memcpy(text + at, &o, sizeof o);
    }
    if (program.bytes > sizeof text - at)
        abort();
    memcpy(text + at, program.data, program.bytes);
    add(m, text, at + program.bytes);
    hac_text_clear(&program);
}

static void add_call(while_maker *m)
{
    static uint8_t own[HAC_OP_CALL_MAX];
    hac_op_while_call call = {.n_spans = HAC_SPANS_MAX};
    uint8_t which = next(m->s), kind = next(m->s) & 127, where = next(m->s);
    strcpy(call.codelet, names[which % (sizeof names / sizeof *names)]);
    call.first = next(m->s) % 8 == 0 ? next(m->s) : 0;
    call.count = next(m->s) % 2 == 0 ? 0 : next(m->s) % 40;
    call.call_bytes = (uint32_t)make_call(m->s, kind, own);
    add(m, &call, sizeof call);
    for (uint32_t i = 0; i < HAC_SPANS_MAX; i++) {
        uint64_t offset = where / 8u * UINT64_C(64);
        hac_op_part part = {.span = (i + where) % 8, .offset = offset, .bytes = SPAN_BYTES - offset};
        add(m, &part, sizeof part);
    }
    add(m, own, call.call_bytes);
}

static size_t make_task(fuzz_source *s, uint8_t *to)
{
    while_maker m = {.s = s, .to = to};
    add_condition(&m);
    uint8_t n = next(s);
    hac_op_while_head head = {.n_carries = n % 4u, .n_calls = n / 4u % 5u};
    head.state = part_of(&m, 16);
    head.before = part_of(&m, n & 128 ? 16 : 0);
    add(&m, &head, sizeof head);
    for (uint32_t i = 0; i < head.n_carries; i++) {
        uint64_t bytes = next(s) % 32u * UINT64_C(64);
        hac_op_carry carry = {
            .first = part_of(&m, bytes), .from = part_of(&m, bytes), .to = part_of(&m, bytes)};
        add(&m, &carry, sizeof carry);
    }
    for (uint32_t i = 0; i < head.n_calls; i++)
        add_call(&m);
    return m.at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static uint8_t inline_in[HAC_OP_CALL_MAX];
    fuzz_source s = {.data = data, .bytes = bytes};
    uint8_t kind = next(&s), small = next(&s) & 1;
    hac_task task = {.n_spans = HAC_SPANS_MAX, .fd = -1, .inline_in = inline_in};
    if (bytes < 8)
        return 0;
    if (kind < 128) {
        task.inline_in_bytes = make_task(&s, inline_in);
    } else {
        task.inline_in_bytes = bytes - s.at < sizeof inline_in ? bytes - s.at : sizeof inline_in;
        memcpy(inline_in, data + s.at, task.inline_in_bytes);
    }
    make_spans(&task, &s, small);
    try_task("op.while", &task);
    return 0;
}
