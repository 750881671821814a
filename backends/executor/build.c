/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder: turns program sources into binaries for one device. After building a program it runs the
 * known-answer tests of all codelets that use the program, and saves the binary and the outcome together. No
 * user's data is ever seen here.
 *
 * A driver may end the process while it compiles or tests. A file beside the binary counts how often that
 * happened; after three times the program counts as unavailable.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/type.h"
#include "codelet/codelet.h"
#include "codelets.h"
#include "modes.h"
#include "opencl/codelets.h"
#include "opencl/device.h"
#include "opencl/device_open.h"
#include "opencl/programs.h"
#include "sandbox.h"
#include "setup.h"

#define MAX_PROGRAMS      128
#define MAX_FAILURES      64
#define MAX_ATTEMPTS      3
#define SELF_TEST         "selftest.sum"
#define SELF_TEST_PROGRAM "selftest"

HAC_DEFINE_CLEANUP(hac_device *, hac_device_close)

typedef struct builder {
    hac_parent *parent;
    hac_device *device;
    const char *queue[MAX_PROGRAMS]; /* names in the program table, the next one first */
    size_t n_queue;
    uint32_t done, of;
    char failures[MAX_FAILURES][HAC_ERROR_MESSAGE_SIZE + 96];
    size_t n_failures;
    char self_test[HAC_ERROR_MESSAGE_SIZE];
    int image_fd;                       /* where the image goes when the queue is empty; -1: no image */
    const char *in_image[MAX_PROGRAMS]; /* programs of the image, in the order of the program table */
    size_t n_in_image;
    char left_out[HAC_ERROR_MESSAGE_SIZE]; /* the first program that could not be built, and why */
} builder;

