/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the native methods of org.hac.Native: errors as Java exceptions, and unpacking of arguments.
 *
 * Handles are pointers in Java longs. Native.java is their only user; it is package-private, and HacClient
 * sees to it that a handle is used by one thread at a time and never after it was freed.
 */
#ifndef HACJNI_SUPPORT_H
#define HACJNI_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jni.h>

#include <hac/hac.h>

/* Throws org.hac.HacException with the error's code and message. */
void hacjni_throw(JNIEnv *env, const hac_error *err);

/* Throws OutOfMemoryError. */
void hacjni_throw_no_memory(JNIEnv *env);

/* Texts that Native.Texts packed into one array. Each text is a byte 0 (null), or a byte 1, UTF-8 and a NUL.
 */
typedef struct hacjni_texts {
    size_t n;
    const char **text; /* owned, as is what they point to; NULL for null */
    char *bytes;
} hacjni_texts;

/* false: an exception is pending and there is nothing to free. */
bool hacjni_texts_read(JNIEnv *env, jbyteArray packed, hacjni_texts *ret);
void hacjni_texts_free(hacjni_texts *texts);

/* A new byte[]; NULL: an exception is pending. */
jbyteArray hacjni_bytes(JNIEnv *env, const void *bytes, uint64_t n);
jbyteArray hacjni_text(JNIEnv *env, const char *text);

static inline jlong hacjni_handle(const void *pointer)
{
    return (jlong)(intptr_t)pointer;
}

static inline void *hacjni_pointer(jlong handle)
{
    return (void *)(intptr_t)handle;
}

/* The methods of Native.java, registered by JNI_OnLoad. */
typedef struct hacjni_methods {
    const JNINativeMethod *list;
    jint n;
} hacjni_methods;

hacjni_methods hacjni_client_methods(void);
hacjni_methods hacjni_opsplit_methods(void);
hacjni_methods hacjni_query_methods(void);
hacjni_methods hacjni_result_methods(void);
hacjni_methods hacjni_sort_methods(void);

#endif
