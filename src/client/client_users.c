/* SPDX-License-Identifier: Apache-2.0 */
/* The objects made with a client that are not freed yet. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/callback.h"
#include "client/client.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/loop/rcu.h"

static int has_name(const ki_map_node *node, const void *name)
{
    return strcmp(KI_CONTAINER_OF(node, ki_client_user, by_name)->name, name) == 0;
}

static int has_serial(const ki_map_node *node, const void *serial)
{
    return KI_CONTAINER_OF(node, ki_client_user, by_serial)->serial == *(const uint64_t *)serial;
}

static uint64_t hash_name(const ki_client *client, const char *name)
{
    return ki_hash(&client->hash_key, ki_str_of(name));
}

static void set_busy_locked(ki_client *client, ki_client_user *user, bool is_busy) KI_REQUIRES(client->mu)
{
    KI_ASSERT_HELD(client->mu);
    assert(client->busy >= user->is_busy);
    client->busy = client->busy - user->is_busy + is_busy;
    user->is_busy = is_busy;
}

static void join_locked(ki_client *client, ki_client_user *user, const char *name) KI_REQUIRES(client->mu)
{
    KI_ASSERT_HELD(client->mu);
    assert(!client->is_closing && !ki_list_node_is_linked(&user->node));
    user->serial = ++client->serial;
    bool is_taken = ki_map_find(&client->names, hash_name(client, name), has_name, name) != NULL;
    int n = is_taken ? snprintf(user->name, sizeof(user->name), "%.128s#%" PRIu64, name, user->serial)
                     : snprintf(user->name, sizeof(user->name), "%s", name);
    (void)n;
    ki_list_push_back(&client->users, &user->node);
    int rc = ki_map_insert(&client->names, &user->by_name, hash_name(client, user->name));
    assert(rc == 0); /* space is reserved in both maps */
    rc = ki_map_insert(&client->serials, &user->by_serial, user->serial);
    assert(rc == 0);
    (void)rc;
    set_busy_locked(client, user, true);
}

int ki_client_join(ki_client *client, ki_client_user *user, const char *name)
{
    ki_mutex_lock(&client->mu);
    bool is_closing = client->is_closing;
    if (!is_closing)
        join_locked(client, user, name);
    ki_mutex_unlock(&client->mu);
    return is_closing ? KI_ERR_STOPPED : 0;
}

int ki_client_join_as(ki_client *client, ki_client_user *user, const char *kind, const char *name,
                      ki_error *err)
{
    char text[KI_CLIENT_NAME_BYTES];
    (void)snprintf(text, sizeof(text), "%s %.100s", kind, name);
    if (ki_client_join(client, user, text) < 0)
        return ki_fail(err, KI_ERR_STOPPED, "%s: the client has been freed", text);
    return 0;
}

/* A user that has not joined is allowed. */
static void leave(ki_client *client, ki_client_user *user) KI_EXCLUDES(client->mu)
{
    ki_mutex_lock(&client->mu);
    if (ki_list_node_is_linked(&user->node)) {
        ki_list_remove(&user->node);
        ki_map_remove(&client->names, &user->by_name);
        ki_map_remove(&client->serials, &user->by_serial);
        set_busy_locked(client, user, false);
    }
    ki_client_notify_locked(client);
    ki_mutex_unlock(&client->mu);
}

void ki_client_free_user(ki_client *client, ki_client_user *user, void *memory)
{
    assert(user != NULL && memory != NULL);
    if (!ki_client_is_foreign(client)) /* in a child it never joined, and the lock may never be released */
        leave(client, user);
    ki_free(memory);
    ki_client_unref(client);
}

void ki_client_end_user(ki_client *client, ki_client_user *user, void *memory)
{
    assert(user != NULL && memory != NULL);
    ki_client_count_handlers(client, -1);
    if (user->on_release != NULL)
        user->on_release(user->user);
    ki_client_free_user(client, user, memory);
}

bool ki_client_begin(ki_client *client, ki_client_user *user)
{
    ki_mutex_lock(&client->mu);
    assert(ki_list_node_is_linked(&user->node));
    bool may_begin = !client->is_closing;
    if (may_begin)
        set_busy_locked(client, user, true);
    ki_mutex_unlock(&client->mu);
    return may_begin;
}

void ki_client_set_busy(ki_client *client, ki_client_user *user, bool is_busy)
{
    ki_mutex_lock(&client->mu);
    assert(ki_list_node_is_linked(&user->node));
    set_busy_locked(client, user, is_busy);
    ki_client_notify_locked(client);
    ki_mutex_unlock(&client->mu);
}

typedef struct sought {
    ki_client *client;
    uint64_t serial;
} sought;

/* Only threads that free something run the loops of a closed client. So the wait also lasts until objects
 * that callbacks have freed meanwhile are gone. */
static bool is_gone(void *user)
{
    const sought *s = user;
    KI_ASSERT_HELD(s->client->mu);
    return ki_map_find(&s->client->serials, s->serial, has_serial, &s->serial) == NULL &&
           (!s->client->is_closed || s->client->busy == 0);
}

/* Waiting is not allowed inside a callback. But a closed client does not need it: this thread runs the loops
 * until nothing is left. Only inside a read section another thread must do that,
 * after the end of the section. */
void ki_client_wait_gone(ki_client *client, uint64_t serial)
{
    sought s = {client, serial};
    if (ki_client_may_wait() == 0)
        (void)ki_client_wait(client, &(ki_wait){&client->mu, is_gone, &s, false}, UINT64_MAX);
    else if (client->is_closed && !ki_rcu_is_reading())
        while (ki_client_step(client)) {
        }
    else if (client->is_closed)
        ki_client_finish_later(client);
}
