/* SPDX-License-Identifier: Apache-2.0 */
#include "saved_models.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memfd.h"
#include "server.h"

typedef struct save_work {
    uv_work_t work;
    hac_server *server;
    char *text;
    size_t bytes;
    char path[PATH_MAX + 32];
} save_work;

static void models_path(const hac_server *server, char *ret, size_t room)
{
    snprintf(ret, room, "%s/models", server->options.state_directory);
}

static void write_models(uv_work_t *work)
{
    save_work *save = hac_container_of(work, save_work, work);
    char temporary[PATH_MAX + 40];
    snprintf(temporary, sizeof temporary, "%s.new", save->path);
    hac_autoclose int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    for (size_t done = 0; done < save->bytes;) {
        ssize_t n = write(fd, save->text + done, save->bytes - done);
        if (n <= 0)
            return;
        done += (size_t)n;
    }
    rename(temporary, save->path);
}

static void models_written(uv_work_t *work, int status)
{
    (void)status;
    save_work *save = hac_container_of(work, save_work, work);
    save->server->saving_models = false;
    free(save->text);
    free(save);
}

static save_work *prepare_save(hac_server *server)
{
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

void hac_saved_models_write(hac_server *server)
{
    if (server->saving_models || !hac_model_set_dirty(server->models))
        return;
    save_work *save = prepare_save(server);
    if (save == NULL)
        return;
    server->saving_models = true;
    if (uv_queue_work(&server->loop, &save->work, write_models, models_written) != 0)
        models_written(&save->work, 0);
}

void hac_saved_models_write_now(hac_server *server)
{
    save_work *save =
        server->models != NULL && hac_model_set_dirty(server->models) ? prepare_save(server) : NULL;
    if (save == NULL)
        return;
    write_models(&save->work);
    free(save->text);
    free(save);
}

void hac_saved_models_read(hac_server *server)
{
    char path[PATH_MAX + 32];
    char *text = NULL;
    size_t bytes = 0, skipped = 0;
    models_path(server, path, sizeof path);
    hac_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || hac_memfd_read_text(fd, 16u << 20, &text, &bytes, NULL) != HAC_OK)
        return;
    if (hac_model_set_read(server->models, text, bytes, &skipped, NULL) != HAC_OK || skipped > 0)
        hac_log(HAC_LOG_WARNING, "%s: %zu damaged lines were skipped", path, skipped);
    free(text);
}
