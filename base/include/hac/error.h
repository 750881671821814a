/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: one style for the whole project, and part of libhac's public API.
 *
 * A function that can fail returns a hac_status and takes, as its last argument, a caller-owned
 * `hac_error *`; NULL is allowed and then only the code is reported. On failure a function leaves its
 * outputs untouched. The message is one line for a person: what is wrong, where, what to do.
 *
 *     hac_error err = HAC_ERROR_NONE;
 *     if (hac_client_connect(NULL, &client, &err) != HAC_OK)
 *         fprintf(stderr, "%s\n", err.message);
 *
 * Thread safety: a hac_error belongs to the thread that owns it; there is no global error state.
 */
#ifndef HAC_ERROR_H
#define HAC_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Codes are stable. hacctl's exit code follows from them; see hac_status_exit_code. */
typedef enum hac_status_code {
    HAC_OK = 0,
    HAC_FAILED = 1,       /* the job failed: unreadable, truncated or wrongly sized input, full disk … */
    HAC_INVALID = 2,      /* usage, a bad expression, schema, profile or logic file, unknown device … */
    HAC_NO_DAEMON = 3,    /* no daemon can be reached, or it speaks another protocol version */
    HAC_REFUSED = 4,      /* permission, quota or overload; the message says when to retry */
    HAC_CANCELLED = 5,    /* the job was cancelled */
    HAC_NO_MEMORY = 6,    /* an allocation failed */
    HAC_IO = 7,           /* a system call failed */
    HAC_PROTOCOL = 8,     /* the peer broke the protocol */
    HAC_DEVICE = 9,       /* a device or its driver failed */
    HAC_UNSUPPORTED = 10, /* this device, build or file cannot do it */
    HAC_NOT_FOUND = 11,   /* no such job, buffer, device or program */
    HAC_AGAIN = 12,       /* nothing to do now; try again when readable */
    HAC_INTERNAL = 13     /* a bug in hac */
} hac_status_code;

/* In our own builds an ignored status is a compile error. */
#if defined(__GNUC__)
#define HAC_MUST_USE          __attribute__((warn_unused_result))
#define HAC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define HAC_MUST_USE
#define HAC_PRINTF(fmt, args)
#endif

typedef int hac_status;

#define HAC_ERROR_MESSAGE_SIZE 512

/* What has failed, for programs and for people. */
typedef struct hac_error {
    hac_status code;
    char message[HAC_ERROR_MESSAGE_SIZE]; /* one line, no newline at its end, always terminated */
} hac_error;

#define HAC_ERROR_NONE                                                                                       \
    {                                                                                                        \
        0, ""                                                                                                \
    }

#ifdef __cplusplus
}
#endif
#endif
