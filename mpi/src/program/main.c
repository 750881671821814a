/* SPDX-License-Identifier: Apache-2.0 */
/* hac-mpi: what hacctl does in one process, done by the ranks of mpirun together. */
#include <stdlib.h>
#include <string.h>

#include "cli/command_run.h"
#include "cli/interrupt.h"
#include "command_table.h"
#include "commands.h"
#include "rank_program.h"

static const char usage[] =
    "usage: mpirun -n RANKS hac-mpi [OPTION…] LOGIC.yaml [--input NAME=FILE]… [-o DIR]\n"
    "       mpirun -n RANKS hac-mpi [OPTION…] sort IN --type TYPE -o OUT [--descending] [--argsort]\n"
    "       mpirun -n RANKS hac-mpi [OPTION…] mapreduce IN… --select EXPR,… [QUERY]\n"
    "       mpirun -n RANKS hac-mpi [OPTION…] parquet query IN… --select EXPR,… [QUERY]\n\n"
    "Each rank works on its part with the daemon of its machine. All ranks need the same files; rank 0 "
    "writes\n"
    "the results. Options are those of `hacctl opsplit run`, sort, mapreduce and parquet query, and\n"
    "  --log FILE     where rank 0 writes the process log of all ranks as it comes; - is standard error\n"
    "{rank} in --socket or $HAC_SOCKET stands for the rank's number. `man hac-mpi` says more.\n";

/* Takes --log FILE out of the arguments. */
static hac_status take_log(int *argc, char **argv, const char **ret, hac_error *err)
{
    int kept = 1;
    *ret = NULL;
    for (int i = 1; i < *argc; i++) {
        bool joined = strncmp(argv[i], "--log=", 6) == 0;
        if (!joined && strcmp(argv[i], "--log") != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        if (!joined && i + 1 == *argc)
            return hac_fail(err, HAC_INVALID, "option --log needs a value: FILE");
        *ret = joined ? argv[i] + 6 : argv[++i];
    }
    argv[kept] = NULL;
    *argc = kept;
    return HAC_OK;
}

/* A command of hacctl that ranks can run. *ret_words is the number of words of its name. */
static hac_status find_command(const hac_cli *cli, const hac_args *args, hac_command *ret, size_t *ret_words,
                               hac_error *err)
{
    static const struct {
        const char *name;
        hac_command_function run;
    } known[] = {{"sort", hac_mpi_cmd_sort},
                 {"mapreduce", hac_mpi_cmd_mapreduce},
                 {"parquet query", hac_mpi_cmd_parquet}};
    static char logic_group[] = "opsplit", logic_name[] = "run";
    static char *const logic[] = {logic_group, logic_name};
    const hac_command *found = hac_command_find(cli->commands, args->words, args->n_words, ret_words);
    if (found == NULL) {
        *ret_words = 0;
        *ret = *hac_command_find(cli->commands, logic, 2, &(size_t){0});
        return HAC_OK;
    }
    *ret = *found;
    if (strcmp(found->name, "opsplit run") == 0)
        return HAC_OK;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(found->name, known[i].name) == 0) {
            ret->run = known[i].run;
            return HAC_OK;
        }
    return hac_fail(
        err, HAC_INVALID,
        "%s is a command of hacctl; ranks run logic files, sort, mapreduce and parquet query (./%s is a file "
        "of that name)",
        found->name, found->name);
}

static hac_status run(hac_cli *cli, int argc, char **argv, hac_error *err)
{
    hac_args args = {.n_words = 0};
    hac_command command;
    size_t named = 0;
    hac_status status = hac_interrupt_install(err);
    hac_interrupt_defer(1);
    if (status == HAC_OK)
        status = hac_args_parse_front(&args, argc, argv, hac_options_in(HAC_SECTION_GLOBAL), err);
    if (status != HAC_OK)
        return status;
    if (hac_args_has(&args, HAC_OPT_VERSION) || hac_args_has(&args, HAC_OPT_HELP))
        return cli->ranks->rank != 0
                   ? HAC_OK
                   : hac_cli_print(hac_args_has(&args, HAC_OPT_VERSION) ? "hac-mpi " HACCTL_VERSION : usage,
                                   err);
    if (args.n_words == 0)
        return hac_fail(err, HAC_INVALID, "which logic file? `hac-mpi --help` says more");
    status = find_command(cli, &args, &command, &named, err);
    return status == HAC_OK ? hac_command_run(&command, cli, &args, (int)(args.n_words - named + 1),
                                              args.words + named - 1, err)
                            : status;
}

int main(int argc, char **argv)
{
    hac_error err = HAC_ERROR_NONE;
    const char *log = NULL;
    hac_cli_set_program("hac-mpi");
    hac_mpi_program *program = hac_mpi_begin(&argc, &argv);
    hac_cli cli = {.commands = hac_commands, .ranks = hac_mpi_ranks(program), .log = hac_mpi_log};
    hac_status status = take_log(&argc, argv, &log, &err);
    if (status == HAC_OK)
        status = hac_mpi_log_open(program, log, &err);
    if (status == HAC_OK)
        status = run(&cli, argc, argv, &err);
    int code = hac_mpi_end(program, status, &err);
    hac_cli_clear(&cli);
    return code;
}
