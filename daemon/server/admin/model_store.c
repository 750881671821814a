/* SPDX-License-Identifier: Apache-2.0 */
#include "model_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/io.h"
#include "base/log.h"
#include "loop/blocking_work.h"
#include "state.h"

#define FILE_MAX (16u << 20) /* far more than all models need */

typedef struct save_work {
    uv_work_t work;
    hac_server *server;
    char *text;
    size_t bytes;
    int errnum; /* why writing failed; 0: it succeeded */
    char path[PATH_MAX + 32];
} save_work;

static void models_path(const hac_server *server, char *ret, size_t capacity)
{
    snprintf(ret, capacity, "%s/models", server->options.state_directory);
}

static void write_models(uv_work_t *work)
{
    save_work *save = hac_container_of(work, save_work, work);
    char temporary[PATH_MAX + 40];
    snprintf(temporary, sizeof temporary, "%s.new", save->path);
    static const hac_replace_points points = {HAC_FAILPOINT_NAME("models.open"),
                                              HAC_FAILPOINT_NAME("models.write"),
                                              HAC_FAILPOINT_NAME("models.rename")};
    save->errnum = hac_replace_file(AT_FDCWD, temporary, save->path, save->text, save->bytes, &points);
}

/* A failed write is repeated at the next save, but logged only once. */
static void end_save(save_work *save)
{
    hac_server *server = save->server;
    bool failed = save->errnum != 0;
    if (failed && !server->models_unsaved)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_STATE, NULL,
                       "cannot write %s: %s; what was learnt is kept in memory, and tried again", save->path,
                       strerror(save->errnum));
    server->models_unsaved = failed;
    free(save->text);
    free(save);
}

static void models_written(uv_work_t *work, int status)
{
    save_work *save = hac_container_of(work, save_work, work);
    save->server->saving_models = false;
    if (status != 0)
        save->errnum = ECANCELED;
    end_save(save);
}

/* NULL: there is nothing to save, or no memory for it now. The models count as written from here on. */
static save_work *prepare_save(hac_server *server)
{
    if (server->models == NULL || !(server->models_unsaved || hac_model_set_dirty(server->models)))
        return NULL;
    save_work *save = calloc(1, sizeof *save);
    if (save == NULL)
        return NULL;
    save->server = server;
    models_path(server, save->path, sizeof save->path);
    if (hac_model_set_write(server->models, &save->text, &save->bytes, NULL) != HAC_OK) {
        free(save);
        return NULL;
    }
    return save;
}

void hac_model_store_write(hac_server *server)
{
    save_work *save = server->saving_models ? NULL : prepare_save(server);
    if (save == NULL)
        return;
    server->saving_models = true;
    int r = hac_blocking_work_queue(&server->loop, &save->work, write_models, models_written);
    if (r != 0)
        models_written(&save->work, r);
}

void hac_model_store_write_now(hac_server *server)
{
    save_work *save = prepare_save(server);
    if (save == NULL)
        return;
    write_models(&save->work);
    end_save(save);
}

void hac_model_store_read(hac_server *server)
{
    char path[PATH_MAX + 32];
    size_t skipped = 0;
    hac_error err = HAC_ERROR_NONE;
    models_path(server, path, sizeof path);
    hac_autofclose FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    hac_autofree char *text = malloc(FILE_MAX);
    size_t bytes = text != NULL ? fread(text, 1, FILE_MAX, file) : 0;
    if (hac_model_set_read(server->models, text != NULL ? text : "", bytes, &skipped, &err) != HAC_OK)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_STATE_DAMAGED, NULL, "%s is not used: %s", path,
                       err.message);
    else if (skipped > 0)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_STATE_DAMAGED, NULL, "%s: %zu damaged lines were skipped",
                       path, skipped);
}
