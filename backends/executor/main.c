/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hac-executor [--probe | --build] [LABEL]: a child of hacd. It gets a socket as descriptor 3 and executes
 * the commands that arrive there. LABEL is shown by ps and in logs. Exit status: 0 after hacd closed the
 * connection or asked for the exit, 1 after a fatal report, 2 if hacd did not start it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memfd.h"
#include "codelet/progress.h"
#include "modes.h"
#include "sandbox.h"
#include "setup.h"

HAC_DEFINE_CLEANUP(hac_parent *, hac_parent_free)

typedef hac_status (*mode_function)(hac_parent *parent, const Hac__Executor__Setup *setup, hac_error *err);

static mode_function mode_of(const char *argument)
{
    if (argument != NULL && strcmp(argument, "--probe") == 0)
        return hac_mode_probe;
    if (argument != NULL && strcmp(argument, "--build") == 0)
        return hac_mode_build;
    return hac_mode_run;
}

/* A copy that outlives the decoder's next message. */
static hac_status copy_setup(const Hac__Executor__Setup *setup, Hac__Executor__Setup **ret, hac_error *err)
{
    size_t bytes = hac__executor__setup__get_packed_size(setup);
    hac_autofree uint8_t *packed = malloc(bytes + 1);
    if (packed == NULL)
        return hac_fail_no_memory(err);
    hac__executor__setup__pack(setup, packed);
    Hac__Executor__Setup *copy = hac__executor__setup__unpack(NULL, bytes, packed);
    if (copy == NULL)
        return hac_fail_no_memory(err);
    *ret = copy;
    return HAC_OK;
}

/* The mapping stays for the life of the process. Without it hacd takes long tasks for hung ones. */
static void count_steps(int fd)
{
    void *counter;
    hac_autoclose int owned = fd;
    if (hac_memfd_check(owned, sizeof(uint64_t), NULL) == HAC_OK &&
        hac_memfd_map(owned, sizeof(uint64_t), true, &counter, NULL) == HAC_OK)
        hac_progress_count_in(counter);
}

static hac_status receive_setup(hac_parent *parent, Hac__Executor__Setup **ret, hac_error *err)
{
    Hac__Executor__Command *command;
    hac_frame frame;
    hac_status status = hac_parent_receive(parent, &command, &frame, err);
    if (status != HAC_OK)
        return status;
    if (command->what_case == HAC__EXECUTOR__COMMAND__WHAT_SETUP && command->setup->counts_steps)
        count_steps(hac_frame_take_fd(&frame, 0));
    hac_frame_clear(&frame);
    if (command->what_case == HAC__EXECUTOR__COMMAND__WHAT_SHUTDOWN)
        return hac_fail(err, HAC_NOT_FOUND, "hacd asked this process to exit");
    if (command->what_case != HAC__EXECUTOR__COMMAND__WHAT_SETUP)
        return hac_fail(err, HAC_PROTOCOL, "the first command is not setup");
    status = hac_setup_check(command->setup, err);
    return status == HAC_OK ? copy_setup(command->setup, ret, err) : status;
}

static hac_status serve(hac_parent *parent, mode_function mode, hac_error *err)
{
    Hac__Executor__Setup *setup = NULL;
    hac_status status = receive_setup(parent, &setup, err);
    if (status != HAC_OK)
        return status;
    status = mode(parent, setup, err);
    hac__executor__setup__free_unpacked(setup, NULL);
    return status;
}

int main(int argc, char **argv)
{
    hac_cleanup(hac_parent_free_cleanup) hac_parent *parent = NULL;
    hac_error err = HAC_ERROR_NONE;
    const char *label = argc > 1 && argv[argc - 1][0] != '-' ? argv[argc - 1] : "";
    char component[96];
    snprintf(component, sizeof component, "hac-executor%s%s", label[0] != '\0' ? " " : "", label);
    hac_log_init(component, HAC_LOG_INFO);
    signal(SIGXFSZ, SIG_IGN); /* beyond a limit of file size a write fails, and says so */
    hac_status status = hac_parent_open(HAC_PARENT_FD, &parent, &err);
    if (status != HAC_OK) {
        fprintf(stderr, "hac-executor: %s\n", err.message);
        return 2;
    }
    status = hac_sandbox_early(&err);
    if (status == HAC_OK)
        status = serve(parent, mode_of(argc > 1 ? argv[1] : NULL), &err);
    if (status == HAC_OK || status == HAC_NOT_FOUND)
        return 0;
    hac_log_record(HAC_LOG_ERROR, HAC_EVENT_REMARK, NULL, "%s", err.message);
    hac_parent_send_fatal(parent, &err);
    return 1;
}
