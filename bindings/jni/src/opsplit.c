/* SPDX-License-Identifier: Apache-2.0 */
/* Native methods: runs of logic files. */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <hac/opsplit.h>

#include "support.h"

/* ---- options: the order is that of HacOpsplit.texts() and HacOpsplit.numbers() ---- */

enum { LOGIC, OUTPUT, TEXTS };

enum {
    COMPONENTS,
    PRIORITY,
    DEADLINE, /* ms; 0: none */
    MEMORY_LIMIT,
    FAST,
    /* Numbers of texts behind the first ones: inputs, each a name and a path; then the names of devices. */
    INPUTS,
    DEVICES,
    NUMBERS
};

/* Whether the texts of the inputs and devices are there. */
static bool is_sound(const hacjni_texts *texts, const jlong *number)
{
    if (texts->n < TEXTS || texts->text[LOGIC] == NULL || number[INPUTS] < 0 || number[DEVICES] < 0 ||
        (size_t)number[INPUTS] > (texts->n - TEXTS) / 2)
        return false;
    return (size_t)number[DEVICES] == texts->n - TEXTS - 2 * (size_t)number[INPUTS];
}

static hac_status run(hac_client *client, const hacjni_texts *texts, const jlong *number, int stop,
                      hac_error *err)
{
    hac_opsplit_options options = HAC_OPSPLIT_OPTIONS_INIT;
    size_t n_inputs = (size_t)number[INPUTS], n_devices = (size_t)number[DEVICES];
    hac_opsplit_input *inputs = calloc(n_inputs + 1, sizeof(*inputs));
    if (inputs == NULL) {
        *err = (hac_error){HAC_NO_MEMORY, "out of memory"};
        return err->code;
    }
    for (size_t i = 0; i < n_inputs; i++)
        inputs[i] =
            (hac_opsplit_input){.name = texts->text[TEXTS + 2 * i], .path = texts->text[TEXTS + 2 * i + 1]};
    options.inputs = inputs;
    options.n_inputs = n_inputs;
    options.output = texts->text[OUTPUT];
    options.components = (unsigned)number[COMPONENTS];
    options.job.priority = (int)number[PRIORITY];
    options.job.deadline_seconds = (double)number[DEADLINE] / 1e3;
    options.job.memory_limit = (uint64_t)number[MEMORY_LIMIT];
    options.job.fast = number[FAST] != 0;
    options.job.devices = n_devices > 0 ? texts->text + TEXTS + 2 * n_inputs : NULL;
    options.job.n_devices = n_devices;
    options.stop_fd = stop;
    hac_status status = hac_opsplit_run(client, texts->text[LOGIC], &options, err);
    free(inputs);
    return status;
}

static void opsplit(JNIEnv *env, jclass class, jlong client, jbyteArray packed, jlongArray numbers, jint stop)
{
    (void)class;
    hac_error err = {HAC_INTERNAL, "a run for libhacjni is damaged"};
    jlong number[NUMBERS];
    hacjni_texts texts;
    (*env)->GetLongArrayRegion(env, numbers, 0, NUMBERS, number);
    if ((*env)->ExceptionCheck(env) || !hacjni_texts_read(env, packed, &texts))
        return;
    if (!is_sound(&texts, number) || run(hacjni_pointer(client), &texts, number, stop, &err) != HAC_OK)
        hacjni_throw(env, &err);
    hacjni_texts_free(&texts);
}

/* ---- a descriptor that ends a run from another thread ---- */

static jint new_stop(JNIEnv *env, jclass class)
{
    (void)class;
    hac_error err = {HAC_IO, "no descriptor is left"};
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        hacjni_throw(env, &err);
    return fd;
}

static void stop_run(JNIEnv *env, jclass class, jint stop)
{
    (void)env;
    (void)class;
    (void)eventfd_write(stop, 1);
}

static void free_stop(JNIEnv *env, jclass class, jint stop)
{
    (void)env;
    (void)class;
    (void)close(stop);
}

hacjni_methods hacjni_opsplit_methods(void)
{
    static const JNINativeMethod methods[] = {
        {"opsplit", "(J[B[JI)V", (void *)opsplit},
        {"newStop", "()I", (void *)new_stop},
        {"stop", "(I)V", (void *)stop_run},
        {"freeStop", "(I)V", (void *)free_stop},
    };
    return (hacjni_methods){methods, sizeof(methods) / sizeof(methods[0])};
}
