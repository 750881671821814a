/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the lock-step machine; included after expr_simt.cl and expr_ops.cl. */

/* `scratch` belongs to the work-group. */
inline void machine_begin(machine *m, __global const ulong *plan, __global const uchar *table,
                          __global uchar *scratch)
{
    m->plan = plan;
    m->constants = plan + plan[EXPR_PLAN_CONSTANTS];
    m->table = table;
    m->columns = columns_at(plan, table, ~0UL);
    m->lanes = (uint)get_local_size(0);
    m->values = (__global ulong *)scratch + get_local_id(0);
    m->states = scratch + plan[EXPR_PLAN_REGISTERS] * m->lanes * sizeof(ulong) + get_local_id(0);
}

/* Runs the plan for one row of its columns. */
inline void machine_run(machine *m, ulong row)
{
    __global const ulong *code = m->plan + m->plan[EXPR_PLAN_CODE];
    uint n = (uint)m->plan[EXPR_PLAN_INSTRUCTIONS];
    m->damaged = false;
    for (uint i = 0; i < n; i++) {
        ulong w = code[2 * i], x = code[2 * i + 1];
        uint op = (uint)w & 0xffff, rr = (uint)(w >> 16) & 0xffff, ra = (uint)(w >> 32) & 0xffff;
        uint rb = (uint)(w >> 48), rc = (uint)x & 0xffff, k = (uint)(x >> 16) & 0xffff;
        uint how = (uint)(x >> 32), operands = how & EXPR_OPERANDS;
        if (op == EXPR_COLUMN) {
            load_column(m, k, row, rr);
            continue;
        }
        uint state = 0;
        m->fail = 0;
        if (how & EXPR_OWN_STATES) {
            state_instruction(m, op, rr, ra, rb, rc, 0);
        } else {
            if (operands >= 1)
                state = STATE(ra);
            if (operands >= 2)
                state = max(state, (uint)STATE(rb));
            if (operands >= 3)
                state = max(state, (uint)STATE(rc));
            compute(m, op, rr, ra, rb, rc, k, 0);
        }
        STATE(rr) = (uchar)(state != 0 ? state : m->fail);
    }
}
