/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a device: found in memory, in the image or in a file, or built (but not in executors). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/type.h"
#include "cl_error.h"
#include "device_internal.h"
#include "image.h"
#include "kernel_sources.h"
#include "program_file.h"
#include "program_hash.h"

/* Without this option 32-bit quotients and roots are a few units in the last place off. So are 64-bit
 * quotients of 32-bit numbers, since compilers of GPUs narrow them. */
#define EXACT_OPTIONS "-cl-fp32-correctly-rounded-divide-sqrt "
#define NO_PROGRAM    SIZE_MAX
#define BUILD_LOG_MAX (1u << 20)

/* The binary in the files of a device that has an image: the image has the real binary, the file only says
 * what the tests said. */
static const char in_image[] = "in the image";

static const char *exact_options(const hac_device *device)
{
    return device->facts.rounds_division ? EXACT_OPTIONS : "";
}

bool hac_program_has_short_header(const hac_device *device, const hac_program_source *source)
{
    return strcmp(device->facts.platform, "Portable Computing Language") == 0 &&
           (strncmp(source->file, "sort_", 5) == 0 || strcmp(source->file, "selftest.cl") == 0);
}

static uint64_t hash_on(const hac_device *device, const hac_program_source *source)
{
    uint64_t hash = hac_hash_text(hac_program_hash(source), exact_options(device));
    return hac_program_has_short_header(device, source) ? hac_hash_text(hash, hac_source_pocl_builtins)
                                                        : hash;
}

/* "pthread-skylake-avx512-AMD_EPYC-0123456789abcdef": readable and exact. */
static char *device_key(const hac_device *device)
{
    const hac_device_facts *f = &device->facts;
    char text[1024];
    int used = snprintf(text, sizeof text, "%s\n%s\n%s\n%d %u %u %u %llu", f->platform, f->name, f->driver,
                        (int)f->style, f->max_work_group, f->block_items, f->max_loop_iterations,
                        (unsigned long long)f->local_memory);
    if (device->image != NULL && used > 0 && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, " %llx",
                 (unsigned long long)XXH3_64bits(device->image, device->image_bytes));
    char prefix[48];
    size_t n = 0;
    for (const char *c = f->name; *c != '\0' && n < sizeof prefix - 1; c++)
        prefix[n++] = isalnum((unsigned char)*c) || *c == '-' || *c == '.' ? *c : '_';
    prefix[n] = '\0';
    if (prefix[0] == '.')
        prefix[0] = '_';
    char *key = NULL;
    return asprintf(&key, "%s-%016llx", prefix, (unsigned long long)hac_hash_text(0, text)) < 0 ? NULL : key;
}

static hac_status set_directory(hac_device *device, const char *parent, hac_error *err)
{
    hac_autofree char *key = device_key(device);
    if (key == NULL || asprintf(&device->directory, "%s/%s", parent, key) < 0) {
        device->directory = NULL;
        return hac_fail_no_memory(err);
    }
    return HAC_OK;
}

/* The driver judges a vendor's file when its first kernel is asked for. */
static hac_status open_image(hac_device *device, const char *path, hac_error *err)
{
    char kernels[17];
    hac_programs_hash(device->sources, kernels);
    hac_status status = hac_program_file_read(path, &device->image, &device->image_bytes, err);
    if (status == HAC_OK && hac_image_is_ours(device->image, device->image_bytes))
        status = hac_image_check(device->image, device->image_bytes, path, &device->facts, kernels,
                                 &device->image_entries, err);
    return status;
}

hac_status hac_device_programs_open(hac_device *device, const hac_device_options *options, hac_error *err)
{
    const hac_program_source *sources = device->sources;
    while (sources[device->n_programs].name != NULL)
        device->n_programs++;
    device->programs = calloc(device->n_programs + 1, sizeof *device->programs);
    if (device->programs == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < device->n_programs; i++)
        device->programs[i].hash = hash_on(device, &sources[i]);
    device->never_build = options->never_build;
    hac_status status = HAC_OK;
    if (options->program_binary != NULL && options->program_binary[0] != '\0')
        status = open_image(device, options->program_binary, err);
    if (status == HAC_OK && options->program_directory != NULL && options->program_directory[0] != '\0')
        status = set_directory(device, options->program_directory, err);
    return status;
}

