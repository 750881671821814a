/* SPDX-License-Identifier: Apache-2.0 */
/* Native methods: connections and status queries. */
#include <stdlib.h>

#include "support.h"

static jbyteArray version(JNIEnv *env, jclass class)
{
    (void)class;
    return hacjni_text(env, hac_version());
}

/* `texts`: the socket (null: libhac chooses), and the name of the program. */
static jlong connect_client(JNIEnv *env, jclass class, jbyteArray packed, jboolean autostart)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    hac_client *client = NULL;
    hacjni_texts texts;
    if (!hacjni_texts_read(env, packed, &texts))
        return 0;
    options.socket = texts.n > 0 ? texts.text[0] : NULL;
    options.software = texts.n > 1 ? texts.text[1] : NULL;
    options.flags = autostart ? 0 : HAC_CONNECT_NO_AUTOSTART;
    if (hac_client_connect(&options, &client, &err) != HAC_OK)
        hacjni_throw(env, &err);
    hacjni_texts_free(&texts);
    return hacjni_handle(client);
}

static void disconnect(JNIEnv *env, jclass class, jlong client)
{
    (void)env;
    (void)class;
    hac_client_free(hacjni_pointer(client));
}

static jbyteArray socket_of(JNIEnv *env, jclass class, jlong client)
{
    (void)class;
    return hacjni_text(env, hac_client_socket(hacjni_pointer(client)));
}

/* `topic`: a hac_topic that is answered with text or JSON. */
static jbyteArray ask(JNIEnv *env, jclass class, jlong client, jint topic, jlong job)
{
    (void)class;
    hac_error err = HAC_ERROR_NONE;
    char *text = NULL;
    if (hac_client_query(hacjni_pointer(client), (hac_topic)topic, (uint64_t)job, HAC_PLAN_JSON, &text,
                         &err) != HAC_OK) {
        hacjni_throw(env, &err);
        return NULL;
    }
    jbyteArray answer = hacjni_text(env, text);
    free(text);
    return answer;
}

hacjni_methods hacjni_client_methods(void)
{
    static const JNINativeMethod methods[] = {
        {"version", "()[B", (void *)version},
        {"connect", "([BZ)J", (void *)connect_client},
        {"disconnect", "(J)V", (void *)disconnect},
        {"socket", "(J)[B", (void *)socket_of},
        {"ask", "(JIJ)[B", (void *)ask},
    };
    return (hacjni_methods){methods, sizeof(methods) / sizeof(methods[0])};
}
