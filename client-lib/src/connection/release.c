/* SPDX-License-Identifier: Apache-2.0 */
#include "release.h"

static void lock(hac_client *client)
{
    (void)pthread_mutex_lock(&client->release_lock); /* of the default kind it cannot fail */
}

static void unlock(hac_client *client)
{
    (void)pthread_mutex_unlock(&client->release_lock);
}

static void add(hac_client *client, hac_release *release)
{
    release->next = client->released;
    client->released = release;
}

static void run_all(hac_release *list)
{
    while (list != NULL) {
        hac_release *next = list->next; /* `run` frees the element */
        list->run(list);
        list = next;
    }
}

static void close_connection(hac_client *client)
{
    hac_client_break(client, HAC_NO_DAEMON, "the connection was closed");
    hac_client_unref(client); /* the caller's reference */
}

/* Ends what there is, until nothing is left to do. This thread has made itself the owner of a freed client.
 */
static void end_freed(hac_client *client)
{
    bool more = true, last = false;
    hac_client_ref(client);
    while (more) {
        lock(client);
        hac_release *list = hac_steal_ptr(client->released);
        bool close = client->n_exports == 0 && !client->closed;
        client->closed |= close;
        more = list != NULL || close;
        client->owned = more;
        last = !more && client->references == 1; /* no other thread has a handle */
        if (!more && !last)
            client->references--;
        unlock(client);
        run_all(list);
        if (close)
            close_connection(client);
    }
    if (last)
        hac_client_unref(client);
}

/* Adds `release` to what the owner of a freed client ends, and makes this thread the owner if there is none.
 * The lock is held. */
static bool add_and_own(hac_client *client, hac_release *release)
{
    add(client, release);
    bool own = client->freed && !client->owned;
    client->owned |= own;
    return own;
}

void hac_client_end_handle(hac_client *client, hac_release *release)
{
    /* Another thread of the parent may have held the lock during the fork, and half ended something. */
    if (hac_client_is_inherited(client)) {
        if (!client->freed)
            release->run(release);
        return;
    }
    lock(client);
    bool freed = client->freed, own = freed && add_and_own(client, release);
    unlock(client);
    if (!freed)
        release->run(release);
    if (own)
        end_freed(client);
}

void hac_client_begin_export(hac_client *client)
{
    lock(client);
    client->n_exports++;
    unlock(client);
}

bool hac_client_end_export(hac_client *client, hac_release *release)
{
    if (hac_client_is_inherited(client))
        return false;
    lock(client);
    client->n_exports--;
    bool own = add_and_own(client, release);
    unlock(client);
    if (own)
        end_freed(client);
    return true;
}

void hac_client_end_released(hac_client *client)
{
    /* A thread that holds the lock for long does not exist, but in a forked child one may hold it forever. */
    if (pthread_mutex_trylock(&client->release_lock) != 0)
        return;
    hac_release *list = hac_steal_ptr(client->released);
    unlock(client);
    run_all(list);
}

static void end_inherited(hac_client *client)
{
    hac_close(client->socket); /* the child's descriptor; the connection is still the parent's */
    client->socket = -1;
    if (client->n_exports == 0)
        close_connection(client);
}

void hac_client_end(hac_client *client)
{
    if (hac_client_is_inherited(client)) {
        end_inherited(client);
        return;
    }
    lock(client);
    client->freed = client->owned = true;
    unlock(client);
    end_freed(client);
}
