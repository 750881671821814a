/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_pages FILE: a file to standard output, a pipe, without copying it: the pipe is given the pages of the
 * file (splice(2)), as `pv` does. What `cat` copies is then no part of what is measured of the reader.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 20) /* as hacctl has it */

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        fprintf(stderr, "usage: write_pages FILE > PIPE\n");
        return 2;
    }
    ssize_t n = 0;
    (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_BYTES);
    while ((n = splice(fd, NULL, STDOUT_FILENO, NULL, PIPE_BYTES, 0)) > 0)
        continue;
    if (n < 0)
        perror("write_pages");
    return n < 0;
}
