/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: calls of the sub-operators in C over memory with arbitrary contents. A call that passes
 * the check is run; nothing outside of the spans may be touched (AddressSanitizer watches).
 *
 * The input: a byte for the codelet; a byte that says whether the following bytes describe a call (0 … 127:
 * operands of small sizes whose parts lie where they should) or are the call; these bytes. The rest fills
 * memory, repeatedly.
 */
#include "fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static uint8_t call[HAC_OP_CALL_MAX];
    fuzz_source s = {.data = data, .bytes = bytes};
    uint8_t which = next(&s), kind = next(&s), small = next(&s) & 1;
    hac_task task = {.n_spans = HAC_SPANS_MAX, .fd = -1, .inline_in = call};
    if (bytes < 8)
        return 0;
    task.first = next(&s) % 8 == 0 ? next(&s) : 0;
    task.count = next(&s) % 2 == 0 ? 0 : next(&s) % 40;
    if (kind < 128) {
        task.inline_in_bytes = make_call(&s, kind, call);
    } else {
        task.inline_in_bytes = bytes - s.at < sizeof call ? bytes - s.at : sizeof call;
        memcpy(call, data + s.at, task.inline_in_bytes);
    }
    make_spans(&task, &s, small);
    try_task(names[which % (sizeof names / sizeof *names)], &task);
    return 0;
}
