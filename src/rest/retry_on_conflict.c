/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/rest.h>

#include "client/callback.h"
#include "client/client.h"
#include "util/error.h"

/* Like client-go's retry.DefaultRetry, with a jitter of a tenth. */
enum { ATTEMPTS = 5, WAIT_MS = 10, JITTER_MS = 1 };

static bool never(void *user)
{
    (void)user;
    return false;
}

/* If no other thread runs the loops, runs them meanwhile. Returns false if the client has been freed. */
static bool pause_a_little(ki_client *client)
{
    if (client->is_closing)
        return false;
    uint64_t wait_ms = WAIT_MS + ki_clock_now_ns(client->clock) % (JITTER_MS + 1);
    bool runs_nothing = client->options.mode != KI_MODE_EVENT_LOOP;
    (void)ki_client_wait(client, &(ki_wait){&client->mu, never, NULL, runs_nothing}, wait_ms);
    return !client->is_closing;
}

int ki_retry_on_conflict(ki_client *client, ki_attempt_cb attempt, ki_error *err, void *user)
{
    ki_error why = {0};
    if (client == NULL || attempt == NULL)
        return ki_fail_missing(err, "retry on conflict: client and function must not be NULL");
    int rc = ki_client_check_process(client, &why);
    if (rc == 0 && ki_client_may_wait() < 0)
        return ki_fail(err, KI_ERR_WOULD_DEADLOCK,
                       "retry on conflict: cannot wait in a callback or a read section");
    ki_client_ref(client); /* another thread may free the client between attempts */
    for (int left = rc < 0 ? 0 : ATTEMPTS; left > 0; left--) {
        why = (ki_error){0};
        rc = attempt(&why, user);
        if (rc != KI_ERR_CONFLICT || left == 1 || !pause_a_little(client))
            break;
    }
    ki_client_unref(client);
    if (rc < 0 && err != NULL)
        *err = why;
    return rc;
}
