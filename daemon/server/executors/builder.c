/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/processors.h"
#include "child_setup.h"
#include "executor.h"
#include "loop/child.h"
#include "loop/scratch.h"

#define TESTED_MAX (64 * 1024)
/* SIGKILLs from outside, such as the kernel's when memory runs out, before they count as an answer */
#define KILLS_MAX           5
#define BACKGROUND_PATIENCE 10.0
#define LEAVE_SECONDS       30.0 /* for a builder that is done, as drivers clean up when it exits */

struct hacd_kernel_builder {
    hac_builders *builders;
    uint32_t device;
    struct hac_child *child;
    hac_scratch_path scratch;
    hac_builder_role role;
    bool leaving;      /* it reported that it was done, and was asked to exit */
    bool overdue;      /* killed for taking too long */
    bool dropped;      /* killed because nobody needs it any more */
    char current[64];  /* the wanted program that it was asked for and has not built; "": none */
    uint64_t heard_ns; /* when it started or last reported */
    char fatal[256];   /* its last report before it exited */
};

/* ---- which devices have passed ------------------------------------------------------------------------ */

static void tested_path(const hac_builders *builders, char *ret, size_t capacity)
{
    snprintf(ret, capacity, "%s/tested-devices", builders->state_directory);
}

void hac_builders_init(hac_builders *builders)
{
    char path[PATH_MAX];
    tested_path(builders, path, sizeof path);
    hac_autofclose FILE *file = fopen(path, "re");
    builders->tested = calloc(1, TESTED_MAX);
    if (file == NULL || builders->tested == NULL)
        return;
    size_t n = fread(builders->tested, 1, TESTED_MAX - 1, file);
    builders->tested[n] = '\0';
}

void hac_builders_deinit(hac_builders *builders)
{
    free(builders->tested);
    builders->tested = NULL;
}

static bool known(const hac_builders *builders, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = builders->tested; at != NULL && *at != '\0';) {
        const char *end = strchrnul(at, '\n');
        if ((size_t)(end - at) == length && memcmp(at, key, length) == 0)
            return true;
        at = *end == '\n' ? end + 1 : end;
    }
    return false;
}

/* A few lines, written once in a device's life: not worth the thread pool. */
static void remember(hac_builders *builders, const char *key)
{
    char path[PATH_MAX];
    if (known(builders, key))
        return;
    if (builders->tested != NULL && strlen(builders->tested) + strlen(key) + 2 < TESTED_MAX) {
        strcat(builders->tested, key);
        strcat(builders->tested, "\n");
    }
    tested_path(builders, path, sizeof path);
    hac_autofclose FILE *file = fopen(path, "ae");
    if (file != NULL)
        fprintf(file, "%s\n", key);
}

/* ---- reports ------------------------------------------------------------------------------------------ */

static void pass(hac_builders *builders, hac_server_device *device)
{
    if (device->state == HAC_DEVICE_UNTESTED)
        device->state = HAC_DEVICE_READY;
    remember(builders, device->program_key);
}

static void fail(hac_server_device *device, const char *reason)
{
    device->state = HAC_DEVICE_UNUSABLE;
    device->n_wanted = 0;
    snprintf(device->reason, sizeof device->reason, "%s", reason);
    hac_log_subject about = hac_log_device(device->config.name);
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_DEVICE_UNUSABLE, &about, "device %s cannot be used: %s",
                   device->config.name, device->reason);
}

static bool same_programs(const hac_builders *builders, uint32_t a, uint32_t b)
{
    return strcmp(builders->devices->items[a]->program_key, builders->devices->items[b]->program_key) == 0;
}

/* The builder with that role that works for this device: its own, or that of a device with the same programs.
 */
static struct hacd_kernel_builder *builder_for(const hac_builders *builders, hac_builder_role role,
                                               uint32_t device)
{
    struct hacd_kernel_builder *const *list = builders->at[role];
    for (uint32_t i = 0; i < builders->devices->count; i++)
        if (list[i] != NULL && !list[i]->dropped && same_programs(builders, i, device))
            return list[i];
    return NULL;
}

static bool is_being_built_for(const hac_builders *builders, uint32_t device)
{
    return builder_for(builders, HAC_BUILDER_URGENT, device) != NULL ||
           builder_for(builders, HAC_BUILDER_SECOND, device) != NULL;
}

static bool is_urgent(const struct hacd_kernel_builder *builder)
{
    return builder->role != HAC_BUILDER_BACKGROUND;
}

