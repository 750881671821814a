/* SPDX-License-Identifier: Apache-2.0 */
#include "job_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrow_file.h"
#include "base/cleanup.h"
#include "cli/interrupt.h"

enum { CANCEL_MS = 10000 };

/* Looks up the directory of a path. */
static bool stat_directory(const char *path, struct stat *ret)
{
    const char *slash = strrchr(path, '/');
    hac_autofree char *directory = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    return directory != NULL && stat(directory, ret) == 0;
}

static const char *name_in_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Where the output of an option goes; NULL: nowhere. A result without --output goes to standard output. */
static const char *destination(const hac_args *args, hac_option_id id, bool result)
{
    const char *path = args->values[id];
    return path == NULL && id == HAC_OPT_OUTPUT && result ? "-" : path;
}

static bool stat_destination(const char *path, struct stat *ret)
{
    int descriptor = hac_output_descriptor(path);
    return (descriptor >= 0 ? fstat(descriptor, ret) : stat(path, ret)) == 0;
}

bool hac_job_output_same_file(const char *path, const char *other)
{
    struct stat first, second;
    if (path == NULL || other == NULL)
        return false;
    int descriptor = hac_output_descriptor(path), other_descriptor = hac_output_descriptor(other);
    if (descriptor >= 0 && other_descriptor >= 0)
        return descriptor == other_descriptor;
    if (strcmp(path, other) == 0)
        return strcmp(path, "/dev/null") != 0;
    bool there = stat_destination(path, &first), other_there = stat_destination(other, &second);
    if (there || other_there) /* a device cannot be replaced */
        return there && other_there && (S_ISREG(first.st_mode) || S_ISDIR(first.st_mode)) &&
               same_inode(&first, &second);
    return strcmp(name_in_directory(path), name_in_directory(other)) == 0 && stat_directory(path, &first) &&
           stat_directory(other, &second) && same_inode(&first, &second);
}

/* Receipt and trace must not overwrite an input. A result may: sort's -o. */
static hac_status check_input(const struct stat *output, hac_option_id id, const char *path, hac_error *err)
{
    struct stat input;
    if (path == NULL || stat(path, &input) != 0 || !same_inode(&input, output))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "--%s names the input %s, which it would overwrite",
                    hac_option_get(id)->name, path);
}

static hac_status check_inputs(const hac_args *args, hac_option_id id, hac_error *err)
{
    struct stat output;
    hac_status status = HAC_OK;
    if (!hac_args_has(args, id) || stat(args->values[id], &output) != 0 || !S_ISREG(output.st_mode))
        return HAC_OK;
    for (size_t i = 0; i < args->n_words && status == HAC_OK; i++)
        status = check_input(&output, id, args->words[i], err);
    for (size_t i = 0; i < args->n_inputs && status == HAC_OK; i++) {
        const char *equals = strchr(args->inputs[i], '=');
        status = check_input(&output, id, equals != NULL ? equals + 1 : NULL, err);
    }
    if (status == HAC_OK)
        status = check_input(&output, id, args->values[HAC_OPT_WITH], err);
    return status == HAC_OK ? check_input(&output, id, args->values[HAC_OPT_CENTROIDS], err) : status;
}

static hac_status fail_same(const hac_args *args, hac_option_id a, hac_option_id b, hac_error *err)
{
    const char *name = hac_option_get(a)->name, *other = hac_option_get(b)->name, *path = args->values[b];
    bool standard = hac_output_descriptor(path) == STDOUT_FILENO;
    if (!standard && args->values[a] != NULL)
        return hac_fail(err, HAC_INVALID, "--%s and --%s name the same file, %s", name, other, path);
    return hac_fail(err, HAC_INVALID, "%s and --%s would both go to %s; name another file for one of them",
                    a == HAC_OPT_OUTPUT ? "the result" : "--receipt", other,
                    standard ? "standard output" : path);
}

/* Options whose files are written when the job has ended. */
static const hac_option_id late[] = {HAC_OPT_OUTPUT, HAC_OPT_RECEIPT, HAC_OPT_TRACE};

hac_status hac_job_output_check_detached(const hac_args *args, bool result, hac_error *err)
{
    for (size_t i = result ? 0 : 1; i < sizeof late / sizeof *late; i++)
        if (hac_job_output_same_file(args->values[late[i]], "-"))
            return hac_fail(err, HAC_INVALID,
                            "--detach prints the job's id on standard output, where %s would go, too; name a "
                            "file for it",
                            late[i] == HAC_OPT_OUTPUT    ? "the result"
                            : late[i] == HAC_OPT_RECEIPT ? "--receipt"
                                                         : "--trace");
    return HAC_OK;
}