void hac_device_programs_close(hac_device *device)
{
    for (size_t i = 0; i < device->n_kernels; i++)
        clReleaseKernel(device->kernels[i].kernel);
    for (size_t i = 0; device->programs != NULL && i < device->n_programs; i++) {
        if (device->programs[i].program != NULL)
            clReleaseProgram(device->programs[i].program);
        free(device->programs[i].notes);
    }
    free(device->kernels);
    free(device->programs);
    free(device->directory);
    free(device->image);
}

const char *hac_device_program_directory(const hac_device *device)
{
    return device->directory;
}

static size_t find_program(const hac_device *device, const char *name)
{
    const hac_program_source *sources = device->sources;
    for (size_t i = 0; sources[i].name != NULL; i++)
        if (sources[i].name == name || strcmp(sources[i].name, name) == 0)
            return i;
    return NO_PROGRAM;
}

static hac_status no_such_program(const char *name, hac_error *err)
{
    return hac_fail(err, HAC_INTERNAL, "no program is named \"%s\"", name);
}

/* Binaries -------------------------------------------------------------------------------------- */

static hac_status load_binary(hac_device *device, const uint8_t *binary, size_t bytes, cl_program *ret,
                              hac_error *err)
{
    cl_int code, binary_code = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithBinary(device->context, 1, &device->id, &bytes, &binary, &binary_code, &code);
    if (code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clCreateProgramWithBinary");
    code = clBuildProgram(program, 1, &device->id, NULL, NULL, NULL);
    if (code != CL_SUCCESS) {
        clReleaseProgram(program);
        return hac_fail_cl(err, code, "clBuildProgram of a binary");
    }
    *ret = program;
    return HAC_OK;
}

static bool is_entry_of(const hac_device *device, const hac_program_entry *entry, size_t index)
{
    const char *name = device->sources[index].name;
    return entry->key == device->programs[index].hash && entry->name_bytes == strlen(name) &&
           memcmp(entry->name, name, entry->name_bytes) == 0;
}

/* The entry's binary becomes the program. What known-answer tests said is kept with it. */
static hac_status load_entry(hac_device *device, size_t index, const hac_program_entry *entry, hac_error *err)
{
    hac_loaded_program *p = &device->programs[index];
    hac_autofree char *notes = strndup(entry->notes, entry->notes_bytes);
    if (notes == NULL)
        return hac_fail_no_memory(err);
    hac_status status = load_binary(device, entry->binary, entry->binary_bytes, &p->program, err);
    if (status != HAC_OK)
        return status;
    free(p->notes);
    p->notes = hac_steal_ptr(notes);
    return HAC_OK;
}

/* An image is either a list of entries, one for each program, or a vendor's file that holds all kernels. */
static hac_status load_from_image(hac_device *device, size_t index, hac_error *err)
{
    hac_program_entry entry;
    size_t offset = device->image_entries, entries = 0;
    while (hac_program_entry_read(device->image, device->image_bytes, &offset, &entry) == HAC_OK) {
        entries++;
        if (is_entry_of(device, &entry, index))
            return load_entry(device, index, &entry, err);
    }
    if (entries > 0 || device->image_entries > 0)
        return hac_fail(err, HAC_UNSUPPORTED,
                        "the image given as program.binary has no program \"%s\" of this version; build it "
                        "again with `hacctl kernels build`",
                        device->sources[index].name);
    hac_status status =
        load_binary(device, device->image, device->image_bytes, &device->programs[index].program, err);
    if (status == HAC_OK)
        return status;
    return hac_error_prefix(
        err, "the file given as program.binary is no image of `hacctl kernels build`, and none "
             "that the device's driver takes");
}

/* Loads from the image and adds what the tests on this machine said. */
static hac_status load_from_image_with(hac_device *device, size_t index, const char *notes,
                                       size_t notes_bytes, hac_error *err)
{
    hac_autofree char *copy = strndup(notes, notes_bytes);
    if (copy == NULL)
        return hac_fail_no_memory(err);
    hac_status status = load_from_image(device, index, err);
    if (status != HAC_OK)
        return status;
    free(device->programs[index].notes);
    device->programs[index].notes = hac_steal_ptr(copy);
    return HAC_OK;
}

static char *file_of(const hac_device *device, size_t index)
{
    char *path = NULL;
    int n = asprintf(&path, "%s/%s-%016llx.bin", device->directory, device->sources[index].name,
                     (unsigned long long)device->programs[index].hash);
    return n < 0 ? NULL : path;
}

/* HAC_NOT_FOUND: the file cannot be used, so it is made anew. */
static hac_status load_from_file(hac_device *device, size_t index, hac_error *err)
{
    hac_autofree char *path = file_of(device, index);
    if (path == NULL)
        return hac_fail_no_memory(err);
    hac_autofree uint8_t *data = NULL;
    size_t bytes = 0, offset = 0;
    hac_program_entry entry;
    hac_status status = hac_program_file_read(path, &data, &bytes, err);
    if (status == HAC_NO_MEMORY)
        return status;
    if (status == HAC_OK && (hac_program_entry_read(data, bytes, &offset, &entry) != HAC_OK ||
                             offset != bytes || !is_entry_of(device, &entry, index)))
        status = hac_fail(err, HAC_NOT_FOUND, "%s: damaged, or made for another program", path);
    bool by_image = device->image != NULL && status == HAC_OK;
    if (by_image &&
        (entry.binary_bytes != sizeof in_image || memcmp(entry.binary, in_image, sizeof in_image) != 0))
        status = hac_fail(err, HAC_NOT_FOUND, "%s: made without an image", path);
    else if (by_image)
        status = load_from_image_with(device, index, entry.notes, entry.notes_bytes, err);
    else if (status == HAC_OK)
        status = load_entry(device, index, &entry, err);
    device->programs[index].saved = status == HAC_OK;
    if (status == HAC_OK || status == HAC_NO_MEMORY)
        return status;
    if (err != NULL)
        err->code = HAC_NOT_FOUND;
    return HAC_NOT_FOUND;
}

/* Building -------------------------------------------------------------------------------------- */

/* Appends the first line of the build log that mentions an error, or else its first line. */
static void add_build_log(hac_device *device, cl_program program, hac_error *err)
{
    hac_autofree char *log = calloc(1, BUILD_LOG_MAX + 1);
    if (log == NULL || err == NULL)
        return;
    if (clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, BUILD_LOG_MAX, log, NULL) !=
        CL_SUCCESS)
        return;
    const char *at = strstr(log, "error");
    while (at != NULL && at > log && at[-1] != '\n')
        at--;
    if (at == NULL)
        at = log + strspn(log, " \n\t");
    size_t used = strlen(err->message), length = strcspn(at, "\n");
    if (length > 0)
        snprintf(err->message + used, sizeof err->message - used, ": %.*s", (int)length, at);
}

