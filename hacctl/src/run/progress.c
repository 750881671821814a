/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "text/number_print.h"
#include "text/text_table.h"

enum { BAR = 24, LINE = 512 };
#define PAUSE_NS UINT64_C(100000000)

static void cut(char *line, size_t columns)
{
    size_t wide = 0;
    for (char *p = line; *p != '\0'; p++) {
        if (((unsigned char)*p & 0xc0) == 0x80)
            continue;
        if (wide++ == columns) {
            *p = '\0';
            return;
        }
    }
}

static void append(char *line, size_t bytes, const char *before, const char *s, const char *after)
{
    size_t used = strlen(line);
    if (s != NULL && *s != '\0')
        snprintf(line + used, bytes - used, "%s%s%s", before, s, after);
}

void hac_progress_format(const hac_progress *progress, size_t columns, char *ret, size_t bytes)
{
    char number[HAC_NUMBER_PRINT_MAX], bar[BAR + 1];
    double fraction = progress->fraction >= 0 && progress->fraction <= 1 ? progress->fraction : 0;
    size_t full = (size_t)(fraction * BAR);
    memset(bar, '-', BAR);
    memset(bar, '#', full);
    bar[BAR] = '\0';
    snprintf(ret, bytes, "[%s] %3d %%", bar, (int)(fraction * 100));
    append(ret, bytes, "  ", progress->state == HAC_JOB_QUEUED ? "queued" : progress->stage, "");
    if (progress->items_per_second > 0)
        append(ret, bytes, "  ", hac_number_print_rate(progress->items_per_second, number), "");
    if (progress->eta_seconds >= 0 && progress->state == HAC_JOB_RUNNING)
        append(ret, bytes, "  ", hac_number_print_seconds(progress->eta_seconds, number), " left");
    append(ret, bytes, "  (", progress->note, ")");
    hac_text_table_sanitise(ret, false);
    cut(ret, columns);
}

static size_t terminal_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
        return 79;
    return (size_t)size.ws_col - 1; /* some terminals wrap after the last column */
}

static void put(int fd, const char *s)
{
    if (write(fd, s, strlen(s)) < 0) {
        /* the terminal has gone: not worth an error */
    }
}

void hac_progress_show(hac_progress_line *line, const hac_progress *progress)
{
    char text[LINE], out[LINE + 8];
    uint64_t now = hac_now_ns();
    if (line->shown_ns != 0 && now - line->shown_ns < PAUSE_NS)
        return;
    line->shown_ns = now;
    hac_progress_format(progress, terminal_columns(line->fd), text, sizeof text);
    snprintf(out, sizeof out, "\r%s\033[K", text);
    put(line->fd, out);
}

void hac_progress_hide(hac_progress_line *line)
{
    if (line->shown_ns != 0)
        put(line->fd, "\r\033[K");
    line->shown_ns = 0;
}
