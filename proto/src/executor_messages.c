/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder_keys.h"
#include "base/limits.h"
#include "validate.h"
#include "wire.h"

#include <hac/type.h>

#define AFFINITY_MAX 256
#define PROGRAMS_MAX 64
#define PROBED_MAX   64
#define FAILURES_MAX 64

/* clang-format off */
const hac_message_limits hac_executor_limits[] = {
    HAC_LIMITS(hac__executor__setup, false,
        {"affinity", .max = UINT16_MAX, .count = AFFINITY_MAX},
        {"program_binary", .bytes = HAC_WIRE_PATH_MAX},
        {"program_directory", .bytes = HAC_WIRE_PATH_MAX},
        {"scratch_directory", .bytes = HAC_WIRE_PATH_MAX}),
    HAC_LIMITS(hac__executor__buffer_add, false,
        {"bytes", .flags = HAC_FIELD_NEEDED, .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__executor__descriptor_add, false,
        {"descriptor", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__executor__run, false,
        {"codelet", .flags = HAC_FIELD_NEEDED},
        {"type", .max = HAC_TYPE_COUNT - 1},
        {"spans", .count = HAC_SPANS_MAX},
        {"params", .count = HAC_TASK_PARAMS_MAX},
        {"data", .bytes = HAC_QUERY_INLINE_MAX},
        {"path", .bytes = HAC_FOLDER_KEYS_BYTES},
        {"then", .count = HAC_RUN_THEN_MAX}),
    HAC_LIMITS(hac__executor__build, false,
        {"programs", .flags = HAC_FIELD_NEEDED, .count = PROGRAMS_MAX}),
    HAC_LIMITS(hac__executor__device_facts, false,
        {"problem", .bytes = HAC_WIRE_MESSAGE_MAX}),
    HAC_LIMITS(hac__executor__probe_report, false,
        {"devices", .count = PROBED_MAX},
        {"problem", .bytes = HAC_WIRE_MESSAGE_MAX}),
    HAC_LIMITS(hac__executor__ready, false,
        {"facts", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__executor__done, false,
        {"code", .max = HAC_INTERNAL},
        {"message", .bytes = HAC_WIRE_MESSAGE_MAX},
        {"values", .count = HAC_TASK_VALUES_MAX},
        {"needs_programs", .flags = HAC_FIELD_NEEDED, .count = HAC_RUN_THEN_MAX + 1}),
    HAC_LIMITS(hac__executor__built, false,
        {"program", .flags = HAC_FIELD_NEEDED},
        {"code", .max = HAC_INTERNAL},
        {"message", .bytes = HAC_WIRE_MESSAGE_MAX},
        {"failures", .bytes = HAC_WIRE_MESSAGE_MAX, .count = FAILURES_MAX}),
    HAC_LIMITS(hac__executor__build_end, false,
        {"self_test", .bytes = HAC_WIRE_MESSAGE_MAX}),
    HAC_LIMITS(hac__executor__image, false,
        {"code", .max = HAC_INTERNAL},
        {"message", .bytes = HAC_WIRE_MESSAGE_MAX},
        {"bytes", .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__executor__command, true,
        {"runs", .flags = HAC_FIELD_NEEDED, .count = HAC_RUNS_MAX}),
    HAC_LIMITS(hac__executor__report, true,
        {"dones", .flags = HAC_FIELD_NEEDED, .count = HAC_RUNS_MAX},
        {"fatal", .bytes = HAC_WIRE_MESSAGE_MAX}),
    {NULL, false, NULL, 0},
};
/* clang-format on */

static hac_status validate_run(const Hac__Executor__Run *run, hac_error *err)
{
    uint64_t end;
    if (__builtin_add_overflow(run->first, run->count, &end))
        return hac_fail(err, HAC_PROTOCOL, "run: count: %llu from %llu on are more than can be",
                        (unsigned long long)run->count, (unsigned long long)run->first);
    for (size_t i = 0; i < run->n_spans; i++) {
        hac_status status = hac_validate_aligned_range(run->spans[i]->offset, run->spans[i]->bytes, err);
        if (status != HAC_OK) {
            (void)hac_error_prefix(err, "run: spans[%zu]", i);
            return status;
        }
    }
    return HAC_OK;
}

/* A report has one member of its oneof, or a list of ends of tasks. */
static hac_status validate_choice(bool has_one, size_t n, hac_error *err)
{
    if (has_one == (n > 0))
        return hac_fail(err, HAC_PROTOCOL, has_one ? "a list is there beside another choice" : "is empty");
    return HAC_OK;
}

hac_status hac_command_validate(const Hac__Executor__Command *command, size_t n_fds, hac_error *err)
{
    bool carries = command->what_case == HAC__EXECUTOR__COMMAND__WHAT_BUFFER_ADD ||
                   command->what_case == HAC__EXECUTOR__COMMAND__WHAT_DESCRIPTOR_ADD ||
                   (command->what_case == HAC__EXECUTOR__COMMAND__WHAT_BUILD && command->build->image) ||
                   (command->what_case == HAC__EXECUTOR__COMMAND__WHAT_SETUP && command->setup->counts_steps);
    bool has_one = command->what_case != HAC__EXECUTOR__COMMAND__WHAT__NOT_SET;
    hac_status status = hac_validate_fd_count(n_fds, carries ? 1 : 0, err);
    if (status == HAC_OK)
        status = validate_choice(has_one, command->n_runs, err);
    if (status == HAC_OK && command->what_case == HAC__EXECUTOR__COMMAND__WHAT_RUN)
        status = validate_run(command->run, err);
    for (size_t i = 0; i < command->n_runs && status == HAC_OK; i++)
        status = validate_run(command->runs[i], err);
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "Command");
    return status;
}

static hac_status validate_built(const Hac__Executor__Built *built, hac_error *err)
{
    if (built->done > built->of)
        return hac_fail(err, HAC_PROTOCOL, "built: done: is %u of %u", built->done, built->of);
    return HAC_OK;
}

hac_status hac_report_validate(const Hac__Executor__Report *report, size_t n_fds, hac_error *err)
{
    hac_status status = hac_validate_fd_count(n_fds, 0, err);
    if (status == HAC_OK)
        status =
            validate_choice(report->what_case != HAC__EXECUTOR__REPORT__WHAT__NOT_SET, report->n_dones, err);
    if (status == HAC_OK && report->what_case == HAC__EXECUTOR__REPORT__WHAT_BUILT)
        status = validate_built(report->built, err);
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "Report");
    return status;
}