hac_status hac_job_output_check(const hac_args *args, bool result, hac_error *err)
{
    static const char *const instead[] = {"hacctl result JOB -o OUT", "hacctl show JOB --receipt FILE",
                                          "hacctl trace JOB -o FILE"};
    result = result && !hac_args_has(args, HAC_OPT_DETACH);
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        for (size_t k = 0; k < i; k++)
            if (hac_job_output_same_file(destination(args, late[i], result),
                                         destination(args, late[k], result)))
                return fail_same(args, late[k], late[i], err);
    hac_status status = check_inputs(args, HAC_OPT_RECEIPT, err);
    if (status == HAC_OK)
        status = check_inputs(args, HAC_OPT_TRACE, err);
    if (status != HAC_OK || !hac_args_has(args, HAC_OPT_DETACH))
        return status;
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        if (hac_args_has(args, late[i]))
            return hac_fail(err, HAC_INVALID, "--detach does not wait for what --%s writes; use `%s` later",
                            hac_option_get(late[i])->name, instead[i]);
    return HAC_OK;
}

static hac_status open_one(const hac_args *args, hac_option_id id, hac_output_file **ret, hac_error *err)
{
    return hac_args_has(args, id) ? hac_output_open(args->values[id], ret, err) : HAC_OK;
}

hac_status hac_job_output_open(hac_job_output *outputs, const hac_args *args, bool result, hac_error *err)
{
    *outputs = (hac_job_output){.result = NULL};
    hac_status status = HAC_OK;
    if (result)
        status = hac_output_open(args->values[HAC_OPT_OUTPUT], &outputs->result, err);
    if (status == HAC_OK)
        status = open_one(args, HAC_OPT_RECEIPT, &outputs->receipt, err);
    if (status == HAC_OK)
        status = open_one(args, HAC_OPT_TRACE, &outputs->trace, err);
    if (status != HAC_OK)
        hac_job_output_close(outputs);
    return status;
}

void hac_job_output_close(hac_job_output *outputs)
{
    hac_output_free(outputs->result);
    hac_output_free(outputs->receipt);
    hac_output_free(outputs->trace);
    hac_box_table_free(outputs->box);
    *outputs = (hac_job_output){.result = NULL};
}

/* ---- the form of the result ---- */

hac_status hac_job_output_take(hac_job_output *outputs, hac_result_form form, bool arrow_file, hac_error *err)
{
    if (outputs->result == NULL)
        return HAC_OK;
    bool parquet = form == HAC_FORM_OF_PARQUET, arrow = form == HAC_FORM_OF_ARROW;
    if ((parquet || arrow) && hac_output_is_terminal(outputs->result))
        return hac_fail(err, HAC_INVALID, "will not write %s to a terminal; say where with -o OUT",
                        parquet ? "a Parquet file" : "Arrow data");
    outputs->arrow = arrow;
    outputs->arrow_file = arrow_file;
    if (form == HAC_FORM_OF_TABLE && (outputs->box = hac_box_table_new(err)) == NULL)
        return HAC_NO_MEMORY;
    return HAC_OK;
}

hac_status hac_job_output_rows(hac_job_output *outputs, const void *bytes, uint64_t n, hac_error *err)
{
    if (outputs->rows != NULL) {
        hac_text_add_bytes(outputs->rows, bytes, (size_t)n);
        return outputs->rows->broken ? hac_fail_no_memory(err) : HAC_OK;
    }
    if (outputs->box != NULL)
        return hac_box_table_add(outputs->box, bytes, (size_t)n, err);
    return hac_output_write(outputs->result, bytes, n, err);
}

static hac_status write_box(const hac_job_output *outputs, const hac_job *job, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *drawn = NULL;
    const hac_box_look look = hac_output_look(outputs->result);
    const char *name, *type;
    size_t n = 0;
    while (hac_job_column(job, n, &name, &type))
        n++;
    hac_autofree const char **types = calloc(n + 1, sizeof *types);
    if (types == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++)
        (void)hac_job_column(job, i, &name, &types[i]);
    hac_box_table_write(outputs->box, types, n, &look, &text);
    hac_status status = hac_text_finish(&text, &drawn, NULL, err);
    return status == HAC_OK ? hac_output_write_text(outputs->result, drawn, err) : status;
}