static void take_built(hac_builders *builders, hac_server_device *device, const Hac__Executor__Built *built)
{
    snprintf(device->build_note, sizeof device->build_note, "%u of %u", built->done, built->of);
    device->builds++;
    for (size_t i = 0; i < built->n_failures; i++)
        hac_device_add_failure(device, built->failures[i]);
    bool self_test = strcmp(built->program, "selftest") == 0;
    if (self_test && built->code != HAC_OK) {
        char reason[256];
        snprintf(reason, sizeof reason, "%.60s: %.180s", built->program, built->message);
        fail(device, reason);
    } else if (self_test && built->n_failures > 0) {
        fail(device, built->failures[0]);
    } else if (self_test) {
        pass(builders, device);
    } else {
        hac_device_set_program(device, built->program, built->code != HAC_OK ? built->message : NULL);
    }
    hac_device_unwant(device, built->program);
}

static void build_wanted(hac_builders *builders, uint32_t index);

/* What is built counts for every device with the same programs. */
static void on_built(struct hacd_kernel_builder *builder, const Hac__Executor__Built *built)
{
    hac_builders *builders = builder->builders;
    builders->devices->items[builder->device]->build_kills = 0;
    if (strcmp(builder->current, built->program) == 0)
        builder->current[0] = '\0';
    for (uint32_t i = 0; i < builders->devices->count; i++) {
        if (!same_programs(builders, i, builder->device))
            continue;
        take_built(builders, builders->devices->items[i], built);
        builders->changed(builders->context, i);
    }
    build_wanted(builders, builder->device);
}

static void on_report(void *context, const Hac__Executor__Report *report)
{
    struct hacd_kernel_builder *builder = context;
    hac_server_device *device = builder->builders->devices->items[builder->device];
    builder->heard_ns = hac_now_ns();
    switch (report->what_case) {
    case HAC__EXECUTOR__REPORT__WHAT_BUILT:
        on_built(builder, report->built);
        break;
    case HAC__EXECUTOR__REPORT__WHAT_BUILD_END:
        /* The outcome of each program, also of the self-test, has been reported. A new request may be on its
         * way to the builder. */
        builder->leaving = !is_urgent(builder) || builder->current[0] == '\0';
        if (builder->leaving)
            hac_child_leave(builder->child);
        break;
    case HAC__EXECUTOR__REPORT__WHAT_FATAL:
        hac_utf8_copy_line(builder->fatal, sizeof builder->fatal, report->fatal);
        if (device->state == HAC_DEVICE_UNTESTED && builder->role == HAC_BUILDER_URGENT)
            fail(device, report->fatal);
        break;
    default:
        break;
    }
}

static void start_background(hac_builders *builders, uint32_t index);

/* A wanted program cannot be built. The tasks that need it go to other devices; the device stays usable. */
static void lose_wanted(hac_server_device *device, const char *program, const char *reason)
{
    if (program[0] == '\0')
        return;
    hac_device_set_program(device, program, reason);
    hac_device_unwant(device, program);
    device->builds++; /* the tasks that wait for it look again */
}

/* An urgent builder has ended before it was done: decides what to blame. What a second builder has not built
 * is left to the first, as two may need more memory than there is. */
static void blame(const struct hacd_kernel_builder *builder, hac_server_device *device, const char *reason)
{
    if (builder->role == HAC_BUILDER_SECOND && !builder->overdue)
        device->one_builder = true;
    else if (device->state == HAC_DEVICE_UNTESTED && builder->role == HAC_BUILDER_URGENT)
        fail(device, reason);
    else
        lose_wanted(device, builder->current, reason);
}

/* An urgent builder of these devices has gone, done or not. */
static void end_urgent(hac_builders *builders, const struct hacd_kernel_builder *builder, const char *reason)
{
    uint32_t index = builder->device;
    for (uint32_t i = 0; i < builders->devices->count; i++) {
        if (!same_programs(builders, i, index))
            continue;
        if (!builder->leaving)
            blame(builder, builders->devices->items[i], reason);
        builders->changed(builders->context, i);
    }
    build_wanted(builders, index);
    bool building = is_being_built_for(builders, index);
    for (uint32_t i = 0; i < builders->devices->count; i++)
        if (same_programs(builders, i, index))
            builders->devices->items[i]->building = building;
    bool through = builder->leaving || builder->role == HAC_BUILDER_SECOND;
    if (through && !building && !builders->quiet && !builders->closed &&
        builders->devices->items[index]->state == HAC_DEVICE_READY)
        start_background(builders, index);
}

/* A builder counts its attempts at a program in a file beside the binary, PROGRAM.attempts, because a driver
 * may end the process. If hacd killed the builder, no driver is to blame: without this, the program would be
 * given up after three such kills. */