static const char *known_program(const char *name)
{
    for (const hac_program_source *s = hac_programs(); s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return s->name;
    return NULL;
}

/* The queue --------------------------------------------------------------------------------------- */

static void put_in_front(builder *b, const char *name)
{
    size_t at = 0;
    while (at < b->n_queue && b->queue[at] != name)
        at++;
    if (at == b->n_queue) {
        if (b->n_queue == MAX_PROGRAMS)
            return;
        b->n_queue++;
        b->of++;
    }
    memmove(b->queue + 1, b->queue, at * sizeof *b->queue);
    b->queue[0] = name;
}

static bool is_used_by_a_codelet(const builder *b, const char *name)
{
    const hac_device_facts *facts = hac_device_get_facts(b->device);
    const hac_codelet *c;
    for (size_t i = 0; (c = hac_codelet_at(i)) != NULL; i++)
        for (int type = HAC_TYPE_NONE + 1; type < HAC_TYPE_COUNT && c->program != NULL; type++) {
            const char *program = c->program(facts, (hac_type)type);
            if (program != NULL && strcmp(program, name) == 0)
                return true;
        }
    return false;
}

/* The last of the list is put in front first, which keeps the order. */
static hac_status enqueue(builder *b, const Hac__Executor__Build *build, hac_error *err)
{
    for (size_t i = 0; i < build->n_programs; i++)
        if (known_program(build->programs[i]) == NULL)
            return hac_fail(err, HAC_PROTOCOL, "no program is named \"%.64s\"", build->programs[i]);
    for (size_t i = build->n_programs; i-- > 0;)
        put_in_front(b, known_program(build->programs[i]));
    if (build->n_programs > 0)
        return HAC_OK;
    /* No names means all programs, for later. Running jobs go first, also on the cores of this device. */
    if (!hac_setup_yield_to_others())
        hac_log(HAC_LOG_DEBUG, "the builder's priority stays as it is");
    size_t n = 0;
    for (const hac_program_source *s = hac_programs(); s[n].name != NULL;)
        n++;
    while (n-- > 0)
        if (is_used_by_a_codelet(b, hac_programs()[n].name))
            put_in_front(b, hac_programs()[n].name);
    return HAC_OK;
}

/* An image has all programs that codelets use on this device, and the self-test. Somebody waits for it. */
static hac_status enqueue_image(builder *b, int fd, hac_error *err)
{
    if (b->image_fd >= 0)
        hac_close(b->image_fd);
    b->image_fd = fd;
    b->n_in_image = 0;
    if (fd < 0)
        return hac_fail(err, HAC_PROTOCOL, "a request for an image has no descriptor");
    size_t n = 0;
    while (hac_programs()[n].name != NULL)
        n++;
    while (n-- > 0)
        if (strcmp(hac_programs()[n].name, SELF_TEST_PROGRAM) == 0 ||
            is_used_by_a_codelet(b, hac_programs()[n].name))
            put_in_front(b, hac_programs()[n].name);
    return HAC_OK;
}

/* Known answers ----------------------------------------------------------------------------------- */

static void add_failure(builder *b, const char *codelet, int type, const char *message)
{
    if (b->n_failures == MAX_FAILURES)
        return;
    char *line = b->failures[b->n_failures++];
    snprintf(line, sizeof *b->failures, "%s %s: %s", codelet, hac_type_name((hac_type)type), message);
    for (char *c = line; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
}

/* Codelets may share a test: it runs once and counts for all of them. */
static bool has_been_tested(const hac_codelet *codelet)
{
    for (size_t i = 0; hac_codelet_at(i) != codelet; i++)
        if (hac_codelet_at(i)->known_answer == codelet->known_answer)
            return true;
    return false;
}

static void test_codelet(builder *b, const hac_codelet *codelet, int type)
{
    hac_error err = HAC_ERROR_NONE;
    if (codelet->known_answer(b->device, (hac_type)type, &err) == HAC_OK)
        return;
    if (strcmp(codelet->name, SELF_TEST) == 0)
        memcpy(b->self_test, err.message, sizeof b->self_test);
    const hac_codelet *c;
    for (size_t i = 0; (c = hac_codelet_at(i)) != NULL; i++)
        if (c->known_answer == codelet->known_answer)
            add_failure(b, c->name, type, err.message);
}

static void test_program(builder *b, const char *program)
{
    const hac_device_facts *facts = hac_device_get_facts(b->device);
    const hac_codelet *c;
    for (size_t i = 0; (c = hac_codelet_at(i)) != NULL; i++) {
        if (c->program == NULL || c->known_answer == NULL || has_been_tested(c))
            continue;
        for (int type = HAC_TYPE_NONE + 1; type < HAC_TYPE_COUNT; type++) {
            const char *used = c->program(facts, (hac_type)type);
            if (used != NULL && strcmp(used, program) == 0)
                test_codelet(b, c, type);
        }
    }
}

/* Reads from the program's file what the tests said when the program was built. */
static void recall_failures(builder *b, const char *program)
{
    const hac_codelet *c;
    for (size_t i = 0; (c = hac_codelet_at(i)) != NULL; i++)
        for (int type = HAC_TYPE_NONE + 1; type < HAC_TYPE_COUNT; type++) {
            size_t bytes = 0;
            const char *line = hac_program_failure(b->device, program, c->name, (hac_type)type, &bytes);
            if (line == NULL || b->n_failures == MAX_FAILURES)
                continue;
            snprintf(b->failures[b->n_failures++], sizeof *b->failures, "%.*s", (int)bytes, line);
            if (strcmp(c->name, SELF_TEST) == 0)
                snprintf(b->self_test, sizeof b->self_test, "%.*s", (int)bytes, line);
        }
}

static hac_status save(builder *b, const char *program, hac_error *err)
{
    hac_text lines = HAC_TEXT_NONE;
    hac_autofree char *text = NULL;
    for (size_t i = 0; i < b->n_failures; i++)
        hac_text_addf(&lines, "%s\n", b->failures[i]);
    hac_status status = hac_text_finish(&lines, &text, NULL, err);
    return status == HAC_OK ? hac_program_save(b->device, program, text, err) : status;
}

/* Attempts ---------------------------------------------------------------------------------------- */

static char *attempts_file(const builder *b, const char *program)
{
    const char *directory = hac_device_program_directory(b->device);
    char *path = NULL;
    if (directory == NULL || asprintf(&path, "%s/%s.attempts", directory, program) < 0)
        return NULL;
    mkdir(directory, 0700);
    return path;
}

/*
 * A driver that ends the process is counted in handlers of its signals and of exit(). SIGKILL does not count:
 * it comes from hacd, which may stop at any time.
 */
static struct {
    char path[4096];
    char count[16];
    volatile sig_atomic_t armed;
} death;

static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/* Async-signal-safe. */
static void write_death(void)
{
    if (!death.armed)
        return;
    death.armed = 0;
    int fd = open(death.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, death.count, strlen(death.count)) < 0)
        death.armed = 0; /* nothing can be done about a failure here */
}

static void on_deadly_signal(int number)
{
    write_death();
    signal(number, SIG_DFL);
    raise(number);
}

static void arm(const char *path, unsigned deaths)
{
    static bool registered;
    snprintf(death.path, sizeof death.path, "%s", path);
    snprintf(death.count, sizeof death.count, "%u\n", deaths + 1);
    /* again for each program: the driver may have installed its own handlers */
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], on_deadly_signal);
    if (!registered)
        registered = atexit(write_death) == 0;
    death.armed = 1;
}

