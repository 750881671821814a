/* SPDX-License-Identifier: Apache-2.0 */
/* Native methods: the columns of a result, their addresses, and Java buffers that map them. */
#include <stdlib.h>

#include "support.h"

typedef struct result {
    struct ArrowSchema schema;
    struct ArrowArray array;
} result;

/* From here on the columns own the job's memory, so the job may be freed. */
static jlong export_columns(JNIEnv *env, jclass class, jlong job)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    result *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        hacjni_throw_no_memory(env);
        return 0;
    }
    if (hac_job_export_arrow_raw(hacjni_pointer(job), &r->schema, &r->array, &err) != HAC_OK) {
        hacjni_throw(env, &err);
        free(r);
        return 0;
    }
    return hacjni_handle(r);
}

static void free_result(JNIEnv *env, jclass class, jlong handle)
{
    (void)env;
    (void)class;
    result *r = hacjni_pointer(handle);
    r->schema.release(&r->schema);
    r->array.release(&r->array);
    free(r);
}

static jlong rows(JNIEnv *env, jclass class, jlong handle)
{
    (void)env;
    (void)class;
    const result *r = hacjni_pointer(handle);
    return r->array.length;
}

static jint columns(JNIEnv *env, jclass class, jlong handle)
{
    (void)env;
    (void)class;
    const result *r = hacjni_pointer(handle);
    return (jint)r->array.n_children;
}

static jbyteArray column_name(JNIEnv *env, jclass class, jlong handle, jint column)
{
    (void)class;
    const result *r = hacjni_pointer(handle);
    return hacjni_text(env, r->schema.children[column]->name);
}

/* Uses the layout of the Arrow C Data Interface. */
static jbyteArray column_format(JNIEnv *env, jclass class, jlong handle, jint column)
{
    (void)class;
    const result *r = hacjni_pointer(handle);
    return hacjni_text(env, r->schema.children[column]->format);
}

/* The address of buffer 0 (validity), 1 (values, or offsets) or 2 (bytes); 0: there is none. */
static jlong column_part(JNIEnv *env, jclass class, jlong handle, jint column, jint part)
{
    (void)class;
    const result *r = hacjni_pointer(handle);
    const struct ArrowArray *array = r->array.children[column];
    if (array->offset != 0) {
        hac_error err = {HAC_INTERNAL, "a result's column does not begin at its first row"};
        hacjni_throw(env, &err);
        return 0;
    }
    return part < array->n_buffers ? hacjni_handle(array->buffers[part]) : 0;
}

/* ---- buffers ---- */

/* A Java buffer has 1 to 2^31 - 1 bytes. */
static jobject view(JNIEnv *env, jclass class, jlong address, jlong bytes)
{
    (void)class;
    return (*env)->NewDirectByteBuffer(env, hacjni_pointer(address), bytes);
}

/* The address of byte 0 of a direct buffer, whatever its position. 0: the buffer is not direct. */
static jlong address_of(JNIEnv *env, jclass class, jobject buffer)
{
    (void)class;
    return hacjni_handle((*env)->GetDirectBufferAddress(env, buffer));
}

hacjni_methods hacjni_result_methods(void)
{
    static const JNINativeMethod methods[] = {
        {"export", "(J)J", (void *)export_columns},
        {"freeResult", "(J)V", (void *)free_result},
        {"rows", "(J)J", (void *)rows},
        {"columns", "(J)I", (void *)columns},
        {"columnName", "(JI)[B", (void *)column_name},
        {"columnFormat", "(JI)[B", (void *)column_format},
        {"columnPart", "(JII)J", (void *)column_part},
        {"view", "(JJ)Ljava/nio/ByteBuffer;", (void *)view},
        {"address", "(Ljava/nio/ByteBuffer;)J", (void *)address_of},
    };
    return (hacjni_methods){methods, sizeof(methods) / sizeof(methods[0])};
}
