/* SPDX-License-Identifier: Apache-2.0 */
#include "client/write_gate.h"

#include <assert.h>

#include "client/callback.h"
#include "client/client.h"
#include "util/error.h"

void ki_write_gate_init(ki_write_gate *gate)
{
    ki_mutex_init(&gate->mu);
    ki_cond_init(&gate->ended);
}

void ki_write_gate_fini(ki_write_gate *gate)
{
    ki_cond_fini(&gate->ended);
    ki_mutex_fini(&gate->mu);
}

/* Returns when no other thread runs the previous gate. */
static void set_locked(ki_write_gate *gate, ki_write_gate_cb ask, void *user) KI_REQUIRES(gate->mu)
{
    gate->ask = ask;
    gate->user = user;
    while (gate->is_asking && !pthread_equal(gate->asker, pthread_self()))
        ki_cond_wait(&gate->ended, &gate->mu);
}

void ki_write_gate_replace(ki_write_gate *gate, ki_write_gate_cb former, void *user, ki_write_gate_cb ask)
{
    ki_mutex_lock(&gate->mu);
    bool is_former = gate->ask == former && gate->user == user;
    /* Waits even if `former` was replaced before, since it may still be running. */
    set_locked(gate, is_former ? ask : gate->ask, is_former ? NULL : gate->user);
    ki_mutex_unlock(&gate->mu);
}

/* From now until end(), a call that replaces the gate waits. */
static ki_write_gate_cb begin(ki_write_gate *gate, void **out_user)
{
    ki_mutex_lock(&gate->mu);
    assert(!gate->is_asking);
    ki_write_gate_cb ask = gate->ask;
    *out_user = gate->user;
    gate->is_asking = ask != NULL;
    gate->asker = pthread_self();
    ki_mutex_unlock(&gate->mu);
    return ask;
}

static void end(ki_write_gate *gate)
{
    ki_mutex_lock(&gate->mu);
    assert(gate->is_asking && pthread_equal(gate->asker, pthread_self()));
    gate->is_asking = false;
    ki_cond_broadcast(&gate->ended);
    ki_mutex_unlock(&gate->mu);
}

int ki_write_gate_ask(ki_write_gate *gate, const ki_write *write, ki_error *err)
{
    assert(write->method != NULL);
    void *user = NULL;
    ki_error why = {0};
    ki_write_gate_cb ask = begin(gate, &user);
    if (ask == NULL)
        return 0;
    ki_callback_enter();
    int answer = ask(write, &why, user);
    ki_callback_leave();
    end(gate);
    if (answer == 0)
        return 0;
    why.message[sizeof(why.message) - 1] = 0;
    return ki_fail(err, KI_ERR_REFUSED, "%s",
                   why.message[0] == 0 ? ki_error_text(KI_ERR_REFUSED) : why.message);
}

int ki_client_set_write_gate(ki_client *client, ki_write_gate_cb gate, void *user)
{
    if (client == NULL)
        return KI_ERR_INVALID;
    int rc = ki_client_check_process(client, NULL);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&client->gate.mu);
    set_locked(&client->gate, gate, user);
    ki_mutex_unlock(&client->gate.mu);
    return 0;
}
