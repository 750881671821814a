/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the C column machine. A program is translated to steps on *slots*: one for each register,
 * each input, and each constant that is needed as a column. COLUMN and CONSTANT cost nothing at run time.
 *
 * Most operations are a *kernel*: a loop without branches over all rows, whatever their states. A kernel
 * reports whether any row may have failed, and only then a *judge* looks at every row. Kernels work on whole
 * blocks of 64 rows, which a batch has room for. A constant operand may be a scalar.
 */
#ifndef EXPR_MACHINE_PARTS_H
#define EXPR_MACHINE_PARTS_H

#include "expr/machine.h"
#include "program/op_info.h"

#define HAC_KERNEL_BLOCK 64

typedef struct hac_machine_slot {
    void *values;
    uint8_t *states; /* NULL: all rows are OK */
    const uint8_t *bytes;
    uint64_t dictionary; /* these three as in hac_column */
    uint32_t *codes;
    uint32_t entries;
    uint8_t *own_states; /* registers: the memory for states */
    void *own_values;
} hac_machine_slot;

/* An immediate, prepared for the kernels. */
typedef struct hac_argument {
    unsigned number; /* number of digits, or unit */
    int64_t power;   /* 10^digits; 0 above 10^18 */
    int64_t low, high;
    __int128 power_128, low_128, high_128; /* power_128: 10^digits */
    const void *list;                      /* of the operand's representation; strings: hac_constant */
    size_t n_list;
    const uint8_t *bytes; /* the strings of the list are offsets into these bytes; or the pattern or text */
    const struct hac_regexp *regexp;
    const struct hac_zone *zone;
    unsigned group; /* of the regular expression */
    bool all;       /* replace all matches */
} hac_argument;

typedef struct hac_columns {
    size_t rows;
    void *r;
    const void *a, *b; /* a single value if one_a, one_b */
    bool one_a, one_b;
    const hac_argument *k;
} hac_columns;

/* Returns nonzero if a row may have failed. */
typedef uint64_t (*hac_kernel)(const hac_columns *columns);
/* Sets the states of rows that are HAC_ROW_OK so far. */
typedef void (*hac_judge)(const hac_columns *columns, uint8_t *states);

typedef struct hac_kernels {
    hac_kernel columns, one_b, one_a; /* one_a, one_b: for a scalar operand; may be NULL */
} hac_kernels;

/* By hac_op. One source is compiled for several instruction sets. */
extern const hac_kernels hac_kernels_baseline[HAC_OP_END];
#if defined(__x86_64__)
extern const hac_kernels hac_kernels_x86_64_v3[HAC_OP_END];
extern const hac_kernels hac_kernels_x86_64_v4[HAC_OP_END];
#endif
/* Operations that do not gain from wide vectors: 128-bit decimals, dates, libm. */
extern const hac_kernels hac_kernels_scalar[HAC_OP_END];
extern const hac_judge hac_judges[HAC_OP_END];

typedef struct hac_step hac_step;
typedef void (*hac_step_run)(hac_machine_c *machine, const hac_step *step, size_t rows);

struct hac_step {
    hac_step_run run;
    hac_kernel kernel;
    hac_judge judge;
    uint16_t op, r, a, b, c; /* slots */
    uint8_t operands;        /* their number */
    uint8_t size;            /* of a value of the result */
    bool one_a, one_b;
    uint16_t text;                   /* with `entries`: the operand that is a string */
    struct hac_entries *entries;     /* NULL: results are not remembered (machine_entries.h) */
    _Alignas(16) uint8_t scalar[16]; /* the value of the operand that is a scalar */
    hac_argument k;
};

struct hac_machine_c {
    const hac_program *program;
    hac_machine_slot *slots;
    size_t first_input;
    uint16_t none; /* the slot of scalar operands: it has no values and no states */
    hac_step *steps;
    size_t n_steps;
    uint16_t outputs[HAC_PROGRAM_OUTPUTS_MAX]; /* slots */
    void *memory;                              /* of registers and constants */
    size_t constants;                          /* constants that may have a slot */
    hac_constant *folded;                      /* results of operations on constants */
    uint8_t *lists;                            /* lists of IN, packed */
    struct hac_regexp **regexps;               /* that steps use */
    size_t n_regexps;
    struct hac_zone **zones; /* that steps use */
    size_t n_zones;
    uint8_t *arena; /* strings that operations made in this batch */
    size_t arena_used, arena_capacity;
    size_t entries_bytes; /* memory for results by entry of a dictionary (machine_entries.h) */
};

/* The kernels for the widest vectors of this processor. */
const hac_kernels *hac_kernels_best(void);
/* hac_machine_c_new with other kernels, for tests. */
HAC_MUST_USE hac_status hac_machine_c_new_with(const hac_program *program, size_t string_bytes,
                                               const hac_kernels *kernels, hac_machine_c **ret,
                                               hac_error *err);

/* The function that runs an operation without kernel; NULL: the operation has a kernel. */
hac_step_run hac_state_step(hac_op op);
hac_step_run hac_string_step(hac_op op);

/* Runs a step. Its result is from no dictionary unless the step says so. */
static inline void hac_step_run_rows(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    machine->slots[step->r].dictionary = 0;
    machine->slots[step->r].codes = NULL;
    step->run(machine, step, rows);
}

/* Sets the result's states to the highest of the operands' states; NULL if no operand has states. */
void hac_combine_states(hac_machine_c *machine, const hac_step *step, size_t rows);
/* The slot's own states, writable; all HAC_ROW_OK if the slot had none. */
uint8_t *hac_writable_states(hac_machine_slot *slot);

static inline bool hac_row_ok(const uint8_t *states, size_t row)
{
    return states == NULL || states[row] == HAC_ROW_OK;
}

#endif
