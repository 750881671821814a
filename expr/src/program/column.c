/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/column.h"

const char *hac_row_state_text(unsigned state)
{
    static const char *const texts[] = {"",
                                        "the value is null",
                                        "the result is out of range (overflow)",
                                        "the value does not fit the type; try_cast gives null instead",
                                        "the text is not a value of the type; try_cast gives null instead",
                                        "the time has nanoseconds, and timestamps have microseconds; "
                                        "of Parquet, --schema 'COLUMN:i64' reads whole nanoseconds, which "
                                        "make_timestamp(COLUMN // 1000) cuts, "
                                        "and * exclude (COLUMN) leaves the column out; of text, "
                                        "cast(substr(t, 1, 26) as timestamp) cuts them",
                                        "the text is not of the format; try_strptime gives null instead",
                                        ("the text is not JSON; if(json_valid(a), ..., null) gives null "
                                         "instead, and substr(a, n, 1) is a character of text")};
    return state < sizeof texts / sizeof *texts ? texts[state] : "unknown error";
}

size_t hac_repr_size(hac_repr repr)
{
    static const uint8_t sizes[HAC_REPR_END] = {0, 1, 8, 8, 4, 8, 16, sizeof(hac_string_ref)};
    return repr < HAC_REPR_END ? sizes[repr] : 0;
}

uint64_t hac_column_string_bytes(const hac_column *v, size_t rows)
{
    const hac_string_ref *refs = v->values;
    uint64_t sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += v->states != NULL && v->states[i] != 0 ? 0 : refs[i].length;
    return sum;
}
