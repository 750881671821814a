/* SPDX-License-Identifier: Apache-2.0 */
/* Native methods: sorts of keys in memory. */
#include "support.h"

/* The order is that of HacSort.numbers(). */
enum {
    TYPE, /* hac_type */
    DESCENDING,
    ARGSORT,
    ALGORITHM, /* hac_sort_algorithm */
    PRIORITY,
    DEADLINE, /* ms; 0: none */
    MEMORY_LIMIT,
    NUMBERS
};

static hac_sort_options options_of(const jlong number[NUMBERS], const hacjni_texts *devices)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = (hac_type)number[TYPE];
    options.descending = number[DESCENDING] != 0;
    options.argsort = number[ARGSORT] != 0;
    options.algorithm = (hac_sort_algorithm)number[ALGORITHM];
    options.job.priority = (int)number[PRIORITY];
    options.job.deadline_seconds = (double)number[DEADLINE] / 1e3;
    options.job.memory_limit = (uint64_t)number[MEMORY_LIMIT];
    options.job.devices = devices->n > 0 ? devices->text : NULL;
    options.job.n_devices = devices->n;
    return options;
}

/* Sorts the items at `address`, which may be reused afterwards. */
static jlong sort_memory(JNIEnv *env, jclass class, jlong client, jbyteArray devices, jlongArray numbers,
                         jlong address, jlong items)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    jlong number[NUMBERS];
    hacjni_texts names;
    hac_job *job = NULL;
    (*env)->GetLongArrayRegion(env, numbers, 0, NUMBERS, number);
    if ((*env)->ExceptionCheck(env) || !hacjni_texts_read(env, devices, &names))
        return 0;
    const hac_sort_options options = options_of(number, &names);
    if (hac_sort_memory(hacjni_pointer(client), hacjni_pointer(address), (uint64_t)items, &options, &job,
                        &err) != HAC_OK)
        hacjni_throw(env, &err);
    hacjni_texts_free(&names);
    return hacjni_handle(job);
}

hacjni_methods hacjni_sort_methods(void)
{
    static const JNINativeMethod methods[] = {{"sortMemory", "(J[B[JJJ)J", (void *)sort_memory}};
    return (hacjni_methods){methods, sizeof(methods) / sizeof(methods[0])};
}
