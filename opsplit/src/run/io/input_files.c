/* SPDX-License-Identifier: Apache-2.0 */
#include "input_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include <hac/files.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/io.h"
#include "base/json_document.h"
#include "run/state/run_base.h"

static bool is_document(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    hac_autoclose int fd = hac_open_read(path);
    return fd >= 0 && hac_json_is_document_file(fd);
}

hac_status hac_run_query_options(const hac_logic_run_state *run, const hac_logic_input *input,
                                 const char *path, hac_query_options *ret, bool *ret_by_client,
                                 hac_error *err)
{
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_input_format by_suffix = hac_format_of_path(path);
    options.input_format = input->optional_format ? by_suffix : (hac_input_format)input->source.format;
    if (options.input_format == HAC_INPUT_NONE)
        return hac_fail(err, HAC_INVALID, "%s: its suffix does not name a format; state `parse` for input %s",
                        path, input->name);
    *ret_by_client = hac_files_is_compressed(path, -1, options.input_format) != 0 ||
                     (options.input_format == HAC_INPUT_JSONL && is_document(path)) ||
                     hac_input_is_dialect(options.input_format, &input->source.options);
    options.schema = input->schema;
    options.where = input->where;
    options.select = input->select != NULL ? input->select : "*";
    options.group_by = input->group_by;
    options.order_by = input->order_by;
    options.limit = input->limit;
    options.input_options = input->source.options;
    options.result_format = HAC_RESULT_TABLE;
    options.job = run->options->job;
    options.stop_fd = run->options->stop_fd;
    *ret = options;
    return HAC_OK;
}

bool hac_run_is_apart(const hac_logic_input *input, const hac_query_options *options)
{
    return !hac_format_is_sequential(options->input_format) && input->row_by_row;
}

/* Waits until a FIFO, opened without waiting, has had a writer: before that a read would return its end. */
static hac_status wait_for_writer(const hac_logic_run_state *run, const char *path, int fd, hac_error *err)
{
    struct pollfd p[] = {{fd, POLLIN, 0}, {run->options->stop_fd, POLLIN, 0}};
    hac_status status = HAC_OK;
    while (status == HAC_OK && p[0].revents == 0) {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return hac_fail_errno(err, HAC_FAILED, errno, "%s cannot be read", path);
        status = hac_run_check_stop(run, err);
    }
    return status;
}

hac_status hac_run_open_file(const hac_logic_run_state *run, const char *path, int *ret_fd,
                             struct stat *ret_stat, hac_error *err)
{
    /* open() would wait for a writer, and a signal that comes just before would not end that */
    hac_autoclose int fd = hac_open_read(path);
    if (fd < 0 || fstat(fd, ret_stat) != 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s cannot be read", path);
    hac_status status = S_ISFIFO(ret_stat->st_mode) ? wait_for_writer(run, path, fd, err) : HAC_OK;
    if (status == HAC_OK)
        *ret_fd = hac_steal_fd(&fd);
    return status;
}
