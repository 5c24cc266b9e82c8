/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that write only while their process leads. */
#include "client/write_gate.h"
#include "controller/leader.h"
#include "util/alloc.h"
#include "util/error.h"

typedef struct guard {
    ki_list_node node;
    ki_client *client;
} guard;

static int ask_leader(const ki_write *write, ki_error *why, void *user)
{
    const ki_leader *leader = user;
    (void)write;
    if (ki_leader_is_leading(leader))
        return 0;
    return ki_fail(why, KI_ERR_REFUSED, "not the leader: lease %s/%s is not held by %s", leader->ns,
                   leader->name, leader->identity);
}

/* Replaces ask_leader() when the leader has been freed. */
static int refuse(const ki_write *write, ki_error *why, void *user)
{
    (void)write;
    (void)user;
    return ki_fail(why, KI_ERR_REFUSED, "not the leader: leader election has ended");
}

static void end_guards(ki_leader *leader, ki_list *guards)
{
    for (ki_list_node *node = ki_list_pop_front(guards); node != NULL; node = ki_list_pop_front(guards)) {
        guard *g = KI_CONTAINER_OF(node, guard, node);
        ki_write_gate_replace(&g->client->gate, ask_leader, leader, refuse);
        ki_client_unref(g->client);
        ki_free(g);
    }
}

/* Takes out the guards of clients that have been freed, which cannot write any more. Returns whether `client`
 * has a guard. */
static bool take_closed_locked(ki_leader *leader, const ki_client *client, ki_list *out_closed)
    KI_REQUIRES(leader->mu)
{
    KI_ASSERT_HELD(leader->mu);
    bool is_guarded = false;
    for (ki_list_node *node = ki_list_first(&leader->guards), *next; node != NULL; node = next) {
        const guard *g = KI_CONTAINER_OF(node, guard, node);
        next = ki_list_next(&leader->guards, node);
        is_guarded |= g->client == client;
        if (g->client == client || !g->client->is_closing)
            continue;
        ki_list_remove(node);
        ki_list_push_back(out_closed, node);
    }
    return is_guarded;
}

int ki_leader_guard(ki_leader *leader, ki_client *client)
{
    if (leader == NULL || client == NULL || client == leader->client)
        return KI_ERR_INVALID;
    if (ki_client_is_foreign(leader->client))
        return KI_ERR_FORKED;
    guard *fresh = ki_calloc(1, sizeof(*fresh));
    if (fresh == NULL)
        return KI_ERR_NO_MEMORY;
    int rc = ki_client_set_write_gate(client, ask_leader, leader);
    if (rc < 0) {
        ki_free(fresh);
        return rc;
    }
    ki_list closed;
    ki_list_init(&closed);
    ki_mutex_lock(&leader->mu);
    bool is_guarded = take_closed_locked(leader, client, &closed);
    if (!is_guarded) {
        ki_client_ref(client);
        fresh->client = client;
        ki_list_push_back(&leader->guards, &fresh->node);
    }
    ki_mutex_unlock(&leader->mu);
    end_guards(leader, &closed);
    if (is_guarded)
        ki_free(fresh);
    return 0;
}

void ki_leader_end_guards(ki_leader *leader)
{
    end_guards(leader, &leader->guards);
}
