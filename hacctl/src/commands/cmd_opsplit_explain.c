/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl explain opsplit run, and simulate: what a logic file becomes, and where it would run. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd.h"
#include "opsplit/decompose.h"
#include "report/opsplit_plan.h"
#include "request/opsplit_request.h"
#include "request/simulated_machine.h"
#include "text/json_fields.h"

HAC_DEFINE_CLEANUP(hac_placement *, hac_placement_free)
HAC_DEFINE_CLEANUP(hac_decomposition *, hac_decomposition_free)

/* ---- where it would run ---- */

/* Reads hacd's plan, which has a task and a reason for each task of ours, in the same order. */
static hac_status read_plan(const char *text, hac_placed_task *tasks, size_t n, hac_error *err)
{
    hac_autojson cJSON *plan = NULL;
    hac_status status = hac_json_parse_object(text, "the plan", &plan, err);
    if (status != HAC_OK)
        return status;
    const cJSON *task = hac_json_get_array(plan, "tasks"), *reason = hac_json_get_array(plan, "candidates");
    task = task != NULL ? task->child : NULL;
    reason = reason != NULL ? reason->child : NULL;
    for (size_t i = 0; i < n; i++, task = task->next, reason = reason->next) {
        if (task == NULL || reason == NULL)
            return hac_fail(err, HAC_PROTOCOL, "the plan has fewer tasks than were asked for");
        const char *why = hac_json_get_string(reason, "reason");
        tasks[i].devices = hac_json_get_joined(task, "devices");
        tasks[i].seconds = hac_json_get_number(reason, "predicted_seconds");
        if (why != NULL && (tasks[i].reason = strdup(why)) == NULL)
            return hac_fail_no_memory(err);
    }
    return HAC_OK;
}

/* Asks the daemon where the tasks would run. The decomposition needs no daemon: without one *ret stays
 * NULL, and *ret_why says why. A simulated machine needs a daemon, which prices it. */
static hac_status place(hac_cli *cli, const hac_opsplit_request *r, hac_placement **ret, hac_error *ret_why,
                        hac_error *err)
{
    hac_status status = hac_cli_connect(cli, ret_why);
    if (status != HAC_OK && r->options.machine != NULL)
        return hac_fail(err, status, "%s", ret_why->message);
    if (status != HAC_OK)
        return HAC_OK;
    return hac_run_placement(cli->client, r->logic, &r->options, read_plan, ret, err);
}

/* ---- the answer ---- */

static void add_json(const hac_decomposition *decomposition, const hac_opsplit_request *r,
                     const hac_placement *placement, const char *why_not, hac_text *text)
{
    hac_json_open(text, NULL, '{');
    hac_json_string(text, "flow", "opsplit");
    hac_json_string(text, "name", decomposition->logic->name);
    hac_opsplit_plan_json(decomposition->logic, placement, text);
    hac_json_open(text, "placement", '{');
    hac_json_string(text, "policy", r->options.policy == HAC_OP_POLICY_RULE ? "rule" : "measured");
    hac_json_unsigned(text, "threshold", r->options.threshold > 0 ? r->options.threshold : UINT64_C(3) << 30);
    hac_json_string(text, "open", placement == NULL ? why_not : NULL);
    hac_json_close(text, '}');
    hac_decomposition_json(decomposition, NULL, placement, "steps", text);
    hac_json_close(text, '}');
}

static hac_status print(const hac_decomposition *decomposition, const hac_opsplit_request *r,
                        const hac_placement *placement, const char *why_not, hac_form form, hac_error *err)
{
    hac_autofree char *all = NULL;
    hac_text text = HAC_TEXT_NONE;
    if (form == HAC_FORM_JSON) {
        add_json(decomposition, r, placement, why_not, &text);
    } else {
        hac_decomposition_print(decomposition, NULL, placement, &text);
        if (placement == NULL)
            hac_text_addf(&text, "placement: not known: %s\n", why_not);
        else
            hac_opsplit_plan_print(placement, &text);
    }
    hac_status status = hac_text_finish(&text, &all, NULL, err);
    return status == HAC_OK ? hac_cli_print(all, err) : status;
}

static hac_status explain(hac_cli *cli, hac_opsplit_request *r, const char *file, hac_form form,
                          hac_error *err)
{
    hac_cleanup(hac_decomposition_free_cleanup) hac_decomposition *decomposition = NULL;
    hac_cleanup(hac_placement_free_cleanup) hac_placement *placement = NULL;
    hac_decompose_options options = {r->options.components, hac_node_threads()};
    hac_error why = HAC_ERROR_NONE;
    hac_status status = hac_opsplit_read(file, &r->library, &r->logic, NULL, err);
    if (status == HAC_OK)
        hac_opsplit_say_damaged(cli, r->library);
    if (status == HAC_OK)
        status = hac_decompose(r->logic, &options, &decomposition, err);
    if (status == HAC_OK)
        status = place(cli, r, &placement, &why, err);
    return status == HAC_OK ? print(decomposition, r, placement, why.message, form, err) : status;
}

static hac_status command(hac_cli *cli, const hac_args *args, const char *name,
                          const hac_simulated_machine *machine, hac_error *err)
{
    const hac_option_set taken = hac_option_set_union(hac_options_for(HAC_FOR_OPSPLIT),
                                                      HAC_OPTION_SET(HAC_OPT_FORMAT, HAC_OPT_PROFILES));
    hac_cleanup(hac_opsplit_request_clear) hac_opsplit_request r = {.options = HAC_RUN_OPTIONS_INIT};
    const hac_args stays = hac_args_without(args, HAC_OPT_DETACH);
    hac_form form = hac_cli_form(cli, args);
    hac_status status =
        hac_args_refuse(args, name, hac_option_set_others(taken), "not an option of opsplit run", err);
    if (status == HAC_OK && args->n_words != 3)
        return hac_fail(err, HAC_INVALID,
                        "%s: usage: hacctl %s %sopsplit run LOGIC.yaml [--input NAME=FILE …]", name, name,
                        machine != NULL ? "--profiles DIR " : "");
    if (status == HAC_OK && form == HAC_FORM_SVG)
        return hac_fail(err, HAC_INVALID, "%s: a logic file has no drawing; use text or json", name);
    if (status == HAC_OK)
        status = hac_opsplit_request_parse(&r, name, &stays, err);
    if (machine != NULL) {
        r.options.machine = hac_simulated_machine_devices(machine);
        r.options.n_machine = hac_simulated_machine_count(machine);
    }
    return status == HAC_OK ? explain(cli, &r, args->words[2], form, err) : status;
}

hac_status hac_cmd_opsplit_explain(hac_cli *cli, const hac_args *args, hac_error *err)
{
    return command(cli, args, "explain", NULL, err);
}

hac_status hac_cmd_opsplit_simulate(hac_cli *cli, const hac_args *args, const hac_simulated_machine *machine,
                                    hac_error *err)
{
    return command(cli, args, "simulate", machine, err);
}
