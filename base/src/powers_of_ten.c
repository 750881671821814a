/* SPDX-License-Identifier: Apache-2.0 */
#include "powers_of_ten.h"

const hac_power hac_powers_of_ten[HAC_POWER_LAST - HAC_POWER_FIRST + 1] = {
#include "powers_of_ten_table.inc"
};