/* `header` is put before the program's text, and `header_options` before its options. */
static hac_status build_with(hac_device *device, size_t index, const char *header, const char *header_options,
                             hac_error *err)
{
    const hac_program_source *source = &device->sources[index];
    hac_autofree char *options = NULL;
    if (asprintf(&options, "%s%s%s%s", HAC_PROGRAM_OPTIONS, exact_options(device), header_options,
                 source->options) < 0) {
        options = NULL;
        return hac_fail_no_memory(err);
    }
    const char *texts[] = {header, source->source};
    cl_int code;
    cl_program program = clCreateProgramWithSource(device->context, 2, texts, NULL, &code);
    if (code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clCreateProgramWithSource");
    code = clBuildProgram(program, 1, &device->id, options, NULL, NULL);
    if (code == CL_SUCCESS) {
        device->programs[index].program = program;
        return HAC_OK;
    }
    hac_status status = hac_fail_cl(err, code, "clBuildProgram");
    hac_error_prefix(err, "program %s (%s)", source->name, source->file);
    add_build_log(device, program, err);
    clReleaseProgram(program);
    return status;
}

static hac_status build(hac_device *device, size_t index, hac_error *err)
{
    if (hac_program_has_short_header(device, &device->sources[index]) &&
        build_with(device, index, hac_source_pocl_builtins, HAC_SHORT_HEADER_OPTIONS, NULL) == HAC_OK)
        return HAC_OK;
    return build_with(device, index, "", "", err);
}

hac_status hac_program_build(hac_device *device, const char *program, hac_error *err)
{
    size_t index = find_program(device, program);
    if (index == NO_PROGRAM)
        return no_such_program(program, err);
    if (device->programs[index].program != NULL)
        return HAC_OK;
    return device->image != NULL ? load_from_image(device, index, err) : build(device, index, err);
}

/* Loads the program from wherever it is. HAC_NOT_FOUND: its binary must be built first. */
static hac_status load(hac_device *device, size_t index, hac_error *err)
{
    if (device->programs[index].program != NULL)
        return HAC_OK;
    if (device->image != NULL && device->directory == NULL)
        return load_from_image(device, index, err);
    if (device->directory != NULL) {
        hac_status status = load_from_file(device, index, err);
        if (status != HAC_NOT_FOUND || device->never_build)
            return status;
    }
    if (device->never_build)
        return hac_fail(err, HAC_NOT_FOUND, "program %s has not been built for this device yet",
                        device->sources[index].name);
    return device->image != NULL ? load_from_image(device, index, err) : build(device, index, err);
}

bool hac_program_is_ready(hac_device *device, const char *program)
{
    size_t index = find_program(device, program);
    if (index == NO_PROGRAM)
        return false;
    /* the test of another program may have built this one, which says nothing about its own tests */
    if (device->programs[index].program != NULL)
        return device->directory == NULL || device->programs[index].saved;
    if (device->image != NULL && device->directory == NULL)
        return load_from_image(device, index, NULL) == HAC_OK;
    return device->directory != NULL && load_from_file(device, index, NULL) == HAC_OK;
}

static hac_status make_directory(const char *path, hac_error *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return HAC_OK;
    return hac_fail_errno(err, HAC_IO, errno, "%s: mkdir", path);
}

static hac_status get_binary(const hac_device *device, size_t index, uint8_t **ret, size_t *ret_bytes,
                             hac_error *err)
{
    cl_program program = device->programs[index].program;
    size_t bytes = 0;
    cl_int code = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL);
    if (code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clGetProgramInfo of CL_PROGRAM_BINARY_SIZES");
    if (bytes == 0 || bytes > HAC_PROGRAM_FILE_MAX)
        return hac_fail(err, HAC_UNSUPPORTED, "the driver does not give the binary of program %s",
                        device->sources[index].name);
    hac_autofree uint8_t *binary = malloc(bytes);
    if (binary == NULL)
        return hac_fail_no_memory(err);
    uint8_t *list[1] = {binary};
    code = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof list, list, NULL);
    if (code != CL_SUCCESS)
        return hac_fail_cl(err, code, "clGetProgramInfo of CL_PROGRAM_BINARIES");
    *ret = hac_steal_ptr(binary);
    *ret_bytes = bytes;
    return HAC_OK;
}

