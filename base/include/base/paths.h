/* SPDX-License-Identifier: Apache-2.0 */
/* Where files of hac lie: sockets, and the folders of a user by the XDG base directory specification. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#define HAC_SOCKET_NAME       "hacd.sock"  /* in the folder of a daemon's sockets: for everybody … */
#define HAC_ADMIN_SOCKET_NAME "admin.sock" /* … and for administrators */
#define HAC_SYSTEM_SOCKET     "/run/hac/" HAC_SOCKET_NAME
#define HAC_ADMIN_SOCKET      "/run/hac/" HAC_ADMIN_SOCKET_NAME

typedef enum hac_user_folder {
    HAC_FOLDER_STATE = 0, /* $XDG_STATE_HOME/hac, else $HOME/.local/state/hac */
    HAC_FOLDER_CACHE,     /* $XDG_CACHE_HOME/hac, else $HOME/.cache/hac */
    HAC_FOLDER_CONFIG,    /* $XDG_CONFIG_HOME/hac, else $HOME/.config/hac */
    HAC_FOLDER_DATA       /* $XDG_DATA_HOME/hac, else $HOME/.local/share/hac */
} hac_user_folder;

/* Writes the path of the folder, or of `name` in it unless `name` is NULL. Variables that hold no absolute
 * path do not count, nor do any in a set-user-ID program. Returns 0; ENOENT: no variable is set;
 * ENAMETOOLONG. */
int hac_user_path(hac_user_folder folder, const char *name, char *ret, size_t capacity);

/* Writes the path of the folder that a user without these variables has: `temporary`/hac-UID, by the
 * effective user. Everybody can make folders in /tmp: check that this one belongs to the user. False: it is
 * too long. */
bool hac_temporary_path(const char *temporary, char *ret, size_t capacity);

/* Makes the folder and those above it, accessible to this user only. Returns 0 or errno; `path` then ends
 * with the folder that could not be made. */
int hac_make_folders(char *path);

#endif
