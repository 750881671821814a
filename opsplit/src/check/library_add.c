/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the definition of a user and adds it to the library. */
#include "base/cleanup.h"
#include "check.h"
#include "library/library_files.h"

HAC_DEFINE_CLEANUP(hac_logic_checker *, hac_checker_free)

static hac_status check(hac_logic_checker *c, hac_library_kind kind, const char *text, size_t length,
                        hac_definition **ret)
{
    hac_status status = hac_definition_parse(c, kind, c->logic->file, text, length, ret);
    if (status == HAC_OK)
        status = hac_definition_check(c, *ret, hac_check_list);
    return hac_checker_conclude(c, status);
}

hac_status hac_library_add(hac_library *library, hac_library_kind kind, const char *file, const char *text,
                           size_t length, hac_library_added *ret, hac_logic_problems *problems,
                           hac_error *err)
{
    hac_cleanup(hac_checker_free_cleanup) hac_logic_checker *c = NULL;
    hac_definition *d = NULL;
    hac_error unused = HAC_ERROR_NONE;
    err = err != NULL ? err : &unused;
    if (problems != NULL)
        *problems = (hac_logic_problems)HAC_LOGIC_PROBLEMS_NONE;
    hac_status status = hac_checker_new(file, library, &c, err);
    if (status != HAC_OK)
        return status;
    status = check(c, kind, text, length, &d);
    if (status != HAC_OK) {
        hac_checker_finish(c, NULL, problems);
        return status;
    }
    return hac_library_put(library, kind, &(hac_library_definition){d->name, d->about, text, length}, ret,
                           err);
}
