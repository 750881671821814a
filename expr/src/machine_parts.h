/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the C column machine. A program becomes a list of steps on *slots*: one for each register, each
 * input, and each constant that is needed as a column. COLUMN and CONSTANT cost nothing while it runs.
 *
 * Most operations are a *kernel*: a loop over all rows without branches, whatever their states. It says
 * whether any row may have failed; only then a *judge* looks at every row. Kernels work on whole blocks of 64
 * rows (a batch has room for them) and take one scalar in place of a column for constants.
 */
#ifndef EXPR_MACHINE_PARTS_H
#define EXPR_MACHINE_PARTS_H

#include "expr/machine.h"
#include "op_info.h"

#define HAC_KERNEL_BLOCK 64

typedef struct hac_slot {
    void *values;
    uint8_t *states; /* NULL: all rows are OK */
    const uint8_t *bytes;
    uint8_t *own_states; /* registers: where states are written to */
    void *own_values;
} hac_slot;

/* An immediate, ready for use. */
typedef struct hac_argument {
    unsigned number; /* digits, unit */
    int64_t power;   /* 10^digits, 0 above 10^18 */
    int64_t low, high;
    __int128 wide_power, wide_low, wide_high; /* wide_power: 10^digits */
    const void *list;                         /* of the operand's representation; strings: hac_constant */
    size_t n_list;
    const uint8_t *bytes; /* what strings of the list lie in; the pattern */
} hac_argument;

typedef struct hac_columns {
    size_t rows;
    void *r;
    const void *a, *b; /* one value where `one_…` */
    bool one_a, one_b;
    const hac_argument *k;
} hac_columns;

/* Nonzero: rows may have failed. */
typedef uint64_t (*hac_kernel)(const hac_columns *columns);
/* Sets the states of the rows that are OK so far (0). */
typedef void (*hac_judge)(const hac_columns *columns, uint8_t *states);

typedef struct hac_kernels {
    hac_kernel columns, one_b, one_a; /* one_…: NULL where there is none */
} hac_kernels;

/* Indexed by hac_op; made from one source for several instruction sets. */
extern const hac_kernels hac_kernels_baseline[HAC_OP_END];
#if defined(__x86_64__)
extern const hac_kernels hac_kernels_x86_64_v3[HAC_OP_END];
extern const hac_kernels hac_kernels_x86_64_v4[HAC_OP_END];
#endif
/* What has no use for wide vectors: 128-bit decimals, dates, libm. */
extern const hac_kernels hac_kernels_scalar[HAC_OP_END];
extern const hac_judge hac_judges[HAC_OP_END];

typedef struct hac_step hac_step;
typedef void (*hac_step_run)(hac_machine_c *machine, const hac_step *step, size_t rows);

struct hac_step {
    hac_step_run run;
    hac_kernel kernel;
    hac_judge judge;
    uint16_t op, r, a, b, c; /* slots */
    uint8_t operands;        /* how many */
    uint8_t size;            /* of a value of the result */
    bool one_a, one_b;
    _Alignas(16) uint8_t scalar[16]; /* in place of that operand */
    hac_argument k;
};

struct hac_machine_c {
    const hac_program *program;
    hac_slot *slots;
    size_t first_input;
    uint16_t none; /* slot of operands that are scalars: no values, no states */
    hac_step *steps;
    size_t n_steps;
    uint16_t outputs[HAC_PROGRAM_OUTPUTS_MAX]; /* slots */
    void *memory;                              /* of registers and constants */
    size_t constants;                          /* that may be columns */
    hac_constant *folded;                      /* what was made of constants alone */
    uint8_t *lists;                            /* of IN, packed */
    uint8_t *arena;                            /* strings that this batch made */
    size_t arena_used, arena_room;
};

/* The set for the widest vectors that this processor has. */
const hac_kernels *hac_kernels_best(void);
/* hac_machine_c_new with kernels of the caller's choice; for tests. */
HAC_MUST_USE hac_status hac_machine_c_new_with(const hac_program *program, size_t string_bytes,
                                               const hac_kernels *kernels, hac_machine_c **ret,
                                               hac_error *err);

/* How an operation that is no kernel runs; NULL if it is one. */
hac_step_run hac_state_step(hac_op op);
hac_step_run hac_string_step(hac_op op);

/* The result's states: the highest of the operands', NULL if none has any. */
void hac_combine_states(hac_machine_c *machine, const hac_step *step, size_t rows);
/* The result's states, writable; zero if it had none. */
uint8_t *hac_writable_states(hac_slot *slot);

static inline bool hac_row_ok(const uint8_t *states, size_t row)
{
    return states == NULL || states[row] == HAC_ROW_OK;
}

#endif
