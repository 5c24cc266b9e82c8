/* SPDX-License-Identifier: Apache-2.0 */
/* Frees a client inside a callback or a read section. Waiting is not allowed there, so the client is closed
 * later. If a call on a thread of the program has run the callback (ki_client_dispatch(), a wait, a free),
 * this call closes the client when it has left all clients. Otherwise a temporary thread closes it, for
 * instance when one of the library's own threads has run the callback, which would wait for itself. A
 * temporary thread also runs the loops of a closed client if an object is freed inside a read section. */
#include <assert.h>

#include "client/client.h"
#include "util/fork.h"
#include "util/units.h"

/* Delay after a thread could not be started. */
enum { TRY_AGAIN_MS = 100 };

/* The state of the calling thread. */
typedef struct visits {
    unsigned generation; /* the process in which the calls were counted: see util/fork.h */
    unsigned depth;      /* number of calls that are inside a client */
    ki_client *freed;    /* clients to close when there are no such calls any more, linked by next_freed */
} visits;

static _Thread_local visits visits_of_thread;

/* A child that was forked inside a callback does not return from it, so its visits begin at 0. */
static visits *mine(void)
{
    unsigned generation = ki_fork_generation();
    if (visits_of_thread.generation != generation)
        visits_of_thread = (visits){.generation = generation};
    return &visits_of_thread;
}

void ki_client_visit_begin(void)
{
    mine()->depth++;
}

/* Closing a client is a visit, too, during which more clients may be freed. */
void ki_client_visit_end(void)
{
    visits *here = mine();
    if (here->depth == 0 || --here->depth > 0)
        return;
    for (ki_client *client = here->freed; client != NULL; client = here->freed) {
        here->freed = client->next_freed;
        ki_client_close(client);
    }
}

static void close_it(void *user)
{
    ki_client_close(user);
}

/* On success the client may be gone as soon as the thread has started. */
static bool start_closer(ki_client *client)
{
    assert(client->is_closing);
    ki_thread_options options = {.name = "close", .run = close_it, .user = client};
    return ki_thread_start_detached(&options, NULL) == 0;
}

static void try_again(ki_client *client)
{
    assert(client->is_closing);
    ki_job_wake_at(&client->close_job, ki_clock_now_ns(client->clock) + ki_ns_of_ms(TRY_AGAIN_MS));
}

void ki_client_close_again(ki_job *job)
{
    ki_client *client = KI_CONTAINER_OF(job, ki_client, close_job);
    KI_ASSERT_ON(client->dispatch);
    if (!start_closer(client))
        try_again(client);
}

void ki_client_close_later(ki_client *client)
{
    assert(client->is_closing && client->next_freed == NULL);
    visits *here = mine();
    if (here->depth > 0) {
        client->next_freed = here->freed;
        here->freed = client;
        return;
    }
    if (start_closer(client))
        return;
    if (ki_loop_has_threads(client->dispatch))
        try_again(client);
    else
        ki_log_to(
            client->log, KI_LOG_ERROR, "client", KI_LOG_NO_FIELDS,
            "freed inside a callback or a read section, and the thread to close it could not be started: "
            "it is leaked");
}

/* ---- what outlives it ---------------------------------------------------------------------------------- */

static bool is_idle(void *user)
{
    return ((const ki_client *)user)->busy == 0;
}

static void finish_it(void *user)
{
    ki_client *client = user;
    (void)ki_client_wait(client, &(ki_wait){&client->mu, is_idle, client, false}, UINT64_MAX);
    ki_client_unref(client);
}

void ki_client_finish_later(ki_client *client)
{
    ki_thread_options options = {.name = "close", .run = finish_it, .user = client};
    ki_client_ref(client);
    if (ki_thread_start_detached(&options, NULL) == 0)
        return;
    ki_client_unref(client); /* not the last reference: the caller has one */
    ki_log_to(client->log, KI_LOG_ERROR, "client", KI_LOG_NO_FIELDS,
              "freed inside a read section, after its client, and the thread to free it could not be "
              "started; it is freed with the next object");
}
