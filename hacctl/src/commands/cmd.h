/* SPDX-License-Identifier: Apache-2.0 */
/* The commands. Each is in the file cmd_*.c of its name, except that these share a file: explain and simulate
 * (cmd_plan.c); why, trace and log (cmd_show.c); result and cancel (cmd_wait.c); tune (cmd_calibrate.c);
 * describe and summarize (cmd_summarize.c);
 * metrics, reload, drain and version (cmd_admin.c). */
#ifndef HACCTL_CMD_H
#define HACCTL_CMD_H

#include "cli/cli.h"
#include "request/simulated_machine.h"

hac_status hac_cmd_devices(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_calibrate(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_tune(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_sort(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_splice(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_pipe(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_describe(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_summarize(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_query(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_mapreduce(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_parquet_query(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_parquet_convert(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_kernels_build(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_parquet_inspect(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_opsplit_run(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_opsplit_check(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_opsplit_explain(hac_cli *cli, const hac_args *args, hac_error *err); /* `explain` of it */
hac_status hac_cmd_opsplit_simulate(hac_cli *cli, const hac_args *args, const hac_simulated_machine *machine,
                                    hac_error *err);
hac_status hac_cmd_opsplit_op(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_opsplit_subop(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_explain(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_simulate(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_run(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_jobs(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_show(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_why(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_wait(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_result(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_cancel(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_log(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_trace(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_doctor(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_top(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_metrics(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_reload(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_drain(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_version(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_help(hac_cli *cli, const hac_args *args, hac_error *err);
hac_status hac_cmd_completion(hac_cli *cli, const hac_args *args, hac_error *err);

#endif