hac_status hac_program_save(hac_device *device, const char *program, const char *failures, hac_error *err)
{
    size_t index = find_program(device, program);
    if (index == NO_PROGRAM)
        return no_such_program(program, err);
    if (device->directory == NULL || device->programs[index].program == NULL)
        return hac_fail(err, HAC_INTERNAL, "program %s cannot be saved: %s", program,
                        device->directory == NULL ? "no directory was given" : "it is not built");
    hac_autofree uint8_t *binary = NULL;
    hac_autofree char *path = file_of(device, index);
    if (path == NULL)
        return hac_fail_no_memory(err);
    hac_program_entry entry = {.key = device->programs[index].hash,
                               .name = program,
                               .name_bytes = strlen(program),
                               .notes = failures,
                               .notes_bytes = failures != NULL ? strlen(failures) : 0};
    hac_status status = HAC_OK;
    if (device->image == NULL)
        status = get_binary(device, index, &binary, &entry.binary_bytes, err);
    else
        entry.binary_bytes = sizeof in_image;
    if (status == HAC_OK)
        status = make_directory(device->directory, err);
    entry.binary = device->image == NULL ? binary : (const uint8_t *)in_image;
    if (status == HAC_OK)
        status = hac_program_file_write(path, &entry, err);
    device->programs[index].saved |= status == HAC_OK;
    return status;
}

/* Images ---------------------------------------------------------------------------------------- */