static void forget_attempts(const hac_builders *builders)
{
    char pattern[PATH_MAX + 16];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*/*.attempts", builders->program_directory);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

/* A background builder gets only idle processor time, so it may be silent for long without hanging. */
static double patience(const struct hacd_kernel_builder *builder)
{
    return builder->builders->deadline_seconds * (is_urgent(builder) ? 1 : BACKGROUND_PATIENCE);
}

static void describe_end(const struct hacd_kernel_builder *builder, int64_t status, int signal, char *ret,
                         size_t capacity)
{
    const char *words = hac_child_last_words(builder->child, builder->fatal),
               *colon = words[0] != '\0' ? ": " : "";
    if (builder->overdue)
        snprintf(ret, capacity, "building took over %.0f s and was stopped (build_deadline in hacd.yaml)",
                 patience(builder));
    else if (signal != 0)
        snprintf(ret, capacity, "building its kernels was ended by signal %d (%s)%s%.200s", signal,
                 strsignal(signal), colon, words);
    else
        snprintf(ret, capacity, "building its kernels ended with status %d%s%.200s", (int)status, colon,
                 words);
}

static void log_death(const hac_server_device *device, const char *reason, bool again)
{
    hac_log_subject about = hac_log_device(device->config.name);
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_BUILDER_DIED, &about, "%s: %s%s", device->config.name, reason,
                   again ? "; another one goes on" : "");
}

/* Nobody waits for the program: the first task that needs it will find that it is missing. */
static void note_background(const hac_builders *builders, uint32_t index, bool overdue, const char *reason)
{
    char failure[400];
    snprintf(failure, sizeof failure, "programs not needed so far: %s", reason);
    if (overdue)
        hac_device_add_failure(builders->devices->items[index], failure);
}

/* A SIGKILL from outside says nothing about the device: another builder builds its programs. */
static bool may_start_again(const struct hacd_kernel_builder *builder, int signal)
{
    hac_server_device *device = builder->builders->devices->items[builder->device];
    return builder->role == HAC_BUILDER_URGENT && !builder->leaving && !builder->overdue &&
           signal == SIGKILL && ++device->build_kills < KILLS_MAX;
}

static void start_or_fail(hac_builders *builders, uint32_t index, const char *program);

static void on_gone(void *context, int64_t status, int signal, bool asked)
{
    struct hacd_kernel_builder *builder = context;
    hac_builders *builders = builder->builders;
    uint32_t index = builder->device;
    char reason[320];
    describe_end(builder, status, signal, reason, sizeof reason);
    bool killed =
        asked && !builder->leaving && !builder->overdue; /* hacd is stopping, or the devices change */
    bool again = !killed && may_start_again(builder, signal);
    builders->at[builder->role][index] = NULL;
    if (!killed && !builder->leaving)
        log_death(builders->devices->items[index], reason, again);
    if (killed)
        forget_attempts(builders);
    else if (again)
        start_or_fail(builders, index, builder->current);
    else if (is_urgent(builder))
        end_urgent(builders, builder, reason);
    else if (!builder->leaving)
        note_background(builders, index, builder->overdue, reason);
    builders->changed(builders->context, index);
    hac_scratch_remove(builders->loop, builder->scratch);
    free(builder);
}

/* ---- start -------------------------------------------------------------------------------------------- */

static void send_build(const struct hacd_kernel_builder *builder, char **programs, size_t n)
{
    Hac__Executor__Build build = HAC__EXECUTOR__BUILD__INIT;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUILD;
    command.build = &build;
    build.programs = programs;
    build.n_programs = n;
    hac_child_send(builder->child, &command, NULL, 0);
}

/* `program` "": none yet. */
static void send_first(struct hacd_kernel_builder *builder, const char *program)
{
    static char self_test[] = "selftest";
    const hac_builders *builders = builder->builders;
    const hac_server_device *device = builders->devices->items[builder->device];
    char *programs[2];
    size_t n = 0;
    hac_child_setup_send(builder->child, device, builders->program_directory, builder->scratch, -1);
    snprintf(builder->current, sizeof builder->current, "%s", program);
    if (builder->role == HAC_BUILDER_URGENT)
        programs[n++] = self_test;
    if (program[0] != '\0')
        programs[n++] = builder->current;
    send_build(builder, programs, n); /* a background builder builds all programs, so none is named */
}

