/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the block machine; included after expr_block.cl and expr_ops.cl. */

inline void machine_begin(machine *m, __global const ulong *plan, __global const uchar *table,
                          __global uchar *scratch)
{
    m->plan = plan;
    m->constants = plan + plan[EXPR_PLAN_CONSTANTS];
    m->table = table;
    m->columns = columns_at(plan, table, ~0UL);
    m->values = (__global ulong *)scratch;
    m->states = scratch + plan[EXPR_PLAN_REGISTERS] * (BATCH * sizeof(ulong));
}

/* Runs the plan over rows first … first + rows - 1 of its columns. */
inline void machine_run(machine *m, ulong first, uint rows)
{
    __global const ulong *code = m->plan + m->plan[EXPR_PLAN_CODE];
    uint n = (uint)m->plan[EXPR_PLAN_INSTRUCTIONS];
    m->rows = rows;
    m->damaged = ~0UL;
    m->vectors = (rows + LANES - 1) / LANES;
    for (uint i = 0; i < n; i++) {
        ulong w = code[2 * i], x = code[2 * i + 1];
        uint op = (uint)w & 0xffff, rr = (uint)(w >> 16) & 0xffff, ra = (uint)(w >> 32) & 0xffff;
        uint rb = (uint)(w >> 48), rc = (uint)x & 0xffff, k = (uint)(x >> 16) & 0xffff;
        uint how = (uint)(x >> 32);
        if (op == EXPR_COLUMN) {
            load_column(m, k, first, rr);
            continue;
        }
        m->failed = 0;
        if (how & EXPR_OWN_STATES) {
            state_instruction(m, op, rr, ra, rb, rc, how & EXPR_NARROW);
            combine_states(m, rr, ra, rb, rc, 0, some(m->failed));
        } else {
            compute(m, op, rr, ra, rb, rc, k, how & EXPR_NARROW);
            combine_states(m, rr, ra, rb, rc, how & EXPR_OPERANDS, some(m->failed));
        }
    }
}