static hac_status write_result(hac_job_output *outputs, hac_job *job, hac_error *err)
{
    uint64_t bytes = hac_job_bytes(job);
    hac_status status = HAC_OK;
    if (outputs->arrow)
        return hac_arrow_write(outputs->result, job, outputs->arrow_file, err);
    if (hac_job_data(job) != NULL) { /* rows of splits are written */
        if (outputs->box == NULL)
            status = hac_output_reserve(outputs->result, bytes, err);
        if (status == HAC_OK)
            status = hac_job_output_rows(outputs, hac_job_data(job), bytes, err);
    }
    return status == HAC_OK && outputs->box != NULL ? write_box(outputs, job, err) : status;
}

static hac_status write_answer(hac_output_file *output, hac_cli *cli, hac_topic topic, const hac_job *job,
                               hac_error *err)
{
    hac_autofree char *text = NULL;
    if (output == NULL)
        return HAC_OK;
    hac_status status = hac_cli_ask(cli, topic, hac_job_id(job), HAC_PLAN_JSON, &text, err);
    return status == HAC_OK ? hac_output_write_text(output, text, err) : status;
}

/* Writes the receipt with the conversion before the job as its first field. Edits the text, so that
 * numbers keep all their digits. */
static hac_status write_receipt(const hac_job_output *outputs, hac_cli *cli, const hac_job *job,
                                hac_error *err)
{
    hac_autofree char *text = NULL, *both = NULL;
    if (outputs->receipt == NULL || outputs->conversion == NULL)
        return write_answer(outputs->receipt, cli, HAC_TOPIC_RECEIPT, job, err);
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_RECEIPT, hac_job_id(job), HAC_PLAN_JSON, &text, err);
    if (status != HAC_OK)
        return status;
    const char *rest = *text == '{' ? text + 1 : "}";
    if (asprintf(&both, "{\"conversion\":%s%s%s", outputs->conversion,
                 rest[strspn(rest, " \r\n\t")] == '}' ? "" : ",", rest) < 0) {
        both = NULL;
        return hac_fail_no_memory(err);
    }
    return hac_output_write_text(outputs->receipt, both, err);
}

static hac_status commit(hac_output_file *output, hac_error *err)
{
    return output == NULL ? HAC_OK : hac_output_commit(output, err);
}

hac_status hac_job_output_write(hac_job_output *outputs, hac_cli *cli, hac_job *job, hac_error *err)
{
    hac_status status = HAC_OK;
    if (cli->started != NULL)
        *cli->started = hac_job_id(job);
    if (outputs->result != NULL)
        status = write_result(outputs, job, err);
    if (status == HAC_OK)
        status = write_receipt(outputs, cli, job, err);
    if (status == HAC_OK)
        status = write_answer(outputs->trace, cli, HAC_TOPIC_TRACE, job, err);
    if (status == HAC_OK)
        status = commit(outputs->receipt, err);
    if (status == HAC_OK)
        status = commit(outputs->trace, err);
    return status == HAC_OK ? commit(outputs->result, err) : status;
}

hac_status hac_job_output_write_id(const hac_cli *cli, uint64_t job, hac_error *err)
{
    char line[64];
    hac_cleanup(hac_output_free_cleanup) hac_output_file *output = NULL;
    snprintf(line, sizeof line, cli->json ? "{\"job\": %llu}" : "%llu", (unsigned long long)job);
    hac_status status = hac_output_open(NULL, &output, err);
    if (status != HAC_OK)
        return status;
    hac_output_outlive_reader(output);
    status = hac_output_write_text(output, line, err);
    return status == HAC_OK ? hac_output_commit(output, err) : status;
}

hac_status hac_job_output_fail_id(uint64_t job, hac_status status, hac_error *err)
{
    char why[HAC_ERROR_MESSAGE_SIZE];
    if (status == HAC_NOT_FOUND)
        hac_interrupt_broken_pipe();
    snprintf(why, sizeof why, "%s", err->message);
    return hac_fail(err, status, "%.400s; job %llu is abandoned because its id could not be printed", why,
                    (unsigned long long)job);
}

/* Cancels the job and releases its result, which nobody could fetch. */
static void abandon(hac_job *job)
{
    hac_error ignored = HAC_ERROR_NONE;
    (void)!hac_job_cancel(job, &ignored); /* fails if the job is done */
    if (hac_job_wait(job, CANCEL_MS, &ignored) == HAC_OK)
        (void)!hac_job_release(job, &ignored);
}

hac_status hac_job_output_print_id(const hac_cli *cli, hac_job *job, hac_error *err)
{
    hac_status status = hac_job_output_write_id(cli, hac_job_id(job), err);
    if (status == HAC_OK)
        return HAC_OK;
    abandon(job);
    return hac_job_output_fail_id(hac_job_id(job), status, err);
}
