/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl opsplit check: what is wrong with a logic file, without running it. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "opsplit/library.h"
#include "opsplit/logic.h"
#include "request/opsplit_request.h"

HAC_DEFINE_CLEANUP(hac_library *, hac_library_free)

/* Adds "FILE:LINE:COLUMN: message" as members of an object; a text of another form is all message. */
static void json_message(hac_text *text, const char *file, const char *message)
{
    size_t length = strlen(file);
    unsigned line = 0, column = 0;
    int used = 0;
    bool own = strncmp(message, file, length) == 0 && message[length] == ':' &&
               sscanf(message + length, ":%u:%u: %n", &line, &column, &used) == 2 && used > 0;
    hac_json_open(text, NULL, '{');
    hac_json_string(text, "file", own ? file : NULL);
    if (own) {
        hac_json_unsigned(text, "line", line);
        hac_json_unsigned(text, "column", column);
    }
    hac_json_string(text, "message", own ? message + length + used : message);
    hac_json_close(text, '}');
}

static void json_messages(hac_text *text, const char *key, const char *file, char *const *messages, size_t n)
{
    hac_json_open(text, key, '[');
    for (size_t i = 0; i < n; i++)
        json_message(text, file, messages[i]);
    hac_json_close(text, ']');
}

static hac_status print_json(const char *file, const hac_logic *logic, const hac_logic_problems *problems,
                             hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *json = NULL;
    hac_json_open(&text, NULL, '{');
    hac_json_string(&text, "file", file);
    hac_json_bool(&text, "ok", logic != NULL);
    json_messages(&text, "problems", file, problems->messages, problems->n);
    json_messages(&text, "notes", file, logic != NULL ? logic->notes : NULL,
                  logic != NULL ? logic->n_notes : 0);
    hac_json_close(&text, '}');
    hac_status status = hac_text_finish(&text, &json, NULL, err);
    return status == HAC_OK ? hac_cli_print(json, err) : status;
}

/* Prints all problems but the last, which becomes the command's error. */
static hac_status report(const hac_logic_problems *problems, hac_status status, hac_error *err)
{
    if (status != HAC_INVALID || problems->n == 0)
        return status;
    for (size_t i = 0; i + 1 < problems->n; i++) {
        hac_error one = {HAC_INVALID, ""};
        snprintf(one.message, sizeof one.message, "%s", problems->messages[i]);
        hac_cli_report(&one);
    }
    return hac_fail(err, HAC_INVALID, "%s", problems->messages[problems->n - 1]);
}

hac_status hac_cmd_opsplit_check(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_library_free_cleanup) hac_library *library = NULL;
    hac_logic_problems problems = HAC_LOGIC_PROBLEMS_NONE;
    hac_logic *logic = NULL;
    const char *file = args->words[0];
    hac_status status = hac_opsplit_read(file, &library, &logic, &problems, err);
    if (status == HAC_INVALID && problems.n == 0 && (problems.messages = calloc(1, sizeof(char *))) != NULL)
        problems.n = (problems.messages[0] = strdup(err->message)) != NULL; /* the file is not YAML */
    hac_status printed = HAC_OK;
    if (cli->json && (status == HAC_OK || status == HAC_INVALID))
        printed = print_json(file, logic, &problems, err);
    else if (status == HAC_OK)
        printed = hac_cli_print("OK", err);
    for (size_t i = 0; status == HAC_OK && !cli->json && i < logic->n_notes; i++)
        hac_cli_say(cli, "%s", logic->notes[i]);
    if (status == HAC_OK)
        hac_opsplit_say_damaged(cli, library);
    status = printed != HAC_OK ? printed : report(&problems, status, err);
    hac_logic_problems_clear(&problems);
    hac_logic_free(logic);
    return status;
}
