/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

/* Registers the native methods by name and type, in place of the symbols that javac -h declares. A method
 * that is missing, or has another type, then fails when the class is loaded, not at its first call. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)reserved;
    void *got = NULL;
    if ((*vm)->GetEnv(vm, &got, JNI_VERSION_10) != JNI_OK)
        return JNI_ERR;
    JNIEnv *env = got;
    jclass class = (*env)->FindClass(env, "org/hac/Native");
    if (class == NULL)
        return JNI_ERR;
    const hacjni_methods methods[] = {hacjni_client_methods(), hacjni_opsplit_methods(),
                                      hacjni_query_methods(), hacjni_result_methods(), hacjni_sort_methods()};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if ((*env)->RegisterNatives(env, class, methods[i].list, methods[i].n) != 0)
            return JNI_ERR;
    return JNI_VERSION_10;
}
