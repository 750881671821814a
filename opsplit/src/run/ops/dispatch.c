/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the sub-operator of a piece. */
#include <string.h>

#include "ops.h"

hac_status hac_run_map_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    return hac_run_map(run, piece, hac_logic_argument_expression(piece, "expr"),
                       hac_logic_argument_vector(piece, "out"), err);
}

hac_status hac_run_let_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    const hac_logic_argument *a = hac_logic_argument_get(piece, "name");
    return hac_run_map(run, piece, a->expressions[0], a->vectors[0], err);
}

hac_status hac_run_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    typedef hac_status piece_maker(hac_logic_run_state *, const hac_logic_piece *, hac_error *);
    static piece_maker *const makers[HAC_SUBOP_END] = {
#define HAC_SUBOP(id, run, ...) [HAC_SUBOP_##id] = hac_run_##run##_piece,
#include "base/op_catalog.def"
    };
    piece_maker *make = makers[piece->subop->id];
    return make != NULL ? make(run, piece, err)
                        : hac_fail(err, HAC_INTERNAL, "`%s` is no sub-operator that can be run", piece->name);
}