static hac_status start(hac_builders *builders, hac_builder_role role, uint32_t index, const char *program,
                        hac_error *err)
{
    static const hac_child_events events = {on_report, on_gone};
    hac_server_device *device = builders->devices->items[index];
    hac_autofree char **environment = NULL;
    hac_autofree struct hacd_kernel_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_child_setup_environment(&device->config, &environment, err);
    if (status != HAC_OK)
        return status;
    builder->builders = builders;
    builder->device = index;
    builder->role = role;
    builder->heard_ns = hac_now_ns();
    status = hac_scratch_make(builders->scratch_directory, builder->scratch, err);
    if (status != HAC_OK)
        return status;
    hac_child_options options = {builders->program, "--build",   device->config.name,
                                 HAC_LOG_NOBODY,    environment, {builders->closer, 0}};
    status =
        hac_child_start(builders->loop, &options, builders->decoder, &events, builder, &builder->child, err);
    if (status != HAC_OK)
        return status;
    builders->at[role][index] = builder;
    send_first(hac_steal_ptr(builder), program);
    return HAC_OK;
}

static void start_or_fail(hac_builders *builders, uint32_t index, const char *program)
{
    hac_server_device *device = builders->devices->items[index];
    hac_error err = HAC_ERROR_NONE;
    device->build_note[0] = '\0';
    device->building = true;
    if (builder_for(builders, HAC_BUILDER_URGENT, index) != NULL ||
        start(builders, HAC_BUILDER_URGENT, index, program, &err) == HAC_OK)
        return;
    device->building = is_being_built_for(builders, index);
    if (device->state == HAC_DEVICE_UNTESTED)
        fail(device, err.message);
    else
        lose_wanted(device, program, err.message);
}

static void start_background(hac_builders *builders, uint32_t index)
{
    hac_error err = HAC_ERROR_NONE;
    if (builder_for(builders, HAC_BUILDER_BACKGROUND, index) == NULL &&
        start(builders, HAC_BUILDER_BACKGROUND, index, "", &err) != HAC_OK)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_START, NULL, "%s", err.message);
}

/* ---- what is wanted ----------------------------------------------------------------------------------- */

static bool is_at_work_on(const struct hacd_kernel_builder *builder, const char *program)
{
    return builder != NULL && strcmp(builder->current, program) == 0;
}

/* Whether a builder that is running accepts the program. */
static bool give_to(const hac_builders *builders, hac_builder_role role, uint32_t index, const char *program)
{
    struct hacd_kernel_builder *builder = builder_for(builders, role, index);
    bool tests = role == HAC_BUILDER_URGENT && builders->devices->items[index]->state == HAC_DEVICE_UNTESTED;
    if (builder->leaving || builder->current[0] != '\0' || tests)
        return false;
    builders->devices->items[index]->building = true;
    snprintf(builder->current, sizeof builder->current, "%s", program);
    char *programs[1] = {builder->current};
    send_build(builder, programs, 1);
    return true;
}

/* Whether the second builder, if there can be one, accepts the program. */
static bool give_to_second(hac_builders *builders, uint32_t index, const char *program)
{
    hac_server_device *device = builders->devices->items[index];
    hac_error err = HAC_ERROR_NONE;
    if (builder_for(builders, HAC_BUILDER_SECOND, index) != NULL)
        return give_to(builders, HAC_BUILDER_SECOND, index, program);
    if (device->one_builder || hac_processors(NULL) < 2)
        return false;
    device->one_builder = start(builders, HAC_BUILDER_SECOND, index, program, &err) != HAC_OK;
    if (device->one_builder)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_START, NULL, "%s", err.message);
    return !device->one_builder;
}

/* Whether the program needs no further builder: it is being built, or cannot be built. */
static bool give_away(hac_builders *builders, uint32_t index, const char *program)
{
    const struct hacd_kernel_builder *urgent = builder_for(builders, HAC_BUILDER_URGENT, index);
    if (is_at_work_on(urgent, program) ||
        is_at_work_on(builder_for(builders, HAC_BUILDER_SECOND, index), program))
        return true;
    if (urgent == NULL) {
        start_or_fail(builders, index, program);
        return true;
    }
    return give_to(builders, HAC_BUILDER_URGENT, index, program) || give_to_second(builders, index, program);
}

/* Assigns the wanted programs of these devices that nobody builds to builders, one to each. */
static void build_wanted(hac_builders *builders, uint32_t index)
{
    for (uint32_t i = 0; i < builders->devices->count && !builders->closed; i++) {
        hac_server_device *device = builders->devices->items[i];
        if (device->retired || !same_programs(builders, i, index))
            continue;
        for (size_t w = 0; w < device->n_wanted;) {
            char program[sizeof *device->wanted];
            memcpy(program, device->wanted[w], sizeof program);
            if (!give_away(builders, i, program))
                return;
            if (w < device->n_wanted && strcmp(device->wanted[w], program) == 0)
                w++; /* else no builder could be started, and the program was removed from the list */
        }
    }
}