/* HAC_DEVICE: the driver has ended the process too often while it built this program. Without a directory
 * nothing is counted. */
static hac_status begin_attempt(const char *path, hac_error *err)
{
    unsigned deaths = 0;
    if (path == NULL)
        return HAC_OK;
    hac_autofclose FILE *file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%u", &deaths) == 1 && deaths >= MAX_ATTEMPTS)
        return hac_fail(err, HAC_DEVICE,
                        "the driver ended the builder %u times while it built or tested this program; "
                        "remove %s to have it tried again",
                        deaths, path);
    arm(path, deaths);
    return HAC_OK;
}

/* One program ------------------------------------------------------------------------------------- */

/* A driver that cannot write its files only says that it failed. */
static void say_if_full(hac_error *err)
{
    static const char some[64 << 10];
    const char *directory = getenv("POCL_CACHE_DIR");
    if (directory == NULL)
        return;
    hac_autoclose int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    ssize_t n = fd >= 0 ? write(fd, some, sizeof some) : -1;
    if (n < 0 ? errno == ENOSPC || errno == EDQUOT : (size_t)n < sizeof some)
        (void)hac_error_prefix(err, "no space left in %s, where the driver writes", directory);
}

static hac_status build_and_test(builder *b, const char *program, hac_error *err)
{
    hac_autofree char *attempts = attempts_file(b, program);
    hac_status status = begin_attempt(attempts, err);
    if (status != HAC_OK)
        return status;
    status = hac_program_build(b->device, program, err);
    if (status == HAC_OK) {
        test_program(b, program);
        status = save(b, program, err);
    } else {
        say_if_full(err);
    }
    death.armed = 0;
    if (attempts != NULL)
        unlink(attempts);
    return status;
}

static hac_status send_built(builder *b, const char *program, const hac_error *result, double seconds,
                             hac_error *err)
{
    char *failures[MAX_FAILURES];
    char message[HAC_ERROR_MESSAGE_SIZE];
    memcpy(message, result->message, sizeof message);
    for (size_t i = 0; i < b->n_failures; i++) {
        failures[i] = b->failures[i];
        failures[i][HAC_ERROR_MESSAGE_SIZE - 1] = '\0';
    }
    Hac__Executor__Built built;
    hac__executor__built__init(&built);
    built.program = (char *)(uintptr_t)program;
    built.done = b->done;
    built.of = b->of;
    built.code = (uint32_t)result->code;
    built.message = message;
    built.seconds = seconds;
    built.failures = failures;
    built.n_failures = b->n_failures;
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_BUILT;
    report.built = &built;
    return hac_parent_send(b->parent, &report, err);
}

