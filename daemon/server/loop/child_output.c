/* SPDX-License-Identifier: Apache-2.0 */
#include "child_output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "base/text.h"

#define READ_BYTES        512         /* libuv reads up to 32 times per turn of the loop */
#define REST_MAX          (64 * 1024) /* capacity of a pipe: what a dead child can have left in it */
#define LAST_WORDS_WITHIN 1.0         /* seconds */
#define SAME_BREATH       0.2         /* seconds between lines of one message */

struct hac_child_output {
    uv_pipe_t pipe;
    hac_log_subject about;
    char device[64], label[96];
    char line[HAC_CHILD_LINE_MAX];
    size_t used;                    /* bytes of `line` */
    char words[HAC_CHILD_LINE_MAX]; /* first line of the last message */
    uint64_t last_ns;               /* time of the last line */
};

/* Shared: one loop's thread reads all pipes. */
static _Thread_local char read_buffer[READ_BYTES];

/* An executor's log lines begin with level, component and kind; hacd writes these itself. */
static hac_log_level take_level(char **text)
{
    for (int level = HAC_LOG_ERROR; level < HAC_LOG_N_LEVELS; level++) {
        const char *name = hac_log_level_name((hac_log_level)level);
        size_t bytes = strlen(name);
        if (strncmp(*text, name, bytes) != 0 || strncmp(*text + bytes, " hac-executor", 13) != 0)
            continue;
        char *message = strstr(*text + bytes, ": "), *kind = strrchr(*text, '[');
        if (message == NULL)
            break;
        if (kind > message && kind[-1] == ' ')
            kind[-1] = '\0';
        *text = message + 2;
        return (hac_log_level)level;
    }
    return HAC_LOG_INFO;
}

static void end_line(hac_child_output *output)
{
    output->line[output->used] = '\0';
    output->used = 0;
    char *text = output->line;
    hac_log_level level = take_level(&text);
    if (text[0] == '\0')
        return;
    if (hac_seconds_since(output->last_ns) > SAME_BREATH)
        hac_utf8_copy_line(output->words, sizeof output->words, text);
    output->last_ns = hac_now_ns();
    hac_log_record(level, HAC_EVENT_REMARK, &output->about, "%s: %s", output->label, text);
}

static void take(hac_child_output *output, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n')
            end_line(output);
        else if (output->used < sizeof output->line - 1)
            output->line[output->used++] = bytes[i];
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    (void)handle;
    (void)suggested;
    *ret = uv_buf_init(read_buffer, sizeof read_buffer);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
    if (n > 0)
        take(stream->data, buffer->base, (size_t)n);
    else if (n < 0)
        uv_read_stop(stream);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

hac_status hac_child_output_open(uv_loop_t *loop, const hac_log_subject *about, const char *label,
                                 hac_child_output **ret, int *ret_theirs, hac_error *err)
{
    int ends[2];
    if (HAC_FAILPOINT("child.output", -1, pipe2(ends, O_CLOEXEC)) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make a pipe");
    hac_autoclose int ours = ends[0], theirs = ends[1];
    hac_child_output *output = calloc(1, sizeof *output);
    if (output == NULL)
        return hac_fail_no_memory(err);
    output->about = *about;
    snprintf(output->device, sizeof output->device, "%s", about->device != NULL ? about->device : "");
    output->about.device = about->device != NULL ? output->device : NULL;
    snprintf(output->label, sizeof output->label, "%s", label);
    output->pipe.data = output;
    uv_pipe_init(loop, &output->pipe, 0);
    int r = uv_pipe_open(&output->pipe, ours); /* makes the pipe non-blocking */
    if (r == 0)
        (void)hac_steal_fd(&ours);
    if (r == 0)
        r = uv_read_start((uv_stream_t *)&output->pipe, on_alloc, on_read);
    if (r != 0) {
        uv_close((uv_handle_t *)&output->pipe, on_closed);
        return hac_fail(err, HAC_IO, "cannot read a pipe: %s", uv_strerror(r));
    }
    *ret = output;
    *ret_theirs = hac_steal_fd(&theirs);
    return HAC_OK;
}

static void take_rest(hac_child_output *output)
{
    uv_os_fd_t fd = -1;
    if (uv_fileno((uv_handle_t *)&output->pipe, &fd) != 0)
        return;
    for (size_t taken = 0; taken < REST_MAX;) {
        ssize_t n = read(fd, read_buffer, sizeof read_buffer);
        if (n <= 0)
            break;
        take(output, read_buffer, (size_t)n);
        taken += (size_t)n;
    }
    if (output->used > 0)
        end_line(output);
}

void hac_child_output_close(hac_child_output *output, char ret[HAC_CHILD_LINE_MAX])
{
    if (ret != NULL)
        ret[0] = '\0';
    if (output == NULL)
        return;
    take_rest(output);
    if (ret != NULL && output->last_ns != 0 && hac_seconds_since(output->last_ns) <= LAST_WORDS_WITHIN)
        memcpy(ret, output->words, HAC_CHILD_LINE_MAX);
    uv_close((uv_handle_t *)&output->pipe, on_closed);
}