/* The saved file of a program, which is one entry. */
static hac_status read_saved(const hac_device *device, size_t index, uint8_t **ret, size_t *ret_bytes,
                             hac_error *err)
{
    hac_autofree char *path = file_of(device, index);
    hac_autofree uint8_t *data = NULL;
    hac_program_entry entry;
    size_t offset = 0;
    if (path == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_program_file_read(path, &data, ret_bytes, err);
    if (status != HAC_OK)
        return status;
    if (hac_program_entry_read(data, *ret_bytes, &offset, &entry) != HAC_OK || offset != *ret_bytes)
        return hac_fail(err, HAC_IO, "%s: damaged", path);
    *ret = hac_steal_ptr(data);
    return HAC_OK;
}

hac_status hac_program_image_write(hac_device *device, const char *const *programs, size_t n, int fd,
                                   uint64_t *ret_bytes, hac_error *err)
{
    hac_autofree uint8_t *header = NULL;
    size_t bytes = 0;
    if (device->directory == NULL || device->image != NULL)
        return hac_fail(err, HAC_UNSUPPORTED,
                        "device \"%s\" runs from an image already; build it with a profile "
                        "that says `program: source`",
                        device->facts.name);
    char kernels[17];
    hac_programs_hash(device->sources, kernels);
    hac_status status = hac_image_header(&device->facts, kernels, (uint32_t)n, &header, &bytes, err);
    if (status == HAC_OK)
        status = hac_program_write_fully(fd, "the image", header, bytes, err);
    *ret_bytes = bytes;
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        hac_autofree uint8_t *entry = NULL;
        size_t index = find_program(device, programs[i]);
        status = index == NO_PROGRAM ? no_such_program(programs[i], err)
                                     : read_saved(device, index, &entry, &bytes, err);
        if (status == HAC_OK)
            status = hac_program_write_fully(fd, "the image", entry, bytes, err);
        *ret_bytes += bytes;
    }
    return status;
}

/* Looking up ------------------------------------------------------------------------------------ */

const char *hac_program_failure(hac_device *device, const char *program, const char *codelet, hac_type type,
                                size_t *ret_bytes)
{
    size_t index = find_program(device, program);
    if (index == NO_PROGRAM || device->programs[index].notes == NULL)
        return NULL;
    char wanted[96];
    int n = snprintf(wanted, sizeof wanted, "%s %s: ", codelet, hac_type_name(type));
    if (n < 0 || (size_t)n >= sizeof wanted)
        return NULL;
    for (const char *line = device->programs[index].notes; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length > (size_t)n && strncmp(line, wanted, (size_t)n) == 0) {
            *ret_bytes = length;
            return line;
        }
        line += length + (line[length] == '\n');
    }
    return NULL;
}

static hac_status add_kernel(hac_device *device, size_t index, const char *name, cl_kernel *ret,
                             hac_error *err)
{
    if (strlen(name) >= sizeof device->kernels->name)
        return hac_fail(err, HAC_INTERNAL, "kernel name \"%s\" is too long", name);
    if (device->n_kernels == device->kernels_capacity) {
        size_t capacity = device->kernels_capacity * 2 + 32;
        hac_loaded_kernel *more = reallocarray(device->kernels, capacity, sizeof *more);
        if (more == NULL)
            return hac_fail_no_memory(err);
        device->kernels = more;
        device->kernels_capacity = capacity;
    }
    cl_int code;
    cl_kernel kernel = clCreateKernel(device->programs[index].program, name, &code);
    if (code != CL_SUCCESS) {
        hac_status status = hac_fail_cl(err, code, "clCreateKernel");
        hac_error_prefix(err, "kernel %s of program %s", name, device->sources[index].name);
        return status;
    }
    hac_loaded_kernel *k = &device->kernels[device->n_kernels++];
    k->program = device->sources[index].name;
    snprintf(k->name, sizeof k->name, "%s", name);
    k->kernel = kernel;
    *ret = kernel;
    return HAC_OK;
}

hac_status hac_device_kernel(hac_device *device, const char *program, const char *kernel,
                             cl_kernel *ret_kernel, hac_error *err)
{
    for (size_t i = 0; i < device->n_kernels; i++) {
        const hac_loaded_kernel *k = &device->kernels[i];
        if ((k->program == program || strcmp(k->program, program) == 0) && strcmp(k->name, kernel) == 0) {
            *ret_kernel = k->kernel;
            return HAC_OK;
        }
    }
    size_t index = find_program(device, program);
    if (index == NO_PROGRAM)
        return no_such_program(program, err);
    hac_status status = load(device, index, err);
    if (status == HAC_OK)
        status = add_kernel(device, index, kernel, ret_kernel, err);
    return status;
}
