/* SPDX-License-Identifier: Apache-2.0 */
#include "cut_filter.h"

#include "base/cleanup.h"

HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)

/* Bool has no such operation, and a cut through two values would be of little use. */
static hac_op comparison(hac_value_type type, bool with_equal)
{
    static const hac_op ops[HAC_REPR_END][2] = {
        [HAC_REPR_I64] = {HAC_OP_LT_I64, HAC_OP_LE_I64},
        [HAC_REPR_U64] = {HAC_OP_LT_U64, HAC_OP_LE_U64},
        [HAC_REPR_F32] = {HAC_OP_LT_F32, HAC_OP_LE_F32},
        [HAC_REPR_F64] = {HAC_OP_LT_F64, HAC_OP_LE_F64},
        [HAC_REPR_I128] = {HAC_OP_LT_I128, HAC_OP_LE_I128},
        [HAC_REPR_STRING] = {HAC_OP_LT_STRING, HAC_OP_LE_STRING},
    };
    return ops[hac_repr_of(type)][with_equal];
}

bool hac_cut_filter_can(hac_value_type type)
{
    return comparison(type, true) != (hac_op)0;
}

hac_status hac_cut_filter_make(const hac_source_cut *cut, hac_value_type type, hac_cut_filter *ret,
                               hac_error *err)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *b = NULL;
    hac_cut_filter made = {.program = NULL};
    hac_status status = hac_program_builder_new(&b, err);
    if (status != HAC_OK)
        return status;
    hac_value_id x = hac_program_builder_input(b, cut->column, type);
    hac_value_id end =
        cut->value.repr == HAC_REPR_STRING
            ? hac_program_builder_string(b, cut->bytes + cut->value.low, cut->value.high)
            : hac_program_builder_constant(b, (hac_repr)cut->value.repr, cut->value.low, cut->value.high);
    hac_op op = comparison(type, cut->with_equal);
    hac_value_id counts =
        hac_program_builder_op(b, op, cut->descending ? end : x, cut->descending ? x : end, 0, 0);
    hac_program_builder_output(b, counts, (hac_value_type){.kind = HAC_KIND_BOOL});
    status = hac_program_builder_finish(b, &made.program, err);
    if (status == HAC_OK)
        status = hac_conjuncts_find(made.program, &made.found, err);
    if (status == HAC_OK)
        *ret = made;
    else
        hac_cut_filter_clear(&made);
    return status;
}

void hac_cut_filter_clear(hac_cut_filter *filter)
{
    hac_conjuncts_clear(&filter->found);
    hac_program_free(filter->program);
    *filter = (hac_cut_filter){.program = NULL};
}