static hac_status build_next(builder *b, hac_error *err)
{
    const char *program = b->queue[0];
    uint64_t start = hac_now_ns();
    hac_error result = HAC_ERROR_NONE;
    memmove(b->queue, b->queue + 1, --b->n_queue * sizeof *b->queue);
    b->done++;
    b->n_failures = 0;
    if (hac_program_is_ready(b->device, program)) {
        recall_failures(b, program);
    } else {
        hac_status status = build_and_test(b, program, &result);
        if (status != HAC_OK && strcmp(program, SELF_TEST_PROGRAM) == 0)
            memcpy(b->self_test, result.message, sizeof b->self_test);
        result.code = status;
    }
    if (result.code == HAC_OK)
        b->in_image[b->n_in_image++ % MAX_PROGRAMS] = program;
    else if (b->left_out[0] == '\0')
        snprintf(b->left_out, sizeof b->left_out, "%.60s: %.400s", program, result.message);
    return send_built(b, program, &result, hac_seconds_since(start), err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Writes all built programs to one file. */
static hac_status send_image(builder *b, hac_error *err)
{
    hac_error result = HAC_ERROR_NONE;
    uint64_t bytes = 0;
    size_t n = b->n_in_image < MAX_PROGRAMS ? b->n_in_image : MAX_PROGRAMS;
    qsort(b->in_image, n, sizeof *b->in_image, by_name);
    hac_status status = hac_program_image_write(b->device, b->in_image, n, b->image_fd, &bytes, &result);
    hac_close(b->image_fd);
    b->image_fd = -1;
    Hac__Executor__Image image;
    hac__executor__image__init(&image);
    image.code = (uint32_t)status;
    image.message = status == HAC_OK ? b->left_out : result.message;
    image.bytes = bytes;
    image.programs = (uint32_t)n;
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_IMAGE;
    report.image = &image;
    return hac_parent_send(b->parent, &report, err);
}

static hac_status send_end(builder *b, hac_error *err)
{
    Hac__Executor__BuildEnd end;
    hac__executor__build_end__init(&end);
    end.self_test = b->self_test;
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_BUILD_END;
    report.build_end = &end;
    b->done = b->of = 0;
    return hac_parent_send(b->parent, &report, err);
}

/* The loop ---------------------------------------------------------------------------------------- */

static hac_status receive(builder *b, hac_error *err)
{
    Hac__Executor__Command *command;
    hac_frame frame;
    hac_status status = hac_parent_receive(b->parent, &command, &frame, err);
    if (status != HAC_OK)
        return status;
    bool builds = command->what_case == HAC__EXECUTOR__COMMAND__WHAT_BUILD;
    int fd = builds && command->build->image ? hac_frame_take_fd(&frame, 0) : -1;
    hac_frame_clear(&frame);
    if (builds && command->build->image)
        return enqueue_image(b, fd, err);
    if (builds)
        return enqueue(b, command->build, err);
    if (command->what_case == HAC__EXECUTOR__COMMAND__WHAT_SHUTDOWN)
        return hac_fail(err, HAC_NOT_FOUND, "hacd asked this builder to exit");
    return hac_fail(err, HAC_PROTOCOL, "a command that builders do not know (%d)", (int)command->what_case);
}

static hac_status serve(builder *b, hac_error *err)
{
    for (;;) {
        hac_status status = HAC_OK;
        /* between two programs, since the most urgent one may have changed */
        while (status == HAC_OK && (b->n_queue == 0 || hac_parent_has_command(b->parent)))
            status = receive(b, err);
        if (status == HAC_OK)
            status = build_next(b, err);
        if (status == HAC_OK && b->n_queue == 0 && b->image_fd >= 0)
            status = send_image(b, err);
        if (status == HAC_OK && b->n_queue == 0)
            status = send_end(b, err);
        if (status != HAC_OK)
            return status;
    }
}

hac_status hac_mode_build(hac_parent *parent, const Hac__Executor__Setup *setup, hac_error *err)
{
    const char *readable[] = {setup->program_binary, NULL};
    const char *writable[] = {setup->scratch_directory, setup->program_directory, NULL};
    const char *missing = NULL;
    hac_cleanup(hac_device_close_cleanup) hac_device *device = NULL;
    if (setup->program_directory[0] == '\0')
        return hac_fail(err, HAC_PROTOCOL, "setup: program_directory: is needed for building");
    if (mkdir(setup->program_directory, 0700) != 0 && errno != EEXIST)
        return hac_fail_errno(err, HAC_IO, errno, "program directory %s", setup->program_directory);
    hac_status status = hac_setup_environment(setup, err);
    if (status == HAC_OK)
        status = hac_sandbox_files(readable, writable, &missing, err);
    if (status == HAC_OK)
        status = hac_setup_open(setup, false, &device, err);
    if (status == HAC_OK)
        status = hac_setup_pin(setup, hac_device_get_facts(device), err);
    if (status != HAC_OK)
        return status;
    hac_autofree builder *b = calloc(1, sizeof *b);
    if (b == NULL)
        return hac_fail_no_memory(err);
    b->parent = parent;
    b->device = device;
    b->image_fd = -1;
    return serve(b, err);
}
