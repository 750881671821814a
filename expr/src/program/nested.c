/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/nested.h"

#include <stdio.h>

const char *hac_nested_name(hac_nested nested, char *ret)
{
    char key[HAC_VALUE_TYPE_NAME_MAX], element[HAC_VALUE_TYPE_NAME_MAX];
    hac_value_type_name(nested.element, element);
    if (nested.kind == HAC_NESTED_MAP)
        snprintf(ret, HAC_NESTED_NAME_MAX, "map(%s,%s)", hac_value_type_name(nested.key, key), element);
    else
        snprintf(ret, HAC_NESTED_NAME_MAX, "list(%s)", element);
    return ret;
}
