/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl explain opsplit run: what a logic file becomes, before it runs. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command.h"
#include "opsplit/decompose.h"
#include "opsplit_library.h"
#include "sort_request.h"

HAC_DEFINE_CLEANUP(hac_logic *, hac_logic_free)
HAC_DEFINE_CLEANUP(hac_decomposition *, hac_decomposition_free)

static hac_status parse_components(const hac_args *args, hac_decompose_options *ret, hac_error *err)
{
    uint64_t n = 1;
    hac_status status = HAC_OK;
    if (hac_args_has(args, HAC_OPT_COMPONENTS))
        status = hac_parse_count(args->values[HAC_OPT_COMPONENTS], &n, err);
    if (status == HAC_OK && (n == 0 || n > HAC_LOGIC_SPLIT_MAX))
        return hac_fail(err, HAC_INVALID, "explain: --components is from 1 to %d", HAC_LOGIC_SPLIT_MAX);
    ret->components = (unsigned)n;
    return status;
}

/* Where and when parts run is known when data is: what every flow says of that is null here. */
static void add_json(const hac_decomposition *decomposition, hac_text *text)
{
    static const char *const others[] = {"k", "k_source", "shares", "predicted_seconds", "devices", "tasks"};
    hac_json_open(text, NULL, '{');
    hac_json_string(text, "flow", "opsplit");
    hac_json_string(text, "name", decomposition->logic->name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        hac_json_null(text, others[i]);
    hac_decomposition_json(decomposition, NULL, "steps", text);
    hac_json_close(text, '}');
}

static hac_status explain(const char *file, const hac_decompose_options *options, hac_plan_format format,
                          hac_error *err)
{
    hac_cleanup(hac_library_free_cleanup) hac_library *library = NULL;
    hac_cleanup(hac_logic_free_cleanup) hac_logic *logic = NULL;
    hac_cleanup(hac_decomposition_free_cleanup) hac_decomposition *decomposition = NULL;
    hac_autofree char *all = NULL;
    hac_text text = HAC_TEXT_NONE;
    hac_status status = hac_opsplit_library_open(&library, err);
    if (status == HAC_OK)
        status = hac_logic_read(file, library, &logic, NULL, err);
    if (status == HAC_NOT_FOUND)
        return hac_fail(err, HAC_FAILED, "%s: there is no such file", file);
    if (status == HAC_OK)
        status = hac_decompose(logic, options, &decomposition, err);
    if (status != HAC_OK)
        return status;
    if (format == HAC_PLAN_JSON)
        add_json(decomposition, &text);
    else
        hac_decomposition_print(decomposition, NULL, &text);
    status = hac_text_finish(&text, &all, NULL, err);
    return status == HAC_OK ? hac_cli_print(all, err) : status;
}

hac_status hac_cmd_opsplit_explain(hac_cli *cli, const hac_args *args, hac_error *err)
{
    const uint64_t taken = HAC_OPTIONS_GLOBAL | HAC_OPTIONS_OPSPLIT | HAC_OPT_BIT(HAC_OPT_FORMAT);
    hac_decompose_options options = {1};
    hac_plan_format format = hac_cli_format(cli, args);
    hac_status status = hac_args_refuse(args, "explain", ~taken, "no option of opsplit run", err);
    if (status == HAC_OK && args->n_words != 3)
        return hac_fail(err, HAC_INVALID,
                        "explain: usage: hacctl explain opsplit run LOGIC.yaml [--components N]");
    if (status == HAC_OK && format == HAC_PLAN_SVG)
        return hac_fail(err, HAC_INVALID, "explain: there is no picture of a logic file; take text or json");
    if (status == HAC_OK)
        status = parse_components(args, &options, err);
    return status == HAC_OK ? explain(args->words[2], &options, format, err) : status;
}
