/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void hacjni_throw_no_memory(JNIEnv *env)
{
    jclass class = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
    if (class != NULL)
        (*env)->ThrowNew(env, class, "libhacjni");
}

/* A call that fails here leaves its own exception pending, which also reports a failure. */
void hacjni_throw(JNIEnv *env, const hac_error *err)
{
    jclass class = (*env)->FindClass(env, "org/hac/HacException");
    if (class == NULL)
        return;
    jmethodID constructor = (*env)->GetMethodID(env, class, "<init>", "(I[B)V");
    if (constructor == NULL)
        return;
    jbyteArray message = hacjni_text(env, err->message);
    if (message == NULL)
        return;
    jobject exception = (*env)->NewObject(env, class, constructor, (jint)err->code, message);
    if (exception != NULL)
        (*env)->Throw(env, exception);
}

/* ---- texts ---- */

/* Splits bytes into texts. false: Native.Texts did not make the bytes. */
static bool cut(hacjni_texts *texts, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        char there = texts->bytes[at++];
        texts->text[texts->n++] = there == 0 ? NULL : texts->bytes + at;
        if (there == 0)
            continue;
        const char *end = memchr(texts->bytes + at, '\0', bytes - at);
        if (end == NULL)
            return false;
        at = (size_t)(end - texts->bytes) + 1;
    }
    return true;
}

bool hacjni_texts_read(JNIEnv *env, jbyteArray packed, hacjni_texts *ret)
{
    jsize bytes = (*env)->GetArrayLength(env, packed);
    hacjni_texts texts = {0};
    texts.bytes = malloc((size_t)bytes + 1);
    texts.text = calloc((size_t)bytes + 1, sizeof(*texts.text));
    if (texts.bytes == NULL || texts.text == NULL) {
        hacjni_texts_free(&texts);
        hacjni_throw_no_memory(env);
        return false;
    }
    (*env)->GetByteArrayRegion(env, packed, 0, bytes, (jbyte *)texts.bytes);
    if ((*env)->ExceptionCheck(env) || !cut(&texts, (size_t)bytes)) {
        hac_error err = {HAC_INTERNAL, "texts for libhacjni are damaged"};
        if (!(*env)->ExceptionCheck(env))
            hacjni_throw(env, &err);
        hacjni_texts_free(&texts);
        return false;
    }
    *ret = texts;
    return true;
}

void hacjni_texts_free(hacjni_texts *texts)
{
    free(texts->bytes);
    free(texts->text);
    *texts = (hacjni_texts){0};
}

/* ---- values for Java ---- */

jbyteArray hacjni_bytes(JNIEnv *env, const void *bytes, uint64_t n)
{
    hac_error err = {HAC_UNSUPPORTED, "the result has more bytes than an array of Java"};
    if (n > INT_MAX - 16) {
        hacjni_throw(env, &err);
        return NULL;
    }
    jbyteArray array = (*env)->NewByteArray(env, (jsize)n);
    if (array != NULL && n > 0)
        (*env)->SetByteArrayRegion(env, array, 0, (jsize)n, bytes);
    return array;
}

jbyteArray hacjni_text(JNIEnv *env, const char *text)
{
    return hacjni_bytes(env, text, strlen(text));
}

/* ---- the library ---- */