void hac_builders_want(hac_builders *builders, uint32_t index, const char *program, bool now)
{
    hac_server_device *device = builders->devices->items[index];
    if (builders->closed || hac_device_program_failure(device, program) != NULL)
        return;
    hac_device_want(device, program, now);
    build_wanted(builders, index);
}

/* ---- devices ------------------------------------------------------------------------------------------ */

void hac_builders_test_devices(hac_builders *builders)
{
    builders->closed = false;
    for (uint32_t i = 0; i < builders->devices->count; i++) {
        hac_server_device *device = builders->devices->items[i];
        if (device->state != HAC_DEVICE_UNTESTED || device->retired)
            continue;
        if (known(builders, device->program_key))
            device->state = HAC_DEVICE_READY;
        else
            start_or_fail(builders, i, "");
    }
}

/* The device in use with the same programs as the retired one; -1: none. */
static int heir_of(const hac_builders *builders, uint32_t retired)
{
    for (uint32_t i = 0; i < builders->devices->count; i++)
        if (!builders->devices->items[i]->retired && same_programs(builders, i, retired))
            return (int)i;
    return -1;
}

static void hand_over(const hac_builders *builders, struct hacd_kernel_builder **list, uint32_t from)
{
    struct hacd_kernel_builder *builder = list[from];
    int heir = builder != NULL ? heir_of(builders, from) : -1;
    if (builder == NULL)
        return;
    if (heir < 0 || list[heir] != NULL) {
        builder->dropped = true;
        hac_child_kill(builder->child);
        return;
    }
    hac_server_device *device = builders->devices->items[heir];
    device->building = builders->devices->items[from]->building;
    builder->device = (uint32_t)heir;
    list[heir] = builder;
    list[from] = NULL;
}

void hac_builders_devices_changed(hac_builders *builders)
{
    for (uint32_t i = 0; i < builders->devices->count; i++) {
        if (!builders->devices->items[i]->retired)
            continue;
        for (int role = 0; role < HAC_BUILDER_ROLES; role++)
            hand_over(builders, builders->at[role], i);
    }
}

bool hac_builders_at(const hac_builders *builders, uint32_t device)
{
    for (int role = 0; role < HAC_BUILDER_ROLES; role++)
        if (builders->at[role][device] != NULL)
            return true;
    return false;
}

void hac_builders_set_quiet(hac_builders *builders, bool quiet)
{
    builders->quiet = quiet;
    for (uint32_t i = 0; i < builders->devices->count; i++) {
        const struct hacd_kernel_builder *background = builders->at[HAC_BUILDER_BACKGROUND][i];
        if (quiet && background != NULL)
            hac_child_kill(background->child);
        else if (!quiet && !builders->devices->items[i]->retired &&
                 builders->devices->items[i]->state == HAC_DEVICE_READY)
            start_background(builders, i);
    }
}

static void check_one(struct hacd_kernel_builder *builder)
{
    double silent = builder != NULL ? hac_seconds_since(builder->heard_ns) : 0;
    if (builder == NULL || builder->overdue)
        return;
    if (builder->leaving) {
        if (silent >
            /* a driver that hangs while it cleans up would keep the next builder from starting */
            LEAVE_SECONDS)
            hac_child_kill(builder->child);
    } else if (silent > patience(builder)) {
        builder->overdue = true;
        hac_child_kill(builder->child);
    }
}

void hac_builders_check(hac_builders *builders)
{
    for (int role = 0; role < HAC_BUILDER_ROLES; role++)
        for (size_t i = 0; i < HAC_DEVICE_PLACES; i++)
            check_one(builders->at[role][i]);
}

void hac_builders_kill_all(hac_builders *builders)
{
    builders->closed = true;
    for (int role = 0; role < HAC_BUILDER_ROLES; role++)
        for (size_t i = 0; i < HAC_DEVICE_PLACES; i++)
            if (builders->at[role][i] != NULL)
                hac_child_kill(builders->at[role][i]->child);
}

bool hac_builders_urgent(const hac_builders *builders)
{
    for (size_t i = 0; i < HAC_DEVICE_PLACES; i++)
        if (builders->at[HAC_BUILDER_URGENT][i] != NULL || builders->at[HAC_BUILDER_SECOND][i] != NULL)
            return true;
    return false;
}

bool hac_builders_busy(const hac_builders *builders)
{
    for (uint32_t i = 0; i < HAC_DEVICE_PLACES; i++)
        if (hac_builders_at(builders, i))
            return true;
    return false;
}
