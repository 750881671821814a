/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the initial corpus of fuzz_reply: hac_make_reply_seeds DIRECTORY. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/frame.h"
#include "proto/messages.h"

static FILE *file;

static void begin(const char *directory, const char *name, int script)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "wb");
    if (file == NULL)
        abort();
    fputc(script, file);
}

static void add(Hac__Client__Response *response, int descriptors)
{
    uint8_t body[HAC_FRAME_MAX];
    size_t bytes = 0;
    if (hac_encode(&response->base, body, &bytes, NULL) != HAC_OK)
        abort();
    fputc(descriptors, file);
    fputc((int)(bytes & 0xff), file);
    fputc((int)(bytes >> 8), file);
    fwrite(body, 1, bytes, file);
}

static void add_data(uint64_t serial)
{
    static uint8_t zeros[64];
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    done.job = 1;
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.result_case = HAC__CLIENT__JOB_DONE__RESULT_DATA;
    done.data = (ProtobufCBinaryData){sizeof(zeros), zeros};
    done.result_bytes = sizeof(zeros);
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_DONE;
    r.done = &done;
    add(&r, 0);
}

static void add_result(uint64_t serial, bool attached)
{
    Hac__Client__Buffer buffer = HAC__CLIENT__BUFFER__INIT;
    buffer.buffer = 5;
    buffer.bytes = 8192;
    buffer.attached = attached;
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    done.job = 1;
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.result_case = HAC__CLIENT__JOB_DONE__RESULT_BUFFER;
    done.buffer = &buffer;
    done.result_bytes = 64;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_DONE;
    r.done = &done;
    add(&r, attached);
}

static void add_failure(uint64_t serial)
{
    Hac__Client__Failure failure;
    hac__client__failure__init(&failure);
    failure.code = HAC_REFUSED;
    failure.message = (char *)(uintptr_t) "over quota";
    failure.retry_after_seconds = 1;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_FAILURE;
    r.failure = &failure;
    add(&r, 0);
}

static void add_accepted(uint64_t serial)
{
    Hac__Client__JobAccepted accepted = HAC__CLIENT__JOB_ACCEPTED__INIT;
    accepted.job = 1;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_ACCEPTED;
    r.accepted = &accepted;
    add(&r, 0);
}

static void add_event(void)
{
    Hac__Client__JobEvent event;
    hac__client__job_event__init(&event);
    event.job = 1;
    event.state = HAC__CLIENT__JOB_STATE__JOB_RUNNING;
    event.fraction = 0.5;
    event.stage = (char *)(uintptr_t) "merge 3";
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_EVENT;
    r.event = &event;
    add(&r, 0);
}

static void add_buffer(uint64_t serial, uint64_t bytes, bool attached, int kind)
{
    Hac__Client__Buffer buffer = HAC__CLIENT__BUFFER__INIT;
    buffer.buffer = 5;
    buffer.bytes = bytes;
    buffer.attached = attached;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_BUFFER;
    r.buffer = &buffer;
    add(&r, attached ? 1 | kind << 2 : 0);
}

static void add_text(uint64_t serial, uint64_t bytes)
{
    Hac__Client__Text text = HAC__CLIENT__TEXT__INIT;
    text.bytes = bytes;
    text.text = (ProtobufCBinaryData){4, (uint8_t *)(uintptr_t) "text"};
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_TEXT;
    r.text = &text;
    add(&r, 0);
}

static void add_ok(uint64_t serial)
{
    Hac__Client__Empty empty = HAC__CLIENT__EMPTY__INIT;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_OK;
    r.ok = &empty;
    add(&r, 0);
}

static void write_jobs(const char *directory)
{
    begin(directory, "small", 1 | 64);
    add_data(1);
    fclose(file);
    begin(directory, "small-refused", 1 | 64);
    add_failure(1);
    fclose(file);
    begin(directory, "progress", 2 | 64);
    add_accepted(1);
    add_event();
    add_result(2, true);
    fclose(file);
    begin(directory, "result-again", 2 | 8 | 64); /* attached: query 3, wait 4 */
    add_accepted(1);
    add_result(2, true);
    add_text(3, 4);
    add_result(4, false);
    fclose(file);
    begin(directory, "cancel", 2 | 32 | 64);
    add_accepted(1);
    add_ok(3);
    add_failure(2);
    fclose(file);
    begin(directory, "freed-early", 1 | 2 | 128);
    add_accepted(2);
    add_accepted(1);
    add_result(3, true);
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    write_jobs(argv[1]);
    begin(argv[1], "buffers", 4);
    add_buffer(1, 64, true, 1);
    add_buffer(2, 128, false, 0);
    add_failure(3);
    fclose(file);
    begin(argv[1], "text", 16);
    add_text(1, 4);
    fclose(file);
    begin(argv[1], "text-begun", 16);
    add_text(1, 8);
    fclose(file);
    return 0;
}
